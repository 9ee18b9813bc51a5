"""Input values of VARIANT columns.

| input | stored value |
| --- | --- |
| `Variant`, or its byte strings as a dict or Arrow struct of `value` and `metadata` | the variant |
| dict, list, scalar of Python; any other Arrow type | the object, array or scalar |
| str, Arrow strings | a text; with the cast policy `parse`, what the JSON document contains |

`None` and Arrow's null are NULL; below lists and dicts they are nulls of the variant.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import VARIANT_ARROW, is_variant_storage
from paimon_explore.data_types.arrow_buffers import Column, as_python, build_struct, valid_mask
from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.encoding.variant.arrow_values import stored_column, trees_of, variant_column
from paimon_explore.encoding.variant.json_parser import parse_json_tree
from paimon_explore.encoding.variant.tree import Tree, encode_tree
from paimon_explore.encoding.variant.variant import tree_of
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.cast_policy import CastPolicy, current_policy
from paimon_explore.write.input.value_location import Location

_PARTS = ("value", "metadata")
_T = TypeVar("_T")


def variants_of_python(
    given: Sequence[object], data_type: AtomicType, location: Location
) -> Column:
    """Encode values of Python, none missing.

    Raises:
        InvalidInputError: a value cannot be stored; the error names its column and row.
    """
    parses = current_policy() is CastPolicy.PARSE

    def encoded(value: object) -> tuple[bytes, bytes] | None:
        plain = value.as_py() if isinstance(value, pa.Scalar) else value
        if not (parses and isinstance(plain, str)):
            return _stored(plain) or encode_tree(tree_of(plain))
        tree = _parsed(plain)
        return None if tree is None else encode_tree(tree)

    return stored_column(
        [
            _located(partial(encoded, value), data_type, location, position)
            for position, value in enumerate(given)
        ]
    )


def _stored(value: object) -> tuple[bytes, bytes] | None:
    """Return the byte strings of a row that was read; None for another value."""
    if not isinstance(value, Mapping) or value.keys() != set(_PARTS):
        return None
    found = value["value"], value["metadata"]
    return found if all(isinstance(part, bytes) for part in found) else None


def variants_of_arrow(array: Column, data_type: AtomicType, location: Location) -> Column:
    """Encode values of any plain Arrow type as variants.

    Raises:
        InvalidInputError: a value cannot be stored; the error names its column and row.
    """
    if array.type.equals(VARIANT_ARROW) and not array.null_count:
        return array
    if isinstance(array, pa.StructArray) and is_variant_storage(array.type):
        return _variants(array, location)
    if current_policy() is CastPolicy.STRICT:
        raise location.error(
            f"values of type {array.type} are not variants with the fields 'value' and 'metadata', "
            "and cast='strict' allows no other type",
            data_type,
        )
    is_text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    if current_policy() is CastPolicy.PARSE and is_text:
        trees = [
            _located(partial(_parsed, text), data_type, location, position)
            for position, text in enumerate(as_python(array))
        ]
        return variant_column(trees)
    return variant_column(_located(partial(trees_of, array), data_type, location, None))


def _parsed(text: object) -> Tree | None:
    """Parse a document; blank text is null, as in CSV files."""
    return parse_json_tree(text) if isinstance(text, str) and text.strip() else None


def _located(
    made: Callable[[], _T], data_type: AtomicType, location: Location, position: int | None
) -> _T:
    """Return a result, or raise an error that names the location."""
    try:
        return made()
    except InvalidInputError as error:
        raise location.error(error.message.rstrip("."), data_type, position, error.hint) from error


def _variants(array: pa.StructArray, location: Location) -> Column:
    """Return variants in the type of a column."""
    valid = valid_mask(array)
    parts: list[Column] = []
    for name in _PARTS:
        part: Column = array.field(name)
        lacking = valid & ~valid_mask(part)
        if lacking.any():
            problem = f"field {name!r} of the VARIANT value is null"
            raise location.error(problem, position=int(lacking.argmax()))
        parts.append(pc.call_function("coalesce", [part.cast(pa.binary()), pa.scalar(b"")]))
    return build_struct(VARIANT_ARROW, parts, valid)
