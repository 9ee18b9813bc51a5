"""Convert every accepted form of input rows to Arrow record batches.

| input | conversion |
| --- | --- |
| Arrow table, batch, reader | unchanged |
| pandas data frame | object columns by the table's types, other columns as Arrow converts them |
| object with an Arrow C stream (polars, DuckDB, a `Table`) | its batches |
| pyarrow dataset or scanner | its batches |
| dictionary | columns by name |
| list or generator of dictionaries | one row per dictionary |
| list or generator of tables, batches, data frames | concatenated |

Missing values of pandas and polars are null: NaN of pandas, as it has no other missing number.
NaN of Python, NumPy, Arrow and polars is a number, which only FLOAT and DOUBLE can store.

No data frame library is imported here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Protocol, TypeGuard, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.array_sizes import within_size
from paimon_explore.data_types.arrow_buffers import Column, rows_without_columns
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.data_types.object_columns import (
    check_object_columns,
    check_pandas_types,
    is_of_package,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.python_arrays import datetimes
from paimon_explore.write.input.python_values import (
    ConvertValues,
    column_of_rows,
    column_of_values,
    direct_column,
)

if TYPE_CHECKING:
    import pandas as pd

BATCH_ROWS = 1 << 20
_HINT = (
    "Pass an Arrow table, batch or reader, a data frame, a dictionary of columns, or a list of "
    "dictionaries."
)
_Value = TypeVar("_Value")
_Part = TypeVar("_Part")
_UNREADABLE = (pa.ArrowException, TypeError, ValueError)


@runtime_checkable
class ArrowStream(Protocol):
    """An object that exports its rows as an Arrow C stream: pandas, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the stream as a PyCapsule of the Arrow C interface."""


@runtime_checkable
class _Computed(ArrowStream, Protocol):
    """Rows that are computed whenever they are read: a `Table`, a scan, an SQL query."""

    def to_batches(self) -> pa.RecordBatchReader: ...


@runtime_checkable
class _Scanner(Protocol):
    """A pyarrow.dataset scanner."""

    def to_reader(self) -> pa.RecordBatchReader: ...


@runtime_checkable
class _Dataset(Protocol):
    """A pyarrow.dataset dataset."""

    def scanner(self) -> _Scanner: ...


@runtime_checkable
class _Lazy(Protocol):
    """A lazy data frame, which has to be computed first."""

    def collect(self) -> object: ...


def is_repeatable(data: object) -> bool:
    """Return whether rows can be read again, so that a write can be planned again.

    >>> is_repeatable([{"id": 1}]), is_repeatable(iter([{"id": 1}]))
    (True, False)
    """
    return isinstance(data, Sized | _Computed)


CheckNames = Callable[[Sequence[str]], None]
"""Raises if the table does not have one of the columns."""


def batches_of(
    data: object,
    row_type: RowType,
    check: CheckNames,
    convert: ConvertValues = column_of_values,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows as record batches that have the columns of the data.

    Args:
        data: rows in one of the accepted forms.
        row_type: the table's columns; their types decide how Python values are converted.
        check: called with the column names before their values are converted.
        convert: converts the Python values of one of the table's columns.

    Raises:
        InvalidInputError: the form is not accepted, or a value does not fit.
    """
    for batch in _unchecked_batches(data, row_type, check, convert):
        check_pandas_types(batch.schema)
        yield from within_size(batch)


def _unchecked_batches(
    data: object, row_type: RowType, check: CheckNames, convert: ConvertValues
) -> Iterator[pa.RecordBatch]:
    if isinstance(data, pa.RecordBatch):
        yield data
    elif isinstance(data, pa.Table):
        yield from data.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, pa.RecordBatchReader):
        yield from data
    elif is_frame(data):
        table = _table_of_frame(data, row_type, check, convert)
        yield from table.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, ArrowStream):
        yield from _streamed(data)
    elif isinstance(data, _Scanner):
        yield from data.to_reader()
    elif isinstance(data, _Dataset):
        yield from data.scanner().to_reader()
    elif isinstance(data, Mapping):
        table = _table_of_columns(data, row_type, check, convert)
        yield from table.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | np.ndarray):
        yield from _of_parts(data, row_type, check, convert)
    else:
        hint = "Call collect() first." if isinstance(data, _Lazy) else _HINT
        raise InvalidInputError(
            f"Cannot read rows from a value of type {type(data).__name__}.", hint=hint
        )


def _streamed(data: ArrowStream) -> pa.RecordBatchReader:
    if isinstance(data, _Computed):
        return data.to_batches()
    check_object_columns(data)
    try:
        return pa.RecordBatchReader.from_stream(data)
    except _UNREADABLE as error:
        reason = str(error).rstrip(".")
        msg = f"Cannot read rows from this {type(data).__name__}: {reason}."
        raise InvalidInputError(msg, hint=_HINT) from error


def _of_parts(
    parts: Iterable[object], row_type: RowType, check: CheckNames, convert: ConvertValues
) -> Iterator[pa.RecordBatch]:
    """Yield batches of single rows, or of tables, batches and data frames, in order."""
    row_count, rows = 0, list[Mapping[str, object]]()
    for part in parts:
        if isinstance(part, Mapping):
            rows.append(part)
            if len(rows) < BATCH_ROWS:
                continue
        if rows:
            yield from _batches_of_rows(rows, row_type, check, convert, row_count)
            row_count, rows = row_count + len(rows), []
        if isinstance(part, Mapping):
            continue
        if isinstance(part, Sequence | str | bytes):
            raise InvalidInputError(
                f"Row {row_count} is a {type(part).__name__}, which has no column names.",
                hint=_HINT,
            )
        for batch in batches_of(part, row_type, check, convert):
            row_count += batch.num_rows
            yield batch
    if rows:
        yield from _batches_of_rows(rows, row_type, check, convert, row_count)


def _batches_of_rows(
    rows: Sequence[Mapping[str, object]],
    row_type: RowType,
    check: CheckNames,
    convert: ConvertValues,
    first_row: int,
) -> Iterator[pa.RecordBatch]:
    names = dict.fromkeys(name for row in rows for name in row)
    check(list(names))

    def converted(some: Sequence[Mapping[str, object]], first: int) -> pa.RecordBatch:
        columns = {
            name: column_of_rows(some, name, row_type.field(name), first, convert) for name in names
        }
        return pa.RecordBatch.from_pydict(columns) if columns else rows_without_columns(len(some))

    yield from _in_parts(rows, converted, first_row)


def _in_parts(
    values: Sequence[_Value], convert: Callable[[Sequence[_Value], int], _Part], first: int = 0
) -> Iterator[_Part]:
    """Convert values, in halves if they take more than an Arrow array can have."""
    try:
        part = convert(values, first)
    except pa.ArrowCapacityError as error:
        half = len(values) // 2
        if not half:
            raise InvalidInputError(f"Row {first} is larger than 2 GiB: {error}.") from error
    else:
        yield part
        return
    yield from _in_parts(values[:half], convert, first)
    yield from _in_parts(values[half:], convert, first + half)


# ---------------------------------------------------------------- columns


def _table_of_columns(
    columns: Mapping[str, object], row_type: RowType, check: CheckNames, convert: ConvertValues
) -> pa.Table:
    check(list(columns))
    found = {
        name: _given_column(values, name, row_type.field(name), convert)
        for name, values in columns.items()
    }
    sizes = {name: len(column) for name, column in found.items()}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name!r} has {size} rows" for name, size in sizes.items())
        raise InvalidInputError(f"The columns have different lengths: {lengths}.")
    return pa.table(found)  # type: ignore[arg-type]  # takes chunked columns, too


def _given_column(
    values: object, name: str, field: DataField | None, convert: ConvertValues
) -> "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]":
    """Convert a column of a dictionary, which may be any sequence of values."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if field is not None and _is_series(values) and values.dtype == np.object_:
        return _objects(values, name, field.type, convert)
    check_object_columns(values, name)
    try:
        made = _typed_column(values)
    except _UNREADABLE as error:
        raise InvalidInputError(
            f"Column {name!r} cannot be converted to Arrow: {error}."
        ) from error
    if made is not None:
        return made
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"Column {name!r} must be a list of values, not {values!r}.",
            hint="Pass a list for each column, or pass a single row as [{...}].",
        )
    if field is None:
        return column_of_rows([{name: value} for value in values], name, None, 0)
    return _converted(list(values), name, field.type, convert)


def _converted(
    values: Sequence[object], name: str, data_type: DataType, convert: ConvertValues
) -> "pa.ChunkedArray[pa.Scalar[pa.DataType]]":
    def column(some: Sequence[object], first: int) -> Column:
        return convert(some, name, data_type, first)

    return pa.chunked_array([*_in_parts(values, column)])


def _typed_column(values: object) -> "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]] | None":
    """Convert a series or a NumPy array; None for other values, and arrays of Python objects."""
    if _is_series(values):  # in pandas 2, it is no stream
        return pa.Array.from_pandas(values)
    if isinstance(values, ArrowStream):  # a series of polars
        return pa.chunked_array(values)  # type: ignore[call-overload,no-any-return]  # takes a stream, too
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return None
    if values.dtype.kind == "M":
        return datetimes(values)
    if values.dtype.kind not in "biufmSU":
        return None
    made: Column = pa.array(values)
    return made


# ---------------------------------------------------------------- pandas


def is_frame(data: object) -> "TypeGuard[pd.DataFrame]":
    """Whether it is a pandas data frame or a subclass of one."""
    return is_of_package(data, "pandas", "DataFrame")


def _is_series(data: object) -> "TypeGuard[pd.Series[str]]":
    """Whether it is a pandas series or a subclass of one."""
    return is_of_package(data, "pandas", "Series")


def with_index_columns(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame with the named levels of its index as columns; Arrow omits those of ranges.

    Integers without a name are row numbers, which are not stored.

    Raises:
        InvalidInputError: a level of other values has no name, or the name of a column with other
            values.
    """
    columns = list(frame.columns)
    new: list[int] = []
    for at, name in enumerate(frame.index.names):
        level = frame.index.get_level_values(at)
        if name is None and len(level) and level.dtype.kind not in "iu":
            raise InvalidInputError(
                f"The index of the data frame has values of type {level.dtype}, but no name.",
                hint="Name it to store it as a column, df.rename_axis('name'), or remove it: "
                "df.reset_index(drop=True).",
            )
        if name is not None and name not in columns:
            new.append(at)
        elif (
            name is not None
            and columns.count(name) == 1
            and not frame.set_index(name).index.equals(level)
        ):
            raise InvalidInputError(
                f"The index of the data frame is named {name!r}, as a column with other values.",
                hint="Rename it, df.rename_axis('name'), or remove it: df.reset_index(drop=True).",
            )
    return frame.reset_index(level=new) if new else frame


def _table_of_frame(
    frame: "pd.DataFrame", row_type: RowType, check: CheckNames, convert: ConvertValues
) -> pa.Table:
    """Convert object columns by the table's types; Arrow would have to infer them."""
    frame = with_index_columns(frame)
    if not frame.columns.is_unique:
        duplicate = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInputError(f"The data has two columns named {duplicate!r}.")
    objects = [
        name
        for name, dtype in frame.dtypes.items()
        if isinstance(name, str) and dtype == np.object_ and row_type.field(name) is not None
    ]
    rest = _streamed(frame.drop(columns=objects)).read_all()
    check([*rest.schema.names, *objects])
    columns = dict(zip(rest.schema.names, rest.columns, strict=True)) | {
        name: _objects(frame[name], name, field.type, convert)
        for name in objects
        if (field := row_type.field(name)) is not None
    }
    return pa.table(columns)  # type: ignore[arg-type]  # takes chunked columns, too


def _objects(
    series: "pd.Series[str]", name: str, data_type: DataType, convert: ConvertValues
) -> "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]":
    direct = direct_column(series.to_numpy(), data_type)
    if direct is not None:
        return direct
    is_valid = series.notna().to_numpy()
    values = series.to_list()
    found = [value if valid else None for value, valid in zip(values, is_valid, strict=True)]
    return _converted(found, name, data_type, convert)
