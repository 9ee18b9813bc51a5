"""Parser of JSON documents as VARIANT values, with the same types as Java.

| JSON number | type |
| --- | --- |
| integer of at most 64 bits | the smallest integer type |
| other number without exponent, of at most 38 digits | DECIMAL |
| other number | DOUBLE |
"""

import json
import struct
from decimal import Decimal
from typing import NoReturn

from paimon_explore.encoding.variant.decoder import Kind
from paimon_explore.encoding.variant.encoder import decimal, integer, primitive, text
from paimon_explore.encoding.variant.tree import NULL, Primitive, Tree
from paimon_explore.errors import InvalidInputError

_LONG = 2**63
_MAX_DIGITS = 38
_LONG_DIGITS = 19


def parse_json_tree(document: str) -> Tree:
    """Parse a JSON document.

    Raises:
        InvalidInputError: it is not JSON, or an object has a key twice.
    """
    try:
        return _tree(_DECODER.decode(document))
    except json.JSONDecodeError as error:
        shown = document if len(document) <= _SHOWN else f"{document[:_SHOWN]}…"
        raise InvalidInputError(
            f"{shown!r} is not JSON: {error.msg} at character {error.pos + 1}.",
            hint="Write a text in JSON with double quotes: '\"text\"'.",
        ) from error
    except RecursionError as error:
        raise InvalidInputError("The JSON document is nested too deeply.") from error


_SHOWN = 40


def _integer(digits: str) -> Primitive:
    if len(digits.lstrip("-")) <= _LONG_DIGITS and -_LONG <= (number := int(digits)) < _LONG:
        return Primitive(integer(number))
    return _number(digits)


def _number(digits: str) -> Primitive:
    is_plain = "e" not in digits and "E" not in digits
    whole, _, fraction = digits.lstrip("-").partition(".")
    significant = len((whole + fraction).lstrip("0"))
    if is_plain and significant <= _MAX_DIGITS and len(fraction) <= _MAX_DIGITS:
        return Primitive(decimal(Decimal(digits)))
    return Primitive(primitive(Kind.DOUBLE, struct.pack("<d", float(digits))))


def _constant(name: str) -> NoReturn:
    raise InvalidInputError(f"{name} is not JSON.", hint="Write null.")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidInputError(f"An object of the JSON document has the key {twice!r} twice.")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_integer, parse_float=_number, parse_constant=_constant, object_pairs_hook=_object
)


def _tree(value: object) -> Tree:
    """Encode the texts and constants, which the decoder has no hooks for."""
    match value:
        case Primitive():
            return value
        case str():
            return Primitive(text(value))
        case bool():
            return Primitive(primitive(Kind.TRUE if value else Kind.FALSE))
        case list():
            return [_tree(element) for element in value]
        case dict():
            return {key: _tree(member) for key, member in value.items()}
        case _:
            return NULL
