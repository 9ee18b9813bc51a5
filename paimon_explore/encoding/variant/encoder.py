"""Encoders of the parts of VARIANT values, with the same bytes as Java."""

import datetime as dt
import struct
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from uuid import UUID

from paimon_explore.encoding.variant.decoder import VERSION, Basic, Kind
from paimon_explore.errors import InvalidInputError

_SHORT_TEXT = 63
_MAX_DIGITS = 38
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class KeyTable:
    """Numbers of the keys of a variant; new keys are appended.

    Args:
        keys: the existing keys.
    """

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._numbers = {key: number for number, key in enumerate(keys)}
        self._known = len(keys)

    @property
    def grown(self) -> bool:
        """Whether keys were added."""
        return len(self._numbers) > self._known

    def number(self, key: str) -> int:
        """Return the number of a key; a new key is added."""
        return self._numbers.setdefault(key, len(self._numbers))

    def encode(self) -> bytes:
        """Encode the metadata."""
        texts = [key.encode("utf-8", "replace") for key in self._numbers]
        size = _width(max(sum(map(len, texts)), len(texts)))
        ends = accumulate(map(len, texts), initial=0)
        head = bytes([VERSION | (size - 1) << 6])
        numbers = b"".join(number.to_bytes(size, "little") for number in [len(texts), *ends])
        return head + numbers + b"".join(texts)


def scalar(value: object) -> bytes:
    """Encode a number, date, timestamp, UUID or byte string.

    Raises:
        InvalidInputError: the value is of another type, or a number is too large.
    """
    match value:
        case int():
            return integer(value)
        case float():
            return primitive(Kind.DOUBLE, struct.pack("<d", value))
        case Decimal():
            return decimal(value)
        case bytes():
            return primitive(Kind.BINARY, len(value).to_bytes(4, "little") + value)
        case UUID():
            return primitive(Kind.UUID, value.bytes)
        case dt.datetime() | dt.date():
            return _moment(value)
        case _:
            kind = type(value).__name__
            raise InvalidInputError(
                f"A variant cannot contain a value of type {kind}.",
                hint="Convert the value to a supported type, such as str, int, float or datetime.",
            )


def _moment(value: dt.date) -> bytes:
    if not isinstance(value, dt.datetime):
        return number_of(Kind.DATE, value.toordinal() - _EPOCH.toordinal(), 4)
    aware = value if value.tzinfo else value.replace(tzinfo=dt.UTC)
    micros, rest = divmod(aware - _EPOCH, dt.timedelta(microseconds=1))
    if rest:
        raise InvalidInputError(
            f"A timestamp in a variant has microseconds, but {value} has nanoseconds.",
            hint="Round it first, for example with dt.round in pandas.",
        )
    return number_of(Kind.TIMESTAMP if value.tzinfo else Kind.TIMESTAMP_NTZ, micros, 8)


def primitive(kind: Kind, content: bytes = b"") -> bytes:
    """Encode a primitive value."""
    return bytes([kind << 2 | Basic.PRIMITIVE]) + content


def number_of(kind: Kind, value: int, size: int) -> bytes:
    """Encode a primitive value that is an integer of `size` bytes."""
    return primitive(kind, value.to_bytes(size, "little", signed=True))


def integer(value: int) -> bytes:
    """Encode an integer in as few bytes as possible; beyond 64 bits as a decimal."""
    for kind, size in ((Kind.INT1, 1), (Kind.INT2, 2), (Kind.INT4, 4), (Kind.INT8, 8)):
        if -(1 << (8 * size - 1)) <= value < 1 << (8 * size - 1):
            return number_of(kind, value, size)
    return decimal(Decimal(value))


def decimal(value: Decimal) -> bytes:
    """Encode a decimal in as few bytes as its digits and scale allow.

    Raises:
        InvalidInputError: it has more than 38 digits.
    """
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise InvalidInputError(f"A decimal in a variant must be finite, not {value}.")
    if exponent > 0:
        digits, exponent = (*digits, *[0] * exponent), 0
    scale = -exponent
    if len(digits) > _MAX_DIGITS or scale > _MAX_DIGITS:
        raise InvalidInputError(
            f"A decimal in a variant must have at most {_MAX_DIGITS} digits and at most "
            f"{_MAX_DIGITS} decimal places, not {value}."
        )
    unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
    precision = max(len(str(abs(unscaled))), scale)
    for kind, size, max_digits in ((Kind.DECIMAL4, 4, 9), (Kind.DECIMAL8, 8, 18)):
        if precision <= max_digits:
            return primitive(kind, bytes([scale]) + unscaled.to_bytes(size, "little", signed=True))
    content = bytes([scale]) + unscaled.to_bytes(16, "little", signed=True)
    return primitive(Kind.DECIMAL16, content)


def text(value: str) -> bytes:
    """Encode a text; a lone surrogate becomes `?`, as in Java."""
    data = value.encode("utf-8", "replace")
    if len(data) <= _SHORT_TEXT:
        return bytes([len(data) << 2 | Basic.SHORT_TEXT]) + data
    return primitive(Kind.TEXT, len(data).to_bytes(4, "little") + data)


def array_of(elements: list[bytes]) -> bytes:
    """Encode an array of encoded values."""
    large = len(elements) > 255  # noqa: PLR2004 - what one byte counts
    width = _width(sum(map(len, elements)))
    head = bytes([(large << 2 | width - 1) << 2 | Basic.ARRAY])
    count = len(elements).to_bytes(4 if large else 1, "little")
    offsets = (
        start.to_bytes(width, "little") for start in accumulate(map(len, elements), initial=0)
    )
    return b"".join([head, count, *offsets, *elements])


def object_of(fields: list[tuple[str, int, bytes]]) -> bytes:
    """Encode an object of fields (key, key number, encoded value).

    The values keep their order; the list of fields is in the order of Java's strings.
    """
    large = len(fields) > 255  # noqa: PLR2004 - what one byte counts
    values = [value for _, _, value in fields]
    key_width = _width(max((number for _, number, _ in fields), default=0))
    width = _width(sum(map(len, values)))
    starts = [*accumulate(map(len, values), initial=0)]
    order = sorted(range(len(fields)), key=lambda place: _java_order(fields[place][0]))
    head = bytes([(large << 4 | (key_width - 1) << 2 | width - 1) << 2 | Basic.OBJECT])
    parts = [head, len(fields).to_bytes(4 if large else 1, "little")]
    parts += [fields[place][1].to_bytes(key_width, "little") for place in order]
    parts += [starts[place].to_bytes(width, "little") for place in order]
    return b"".join([*parts, starts[-1].to_bytes(width, "little"), *values])


def _java_order(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _width(number: int) -> int:
    """Return the number of bytes of an unsigned integer."""
    return max((number.bit_length() + 7) // 8, 1)
