"""SQL without Spark returns the rows that Spark returned, but for known differences."""

from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import paimon_explore as pe
from support.small_tables import new_catalog
from support.sql_cases import CASES, other_results


def test_statements_return_the_rows_of_spark(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    catalog.sql("USE db")
    found = other_results(lambda text: catalog.sql(text).to_arrow(), (pe.PaimonError,))
    assert set(found) == {text for texts in CASES["different"].values() for text in texts}


def test_columns_without_names_have_those_of_spark() -> None:
    names = "upper(s), substring(s, 1, 2), concat(s, x), round(n, 2), array(n, 1), max(n), count(1)"
    result = pe.sql(
        "SELECT upper(s), substring(s, 1, 2), concat(s, 'x'), round(n, 2), array(n, 1), max(n), "
        "count(*) FROM VALUES ('a', 1.5D) t(s, n) GROUP BY s, n"
    )
    assert ", ".join(result.schema.names) == names
    aliases = pe.sql(
        "SELECT substr(s, 1, 2), substr(s, 2), substr(s FROM 2), UCASE(s), len(s), char_length(s), "
        "ceiling(n), ceil(n), pow(n, 2), power(n, 2), sign(n), signum(n), mod(n, 2), n % 2, "
        "nvl(s, 'x'), ifnull(s, 'x'), coalesce(s, 'x'), var_samp(n), any(n > 1), date_diff(d, d), "
        "CAST(n + 1 AS DECIMAL(15, 4)), try_cast(n + 1 AS DECIMAL(9)), "
        "max(nvl(substr(s, 1, 1), s)) "
        "FROM VALUES ('a', 1.5D, DATE '2026-01-01') t(s, n, d) GROUP BY s, n, d"
    )
    assert ", ".join(aliases.schema.names) == (
        "substr(s, 1, 2), substr(s, 2, 2147483647), substring(s, 2, 2147483647), ucase(s), len(s), "
        "char_length(s), ceiling(n), CEIL(n), pow(n, 2), POWER(n, 2), sign(n), SIGNUM(n), "
        "mod(n, 2), (n % 2), nvl(s, x), ifnull(s, x), coalesce(s, x), var_samp(n), any((n > 1)), "
        "date_diff(d, d), CAST((n + 1) AS DECIMAL(15,4)), TRY_CAST((n + 1) AS DECIMAL(9,0)), "
        "max(nvl(substr(s, 1, 1), s))"
    )
    constants = "2, 1.5, 1000.0, DATE '2024-01-02', CAST(1 AS BIGINT), split(s, -, -1), (s IS NULL)"
    given = "2L, 1.5D, 1e3, DATE '2024-01-02', CAST(1 AS BIGINT), split(s, '-'), isnull(s)"
    others = ", named_struct(a, s), struct(s, 1), get_json_object(s, $.a), (NOT s LIKE a), int"
    more = (
        ", named_struct('a', s), struct(s, 1), get_json_object(s, '$.a'), s NOT LIKE 'a', int(int)"
    )
    query = f"SELECT {given}{more} FROM VALUES ('a', 1) t(s, int)"  # noqa: S608 - ours
    found = pe.sql(query).schema.names
    assert ", ".join(found) == constants + others
    outer = pe.sql("SELECT * FROM (SELECT upper('a') UNION ALL SELECT 'b')")
    assert outer.schema.names == ["upper(a)"]
    assert pe.sql("SELECT explode_outer(array(1))").schema.names == ["col"]
    session = pe.sql("SELECT current_date, localtimestamp(), session_user(), current_time(3)")
    assert ", ".join(session.schema.names) == (
        "current_date(), localtimestamp(), session_user(), current_time(3)"
    )
    assert pe.sql("VALUES (1, 2) AS t(x, y)").schema.names == ["x", "y"]
    others = "any(b), max_by(1, 2, 3), extract(YEAR FROM d), ilike(d, x), CAST(1 AS DECIMAL(5,2))"
    given = others.replace("ilike(d, x)", "d ILIKE 'x'")
    rows = "FROM VALUES (true, '2024-01-02') t(b, d) GROUP BY d"
    assert ", ".join(pe.sql(f"SELECT {given} {rows}").schema.names) == others
    pivoted = pe.sql(
        "SELECT * FROM VALUES ('x', 1) t(k, n) PIVOT (sum(n + 1), count(*) FOR k IN ('x'))"
    )
    assert pivoted.schema.names == ["x_sum((n + 1))", "x_count(1)"]
    empty = pe.sql("SELECT *, '' FROM (SELECT DISTINCT '', '' AS s UNION SELECT '', 'x')")
    assert empty.schema.names == ["''", "s", "''_1"]  # in Spark '', s and ''


def test_members_of_an_array_of_structs_are_an_array() -> None:
    rows = pa.table({"a": [[{"n": "x"}, {"n": None}]]})
    found = pe.sql("SELECT a.n, t.a.n[0] AS first FROM t WHERE array_contains(a.n, 'x')", t=rows)
    assert found.to_arrow().to_pylist() == [{"n": ["x", None], "first": "x"}]


def test_texts_are_stored_as_a_cast_writes_them(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    catalog.sql("CREATE TABLE db.t (s STRING)")
    for value in ("1e20D", "CAST('NaN' AS FLOAT)", "TIMESTAMP '2024-01-02 03:04:05.5'"):
        catalog.sql(f"INSERT INTO db.t SELECT {value}")
    stored = catalog.sql("SELECT s FROM db.t").to_arrow().column("s").to_pylist()
    assert stored == ["1.0E20", "NaN", "2024-01-02 03:04:05.5"]


def test_long_and_nested_expressions_are_analysed_quickly() -> None:
    """Each level would otherwise multiply the text that DuckDB analyses."""
    expressions = {
        " || ',' || ".join(["s"] * 40): ",".join(["a"] * 40),
        " - ".join(["n"] * 40): -38,
        "trim(upper(" * 3 + "s" + "))" * 3: "A",
        "replace(" * 5 + "s" + ", 'x', 'y')" * 5: "a",
        "round(" * 5 + "d" + ", 1)" * 5: 1.3,
        "CAST(CAST(" * 5 + "n" + " AS STRING) AS INT)" * 5: 1,
        "substring(" * 5 + "s" + ", 1, 3)" * 5: "a",
        "round(CAST(" * 3 + "d" + " AS DECIMAL(20, 5)), 2)" * 3: Decimal("1.25"),
        "length(CAST(" * 5 + "n" + " AS STRING))" * 5: 1,
    }
    query = f"SELECT {', '.join(expressions)} FROM VALUES ('a', 1, 1.25D) t(s, n, d)"  # noqa: S608
    assert [*pe.sql(query).to_arrow().to_pylist()[0].values()] == list(expressions.values())
