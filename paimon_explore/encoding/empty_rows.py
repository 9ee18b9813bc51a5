"""Rows of which no column is wanted: only their number and places matter."""

from collections.abc import Iterator, Sequence

from paimon_explore.encoding.decoding import PositionedBatch, Span


def rows_without_columns(spans: Sequence[Span], batch_rows: int) -> Iterator[PositionedBatch]:
    """Batches without columns that cover the spans; nothing is decoded."""
    for span in spans:
        for start in range(0, span.rows, batch_rows):
            rows = min(batch_rows, span.rows - start)
            yield PositionedBatch(first=span.first + start, rows=rows, columns=())
