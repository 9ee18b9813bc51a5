"""The magic for cells of SQL: on DuckDB in this process, or on Spark."""

from collections.abc import Callable, Mapping
from datetime import date

import pandas as pd
import pyarrow as pa
import pytest

import paimon_explore as pe
import paimon_explore.spark
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.spark.sql_statement import load_ipython_extension
from paimon_explore.sql_statements.sql_magic import DUCKDB, SqlMagic
from paimon_explore.table.sql_results.sql_result import SqlResult
from support.new_process import printed


class Notebook:
    """As much of IPython's shell as a magic needs."""

    def __init__(self, variables: Mapping[str, object]) -> None:
        self.user_ns = dict(variables)
        self.known: dict[str, str] = {}

    def register_magic_function(
        self, func: Callable[..., object], magic_kind: str, magic_name: str
    ) -> None:
        assert callable(func)
        self.known[magic_name] = magic_kind


@pytest.fixture
def notebook() -> Notebook:
    return Notebook({"catalog": pe.demo(), "_": pe.demo()})


@pytest.fixture
def magic(notebook: Notebook) -> SqlMagic:
    return SqlMagic(notebook, DUCKDB)


def rows(result: object) -> list[dict[str, object]]:
    assert isinstance(result, SqlResult)
    return result.to_arrow().to_pylist()


def test_load_ext_of_spark_makes_the_magic_known_for_lines_and_cells(notebook: Notebook) -> None:
    load_ipython_extension(notebook)
    assert notebook.known == {"paimon_sql": "line_cell"}
    assert "load_ipython_extension" in paimon_explore.spark.__all__


@pytest.mark.parametrize("line", ["--limit many", "--warehouse", "a b", "--colour", "1x"])
def test_wrong_arguments_are_answered_with_the_right_ones(line: str, magic: SqlMagic) -> None:
    with pytest.raises(InvalidInputError, match=r"%%paimon_sql \[name\] \[--warehouse W\]"):
        magic.run(line, "SELECT 1")


def test_a_cell_runs_on_the_catalog_of_the_notebook(notebook: Notebook, magic: SqlMagic) -> None:
    assert magic.run("", "USE demo") is None
    shown = magic.run("found --limit 2", "SELECT id FROM orders WHERE id > 402 ORDER BY id")
    assert rows(shown) == [{"id": 403}, {"id": 404}, {"id": 405}]
    assert notebook.user_ns["found"] is shown
    assert "403" in repr(shown)
    assert "405" not in repr(shown)
    made = magic.run("", "DELETE FROM orders WHERE id = 405; SELECT max(id) AS m FROM orders")
    assert rows(made) == [{"m": 404}]
    assert rows(magic.run("SELECT max(id) AS m FROM orders VERSION AS OF 1")) == [{"m": 5}]


def test_colons_of_types_and_casts_are_no_markers(notebook: Notebook, magic: SqlMagic) -> None:
    notebook.user_ns["date"] = date
    magic.run("CREATE TABLE demo.colons (s STRUCT<d:date>)")
    assert rows(magic.run("SELECT year('1969-12-31'::date) AS y")) == [{"y": 1969}]


def test_markers_take_the_values_of_variables(notebook: Notebook, magic: SqlMagic) -> None:
    notebook.user_ns |= {"least": 404, "city": "Oslo"}
    text = "SELECT id, ':city' AS c, 1::INT AS i FROM demo.orders WHERE id >= :least"
    assert [row["id"] for row in rows(magic.run(f"{text} ORDER BY id"))] == [404, 405]
    magic.run("", "UPDATE demo.orders SET city = :city WHERE id = 405; SELECT 1")
    assert rows(magic.run("SELECT city FROM demo.orders WHERE id = 405")) == [{"city": "Oslo"}]
    with pytest.raises(InvalidInputError, match="Parameter :other has no value"):
        magic.run("SELECT :other")


def test_names_that_are_no_tables_can_be_variables(notebook: Notebook, magic: SqlMagic) -> None:
    orders = pe.demo().table("demo.orders")
    notebook.user_ns |= {
        "mine": orders,
        "old": orders.at(1),
        "frame": pd.DataFrame({"id": [5, 6]}),
        "customers": pa.table({"id": [1]}),
        "amount": pd.DataFrame({"mixed": [1, "a"]}),
    }
    magic.run("", "USE demo")
    joined = "SELECT id, amount FROM old JOIN frame USING (id)"
    assert [row["id"] for row in rows(magic.run(joined))] == [5]
    assert rows(magic.run("SELECT count(*) > 1 AS a FROM customers")) == [{"a": True}]
    assert rows(magic.run("SELECT count(*) AS n FROM mine VERSION AS OF 2")) == [{"n": 12}]
    magic.run("", "DELETE FROM mine WHERE id IN (SELECT id FROM frame)")
    assert orders.count("id = 5") == 0
    magic.run("", "CREATE TEMPORARY VIEW v AS SELECT id FROM old WHERE id < 3")
    assert rows(magic.run("SELECT count(*) AS n FROM v")) == [{"n": 3}]
    with pytest.raises(NotFoundError, match="'nothing' does not exist"):
        magic.run("SELECT * FROM nothing")


def test_a_cell_names_its_warehouse(notebook: Notebook, magic: SqlMagic) -> None:
    notebook.user_ns["second"] = second = pe.demo()
    with pytest.raises(InvalidInputError, match="contain catalogs: 'catalog', 'second'"):
        magic.run("", "SHOW TABLES")
    count = "SELECT count(*) AS n FROM demo.orders"
    assert rows(magic.run("--warehouse second", count)) == [{"n": 30}]
    folder = f"--warehouse {second.warehouse}"
    magic.run(folder, "USE demo")
    assert rows(magic.run(folder, "SELECT count(*) AS n FROM orders")) == [{"n": 30}]


def test_a_cell_on_duckdb_loads_no_spark() -> None:
    program = """
import sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "paimon_explore")
print("duckdb" in sys.modules, end=" ")
shell.run_cell_magic("paimon_sql", "found", "SELECT 1 AS a")
print(shell.user_ns["found"].to_arrow().to_pylist(), "pyspark" in sys.modules)
"""
    assert printed(program).splitlines()[-1] == "False [{'a': 1}] False"
