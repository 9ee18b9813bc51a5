"""Format tables and object tables of a REST catalog: files, partitions, rows, refusals."""

import datetime as dt
import gzip
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from paimon_explore import Catalog
from paimon_explore.errors import (
    AlreadyExistsError,
    CorruptFileError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.table.file_tables.format_table import FormatTable
from support.rest_catalog_stub import RestCatalogStub, StubTable, rest_catalog_stub

COLUMNS = {"k": "INT", "v": "STRING", "day": "DATE", "hour": "INT"}
KEYS = ("day", "hour")
DAY, NEXT = dt.date(2026, 1, 1), dt.date(2026, 1, 2)
FOLDERS: Mapping[str, Sequence[tuple[int, str | None]]] = {
    "day=2026-01-01/hour=1": [(1, "a"), (2, None)],
    "day=2026-01-01/hour=2": [(3, "c")],
    "day=2026-01-02/hour=__DEFAULT_PARTITION__": [(4, "d")],
}
ROWS: list[dict[str, object]] = [
    {"k": 1, "v": "a", "day": DAY, "hour": 1},
    {"k": 2, "v": None, "day": DAY, "hour": 1},
    {"k": 3, "v": "c", "day": DAY, "hour": 2},
    {"k": 4, "v": "d", "day": NEXT, "hour": None},
]


def _arrow(rows: Sequence[tuple[int, str | None]]) -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in rows], pa.int32()), "v": [v for _, v in rows]})


def _csv(rows: Sequence[tuple[int, str | None]], path: Path) -> None:
    path.write_text("".join(f"{k},{v or ''}\n" for k, v in rows))


def _json(rows: Sequence[tuple[int, str | None]], path: Path) -> None:
    lines = (f'{{"k": {k}' + (f', "v": "{v}"}}' if v else "}") for k, v in rows)
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))


WRITERS: Mapping[str, tuple[str, Callable[[Sequence[tuple[int, str | None]], Path], None]]] = {
    "parquet": ("000000_0", lambda rows, path: pq.write_table(_arrow(rows), path)),
    "orc": ("part-1.snappy.orc", lambda rows, path: orc.write_table(_arrow(rows), path)),
    "csv": ("x.csv", _csv),
    "json": ("x.json.gz", _json),
}


@pytest.fixture(name="stub")
def make_stub(tmp_path: Path) -> Iterator[RestCatalogStub]:
    with rest_catalog_stub(str(tmp_path)) as served:
        yield served


@pytest.fixture(name="catalog")
def make_catalog(stub: RestCatalogStub) -> Catalog:
    catalog = Catalog(
        metastore="rest", uri=stub.url, warehouse="wh", options={"token": "t", "max-retries": "0"}
    )
    catalog.create_database("db")
    return catalog


def add_table(
    stub: RestCatalogStub,
    folder: Path,
    columns: Mapping[str, str],
    keys: tuple[str, ...],
    **options: str,
) -> None:
    """A table `db.f` of the server, at a folder."""
    schema = {
        "fields": [
            {"id": at, "name": name, "type": kind}
            for at, (name, kind) in enumerate(columns.items())
        ],
        "partitionKeys": list(keys),
        "primaryKeys": [],
        "options": {key.replace("_", "-"): value for key, value in options.items()},
    }
    stub.tables["db", "f"] = StubTable("id-f", str(folder), schema, external=True)


def filled(stub: RestCatalogStub, folder: Path, file_format: str, **options: str) -> None:
    """The table `db.f` with four rows in three partitions, and files that are none of it."""
    name, write = WRITERS[file_format]
    for path, rows in FOLDERS.items():
        (folder / path).mkdir(parents=True)
        write(rows, folder / path / name)
        (folder / path / "_SUCCESS").write_text("")
        (folder / path / ".x.crc").write_text("crc")
    (folder / "readme").write_text("not in a partition")
    (folder / "_temporary/hour=1").mkdir(parents=True)
    (folder / "_temporary/hour=1/x").write_text("not finished")
    given = {"type": "format-table", "file.format": file_format, **options}
    add_table(stub, folder, COLUMNS, KEYS, **given)


@pytest.mark.parametrize("file_format", WRITERS)
def test_the_rows_of_a_format_table_are_those_of_its_folders(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path, file_format: str
) -> None:
    filled(stub, tmp_path / "files", file_format)
    assert catalog.tables("db") == ["f"]
    table = catalog.format_table("db.f")
    assert table.to_arrow().to_pylist() == ROWS
    assert table.file_format == file_format
    assert table.partitions() == [
        {"day": DAY, "hour": 1},
        {"day": DAY, "hour": 2},
        {"day": NEXT, "hour": None},
    ]
    assert table.scan(
        ["v", "hour"], "k >= 2 AND day = DATE '2026-01-01'"
    ).to_arrow().to_pylist() == [
        {"v": None, "hour": 1},
        {"v": "c", "hour": 2},
    ]
    assert table.scan(["hour"]).to_arrow()["hour"].to_pylist() == [1, 1, 2, None]
    assert [table.count(), table.count("hour = 1"), table.count("hour IS NULL")] == [4, 2, 1]
    assert table.scan(limit=3).to_arrow().to_pylist() == ROWS[:3]
    assert table.scan(limit=0).to_arrow().num_rows == 0
    assert "partitioned by 'day', 'hour'" in repr(table)


PRUNED = {
    "hour = 1": 1,
    "day < DATE '2026-01-02'": 2,
    "k = 1": 3,
    "k = 1 AND hour > 1": 1,
    "v = 'x' OR hour = 2": 3,
}


@pytest.mark.parametrize("where", PRUNED)
def test_only_folders_of_matching_partitions_are_read(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path, where: str
) -> None:
    filled(stub, tmp_path / "files", "csv")
    assert len(catalog.format_table("db.f").scan(where=where).files()) == PRUNED[where]


def test_other_libraries_read_a_format_table(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "parquet")
    table = catalog.format_table("db.f")
    assert pa.table(table).num_rows == 4
    frame = table.scan().to_polars(lazy=True)
    assert frame.filter(pl.col("hour") == 2).select("v").collect()["v"].to_list() == ["c"]
    connection = table.scan().to_duckdb(lazy=True)
    assert connection.sql("SELECT max(k) FROM t WHERE hour = 1").fetchall() == [(2,)]
    connection.close()
    assert len(table.head(2)) == 2
    assert [part.to_batches().read_all().num_rows for part in table.scan().parts()] == [4]


def test_folders_may_be_named_after_values_only(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    for path, rows in {
        "2026-01-01/1": [(1, "a")],
        "2026-01-02/__DEFAULT_PARTITION__": [(2, "b")],
    }.items():
        (folder / path).mkdir(parents=True)
        _csv(rows, folder / path / "x.csv")
    options = {"type": "format-table", "file.format": "csv"}
    add_table(
        stub, folder, COLUMNS, KEYS, **options, **{"format-table.partition-path-only-value": "true"}
    )
    assert catalog.format_table("db.f").to_arrow().to_pylist() == [
        {"k": 1, "v": "a", "day": DAY, "hour": 1},
        {"k": 2, "v": "b", "day": NEXT, "hour": None},
    ]


def test_names_of_folders_are_escaped_and_files_may_lie_deeper(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    folder = tmp_path / "files/p=a%2Fb/deeper"
    folder.mkdir(parents=True)
    _csv([(1, "a")], folder / "x.csv")
    columns = {"k": "INT", "v": "STRING", "p": "STRING"}
    add_table(
        stub, tmp_path / "files", columns, ("p",), **{"type": "format-table", "file.format": "csv"}
    )
    table = catalog.format_table("db.f")
    assert table.to_arrow().to_pylist() == [{"k": 1, "v": "a", "p": "a/b"}]
    (tmp_path / "files/other=1").mkdir()
    _csv([(2, "b")], tmp_path / "files/other=1/x.csv")
    assert table.count() == 1


def test_lines_of_text_are_rows(stub: RestCatalogStub, catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/x.txt").write_text("one\n\nthree\n")
    options = {"type": "format-table", "file.format": "text"}
    add_table(stub, tmp_path / "files", {"line": "STRING"}, (), **options)
    assert catalog.format_table("db.f").to_arrow()["line"].to_pylist() == ["one", "", "three"]
    add_table(
        stub, tmp_path / "files", {"line": "STRING"}, (), **options, **{"text.line-delimiter": "e"}
    )
    assert catalog.format_table("db.f").count() == 4
    add_table(stub, tmp_path / "files", {"a": "STRING", "b": "STRING"}, (), **options)
    with pytest.raises(CorruptFileError, match="a text file has exactly one column"):
        catalog.format_table("db.f").to_arrow()


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("delimiter", ["\n", "\r\n", "||"])
def test_a_line_of_text_is_written_for_each_row(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path, delimiter: str, compression: str
) -> None:
    options = {"type": "format-table", "file.format": "text", "lineSep": delimiter}
    options["format-table.file.compression"] = compression
    add_table(stub, tmp_path / "files", {"line": "STRING", "p": "INT"}, ("p",), **options)
    table = catalog.format_table("db.f")
    rows: list[dict[str, object]] = [{"line": text, "p": 1} for text in ("a", None, "ü")]
    (path,) = table.append(rows)
    stored = Path(path).read_bytes()
    assert path.endswith("-0.text.gz" if compression == "gzip" else "-0.text")
    stored = gzip.decompress(stored) if compression == "gzip" else stored
    end = delimiter.encode()
    assert stored == b"a" + end + end + "ü".encode() + end
    assert table.to_arrow()["line"].to_pylist() == ["a", "", "ü"]
    for text in (f"a{delimiter}b", f"a{delimiter[0]}" if len(delimiter) > 1 else "a\r"):
        with pytest.raises(InvalidInputError, match="contains the end of a line"):
            table.append([{"line": text, "p": 1}])
    assert table.count() == 3


def test_options_of_csv_are_followed(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/x").write_text("k;v\n1;NA\n")
    options = {"csv.field-delimiter": ";", "csv.include-header": "true", "csv.null-literal": "NA"}
    given = {"type": "format-table", "file.format": "csv", **options}
    add_table(stub, tmp_path / "files", {"k": "INT", "v": "STRING"}, (), **given)
    assert catalog.format_table("db.f").to_arrow().to_pylist() == [{"k": 1, "v": None}]


@pytest.mark.parametrize("file_format", WRITERS)
@pytest.mark.parametrize("only_value", ["false", "true"])
def test_rows_are_appended_to_the_folders_of_their_partitions(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path, file_format: str, only_value: str
) -> None:
    options = {"type": "format-table", "file.format": file_format}
    options["format-table.partition-path-only-value"] = only_value
    add_table(stub, tmp_path / "files", COLUMNS, KEYS, **options)
    table = catalog.format_table("db.f")
    paths = table.append(ROWS)
    named = [path.removeprefix(f"{tmp_path}/files/").rpartition("/")[0] for path in paths]
    expected = ["day=20454/hour=1", "day=20454/hour=2", "day=20455/hour=__DEFAULT_PARTITION__"]
    bare = [name.replace("day=", "").replace("hour=", "") for name in expected]
    assert named == (bare if only_value == "true" else expected)
    assert table.to_arrow().to_pylist() == ROWS
    table.append(pa.Table.from_pylist(ROWS[2:3]))
    assert [table.count(), table.count("hour = 2")] == [5, 2]


def test_an_overwrite_replaces_the_partitions_of_its_rows(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "csv")
    table = catalog.format_table("db.f")
    new = {"k": 9, "v": "new", "day": DAY, "hour": 1}  # its folder has another name
    table.overwrite([new])
    assert set(table.to_arrow()["k"].to_pylist()) == {3, 4, 9}
    assert table.count() == 3
    assert table.overwrite([]) == ()
    assert table.count() == 3
    add_table(
        stub, tmp_path / "flat", {"k": "INT"}, (), **{"type": "format-table", "file.format": "json"}
    )
    flat = catalog.format_table("db.f")
    flat.append({"k": [1, 2]})
    flat.overwrite({"k": [3]})
    assert flat.to_arrow().to_pylist() == [{"k": 3}]
    assert flat.overwrite([]) == ()
    assert flat.count() == 0


def test_files_have_the_compression_that_the_table_asks_for(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    given = {"type": "format-table", "file.format": "csv", "format-table.file.compression": "gzip"}
    add_table(stub, tmp_path / "files", {"k": "INT"}, (), **given)
    table = catalog.format_table("db.f")
    (path,) = table.append({"k": [1]})
    assert path.endswith("-0.csv.gz")
    assert gzip.decompress(Path(path).read_bytes()) == b"1\n"
    assert table.to_arrow().to_pylist() == [{"k": 1}]


def test_a_write_that_fails_leaves_no_files(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "csv")
    table = catalog.format_table("db.f")
    before = table.scan().files()
    with pytest.raises(InvalidInputError, match="no column 'x'"):
        table.append([{"x": 1}])
    options = {"type": "format-table", "file.format": "csv"}
    add_table(stub, tmp_path / "files", {**COLUMNS, "l": "VARIANT"}, KEYS, **options)
    with pytest.raises(UnsupportedFeatureError, match="column 'l'"):
        catalog.format_table("db.f").append([{"k": 1, "day": DAY, "hour": 1}])
    assert table.scan().files() == before
    for columns in ({"l": "INT"}, {"l": "STRING", "m": "STRING"}):
        add_table(stub, tmp_path / "files", columns, (), **{**options, "file.format": "text"})
        with pytest.raises(UnsupportedFeatureError, match="columns than one of type STRING"):
            catalog.format_table("db.f").append([{"l": None}])


def test_an_object_table_lists_files(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "files/b").mkdir(parents=True)
    (tmp_path / "files/b/two.bin").write_bytes(b"12")
    (tmp_path / "files/one").write_bytes(b"1")
    add_table(stub, tmp_path / "files", {}, (), type="object-table")
    rows = catalog.object_table("db.f").to_arrow().to_pylist()
    found = [(row["path"], row["name"], row["length"], row["atime"], row["owner"]) for row in rows]
    assert found == [("b/two.bin", "two.bin", 2, 0, None), ("one", "one", 1, 0, None)]
    modified = (tmp_path / "files/one").stat().st_mtime_ns // 1_000_000
    assert rows[1]["mtime"] == modified


def test_what_such_tables_do_not_have_is_refused_by_name(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "csv")
    with pytest.raises(UnsupportedFeatureError, match="type 'format-table'") as refused:
        catalog.table("db.f")
    assert refused.value.hint == "Open it with format_table('db.f')."
    with pytest.raises(InvalidInputError, match="has the type 'format-table', not 'object-table'"):
        catalog.object_table("db.f")
    with pytest.raises(UnsupportedFeatureError, match="Time travel in a format table"):
        catalog.format_table("db.f").at(1)
    scan = catalog.format_table("db.f").scan
    with pytest.raises(InvalidInputError, match="no column 'x'"):
        scan(["x"])
    with pytest.raises(InvalidInputError, match="needs at least one column"):
        scan().select()
    add_table(
        stub, tmp_path / "files", COLUMNS, KEYS, **{"type": "format-table", "file.format": "avro"}
    )
    with pytest.raises(UnsupportedFeatureError, match="A format table of avro files"):
        catalog.format_table("db.f").to_arrow()


def test_a_rest_catalog_creates_format_tables(stub: RestCatalogStub, catalog: Catalog) -> None:
    table = catalog.create_format_table(
        "db.made",
        {"k": "INT", "v": "STRING", "day": "DATE"},
        "csv",
        partition_by="day",
        options={"csv.field-delimiter": ";"},
    )
    assert stub.tables["db", "made"].schema["options"] == {
        "type": "format-table",
        "file.format": "csv",
        "csv.field-delimiter": ";",
    }
    rows: list[dict[str, object]] = [
        {"k": 1, "v": "a", "day": DAY},
        {"k": 2, "v": None, "day": NEXT},
    ]
    table.append(rows)
    assert catalog.format_table("db.made").to_arrow().to_pylist() == rows
    with pytest.raises(AlreadyExistsError):
        catalog.create_format_table("db.made", {"k": "INT"}, "csv")
    with pytest.raises(InvalidInputError, match="cannot have files of the format 'avro'"):
        catalog.create_format_table("db.other", {"k": "INT"}, "avro")
    with pytest.raises(UnsupportedFeatureError, match="'object-table' by create_table"):
        catalog.create_table("db.other", {"k": "INT"}, options={"type": "object-table"})


@pytest.mark.parametrize("kind", ["format-table", "object-table", "lance-table", "iceberg-table"])
@pytest.mark.parametrize("metastore", ["filesystem", "jdbc"])
def test_folders_and_databases_have_tables_with_snapshots_only(
    kind: str, metastore: str, tmp_path: Path
) -> None:
    uri = {} if metastore == "filesystem" else {"uri": f"jdbc:sqlite:{tmp_path}/c.db"}
    made = Catalog(options={"metastore": metastore, "warehouse": f"{tmp_path}/wh", **uri})
    made.create_database("db")
    with pytest.raises(UnsupportedFeatureError, match=f"Creating a table of type '{kind}'"):
        made.create_table("db.t", {"k": "INT"}, options={"type": kind})
    with pytest.raises(UnsupportedFeatureError, match=r"'format-table' in a .* catalog"):
        made.create_format_table("db.t", {"k": "INT"}, "csv")
    with pytest.raises(UnsupportedFeatureError, match=r"with the option 'path' in a .* catalog"):
        made.create_table("db.t", {"k": "INT"}, options={"path": f"{tmp_path}/elsewhere"})
    assert made.tables("db") == []
    assert made.create_table(
        "db.m", {"k": "INT"}, options={"type": "materialized-table"}
    ).schema.options == {"type": "materialized-table"}


def test_a_folder_that_is_no_value_of_its_key_is_named(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "csv")
    (tmp_path / "files/day=2026-01-01/hour=x").mkdir()
    _csv([(1, "a")], tmp_path / "files/day=2026-01-01/hour=x/x.csv")
    with pytest.raises(CorruptFileError, match="folder 'x' of partition key 'hour'"):
        catalog.format_table("db.f").to_arrow()


def test_a_warehouse_with_such_tables_is_listed(
    stub: RestCatalogStub, catalog: Catalog, tmp_path: Path
) -> None:
    filled(stub, tmp_path / "files", "csv")
    catalog.create_table("db.t", {"k": "INT"})
    listed = catalog.system_table("sys.tables").to_arrow()
    assert listed["table_name"].to_pylist() == ["t"]
    assert catalog.tables("db") == ["f", "t"]
    assert isinstance(catalog.format_table("db.f"), FormatTable)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the process is fixed")
@pytest.mark.parametrize(
    ("legacy", "folder"),
    [("true", "at=2026-01-01T21%3A00"), ("false", "at=2026-01-01 21%3A00%3A00.000")],
)
def test_moments_are_partitions_by_local_time_as_readers_take_them(
    stub: RestCatalogStub,
    catalog: Catalog,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    legacy: str,
    folder: str,
) -> None:
    options = {"type": "format-table", "file.format": "json", "partition.legacy-name": legacy}
    add_table(stub, tmp_path / "files", {"k": "INT", "at": "TIMESTAMP_LTZ(3)"}, ("at",), **options)
    rows = [{"k": 1, "at": dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)}]
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        table = catalog.format_table("db.f")
        table.append(rows)
        table.overwrite(rows)
        assert table.to_arrow().to_pylist() == rows
        assert [path.name for path in (tmp_path / "files").iterdir()] == [folder]
    finally:
        monkeypatch.undo()
        time.tzset()
