"""COPY INTO: files into tables, and tables into files; the same on each engine.

The modules that import these tests give the fixtures `run`, `rows` and `catalog`.
"""

import bz2
import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.table.catalog.catalog import Catalog
from support.spark_sql import Rows, Run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for files."""
    made = tmp_path / "some files"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def loaded(run: Run) -> None:
    """A table with a default value."""
    run("CREATE TABLE loaded (id INT NOT NULL, name STRING, day DATE, n INT DEFAULT 7)")


def copied(rows: Rows, text: str) -> list[tuple[object, ...]]:
    """Name, status, rows and errors of each file."""
    return [row[:5] for row in rows(text)]


def test_csv_files_are_loaded_once(rows: Rows, folder: Path) -> None:
    (folder / "a.csv").write_text("1|x|2026-01-01|5\n2||NULL|6\n")
    (folder / "b.csv").write_text("3|'a|b'|2026-01-03|8\n")
    (folder / "c.txt").write_text("no table\n")
    (folder / "deeper").mkdir()
    (folder / "_SUCCESS").touch()
    copy = (
        f"COPY INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV, FIELD_DELIMITER = '|', "
        "QUOTE = '\\'', NULL_IF = ('NULL', '-')) PATTERN = '[.]csv$'"
    )
    loaded = [("a.csv", "LOADED", 2, 2, 0), ("b.csv", "LOADED", 1, 1, 0)]
    assert copied(rows, copy) == loaded
    state = "SELECT id, name, cast(day AS string), n FROM loaded ORDER BY id"
    assert rows(state) == [
        *((1, "x", "2026-01-01", 5), (2, None, None, 6), (3, "a|b", "2026-01-03", 8)),
    ]
    assert [row[1:3] for row in copied(rows, copy)] == [("SKIPPED", 0), ("SKIPPED", 0)]
    (folder / "b.csv").write_text("3|again|2026-01-03|8\n4|new||\n")
    assert copied(rows, copy) == [("b.csv", "LOADED", 2, 2, 0), ("a.csv", "SKIPPED", 0, 0, 0)]
    assert [row[1] for row in copied(rows, f"{copy} FORCE = TRUE")] == ["LOADED", "LOADED"]
    assert rows("SELECT count(*) FROM loaded") == [(9,)]


def test_records_of_loaded_files_are_those_of_java(
    run: Run, folder: Path, catalog: Catalog
) -> None:
    (folder / "a.csv").write_text("1,x,,\n")
    run(f"COPY INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV)")
    table = catalog.table("demo.loaded")
    (record,) = (Path(table.path) / "copy-into" / "history").iterdir()
    status = (folder / "a.csv").stat()
    found = json.loads(record.read_bytes())
    assert found.pop("loadedAt") == int(record.name.rpartition("-")[2])
    assert found == {
        "filePath": f"file:{folder}/a.csv",
        "fileSize": status.st_size,
        "lastModified": status.st_mtime_ns // 1_000_000,
        "snapshotId": 1,
        "rowsLoaded": 1,
    }
    assert table.maintenance.fsck() == []


def test_columns_that_files_lack_get_their_defaults(run: Run, rows: Rows, folder: Path) -> None:
    (folder / "a.csv").write_text("name,id\nx,1\n")
    run(f"COPY INTO loaded (name, ID) FROM '{folder}' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 1)")
    assert rows("SELECT * FROM loaded") == [(1, "x", None, 7)]
    with pytest.raises(InvalidInputError, match="'id' is NOT NULL and has no default"):
        run(f"COPY INTO loaded (name) FROM '{folder}' FILE_FORMAT = (TYPE = CSV)")


def test_json_and_parquet_columns_are_found_by_name(run: Run, rows: Rows, folder: Path) -> None:
    (folder / "a.json").write_text('[{"n": 1, "NAME": "", "id": 5, "more": 1}, {"id": 6}]')
    options = "TYPE = JSON, MULTI_LINE = TRUE, EMPTY_FIELD_AS_NULL = TRUE"
    run(f"COPY INTO loaded FROM '{folder}' FILE_FORMAT = ({options})")
    assert rows("SELECT * FROM loaded ORDER BY id") == [
        (5, None, None, 1),
        (6, None, None, None),
    ]
    out = folder / "out"
    query = "SELECT 8L AS ID, '2026-02-03' AS day, 'x' AS other"
    exported = f"COPY INTO '{out}' FROM ({query}) FILE_FORMAT = (TYPE = PARQUET)"
    assert rows(exported) == [(str(out), 1, 1)]
    run(f"COPY INTO loaded FROM '{out}' FILE_FORMAT = (TYPE = PARQUET)")
    assert rows("SELECT name, cast(day AS string), n FROM loaded WHERE id = 8") == [
        (None, "2026-02-03", None)
    ]


def test_errors_abort_or_leave_out_rows_or_files(run: Run, rows: Rows, folder: Path) -> None:
    (folder / "bad.csv").write_text("1,a,2026-01-01,1\n2,b,yesterday,2\n3,c\n")
    (folder / "good.csv").write_text("4,d,,4\n")
    (folder / "worse.csv").write_text("x,a,,1\n")
    copy = f"COPY INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV)"
    message = r"2 of 3 rows of file .*bad\.csv cannot be loaded.*'day' of type date.*'yesterday'"
    with pytest.raises(InvalidInputError, match=message):
        run(copy)
    assert rows("SELECT count(*) FROM loaded$snapshots") == [(0,)]
    assert copied(rows, f"{copy} ON_ERROR = SKIP_FILE") == [
        ("bad.csv", "LOAD_FAILED", 0, 3, 2),
        ("good.csv", "LOADED", 1, 1, 0),
        ("worse.csv", "LOAD_FAILED", 0, 1, 1),
    ]
    (found, *_) = rows(f"{copy} ON_ERROR = CONTINUE")
    assert found[:5] == ("bad.csv", "PARTIALLY_LOADED", 1, 3, 2)
    assert "'yesterday'" in str(found[5])
    assert rows("SELECT id FROM loaded ORDER BY id") == [(1,), (4,)]
    assert copied(rows, f"{copy} ON_ERROR = CONTINUE") == [
        ("worse.csv", "LOAD_FAILED", 0, 1, 1),
        ("bad.csv", "SKIPPED", 0, 0, 0),
        ("good.csv", "SKIPPED", 0, 0, 0),
    ]


def test_values_of_csv_lines_are_those_of_spark(run: Run, rows: Rows, folder: Path) -> None:
    run("CREATE TABLE texts (id INT, v STRING)")
    cases = {
        r"C:\temp": r"C:\temp",
        r'"C:\temp"': r"C:\temp",
        r'"a\"b"': 'a"b',
        r'"x\\"': "x\\",
        '"a""b"': '"a""b"',
        '"a"b"': '"a"b"',
        'a"b': 'a"b',
        '"abc': "abc",
        '"x" ': "x",
        " sp ": " sp ",
        '""': None,
        "": None,
        '"a,b"': "a,b",
    }
    lines = [f"{at},{text}" for at, text in enumerate(cases)]
    (folder / "a.csv").write_bytes(
        b"\xef\xbb\xbf" + "\r\n \n".join(lines).encode() + b"\n99,\xff\n"
    )
    run(f"COPY INTO texts FROM '{folder}' FILE_FORMAT = (TYPE = CSV)")
    found = [value for (value,) in rows("SELECT v FROM texts ORDER BY id")]
    assert found == [*cases.values(), "\ufffd"]


def test_json_values_keep_their_text(run: Run, rows: Rows, folder: Path) -> None:
    run("CREATE TABLE texts (a STRING, b STRING)")
    lines = {
        '{"a":1,"A":2,"b":"x"}': ("1", "x"),
        '{"a":1e3,"b":1.10}': ("1e3", "1.10"),
        '{"a":{"k":[1.10,null]},"b":true}': ('{"k":[1.10,null]}', "true"),
        '[{"a":"1"},{"a":NaN}]': ("1", None),
        "  {}{}": (None, None),
        '{"a":0.10000000000000000000001}': ("0.10000000000000000000001", None),
    }
    (folder / "a.json").write_text("\n".join([*lines, "5", '{"a":01}', '{"a":1,}', "", "null"]))
    copy = f"COPY INTO texts FROM '{folder}' FILE_FORMAT = (TYPE = JSON) ON_ERROR = CONTINUE"
    assert copied(rows, copy) == [("a.json", "PARTIALLY_LOADED", 7, 11, 4)]
    assert set(rows("SELECT * FROM texts")) == {*lines.values(), ("NaN", None)}


def test_texts_are_cast_as_spark_casts_them(run: Run, rows: Rows, folder: Path) -> None:
    run("CREATE TABLE typed (i INT, f BOOLEAN, d DOUBLE, n DECIMAL(5, 2), day DATE, b BINARY)")
    good = [
        (" 1 ", " true ", "1e3", "1.005", "2026"),
        ("+3", "Y", "-inf", "1e2", "2026-1"),
        ("-0", "0", " 2 ", " 1 ", "2026-01-05 10:00"),
        ("2147483647", "f", "1d", "-999.99", " 2026-1-5 "),
    ]
    (folder / "good.csv").write_text("".join(f"{','.join(row)},ab\n" for row in good))
    bad = [
        *((text, "", "", "", "") for text in ("1.5", "0x10", "1e2", "1_000", "2147483648", "x")),
        *(("", text, "", "", "") for text in ("on", "2")),
        *(("", "", text, "", "") for text in ("1_0", "x")),
        *(("", "", "", text, "") for text in ("1000", "999.995", "NaN")),
        *(("", "", "", "", text) for text in ("epoch", "today", "20260105", "2026-02-30")),
    ]
    (folder / "more.csv").write_text("".join(f"{','.join(row)},\n" for row in bad))
    copy = f"COPY INTO typed FROM '{folder}' FILE_FORMAT = (TYPE = CSV) ON_ERROR = CONTINUE"
    assert copied(rows, copy) == [
        ("good.csv", "LOADED", 4, 4, 0),
        ("more.csv", "LOAD_FAILED", 0, len(bad), len(bad)),
    ]
    assert rows("SELECT i, f, d, n, cast(day AS string), hex(b) FROM typed ORDER BY i") == [
        (0, False, 2.0, Decimal("1.00"), "2026-01-05", "6162"),
        (1, True, 1000.0, Decimal("1.01"), "2026-01-01", "6162"),
        (3, True, float("-inf"), Decimal("100.00"), "2026-01-01", "6162"),
        (2147483647, False, 1.0, Decimal("-999.99"), "2026-01-05", "6162"),
    ]


def test_compressed_files_are_loaded(run: Run, rows: Rows, folder: Path) -> None:
    (folder / "a.csv.gz").write_bytes(gzip.compress(b"1,x,,\n"))
    (folder / "b.csv.bz2").write_bytes(bz2.compress(b"2,y,,\n"))
    run(f"COPY INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV)")
    assert rows("SELECT id, name FROM loaded ORDER BY id") == [(1, "x"), (2, "y")]
    options = "TYPE = CSV, COMPRESSION = bzip2"
    run(f"COPY INTO '{folder}/out' FROM (SELECT 3 AS id) FILE_FORMAT = ({options})")
    (file,) = (folder / "out").glob("part-*.csv.bz2")
    assert bz2.decompress(file.read_bytes()) == b"3\n"


def test_the_text_of_written_values_is_that_of_spark(run: Run, folder: Path) -> None:
    values = (
        "1 AS i, '' AS e, CAST(NULL AS INT) AS z, 'a\"b' AS q, 'a,\\\\b' AS s, ' t ' AS t, "
        "CAST(1.10 AS DECIMAL(5, 2)) AS n, 1e10D AS d, CAST(1.5 AS FLOAT) AS f, true AS b, "
        "DATE '2026-01-02' AS day, TIMESTAMP_NTZ '2026-01-02 03:04:05.678912' AS at, "
        "X'00FF' AS x"
    )
    run(f"COPY INTO '{folder}/c' FROM (SELECT {values}) FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)")
    (file,) = (folder / "c").glob("part-*.csv")
    assert file.read_text() == (
        "i,e,z,q,s,t,n,d,f,b,day,at,x\n"
        r"""1,"",,"a\"b","a,\\b",t,1.10,1.0E10,1.5,true,2026-01-02,"""
        "2026-01-02T03:04:05.678,[00 FF]\n"
    )
    values += ", named_struct('a', CAST(NULL AS INT), 'b', 2) AS st, array(1, NULL) AS ar"
    values += ", map('k', CAST(NULL AS INT)) AS m, CAST('NaN' AS DOUBLE) AS nan"
    options = "TYPE = JSON, COMPRESSION = gzip, DATE_FORMAT = 'dd/MM/yyyy'"
    run(f"COPY INTO '{folder}/j' FROM (SELECT {values}) FILE_FORMAT = ({options})")
    (file,) = (folder / "j").glob("part-*.json.gz")
    assert gzip.decompress(file.read_bytes()).decode() == (
        r"""{"i":1,"e":"","q":"a\"b","s":"a,\\b","t":" t ","n":1.10,"d":1.0E10,"f":1.5,"b":true,"""
        """"day":"02/01/2026","at":"2026-01-02T03:04:05.678","x":"AP8=","st":{"b":2},"""
        """"ar":[1,null],"m":{"k":null},"nan":"NaN"}\n"""
    )


def test_tables_and_queries_are_written_to_files(run: Run, rows: Rows, folder: Path) -> None:
    out = folder / "users"
    copy = f"COPY INTO '{out}' FROM demo.customers FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)"
    ((path, files, count),) = rows(copy)
    assert (path, count) == (str(out), 25)
    parts = sorted(out.glob("part-*"))
    assert len(parts) == files
    assert parts[0].read_text().splitlines()[0] == "id,name,city"
    with pytest.raises(InvalidInputError, match=r"exists.*OVERWRITE = TRUE"):
        run(copy)
    query = "(SELECT id FROM customers WHERE id < 3)"
    json_copy = f"COPY INTO '{out}' FROM {query} FILE_FORMAT = (TYPE = JSON) OVERWRITE = TRUE"
    assert rows(json_copy)[0][2] == rows("SELECT count(*) FROM customers WHERE id < 3")[0][0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INTO loaded FROM '{folder}'", r"Add FILE_FORMAT = \(TYPE = CSV\)"),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (QUOTE = 'x')", "has no TYPE"),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = ORC)", "'CSV', 'JSON', 'PARQUET'"),
        (
            "INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)",
            "HEADER is not an option for reading CSV files.*SKIP_HEADER",
        ),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV, SKIP_HEADER = 2)", "0 or 1"),
        (
            "INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV) FORCE = no",
            "must be TRUE or FALSE",
        ),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV) PATTERN = '('", "not a regular"),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV) ON_ERROR = x", "'SKIP_FILE'"),
        ("INTO loaded FROM '{folder}' FILE_FORMAT = (TYPE = CSV) SINGLE = TRUE", "'SINGLE'"),
        ("INTO loaded FROM '{folder}/no' FILE_FORMAT = (TYPE = CSV)", "no file or folder"),
        ("INTO loaded (id, x) FROM '{folder}' FILE_FORMAT = (TYPE = CSV)", "no column 'x'"),
        ("INTO nope FROM '{folder}' FILE_FORMAT = (TYPE = CSV)", "'nope' does not exist"),
        ("INTO '{folder}/x' FROM (DROP TABLE loaded) FILE_FORMAT = (TYPE = CSV)", "a query"),
    ],
)
def test_wrong_statements_say_what_is_right(
    text: str, message: str, run: Run, folder: Path
) -> None:
    expected = (InvalidInputError, NotFoundError, UnsupportedFeatureError)
    with pytest.raises(expected, match=message):
        run("COPY " + text.format(folder=folder))
