"""Rows apart by partition and bucket."""

from itertools import islice

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.definitions import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    RowType,
    TypeRoot,
)
from paimon_explore.write.buckets.partition_grouping import partitions_of, split_rows

DT = DataField(id=0, name="dt", type=AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH))
HR = DataField(id=1, name="hr", type=AtomicType(root=TypeRoot.INT))
BATCH = pa.RecordBatch.from_arrays(
    [
        pa.array(["b", "a", None, "b", "a", None]),
        pa.array([1, 1, 2, 1, None, 2], pa.int32()),
        pa.array([0, 1, 2, 3, 4, 5]),
    ],
    names=["dt", "hr", "v"],
)


def test_equal_partition_values_share_a_number_and_nulls_are_values() -> None:
    found = partitions_of(BATCH, RowType(fields=(DT, HR)))
    assert len(found.keys) == 4
    numbers = found.numbers.tolist()
    assert numbers[0] == numbers[3]
    assert numbers[2] == numbers[5]
    assert len(set(numbers)) == 4
    assert found.keys[numbers[0]].hex() == (
        "00000002000000000000000062000000000000810100000000000000"
    )


def test_a_table_without_partitions_has_one_with_the_empty_row() -> None:
    found = partitions_of(BATCH, RowType(fields=()))
    assert found.keys == (bytes(12),)
    assert found.numbers.tolist() == [0] * 6


def test_rows_of_a_group_keep_their_order() -> None:
    partitions = partitions_of(BATCH, RowType(fields=(DT,)))
    buckets = np.array([1, 0, 0, 1, 0, 1], np.int32)
    groups = {
        (group.partition[-8:-7], group.bucket): group.rows.column("v").to_pylist()
        for group in split_rows(BATCH, partitions, buckets)
    }
    assert groups == {
        (b"b", 1): [0, 3],
        (b"a", 0): [1, 4],
        (b"\0", 0): [2],
        (b"\0", 1): [5],
    }
    postponed = split_rows(BATCH, partitions, np.full(6, -2, np.int32))
    assert [(group.bucket, group.rows.num_rows) for group in postponed] == [(-2, 2)] * 3


def test_one_row_is_in_one_partition() -> None:
    assert len(partitions_of(BATCH.slice(2, 1), RowType(fields=(DT, HR))).keys) == 1


def test_rows_are_split_into_more_groups_than_16_bits_count() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array(range(70_000))], names=["v"])
    partitions = partitions_of(rows, RowType(fields=()))
    groups = split_rows(rows, partitions, np.arange(70_000, dtype=np.int32))
    assert [group.rows.column("v").to_pylist() for group in islice(groups, 2)] == [[0], [1]]


def test_a_single_group_is_passed_on_as_it_is() -> None:
    partitions = partitions_of(BATCH, RowType(fields=()))
    groups = list(split_rows(BATCH, partitions, np.zeros(6, np.int32)))
    assert len(groups) == 1
    assert groups[0].rows is BATCH


def test_numbers_that_are_far_apart_are_brought_together() -> None:
    many = pa.RecordBatch.from_arrays(
        [pa.array(range(300), pa.int32()), pa.array(["x"] * 300)], names=["hr", "dt"]
    )
    buckets = (np.arange(300) * 7_000_000).astype(np.int32)
    partitions = partitions_of(many, RowType(fields=(HR, DT)))
    groups = list(split_rows(many, partitions, buckets))
    assert len(groups) == 300
    assert [group.bucket for group in groups][:3] == [0, 7_000_000, 14_000_000]
