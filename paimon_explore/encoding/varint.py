"""LEB128 varints: 7 bits a byte, low bits first; delta-encoded lists of zigzag varints.

A list is stored as its first number and the differences of consecutive numbers.
"""

import numpy as np

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bytes, Ints, UInt64s

MAX_BYTES = 10
"""Maximum bytes of a 64-bit number."""

_MORE = 0x80
_LOW = 0x7F
_MAX_BITS = 63


def decode_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, and the position after it.

    Raises:
        ValueError: it does not end, or has more than 63 bits.
    """
    found = shift = 0
    while at < len(data) and shift < _MAX_BITS:
        byte = data[at]
        at += 1
        found |= (byte & _LOW) << shift
        if byte < _MORE:
            return found, at
        shift += 7
    raise ValueError("a variable-length number does not end")


def encode_varint(value: int) -> bytes:
    """Encode a number that is not negative."""
    out = bytearray()
    while value >= _MORE:
        out.append(value & _LOW | _MORE)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint_sizes(values: Ints | UInt64s) -> Ints:
    """Bytes of the encoded form of each number."""
    found = np.ones(len(values), np.int64)
    limit = _MORE
    while limit <= int(values.max(initial=0)):
        found += values >= limit
        limit <<= 7
    return found


def write_varints(data: Bytes, at: Ints, values: Ints | UInt64s) -> None:
    """Write the encoded form of each number to a position in `data`."""
    while len(values):
        more = values >= _MORE
        data[at] = (values & _LOW).astype(np.uint8) | more * np.uint8(_MORE)
        values, at = values[more] >> 7, at[more] + 1


def encode_varints(values: Ints) -> tuple[Ints, Bytes]:
    """Encode numbers; returns the size of each and the bytes. Negative numbers take 10 bytes."""
    unsigned = values.astype(np.uint64)
    sizes = varint_sizes(unsigned)
    starts = nb.offsets_from_sizes(sizes)
    data = np.empty(starts[-1], np.uint8)
    write_varints(data, starts[:-1], unsigned)
    return sizes, data


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
