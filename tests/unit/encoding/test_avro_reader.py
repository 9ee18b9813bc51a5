"""Avro files as Arrow columns, and the other way round."""

import json
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.avro.container import (
    read_blocks,
    read_header,
    write_block,
    write_header,
)
from paimon_explore.encoding.avro.manifest_record_offsets import entry_starts
from paimon_explore.encoding.avro.reader import avro_fields, read_avro, read_columns
from paimon_explore.encoding.avro.writer import AvroWriter, avro_schema, write_avro
from paimon_explore.errors import CorruptFileError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.manifest.manifest_codec import encode_records
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA
from paimon_explore.metadata.manifest.record_layouts import ENTRY_LAYOUT
from support.avro_records import records
from support.entries import entries, entry
from support.golden import GoldenTables

TEXTS = pa.field("t", pa.string())


def round_trip(table: pa.Table, codec: str = "null") -> pa.Table:
    data = written(table, codec)
    return pa.Table.from_batches(read_avro(data, table.schema, "f"), schema=table.schema)


def written(table: pa.Table, codec: str = "null", schema: bytes | None = None) -> bytes:
    columns = [column.combine_chunks() for column in table.columns]
    return write_avro(schema or avro_schema(table.schema), columns, codec)


def one_column(array: Column, *, nullable: bool = True) -> pa.Table:
    return pa.table([array], schema=pa.schema([pa.field("c", array.type, nullable=nullable)]))


ARRAYS: list[Column] = [
    pa.array([True, None, False]),
    pa.array([-128, None, 127], pa.int8()),
    pa.array([-(2**15), 0], pa.int16()),
    pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
    pa.array([-(2**63), 2**63 - 1, 0, 63, 64, -64, -65, 2**55, 2**56, None], pa.int64()),
    pa.array([1.5, None, float("inf")], pa.float32()),
    pa.array([1.5, -0.0, None], pa.float64()),
    pa.array(["", "a", None, "漢字", "x" * 9000]),
    pa.array([b"", b"\0\xff", None, b"y" * 70_000]),
    pa.array([b"abc", None], pa.large_binary()),
    pa.array([date(1969, 12, 31), None]),
    pa.array([0, 86_399_999, None], pa.time32("ms")),
    pa.array([0, -1, None], pa.timestamp("s")),
    pa.array([0, -1, 253_402_300_799_999, None], pa.timestamp("ms")),
    pa.array([0, -1, None], pa.timestamp("us")),
    pa.array([1, None], pa.timestamp("ms", "UTC")),
    pa.array([1, None], pa.timestamp("us", "UTC")),
    pa.array([Decimal("0.00"), Decimal("-1.28"), Decimal("1.28"), None], pa.decimal128(10, 2)),
    pa.array([Decimal(10**37), Decimal(-(10**37)), Decimal(2**63)], pa.decimal128(38, 0)),
    pa.array([[1, None], [], None, [300] * 100], pa.list_(pa.int64())),
    pa.array([[[1], []], None, [None, [2, 3]]], pa.list_(pa.list_(pa.int32()))),
    pa.array([[("a", 1), ("b", None)], [], None], pa.map_(pa.string(), pa.int64())),
    pa.array([[(1, "x")], [], None, [(2, None), (3, "y")]], pa.map_(pa.int32(), pa.string())),
    pa.array([{"x": 1, "y": ["a"]}, None, {"x": None, "y": None}]),
    pa.array([[{"x": 1}, None], None, []]),
    pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
    pa.array([[1.5], [2.5, 3.5], [], None, [4.5]], pa.list_(pa.float64())),
    pa.array([[True, None], [False], []], pa.list_(pa.bool_())),
    pa.array([[1.5], [2.5, 3.5], []], pa.list_(pa.field("element", pa.float32(), nullable=False))),
    pa.array([[1.5, 2.5]] * 2, pa.list_(pa.field("element", pa.float64(), nullable=False), 2)),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_values_of_every_type_survive_a_round_trip(array: Column) -> None:
    table = one_column(array)
    again = round_trip(table)
    again.validate(full=True)
    assert again.to_pylist() == table.to_pylist()
    sliced = table.slice(1)
    assert round_trip(sliced).to_pylist() == sliced.to_pylist()


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_many_blocks_are_walked_in_step_with_the_same_result(array: Column) -> None:
    rows = one_column(array).to_pylist()
    schema = one_column(array).schema
    parts: list[bytes] = []
    for index in range(60):  # so many that blocks are walked in step
        some = rows[index % 2 :] if len(rows) > 1 else rows
        data = written(pa.Table.from_pylist(some, schema=schema))
        parts.append(data)
    table, counts = read_columns([(str(i), data) for i, data in enumerate(parts)], list(schema))
    expected = [row for index in range(60) for row in (rows[index % 2 :] if index % 2 else rows)]
    assert table.to_pylist() == expected
    assert sum(counts) == len(expected)


def test_large_files_have_blocks_of_64_kb() -> None:
    table = pa.table({"n": pa.array(range(100_000), pa.int64())})
    data = written(table, "zstandard")
    sizes = [len(block.data) for block in read_blocks(data, read_header(data))]
    assert all(64_000 <= size < 64_010 for size in sizes[:-1])
    assert round_trip(table, "zstandard").equals(table)


def test_a_writer_takes_batches_and_tells_its_size() -> None:
    schema = pa.schema((pa.field("a", pa.int64(), nullable=False), TEXTS))
    parts: list[bytes] = []
    writer = AvroWriter(parts.append, avro_schema(schema), "snappy")
    for first in (0, 10):
        rows = [{"t": str(n), "a": n} for n in range(first, first + 10)]
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    writer.close()
    data = b"".join(parts)
    assert (writer.rows, writer.size) == (20, len(data))
    found = [row for batch in read_avro(data, None, "f") for row in batch.to_pylist()]
    assert found == [{"a": n, "t": str(n)} for n in range(20)]
    with pytest.raises(InvalidInputError, match=r"lack the columns 't'"):
        writer.write_batch(pa.RecordBatch.from_pylist([{"a": 1}]))


def test_files_without_rows_give_no_batch() -> None:
    schema = pa.schema([TEXTS])
    assert list(read_avro(written(schema.empty_table()), schema, "f")) == []


def test_columns_are_found_by_name_and_absent_ones_are_null() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", "y"], "c": [[1], [2]]})
    wanted = pa.schema([pa.field("z", pa.list_(pa.int32())), pa.field("b", pa.string())])
    (batch,) = read_avro(written(table), wanted, "f")
    assert batch.to_pylist() == [{"z": None, "b": "x"}, {"z": None, "b": "y"}]
    assert batch.schema == wanted


def test_a_required_column_must_be_there_and_not_null() -> None:
    data = written(pa.table({"a": pa.array([1, None], pa.int64())}))
    with pytest.raises(CorruptFileError, match="f: b must be present"):
        list(read_avro(data, pa.schema([pa.field("b", pa.int64(), nullable=False)]), "f"))
    with pytest.raises(CorruptFileError, match="f: a must not be null"):
        list(read_avro(data, pa.schema([pa.field("a", pa.int64(), nullable=False)]), "f"))


def test_nested_fields_are_found_by_name_too() -> None:
    table = pa.table({"r": [{"x": 1, "y": "a"}, None]})
    inner = pa.struct([pa.field("y", pa.string()), pa.field("new", pa.int8())])
    (batch,) = read_avro(written(table), pa.schema([pa.field("r", inner)]), "f")
    assert batch.to_pylist() == [{"r": {"y": "a", "new": None}}, {"r": None}]


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (pa.array([1]), pa.string()),
        (pa.array(["a"]), pa.int64()),
        (pa.array([b"a"]), pa.string()),
        (pa.array([1.5]), pa.float32()),
        (pa.array([1]), pa.timestamp("ms")),
        (pa.array([[1]]), pa.int64()),
        (pa.array([[1]]), pa.map_(pa.string(), pa.int64())),
        (pa.array([{"a": 1}]), pa.list_(pa.int64())),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), pa.list_(pa.int64())),
        (pa.array([1]), pa.struct([pa.field("a", pa.int64())])),
    ],
)
def test_types_that_do_not_agree_are_corrupt(array: Column, wanted: pa.DataType) -> None:
    with pytest.raises(CorruptFileError, match=r"f: c has the Avro type .* and cannot be read as"):
        list(read_avro(written(one_column(array)), pa.schema([pa.field("c", wanted)]), "f"))


@pytest.mark.parametrize(
    ("array", "wanted", "rule"),
    [
        (pa.array([300]), pa.int8(), "does not fit int8"),
        (pa.array([2**40]), pa.int32(), "does not fit int32"),
        (pa.array([2**62], pa.timestamp("ms")), pa.timestamp("us"), "does not fit"),
        (pa.array([[1, 2]]), pa.list_(pa.int64(), 3), "each list must have 3 items"),
        (pa.array([Decimal("99.9")]), pa.decimal128(2, 1), "does not fit"),
    ],
)
def test_values_that_do_not_fit_are_corrupt(array: Column, wanted: pa.DataType, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=f"f\\b.* c.* {rule}"):
        list(read_avro(written(one_column(array)), pa.schema([pa.field("c", wanted)]), "f"))


def test_timestamps_are_given_in_the_wanted_unit() -> None:
    data = written(one_column(pa.array([1_999, -1], pa.timestamp("ms"))))
    for wanted, expected in (
        (pa.timestamp("s"), [1, -1]),
        (pa.timestamp("us"), [1_999_000, -1_000]),
    ):
        (batch,) = read_avro(data, one_column(pa.array([], wanted)).schema, "f")
        assert batch.column(0).cast(pa.int64()).to_pylist() == expected


def test_the_schema_of_a_data_file_is_that_of_java() -> None:
    multiset = pa.map_(pa.string(), pa.field("value", pa.int32(), nullable=False))  # type: ignore[call-overload]  # in stubs
    schema = pa.schema(
        (
            pa.field("k", pa.int32(), nullable=False),
            pa.field("z", pa.timestamp("us", "UTC")),
            pa.field("m", multiset),
            pa.field("n", pa.list_(pa.struct([pa.field("q", pa.map_(pa.int32(), pa.int64()))]))),
        )
    )
    assert json.loads(avro_schema(schema)) == {
        "type": "record",
        "name": "record",
        "namespace": "org.apache.paimon.avro.generated",
        "fields": [
            {"name": "k", "type": "int"},
            {
                "name": "z",
                "type": ["null", {"type": "long", "logicalType": "local-timestamp-micros"}],
                "default": None,
            },
            {
                "name": "m",
                "type": ["null", {"type": "map", "values": ["null", "int"]}],
                "default": None,
            },
            {
                "name": "n",
                "type": [
                    "null",
                    {
                        "type": "array",
                        "items": [
                            "null",
                            {
                                "type": "record",
                                "name": "record_n",
                                "fields": [
                                    {
                                        "name": "q",
                                        "type": [
                                            "null",
                                            {
                                                "type": "array",
                                                "items": {
                                                    "type": "record",
                                                    "name": "record_n_q",
                                                    "fields": [
                                                        {"name": "key", "type": "int"},
                                                        {
                                                            "name": "value",
                                                            "type": ["null", "long"],
                                                            "default": None,
                                                        },
                                                    ],
                                                },
                                                "logicalType": "map",
                                            },
                                        ],
                                        "default": None,
                                    }
                                ],
                            },
                        ],
                    },
                ],
                "default": None,
            },
        ],
    }


def test_types_that_avro_files_cannot_hold_are_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match=r"timestamp\[ns\]"):
        avro_schema(pa.schema([pa.field("t", pa.timestamp("ns"))]))


def test_values_that_the_schema_does_not_allow_are_refused() -> None:
    needed = avro_schema(pa.schema([pa.field("c", pa.int64(), nullable=False)]))
    with pytest.raises(InvalidInputError, match="Column 'c' is NOT NULL, but contains null"):
        write_avro(needed, [pa.array([1, None])])
    with pytest.raises(InvalidInputError, match="must be an integer column"):
        write_avro(needed, [pa.array([1.5])])
    millis = avro_schema(pa.schema([pa.field("c", pa.timestamp("ms"))]))
    with pytest.raises(InvalidInputError, match="more precise than the Avro type timestamp-millis"):
        write_avro(millis, [pa.array([1], pa.timestamp("us"))])


def test_records_may_be_nullable_but_not_null() -> None:
    data = written(pa.table({"a": [1, 2]}))
    plain = json.loads(read_header(data).schema)
    union = json.dumps(["null", plain]).encode()
    bodies = [block.data for block in read_blocks(data, read_header(data))]
    (body,) = bodies  # per record: branch of the field's union and the number
    tagged = b"\x02" + body[:2] + b"\x02" + body[2:]
    header = read_header(data)
    again = _container(union, header.sync, 2, tagged)
    assert [batch.to_pylist() for batch in read_avro(again, None, "f")] == [[{"a": 1}, {"a": 2}]]
    with pytest.raises(CorruptFileError, match="a record must not be null"):
        list(read_avro(_container(union, header.sync, 1, b"\x00"), None, "f"))
    with pytest.raises(CorruptFileError, match="must refer to a type in the union"):
        list(read_avro(_container(union, header.sync, 1, b"\x04"), None, "f"))


def _container(schema: bytes, sync: bytes, count: int, body: bytes) -> bytes:
    return write_header(schema, "null", sync) + write_block(count, body, "null", sync)


LONGS = b'{"type":"record","name":"r","fields":[{"name":"a","type":"long"}]}'
ITEMS = (
    b'{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"long"}}]}'
)


@pytest.mark.parametrize(
    ("schema", "count", "body", "rule"),
    [
        (LONGS, 1, b"\x02\x02", "must fill the block exactly"),
        (LONGS, 3, b"\x80\x80\x01", "must fill the block exactly"),
        (LONGS, 1, b"\xff" * 11, "at most 10 bytes|must fill the block exactly"),
        (ITEMS, 1, b"\xfe\xff\xff\xff\xff\x0f", "an item count must not be greater than"),
        (ITEMS, 1, b"\x04\x02\x02", "must fill the block exactly"),
        (
            LONGS.replace(b"long", b"string"),
            1,
            b"\x7e",
            "extends beyond the end of the block|must fill the block exactly",
        ),
        (LONGS.replace(b"long", b"string"), 1, b"\x03ab", "extends beyond the end of the block"),
        (LONGS.replace(b"long", b"string"), 1, b"\x04\xff\xfe", "text must be UTF-8"),
        (LONGS.replace(b"long", b"boolean"), 1, b"\x02", "a boolean must be 0 or 1"),
    ],
)
@pytest.mark.parametrize("blocks", [1, 60])
def test_records_that_break_the_format_are_corrupt(
    schema: bytes, count: int, body: bytes, rule: str, blocks: int
) -> None:
    sync = bytes(16)
    data = write_header(schema, "null", sync) + write_block(count, body, "null", sync) * blocks
    with pytest.raises(CorruptFileError, match=rule):
        list(read_avro(data, None, "f"))


def test_arrays_may_be_in_several_sized_blocks() -> None:
    body = b"\x02\x0a" + b"\x03\x04\x0c\x0e" + b"\x00"  # [5] then, with its size, [6, 7]
    data = _container(ITEMS, bytes(16), 1, body)
    assert [batch.to_pylist() for batch in read_avro(data, None, "f")] == [[{"a": [5, 6, 7]}]]


def test_the_fields_of_a_file_are_told_in_its_types() -> None:
    table = pa.table({"a": pa.array([1], pa.timestamp("ms")), "b": [["x"]]})
    fields = avro_fields(written(table), "f")
    assert [(field.name, str(field.type), field.nullable) for field in fields] == [
        ("a", "timestamp[ms]", True),
        ("b", "list<element: string>", True),
    ]
    with pytest.raises(CorruptFileError, match=r"^Corrupt data in f\b"):
        avro_fields(b"Obj\x01", "f")


@pytest.mark.parametrize("writer", ["java200", "java09", "pypaimon21", "rust04"])
def test_real_data_files_agree_with_fastavro(golden: GoldenTables, writer: str) -> None:
    folder = golden.table(writer, "append_avro").folder
    files = sorted(folder.rglob("*.avro"))
    assert files
    for file in files:
        theirs = [record for record in records(file) if record]
        ours = [row for b in read_avro(file.read_bytes(), None, file.name) for row in b.to_pylist()]
        assert ours == theirs


def manifest(*names: str, partition: bytes = bytes(12)) -> bytes:
    return encode_records(entries(*(entry(name, partition=partition) for name in names)), "null")


FIELDS = ENTRY_LAYOUT.read_fields(
    pa.schema((ENTRY_SCHEMA.field("file_name"), ENTRY_SCHEMA.field("partition")))
)


def file_names(*files: bytes) -> list[object]:
    pairs = [(str(index), data) for index, data in enumerate(files)]
    table, _ = read_columns(pairs, FIELDS, starts=entry_starts)
    return [row["_FILE"]["_FILE_NAME"] for row in table.to_pylist()]


def test_entries_are_found_by_how_they_begin() -> None:
    assert file_names(manifest("a", "b"), manifest("c")) == ["a", "b", "c"]
    large = bytes(3) + b"\x01" + bytes(100)
    assert file_names(manifest("a", "b", partition=large)) == ["a", "b"]


def test_bytes_that_look_like_an_entry_mislead_nobody() -> None:
    fake = "\x04\x00\x18" + "\x00" * 12
    assert file_names(manifest("a", fake + "b", "c")) == ["a", fake + "b", "c"]
    mixed = encode_records(
        entries(entry("a"), entry(fake, partition=b"\0\0\0\1" + bytes(16)), entry("c")), "null"
    )
    assert file_names(mixed) == ["a", fake, "c"]


def test_the_natural_type_of_a_map_depends_on_its_keys() -> None:
    table = pa.table(
        {
            "t": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
            "n": pa.array([[(1, "a")]], pa.map_(pa.int32(), pa.string())),
            "r": pa.array([{"x": Decimal("1.5")}], pa.struct([pa.field("x", pa.decimal128(3, 1))])),
        }
    )
    (batch,) = read_avro(written(table), None, "f")
    assert [str(kind) for kind in batch.schema.types] == [
        "map<string, int64>",
        "map<int32, string>",
        "struct<x: decimal128(3, 1)>",
    ]
    assert batch.to_pylist() == table.to_pylist()


def test_an_array_marked_as_map_must_have_key_and_value() -> None:
    pair = b'{"type":"record","name":"p","fields":[{"name":"key","type":"long"}]}'
    items = b'{"type":"array","logicalType":"map","items":' + pair + b"}"
    schema = LONGS.replace(b'"long"', items)
    with pytest.raises(CorruptFileError, match="must have the fields 'key' and 'value'"):
        list(read_avro(_container(schema, bytes(16), 1, b"\0"), None, "f"))


def fixed(size: int, **logical: object) -> bytes:
    kind = {"type": "fixed", "name": "F", "size": size, **logical}
    return LONGS.replace(b'"long"', json.dumps(kind).encode())


def test_fixed_values_are_binary_of_their_size_or_decimals() -> None:
    column = pa.array([b"ab", b"cd"], pa.binary(2))
    data = write_avro(fixed(2), [column], "null")
    (batch,) = read_avro(data, None, "f")
    assert batch.column(0).equals(column)
    with pytest.raises(InvalidInputError, match="must have 3 bytes each"):
        write_avro(fixed(3), [column], "null")
    schema = fixed(2, logicalType="decimal", precision=4, scale=2)
    (batch,) = read_avro(write_avro(schema, [pa.array([b"\xff\x38", b"\0\x64"])]), None, "f")
    assert batch.to_pylist() == [{"a": Decimal("-2.00")}, {"a": Decimal("1.00")}]
    with pytest.raises(CorruptFileError, match="has the Avro type bytes"):
        list(read_avro(data, pa.schema([pa.field("a", pa.binary(3))]), "f"))


@pytest.mark.parametrize("size", [0, 17])
def test_decimals_have_1_to_16_bytes(size: int) -> None:
    kind = b'{"type":"bytes","logicalType":"decimal","precision":10,"scale":2}'
    schema = LONGS.replace(b'"long"', kind)
    body = bytes([2 * size]) + bytes(size)
    with pytest.raises(CorruptFileError, match="a decimal must have 1 to 16 bytes"):
        list(read_avro(_container(schema, bytes(16), 1, body), None, "f"))


@pytest.mark.parametrize("digits", [2, 9, 18])
def test_decimals_with_too_many_digits_of_a_sum_are_null(digits: int) -> None:
    limit = 10**digits
    unscaled = pa.array([limit, limit - 1, None, 1 - limit, -limit], pa.decimal128(38, 0))
    stored = pa.Array.from_buffers(pa.decimal128(digits, 0), 5, unscaled.buffers())
    found = round_trip(one_column(stored)).column("c").to_pylist()
    assert found == [None, limit - 1, None, 1 - limit, None]


def test_columns_of_another_shape_cannot_be_written() -> None:
    nested = pa.table({"c": [{"x": 1, "y": [1]}]})
    schema = avro_schema(nested.schema)
    for array, rule in (
        (pa.array([5]), "must be structs"),
        (pa.array([{"x": 1}]), "lacks the fields 'y'"),
        (pa.array([{"x": 1, "y": 5}]), "must be a list or map"),
    ):
        with pytest.raises(InvalidInputError, match=rule):
            write_avro(schema, [array])


def test_records_are_walked_when_they_do_not_begin_like_entries() -> None:
    data = written(pa.table({"a": [1, 2, 3]}))
    table, counts = read_columns([("f", data)], [pa.field("a", pa.int64())], starts=entry_starts)
    assert (table.to_pylist(), counts) == ([{"a": 1}, {"a": 2}, {"a": 3}], [3])


def test_a_damaged_file_among_many_is_named() -> None:
    good = written(pa.table({"a": ["x"]}))
    bad = bytearray(good)
    bad[-18] = 0x7F  # the text's size
    with pytest.raises(CorruptFileError, match=r"^Corrupt data in two\b"):
        read_columns([("one", good), ("two", bytes(bad))], [pa.field("a", pa.string())])


@pytest.mark.parametrize("count", [1, 200, 3000])
@pytest.mark.parametrize("rows", [1, 40, 120])
def test_a_few_long_arrays_among_short_ones_keep_their_items(count: int, rows: int) -> None:
    lists = [[f"{row}.{n}" for n in range(count if row % 40 == 0 else 2)] for row in range(rows)]
    sizes = [count if row % 40 == 7 else 1 for row in range(rows)]
    maps = [[(f"k{n}", "v") for n in range(size)] for size in sizes]
    kind = pa.map_(pa.string(), pa.string())
    table = pa.table({"a": pa.array(lists), "m": pa.array(maps, kind), "z": pa.array(range(rows))})
    columns = [column.combine_chunks() for column in table.columns]
    data = write_avro(avro_schema(table.schema), columns, "null")
    found = pa.Table.from_batches(list(read_avro(data, table.schema, "f")), schema=table.schema)
    assert found.equals(table)
