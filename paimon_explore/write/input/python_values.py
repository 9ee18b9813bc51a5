"""Columns of a table's types from single values of Python.

Values of one kind become an Arrow array of the type that they have (`python_values`), and that is
cast as all input is (`safe_cast`). Lists, maps and rows are taken apart, so that their parts are
treated alike and are named by path and row. Where Arrow converts values exactly or not at all, such
as integers for an INT column, they are converted at once.
"""

import datetime as dt
from collections.abc import Hashable, Iterable, Mapping, Sequence
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
    build_list,
    build_struct,
    offsets_from_sizes,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.default_values import default_column
from paimon_explore.data_types.definitions import (
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
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.write.input.arrow_cast import conform_at
from paimon_explore.write.input.python_arrays import UNFIT, array_of, is_missing, kind_of, own_array
from paimon_explore.write.input.row_kinds import INSERT, ROW_KIND
from paimon_explore.write.input.safe_cast import cast_hint
from paimon_explore.write.input.value_location import Location

COUNT = AtomicType(root=TypeRoot.INT, nullable=False)
"""Type of how often a multiset holds an element."""
Objects = np.ndarray[tuple[int], np.dtype[np.object_]]
"""NumPy's array of Python objects."""
_INSERT_TEXT = "+I"
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_TEXT_OR_BYTES = frozenset(
    {
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
        TypeRoot.BINARY,
        TypeRoot.VARBINARY,
        TypeRoot.BLOB,
    }
)
_PAIR = len(("key", "value"))
_NOTHING = type(None)
_DIRECT: Mapping[TypeRoot, frozenset[type]] = {
    TypeRoot.BOOLEAN: frozenset({bool, _NOTHING}),
    TypeRoot.TINYINT: frozenset({int, _NOTHING}),
    TypeRoot.SMALLINT: frozenset({int, _NOTHING}),
    TypeRoot.INT: frozenset({int, _NOTHING}),
    TypeRoot.BIGINT: frozenset({int, _NOTHING}),
    TypeRoot.DOUBLE: frozenset({float, _NOTHING}),
    TypeRoot.DECIMAL: frozenset({Decimal, _NOTHING}),
    TypeRoot.CHAR: frozenset({str, _NOTHING}),
    TypeRoot.VARCHAR: frozenset({str, _NOTHING}),
    TypeRoot.BINARY: frozenset({bytes, _NOTHING}),
    TypeRoot.VARBINARY: frozenset({bytes, _NOTHING}),
    TypeRoot.BLOB: frozenset({bytes, _NOTHING}),
    TypeRoot.DATE: frozenset({dt.date, _NOTHING}),
}
"""Types of Python whose values Arrow converts into a column's type exactly, or not at all."""


def default_of(field: DataField) -> Column:
    """The default value of a column, one value.

    Raises:
        InvalidInputError: its text is no value of the column's type.
    """
    try:
        return default_column(field.default_value or "", field.type)
    except UncastableError as error:
        raise InvalidInputError(
            f"The default value {field.default_value!r} of column {field.name!r} does not fit: "
            f"{error.reason}."
        ) from error


def column_of_rows(
    rows: Sequence[Mapping[str, object]], name: str, field: DataField | None, first_row: int
) -> Column:
    """One value per row; a row without the column gets the default value.

    Args:
        rows: by column.
        name: of the column.
        field: the column; None if the table does not have it.
        first_row: number of the first row, for messages.

    Raises:
        InvalidInputError: a value that does not fit, named by column and row.
    """
    if field is None:
        return _extra_column(rows, name)
    missing = None if field.default_value is None else default_of(field)[0].as_py()
    return column_of_values([row.get(name, missing) for row in rows], name, field.type, first_row)


def column_of_values(
    values: Sequence[object], name: str, data_type: DataType, first_row: int = 0
) -> Column:
    """Values as a column.

    Args:
        values: of Python, numpy or pandas.
        name: of the column, for messages.
        data_type: of the column. Nulls and lengths are not checked against it.
        first_row: number of the first value's row, for messages; -1 if they are not of rows.

    Raises:
        InvalidInputError: a value that does not fit, named by column and row.
    """
    row_of = None if first_row < 0 else lambda position: first_row + position
    return _column(values, data_type, Location(column=name, row_of=row_of))


def constant_column(value: object, field: DataField) -> Column:
    """A single value that the caller gives for a column, as one value of its type.

    Raises:
        InvalidInputError: it does not fit, or is null in a NOT NULL column.
    """
    found = column_of_values([value], field.name, field.type, first_row=-1)
    return conform_at(found, field.type, Location(column=field.name))


def direct_column(values: Sequence[object] | Objects, data_type: DataType) -> "Column | None":
    """Values that Arrow converts as they are, NaN being null; None if some need a closer look."""
    if not isinstance(data_type, AtomicType) or data_type.root in _FLOATS:
        return None
    kinds = set(map(type, values))
    if data_type.root in _TEXT_OR_BYTES:
        kinds.discard(float)  # only NaN passes Arrow there
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
        case MapType(key=key, value=item):
            return _map_column(values, data_type, (key, item), location)
        case MultisetType(element=element):
            return _map_column(values, data_type, (element, COUNT), location)
        case RowType():
            return _row_column(values, data_type, location)


# ---------------------------------------------------------------- single values


def _atomic_column(values: Sequence[object], data_type: AtomicType, location: Location) -> Column:
    target = to_arrow(data_type)
    root = data_type.root
    if set(map(type, values)) <= _DIRECT.get(root, frozenset()):
        try:
            direct: Column = pa.array(values, target)
        except UNFIT:
            pass  # the value that does not fit is found below
        else:
            return direct
    groups: dict[Hashable, list[int]] = {}
    for position, value in enumerate(values):
        if not is_missing(value, nan_counts=root in _FLOATS):
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
    places = np.full(len(values), sum(map(len, parts)), np.int64)
    places[[place for positions in groups.values() for place in positions]] = np.arange(
        sum(map(len, parts))
    )
    return take_rows(pa.concat_arrays([*parts, nulls]), places)


def _group_column(
    values: Sequence[object],
    positions: Sequence[int],
    kind: Hashable,
    data_type: AtomicType,
    location: Location,
) -> Column:
    """Values of one kind, none missing."""
    given = [values[position] for position in positions]
    here = location.chosen(positions, given)
    if data_type.root is TypeRoot.VARIANT:
        return _variants(given, data_type, here)
    if kind is None:
        raise _unknown(given[0], data_type, here)
    try:
        found = array_of(given, kind)
    except UNFIT as error:
        if len(given) == 1:
            raise _unfit(given[0], data_type, here, error) from error
        parts = [_group_column(values, [place], kind, data_type, location) for place in positions]
        return pa.concat_arrays(parts)
    if data_type.root in _FLOATS and pa.types.is_decimal(found.type):
        found = _large_integers(found, given, data_type, here)
    return conform_at(found, with_nullable(data_type, nullable=True), here)


def _large_integers(
    found: Column, given: Sequence[object], data_type: AtomicType, location: Location
) -> Column:
    """Integers beyond 64 bits as floats, which have to have them exactly; decimals as they are."""
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
            problem = f"{value!r} has no exact {data_type.root.value} value"
            raise location.refusal(problem, data_type, position, cast_hint(None, data_type))
    large: Column = pa.array(floats, pa.float64())
    return large


def _variants(given: Sequence[object], data_type: AtomicType, location: Location) -> Column:
    for position, value in enumerate(given):
        try:
            pa.array([value], to_arrow(data_type))
        except UNFIT as error:
            problem = f"{value!r} is not a variant: a row of value and metadata"
            raise location.refusal(problem, data_type, position) from error
    found: Column = pa.array(given, to_arrow(data_type))
    return found


def _unknown(value: object, data_type: AtomicType, location: Location) -> InvalidInputError:
    shown = location.shown(pa.nulls(1), 0)
    hint = (
        "Give its value: member.value." if isinstance(value, Enum) else cast_hint(None, data_type)
    )
    problem = f"{shown} of type {type(value).__name__} cannot be stored without a cast"
    return location.refusal(problem, with_nullable(data_type, nullable=True), 0, hint)


def _unfit(
    value: object, data_type: AtomicType, location: Location, error: Exception
) -> InvalidInputError:
    shown = location.shown(pa.nulls(1), 0)
    kind = with_nullable(data_type, nullable=True)
    if isinstance(value, int | Decimal):
        return location.refusal(f"{shown} is out of range", kind, 0)
    told = str(error).rstrip(".")
    return location.refusal(f"{shown} cannot be stored: {told}", kind, 0)


# ---------------------------------------------------------------- lists, maps, rows


def _present(values: Sequence[object]) -> Bools:
    return np.array([not is_missing(value, nan_counts=False) for value in values], np.bool_)


def _list_column(
    values: Sequence[object], data_type: DataType, element: DataType, location: Location
) -> Column:
    valid = _present(values)
    arrays = _numbers(values, valid)
    lists: Sequence[Numbers | list[object]] = arrays or [
        list(_listed(value, data_type, location, position)) if known else []
        for position, (value, known) in enumerate(zip(values, valid, strict=True))
    ]
    offsets = offsets_from_sizes(np.array([len(one) for one in lists], np.int64))
    inner = location.elements("[]", offsets)
    if arrays and isinstance(element, AtomicType):
        whole: Column = pa.array(np.concatenate(arrays), from_pandas=element.root not in _FLOATS)
        elements = conform_at(whole, with_nullable(element, nullable=True), inner)
    else:
        elements = _column([item for one in lists for item in one], element, inner)
    if isinstance(data_type, ArrayType):
        return build_list(to_arrow(data_type), offsets, [elements], valid)
    built = build_list(pa.list_(pa.field("item", elements.type)), offsets, [elements], valid)
    return conform_at(built, with_nullable(data_type, nullable=True), location)


def _numbers(values: Sequence[object], valid: Bools) -> list[Numbers]:
    """The values as NumPy's arrays of numbers of one type, empty for null; none if they are not."""
    found = [
        value
        for value in values
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iufb"
    ]
    if not found or len(found) < valid.sum() or len({array.dtype for array in found}) > 1:
        return []
    empty = found[0][:0]
    given = iter(found)
    return [next(given) if known else empty for known in valid]


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _listed(
    value: object, data_type: DataType, location: Location, position: int
) -> Iterable[object]:
    if not _is_list(value):
        raise location.refusal(f"{value!r} is not a list", data_type, position)
    return value


def _map_column(
    values: Sequence[object],
    data_type: DataType,
    parts: tuple[DataType, DataType],
    location: Location,
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
    key, item = parts
    keys = _column([pair[0] for pair in flat], key, location.elements("{key}", offsets))
    items = _column([pair[1] for pair in flat], item, location.elements("{value}", offsets))
    if keys.null_count:
        position = int((~valid_mask(keys)).argmax())
        raise location.elements("{key}", offsets).refusal("a key is null", None, position)
    target = to_arrow(data_type)
    entries = build_struct(target.field(0).type, [keys, items], np.ones(len(flat), np.bool_))
    return build_list(target, offsets, [entries], valid)


def _pairs(
    value: object, data_type: DataType, location: Location, position: int
) -> list[tuple[object, ...]]:
    given: Iterable[object] = value.items() if isinstance(value, Mapping) else ()
    if not isinstance(value, Mapping):
        if not _is_list(value):
            raise location.refusal(f"{value!r} is not a map", data_type, position)
        given = value
    pairs: list[tuple[object, ...]] = []
    for pair in given:
        if not _is_list(pair) or len(found := tuple(pair)) != _PAIR:
            problem = f"{pair!r} is not a pair of a key and a value"
            raise location.refusal(problem, data_type, position)
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
            hint = "A row is a dictionary of its fields."
            raise location.refusal(f"{value!r} is not a row", data_type, position, hint)
        value = {pair[0]: pair[1] for pair in pairs}
    unknown = [name for name in value if data_type.field(str(name)) is None]
    if unknown:
        problem = f"the row has no field {unknown[0]!r}; it has {choices(data_type.names)}"
        raise location.refusal(problem, None, position)
    return value


# ---------------------------------------------------------------- columns that the table lacks


def _extra_column(rows: Sequence[Mapping[str, object]], name: str) -> Column:
    """A column in the type of its values; a row that names no row kind is an insert."""
    absent: int | str | None = None
    if name == ROW_KIND:
        given = [row[name] for row in rows if name in row]
        absent = INSERT if all(isinstance(value, int) for value in given) else _INSERT_TEXT
    values = [row.get(name, absent) for row in rows]
    try:
        return own_array(values)
    except UNFIT as error:
        raise InvalidInputError(f"Column {name!r} mixes kinds of values: {error}.") from error
