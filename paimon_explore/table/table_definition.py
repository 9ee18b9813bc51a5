"""Conversion of the arguments of `create_table`: columns, names of columns, and options."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from paimon_explore.arguments import mapping, names, python_value, string
from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.data_types.object_columns import check_object_columns
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.sanitize import masked_value

if TYPE_CHECKING:
    import pandas as pd

ColumnType: TypeAlias = str | pa.DataType | DataType
"""`"DECIMAL(10, 2) NOT NULL"`, an Arrow type or a Paimon type."""


@runtime_checkable
class _ArrowStream(Protocol):
    """Data that exports its rows by Arrow's C stream interface, such as a polars data frame."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


if TYPE_CHECKING:
    _PandasFrame: TypeAlias = pd.DataFrame
else:
    _PandasFrame = object  # the annotation must not import pandas

Columns: TypeAlias = (
    pa.Schema
    | pa.Table
    | _PandasFrame
    | _ArrowStream
    | RowType
    | Mapping[str, ColumnType]
    | Sequence[tuple[str, ColumnType]]
)
"""Columns in order: a schema, data that has one, or names with types."""

_HINT = "Pass types by name ({'id': 'BIGINT'}), an Arrow schema, or a table or data frame."

OptionValue: TypeAlias = str | int | float | bool
"""The value of a table option; numbers and booleans are stored as text."""


def parse_columns(columns: object) -> pa.Schema | RowType:
    """Convert the columns of a new table.

    Args:
        columns: one of `Columns`: an Arrow schema; a table or data frame, whose rows are ignored;
            or types by name.

    Raises:
        InvalidInputError: a type that cannot be parsed, or an unsupported kind of value.

    >>> parse_columns({"id": "BIGINT NOT NULL", "name": "STRING"}).names
    ('id', 'name')
    """
    if isinstance(columns, pa.Schema | RowType):
        return columns
    if _is_pandas_frame(columns):
        from paimon_explore.write.input.arrow_stream import with_index_columns

        return _of_pandas(with_index_columns(columns))  # type: ignore[arg-type]  # pandas is not imported here
    if isinstance(columns, Mapping):
        return _of_pairs(columns.items())
    if isinstance(columns, _ArrowStream):
        check_object_columns(columns)
        try:
            return pa.RecordBatchReader.from_stream(columns).schema
        except (pa.ArrowException, TypeError, ValueError) as error:
            reason = str(error).rstrip(".")
            msg = f"Columns cannot be taken from this {type(columns).__name__}: {reason}."
            raise InvalidInputError(msg, hint=_HINT) from error
    if isinstance(columns, Sequence) and not isinstance(columns, str | bytes):
        return _of_pairs(_pairs(columns))
    msg = f"Columns cannot be taken from a value of type {type(columns).__name__}."
    raise InvalidInputError(msg, hint=_HINT)


def _is_pandas_frame(data: object) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ == "DataFrame"


def _of_pandas(frame: object) -> pa.Schema:
    names = [str(name) for name in frame.columns]  # type: ignore[attr-defined]  # pandas is not imported here
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInputError(
            f"The data frame has two columns named {twice[0]!r}.", hint="Rename one of them."
        )
    for name, column in zip(names, _columns_of(frame), strict=True):
        try:
            pa.Schema.from_pandas(column, preserve_index=False)  # type: ignore[arg-type]  # as above
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"Column {name!r} of the data frame {_unusable(error, column)}.",
                hint=f"Convert the column, or pass the columns by name: {{{name!r}: 'DOUBLE'}}.",
            ) from error
    return pa.Schema.from_pandas(frame, preserve_index=False)  # type: ignore[arg-type]  # as above


def _unusable(error: Exception, column: object) -> str:
    """Why a column of a pandas data frame has no type."""
    dtype = next(iter(column.dtypes))  # type: ignore[attr-defined]  # as above
    reason = str(error.args[0]).rstrip(".")
    if "tried to convert to" in reason:
        return "contains values of different types"
    if isinstance(error, OverflowError):
        return "contains an integer that BIGINT cannot store"
    return f"has the dtype {dtype}, from which no type of a column follows: {reason}"


def _columns_of(frame: object) -> "Iterable[object]":
    """The columns of a pandas data frame, each as a data frame."""
    return (frame[[name]] for name in frame.columns)  # type: ignore[attr-defined,index]  # as above


def optional_column_names(argument: str, given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Convert an argument of column names: one name, several, or None for no names.

    Raises:
        InvalidInputError: anything else.
    """
    return names(argument, given) if given is not None else ()


def option_texts(options: Mapping[str, OptionValue] | None) -> dict[str, str]:
    """Convert option values to text.

    Raises:
        InvalidInputError: a value that is not a str, a number or a bool.

    >>> option_texts({"bucket": 2, "deletion-vectors.enabled": True})
    {'bucket': '2', 'deletion-vectors.enabled': 'true'}
    """
    if options is None:
        return {}
    mapping("options", options, hint="Pass option values by key: {'bucket': 2}.")
    return {key: _option_text(key, value) for key, value in options.items()}


def _option_text(key: str, value: object) -> str:
    plain = python_value(value)
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, str | int | float):
        return str(plain)
    raise InvalidInputError(
        f"Option {key!r} must be a str, a number or a bool, not {masked_value(key, repr(value))}.",
        hint="Omit the option to use its default value." if value is None else "",
    )


def _pairs(columns: Sequence[object]) -> Iterable[tuple[str, ColumnType]]:
    for position, pair in enumerate(columns):
        if isinstance(pair, pa.Field):
            yield pair.name, from_arrow(pair.type, nullable=pair.nullable)
        elif isinstance(pair, tuple | list) and len(pair) == len(("name", "type")):
            yield string("The name of a column", pair[0]), pair[1]
        else:
            hint = "Write ('id', 'BIGINT')."
            raise InvalidInputError(
                f"Column {position} must be a pair of name and type, not {pair!r}.", hint=hint
            )


def _of_pairs(pairs: Iterable[tuple[str, ColumnType]]) -> RowType:
    fields = [
        DataField(id=0, name=string("The name of a column", name), type=column_type(name, given))
        for name, given in pairs
    ]
    return RowType(fields=tuple(fields))


def column_type(name: str, given: object) -> DataType:
    """The Paimon type of a column that is given as text, Arrow type or Paimon type.

    Args:
        name: the column, for errors.
        given: the type.

    Raises:
        InvalidInputError: it is not a type.
    """
    if isinstance(given, str):
        try:
            return parse_type_text(given)
        except InvalidInputError as error:
            raise InvalidInputError(f"Column {name!r}: {error.message}", hint=error.hint) from error
    if isinstance(given, pa.DataType):
        return from_arrow(given)
    if isinstance(given, DataType):
        return given
    hint = "Pass a Paimon type such as 'BIGINT NOT NULL', or an Arrow type."
    raise InvalidInputError(f"Column {name!r}: {given!r} is not a type.", hint=hint)
