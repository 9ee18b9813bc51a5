"""The commit message: the new and removed files of one writer in one bucket.

`write` and `maintenance` create it, `commit` consumes it. It can be pickled, so that distributed
writers can send it to the committer.
"""

from dataclasses import field
from operator import attrgetter
from typing import TypedDict

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSnapshot:
    """The snapshot on which the new records of a primary-key table are based.

    Attributes:
        id: its id; 0 if the table had no snapshot.
        delta: its delta manifest list, which identifies it among snapshots with the same id.
        reads: whether the records depend on rows of the table (update, delete, merge, keys in
            other partitions); if not, only their sequence numbers and buckets do.
    """

    id: int
    delta: str | None = None
    reads: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot | None, *, reads: bool = False) -> "SeenSnapshot":
        """Create the value for a snapshot, or for a table without snapshots."""
        if snapshot is None:
            return cls(id=0, reads=reads)
        return cls(id=snapshot.id, delta=snapshot.delta_manifest_list, reads=reads)


class BucketFields(TypedDict):
    """The fields of messages and entries that tell the bucket."""

    partition: bytes
    bucket: int
    total_buckets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMessage:
    """New and removed files of one partition and bucket.

    The `kind` of the entries is ignored; the attribute tells whether they are added or removed.

    Attributes:
        partition: the partition's binary row with its 4-byte arity.
        bucket: the bucket.
        total_buckets: number of buckets at write time; None if unknown.
        new_files: files with new rows.
        deleted_files: files removed by a row-level delete or update.
        changelog_files: changelog files of the new rows.
        compact_before: files that a compaction replaces.
        compact_after: files that the compaction wrote.
        compact_changelog: changelog files that the compaction wrote.
        new_index_files, deleted_index_files: index files of the write.
        compact_new_index_files, compact_deleted_index_files: index files of the compaction.
        managed_files: paths of new files with contents of BLOBs, which no manifest names.
        seen: the snapshot that the new records depend on, if any.
    """

    partition: bytes
    bucket: int
    total_buckets: int | None = None
    new_files: ManifestEntries = field(default_factory=ManifestEntries.empty)
    deleted_files: ManifestEntries = field(default_factory=ManifestEntries.empty)
    changelog_files: ManifestEntries = field(default_factory=ManifestEntries.empty)
    compact_before: ManifestEntries = field(default_factory=ManifestEntries.empty)
    compact_after: ManifestEntries = field(default_factory=ManifestEntries.empty)
    compact_changelog: ManifestEntries = field(default_factory=ManifestEntries.empty)
    new_index_files: IndexEntries = field(default_factory=IndexEntries.empty)
    deleted_index_files: IndexEntries = field(default_factory=IndexEntries.empty)
    compact_new_index_files: IndexEntries = field(default_factory=IndexEntries.empty)
    compact_deleted_index_files: IndexEntries = field(default_factory=IndexEntries.empty)
    managed_files: tuple[str, ...] = ()
    seen: SeenSnapshot | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the message contains no changes."""
        return not any(len(files) for files in _FILES(self))


_FILES = attrgetter(
    *("new_files", "deleted_files", "changelog_files"),
    *("compact_before", "compact_after", "compact_changelog"),
    *("new_index_files", "deleted_index_files"),
    *("compact_new_index_files", "compact_deleted_index_files"),
)
