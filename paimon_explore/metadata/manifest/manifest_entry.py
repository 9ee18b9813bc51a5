"""Manifest entries: data files added and removed, as an Arrow table.

Spec: concepts/spec/manifest. Seen in: golden java09 and java200 `manifest_merge`.
A table may have millions of entries, so there is no object per entry: `ManifestEntries` is a table,
and all computations use its columns.
"""

from collections.abc import Collection
from enum import IntEnum
from types import MappingProxyType

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.metadata.manifest.manifest_table import (
    EntryTable,
    statistics_paths,
    stored_paths,
)

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


ENTRY_SCHEMA = schema_from_text(
    "kind int8 not null, partition binary not null, bucket int32 not null, "
    "total_buckets int32 not null, file_name string not null, file_size int64 not null, "
    "row_count int64 not null, min_key binary not null, max_key binary not null, "
    "key_min binary not null, key_max binary not null, key_null_counts list<int64>, "
    "value_min binary not null, value_max binary not null, value_null_counts list<int64>, "
    "min_sequence_number int64 not null, max_sequence_number int64 not null, "
    "schema_id int64 not null, level int32 not null, extra_files list<string> not null, "
    "creation_time int64, delete_row_count int64, embedded_file_index binary, file_source int8, "
    "value_stats_cols list<string>, external_path string, first_row_id int64, "
    "write_cols list<string>, write_cols_sequences list<int64>"
)
"""One row per entry.

`partition`, `min_key` ... `value_max` are binary rows with a 4-byte arity prefix. `min_key` and
`max_key` are keys of the first and last row; `key_min`/`key_max` and `value_min`/`value_max` are
the bounds per column. `creation_time` is the writer's local time, stored as if it were UTC, in
milliseconds. A null `value_stats_cols` means all columns.
"""

BOUNDS = frozenset({"key_min", "key_max", "value_min", "value_max"})
"""Columns that may be `BYTE_VIEWS` in tables that are passed to filters."""

_OUTSIDE_FILE = ("kind", "partition", "bucket", "total_buckets")

ENTRY_FIELDS = MappingProxyType(
    {
        name: path if name in _OUTSIDE_FILE else ("_FILE", *path)
        for name, path in stored_paths(ENTRY_SCHEMA).items()
    }
    | statistics_paths("key", "_FILE", "_KEY_STATS")
    | statistics_paths("value", "_FILE", "_VALUE_STATS")
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
