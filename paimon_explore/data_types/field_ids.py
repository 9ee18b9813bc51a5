"""Numbers of fields: unique over a whole schema tree, and never used twice in a table's life.

Spec: concepts/spec/schema. The order is that of the Java schema builder; readers accept any.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace

from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
)

ROW_ID_FIELD = 2147483642
ROW_KIND_FIELD = 2147483643
LEVEL_FIELD = 2147483644
VALUE_KIND_FIELD = 2147483645
SEQUENCE_NUMBER_FIELD = 2147483646
KEY_FIELD_OFFSET = 1073741823
"""The key copy of a column has the column's id plus this."""

_COLLECTION_BASE = 536870911
_COLLECTION_STEP = 1024


def assigned_ids(fields: Iterable[DataField], highest: int = -1) -> tuple[DataField, ...]:
    """The fields with fresh ids above `highest`, all levels.

    A top-level field takes its id before its nested fields, a nested field after those inside it.
    """
    numbers = itertools.count(highest + 1)
    return tuple(
        replace(field, id=next(numbers), type=_renumbered(field.type, numbers)) for field in fields
    )


def _renumbered(data_type: DataType, numbers: Iterator[int]) -> DataType:
    match data_type:
        case AtomicType():
            return data_type
        case ArrayType() | VectorType() | MultisetType():
            return replace(data_type, element=_renumbered(data_type.element, numbers))
        case MapType():
            key = _renumbered(data_type.key, numbers)
            return replace(data_type, key=key, value=_renumbered(data_type.value, numbers))
        case RowType():
            return replace(
                data_type, fields=tuple(_nested_field(f, numbers) for f in data_type.fields)
            )


def _nested_field(field: DataField, numbers: Iterator[int]) -> DataField:
    data_type = _renumbered(field.type, numbers)
    return replace(field, id=next(numbers), type=data_type)


def field_ids(fields: Iterable[DataField]) -> Iterator[int]:
    """The ids of the fields and of all fields nested in them, repeated ones repeated."""
    for field in fields:
        yield field.id
        yield from _ids_inside(field.type)


def _ids_inside(data_type: DataType) -> Iterator[int]:
    match data_type:
        case AtomicType():
            pass
        case ArrayType() | VectorType() | MultisetType():
            yield from _ids_inside(data_type.element)
        case MapType():
            yield from _ids_inside(data_type.key)
            yield from _ids_inside(data_type.value)
        case RowType():
            yield from field_ids(data_type.fields)


def highest_field_id(fields: Iterable[DataField]) -> int:
    """The highest id in the tree, ids of system columns left out; -1 without fields."""
    return max((number for number in field_ids(fields) if number < KEY_FIELD_OFFSET), default=-1)


def element_id(column_id: int, depth: int) -> int:
    """The id that data files give to a list's element or a map's value.

    Args:
        column_id: id of the column that holds the collection.
        depth: 1 for its direct child, one more per level.
    """
    return _COLLECTION_BASE + _COLLECTION_STEP * column_id + depth


def map_key_id(column_id: int, depth: int) -> int:
    """The id that data files give to a map's key; arguments as for `element_id`."""
    return _COLLECTION_BASE - _COLLECTION_STEP * column_id - depth
