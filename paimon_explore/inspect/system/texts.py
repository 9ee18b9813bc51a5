"""Partitions, keys and statistics as the texts of system tables."""

import json
from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.encoding.binary_row import EMPTY_ROW, decode_rows
from paimon_explore.encoding.buffers import Column
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.inspect.value_text import value_texts
from paimon_explore.metadata.partition_path import partition_texts
from paimon_explore.types.data_types import DataType, RowType

_NULL = "null"


def internal_texts(column: Column, data_type: DataType) -> list[str]:
    """Values in the text of Java's internal form: a date is its day number; null is `null`."""
    try:
        texts = partition_texts([column], [data_type], legacy_names=True)[0]
    except UnsupportedFeatureError:
        texts = value_texts(column, data_type)
    return [_NULL if text is None else text for text in texts]


def cast_texts(columns: Sequence[Column], types: Sequence[DataType]) -> list[list[str]]:
    """Values as CAST to STRING gives them, column by column; null is `null`."""
    texts = partition_texts(columns, types, legacy_names=False)
    return [[_NULL if text is None else text for text in column] for column in texts]


def row_texts(rows: pa.BinaryArray, row_type: RowType, *, where: str) -> list[str]:
    """Partition rows as `{v1, v2}`."""
    types = [field.type for field in row_type]
    columns = cast_texts(decode_rows(rows, types, where=where), types)
    if not columns:
        return ["{}"] * len(rows)
    return ["{" + ", ".join(values) + "}" for values in zip(*columns, strict=True)]


def key_texts(rows: pa.BinaryArray, keys: RowType | None, *, where: str) -> list[str | None]:
    """Keys as `[k1, k2]`; None for append tables and rows without fields."""
    if keys is None or not len(rows):
        return [None] * len(rows)
    types = [field.type for field in keys]
    held = [None if row == EMPTY_ROW else row for row in rows.to_pylist()]
    columns = decode_rows(pa.array(held, pa.binary()), types, where=where)
    texts = [
        internal_texts(column, data_type) for column, data_type in zip(columns, types, strict=True)
    ]
    joined = ["[" + ", ".join(values) + "]" for values in zip(*texts, strict=True)]
    return [None if row is None else text for row, text in zip(held, joined, strict=True)]


def named_texts(columns: dict[str, list[str]], count: int) -> list[str]:
    """Rows as `{a=1, b=null}`, columns in the order of their names."""
    names = sorted(columns)
    if not names:
        return ["{}"] * count
    pairs = [[f"{name}={text}" for text in columns[name]] for name in names]
    return ["{" + ", ".join(row) + "}" for row in zip(*pairs, strict=True)]


def compact_json(value: object) -> str:
    """JSON without spaces, characters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
