"""Parallel reading of splits in threads; rows are returned in the order of the splits.

Decoding, sorting and waiting for a store release the GIL. If there are few splits, those that need
no merge are read in parts of some files. The rows of a finished split are kept in memory until
those of the splits before it are consumed, so this is for callers that need all rows.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, islice, pairwise
from threading import Event
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.small_files import Group, groups, read_files, read_group
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.threads import MAX_THREADS, thread_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_MIN_VALUES = 400_000
"""Minimum number of values (rows times columns) of local files for which threads pay off."""
_MIN_COLUMNS = 4
"""Columns that a row of fewer columns is counted with."""
_PARTS_PER_THREAD = 3
"""Number of parts per thread, so that a large one does not keep the other threads waiting."""
_MIN_PART_BYTES = 1 << 20
"""Minimum size of the files of a part; smaller files are faster to read many at a time."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What one thread reads at a time.

    Attributes:
        group: splits, read whole; or a split of which some files are read.
        files: these files, numbered as in the split; None for all files of the splits.
        completes: how many splits are complete once this task is, and those before it.
    """

    group: Group
    files: range | None
    completes: int

    def read(self, reader: SplitReader) -> Iterator[pa.RecordBatch]:
        """Reads the rows in the order of the files."""
        if self.files is None:
            return read_group(reader, self.group)
        return read_files(reader, self.group[0], self.files)


def threads_for(reader: SplitReader, splits: Sequence[Split]) -> int:
    """Number of threads to use: Arrow's CPU count for local files, its IO thread count for stores.

    `pyarrow.set_cpu_count` and `pyarrow.set_io_thread_count` change these numbers.
    """
    if not splits or (len(splits) == 1 and not _has_parts(splits[0])):
        return 1
    if not isinstance(reader.target.store.file_io, LocalFileIO):
        return min(pa.io_thread_count(), MAX_THREADS)
    min_rows = _MIN_VALUES / max(len(reader.fields), _MIN_COLUMNS)
    rows = accumulate(split.row_count for split in splits)
    return min(pa.cpu_count(), MAX_THREADS) if any(sum_ >= min_rows for sum_ in rows) else 1


def _has_parts(split: Split) -> bool:
    """Whether the files of a split can be read independently of each other."""
    return (
        isinstance(split, DataSplit)
        and split.raw_convertible
        and not split.same_rows
        and split.count > 1
    )


def _tasks(reader: SplitReader, splits: Sequence[Split], threads: int) -> Iterator[_Task]:
    parts = -(-threads * _PARTS_PER_THREAD // len(splits)) if threads > 1 else 1
    for group in groups(reader, splits):
        if parts > 1 and len(group) == 1 and _has_parts(group[0]):
            yield from _parts(group, parts)
        else:
            yield _Task(group, None, len(group))


def _parts(group: Group, count: int) -> Iterator[_Task]:
    """Divides the files of a split into consecutive parts of about the same size."""
    ends = np.cumsum(numbers(group[0].files.table, "file_size"))
    count = max(min(count, int(ends[-1]) // _MIN_PART_BYTES), 1)
    wanted = np.arange(1, count) * ends[-1] // count
    middles = ends - np.diff(ends, prepend=0) // 2
    cuts = np.unique(np.searchsorted(middles, wanted)).tolist()
    bounds = [0, *(cut for cut in cuts if 0 < cut < len(ends)), len(ends)]
    for start, stop in pairwise(bounds):
        yield _Task(group, range(start, stop), int(stop == len(ends)))


def read_splits(reader: SplitReader, splits: Sequence[Split]) -> Generator[list[pa.RecordBatch]]:
    """Reads the batches of each split, in the order of the splits.

    Splits of small files are read several at once; the first of them then has the batches of all.

    Raises:
        PaimonError: as `SplitReader.read`: the first error in the order of the splits. The other
            threads stop at their next batch.
    """
    threads = threads_for(reader, splits)
    reader.files_ahead.load_schemas(splits)
    tasks = _tasks(reader, splits, threads)
    first = list(islice(tasks, 2 * threads))
    if threads <= 1 or len(first) == 1:
        for task in chain(first, tasks):
            yield from _by_split(list(task.read(reader)), task.completes)
        return
    from concurrent.futures import wait  # noqa: PLC0415 - many splits

    stopped = Event()
    if len(first) >= threads:  # else some cores would be idle
        reader = replace(reader, use_threads=False)

    def read(task: _Task) -> list[pa.RecordBatch]:
        found = []
        for batch in task.read(reader):
            if stopped.is_set():
                break
            found.append(batch)
        return found

    pool = thread_pool(threads, "paimon-read")
    running: deque[tuple[_Task, Future[list[pa.RecordBatch]]]] = deque()

    def submit(submitted: Iterable[_Task]) -> None:
        running.extend((task, pool.submit(read, task)) for task in submitted)

    try:
        submit(first)
        batches: list[pa.RecordBatch] = []
        while running:
            task, future = running[0]
            batches += future.result()
            running.popleft()
            submit(islice(tasks, 1))
            if task.completes:
                yield from _by_split(batches, task.completes)
                batches = []
    finally:
        stopped.set()
        wait([future for _, future in running if not future.cancel()])


def _by_split(batches: list[pa.RecordBatch], count: int) -> Iterator[list[pa.RecordBatch]]:
    """The batches of several splits, as those of the first one."""
    yield batches
    yield from ([] for _ in range(count - 1))
