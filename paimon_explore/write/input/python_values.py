"""Convert Python values to Arrow columns of a table's types.

Values of one kind become an Arrow array of their natural type (`python_arrays`), which is cast like
all other input (`safe_cast`). Lists, maps and rows are converted recursively, so that errors name
the path and row of a value. Where Arrow converts exactly or raises, such as integers for an INT
column, `pa.array` converts all values at once.
"""

import datetime as dt
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import TypeGuard

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Numbers,
    as_single,
    build_list,
    build_struct,
    offsets_from_sizes,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    TEXTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullable,
)
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.write.input.arrow_cast import conform_at
from paimon_explore.write.input.python_arrays import UNFIT, array_of, is_missing, kind_of, own_array
from paimon_explore.write.input.row_kinds import INSERT, ROW_KIND
from paimon_explore.write.input.safe_cast import NAN_HINT, cast_hint
from paimon_explore.write.input.value_location import Location
from paimon_explore.write.input.variant_values import variants_of_python

ConvertValues = Callable[[Sequence[object], str, DataType, int], Column]
"""Converts the values of a column, given its name, its type and the number of the first row."""
Objects = np.ndarray[tuple[int], np.dtype[np.object_]]
"""NumPy array of Python objects."""
_INSERT_TEXT = "+I"
_TEXT_OR_BYTES = TEXTS | BYTES | {TypeRoot.BLOB}
_PAIR = len(("key", "value"))
_NONE_TYPE = type(None)
_DIRECT: Mapping[TypeRoot, frozenset[type]] = {
    TypeRoot.BOOLEAN: frozenset({bool, _NONE_TYPE}),
    TypeRoot.TINYINT: frozenset({int, _NONE_TYPE}),
    TypeRoot.SMALLINT: frozenset({int, _NONE_TYPE}),
    TypeRoot.INT: frozenset({int, _NONE_TYPE}),
    TypeRoot.BIGINT: frozenset({int, _NONE_TYPE}),
    TypeRoot.DOUBLE: frozenset({float, _NONE_TYPE}),
    TypeRoot.DECIMAL: frozenset({Decimal, _NONE_TYPE}),
    TypeRoot.CHAR: frozenset({str, _NONE_TYPE}),
    TypeRoot.VARCHAR: frozenset({str, _NONE_TYPE}),
    TypeRoot.BINARY: frozenset({bytes, _NONE_TYPE}),
    TypeRoot.VARBINARY: frozenset({bytes, _NONE_TYPE}),
    TypeRoot.BLOB: frozenset({bytes, _NONE_TYPE}),
    TypeRoot.DATE: frozenset({dt.date, _NONE_TYPE}),
}
"""Python types whose values Arrow converts to a column's type exactly, or raises."""


def default_of(field: DataField) -> Column:
    """Return the default value of a column as an array of one value.

    Raises:
        InvalidInputError: the default value cannot be parsed as the column's type.
    """
    try:
        return default_column(field.default_value or "", field.type)
    except UncastableError as error:
        raise InvalidInputError(
            f"The default value {field.default_value!r} of column {field.name!r} is invalid: "
            f"{error.reason}."
        ) from error


def column_of_rows(
    rows: Sequence[Mapping[str, object]],
    name: str,
    field: DataField | None,
    first_row: int,
    convert: ConvertValues | None = None,
) -> Column:
    """Convert one column of rows; a row without the column gets the default value.

    Args:
        rows: values by column name.
        name: name of the column.
        field: the column; None if the table does not have it.
        first_row: number of the first row, for error messages.
        convert: converts the values of the column; None for `column_of_values`.

    Raises:
        InvalidInputError: a value does not fit; the error names its column and row.
    """
    if field is None:
        return _extra_column(rows, name)
    missing = None if field.default_value is None else default_of(field)[0].as_py()
    values = [row.get(name, missing) for row in rows]
    return (convert or column_of_values)(values, name, field.type, first_row)


def column_of_values(
    values: Sequence[object], name: str, data_type: DataType, first_row: int = 0
) -> Column:
    """Convert values to a column of a table's type.

    Args:
        values: Python, NumPy or pandas values.
        name: name of the column, for error messages.
        data_type: the column's type. Nulls and lengths are not checked against it.
        first_row: row number of the first value, for error messages; -1 if there are no rows.

    Raises:
        InvalidInputError: a value does not fit; the error names its column and row.
        pa.ArrowCapacityError: the values take more than an array can have.
    """
    row_of = None if first_row < 0 else lambda position: first_row + position
    return _column(values, data_type, Location(column=name, row_of=row_of))


def constant_column(value: object, field: DataField) -> Column:
    """Convert a single value to an array of one value of a column's type.

    Raises:
        InvalidInputError: the value does not fit, or is null in a NOT NULL column.
    """
    found = column_of_values([value], field.name, field.type, first_row=-1)
    return conform_at(found, field.type, Location(column=field.name))


def direct_column(values: Sequence[object] | Objects, data_type: DataType) -> "Column | None":
    """Convert objects of pandas with Arrow, NaN as null; None if that is not exact."""
    if not isinstance(data_type, AtomicType) or data_type.root in FLOATS:
        return None
    kinds = set(map(type, values))
    if data_type.root in _TEXT_OR_BYTES:
        kinds.discard(float)  # Arrow accepts only NaN there
    if not kinds <= _DIRECT.get(data_type.root, frozenset()):
        return None
    try:
        found: Column = pa.array(values, to_arrow(data_type), from_pandas=True)
    except UNFIT:
        return None
    return found


def _column(values: Sequence[object], data_type: DataType, location: Location) -> Column:
    match data_type:
        case AtomicType():
            return _atomic_column(values, data_type, location)
        case ArrayType(element=element) | VectorType(element=element):
            return _list_column(values, data_type, element, location)
        case MapType() | MultisetType():
            return _map_column(values, data_type, location)
        case RowType():
            return _row_column(values, data_type, location)


# ---------------------------------------------------------------- single values


def _atomic_column(values: Sequence[object], data_type: AtomicType, location: Location) -> Column:
    target = to_arrow(data_type)
    root = data_type.root
    if set(map(type, values)) <= _DIRECT.get(root, frozenset()):
        try:
            direct = pa.array(values, target)
        except UNFIT:
            pass  # the code below finds the value that does not fit
        else:
            return as_single(direct)
    groups: dict[Hashable, list[int]] = {}
    for position, value in enumerate(values):
        if not is_missing(value):
            groups.setdefault(kind_of(value), []).append(position)
    parts = [
        _group_column(values, positions, kind, data_type, location)
        for kind, positions in groups.items()
    ]
    nulls: Column = pa.nulls(1, target)  # type: ignore[call-overload]  # stubs list single types
    if not parts:
        return take_rows(nulls, np.zeros(len(values), np.int64))
    if len(parts) == 1 and len(parts[0]) == len(values):
        return parts[0]
    count = sum(map(len, parts))
    indices = np.full(len(values), count, np.int64)
    indices[[position for positions in groups.values() for position in positions]] = np.arange(
        count
    )
    return take_rows(pa.concat_arrays([*parts, nulls]), indices)


def _group_column(
    values: Sequence[object],
    positions: Sequence[int],
    kind: Hashable,
    data_type: AtomicType,
    location: Location,
) -> Column:
    """Convert values of one kind, none missing."""
    given = [values[position] for position in positions]
    here = location.at(positions, given)
    if data_type.root is TypeRoot.VARIANT:
        return variants_of_python(given, data_type, here)
    if kind is None:
        raise _unknown(given[0], data_type, here)
    try:
        found = array_of(given, kind)
    except UNFIT as error:
        if len(given) == 1:
            raise _unfit(given[0], data_type, here, error) from error
        return pa.concat_arrays(
            [_group_column(values, [position], kind, data_type, location) for position in positions]
        )
    found = as_single(found)
    if data_type.root in FLOATS and pa.types.is_decimal(found.type):
        found = _large_integers(found, given, data_type, here)
    return conform_at(found, with_nullable(data_type, nullable=True), here)


def _large_integers(
    found: Column, given: Sequence[object], data_type: AtomicType, location: Location
) -> Column:
    """Convert integers beyond 64 bits to floats, if exact; return decimals unchanged."""
    floats: list[float] = []
    for position, value in enumerate(given):
        if not isinstance(value, int):
            return found
        try:
            floats.append(float(value))
            is_same = int(floats[-1]) == value
        except OverflowError:
            is_same = False
        if not is_same:
            problem = f"{value!r} cannot be represented exactly as {data_type.root.value}"
            raise location.error(problem, data_type, position, cast_hint(None, data_type))
    large: Column = pa.array(floats, pa.float64())
    return large


def _unknown(value: object, data_type: AtomicType, location: Location) -> InvalidInputError:
    shown = location.value_text(pa.nulls(1), 0)
    hint = (
        "Pass the value of the enum member: member.value."
        if isinstance(value, Enum)
        else cast_hint(None, data_type)
    )
    problem = f"{shown} of type {type(value).__name__} cannot be stored without a cast"
    return location.error(problem, with_nullable(data_type, nullable=True), 0, hint)


def _unfit(
    value: object, data_type: AtomicType, location: Location, error: Exception
) -> InvalidInputError:
    shown = location.value_text(pa.nulls(1), 0)
    kind = with_nullable(data_type, nullable=True)
    if isinstance(value, int | Decimal):
        return location.error(f"{shown} is out of range", kind, 0)
    reason = str(error).rstrip(".")
    return location.error(f"{shown} cannot be stored: {reason}", kind, 0)


# ---------------------------------------------------------------- lists, maps, rows


def _hint(value: object, other: str = "") -> str:
    """Return the hint for NaN, or another one if a value is not NaN."""
    is_nan = isinstance(value, float | np.floating) and value != value  # noqa: PLR0124  # not a number
    return NAN_HINT if is_nan else other


def _present(values: Sequence[object]) -> Bools:
    return np.array([not is_missing(value) for value in values], np.bool_)


def _list_column(
    values: Sequence[object], data_type: DataType, element: DataType, location: Location
) -> Column:
    valid = _present(values)
    arrays = _numbers(values, valid)
    lists: Sequence[Numbers | list[object]] = arrays or [
        list(_checked_list(value, data_type, location, position)) if is_valid else []
        for position, (value, is_valid) in enumerate(zip(values, valid, strict=True))
    ]
    offsets = offsets_from_sizes(np.array([len(one) for one in lists], np.int64))
    inner = location.elements("[]", offsets)
    if arrays and isinstance(element, AtomicType):
        values_array: Column = pa.array(np.concatenate(arrays))
        elements = conform_at(values_array, with_nullable(element, nullable=True), inner)
    else:
        elements = _column([item for one in lists for item in one], element, inner)
    if isinstance(data_type, ArrayType):
        return build_list(to_arrow(data_type), offsets, [elements], valid)
    built = build_list(pa.list_(pa.field("item", elements.type)), offsets, [elements], valid)
    return conform_at(built, with_nullable(data_type, nullable=True), location)


def _numbers(values: Sequence[object], valid: Bools) -> list[Numbers]:
    """Return the values as NumPy arrays of one number type, empty for null; [] if they are not."""
    found = [
        value
        for value in values
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iufb"
    ]
    if not found or len(found) < valid.sum() or len({array.dtype for array in found}) > 1:
        return []
    empty = found[0][:0]
    given = iter(found)
    return [next(given) if is_valid else empty for is_valid in valid]


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _checked_list(
    value: object, data_type: DataType, location: Location, position: int
) -> Iterable[object]:
    if not _is_list(value):
        raise location.error(f"{value!r} is not a list", data_type, position, _hint(value))
    return value


def _map_column(
    values: Sequence[object], data_type: MapType | MultisetType, location: Location
) -> Column:
    valid = _present(values)
    flat: list[tuple[object, ...]] = []
    sizes = np.zeros(len(values), np.int64)
    for position, value in enumerate(values):
        if valid[position]:
            before = len(flat)
            flat += _pairs(value, data_type, location, position)
            sizes[position] = len(flat) - before
    offsets = offsets_from_sizes(sizes)
    key, item = entry_types(data_type)
    keys = _column([pair[0] for pair in flat], key, location.elements("{key}", offsets))
    items = _column([pair[1] for pair in flat], item, location.elements("{value}", offsets))
    if keys.null_count:
        position = int((~valid_mask(keys)).argmax())
        raise location.elements("{key}", offsets).error(
            "a map key must not be null", None, position
        )
    target = to_arrow(data_type)
    entries = build_struct(target.field(0).type, [keys, items], np.ones(len(flat), np.bool_))
    return build_list(target, offsets, [entries], valid)


def _pairs(
    value: object, data_type: DataType, location: Location, position: int
) -> list[tuple[object, ...]]:
    given: Iterable[object] = value.items() if isinstance(value, Mapping) else ()
    if not isinstance(value, Mapping):
        if not _is_list(value):
            raise location.error(f"{value!r} is not a map", data_type, position, _hint(value))
        given = value
    pairs: list[tuple[object, ...]] = []
    for pair in given:
        if not _is_list(pair) or len(found := tuple(pair)) != _PAIR:
            problem = f"{pair!r} is not a pair of a key and a value"
            raise location.error(problem, data_type, position)
        pairs.append(found)
    return pairs


def _row_column(values: Sequence[object], data_type: RowType, location: Location) -> Column:
    valid = _present(values)
    rows: list[Mapping[object, object]] = []
    for position, value in enumerate(values):
        rows.append(_row(value, data_type, location, position) if valid[position] else {})
    children = [
        _column([row.get(field.name) for row in rows], field.type, location.part(f".{field.name}"))
        for field in data_type
    ]
    return build_struct(to_arrow(data_type), children, valid)


def _row(
    value: object, data_type: RowType, location: Location, position: int
) -> Mapping[object, object]:
    if not isinstance(value, Mapping):
        pairs = [tuple(pair) for pair in value if _is_list(pair)] if isinstance(value, list) else []
        if not pairs or any(len(pair) != _PAIR for pair in pairs):
            hint = _hint(value, "Pass a row as a dictionary of field names and values.")
            raise location.error(f"{value!r} is not a row", data_type, position, hint)
        value = {pair[0]: pair[1] for pair in pairs}
    unknown = [name for name in value if data_type.field(str(name)) is None]
    if unknown:
        problem = (
            f"the ROW type has no field {unknown[0]!r}; its fields are {choices(data_type.names)}"
        )
        raise location.error(problem, None, position)
    return value


# ---------------------------------------------------------------- columns that the table lacks


def _extra_column(rows: Sequence[Mapping[str, object]], name: str) -> Column:
    """Convert a column that the table lacks by its values; a missing row kind means insert."""
    absent: int | str | None = None
    if name == ROW_KIND:
        given = [row[name] for row in rows if name in row]
        absent = INSERT if all(isinstance(value, int) for value in given) else _INSERT_TEXT
    values = [row.get(name, absent) for row in rows]
    try:
        return own_array(values)
    except UNFIT as error:
        raise mixed_types(name, error) from error


def mixed_types(name: str, error: Exception) -> InvalidInputError:
    """Return the error that the values of a column have no common type."""
    return InvalidInputError(f"Column {name!r} mixes values of different types: {error}.")
