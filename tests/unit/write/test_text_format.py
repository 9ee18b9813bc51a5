"""CSV, JSON and row files, as Java 2.0.0 writes them."""

import datetime as dt
import gzip
from collections.abc import Mapping
from decimal import Decimal
from itertools import product
from pathlib import Path

import pytest

from paimon_explore.encoding.csv_json import CsvLayout, csv_records
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.table.table import open_table
from paimon_explore.write.append_writer import write_append
from support.new_tables import all_files, new_table

COLUMNS: Mapping[str, object] = {
    "i": "INT",
    "b": "BOOLEAN",
    "f": "FLOAT",
    "d": "DOUBLE",
    "de": "DECIMAL(10, 2)",
    "s": "STRING",
    "by": "BYTES",
    "da": "DATE",
    "ti": "TIME(3)",
    "ts": "TIMESTAMP(3)",
}
NESTED: Mapping[str, object] = {
    "a": {"type": "ARRAY", "element": "INT"},
    "m": {"type": "MAP", "key": "INT NOT NULL", "value": "DOUBLE"},
    "r": {"type": "ROW", "fields": [{"id": 100, "name": "y", "type": "BYTES"}]},
    "v": {"type": "VECTOR", "element": "FLOAT", "length": 2},
}
FIRST: dict[str, object] = {
    "i": 1,
    "b": True,
    "f": 1e10,
    "d": 1e-7,
    "de": Decimal("12.30"),
    "s": 'he,l"l\\o',
    "by": b"\x00\xff\x10",
    "da": dt.date(2024, 2, 29),
    "ti": dt.time(1, 2, 3, 4000),
    "ts": dt.datetime(2024, 1, 2, 3, 4, 5, 120000),  # noqa: DTZ001  # without zone
}


def written(columns: Mapping[str, object], rows: list[dict[str, object]], **options: str) -> bytes:
    store, schema = new_table(columns, options={"file.compression": "none", **options})
    write_append(store, schema, rows)
    (path,) = all_files(store) - {"schema/schema-0"}
    return store.file_io.read(f"{store.paths.root}/{path}")


def test_csv_values_are_the_texts_of_java_and_quoted_where_need_be() -> None:
    columns = {name: COLUMNS[name] for name in ("i", "b", "f", "d", "de", "s", "by")}
    first = {name: FIRST[name] for name in columns}
    data = written(columns, [first, {"i": 2}], **{"file.format": "csv"})
    assert data.decode().splitlines() == [
        r'1,true,1.0E10,1.0E-7,12.30,"he,l\"l\o",AP8Q',
        "2,,,,,,",
    ]


def test_dates_and_times_have_the_digits_of_their_type() -> None:
    columns = {name: COLUMNS[name] for name in ("da", "ti", "ts")}
    data = written(columns, [{name: FIRST[name] for name in columns}], **{"file.format": "csv"})
    assert data == b"2024-02-29,01:02:03.004,2024-01-02 03:04:05.120\n"


def test_csv_marks_follow_the_options() -> None:
    options = {
        "file.format": "csv",
        "csv.field-delimiter": ";",
        "csv.null-literal": "-",
        "csv.include-header": "true",
    }
    columns = {"i": "INT", "s": "STRING"}
    data = written(columns, [{"i": 1, "s": "a;b"}, {"i": None, "s": "c,d"}], **options)
    assert data.decode() == 'i;s\n1;"a;b"\n-;c,d\n'


@pytest.mark.parametrize(
    ("kind", "value", "literal"),
    [("STRING", "", ""), ("BYTES", b"", ""), ("STRING", "NULL", "NULL"), ("INT", 0, "0")],
)
def test_values_that_csv_files_would_give_back_as_null_are_refused(
    kind: str, value: object, literal: str
) -> None:
    options = {"file.format": "csv", "csv.null-literal": literal}
    with pytest.raises(InvalidInputError, match=f"Column 'v': '{literal}' is the text of null"):
        written({"v": kind}, [{"v": value}], **options)
    assert written({"v": kind}, [{"v": None}], **options).decode() == f"{literal}\n"


def test_csv_files_give_back_all_marks_but_an_escape_before_the_end_of_quotes() -> None:
    options = {"file.format": "csv", "csv.null-literal": "-"}
    values = ["".join(marks) for n in range(1, 4) for marks in product('\\",a\n', repeat=n)]
    needs_quotes = {value for value in values if not {*value}.isdisjoint('",\n')}
    refused = {value for value in needs_quotes if value.endswith("\\")}
    rows: list[dict[str, object]] = [{"v": v, "w": v} for v in values if v not in refused]
    data = written({"v": "STRING", "w": "STRING"}, rows, **options)
    found = csv_records(data.decode(), CsvLayout(null_literal="-"))
    assert found == [[row["v"], row["w"]] for row in rows]
    for value in refused:
        with pytest.raises(InvalidInputError, match=r"Column 'v': .* ends with '\\\\', the escape"):
            written({"v": "STRING"}, [{"v": value}], **options)


@pytest.mark.parametrize("delimiter", [";", "ab", ","])
def test_json_rows_that_contain_the_end_of_a_line_are_refused(delimiter: str) -> None:
    options = {"file.format": "json", "json.line-delimiter": delimiter}
    with pytest.raises(InvalidInputError, match="contains the end of a line of a JSON file"):
        written({"v": "STRING"}, [{"v": f"x{delimiter}"}], **options)
    assert written({"v": "STRING"}, [{"v": "x\n"}], **options).endswith(delimiter.encode())


def test_json_lines_have_all_columns_as_texts() -> None:
    rows: list[dict[str, object]] = [
        {"s": 'x"\n', "a": [1, None], "m": {1: 2.5}, "r": {"y": b"ab"}, "v": [1, 2]},
        {"s": None, "a": [], "m": {}, "r": {"y": None}, "v": None},
        {"s": "é", "a": None, "m": None, "r": None, "v": None},
    ]
    data = written({"s": "STRING", **NESTED}, rows, **{"file.format": "json"})
    assert data.decode().splitlines() == [
        '{"s":"x\\"\\n","a":["1",null],"m":{"1":"2.5"},"r":{"y":"YWI="},"v":["1.0","2.0"]}',
        '{"s":null,"a":[],"m":{},"r":{"y":null},"v":null}',
        '{"s":"é","a":null,"m":null,"r":null,"v":null}',
    ]


def test_text_files_are_compressed_as_a_whole() -> None:
    options = {"file.format": "csv", "file.compression": "gzip"}
    assert gzip.decompress(written({"i": "INT"}, [{"i": 7}], **options)) == b"7\n"


@pytest.mark.parametrize("codec", ["none", "gzip", "deflate", "bzip2", "zstd", "snappy", "lz4"])
@pytest.mark.parametrize("file_format", ["csv", "json", "row"])
def test_what_is_written_is_read_back(tmp_path: Path, file_format: str, codec: str) -> None:
    columns = COLUMNS if file_format == "csv" else {**COLUMNS, **NESTED}
    options = {"file.format": file_format, "file.compression": codec}
    new_table(columns, options=options, file_io=LocalFileIO(), root=str(tmp_path))
    table = open_table(tmp_path)
    rows = [{**FIRST, "i": i, "s": "text" * (i % 50 + 1)} for i in range(1, 300)]
    table.append(rows)
    found = table.to_arrow()
    assert found.num_rows == 299
    assert found.select(["i", "s"]).to_pylist() == [{"i": r["i"], "s": r["s"]} for r in rows]
    assert set(found.column("by").to_pylist()) == {b"\x00\xff\x10"}


def test_nested_values_are_no_csv() -> None:
    store, schema = new_table(NESTED, options={"file.format": "csv"})
    with pytest.raises(UnsupportedFeatureError, match="column 'a'"):
        write_append(store, schema, [{"a": [1]}])
