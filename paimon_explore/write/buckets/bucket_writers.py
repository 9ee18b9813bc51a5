"""The writers of all buckets, within limits of buffered bytes and open files.

Rows are buffered until their bucket has a full row group. When the buffers exceed the limit, the
bucket with the largest buffer is flushed to a file; when too many files are open, its file is
closed.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from paimon_explore.write.parallel import in_parallel, threads_for

BUDGET_BYTES = 256 * 1024 * 1024
MAX_OPEN_FILES = 64


class BucketWriter(Protocol):
    """Writes the rows of one bucket."""

    @property
    def buffered(self) -> "LazySize":
        """Size of the rows that are not in a file yet."""

    @property
    def buffered_rows(self) -> int:
        """Number of rows that are not in a file yet."""

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""

    def flush(self) -> None:
        """Write buffered rows to a file."""

    def end_file(self) -> None:
        """Close the current file."""

    def abort(self) -> None:
        """Delete the files of the writer."""


if TYPE_CHECKING:
    from paimon_explore.write.data_file_writer import LazySize

R = TypeVar("R")
W = TypeVar("W", bound=BucketWriter)
BucketId = tuple[bytes, int]
"""Partition and bucket."""


class BucketWriters(Generic[W]):
    """One writer per partition and bucket, created on first use.

    Args:
        make: creates the writer of a partition and bucket.
        budget_bytes: limit of buffered rows in memory.
    """

    def __init__(
        self, make: Callable[[bytes, int], W], *, budget_bytes: int = BUDGET_BYTES
    ) -> None:
        self._make = make
        self._budget = budget_bytes
        self._writers: dict[BucketId, W] = {}
        self._opened: dict[W, None] = {}

    def of(self, partition: bytes, bucket: int) -> W:
        """Return the writer of a bucket."""
        key = (partition, bucket)
        if key not in self._writers:
            self._writers[key] = self._make(partition, bucket)
        return self._writers[key]

    def keep_open(self, writer: W) -> None:
        """Close the file that was used longest ago if too many are open."""
        if writer.is_open:
            self._opened.pop(writer, None)
            self._opened[writer] = None
        if len(self._opened) > MAX_OPEN_FILES:
            oldest = next(iter(self._opened))
            del self._opened[oldest]
            oldest.end_file()

    def __iter__(self) -> Iterator[tuple[bytes, int, W]]:
        """Yield partition, bucket and writer in the order of creation."""
        for (partition, bucket), writer in self._writers.items():
            yield partition, bucket, writer

    def close(self, close: Callable[[W], R]) -> Iterator[tuple[bytes, int, R]]:
        """Close all writers, in parallel if they have many rows.

        Args:
            close: closes a writer.

        Yields:
            Partition, bucket and result of `close`, in the order of creation.
        """
        rows = sum(writer.buffered_rows for writer in self._writers.values())
        threads = threads_for(len(self._writers), rows)
        results = in_parallel(close, self._writers.values(), threads)
        with closing(results):
            for (partition, bucket), result in zip(self._writers, results, strict=True):
                yield partition, bucket, result

    def flush_over_budget(self) -> None:
        """Flush the largest buffers until the rest fits the budget."""
        if sum(writer.buffered.limit for writer in self._writers.values()) <= self._budget:
            return
        while sum(writer.buffered.exact for writer in self._writers.values()) > self._budget:
            largest = max(self._writers.values(), key=lambda writer: writer.buffered.exact)
            largest.flush()
            if sum(writer.is_open for writer in self._writers.values()) > MAX_OPEN_FILES:
                largest.end_file()

    def abort(self) -> None:
        """Delete the files of the writer."""
        for writer in self._writers.values():
            writer.abort()
        self._writers.clear()
