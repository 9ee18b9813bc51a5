"""Layout of JSON files: members, keys, values and punctuation.

Spec: concepts/spec/snapshot, concepts/spec/schema.

Descriptions of the members of the JSON files of Paimon, by file name prefix.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.spans import Spans

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(rb"-?[0-9][0-9.eE+-]*|true|false|null")
_MAX_DEPTH = 64
_SHOWN = 60


def json_parts(spans: Spans, rules: Mapping[str, str] = MappingProxyType({})) -> None:
    """Build the spans of bytes that contain one JSON value.

    Args:
        spans: the bytes.
        rules: descriptions by member name.

    Raises:
        InvalidInputError: the bytes are not valid JSON.
    """
    walk = _Walk(spans, rules)
    walk.space()
    walk.value("value", 0)
    walk.space()


class _Walk:
    def __init__(self, spans: Spans, rules: Mapping[str, str]) -> None:
        self._spans = spans
        self._rules = rules

    def space(self) -> None:
        self._mark("space", self._size(_SPACE))

    def value(self, name: str, depth: int) -> str:
        """Build the next value; returns its description."""
        if depth > _MAX_DEPTH:
            raise InvalidInputError(f"The JSON is nested more than {_MAX_DEPTH} levels deep.")
        opening = self._spans.data[self._spans.position : self._spans.position + 1]
        if opening == b"{":
            return self._many(name, "object", b"}", depth)
        if opening == b"[":
            return self._many(name, "array", b"]", depth)
        return self._scalar(name)

    def _scalar(self, name: str) -> str:
        size = self._size(_STRING) or self._size(_SCALAR)
        if not size:
            raise InvalidInputError(
                f"Byte {self._spans.position:,} is not the start of a JSON value."
            )
        text = str(self._spans.leaf(name, "JSON", size, say=_shown))
        return _shown(text)

    def _many(self, name: str, kind: str, closing: bytes, depth: int) -> str:
        spans = self._spans
        count = 0
        with spans.group(name) as note:
            self._mark("opens", 1)
            self.space()
            while spans.data[spans.position : spans.position + 1] != closing:
                if kind == "object":
                    self._member(depth)
                else:
                    with spans.group(f"[{count}]") as item:
                        item.about = self.value("value", depth + 1)
                        self._comma()
                count += 1
            self._mark("closes", 1)
            noun = "member" if kind == "object" else "item"
            note.about = f"{kind} of {count} {noun}{'' if count == 1 else 's'}"
        return note.about

    def _member(self, depth: int) -> None:
        spans = self._spans
        size = self._size(_STRING)
        if not size:
            raise InvalidInputError(
                f"Byte {spans.position:,} is not the start of a JSON member name."
            )
        raw = spans.data[spans.position : spans.position + size].decode("utf-8", "replace")
        key = _text(raw)
        with spans.group(key, rule=self._rules.get(key, "")) as note:
            spans.leaf("key", "JSON", size)
            start = spans.position
            after = _SPACE.match(spans.data, start)
            colon = after.end() if after else start
            if spans.data[colon : colon + 1] != b":":
                raise InvalidInputError(f"A colon is missing at byte {colon:,}.")
            after = _SPACE.match(spans.data, colon + 1)
            self._mark("colon", (after.end() if after else colon + 1) - start)
            note.about = self.value("value", depth + 1)
            self._comma()

    def _comma(self) -> None:
        """Build the bytes after a member or item: spaces and a comma."""
        spans = self._spans
        found = re.compile(rb"[ \t\r\n]*,?[ \t\r\n]*").match(spans.data, spans.position, spans.end)
        size = found.end() - spans.position if found else 0
        more = b"," in spans.data[spans.position : spans.position + size]
        self._mark("comma" if more else "space", size)
        closing = spans.data[spans.position : spans.position + 1]
        if more == (closing in (b"}", b"]")):
            raise InvalidInputError(
                f"A comma or closing bracket is missing at byte {spans.position:,}."
            )

    def _mark(self, name: str, size: int) -> None:
        if size:
            self._spans.leaf(name, "JSON", size, say=_quoted)

    def _size(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self._spans.data, self._spans.position, self._spans.end)
        return found.end() - self._spans.position if found else 0


def _quoted(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=True)


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _text(raw: str) -> str:
    try:
        found: object = json.loads(raw)
    except ValueError:
        return raw
    return str(found)


_SNAPSHOT: Mapping[str, str] = {
    "version": "Version of the snapshot's layout, 3 since release 0.4.",
    "uuid": "Random identifier of this snapshot.",
    "id": "Id of the snapshot, as in the file name.",
    "schemaId": "Id of the table schema at the time of the commit.",
    "baseManifestList": "Manifest list of all manifests before this commit.",
    "baseManifestListSize": "Size of the base manifest list in bytes.",
    "deltaManifestList": "Manifest list of the changes of this commit.",
    "deltaManifestListSize": "Size of the delta manifest list in bytes.",
    "changelogManifestList": "Manifest list of the changelog files of this commit.",
    "changelogManifestListSize": "Size of the changelog manifest list in bytes.",
    "indexManifest": "Manifest of all index files.",
    "commitUser": "User of the commit; a job keeps its user over restarts.",
    "writerVersion": "Software that wrote the snapshot.",
    "commitIdentifier": "Transaction id; batch commits use the largest 64-bit integer.",
    "commitKind": "APPEND, COMPACT, OVERWRITE or ANALYZE.",
    "timeMillis": "Commit time, milliseconds since 1970 UTC.",
    "logOffsets": "Offsets of an external log system; always empty, removed in release 1.4.",
    "totalRecordCount": "Number of rows of all live files, before merging.",
    "deltaRecordCount": "Added minus removed rows of this commit.",
    "changelogRecordCount": "Number of rows in the changelog files of this commit.",
    "watermark": "Event time up to which the data is complete.",
    "statistics": "Name of the statistics file.",
    "properties": "Custom properties of the snapshot.",
    "nextRowId": "Lowest row id that is not assigned to a row yet.",
    "operation": "The SQL operation of the commit.",
    "tagCreateTime": "Creation time of the tag, local time.",
    "tagTimeRetained": "Retention time of the tag, in seconds.",
}
_SCHEMA: Mapping[str, str] = {
    "version": "Version of the schema's layout, 3 since release 1.0.",
    "id": "Id of the schema, as in the file name.",
    "fields": "Columns of the table, in order.",
    "name": "Name of the column.",
    "type": "Type of the column; NOT NULL if nulls are rejected.",
    "description": "Comment on the column.",
    "defaultValue": "Default value of the column.",
    "highestFieldId": "Largest field id ever assigned; ids are never reused.",
    "partitionKeys": "Partition columns.",
    "primaryKeys": "Primary key columns.",
    "options": "The table's options.",
    "comment": "Comment on the table.",
    "timeMillis": "Creation time of the schema, milliseconds since 1970 UTC.",
}

RULES: Mapping[str, Mapping[str, str]] = {
    "snapshot-": _SNAPSHOT,
    "changelog-": _SNAPSHOT,
    "tag-": _SNAPSHOT,
    "schema-": _SCHEMA,
    "consumer-": {"nextSnapshot": "Id of the snapshot that the consumer reads next."},
    "stat": {
        "snapshotId": "Id of the analyzed snapshot.",
        "schemaId": "Schema id of the analyzed snapshot.",
        "mergedRecordCount": "Number of rows after merging.",
        "mergedRecordSize": "Size of the merged rows in bytes.",
        "colStats": "Statistics of each column.",
    },
}
"""Member descriptions by name, by file name prefix."""
