"""External merge sort of the keys of an index, in memory that does not grow with the rows.

Rows are sorted in runs. If there are several, each is stored in a temporary file, in blocks, and
the runs are merged by ranges of keys; the limits of the ranges are last keys of blocks. Rows with
equal keys are in the same range.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import IO

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    as_python,
    build_fixed,
    concat_arrays,
    int64_values,
    take_rows,
)
from paimon_explore.encoding.global_index.column_keys import SortKeys
from paimon_explore.encoding.global_index.index_keys import Key

RUN_BYTES = 64 << 20
"""Size of keys and row ids above which a run ends."""
BLOCK_ROWS = 1 << 16
_BLOCKS_PER_RANGE = 8
_ROW_ID_BYTES = 8


def sorted_keys(
    parts: Iterable[SortKeys], *, run_bytes: int = RUN_BYTES, block_rows: int = BLOCK_ROWS
) -> Iterator[SortKeys]:
    """Sort rows by key, and rows of equal keys as they are given.

    Args:
        parts: the rows.
        run_bytes: size of keys and row ids above which a run ends.
        block_rows: rows of a run that are read at a time.

    Yields:
        The rows in parts; rows with equal keys are in the same part.
    """
    with ExitStack() as stack:
        stored: list[_StoredRun] = []
        last: SortKeys | None = None
        for run in _runs(parts, run_bytes):
            if last is not None:
                stored.append(_StoredRun(stack.enter_context(TemporaryFile()), last, block_rows))
            last = run
        if last is None:
            return
        if not stored:
            yield last
            return
        stored.append(_StoredRun(stack.enter_context(TemporaryFile()), last, block_rows))
        del last
        for limit in (*_limits(stored), None):
            found = [part for run in stored for part in run.below(limit)]
            if found:
                yield SortKeys.concat(found).sorted()


def _runs(parts: Iterable[SortKeys], run_bytes: int) -> Iterator[SortKeys]:
    """Concatenate parts up to a size, and sort them."""
    held: list[SortKeys] = []
    size = 0
    for part in parts:
        held.append(part)
        size += part.keys.nbytes + _ROW_ID_BYTES * len(part)
        if size > run_bytes:
            yield SortKeys.concat(held).sorted()
            held, size = [], 0
    if held:
        yield SortKeys.concat(held).sorted()


def _limits(runs: "list[_StoredRun]") -> list[Key]:
    """Keys that divide the rows of all runs into ranges of about equal size, ascending."""
    ends = concat_arrays([run.ends for run in runs])
    ordered = SortKeys(ends, np.zeros(len(ends), np.int64)).sorted().keys
    keys = as_python(ordered)[::_BLOCKS_PER_RANGE]
    return [*dict.fromkeys(key for key in keys if isinstance(key, (int, bytes)))]


class _StoredRun:
    """A sorted run in a temporary file.

    Args:
        file: an empty file.
        rows: the rows.
        block_rows: rows of a block.

    Attributes:
        ends: the last key of each block.
    """

    def __init__(self, file: IO[bytes], rows: SortKeys, block_rows: int) -> None:
        starts = np.arange(0, len(rows), block_rows)
        self.ends = take_rows(rows.keys, np.minimum(starts + block_rows, len(rows)) - 1)
        schema = pa.schema([("key", rows.keys.type), ("row_id", pa.int64())])
        with pa.ipc.new_stream(file, schema) as writer:  # type: ignore[arg-type]  # an IOBase
            for start in starts.tolist():
                block = rows.slice(start, start + block_rows)
                columns = [block.keys, build_fixed(pa.int64(), block.row_ids)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
        file.seek(0)
        self._blocks = iter(pa.ipc.open_stream(file))  # type: ignore[arg-type]  # an IOBase
        self._next: SortKeys | None = None

    def below(self, limit: Key | None) -> Iterator[SortKeys]:
        """Yield the next rows whose keys are below a limit; None for all that are left."""
        while True:
            if self._next is None:
                batch = next(self._blocks, None)
                if batch is None:
                    return
                self._next = SortKeys(batch.column(0), int64_values(batch.column(1)))
            rows = self._next
            end = len(rows)
            if limit is not None:
                keys = rows.keys
                end = bisect_left(range(end), limit, key=lambda at: keys[at].as_py())
            if end:
                yield rows.slice(0, end)
            if end < len(rows):
                self._next = rows.slice(end, len(rows))
                return
            self._next = None
