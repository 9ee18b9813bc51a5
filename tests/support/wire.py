"""Values as the golden files write them: exact, in JSON."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot

_TIMESTAMPS = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def column(values: Sequence[object], data_type: DataType) -> Column:
    """Wire values of an atomic type as a column."""
    assert isinstance(data_type, AtomicType)
    arrow = to_arrow(data_type)
    if data_type.root in _TIMESTAMPS:
        assert isinstance(arrow, pa.TimestampType)
        units = [None if v is None else _nanos(v) // _NANOS[arrow.unit] for v in values]
        return pa.array(units, pa.int64()).cast(arrow)
    return pa.array([_value(value, data_type) for value in values], arrow)


def _nanos(value: object) -> int:
    assert isinstance(value, list)
    return int(value[0]) * 1_000_000 + int(value[1])


def _value(value: object, data_type: AtomicType) -> object:
    if value is None or isinstance(value, bool):
        return value
    return _READERS.get(data_type.root, int)(str(value))


def _date(text: str) -> dt.date:
    return dt.date(1970, 1, 1) + dt.timedelta(days=int(text))


def _time(text: str) -> dt.time:
    midnight = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (midnight + dt.timedelta(milliseconds=int(text))).time()


_READERS: Mapping[TypeRoot, Callable[[str], object]] = {
    TypeRoot.CHAR: str,
    TypeRoot.VARCHAR: str,
    TypeRoot.BINARY: bytes.fromhex,
    TypeRoot.VARBINARY: bytes.fromhex,
    TypeRoot.BLOB: bytes.fromhex,
    TypeRoot.DECIMAL: Decimal,
    TypeRoot.FLOAT: float,
    TypeRoot.DOUBLE: float,
    TypeRoot.DATE: _date,
    TypeRoot.TIME: _time,
}
