"""INSERT, UPDATE, DELETE and MERGE on DuckDB: the tests of all engines, and what is wrong."""

import pytest

from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from support.spark_sql import Rows, Run
from support.sql_row_tests import *  # noqa: F403 - the tests of all engines
from support.sql_row_tests import KINDS, created

WRONG = [
    ("INSERT INTO t VALUES (1, 2)", "2 columns, but must return 3.*id, name, dt"),
    ("INSERT INTO t (id, nme) VALUES (1, 2)", "no column 'nme'.*'name'"),
    ("INSERT INTO t (id, ID) VALUES (1, 2)", "'id' occurs twice in the column list"),
    ("INSERT INTO t VALUES ('one', 'a', 'b')", r"'id' \(BIGINT\): one cannot be converted"),
    ("INSERT INTO t (id, dt) VALUES (1e30, 'b')", r"'id' \(BIGINT\): 1e\+30 cannot be converted"),
    (
        "INSERT INTO t PARTITION (day = 1) SELECT 1, 'a'",
        "'day' is not a partition column.*'dt'",
    ),
    ("INSERT INTO t REPLACE WHERE id = 1 SELECT 1, 'a', 'b'", "Partition columns: 'dt'"),
    ("INSERT INTO t REPLACE WHERE dt > 'a' SELECT 1, 'a', 'b'", "with constants by '='"),
    ("INSERT INTO t REPLACE WHERE dt = 'a' OR dt = 'b' SELECT 1, 'a', 'b'", "by AND"),
    ("INSERT INTO t REPLACE WHERE dt = 'a' AND dt = 'b' SELECT 1, 'a', 'b'", "'dt' twice"),
    ("INSERT INTO t REPLACE WHERE dt = 'd1' SELECT 1, 'a', 'd2'", "partition"),
    ("INSERT INTO nope VALUES (1)", "Table 'nope' does not exist"),
    ("INSERT IN t VALUES (1)", "INSERT cannot be read.*'INTO' or|INTO or OVERWRITE"),
    ("UPDATE t SET id = 3", "'id' belongs to the primary key"),
    ("UPDATE t SET nme = 3", "no column 'nme'"),
    ("UPDATE t SET name = 1, name = 2", "sets column 'name' twice"),
    ("UPDATE t WHERE id = 1", "UPDATE cannot be read: expected SET"),
    ("UPDATE t SET name.x = 1", "Column 'name' is not a ROW"),
    *(
        (f"{change} WHERE id > 0 {clause}", "cannot be parsed")
        for change in ("DELETE FROM t", "UPDATE t SET name = 'x'")
        for clause in ("LIMIT 1", "ORDER BY id", "HAVING id > 1", "OFFSET 1", "UNION SELECT 1")
    ),
    *(
        (text.format(value), "no value of one row")
        for value in ("explode(array(1))", "max(id)", "row_number() OVER (ORDER BY id)")
        for text in ("UPDATE t SET name = {}", "DELETE FROM t WHERE id = {}")
    ),
    ("INSERT INTO t PARTITION (dt = 'a', dt = 'b') SELECT 1, 'a'", "'dt' twice"),
    ("DELETE t WHERE id = 1", "DELETE cannot be read: expected FROM"),
    ("MERGE INTO t USING t s ON t.id = s.id", "expected WHEN"),
    (
        "MERGE INTO t USING t s ON t.id = s.id WHEN MATCHED THEN INSERT *",
        "WHEN MATCHED cannot be read.*UPDATE or DELETE",
    ),
    (
        "MERGE INTO t USING t s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (1, 2)",
        "has 2 values, but must have 1",
    ),
    ("TRUNCATE TABLE t PARTITION (dt)", "no value for column 'dt'"),
]


def test_what_is_wrong_is_named_with_the_part_and_the_choices(run: Run, rows: Rows) -> None:
    run(
        "CREATE TABLE t (id BIGINT NOT NULL, name STRING, dt STRING NOT NULL) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({KINDS['keyed']})"
    )
    errors = (InvalidInputError, NotFoundError, UnsupportedFeatureError)
    for text, message in WRONG:
        with pytest.raises(errors, match=message):
            run(text)
    assert rows("SELECT count(*) FROM t$snapshots") == [(0,)]


def test_the_largest_partition_with_rows_is_a_function(run: Run, rows: Rows) -> None:
    created(run, "append")
    run("INSERT INTO t VALUES (9, 'z', 'it''s')")
    assert rows("SELECT sys.max_pt('t') AS a, paimon.sys.max_pt('demo.t') AS b") == [
        ("it's", "it's")
    ]
    run("ALTER TABLE t DROP PARTITION (dt = 'it''s')")
    assert rows("SELECT id FROM t WHERE dt = max_pt('demo.t') ORDER BY id") == [(3,), (4,)]
    assert rows("DELETE FROM t WHERE dt = sys.max_pt('t')") == [(4,)]
    assert rows("SELECT count(*) FROM t") == [(2,)]
    run("CREATE TABLE days (id INT, day DATE, hh INT) PARTITIONED BY (day, hh)")
    with pytest.raises(NotFoundError, match=r"demo\.days has no partition with rows"):
        run("SELECT sys.max_pt('days')")
    run(
        "INSERT INTO days VALUES (1, DATE '2026-01-02', 3), (2, DATE '2025-12-31', 9), (3, NULL, 1)"
    )
    assert rows("SELECT sys.max_pt('days')") == [("2026-01-02",)]
    for text, message in (
        ("SELECT sys.max_pt(t)", "name of a table as a string"),
        ("SELECT sys.max_pt('customers')", "customers is not partitioned"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            run(text)


def test_a_subquery_reads_the_view_that_is_named_as_the_changed_table(run: Run, rows: Rows) -> None:
    run("CREATE TABLE t (id BIGINT, name STRING)")
    run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    run("CREATE TEMPORARY VIEW t AS SELECT 2 AS id")
    run("DELETE FROM demo.t WHERE id IN (SELECT id FROM t)")
    run("UPDATE demo.t AS t SET id = (SELECT sum(id) FROM t) WHERE name = 'a'")
    assert rows("SELECT * FROM demo.t ORDER BY name") == [(2, "a"), (3, "c")]


def test_default_is_that_of_its_column_in_each_query_of_a_union(run: Run, rows: Rows) -> None:
    run("CREATE TABLE t (a INT DEFAULT 1, b INT DEFAULT 5, c INT DEFAULT 7)")
    run("INSERT INTO t SELECT 2, DEFAULT, 3 FROM (SELECT 1) UNION ALL SELECT DEFAULT, 2, DEFAULT")
    assert rows("SELECT * FROM t ORDER BY a") == [(1, 2, 7), (2, 5, 3)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("2", "' 2 '"),
        ("2L", "'2'"),
        ("2.5D", "'25e-1'"),
        ("CAST(2.50 AS DECIMAL(4, 2))", "'2.5'"),
        ("DATE'2026-01-02'", "'2026-1-2'"),
        ("TIMESTAMP_NTZ'2026-01-02 00:00:00'", "'2026-01-02'"),
    ],
)
def test_merge_compares_texts_with_other_values_as_queries_do(
    run: Run, rows: Rows, number: str, text: str
) -> None:
    for name, key in (("t", number), ("s", text)):
        run(f"CREATE TABLE {name} AS SELECT {key} AS id, 1 AS n UNION ALL SELECT NULL, 2")
    for name, source in (("t", "s"), ("s", "t")):
        match = f"{name}.id = {source}.id WHEN MATCHED THEN UPDATE SET n = {source}.n + 1"
        run(f"MERGE INTO {name} USING {source} ON {match}")
    assert rows("SELECT n FROM t ORDER BY id DESC") == [(2,), (2,)]
    assert rows("SELECT n FROM s ORDER BY id DESC") == [(3,), (2,)]


@pytest.mark.parametrize("on", ["FALSE", "1 = 0", "NULL", "s.id < 0", "t.id < 0"])
def test_a_merge_that_matches_nothing_replaces_all_rows(
    run: Run, rows: Rows, kind: str, on: str
) -> None:
    created(run, kind)
    run("INSERT INTO t VALUES (1, 'a', 'd1'), (2, 'b', 'd2')")
    run(
        f"MERGE INTO t USING (SELECT 9L AS id, 'z' AS name, 'd1' AS dt) AS s ON {on} "
        "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert rows("SELECT * FROM t") == [(9, "z", "d1")]
