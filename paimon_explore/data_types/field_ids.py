"""Field ids: unique in a whole schema tree, and never reused by a table.

New ids are assigned in the order of the Java schema builder; readers accept any order.

Spec: concepts/spec/schema.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from paimon_explore.data_types.traversal import children, parts

ROW_ID_FIELD = 2147483642
VALUE_KIND_FIELD = 2147483645
SEQUENCE_NUMBER_FIELD = 2147483646
KEY_FIELD_OFFSET = 1073741823
"""Added to a column's id for the `_KEY_` copy of the column."""

_UNUSED = -(2**31)
"""Added to ids that no column of another schema has."""
_COLLECTION_BASE = 536870911
_COLLECTION_STEP = 1024


def assigned_ids(fields: Iterable[DataField], highest: int = -1) -> tuple[DataField, ...]:
    """Assign new ids above `highest` to fields of all levels.

    A top-level field gets its id before its nested fields, a nested field after its own fields.
    """
    numbers = itertools.count(highest + 1)
    return _with_numbers(fields, lambda _: next(numbers))


def with_ids(fields: Iterable[DataField], ids: Mapping[int, int]) -> tuple[DataField, ...]:
    """Replace the ids of fields of all levels; ids without a new one become unused, negative ones.

    Args:
        fields: the fields.
        ids: the new ids by the present ones.
    """
    return _with_numbers(fields, lambda number: ids.get(number, number + _UNUSED))


def _with_numbers(
    fields: Iterable[DataField], number_of: Callable[[int], int]
) -> tuple[DataField, ...]:
    """Number fields before their nested fields."""
    return tuple(
        replace(field, id=number_of(field.id), type=_renumbered(field.type, number_of))
        for field in fields
    )


def _renumbered(data_type: DataType, number_of: Callable[[int], int]) -> DataType:
    match data_type:
        case AtomicType():
            return data_type
        case ArrayType() | VectorType() | MultisetType():
            return replace(data_type, element=_renumbered(data_type.element, number_of))
        case MapType():
            key = _renumbered(data_type.key, number_of)
            return replace(data_type, key=key, value=_renumbered(data_type.value, number_of))
        case RowType():
            return replace(
                data_type, fields=tuple(_nested_field(f, number_of) for f in data_type.fields)
            )


def _nested_field(field: DataField, number_of: Callable[[int], int]) -> DataField:
    data_type = _renumbered(field.type, number_of)
    return replace(field, id=number_of(field.id), type=data_type)


def same_columns(
    fields: Sequence[DataField], others: Sequence[DataField], common: int
) -> dict[int, int]:
    """Return the ids of the same columns and nested fields in schemas with a common history.

    These have the same name; or, after one of them was renamed, the same id of the common history.

    Args:
        fields: of one schema.
        others: of the other schema.
        common: the highest id of the common history.

    Returns:
        The ids in the other schema, by the ids in the first one.
    """
    names = {field.name for field in fields}
    by_name = {field.name: field for field in others}
    renamed = {field.id: field for field in others if field.name not in names}
    found: dict[int, int] = {}
    for field in fields:
        other = by_name.get(field.name)
        if other is None and field.id <= common:
            other = renamed.get(field.id)
        if other is not None:
            found[field.id] = other.id
            found.update(_same_inside(field.type, other.type, common))
    return found


def _same_inside(data_type: DataType, other: DataType, common: int) -> dict[int, int]:
    if isinstance(data_type, RowType) and isinstance(other, RowType):
        return same_columns(data_type.fields, other.fields, common)
    found: dict[int, int] = {}
    if type(data_type) is type(other):
        for pair in zip(children(data_type), children(other), strict=True):
            found.update(_same_inside(*pair, common))
    return found


def field_ids(fields: Iterable[DataField]) -> Iterator[int]:
    """Yield the ids of the fields and of all nested fields, with duplicates."""
    for field in fields:
        yield field.id
        for part in parts(field.type):
            if isinstance(part, RowType):
                yield from (inner.id for inner in part.fields)


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
