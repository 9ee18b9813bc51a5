"""The file changes of a commit, collected from commit messages.

A transaction may create two snapshots: the written files (APPEND) and the compacted files
(COMPACT). Each has its own `Changes`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Bools, Column, bool_values
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    ENTRY_SCHEMA,
    FileKind,
    ManifestEntries,
)

_NO_STATISTICS: Mapping[str, object] = {
    "value_min": EMPTY_ROW,
    "value_max": EMPTY_ROW,
    "value_null_counts": [],
    "value_stats_cols": [],
}


def without_statistics_of_deletes(entries: ManifestEntries) -> ManifestEntries:
    """Return the entries with empty column statistics in DELETE entries."""
    is_delete = entries.numbers("kind") == FileKind.DELETE
    if not is_delete.any():
        return entries
    for name, empty in _NO_STATISTICS.items():
        rows = zip(entries.table.column(name).to_pylist(), is_delete.tolist(), strict=True)
        values = [empty if deleted else value for value, deleted in rows]
        entries = with_column(entries, name, pa.array(values, ENTRY_SCHEMA.field(name).type))
    return entries


def with_column(entries: ManifestEntries, name: str, values: Column) -> ManifestEntries:
    """Return the entries with other values of a column."""
    position = ENTRY_SCHEMA.get_field_index(name)
    return ManifestEntries(entries.table.set_column(position, ENTRY_SCHEMA.field(name), values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The changes of one snapshot.

    Attributes:
        entries: data files added and deleted, in the order of the delta manifest.
        changelog: changelog files, all added.
        added_index: index files added.
        deleted_index: index files deleted.
    """

    entries: ManifestEntries = field(default_factory=ManifestEntries.empty)
    changelog: ManifestEntries = field(default_factory=ManifestEntries.empty)
    added_index: IndexEntries = field(default_factory=IndexEntries.empty)
    deleted_index: IndexEntries = field(default_factory=IndexEntries.empty)

    @property
    def is_empty(self) -> bool:
        """Whether there are no changes."""
        files = len(self.entries) + len(self.changelog)
        return files + len(self.added_index) + len(self.deleted_index) == 0

    @property
    def deletes_rows(self) -> bool:
        """Whether existing rows are deleted, by removing files or by deletion vectors."""
        if self.entries.count_of(FileKind.DELETE):
            return True
        vectors = (self.added_index, self.deleted_index)
        return any(len(part.of_type(DELETION_VECTORS_INDEX)) for part in vectors)

    @property
    def partitions(self) -> frozenset[bytes]:
        """Binary rows of the changed partitions."""
        index = [part.partitions for part in (self.added_index, self.deleted_index)]
        return self.entries.partitions.union(*index)

    def row_delta(self) -> int:
        """Return the number of rows in added files minus those in deleted files."""
        deleted = 0
        if self.entries.count_of(FileKind.DELETE):
            deleted = self.entries.of_kind(FileKind.DELETE).total_rows
        return self.entries.total_rows - 2 * deleted


def written_changes(messages: Sequence[CommitMessage]) -> Changes:
    """Collect the files of writes: the changes of the APPEND snapshot."""
    return Changes(
        entries=_files(
            [(m.new_files, FileKind.ADD) for m in messages],
            [(m.deleted_files, FileKind.DELETE) for m in messages],
        ),
        changelog=_files([(m.changelog_files, FileKind.ADD) for m in messages]),
        added_index=_index([m.new_index_files for m in messages]),
        deleted_index=_index([m.deleted_index_files for m in messages]),
    )


def compacted_changes(messages: Sequence[CommitMessage]) -> Changes:
    """Collect the files of compactions: the changes of the COMPACT snapshot."""
    return Changes(
        entries=_files(
            [(m.compact_before, FileKind.DELETE) for m in messages],
            [(m.compact_after, FileKind.ADD) for m in messages],
        ),
        changelog=_files([(m.compact_changelog, FileKind.ADD) for m in messages]),
        added_index=_index([m.compact_new_index_files for m in messages]),
        deleted_index=_index([m.compact_deleted_index_files for m in messages]),
    )


def _files(*groups: Sequence[tuple[ManifestEntries, FileKind]]) -> ManifestEntries:
    parts = [entries.with_kind(kind) for group in groups for entries, kind in group if len(entries)]
    return ManifestEntries.concat(parts)


def _index(parts: Sequence[IndexEntries]) -> IndexEntries:
    return IndexEntries.concat([part.with_kind(FileKind.ADD) for part in parts if len(part)])


@dataclass(frozen=True, slots=True)
class PartitionSet:
    """A set of partitions as binary rows."""

    partitions: frozenset[bytes]

    def mask(self, rows: pa.BinaryArray) -> Bools:
        """Return the mask of the partitions in the set, for n binary rows."""
        wanted = pa.array(sorted(self.partitions), pa.binary())
        return bool_values(pc.is_in(rows, value_set=wanted))


def in_partitions(entries: ManifestEntries, partitions: frozenset[bytes]) -> ManifestEntries:
    """Return the entries of some partitions."""
    rows = entries.column("partition").combine_chunks()
    return entries.filter(PartitionSet(partitions).mask(rows))  # type: ignore[arg-type]  # of binaries
