"""A query over time: what differs between two snapshots, its history, the first change."""

import random
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.table.sql_results.sql_result import SqlResult
from support.depth import some

SUMS = "SELECT city, sum(amount) AS total, count(*) AS n FROM t GROUP BY city"


@pytest.fixture
def catalog(tmp_path: Path) -> pe.Catalog:
    made = pe.Catalog(tmp_path / "warehouse")
    made.sql("CREATE DATABASE db")
    return made


@pytest.fixture
def sales(catalog: pe.Catalog) -> pe.Table:
    """Three commits: two cities; an update and a new city; a deletion."""
    catalog.sql(
        "CREATE TABLE db.sales (id BIGINT, city STRING, amount INT) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    catalog.sql("INSERT INTO db.sales VALUES (1, 'Oslo', 10), (2, 'Rome', 20)")
    catalog.sql("INSERT INTO db.sales VALUES (2, 'Rome', 25), (3, 'Bonn', 5)")
    catalog.sql("DELETE FROM db.sales WHERE id = 1")
    return catalog.table("db.sales")


def _rows(result: SqlResult) -> list[list[object]]:
    return [list(row.values()) for row in result.to_arrow().to_pylist()]


def test_a_grouped_query_differs_by_its_groups(sales: pe.Table) -> None:
    found = pe.sql(SUMS, t=sales).diff(1, 3)
    assert found.schema.names == ["change", "city", "total_before", "total", "n_before", "n"]
    assert _rows(found) == [
        ["added", "Bonn", None, 5, None, 1],
        ["removed", "Oslo", 10, None, 1, None],
        ["changed", "Rome", 20, 25, 1, 1],
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id FROM t", [["added", 1], ["added", 2]]),
        ("SELECT count(*) AS n FROM t", [["changed", 0, 2]]),
        ("SELECT sum(amount) AS s, max(id) AS m FROM t", [["changed", None, 30, None, 2]]),
        (
            "SELECT city, count(*) AS n FROM t WHERE id > 1 GROUP BY city",
            [["added", "Rome", None, 1]],
        ),
        ("SELECT a.id FROM t AS a JOIN t AS b ON a.id < b.id", [["added", 1]]),
    ],
)
def test_before_the_first_snapshot_there_are_no_rows(
    sales: pe.Table, query: str, expected: list[list[object]]
) -> None:
    assert _rows(pe.sql(query, t=sales).diff(0, 1)) == expected
    assert _rows(pe.sql(query, t=sales).diff(0, 0)) == []
    with pytest.raises(NotFoundError, match="Snapshot 0"):
        sales.at(0)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT id, amount FROM t",
            [["removed", 1, 10, None], ["changed", 2, 20, 25], ["added", 3, None, 5]],
        ),
        ("SELECT sum(amount) AS s FROM t", []),
        ("SELECT sum(amount) AS s FROM t WHERE id > 1", [["changed", 20, 30]]),
        ("SELECT count(*) AS s FROM t WHERE id < 0", []),
        ("SELECT city FROM t", [["added", "Bonn"], ["removed", "Oslo"]]),
        ("SELECT DISTINCT amount FROM t WHERE id = 2", [["removed", 20], ["added", 25]]),
        ("SELECT amount, city FROM t WHERE id = 3", [["added", 5, "Bonn"]]),
    ],
)
def test_rows_are_identified_by_key_or_compared_as_a_whole(
    sales: pe.Table, query: str, expected: list[list[object]]
) -> None:
    assert _rows(pe.sql(query, t=sales).diff(1, 3)) == expected


def test_duplicates_of_whole_rows_are_counted(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.a (x INT)")
    catalog.sql("INSERT INTO db.a VALUES (1), (1), (NULL)")
    catalog.sql("INSERT INTO db.a VALUES (1), (NULL)")
    found = catalog.sql("SELECT x FROM db.a").diff(1, 2)
    assert _rows(found) == [["added", 1], ["added", None]]


def test_a_given_key_must_identify_rows(sales: pe.Table) -> None:
    result = pe.sql("SELECT city, amount FROM t", t=sales)
    assert _rows(result.diff(2, 3, key=["city"])) == [["removed", "Oslo", 10, None]]
    with pytest.raises(InvalidInputError, match=r"no column 'id'.*amount"):
        result.diff(1, 2, key="id")
    with pytest.raises(InvalidInputError, match="Several rows of the result have the same key x"):
        pe.sql("SELECT 1 AS x, id FROM t", t=sales).diff(1, 2, key=["x"])


def test_columns_that_one_state_lacks_are_null(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.a (x INT) TBLPROPERTIES ('primary-key' = 'x', 'bucket' = '1')")
    catalog.sql("INSERT INTO db.a VALUES (1)")
    catalog.sql("ALTER TABLE db.a ADD COLUMN y STRING")
    catalog.sql("INSERT INTO db.a VALUES (1, 'b'), (2, 'c')")
    assert catalog.sql("SELECT * FROM db.a").diff(1, 2).to_arrow().to_pylist() == [
        {"change": "changed", "x": 1, "y_before": None, "y": "b"},
        {"change": "added", "x": 2, "y_before": None, "y": "c"},
    ]


def test_points_are_ids_tags_and_times(sales: pe.Table, catalog: pe.Catalog) -> None:
    sales.create_tag("start", snapshot=1)
    result = catalog.sql("SELECT count(*) AS n FROM db.sales")
    expected = [["changed", 2, 3]]
    assert _rows(result.diff("start", 2)) == expected
    assert result.diff(2, "2100-01-01").to_arrow().num_rows == 1
    with pytest.raises(NotFoundError):
        result.diff(1, "no-such-tag")


@pytest.mark.usefixtures("sales")
def test_several_tables_have_times_and_tags_only(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.cities (city STRING, land STRING)")
    catalog.sql("INSERT INTO db.cities VALUES ('Oslo', 'no'), ('Rome', 'it')")
    for name in ("db.sales", "db.cities"):
        catalog.table(name).create_tag("now")
    catalog.sql("INSERT INTO db.cities VALUES ('Bonn', 'de')")
    query = "SELECT land, sum(amount) AS s FROM db.sales JOIN db.cities USING (city) "
    query += "GROUP BY land ORDER BY land DESC"
    result = catalog.sql(query)
    assert _rows(result.diff("now", "2100-01-01")) == [["added", "de", None, 5]]
    with pytest.raises(InvalidInputError, match=r"reads the tables.*Pass a time"):
        result.diff(1, 2)
    history = result.history()
    assert "several tables" in history.note
    assert [row["s"] for row in history.to_arrow().to_pylist()] == [25, 25, 5]
    with pytest.raises(InvalidInputError, match="query of one table"):
        result.first_change("s > 3")


def test_a_fixed_version_stays_where_it_is(catalog: pe.Catalog, sales: pe.Table) -> None:
    text = "SELECT count(*) AS n FROM db.sales VERSION AS OF 1"
    with pytest.raises(InvalidInputError, match="a table at its latest snapshot"):
        catalog.sql(text).history()
    both = (
        "SELECT (SELECT count(*) FROM db.sales VERSION AS OF 1) AS a, count(*) AS b FROM db.sales"
    )
    rows = catalog.sql(both).history().to_arrow().select(["a", "b"]).to_pylist()
    assert rows == [{"a": 2, "b": 2}, {"a": 2, "b": 3}, {"a": 2, "b": 2}]
    assert pe.sql("SELECT count(*) AS n FROM t", t=sales.at(2)).to_arrow()["n"].to_pylist() == [3]


def test_other_statements_have_no_other_time(catalog: pe.Catalog) -> None:
    result = catalog.sql("SHOW TABLES IN db")
    for act in (result.history, lambda: result.diff(1, 2), lambda: result.first_change("1 = 1")):
        with pytest.raises(UnsupportedFeatureError, match="at other points in time"):
            act()


def test_history_names_the_commit_of_each_result(sales: pe.Table) -> None:
    found = pe.sql("SELECT sum(amount) AS s, max(id) AS m FROM t", t=sales).history()
    assert found.note == ""
    rows = found.to_arrow().to_pylist()
    commits = list(sales.snapshots)
    assert [row["snapshot_id"] for row in rows] == [1, 2, 3]
    assert [row["commit_user"] for row in rows] == [one.commit_user for one in commits]
    assert [row["commit_time"].timestamp() * 1000 for row in rows] == [
        pytest.approx(one.time_millis) for one in commits
    ]
    assert [(row["s"], row["m"]) for row in rows] == [(30, 2), (40, 3), (30, 3)]
    assert [
        row["s"]
        for row in pe.sql("SELECT sum(amount) AS s FROM t", t=sales)
        .history(2)
        .to_arrow()
        .to_pylist()
    ] == [40, 30]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT avg(amount) AS a FROM t", "other aggregates"),
        ("SELECT count(DISTINCT city) AS a FROM t", "other aggregates"),
        ("SELECT amount FROM t", "does not aggregate"),
        ("SELECT sum(amount) AS a FROM t LIMIT 1", "other clauses"),
        ("SELECT sum(amount) AS a FROM (SELECT amount FROM t) AS q", "subqueries"),
        ("SELECT sum(record_count) AS a FROM t$files", "more than the rows"),
        ("SELECT sum(id) AS a FROM t WHERE id = (SELECT max(id) FROM t)", "subqueries"),
    ],
)
def test_history_says_why_each_snapshot_was_read(sales: pe.Table, query: str, why: str) -> None:
    found = pe.sql(query, t=sales).history()
    assert why in found.note
    assert why in repr(found)
    for number in (1, 2, 3):
        expected = pe.sql(query, t=sales.at(number)).to_arrow()
        ids = found.to_arrow()["snapshot_id"].to_pylist()
        rows = found.to_arrow().select(expected.column_names).to_pylist()
        own = [row for one, row in zip(ids, rows, strict=True) if one == number]
        assert sorted(map(str, own)) == sorted(map(str, expected.to_pylist()))


def test_history_begins_where_the_columns_exist(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.a (x INT)")
    catalog.sql("INSERT INTO db.a VALUES (1)")
    catalog.sql("ALTER TABLE db.a ADD COLUMN y INT")
    catalog.sql("INSERT INTO db.a VALUES (2, 3)")
    found = catalog.sql("SELECT sum(y) AS s FROM db.a").history()
    assert [row["s"] for row in found.to_arrow().to_pylist()] == [3]
    assert "cannot run at snapshot 1" in found.note
    assert catalog.sql("SELECT sum(x) AS s FROM db.a").history().note == ""


def test_history_of_an_empty_table(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.a (x INT)")
    found = catalog.sql("SELECT count(*) AS n FROM db.a").history()
    assert found.to_arrow().num_rows == 0
    assert found.schema.names[-1] == "n"


QUERIES = (
    "SELECT sum(v) AS s, min(v), max(v), count(v), count(*) FROM t",
    "SELECT p, sum(v), max(v), count(*) * 2 FROM t WHERE v > 2 GROUP BY p HAVING count(*) > 1",
    "SELECT v % 3 AS m, min(k) FROM t GROUP BY 1 ORDER BY m",
    "SELECT p, sum(d), min(w) FROM t GROUP BY p",
)
KINDS = {
    "append": "",
    "append of partitions": "PARTITIONED BY (p)",
    "vectors": "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
    "key": "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '2')",
    "key and vectors": "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '1', "
    "'deletion-vectors.enabled' = 'true')",
    "sums": "TBLPROPERTIES ('primary-key' = 'k', 'bucket' = '1', 'merge-engine' = 'aggregation', "
    "'fields.v.aggregate-function' = 'sum')",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", some(range(3), 3))
def test_history_is_the_result_at_each_snapshot_after_any_acts(
    catalog: pe.Catalog, kind: str, seed: int
) -> None:
    catalog.sql(
        f"CREATE TABLE db.t (k INT, p INT, v BIGINT, d DECIMAL(10, 2), w STRING) {KINDS[kind]}"
    )
    table, dice = catalog.table("db.t"), random.Random(seed)  # noqa: S311 - of a test
    for _ in range(8):
        _act(catalog, table, kind, dice)
    ids = [one.id for one in table.snapshots]
    for query in QUERIES:
        history = pe.sql(query, t=table).history(len(ids))
        assert history.note == ""
        found = history.to_arrow()
        rows = found.drop_columns(["commit_time", "commit_kind", "commit_user"]).to_pylist()
        expected = [
            {"snapshot_id": number, **row}
            for number in ids
            for row in pe.sql(query, t=table.at(number)).to_arrow().to_pylist()
        ]
        assert sorted(map(repr, rows)) == sorted(map(repr, expected)), query


def _act(catalog: pe.Catalog, table: pe.Table, kind: str, dice: random.Random) -> None:
    """Write, delete, overwrite or compact."""
    values = [
        f"({dice.randrange(20)}, {dice.randrange(3)}, {dice.choice(['NULL', 1, 5, 9])}, "
        f"{dice.randrange(9)}.5, {dice.choice(['NULL', repr('a'), repr('b')])})"
        for _ in range(dice.randrange(1, 9))
    ]
    rows = f"VALUES {', '.join(values)}"
    act = dice.randrange(6)
    if act == 3 and kind != "sums":
        catalog.sql(f"DELETE FROM db.t WHERE k < {dice.randrange(20)}")  # noqa: S608 - of the test
    elif act == 4:
        table.compact()
    elif act == 5 and "partitions" in kind:
        source = f"SELECT k, v, d, w FROM ({rows}) AS q(k, p, v, d, w)"  # noqa: S608 - of the test
        catalog.sql(f"INSERT OVERWRITE db.t PARTITION (p = 1) {source}")
    else:
        catalog.sql(f"INSERT INTO db.t {rows}")


def test_files_that_a_commit_replaces_by_their_own_name_stay(catalog: pe.Catalog) -> None:
    """An index added to a file is a deletion and an addition of the same file."""
    catalog.sql("CREATE TABLE db.a (x INT)")
    catalog.sql("INSERT INTO db.a VALUES (1), (2)")
    table = catalog.table("db.a")
    catalog.sql("ALTER TABLE db.a SET TBLPROPERTIES ('file-index.bloom-filter.columns' = 'x')")
    catalog.table("db.a").maintenance.rewrite_file_index()
    catalog.sql("INSERT INTO db.a VALUES (3)")
    assert len(list(table.snapshots)) == 3
    found = catalog.sql("SELECT sum(x) AS s FROM db.a").history().to_arrow()
    assert found["s"].to_pylist() == [3, 3, 6]


def test_the_first_change_of_a_result_is_found_in_few_reads(catalog: pe.Catalog) -> None:
    catalog.sql("CREATE TABLE db.a (x INT)")
    table = catalog.table("db.a")
    for number in range(100):
        table.append(pa.table({"x": pa.array([1 if number != 70 else -500], pa.int32())}))
    for query, condition in [
        ("SELECT sum(x) FROM db.a", "sum(x) < 0"),
        ("SELECT sum(x) AS s FROM db.a", "s < 0"),
        ("SELECT sum(a.x) AS s FROM db.a AS a", "SUM(x) < 0 AND s IS NOT NULL"),
        ("SELECT x, count(*) AS n FROM db.a GROUP BY x", "x < 0"),
        ("SELECT * FROM db.a", "x = -500"),
    ]:
        found = catalog.sql(query).first_change(condition)
        assert (found.snapshot.id, found.before, found.reads) == (71, 70, found.reads)
        assert found.reads <= 9
        assert len(found.files) == 1
        assert found.rows.num_rows == 1
        assert "snapshot 71" in repr(found)
        assert found.snapshot.commit_user in found._repr_html_()
    first = catalog.sql("SELECT count(*) AS n FROM db.a").first_change("n > 0")
    assert (first.snapshot.id, first.before, first.reads) == (1, None, 2)
    with pytest.raises(NotFoundError, match=r"no row fulfils n > 100 at snapshot 100.*history"):
        catalog.sql("SELECT count(*) AS n FROM db.a").first_change("n > 100")
    with pytest.raises(InvalidInputError, match="y"):
        catalog.sql("SELECT count(*) AS n FROM db.a").first_change("y > 100")


def test_the_first_change_of_a_row(sales: pe.Table) -> None:
    found = sales.first_change("id = 2", pe.col("amount") > 20)
    assert (found.snapshot.id, found.before) == (2, 1)
    assert found.rows.to_pylist() == [{"id": 2, "city": "Rome", "amount": 25}]
    assert found.condition == "id = 2 AND amount > 20"
    with pytest.raises(NotFoundError, match="no row fulfils id = 1 AND amount > 0"):
        sales.first_change("id = 1", "amount > 0")
    with pytest.raises(InvalidInputError, match="unknown"):
        sales.first_change("id = 1", "unknown > 0")


def test_the_first_change_of_a_column_that_is_newer_than_some_snapshots(
    catalog: pe.Catalog, sales: pe.Table
) -> None:
    sales.add_column("paid", "INT")
    sales.upsert([{"id": 1, "city": "Oslo", "amount": 10, "paid": 7}])
    first = sales.snapshots.keys()[-1]
    sales.rename_column("paid", "price")
    sales.upsert([{"id": 1, "city": "Oslo", "amount": 11, "price": 7}])
    found = sales.first_change("id = 1", "price = 7")
    assert (found.snapshot.id, found.before) == (first, first - 1)
    found = catalog.sql("SELECT id, price FROM db.sales").first_change("price = 7")
    assert (found.snapshot.id, found.before) == (first + 1, first)  # the query names the column


@pytest.mark.parametrize(
    "query",
    [
        "SELECT sum(if(s = 'A', n, 0)) AS b, sum(if(s = 'a', n, 0)) AS c FROM t",
        "SELECT concat(s, 'X') AS x, concat(s, 'x') AS y, count(*) AS n FROM t GROUP BY 1, 2",
        "SELECT upper(s) AS s, count(*) AS n FROM t GROUP BY s",
        "SELECT upper(s) AS u, count(*) AS n FROM t GROUP BY u",
        "SELECT max(n) AS s, count(*) AS n FROM t GROUP BY s",
        "SELECT s, sum(n) AS total FROM t GROUP BY s HAVING total > 2",
        "SELECT s, sum(n) AS n FROM t GROUP BY s HAVING n > 2",
        "SELECT S, SUM(N) AS n, sum(t.n) + 1 AS m FROM t GROUP BY t.s HAVING Sum(n) > 1",
    ],
)
def test_texts_and_aliases_of_a_history_are_those_of_the_query(
    catalog: pe.Catalog, query: str
) -> None:
    catalog.sql("CREATE TABLE db.t (s STRING, n INT)")
    catalog.sql("INSERT INTO db.t VALUES ('A', 1), ('a', 2)")
    catalog.sql("INSERT INTO db.t VALUES ('A', 3), ('b', 4)")
    table = catalog.table("db.t")
    found = [[row[0], *row[4:]] for row in _rows(pe.sql(query, t=table).history(2))]
    expected = [[at, *row] for at in (1, 2) for row in _rows(pe.sql(query, t=table.at(at)))]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT max(st.n) AS a, max(n) AS b FROM t",
        "SELECT st.n AS a, n AS b, count(*) AS c FROM t GROUP BY st.n, T.N",
        "SELECT st.n AS a, sum(n) AS b FROM t AS x GROUP BY x.ST.n HAVING max(st.n) > 50",
    ],
)
def test_a_member_of_a_struct_is_not_the_column_of_its_name(
    catalog: pe.Catalog, query: str
) -> None:
    catalog.sql("CREATE TABLE db.t (n INT, st STRUCT<n: INT>)")
    catalog.sql("INSERT INTO db.t VALUES (5, named_struct('n', 50)), (6, named_struct('n', 60))")
    catalog.sql("INSERT INTO db.t VALUES (7, NULL)")
    t = catalog.table("db.t")
    of_each = [[at, *row] for at in (1, 2) for row in _rows(pe.sql(query, t=t.at(at)))]
    found = [[row[0], *row[4:]] for row in _rows(pe.sql(query, t=t).history())]
    assert sorted(found, key=repr) == sorted(of_each, key=repr)
