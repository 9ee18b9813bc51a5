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
