"""Layout of JSON files: members, keys, values and punctuation.

Spec: concepts/spec/snapshot, concepts/spec/schema.

`field_docs.csv` has the descriptions of the fields of metadata files, by file name prefix.
"""

import csv
import json
import pkgutil
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


AVRO_METADATA = "Avro metadata"
"""What `RULES` has in place of a prefix for manifests, manifest lists and index manifests."""


def _rules() -> Mapping[str, Mapping[str, str]]:
    text = (pkgutil.get_data(__package__, "field_docs.csv") or b"").decode()
    found: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(text.splitlines()):
        for file in row["file"].split("; "):
            found.setdefault(file, {})[row["field"]] = row["text"]
    return found


RULES: Mapping[str, Mapping[str, str]] = _rules()
"""Descriptions of fields by name, by file name prefix."""
