"""`SqlResult`: the result of an SQL statement."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Protocol

from paimon_explore.data_types import data_frames
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.inspection.history.first_change import FirstChange
    from paimon_explore.inspection.rendering.report import Report
    from paimon_explore.inspection.rendering.result import Figure
    from paimon_explore.inspection.rendering.row_pages import RowPages
    from paimon_explore.metadata.snapshot import Snapshot

Parameters = Mapping[str, object] | Sequence[object] | None
"""Values of parameter markers: by name for `:name`, in order for `?`."""


class SqlRows(Protocol):
    """Rows that can be read several times."""

    @property
    def schema(self) -> "pa.Schema":
        """The columns."""

    def to_batches(self) -> "pa.RecordBatchReader":
        """Read the rows in batches."""

    def interrupt(self) -> None:
        """Stop what reads the rows, from another thread."""


class OverTime(Protocol):
    """A query that can run again at other points in time."""

    def diff(
        self, before: int | str | date, after: int | str | date, key: Iterable[str] | None
    ) -> "SqlResult":
        """Return the rows that differ between two points."""

    def history(self, last: int) -> "SqlResult":
        """Return the result at each of the last snapshots."""

    def first_change(self, condition: str) -> "FirstChange":
        """Find the first snapshot at which a condition on the result holds."""

    def interrupt(self) -> None:
        """Stop what runs the query, from another thread."""


class SqlResult:
    """The result of an SQL statement.

    The rows of a query stay at the snapshots that its tables had, and are read by each use. A
    statement that changes data is complete when it returns.

    Args:
        rows: the rows.
        snapshot: the snapshot that the statement committed; None if it committed none.
        over_time: runs the query at other points in time; None if the statement is no query.
        note: a sentence about the rows.

    Attributes:
        shown_rows: the number of rows that `repr` shows, and of a page in notebooks.
    """

    shown_rows = 20

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Raise an error that names what the result can do."""
            from paimon_explore.table.other_names import missing

            raise missing(self, name, "result")

    def __init__(
        self,
        rows: "SqlRows | pa.Table",
        snapshot: "Snapshot | None" = None,
        over_time: OverTime | None = None,
        note: str = "",
    ) -> None:
        self._rows = rows
        self._snapshot = snapshot
        self._over_time = over_time
        self._note = note

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the rows; what can run the query at other points in time is left out."""
        return type(self), (self.to_arrow(), self._snapshot, None, self._note)

    @property
    def schema(self) -> "pa.Schema":
        """The columns of the result."""
        return self._rows.schema

    @property
    def snapshot(self) -> "Snapshot | None":
        """The snapshot that the statement committed; None for queries and other statements."""
        return self._snapshot

    @property
    def note(self) -> str:
        """A sentence about how the rows were computed; empty for none."""
        return self._note

    def diff(
        self, before: int | str | date, after: int | str | date, *, key: Iterable[str] | None = None
    ) -> "SqlResult":
        """Return the rows of the result that differ between two points in time.

        Args:
            before: a snapshot id, the name of a tag, or a time, as for `Table.at`; a tag or a time
                if the query reads several tables; 0 for the empty tables before their first
                snapshots.
            after: the same.
            key: columns that identify a row; None for the grouping columns of the query, or the
                primary key of its only table. If these are not in the result, or not unique, whole
                rows are compared.

        Returns:
            `change` (`added`, `removed`, `changed`), the key, then for each other column the value
            before as `<name>_before`, and the value after. Whole rows are added or removed.

        Raises:
            UnsupportedFeatureError: the statement is no query.
            InvalidInputError: no table is read at its latest snapshot, or the key is not unique.
            NotFoundError: there is no such snapshot or tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> found = pe.sql("SELECT dt, count(*) AS n FROM t GROUP BY dt", t=t).diff(1, 3)
        >>> [row["change"] for row in found.to_arrow().to_pylist()]
        ['changed', 'changed', 'changed']
        """
        return self._again().diff(before, after, key)

    def history(self, last: int = 100) -> "SqlResult":
        """Return the result of the query at each of the last snapshots of its tables.

        Files that several snapshots have are read once if the query computes `count`, `sum`, `min`
        and `max` of one table, with WHERE, GROUP BY and HAVING; sums of floating-point numbers
        may then differ in the last digits. Otherwise the query runs at each snapshot, and `note`
        says why.

        Args:
            last: at how many snapshots.

        Returns:
            `snapshot_id`, `commit_time`, `commit_kind` and `commit_user`, then the columns of the
            query.

        Raises:
            UnsupportedFeatureError: the statement is no query.
            InvalidInputError: no table is read at its latest snapshot.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> found = pe.sql("SELECT count(*) AS n FROM t", t=t).history()
        >>> found.to_arrow()["n"].to_pylist()
        [6, 12, 18, 24, 30]
        """
        return self._again().history(last)

    def first_change(self, condition: str) -> "FirstChange":
        """Find the first snapshot at which a row of the result fulfils a condition.

        The snapshots are bisected, so the query runs about log2(n) times. If the condition held
        several times, one of the snapshots at which it began to hold is found.

        Args:
            condition: an SQL condition on the columns of the result, or on expressions of the
                query, such as `sum(amount) < 0`.

        Raises:
            UnsupportedFeatureError: the statement is no query.
            NotFoundError: the condition does not hold at the latest snapshot.
            InvalidInputError: the query reads several tables, or the condition is wrong.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> pe.sql("SELECT count(*) FROM t", t=t).first_change("count(*) > 15").snapshot.id
        3
        """
        return self._again().first_change(condition)

    def plot(self) -> "Figure":
        """Return a plotly figure with a chart for each column of numbers.

        The horizontal axis is the first column that is a time, or `snapshot_id`; each combination
        of the texts in other columns is a line. Without such a column, each row is a bar.

        Raises:
            InvalidInputError: no column has numbers, or there are too many rows.
            UnsupportedFeatureError: plotly is not installed.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> history = pe.sql("SELECT count(*) AS n FROM t", t=t).history()
        >>> history.plot().data[0].y
        (6.0, 12.0, 18.0, 24.0, 30.0)
        """
        from paimon_explore.inspection.rendering.result_charts import charts_of
        from paimon_explore.table.display import RENDERER

        return RENDERER.figure(charts_of(self.to_arrow()))

    def _again(self) -> OverTime:
        if self._over_time is None:
            raise UnsupportedFeatureError(
                "the result of this statement at other points in time",
                hint="Call diff(), history() and first_change() on the result of a query.",
            )
        return self._over_time

    def to_batches(self) -> "pa.RecordBatchReader":
        """Read the rows in batches of bounded size."""
        import pyarrow as pa

        rows = self._rows
        return rows.to_reader() if isinstance(rows, pa.Table) else rows.to_batches()

    def interrupt(self) -> None:
        """Stop what reads the rows of a query, or their history, from another thread."""
        import pyarrow as pa

        if not isinstance(self._rows, pa.Table):
            self._rows.interrupt()
        if self._over_time is not None:
            self._over_time.interrupt()

    def to_arrow(self) -> "pa.Table":
        """Read the rows into an Arrow table."""
        return self.to_batches().read_all()

    def to_pandas(self) -> "data_frames.DataFrame":
        """Read the rows into a pandas DataFrame."""
        return data_frames.frame_of(self.to_arrow())

    def to_polars(self) -> "data_frames.PolarsDataFrame":
        """Read the rows into a Polars DataFrame.

        Raises:
            InvalidInputError: Polars is not installed, or two columns have the same name.
        """
        from paimon_explore.table.engine_scans.scan_conversions import require_package

        require_package("polars", "polars")
        import polars as pl

        rows = self.to_arrow()
        twice = [name for name in rows.column_names if rows.column_names.count(name) > 1]
        if twice:
            raise InvalidInputError(
                f"The result has two columns named {twice[0]!r}, which Polars does not allow.",
                hint="Name one of them with AS.",
            )
        frame = pl.from_arrow(rows)
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface."""
        return self.to_batches().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def _report(self, pages: "RowPages") -> "Report":
        """Return the first page of rows as a report."""
        from paimon_explore.inspection.rendering.report import Note, Report

        grid = pages.page(0)
        title = f"Rows 1 to {len(grid.rows)}; to_arrow() reads all" if pages.has_more(0) else "Rows"
        title = title if grid.columns else "Statement executed."
        notes = (Note(text=sanitized(self._note)),) if self._note else ()
        return Report(title=title, sections=(grid, *notes) if grid.columns else ())

    def _pages(self) -> "RowPages":
        from paimon_explore.inspection.rendering.row_pages import RowPages

        return RowPages(self.to_batches(), self.shown_rows)

    def __repr__(self) -> str:
        """Return the first rows as text."""
        from paimon_explore.inspection.rendering.report_text import report_text

        return report_text(self._report(self._pages()))

    def _repr_html_(self) -> str:
        """The first rows as an HTML table."""
        from paimon_explore.inspection.rendering.report_html import report_html

        return report_html(self._report(self._pages()))

    def _repr_mimebundle_(self, **_kwargs: object) -> object:
        """The first rows by media type; in a notebook, the others page by page."""
        from paimon_explore.inspection.rendering.report_html import report_html
        from paimon_explore.inspection.rendering.report_text import report_text
        from paimon_explore.table.progress import in_notebook

        pages = self._pages()
        report = self._report(pages)
        plain = {"text/plain": report_text(report), "text/html": report_html(report)}
        if not pages.has_more(0) or not in_notebook():
            return plain
        try:
            from paimon_explore.widgets.result_widgets import ResultPages
        except ModuleNotFoundError:  # of the extra `notebook`
            return plain
        return ResultPages(pages, plain)._repr_mimebundle_()
