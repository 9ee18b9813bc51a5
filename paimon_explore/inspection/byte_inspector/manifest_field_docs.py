"""What the fields of manifests, their lists and index manifests mean, and the rows in them.

Spec: concepts/spec/manifest.
"""

from collections.abc import Callable, Mapping, Sequence

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.byte_inspector.avro_parts import Found, Meaning, Path
from paimon_explore.inspection.byte_inspector.binary_row_parts import row_parts
from paimon_explore.inspection.byte_inspector.file_index_parts import file_index_parts
from paimon_explore.inspection.byte_inspector.spans import Spans
from paimon_explore.metadata.schema.table_schema import TableSchema

SchemaOf = Callable[[int | None], TableSchema | None]
"""The schema of an id, or for None the newest one; None when it cannot be read."""

_FILE = "_FILE"
_LIST_ROWS = (("_PARTITION_STATS", "_MIN_VALUES"), ("_PARTITION_STATS", "_MAX_VALUES"))

RULES: Mapping[str, str] = {
    "_VERSION": "Id of the format: 2 in manifests and manifest lists, 1 in index manifests.",
    "_KIND": "Whether the snapshot gains the file (ADD) or loses it (DELETE).",
    "_PARTITION": "The partition as a binary row of the partition columns.",
    "_BUCKET": "The bucket; -2 for rows whose bucket is decided later.",
    "_TOTAL_BUCKETS": "Number of buckets when the file was written; -1 without fixed buckets.",
    "_FILE": "What the table knows of one data file.",
    "_FILE_NAME": "Name only; the folder follows from partition and bucket.",
    "_FILE_SIZE": "Bytes of the file.",
    "_ROW_COUNT": "Rows in the file, those that retract others included.",
    "_MIN_KEY": "Trimmed primary key of the first row; a row of no fields in append tables.",
    "_MAX_KEY": "Trimmed primary key of the last row.",
    "_KEY_STATS": "Bounds of the trimmed primary key.",
    "_VALUE_STATS": "Bounds of columns: all of the file's schema, or those of _VALUE_STATS_COLS.",
    "_PARTITION_STATS": "Bounds of the partition columns over all entries.",
    "_MIN_VALUES": "Smallest value of each column as a binary row; null where unknown.",
    "_MAX_VALUES": "Largest value of each column as a binary row; null where unknown.",
    "_NULL_COUNTS": "Nulls of each column; null where unknown.",
    "_MIN_SEQUENCE_NUMBER": "Smallest sequence number of the file's rows.",
    "_MAX_SEQUENCE_NUMBER": "Largest sequence number of the file's rows.",
    "_SCHEMA_ID": "The schema that the file was written with.",
    "_LEVEL": "Level in the LSM tree; 0 is where writers add.",
    "_EXTRA_FILES": "Files beside the data file that belong to it, such as its indexes.",
    "_CREATION_TIME": "The writer's wall clock, in its own time zone, as if it were UTC.",
    "_DELETE_ROW_COUNT": "Rows of kind -U and -D; null where unknown.",
    "_EMBEDDED_FILE_INDEX": "The file's index, where it is small enough to be kept here.",
    "_FILE_SOURCE": "What made the file: 0 a writer, 1 a compaction.",
    "_VALUE_STATS_COLS": "Columns that have value statistics; null for all.",
    "_EXTERNAL_PATH": "Whole path of a file outside of the table's folder.",
    "_FIRST_ROW_ID": "Row id of the first row, with row tracking.",
    "_WRITE_COLS": "Columns that are in the file; null for all of its schema.",
    "_NUM_ADDED_FILES": "ADD entries of the manifest.",
    "_NUM_DELETED_FILES": "DELETE entries of the manifest.",
    "_MIN_BUCKET": "Smallest bucket of the entries; null where unknown.",
    "_MAX_BUCKET": "Largest bucket of the entries.",
    "_MIN_LEVEL": "Smallest level of the entries.",
    "_MAX_LEVEL": "Largest level of the entries.",
    "_MIN_ROW_ID": "Smallest row id of the entries, if all have some.",
    "_MAX_ROW_ID": "Largest row id of the entries, if all have some.",
    "_INDEX_TYPE": "HASH, DELETION_VECTORS or a kind of global index.",
    "_DELETIONS_VECTORS_RANGES": "Where the deletion vector of each data file lies.",
    "f0": "Name of the data file.",
    "f1": "Offset of the vector's size field in the index file.",
    "f2": "Length of the vector: without size and checksum (32 bit), with them (64 bit).",
    "_CARDINALITY": "Number of deleted rows; null in old files.",
    "_GLOBAL_INDEX": "Which rows and columns a global index covers.",
}

_SAYS: Mapping[str, Mapping[int, str]] = {
    "_KIND": {0: "ADD", 1: "DELETE"},
    "_FILE_SOURCE": {0: "APPEND", 1: "COMPACT"},
    "_BUCKET": {-2: "postponed"},
    "_TOTAL_BUCKETS": {-1: "no fixed number", -2: "postponed"},
}


def _say(names: Mapping[int, str]) -> Callable[[object], str]:
    return lambda value: f"{value!s}: {names[value]}" if value in names else str(value)  # type: ignore[index]


def manifest_meaning(schema_of: SchemaOf) -> Meaning:
    """The meaning of the fields of all three kinds of Avro metadata files.

    Args:
        schema_of: gives the schemas that rows in the files were written with.
    """
    kinds = _Rows(schema_of)
    stats = ("_KEY_STATS", "_VALUE_STATS")
    values: dict[Path, Callable[[Found, Spans], None]] = {
        (_FILE, name, bound): kinds.keys if name == "_KEY_STATS" else kinds.values
        for name in stats
        for bound in ("_MIN_VALUES", "_MAX_VALUES")
    }
    return Meaning(
        rules=RULES,
        says={name: _say(names) for name, names in _SAYS.items()},
        bytes={
            ("_PARTITION",): kinds.partition,
            **dict.fromkeys(_LIST_ROWS, kinds.partition),
            (_FILE, "_MIN_KEY"): kinds.keys,
            (_FILE, "_MAX_KEY"): kinds.keys,
            **values,
            (_FILE, "_EMBEDDED_FILE_INDEX"): kinds.index,
        },
    )


class _Rows:
    """Makes the spans of binary rows, by the schema of their record."""

    def __init__(self, schema_of: SchemaOf) -> None:
        self._schema_of = schema_of

    def partition(self, _found: Found, spans: Spans) -> None:
        """A row of the partition columns, which do not change."""
        schema = self._schema_of(None)
        row_parts(spans, schema.partition_type.fields if schema is not None else None)

    def keys(self, found: Found, spans: Spans) -> None:
        """A row of the trimmed primary key."""
        schema = self._schema(found)
        row_parts(spans, None if schema is None else _named(schema, schema.trimmed_primary_keys))

    def values(self, found: Found, spans: Spans) -> None:
        """A row of the columns that have statistics."""
        schema = self._schema(found)
        row_parts(spans, None if schema is None else _value_fields(found, schema))

    def index(self, found: Found, spans: Spans) -> None:
        """A file index."""
        schema = self._schema(found)
        file_index_parts(spans, {} if schema is None else {f.name: f.type for f in schema.fields})

    def _schema(self, found: Found) -> TableSchema | None:
        try:
            return self._schema_of(found.whole((_FILE, "_SCHEMA_ID")))
        except PaimonError:
            return None


def _named(schema: TableSchema, names: Sequence[str]) -> list[DataField] | None:
    held = {field.name: field for field in schema.fields}
    return [held[name] for name in names] if all(name in held for name in names) else None


def _value_fields(found: Found, schema: TableSchema) -> Sequence[DataField] | None:
    listed = found.texts((_FILE, "_VALUE_STATS_COLS"))
    if listed:
        return _named(schema, listed)
    written = found.texts((_FILE, "_WRITE_COLS"))
    return [f for f in schema.fields if f.name in written] if written else schema.fields
