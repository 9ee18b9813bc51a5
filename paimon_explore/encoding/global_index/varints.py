"""Variable-length numbers of global indexes: 7 bits a byte, low bits first, not negative."""

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bytes, Ints

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


def varint_sizes(values: Ints) -> Ints:
    """Bytes of the encoded form of each number."""
    found = np.ones(len(values), np.int64)
    limit = _MORE
    while limit <= int(values.max(initial=0)):
        found += values >= limit
        limit <<= 7
    return found


def write_varints(data: Bytes, at: Ints, values: Ints) -> None:
    """Write the encoded form of each number to a position in `data`."""
    while len(values):
        more = values >= _MORE
        data[at] = (values & _LOW) | (more * _MORE)
        values, at = values[more] >> 7, at[more] + 1
