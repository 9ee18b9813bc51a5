"""Arrow arrays for tests, with types that a checker accepts."""

from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import DataType

__all__ = ["as_python", "column_of"]


def column_of(values: Sequence[object], data_type: DataType) -> Column:
    """Python values as a column of a Paimon type."""
    return pa.array(values, to_arrow(data_type))
