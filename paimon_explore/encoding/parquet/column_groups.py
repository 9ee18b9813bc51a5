"""Parallel decoding of Parquet files with many columns.

Arrow starts a task per column and batch, which costs more than decoding some kilobytes. Here each
thread decodes a group of columns, with a reader of its own on the same file.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.encoding.parquet.arrow_reader import ParquetReader
from paimon_explore.threads import MAX_THREADS, thread_pool

if TYPE_CHECKING:
    from concurrent.futures import Future


def decode_column_groups(
    opened: Callable[[], ParquetReader],
    columns: Sequence[str],
    leaves_of: Callable[[Sequence[str]], list[int]],
    row_groups: Sequence[int],
    batch_rows: int,
) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of row groups, with the columns in any order.

    Args:
        opened: opens the file; the readers may read concurrently.
        columns: the leaf columns, or prefixes of their paths; those of one top-level column are
            consecutive.
        leaves_of: returns the leaf columns of some of them.
        row_groups: indexes of the row groups.
        batch_rows: maximum rows of a batch.
    """
    threads = min(pa.cpu_count(), MAX_THREADS)
    streams = [
        opened().iter_batches(batch_rows, list(row_groups), leaves_of(group), use_threads=False)
        for group in column_groups(columns, threads)
    ]
    pool = thread_pool(max(threads - 1, 1), "paimon-decode")
    while True:
        running: list[Future[pa.RecordBatch | None]] = [
            pool.submit(next, stream, None) for stream in streams[1:]
        ]
        try:
            first = next(streams[0], None)
        finally:
            rest = [future.exception() for future in running]  # waits: the file may be closed next
        for error in rest:
            if error is not None:
                raise error
        if first is None:
            return
        batches = [first, *(future.result() for future in running)]
        fields = [field for batch in batches if batch is not None for field in batch.schema]
        arrays = [array for batch in batches if batch is not None for array in batch.columns]
        yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def column_groups(columns: Sequence[str], count: int) -> list[list[str]]:
    """Divide leaf columns into groups of about the same size; nested columns are not divided."""
    groups: list[list[str]] = []
    size = -(-len(columns) // count)
    for at, column in enumerate(columns):
        is_same = at > 0 and columns[at - 1].split(".", 1)[0] == column.split(".", 1)[0]
        if not groups or (len(groups[-1]) >= size and not is_same):
            groups.append([])
        groups[-1].append(column)
    return groups
