"""The open writers of all buckets, within a budget of memory and open files.

Rows wait in memory until their bucket has a full row group. When all waiting rows together are too
many, those of the fullest bucket go to a file; when too many files are open, that file is closed.
"""

from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

BUDGET_BYTES = 256 * 1024 * 1024
MAX_OPEN_FILES = 64


class BucketWriter(Protocol):
    """Writes the rows of one bucket."""

    @property
    def waiting_bytes(self) -> int:
        """Size in memory of rows that are not in a file yet."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        ...

    def flush(self) -> None:
        """Put waiting rows into a file."""
        ...

    def end_file(self) -> None:
        """Complete the current file."""
        ...

    def abort(self) -> None:
        """Remove every file that was begun."""
        ...


W = TypeVar("W", bound=BucketWriter)
Place = tuple[bytes, int]
"""Partition and bucket."""


class BucketWriters(Generic[W]):
    """One writer per partition and bucket, made when its first row comes.

    Args:
        make: makes the writer of a partition and bucket.
        budget_bytes: rows that may wait in memory.
    """

    def __init__(
        self, make: Callable[[bytes, int], W], *, budget_bytes: int = BUDGET_BYTES
    ) -> None:
        self._make = make
        self._budget = budget_bytes
        self._writers: dict[Place, W] = {}

    def of(self, partition: bytes, bucket: int) -> W:
        """The writer of a bucket."""
        place = (partition, bucket)
        if place not in self._writers:
            self._writers[place] = self._make(partition, bucket)
        return self._writers[place]

    def __iter__(self) -> Iterator[tuple[bytes, int, W]]:
        """All writers with their places, in the order they were made."""
        for (partition, bucket), writer in self._writers.items():
            yield partition, bucket, writer

    def relieve(self) -> None:
        """Write out the fullest buckets until the rest fits the budget."""
        while sum(writer.waiting_bytes for writer in self._writers.values()) > self._budget:
            fullest = max(self._writers.values(), key=lambda writer: writer.waiting_bytes)
            fullest.flush()
            if sum(writer.is_open for writer in self._writers.values()) > MAX_OPEN_FILES:
                fullest.end_file()

    def abort(self) -> None:
        """Remove every file that was begun."""
        for writer in self._writers.values():
            writer.abort()
        self._writers.clear()
