"""Helpers that build positioned batches."""

from collections.abc import Callable, Generator, Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass


def rows_without_columns(spans: Sequence[Span], batch_rows: int) -> Iterator[PositionedBatch]:
    """Yield batches without columns that cover the spans."""
    for span in spans:
        yield from sliced((), span.first, span.rows, batch_rows)


def first_rows(batches: Iterator[pa.RecordBatch], limit: int | None) -> Generator[pa.RecordBatch]:
    """Yield the first rows of batches; all without a limit."""
    if limit is None:
        yield from batches
        return
    while limit > 0 and (batch := next(batches, None)) is not None:
        yield batch.slice(0, limit)
        limit -= min(limit, batch.num_rows)


def sliced(
    columns: Sequence[Column], first: int, rows: int, batch_rows: int
) -> Iterator[PositionedBatch]:
    """Split columns of `rows` values, starting at position `first`, into batches."""
    for start in range(0, rows, batch_rows):
        count = min(batch_rows, rows - start)
        parts = tuple(column.slice(start, count) for column in columns)
        yield PositionedBatch(first=first + start, rows=count, columns=parts)


def conformed(
    batch: pa.RecordBatch,
    columns: Sequence[StoredColumn],
    first: int,
    batch_rows: int,
    *,
    path: str,
) -> Iterator[PositionedBatch]:
    """Yield decoded rows with the columns in the Arrow types that readers of files return.

    Args:
        batch: n decoded rows; has the columns by name, in any compatible type.
        columns: the columns to return.
        first: position of the first row in the file.
        batch_rows: maximum number of rows of a returned batch.
        path: of the file, for errors.

    Raises:
        CorruptFileError: a column has a type that the type of the table does not allow.
    """
    kept = [conform(batch.column(c.name), c.type, path=path, column=c.name) for c in columns]
    yield from sliced(kept, first, batch.num_rows, batch_rows)


_TAKEN_COST = 4
"""How much longer it takes to decode one row by its position than in a sequence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenRows:
    """Rows of a span that a library decodes by position, as pages of one row; see `PagedRows`.

    Attributes:
        path: of the file, for errors.
        span: the span.
        take: decodes a column at some rows of the file.
    """

    path: str
    span: Span
    take: Callable[[str, Ints], pa.Table]
    batch_rows: int = 1 << 13
    page_rows: int = 1
    distinct: None = None

    def bounds(self, column: StoredColumn) -> None:
        """Return None: single rows have no statistics."""
        del column

    def share(self, column: StoredColumn, rows: Ints) -> float:
        """See `PagedRows`."""
        del column
        return min(1.0, _TAKEN_COST * len(rows) / self.span.rows)

    def values(self, columns: Sequence[StoredColumn], rows: Ints) -> tuple[Column, ...]:
        """See `PagedRows`.

        Raises:
            CorruptFileError: rows are missing, or a column has another type.
        """
        return tuple(self._values(column, rows) for column in columns)

    def _values(self, column: StoredColumn, rows: Ints) -> Column:
        found = self.take(column.name, rows)
        if found.num_rows != len(rows):
            rule = f"must have the rows {rows[0]} to {rows[-1]}"
            raise CorruptFileError(self.path, f"column {column.name}", rule)
        parts = [
            conform(chunk, column.type, path=self.path, column=column.name)
            for chunk in found.column(0).chunks
        ]
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
