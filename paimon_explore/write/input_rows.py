"""Whatever the caller has, as batches of exactly the table's columns.

Arrow data comes as it is; data frames come through the Arrow stream protocol, so that no data frame
library is imported here; rows as dictionaries are put into columns. Columns are matched by name.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import Column, build_struct
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.types.arrow import arrow_schema, to_arrow
from paimon_explore.types.cast_errors import UncastableError
from paimon_explore.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
)
from paimon_explore.types.default_values import default_column
from paimon_explore.write.input_cast import conform

BATCH_ROWS = 1 << 20
_INSERT_TEXT = "+I"
_INSERT_NUMBER = 0
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that gives its rows as an Arrow stream: pandas, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream, as a capsule of Arrow's C interface."""
        ...


Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = pa.Table | pa.RecordBatch | pa.RecordBatchReader | ArrowStream | Sequence[Row]
"""What can be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputShape:
    """What the rows of an input have to become.

    Attributes:
        row_type: the table's columns.
        extra: columns that may come besides, such as the row kind; they are passed on as they are.
    """

    row_type: RowType
    extra: frozenset[str] = frozenset()


def open_rows(data: Rows, shape: InputShape) -> Iterator[pa.RecordBatch]:
    """The rows in batches of the table's columns, in schema order and `to_arrow` types.

    A missing column gets its default value, or null. Extra columns of the shape come last, if the
    data has them, in the data's types.

    Args:
        data: the rows.
        shape: the table's columns and what else may come.

    Yields:
        Batches, none empty.

    Raises:
        InvalidInputError: an unknown column; a missing, null or unfit value, named by column and
            row; or data of a kind that cannot be written.
    """
    first_row = 0
    for batch in _batches(data, shape):
        if batch.num_rows:
            yield _conformed(batch, shape, first_row)
            first_row += batch.num_rows


def _batches(data: object, shape: InputShape) -> Iterator[pa.RecordBatch]:
    if isinstance(data, pa.RecordBatch):
        yield data
    elif isinstance(data, pa.Table):
        yield from data.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, pa.RecordBatchReader):
        yield from data
    elif isinstance(data, ArrowStream):
        yield from pa.RecordBatchReader.from_stream(data)
    elif isinstance(data, list | tuple) and all(isinstance(row, Mapping) for row in data):
        yield from _batches_of_rows(data, shape)
    else:
        raise InvalidInputError(
            f"Rows cannot be taken from a {type(data).__name__}.",
            hint="Give an Arrow table, batch or reader, a data frame, or a list of dictionaries.",
        )


def _conformed(batch: pa.RecordBatch, shape: InputShape, first_row: int) -> pa.RecordBatch:
    names = batch.schema.names
    _check_names(names, shape)
    columns: list[Column] = []
    for field in shape.row_type:
        if field.name in names:
            column = batch.column(names.index(field.name))
            columns.append(conform(column, field.type, where=field.name, first_row=first_row))
        else:
            columns.append(absent_column(field, batch.num_rows))
    schema = arrow_schema(shape.row_type)
    for name in sorted(shape.extra.intersection(names)):
        columns.append(batch.column(names.index(name)))
        schema = schema.append(batch.schema.field(name))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _check_names(names: Sequence[str], shape: InputShape) -> None:
    known = set(shape.row_type.names) | shape.extra
    unknown = [name for name in names if name not in known and not _PANDAS_INDEX.fullmatch(name)]
    if unknown:
        raise InvalidInputError(
            f"The table has no column {unknown[0]!r}.",
            hint=f"Its columns: {choices(shape.row_type.names)}.",
        )
    twice = {name for name in names if list(names).count(name) > 1}
    if twice:
        raise InvalidInputError(f"The data has two columns {min(twice)!r}.")


def absent_column(field: DataField, count: int) -> Column:
    """The values of a column that the data does not have.

    Raises:
        InvalidInputError: the column takes no null and has no default value.
    """
    if field.default_value is not None:
        value = default_of(field)
        return pa.concat_arrays([value]) if count == 1 else _repeated(value, count)
    if not field.type.nullable:
        raise InvalidInputError(
            f"Column {field.name!r} is missing, and it is NOT NULL without a default value."
        )
    nulls: Column = pa.nulls(count, to_arrow(field.type))  # type: ignore[call-overload]  # stubs list single types
    return nulls


def _repeated(value: Column, count: int) -> Column:
    return value.take(pa.repeat(pa.scalar(0, pa.int32()), count))


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


def _batches_of_rows(rows: Sequence[Row], shape: InputShape) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), BATCH_ROWS):
        part = rows[start : start + BATCH_ROWS]
        names = dict.fromkeys(name for row in part for name in row)
        _check_names(list(names), shape)
        columns = {
            name: _column_of(part, name, shape.row_type.field(name), start) for name in names
        }
        yield pa.RecordBatch.from_pydict(columns) if columns else _rows_without_columns(len(part))


def _rows_without_columns(count: int) -> pa.RecordBatch:
    shell = build_struct(pa.struct([]), [], np.ones(count, np.bool_))
    return pa.RecordBatch.from_struct_array(shell)  # type: ignore[arg-type]  # a struct array


def _column_of(rows: Sequence[Row], name: str, field: DataField | None, first_row: int) -> Column:
    """One value per row; a row without the column gets the default value."""
    if field is None:
        return _extra_column(rows, name)
    missing = None if field.default_value is None else default_of(field)[0].as_py()
    values = [_plain(row.get(name, missing), field.type) for row in rows]
    target = to_arrow(field.type)
    try:
        return pa.array(values, target)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        bad = _first_unfit(values, target)
        raise InvalidInputError(
            f"Column {name!r}, row {first_row + bad}: {values[bad]!r} is no {target}: {error}."
        ) from error


def _extra_column(rows: Sequence[Row], name: str) -> Column:
    """The row kinds: as texts or numbers; a row that names none is an insert."""
    given = [row[name] for row in rows if name in row]
    absent = _INSERT_NUMBER if all(isinstance(value, int) for value in given) else _INSERT_TEXT
    values = [row.get(name, absent) for row in rows]
    try:
        found: Column = pa.array(values)  # type: ignore[arg-type]  # any values
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(f"Column {name!r} mixes kinds of values: {error}.") from error
    return found


def _first_unfit(values: Sequence[object], target: pa.DataType) -> int:
    for index, value in enumerate(values):
        try:
            pa.array([value], target)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return index
    return 0


def _plain(value: object, data_type: DataType) -> object:
    """Dictionaries that stand for maps as pairs, which is how Arrow takes maps."""
    if value is None or isinstance(data_type, AtomicType):
        return value
    match data_type:
        case ArrayType(element=element) | VectorType(element=element):
            items = value if isinstance(value, Iterable) else ()
            return [_plain(item, element) for item in items]
        case MapType(key=key, value=item):
            return [(_plain(k, key), _plain(v, item)) for k, v in _pairs(value)]
        case MultisetType(element=element):
            return [(_plain(k, element), v) for k, v in _pairs(value)]
        case RowType() if isinstance(value, Mapping):
            unknown = [name for name in value if data_type.field(name) is None]
            if unknown:
                known = choices(data_type.names)
                raise InvalidInputError(
                    f"A row has no field {unknown[0]!r}.", hint=f"It has {known}."
                )
            return {f.name: _plain(value.get(f.name), f.type) for f in data_type}
        case _:
            return value


def _pairs(value: object) -> list[tuple[object, object]]:
    if isinstance(value, Mapping):
        return list(value.items())
    return [(key, item) for key, item in value] if isinstance(value, Iterable) else []
