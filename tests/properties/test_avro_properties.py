"""Avro round trips of random columns, agreement with another reader, and damaged files."""

import json
from io import BytesIO

import fastavro
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.encoding.avro.container import read_blocks, read_header
from paimon_explore.encoding.avro.reader import read_avro
from paimon_explore.encoding.avro.writer import avro_schema, write_avro

LONGS = st.integers(-(2**63), 2**63 - 1)
PLAIN: list[tuple[pa.DataType, st.SearchStrategy[object]]] = [
    (pa.int64(), LONGS),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.string(), st.text(max_size=20)),
    (pa.binary(), st.binary(max_size=80)),
]


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2) -> tuple[pa.DataType, st.SearchStrategy[object]]:
    """An Arrow type and its values, nulls among them."""
    shape = draw(st.sampled_from(["plain", "list", "map", "struct"])) if depth else "plain"
    if shape == "plain":
        kind, values = draw(st.sampled_from(PLAIN))
        return kind, st.none() | values
    inner, values = draw(kinds(depth=depth - 1))
    if shape == "list":
        return pa.list_(pa.field("element", inner)), st.none() | st.lists(values, max_size=4)
    if shape == "map":
        keys = st.text(max_size=5)
        pairs = st.lists(st.tuples(keys, values), max_size=3, unique_by=lambda pair: pair[0])
        return pa.map_(pa.string(), inner), st.none() | pairs
    other, others = draw(kinds(depth=depth - 1))
    struct = pa.struct([pa.field("x", inner), pa.field("y", other)])
    return struct, st.none() | st.fixed_dictionaries({"x": values, "y": others})


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    columns = [draw(kinds()) for _ in range(draw(st.integers(1, 3)))]
    rows = draw(st.lists(st.tuples(*(values for _, values in columns)), max_size=8))
    schema = pa.schema([pa.field(f"c{i}", kind) for i, (kind, _) in enumerate(columns)])
    dicts = [{f"c{i}": value for i, value in enumerate(row)} for row in rows]
    return pa.Table.from_pylist(dicts, schema=schema)


def written(table: pa.Table, codec: str = "null") -> bytes:
    columns = [column.combine_chunks() for column in table.columns]
    return write_avro(avro_schema(table.schema), columns, codec)


@given(tables(), st.sampled_from(["null", "zstandard", "snappy"]))
def test_columns_come_back_as_they_were(table: pa.Table, codec: str) -> None:
    batches = list(read_avro(written(table, codec), table.schema, "f"))
    again = pa.Table.from_batches(batches, schema=table.schema)
    again.validate(full=True)
    assert again.to_pylist() == table.to_pylist()


@given(tables())
def test_another_reader_finds_the_same_values(table: pa.Table) -> None:
    data = written(table)
    header = read_header(data)
    schema = fastavro.parse_schema(json.loads(header.schema))
    theirs = []
    for block in read_blocks(data, header):
        stream = BytesIO(block.data)
        theirs += [fastavro.schemaless_reader(stream, schema, None) for _ in range(block.count)]
        assert stream.tell() == len(block.data)
    assert [plain(row) for row in theirs] == [plain(row) for row in table.to_pylist()]


def plain(value: object) -> object:
    """Maps as dicts, whoever made them."""
    if isinstance(value, list):
        if value and all(isinstance(item, tuple) for item in value):
            return {key: plain(inner) for key, inner in value}
        return [plain(item) for item in value] or None
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()} or None
    return value
