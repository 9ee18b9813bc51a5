"""Values of Python, one by one, as Arrow columns of a table's types.

Arrow takes most of them as they are. What it does not know is put into its words first:
dictionaries that stand for maps, the missing values of pandas, numpy's points in time. Naive times
in a column with time zone are UTC, and times with a zone in a column without one become UTC, as
PyArrow has it.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.encoding.buffers import Column
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.types.arrow import to_arrow
from paimon_explore.types.cast_errors import UncastableError
from paimon_explore.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.types.default_values import default_column
from paimon_explore.write.input_cast import conform, is_castable
from paimon_explore.write.row_kinds import INSERT, ROW_KIND

COUNT = AtomicType(root=TypeRoot.INT, nullable=False)
"""Type of how often a multiset holds an element."""
_INSERT_TEXT = "+I"
_FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
_MISSING = frozenset({"NAType", "NaTType"})
"""Types of pandas, which is not imported here, for values that are not there."""
_UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


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
        data_type: of the column.
        first_row: number of the first value's row, for messages.

    Raises:
        InvalidInputError: a value that does not fit, named by column and row.
    """
    target = to_arrow(data_type)
    plain: list[object] = []
    for value in values:
        try:
            plain.append(_plain(value, data_type))
        except TypeError as error:
            row = first_row + len(plain)
            raise InvalidInputError(
                f"Column {name!r}, row {row}: {value!r} is no {target}: {error}."
            ) from error
    if isinstance(data_type, AtomicType) and data_type.root is TypeRoot.DATE:
        _check_days(plain, name, first_row)
    times = _times(plain, target)
    if times is not None:
        return conform(times, data_type, where=name, first_row=first_row)
    try:
        return pa.array(plain, target)
    except _UNFIT as error:
        present = [_present(value, data_type) for value in plain]
        found = _inferred(present, target)
        if found is not None:
            return conform(found, data_type, where=name, first_row=first_row)
        bad = _first_unfit(present, target)
        raise InvalidInputError(
            f"Column {name!r}, row {first_row + bad}: {present[bad]!r} is no {target}: {error}."
        ) from error


def _times(values: Sequence[object], target: pa.DataType) -> "Column | None":
    """Points in time in their own precision, of which Arrow would drop what the target lacks."""
    is_exact = isinstance(target, pa.TimestampType) and target.unit == "ns"
    if is_exact or not (pat.is_timestamp(target) or pat.is_time(target)):
        return None
    try:
        found: Column = pa.array(values)  # type: ignore[arg-type]  # any values
    except _UNFIT:
        return None
    if isinstance(found.type, pa.TimestampType) and isinstance(target, pa.TimestampType):
        return found.cast(pa.timestamp(found.type.unit, target.tz))
    return found if pat.is_time(found.type) and pat.is_time(target) else None


def _present(value: object, data_type: DataType) -> object:
    """The value in words of Arrow's."""
    if isinstance(value, np.datetime64):
        micros = value.astype("datetime64[us]")
        return micros.item() if micros == value or np.isnat(value) else value
    return None if _is_missing(value, data_type) else value


def _is_missing(value: object, data_type: DataType) -> bool:
    """Whether pandas would show nothing there."""
    if type(value).__name__ in _MISSING:
        return True
    is_float = isinstance(data_type, AtomicType) and data_type.root in _FLOATS
    return isinstance(value, float) and not is_float and value != value  # noqa: PLR0124  # not a number


def _inferred(values: Sequence[object], target: pa.DataType) -> "Column | None":
    """The values in the type that Arrow sees in them, if they can be cast from there."""
    for data_type in (target, None):
        try:
            found: Column = pa.array(values, data_type)  # type: ignore[arg-type]  # any values
        except _UNFIT:
            continue
        if is_castable(found.type, target):
            return found
    return None


def _check_days(values: Sequence[object], name: str, first_row: int) -> None:
    """Refuse points in time that are not midnight, of which Arrow would drop the time of day."""
    for row, value in enumerate(values):
        if isinstance(value, dt.datetime) and value.time() != dt.time():
            raise InvalidInputError(
                f"Column {name!r}, row {first_row + row}: {value!r} is no date: it has a time."
            )


def _extra_column(rows: Sequence[Mapping[str, object]], name: str) -> Column:
    """A column in the type of its values; a row that names no row kind is an insert."""
    absent: int | str | None = None
    if name == ROW_KIND:
        given = [row[name] for row in rows if name in row]
        absent = INSERT if all(isinstance(value, int) for value in given) else _INSERT_TEXT
    values = [row.get(name, absent) for row in rows]
    try:
        found: Column = pa.array(values)  # type: ignore[arg-type]  # any values
    except _UNFIT as error:
        raise InvalidInputError(f"Column {name!r} mixes kinds of values: {error}.") from error
    return found


def _first_unfit(values: Sequence[object], target: pa.DataType) -> int:
    for index, value in enumerate(values):
        try:
            pa.array([value], target)
        except _UNFIT:
            return index
    return 0


def _plain(value: object, data_type: DataType) -> object:
    """Dictionaries that stand for maps as pairs, which is how Arrow takes maps."""
    if isinstance(data_type, AtomicType):
        return value
    if value is None or _is_missing(value, data_type):
        return None
    match data_type:
        case ArrayType(element=element) | VectorType(element=element):
            return [_plain(item, element) for item in _listed(value)]
        case MapType(key=key, value=item):
            return _plain_pairs(value, key, item)
        case MultisetType(element=element):
            return _plain_pairs(value, element, COUNT)
        case RowType():
            return _plain_row(value, data_type) if isinstance(value, Mapping) else value


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)


def _listed(value: object) -> Iterable[object]:
    if not _is_list(value):
        msg = f"{value!r} is no list"
        raise TypeError(msg)
    return value


def _plain_pairs(value: object, key: DataType, item: DataType) -> object:
    given = value.items() if isinstance(value, Mapping) else _listed(value)
    pairs = [tuple(_listed(pair)) for pair in given]
    if any(len(pair) != len(("key", "value")) for pair in pairs):
        msg = "a map has pairs of keys and values"
        raise TypeError(msg)
    return [(_plain(k, key), _plain(v, item)) for k, v in pairs]


def _plain_row(value: Mapping[object, object], data_type: RowType) -> object:
    unknown = [name for name in value if data_type.field(str(name)) is None]
    if unknown:
        known = choices(data_type.names)
        raise InvalidInputError(f"A row has no field {unknown[0]!r}.", hint=f"It has {known}.")
    return {field.name: _plain(value.get(field.name), field.type) for field in data_type}
