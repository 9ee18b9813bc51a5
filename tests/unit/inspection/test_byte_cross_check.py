"""The byte inspector says whether fastavro reads an Avro file as our decoder does."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.encoding.avro import cross_check
from paimon_explore.encoding.avro.container import write_block, write_header
from paimon_explore.encoding.avro.writer import avro_schema, write_avro
from paimon_explore.inspection.byte_inspector.byte_layout import ByteLayout
from paimon_explore.inspection.byte_inspector.file_lookup import file_bytes

NUMBERS = pa.table({"n": pa.array(range(3000), pa.int64())})
SYNC = bytes(16)


def avro(table: pa.Table) -> bytes:
    columns = [column.combine_chunks() for column in table.columns]
    return write_avro(avro_schema(table.schema), columns, "null")


def inspected(folder: Path, data: bytes) -> ByteLayout:
    path = folder / "manifest-1"
    path.write_bytes(data)
    return file_bytes(path)


@pytest.mark.parametrize("node", ["base", "delta", "delta/0"])
def test_metadata_of_a_table_agrees(node: str) -> None:
    table = pe.demo().table("demo.orders")
    found = table.inspect.bytes(node)
    assert "fastavro agrees on all " in repr(found)
    assert str(found.figures()["crossCheck"]).startswith("fastavro agrees on all ")
    assert found.problems() == []


def test_the_schema_of_a_table_has_no_second_decoder() -> None:
    table = pe.demo().table("demo.orders")
    found = table.inspect.bytes("schema")
    assert "second decoder" not in repr(found)
    assert found.figures()["crossCheck"] == ""


def test_of_a_large_file_the_first_records_are_compared(tmp_path: Path) -> None:
    blocks = [write_block(600, b"\2" * 600, "null", SYNC) for _ in range(3)]
    schema = b'{"type":"record","name":"r","fields":[{"name":"n","type":"long"}]}'
    found = inspected(tmp_path, b"".join([write_header(schema, "null", SYNC), *blocks]))
    assert "second decoder" in repr(found)
    assert found.figures()["crossCheck"] == "fastavro agrees on the first 1,200 records"


def test_a_value_that_fastavro_reads_in_another_way_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(files: list[tuple[str, bytes]], fields: object) -> tuple[pa.Table, list[int]]:
        del files, fields
        return NUMBERS.slice(0, 2), [2]

    monkeypatch.setattr(cross_check, "read_columns", wrong)
    found = inspected(tmp_path, avro(NUMBERS.slice(1, 2)))
    said = [
        "record 0, field n: paimon_explore reads 0, fastavro reads 1",
        "record 1, field n: paimon_explore reads 1, fastavro reads 2",
    ]
    assert found.problems() == said
    assert found.figures()["crossCheck"] == f"fastavro disagrees within all 2 records: {said[0]}"


def test_a_schema_that_only_fastavro_refuses_is_a_problem(tmp_path: Path) -> None:
    twice = [
        {"name": name, "type": {"type": "fixed", "name": "f", "size": size}}
        for name, size in (("a", 1), ("b", 2))
    ]
    schema = json.dumps({"type": "record", "name": "r", "fields": twice}).encode()
    data = write_header(schema, "null", SYNC) + write_block(1, b"abb", "null", SYNC)
    (said,) = inspected(tmp_path, data).problems()
    assert said == (
        "record 0: paimon_explore reads a record, fastavro reads nothing (avro.schema: "
        "fastavro cannot use the schema: redefined named type: f)"
    )


@pytest.mark.parametrize(
    ("count", "data"),
    [(200_000, b"\2" * 200_000), (1, b"\x80\x80\x80\x01" + bytes(1 << 20))],
    ids=["many records", "many bytes"],
)
def test_a_block_that_is_too_large_for_the_viewer_is_not_compared(
    tmp_path: Path, count: int, data: bytes
) -> None:
    kind = "long" if count > 1 else "bytes"
    schema = f'{{"type":"record","name":"r","fields":[{{"name":"n","type":"{kind}"}}]}}'.encode()
    file = write_header(schema, "null", SYNC) + write_block(count, data, "null", SYNC)
    found = inspected(tmp_path, file)
    assert found.figures()["crossCheck"] == (
        "not compared with fastavro: the first block is too large"
    )


def test_a_damaged_file_is_a_problem_and_no_error(tmp_path: Path) -> None:
    whole = avro(NUMBERS.slice(0, 9))
    for end in range(4, len(whole), 7):
        found = inspected(tmp_path, whole[:end])
        assert found.problems(), end
        assert "second decoder" in repr(found)
