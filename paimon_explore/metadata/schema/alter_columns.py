"""Edits of fields at any nesting level of a schema: insert, move, replace.

Helpers of `alter_schema`; they know nothing about the rules of schema changes.

Spec: concepts/schema evolution.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from paimon_explore.data_types.definitions import ArrayType, DataField, DataType, MapType, RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    choices,
    suggestion,
)
from paimon_explore.metadata.schema.schema_change import Move, Position

Fields: TypeAlias = tuple[DataField, ...]

ELEMENT = "element"
VALUE = "value"


def edit_siblings(
    fields: Fields, path: Sequence[str], edit: Callable[[Fields, str], Fields]
) -> Fields:
    """Edit the list of fields that contains the last name of a path.

    Args:
        fields: the fields of the top level.
        path: names of columns; `element` of arrays and `value` of maps precede fields of their
            rows.
        edit: receives the sibling fields and the last name, returns the new sibling fields.

    Raises:
        NotFoundError: a name before the last does not exist or is not a row.
    """
    *parents, name = path
    if not parents:
        return edit(fields, name)

    def inside(column: DataField, data_type: DataType) -> DataType:
        if not isinstance(data_type, RowType):
            raise _no_fields(f"{column.name}.{name}", data_type)
        return replace(data_type, fields=edit(data_type.fields, name))

    return edit_type(fields, parents, inside)


def edit_field(
    fields: Fields, name: str, edit: Callable[[DataField], DataField], path: Iterable[str] = ()
) -> Fields:
    """Edit one field.

    Raises:
        NotFoundError: the field does not exist.
    """
    if not any(field.name == name for field in fields):
        raise unknown_column(".".join(path) or name, name, fields)
    return tuple(edit(field) if field.name == name else field for field in fields)


def edit_type(
    fields: Fields, path: Sequence[str], edit: Callable[[DataField, DataType], DataType]
) -> Fields:
    """Edit the type of a column, an array element or a map value.

    Args:
        fields: the fields of the top level.
        path: names of columns, `element` of arrays and `value` of maps.
        edit: receives the column that contains the type, and the type; returns the new type.

    Raises:
        NotFoundError: the path does not exist.
    """

    def change(field: DataField) -> DataField:
        return replace(field, type=_edit_part(field, field.type, path[1:], edit))

    return edit_field(fields, path[0], change)


def _edit_part(
    column: DataField,
    data_type: DataType,
    rest: Sequence[str],
    edit: Callable[[DataField, DataType], DataType],
) -> DataType:
    if not rest:
        return edit(column, data_type)
    if isinstance(data_type, RowType):
        return replace(data_type, fields=edit_type(data_type.fields, rest, edit))
    if isinstance(data_type, ArrayType) and rest[0] == ELEMENT:
        element = _edit_part(column, data_type.element, rest[1:], edit)
        return replace(data_type, element=element)
    if isinstance(data_type, MapType) and rest[0] == VALUE:
        return replace(data_type, value=_edit_part(column, data_type.value, rest[1:], edit))
    raise _no_fields(f"{column.name}.{'.'.join(rest)}", data_type)


def _no_fields(path: str, data_type: DataType) -> NotFoundError:
    """The error of a path that leads into a type without fields."""
    hint = f"{type_text(data_type)} is not a ROW."
    if isinstance(data_type, ArrayType):
        hint += f" Fields of its elements are {ELEMENT}.<field>."
    return NotFoundError("column", path, hint=hint)


def unknown_column(shown: str, name: str, fields: Fields) -> NotFoundError:
    """The error of a name that is none of the fields; `shown` is its whole path."""
    names = [field.name for field in fields]
    hint = f"{suggestion(name, names)}Columns: {choices(names)}."
    return NotFoundError("column", shown, hint=hint)


def insert_field(fields: Fields, field: DataField, move: Move | None, *, end: int) -> Fields:
    """Insert a new field.

    Args:
        fields: the sibling fields.
        field: the new field.
        move: its position; None for `end`.
        end: the default index of new fields.

    Raises:
        AlreadyExistsError: a field of that name exists.
        NotFoundError: the reference column of the position does not exist.
    """
    if any(other.name == field.name for other in fields):
        raise AlreadyExistsError("column", field.name)
    at = end if move is None else _index_of(fields, move)
    return (*fields[:at], field, *fields[at:])


def move_field(fields: Fields, name: str, move: Move) -> Fields:
    """Move a field to another position.

    Raises:
        NotFoundError: the field or the reference column does not exist.
        InvalidInputError: the reference column is the field itself.
    """
    moved = next((field for field in fields if field.name == name), None)
    if moved is None:
        raise unknown_column(name, name, fields)
    if move.reference == name:
        raise InvalidInputError(f"Column {name!r} cannot be moved {move.position.value} itself.")
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
            reference = move.reference or ""
            if reference not in names:
                raise unknown_column(reference, reference, fields)
            return names.index(reference) + (move.position is Position.AFTER)
