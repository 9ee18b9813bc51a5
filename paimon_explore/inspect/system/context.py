"""What system tables are made from."""

from dataclasses import dataclass

from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import TableOptions
from paimon_explore.metadata.paths import POSTPONE_BUCKET
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.entries import PartitionCut, live_files
from paimon_explore.scan.frames import numbers
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table at one snapshot.

    Attributes:
        store: its files, of one branch.
        schema: the schema that reads use.
        options: its options, dynamic ones included.
        snapshot: None for a table without any.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None

    def live_files(self) -> ManifestEntries:
        """The snapshot's live files in real buckets, also those of hidden levels."""
        found = self.all_files()
        return found.filter(numbers(found.table, "bucket") != POSTPONE_BUCKET)

    def all_files(self) -> ManifestEntries:
        """The snapshot's live files, those of the postponed bucket included."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        cut = PartitionCut(row_type=self.schema.partition_type, predicate=None)
        return live_files(self.store, self.snapshot, cut)
