"""How people declare tables: columns, keys and options in the forms they have at hand."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from paimon_explore.errors import InvalidInputError
from paimon_explore.sanitize import masked_value
from paimon_explore.types.arrow import from_arrow
from paimon_explore.types.data_types import DataField, DataType, RowType
from paimon_explore.types.type_text import parse_type_text

if TYPE_CHECKING:
    import pandas as pd

ColumnType: TypeAlias = "str | pa.DataType | DataType"
"""`"DECIMAL(10, 2) NOT NULL"`, an Arrow type or a Paimon type."""

Columns: TypeAlias = (
    "pa.Schema | pa.Table | pd.DataFrame | _ArrowStream | RowType | Mapping[str, ColumnType] "
    "| Sequence[tuple[str, ColumnType]]"
)
"""Columns in order: a schema, something that has one, or names with types."""


@runtime_checkable
class _ArrowStream(Protocol):
    """Anything that gives its rows by Arrow's C interface, such as a frame of polars."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


OptionValue: TypeAlias = str | int | float | bool


def declared_columns(columns: object) -> pa.Schema | RowType:
    """The columns of a new table.

    Args:
        columns: one of `Columns`: an Arrow schema; a table or data frame, whose rows do not matter;
            or types by name.

    Raises:
        InvalidInputError: a type that cannot be read, or something else altogether.

    >>> declared_columns({"id": "BIGINT NOT NULL", "name": "STRING"}).names
    ('id', 'name')
    """
    if isinstance(columns, pa.Schema | RowType):
        return columns
    if type(columns).__module__.partition(".")[0] == "pandas":
        return pa.Schema.from_pandas(columns, preserve_index=False)  # type: ignore[arg-type]  # pandas is not imported here
    if isinstance(columns, Mapping):
        return _of_pairs(columns.items())
    if isinstance(columns, _ArrowStream):
        return pa.RecordBatchReader.from_stream(columns).schema
    if isinstance(columns, Sequence) and not isinstance(columns, str | bytes):
        return _of_pairs(_pairs(columns))
    msg = f"{type(columns).__name__} declares no columns."
    hint = "Give an Arrow schema, a table or data frame, or types by name: {'id': 'BIGINT'}."
    raise InvalidInputError(msg, hint=hint)


def declared_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Column names; a single one may stand alone."""
    return (names,) if isinstance(names, str) else tuple(names)


def declared_options(options: Mapping[str, OptionValue] | None) -> dict[str, str]:
    """Options as texts.

    Raises:
        InvalidInputError: a value that has no such text.

    >>> declared_options({"bucket": 2, "deletion-vectors.enabled": True})
    {'bucket': '2', 'deletion-vectors.enabled': 'true'}
    """
    return {key: _option_text(key, value) for key, value in (options or {}).items()}


def _option_text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise InvalidInputError(
        f"Option {key!r} = {masked_value(key, repr(value))}: a text, a number or a flag is due.",
        hint="Leave an option out for its default.",
    )


def _pairs(columns: Sequence[object]) -> Iterable[tuple[str, ColumnType]]:
    for position, pair in enumerate(columns):
        if isinstance(pair, pa.Field):
            yield pair.name, from_arrow(pair.type, nullable=pair.nullable)
        elif isinstance(pair, tuple | list) and len(pair) == len(("name", "type")):
            yield str(pair[0]), pair[1]
        else:
            hint = "Each column is a pair of its name and type: ('id', 'BIGINT')."
            raise InvalidInputError(f"Column {position} is {pair!r}.", hint=hint)


def _of_pairs(pairs: Iterable[tuple[str, ColumnType]]) -> RowType:
    fields = [DataField(id=0, name=name, type=_type(name, given)) for name, given in pairs]
    return RowType(fields=tuple(fields))


def _type(name: str, given: object) -> DataType:
    if isinstance(given, str):
        return parse_type_text(given)
    if isinstance(given, pa.DataType):
        return from_arrow(given)
    if isinstance(given, DataType):
        return given
    hint = "Give a type's text such as 'BIGINT NOT NULL', or an Arrow type."
    raise InvalidInputError(f"Column {name!r}: {given!r} is no type.", hint=hint)
