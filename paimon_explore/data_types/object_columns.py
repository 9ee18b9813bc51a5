"""Columns of data frames that Arrow exports, but not as the values that the frame shows.

| column | what Arrow gets |
| --- | --- |
| Object of polars | addresses of the Python objects in memory |
| Period of pandas | the count of periods since 1970, without the length of a period |
| Interval of pandas | the ends, without which of them belong to it |
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

import pyarrow as pa

from paimon_explore.errors import InvalidInputError

if TYPE_CHECKING:
    import polars as pl

_HINTS = {
    "pandas.period": "dt.to_timestamp() for the start of each period, or astype(str) for text.",
    "pandas.interval": "array.left and array.right for the ends, or astype(str) for text.",
}
"""What to convert the extension types of pandas to."""


def check_pandas_types(schema: pa.Schema) -> None:
    """Reject an Arrow schema that has pandas periods or intervals.

    Raises:
        InvalidInputError: a column has one of these extension types, or contains it.
    """
    for field in schema:
        for name, hint in _HINTS.items():
            if _contains(field.type, name):
                kind = name.replace(".", " ")
                raise InvalidInputError(
                    f"Column {field.name!r} has {kind}s, which no Paimon type can store.",
                    hint=f"Convert it first: {hint}",
                )


def _contains(arrow: pa.DataType, name: str) -> bool:
    """Return whether a type is an extension type, or contains it."""
    if isinstance(arrow, pa.BaseExtensionType):
        return arrow.extension_name == name
    if isinstance(arrow, pa.DictionaryType | pa.RunEndEncodedType):
        return _contains(arrow.value_type, name)
    return any(_contains(arrow.field(at).type, name) for at in range(arrow.num_fields))


def check_object_columns(data: object, name: str = "") -> None:
    """Reject a polars data frame or series that has Python objects.

    Args:
        data: any value.
        name: the column, if the data is a series.

    Raises:
        InvalidInputError: a column has the type Object.
    """
    for column, dtype in _polars_types(data, name):
        if str(dtype) == "Object":  # polars cannot nest objects
            raise InvalidInputError(
                f"Column {column!r} has the polars type Object: it holds Python objects, which "
                "Arrow cannot export.",
                hint="Convert the column first, or pass the rows as dictionaries: to_dicts().",
            )


def _polars_types(data: object, name: str) -> Iterator[tuple[str, "pl.DataType"]]:
    if _is_polars_frame(data):
        yield from data.schema.items()
    elif _is_polars_series(data):
        yield name or data.name, data.dtype


def _is_polars_frame(data: object) -> "TypeGuard[pl.DataFrame]":
    return is_of_package(data, "polars", "DataFrame")


def _is_polars_series(data: object) -> "TypeGuard[pl.Series]":
    return is_of_package(data, "polars", "Series")


def is_of_package(data: object, package: str, name: str) -> bool:
    """Return whether a value is of a class of a package or of a subclass, without an import."""
    return any(
        kind.__module__.partition(".")[0] == package and kind.__name__ == name
        for kind in type(data).__mro__
    )
