"""How much memory decoding may take: a limit of the process against files that unpack without end.

A few kilobytes can unpack to gigabytes. So whatever is decoded is compared with a limit before
memory is asked for, wherever the size is known up front: packed blocks and texts, records times
fields, rows times the longest value. What is larger is a `ResourceLimitError`.

The limit is half of the machine's memory unless it is set: by `set_memory_limit`, or by the
environment variable `PAIMON_EXPLORE_MEMORY_LIMIT` (`8 GB`) before the first read.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from paimon_explore.errors import InvalidInputError, ResourceLimitError

VARIABLE = "PAIMON_EXPLORE_MEMORY_LIMIT"
"""Environment variable of the limit."""

UNSUSPICIOUS_BYTES = 64 << 20
"""What unpacks to no more is not measured by its ratio."""
MOST_RATIO = 2000
"""How many bytes a packed byte may become beyond that; deflate cannot exceed 1,032."""
_FALLBACK_BYTES = 4 << 30
_LEAST_BYTES = 1 << 20
_SIZE = re.compile(r"([0-9]{1,18})\s*([kmgt]?)(?:i?b|ytes)?", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}

_chosen: list[int] = []
"""The limit in bytes, once it is known."""


def memory_limit() -> int:
    """The most bytes that one block, text or batch may take when it is decoded."""
    if not _chosen:
        text = os.environ.get(VARIABLE, "")
        _chosen.append(_bytes_of(text) if text else _half_of_memory())
    return _chosen[0]


def set_memory_limit(size: int | str | None) -> None:
    """Set the limit for this process.

    Args:
        size: bytes, or a text such as `8 GB`; None for the default.

    Raises:
        InvalidInputError: it is no size, or below 1 MB.
    """
    _chosen.clear()
    if size is not None:
        _chosen.append(_bytes_of(str(size)))


def most_unpacked(packed: int) -> int:
    """The most bytes that so many packed bytes may become."""
    return min(memory_limit(), max(UNSUSPICIOUS_BYTES, MOST_RATIO * packed))


def check_size(size: int, path: str, where: str, what: str) -> None:
    """Refuse to decode what takes more memory than the limit.

    Raises:
        ResourceLimitError: it would.
    """
    if size > UNSUSPICIOUS_BYTES and size > memory_limit():
        raise too_large(size, path, where, what)


def too_large(size: int | None, path: str, where: str, what: str) -> ResourceLimitError:
    """The error for what exceeds the limit; the size is None where it is not known."""
    return ResourceLimitError(
        path,
        where,
        what,
        size=size,
        limit=memory_limit(),
        hint="If the file can be trusted, raise the limit: call "
        f"paimon_explore.limits.set_memory_limit('16 GB'), or set {VARIABLE}.",
    )


@contextmanager
def within_memory(path: str, where: str) -> Iterator[None]:
    """Turns a failed request for memory into an error that names the file."""
    try:
        yield
    except ResourceLimitError:
        raise
    except MemoryError as error:
        raise too_large(None, path, where, str(error) or "its content") from error


def _bytes_of(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    size = 0 if match is None else int(match[1]) << _UNITS[match[2].lower()]
    if size < _LEAST_BYTES:
        raise InvalidInputError(
            f"The memory limit {text!r} is not a size of at least 1 MB.",
            hint="Give bytes, or a text such as '8 GB'.",
        )
    return size


def _half_of_memory() -> int:
    try:
        pages, page_bytes = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return _FALLBACK_BYTES
    return max(pages * page_bytes // 2, 256 << 20)
