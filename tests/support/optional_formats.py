"""File formats that need an optional package, and tables in them."""

import importlib.util
from collections.abc import Mapping

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column
from support.required import NEED

PACKAGES: Mapping[str, str] = {
    "lance": "pylance",
    "vortex": "vortex-data",
    "mosaic": "paimon-mosaic",
}
"""The package of each format."""
TYPES: Mapping[str, pa.DataType] = {
    "bool": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "d9": pa.decimal128(9, 2),
    "d38": pa.decimal128(38, 10),
    "text": pa.string(),
    "bytes": pa.binary(),
    "day": pa.date32(),
    "time": pa.time32("ms"),
    "ts3": pa.timestamp("ms"),
    "ts6": pa.timestamp("us"),
    "ts9": pa.timestamp("ns"),
}
"""Columns of the types that all of them have."""
LOCAL_ZONED: Mapping[str, pa.DataType] = {
    "ltz3": pa.timestamp("ms", "UTC"),
    "ltz6": pa.timestamp("us", "UTC"),
}
NESTED: Mapping[str, pa.DataType] = {
    "list": pa.list_(pa.int64()),
    "row": pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))]),
    "rows": pa.list_(pa.struct([("p", pa.int32())])),
}


def need(file_format: str) -> None:
    """Skip the test if the package of a format is not installed."""
    need_module(file_format, PACKAGES[file_format])


def need_module(module: str, package: str) -> None:
    """Skip the test if an optional package is not installed."""
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{NEED}the package {package}")


def columns_of(file_format: str) -> Mapping[str, pa.DataType]:
    """Columns of all types that tables of a format may have."""
    if file_format == "mosaic":
        return {**TYPES, **LOCAL_ZONED}
    return {**TYPES, **NESTED, **({} if file_format == "lance" else LOCAL_ZONED)}


_VALUES: Mapping[str, list[object]] = {
    "bool": [True, False],
    "i8": [-128, 127],
    "i16": [-32768, 32767],
    "i32": [-(2**31), 2**31 - 1],
    "i64": [-(2**63), 2**63 - 1],
    "f32": [-1.5, 3.25],
    "f64": [-1e300, 0.1],
    "d9": ["-1234567.89", "0.01"],
    "d38": ["-1234567890123456789012345678.0123456789", "0"],
    "text": ["Zürich 大阪", ""],
    "bytes": [b"\x00\xff", b""],
    "day": [-1, 20_000],
    "time": [0, 86_399_999],
    "ts3": [-1, 1_700_000_000_123],
    "ts6": [-1, 1_700_000_000_123_456],
    "ts9": [-1, 1_700_000_000_123_456_789],
    "ltz3": [-1, 1_700_000_000_123],
    "ltz6": [-1, 1_700_000_000_123_456],
    "list": [[1, None, 3], []],
    "row": [{"x": 1, "y": {"z": "deep"}}, {"x": None, "y": None}],
    "rows": [[{"p": 1}, {"p": None}], [None]],
}


def typed_rows(types: Mapping[str, pa.DataType]) -> pa.Table:
    """Two rows of values and one of nulls, with a column `id`."""
    arrays: dict[str, Column] = {"id": pa.array([0, 1, 2], pa.int32())}
    for name, kind in types.items():
        values = [*_VALUES[name], None]
        if pa.types.is_decimal(kind):
            arrays[name] = pa.array(values, pa.string()).cast(kind)
        else:
            arrays[name] = pa.array(values, kind)
    return pa.table(arrays)
