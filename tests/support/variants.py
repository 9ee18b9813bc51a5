"""Encoder of VARIANT values from Python values, with the same bytes as Java."""

from collections.abc import Mapping

from paimon_explore.encoding.variant.decoder import MAX_DEPTH, Kind
from paimon_explore.encoding.variant.encoder import (
    KeyTable,
    array_of,
    object_of,
    primitive,
    scalar,
    text,
)
from paimon_explore.errors import InvalidInputError


def encode_python(value: object) -> tuple[bytes, bytes]:
    """Encode a Python value; returns value and metadata.

    Args:
        value: None, bool, int, float, Decimal, str, bytes, date, datetime (aware: TIMESTAMP, naive:
            TIMESTAMP_NTZ), UUID, or lists and string-keyed dicts of these.

    Raises:
        InvalidInputError: the value is of another type, or nested too deeply.
    """
    keys = KeyTable()
    data = _encode(value, keys, 0)
    metadata = keys.encode()
    return data, metadata


def _encode(value: object, keys: KeyTable, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"A variant may be nested at most {MAX_DEPTH} levels deep.")
    match value:
        case None:
            return primitive(Kind.NULL)
        case bool():
            return primitive(Kind.TRUE if value else Kind.FALSE)
        case str():
            return text(value)
        case Mapping():
            fields = []
            for key, member in value.items():
                if not isinstance(key, str):
                    raise InvalidInputError(f"A key of a variant must be a string, not {key!r}.")
                number = keys.number(key)  # before the keys of the member, as in Java
                fields.append((key, number, _encode(member, keys, depth + 1)))
            return object_of(fields)
        case list() | tuple():
            return array_of([_encode(element, keys, depth + 1) for element in value])
        case _:
            return scalar(value)
