"""Helpers that build positioned batches."""

from collections.abc import Iterator, Sequence

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span


def rows_without_columns(spans: Sequence[Span], batch_rows: int) -> Iterator[PositionedBatch]:
    """Yield batches without columns that cover the spans."""
    for span in spans:
        yield from sliced((), span.first, span.rows, batch_rows)


def sliced(
    columns: Sequence[Column], first: int, rows: int, batch_rows: int
) -> Iterator[PositionedBatch]:
    """Split columns of `rows` values, starting at position `first`, into batches."""
    for start in range(0, rows, batch_rows):
        count = min(batch_rows, rows - start)
        parts = tuple(column.slice(start, count) for column in columns)
        yield PositionedBatch(first=first + start, rows=count, columns=parts)
