"""Partitions as people write them, and in their order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.binary_row import decode_rows
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.inspect.value_text import value_texts
from paimon_explore.types.data_types import RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitions:
    """The different partitions of some files.

    Attributes:
        codes: per file the number of its partition.
        texts: per partition `dt=d1/hr=3`, in rising order of the values; empty when unpartitioned.
        columns: per partition the values, one column per partition key; None when the bytes do not
            fit the partition type.
    """

    codes: np.ndarray
    texts: tuple[str, ...]
    columns: tuple[pa.Array, ...] | None


def partitions_of(rows: pa.BinaryArray, partition_type: RowType) -> Partitions:
    """The partitions of n files, from the binary rows of manifests."""
    encoded = rows.dictionary_encode()
    distinct = encoded.dictionary
    codes = np.frombuffer(encoded.indices.buffers()[1] or b"", np.int32)[: len(rows)]
    columns = _decoded(distinct, partition_type)
    if columns is None:
        texts = [f"0x{row.hex()}" for row in distinct.to_pylist()]
        order = np.argsort(np.array(texts, dtype=object), kind="stable")
    else:
        texts = joined_texts(columns, partition_type, len(distinct))
        order = _order(columns, texts)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Partitions(
        codes=rank[codes] if len(codes) else codes,
        texts=tuple(texts[i] for i in order),
        columns=None if columns is None else tuple(c.take(pa.array(order)) for c in columns),
    )


def partition_texts(rows: pa.BinaryArray, partition_type: RowType) -> list[str]:
    """Each partition as text; as hex where the bytes do not fit the partition type."""
    columns = _decoded(rows, partition_type)
    if columns is None:
        return [f"0x{row.hex()}" for row in rows.to_pylist()]
    return joined_texts(columns, partition_type, len(rows))


def joined_texts(columns: Sequence[pa.Array], row_type: RowType, count: int) -> list[str]:
    """`name=value` per column, joined with slashes."""
    texts = [value_texts(c, f.type) for c, f in zip(columns, row_type.fields, strict=True)]
    return [
        "/".join(
            f"{field.name}={'null' if column[row] is None else column[row]}"
            for field, column in zip(row_type.fields, texts, strict=True)
        )
        for row in range(count)
    ]


def _decoded(rows: pa.BinaryArray, partition_type: RowType) -> list[pa.Array] | None:
    try:
        return decode_rows(rows, [field.type for field in partition_type], where="_PARTITION")
    except (FormatError, UnsupportedFeatureError):
        return None


def _order(columns: Sequence[pa.Array], texts: Sequence[str]) -> np.ndarray:
    if not columns:
        return np.arange(len(texts))
    named = {str(i): column for i, column in enumerate(columns)}
    try:
        order = pc.sort_indices(pa.table(named), sort_keys=[(n, "ascending") for n in named])
    except pa.ArrowNotImplementedError:
        return np.argsort(np.array(texts, dtype=object), kind="stable")
    return np.frombuffer(order.buffers()[1], np.uint64)[: len(texts)].astype(np.int64)
