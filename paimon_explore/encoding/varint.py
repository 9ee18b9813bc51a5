"""Vectorized LEB128 varints, and delta-encoded lists of zigzag varints.

A list is stored as its first number and the differences of consecutive numbers.
"""

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bytes, Ints

MAX_BYTES = 10
"""Maximum bytes of a 64-bit number."""

_MORE = 0x80
_LOW = 0x7F


def encode_varints(values: Ints) -> tuple[Ints, Bytes]:
    """Encode numbers; returns the size of each and the bytes. Negative numbers take 10 bytes."""
    unsigned = values.astype(np.uint64)
    sizes = np.ones(len(values), np.int64)
    for count in range(1, MAX_BYTES):
        sizes += unsigned >> np.uint64(7 * count) != 0
    starts = nb.offsets_from_sizes(sizes)
    out = np.zeros(starts[-1], np.uint8)
    for rank in range(int(sizes.max(initial=0))):
        has = sizes > rank
        low = (unsigned[has] >> np.uint64(7 * rank)).astype(np.uint8) & np.uint8(_LOW)
        more = (sizes[has] > rank + 1) * np.uint8(_MORE)
        out[starts[:-1][has] + rank] = low | more
    return sizes, out


def encode_deltas(values: Ints) -> bytes:
    """Encode a list of numbers as deltas."""
    deltas = np.diff(values, prepend=0)
    return encode_varints((deltas << 1) ^ (deltas >> 63))[1].tobytes()


def decode_deltas(data: bytes) -> Ints | None:
    """Decode a delta-encoded list of numbers; None if the bytes are malformed."""
    raw = np.frombuffer(data, np.uint8)
    if not len(raw):
        return np.zeros(0, np.int64)
    ends = np.nonzero(raw < _MORE)[0]
    if not len(ends) or ends[-1] != len(raw) - 1:
        return None
    starts = np.concatenate([[0], ends[:-1] + 1])
    sizes = ends - starts + 1
    if sizes.max() > MAX_BYTES:
        return None
    ranks = np.arange(len(raw)) - np.repeat(starts, sizes)
    parts = (raw & np.uint8(_LOW)).astype(np.uint64) << (7 * ranks).astype(np.uint64)
    zigzag = np.bitwise_or.reduceat(parts, starts)
    deltas = (zigzag >> np.uint64(1)).view(np.int64) ^ -(zigzag & np.uint64(1)).view(np.int64)
    total: Ints = np.cumsum(deltas)
    return total
