"""Parallel reading of splits in threads; rows are returned in the order of the splits.

Decoding, sorting and waiting for a store release the GIL. The rows of a finished split are kept in
memory until those of the splits before it are consumed, so this is for callers that need all rows.
"""

import os
from collections import deque
from collections.abc import Generator, Sequence
from functools import cache
from itertools import accumulate, islice
from threading import Event
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.scan.splits.data_split import Split

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from paimon_explore.read.split_reader import SplitReader

_MIN_ROWS = 100_000
"""Minimum number of rows of local files for which threads pay off."""
_MAX_THREADS = 16


def threads_for(reader: "SplitReader", splits: Sequence[Split]) -> int:
    """Number of threads to use: Arrow's CPU count for local files, its IO thread count for stores.

    `pyarrow.set_cpu_count` and `pyarrow.set_io_thread_count` change these numbers.
    """
    if len(splits) <= 1:
        return 1
    if not isinstance(reader.store.file_io, LocalFileIO):
        return min(pa.io_thread_count(), _MAX_THREADS)
    rows = accumulate(split.row_count for split in splits)
    return min(pa.cpu_count(), _MAX_THREADS) if any(sum_ >= _MIN_ROWS for sum_ in rows) else 1


def read_splits(reader: "SplitReader", splits: Sequence[Split]) -> Generator[list[pa.RecordBatch]]:
    """Reads the batches of each split, in the order of the splits.

    Raises:
        PaimonError: as `SplitReader.read`: the first error in the order of the splits. The other
            threads stop at their next batch.
    """
    threads = threads_for(reader, splits)
    if threads <= 1:
        yield from (list(reader.read(split)) for split in splits)
        return
    from concurrent.futures import wait  # noqa: PLC0415 - many splits

    stopped = Event()

    def read(split: Split) -> list[pa.RecordBatch]:
        found = []
        for batch in reader.read(split):
            if stopped.is_set():
                break
            found.append(batch)
        return found

    pool = _pool(threads)
    rest = iter(splits)
    running: deque[Future[list[pa.RecordBatch]]] = deque()
    try:
        running.extend(pool.submit(read, split) for split in islice(rest, 2 * threads))
        while running:
            yield running[0].result()
            running.popleft()
            running.extend(pool.submit(read, split) for split in islice(rest, 1))
    finally:
        stopped.set()
        wait([future for future in running if not future.cancel()])


@cache
def _pool(threads: int) -> "ThreadPoolExecutor":
    """A thread pool that is kept for later reads, to reuse the threads' Arrow memory arenas."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - many splits

    return ThreadPoolExecutor(threads, "paimon-read")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
