"""One side of a comparison: a table at a snapshot."""

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import SLIM_SCHEMA, live_slim
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSide:
    """A table at a snapshot.

    Attributes:
        view: the table.
        snapshot: the snapshot; None for a table without snapshots.
        travelled: whether the schema is that of the snapshot instead of the latest one.
    """

    view: TableView
    snapshot: Snapshot | None
    travelled: bool = False

    @property
    def label(self) -> str:
        """The table with its snapshot."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        return f"{self.view.name} at {at}"

    @property
    def target(self) -> ScanTarget:
        """What a read of this side reads.

        Raises:
            PaimonError: the schema cannot be read.
        """
        return self.view.target(self.snapshot, travelled=self.travelled)

    @property
    def schema(self) -> TableSchema:
        """The schema of this side.

        Raises:
            PaimonError: the schema cannot be read.
        """
        return self.target.schema

    def contents(self) -> "SideContents":
        """The live files.

        Raises:
            PaimonError: a manifest cannot be read.
        """
        files = SLIM_SCHEMA.empty_table()
        if self.snapshot is not None:
            files = live_slim(self.view, self.snapshot)
        return SideContents(files=files, snapshots=len(self.view.store.snapshots.ids()))


@dataclass(frozen=True, slots=True, kw_only=True)
class SideContents:
    """The files and snapshots of a side.

    Attributes:
        files: the live files, as `SLIM_SCHEMA`.
        snapshots: number of snapshots of the branch.
    """

    files: pa.Table
    snapshots: int

    @property
    def count(self) -> int:
        """Number of live files."""
        return self.files.num_rows

    @property
    def bytes(self) -> int:
        """Size of the live files."""
        return int(numbers(self.files, "file_size").sum())

    @property
    def rows(self) -> int:
        """Rows of the live files, before merging."""
        return int(numbers(self.files, "row_count").sum())

    @property
    def partitions(self) -> int:
        """Number of partitions."""
        return int(pc.count_distinct(self.files.column("partition")).as_py())

    @property
    def level_0(self) -> int:
        """Number of files on level 0."""
        return int((numbers(self.files, "level") == 0).sum())

    @property
    def names(self) -> frozenset[str]:
        """The names of the live files."""
        return frozenset(str(name) for name in self.files.column("file_name").to_pylist())
