"""Field ids: unique in a whole schema tree, and never reused by a table.

New ids are assigned in the order of the Java schema builder; readers accept any order.

Spec: concepts/spec/schema.
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
from paimon_explore.data_types.traversal import children

ROW_ID_FIELD = 2147483642
VALUE_KIND_FIELD = 2147483645
SEQUENCE_NUMBER_FIELD = 2147483646
KEY_FIELD_OFFSET = 1073741823
"""Added to a column's id for the `_KEY_` copy of the column."""

_COLLECTION_BASE = 536870911
_COLLECTION_STEP = 1024


def assigned_ids(fields: Iterable[DataField], highest: int = -1) -> tuple[DataField, ...]:
    """Assign new ids above `highest` to fields of all levels.

    A top-level field gets its id before its nested fields, a nested field after its own fields.
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
    """Yield the ids of the fields and of all nested fields, with duplicates."""
    for field in fields:
        yield field.id
        yield from _ids_inside(field.type)


def _ids_inside(data_type: DataType) -> Iterator[int]:
    if isinstance(data_type, RowType):
        yield from field_ids(data_type.fields)
    else:
        for child in children(data_type):
            yield from _ids_inside(child)


def highest_field_id(fields: Iterable[DataField]) -> int:
    """Return the highest id in the tree, ignoring system columns; -1 without fields."""
    return max((number for number in field_ids(fields) if number < KEY_FIELD_OFFSET), default=-1)


def element_id(column_id: int, depth: int) -> int:
    """Return the field id of a list's element or a map's value in data files.

    Args:
        column_id: id of the column that holds the collection.
        depth: 1 for its direct child, one more per level.
    """
    return _COLLECTION_BASE + _COLLECTION_STEP * column_id + depth


def map_key_id(column_id: int, depth: int) -> int:
    """Return the field id of a map's key in data files; see `element_id`."""
    return _COLLECTION_BASE - _COLLECTION_STEP * column_id - depth
