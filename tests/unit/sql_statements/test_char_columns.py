"""CHAR(n) columns: stored and returned with spaces, as by Paimon's Spark connector 2.0.0."""

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from support.spark_sql import Rows, Run


@pytest.fixture
def table(catalog: pe.Catalog, run: Run) -> pe.Table:
    """A table with rows that SQL stored with spaces, and Python without."""
    run("CREATE TABLE t (id INT, c CHAR(4), v VARCHAR(2), s STRUCT<x: CHAR(2)>, p CHAR(3))")
    run("INSERT INTO t VALUES (1, 'ab', 'v ', named_struct('x', 'y'), 'p'), (2, 'b', '', NULL, '')")
    made = catalog.table("demo.t")
    made.append([{"id": 3, "c": "ab", "v": "v", "s": None, "p": "p"}])
    return made


def test_sql_stores_the_spaces_and_drops_those_that_do_not_fit(table: pe.Table, run: Run) -> None:
    run("INSERT INTO t (id, c, v) VALUES (4, 'abcd  ', 'vw  ')")
    stored = table.to_arrow().sort_by("id").select(["c", "v"]).to_pylist()
    assert [tuple(row.values()) for row in stored] == [
        *(("ab  ", "v "), ("b   ", ""), ("ab", "v"), ("abcd", "vw"))
    ]
    assert table.scan(where="id = 1").to_arrow().column("s").to_pylist() == [{"x": "y "}]
    for values in ("'abcde', ''", "'', 'vwx'"):
        with pytest.raises(InvalidInputError, match="characters"):
            run(f"INSERT INTO t (c, v) VALUES ({values})")  # noqa: S608 - constants


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("condition", "ids"),
    [
        *(("c = 'ab'", [1, 3]), ("'ab     ' = c", [1, 3]), ("c <> 'ab'", [2])),
        *(("c IN ('ab', 'x')", [1, 3]), ("c > 'ab'", [2]), ("c >= 'ab' AND p = 'p'", [1, 3])),
        *(("c LIKE 'ab  '", [1, 3]), ("c LIKE 'ab'", []), ("c BETWEEN 'ab' AND 'ab'", [])),
        *(("length(c) = 4", [1, 2, 3]), ("d = 'ab'", [1, 3]), ("p = ''", [2])),
    ],
)
def test_comparisons_ignore_spaces(rows: Rows, condition: str, ids: list[int]) -> None:
    tables = ["(SELECT *, c AS d FROM t)"] + ["t"] * ("d =" not in condition)
    for table in tables:
        found = rows(f"SELECT id FROM {table} WHERE {condition} ORDER BY id")  # noqa: S608 - constants
        assert found == [(one,) for one in ids]


def test_values_of_all_writers_are_equal(table: pe.Table, run: Run, rows: Rows) -> None:
    assert rows("SELECT c, count(*) FROM t GROUP BY c ORDER BY c") == [("ab  ", 2), ("b   ", 1)]
    run("UPDATE t SET c = 'z' WHERE c = 'ab' AND id > 1")
    run("DELETE FROM t WHERE c = 'b '")
    stored = table.to_arrow().sort_by("id").select(["id", "c"]).to_pylist()
    assert [tuple(row.values()) for row in stored] == [(1, "ab  "), (3, "z   ")]
    run("INSERT INTO t (id, c) VALUES (5, 'abc')")
    run("DELETE FROM t WHERE c LIKE 'ab %'")
    assert rows("SELECT id FROM t ORDER BY id") == [(3,), (5,)]
