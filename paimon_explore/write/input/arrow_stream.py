"""The forms in which callers have rows, as record batches.

| form | becomes |
| --- | --- |
| Arrow table, batch, reader | as it is |
| data frame of pandas | columns of Python objects by the table's types, else as Arrow sees them |
| anything with an Arrow stream (polars, DuckDB, a table of ours) | its batches |
| dataset or scanner of pyarrow | its batches |
| dictionary | columns by name |
| list or generator of dictionaries | a row each |
| list or generator of tables, batches, data frames | one after the other |

No data frame library is imported here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, build_struct
from paimon_explore.data_types.definitions import DataField, DataType, RowType, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError
from paimon_explore.write.input.python_arrays import datetimes
from paimon_explore.write.input.python_values import column_of_rows, column_of_values, direct_column

if TYPE_CHECKING:
    import pandas as pd

BATCH_ROWS = 1 << 20
_HINT = (
    "Give an Arrow table, batch or reader, a data frame, a dictionary of columns, or a list of "
    "dictionaries."
)
_FLOATS = (TypeRoot.FLOAT, TypeRoot.DOUBLE)
_UNREADABLE = (pa.ArrowException, TypeError, ValueError)


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that gives its rows as an Arrow stream: pandas, polars, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream, as a capsule of Arrow's C interface."""
        ...


@runtime_checkable
class _Scanner(Protocol):
    """A scanner of pyarrow.dataset."""

    def to_reader(self) -> pa.RecordBatchReader: ...


@runtime_checkable
class _Dataset(Protocol):
    """A dataset of pyarrow.dataset."""

    def scanner(self) -> _Scanner: ...


@runtime_checkable
class _Lazy(Protocol):
    """A frame that is yet to be computed."""

    def collect(self) -> object: ...


CheckNames = Callable[[Sequence[str]], None]
"""Refuses columns that the table does not have."""


def batches_of(data: object, row_type: RowType, check: CheckNames) -> Iterator[pa.RecordBatch]:
    """The rows in batches; the columns are those of the data.

    Args:
        data: one of the forms.
        row_type: the table's columns, which say what Python's values mean.
        check: is asked about names of columns before their values are looked at.

    Raises:
        InvalidInputError: data of another form, or a value that does not fit.
    """
    if isinstance(data, pa.RecordBatch):
        yield data
    elif isinstance(data, pa.Table):
        yield from data.to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, pa.RecordBatchReader):
        yield from data
    elif _is_frame(data):
        yield from _table_of_frame(data, row_type, check).to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, ArrowStream):
        yield from _streamed(data)
    elif isinstance(data, _Scanner):
        yield from data.to_reader()
    elif isinstance(data, _Dataset):
        yield from data.scanner().to_reader()
    elif isinstance(data, Mapping):
        yield from _table_of_columns(data, row_type, check).to_batches(max_chunksize=BATCH_ROWS)
    elif isinstance(data, Iterable) and not isinstance(data, str | bytes | np.ndarray):
        yield from _of_parts(data, row_type, check)
    else:
        hint = "Compute it first, with collect()." if isinstance(data, _Lazy) else _HINT
        raise InvalidInputError(
            f"Rows cannot be taken from a value of type {type(data).__name__}.", hint=hint
        )


def _streamed(data: ArrowStream) -> pa.RecordBatchReader:
    try:
        return pa.RecordBatchReader.from_stream(data)
    except _UNREADABLE as error:
        told = str(error).rstrip(".")
        msg = f"Rows cannot be taken from this {type(data).__name__}: {told}."
        raise InvalidInputError(msg, hint=_HINT) from error


def _of_parts(
    parts: Iterable[object], row_type: RowType, check: CheckNames
) -> Iterator[pa.RecordBatch]:
    """Rows, or whole parts of the data, one after the other."""
    taken, rows = 0, list[Mapping[str, object]]()
    for part in parts:
        if isinstance(part, Mapping):
            rows.append(part)
            if len(rows) < BATCH_ROWS:
                continue
        if rows:
            yield _batch_of_rows(rows, row_type, check, taken)
            taken, rows = taken + len(rows), []
        if isinstance(part, Mapping):
            continue
        if isinstance(part, Sequence | str | bytes):
            raise InvalidInputError(
                f"Row {taken} is a {type(part).__name__}, which does not name its columns.",
                hint=_HINT,
            )
        for batch in batches_of(part, row_type, check):
            taken += batch.num_rows
            yield batch
    if rows:
        yield _batch_of_rows(rows, row_type, check, taken)


def _batch_of_rows(
    rows: Sequence[Mapping[str, object]], row_type: RowType, check: CheckNames, first_row: int
) -> pa.RecordBatch:
    names = dict.fromkeys(name for row in rows for name in row)
    check(list(names))
    columns = {name: column_of_rows(rows, name, row_type.field(name), first_row) for name in names}
    return pa.RecordBatch.from_pydict(columns) if columns else _rows_without_columns(len(rows))


def _rows_without_columns(count: int) -> pa.RecordBatch:
    shell = build_struct(pa.struct([]), [], np.ones(count, np.bool_))
    return pa.RecordBatch.from_struct_array(shell)  # type: ignore[arg-type]  # a struct array


# ---------------------------------------------------------------- columns


def _table_of_columns(
    columns: Mapping[str, object], row_type: RowType, check: CheckNames
) -> pa.Table:
    check(list(columns))
    found = {
        name: _given_column(values, name, row_type.field(name)) for name, values in columns.items()
    }
    sizes = {name: len(column) for name, column in found.items()}
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name!r} {size}" for name, size in sizes.items())
        raise InvalidInputError(f"The columns are not of one length: {told}.")
    return pa.table(found)  # type: ignore[arg-type]  # takes chunked columns, too


def _given_column(
    values: object, name: str, field: DataField | None
) -> "Column | pa.ChunkedArray[pa.Scalar[pa.DataType]]":
    """A column of a dictionary: anything that holds values in order."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if field is not None and _is_series(values) and values.dtype == np.object_:
        return _objects(values, name, field.type)
    try:
        if isinstance(values, ArrowStream):  # a series of pandas or polars
            return pa.chunked_array(values)  # type: ignore[call-overload,no-any-return]  # takes a stream, too
        made = _numpy_column(values, field)
    except _UNREADABLE as error:
        raise InvalidInputError(f"Column {name!r}: {error}.") from error
    if made is not None:
        return made
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidInputError(
            f"Column {name!r} is {values!r}, which is no list of values.",
            hint="A dictionary stands for columns; a single row is a list of one dictionary.",
        )
    if field is None:
        return column_of_rows([{name: value} for value in values], name, None, 0)
    return column_of_values(list(values), name, field.type)


def _numpy_column(values: object, field: DataField | None) -> "Column | None":
    """An array of NumPy's values that are no Python objects."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return None
    if values.dtype.kind == "M":
        return datetimes(values)
    if values.dtype.kind not in "biufmSU":
        return None
    is_nan_null = field is not None and not is_root(field.type, *_FLOATS)
    made: Column = pa.array(values, from_pandas=is_nan_null)
    return made


# ---------------------------------------------------------------- pandas


def _is_frame(data: object) -> "TypeGuard[pd.DataFrame]":
    """Whether it is a data frame of pandas, or of what is built upon it."""
    return _is_of_pandas(data, "DataFrame")


def _is_series(data: object) -> "TypeGuard[pd.Series[str]]":
    """Whether it is a column of pandas."""
    return _is_of_pandas(data, "Series")


def _is_of_pandas(data: object, name: str) -> bool:
    return any(
        kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == name
        for kind in type(data).__mro__
    )


def _table_of_frame(frame: "pd.DataFrame", row_type: RowType, check: CheckNames) -> pa.Table:
    """Columns of Python objects get the table's types; Arrow would have to guess them."""
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInputError(f"The data has two columns {twice!r}.")
    objects = [
        name
        for name, dtype in frame.dtypes.items()
        if isinstance(name, str) and dtype == np.object_ and row_type.field(name) is not None
    ]
    rest = _streamed(frame.drop(columns=objects)).read_all()
    check([*rest.schema.names, *objects])
    columns = dict(zip(rest.schema.names, rest.columns, strict=True)) | {
        name: _objects(frame[name], name, field.type)
        for name in objects
        if (field := row_type.field(name)) is not None
    }
    return pa.table(columns)  # type: ignore[arg-type]  # takes chunked columns, too


def _objects(series: "pd.Series[str]", name: str, data_type: DataType) -> Column:
    direct = direct_column(series.to_numpy(), data_type)
    if direct is not None:
        return direct
    there = series.notna().to_numpy()
    values = series.to_list()
    return column_of_values(
        [value if known else None for value, known in zip(values, there, strict=True)],
        name,
        data_type,
    )
