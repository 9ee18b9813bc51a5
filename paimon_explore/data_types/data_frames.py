"""Types of packages that may not be installed, for annotations: pandas, polars and DuckDB.

An annotation is text such as `"data_frames.DataFrame"`: it imports nothing when a method is
defined, and `typing.get_type_hints` finds the class, or `Any` where the package is missing.
"""

# ruff: noqa: PLC0414 - re-exported

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def frame_of(rows: "pa.Table") -> "DataFrame":
    """Convert rows to a pandas data frame; dates that Python does not have become datetime64."""
    try:
        return rows.to_pandas()
    except ValueError:  # the years of Python's dates end with 9999
        return rows.to_pandas(date_as_object=False)
