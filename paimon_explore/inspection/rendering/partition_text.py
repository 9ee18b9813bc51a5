"""Formats partitions as `dt=d1/hr=3`, and orders them by value."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import Column, Ints, fixed_values, take_rows
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.value_text import value_texts


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
    """`name=value` per column, joined with slashes."""
    texts = [value_texts(c, f.type) for c, f in zip(columns, row_type.fields, strict=True)]
    return [
        "/".join(
            f"{field.name}={'null' if column[row] is None else column[row]}"
            for field, column in zip(row_type.fields, texts, strict=True)
        )
        for row in range(count)
    ]


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
