"""Group the rows of a batch by partition and bucket.

Partitions are numbered by dictionary encoding, so that a partition row is encoded once per batch
and not once per row. One stable sort of small numbers groups the rows, which keeps the order of
rows within a group.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_fixed,
    fixed_values,
    take_rows,
)
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.frozen_dataclass import dataclass

_SPARSE = 4
_SMALL = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows of one bucket.

    Attributes:
        partition: binary row with its arity.
        bucket: the bucket.
        rows: the rows in input order.
    """

    partition: bytes
    bucket: int
    rows: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of n rows.

    Attributes:
        numbers: the number of each row's partition, from 0.
        keys: the partitions' binary rows with arity, by number.
    """

    numbers: Ints
    keys: tuple[bytes, ...]


def partitions_of(batch: pa.RecordBatch, partition_type: RowType) -> Partitions:
    """Number the partitions that rows belong to.

    Args:
        batch: n rows with the partition columns.
        partition_type: the partition columns in partition-key order.
    """
    if not len(partition_type):
        return Partitions(np.zeros(batch.num_rows, np.int64), (EMPTY_ROW,))
    columns = [batch.column(name) for name in partition_type.names]
    numbers, firsts = _numbered(columns, batch.num_rows)
    types = [field.type for field in partition_type]
    return Partitions(numbers, tuple(row_images([take_rows(c, firsts) for c in columns], types)))


def _numbered(columns: Sequence[Column], count: int) -> tuple[Ints, Ints]:
    """Number distinct rows from 0; also return the first row of each number."""
    numbers = np.zeros(count, np.int64)
    firsts = np.zeros(1, np.int64)
    for column in columns if count > 1 else ():
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = fixed_values(encoded.indices, np.int32).astype(np.int64)
        numbers, firsts = _dense(numbers * len(encoded.dictionary) + codes)
    return numbers, firsts


def _dense(codes: Ints) -> tuple[Ints, Ints]:
    """Renumber codes without gaps in code order; also return the first row of each number."""
    top = int(codes.max()) + 1
    if top > _SPARSE * len(codes) + _SMALL:
        _, firsts, numbers = np.unique(codes, return_index=True, return_inverse=True)
        return numbers.astype(np.int64), firsts.astype(np.int64)
    seen = np.full(top, -1, np.int64)
    seen[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    present = seen >= 0
    return (np.cumsum(present) - 1)[codes], seen[present]


def split_rows(
    batch: pa.RecordBatch, partitions: Partitions, buckets: npt.NDArray[np.int32]
) -> Iterator[Group]:
    """Split rows by partition and bucket.

    Args:
        batch: n rows, at least one.
        partitions: partitions of the n rows.
        buckets: buckets of the n rows.

    Yields:
        Groups by partition number, then bucket; none is empty.
    """
    if len(partitions.keys) == 1 and (buckets == buckets[0]).all():
        yield Group(partition=partitions.keys[0], bucket=int(buckets[0]), rows=batch)
        return
    low = int(buckets.min())
    width = int(buckets.max()) - low + 1
    codes, firsts = _dense(partitions.numbers * width + (buckets - low))
    small = codes.astype(np.uint16) if len(firsts) <= _SMALL else codes
    order = np.argsort(small, kind="stable")
    sorted_rows = batch.take(build_fixed(pa.int64(), order))  # type: ignore[arg-type]  # int64
    ends = np.cumsum(np.bincount(codes))
    start = 0
    for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
        yield Group(
            partition=partitions.keys[int(partitions.numbers[first])],
            bucket=int(buckets[first]),
            rows=sorted_rows.slice(start, end - start),
        )
        start = end
