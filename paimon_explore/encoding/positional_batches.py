"""Helpers that build positioned batches."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn


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
