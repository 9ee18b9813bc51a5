"""fastavro as a second decoder: what agrees, what differs, and damaged files."""

import json
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore import limits
from paimon_explore.encoding.avro.container import PACK, read_header, write_block, write_header
from paimon_explore.encoding.avro.cross_check import cross_check, cross_check_beginning
from paimon_explore.encoding.avro.fastavro_reader import fastavro_records
from paimon_explore.encoding.avro.writer import avro_schema, write_avro
from paimon_explore.errors import CorruptFileError, ResourceLimitError

TABLE = pa.table(
    {
        "flag": pa.array([True, None]),
        "number": pa.array([-(2**63), 2**63 - 1]),
        "float": pa.array([float("nan"), -0.0], pa.float32()),
        "double": pa.array([1.5, None]),
        "text": pa.array(["漢字", None]),
        "bytes": pa.array([b"\0\xff", b""]),
        "date": pa.array([2**31 - 1, -(2**31)], pa.int32()).cast(pa.date32()),
        "time": pa.array([0, 86_399_999], pa.time32("ms")),
        "millis": pa.array([2**60, -(2**60)], pa.timestamp("ms")),
        "micros": pa.array([1, None], pa.timestamp("us", "UTC")),
        "decimal": pa.array([Decimal("0.01"), -Decimal(10**35)], pa.decimal128(38, 2)),
        "list": pa.array([[[1, None], []], None], pa.list_(pa.list_(pa.int32()))),
        "row": pa.array([{"x": 1, "y": ["a"]}, None]),
        "map": pa.array([[("a", 1.5), ("b", None)], []], pa.map_(pa.string(), pa.float64())),
        "keys": pa.array([[(1, "x")], None], pa.map_(pa.int32(), pa.string())),
    }
)


def file_of(table: pa.Table, codec: str = "zstandard") -> bytes:
    columns = [column.combine_chunks() for column in table.columns]
    return write_avro(avro_schema(table.schema), columns, codec)


@pytest.mark.parametrize("codec", sorted(PACK))
def test_values_of_every_type_are_read_alike_in_every_codec(codec: str) -> None:
    data = file_of(TABLE, codec)
    found = cross_check_beginning(data, "f", len(data), most_seconds=60)
    assert str(found) == "fastavro agrees on all 2 records"


def test_a_value_inside_of_a_record_is_compared() -> None:
    data = file_of(TABLE.select(["row"]))
    column = pa.chunked_array([pa.array([{"x": 1, "y": ["b"]}, None])])
    found = cross_check(data, "f", {("row",): column})
    assert [str(one) for one in found.disagreements] == [
        (
            "record 0, field row: paimon_explore reads {'x': 1, 'y': ['b']}, "
            "fastavro reads {'x': 1, 'y': ['a']}"
        )
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pa.array([1]), pa.array([True])),
        (pa.array([1.0]), pa.array([1])),
        (pa.array([0.0]), pa.array([float("nan")])),
        (pa.array(["a"]), pa.array([b"a"])),
        (pa.array([[1]]), pa.array([[1, 2]])),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), pa.array([{"a": 2}])),
    ],
    ids=str,
)
def test_values_of_different_types_differ(ours: pa.Array, theirs: pa.Array) -> None:  # type: ignore[type-arg]  # in stubs
    data = file_of(pa.table({"c": theirs}))
    found = cross_check(data, "f", {("c",): pa.chunked_array([ours])})
    assert [(one.record, one.field) for one in found.disagreements] == [(0, "c")]


def test_only_the_first_disagreements_are_told() -> None:
    data = file_of(pa.table({"c": pa.array(range(100), pa.int64())}))
    wrong = pa.chunked_array([pa.array(range(1, 101), pa.int64())])
    found = cross_check(data, "f", {("c",): wrong})
    assert (len(found.disagreements), found.records, found.is_whole) == (10, 10, False)


def test_a_file_cut_at_any_byte_is_a_finding_and_no_other_error() -> None:
    data = file_of(TABLE, "null")
    start = read_header(data).size
    column = TABLE.column("number")
    for end in range(start, len(data)):
        found = cross_check(data[:end], "f", {("number",): column})
        assert found.disagreements, end


def test_any_changed_byte_ends_in_a_result() -> None:
    data = file_of(TABLE.select(["number", "text", "list", "map"]), "null")
    column = TABLE.column("number")
    for place in range(read_header(data).size, len(data) - 16):
        for bits in (1, 0x80, 0xFF):
            changed = data[:place] + bytes([data[place] ^ bits]) + data[place + 1 :]
            assert cross_check(changed, "f", {("number",): column}).records <= 2


def crafted(schema: object, count: int, data: bytes) -> bytes:
    head = write_header(json.dumps(schema).encode(), "deflate", bytes(16))
    return head + write_block(count, data, "deflate", bytes(16))


def chain(depth: int) -> dict[str, object]:
    schema: object = "boolean"
    for level in range(depth):
        schema = {
            "type": "record",
            "name": f"r{level}",
            "fields": [{"name": "a", "type": schema}],
        }
    assert isinstance(schema, dict)
    return schema


@pytest.fixture
def small_memory() -> Iterator[None]:
    limits.set_memory_limit("70 MB")
    yield
    limits.set_memory_limit(None)


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ({"type": "record", "name": "r", "fields": [{"name": "a", "type": "bytes"}]}, 100 << 20),
        (chain(30), 1 << 16),
    ],
    ids=["a block that unpacks to 100 MB", "30 dictionaries for each byte"],
)
def test_what_takes_more_memory_than_the_limit_is_refused(schema: object, data: int) -> None:
    file = crafted(schema, 1, bytes(data))
    with pytest.raises(ResourceLimitError):
        next(fastavro_records(file, "f"))


@pytest.mark.parametrize(
    ("data", "where", "rule"),
    [
        (b"no file", "byte 0", "must start with the magic bytes 'Obj'"),
        (crafted("x", 1, b"a"), "avro.schema", "must be a type"),
        (crafted(chain(1), 2, b"\1"), "record 1", "fastavro cannot decode the block"),
        (crafted(chain(1), 1, b"\1\1"), "block at byte", "must fill the block exactly"),
        (crafted(chain(100), 1, b"\1"), "avro.schema", "at most 64 levels"),
    ],
)
def test_what_fastavro_cannot_read_is_told_with_its_place(
    data: bytes, where: str, rule: str
) -> None:
    with pytest.raises(CorruptFileError, match=rule) as error:
        list(fastavro_records(data, "f"))
    assert error.value.where.startswith(where)
