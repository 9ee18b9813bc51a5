"""Formats partitions as `dt=d1/hr=3`, and orders them by value.

Formats values of Paimon types: bounds, keys and partitions.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import PER_SECOND, timestamp_unit
from paimon_explore.data_types.arrow_buffers import Column, Ints, as_python, fixed_values, take_rows
from paimon_explore.data_types.definitions import AtomicType, DataType, RowType, TypeRoot
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """The distinct partitions of some files.

    Attributes:
        codes: partition index of each file.
        texts: each partition as `dt=d1/hr=3`, in order of values; empty text if unpartitioned.
        columns: the values of each partition, one column per partition key; None if the bytes do
            not match the partition type.
    """

    codes: Ints
    texts: tuple[str, ...]
    columns: tuple[Column, ...] | None


def partitions_of(files: pa.Table, partition_type: RowType) -> Partitions:
    """The partitions of n files, decoded from the column `partition` of manifest entries."""
    rows = binary_column(files, "partition")
    encoded = rows.dictionary_encode()
    distinct: pa.BinaryArray = encoded.dictionary  # type: ignore[assignment]  # of binary, in stubs
    codes = fixed_values(encoded.indices, np.int32).astype(np.int64)
    columns = _decoded(distinct, partition_type)
    if columns is None:
        texts = hex_texts(distinct)
        order = np.argsort(np.array(texts, dtype=object), kind="stable")
    else:
        texts = joined_texts(columns, partition_type, len(distinct))
        order = _order(columns, texts)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Partitions(
        codes=rank[codes] if len(codes) else codes,
        texts=tuple(texts[i] for i in order),
        columns=None if columns is None else tuple(take_rows(c, order) for c in columns),
    )


def partition_texts(files: pa.Table, partition_type: RowType) -> list[str]:
    """The column `partition` as text, or as hex if the bytes do not match the partition type."""
    found = partitions_of(files, partition_type)
    return [found.texts[code] for code in found.codes.tolist()]


def joined_texts(columns: Sequence[Column], row_type: RowType, count: int) -> list[str]:
    """`name=value` per column, joined with slashes; different partitions have different texts."""
    texts = [value_texts(c, f.type) for c, f in zip(columns, row_type.fields, strict=True)]
    return [
        "/".join(
            f"{field.name}={unambiguous_text(column[row])}"
            for field, column in zip(row_type.fields, texts, strict=True)
        )
        for row in range(count)
    ]


def unambiguous_text(text: str | None) -> str:
    """A value in the text of a partition, quoted if it would not be recognized otherwise.

    >>> [unambiguous_text(text) for text in ("d1", None, "null", "a/b", "'")]
    ['d1', 'null', "'null'", "'a/b'", "''''"]
    """
    if text is None:
        return "null"
    is_plain = text != "null" and "/" not in text and not text.startswith("'")
    return text if is_plain else "'{}'".format(text.replace("'", "''"))


def _decoded(rows: pa.BinaryArray, partition_type: RowType) -> list[Column] | None:
    try:
        return decode_rows(rows, [field.type for field in partition_type], where="_PARTITION")
    except (FormatError, UnsupportedFeatureError):
        return None


def _order(columns: Sequence[Column], texts: Sequence[str]) -> Ints:
    if not columns:
        return np.arange(len(texts))
    named = {str(i): column for i, column in enumerate(columns)}
    try:
        order = pc.sort_indices(pa.table(named), sort_keys=[(n, "ascending") for n in named])
    except pa.ArrowNotImplementedError:
        return np.argsort(np.array(texts, dtype=object), kind="stable")
    return fixed_values(order, np.uint64).astype(np.int64)


def binary_column(files: pa.Table, name: str) -> pa.BinaryArray:
    """A binary column as one contiguous array."""
    column: pa.BinaryArray = files.column(name).combine_chunks()  # type: ignore[assignment]  # stubs
    return column


def hex_texts(rows: pa.BinaryArray) -> list[str]:
    """Binary values as hex."""
    return [f"0x{(row or b'').hex()}" for row in rows.to_pylist()]


def value_texts(column: Column, data_type: DataType) -> list[str | None]:
    """Format each value; null becomes None.

    Texts are not escaped. Years have at least four digits.
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
            return _whole(column, pa.int32(), lambda day: _moment(np.datetime64(day, "D")))
        case root:
            return _each(column, _single if root is TypeRoot.FLOAT else _plain)


def _single(value: object) -> str:
    return str(np.float32(str(value)))


def _plain(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
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
    ticks = PER_SECOND[timestamp_unit(atomic.precision)]
    precision = atomic.precision if atomic.precision is not None else 6
    zone = "Z" if atomic.root is TypeRoot.TIMESTAMP_LTZ else ""
    return _whole(column, pa.int64(), lambda number: _timestamp(number, ticks, precision, zone))


def _time(millis: int) -> str:
    return str(np.datetime64(millis, "ms")).partition("T")[2]


def _moment(moment: np.datetime64) -> str:
    """A date or a time as Arrow writes it: NumPy does not pad years before 0."""
    text = str(moment)
    if not text.startswith("-"):
        return text
    year, _, rest = text[1:].partition("-")
    return f"-{year:0>4}-{rest}"


def _timestamp(number: int, ticks: int, precision: int, zone: str) -> str:
    seconds, rest = divmod(number, ticks)
    text = _moment(np.datetime64(seconds, "s")).replace("T", " ")
    digits = f"{rest * (10**9 // ticks):09d}"[:precision]
    return f"{text}.{digits}{zone}" if digits else f"{text}{zone}"
