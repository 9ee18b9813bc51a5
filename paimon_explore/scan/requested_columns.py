"""Projection: the columns, and the fields of ROW columns, that a read returns."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.errors import InvalidInputError, choices, suggestion

_Path = tuple[str, ...]


def project(names: Sequence[str], row_type: RowType) -> RowType:
    """The row type with only some columns, or some fields of ROW columns.

    A dot leads into a ROW column unless a column has that very name. Names match exactly, or
    without regard to case if only one column does. The fields of one ROW column stay one column,
    which has the position of the first of them and its fields in the order of the schema.

    Args:
        names: columns in result order, such as `"id"` and `"address.city"`.
        row_type: the columns to choose from.

    Raises:
        InvalidInputError: an unknown or ambiguous name, or one that is given twice.
    """
    paths = [_path(name, row_type) for name in names]
    _check_repeated(paths, names)
    columns: dict[str, list[_Path]] = {}
    for path in paths:
        columns.setdefault(path[0], []).append(path[1:])
    known = {field.name: field for field in row_type}
    return RowType(fields=tuple(_narrowed(known[name], rest) for name, rest in columns.items()))


def _path(name: str, row_type: RowType) -> _Path:
    if row_type.field(name) is not None:
        return (name,)
    lowered = {name.lower(), name.partition(".")[0].lower()}
    if not any(field.name.lower() in lowered for field in row_type):
        raise InvalidInputError(
            f"The table has no column {name!r}.",
            hint=f"{suggestion(name, row_type.names)}Columns: {choices(row_type.names)}.",
        )
    from paimon_explore.scan.predicate.binder import resolve  # noqa: PLC0415 - for few reads

    return resolve((name,), row_type)[0]


def _check_repeated(paths: Sequence[_Path], names: Sequence[str]) -> None:
    for at, path in enumerate(paths):
        if path in paths[:at]:
            msg = f"Column {names[at]!r} is selected twice."
            raise InvalidInputError(msg, hint="Name each column once.")


def _narrowed(field: DataField, paths: Iterable[_Path]) -> DataField:
    """The field with only the members at the paths; an empty path selects all of it."""
    wanted: dict[str, list[_Path]] = {}
    for path in paths:
        if not path:
            return field
        wanted.setdefault(path[0], []).append(path[1:])
    if not isinstance(field.type, RowType):
        return field
    members = [_narrowed(m, wanted[m.name]) for m in field.type if m.name in wanted]
    return replace(field, type=replace(field.type, fields=tuple(members)))


def projected_columns(
    columns: Iterable[Column], source: Iterable[DataField], target: Iterable[DataField]
) -> list[Column]:
    """Columns without the fields of ROW columns that the target does not have."""
    from paimon_explore.data_types.casts.cast_column import cast_column  # noqa: PLC0415 - for few reads

    return [
        column if before.type == after.type else cast_column(column, before.type, after.type)
        for column, before, after in zip(columns, source, target, strict=True)
    ]
