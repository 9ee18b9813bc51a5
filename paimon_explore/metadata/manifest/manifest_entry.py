"""Manifest entries: data files added and removed, as an Arrow table.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
A table may have millions of entries, so there is no object per entry: `ManifestEntries` is a table,
and all computations use its columns.
"""

from collections.abc import Collection
from enum import IntEnum
from types import MappingProxyType

import pyarrow as pa

from paimon_explore.metadata.manifest.manifest_table import EntryTable

VERSION = 2

UNAWARE_TOTAL_BUCKETS = -1
POSTPONE_TOTAL_BUCKETS = -2


class FileKind(IntEnum):
    """Whether a manifest entry adds or deletes its file."""

    ADD = 0
    DELETE = 1


class FileSource(IntEnum):
    """Whether a write or a compaction created a data file."""

    APPEND = 0
    COMPACT = 1


ENTRY_SCHEMA = pa.schema(
    (
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("partition", pa.binary(), nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("total_buckets", pa.int32(), nullable=False),
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        pa.field("min_key", pa.binary(), nullable=False),
        pa.field("max_key", pa.binary(), nullable=False),
        pa.field("key_min", pa.binary(), nullable=False),
        pa.field("key_max", pa.binary(), nullable=False),
        pa.field("key_null_counts", pa.list_(pa.int64())),
        pa.field("value_min", pa.binary(), nullable=False),
        pa.field("value_max", pa.binary(), nullable=False),
        pa.field("value_null_counts", pa.list_(pa.int64())),
        pa.field("min_sequence_number", pa.int64(), nullable=False),
        pa.field("max_sequence_number", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("level", pa.int32(), nullable=False),
        pa.field("extra_files", pa.list_(pa.string()), nullable=False),
        pa.field("creation_time", pa.int64()),
        pa.field("delete_row_count", pa.int64()),
        pa.field("embedded_file_index", pa.binary()),
        pa.field("file_source", pa.int8()),
        pa.field("value_stats_cols", pa.list_(pa.string())),
        pa.field("external_path", pa.string()),
        pa.field("first_row_id", pa.int64()),
        pa.field("write_cols", pa.list_(pa.string())),
        pa.field("write_cols_sequences", pa.list_(pa.int64())),
    )
)
"""One row per entry.

`partition`, `min_key` ... `value_max` are binary rows with a 4-byte arity prefix. `min_key` and
`max_key` are keys of the first and last row; `key_min`/`key_max` and `value_min`/`value_max` are
the bounds per column. `creation_time` is the writer's local time, stored as if it were UTC, in
milliseconds. A null `value_stats_cols` means all columns.
"""

BOUNDS = frozenset({"key_min", "key_max", "value_min", "value_max"})
"""Columns that may be `BYTE_VIEWS` in tables that are passed to filters."""

ENTRY_FIELDS = MappingProxyType(
    {
        "kind": ("_KIND",),
        "partition": ("_PARTITION",),
        "bucket": ("_BUCKET",),
        "total_buckets": ("_TOTAL_BUCKETS",),
        "file_name": ("_FILE", "_FILE_NAME"),
        "file_size": ("_FILE", "_FILE_SIZE"),
        "row_count": ("_FILE", "_ROW_COUNT"),
        "min_key": ("_FILE", "_MIN_KEY"),
        "max_key": ("_FILE", "_MAX_KEY"),
        "key_min": ("_FILE", "_KEY_STATS", "_MIN_VALUES"),
        "key_max": ("_FILE", "_KEY_STATS", "_MAX_VALUES"),
        "key_null_counts": ("_FILE", "_KEY_STATS", "_NULL_COUNTS"),
        "value_min": ("_FILE", "_VALUE_STATS", "_MIN_VALUES"),
        "value_max": ("_FILE", "_VALUE_STATS", "_MAX_VALUES"),
        "value_null_counts": ("_FILE", "_VALUE_STATS", "_NULL_COUNTS"),
        "min_sequence_number": ("_FILE", "_MIN_SEQUENCE_NUMBER"),
        "max_sequence_number": ("_FILE", "_MAX_SEQUENCE_NUMBER"),
        "schema_id": ("_FILE", "_SCHEMA_ID"),
        "level": ("_FILE", "_LEVEL"),
        "extra_files": ("_FILE", "_EXTRA_FILES"),
        "creation_time": ("_FILE", "_CREATION_TIME"),
        "delete_row_count": ("_FILE", "_DELETE_ROW_COUNT"),
        "embedded_file_index": ("_FILE", "_EMBEDDED_FILE_INDEX"),
        "file_source": ("_FILE", "_FILE_SOURCE"),
        "value_stats_cols": ("_FILE", "_VALUE_STATS_COLS"),
        "external_path": ("_FILE", "_EXTERNAL_PATH"),
        "first_row_id": ("_FILE", "_FIRST_ROW_ID"),
        "write_cols": ("_FILE", "_WRITE_COLS"),
        "write_cols_sequences": ("_FILE", "_WRITE_COLS_SEQUENCES"),
    }
)
"""Column -> path of the field in the file's records."""


class ManifestEntries(EntryTable):
    """Manifest entries in manifest order, as a table of `ENTRY_SCHEMA`."""

    __slots__ = ()
    schema = ENTRY_SCHEMA

    def select(self, names: Collection[str]) -> "ManifestEntries":
        """Return the entries with only these columns; names without a column are ignored."""
        existing = self.table.schema.names
        kept = [name for name in existing if name in names]
        return self if len(kept) == len(existing) else self._of(self.table.select(kept))

    def combine_chunks(self) -> "ManifestEntries":
        """Return the entries in one chunk, which makes `take` faster."""
        return self._of(self.table.combine_chunks())

    def of_kind(self, kind: FileKind) -> "ManifestEntries":
        """Return the ADD or the DELETE entries."""
        wanted = self.numbers("kind") == kind
        if wanted.all():
            return self
        return self.filter(wanted) if wanted.any() else self.slice(0, 0)

    @property
    def total_rows(self) -> int:
        """Sum of `row_count`."""
        return self.total("row_count")
