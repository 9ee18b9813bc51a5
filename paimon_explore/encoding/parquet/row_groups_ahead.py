"""Row groups of a file on a store are requested one ahead of the row group that is decoded.

The wanted column chunks of a row group are requested together, so that chunks that are near each
other take one request. Arrow's own pre-buffering would request all row groups of a read at once and
keep them in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet as pq

Range = tuple[int, int]
"""Offset and length of bytes of a file."""


@runtime_checkable
class ReadsAhead(Protocol):
    """A file on a store; see `fileio.object_reader.ObjectFile`."""

    def read_ahead(self, ranges: Sequence[Range], *, needed: bool) -> None:
        """Request parts of the file; if they are not needed yet, only if there is memory."""
        ...

    def forget(self, ranges: Sequence[Range]) -> None:
        """Release the memory of parts that were requested together."""
        ...


def chunk_ranges(
    metadata: pq.FileMetaData, group: int, is_wanted: Callable[[str], bool]
) -> list[Range]:
    """Return the parts of a file with the wanted column chunks of a row group.

    Args:
        metadata: of the file.
        group: the row group.
        is_wanted: whether the leaf column of a dotted path is wanted.
    """
    found = metadata.row_group(group)
    ranges = []
    for leaf in range(found.num_columns):
        chunk = found.column(leaf)
        if is_wanted(chunk.path_in_schema):
            first = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset:
                first = min(first, chunk.dictionary_page_offset)
            ranges.append((first, chunk.total_compressed_size))
    return ranges


def each_ahead(
    file: ReadsAhead, groups: Sequence[int], ranges_of: Callable[[int], list[Range]]
) -> Iterator[int]:
    """Yield row groups whose parts are requested; those of the next one as well."""
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


def under(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a dotted path is one of these or a part of one.

    >>> [under(["a", "b.c"])(path) for path in ("a", "a.x", "ab", "b", "b.c.list")]
    [True, True, False, False, True]
    """
    exact = frozenset(prefixes)
    starts = tuple(f"{prefix}." for prefix in prefixes)
    return lambda path: path in exact or path.startswith(starts)
