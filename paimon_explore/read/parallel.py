"""Parallel reading of splits in threads; rows are returned in the order of the splits.

Decoding, sorting and waiting for a store release the GIL. The rows of a finished split are kept in
memory until those of the splits before it are consumed, so this is for callers that need all rows.
"""

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from itertools import accumulate, islice
from threading import Event
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.read.small_files import Group, groups, read_group
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.read.thread_pools import MAX_THREADS, thread_pool
from paimon_explore.scan.splits.data_split import Split

if TYPE_CHECKING:
    from concurrent.futures import Future

_MIN_ROWS = 100_000
"""Minimum number of rows of local files for which threads pay off."""


def threads_for(reader: SplitReader, splits: Sequence[Split]) -> int:
    """Number of threads to use: Arrow's CPU count for local files, its IO thread count for stores.

    `pyarrow.set_cpu_count` and `pyarrow.set_io_thread_count` change these numbers.
    """
    if len(splits) <= 1:
        return 1
    if not isinstance(reader.store.file_io, LocalFileIO):
        return min(pa.io_thread_count(), MAX_THREADS)
    rows = accumulate(split.row_count for split in splits)
    return min(pa.cpu_count(), MAX_THREADS) if any(sum_ >= _MIN_ROWS for sum_ in rows) else 1


def read_splits(reader: SplitReader, splits: Sequence[Split]) -> Generator[list[pa.RecordBatch]]:
    """Reads the batches of each split, in the order of the splits.

    Splits of small files are read several at once; the first of them then has the batches of all.

    Raises:
        PaimonError: as `SplitReader.read`: the first error in the order of the splits. The other
            threads stop at their next batch.
    """
    threads = threads_for(reader, splits)
    if threads <= 1:
        for group in groups(reader, splits):
            yield from _by_split(list(read_group(reader, group)), group)
        return
    from concurrent.futures import wait  # noqa: PLC0415 - many splits

    stopped = Event()

    def read(group: Group) -> list[pa.RecordBatch]:
        found = []
        for batch in read_group(reader, group):
            if stopped.is_set():
                break
            found.append(batch)
        return found

    pool = thread_pool(threads, "paimon-read")
    rest = groups(reader, splits)
    running: deque[tuple[Group, Future[list[pa.RecordBatch]]]] = deque()

    def submit(count: int) -> None:
        running.extend((group, pool.submit(read, group)) for group in islice(rest, count))

    try:
        submit(2 * threads)
        while running:
            group, future = running[0]
            yield from _by_split(future.result(), group)
            running.popleft()
            submit(1)
    finally:
        stopped.set()
        wait([future for _, future in running if not future.cancel()])


def _by_split(batches: list[pa.RecordBatch], group: Group) -> Iterator[list[pa.RecordBatch]]:
    """The batches of a group, as those of its first split."""
    yield batches
    yield from ([] for _ in range(len(group) - 1))
