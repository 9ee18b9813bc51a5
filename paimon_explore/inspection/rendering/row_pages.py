"""Rows of a stream as pages of texts."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from paimon_explore.data_types.arrow_buffers import shown_values
from paimon_explore.inspection.rendering.report import Cell, Grid
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa


class RowPages:
    """The pages of a stream of rows; rows are read up to the page that is asked for, and kept.

    Args:
        reader: the rows.
        page_rows: number of rows of a page.
    """

    def __init__(self, reader: "pa.RecordBatchReader", page_rows: int) -> None:
        self._names = tuple(reader.schema.names)
        self._page_rows = page_rows
        self._unread = _cells(reader, max(page_rows, 1))
        self._rows: list[tuple[Cell, ...]] = []

    def page(self, number: int) -> Grid:
        """Return the rows of a page, counted from 0."""
        end = (number + 1) * self._page_rows
        self._rows += islice(self._unread, max(end + 1 - len(self._rows), 0))
        rows = tuple(self._rows[end - self._page_rows : end])
        return Grid(title="", columns=self._names, rows=rows, total=len(rows))

    def has_more(self, number: int) -> bool:
        """Return whether rows follow a page that was read."""
        return len(self._rows) > (number + 1) * self._page_rows

    def state(self, number: int) -> dict[str, object]:
        """A page as JSON."""
        grid = self.page(number)
        return {
            "columns": list(grid.columns),
            "rows": [[cell.text for cell in row] for row in grid.rows],
            "number": number,
            "first": number * self._page_rows + 1,
            "more": self.has_more(number),
        }


def _cells(reader: "pa.RecordBatchReader", step: int) -> Iterator[tuple[Cell, ...]]:
    for batch in reader:
        for start in range(0, batch.num_rows, step):
            columns = map(shown_values, batch.slice(start, step).columns)
            yield from (tuple(map(_cell, row)) for row in zip(*columns, strict=True))


def _cell(value: object) -> Cell:
    return Cell(text="NULL" if value is None else sanitized(str(value)))
