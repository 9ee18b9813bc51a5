"""Containers put together block by block."""

import pyarrow as pa
import pytest

from paimon_explore.encoding.avro.container import (
    can_join,
    joined,
    read_blocks,
    read_header,
    repacked,
)
from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.avro.writer import avro_schema, write_avro
from paimon_explore.errors import CorruptFileError

SCHEMA = avro_schema(pa.schema([pa.field("a", pa.int64())]))


def container(*values: int, codec: str = "zstandard") -> bytes:
    return write_avro(SCHEMA, [pa.array(values, pa.int64())], codec)


def test_the_records_of_all_containers_come_in_order() -> None:
    data = joined([container(1, 2), container(), container(3), container(*range(10_000))])
    table = pa.Table.from_batches(read_avro(data, None, "t"))
    assert table.column("a").to_pylist() == [1, 2, 3, *range(10_000)]


def test_containers_of_other_codecs_or_schemas_cannot_be_joined() -> None:
    other = write_avro(
        avro_schema(pa.schema([pa.field("b", pa.int64())])), [pa.array([1])], "zstandard"
    )
    assert can_join(container(1), container(2))
    assert not can_join(container(1), container(2, codec="null"))
    assert not can_join(container(1), other)


def test_a_container_that_is_cut_short_is_refused() -> None:
    with pytest.raises(CorruptFileError, match="sync marker"):
        joined([container(1), container(2)[:-3]])


def test_blocks_of_few_records_become_large_ones() -> None:
    data = repacked([("p", container(value, value + 1)) for value in range(0, 20_000, 2)])
    table = pa.Table.from_batches(read_avro(data, None, "t"))
    assert table.column("a").to_pylist() == list(range(20_000))
    sizes = [len(block.data) for block in read_blocks(data, read_header(data))]
    assert sizes == [64_000, 7_744]


def test_containers_without_records_are_packed_into_one_without() -> None:
    data = repacked([("p", container()), ("q", container())])
    assert list(read_blocks(data, read_header(data))) == []


def test_a_damaged_container_is_named_when_it_is_packed_with_others() -> None:
    with pytest.raises(CorruptFileError, match="second: "):
        repacked([("first", container(1)), ("second", container(2)[:-3])])
