"""Values of Paimon types as text: what bounds, keys and partitions look like."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.types.data_types import AtomicType, DataType, TypeRoot

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def value_texts(column: pa.Array, data_type: DataType) -> list[str | None]:
    """Each value as text, null as None.

    Texts are as stored, so they may hold anything: escape them where they are shown. A value that
    Python cannot express, such as a time outside of the years 1 to 9999, is shown as its number.
    """
    if isinstance(data_type, AtomicType):
        return _atomic_texts(column, data_type)
    return [None if value is None else str(value) for value in column.to_pylist()]


def _atomic_texts(column: pa.Array, atomic: AtomicType) -> list[str | None]:
    match atomic.root:
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _timestamps(column, atomic)
        case TypeRoot.BINARY | TypeRoot.VARBINARY | TypeRoot.BLOB:
            return [None if v is None else "0x" + v.hex() for v in column.to_pylist()]
        case TypeRoot.TIME:
            return _times(column)
        case TypeRoot.DATE:
            days = column.cast(pa.int32()).to_pylist()
            return [None if day is None else _moment(day * 86_400, "%Y-%m-%d") for day in days]
        case TypeRoot.BOOLEAN:
            return [None if v is None else str(v).lower() for v in column.to_pylist()]
        case _:
            return [None if v is None else str(v) for v in column.to_pylist()]


def _timestamps(column: pa.Array, atomic: AtomicType) -> list[str | None]:
    ticks = _TICKS[column.type.unit]
    precision = atomic.precision if atomic.precision is not None else 6
    zone = "Z" if atomic.root is TypeRoot.TIMESTAMP_LTZ else ""
    numbers = pc.cast(column, pa.int64()).to_pylist()
    return [None if n is None else _timestamp(n, ticks, precision, zone) for n in numbers]


def _timestamp(number: int, ticks: int, precision: int, zone: str) -> str:
    seconds, rest = divmod(number, ticks)
    text = _moment(seconds, "%Y-%m-%d %H:%M:%S")
    digits = f"{rest * (10**9 // ticks):09d}"[:precision]
    return f"{text}.{digits}{zone}" if digits else f"{text}{zone}"


def _times(column: pa.Array) -> list[str | None]:
    millis = pc.cast(column, pa.int32()).to_pylist()
    return [
        None if n is None else _moment(n // 1000, "%H:%M:%S") + f".{n % 1000:03d}" for n in millis
    ]


def _moment(seconds: int, form: str) -> str:
    try:
        return (_EPOCH + timedelta(seconds=seconds)).strftime(form)
    except OverflowError:
        return f"{seconds} s"
