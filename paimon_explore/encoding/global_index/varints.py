"""Variable-length numbers of global indexes: 7 bits a byte, low bits first, not negative."""

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
