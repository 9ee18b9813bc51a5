"""What system tables are made from."""

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
        store: its files, of one branch.
        schema: the schema that reads use.
        options: its options, dynamic ones included.
        snapshot: None for a table without any.
        travel: the point in time that was asked for; empty for the newest snapshot.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None
    travel: TimeTravel = NEWEST

    def branches(self) -> "list[TableState]":
        """The state of each branch that the table's rows lie in; partitions of the first hide.

        Raises:
            NotFoundError: there is no branch of a name in the options.
        """
        target = ScanTarget(
            store=self.store,
            schema=self.schema,
            options=self.options,
            snapshot=self.snapshot,
            travelled=bool(self.travel.given),
            travel=self.travel,
            branch=self.store.paths.branch,
        )
        return [
            replace(self, store=found.store, snapshot=found.snapshot)
            for found in branches_read(target)
        ]

    def live_files(self) -> ManifestEntries:
        """The snapshot's live files in real buckets, also those of hidden levels."""
        found = self.all_files()
        return found.filter(numbers(found.table, "bucket") != POSTPONE_BUCKET)

    def all_files(self) -> ManifestEntries:
        """The snapshot's live files, those of the postponed bucket included."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        cut = PartitionFilter(row_type=self.schema.partition_type, predicate=None)
        return live_files(self.store, self.snapshot, cut)

    def told(self, columns: Collection[str]) -> ManifestEntries:
        """Every entry of the snapshot's manifests, those of files that are gone included."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        manifests = self.store.manifests
        return manifests.read_many(manifests.all(self.snapshot).names, columns)
