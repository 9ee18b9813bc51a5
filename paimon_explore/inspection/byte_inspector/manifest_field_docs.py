"""Descriptions of the fields of manifests, manifest lists and index manifests.

Spec: concepts/spec/manifest.
"""

from collections.abc import Callable, Mapping, Sequence

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.byte_inspector.avro_parts import Found, Meaning, Path
from paimon_explore.inspection.byte_inspector.binary_row_parts import row_parts
from paimon_explore.inspection.byte_inspector.index_parts import file_index_parts
from paimon_explore.inspection.byte_inspector.spans import Spans
from paimon_explore.metadata.schema.table_schema import TableSchema

SchemaOf = Callable[[int | None], TableSchema | None]
"""Gives the schema of an id, or the latest for None; None if it cannot be read."""

_FILE = "_FILE"

RULES: Mapping[str, str] = {
    "_VERSION": "Format version: 2 in manifests and manifest lists, 1 in index manifests.",
    "_KIND": "Whether the file is added (ADD) or removed (DELETE).",
    "_PARTITION": "The partition as a binary row of the partition columns.",
    "_BUCKET": "Bucket number; -2 for the postponed bucket.",
    "_TOTAL_BUCKETS": "Number of buckets when the file was written; -1 if the number is not fixed.",
    "_FILE": "Metadata of a data file.",
    "_FILE_NAME": "File name; the folder follows from partition and bucket.",
    "_FILE_SIZE": "File size in bytes.",
    "_ROW_COUNT": "Number of rows in the file, including retractions.",
    "_MIN_KEY": "Trimmed primary key of the first row; a row without fields in append tables.",
    "_MAX_KEY": "Trimmed primary key of the last row.",
    "_KEY_STATS": "Statistics of the trimmed primary key.",
    "_VALUE_STATS": "Statistics of all columns of the file schema, or of _VALUE_STATS_COLS.",
    "_PARTITION_STATS": "Statistics of the partition columns over all entries.",
    "_MIN_VALUES": "Minimum of each column as a binary row; null if unknown.",
    "_MAX_VALUES": "Maximum of each column as a binary row; null if unknown.",
    "_NULL_COUNTS": "Null count of each column; null if unknown.",
    "_MIN_SEQUENCE_NUMBER": "Minimum sequence number of the rows.",
    "_MAX_SEQUENCE_NUMBER": "Maximum sequence number of the rows.",
    "_SCHEMA_ID": "Id of the schema that the file was written with.",
    "_LEVEL": "Level in the LSM tree; writers add files to level 0.",
    "_EXTRA_FILES": "Additional files of the data file, such as its indexes.",
    "_CREATION_TIME": "Local time of the writer, stored as if it were UTC.",
    "_DELETE_ROW_COUNT": "Number of rows of kind -U and -D; null if unknown.",
    "_EMBEDDED_FILE_INDEX": "The file index, if small enough to be embedded.",
    "_FILE_SOURCE": "Source of the file: 0 write, 1 compaction.",
    "_VALUE_STATS_COLS": "Columns with value statistics; null if all columns have them.",
    "_EXTERNAL_PATH": "Full path of a file outside of the table's folder.",
    "_FIRST_ROW_ID": "Row id of the first row; null without row tracking.",
    "_WRITE_COLS": "Columns in the file; null if it contains all columns of its schema.",
    "_NUM_ADDED_FILES": "Number of ADD entries.",
    "_NUM_DELETED_FILES": "Number of DELETE entries.",
    "_MIN_BUCKET": "Minimum bucket of the entries; null if unknown.",
    "_MAX_BUCKET": "Maximum bucket of the entries.",
    "_MIN_LEVEL": "Minimum level of the entries.",
    "_MAX_LEVEL": "Maximum level of the entries.",
    "_MIN_ROW_ID": "Minimum row id of the entries, if all have row ids.",
    "_MAX_ROW_ID": "Maximum row id of the entries, if all have row ids.",
    "_INDEX_TYPE": "HASH, DELETION_VECTORS or a global index type.",
    "_DELETIONS_VECTORS_RANGES": "Location of the deletion vector of each data file.",
    "f0": "Name of the data file.",
    "f1": "Offset of the deletion vector in the index file, at its size field.",
    "f2": "Length of the deletion vector; includes the size and checksum only for 64-bit vectors.",
    "_CARDINALITY": "Number of deleted rows; null in files of old writers.",
    "_GLOBAL_INDEX": "Rows and columns covered by a global or primary-key index.",
}

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
    return Meaning(rules=RULES, says=says, bytes=rows)


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
        row_parts(spans, None if schema is None else _named(schema, schema.trimmed_primary_keys))

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


def _named(schema: TableSchema, names: Sequence[str]) -> list[DataField] | None:
    held = {field.name: field for field in schema.fields}
    return [held[name] for name in names] if all(name in held for name in names) else None


def _value_fields(found: Found, schema: TableSchema) -> Sequence[DataField] | None:
    listed = found.texts((_FILE, "_VALUE_STATS_COLS"))
    if listed:
        return _named(schema, listed)
    written = found.texts((_FILE, "_WRITE_COLS"))
    return [f for f in schema.fields if f.name in written] if written else schema.fields
