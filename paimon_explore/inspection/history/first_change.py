"""The first snapshot at which a condition holds, found by bisection."""

from collections.abc import Callable

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python, shown_values
from paimon_explore.errors import NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.number_format import time_text
from paimon_explore.inspection.rendering.report import Cell, Grid, Report, facts
from paimon_explore.inspection.rendering.report_html import report_html
from paimon_explore.inspection.rendering.report_text import report_text
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.live_entries import PartitionFilter, read_entries
from paimon_explore.scan.manifest_arrays import column
from paimon_explore.store.table_store import TableStore

Matching = Callable[[int], pa.Table]
"""Returns the rows that fulfil a condition at the snapshot with an id."""
_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FirstChange:
    """The first snapshot at which a row fulfils a condition.

    Attributes:
        table: its name.
        condition: the condition, as text.
        snapshot: the first snapshot at which it holds.
        before: the id of the snapshot before, at which it does not hold; None if the condition
            already holds at the earliest snapshot that exists.
        rows: the rows that fulfil it.
        files: names of the data files that the commit added.
        reads: at how many snapshots the condition was evaluated.
    """

    table: str
    condition: str
    snapshot: Snapshot
    before: int | None
    rows: pa.Table
    files: tuple[str, ...]
    reads: int

    def _report(self) -> Report:
        commit = self.snapshot
        before = "none: it holds at the earliest snapshot" if self.before is None else self.before
        found = facts(
            ("condition", sanitized(self.condition)),
            ("first snapshot", f"snapshot {commit.id}"),
            ("committed", time_text(commit.time_millis)),
            ("kind", commit.commit_kind.value),
            ("user", sanitized(commit.commit_user)),
            ("files added", len(self.files)),
            ("snapshot before", str(before)),
            ("snapshots read", self.reads),
        )
        names = tuple(self.rows.column_names)
        shown = self.rows.slice(0, _SHOWN).columns
        rows = zip(*(shown_values(one.combine_chunks()) for one in shown), strict=True)
        cells = tuple(tuple(Cell(text=sanitized(str(value))) for value in row) for row in rows)
        matching = Grid(title="Matching rows", columns=names, rows=cells, total=self.rows.num_rows)
        return Report(title=f"{self.table}: first change", sections=(found, matching))

    def __repr__(self) -> str:
        """Return the commit and the first matching rows as text."""
        return report_text(self._report())

    def _repr_html_(self) -> str:
        """The same as HTML."""
        return report_html(self._report())


def first_change(store: TableStore, table: str, condition: str, matching: Matching) -> FirstChange:
    """Find the first snapshot at which a condition holds, in about log2(n) reads.

    The bisection finds a snapshot at which the condition holds, while it does not hold at the one
    before. If it came and went several times, there are others.

    Args:
        store: the table's snapshots.
        table: its name.
        condition: as text.
        matching: reads the matching rows.

    Raises:
        NotFoundError: no row fulfils the condition at the latest snapshot.
    """
    ids = store.snapshots.ids()
    known: dict[int, pa.Table] = {}

    def holds(at: int) -> bool:
        known[at] = matching(ids[at])
        return known[at].num_rows > 0

    if not ids or not holds(len(ids) - 1):
        shown = f"at snapshot {ids[-1]}, the latest" if ids else "because there is no snapshot"
        raise NotFoundError(
            "change",
            condition,
            table,
            message=f"In table {table} no row fulfils {condition} {shown}, from where it searches.",
            hint="history() of a query that counts such rows shows where there were some.",
        )
    low, high = -1, len(ids) - 1
    if high and holds(0):
        high = 0
    else:
        low = 0 if high else -1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
    snapshot = store.snapshots.load(ids[high])
    return FirstChange(
        table=table,
        condition=condition,
        snapshot=snapshot,
        before=None if low < 0 else ids[low],
        rows=known[high],
        files=_added(store, snapshot),
        reads=len(known),
    )


def _added(store: TableStore, snapshot: Snapshot) -> tuple[str, ...]:
    schema = store.schemas.load(snapshot.schema_id)
    everything = PartitionFilter(row_type=schema.partition_type)
    entries = read_entries(store, store.manifests.list(snapshot.delta_manifest_list), everything)
    names = as_python(column(entries.of_kind(FileKind.ADD).table, "file_name"))
    return tuple(map(str, names))
