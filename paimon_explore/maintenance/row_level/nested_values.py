"""Assignments to nested fields: `SET address.city = 'Rome'`.

Other fields do not change. A null row becomes a row with the new value and nulls in its other
fields, as in Spark.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, build_struct, valid_mask
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.errors import InvalidInputError, choices

Path = tuple[str, ...]
"""Path of a nested field: the names from the column down."""


def path_of(name: object, target: RowType) -> tuple[DataField, ...]:
    """Resolve a column name, or a dotted path of a nested field.

    Names are case-insensitive if they are unambiguous.

    Raises:
        InvalidInputError: there is no such column or field.
    """
    if isinstance(name, str):
        found = _find(name, target)
        if found is not None:
            return (found,)
        first, _, rest = name.partition(".")
        column = _find(first, target)
        if column is not None and rest:
            return (column, *_nested_path(column.type, rest, first))
    msg = f"The table has no column {name!r}."
    raise InvalidInputError(msg, hint=f"Columns: {choices(target.names)}.")


def _nested_path(row: DataType, path: str, where: str) -> tuple[DataField, ...]:
    if not isinstance(row, RowType):
        msg = f"Column {where!r} is not a ROW, so it has no field {path!r}."
        raise InvalidInputError(msg)
    found = _find(path, row)
    if found is not None:
        return (found,)
    first, _, rest = path.partition(".")
    field = _find(first, row)
    if field is None or not rest:
        msg = f"ROW {where!r} has no field {first!r}."
        raise InvalidInputError(msg, hint=f"Fields: {choices(row.names)}.")
    return (field, *_nested_path(field.type, rest, f"{where}.{first}"))


def _find(name: str, fields: RowType) -> DataField | None:
    found = fields.field(name)
    alike = [field for field in fields if field.name.lower() == name.lower()]
    return alike[0] if found is None and len(alike) == 1 else found


def check_paths(paths: Sequence[Path]) -> None:
    """Check that no column or field is assigned twice.

    Raises:
        InvalidInputError: a path equals another or is a prefix of it.
    """
    for number, path in enumerate(paths):
        for other in paths[:number]:
            shorter, longer = sorted((path, other), key=len)
            if longer[: len(shorter)] == shorter:
                column = ".".join(shorter)
                raise InvalidInputError(f"Column {column!r} is set twice.")


def with_field(rows: Column, row_type: RowType, path: Path, new: Column) -> Column:
    """Replace one field of rows.

    Args:
        rows: n rows in `to_arrow(row_type)`.
        row_type: type of the rows.
        path: path of the field inside the rows.
        new: n new values in the type of the field.
    """
    valid = valid_mask(rows)
    children: list[Column] = []
    for field in row_type:
        child: Column = rows.field(field.name)  # type: ignore[attr-defined]  # a struct array
        child = _null_where(child, ~valid, field)
        if field.name == path[0]:
            inner = field.type
            child = (
                with_field(child, inner, path[1:], new)
                if len(path) > 1 and isinstance(inner, RowType)
                else new
            )
        children.append(child)
    return build_struct(to_arrow(row_type), children, np.ones(len(rows), np.bool_))


def _null_where(
    values: Column, absent: "np.ndarray[tuple[int], np.dtype[np.bool_]]", field: DataField
) -> Column:
    """Set the values below null rows to null."""
    if not absent.any():
        return values
    if not field.type.nullable:
        msg = f"A field of a null ROW cannot be set, because field {field.name!r} is NOT NULL."
        raise InvalidInputError(msg, hint="Set the whole ROW.")
    indices = pa.array(np.arange(len(values)), pa.int64(), mask=absent)
    found: Column = values.take(indices)
    return found
