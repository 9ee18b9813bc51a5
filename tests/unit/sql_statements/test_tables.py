"""CREATE, ALTER, DROP, SHOW, DESCRIBE and ANALYZE."""

import json

import pytest

from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.spark_sql import Rows, Run

CREATE = """
CREATE TABLE demo.made (
  id BIGINT NOT NULL COMMENT 'the key',
  name VARCHAR(10) DEFAULT 'none',
  `user id` CHAR(3),
  price DECIMAL(10, 2),
  at TIMESTAMP,
  wall TIMESTAMP_NTZ,
  milli TIMESTAMP(3),
  s STRUCT<a: INT NOT NULL, b: ARRAY<MAP<STRING, DATE>>>,
  dt STRING
)
USING paimon
PARTITIONED BY (dt)
COMMENT 'it''s made'
TBLPROPERTIES ('primary-key' = 'dt,id', bucket = 2, merge-engine = 'partial-update')
"""


def made(catalog: Catalog, name: str = "demo.made") -> Table:
    return catalog.table(name)


def test_a_table_is_made_with_all_clauses_and_shown_so_that_it_can_be_made_again(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    run(CREATE)
    schema = made(catalog).schema
    assert [type_text(field.type) for field in schema.fields[:7]] == [
        "BIGINT NOT NULL",
        "VARCHAR(10)",
        "CHAR(3)",
        "DECIMAL(10, 2)",
        "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "TIMESTAMP(6)",
        "TIMESTAMP(3)",
    ]
    assert schema.primary_keys == ("dt", "id")
    assert schema.partition_keys == ("dt",)
    assert (schema.fields[0].description, schema.fields[1].default_value) == ("the key", "none")
    assert schema.options == {"bucket": "2", "merge-engine": "partial-update"}
    ((text,),) = rows("SHOW CREATE TABLE made")
    run("DROP TABLE made")
    run(str(text))
    again = made(catalog).schema
    assert [field.name for field in again.fields] == [field.name for field in schema.fields]
    assert again.options == schema.options
    assert again.primary_keys == schema.primary_keys
    assert rows("SHOW CREATE TABLE demo.made") == [(text,)]


def test_a_table_is_altered(run: Run, rows: Rows, catalog: Catalog) -> None:
    run("CREATE TABLE t (id INT, name STRING, s STRUCT<a: INT>)")
    run("INSERT INTO t VALUES (1, 'a', named_struct('a', 7))")
    for change in (
        "ADD COLUMNS (x INT COMMENT 'cx' AFTER id, y STRING FIRST, s.b STRING)",
        "ADD COLUMN z DOUBLE DEFAULT 2.5",
        "RENAME COLUMN X TO xx",
        "ALTER COLUMN xx TYPE BIGINT",
        "ALTER COLUMN xx COMMENT 'wide'",
        "ALTER COLUMN y AFTER name",
        "CHANGE COLUMN y yy STRING COMMENT 'text' FIRST",
        "DROP COLUMN IF EXISTS nope",
        "DROP COLUMNS (z)",
        "SET TBLPROPERTIES ('snapshot.num-retained.max' = '10', 'comment' = 'hello')",
        "UNSET TBLPROPERTIES IF EXISTS ('snapshot.num-retained.max', 'not.there')",
        "RENAME TO renamed",
    ):
        run(f"ALTER TABLE t {change}")
    schema = made(catalog, "demo.renamed").schema
    assert [(f.name, f.description) for f in schema.fields] == [
        *(("yy", "text"), ("id", None), ("xx", "wide"), ("name", None), ("s", None)),
    ]
    assert (schema.comment, schema.options) == ("hello", {})
    assert rows("SELECT id, name, xx, s.a, s.b FROM renamed") == [(1, "a", None, 7, None)]
    run("ALTER TABLE renamed ALTER COLUMN id DROP NOT NULL")
    run("COMMENT ON TABLE renamed IS 'other'")
    assert made(catalog, "demo.renamed").schema.comment == "other"


def test_tags_branches_and_partitions_are_clauses_of_alter(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    for change in (
        "CREATE TAG v1 AS OF VERSION 1 RETAIN 2 DAYS",
        "CREATE TAG IF NOT EXISTS v1",
        "CREATE OR REPLACE TAG v2",
        "REPLACE TAG v2 AS OF VERSION 3",
        "RENAME TAG v2 TO v3",
        "DELETE TAG IF EXISTS v2",
        "CREATE TAG v4",
        "CREATE TAG v5",
        "DELETE TAG `v4,v5`",
        "CREATE BRANCH b1 FROM TAG v1",
        "RENAME BRANCH b1 TO b2",
        "DROP IF EXISTS PARTITION (dt = '2026-01-01'), PARTITION (dt = '2026-01-03')",
    ):
        run(f"ALTER TABLE orders {change}")
    assert rows("SHOW TAGS orders") == [("v1",), ("v3",)]
    assert rows("SHOW BRANCHES orders") == [("b2",)]
    assert made(catalog, "demo.orders").tags["v3"].snapshot.id == 3
    assert rows("SHOW PARTITIONS orders") == [("dt=2026-01-02",)]
    assert rows("SELECT count(*) FROM orders$branch_b2") == [(6,)]


def test_what_there_is_is_shown_and_described(rows: Rows, catalog: Catalog) -> None:
    assert ("demo", "orders", False) in rows("SHOW TABLES")
    assert rows("SHOW TABLES IN demo LIKE 'cust*|ord*'") == [
        ("demo", "customers", False),
        ("demo", "orders", False),
    ]
    assert rows("SHOW COLUMNS IN customers") == [("id",), ("name",), ("city",)]
    assert ("bucket", "2") in rows("SHOW TBLPROPERTIES customers")
    assert rows("SHOW TBLPROPERTIES customers ('bucket')") == [("bucket", "2")]
    assert rows("DESCRIBE demo.orders")[-1] == ("dt", "date", None)
    facts = {row[0]: row[1] for row in rows("DESC EXTENDED customers")}
    assert facts["Primary Key"] == "id"
    assert facts["Location"] == made(catalog, "demo.customers").path
    assert rows("DESCRIBE customers name") == [
        *(("col_name", "name"), ("data_type", "string"), ("comment", "NULL")),
    ]
    assert rows("DESCRIBE demo.orders$snapshots")[0] == ("snapshot_id", "bigint", None)
    assert rows("DESCRIBE orders PARTITION (dt = '2026-01-01')") == rows("DESCRIBE orders")
    assert rows("SHOW CATALOGS LIKE 'p*'") == [("paimon",)]


def test_analyze_collects_the_named_columns(run: Run, rows: Rows) -> None:
    run("CREATE TABLE made (id INT, v STRING, w INT)")
    assert rows("ANALYZE TABLE made COMPUTE STATISTICS") == [(None,)]
    run("INSERT INTO made VALUES (1, 'a', 1), (2, NULL, 2)")
    run("ANALYZE TABLE made COMPUTE STATISTICS FOR COLUMNS id, V")
    ((count, size, columns),) = rows(
        "SELECT mergedRecordCount, mergedRecordSize, colstat FROM made$statistics"
    )
    assert (count, list(json.loads(str(columns)))) == (2, ["id", "v"])
    assert rows("SELECT file_size_in_bytes FROM made$files") == [(size,)]
    with pytest.raises(InvalidInputError, match="NOSCAN"):
        run("ANALYZE TABLE made COMPUTE STATISTICS NOSCAN")


def test_show_table_extended_describes_a_partition(run: Run, rows: Rows) -> None:
    run("CREATE TABLE made (id INT, p STRING) PARTITIONED BY (p)")
    run("INSERT INTO made VALUES (1, 'x'), (2, 'x'), (3, 'y')")
    ((size,),) = rows("SELECT file_size_in_bytes FROM made$partitions WHERE partition = 'p=x'")
    facts = f"Partition Values: [p=x]\nPartition Statistics: 2 rows, {size} bytes\n"
    shown = rows("SHOW TABLE EXTENDED LIKE 'made' PARTITION (p = 'x')")
    assert shown == [("demo", "made", False, facts)]
    with pytest.raises(NotFoundError, match="Partition 'p=z' does not exist"):
        run("SHOW TABLE EXTENDED LIKE 'made' PARTITION (p = 'z')")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("BOOLEAN", "false"), ("DECIMAL(6, 2)", "-0.5"), ("TIMESTAMP", "'2026-01-02 03:04:00'")),
        *(("DATE", "DATE '1969-12-31'"), ("STRING", "'a/b=c d%'"), ("STRING", "NULL")),
        *(("CHAR(3)", "'a'"), ("DOUBLE", "1.5"), ("TIMESTAMP_NTZ", "'1969-01-01 00:00:00.5'")),
    ],
)
def test_a_partition_is_found_by_its_value(kind: str, value: str, run: Run, rows: Rows) -> None:
    run(f"CREATE TABLE made (id INT, p {kind}, q INT) PARTITIONED BY (p, q)")
    run(f"INSERT INTO made SELECT 1, {value}, 2")
    assert len(rows(f"SHOW PARTITIONS made PARTITION (p = {value})")) == 1
    run(f"ALTER TABLE made DROP PARTITION (p = {value}, q = 2)")
    assert rows("SHOW PARTITIONS made") == []


def test_show_create_table_keeps_members_and_default_values(run: Run, rows: Rows) -> None:
    columns = (
        "  s STRUCT<x: INT NOT NULL COMMENT 'it\\'s', `y z`: ARRAY<STRUCT<z: CHAR(2)>>> NOT NULL,\n"
        "  m MAP<STRING, DECIMAL(5,2)>,\n  n INT DEFAULT -7,\n  b BOOLEAN DEFAULT true,\n"
        "  v STRING DEFAULT 'it\\'s',\n  a ARRAY<STRING> DEFAULT ARRAY('a','b')"
    )
    text = f"CREATE TABLE demo.made (\n{columns})\nUSING paimon\n"
    run(text)
    assert rows("SHOW CREATE TABLE made") == [(text,)]


def test_databases_come_and_go(run: Run, rows: Rows, catalog: Catalog) -> None:
    run("CREATE DATABASE IF NOT EXISTS demo")
    run("CREATE SCHEMA two")
    run("CREATE TABLE two.t (id INT)")
    assert rows("SHOW DATABASES LIKE 't*'") == [("two",)]
    with pytest.raises(InvalidInputError, match=r"the tables 't'.*CASCADE"):
        run("DROP DATABASE two")
    run("DROP DATABASE two CASCADE")
    run("DROP DATABASE IF EXISTS two")
    run("DROP TABLE IF EXISTS demo.nope")
    assert catalog.databases() == ["demo"]
    run("USE CATALOG PAIMON")
    with pytest.raises(NotFoundError, match=r"Catalog 'mine' .* catalog is paimon"):
        run("USE CATALOG mine")
    assert rows("SHOW CURRENT NAMESPACE") == [("paimon", "demo")]
    for clause in ("DBPROPERTIES ('a' = 'b')", "LOCATION '/elsewhere'"):
        with pytest.raises(UnsupportedFeatureError, match="Setting properties"):
            run(f"ALTER DATABASE demo SET {clause}")


WRONG = [
    ("CREATE TABLE demo.orders (id INT)", "Table 'orders' already exists"),
    ("CREATE TABLE nope.t (id INT)", "Database 'nope' does not exist"),
    ("CREATE TABLE t (id INTT)", "Column 'id': 'INTT' is not a Paimon data type"),
    ("CREATE TABLE t (id INTERVAL DAY)", "Column 'id'"),
    (
        "CREATE TABLE t (id INT) TBLPROPERTIES ('merge-engin' = 'x')",
        "Did you mean 'merge-engine'",
    ),
    ("CREATE TABLE t (id INT) TBLPROPERTIES ('merge-engine' = 'x')", "'partial-update'"),
    ("CREATE TABLE t (id INT) TBLPROPERTIES ('primary-key' = 'x')", "'x'"),
    ("CREATE TABLE t (id INT) PARTITIONED BY (days(id))", "PARTITIONED BY days"),
    ("CREATE TABLE t (id INT) LOCATION '/x'", "LOCATION"),
    ("CREATE TABLE t (id INT) PARTITION BY (id)", "unknown clause.*PARTITIONED BY"),
    ("CREATE TABLE demo.t (id INT) USING parquet", "A parquet table in a Paimon warehouse"),
    ("CREATE TABLE t", "requires at least one column"),
    ("CREATE OR REPLACE TABLE demo.orders (id INT)", "is partitioned by dt, and .* no column"),
    (
        "CREATE OR REPLACE TABLE orders (id INT, dt STRING) PARTITIONED BY (dt)",
        "changes the type of partition column 'dt'",
    ),
    ("REPLACE TABLE demo.nope AS SELECT 1 AS id", "Table 'nope' does not exist"),
    ("REPLACE TABLE demo.nope (id INT)", "Table 'nope' does not exist"),
    ("ALTER TABLE orders ADD COLUMN id INT", "'id'"),
    ("ALTER TABLE orders DROP COLUMN nope", "'nope'"),
    ("ALTER TABLE orders DROP COLUMN dt", "'dt'"),
    ("ALTER TABLE orders ALTER COLUMN city TYPE INTT", "'INTT' is not a Paimon data type"),
    ("ALTER TABLE orders SET TBLPROPERTIES ('bucket' = '4')", "'bucket' cannot be changed"),
    ("ALTER TABLE orders SET TBLPROPERTIES ('buckt' = '4')", "Did you mean 'bucket'"),
    ("ALTER TABLE orders UNSET TBLPROPERTIES ('bucket')", "Option 'bucket' does not exist"),
    ("ALTER TABLE orders CREATE TAG v AS OF VERSION 99", "99"),
    ("ALTER TABLE orders DELETE TAG nope", "'nope'"),
    ("ALTER TABLE orders SPLIT", "ALTER TABLE cannot be read.*RENAME"),
    ("ALTER TABLE demo.nope ADD COLUMN a INT", "Table 'nope' does not exist"),
    ("DROP TABLE demo.nope", "Table 'nope' does not exist"),
    ("SHOW TBLPROPERTIES orders ('nope')", "Option 'nope' does not exist"),
    ("DESCRIBE orders nope", "Column 'nope' does not exist"),
    ("ANALYZE TABLE orders COMPUTE STATISTICS FOR COLUMNS nope", "Column 'nope'"),
]


def test_what_is_wrong_is_named(run: Run) -> None:
    expected = (InvalidInputError, NotFoundError, AlreadyExistsError, UnsupportedFeatureError)
    for text, message in WRONG:
        with pytest.raises(expected, match=message):
            run(text)


def test_a_replaced_table_keeps_no_postponed_rows(run: Run, catalog: Catalog) -> None:
    """Of another number of buckets, an overwrite keeps them."""
    create = "CREATE OR REPLACE TABLE postponed (k INT NOT NULL, {} INT) TBLPROPERTIES ({})"
    key = "'primary-key' = 'k', 'bucket' = "
    run(create.format("v", f"{key}'-2'"))
    run("INSERT INTO postponed VALUES (1, 1)")
    run(create.format("w", f"{key}'2'"))
    latest = catalog.table("demo.postponed").snapshots.latest()
    assert latest is not None
    assert latest.total_record_count == 0


ALTERATIONS = [
    *("ADD COLUMNS (z INT)", "DROP COLUMN name", "DROP COLUMNS (name)", "RENAME COLUMN name TO z"),
    *("ALTER COLUMN id TYPE INT", "ALTER COLUMN id TYPE STRUCT<a: INT>", "MODIFY name STRING"),
    *("ALTER COLUMN name COMMENT 'x'", "ALTER COLUMN name FIRST", "ALTER COLUMN name AFTER dt"),
    *("ALTER COLUMN id DROP NOT NULL", "CHANGE COLUMN name z STRING", "SET ('bucket' = '3')"),
    *("UNSET TBLPROPERTIES ('bucket')", "RESET ('bucket')", "CREATE TAG g", "REPLACE TAG v"),
    *("RENAME TAG v TO w", "DROP TAG v", "DELETE TAG v", "CREATE BRANCH c", "DROP BRANCH b"),
    *("RENAME BRANCH b TO c", "DROP PARTITION (dt = 'd')", "RENAME TO demo.other"),
]


def test_nothing_is_altered_by_a_statement_that_cannot_be_read_to_its_end(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    run(
        "CREATE TABLE t (id INT NOT NULL, name STRING, dt STRING) PARTITIONED BY (dt) "
        "TBLPROPERTIES ('bucket' = '2', 'bucket-key' = 'name')"
    )
    run("INSERT INTO t VALUES (1, 'a', 'd')")
    run("ALTER TABLE t CREATE TAG v")
    run("ALTER TABLE t CREATE BRANCH b")
    before = made(catalog, "demo.t").schema
    for text in ALTERATIONS:
        for more in (" 5", " )", ", 5", ", junk TYPE INT"):
            with pytest.raises(InvalidInputError, match=r"cannot be read|not a Paimon data type"):
                run(f"ALTER TABLE t {text}{more}")
        table = made(catalog, "demo.t")
        assert table.schema == before, text
        assert ([*table.tags.keys()], [*table.branches.keys()]) == (["v"], ["b"]), text
    assert rows("SELECT id FROM t") == [(1,)]


def test_several_columns_are_dropped_with_and_without_parentheses(
    run: Run, catalog: Catalog
) -> None:
    run("CREATE TABLE t (a INT, b INT, c INT, d INT, e INT)")
    run("ALTER TABLE t DROP COLUMNS a, b")
    run("ALTER TABLE t DROP COLUMN (c, d)")
    assert made(catalog, "demo.t").schema.row_type.names == ("e",)


def test_a_schema_of_json_may_name_columns_as_types(rows: Rows) -> None:
    text = "SELECT from_json('{{\"{0}\": \"x\"}}', '{0} STRING').{0}"
    for name in ("date", "timestamp", "binary", "int", "a"):
        assert rows(text.format(name)) == [("x",)]


def test_a_default_of_a_text_column_is_a_text_or_a_number(run: Run, rows: Rows) -> None:
    run("CREATE TABLE t (a INT, s STRING DEFAULT 5, v VARCHAR(9) DEFAULT TRUE, c CHAR(2))")
    for kind, column in (("STRING", "s"), ("VARCHAR(9)", "v"), ("CHAR(2)", "c")):
        for text in ("upper('x')", "current_date", "x", "CAST(1 AS STRING)", "'a' || 'b'"):
            for change in (f"ADD COLUMN z {kind}", f"ALTER COLUMN {column} SET"):
                with pytest.raises(InvalidInputError, match=r"not a constant|cannot be read"):
                    run(f"ALTER TABLE t {change} DEFAULT {text}")
    run("INSERT INTO t (a) VALUES (1)")
    assert rows("SELECT s, v FROM t") == [("5", "TRUE")]


def test_names_of_columns_and_members_ignore_case_in_all_changes(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    run("CREATE TABLE t (a INT, b INT, st STRUCT<x: INT, y: STRUCT<z: INT>>)")
    for text, problem in (
        ("RENAME COLUMN a TO B", "'b' already exists"),
        ("RENAME COLUMN st.x TO Y", "'st.y' already exists"),
        ("CHANGE COLUMN a B INT", "'b' already exists"),
        ("ADD COLUMN A INT", "'a' already exists"),
        ("ADD COLUMN St.X INT", "'x' already exists"),
        ("ADD COLUMNS (k INT, K INT)", "'K' twice"),
        ("ADD COLUMNS (ST.k INT, st.K INT)", "'st.K' twice"),
    ):
        with pytest.raises((AlreadyExistsError, InvalidInputError), match=problem):
            run(f"ALTER TABLE t {text}")
    for text in (
        *("ALTER COLUMN A AFTER B", "ADD COLUMN c INT AFTER B", "ADD COLUMN ST.w INT AFTER X"),
        *("RENAME COLUMN ST.Y.Z TO q", "ALTER COLUMN St.X COMMENT 'k'", "DROP COLUMN sT.W"),
        *("ALTER COLUMN St.y.Q TYPE BIGINT", "CHANGE COLUMN A d BIGINT AFTER ST"),
    ):
        run(f"ALTER TABLE t {text}")
    row_type = made(catalog, "demo.t").schema.row_type
    assert row_type.names == ("b", "c", "st", "d")
    assert type_text(row_type.fields[2].type) == "ROW<`x` INT COMMENT 'k', `y` ROW<`q` BIGINT>>"
    assert rows("SELECT * FROM t") == []
