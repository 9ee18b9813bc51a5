"""The commit message: what one writer did in one bucket, on its way to the commit.

The one value that `write`, `maintenance` and `commit` share. It pickles, for writers on other
machines send it home.
"""

from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenSnapshot:
    """The snapshot that new records of a primary-key table were made on.

    Attributes:
        id: its number; 0 if there was none.
        delta: its delta manifest list, which tells it from another snapshot of the same number.
        reads: whether the records were made from rows of the table (update, delete, merge, keys in
            other partitions); else only their sequence numbers and buckets depend on it.
    """

    id: int
    delta: str | None = None
    reads: bool = False

    @classmethod
    def of(cls, snapshot: Snapshot | None, *, reads: bool = False) -> "SeenSnapshot":
        """A snapshot, or that there is none."""
        if snapshot is None:
            return cls(id=0, reads=reads)
        return cls(id=snapshot.id, delta=snapshot.delta_manifest_list, reads=reads)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMessage:
    """New and removed files of one partition and bucket.

    The kind of the entries has no meaning here: the name of the attribute says it.

    Attributes:
        partition: the partition's binary row with its 4-byte arity.
        bucket: the bucket.
        total_buckets: number of buckets when written; None if unknown.
        new_files: written from new rows.
        deleted_files: removed by a row-level delete or update.
        changelog_files: changelog of the new rows.
        compact_before: files that a compaction replaces.
        compact_after: files that it made of them.
        compact_changelog: changelog that it made.
        new_index_files, deleted_index_files: index files of the write.
        compact_new_index_files, compact_deleted_index_files: index files of the compaction.
        seen: the snapshot that the new records depend on; None if they depend on none.
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
    seen: SeenSnapshot | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the message changes nothing."""
        data = (
            self.new_files,
            self.deleted_files,
            self.changelog_files,
            self.compact_before,
            self.compact_after,
            self.compact_changelog,
        )
        index = (
            self.new_index_files,
            self.deleted_index_files,
            self.compact_new_index_files,
            self.compact_deleted_index_files,
        )
        return not any(map(len, data)) and not any(map(len, index))
