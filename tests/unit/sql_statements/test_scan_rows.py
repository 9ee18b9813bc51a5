"""Queries whose rows a scan returns as they are, without a query of DuckDB."""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.sql_statements.duckdb import engine
from paimon_explore.sql_statements.duckdb.scan_rows import DirectRows, plain_scan
from support.small_tables import new_catalog

TYPES: Mapping[str, pa.DataType] = {
    "tiny": pa.int8(),
    "small": pa.int16(),
    "n": pa.int32(),
    "yes": pa.bool_(),
    "f": pa.float32(),
    "d": pa.float64(),
    "price": pa.decimal128(12, 2),
    "day": pa.date32(),
    "city": pa.string(),
    "raw": pa.binary(),
    "at": pa.timestamp("us"),
}
KEY: "pa.Field[pa.DataType]" = pa.field("k", pa.int64(), nullable=False)
SCHEMA = pa.schema([KEY, *(pa.field(name, kind) for name, kind in TYPES.items())])
PLAIN = (
    "SELECT * FROM t",
    "SELECT * FROM t WHERE k = 3",
    "SELECT city, k FROM t WHERE n > 2 AND (city LIKE 'c%' OR price <= 3)",
    "SELECT t.k AS key, t.city FROM t WHERE day BETWEEN '2026-01-02' AND DATE'2026-01-04'",
    "SELECT x.d FROM t AS x WHERE x.d >= 1.5D",
    "SELECT `k` FROM t WHERE city IS NOT NULL AND k IN (1, 2, 30)",
    "SELECT k FROM t WHERE k = 99",
    "SELECT * FROM t LIMIT 20",
    "SELECT k FROM t WHERE k < 2 LIMIT 2",
    "SELECT city FROM t LIMIT 0",
)
OTHERS = (
    "SELECT k + 1 AS k FROM t",
    "SELECT k, k FROM t",
    "SELECT K FROM t",
    "SELECT DISTINCT k FROM t",
    "SELECT k FROM t WHERE k + 1 = 3",
    "SELECT k FROM t WHERE lower(city) = 'c1'",
    "SELECT k FROM t ORDER BY k",
    "SELECT k FROM t LIMIT 1 + 1",
    "SELECT k FROM t LIMIT 2 OFFSET 1",
    "SELECT k + 1 AS k FROM t LIMIT 2",
    "SELECT k FROM t WHERE k IN (SELECT max(k) FROM t)",
    "SELECT a.k FROM t AS a JOIN t AS b ON a.k = b.k",
    "SELECT max(k) OVER () AS k FROM t",
    "SELECT k FROM (SELECT k FROM t) AS q",
)


def row(k: int) -> dict[str, object]:
    return {
        "k": k,
        "tiny": k,
        "small": k * 100,
        "n": k * 2 if k % 3 else None,
        "yes": k % 2 == 0,
        "f": k / 2,
        "d": float("nan") if k == 4 else k / 2,
        "price": Decimal(k) / 100,
        "day": date(2026, 1, 1 + k),
        "city": None if k == 2 else f"c{k}",
        "raw": bytes([k]),
        "at": datetime(2026, 1, 1, 12, k),  # noqa: DTZ001 - without a zone
    }


@pytest.fixture(scope="module")
def catalog() -> pe.Catalog:
    return new_catalog("memory://scan-rows/wh")


@pytest.fixture(scope="module")
def table(catalog: pe.Catalog) -> pe.Table:
    made = catalog.create_table("db.t", SCHEMA, primary_key="k", options={"bucket": "1"})
    made.upsert(pa.Table.from_pylist([row(k) for k in range(6)], SCHEMA))
    made.upsert(pa.Table.from_pylist([row(k) for k in range(3, 8)], SCHEMA))
    return made


def read(text: str, table: pe.Table) -> pa.Table:
    found = pe.sql(text, t=table).to_arrow()
    return found.sort_by([(found.column_names[0], "ascending")])


@pytest.mark.parametrize("text", PLAIN)
def test_a_scan_returns_what_duckdb_returns(
    monkeypatch: pytest.MonkeyPatch, table: pe.Table, text: str
) -> None:
    found = read(text, table)
    with monkeypatch.context() as patched:
        patched.setattr(engine, "plain_scan", lambda *_: None)
        wanted = read(text, table)
    assert found.schema == wanted.schema
    assert repr(found.to_pylist()) == repr(wanted.to_pylist())  # NaN is not equal to itself
    assert isinstance(pe.sql(text, t=table)._rows, DirectRows)


@pytest.mark.parametrize("text", OTHERS)
def test_other_queries_are_duckdbs(table: pe.Table, text: str) -> None:
    assert not isinstance(pe.sql(text, t=table)._rows, DirectRows)


def test_a_count_from_metadata_needs_no_duckdb(catalog: pe.Catalog) -> None:
    made = catalog.create_table("db.a", SCHEMA)
    made.append(pa.Table.from_pylist([row(k) for k in range(6)], SCHEMA))
    found = pe.sql("SELECT count(*) AS n FROM t", t=made)
    assert isinstance(found._rows, DirectRows)
    assert found.to_arrow().to_pydict() == {"n": [6]}
    assert found.schema == pa.schema([("n", pa.int64())])


@pytest.mark.parametrize(("rows", "found"), [(3, 3), (100, 8)])
def test_a_limit_is_that_of_the_scan(table: pe.Table, rows: int, found: int) -> None:
    query = f"SELECT k FROM t LIMIT {rows}"  # noqa: S608 - a number of this test
    assert pe.sql(query, t=table).to_arrow().num_rows == found
    text = f"WITH q AS ({query}) SELECT count(*) AS n FROM q"  # noqa: S608 - as above
    assert pe.sql(text, t=table).to_arrow()["n"].to_pylist() == [found]


def test_times_with_a_zone_are_duckdbs(catalog: pe.Catalog) -> None:
    zoned = pa.schema([("at", pa.timestamp("us", "UTC"))])
    scan = catalog.create_table("db.z", zoned).scan()
    tree = pytest.importorskip("sqlglot").parse_one("SELECT * FROM z")
    assert plain_scan(tree, {"z": scan}) is None


def test_rows_of_a_scan_can_be_parts_of_other_statements(table: pe.Table) -> None:
    rows = pe.sql("SELECT k AS id, city FROM t WHERE k > 5", t=table)
    assert rows.to_pandas()["id"].tolist() == [6, 7]
    assert pe.sql("SELECT count(*) AS n FROM r", r=rows).to_arrow()["n"].to_pylist() == [2]


def test_a_stopped_query_ends(table: pe.Table) -> None:
    rows = pe.sql("SELECT k FROM t", t=table)
    batches = rows.to_batches()
    rows.interrupt()
    with pytest.raises(KeyboardInterrupt):
        batches.read_all()
    assert rows.to_arrow().num_rows == 8


def test_threads_read_one_result_at_the_same_time() -> None:
    result = pe.demo().sql("SELECT a.id FROM range(300000) AS a JOIN range(300000) AS b USING (id)")
    with ThreadPoolExecutor(6) as pool:
        counts = [pool.submit(lambda: result.to_arrow().num_rows) for _ in range(12)]
        columns = [pool.submit(lambda: result.schema.names) for _ in range(12)]
    assert {count.result() for count in counts} == {300_000}
    assert {tuple(names.result()) for names in columns} == {("id",)}


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is fixed here")
def test_sql_and_scans_follow_the_time_zone_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_catalog().create_table("db.zones", {"at": "TIMESTAMP_LTZ(3)"})
    table.append([{"at": datetime(2026, 1, 1, 12, tzinfo=UTC)}])
    try:
        for zone, hour in (("UTC", 12), ("America/New_York", 7), ("Asia/Kolkata", 17), ("UTC", 12)):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            found = pe.sql("SELECT hour(at) AS h, CAST(at AS STRING) AS s FROM t", t=table)
            (row,) = found.to_arrow().to_pylist()
            assert row["h"] == hour
            assert table.count(f"at = '{row['s']}'") == 1
    finally:
        monkeypatch.undo()
        time.tzset()
