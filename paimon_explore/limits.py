"""Memory limit for decoding, a protection against decompression bombs.

A few kilobytes can decompress to gigabytes. Wherever the decoded size is known in advance
(compressed blocks and texts, records times fields, rows times the longest value), it is compared
with a process-wide limit before memory is allocated; exceeding it raises `ResourceLimitError`.

The default limit is half of the machine's memory. Change it with `set_memory_limit`, or with the
environment variable `PAIMON_EXPLORE_MEMORY_LIMIT` (`8 GB`) before the first read.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paimon_explore.errors import InvalidInputError, ResourceLimitError

VARIABLE = "PAIMON_EXPLORE_MEMORY_LIMIT"
"""Environment variable that sets the limit."""

UNCHECKED_BYTES = 64 << 20
"""Decompressed sizes up to this are allowed whatever their compression ratio."""
MAX_RATIO = 2000
"""Maximum compression ratio of larger sizes; deflate cannot exceed 1,032."""
_FALLBACK_BYTES = 4 << 30
_MIN_BYTES = 1 << 20
_READ_BYTES = 1 << 18
_SIZE = r"(?i)([0-9]{1,18})\s*([kmgt]?)(?:i?b|ytes)?"
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}

_limit: list[int] = []
"""The limit in bytes; empty until it is set or first read."""


def memory_limit() -> int:
    """Return the maximum decoded size of one block, text or batch in bytes."""
    if not _limit:
        text = os.environ.get(VARIABLE, "")
        _limit.append(_bytes_of(text) if text else _half_of_memory())
    return _limit[0]


def set_memory_limit(size: int | str | None) -> None:
    """Set the memory limit of this process.

    Args:
        size: bytes, or a text such as `8 GB`; None for the default.

    Raises:
        InvalidInputError: the size is invalid or below 1 MB.
    """
    _limit.clear()
    if size is not None:
        _limit.append(_bytes_of(str(size)))


def max_unpacked_size(packed: int) -> int:
    """Return the maximum decompressed size of `packed` compressed bytes."""
    return min(memory_limit(), max(UNCHECKED_BYTES, MAX_RATIO * packed))


def check_size(size: int, path: str, where: str, what: str) -> None:
    """Check that a decoded size is within the memory limit.

    Raises:
        ResourceLimitError: the size exceeds the limit.
    """
    if size > UNCHECKED_BYTES and size > memory_limit():
        raise too_large(size, path, where, what)


def too_large(
    size: int | None, path: str, where: str, what: str, *, limit: int | None = None
) -> ResourceLimitError:
    """Return the error for a decoded size above the limit.

    Args:
        size: the size in bytes; None if unknown.
        path: the file.
        where: the part of the file.
        what: what would be decoded.
        limit: the maximum size, if it is not the memory limit.
    """
    highest = memory_limit()
    hint = (
        "If the file can be trusted, raise the limit: call "
        f"paimon_explore.limits.set_memory_limit('16 GB'), or set {VARIABLE}."
    )
    if limit is not None and limit < highest:
        highest = limit
        hint = "Check the origin of the file: it may be a decompression bomb."
    return ResourceLimitError(path, where, what, size=size, limit=highest, hint=hint)


def read_limited(read: Callable[[int], bytes], limit: int) -> bytes:
    """Read a stream to its end, or until slightly more than `limit` bytes were read."""
    parts, total = [], 0
    while total <= limit and (part := read(_READ_BYTES)):
        parts.append(part)
        total += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def undecodable(error: MemoryError) -> str:
    """Return the part of a `ResourceLimitError` for content that exhausted the memory."""
    return f"its content ({error})" if str(error) else "its content"


@contextmanager
def within_memory(path: str, where: str) -> Iterator[None]:
    """Convert a `MemoryError` into a `ResourceLimitError` that names the file."""
    try:
        yield
    except ResourceLimitError:
        raise
    except MemoryError as error:
        raise too_large(None, path, where, undecodable(error)) from error


def _bytes_of(text: str) -> int:
    match = re.fullmatch(_SIZE, text.strip())
    size = 0 if match is None else int(match[1]) << _UNITS[match[2].lower()]
    if size < _MIN_BYTES:
        raise InvalidInputError(
            f"The memory limit must be a size of at least 1 MB, not {text!r}.",
            hint="Pass a number of bytes, or a string such as '8 GB'.",
        )
    return size


def _half_of_memory() -> int:
    try:
        pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return _FALLBACK_BYTES
    return max(pages * page_bytes // 2, 256 << 20)
