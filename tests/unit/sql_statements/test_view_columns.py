"""`catalog.create_view` without a schema: the columns are those of the query."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from support.new_process import printed

COLUMNS = {
    "id": "BIGINT NOT NULL",
    "price": "DECIMAL(10, 2)",
    "tags": "ARRAY<STRING>",
    "at": "TIMESTAMP(6)",
}


@pytest.fixture
def catalog(tmp_path: Path) -> pe.Catalog:
    made = pe.Catalog(
        str(tmp_path / "wh"), metastore="jdbc", uri=f"jdbc:sqlite:{tmp_path / 'catalog.db'}"
    )
    made.create_database("db")
    made.create_database("other")
    made.create_table("db.t", COLUMNS)
    return made


def columns_of(catalog: pe.Catalog, view: str) -> list[str]:
    return [f"{field.name} {field.type}" for field in catalog.view(view).fields]


def test_a_view_has_the_columns_of_its_query(catalog: pe.Catalog) -> None:
    query = "SELECT id, price AS cost, upper(tags[0]) AS first, tags, at, 1 AS one FROM t"
    catalog.create_view("db.v", query)
    catalog.sql(f"USE db; CREATE VIEW w AS {query}")
    assert columns_of(catalog, "db.v") == columns_of(catalog, "db.w")
    assert [field.name for field in catalog.view("db.v").fields] == [
        *("id", "cost", "first", "tags", "at", "one")
    ]
    assert catalog.view("db.v").query == query
    catalog.table("db.t").append([{"id": 1, "price": 2, "tags": ["a", "b"]}])
    found = catalog.sql("SELECT id, cost, first FROM db.v WHERE first = 'A'").to_arrow()
    assert found["id"].to_pylist() == [1]


def test_tables_of_the_query_are_those_of_the_database_of_the_view(catalog: pe.Catalog) -> None:
    catalog.create_view("other.v", "SELECT id FROM db.t")
    with pytest.raises(NotFoundError, match="t"):
        catalog.create_view("other.w", "SELECT id FROM t")
    catalog.create_view("db.v", "SELECT id FROM t")
    catalog.create_view("db.w", "SELECT id + 1 AS next FROM db.v")
    assert [field.name for field in catalog.view("db.w").fields] == ["next"]


@pytest.mark.parametrize(
    ("query", "error", "rule"),
    [
        ("SELECT nothing FROM t", InvalidInputError, "nothing"),
        ("SELEC id FROM t", (InvalidInputError, UnsupportedFeatureError), "SELEC"),
        ("DROP TABLE t", UnsupportedFeatureError, "DROP"),
        ("SELECT INTERVAL 1 DAY AS i", UnsupportedFeatureError, "'i' of type INTERVAL"),
    ],
)
def test_a_query_that_cannot_be_analysed_makes_no_view(
    catalog: pe.Catalog, query: str, error: type[Exception], rule: str
) -> None:
    with pytest.raises(error, match=rule):
        catalog.create_view("db.v", query)
    assert catalog.views("db") == []
    assert catalog.tables("db") == ["t"]


def test_an_existing_view_is_kept(catalog: pe.Catalog) -> None:
    catalog.create_view("db.v", "SELECT id FROM t")
    with pytest.raises(AlreadyExistsError):
        catalog.create_view("db.v", "SELECT price FROM t")
    catalog.create_view("db.v", "SELECT price FROM t", if_not_exists=True)
    assert catalog.view("db.v").query == "SELECT id FROM t"


def test_the_schema_is_needed_without_the_packages_of_sql() -> None:
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "import paimon_explore as pe\n"
        "try:\n"
        "    pe.demo().create_view('demo.v', 'SELECT id FROM orders')\n"
        "except pe.errors.InvalidInputError as error:\n"
        "    print(error)"
    )
    told = printed(code)
    assert "view demo.v cannot be found without the package duckdb" in told
    assert "Pass the schema, or run: pip install 'paimon-explore[sql]'" in told


def test_the_dialect_of_spark_is_read_and_those_of_others_are_kept(catalog: pe.Catalog) -> None:
    dialects = {"flink": "SELECT 2 AS x", "spark": "SELECT 3 AS x"}
    catalog.create_view(
        "db.v", "SELECT 1 AS x", {"x": "INT"}, dialects=dialects, options={"a": "b"}, comment="c"
    )
    assert catalog.sql("SELECT x FROM db.v").to_arrow()["x"].to_pylist() == [3]
    catalog.sql("CALL sys.alter_view_dialect('db.v', 'update', 'flink', 'SELECT 4 AS x')")
    catalog.sql("ALTER VIEW db.v AS SELECT 5 AS x")
    view = catalog.view("db.v")
    assert (view.query, view.comment, view.options) == ("SELECT 5 AS x", "c", {"a": "b"})
    assert view.dialects == {"flink": "SELECT 4 AS x", "spark": "SELECT 5 AS x"}
    catalog.sql("CALL sys.alter_view_dialect('db.v', 'drop', 'spark')")
    assert catalog.sql("SELECT x FROM db.v").to_arrow()["x"].to_pylist() == [5]
    catalog.sql("CREATE OR REPLACE VIEW db.v AS SELECT 6 AS x")
    assert catalog.view("db.v").dialects == {"spark": "SELECT 6 AS x"}
