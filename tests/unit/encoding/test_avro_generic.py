"""Data files in generic Avro: what a Paimon type can take is read, the rest is named."""

import io
import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest

from paimon_explore import limits
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.encoding.avro.container import PACK, write_block, write_header
from paimon_explore.encoding.avro.fastavro_reader import fastavro_records
from paimon_explore.encoding.avro.reader import (
    AvroDataFile,
    avro_fields,
    field_names,
    read_avro,
    read_columns,
)
from paimon_explore.encoding.avro.schema import parse_avro_schema
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.errors import (
    CorruptFileError,
    PaimonError,
    ResourceLimitError,
    UnsupportedFeatureError,
)
from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes

COLOR = {"type": "enum", "name": "color", "symbols": ["RED", "GREEN"]}
FIXED = {"type": "fixed", "name": "pair", "size": 2}
NODE = {
    "type": "record",
    "name": "node",
    "fields": [{"name": "v", "type": "int"}, {"name": "next", "type": ["null", "node"]}],
}
TREE = {
    "type": "record",
    "name": "tree",
    "fields": [{"name": "kids", "type": {"type": "array", "items": "tree"}}],
}
RECURSIVE_MAP = {
    "type": "record",
    "name": "dir",
    "fields": [{"name": "files", "type": {"type": "map", "values": ["null", "dir"]}}],
}


def schema_of(kind: object) -> dict[str, object]:
    fields = [{"name": "id", "type": "long"}, {"name": "c", "type": kind}]
    return {"type": "record", "name": "r", "fields": fields}


def file_of(kind: object, values: Sequence[object], codec: str = "deflate") -> bytes:
    schema = json.dumps(schema_of(kind)).encode()
    parsed = fastavro.parse_schema(json.loads(schema))
    sink = io.BytesIO()
    for number, value in enumerate(values):
        fastavro.schemaless_writer(sink, parsed, {"id": number, "c": value})
    block = write_block(len(values), sink.getvalue(), codec, bytes(16))
    return write_header(schema, codec, bytes(16)) + block


def read(data: bytes, kind: pa.DataType, name: str = "c") -> list[object]:
    schema = pa.schema([pa.field(name, kind)])
    rows = pa.Table.from_batches(read_avro(data, schema, "f"), schema=schema)
    return [row[name] for row in rows.to_pylist()]


TEXT, LONG, DOUBLE = pa.string(), pa.int64(), pa.float64()
READABLE: dict[str, tuple[object, list[object], pa.DataType]] = {
    "enum": (COLOR, ["RED", "GREEN"], TEXT),
    "nullable enum": (["null", COLOR], [None, "GREEN"], TEXT),
    "enum or text": (["string", COLOR], ["RED", "blue"], TEXT),
    "enum or text or null": (["null", COLOR, "string"], ["RED", None, "blue"], TEXT),
    "int or long": (["int", "long"], [1, 2**40], LONG),
    "int or long or null": (["int", "null", "long"], [1, None, 2**40], LONG),
    "float or double": (["float", "double"], [0.5, 1e300], DOUBLE),
    "list of enums": ({"type": "array", "items": COLOR}, [["RED"], []], pa.list_(TEXT)),
    "list of unions": (
        {"type": "array", "items": ["null", "int", "long"]},
        [[1, None, 2**40], []],
        pa.list_(LONG),
    ),
    "record of an enum": (
        {"type": "record", "name": "in", "fields": [{"name": "e", "type": COLOR}]},
        [{"e": "GREEN"}],
        pa.struct([("e", TEXT)]),
    ),
}


@pytest.mark.parametrize("name", READABLE)
def test_values_that_a_paimon_type_takes_are_read(name: str) -> None:
    kind, values, wanted = READABLE[name]
    assert read(file_of(kind, values), wanted) == values


def test_a_map_of_enums_is_read() -> None:
    data = file_of({"type": "map", "values": COLOR}, [{"a": "RED"}, {}])
    assert read(data, pa.map_(TEXT, TEXT)) == [[("a", "RED")], []]


@pytest.mark.parametrize("codec", sorted(PACK))
def test_generic_files_are_read_in_every_codec(codec: str) -> None:
    assert read(file_of(COLOR, ["RED", "GREEN"], codec), TEXT) == ["RED", "GREEN"]


def test_many_records_are_read_in_their_order() -> None:
    values = [("RED", "GREEN")[number % 3 % 2] for number in range(30_000)]
    data = file_of(COLOR, values)
    assert read(data, TEXT) == values
    assert read(data, LONG, "id") == list(range(30_000))


UNREADABLE: dict[str, tuple[object, list[object], str]] = {
    "int or text": (["int", "string"], [1, "a"], "an Avro union of 2 types in field c"),
    "int or double": (["int", "double"], [1, 0.5], "an Avro union of 2 types in field c"),
    "bytes or fixed": (["bytes", FIXED], [b"abc"], "an Avro union of 2 types in field c"),
    "date or long": (
        [{"type": "int", "logicalType": "date"}, "long"],
        [1],
        "an Avro union of 2 types in field c",
    ),
    "a linked list": (
        NODE,
        [{"v": 1, "next": None}],
        "the recursive Avro record 'node' in field c",
    ),
    "a tree": (
        TREE,
        [{"kids": [{"kids": []}]}],
        "the recursive Avro record 'tree' in field c.kids",
    ),
    "a folder": (RECURSIVE_MAP, [{"files": {"a": None}}], "the recursive Avro record 'dir'"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_values_that_no_paimon_type_takes_are_named(name: str) -> None:
    kind, values, said = UNREADABLE[name]
    data = file_of(kind, values)
    with pytest.raises(UnsupportedFeatureError, match=said):
        read(data, TEXT)
    with pytest.raises(UnsupportedFeatureError, match=said):
        avro_fields(data, "f")


@pytest.mark.parametrize("name", UNREADABLE)
def test_the_other_columns_of_such_a_file_are_read(name: str) -> None:
    kind, values, _ = UNREADABLE[name]
    data = file_of(kind, values)
    assert read(data, LONG, "id") == list(range(len(values)))
    assert read(data, LONG, "absent") == [None] * len(values)
    assert field_names(data, "f") == ("id", "c")


def test_a_value_that_does_not_fit_the_column_is_an_error_as_in_any_file() -> None:
    with pytest.raises(CorruptFileError, match="c contains a value that does not fit int32"):
        read(file_of(["int", "long"], [2**40]), pa.int32())
    with pytest.raises(
        CorruptFileError, match="has the Avro type string and cannot be read as int32"
    ):
        read(file_of(COLOR, ["RED"]), pa.int32())


def test_a_data_file_gives_its_columns_and_rows() -> None:
    file = AvroDataFile(file_of(COLOR, ["RED", "GREEN"]), "f")
    assert file.names == {"id", "c"}
    (batch,) = file.batches([StoredColumn(name="c", type=parse_type_text("STRING"))], [0], 100)
    assert as_python(batch.columns[0]) == ["RED", "GREEN"]


def test_metadata_in_generic_avro_is_refused_with_its_path() -> None:
    data = file_of(COLOR, ["RED"])
    with pytest.raises(
        CorruptFileError, match=r"m: avro.schema.c must be .* the Avro enum 'color'"
    ):
        read_columns([("m", data)], [pa.field("id", LONG)])


def test_the_natural_types_of_a_generic_file_are_those_of_its_columns() -> None:
    fields = avro_fields(file_of(["null", COLOR], [None]), "f")
    assert [(field.name, field.type) for field in fields] == [("id", LONG), ("c", TEXT)]


# Hostile files.


def linked(depth: int) -> bytes:
    """A file with one linked list of so many nodes."""
    schema = json.dumps(schema_of(NODE)).encode()
    data = b"\0" + b"\2\2" * depth + b"\2\0"
    block = write_block(1, data, "deflate", bytes(16))
    return write_header(schema, "deflate", bytes(16)) + block


def test_a_recursive_value_is_read_to_a_depth() -> None:
    (record,) = fastavro_records(linked(50), "f")
    assert record["id"] == 0
    for depth in (100, 1_000, 1_000_000):
        with pytest.raises(CorruptFileError, match="fastavro cannot decode the block"):
            list(fastavro_records(linked(depth), "f"))


def test_a_recursive_record_of_very_many_fields_is_refused() -> None:
    fields = [{"name": f"f{number}", "type": "int"} for number in range(5_000)]
    wide = {
        "type": "record",
        "name": "w",
        "fields": [*fields, {"name": "w", "type": ["null", "w"]}],
    }
    schema = json.dumps(schema_of(wide)).encode()
    block = write_block(1, bytes(5_002), "null", bytes(16))
    with pytest.raises(CorruptFileError, match="at most 100,000 types in total"):
        list(fastavro_records(write_header(schema, "null", bytes(16)) + block, "f"))


def test_a_recursive_value_does_not_overflow_the_stack_of_a_thread() -> None:
    errors: list[PaimonError] = []

    def run() -> None:
        try:
            list(fastavro_records(linked(1_000_000), "f"))
        except PaimonError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(errors) == 1


@pytest.mark.parametrize("kind", [COLOR, ["int", "string"], NODE, TREE, RECURSIVE_MAP])
def test_any_bytes_end_in_values_or_a_named_error(kind: object) -> None:
    schema = json.dumps(schema_of(kind)).encode()
    for seed in range(300):
        data = bytes((seed * 7 + place * (seed % 13 + 1)) % 256 for place in range(seed % 40 + 1))
        block = write_block(seed % 4 + 1, data, "null", bytes(16))
        file = write_header(schema, "null", bytes(16)) + block
        for wanted in (TEXT, LONG):
            try:
                read(file, wanted)
            except (CorruptFileError, UnsupportedFeatureError):
                continue


@pytest.fixture
def small_memory() -> Iterator[None]:
    limits.set_memory_limit("70 MB")
    yield
    limits.set_memory_limit(None)


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize("codec", ["deflate", "zstandard"])
def test_a_bomb_is_refused_in_every_codec(codec: str) -> None:
    schema = json.dumps(schema_of(COLOR)).encode()
    block = write_block(1, bytes(100 << 20), codec, bytes(16))
    with pytest.raises(ResourceLimitError):
        read(write_header(schema, codec, bytes(16)) + block, TEXT)


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ({"type": "enum", "name": "e", "symbols": []}, "must have symbols"),
        ({"type": "enum", "name": "e", "symbols": [1]}, "must be strings"),
        (["int", ["null", "long"]], "must not contain another union"),
        (["null", "null", "int"], "null at most once"),
        ([], "a type other than null"),
    ],
)
def test_schemas_that_are_none_are_corrupt(kind: object, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        parse_avro_schema(json.dumps(schema_of(kind)).encode())


# The byte inspector.


@pytest.mark.parametrize("name", [*READABLE, *UNREADABLE])
def test_the_byte_inspector_takes_generic_files_apart(tmp_path: Path, name: str) -> None:
    kind, values, _ = {**READABLE, **UNREADABLE}[name]
    path = tmp_path / "data.avro"
    data = file_of(kind, values)
    path.write_bytes(data)
    found = file_bytes(path)
    assert found.problems() == []
    assert found.encoded() == data
    said = f"generic Avro file: fastavro decodes all {len(values)} records"
    assert found.figures()["crossCheck"] == said


def test_symbols_and_branches_are_shown_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "data.avro"
    path.write_bytes(file_of(["null", "int", COLOR], [None, 5, "GREEN"], "null"))
    rows = file_bytes(path).to_arrow().to_pylist()
    names = ("branch", "value", "c")
    values = [row for row in rows if row["field"] in names and row["form"] == "zigzag"]
    shown = [(row["field"], row["value"]) for row in values]
    assert shown == [
        ("branch", "0: null"),
        ("branch", "1: int"),
        ("value", "5"),
        ("branch", "2: color"),
        ("c", "1: GREEN"),
    ]


@pytest.mark.parametrize("depth", [60, 100_000])
def test_a_deep_list_ends_in_bytes_that_are_told(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "data.avro"
    path.write_bytes(linked(depth))
    found = file_bytes(path)
    assert found.encoded() == linked(depth)
    assert bool(found.problems()) == (depth > 64)
