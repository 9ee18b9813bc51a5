"""CHAR(n) columns: stored and returned with spaces, as by Paimon's Spark connector 2.0.0.

The same on each engine; the modules that import these tests give the fixtures `run`, `rows` and
`catalog`.
"""

import pytest

import paimon_explore as pe
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
        with pytest.raises(Exception, match="characters"):
            run(f"INSERT INTO t (c, v) VALUES ({values})")  # noqa: S608 - constants


CONDITIONS = dict(
    [
        *(("c = 'ab'", [1, 3]), ("'ab     ' = c", [1, 3]), ("c <> 'ab'", [2])),
        *(("c IN ('ab', 'x')", [1, 3]), ("c > 'ab'", [2]), ("c >= 'ab' AND p = 'p'", [1, 3])),
        *(("c LIKE 'ab  '", [1, 3]), ("c LIKE 'ab'", []), ("c BETWEEN 'ab' AND 'ab'", [])),
        *(("length(c) = 4", [1, 2, 3]), ("d = 'ab'", [1, 3]), ("p = ''", [2])),
    ]
)
"""The ids of the rows of which each is true."""


@pytest.mark.usefixtures("table")
def test_comparisons_ignore_spaces(rows: Rows) -> None:
    for table in ("(SELECT *, c AS d FROM t)", "t"):
        expected = {
            text: ids for text, ids in CONDITIONS.items() if table != "t" or "d =" not in text
        }
        found = {
            text: [one for (one,) in rows(f"SELECT id FROM {table} WHERE {text} ORDER BY id")]  # noqa: S608 - constants
            for text in expected
        }
        assert found == expected


def test_values_of_all_writers_are_equal(table: pe.Table, run: Run, rows: Rows) -> None:
    assert rows("SELECT c, count(*) FROM t GROUP BY c ORDER BY c") == [("ab  ", 2), ("b   ", 1)]
    run("UPDATE t SET c = 'z' WHERE c = 'ab' AND id > 1")
    run("DELETE FROM t WHERE c = 'b '")
    stored = table.to_arrow().sort_by("id").select(["id", "c"]).to_pylist()
    assert [tuple(row.values()) for row in stored] == [(1, "ab  "), (3, "z   ")]
    run("INSERT INTO t (id, c) VALUES (5, 'abc')")
    run("DELETE FROM t WHERE c LIKE 'ab %'")
    assert rows("SELECT id FROM t ORDER BY id") == [(3,), (5,)]


@pytest.mark.parametrize(
    "options",
    [
        *("'primary-key' = 'c', 'bucket' = '2'", "'primary-key' = 'id', 'bucket' = '1'"),
        *("'row-tracking.enabled' = 'true'", "'deletion-vectors.enabled' = 'true'"),
    ],
)
def test_rows_are_changed_whoever_wrote_their_spaces(
    catalog: pe.Catalog, run: Run, rows: Rows, options: str
) -> None:
    run(f"CREATE TABLE t (id INT, c CHAR(4), v INT) TBLPROPERTIES ({options})")
    run("INSERT INTO t VALUES (1, 'ab', 1), (2, 'x', 2), (5, 'gone', 5)")
    new = [{"id": 3, "c": "cd", "v": 3}, {"id": 4, "c": "y", "v": 4}]
    table = catalog.table("demo.t")
    (table.upsert if table.schema.primary_keys else table.append)(new)
    run("UPDATE t SET v = t.v * 10 WHERE t.c = 'ab' OR c = 'cd'")
    run("DELETE FROM t AS gone WHERE gone.c IN ('x', 'y')")
    run(
        "MERGE INTO t USING (SELECT 3 AS id, 'cd' AS c, 7 AS v) AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET v = t.v + s.v WHEN NOT MATCHED BY SOURCE AND c = 'gone' "
        "THEN DELETE"
    )
    assert rows("SELECT id, c, v FROM t ORDER BY id") == [(1, "ab  ", 10), (3, "cd  ", 37)]
    assert table.count() == 2
