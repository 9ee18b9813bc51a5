"""Snapshots, tags and branches that a catalog server manages.

The server keeps the latest snapshot of each branch, decides about commits, and carries out what
removes snapshots. Snapshot, schema and tag files are in the table's folder as usual.

Spec: concepts/rest/rest-api; in Java a catalog with `supportsVersionManagement`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionStatistics:
    """Figures of a partition; in a commit the change, which may be negative.

    Catalogs that keep partitions receive them with each commit.

    Attributes:
        spec: the partition as text by column, as in its folder name.
        record_count: number of records.
        file_size_in_bytes: size of the data files.
        file_count: number of data files.
        last_file_creation_time: the creation time of the newest file, epoch milliseconds.
        total_buckets: the number of buckets.
    """

    spec: Mapping[str, str]
    record_count: int
    file_size_in_bytes: int
    file_count: int
    last_file_creation_time: int
    total_buckets: int = 0


class VersionManagement(ABC):
    """The versions of one table on a catalog server."""

    __slots__ = ()

    @abstractmethod
    def latest_snapshot(self, branch: str) -> Snapshot | None:
        """Return the latest snapshot of a branch; None if there are no snapshots."""

    @abstractmethod
    def commit_snapshot(
        self,
        branch: str,
        snapshot: Snapshot,
        statistics: Sequence[PartitionStatistics],
        base_uuid: str | None = None,
    ) -> bool:
        """Commit a snapshot to a branch.

        Args:
            branch: the branch.
            snapshot: the snapshot, whose manifests are written.
            statistics: the change of each partition by this commit.
            base_uuid: the uuid of the snapshot that the commit is based on; None for the first.

        Returns:
            False if the base is not the latest snapshot any more.

        Raises:
            StorageError: the reply was lost; the caller looks for the snapshot.
        """

    @abstractmethod
    def create_tag(
        self, branch: str, name: str, snapshot_id: int | None, time_retained_millis: int | None
    ) -> None:
        """Create a tag of a snapshot; of the latest one if no id is given."""

    @abstractmethod
    def delete_tag(self, branch: str, name: str) -> None:
        """Delete a tag and the files that only it references."""

    @abstractmethod
    def create_branch(self, name: str, tag: str | None) -> None:
        """Create a branch from a tag of main, or an empty branch."""

    @abstractmethod
    def delete_branch(self, name: str) -> None:
        """Delete a branch."""

    @abstractmethod
    def fast_forward(self, name: str) -> None:
        """Replace main's history by that of a branch."""

    @abstractmethod
    def rollback_to_snapshot(self, branch: str, snapshot_id: int) -> None:
        """Remove everything newer than a snapshot from a branch."""

    @abstractmethod
    def rollback_to_tag(self, branch: str, name: str) -> None:
        """Remove everything newer than the snapshot of a tag from a branch."""

    @abstractmethod
    def rollback_schema(self, branch: str, schema_id: int) -> None:
        """Remove newer schemas from a branch."""


def version_management(environment: object) -> VersionManagement | None:
    """Return the environment of a table if a server manages its versions; None if its files do."""
    return environment if isinstance(environment, VersionManagement) else None
