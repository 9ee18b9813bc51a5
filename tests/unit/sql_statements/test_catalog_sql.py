"""`catalog.sql` and `pe.sql`: SQL in this process."""

import pickle
import shutil
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from support.golden import NEWEST, GoldenTables
from support.rows import difference
from support.small_tables import new_catalog

Row = tuple[object, ...]


@pytest.fixture
def catalog(tmp_path: Path) -> pe.Catalog:
    made = new_catalog(tmp_path)
    made.sql("USE db")
    return made


@pytest.fixture
def rows(catalog: pe.Catalog) -> Callable[[str], list[Row]]:
    def run(text: str) -> list[Row]:
        found = catalog.sql(text).to_arrow()
        return [tuple(row.values()) for row in found.to_pylist()]

    return run


KINDS = {
    "append": "",
    "keyed": "'primary-key' = 'id', 'bucket' = '2'",
    "vectors": "'deletion-vectors.enabled' = 'true'",
    "tracked": "'row-tracking.enabled' = 'true'",
    "evolution": "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'",
}


def _create(catalog: pe.Catalog, kind: str) -> None:
    options = f" TBLPROPERTIES ({KINDS[kind]})" if KINDS[kind] else ""
    catalog.sql(f"CREATE TABLE t (id BIGINT NOT NULL, city STRING, n INT){options}")
    made = catalog.sql(
        "INSERT INTO t VALUES (1, 'Oslo', 10), (2, 'Lyon', NULL), (3, 'Rome', 30), (4, NULL, 40)"
    )
    assert made.snapshot is not None
    assert made.snapshot.id == 1


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_inserted_updated_and_read_at_earlier_snapshots(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]], kind: str
) -> None:
    _create(catalog, kind)
    catalog.sql(
        "UPDATE t SET n = n * 2 + 1, city = upper(city) "
        "WHERE id IN (SELECT max(id) FROM t) OR city LIKE 'O%'"
    )
    assert rows("SELECT * FROM t ORDER BY id") == [
        (1, "OSLO", 21),
        (2, "Lyon", None),
        (3, "Rome", 30),
        (4, None, 81),
    ]
    assert rows("SELECT sum(n) FROM t VERSION AS OF 1") == [(80,)]
    assert rows("SELECT sum(n) FROM t AT (VERSION => 1)") == [(80,)]
    assert rows("SELECT count(*) FROM t TIMESTAMP AS OF '2999-01-01 00:00:00'") == [(4,)]
    catalog.sql("CALL sys.create_tag('t', 'first', 1)")
    assert rows("SELECT n FROM t VERSION AS OF 'first' WHERE id = 1") == [(10,)]


def test_all_statements_assign_values_to_columns_alike(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]]
) -> None:
    """Atomic values to STRING, dates and timestamps to each other, also of struct fields."""
    catalog.sql(
        "CREATE TABLE a (id INT, s STRING, d DATE, t TIMESTAMP_NTZ, r STRUCT<s: STRING>) "
        "TBLPROPERTIES ('primary-key' = 'id')"
    )
    for value, text in {
        "5": "5",
        "2.50": "2.50",
        "1e7D": "1.0E7",
        "true": "true",
        "DATE '2024-02-29'": "2024-02-29",
        "NULL": None,
    }.items():
        moment, day = "TIMESTAMP '2024-03-01 00:00:00'", "DATE '2024-03-01'"
        new = f"{value}, {moment}, {day}, struct(CAST({value} AS STRING) AS s)"
        source = f"(SELECT 3 AS id, {value} AS s, {moment} AS d, {day} AS t)"
        catalog.sql(f"INSERT INTO a SELECT 1, {new}")
        catalog.sql("INSERT INTO a (id, r) VALUES (2, struct('' AS s)), (3, struct('' AS s))")
        catalog.sql(
            f"UPDATE a SET s = {value}, d = {moment}, t = {day}, r.s = {value} WHERE id = 2"  # noqa: S608
        )
        catalog.sql(
            f"MERGE INTO a USING {source} v ON a.id = v.id "
            "WHEN MATCHED THEN UPDATE SET s = v.s, d = v.d, t = v.t, r.s = v.s"
        )
        stored = (text, date(2024, 3, 1), datetime(2024, 3, 1), {"s": text})  # noqa: DTZ001
        assert rows("SELECT s, d, t, r FROM a") == [stored] * 3, value
    for refused in ("UPDATE a SET id = 'x'", "UPDATE a SET d = 5"):
        with pytest.raises(InvalidInputError):
            catalog.sql(refused)


def test_a_query_knows_its_catalog_database_user_and_zone(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _create(catalog, "append")
    monkeypatch.setenv("HADOOP_USER_NAME", "ada")
    session = "SELECT current_catalog(), current_schema(), current_user(), session_user() FROM t"
    assert rows(session)[0] == ("spark_catalog", "db", "ada", "ada")
    assert rows("SELECT current_timezone() = current_timezone() FROM t LIMIT 1") == [(True,)]
    catalog.sql("UPDATE t SET city = user(), n = DEFAULT WHERE current_database() = 'db'")
    assert rows("SELECT DISTINCT city, n FROM t") == [("ada", None)]


def test_tables_are_made_from_queries_and_replaced(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]]
) -> None:
    _create(catalog, "keyed")
    made = catalog.sql("CREATE TABLE u AS SELECT id, sum(n) AS total FROM t GROUP BY id")
    assert made.snapshot is not None
    assert catalog.table("db.u").schema.row_type.names == ("id", "total")
    catalog.sql("REPLACE TABLE u AS SELECT 'x' AS a, CAST(1.5 AS DECIMAL(4, 1)) AS b")
    assert rows("SELECT * FROM u") == [("x", Decimal("1.5"))]
    catalog.sql("INSERT OVERWRITE u SELECT 'y', 2")
    assert rows("SELECT * FROM u") == [("y", Decimal("2.0"))]
    catalog.sql("TRUNCATE TABLE u")
    assert rows("SELECT * FROM u") == []
    catalog.sql("DROP TABLE u")
    assert catalog.tables("db") == ["t"]


def test_a_failing_statement_commits_nothing(catalog: pe.Catalog, tmp_path: Path) -> None:
    _create(catalog, "append")
    table = catalog.table("db.t")
    before = sorted(path for path in tmp_path.rglob("*") if "bucket-" in str(path))
    for text in (
        "INSERT INTO t SELECT id, city, CAST(city AS INT) FROM t",
        "INSERT INTO t VALUES (5, 'x', 5000000000)",
        "UPDATE t SET n = CAST(city AS INT)",
        "CREATE TABLE u AS SELECT CAST(city AS INT) AS n FROM t",
    ):
        with pytest.raises(InvalidInputError):
            catalog.sql(text)
    assert table.count() == 4
    assert [s.id for s in table.snapshots] == [1]
    assert catalog.tables("db") == ["t"]
    assert sorted(path for path in tmp_path.rglob("*") if "bucket-" in str(path)) == before


def test_partitions_are_overwritten(catalog: pe.Catalog, rows: Callable[[str], list[Row]]) -> None:
    catalog.sql("CREATE TABLE p (id INT, dt STRING) PARTITIONED BY (dt)")
    catalog.sql("INSERT INTO p VALUES (1, 'a'), (2, 'b')")
    catalog.sql("INSERT OVERWRITE p PARTITION (dt = 'a') SELECT 3")
    assert rows("SELECT * FROM p ORDER BY id") == [(2, "b"), (3, "a")]
    catalog.sql("INSERT INTO p REPLACE WHERE dt = 'b' SELECT 4, 'b'")
    assert rows("SELECT * FROM p ORDER BY id") == [(3, "a"), (4, "b")]
    assert rows("SELECT sys.max_pt('db.p')") == [("b",)]
    assert rows("SHOW PARTITIONS p") == [("dt=a",), ("dt=b",)]
    catalog.sql("INSERT OVERWRITE p SELECT 5, 'c'")
    assert rows("SELECT * FROM p") == [(5, "c")]
    setting = "SET spark.sql.sources.partitionOverwriteMode = {}"
    catalog.sql("INSERT INTO p VALUES (6, 'd')")
    assert rows(setting.format("dynamic"))[0][1] == "dynamic"
    catalog.sql("INSERT OVERWRITE p SELECT 7, 'c'")
    catalog.sql("INSERT OVERWRITE p PARTITION (dt = 'c') SELECT 1 WHERE false")
    assert rows("SELECT * FROM p ORDER BY id") == [(6, "d"), (7, "c")]
    catalog.sql(setting.format("STATIC"))
    catalog.sql("INSERT OVERWRITE p SELECT 8, 'e'")
    assert rows("SELECT * FROM p") == [(8, "e")]


def test_a_folder_of_parquet_files_becomes_a_table(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    for number, day in enumerate(("2026-01-01", "__HIVE_DEFAULT_PARTITION__", "2026-01-02")):
        part = folder / f"day={day}" / f"n={number}"
        part.mkdir(parents=True)
        moment = datetime.fromisoformat("2026-01-01T02:00:00")
        data = pa.table({"id": [number], "t": pa.array([moment], pa.timestamp("us"))})
        pq.write_table(data, part / "a.parquet", use_deprecated_int96_timestamps=True)
    (folder / "_SUCCESS").touch()
    call = "CALL sys.migrate_table('hive', '{}', target_table => 'db.{}')"
    assert rows(call.format(folder, "made")) == [(True,)]
    assert rows("SELECT id, day, n FROM made ORDER BY id") == [
        (0, date(2026, 1, 1), 0),
        (1, None, 1),
        (2, date(2026, 1, 2), 2),
    ]
    schema = catalog.table("db.made").schema
    assert schema.partition_keys == ("day", "n")
    assert [row[:2] for row in rows("DESCRIBE made")][:4] == [
        *(("id", "bigint"), ("t", "timestamp"), ("day", "date"), ("n", "int")),
    ]
    with pytest.raises(InvalidInputError, match="is not a folder of Parquet files"):
        catalog.sql(call.format(f"{folder}/no", "other"))
    with pytest.raises(UnsupportedFeatureError, match=r"default\.x without Spark"):
        catalog.sql(call.format("default.x", "other"))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("percentile(n, 0.5, n)", "percentile has 3 arguments; the maximum is 2"),
        ("regexp_replace(s, 'a', 'b', n)", "form of a function.*REGEXP_REPLACE.*position"),
        ("to_binary(s, s)", "form of a function.*format S"),
        ("time_bucket(INTERVAL 1 DAY, now(), now())", "time_bucket has other arguments than 3"),
        ("approx_top_k(n)", "approx_top_k"),
        ("concat(*)", r"\* as an argument of concat"),
        ("count(DISTINCT rows.*)", r"\* as an argument of count"),
        ("explode(array(n)), explode(array(n)), *", "second function that returns rows"),
        ("to_date(s, 'yyyy-MM-DDD')", "a day of the year and a date"),
        ("format_string('%s %s', s)", "format_string has no value for %s"),
        ("percentile_cont(0.1) WITHIN GROUP (ORDER BY n DESC) OVER ()", "ascending order"),
        ("s + s", r"\+ cannot be applied to .* \(STRING, STRING\) \(line 1, column 10"),
        ("listagg(CAST(s AS BINARY))", "listagg of BINARY"),
        ("INTERVAL 106751991 DAYS + INTERVAL 3 DAYS", "longer than 106751991 days"),
        ("* FROM rows UNPIVOT ((a, b) FOR k IN ((n, n))) --", "Write UNPIVOT INCLUDE NULLS"),
    ],
)
def test_no_argument_of_a_function_is_ignored(function: str, message: str) -> None:
    rows = pa.table({"s": ["a"], "n": [1]})
    with pytest.raises((InvalidInputError, UnsupportedFeatureError), match=message):
        pe.sql(f"SELECT {function} FROM rows", rows=rows).to_arrow()  # noqa: S608 - ours


def test_hints_of_spark_change_nothing() -> None:
    rows = pa.table({"id": [1]})
    query = "SELECT /*+ BROADCAST(b), REPARTITION(3) */ a.id FROM t a JOIN t b ON a.id = b.id"
    assert pe.sql(query, t=rows).to_arrow().num_rows == 1


@pytest.mark.parametrize(
    "query",
    [
        "WITH a AS (SELECT concat('x', id) AS id FROM t) SELECT 1 FROM a, t b WHERE a.id = 'x1'",
        "SELECT 1 FROM t a, LATERAL (SELECT concat('x', a.id) AS id) b WHERE b.id = 'x1'",
        "SELECT 1 FROM VALUES ('x1'), ('b') AS v(id), t b WHERE v.id = 'x1'",
        "SELECT 1 FROM t LATERAL VIEW explode(array('x1', 'b')) e AS id WHERE e.id = 'x1'",
        "SELECT concat('x', id) AS id FROM t GROUP BY 1 HAVING id = 'x1'",
        "SELECT max(n) AS id FROM t HAVING id = 'x1'",
    ],
)
def test_a_name_may_stand_for_columns_of_other_types(query: str) -> None:
    rows = pa.table({"id": [1], "n": ["x1"]})
    assert pe.sql(query, t=rows).to_arrow().num_rows == 1


def test_the_rows_of_a_result_are_pickled(catalog: pe.Catalog) -> None:
    found = catalog.sql("SELECT 1 AS a")
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert copy.to_arrow() == found.to_arrow()


def test_parameters_have_names_or_places(catalog: pe.Catalog) -> None:
    _create(catalog, "append")
    named = catalog.sql("SELECT id FROM t WHERE n > :least ORDER BY id", {"least": 20})
    assert named.to_arrow()["id"].to_pylist() == [3, 4]
    placed = catalog.sql("SELECT id FROM t WHERE city = ? AND n = ?", ["Oslo", 10])
    assert placed.to_arrow()["id"].to_pylist() == [1]
    catalog.sql("UPDATE t SET city = :city WHERE id = :id", {"city": "it's", "id": 4})
    assert catalog.table("db.t").count("city = 'it''s'") == 1
    catalog.sql("INSERT INTO t SELECT ?, ?, ?", [8, None, 8])
    assert catalog.table("db.t").count("id = 8 AND city IS NULL") == 1
    with pytest.raises(InvalidInputError, match=r"Parameter :least has no value"):
        catalog.sql("SELECT :least", {"most": 1})
    with pytest.raises(InvalidInputError, match="1 parameters, but 2 values"):
        catalog.sql("SELECT ?", [1, 2])


_MERGE = """
MERGE INTO c USING (SELECT :a AS n) s ON id = n
WHEN NOT MATCHED THEN INSERT (id) VALUES (n + :b)
"""


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("CREATE TABLE c AS SELECT id FROM t WHERE n > ?", [20], [(3,), (4,)]),
        ("INSERT INTO c SELECT id FROM t WHERE city = :at", {"at": "Oslo"}, [(1,)]),
        ("INSERT INTO c VALUES (:a), (:b)", {"a": 5, "b": None}, [(5,), (None,)]),
        (_MERGE, {"a": 6, "b": 1}, [(7,)]),
        ("WITH w AS (SELECT id FROM t WHERE id >= ?) INSERT INTO c SELECT id FROM w", [4], [(4,)]),
        ("CALL sys.create_tag(table => 'c', tag => :tag)", {"tag": "it's"}, []),
        ("ALTER TABLE c SET TBLPROPERTIES ('write-only' = ?)", ["true"], []),
    ],
)  # fmt: skip
def test_parameters_of_every_kind_of_statement(
    catalog: pe.Catalog, text: str, values: list[object], expected: list[tuple[object, ...]]
) -> None:
    _create(catalog, "append")
    if not text.startswith("CREATE"):
        catalog.sql("CREATE TABLE c (id INT)")
        catalog.sql("INSERT INTO c VALUES (0)")
    catalog.sql(text, values)
    rows = catalog.table("db.c").to_arrow().to_pylist()
    assert [tuple(row.values()) for row in rows if row["id"] != 0] == expected


_VALUES = {
    "text": "it's a \\ and a \n",
    "bytes": b"\x00'\xff",
    "decimal": Decimal("-12.50"),
    "double": float("inf"),
    "date": date(1969, 12, 31),
    "time": datetime(1969, 12, 31, 23, 59, 59, 123456),  # noqa: DTZ001 - TIMESTAMP_NTZ
    "flag": False,
}
_SCALARS = (
    (np.int64(3), 3),
    (np.True_, True),
    (np.datetime64("2026-01-02"), date(2026, 1, 2)),
    (np.datetime64("2026-01-02T03:04:05", "ns"), datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001 - TIMESTAMP_NTZ
    (pa.scalar("x"), "x"),
)
"""Scalars of numpy and Arrow, with the values that they stand for."""


def test_a_parameter_has_the_value_in_queries_and_in_other_statements(catalog: pe.Catalog) -> None:
    columns = ", ".join(f":{name} AS `{name}`" for name in _VALUES)
    asked = catalog.sql(f"SELECT {columns}", _VALUES).to_arrow()
    catalog.sql(f"CREATE TABLE v AS SELECT {columns}", _VALUES)
    written = catalog.table("db.v").to_arrow()
    assert asked.to_pylist() == written.to_pylist() == [_VALUES]
    for scalar, value in _SCALARS:
        assert catalog.sql("SELECT ? AS v", [scalar]).to_arrow().to_pylist() == [{"v": value}]


@pytest.mark.parametrize(
    ("text", "values", "says"),
    [
        (
            "UPDATE t SET n = :n WHERE id = 1",
            {"m": 1},
            "Parameter :n has no value. There are values for",
        ),
        ("UPDATE t SET n = :n WHERE id = 1", {"m": 1, "n": 1}, "has no parameter 'm'"),
        ("DELETE FROM t WHERE id = ? OR id = ?", [1], "2 parameters, but 1 values"),
        ("CREATE TABLE s (a STRUCT<b:INT>)", {"b": 1}, "has no parameter 'b'"),
        ("DELETE FROM t WHERE id = ?", [object()], "cannot have a value of type object"),
        ("SELECT $1", [1], "no value for the marker '1'"),
        ("SELECT :a", [1], "no value for the marker 'a'"),
    ],
)
def test_parameters_and_values_belong_together(
    catalog: pe.Catalog, text: str, values: list[object], says: str
) -> None:
    _create(catalog, "append")
    with pytest.raises(InvalidInputError, match=says):
        catalog.sql(text, values)


def test_tables_and_other_rows_are_given_by_name(catalog: pe.Catalog) -> None:
    _create(catalog, "keyed")
    table = catalog.table("db.t")
    catalog.sql("DELETE FROM t WHERE id = 1")
    old = pe.sql("SELECT count(*) AS n FROM t", t=table.at(1)).to_arrow()
    assert old.to_pylist() == [{"n": 4}]
    joined = pe.sql(
        "SELECT t.id, x.v FROM t JOIN x ON t.id = x.id",
        t=table,
        x=pa.table({"id": [2], "v": ["a"]}),
    )
    assert joined.to_arrow().to_pylist() == [{"id": 2, "v": "a"}]
    made = pe.sql("UPDATE t SET n = 0 WHERE id = 2", t=table)
    assert made.snapshot is not None
    assert table.count("n = 0") == 1
    frame = joined.to_pandas()
    assert joined.to_polars().rows() == [(2, "a")]
    with pytest.raises(InvalidInputError, match=r"two columns named 'id'.* Name one of them with"):
        pe.sql("SELECT id, id FROM f", f=frame).to_polars()
    again = pe.sql("SELECT id FROM f", catalog, f=frame)
    assert again.to_arrow()["id"].to_pylist() == [2]
    rows = pa.table({"id": [2], "v": ["a"]})
    for form in (rows.to_pydict(), rows.to_pylist(), rows.to_reader(), ds.dataset(rows)):
        assert pe.sql("SELECT * FROM f", f=form).to_arrow().to_pylist() == rows.to_pylist()
    for other in (frame["id"], pl.LazyFrame(rows.to_pydict()), {"id": 2}, [2], "f.parquet"):
        with pytest.raises(InvalidInputError, match="The rows 'f' have type"):
            pe.sql("SELECT * FROM f", f=other)
    with pytest.raises(InvalidInputError, match=r"catalog must be a Catalog.* as parameters="):
        pe.sql("SELECT :id", {"id": 1})  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="parameters must be a list, or a dict"):
        pe.sql("SELECT ?", parameters=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE x (a INT)",
        "CREATE TABLE x AS SELECT * FROM t",
        "CREATE OR REPLACE TABLE t (a INT)",
        "REPLACE TABLE t (a INT)",
        "CREATE VIEW x AS SELECT * FROM t",
        "CREATE DATABASE x",
        "DROP TABLE x",
        "DROP TABLE t",
        "DROP VIEW x",
        "DROP DATABASE x",
        "USE x",
        "SHOW DATABASES",
        "ALTER TABLE t RENAME TO x",
    ],
)
def test_tables_given_by_name_have_no_catalog(catalog: pe.Catalog, text: str) -> None:
    _create(catalog, "append")
    with pytest.raises(InvalidInputError, match="requires a catalog"):
        pe.sql(text, t=catalog.table("db.t"))
    assert catalog.tables("db") == ["t"]


def test_commands_show_tables_given_by_name(catalog: pe.Catalog) -> None:
    _create(catalog, "append")
    table = catalog.table("db.t")
    table.create_tag("v1")
    shown = {
        what: pe.sql(f"SHOW {what}", t=table).to_arrow().to_pylist()
        for what in ("TABLES", "TAGS t", "COLUMNS IN t", "VIEWS")
    }
    assert shown["TABLES"] == [{"namespace": "", "tableName": "t", "isTemporary": True}]
    assert shown["TAGS t"] == [{"tag": "v1"}]
    assert [row["column"] for row in shown["COLUMNS IN t"]] == ["id", "city", "n"]
    assert shown["VIEWS"] == []
    for text in ("SHOW TAGS x", "SHOW COLUMNS IN x", "SHOW CREATE TABLE x"):
        with pytest.raises(NotFoundError, match=r"Table 'x' does not exist. Tables: 't'"):
            pe.sql(text, t=table)
    with pytest.raises(UnsupportedFeatureError, match="ALTER COLUMN"):
        pe.sql("COMMENT ON COLUMN t.n IS 'a number'", t=table)


def test_commands_show_what_there_is(catalog: pe.Catalog, rows: Callable[[str], list[Row]]) -> None:
    _create(catalog, "keyed")
    assert rows("SHOW TABLES") == [("db", "t", False)]
    assert rows("DESCRIBE t")[0] == ("id", "bigint", None)
    assert rows("SELECT snapshot_id FROM `t$snapshots`") == [(1,)]
    catalog.sql("CALL sys.create_branch(table => 't', branch => 'b')")
    assert rows("SHOW BRANCHES t") == [("b",)]
    catalog.sql("ALTER TABLE t ADD COLUMN extra STRUCT<a: INT, b: STRING>")
    catalog.sql("INSERT INTO t VALUES (5, 'x', 5, named_struct('a', 1, 'b', 'y'))")
    assert rows("SELECT extra.b FROM t WHERE id = 5") == [("y",)]
    found = rows("SELECT id FROM paimon_incremental_query('t', 1, 2)")
    assert found == [(5,)]
    plan = "\n".join(str(line) for (line,) in rows("EXPLAIN SELECT * FROM t WHERE id = 3"))
    assert "Pruning stages" in plan


def test_temporary_views_stay_at_their_snapshots(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]]
) -> None:
    _create(catalog, "append")
    catalog.sql("CREATE TEMPORARY VIEW v AS SELECT id FROM t WHERE id > 1")
    catalog.sql("TRUNCATE TABLE t")
    assert rows("SELECT count(*) FROM v") == [(3,)]
    result = catalog.sql("SELECT count(*) AS n FROM t VERSION AS OF 1")
    assert result.to_arrow() == result.to_arrow()


def test_subscripts_count_as_in_the_dialect(catalog: pe.Catalog) -> None:
    table = catalog.create_table("db.a", {"id": "INT", "l": "ARRAY<INT>", "x": "DOUBLE"})
    table.append([{"id": 1, "l": [5, 6], "x": float("nan")}])
    table.append([{"id": 2, "l": [6]}])
    query = "SELECT id FROM a WHERE l[{}] = 6 AND id > 0 ORDER BY id"
    found = {
        (dialect, at): catalog.sql(query.format(at), dialect=dialect).to_arrow()["id"].to_pylist()
        for dialect in ("spark", "duckdb")
        for at in (0, 1, 2)
    }
    assert list(found.values()) == [[2], [1], [], [], [2], [1]]
    assert catalog.sql("SELECT id FROM a WHERE NOT isnan(x)").to_arrow().num_rows == 1


REFUSED = {
    "SELECT * FROM read_parquet('/x')": "read_parquet",
    "SELECT * FROM read_csv('/etc/passwd')": "read_csv",
    "COPY (SELECT 1) TO '/x'": "COPY",
    "ATTACH 'x.db'": "ATTACH",
    "INSTALL httpfs": "INSTALL",
    "SET memory_limit = '1GB'": "SET",
    "PRAGMA database_list": "PRAGMA",
    "SELEC 1": "SELECT",
    "UPDATE t SET n = rand()": "random",
}


@pytest.mark.parametrize("text", REFUSED)
def test_statements_that_leave_the_catalog_are_refused_by_name(
    catalog: pe.Catalog, text: str
) -> None:
    _create(catalog, "append")
    with pytest.raises(UnsupportedFeatureError, match=REFUSED[text]):
        catalog.sql(text)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("OPTIMIZE t", r"CALL sys\.compact"),
        ("VACUUM t", r"CALL sys\.expire_snapshots"),
        ("ROLLBACK", r"t\.transaction\(\)"),
        ("DESCRIBE HISTORY t", "SHOW SNAPSHOTS t"),
        ("SELECT * FROM t /*+ BROADCAST(t) */ WHERE n = 1", r"t WITH \('scan.snapshot-id'"),
        ("DESCRIBE FUNCTION upper", "DESCRIBE FUNCTION is not supported"),
        ("DESCRIBE QUERY SELECT 1", "Run the query"),
        ("CREATE CATALOG c WITH ('type' = 'paimon')", r"pe\.Catalog\(warehouse\)"),
        ("CREATE OR REPLACE FUNCTION f(x INT) RETURNS INT RETURN x", r"sys\.create_function"),
        ("CREATE TEMPORARY TABLE x (a INT) WITH ('connector' = 'datagen')", "rows=data"),
        ("CREATE TABLE x (a INT, b AS a + 1)", "computed column 'b' .* view"),
        ("CREATE TABLE x (a INT, WATERMARK FOR a AS a)", "watermark"),
        ("CREATE TABLE x LIKE t (EXCLUDING OPTIONS)", "Leave the list out"),
        ("MSCK REPAIR TABLE t", "as soon as it contains a row"),
        ("EXPLAIN DELETE FROM t", "EXPLAIN DELETE is not supported"),
        ("SET spark.sql.ansi.enabled = false", r"Settings are .*partitionOverwriteMode"),
        ("SET spark.sql.session.timeZone = Asia/Kathmandu", "environment variable TZ"),
        ("SET TIME ZONE 'Asia/Kathmandu'", "environment variable TZ"),
        ("SET timezone TO 'Asia/Kathmandu'", "environment variable TZ"),
        ("SET ROLE x", r"Settings are .*partitionOverwriteMode"),
        ("SET 'execution.runtime-mode' = 'batch'", r"spark\.paimon\.<option>"),
        ("CREATE TABLE x (a INT) USING parquet", "parquet table .* Omit USING"),
    ],
)
def test_statements_of_other_systems_name_the_way_here(
    catalog: pe.Catalog, text: str, way: str
) -> None:
    _create(catalog, "append")
    with pytest.raises(UnsupportedFeatureError, match=way):
        catalog.sql(text)


@pytest.mark.parametrize("text", ["SET TIME ZONE LOCAL", "SET spark.sql.session.timeZone = {}"])
def test_the_time_zone_of_the_process_may_be_set(catalog: pe.Catalog, text: str) -> None:
    zone = catalog.sql("SELECT current_timezone() AS zone").to_arrow()["zone"][0]

    catalog.sql(text.format(zone))


@pytest.mark.parametrize("text", ["SELECT * FROM '/etc/passwd'", "SELECT * FROM `x.csv`"])
def test_files_are_not_tables(catalog: pe.Catalog, text: str) -> None:
    with pytest.raises((InvalidInputError, NotFoundError)):
        catalog.sql(text).to_arrow()


@pytest.mark.parametrize(
    ("text", "name", "near"),
    [
        ("SELECT id,\n  idd FROM t", "column 'idd' (line 2, column 3", "'id'"),
        ("SELECT a.idd FROM t AS a", "column 'idd' (line 1, column 10", "'id'"),
        ("INSERT INTO t SELECT id, cty, n FROM t", "column 'cty' (line 1, column 26", "'city'"),
        ("UPDATE t SET n = 1 WHERE idd = 2", "column 'idd' (line 1, column 26", "'id'"),
        ("SELECT x.id FROM t$files f, t y", "nor a column (line 1, column 8", "'f'"),
        (
            "SELECT uper(city) FROM t VERSION AS OF 1",
            "function 'uper' (line 1, column 8",
            "'upper'",
        ),
        ("SELECT id FROM t VERSION AS OF 1\nWHERE", "WHERE is incomplete (line 2, column 1", ""),
        ("SELECT id FROM (SELECT * FROM t", "(line 1, column ", ""),
        ("SELECT id FROM t JOIN", "it ends too early (line 1, column 18", ""),
        ("SELECT id, FROM t", "nothing follows ',' (line 1, column 10", ""),
        ("SELECT id,, n FROM t", "nothing follows ',' (line 1, column 10", ""),
        ("SELECT 1 FROM t a JOIN t b ON", "nothing follows 'ON' (line 1, column 28", ""),
        ("SELECT id FROM t a JOIN t b ON WHERE n = 1", "nothing follows 'ON' (line 1", ""),
        ("SELECT * FROM t@v1", "Unexpected token (line 1, column 16", ""),
        ("INSERT INTO t SELECT * FROM t ON CONFLICT DO NOTHING", "(line 1, column 31", ""),
    ],
)
def test_a_problem_has_its_place_in_the_statement_and_the_nearest_name(
    catalog: pe.Catalog, text: str, name: str, near: str
) -> None:
    _create(catalog, "append")
    with pytest.raises(InvalidInputError) as problem:
        catalog.sql(text)
    assert name in problem.value.message
    assert (f"Did you mean {near}?" in problem.value.hint) == bool(near)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("SELECT * FROM t TIMESTAMP AS OF 1795902243952", "counts the seconds"),
        ("SELECT * FROM t VERSION AS OF v1", "Write .* in quotes: VERSION AS OF 'v1'"),
        ("SELECT CAST('abc' AS INT)", "string 'abc' to INT. try_cast returns NULL"),
        ("SELECT CAST('x' AS DATE)", 'field format: "x", .* try_cast returns NULL'),
        ("SELECT date(array(1))", "cannot be converted here. These can: VARIANT, DATE, TIMESTAMP"),
        ("SELECT sha2(1, 2)", r"sha2 cannot be .* \(INT, INT\).*It is sha2\(BINARY, INT\)"),
        ("SELECT variant_get('x' || n, '$.a', 'INT') FROM t", r"variant_get\(VARIANT, STRING\)"),
        ("SELECT 9223372036854775807 + n FROM t", "^Overflow in addition"),
        ("SELECT datediff(n) FROM t", "a function has missing or wrong arguments"),
        ("SELECT map(1)", "a function has missing or wrong arguments"),
        ("DELETE FROM t WHERE substr(n) = 'a'", "a function has missing or wrong arguments"),
        ("MERGE INTO t USING VALUES (1) AS s(id) ON t.id = s.id", "must be in parentheses"),
        ("MERGE INTO t USING t s ON t.id = s.id WHEN", "expected NOT MATCHED"),
    ],
)
def test_an_error_says_what_to_write_instead(catalog: pe.Catalog, text: str, says: str) -> None:
    _create(catalog, "append")
    with pytest.raises(InvalidInputError, match=says):
        catalog.sql(text).to_arrow()


def test_tables_that_are_given_are_listed() -> None:
    rows = pa.table({"id": [1]})
    with pytest.raises(InvalidInputError, match=r"argument: pe\.sql\(text, df=df\)"):
        pe.sql("SELECT * FROM df")
    with pytest.raises(NotFoundError, match=r"Tables: 't'\. .* argument: pe\.sql\(text, df=df\)"):
        pe.sql("SELECT * FROM df", t=pe.demo().table("demo.orders"))
    with pytest.raises(InvalidInputError, match=r"table 'other' .*Tables: 'rows'"):
        pe.sql("SELECT * FROM other, rows", rows=rows)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("VALUES (1), (2) ORDER BY 1 DESC LIMIT 1", [(2,)]),
        ("SELECT a FROM ((VALUES (1)) AS x(a))", [(1,)]),
        ("SELECT y.a FROM ((SELECT 1 AS a) AS x) AS y", [(1,)]),
        ("SELECT z FROM ((VALUES (1)) AS x(z)) AS y", [(1,)]),
        ("SELECT n.id FROM (((t))) AS n JOIN (t AS m) ON n.id = m.id", [(1,)]),
        ("SELECT (VALUES (3)), -2147483648", [(3, -2147483648)]),
        ("SELECT isnull(NULL) AND isnotnull(1), CAST(5 % 3 + 7 DIV 2 AS INT)", [(True, 5)]),
        ("SELECT curdate, length('ab'), 3 * length('a') FROM (SELECT 1 AS curdate)", [(1, 2, 3)]),
        ("SELECT curdate() IS NULL, datediff(DATE '2024-01-03', DATE '2024-01-01')", [(False, 2)]),
        ("SELECT * EXCEPT (city, n) REPLACE (id + 1 AS id) FROM t", [(2,)]),
        ("WITH split(a) AS (SELECT 1) SELECT second.a FROM split AS second(a)", [(1,)]),
    ],
)
def test_a_query_means_the_same_with_every_release_of_the_parsers(
    catalog: pe.Catalog, text: str, rows: list[tuple[object, ...]]
) -> None:
    catalog.sql("CREATE TABLE t (id INT, city STRING, n INT)")
    catalog.sql("INSERT INTO t VALUES (1, 'a', 2)")
    found = catalog.sql(text).to_arrow()
    assert found.schema.types == [pa.int32() if type(one) is int else pa.bool_() for one in rows[0]]
    assert [tuple(row.values()) for row in found.to_pylist()] == rows


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("SELECT id, order, group, limit FROM t", (1, 2, 3, 4)),
        ("SELECT t.on FROM t", (5,)),
        ("SELECT 1, a.id FROM t a JOIN t b ON a.order = 2 WHERE a.id IN (1, a.group)", (1, 1)),
        ("SELECT max(id), group FROM t GROUP BY id, group ORDER BY id, group", (1, 3)),
    ],
)
def test_columns_may_have_the_names_of_clauses(
    catalog: pe.Catalog, text: str, row: tuple[int, ...]
) -> None:
    catalog.sql("CREATE TABLE t (id INT, `order` INT, `group` INT, `limit` INT, `on` INT)")
    catalog.sql("INSERT INTO t VALUES (1, 2, 3, 4, 5)")
    assert [tuple(one.values()) for one in catalog.sql(text).to_arrow().to_pylist()] == [row]


STATEMENTS_WITH_A_WORD = (
    (
        "SELECT word, max(t.word), sum(word * 2), CASE WHEN word = 5 THEN -word ELSE word END "
        "FROM t WHERE word IN (5, 7) AND (word - 1) > 0 GROUP BY word ORDER BY word"
    ),
    "UPDATE t SET word = word + 10 WHERE word = 5",
    (
        "MERGE INTO t USING (SELECT 2 AS id, 1 AS word) s ON t.id = s.id "
        "WHEN MATCHED AND t.word > 0 THEN UPDATE SET word = s.word + t.word "
        "WHEN NOT MATCHED AND word > 1 THEN INSERT (id, word) VALUES (id, word) "
        "WHEN NOT MATCHED BY SOURCE AND word < 0 THEN DELETE"
    ),
    "INSERT INTO t (id, word) SELECT id + 2, word FROM (SELECT * FROM t)",
    "DELETE FROM t WHERE word = 8 AND id > 2",
)


@pytest.mark.parametrize(
    "name",
    [
        *("values", "user", "limit", "offset", "window", "cube", "rollup", "lock", "rollback"),
        *("any", "inner", "outer", "cross", "lateral", "using", "into", "insert", "create"),
        *("drop", "alter", "order", "group", "table", "end", "current_schema", "for", "fetch"),
        *("qualify", "tablesample", "xor", "interval"),
    ],
)
def test_columns_may_have_the_names_of_keywords(catalog: pe.Catalog, name: str) -> None:
    catalog.sql(f"CREATE TABLE t (id INT, `{name}` INT)")
    catalog.sql("INSERT INTO t VALUES (1, 5), (2, 7)")
    query, *changes = (text.replace("word", name) for text in STATEMENTS_WITH_A_WORD)
    rows = [tuple(row.values()) for row in catalog.sql(query).to_arrow().to_pylist()]
    assert rows == [(5, 5, 10, -5), (7, 7, 14, 7)]
    for change in changes:
        catalog.sql(change)
    assert catalog.sql("TABLE t ORDER BY id").to_arrow().column(name).to_pylist() == [15, 8, 15]


@pytest.mark.parametrize(
    "text",
    [
        *("FROM (VALUES -1, 2)", "WHERE -1 IN (VALUES -1, 2) ", "LIMIT +2", "UNION VALUES (2)"),
        *("WHERE now() + INTERVAL -1 DAY < now()", "WHERE now() > now() - (INTERVAL + 2 HOURS)"),
    ],
)
def test_keywords_are_no_columns_where_a_clause_begins(catalog: pe.Catalog, text: str) -> None:
    catalog.sql("CREATE TABLE t (`values` INT, `limit` INT)")
    assert catalog.sql(f"SELECT 1 {text}").to_arrow().num_rows > 0


def test_errors_name_what_is_wrong(catalog: pe.Catalog) -> None:
    _create(catalog, "append")
    with pytest.raises(NotFoundError, match="Table 'nope' does not exist in db"):
        catalog.sql("SELECT * FROM nope")
    with pytest.raises(NotFoundError, match="Database 'other' does not exist"):
        catalog.sql("SELECT * FROM other.t")
    for nothing in (" ; ", "-- a comment"):
        with pytest.raises(InvalidInputError, match="statement is empty"):
            catalog.sql(nothing)
    with pytest.raises(InvalidInputError, match="dialect 'mysql' is unknown"):
        catalog.sql("SELECT 1", dialect="mysql")


def test_queries_of_duckdb_pass_as_they_are(catalog: pe.Catalog) -> None:
    _create(catalog, "append")
    found = catalog.sql('SELECT "id" FROM t ORDER BY n DESC NULLS LAST LIMIT 1', dialect="duckdb")
    assert found.to_arrow().to_pylist() == [{"id": 4}]


def test_results_show_their_first_rows(catalog: pe.Catalog) -> None:
    _create(catalog, "append")
    result = catalog.sql("SELECT id, city FROM t ORDER BY id")
    assert "Oslo" in repr(result)
    assert "NULL" in repr(result)
    assert ">Oslo</td>" in result._repr_html_()
    assert "Rows 1 to 20; to_arrow() reads all" in repr(
        catalog.sql("SELECT explode(sequence(1, 50)) AS x")
    )
    assert "executed" in repr(catalog.sql("USE db"))


def test_rows_are_found_by_their_id_and_partitions_by_null(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]]
) -> None:
    _create(catalog, "tracked")
    catalog.sql("UPDATE t SET n = 0 WHERE _ROW_ID = 1")
    assert rows("SELECT id FROM t WHERE n = 0") == [(2,)]
    catalog.sql("CREATE TABLE p (id INT, dt STRING) PARTITIONED BY (dt)")
    catalog.sql("INSERT INTO p VALUES (1, NULL), (2, 'a')")
    catalog.sql("INSERT OVERWRITE p PARTITION (dt = CAST(NULL AS STRING)) SELECT 3")
    assert rows("SELECT * FROM p ORDER BY id") == [(2, "a"), (3, None)]


def test_a_result_is_read_again_while_an_earlier_reading_is_not_at_its_end() -> None:
    result = pe.sql("SELECT id FROM range(250000)")
    first, second = result.to_batches(), result.to_batches()
    assert first.read_next_batch().num_rows == second.read_next_batch().num_rows
    assert result.schema.names == ["id"]
    assert result.to_arrow().num_rows == 250_000
    assert first.read_all().num_rows == second.read_all().num_rows


def test_deleted_rows_leave_their_files_and_partitions_get_consecutive_row_ids(
    catalog: pe.Catalog,
) -> None:
    keys = ("row-tracking.enabled", "data-evolution.enabled", "deletion-vectors.enabled")
    table = catalog.create_table(
        "db.evolving",
        {"id": "INT", "p": "INT"},
        partition_by="p",
        options=dict.fromkeys(keys, "true"),
    )
    for first in (0, 4):
        table.append([{"id": first + i, "p": i // 2} for i in range(4)])
    catalog.sql("DELETE FROM db.evolving WHERE id = 5")
    call = "CALL sys.materialize_deletion_vectors(table => 'db.evolving', `where` => 'p = 0')"
    assert catalog.sql(call).to_arrow().to_pylist() == [{"result": True}]
    call = "CALL sys.reassign_row_id('db.evolving', 'p=1')"
    (row,) = catalog.sql(call).to_arrow().to_pylist()
    assert row["result"] == "Success: reassigned 4 row ids of 1 partitions, from 9 to 12"
    (row,) = catalog.sql(call).to_arrow().to_pylist()
    assert row["result"].startswith("Skipped: ")
    assert table.to_arrow().sort_by("id")["id"].to_pylist() == [0, 1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize("name", ["chain_days", "chain_hours", "chain_minutes"])
def test_a_merged_partition_of_a_chain_table_is_inserted_into_its_snapshot_branch(
    golden: GoldenTables, catalog: pe.Catalog, tmp_path: Path, name: str
) -> None:
    shutil.copytree(golden.table(NEWEST, name).folder, tmp_path / "db.db" / "chain")
    keys = catalog.table("db.chain").schema.partition_keys

    def contents(table: str) -> list[Row]:
        rows = catalog.table(f"db.{table}").to_arrow().to_pylist()
        return sorted((*(row[key] for key in keys), repr(row)) for row in rows)

    def partitions(branch: str) -> set[Row]:
        return {row[: len(keys)] for row in contents(f"chain$branch_{branch}")}

    before = contents("chain")
    lacking = max(partitions("delta") - partitions("snapshot"))
    where = " AND ".join(f"{key} = '{value}'" for key, value in zip(keys, lacking, strict=True))
    whole = catalog.sql(f"SELECT * FROM chain WHERE {where}").to_arrow()  # noqa: S608 - constant
    spec = ",".join(f'{key}="{value}"' for key, value in zip(keys, lacking, strict=True))
    call = f"CALL sys.compact_chain_table(table => 'chain', partition => '{spec}')"
    assert [catalog.sql(call).to_arrow()["result"].to_pylist() for _ in range(2)] == [
        [True],
        [False],
    ]
    own = catalog.sql(f"SELECT * FROM chain$branch_snapshot WHERE {where}").to_arrow()  # noqa: S608 - constant
    assert difference(whole, own) == ""
    for branch in ("snapshot", "delta"):
        catalog.sql(f"CALL sys.compact(table => 'db.chain$branch_{branch}')")

    assert lacking in partitions("snapshot")
    assert contents("chain") == before


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT A FROM db.two",
        "SELECT `A` FROM db.two WHERE `A` = 1",
        "UPDATE db.two SET a = 9 WHERE A = 1",
        "DELETE FROM db.two WHERE A = 1",
        "MERGE INTO db.two USING (SELECT 1 AS k) AS s ON two.A = s.k WHEN MATCHED THEN DELETE",
    ],
)
def test_columns_that_differ_in_case_are_not_taken_for_each_other(
    catalog: pe.Catalog, statement: str
) -> None:
    table = catalog.create_table("db.two", {"a": "INT", "A": "INT"})
    table.append([{"a": 1, "A": 2}])
    with pytest.raises(InvalidInputError, match="does not distinguish the columns 'a' and 'A'"):
        catalog.sql(statement)
    assert table.to_arrow().to_pylist() == [{"a": 1, "A": 2}]
    with pytest.raises(InvalidInputError, match="does not distinguish the columns 'a' and 'A'"):
        pe.sql("SELECT A FROM rows", rows={"a": [1], "A": [2]})


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (pl.DataFrame({"o": [object()]}), "polars type Object"),
        (pd.DataFrame({"p": pd.period_range("2024-01", periods=2, freq="M")}), "pandas periods"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "Duplicate column names"),
    ],
)
def test_data_that_arrow_would_change_is_refused(rows: object, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        pe.sql("SELECT * FROM rows", rows=rows)


def test_json_has_times_and_names_what_it_cannot_return() -> None:
    rows = pa.table({"t": [time(1, 2, 3)], "l": [[time(1, 2, 3)]]})
    found = pe.sql("SELECT to_json(struct(t)), CAST(l AS STRING) FROM rows", rows=rows).to_arrow()
    assert [column[0].as_py() for column in found.columns] == ['{"t":"01:02:03"}', "[01:02:03]"]
    for text, problem in [('{"a":1}', "cannot return VARIANT"), ('{"a":' * 200_000, "too deeply")]:
        with pytest.raises(InvalidInputError, match=problem):
            pe.sql("SELECT from_json(j, 'a VARIANT') FROM rows", rows={"j": [text]}).to_arrow()


_MANY = range(1, 1200)
"""More conditions than Python nests calls."""


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (" AND ".join(f"id <> {i}" for i in _MANY), 2),
        (" OR ".join(f"id = {i}" for i in _MANY), 1),
        (" OR ".join(f"(n = 7 AND id = {i})" for i in range(300)), 2),
        (f"id NOT IN ({', '.join(map(str, _MANY))})", 2),
    ],
)
def test_a_condition_may_have_thousands_of_parts(
    catalog: pe.Catalog, condition: str, count: int
) -> None:
    catalog.sql("CREATE TABLE m (id INT, n INT)")
    catalog.sql("INSERT INTO m VALUES (0, 7), (1, 7), (5000, NULL)")
    assert catalog.sql(f"SELECT id FROM m WHERE {condition}").to_arrow().num_rows == count  # noqa: S608 - ours
    catalog.sql(f"UPDATE m SET n = -1 WHERE {condition}")  # noqa: S608 - ours
    assert catalog.table("db.m").count("n = -1") == count
    assert catalog.table("db.m").count(condition.replace("n = 7", "n = -1")) == count


@pytest.mark.parametrize("text", ["(" * 3000 + "1" + ")" * 3000, " + ".join(["1"] * 3000)])
def test_an_expression_that_is_nested_too_deeply_is_refused(catalog: pe.Catalog, text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"nested too deeply .* limit of 1000 calls.*IN \("):
        catalog.sql(f"SELECT * FROM (SELECT 1 AS id) WHERE id = {text}").to_arrow()  # noqa: S608


@pytest.mark.parametrize(
    ("on", "value", "is_equal"),
    [
        ("t.id = s.k", "s.k", True),
        ("t.id = k AND (t.n = 10 OR t.n = 20)", "k", True),
        ("t.id = s.k AND s.id = s.v", "s.v", False),
        ("t.id = s.k AND coalesce(t.id = s.v, TRUE)", "s.v", False),
        ("t.id = s.k AND (t.id = s.v OR TRUE)", "s.v", False),
    ],
)
def test_a_merge_sets_a_key_only_to_what_on_says_it_is(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]], on: str, value: str, *, is_equal: bool
) -> None:
    _create(catalog, "keyed")
    merge = (
        f"MERGE INTO t USING (SELECT 1 AS k, 9 AS id, 9 AS v) s ON {on} "
        f"WHEN MATCHED THEN UPDATE SET id = {value}, city = 'new'"
    )
    if is_equal:
        catalog.sql(merge)
    else:
        with pytest.raises(InvalidInputError, match="belongs to the primary key"):
            catalog.sql(merge)
    assert rows("SELECT city FROM t WHERE id = 1") == [("new" if is_equal else "Oslo",)]


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("STRING", "'x' || 'y'"),
        ("STRING", "'x' = 'y'"),
        ("DATE", "DATE '2024-01-01' + 1"),
        ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ '2024-01-01 00:00:00' + INTERVAL 1 DAY"),
    ],
)
def test_a_default_value_is_one_constant(catalog: pe.Catalog, kind: str, default: str) -> None:
    column = f"a {kind} DEFAULT {default}"
    for text in (f"CREATE TABLE d (id INT, {column})", f"ALTER TABLE t ADD COLUMN {column}"):
        catalog.sql("CREATE TABLE IF NOT EXISTS t (id INT)")
        with pytest.raises(InvalidInputError, match="is not a constant"):
            catalog.sql(text)


def test_a_copied_table_has_the_same_default_values(
    catalog: pe.Catalog, rows: Callable[[str], list[Row]]
) -> None:
    catalog.sql("""CREATE TABLE d (id INT, a STRING DEFAULT "'it'" 's')""")
    catalog.sql("CREATE TABLE same LIKE d")
    catalog.sql("INSERT INTO same (id) VALUES (1)")
    assert rows("SELECT a FROM same") == [("'it's",)]
