"""Types of packages that may not be installed, for annotations: pandas, polars and DuckDB.

An annotation is text such as `"data_frames.DataFrame"`: it imports nothing when a method is
defined, and `typing.get_type_hints` finds the class, or `Any` where the package is missing.
"""

# ruff: noqa: PLC0414 - re-exported

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paimon_explore.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from duckdb import DuckDBPyConnection as DuckDBPyConnection
    from pandas import DataFrame as DataFrame

_TYPES = {
    "ArrowDataset": ("pyarrow.dataset", "Dataset"),
    "DaftDataFrame": ("daft", "DataFrame"),
    "DataFrame": ("pandas", "DataFrame"),
    "DuckDBPyConnection": ("duckdb", "DuckDBPyConnection"),
    "PolarsDataFrame": ("polars", "DataFrame"),
    "PolarsLazyFrame": ("polars", "LazyFrame"),
    "RayDataset": ("ray.data", "Dataset"),
    "TorchDataset": ("torch.utils.data", "Dataset"),
}
"""Package and name of each type."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a type of any kind
    """Import a type on first use; PEP 562."""
    if name not in _TYPES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    package, found = _TYPES[name]
    try:
        return getattr(import_module(package), found)
    except ImportError:
        return Any


def frame_of(rows: "pa.Table", types: "Callable[[pa.DataType], Any] | None" = None) -> "DataFrame":
    """Convert rows to a pandas data frame; dates that Python does not have become datetime64.

    Args:
        rows: the rows.
        types: the pandas type of an Arrow type, None for the default; None for all defaults.

    Raises:
        InvalidInputError: a nested date or time is one that Python does not have.
    """
    try:
        return rows.to_pandas(types_mapper=types)
    except ValueError:  # the years of Python's dates end with 9999
        pass
    try:
        return rows.to_pandas(types_mapper=types, date_as_object=False)
    except ValueError as error:
        raise InvalidInputError(
            f"The rows cannot be made a pandas data frame of Python objects: {error}.",
            hint="Use to_pandas(dtype_backend='pyarrow') of the scan, or to_arrow().",
        ) from error
