"""Conditions, counts and first rows of queries: fewer files are read, and the rows are the same."""

import random
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.read import run_order
from paimon_explore.sql_statements.duckdb import query_rows
from paimon_explore.sql_statements.duckdb.dialect import parsed_query
from paimon_explore.sql_statements.duckdb.metadata_answers import metadata_answer
from paimon_explore.sql_statements.duckdb.top_rows import top_rows
from paimon_explore.sql_statements.query_pushdown import wanted_columns
from paimon_explore.sql_statements.table_references import references_of
from paimon_explore.sql_statements.tokenizer import tokens_of
from paimon_explore.table.scan import Scan, read_within
from support.depth import DEEP
from support.small_tables import append_table, columns, new_catalog

KINDS = {
    "append": "",
    "vectors": "'deletion-vectors.enabled' = 'true'",
    "keyed": "'primary-key' = 'id', 'bucket' = '2'",
}
COLUMNS = ("id", "s", "d", "day", "n", "r.a", "t.r.b", "extra", "at", "wall")
REAL = (float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.5, -2.25, None)


@cache
def _files() -> pe.Table:
    """The append table without deleted rows, for tests that only read."""
    return _table("", "append", deletes=False)


def _table(folder: Path | str, kind: str, *, deletes: bool = True) -> pe.Table:
    """A table of five files with an evolved schema and perhaps deleted rows."""
    chance = random.Random(7)  # noqa: S311 - not for secrets
    catalog = new_catalog(folder)
    options = f" TBLPROPERTIES ({KINDS[kind]})" if KINDS[kind] else ""
    catalog.sql(
        "CREATE TABLE db.t (id BIGINT NOT NULL, s STRING, d DOUBLE, day DATE, n DECIMAL(6, 2), "
        f"r STRUCT<a: INT, b: STRING>, at TIMESTAMP, wall TIMESTAMP_NTZ){options}"
    )
    table = catalog.table("db.t")
    for number in range(5):
        if number == 3:
            catalog.sql("ALTER TABLE db.t ADD COLUMN extra INT")
            table = catalog.table("db.t")
        rows = [
            {
                "id": number * 40 + at,
                "s": chance.choice([None, "", f"k{number}-{at}", f"k%{at}"]),
                "d": chance.choice(REAL) if number else None,
                "day": chance.choice([None, date(1960 + 20 * number, 1, 1 + at % 28)]),
                "n": chance.choice([None, f"{at - 20}.5"]),
                "r": chance.choice([None, {"a": None, "b": "x"}, {"a": at, "b": f"k{number}"}]),
                "at": None
                if at % 7 == 1
                else datetime(1960 + 20 * number, 1, 2, at % 24, tzinfo=UTC),
                "wall": None if at % 7 == 2 else datetime(1960 + 20 * number, 1, 2, at % 24),  # noqa: DTZ001 - has no zone
            }
            | ({"extra": chance.choice([None, at])} if number > 2 else {})
            for at in range(40)
        ]
        write = table.upsert if kind == "keyed" else table.append
        write(rows, cast="parse")
    if deletes:
        table.delete("id % 7 = 3")
    return table


def _condition(chance: random.Random, depth: int = 2) -> str:
    if depth and chance.random() < 0.5:
        word = chance.choice(["AND", "OR"])
        return f"({_condition(chance, depth - 1)} {word} {_condition(chance, depth - 1)})"
    column = chance.choice(COLUMNS)
    values = {
        "id": [*(str(chance.randrange(-5, 250)) for _ in range(40)), "40 * 2 + 1"],
        "s": ["'k1-7'", "'k%3'", "''", "'zz'", "concat('k', '1-7')"],
        "d": ["0", "-0.0", "1.5", "1e9", "-2.25D", "CAST('NaN' AS DOUBLE)"],
        "day": ["DATE '1960-01-05'", "'2000-01-09'", "date_add(DATE '1980-01-20', 8)"],
        "n": ["0", "-3.5", "7"],
        "at": ["'1980-01-02'", "DATE '2000-01-02'", "TIMESTAMP '2020-01-02 03:00:00Z'"],
        "wall": ["'1980-01-02 05:00'", "TIMESTAMP_NTZ '2020-01-02' + INTERVAL 5 HOURS"],
        "r.a": ["3", "39", "-1"],
        "t.r.b": ["'k2'", "'x'"],
        "extra": ["5", "30"],
    }[column]
    one, other = chance.choice(values), chance.choice(values)
    forms = [
        f"{column} {chance.choice(['=', '<', '<=', '>', '>=', '<>'])} {one}",
        f"{column} IN ({', '.join(values)})",
        f"{column} IS {chance.choice(['', 'NOT '])}NULL",
        f"{column} BETWEEN {one} AND {other}",
        f"NOT ({column} = {one})",
    ]
    if column in {"s", "t.r.b"}:
        patterns = ["k1%", "k%", "%", "k_-1%", r"k\\%1%", "k2-%9", "x", ""]
        forms += [f"{column} {chance.choice(['', 'NOT '])}LIKE '{chance.choice(patterns)}'"] * 3
    return chance.choice(forms)


@pytest.mark.parametrize("kind", KINDS)
def test_random_conditions_and_first_rows_are_those_of_plain_data(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_order, "_LATE_ROWS", 0)  # as in large tables
    table, chance = _table(tmp_path, kind), random.Random(3)  # noqa: S311 - not for secrets
    plain = table.to_arrow()
    rows_of_table = {str(row) for row in pe.sql("SELECT * FROM t", t=plain).to_arrow().to_pylist()}
    for _ in range(400 if DEEP else 40):
        text = f"SELECT id FROM t WHERE {_condition(chance)} ORDER BY id"  # noqa: S608 - made here
        assert pe.sql(text, t=table).to_arrow() == pe.sql(text, t=plain).to_arrow(), text
    for _ in range(100 if DEEP else 20):
        order = chance.choice(["id", "day", "extra", "d", "n", "s"])
        order += chance.choice(["", " DESC", " NULLS LAST", " DESC NULLS FIRST"])
        text = f"SELECT * FROM t ORDER BY {order} LIMIT {chance.choice([1, 7, 98])}"  # noqa: S608 - the same
        found, expected = (pe.sql(text, t=rows).to_arrow() for rows in (table, plain))
        shown = [str(rows[order.split()[0]].to_pylist()) for rows in (found, expected)]
        assert shown[0].replace("-0.0", "0.0") == shown[1].replace("-0.0", "0.0"), text
        assert {str(row) for row in found.to_pylist()} <= rows_of_table, text


SUBQUERIES = (
    "(SELECT * FROM {inner} r WHERE {condition})",
    "(SELECT id, s, day, n + 0 AS n, d FROM {inner} r)",
    "(SELECT id, s, day, n, d FROM {inner} r ORDER BY id, s LIMIT 90)",
    "(SELECT id, s, day, max(n) AS n, max(d) AS d FROM {inner} r GROUP BY 1, s, day)",
    "(SELECT DISTINCT id, s, day, n, d FROM {inner} r)",
    "(SELECT id, s, day, n, d FROM {inner} r UNION ALL SELECT id, s, day, n, d FROM {other} q)",
    "(SELECT id, s, day, n, d FROM {inner} r EXCEPT SELECT id, s, day, n, d FROM {other} q)",
    "(SELECT *, count(*) OVER (PARTITION BY day) AS c FROM {inner} r)",
)


def _relation(chance: random.Random, depth: int) -> str:
    if not depth or chance.random() < 0.3:
        return chance.choice(["a", "b"])
    inner, other = _relation(chance, depth - 1), _relation(chance, depth - 1)
    parts = {"inner": inner, "other": other, "condition": _plain_condition(chance, "")}
    return chance.choice(SUBQUERIES).format_map(parts)


def _plain_condition(chance: random.Random, alias: str) -> str:
    column, values = chance.choice(
        [
            ("id", ["70", "20 * 2", "(SELECT max(id) FROM a WHERE id < 90)"]),
            ("s", ["'k1-7'", "concat('k', '3')"]),
            ("day", ["'1980-01-09'", "date_add(DATE '2000-01-01', 8)"]),
            ("n", ["-3", "7"]),
        ]
    )
    name, value = f"{alias}{column}", chance.choice(values)
    word = chance.choice(["=", "<", "<=", ">", ">=", "<>"])
    return chance.choice([f"{name} {word} {value}", f"{name} {word} {value}", f"{name} IS NULL"])


def test_random_joins_and_subqueries_are_those_of_plain_data(tmp_path: Path) -> None:
    a, b = _table(tmp_path / "a", "append"), _table(tmp_path / "b", "keyed")
    rows, other_rows = a.to_arrow(), b.to_arrow()
    chance = random.Random(11)  # noqa: S311 - not for secrets
    for _ in range(400 if DEEP else 25):
        join = chance.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN"])
        on = " AND ".join(f"x.{one} = y.{one}" for one in chance.sample(["id", "s", "day"], 2))
        text = (
            f"WITH w AS (SELECT * FROM {_relation(chance, 1)} r) "  # noqa: S608 - made here
            f"SELECT count(*) AS n, sum(x.id) AS ids, max(x.s) AS s FROM {_relation(chance, 2)} x "
            f"{join} {chance.choice(['w', _relation(chance, 1)])} y "
            f"ON {on} AND {_plain_condition(chance, chance.choice(['x.', 'y.']))} "
            f"WHERE {_plain_condition(chance, 'x.')} AND {_plain_condition(chance, 'x.')}"
        )
        expected = pe.sql(text, a=rows, b=other_rows).to_arrow()
        assert pe.sql(text, a=a, b=b).to_arrow() == expected, text


def test_conditions_hold_for_equal_columns_of_a_join() -> None:
    table = _files()
    text = (
        "EXPLAIN SELECT * FROM t JOIN u ON t.id = u.id "
        "LEFT JOIN u AS v ON u.id = v.id AND v.s > 'a' WHERE t.id BETWEEN 45 AND 90"
    )
    plan = str(pe.sql(text, t=table, u=table).to_pandas()["plan"].tolist())
    assert plan.count(", 2 files for the condition") == 3


@cache
def _star() -> dict[str, pe.Table]:
    """Sales in a partition for each of some days, and small tables of days and months."""
    catalog = new_catalog()
    catalog.sql("CREATE TABLE db.sales (day_id INT, item STRING, n INT) PARTITIONED BY (day_id)")
    catalog.sql("CREATE TABLE db.days (id INT, day DATE, month INT, name STRING, kind CHAR(9))")
    catalog.sql("CREATE TABLE db.months (number INT, label STRING)")
    days = [
        (at, date(2026, 1 + at // 6, 1 + at % 6), 1 + at // 6, f"day {at % 6}") for at in range(24)
    ]
    sales = [{"day_id": at % 24, "item": f"item {at % 5}", "n": at} for at in range(0, 240, 3)]
    catalog.table("db.sales").append([*sales, {"day_id": None, "item": "item 1", "n": None}])
    catalog.table("db.days").append(
        [
            {"id": at, "day": day, "month": month, "name": name, "kind": name}
            for at, day, month, name in days
        ]
        + [{"id": None, "day": None, "month": 1, "name": "day 1", "kind": None}]
    )
    catalog.table("db.months").append(
        [{"number": at, "label": f"month {at}"} for at in (None, 1, 2, 3, 4)]
    )
    return {name: catalog.table(f"db.{name}") for name in ("sales", "days", "months")}


def _answer(text: str, rows: Mapping[str, object]) -> pa.Table:
    return pe.sql(text, sales=rows["sales"], days=rows["days"], months=rows["months"]).to_arrow()


@pytest.mark.parametrize(
    ("rows", "files"),
    [
        ("sales, days WHERE day_id = id AND month = 2", 2),
        ("sales JOIN days ON id = day_id AND month IN (1, 2)", 4),
        ("sales s JOIN days d ON s.day_id = d.id AND d.kind = 'day 3'", 4),
        ("sales, days WHERE day_id = id AND day_id < 4", 2),
        ("sales, days, months WHERE day_id = id AND month = number AND label = 'month 4'", 2),
        ("w, days WHERE at = id AND name = 'day 0' AND month < 3", 2),
        (
            "(SELECT day_id, sum(n) AS n FROM sales GROUP BY 1), days WHERE day_id = id AND id < 4",
            2,
        ),
        ("sales WHERE day_id IN (SELECT id FROM days WHERE month = 1)", 2),
        ("sales, days WHERE day_id = id AND day IN (SELECT min(day) FROM days GROUP BY month)", 4),
        ("(SELECT max(n) n FROM w, days WHERE at = id AND month = 1) JOIN months ON n > number", 2),
        ("(SELECT (SELECT max(n) FROM w, days WHERE at = id AND month = number) n FROM months)", 9),
        ("sales, days WHERE day_id = id AND month = 9", 0),
        ("sales LEFT JOIN days ON day_id = id AND month = 2", 9),
        ("sales LEFT JOIN days ON day_id = id WHERE month = 2", 9),
        ("sales FULL JOIN days ON day_id = id WHERE month = 2", 9),
        ("sales LEFT ANTI JOIN days ON day_id = id AND month = 2", 9),
        ("sales WHERE day_id NOT IN (SELECT id FROM days WHERE month = 1)", 9),
        ("sales WHERE day_id = 3 OR day_id IN (SELECT id FROM days WHERE month = 1)", 9),
        ("sales WHERE day_id IN (SELECT id FROM days WHERE month = 1 LIMIT 9)", 9),
        ("sales, days WHERE day_id = id", 9),
        ("sales, days WHERE day_id + 0 = id AND month = 2", 9),
    ],
)
def test_keys_of_joined_tables_choose_partitions(rows: str, files: int) -> None:
    tables = _star()
    made = "(SELECT day_id AS at, n FROM sales UNION ALL SELECT 7, 8) AS w, "
    query = f"SELECT n FROM {rows.replace('w, ', made)}"  # noqa: S608 - fixed
    plan = _answer(f"EXPLAIN {query}", tables)["plan"]
    assert f", {files} file" in str(plan[0])
    plain = {name: table.to_arrow() for name, table in tables.items()}
    found, expected = (_answer(query, given)["n"] for given in (tables, plain))
    assert Counter(found.to_pylist()) == Counter(expected.to_pylist())


def test_random_star_joins_are_those_of_plain_data() -> None:
    tables = _star()
    plain = {name: table.to_arrow() for name, table in tables.items()}
    chance = random.Random(5)  # noqa: S311 - not for secrets
    sales = [
        "sales",
        "(SELECT * FROM sales WHERE n > 50) AS s",
        "(SELECT day_id, item, n FROM sales UNION ALL SELECT 7, 'item 1', 3) AS s",
        "(SELECT DISTINCT day_id, item, n FROM sales, days WHERE day_id = id AND month < 4) AS s",
        "w",
    ]
    conditions = [
        *("month = 2", "month > number", "name = 'day 0'", "kind IN ('day 3', 'x')", "day IS NULL"),
        *("label = 'month 1'", "day_id BETWEEN 3 AND 9", "day < DATE '2026-03-02'", "id <> 6"),
        *("n < 90", "item = 'item 1'", "day_id IN (SELECT id FROM days WHERE month = 3)"),
        "(month = 1 OR label = 'month 2')",
        "EXISTS (SELECT * FROM sales AS o, days AS d WHERE o.day_id = d.id AND d.month = number)",
    ]
    joins = ["JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
    for _ in range(400 if DEEP else 40):
        on, then, where, also = chance.choices(conditions, k=4)
        on, then = (one if "SELECT" not in one else "month < 3" for one in (on, then))
        on = on if "label" not in on and "number" not in on else "month = 2"
        text = (
            "WITH w AS (SELECT day_id, item, sum(n) AS n FROM sales GROUP BY day_id, item) "  # noqa: S608 - made here
            "SELECT count(*) AS c, sum(n) AS n, max(name) AS name, min(label) AS label "
            f"FROM {chance.choice(sales)} {chance.choice(joins)} days ON day_id = id AND {on} "
            f"{chance.choice(joins)} months ON month = number AND {then} WHERE {where} AND {also}"
        )
        assert _answer(text, tables) == _answer(text, plain), text


@pytest.mark.parametrize(
    ("condition", "files"),
    [
        ("s LIKE 'k3%'", 2),
        (f"id IN ({', '.join(map(str, range(40, 80)))})", 1),
        ("id = 3 OR id = 190", 2),
        ("d IS NULL", 5),
        ("d <= -3e0", 4),
        ("day < DATE '1970-01-01'", 1),
        ("n BETWEEN 100 AND 200", 0),
        ("day >= date_sub(DATE '2030-01-01', 365 * 25)", 2),
        ("day > current_date() - INTERVAL 100 YEARS", 5),
        ("'2000-01-01' > at", 2),
        ("at BETWEEN DATE '1979-01-01' AND TIMESTAMP '2001-01-01 00:00:00'", 2),
        ("wall IN (TIMESTAMP_NTZ '1980-01-02 03:00:00', to_date('2020-01-02'))", 2),
        ("id = (SELECT max(id) FROM t)", 1),
        ("s = concat('k', '3-', '1')", 2),
        ("day = (SELECT max(u.day) FROM t AS u WHERE u.id = t.id)", 5),
        ("id < 40 * rand()", 5),
        ("id > (SELECT max(id) FROM t WHERE id < 0)", 5),
    ],
)
def test_conditions_choose_files(condition: str, files: int) -> None:
    table = _files()
    plan = pe.sql(f"EXPLAIN SELECT count(*) FROM t WHERE {condition}", t=table).to_arrow()  # noqa: S608 - fixed
    assert f", {files} file" in str(plan["plan"][0])


def test_changes_of_rows_read_only_files_that_computed_constants_allow(tmp_path: Path) -> None:
    table = _table(tmp_path, "append", deletes=False)
    for name in table.inspect.files()["file_path"].to_pylist()[3:]:
        Path(str(name)).unlink()
    catalog = pe.Catalog(tmp_path)
    catalog.sql("UPDATE db.t SET s = 'new' WHERE at < TIMESTAMP '1961-01-01 00:00:00'")
    catalog.sql(
        "DELETE FROM db.t WHERE id BETWEEN 20 * 2 AND (SELECT max(id) FROM db.t WHERE id < 70)"
    )
    rows = catalog.sql("SELECT count(*) AS n, count_if(s = 'new') AS m FROM db.t WHERE id < 2 * 40")
    assert rows.to_arrow().to_pylist() == [{"n": 50, "m": 34}]


@pytest.mark.parametrize("limit", [1 << 30, 4 * 100])
def test_a_change_of_several_files_reads_the_tables_of_its_subqueries_once(
    limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = pe.Catalog(tmp_path)
    _table(tmp_path, "append", deletes=False)
    catalog.sql("CREATE TABLE db.other AS SELECT id, s AS t FROM db.t WHERE s LIKE 'k%'")
    expected = catalog.sql("SELECT id, t AS s FROM db.t LEFT JOIN db.other USING (id) ORDER BY id")
    rows, reads = expected.to_arrow(), list[bool]()

    def recorded(scan: Scan, size: int) -> pa.Table | None:
        found = read_within(scan, size)
        reads.append(found is not None)
        return found

    monkeypatch.setattr(query_rows, "read_within", recorded)
    monkeypatch.setattr(query_rows, "memory_limit", lambda: limit)
    catalog.sql("UPDATE db.t SET s = (SELECT max(o.t) FROM db.other o WHERE o.id = t.id)")

    assert reads == [limit > 400]
    assert catalog.sql("SELECT id, s FROM db.t ORDER BY id").to_arrow() == rows


def test_merges_take_no_subqueries(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    catalog.sql("CREATE TABLE db.t (id INT, v INT)")
    text = "MERGE INTO db.t USING (SELECT 1 AS id) s ON t.id = s.id WHEN "
    for clause in (
        "MATCHED THEN UPDATE SET v = (SELECT max(v) FROM db.t)",
        "NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 1 + (SELECT max(v) FROM db.t))",
        "MATCHED AND s.id IN (SELECT id FROM db.t) THEN DELETE",
    ):
        with pytest.raises(pe.errors.UnsupportedFeatureError, match=r"Join the table .* USING"):
            catalog.sql(text + clause)


def test_first_rows_are_read_from_the_files_that_may_have_them() -> None:
    table = _files()
    scans = {"t": table.scan()}
    counts = {
        "SELECT * FROM t ORDER BY id LIMIT 10": 1,
        "SELECT id, s FROM t ORDER BY id DESC, s LIMIT 30 OFFSET 30": 2,
        "SELECT id FROM t ORDER BY id LIMIT 300": None,
        "SELECT -id AS id FROM t ORDER BY id LIMIT 1": None,
        "SELECT max(id) FROM t ORDER BY id LIMIT 1": None,
        "SELECT id FROM t WHERE s > 'a' ORDER BY id LIMIT 1": None,
        "SELECT id FROM t ORDER BY s LIMIT 1": None,
    }
    for text, files in counts.items():
        found = top_rows(parsed_query(text), scans)
        is_whole = found is None or found.scan.where == scans["t"].where
        read = None if found is None or is_whole else found.scan.explain().files
        assert read == files, text


def test_a_percentage_is_a_sample_of_rows_not_of_blocks() -> None:
    table = append_table(columns(id=pa.int32()), [{"id": number} for number in range(1000)])
    query = "SELECT count(*) AS n FROM t TABLESAMPLE (50 PERCENT)"
    for seed in ("", " REPEATABLE (7)"):
        (row,) = pe.sql(query + seed, t=table).to_arrow().to_pylist()
        assert 300 < row["n"] < 700


def test_rows_of_partitions_are_counted_from_metadata(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    catalog.sql("CREATE TABLE db.p (id INT, dt STRING, h INT) PARTITIONED BY (dt, h)")
    catalog.sql("INSERT INTO db.p SELECT id, concat('d', id % 3), id % 2 FROM range(30)")
    table = catalog.table("db.p")
    conditions = {
        "dt = 'd1'": 10,
        "dt LIKE 'd%' AND h = 1": 15,
        "dt IN ('d0', 'd9') OR h IS NULL": 10,
        "dt LIKE '%1'": None,
        "id = 3": None,
        "dt = 'd1' AND length(dt) = 2": None,
    }
    for condition, rows in conditions.items():
        text = f"SELECT count(*) AS n FROM t WHERE {condition}"  # noqa: S608 - fixed
        found = metadata_answer(parsed_query(text), {"t": table.scan()})
        assert (None if found is None else found["n"][0].as_py()) == rows, condition
        assert pe.sql(text, t=table).to_arrow() == pe.sql(text, t=table.to_arrow()).to_arrow()
    text = "SELECT max(id) FROM t WHERE dt = 'd1'"
    assert metadata_answer(parsed_query(text), {"t": table.scan()}) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT a FROM t", ["a"]),
        ("SELECT * FROM t", None),
        ("SELECT count(*) FROM t", ["k"]),
        ("SELECT count(t.*) FROM t", None),
        ("SELECT b FROM u WHERE EXISTS (SELECT * FROM t WHERE t.a = u.b)", ["a", "b"]),
        ("SELECT b FROM u WHERE NOT EXISTS (SELECT t.* FROM t WHERE a > 1)", ["a", "b"]),
        ("SELECT a FROM t WHERE EXISTS (SELECT * FROM u)", ["a"]),
        ("SELECT a FROM t WHERE b IN (SELECT * FROM u)", ["a", "b"]),
        ("SELECT b FROM u WHERE b IN (SELECT * FROM t)", None),
        ("SELECT * FROM (SELECT a FROM t)", ["a"]),
        ("SELECT a FROM (SELECT * FROM t)", None),
        ("SELECT * FROM (SELECT a FROM t) JOIN u ON true", ["a"]),
        ("SELECT u.* FROM u JOIN t ON u.a = t.a", None),
        ("WITH w AS (SELECT * FROM t) SELECT a FROM w", None),
        ("WITH w AS (SELECT a FROM t) SELECT * FROM w", ["a"]),
        ("SELECT a FROM t UNION ALL SELECT * FROM u", ["a"]),
        ("SELECT a FROM u WHERE EXISTS (SELECT * FROM u UNION SELECT * FROM t)", None),
        ("SELECT a FROM u, LATERAL (SELECT * FROM t WHERE t.b = u.b)", None),
        ("SELECT a FROM t NATURAL JOIN u", None),
    ],
)
def test_a_star_reads_all_columns_of_the_tables_beside_it(
    query: str, expected: list[str] | None
) -> None:
    schema = append_table(columns(a=pa.string(), b=pa.string(), k=pa.int32())).schema
    (reference,) = (one for one in references_of(query) if one.parts == ("t",))
    assert wanted_columns(reference, tokens_of(query), schema.row_type) == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT q.id, q.n FROM t AS q(n, id, s) WHERE q.n > 2 AND q.id < 0",
        "SELECT id FROM t AS q(n, id) WHERE n = 3",
        "SELECT id FROM t AS q(n, id) ORDER BY id LIMIT 1",
        "SELECT max(id) AS m, min(n) AS k, count(*) AS c FROM t AS q(n, id)",
        "SELECT x.id, x.s, y.n FROM t x(n, id) JOIN t y ON x.id = y.n WHERE x.id < -2 AND y.id > 1",
        "WITH w AS (SELECT id, n FROM t) SELECT r.id, r.n FROM w AS r(n, id) WHERE r.n > 2",
        "WITH w(n, id) AS (SELECT id, n FROM t) SELECT id, n FROM w WHERE n > 2",
        "SELECT * FROM (SELECT id, n FROM t) AS r(n, id) WHERE r.n > 2 AND id < 0",
    ],
)
def test_names_that_an_alias_gives_hide_those_of_the_table(query: str) -> None:
    table = new_catalog().create_table("db.t", columns(id=pa.int32(), n=pa.int32(), s=pa.string()))
    for at in range(1, 5):
        table.append([{"id": at, "n": -at, "s": f"s{at}"}])
    found, expected = (pe.sql(query, t=rows).to_arrow() for rows in (table, table.to_arrow()))
    assert found.sort_by(found.schema.names[0]) == expected.sort_by(found.schema.names[0])
    assert found.num_rows


def test_a_table_as_a_column_is_its_whole_rows() -> None:
    table = new_catalog().create_table("db.t", columns(id=pa.int32(), n=pa.int32()))
    table.append([{"id": 1, "n": 10}, {"id": 2, "n": 20}])
    text = "SELECT x.id, y FROM t x, t y WHERE x.id = 1 AND y.id = 2"
    found = pe.sql(text, t=table, dialect="duckdb")
    assert found.to_arrow().to_pylist() == [{"id": 1, "y": {"id": 2, "n": 20}}]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT COLUMNS('a.*') FROM t",
        "SELECT COLUMNS(c -> c LIKE 'a%') FROM t",
        "SELECT * REPLACE (-a AS a) FROM t ORDER BY a LIMIT 1",
        "SELECT t.* REPLACE (-a AS a) FROM t ORDER BY a DESC LIMIT 1",
        "SELECT * EXCLUDE (b) FROM t ORDER BY a LIMIT 1",
    ],
)
def test_stars_and_patterns_of_duckdb_read_the_columns_and_rows_that_they_need(
    tmp_path: Path, query: str
) -> None:
    catalog = pe.Catalog(tmp_path)
    catalog.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT, ab STRING, b INT)")
    table = catalog.table("d.t")
    for at in range(3):
        table.append([{"a": at, "ab": "x", "b": -at}])
    found, plain = (pe.sql(query, t=one, dialect="duckdb") for one in (table, table.to_arrow()))
    assert found.to_arrow().to_pylist() == plain.to_arrow().to_pylist()
