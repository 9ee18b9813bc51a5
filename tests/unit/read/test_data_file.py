"""One data file of any format as batches of the wanted columns."""

import datetime as dt
import gzip
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyroaring import BitMap, BitMap64

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import DataField, RowType
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import CorruptFileError, MissingFileError, UnsupportedFeatureError
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import (
    DataFileSource,
    ReadRequest,
    SystemColumn,
    read_data_file,
    result_schema,
)
from paimon_explore.read.format_reader_registry import DataFileName, data_file_name
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import col, expression_of
from paimon_explore.scan.predicate.expression import Expression
from support.files import orc_bytes, parquet_bytes

I = DataField(id=0, name="i", type=parse_type("INT NOT NULL", "t"))  # noqa: E741
S = DataField(id=1, name="s", type=parse_type("STRING", "t"))
Columns: TypeAlias = Mapping[str, Column]
SCHEMA = TableSchema(id=0, fields=(I, S), highest_field_id=1)
KEYED = replace(SCHEMA, primary_keys=("i",))
TEN: Columns = {
    "i": pa.array(range(10), pa.int32()),
    "s": pa.array([f"v{n}" for n in range(10)]),
}
"""Ten rows of I and S."""


def source(
    data: bytes, name: str = "data-1-0.parquet", schema: TableSchema = SCHEMA
) -> DataFileSource:
    file_io = MemoryFileIO(name="data files")
    path = f"/t/bucket-0/{name}"
    file_io.replace(path, data)
    return DataFileSource(file_io=file_io, path=path, schema=schema)


def rows(file: DataFileSource, request: ReadRequest) -> list[dict[str, object]]:
    """All rows; every batch is checked."""
    batches = list(read_data_file(file, request))
    for batch in batches:
        assert batch.schema == result_schema(request)
        assert 0 < batch.num_rows <= request.batch_rows
    return pa.Table.from_batches(batches, result_schema(request)).to_pylist()


def keys(file: DataFileSource, **how: object) -> list[object]:
    """The values of I."""
    request = replace(ReadRequest(fields=(I,)), **how)  # type: ignore[arg-type]  # by name
    return [row["i"] for row in rows(file, request)]


def test_columns_come_as_asked_for() -> None:
    assert rows(source(parquet_bytes(TEN)), ReadRequest(fields=(S, I), batch_rows=4))[:2] == [
        {"s": "v0", "i": 0},
        {"s": "v1", "i": 1},
    ]


@pytest.mark.parametrize("data", [parquet_bytes(TEN), parquet_bytes(TEN, rows_per_group=3)])
def test_deleted_positions_are_dropped(data: bytes) -> None:
    file = source(data)
    assert keys(file, deleted=BitMap([0, 4, 5, 99])) == [1, 2, 3, 6, 7, 8, 9]
    assert keys(file, deleted=BitMap64([9])) == list(range(9))
    assert keys(file, deleted=BitMap(range(10))) == []
    assert keys(file, deleted=BitMap()) == list(range(10))


@pytest.mark.parametrize("data", [parquet_bytes(TEN), parquet_bytes(TEN, rows_per_group=3)])
def test_only_selected_positions_are_kept(data: bytes) -> None:
    file = source(data)
    assert keys(file, selection=BitMap([2, 7, 99])) == [2, 7]
    assert keys(file, selection=BitMap()) == []
    assert keys(file, selection=BitMap(range(10))) == list(range(10))
    assert keys(file, selection=BitMap([2, 7]), deleted=BitMap([7])) == [2]


def test_positions_and_row_ids_are_physical() -> None:
    file = replace(source(parquet_bytes(TEN, rows_per_group=3)), first_row_id=100)
    request = ReadRequest(
        fields=(I,),
        system_columns=(SystemColumn.POSITION, SystemColumn.ROW_ID),
        deleted=BitMap([0]),
        selection=BitMap([0, 1, 8]),
        batch_rows=2,
    )
    assert rows(file, request) == [
        {"i": 1, "_POSITION": 1, "_ROW_ID": 101},
        {"i": 8, "_POSITION": 8, "_ROW_ID": 108},
    ]


def test_stored_row_ids_and_sequence_numbers_go_first() -> None:
    columns: Columns = {
        "i": pa.array([1, 2], pa.int32()),
        "_ROW_ID": pa.array([7, None]),
        "_SEQUENCE_NUMBER": pa.array([None, 3]),
    }
    file = replace(source(parquet_bytes(columns)), first_row_id=50, max_sequence_number=9)
    system = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.ROW_ID)
    assert rows(file, ReadRequest(fields=(), system_columns=system)) == [
        {"_SEQUENCE_NUMBER": 9, "_ROW_ID": 7},
        {"_SEQUENCE_NUMBER": 3, "_ROW_ID": 51},
    ]


def test_without_any_sequence_number_or_row_id_they_are_null() -> None:
    system = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.ROW_ID, SystemColumn.VALUE_KIND)
    request = ReadRequest(fields=(), system_columns=system, selection=BitMap([0]))
    assert rows(source(parquet_bytes(TEN)), request) == [
        {"_SEQUENCE_NUMBER": None, "_ROW_ID": None, "_VALUE_KIND": 0}
    ]


def test_a_given_sequence_number_replaces_the_stored_ones() -> None:
    columns: Columns = {
        "_SEQUENCE_NUMBER": pa.array([0, 1]),
        "i": pa.array([1, 2], pa.int32()),
    }
    file = replace(source(parquet_bytes(columns)), sequence_number=5)
    request = ReadRequest(fields=(I,), system_columns=(SystemColumn.SEQUENCE_NUMBER,))
    assert [row["_SEQUENCE_NUMBER"] for row in rows(file, request)] == [5, 5]


KEY_FILE: Columns = {
    "_KEY_i": pa.array([10, 20], pa.int32()),
    "_SEQUENCE_NUMBER": pa.array([1, 2]),
    "_VALUE_KIND": pa.array([0, 3], pa.int32()),
    "i": pa.array([1, 2], pa.int32()),
}


def test_keys_come_from_the_key_columns_where_asked_for() -> None:
    file = source(parquet_bytes(KEY_FILE), schema=KEYED)
    assert keys(file) == [1, 2]
    assert keys(file, from_keys=True) == [10, 20]
    thin = {name: array for name, array in KEY_FILE.items() if name != "_KEY_i"}
    assert keys(source(parquet_bytes(thin), schema=KEYED), from_keys=True) == [1, 2]


def test_row_kinds_are_bytes() -> None:
    request = ReadRequest(fields=(), system_columns=(SystemColumn.VALUE_KIND,))
    found = list(read_data_file(source(parquet_bytes(KEY_FILE), schema=KEYED), request))
    assert found[0].schema.field("_VALUE_KIND").type == pa.int8()
    assert as_python(found[0].column(0)) == [0, 3]


def test_without_columns_there_are_still_rows() -> None:
    batches = list(read_data_file(source(parquet_bytes(TEN)), ReadRequest(fields=(), batch_rows=6)))
    assert [batch.num_rows for batch in batches] == [6, 4]
    avro = ReadRequest(fields=(), deleted=BitMap([0]))
    assert [batch.num_rows for batch in read_data_file(source(parquet_bytes(TEN)), avro)] == [9]


def test_renamed_retyped_and_new_columns() -> None:
    wanted = (
        DataField(id=1, name="t", type=parse_type("STRING", "t")),
        DataField(id=0, name="i", type=parse_type("BIGINT", "t")),
        DataField(id=9, name="s", type=parse_type("INT", "t")),
    )
    request = ReadRequest(fields=wanted, selection=BitMap([3]))
    assert rows(source(parquet_bytes(TEN)), request) == [{"t": "v3", "i": 3, "s": None}]


def test_columns_that_were_not_written_are_null() -> None:
    file = replace(source(parquet_bytes(TEN)), write_cols=("i",))
    request = ReadRequest(fields=(I, S), selection=BitMap([3]))
    assert rows(file, request) == [{"i": 3, "s": None}]
    assert rows(source(parquet_bytes({"i": TEN["i"]})), request) == [{"i": 3, "s": None}]


def bound(predicate: object, *fields: DataField) -> Expression:
    return bind(expression_of(predicate), RowType(fields=fields))


@pytest.mark.parametrize("name", ["data-1-0.parquet", "data-1-0.zst.parquet"])
def test_row_groups_that_cannot_match_are_skipped(name: str) -> None:
    data = parquet_bytes(TEN, rows_per_group=5)
    second = pq.ParquetFile(pa.BufferReader(data)).metadata.row_group(1)
    first_byte = second.column(0).dictionary_page_offset or 0
    file = source(data[:4] + bytes(first_byte - 4) + data[first_byte:], name)
    with pytest.raises(CorruptFileError):
        keys(file, predicate=bound(col("i") > 2, I, S))
    assert keys(file, predicate=bound(col("i") > 6, I, S)) == [7, 8, 9]
    assert keys(file, predicate=bound(col("i") > 60, I)) == []
    strings = ReadRequest(fields=(S,), predicate=bound(col("s") > "v7", I, S))
    assert [row["s"] for row in rows(file, strings)] == ["v8", "v9"]


def test_a_column_that_the_file_lacks_is_null_for_the_predicate() -> None:
    absent = DataField(id=9, name="n", type=parse_type("INT", "t"))
    file = source(parquet_bytes(TEN, rows_per_group=5))
    request = ReadRequest(fields=(I, absent), predicate=bound(col("n") == 1, I, absent))
    assert rows(file, request) == []


def test_a_column_of_another_type_is_compared_as_the_read_type() -> None:
    wide = replace(I, type=parse_type("STRING", "t"))
    file = source(parquet_bytes({"i": pa.array(range(12), pa.int32())}, rows_per_group=6))
    request = ReadRequest(fields=(wide,), predicate=bound(col("i") > "7", wide))
    assert [row["i"] for row in rows(file, request)] == ["8", "9"]
    request = ReadRequest(fields=(wide,), predicate=bound(col("i").between("10", "11"), wide))
    assert [row["i"] for row in rows(file, request)] == ["10", "11"]


def test_stripes_that_cannot_match_are_skipped() -> None:
    data = orc_bytes({"i": pa.array(range(3000), pa.int32()), "s": pa.array(["x" * 99] * 3000)}, 1)
    found = keys(source(data, "data-1-0.orc"), predicate=bound(col("i") == 2999, I))
    assert len(found) < 3000
    assert found[-1] == 2999


CSV = b'0,v0\n1,"v,1"\n2,\n'
JSON = b'{"i":"0","s":"v0"}\n{"i":1,"s":"v,1"}\n{"i":2}\n'


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("data-1-0.csv", CSV),
        ("data-1-0.csv.gz", gzip.compress(CSV, mtime=0)),
        ("data-1-0.json", JSON),
        ("data-1-0.JSON.gz", gzip.compress(JSON, mtime=0)),
    ],
)
def test_text_files_are_read(name: str, data: bytes) -> None:
    request = ReadRequest(fields=(I, S), batch_rows=2)
    assert rows(source(data, name), request) == [
        {"i": 0, "s": "v0"},
        {"i": 1, "s": "v,1"},
        {"i": 2, "s": None},
    ]


def test_text_files_of_primary_key_tables_have_the_system_columns_first() -> None:
    system = (SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND)
    file = source(b"10,4,3,1,x\n", "data-1-0.csv", KEYED)
    request = ReadRequest(fields=(I, S), system_columns=system, from_keys=True)
    expected = {"i": 10, "s": "x", "_SEQUENCE_NUMBER": 4, "_VALUE_KIND": 3}
    assert rows(file, request) == [expected]
    thin = replace(KEYED, options={"data-file.thin-mode": "true"})
    assert rows(source(b"4,3,10,x\n", "data-1-0.csv", thin), request) == [expected]


TEXT_TYPES: Mapping[str, tuple[object, str, object]] = {
    "bool": ("BOOLEAN", "true", True),
    "float": ("DOUBLE", "1.5E10", 1.5e10),
    "char": ("CHAR(5)", "ab", "ab"),
    "bytes": ("BYTES", "AP8=", b"\x00\xff"),
    "date": ("DATE", "2024-01-02", dt.date(2024, 1, 2)),
    "time": ("TIME(3)", "01:02:03.045", dt.time(1, 2, 3, 45_000)),
}


@pytest.mark.parametrize("case", TEXT_TYPES)
def test_texts_become_what_the_type_says(case: str) -> None:
    data_type, text, value = TEXT_TYPES[case]
    field = DataField(id=0, name="c", type=parse_type(data_type, "t"))
    file = source(text.encode() + b"\n", "d.csv", replace(SCHEMA, fields=(field,)))
    assert rows(file, ReadRequest(fields=(field,))) == [{"c": value}]


def test_nested_json_is_read_by_its_type() -> None:
    inner = {"type": "ROW", "fields": [{"id": 2, "name": "x", "type": "INT"}]}
    by_int = {"type": "MAP", "key": "INT", "value": {"type": "ARRAY", "element": "BIGINT"}}
    fields = (
        DataField(id=0, name="r", type=parse_type(inner, "t")),
        DataField(id=1, name="m", type=parse_type(by_int, "t")),
    )
    data = b'{"r":{"x":"1"},"m":{"5":["1",null],"6":null}}\n{"r":null,"m":null}\n'
    file = source(data, "d.json", replace(SCHEMA, fields=fields))
    assert rows(file, ReadRequest(fields=fields)) == [
        {"r": {"x": 1}, "m": [(5, [1, None]), (6, None)]},
        {"r": None, "m": None},
    ]


@pytest.mark.parametrize(
    ("name", "data", "where"),
    [
        ("d.csv", b"1\n", "row 0"),
        ("d.csv", b"x,y\n", "column 'i'"),
        ("d.json", b'{"i": [1]}\n', "column 'i'"),
        ("d.json", b"[]\n", "line 1"),
        ("d.csv", b"\xff", "text"),
        ("d.csv.gz", b"no gzip", "gz"),
        ("d.parquet", b"PAR1", "Parquet"),
        ("d.orc", b"ORC", "last bytes"),
        ("d.avro", b"Obj", "byte 0"),
        ("d.blob", b"", "columns"),
    ],
)
def test_damaged_files_are_corrupt(name: str, data: bytes, where: str) -> None:
    with pytest.raises(CorruptFileError, match=where) as raised:
        rows(source(data, name), ReadRequest(fields=(I, S)))
    assert raised.value.path == f"/t/bucket-0/{name}"


def test_types_that_text_cannot_hold_are_refused() -> None:
    field = DataField(id=0, name="c", type=parse_type("VARIANT", "t"))
    with pytest.raises(UnsupportedFeatureError, match="VARIANT"):
        rows(
            source(b"x\n", "d.csv", replace(SCHEMA, fields=(field,))), ReadRequest(fields=(field,))
        )


def test_a_missing_file_is_told_of() -> None:
    file = replace(source(b""), path="/t/bucket-0/gone.parquet")
    with pytest.raises(MissingFileError):
        rows(file, ReadRequest(fields=(I,)))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data-1-0.parquet", DataFileName(format="parquet")),
        ("data-1-0.zst.parquet", DataFileName(format="parquet")),
        ("data-1-0.zstd.parquet", DataFileName(format="parquet")),
        ("data--u-x.y-s-1-w-2-0.avro", DataFileName(format="avro")),
        ("data-1-0.vector.parquet", DataFileName(format="parquet")),
        ("data-1-0.json.gz", DataFileName(format="json", compression="gz")),
        ("data-1-0.csv.zst", DataFileName(format="csv", compression="zst")),
        ("data-1-0.blob", DataFileName(format="blob")),
        ("data-1-0.text.gz", DataFileName(format="text", compression="gz")),
    ],
)
def test_the_last_extension_names_the_format(name: str, expected: DataFileName) -> None:
    assert data_file_name(f"/t/a.b/bucket-0/{name}") == expected


@pytest.mark.parametrize("name", ["d.txt", "d.video"])
def test_formats_of_engines_are_refused_by_name(name: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match="File format"):
        data_file_name(f"/t/{name}")


@pytest.mark.parametrize("name", ["d", "d.exe", "d.parquet.gz", ".parquet-"])
def test_other_extensions_are_corrupt(name: str) -> None:
    with pytest.raises(CorruptFileError, match="extension"):
        data_file_name(f"/t/{name}")


AVRO_RECORD = {
    "type": "record",
    "name": "record",
    "fields": [
        {"name": "i", "type": "int"},
        {"name": "s", "type": ["null", "string"], "default": None},
    ],
}


@pytest.mark.parametrize("schema", [AVRO_RECORD, ["null", AVRO_RECORD]])
def test_avro_files_are_read_with_and_without_the_union_of_old_releases(schema: object) -> None:
    out = io.BytesIO()
    records = [{"i": n, "s": None if n == 1 else f"v{n}"} for n in range(5)]
    fastavro.writer(out, fastavro.parse_schema(schema), records)  # type: ignore[arg-type]  # JSON
    file = source(out.getvalue(), "data-1-0.avro")
    request = ReadRequest(fields=(S,), batch_rows=2, deleted=BitMap([0]))
    assert [row["s"] for row in rows(file, request)] == [None, "v2", "v3", "v4"]
    batches = read_data_file(file, ReadRequest(fields=(), batch_rows=3))
    assert [batch.num_rows for batch in batches] == [3, 2]
