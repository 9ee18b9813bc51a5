"""DuckDB reads the files of a table itself where they store the table's rows and values."""

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import MissingFileError
from paimon_explore.sql_statements.duckdb import parquet_files, scan_rows
from support.small_tables import new_catalog

ROWS = 2_000


@pytest.fixture(autouse=True)
def _files_of_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "_MIN_ROWS", 1)
    monkeypatch.setattr(parquet_files, "_MIN_FILE_BYTES", 1)
    monkeypatch.setattr(scan_rows, "_FEW_ROWS", -1)


def rows(first: int = 0) -> pa.Table:
    numbers = np.arange(first, first + ROWS)
    amounts = np.where(numbers % 7 == 0, np.nan, numbers / 4)
    return pa.table(
        {
            "id": pa.array(numbers),
            "amount": pa.array(amounts, pa.float64(), from_pandas=False),
            "price": pa.array([Decimal(int(n)) / 100 for n in numbers], pa.decimal128(12, 2)),
            "city": pa.array([None if n % 5 == 0 else f"c{n % 11}" for n in numbers]),
            "at": pa.array(numbers * 1_000_000, pa.timestamp("us")),
        }
    )


@pytest.fixture
def table(tmp_path: Path) -> pe.Table:
    made = new_catalog(tmp_path).create_table("db.t", rows().schema)
    made.append(rows())
    made.append(rows(ROWS))
    return made


def reads_files(table: pe.Table, text: str = "SELECT * FROM t") -> bool:
    plan = pe.sql(f"EXPLAIN {text}", t=table).to_arrow()["plan"].to_pylist()
    return any("READ_PARQUET" in str(line) for line in plan)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM t",
        "SELECT city, sum(id) AS n, max(price) AS p FROM t GROUP BY city ORDER BY city",
        "SELECT id FROM t WHERE amount > 900 ORDER BY id",
        "SELECT id FROM t WHERE isnan(amount) ORDER BY id",
        "SELECT count(*) AS n FROM t WHERE city IS NULL AND at < TIMESTAMP'1970-01-01 00:30:00'",
        "SELECT id, city FROM t ORDER BY amount DESC, id LIMIT 700",
        "SELECT id, city FROM t ORDER BY amount DESC, id LIMIT 7",
        "SELECT id, amount FROM t ORDER BY city, id LIMIT 5",
        "SELECT id, amount FROM t ORDER BY city DESC NULLS LAST, id DESC LIMIT 5 OFFSET 3",
        "SELECT id, city FROM t ORDER BY price DESC LIMIT 5",
        "SELECT id, city FROM t ORDER BY at LIMIT 3",
        "SELECT a.id FROM t a JOIN t b ON a.id = b.id + 1 WHERE b.price < 3 ORDER BY a.id",
    ],
)
def test_the_rows_are_those_of_the_scan(
    text: str, table: pe.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reads_files(table, text)
    found = pe.sql(text, t=table).to_arrow()
    monkeypatch.setattr(parquet_files, "_MIN_ROWS", 1 << 60)
    assert not reads_files(table, text)
    expected = pe.sql(text, t=table).to_arrow()
    assert repr(found.to_pylist()) == repr(expected.to_pylist())
    assert found.schema == expected.schema


def test_a_column_that_was_dropped_and_added_again_is_null_in_old_files(table: pe.Table) -> None:
    table.drop_column("city")
    table.add_column("city", "STRING")
    table = pe.open_table(table.path)
    assert not reads_files(table)
    assert reads_files(table, "SELECT sum(id) AS n FROM t")
    found = pe.sql("SELECT count(city) AS n, count(id) AS m FROM t WHERE id >= 0", t=table)
    assert found.to_arrow().to_pylist() == [{"n": 0, "m": 2 * ROWS}]


def test_files_that_need_a_merge_are_read_by_the_scan(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t", rows().schema, primary_key="id", options={"write-only": "true"}
    )
    table.upsert(rows())
    table.upsert(rows())
    assert not reads_files(table)
    text = "SELECT count(*) AS n FROM t WHERE price >= 0"
    assert pe.sql(text, t=table).to_arrow().to_pylist() == [{"n": ROWS}]


def test_many_choices_are_tested_by_the_scan(table: pe.Table) -> None:
    def query(last: int) -> str:
        pairs = (f"(id = {n} AND city = 'c{n % 11}')" for n in range(2, 2 + last))
        return f"SELECT id FROM t WHERE {' OR '.join(pairs)} ORDER BY id"  # noqa: S608 - numbers

    assert reads_files(table, query(64))
    assert not reads_files(table, query(65))
    found = pe.sql(query(65), t=table).to_arrow()["id"].to_pylist()
    assert found == [n for n in range(2, 67) if n % 5]


def test_a_missing_file_is_named(table: pe.Table) -> None:
    found = pe.sql("SELECT sum(id) AS n FROM t", t=table)
    next(Path(table.path).rglob("data-*.parquet")).unlink()
    with pytest.raises(MissingFileError, match="fsck"):
        found.to_arrow()


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
@pytest.mark.parametrize("folder", ["outside", "t"])
def test_a_query_cannot_read_files_by_their_names(
    dialect: str, folder: str, table: pe.Table, tmp_path: Path
) -> None:
    assert reads_files(table)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.csv").write_text("a\n1\n", encoding="utf-8")
    path = outside / "a.csv" if folder == "outside" else next(Path(table.path).rglob("*.parquet"))
    name = f"`{path}`" if dialect == "spark" else f'"{path}"'
    for rows in (name, f"read_parquet('{path}')"):
        with pytest.raises(pe.PaimonError):
            pe.sql(f"SELECT * FROM {rows}, t", t=table, dialect=dialect).to_arrow()  # noqa: S608 - as in the test's name


def test_a_join_of_merged_tables_can_be_read_again(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", rows().schema, primary_key="id")
    table.upsert(rows())
    text = (
        "SELECT count(*) AS n FROM t a JOIN t b ON a.id = b.id + 1 JOIN few ON few.city = b.city "
        "WHERE few.number < 2"
    )
    few = pa.table({"city": ["c1", "c2"], "number": [1, 2]})
    found = pe.sql(text, t=table, few=few)
    expected = sum(1 for n in range(ROWS - 1) if n % 11 == 1 and n % 5)
    assert found.to_arrow().to_pylist() == [{"n": expected}]
    assert found.to_arrow().to_pylist() == [{"n": expected}]
