"""Adoption of Parquet and ORC files: rows, statistics, places, and everything that is refused."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from support.small_tables import columns, new_catalog

SCHEMA = columns(
    p=pa.string(),
    k=pa.int32(),
    price=pa.decimal128(8, 2),
    day=pa.date32(),
    tags=pa.list_(pa.string()),
)
DAY = dt.date(2026, 1, 1)


def rows(p: str, *keys: int) -> pa.Table:
    found = [
        {
            "p": p,
            "k": k,
            "price": Decimal(k) / 4,
            "day": DAY + dt.timedelta(days=k),
            "tags": [str(k)],
        }
        for k in keys
    ]
    return pa.Table.from_pylist(found, schema=SCHEMA)


def write(path: Path, found: pa.Table) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".orc":
        po.write_table(found, path)
    else:
        pq.write_table(found, path, row_group_size=3)
    return path


@pytest.fixture(name="catalog")
def make_catalog(tmp_path: Path) -> Catalog:
    return new_catalog(tmp_path / "wh")


def new(catalog: Catalog, options: Mapping[str, str] | None = None, *, parts: bool = True) -> Table:
    keys = ["p"] if parts else []
    return catalog.create_table("db.t", SCHEMA, partition_by=keys, options=dict(options or {}))


@pytest.mark.parametrize("extension", ["parquet", "orc"])
@pytest.mark.parametrize(
    "options", [{}, {"row-tracking.enabled": "true"}, {"deletion-vectors.enabled": "true"}], ids=str
)
def test_rows_of_added_files_are_read_like_written_ones(
    tmp_path: Path, catalog: Catalog, extension: str, options: Mapping[str, str]
) -> None:
    table = new(catalog, options)
    table.append(rows("a", 1, 2))
    files = [
        write(tmp_path / f"in/x.{extension}", rows("a", 3, 4, 5, 6)),
        write(tmp_path / f"in/p=b/y.{extension}", rows("b", 7)),
    ]
    snapshot = table.add_files(files, properties={"job": "adopt"}, commit_user="me")
    assert snapshot is not None
    assert (snapshot.delta_record_count, snapshot.commit_kind.value) == (5, "APPEND")
    assert (snapshot.properties, snapshot.commit_user) == ({"job": "adopt"}, "me")
    expected = pa.concat_tables([rows("a", 1, 2, 3, 4, 5, 6), rows("b", 7)])
    assert table.to_arrow().sort_by("k").to_pylist() == expected.to_pylist()
    assert table.maintenance.fsck() == []
    assert all(file.exists() for file in files), "copied, not moved"
    sizes = table.inspect.files().sort_by("min_value_stats")["file_size_in_bytes"].to_pylist()
    assert {file.stat().st_size for file in files} <= set(sizes), "rewritten"


def test_statistics_exclude_added_files(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog)
    table.add_files([write(tmp_path / f"{n}.parquet", rows("a", n, n + 1)) for n in (10, 20, 30)])
    for where in ("k = 20", "day = '2026-01-21'", "price = 5.0"):
        plan = table.scan(where=where).plan()
        assert sum(len(split.files) for split in plan.splits) == 1
    assert table.count("k >= 21") == 3


def test_added_files_are_updated_deleted_and_compacted(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog, {"compaction.min.file-num": "2"})
    table.add_files([write(tmp_path / f"{n}.parquet", rows("a", n)) for n in range(4)])
    table.update({"k": "k + 10"}, "k = 1")
    table.delete("k = 2")
    table.compact()
    assert sorted(map(str, table.to_arrow()["k"].to_pylist())) == ["0", "11", "3"]
    assert table.maintenance.fsck() == []


def test_a_folder_is_walked_without_hidden_files(tmp_path: Path, catalog: Catalog) -> None:
    for n, name in enumerate(["p=a/1.parquet", "p=a/x/2.orc", "_tmp/3.parquet", ".4.parquet"]):
        write(tmp_path / "in" / name, rows("a", n))
    (tmp_path / "in" / "_SUCCESS").touch()
    (tmp_path / "in" / "notes.txt").write_text("x")
    table = new(catalog)
    table.add_files(tmp_path / "in")
    assert sorted(map(str, table.to_arrow()["k"].to_pylist())) == ["0", "1"]


def test_files_are_linked_or_moved(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog, parts=False)
    linked = write(tmp_path / "a.parquet", rows("a", 1))
    table.add_files(linked, mode="link")
    assert linked.stat().st_nlink == 2
    moved = write(tmp_path / "b.parquet", rows("a", 2))
    table.add_files(str(moved), mode="move")
    assert not moved.exists()
    assert table.count() == 2


def test_files_without_rows_make_no_snapshot(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog)
    assert table.add_files(write(tmp_path / "a.parquet", rows("a"))) is None
    assert table.snapshot is None


def test_the_partition_may_be_given(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog)
    file = write(tmp_path / "a.parquet", rows("a", 1))
    table.add_files(file, partition={"p": "a"})
    assert table.count("p = 'a'") == 1


WRONG: Mapping[str, tuple[Callable[[pa.Table], pa.Table], str]] = {
    "wider type": (
        lambda t: t.set_column(1, "k", t["k"].cast(pa.int64())),
        r"Column 'k' \(INT\): values of type int64 are not of its Arrow type int32",
    ),
    "another precision": (
        lambda t: t.set_column(2, "price", t["price"].cast(pa.decimal128(9, 2))),
        r"Column 'price' \(DECIMAL\(8, 2\)\)",
    ),
    "text for a date": (
        lambda t: t.set_column(3, "day", t["day"].cast(pa.string())),
        r"Column 'day' \(DATE\)",
    ),
    "other elements": (
        lambda t: t.set_column(4, "tags", t["tags"].cast(pa.list_(pa.binary()))),
        "Column 'tags",
    ),
    "missing column": (lambda t: t.drop_columns(["day"]), "has no column 'day'"),
    "missing partition": (lambda t: t.drop_columns(["p"]), "'p', a partition column"),
    "new column": (lambda t: t.append_column("x", t["k"]), "has the column 'x', which"),
    "several partitions": (
        lambda t: pa.concat_tables([t, rows("b", 1)]),
        "has rows of several partitions",
    ),
}


@pytest.mark.parametrize("extension", ["parquet", "orc"])
@pytest.mark.parametrize("name", WRONG)
def test_a_file_that_does_not_fit_is_refused_and_nothing_is_left(
    tmp_path: Path, catalog: Catalog, name: str, extension: str
) -> None:
    table = new(catalog)
    good = write(tmp_path / f"in/a.{extension}", rows("a", 1))
    bad = write(tmp_path / f"in/b.{extension}", WRONG[name][0](rows("a", 2)))
    with pytest.raises(InvalidInputError, match=WRONG[name][1]) as caught:
        table.add_files([good, bad])
    assert str(bad) in str(caught.value)
    assert table.snapshot is None
    assert [path for path in Path(table.path).rglob("*.*") if "bucket" in str(path)] == []


def test_timestamps_have_the_unit_of_the_column(tmp_path: Path, catalog: Catalog) -> None:
    table = catalog.create_table("db.times", columns(at=pa.timestamp("us"), z=pa.timestamp("ms")))
    moment = dt.datetime.combine(DAY, dt.time(10))
    good = pa.Table.from_pylist([{"at": moment, "z": moment}], schema=table.scan().schema)
    table.add_files(write(tmp_path / "a.parquet", good))
    assert table.to_arrow().to_pylist() == [{"at": moment, "z": moment}]
    other = write(tmp_path / "b.parquet", good.set_column(0, "at", good["z"]))
    with pytest.raises(InvalidInputError, match=r"Column 'at' \(TIMESTAMP\(6\)\)"):
        table.add_files(other)
    with pytest.raises(UnsupportedFeatureError, match="ORC file with the TIMESTAMP column 'at'"):
        table.add_files(write(tmp_path / "c.orc", good))


def test_wrong_arguments_are_refused(tmp_path: Path, catalog: Catalog) -> None:
    table = new(catalog)
    file = write(tmp_path / "p=b/a.parquet", rows("a", 1))
    text = tmp_path / "a.txt"
    text.write_text("no file of rows")
    calls: list[tuple[Callable[[], object], type[PaimonError], str]] = [
        (lambda: table.add_files(file), InvalidInputError, "in a folder p=b, but its rows"),
        (lambda: table.add_files(file, partition={"p": "c"}), InvalidInputError, "not of p=c"),
        (lambda: table.add_files(file, partition={}), InvalidInputError, "partition columns"),
        (lambda: table.add_files(text), InvalidInputError, "neither a Parquet nor an ORC file"),
        (lambda: table.add_files([file, file]), InvalidInputError, "given twice"),
        (lambda: table.add_files([]), InvalidInputError, "at least one file"),
        (lambda: table.add_files(file, mode="steal"), InvalidInputError, "Unknown mode 'steal'"),
        (lambda: table.add_files(tmp_path / "none"), NotFoundError, "does not exist"),
    ]
    for call, kind, message in calls:
        with pytest.raises(kind, match=message):
            call()
    assert table.snapshot is None


REFUSED: Mapping[str, tuple[Mapping[str, str], list[str], str]] = {
    "primary key": ({"bucket": "1"}, ["k"], "a primary key"),
    "fixed buckets": ({"bucket": "2", "bucket-key": "k"}, [], "fixed buckets"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_cannot_adopt_files_say_why(
    tmp_path: Path, catalog: Catalog, name: str
) -> None:
    options, keys, reason = REFUSED[name]
    table = catalog.create_table("db.t", SCHEMA, primary_key=keys, options=dict(options))
    file = write(tmp_path / "a.parquet", rows("a", 1))
    with pytest.raises(UnsupportedFeatureError, match=reason):
        table.add_files(file)


def test_values_must_fit_nullability_and_length(tmp_path: Path, catalog: Catalog) -> None:
    keys = pa.schema([pa.field("k", pa.int32(), nullable=False)])
    table = catalog.create_table("db.t", keys)
    table.add_column("w", "VARCHAR(3)")
    cases: list[tuple[dict[str, object], str]] = [
        (
            {"k": None, "w": "a"},
            "row 1 .counted from 0.: the value is null, but the column is NOT NULL",
        ),
        ({"k": 2, "w": "long"}, r"Column 'w' \(VARCHAR\(3\)\), row 1 .counted from 0.: 'long'"),
    ]
    good: dict[str, object] = {"k": 1, "w": "abc"}
    loose = columns(k=pa.int32(), w=pa.string())
    for bad, message in cases:
        file = write(tmp_path / "a.parquet", pa.Table.from_pylist([good, bad], schema=loose))
        with pytest.raises(InvalidInputError, match=message):
            table.add_files(file)
    table.add_files(write(tmp_path / "b.parquet", pa.Table.from_pylist([good], schema=loose)))
    assert table.to_arrow().to_pylist() == [good]
