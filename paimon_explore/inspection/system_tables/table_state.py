"""The input of system tables."""

from collections.abc import Collection
from dataclasses import replace

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.system_tables.system_table_cells import partition_condition
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import PARTITION_DEFAULT_NAME, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import POSTPONE_BUCKET
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files, read_entries
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.requested_columns import EVERYTHING, Selection
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
        selection: the rows and columns that are needed; others may be left out.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None
    travel: TimeTravel = NEWEST
    selection: Selection = EVERYTHING

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
        return live_files(self.store, self.snapshot, self._partitions)

    def all_entries(self, columns: Collection[str]) -> ManifestEntries:
        """All manifest entries of the snapshot, including those of removed files.

        Args:
            columns: of the entries; among them the partition.
        """
        if self.snapshot is None:
            return ManifestEntries.empty()
        manifests = self.store.manifests.all(self.snapshot)
        kept = manifests.filter(self._partitions.manifest_mask(manifests))
        return read_entries(self.store, kept, self._partitions, columns)

    @property
    def _partitions(self) -> PartitionFilter:
        """The partitions that the condition on the column `partition` selects."""
        row_type = self.schema.partition_type
        where = self.selection.pushed(["partition"]).where
        found = partition_condition(where, row_type, self.options.value(PARTITION_DEFAULT_NAME))
        return PartitionFilter(row_type=row_type, predicate=bind(found, row_type))
