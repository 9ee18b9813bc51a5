"""Formats values of Paimon types: bounds, keys and partitions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from paimon_explore.data_types.arrow import timestamp_unit
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import AtomicType, DataType, TypeRoot

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def value_texts(column: Column, data_type: DataType) -> list[str | None]:
    """Format each value; null becomes None.

    Texts are not escaped. Values that Python cannot represent, such as a time outside of the years
    1 to 9999, are shown as numbers.
    """
    if not isinstance(data_type, AtomicType):
        return _each(column, str)
    match data_type.root:
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamps(column, data_type)
        case TypeRoot.BINARY | TypeRoot.VARBINARY | TypeRoot.BLOB:
            return _each(column, _hex)
        case TypeRoot.TIME:
            return _whole(column, pa.int32(), _time)
        case TypeRoot.DATE:
            return _whole(column, pa.int32(), lambda day: _moment(day * 86_400, "%Y-%m-%d"))
        case _:
            return _each(column, _plain)


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _hex(value: object) -> str:
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)


def _each(column: Column, text: Callable[[object], str]) -> list[str | None]:
    return [None if value is None else text(value) for value in as_python(column)]


def _whole(column: Column, data_type: pa.DataType, text: Callable[[int], str]) -> list[str | None]:
    """Format values that are stored as integers."""
    numbers: Column = column.cast(data_type)
    return [text(value) if isinstance(value, int) else None for value in as_python(numbers)]


def _timestamps(column: Column, atomic: AtomicType) -> list[str | None]:
    ticks = _TICKS[timestamp_unit(atomic.precision)]
    precision = atomic.precision if atomic.precision is not None else 6
    zone = "Z" if atomic.root is TypeRoot.TIMESTAMP_LTZ else ""
    return _whole(column, pa.int64(), lambda number: _timestamp(number, ticks, precision, zone))


def _time(millis: int) -> str:
    return f"{_moment(millis // 1000, '%H:%M:%S')}.{millis % 1000:03d}"


def _timestamp(number: int, ticks: int, precision: int, zone: str) -> str:
    seconds, rest = divmod(number, ticks)
    text = _moment(seconds, "%Y-%m-%d %H:%M:%S")
    digits = f"{rest * (10**9 // ticks):09d}"[:precision]
    return f"{text}.{digits}{zone}" if digits else f"{text}{zone}"


def _moment(seconds: int, form: str) -> str:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime(form)
    except OverflowError:
        return f"{seconds} s"
