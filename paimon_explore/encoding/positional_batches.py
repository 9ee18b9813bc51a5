"""Positioned batches out of what is there already."""

from collections.abc import Iterator, Sequence

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span


def rows_without_columns(spans: Sequence[Span], batch_rows: int) -> Iterator[PositionedBatch]:
    """Batches without columns that cover the spans; nothing is decoded."""
    for span in spans:
        yield from sliced((), span.first, span.rows, batch_rows)


def sliced(
    columns: Sequence[Column], first: int, rows: int, batch_rows: int
) -> Iterator[PositionedBatch]:
    """Columns of `rows` values, the first at position `first`, in batches that are not longer."""
    for start in range(0, rows, batch_rows):
        count = min(batch_rows, rows - start)
        parts = tuple(column.slice(start, count) for column in columns)
        yield PositionedBatch(first=first + start, rows=count, columns=parts)
