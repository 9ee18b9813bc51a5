"""Persistent views of a catalog, and databases with properties."""

import pytest

import paimon_explore as pe
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from support.spark_sql import Rows
from support.view_tests import *  # noqa: F403 - the tests of all engines


@pytest.fixture
def run(stored: pe.Catalog) -> Rows:
    """The rows that a statement answers with."""
    stored.sql("USE db")

    def collected(text: str) -> list[tuple[object, ...]]:
        return [tuple(row.values()) for row in stored.sql(text).to_arrow().to_pylist()]

    return collected


def test_the_tables_of_a_view_are_those_of_its_creation(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW other.v (a) AS SELECT id FROM t")
    stored.sql("USE other")
    assert run("SELECT a FROM v ORDER BY a") == [(1,), (2,)]


def test_a_view_of_views_is_read_and_a_circle_is_told(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW a AS SELECT id FROM t")
    run("CREATE VIEW b AS SELECT id + 1 AS id FROM a")
    assert run("SELECT id FROM b ORDER BY id") == [(2,), (3,)]
    stored.drop_view("db.a")
    stored.create_view("db.a", "SELECT id FROM b", {"id": "INT"})
    with pytest.raises(InvalidInputError, match=r"reads itself: db\.b → db\.a → db\.b"):
        run("SELECT * FROM b")


def test_a_view_of_another_engine_is_read_in_its_default_dialect(
    run: Rows, stored: pe.Catalog
) -> None:
    stored.create_view("db.v", "SELECT id FROM t", {"n": "INT"}, dialects={"flink": "x"})
    assert run("SELECT n FROM v ORDER BY n") == [(1,), (2,)]
    stored.create_view("db.w", "SELECT id, city FROM t", {"n": "INT"})
    with pytest.raises(InvalidInputError, match="has 1 columns, but its query now has 2"):
        run("SELECT * FROM w")


def test_a_view_is_replaced_renamed_and_altered(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW v AS SELECT 1 AS x FROM t")
    with pytest.raises(AlreadyExistsError, match="'v'"):
        run("CREATE VIEW v AS SELECT 2 AS x FROM t")
    run("CREATE VIEW IF NOT EXISTS v AS SELECT 2 AS x FROM t")
    assert run("SELECT DISTINCT x FROM v") == [(1,)]
    run("CREATE OR REPLACE VIEW v AS SELECT 3 AS x FROM t")
    assert run("SELECT DISTINCT x FROM v") == [(3,)]
    run("ALTER VIEW v RENAME TO w")
    assert stored.views("db") == ["w"]
    run("ALTER VIEW db.w AS SELECT 'a' AS y FROM t")
    assert run("SELECT DISTINCT y FROM w") == [("a",)]
    run("CREATE VIEW db.plain AS SELECT 7 AS seven")
    assert run("SELECT seven FROM plain") == [(7,)]


def test_databases_have_comments_and_properties(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE DATABASE noted COMMENT 'for tests' WITH DBPROPERTIES ('x' = '1', y = 2)")
    info = stored.database("noted")
    assert (info.comment, info.properties) == ("for tests", {"x": "1", "y": "2"})
    assert ("Comment", "for tests") in run("DESCRIBE DATABASE noted")
    assert ("Properties", "((x,1), (y,2))") in run("DESCRIBE DATABASE EXTENDED noted")
    with pytest.raises(InvalidInputError, match="unknown clause"):
        run("CREATE DATABASE other2 MANAGED")
    with pytest.raises(InvalidInputError, match="DBPROPERTIES"):
        run("CREATE DATABASE other2 WITH x")
    with pytest.raises(UnsupportedFeatureError, match="properties or a comment"):
        pe.demo().sql("CREATE DATABASE noted COMMENT 'x'")


def test_a_view_is_described_and_created_again(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW `a b` (n, `c d`) COMMENT 'it''s' AS SELECT id, city FROM t")
    described = [("n", "int", None), ("c d", "string", None)]
    assert run("DESCRIBE `a b`") == run("DESCRIBE TABLE db.`a b`") == described
    assert run("DESCRIBE db.`a b` n")[1] == ("data_type", "int")
    assert run("DESCRIBE EXTENDED `a b`")[2:] == [
        ("", "", ""),
        ("# Detailed View Information", "", ""),
        ("Comment", "it's", ""),
        ("View Text", "SELECT id, city FROM `db`.t", ""),
    ]
    assert run("SHOW COLUMNS IN `a b`") == [("n",), ("c d",)]
    ((created,),) = run("SHOW CREATE TABLE `a b`")
    before = stored.view("db.a b")
    stored.drop_view("db.a b")
    run(str(created))
    assert stored.view("db.a b") == before


@pytest.mark.parametrize(
    "text", ["DROP TABLE v", "ALTER TABLE v ADD COLUMN x INT", "INSERT INTO v VALUES (1)"]
)
def test_a_view_is_no_table(run: Rows, stored: pe.Catalog, text: str) -> None:
    run("CREATE VIEW v AS SELECT id FROM t")
    with pytest.raises(NotFoundError, match=r"Table 'v' does not exist in db\. It is a view"):
        run(text)
    assert stored.views("db") == ["v"]


def test_a_new_name_without_a_database_stays_in_its_database(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW other.v AS SELECT id FROM t")
    run("CREATE TABLE other.u (a INT)")
    run("ALTER VIEW other.v RENAME TO w")
    run("ALTER TABLE other.u RENAME TO x")
    assert (stored.views("other"), list(stored.tables("other"))) == (["w"], ["x"])
    run("ALTER VIEW other.w RENAME TO db.w")
    run("ALTER TABLE other.x RENAME TO db.x")
    assert (stored.views("db"), list(stored.tables("db"))) == (["w"], ["t", "x"])


def test_comments_and_properties_of_databases_are_changed(run: Rows, stored: pe.Catalog) -> None:
    run("COMMENT ON DATABASE other IS 'it''s'")
    run("ALTER DATABASE other SET DBPROPERTIES ('a.b' = '1', 'it\\'s' = '2')")
    assert stored.database("other").comment == "it's"
    assert stored.database("other").properties == {"a.b": "1", "it's": "2"}
    run("ALTER SCHEMA other UNSET PROPERTIES ('it\\'s', nope)")
    run("COMMENT ON NAMESPACE other IS NULL")
    assert stored.database("other").comment is None
    assert stored.database("other").properties == {"a.b": "1"}
    with pytest.raises(NotFoundError, match="'nope'"):
        run("COMMENT ON DATABASE nope IS 'x'")


@pytest.mark.parametrize("change", ["CREATE OR REPLACE VIEW v{} AS", "ALTER VIEW v AS"])
@pytest.mark.parametrize(
    ("names", "query", "problem"),
    [
        ("(a, b)", "SELECT id FROM t", "has 2 columns"),
        ("", "SELECT INTERVAL 1 MONTH AS a", "INTERVAL"),
        ("", "SELECT * FROM v", "reads itself"),
        ("", "SELECT * FROM (SELECT id FROM w)", "reads itself"),
    ],
)
def test_a_view_stays_if_it_cannot_be_replaced(
    run: Rows, change: str, names: str, query: str, problem: str
) -> None:
    run("CREATE VIEW v AS SELECT id FROM t")
    run("CREATE VIEW w AS SELECT id FROM v")
    if "{}" in change or not names:
        with pytest.raises((InvalidInputError, UnsupportedFeatureError), match=problem):
            run(f"{change.format(names)} {query}")
    assert run("SELECT * FROM v ORDER BY id") == [(1,), (2,)]


def test_a_temporary_view_keeps_its_rows_when_a_view_that_it_reads_is_replaced(run: Rows) -> None:
    run("CREATE TEMPORARY VIEW a AS SELECT 1 AS x")
    run("CREATE TEMPORARY VIEW b AS SELECT x FROM a")
    run("CREATE OR REPLACE TEMPORARY VIEW a AS SELECT 2 AS x")
    assert run("SELECT a.x, b.x AS y FROM a, b") == [(2, 1)]
    assert run("SELECT b.x, a.x AS y FROM b, A AS a") == [(1, 2)]
    run("DROP VIEW a")
    assert run("SELECT x FROM b") == [(1,)]
