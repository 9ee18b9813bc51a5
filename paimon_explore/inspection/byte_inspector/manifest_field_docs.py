"""Descriptions of the fields of manifests, manifest lists and index manifests.

Spec: concepts/spec/manifest.
"""

from collections.abc import Callable, Mapping, Sequence

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.byte_inspector.avro_parts import Found, Meaning, Path
from paimon_explore.inspection.byte_inspector.binary_row_parts import row_parts
from paimon_explore.inspection.byte_inspector.index_parts import file_index_parts
from paimon_explore.inspection.byte_inspector.json_parts import AVRO_METADATA, RULES
from paimon_explore.inspection.byte_inspector.spans import Spans
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.pruning.file_statistics import written_columns

SchemaOf = Callable[[int | None], TableSchema | None]
"""Gives the schema of an id, or the latest for None; None if it cannot be read."""

_FILE = "_FILE"

_SAYS: Mapping[str, Mapping[int, str]] = {
    "_KIND": {0: "ADD", 1: "DELETE"},
    "_FILE_SOURCE": {0: "APPEND", 1: "COMPACT"},
    "_BUCKET": {-2: "postponed"},
    "_TOTAL_BUCKETS": {-1: "no fixed number of buckets", -2: "postponed"},
}


def _say(names: Mapping[int, str]) -> Callable[[object], str]:
    return lambda value: f"{value!s}: {names[value]}" if value in names else str(value)  # type: ignore[index]


def manifest_meaning(schema_of: SchemaOf) -> Meaning:
    """The descriptions of the fields of all Avro metadata files.

    Args:
        schema_of: gives the schemas that rows in the files were written with.
    """
    kinds = _Rows(schema_of)
    bounds = ("_MIN_VALUES", "_MAX_VALUES")
    keys: list[Path] = [
        (_FILE, "_MIN_KEY"),
        (_FILE, "_MAX_KEY"),
        *((_FILE, "_KEY_STATS", b) for b in bounds),
    ]
    values = [(_FILE, "_VALUE_STATS", bound) for bound in bounds]
    partitions: list[Path] = [("_PARTITION",), *(("_PARTITION_STATS", bound) for bound in bounds)]
    rows: dict[Path, Callable[[Found, Spans], None]] = {
        **dict.fromkeys(partitions, kinds.partition),
        **dict.fromkeys(keys, kinds.keys),
        **dict.fromkeys(values, kinds.values),
        (_FILE, "_EMBEDDED_FILE_INDEX"): kinds.index,
    }
    says = {name: _say(names) for name, names in _SAYS.items()}
    return Meaning(rules=RULES[AVRO_METADATA], says=says, bytes=rows)


class _Rows:
    """Builds the spans of binary rows, with the schema of their record."""

    def __init__(self, schema_of: SchemaOf) -> None:
        self._schema_of = schema_of

    def partition(self, _found: Found, spans: Spans) -> None:
        """Build a row of the partition columns, which cannot change."""
        schema = self._schema_of(None)
        row_parts(spans, schema.partition_type.fields if schema is not None else None)

    def keys(self, found: Found, spans: Spans) -> None:
        """Build a row of the trimmed primary key."""
        schema = self._schema(found)
        row_parts(
            spans, None if schema is None else _named(schema.fields, schema.trimmed_primary_keys)
        )

    def values(self, found: Found, spans: Spans) -> None:
        """Build a row of the columns with statistics."""
        schema = self._schema(found)
        row_parts(spans, None if schema is None else _value_fields(found, schema))

    def index(self, found: Found, spans: Spans) -> None:
        """Build an embedded file index."""
        schema = self._schema(found)
        file_index_parts(spans, {} if schema is None else {f.name: f.type for f in schema.fields})

    def _schema(self, found: Found) -> TableSchema | None:
        try:
            return self._schema_of(found.whole((_FILE, "_SCHEMA_ID")))
        except PaimonError:
            return None


def _named(fields: Sequence[DataField], names: Sequence[str]) -> list[DataField] | None:
    held = {field.name: field for field in fields}
    return [held[name] for name in names] if all(name in held for name in names) else None


def _value_fields(found: Found, schema: TableSchema) -> Sequence[DataField] | None:
    listed = found.texts((_FILE, "_VALUE_STATS_COLS"))
    in_file = written_columns(schema, found.texts((_FILE, "_WRITE_COLS")) or None)
    return _named(in_file, listed) if listed else in_file
