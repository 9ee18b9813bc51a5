"""Record batches of other sizes, or with their rows in random order."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa


def resized(batches: Iterable[pa.RecordBatch], rows: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of a number of rows; the last one may be smaller.

    Args:
        batches: the rows, in their order.
        rows: rows of a batch; None yields the batches as they are.

    >>> batch = pa.RecordBatch.from_pydict({"n": [1, 2, 3, 4, 5]})
    >>> [one.num_rows for one in resized([batch, batch], 4)]
    [4, 4, 2]
    """
    if rows is None:
        yield from batches
        return
    waiting: list[pa.RecordBatch] = []
    missing = rows
    for batch in batches:
        rest = batch
        while rest.num_rows:
            piece = rest.slice(0, missing)
            rest = rest.slice(piece.num_rows)
            waiting.append(piece)
            missing -= piece.num_rows
            if not missing:
                yield _joined(waiting)
                waiting, missing = [], rows
    if waiting:
        yield _joined(waiting)


def shuffled(
    batches: Iterable[pa.RecordBatch], rows: int, order: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of a number of rows, each with its rows in random order."""
    for block in resized(batches, rows):
        yield block.take(order.permutation(block.num_rows))


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    columns = [
        pa.concat_arrays([batch.column(at) for batch in batches])
        for at in range(batches[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batches[0].schema)
