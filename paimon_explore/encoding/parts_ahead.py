"""Parts of a file on a store are requested before they are decoded.

The bytes that a row group or stripe needs are requested together, so that ranges that are near each
other take one request; those of the next one are requested while it is decoded.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import pyarrow as pa

Range = tuple[int, int]
"""Offset and length of bytes of a file."""


@runtime_checkable
class ReadsAhead(Protocol):
    """A file on a store; see `fileio.object_reader.ObjectFile`."""

    def read_ahead(self, ranges: Sequence[Range], *, needed: bool) -> None:
        """Request parts of the file; if they are not needed yet, only if there is memory."""

    def forget(self, ranges: Sequence[Range]) -> None:
        """Release the memory of parts that were requested together."""


def each_ahead(
    file: ReadsAhead, groups: Sequence[int], ranges_of: Callable[[int], list[Range]]
) -> Iterator[int]:
    """Yield row groups or stripes whose parts are requested; those of the next one as well.

    Args:
        file: the file.
        groups: the numbers of the row groups or stripes.
        ranges_of: returns the parts that one of them needs.
    """
    following: list[Range] = ranges_of(groups[0]) if groups else []
    requested: list[list[Range]] = []
    try:
        for place, group in enumerate(groups):
            ranges = following
            file.read_ahead(ranges, needed=True)
            requested.append(ranges)
            if place + 1 < len(groups):
                following = ranges_of(groups[place + 1])
                file.read_ahead(following, needed=False)
                requested.append(following)
            yield group
            file.forget(ranges)
    finally:
        for ranges in requested:
            file.forget(ranges)


@contextmanager
def requested(file: pa.NativeFile, ranges: Sequence[Range]) -> Iterator[None]:
    """Request parts of a file on a store at the same time, for as long as the block lasts."""
    if len(ranges) < 2 or not isinstance(file, ReadsAhead):  # noqa: PLR2004 - two at once
        yield
        return
    file.read_ahead(ranges, needed=True)
    try:
        yield
    finally:
        file.forget(ranges)
