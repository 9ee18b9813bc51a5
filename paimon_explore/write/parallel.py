"""Parallel closing of buckets in threads; results are returned in the order of the buckets.

Merging, encoding and compressing release the GIL. An interrupt or error ends all threads at their
next batch: `check_cancelled`, which data file writers call, raises in them.
"""

import threading
from collections.abc import Callable, Generator, Iterable
from typing import Generic, TypeVar

import pyarrow as pa

from paimon_explore.fileio.concurrent_requests import max_requests
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.threads import MAX_THREADS, thread_pool

I = TypeVar("I")  # noqa: E741 - an item
R = TypeVar("R")
T = TypeVar("T")
_WAIT_SECONDS = 1.0
"""Waiting without a limit cannot be interrupted on Windows."""
MIN_ROWS = 100_000
"""Minimum number of rows for which threads pay off."""


class CancelledError(Exception):
    """Raised in a thread whose result is not needed any more."""


class _Task(threading.local):
    cancelled: threading.Event | None = None


_task = _Task()


def check_cancelled() -> None:
    """Raise if this thread works for `in_parallel`, which was interrupted or failed.

    Raises:
        CancelledError: the result of this thread is not needed any more.
    """
    if _task.cancelled is not None and _task.cancelled.is_set():
        raise CancelledError


def threads_for(tasks: int, rows: int, file_io: FileIO | None = None) -> int:
    """Number of threads for some tasks with a total number of rows.

    Arrow's CPU count, or its IO thread count if each task waits for `file_io`, a remote storage;
    `pyarrow.set_cpu_count` and `pyarrow.set_io_thread_count` change these numbers.
    """
    if tasks > 1 and file_io is not None and max_requests(file_io) > 1:
        return min(pa.io_thread_count(), MAX_THREADS)
    return 1 if tasks <= 1 or rows < MIN_ROWS else min(pa.cpu_count(), MAX_THREADS)


def in_parallel(
    function: Callable[[I], R],
    items: Iterable[I],
    threads: int,
    *,
    discard: Callable[[R], object] = lambda _: None,
) -> Generator[R]:
    """Yield the results of a function for some items, in the order of the items.

    Args:
        function: called in other threads, or in this one if `threads` is 1.
        items: the items.
        threads: number of threads.
        discard: called with each result that was computed but not used, because the generator was
            closed, interrupted, or another item failed.

    Raises:
        Exception: the first error of the function in the order of the items.
    """
    if threads <= 1 or _task.cancelled is not None:
        yield from map(function, items)
        return
    work = _Work(function, list(items), window=2 * threads)
    try:
        pool = thread_pool(threads, "paimon-write")
        for _ in range(threads):
            pool.submit(work.run)
        for number in range(len(work.items)):
            yield work.result(number)
            work.use(number)  # only now: an interrupt before this line discards the result
    finally:
        for unused in work.stop():
            discard(unused)


class _Work(Generic[I, R]):
    """Items, which threads take one by one, and their results.

    Threads register here instead of by futures: an interrupt may hit the call that submits a task,
    and lose its future.

    Args:
        function: called with each item.
        items: the items.
        window: maximum number of items that are taken but not used.
    """

    def __init__(self, function: Callable[[I], R], items: list[I], window: int) -> None:
        self.items = items
        self._function = function
        self._window = window
        self._changed = threading.Condition()
        self._cancelled = threading.Event()
        self._taken = self._running = self._used = 0
        self._results: dict[int, R] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self) -> None:
        """Take items until there are none, one failed, or the work is stopped."""
        _task.cancelled = self._cancelled
        try:
            while (number := self._take()) is not None:
                try:
                    result = self._function(self.items[number])
                except BaseException as error:  # noqa: BLE001 - raised by `result`
                    self._put(number, self._errors, error)
                else:
                    self._put(number, self._results, result)
        finally:
            _task.cancelled = None

    def _take(self) -> int | None:
        with self._changed:
            self._changed.wait_for(lambda: self._ends() or self._has_room())
            if self._ends():
                return None
            self._taken += 1
            self._running += 1
            return self._taken - 1

    def _ends(self) -> bool:
        is_empty = self._taken == len(self.items)
        return is_empty or bool(self._errors) or self._cancelled.is_set()

    def _has_room(self) -> bool:
        return self._taken - self._used < self._window

    def _put(self, number: int, found: "dict[int, T]", value: "T") -> None:
        with self._changed:
            found[number] = value
            self._running -= 1
            self._changed.notify_all()

    def result(self, number: int) -> R:
        """Wait for the result of an item, or raise its error."""
        with self._changed:
            while number not in self._results and number not in self._errors:
                self._changed.wait(_WAIT_SECONDS)
        if number in self._errors:
            raise self._errors[number]
        return self._results[number]

    def use(self, number: int) -> None:
        """Drop a result."""
        with self._changed:
            del self._results[number]
            self._used += 1
            self._changed.notify_all()

    def stop(self) -> Iterable[R]:
        """Wait until all threads have ended at their next batch; return results not used."""
        self._cancelled.set()
        with self._changed:
            self._changed.notify_all()
            while self._running:
                self._changed.wait(_WAIT_SECONDS)
        return self._results.values()
