"""Requests to a store that are sent at the same time.

A request to an object store takes tens of milliseconds, whatever its size, so requests that do not
depend on each other are sent together. On a local disk and in memory calls run one after the other:
threads would cost more than they save, and fault tests rely on the order of operations.

A task may itself send several requests. Each level of nesting has its own threads, so that a task
never waits for a thread that waits for this task.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.threads import thread_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_Result = TypeVar("_Result")
MAX_REQUESTS = 64
"""Maximum number of requests of one level of nesting, for all stores of the process."""
READ_AHEAD_BYTES = 64 << 20
"""Memory for files that are read ahead."""
_FIRST_FILES = 16
"""Number of files that are read at the same time at first, before all may be needed."""


class _Level(threading.local):
    """The level of nesting of the current thread: 0 outside of requests."""

    number = 0


_LEVEL = _Level()


def max_requests(file_io: FileIO) -> int:
    """Return how many requests a storage should receive at the same time; 1 if it is not remote."""
    wanted: int = getattr(file_io, "max_requests", 1)
    return min(wanted, MAX_REQUESTS)


def at_once(file_io: FileIO, calls: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Run calls that send requests, at the same time if the storage is remote.

    Args:
        file_io: the storage that all calls use.
        calls: functions that do not depend on each other.

    Returns:
        The results, in the order of the calls.

    Raises:
        Exception: the first error in the order of the calls. All started calls have then ended.
    """
    if len(calls) < 2 or max_requests(file_io) < 2:  # noqa: PLR2004 - two at once
        return [call() for call in calls]
    return [*_ahead(calls, lambda _: max_requests(file_io))]


def each_at_once(file_io: FileIO, calls: Sequence[Callable[[], _Result]]) -> Iterator[_Result]:
    """Yield the results of calls in their order; runs calls ahead if the storage is remote."""
    limit = max_requests(file_io)
    if limit < 2:  # noqa: PLR2004 - two at once
        return (call() for call in calls)
    return _ahead(calls, lambda last: limit if last is not None else _FIRST_FILES)


def read_each(
    file_io: FileIO, paths: Sequence[str], read: Callable[[str], bytes] | None = None
) -> Iterator[bytes]:
    """Yield the contents of files, in order; reads ahead if the storage is remote.

    The number of files that are read ahead depends on the sizes of those before, so that their
    contents take about `READ_AHEAD_BYTES` of memory.

    Args:
        file_io: the storage.
        paths: the files.
        read: reads a file; None for `file_io.read`.

    Raises:
        MissingFileError: a file does not exist.
    """
    limit, read = max_requests(file_io), read or file_io.read
    if len(paths) < 2 or limit < 2:  # noqa: PLR2004 - two at once
        yield from map(read, paths)
        return
    count, size = 0, 0

    def window(last: bytes | None) -> int:
        nonlocal count, size
        if last is None:
            return min(limit, _FIRST_FILES)
        count, size = count + 1, size + len(last)
        return max(min(limit, READ_AHEAD_BYTES * count // max(size, 1)), 1)

    yield from _ahead([partial(read, path) for path in paths], window)


@runtime_checkable
class BatchDeletes(Protocol):
    """A storage that deletes many files by one request."""

    def delete_files(self, files: Iterable[str]) -> None:
        """Delete files, if they exist, in no particular order."""


def delete_each(file_io: FileIO, paths: Iterable[str]) -> None:
    """Delete files, if they exist; in their order on a local disk.

    Raises:
        StorageError: a file cannot be deleted; those after it in the order may remain.
    """
    if isinstance(file_io, BatchDeletes):
        file_io.delete_files(paths)
    else:
        at_once(file_io, [partial(file_io.delete, path) for path in paths])


def discard(file_io: FileIO, paths: Iterable[str]) -> None:
    """Delete files of a failed operation; files that cannot be deleted remain as orphan files.

    Storage errors are ignored so that they do not hide the original error.
    """

    def delete(path: str) -> None:
        with suppress(StorageError):
            file_io.delete(path)

    at_once(file_io, [partial(delete, path) for path in paths])


def start(call: "Callable[[], _Result]") -> "Future[_Result]":
    """Run a call that sends requests in another thread; the caller waits for its result."""
    level = _LEVEL.number + 1
    return thread_pool(MAX_REQUESTS, f"paimon-requests-{level}").submit(_run, call, level)


def _ahead(
    calls: Sequence[Callable[[], _Result]], window: Callable[[_Result | None], int]
) -> Iterator[_Result]:
    """Run calls in threads; yields the results in order.

    Args:
        calls: the calls.
        window: returns how many calls may be running or waiting to be yielded, given the last
            result, or None at first.
    """
    rest = iter(calls)
    running: deque[Future[_Result]] = deque()
    last: _Result | None = None
    try:
        while True:
            for call in islice(rest, max(window(last) - len(running), 0)):
                running.append(start(call))
            if not running:
                return
            last = running.popleft().result()
            yield last
    finally:
        _finish(running)


def _run(call: Callable[[], _Result], level: int) -> _Result:
    _LEVEL.number = level
    return call()


def _finish(running: "deque[Future[_Result]]") -> None:
    """Wait for the calls that have started; the others never start."""
    for future in running:
        if not future.cancel() and not future.done():
            future.exception()
