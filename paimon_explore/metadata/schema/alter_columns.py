"""Changes of columns, applied to the fields of a schema.

Spec: concepts/schema evolution.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from paimon_explore.data_types.definitions import ArrayType, DataField, DataType, MapType, RowType
from paimon_explore.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from paimon_explore.metadata.schema.schema_change import Move, Position

Fields: TypeAlias = tuple[DataField, ...]

ELEMENT = "element"
VALUE = "value"


def edited_siblings(
    fields: Fields, path: Sequence[str], edit: Callable[[Fields, str], Fields]
) -> Fields:
    """The fields with an edit of the level that a path ends in.

    Args:
        fields: the fields of the top level.
        path: names of columns; `element` and `value` stand between a collection and its rows.
        edit: the level's fields and the last name, to the level's new fields.

    Raises:
        NotFoundError: a name before the last is no column, or leads to no row.
    """
    if len(path) == 1:
        return edit(fields, path[0])

    def inside(field: DataField) -> DataField:
        data_type = _edited_rows(field.type, path, 1, edit)
        return replace(field, type=data_type)

    return edited_field(fields, path[0], inside, path)


def _edited_rows(
    data_type: DataType, path: Sequence[str], depth: int, edit: Callable[[Fields, str], Fields]
) -> DataType:
    if isinstance(data_type, RowType):
        return replace(data_type, fields=edited_siblings(data_type.fields, path[depth:], edit))
    if depth < len(path) - 1:
        if isinstance(data_type, ArrayType) and path[depth] == ELEMENT:
            return replace(
                data_type, element=_edited_rows(data_type.element, path, depth + 1, edit)
            )
        if isinstance(data_type, MapType) and path[depth] == VALUE:
            return replace(data_type, value=_edited_rows(data_type.value, path, depth + 1, edit))
    raise NotFoundError("column", ".".join(path[: depth + 1]))


def edited_field(
    fields: Fields, name: str, edit: Callable[[DataField], DataField], path: Iterable[str] = ()
) -> Fields:
    """The fields with one of them edited.

    Raises:
        NotFoundError: there is no field of the name.
    """
    if not any(field.name == name for field in fields):
        raise NotFoundError("column", ".".join(path) or name)
    return tuple(edit(field) if field.name == name else field for field in fields)


def edited_type(
    fields: Fields, path: Sequence[str], edit: Callable[[DataField, DataType], DataType]
) -> Fields:
    """The fields with the type at the end of a path edited, be it a column's or an element's.

    Args:
        fields: the fields of the top level.
        path: names of columns, `element` of arrays and `value` of maps.
        edit: the column that holds the type, and the type, to the new type.

    Raises:
        NotFoundError: the path leads nowhere.
    """

    def change(field: DataField, rest: Sequence[str]) -> DataField:
        return replace(field, type=_edited_part(field, field.type, rest, edit))

    return edited_field(fields, path[0], lambda field: change(field, path[1:]), path)


def _edited_part(
    column: DataField,
    data_type: DataType,
    rest: Sequence[str],
    edit: Callable[[DataField, DataType], DataType],
) -> DataType:
    if not rest:
        return edit(column, data_type)
    if isinstance(data_type, RowType):
        return replace(data_type, fields=edited_type(data_type.fields, rest, edit))
    if isinstance(data_type, ArrayType) and rest[0] == ELEMENT:
        element = _edited_part(column, data_type.element, rest[1:], edit)
        return replace(data_type, element=element)
    if isinstance(data_type, MapType) and rest[0] == VALUE:
        return replace(data_type, value=_edited_part(column, data_type.value, rest[1:], edit))
    raise NotFoundError("column", f"{column.name}.{'.'.join(rest)}")


def with_added(fields: Fields, field: DataField, move: Move | None, *, end: int) -> Fields:
    """The fields with a new one at its place.

    Args:
        fields: the level's fields.
        field: the new one.
        move: its place; None for `end`.
        end: the index where fields without a place go.

    Raises:
        AlreadyExistsError: a field has the name already.
        NotFoundError: the reference of the place does not exist.
    """
    if any(other.name == field.name for other in fields):
        raise AlreadyExistsError("column", field.name)
    at = end if move is None else _index_of(fields, move)
    return (*fields[:at], field, *fields[at:])


def with_moved(fields: Fields, name: str, move: Move) -> Fields:
    """The fields with one of them at another place.

    Raises:
        NotFoundError: the field or the reference of its place does not exist.
        InvalidInputError: the reference is the field itself.
    """
    moved = next((field for field in fields if field.name == name), None)
    if moved is None:
        raise NotFoundError("column", name)
    if move.reference == name:
        raise InvalidInputError(f"Column {name!r} cannot be moved {move.position.value} itself")
    others = tuple(field for field in fields if field.name != name)
    at = _index_of(others, move)
    return (*others[:at], moved, *others[at:])


def _index_of(fields: Fields, move: Move) -> int:
    match move.position:
        case Position.FIRST:
            return 0
        case Position.LAST:
            return len(fields)
        case Position.AFTER | Position.BEFORE:
            names = [field.name for field in fields]
            if move.reference not in names:
                raise NotFoundError("column", move.reference)
            return names.index(move.reference) + (move.position is Position.AFTER)
