"""Counts and bounds from metadata: the rows of DuckDB, or no answer."""

from contextlib import closing

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.duckdb.metadata_answers import metadata_answer
from paimon_explore.table.table_base import store_of
from support.small_tables import append_table, columns, keyed_table

SCHEMA = columns(id=pa.int64(), day=pa.date32(), s=pa.string(), d=pa.float64())
ALL = "SELECT count(*) a, count(id) b, min(id) c, max(ID) d, min(day) e FROM t"


def rows(first: int) -> list[dict[str, object]]:
    return [
        {"id": None if n % 3 == 0 else n, "day": None, "s": f"s{n}", "d": float("nan")}
        for n in range(first, first + 5)
    ]


def answer(table: Table, query: str) -> list[dict[str, object]] | None:
    found = metadata_answer(parsed(query), {"t": table.scan()})
    return None if found is None else found.to_pylist()


def parsed(query: str) -> exp.Query:
    """The query with an alias for each column, as SQL without Spark gives them."""
    tree = sqlglot.parse_one(query, dialect="duckdb")
    assert isinstance(tree, exp.Query)
    for at, item in enumerate(tree.selects):
        if not item.alias:
            item.replace(exp.alias_(item.copy(), f"c{at}"))
    return tree


@pytest.mark.parametrize("commits", [0, 1, 3])
def test_counts_and_bounds_of_an_append_table_are_those_of_its_rows(commits: int) -> None:
    table = append_table(SCHEMA, *(rows(10 * number) for number in range(commits)))
    with closing(table.scan().to_duckdb()) as connection:
        assert answer(table, ALL) == connection.sql(ALL).to_arrow_table().to_pylist()


def test_deleted_rows_count_but_leave_no_bounds() -> None:
    options = {"deletion-vectors.enabled": "true"}
    table = append_table(SCHEMA, rows(0), rows(10), options=options)
    table.delete("id = 14")
    assert answer(table, "SELECT count(*) AS n FROM t") == [{"n": 9}]
    assert answer(table, "SELECT max(id) FROM t") is None
    assert answer(table, "SELECT count(id) FROM t") is None


def test_overlapping_runs_of_a_primary_key_are_read() -> None:
    one = [{"id": 1, "v": 5}, {"id": 3, "v": 7}]
    schema = columns(id=pa.int64(), v=pa.int64())
    single = keyed_table(schema, one, primary_key=["id"])
    merged = keyed_table(schema, one, [{"id": 1, "v": 0}, {"id": 4, "v": 1}], primary_key=["id"])
    query = "SELECT count(*) n, max(v) v FROM t"
    assert answer(single, query) in (None, [{"n": 2, "v": 7}])
    assert answer(merged, query) is None


OTHERS = [
    "SELECT max(s) FROM t",
    "SELECT min(d) FROM t",
    "SELECT count(DISTINCT id) FROM t",
    "SELECT count(*) FROM t WHERE id > 1",
    "SELECT count(*) FROM t GROUP BY day",
    "SELECT count(*) FROM t LIMIT 0",
    "SELECT count(*) FROM t, t AS u",
    "SELECT count(*) FROM u",
    "SELECT count(*) + 1 FROM t",
    "SELECT max(id + 1) FROM t",
    "SELECT max(nothing) FROM t",
    "SELECT count(*) FILTER (id > 1) FROM t",
    "SELECT count(*) OVER () FROM t",
    "SELECT id FROM t",
    "SELECT DISTINCT count(*) FROM t",
    "SELECT count(*) FROM t HAVING count(*) > 100",
    "SELECT count(*) FROM t TABLESAMPLE 10 PERCENT",
    "WITH t AS (SELECT 1 AS id) SELECT count(*) FROM t",
]


@pytest.mark.parametrize("query", OTHERS)
def test_any_other_query_has_no_answer(query: str) -> None:
    assert answer(append_table(SCHEMA, rows(0)), query) is None


def test_a_limit_and_a_filter_of_the_scan_are_respected() -> None:
    table = append_table(SCHEMA, rows(0), rows(10))
    tree = parsed("SELECT count(*) FROM t")
    assert metadata_answer(tree, {"t": table.scan(limit=3)}) is None
    assert metadata_answer(tree, {"t": table.scan(where="id = 1")}) is None


PARTITIONED = columns(p=pa.string(), q=pa.int32(), id=pa.int64())
OF_PARTITIONS = [
    "SELECT p, count(*) AS n, count(1) + 1 AS m FROM t GROUP BY p ORDER BY p",
    "SELECT p, q, max(q) / count(*) AS n FROM t x WHERE x.q > 0 GROUP BY ALL ORDER BY 1, 2",
    "SELECT DISTINCT p FROM t ORDER BY p LIMIT 2",
    "SELECT upper(p) AS u, min(q) AS q FROM t GROUP BY 1 HAVING count(*) > 2 ORDER BY count(*)",
    "SELECT count(*) AS n, max(p) AS p, count(*) > 3 AS b FROM t WHERE p = 'a' AND q IS NULL",
    "SELECT count(*) AS n, max(p) AS p FROM t WHERE p = 'nothing'",
]
OF_ROWS = [
    "SELECT p FROM t ORDER BY p",
    "SELECT p, count(q) AS n, sum(q) AS s, count(DISTINCT q) AS d FROM t GROUP BY p ORDER BY p",
    "SELECT p, count(*) FILTER (WHERE q > 0) AS n FROM t GROUP BY p ORDER BY p",
    "SELECT p, count(*) AS n FROM t WHERE id > 3 GROUP BY p ORDER BY p",
    "SELECT p, count(*) OVER (PARTITION BY p) AS n FROM t ORDER BY p",
    "SELECT p AS id, count(*) AS n FROM t GROUP BY p, id ORDER BY p, n",
]


def partitioned_table() -> Table:
    found = append_table(
        PARTITIONED,
        *(
            [{"p": p, "q": q, "id": n} for n in range(4) for p, q in [("a", n % 3), (None, 1)]]
            + [{"p": "a", "q": None, "id": 9}, {"p": "b", "q": 2, "id": 7}]
            for _ in range(2)
        ),
        partition_by=["p", "q"],
        options={"deletion-vectors.enabled": "true"},
    )
    found.delete("id = 2")
    found.delete("p = 'b'")
    return found


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
@pytest.mark.parametrize("query", [*OF_PARTITIONS, *OF_ROWS])
def test_queries_of_partition_columns_have_the_result_of_their_rows(
    query: str, dialect: str
) -> None:
    table = partitioned_table()
    found = pe.sql(query, t=table, dialect=dialect).to_arrow()
    assert found.equals(pe.sql(query, t=table.to_arrow(), dialect=dialect).to_arrow())


@pytest.mark.parametrize("query", OF_PARTITIONS)
def test_queries_of_partition_columns_read_no_rows(query: str) -> None:
    table = partitioned_table()
    expected = pe.sql(query, t=table).to_arrow()
    for part in table.scan().parts():
        for path in part.paths:
            store_of(table).file_io.delete(path)
    assert pe.sql(query, t=table).to_arrow().equals(expected)


@pytest.mark.parametrize("query", ["SELECT count(*), max(id) FROM t", "SELECT count(1) FROM t"])
def test_columns_without_an_alias_have_the_names_that_duckdb_gives(query: str) -> None:
    table = append_table(SCHEMA, rows(0))
    found, rows_of = (
        pe.sql(query, t=t, dialect="duckdb").to_arrow() for t in (table, table.to_arrow())
    )
    assert found.equals(rows_of)


@pytest.mark.parametrize("name", ["idd", "pp"])
def test_an_unknown_column_beside_those_of_partitions_is_answered_with_all_names(name: str) -> None:
    query = f"SELECT {name}, count(*) AS n FROM t GROUP BY {name}"  # noqa: S608 - of this test
    with pytest.raises(InvalidInputError, match="Columns: 'id', 'p', 'q'"):
        pe.sql(query, t=partitioned_table())
