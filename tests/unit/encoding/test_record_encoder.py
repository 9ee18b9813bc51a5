"""A few records, encoded value by value, read as those encoded by columns."""

from typing import Any

import pyarrow as pa
import pytest

from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.avro.record_encoder import leaf_paths, write_few
from paimon_explore.encoding.avro.writer import avro_schema, write_avro

INNER = pa.struct([pa.field("x", pa.int64()), pa.field("y", pa.string(), nullable=False)])
SCHEMA = pa.schema(
    (
        pa.field("a", pa.int32(), nullable=False),
        pa.field("b", pa.int64()),
        pa.field("c", pa.string()),
        pa.field("d", pa.binary()),
        pa.field("e", pa.list_(pa.field("element", pa.int64()))),
        pa.field("f", pa.bool_()),
        pa.field("g", pa.float64()),
        pa.field("h", pa.list_(pa.field("element", INNER))),
        pa.field("i", pa.float32()),
    )
)
ROWS: list[list[Any]] = [
    [0, -1, "é中", b"\x00\xff", [1, None, -(2**40)], True, 1.5, [{"x": 1, "y": "q"}], 0.5],
    [-7, None, None, None, None, None, None, None, None],
    [2**31 - 1, 2**63 - 1, "", b"", [], False, -0.25, [None, {"x": None, "y": ""}], -2.0],
]
COLUMNS = [pa.array([row[i] for row in ROWS], field.type) for i, field in enumerate(SCHEMA)]


@pytest.mark.parametrize("codec", ["null", "zstandard", "snappy"])
def test_few_records_read_as_those_encoded_by_columns(codec: str) -> None:
    schema = avro_schema(SCHEMA)
    few = write_few(schema, ROWS, codec)
    many = write_avro(schema, COLUMNS, codec)
    found = [pa.Table.from_batches(read_avro(data, None, "t")) for data in (few, many)]
    assert found[0].equals(found[1])
    assert found[0].num_rows == 3


def test_values_of_records_inside_records_are_given_in_the_order_of_their_bytes() -> None:
    inner = pa.struct([pa.field("x", pa.int64()), pa.field("y", pa.string())])
    schema = avro_schema(pa.schema([pa.field("r", inner, nullable=False)]))
    assert leaf_paths(schema) == [("r", "x"), ("r", "y")]
    data = write_few(schema, [[1, "a"], [None, "b"]], "null")
    table = pa.Table.from_batches(read_avro(data, None, "t"))
    assert table.column("r").to_pylist() == [{"x": 1, "y": "a"}, {"x": None, "y": "b"}]


def test_no_record_is_a_header_without_blocks() -> None:
    schema = pa.schema([pa.field("a", pa.int32())])
    data = write_few(avro_schema(schema), [], "null")
    assert list(read_avro(data, None, "t")) == []
