"""Builds Arrow tables from Arrow columns and Python values."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.scan.manifest_arrays import Chunks

Values: TypeAlias = "Column | Chunks | Sequence[object]"
"""A column: an Arrow array, or Python values that Arrow converts to the type."""


def table_of(schema: pa.Schema, columns: Mapping[str, Values]) -> pa.Table:
    """Build a table of a schema from columns by name, all of the same length.

    >>> table_of(pa.schema({"a": pa.int32()}), {"a": [1, None]}).to_pylist()
    [{'a': 1}, {'a': None}]
    """
    arrays = [
        given if isinstance(given, pa.Array | pa.ChunkedArray) else pa.array(given, field.type)
        for field, given in ((field, columns[field.name]) for field in schema)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
