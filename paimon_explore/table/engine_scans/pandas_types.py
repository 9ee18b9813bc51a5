"""The data types of pandas for Arrow columns, by `dtype_backend` as in pandas' own readers."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, choices

if TYPE_CHECKING:
    import pandas as pd

BACKENDS = ("numpy_nullable", "pyarrow")


def to_pandas(rows: pa.Table, dtype_backend: str | None) -> "pd.DataFrame":
    """Convert rows to a data frame.

    Args:
        rows: the rows.
        dtype_backend: `pyarrow` keeps the Arrow types, `numpy_nullable` uses pandas' nullable types
            (Int64, boolean, string); None: NumPy types, so that integers with nulls become floats.

    Raises:
        InvalidInputError: there is no such backend.
    """
    if dtype_backend is None:
        return rows.to_pandas()
    if dtype_backend not in BACKENDS:
        raise InvalidInputError(
            f"Unknown dtype_backend {dtype_backend!r}.", hint=f"Use {choices(BACKENDS)}, or None."
        )
    import pandas as pd

    if dtype_backend == "pyarrow":
        return rows.to_pandas(types_mapper=pd.ArrowDtype)
    return rows.to_pandas(types_mapper=_nullable_types(pd))


def _nullable_types(pandas: Any) -> Callable[[pa.DataType], Any]:  # noqa: ANN401 - the module
    """Return pandas' nullable types by Arrow type; None for types that have none."""
    known: Mapping[pa.DataType, Any] = {
        pa.bool_(): pandas.BooleanDtype(),
        pa.int8(): pandas.Int8Dtype(),
        pa.int16(): pandas.Int16Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.int64(): pandas.Int64Dtype(),
        pa.float32(): pandas.Float32Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.string(): pandas.StringDtype(),
    }
    return known.get
