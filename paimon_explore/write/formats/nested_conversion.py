"""Convert the atomic values inside nested columns to other Arrow types.

File formats have fewer types than Paimon. Each format converts atomic types in its own way; this
module rebuilds lists, maps and rows around the converted values. Vectors become lists and multisets
become maps, as in Java. Sliced arrays are supported.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_list,
    build_struct,
    list_offsets,
    offsets_from_sizes,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
)
from paimon_explore.data_types.traversal import entry_types

Leaf = Callable[[Column, AtomicType], Column]


def convert(array: Column, data_type: DataType, leaf: Leaf) -> Column:
    """Apply `leaf` to all atomic values of a column.

    Args:
        array: n values in `to_arrow(data_type)`.
        data_type: their type.
        leaf: converts the values of an atomic type; keeps their number and nulls.

    Returns:
        n values; children of lists are named `element`, those of maps `key` and `value`.
    """
    match data_type:
        case AtomicType():
            return leaf(array, data_type)
        case ArrayType(element=element):
            return _converted_list(array, element, leaf)
        case VectorType(element=element):
            return _converted_vector(array, data_type.length, element, leaf)
        case MapType() | MultisetType():
            return _converted_map(array, *entry_types(data_type), leaf)
        case RowType():
            return _converted_row(array, data_type, leaf)


def _converted_list(array: Column, element: DataType, leaf: Leaf) -> Column:
    values = convert(array.values, element, leaf)  # type: ignore[attr-defined]  # a list array
    return _list_of(values, list_offsets(array), valid_mask(array), element)


def _converted_vector(array: Column, size: int, element: DataType, leaf: Leaf) -> Column:
    """Convert vectors to lists; a null vector becomes a null list without elements."""
    valid = valid_mask(array)
    offsets = offsets_from_sizes(valid * np.int64(size))
    elements: Column = array.flatten()  # type: ignore[attr-defined]  # a fixed-size list array
    return _list_of(convert(elements, element, leaf), offsets, valid, element)


def _list_of(values: Column, offsets: Ints, valid: Bools, element: DataType) -> Column:
    target = pa.list_(pa.field("element", values.type, nullable=element.nullable))
    return build_list(target, offsets, [values], valid)


def _converted_map(array: Column, key: DataType, value: DataType, leaf: Leaf) -> Column:
    keys = convert(array.keys, key, leaf)  # type: ignore[attr-defined]  # a map array
    items = convert(array.items, value, leaf)  # type: ignore[attr-defined]  # a map array
    key_field = pa.field("key", keys.type, nullable=False)
    value_field = pa.field("value", items.type, nullable=value.nullable)
    entries = pa.StructArray.from_arrays([keys, items], fields=[key_field, value_field])
    target: pa.DataType = pa.map_(key_field, value_field)  # type: ignore[call-overload]  # stubs know types only, not fields
    return build_list(target, list_offsets(array), [entries], valid_mask(array))


def _converted_row(array: Column, data_type: RowType, leaf: Leaf) -> Column:
    children: list[Column] = [
        convert(array.field(i), field.type, leaf)  # type: ignore[attr-defined]  # a struct array
        for i, field in enumerate(data_type)
    ]
    named = [
        pa.field(field.name, child.type, nullable=field.type.nullable)
        for field, child in zip(data_type, children, strict=True)
    ]
    return build_struct(pa.struct(named), children, valid_mask(array))
