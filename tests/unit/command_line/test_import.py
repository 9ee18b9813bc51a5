"""Files become rows; a value that does not fit is told with its line and column."""

import gzip
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import Catalog, Table, Variant
from paimon_explore.data_types.formatter import type_text
from support.command_line import Program
from support.small_tables import new_catalog

TYPES = {
    "b": "BOOLEAN",
    "i": "INT",
    "n": "BIGINT",
    "f": "DOUBLE",
    "d": "DECIMAL(10, 2)",
    "s": "STRING",
    "y": "BYTES",
    "day": "DATE",
    "ts": "TIMESTAMP(6)",
    "ltz": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "t": "TIME(3)",
    "a": "ARRAY<INT>",
    "m": "MAP<STRING, DOUBLE>",
    "r": "ROW<`x` INT, `y` DATE>",
}
TEXTS = {
    "b": "true",
    "i": " -7 ",
    "n": "9223372036854775807",
    "f": "1.5",
    "d": "12.30",
    "s": "Zürich, 大阪",
    "y": "AP8=",
    "day": "2026-01-31",
    "ts": "2026-01-31 10:00:00.123456",
    "ltz": "2026-01-31T10:00:00Z",
    "t": "10:11:12.5",
    "a": "[1, null, 3]",
    "m": '{"a": 1.5}',
    "r": '{"x": 1, "y": "2026-01-31"}',
}
VALUES = {
    "b": True,
    "i": -7,
    "n": 9223372036854775807,
    "f": 1.5,
    "d": Decimal("12.30"),
    "s": "Zürich, 大阪",
    "y": b"\x00\xff",
    "day": date(2026, 1, 31),
    "ts": datetime(2026, 1, 31, 10, 0, 0, 123456),  # noqa: DTZ001 - without a zone
    "ltz": datetime(2026, 1, 31, 10, tzinfo=UTC),
    "t": time(10, 11, 12, 500_000),
    "a": [1, None, 3],
    "m": [("a", 1.5)],
    "r": {"x": 1, "y": date(2026, 1, 31)},
}
NESTED = ("a", "m", "r")
WRONG = {
    "b": "maybe",
    "i": "2147483648",
    "n": "1.5",
    "f": "1,5",
    "d": "1.234",
    "y": "#",
    "day": "31.01.2026",
    "ts": "yesterday",
    "ltz": "2026-01-31 10:00:00",
    "t": "24:00:00",
    "a": "[1, 2.5]",
    "m": "[1]",
    "r": '{"z": 1}',
}


def table_of(folder: Path, types: dict[str, str], **options: object) -> Table:
    """`db.t` in a warehouse of its own."""
    catalog = Catalog(folder / "wh")
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table("db.t", types, **options)  # type: ignore[arg-type]  # as they are


def csv_line(values: Sequence[str | None]) -> str:
    cells = ("" if v is None else '"{}"'.format(v.replace('"', '""')) for v in values)
    return ",".join(cells) + "\n"


def written(folder: Path, form: str, columns: dict[str, list[str | None]]) -> Path:
    """A file with columns of text; in JSON nested values are not text."""
    path = folder / f"rows.{form}"
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if form == "csv":
        lines = [csv_line(list(row.values())) for row in rows]
        path.write_text(csv_line(list(columns)) + "".join(lines), encoding="utf-8")
    elif form == "parquet":
        pq.write_table(
            pa.table(columns, schema=pa.schema([(n, pa.string()) for n in columns])), path
        )
    else:
        values = [
            {n: json.loads(v) if v and n in NESTED else v for n, v in row.items()} for row in rows
        ]
        lines = [f"{json.dumps(value, ensure_ascii=False)}\n" for value in values]
        text = "".join(lines) if form == "jsonl" else json.dumps(values)
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
def test_text_is_cast_to_every_type(form: str, tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, TYPES)
    path = written(tmp_path, form, {name: [text, None] for name, text in TEXTS.items()})
    ran = run("import", table.path, path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "db.t: 2 rows imported; snapshot 1.\n"
    assert table.to_arrow().to_pylist() == [VALUES, dict.fromkeys(VALUES)]


def test_variants_are_documents_in_csv_and_values_in_json(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "v": "VARIANT", "l": "ARRAY<VARIANT>"})
    rows = tmp_path / "rows.csv"
    rows.write_text('id,v,l\n1,"{""a"": [1.50, ""x""]}","[""y"", 2.50]"\n2,,\n3,"""text""",\n')
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"id": 4, "v": "text", "l": ["[]"]}\n{"id": 5, "v": {"d": 0.10}}\n')
    for path in (rows, lines):
        ran = run("import", table.path, path)
        assert (ran.code, ran.err) == (0, "")

    found = sorted(table.to_arrow().to_pylist(), key=lambda row: int(row["id"]))
    values = [None if row["v"] is None else Variant(**row["v"]).to_python() for row in found]
    assert values == [{"a": [Decimal("1.50"), "x"]}, None, "text", "text", {"d": Decimal("0.10")}]
    assert [Variant(**one).to_python() for one in found[0]["l"]] == ["y", Decimal("2.50")]
    assert [Variant(**one).to_python() for one in found[3]["l"]] == ["[]"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_does_not_fit_is_told_with_line_and_column(
    form: str, name: str, tmp_path: Path, run: Program
) -> None:
    table = table_of(tmp_path, {name: TYPES[name]})
    texts: list[str | None] = [*[TEXTS[name]] * 700, WRONG[name], TEXTS[name], WRONG[name]]
    path = written(tmp_path, form, {name: texts})
    ran = run("import", table.path, path)
    place = {"csv": "line 702", "jsonl": "line 701", "json": "element 701", "parquet": "row 701"}
    assert (ran.code, ran.out) == (1, "")
    assert f"{path}, {place[form]}, column '{name}': " in ran.err
    assert f"is not a valid {TYPES[name]}" in ran.err
    assert "Nothing was imported." in ran.err
    assert table.snapshot is None


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "text",
    [
        "9" * 45,
        "340282366920938463463374607431768211456",  # 2 ** 128
        "3402823669209384634633746074317682114.56",
        "99e38",
        "3402823669209384634.63374607431768211456e19",
    ],
)
def test_decimals_of_more_digits_than_there_are_do_not_fit(
    text: str, form: str, tmp_path: Path, run: Program
) -> None:
    for kind in ("DECIMAL(38, 0)", "DECIMAL(10, 2)"):
        table = table_of(tmp_path / kind, {"d": kind, "l": f"ARRAY<{kind}>"})
        cases: list[dict[str, list[str | None]]] = [
            {"d": ["1", text], "l": [None, None]},
            {"d": ["1"], "l": [f"[{text}]"]},
        ]
        for texts in cases:
            path = written(tmp_path, form, texts)
            ran = run("import", table.path, path)
            assert (ran.code, "Nothing was imported." in ran.err) == (1, True)
    most = written(tmp_path, form, {"d": ["9" * 38, "-1e37"], "l": [f"[{'9' * 38}]", None]})
    wide = table_of(tmp_path / "wide", {"d": "DECIMAL(38, 0)", "l": "ARRAY<DECIMAL(38, 0)>"})
    assert run("import", wide.path, most).code == 0
    found = wide.to_arrow()
    assert found["d"].to_pylist() == [Decimal("9" * 38), Decimal("-1e37")]
    assert found["l"].to_pylist() == [[Decimal("9" * 38)], None]


def test_whole_numbers_of_a_new_table_keep_all_digits(tmp_path: Path, run: Program) -> None:
    path = tmp_path / "rows.csv"
    texts = {"a": "12345678901234567890", "b": "7", "c": "9" * 45, "d": "1.5"}
    path.write_text(f"{','.join(texts)}\n{','.join(texts.values())}\n", encoding="utf-8")
    assert run("import", "db.new", path, "-w", tmp_path / "wh", "--create").code == 0
    table = Catalog(tmp_path / "wh").table("db.new")
    types = [type_text(field.type) for field in table.schema.fields]
    assert types == ["DECIMAL(38, 0)", "BIGINT", "STRING", "DOUBLE"]
    (row,) = table.to_arrow().to_pylist()
    assert {name: str(value) for name, value in row.items()} == texts


def test_lines_are_counted_as_an_editor_does(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"})
    path = tmp_path / "rows.csv"
    path.write_text('id,text\n1,"two\nlines"\n\nx,b\n', encoding="utf-8")
    assert f"{path}, line 5, column 'id': 'x'" in run("import", table.path, path).err


BROKEN = {
    "too few values": ("rows.csv", b"id,text\n1,a\n2\n", "line 3 has 1 values instead of 2"),
    "too many values": ("rows.csv", b"id,text\n1,a,b\n", "line 2 has 3 values instead of 2"),
    "no lines": ("rows.csv", b"", "is empty"),
    "an open quote": ("rows.csv", b'id,text\n1,"a\n', "line 2: "),
    "a column twice": ("rows.csv", b"id,id\n1,2\n", "the column 'id' twice"),
    "a column without name": ("rows.csv", b"id,\n1,2\n", "a column without a name"),
    "an unknown column": ("rows.csv", b"id,txt\n1,2\n", "the table has no column 'txt'"),
    "another encoding": ("rows.csv", b"id,text\n1,Z\xfcrich\n", "is not UTF-8"),
    "no JSON": ("rows.jsonl", b'{"id": 1}\n{"id": \n', "line 2 is not JSON"),
    "no object": ("rows.jsonl", b'{"id": 1}\n[1]\n', "line 2 is not a JSON object"),
    "an unknown member": ("rows.jsonl", b'{"id": 1}\n{"key": 1}\n', "line 2: the table has no"),
    "a number in an array": ("rows.json", b'[{"id": 1}, 5]', "element 2 is not a JSON object"),
    "no Parquet": ("rows.parquet", b"PAR1", "rows.parquet"),
    "no format": ("rows.dat", b"", "does not tell the format"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_imports_nothing(name: str, tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"})
    file, data, said = BROKEN[name]
    (tmp_path / file).write_bytes(data)
    ran = run("import", table.path, tmp_path / file)
    assert (ran.code, ran.out) == (1, "")
    assert said in ran.err
    assert table.snapshot is None


def test_a_file_that_is_missing_is_named(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT"})
    for form in ("csv", "json", "parquet"):
        ran = run("import", table.path, tmp_path / f"none.{form}")
        assert (ran.code, f"none.{form}" in ran.err) == (1, True)


def test_the_files_of_a_folder_are_named(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT"})
    for form in ([], ["--format", "parquet"]):
        ran = run("import", table.path, tmp_path, *form)
        assert ran.code == 1
        assert "is a folder. Name its files, such as" in ran.err


@pytest.mark.parametrize("target", [[], ["-w", "wh"]], ids=["path", "warehouse"])
def test_files_before_the_table_are_wrong_usage(
    target: list[str], tmp_path: Path, run: Program
) -> None:
    table = table_of(tmp_path, {"id": "INT"})
    file = tmp_path / "my rows.csv"
    file.write_text("id\n1\n", encoding="utf-8")
    ran = run("import", file, table.path if not target else "db.t", *target)
    assert ran.code == 2
    assert "The table is named before the files" in ran.err
    assert table.snapshot is None


def test_several_files_are_one_commit_or_none(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"})
    (tmp_path / "a.csv").write_text("ID,text\n1,a\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"text": 2.50}\n', encoding="utf-8")
    with gzip.open(tmp_path / "c.tsv.gz", "wt", encoding="utf-8") as stream:
        stream.write("text\tid\nc\t3\n")
    files = [tmp_path / name for name in ("a.csv", "b.jsonl", "c.tsv.gz")]
    (tmp_path / "bad.csv").write_text("id\nx\n", encoding="utf-8")
    assert run("import", table.path, *files, tmp_path / "bad.csv").code == 1
    assert table.snapshot is None
    assert run("import", table.path, *files, "--json").lines == [
        '{"table":"db.t","rows":3,"snapshot_id":1}'
    ]
    assert sorted(table.to_arrow().to_pylist(), key=str) == [
        {"id": 1, "text": "a"},
        {"id": 3, "text": "c"},
        {"id": None, "text": "2.50"},
    ]


def test_the_options_of_csv(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"})
    path = tmp_path / "rows.txt"
    path.write_text("1;NA\n2;\n", encoding="utf-8")
    options = ("--delimiter", ";", "--no-header", "id,text", "--null", "NA")
    assert run("import", table.path, path, *options).code == 0
    assert table.to_arrow().to_pylist() == [{"id": 1, "text": None}, {"id": 2, "text": ""}]


@pytest.mark.parametrize("tab", ["\t", r"\t"])
def test_a_tab_is_a_delimiter_also_when_it_is_escaped(
    tmp_path: Path, run: Program, tab: str
) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"})
    path = tmp_path / "rows.txt"
    path.write_text("id\ttext\n1\ta,b\n", encoding="utf-8")
    done = run("import", table.path, path, "--format", "csv", "--delimiter", tab)
    assert done.code == 0
    assert table.to_arrow().to_pylist() == [{"id": 1, "text": "a,b"}]


def test_rows_of_the_same_key_are_replaced(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "text": "STRING"}, primary_key="id")
    path = tmp_path / "rows.csv"
    path.write_text("id,text\n1,a\n2,b\n1,c\n", encoding="utf-8")
    assert run("import", table.path, path).code == 0
    rows = table.to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "text": "c"}, {"id": 2, "text": "b"}]


def test_overwrite_replaces_all_rows(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"id": "INT", "dt": "STRING"}, partition_by="dt")
    table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}])
    path = tmp_path / "rows.csv"
    path.write_text("id,dt\n3,a\n", encoding="utf-8")
    assert run("import", table.path, path, "--overwrite").code == 1
    assert run("import", table.path, path, "--overwrite", "--yes").code == 0
    assert table.to_arrow().to_pylist() == [{"id": 3, "dt": "a"}]


NEW = {
    "csv": (
        "id,code,x,ok,day,at,name,none\n1,007,1.5,true,2026-01-31,2026-01-31 10:00:00,a,\n"
        "2,010,2,false,2026-02-01,2026-02-01T00:00:00,b,\n"
    ),
    "jsonl": (
        '{"id":1,"code":"007","x":1.5,"ok":true,"day":"2026-01-31","at":"2026-01-31 10:00:00",'
        '"name":"a","none":null}\n'
        '{"id":2,"code":"010","x":2,"ok":false,"day":"2026-02-01","at":"2026-02-01T00:00:00",'
        '"name":"b","none":null}\n'
    ),
}
PLAIN_TYPES = {
    "csv": ["BIGINT NOT NULL", "STRING", "DOUBLE", "BOOLEAN", "DATE", "TIMESTAMP(6)", "STRING"],
    "jsonl": ["BIGINT NOT NULL", "STRING", "DOUBLE", "BOOLEAN", "DATE", "STRING", "STRING"],
}


@pytest.mark.parametrize("form", NEW)
def test_a_new_table_gets_the_types_of_the_first_rows(
    form: str, tmp_path: Path, run: Program
) -> None:
    path = tmp_path / f"rows.{form}"
    path.write_text(NEW[form], encoding="utf-8")
    wh = tmp_path / "wh"
    options = ("-w", wh, "--create", "--primary-key", "id", "--table-option", "bucket=1")
    command = ("import", "db.new", path, *options, "--type", "day=DATE")
    wh.mkdir()
    assert "Add --create to create it." in run("import", "db.new", path, "-w", wh).err
    assert run(*command, "--dry-run").lines[-1] == "db.new: 2 rows would be imported."
    assert Catalog(wh).databases() == []
    assert run(*command).code == 0
    table = Catalog(wh).table("db.new")
    columns = json.loads(run("show", table.path, "--json").out)["columns"]
    assert [column["type"] for column in columns] == [*PLAIN_TYPES[form], "STRING"]
    assert (table.schema.primary_keys, table.count()) == (("id",), 2)
    again = run(*command)
    assert (again.code, "already exists" in again.err) == (1, True)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("id,v\n1,a\n,b\n", [], "NOT NULL"),
        ("v\na\n", [], "Column 'id' is missing"),
        ("id,v\n1,a\n", ["--create"], "already exists"),
        ("id,v\n1,a\n", ["--create", "--primary-key", "x"], "'x'"),
        ("id,v\n1,a\n", ["--create", "--table-option", "buckt=2"], "'buckt'"),
        ("id,v\n1,a\n,b\n", ["--create", "--primary-key", "id"], "NOT NULL"),
    ],
)
def test_a_dry_run_fails_as_the_import_does(
    tmp_path: Path, run: Program, text: str, options: list[str], said: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text, encoding="utf-8")
    catalog = new_catalog(tmp_path / "wh")
    catalog.create_table("db.old", {"id": "INT NOT NULL", "v": "STRING"})
    name = "db.new" if len(options) > 1 else "db.old"
    words: list[str | Path] = ["import", name, path, "-w", tmp_path / "wh", *options]
    dry, real = run(*words, "--dry-run"), run(*words)
    assert (dry.code, dry.out, dry.err) == (1, "", real.err)
    assert said in real.err
    assert catalog.tables("db") == ["old"]


@pytest.mark.parametrize(
    ("options", "said"),
    [([], "line 10002, column 'id': 'x'"), (["--table-option", "buckt=2"], "'buckt'")],
)
def test_an_import_that_fails_leaves_no_new_table_and_no_new_database(
    tmp_path: Path, run: Program, options: list[str], said: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id\n" + "1\n" * 10_000 + "x\n", encoding="utf-8")
    catalog = new_catalog(tmp_path / "wh")
    for name in ("new.t", "db.t"):
        ran = run("import", name, path, "-w", tmp_path / "wh", "--create", *options)
        assert (ran.code, said in ran.err) == (1, True)
    assert (catalog.databases(), catalog.tables("db")) == (["db"], [])
    assert run("import", str(tmp_path / "t"), path, "--create").code == 1


def test_a_file_with_a_header_only_imports_no_rows(tmp_path: Path, run: Program) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,s\n", encoding="utf-8")
    ran = run("import", table_of(tmp_path, {"id": "INT", "s": "STRING"}).path, path)
    assert (ran.code, ran.out) == (0, "db.t: 0 rows imported; no snapshot.\n")


@pytest.mark.parametrize("name", ["orders", "customers", "types", "parcels"])
def test_json_and_csv_of_head_can_be_imported_again(
    name: str, own_warehouse: Path, tmp_path: Path, run: Program
) -> None:
    catalog = Catalog(own_warehouse)
    table = catalog.table(f"demo.{name}")
    for form in ("json", "csv"):
        path = tmp_path / f"{name}.{form}"
        path.write_text(run("head", table.path, "--all", f"--{form}").out, encoding="utf-8")
        copy = catalog.create_table(f"demo.{name}_{form}", table.scan().schema)
        ran = run("import", copy.path, path)
        assert (ran.code, ran.err) == (0, "")
        assert copy.to_arrow().to_pylist() == table.to_arrow().to_pylist()


ODD_TEXTS = ("", '"', '""', ",", "\n", '\n""', ',"",', '"",\n""', " ", "a", "\r\n", None)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_texts_of_csv_are_those_of_head(count: int, tmp_path: Path, run: Program) -> None:
    catalog = new_catalog(tmp_path / "wh")
    columns = {f"c{number}": "STRING" for number in range(count)}
    rows = [dict(zip(columns, texts, strict=True)) for texts in product(ODD_TEXTS, repeat=count)]
    table, copy = (catalog.create_table(f"db.{name}", columns) for name in ("t", "copy"))
    table.append(rows)
    path = tmp_path / "rows.csv"
    path.write_text(run("head", table.path, "--all", "--csv").out, encoding="utf-8", newline="")
    assert run("import", copy.path, path).code == 0
    assert copy.to_arrow().to_pylist() == rows


def test_an_empty_text_is_null_where_no_text_is_stored(tmp_path: Path, run: Program) -> None:
    types = {"i": "INT", "d": "DATE", "s": "STRING", "b": "BYTES"}
    table = table_of(tmp_path, types)
    path = tmp_path / "rows.csv"
    path.write_text('i,d,s,b\n"","","",""\n,,,\n', encoding="utf-8")
    assert run("import", table.path, path).code == 0
    empty = dict.fromkeys(types)
    assert table.to_arrow().to_pylist() == [{**empty, "s": "", "b": b""}, empty]


def test_quotes_inside_of_a_value_are_kept(tmp_path: Path, run: Program) -> None:
    table = table_of(tmp_path, {"a": "STRING", "b": "STRING"})
    path = tmp_path / "rows.csv"
    path.write_text('a,b\n5" pipe,"x,"",y"\n3",""\n', encoding="utf-8")
    assert run("import", table.path, path).code == 0
    assert [tuple(row.values()) for row in table.to_arrow().to_pylist()] == [
        ('5" pipe', 'x,",y'),
        ('3"', ""),
    ]


NESTED_TYPES = {
    "t": "TIME(0)",
    "a": "ARRAY<TIME(3)>",
    "m": "MAP<TIME(0), TIMESTAMP(9)>",
    "v": "VARIANT",
    "w": "ARRAY<VARIANT>",
    "x": "MAP<STRING, VARIANT>",
    "r": "ROW<t TIME(3), v VARIANT, b BYTES>",
    "k": "MAP<BYTES, DECIMAL(5, 2)>",
    "s": "MULTISET<STRING>",
    "e": "VECTOR<FLOAT, 2>",
}
_CLOCK = time(1, 2, 3)
_DOCUMENT = Variant.parse_json('{"a": [1.5, 12345678901234567890.25, "b\\u001b", null, true]}')
_NESTED_ROW = {
    "t": _CLOCK,
    "a": [time(23, 59, 59, 999_000), None],
    "m": {_CLOCK: datetime(2026, 7, 1, 10)},  # noqa: DTZ001 - without a zone
    "v": _DOCUMENT,
    "w": [Variant.parse_json('"text"'), None, _DOCUMENT],
    "x": {"k": _DOCUMENT},
    "r": {"t": _CLOCK, "v": Variant.parse_json("0.1"), "b": b"\xff"},
    "k": {b"a": Decimal("1.20")},
    "s": {"a": 2},
    "e": [1.0, 2.5],
}


@pytest.mark.parametrize("form", ["json", "csv"])
def test_every_nested_type_that_head_prints_can_be_imported(
    form: str, tmp_path: Path, run: Program
) -> None:
    table = table_of(tmp_path, NESTED_TYPES)
    table.append([_NESTED_ROW, dict.fromkeys(_NESTED_ROW)])
    before = table.to_arrow()
    path = tmp_path / f"rows.{form}"
    path.write_text(run("head", table.path, "--all", f"--{form}").out, encoding="utf-8")
    ran = run("import", table.path, path, "--overwrite", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert table.to_arrow().equals(before)
