"""The input of system tables."""

from collections.abc import Collection
from dataclasses import replace

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import NEWEST, TimeTravel
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table at one snapshot.

    Attributes:
        store: the metadata files of one branch.
        schema: the read schema.
        options: the table options, including dynamic ones.
        snapshot: None for a table without snapshots.
        travel: the requested point in time; empty for the latest snapshot.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None
    travel: TimeTravel = NEWEST

    def branches(self) -> "list[TableState]":
        """The state of each branch that a read includes; earlier ones take precedence by partition.

        Raises:
            NotFoundError: a branch named in the options does not exist.
        """
        target = ScanTarget(
            store=self.store,
            schema=self.schema,
            options=self.options,
            snapshot=self.snapshot,
            travelled=bool(self.travel.given),
            travel=self.travel,
        )
        return [
            replace(self, store=found.store, snapshot=found.snapshot)
            for found in branches_read(target)
        ]

    def live_files(self) -> ManifestEntries:
        """The live files of the snapshot, except in the postponed bucket; all levels."""
        found = self.all_files()
        return found.filter(numbers(found.table, "bucket") != POSTPONE_BUCKET)

    def all_files(self) -> ManifestEntries:
        """The live files of the snapshot, including the postponed bucket."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        cut = PartitionFilter(row_type=self.schema.partition_type, predicate=None)
        return live_files(self.store, self.snapshot, cut)

    def all_entries(self, columns: Collection[str]) -> ManifestEntries:
        """All manifest entries of the snapshot, including those of removed files."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        manifests = self.store.manifests
        return manifests.read_many(manifests.all(self.snapshot).names, columns)
