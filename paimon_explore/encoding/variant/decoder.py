"""Decoder of VARIANT values: typed trees that are stored as a value and its metadata.

    metadata: byte version and flags | number of keys | offset per key and the end | keys
    value: a byte of kind and flags, then the content:
        number, text, ...   its bytes
        object              number of fields | key number of each | offset of each, the end | values
        array               number of elements | offset of each, the end | values

All integers are little-endian; the flags contain the number of bytes of counts, key numbers and
offsets. The fields of an object are sorted by key.

Spec: concepts/spec/variant; the Parquet Variant encoding. Seen in: golden java200/variant.
"""

import datetime as dt
import struct
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from itertools import pairwise
from typing import NoReturn, Protocol, TypeVar

import numpy as np

from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

VERSION = 1
MICROS_PER_DAY = 86_400_000_000
MAX_DEPTH = 300
"""Maximum nesting of values, below Python's recursion limit."""

_T = TypeVar("_T")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_PYTHON_DAYS = (-719_162, 2_932_896)  # the range of Python's dates, years 1 to 9999
_DIGITS = {4: 9, 8: 18, 16: 38}


class Basic(IntEnum):
    """Basic type of a value: its lowest two bits."""

    PRIMITIVE = 0
    SHORT_TEXT = 1
    OBJECT = 2
    ARRAY = 3


class Kind(IntEnum):
    """Type of a primitive value."""

    NULL = 0
    TRUE = 1
    FALSE = 2
    INT1 = 3
    INT2 = 4
    INT4 = 5
    INT8 = 6
    DOUBLE = 7
    DECIMAL4 = 8
    DECIMAL8 = 9
    DECIMAL16 = 10
    DATE = 11
    TIMESTAMP = 12
    TIMESTAMP_NTZ = 13
    FLOAT = 14
    BINARY = 15
    TEXT = 16
    UUID = 20


INTEGER_BYTES = {
    Kind.INT1: 1,
    Kind.INT2: 2,
    Kind.INT4: 4,
    Kind.INT8: 8,
    Kind.DATE: 4,
    Kind.TIMESTAMP: 8,
    Kind.TIMESTAMP_NTZ: 8,
}
DECIMAL_BYTES = {Kind.DECIMAL4: 4, Kind.DECIMAL8: 8, Kind.DECIMAL16: 16}
Raw = None | bool | int | float | Decimal | str | bytes
"""Content of a primitive value: days for DATE, microseconds for timestamps."""


class Maker(Protocol[_T]):
    """Builds results from the parts of a value."""

    def leaf(self, kind: Kind, raw: Raw) -> _T:
        """Build the result of a primitive; text always has kind TEXT."""

    def array(self, elements: list[_T]) -> _T:
        """Build the result of an array."""

    def object(self, fields: list[tuple[str, _T]]) -> _T:
        """Build the result of an object."""


@dataclass(frozen=True, slots=True)
class Container:
    """Locations of the children of an object or array.

    Attributes:
        key_numbers: key number of each field; empty for an array.
        starts: start of each child.
        end: end of the last child.
    """

    key_numbers: tuple[int, ...]
    starts: tuple[int, ...]
    end: int


class VariantReader:
    """Reads a VARIANT value.

    Args:
        value: the bytes of the value.
        keys: the keys of its metadata.
        path: path of the file, for errors.
    """

    def __init__(self, value: bytes, keys: tuple[str, ...], path: str) -> None:
        self._value = value
        self._keys = keys
        self._path = path
        self._left = len(value)

    def read(self, maker: Maker[_T], at: int = 0, depth: int = 0) -> _T:
        """Read the value at a byte.

        Raises:
            CorruptFileError: the value is damaged.
        """
        header = self._take(at, 1)[0]
        self._left -= 1
        if self._left < 0:
            self._fail(at, "a value must not be referenced twice")
        if depth > MAX_DEPTH:
            self._fail(at, f"values may be nested at most {MAX_DEPTH} levels deep")
        match Basic(header & 3):
            case Basic.PRIMITIVE:
                return self._primitive(maker, at, header >> 2)
            case Basic.SHORT_TEXT:
                return maker.leaf(Kind.TEXT, self._text(at + 1, header >> 2))
            case Basic.ARRAY:
                starts = self.container(at).starts
                return maker.array([self.read(maker, start, depth + 1) for start in starts])
            case Basic.OBJECT:
                found = self.container(at)
                names = [self.key(number) for number in found.key_numbers]
                values = [self.read(maker, start, depth + 1) for start in found.starts]
                return maker.object(list(zip(names, values, strict=True)))

    def find(self, path: Sequence[str | int]) -> int | None:
        """Return where the value at a path is; None if there is none."""
        at = 0
        for part in path:
            if isinstance(part, str):
                found = self.container(at) if self.is_object(at) else Container((), (), at)
                keys = [self.key(number) for number in found.key_numbers]
                place = len(keys) - 1 - keys[::-1].index(part) if part in keys else len(keys)
            else:
                found = self.container(at) if self.is_array(at) else Container((), (), at)
                place = part
            if place >= len(found.starts):
                return None
            at = found.starts[place]
        return at

    def is_object(self, at: int = 0) -> bool:
        """Return whether the value at a byte is an object."""
        return self._take(at, 1)[0] & 3 == Basic.OBJECT

    def is_array(self, at: int = 0) -> bool:
        """Return whether the value at a byte is an array."""
        return self._take(at, 1)[0] & 3 == Basic.ARRAY

    def key(self, number: int) -> str:
        """Return the key with a number."""
        if number >= len(self._keys):
            self._fail(0, f"key ids must be below {len(self._keys)}")
        return self._keys[number]

    def container(self, at: int) -> Container:
        """Locate the children of the object or array at a byte."""
        header = self._take(at, 1)[0]
        flags = header >> 2
        is_object = header & 3 == Basic.OBJECT
        name = "object" if is_object else "array"
        large = flags >> (4 if is_object else 2) & 1
        count_bytes = 4 if large else 1
        count = self._number(at + 1, count_bytes)
        offset_bytes = (flags & 3) + 1
        key_bytes = (flags >> 2 & 3) + 1 if is_object else 0
        keys_at = at + 1 + count_bytes
        offsets_at = keys_at + count * key_bytes
        data_at = offsets_at + (count + 1) * offset_bytes
        if data_at > len(self._value):
            self._fail(at, f"the offsets of the elements must be within the {name}")
        keys = tuple(self._number(keys_at + i * key_bytes, key_bytes) for i in range(count))
        offsets = [
            self._number(offsets_at + i * offset_bytes, offset_bytes) for i in range(count + 1)
        ]
        end = data_at + offsets[-1]
        if end > len(self._value) or any(offset >= offsets[-1] for offset in offsets[:-1]):
            self._fail(at, f"the elements must be within the {name}")
        starts = tuple(data_at + offset for offset in offsets[:-1])
        return Container(keys if is_object else (), starts, end)

    def end(self, at: int) -> int:
        """Return the end of the value at a byte."""
        header = self._take(at, 1)[0]
        match Basic(header & 3):
            case Basic.SHORT_TEXT:
                return at + 1 + (header >> 2)
            case Basic.OBJECT | Basic.ARRAY:
                return self.container(at).end
            case Basic.PRIMITIVE:
                kind = self._kind(at, header >> 2)
                if kind in {Kind.TEXT, Kind.BINARY}:
                    return at + 5 + self._number(at + 1, 4)
                return at + 1 + _CONTENT_BYTES[kind]

    def slice(self, at: int) -> bytes:
        """Return the bytes of the value at a byte."""
        return self._take(at, self.end(at) - at)

    def _fail(self, at: int, rule: str) -> NoReturn:
        raise CorruptFileError(self._path, f"variant, byte {at}", rule)

    def _take(self, at: int, size: int) -> bytes:
        part = self._value[at : at + size]
        if len(part) != size or size < 0:
            self._fail(at, "a value must be within its variant")
        return part

    def _number(self, at: int, size: int) -> int:
        return int.from_bytes(self._take(at, size), "little")

    def _text(self, at: int, size: int) -> str:
        try:
            return self._take(at, size).decode()
        except UnicodeDecodeError:
            self._fail(at, "text must be UTF-8")

    def _kind(self, at: int, number: int) -> Kind:
        try:
            return Kind(number)
        except ValueError:
            self._fail(at, f"the type id {number} of a value is unknown")

    def _primitive(self, maker: Maker[_T], at: int, number: int) -> _T:
        kind = self._kind(at, number)
        if kind in INTEGER_BYTES:
            data = self._take(at + 1, INTEGER_BYTES[kind])
            return maker.leaf(kind, int.from_bytes(data, "little", signed=True))
        if kind in DECIMAL_BYTES:
            return maker.leaf(kind, self._decimal(at + 1, DECIMAL_BYTES[kind]))
        return maker.leaf(kind, self._other(kind, at + 1))

    def _other(self, kind: Kind, at: int) -> Raw:
        match kind:
            case Kind.NULL:
                return None
            case Kind.TRUE | Kind.FALSE:
                return kind is Kind.TRUE
            case Kind.DOUBLE | Kind.FLOAT:
                size, form = (8, "<d") if kind is Kind.DOUBLE else (4, "<f")
                number: float = struct.unpack(form, self._take(at, size))[0]
                return number
            case Kind.UUID:
                return self._take(at, 16)
            case Kind.TEXT:
                return self._text(at + 4, self._number(at, 4))
            case _:
                return self._take(at + 4, self._number(at, 4))

    def _decimal(self, at: int, size: int) -> Decimal:
        scale = self._take(at, 1)[0]
        unscaled = int.from_bytes(self._take(at + 1, size), "little", signed=True)
        digits = str(abs(unscaled))
        if scale > _DIGITS[size] or len(digits) > _DIGITS[size]:
            self._fail(at, f"a decimal of {size} bytes must have at most {_DIGITS[size]} digits")
        return Decimal((int(unscaled < 0), tuple(map(int, digits)), -scale))


_CONTENT_BYTES: Mapping[Kind, int] = {
    Kind.NULL: 0,
    Kind.TRUE: 0,
    Kind.FALSE: 0,
    Kind.DOUBLE: 8,
    Kind.FLOAT: 4,
    Kind.UUID: 16,
    **INTEGER_BYTES,
    **{kind: size + 1 for kind, size in DECIMAL_BYTES.items()},
}


def decode_keys(metadata: bytes, *, path: str) -> tuple[str, ...]:
    """Decode the keys of a variant's metadata, in order of their numbers.

    Raises:
        CorruptFileError: the metadata is damaged, or its version is unknown.
    """

    def fail(rule: str) -> NoReturn:
        raise CorruptFileError(path, "variant metadata", rule)

    if not metadata or metadata[0] & 0x0F != VERSION:
        fail(f"the version in the first byte must be {VERSION}")
    size = (metadata[0] >> 6) + 1
    count = int.from_bytes(metadata[1 : 1 + size], "little")
    start = 1 + (count + 2) * size
    if start > len(metadata):
        fail("the offsets must be within the metadata")
    edges = [
        start + int.from_bytes(metadata[at : at + size], "little")
        for at in range(1 + size, start, size)
    ]
    if edges[-1] > len(metadata) or any(a > b for a, b in pairwise(edges)):
        fail("the offsets must be within the metadata and in ascending order")
    try:
        return tuple(metadata[a:b].decode() for a, b in pairwise(edges))
    except UnicodeDecodeError:
        fail("keys must be UTF-8")


MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ})
"""Kinds of dates and timestamps, whose content is relative to 1970."""


def moment_of(kind: Kind, raw: int) -> dt.date | np.datetime64:
    """Convert a date or timestamp; to numpy if it is out of Python's range."""
    days = raw if kind is Kind.DATE else raw // MICROS_PER_DAY
    if not _PYTHON_DAYS[0] <= days <= _PYTHON_DAYS[1]:
        return np.datetime64(raw, "D" if kind is Kind.DATE else "us")
    if kind is Kind.DATE:
        return (_EPOCH + dt.timedelta(days=raw)).date()
    moment = _EPOCH + dt.timedelta(microseconds=raw)
    return moment if kind is Kind.TIMESTAMP else moment.replace(tzinfo=None)
