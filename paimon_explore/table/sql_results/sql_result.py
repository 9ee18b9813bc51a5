"""`SqlResult`: the result of an SQL statement."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from paimon_explore.data_types import data_frames
from paimon_explore.inspection.rendering.report import Cell, Grid, Report
from paimon_explore.inspection.rendering.report_html import report_html
from paimon_explore.inspection.rendering.report_text import report_text
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.metadata.snapshot import Snapshot

Parameters = Mapping[str, object] | Sequence[object] | None
"""Values of parameter markers: by name for `:name`, in order for `?`."""
_SHOWN = 20


class SqlRows(Protocol):
    """Rows that can be read several times."""

    @property
    def schema(self) -> "pa.Schema":
        """The columns."""

    def to_batches(self) -> "pa.RecordBatchReader":
        """Read the rows in batches."""

    def interrupt(self) -> None:
        """Stop what reads the rows, from another thread."""


class SqlResult:
    """The result of an SQL statement.

    The rows of a query stay at the snapshots that its tables had, and are read by each use. A
    statement that changes data is complete when it returns.

    Args:
        rows: the rows.
        snapshot: the snapshot that the statement committed; None if it committed none.
    """

    def __init__(self, rows: SqlRows, snapshot: "Snapshot | None" = None) -> None:
        self._rows = rows
        self._snapshot = snapshot

    @property
    def schema(self) -> "pa.Schema":
        """The columns of the result."""
        return self._rows.schema

    @property
    def snapshot(self) -> "Snapshot | None":
        """The snapshot that the statement committed; None for queries and other statements."""
        return self._snapshot

    def to_batches(self) -> "pa.RecordBatchReader":
        """Read the rows in batches of bounded size."""
        return self._rows.to_batches()

    def interrupt(self) -> None:
        """Stop what reads the rows of a query, from another thread."""
        self._rows.interrupt()

    def to_arrow(self) -> "pa.Table":
        """Read the rows into an Arrow table."""
        return self.to_batches().read_all()

    def to_pandas(self) -> "data_frames.DataFrame":
        """Read the rows into a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "data_frames.PolarsDataFrame":
        """Read the rows into a Polars DataFrame.

        Raises:
            InvalidInputError: Polars is not installed.
        """
        from paimon_explore.table.engine_scans.scan_conversions import require_package

        require_package("polars", "polars")
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface."""
        return self.to_batches().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def _report(self) -> Report:
        """Return the first rows as a report."""
        reader = self.to_batches()
        names = tuple(reader.schema.names)
        found: list[tuple[Cell, ...]] = []
        for batch in reader:
            rows = batch.slice(0, _SHOWN + 1 - len(found)).to_pylist(maps_as_pydicts="lossy")
            found += [tuple(_cell(row[name]) for name in names) for row in rows]
            if len(found) > _SHOWN:
                break
        more = len(found) > _SHOWN
        grid = Grid(
            title="",
            columns=names,
            rows=tuple(found[:_SHOWN]),
            total=len(found[:_SHOWN]),
        )
        title = "First rows; to_arrow() reads all" if more else "Rows"
        title = title if names else "Statement executed."
        return Report(title=title, sections=(grid,) if names else ())

    def __repr__(self) -> str:
        """Return the first rows as text."""
        return report_text(self._report())

    def _repr_html_(self) -> str:
        """The first rows as an HTML table."""
        return report_html(self._report())


def _cell(value: object) -> Cell:
    return Cell(text="NULL" if value is None else sanitized(str(value)))
