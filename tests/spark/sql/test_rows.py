"""INSERT, UPDATE, DELETE, MERGE and TRUNCATE: each one commit, on every kind of table."""

from datetime import date
from decimal import Decimal

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    UnsupportedOptionWarning,
)
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.depth import some
from support.spark_sql import Rows, Sql

KINDS = {
    "keyed": "'primary-key' = 'dt,id', 'bucket' = '2'",
    "append": "'target-file-size' = '1 mb'",
    "vectors": "'deletion-vectors.enabled' = 'true'",
}
STATE = "SELECT id, name, dt FROM t ORDER BY dt, id"


def created(run: Sql, kind: str) -> None:
    run(
        "CREATE TABLE t (id BIGINT NOT NULL, name STRING, dt STRING NOT NULL) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({KINDS[kind]})"
    )
    run("INSERT INTO t VALUES (1, 'a', 'd1'), (2, 'b', 'd1'), (3, 'c', 'd2'), (4, 'd', 'd2')")


def test_rows_are_not_inserted_where_an_upsert_key_would_merge_them(run: Sql, rows: Rows) -> None:
    run("CREATE TABLE t (id BIGINT, name STRING, dt STRING)")
    run("INSERT INTO t VALUES (1, 'a', 'd1')")
    with pytest.warns(UnsupportedOptionWarning, match="'upsert-key'"):
        run("ALTER TABLE t SET TBLPROPERTIES ('upsert-key' = 'id')")
    with pytest.raises(UnsupportedFeatureError, match=r"(?i)insert into .* 'upsert-key' = 'id'"):
        run("INSERT INTO t VALUES (1, 'b', 'd1')")
    assert rows(STATE) == [(1, "a", "d1")]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_updated_deleted_and_merged(
    kind: str, run: Sql, rows: Rows, catalog: Catalog
) -> None:
    created(run, kind)
    assert rows("UPDATE t x SET name = concat(x.name, x.id) WHERE x.dt = 'd1'") == [(2,)]
    assert rows("DELETE FROM demo.t WHERE id IN (SELECT max(id) FROM t)") == [(3,)]
    assert rows(STATE) == [(1, "a1", "d1"), (2, "b2", "d1"), (3, "c", "d2")]
    run(
        """
        MERGE INTO t USING (
            SELECT * FROM VALUES (1L, 'gone', 'd1'), (2L, 'new', 'd1'), (9L, 'nine', 'd3') AS v
        ) AS s (id, name, dt)
        ON t.id = s.id AND t.dt = s.dt
        WHEN MATCHED AND s.name = 'gone' THEN DELETE
        WHEN MATCHED THEN UPDATE SET t.name = upper(s.name)
        WHEN NOT MATCHED BY TARGET THEN INSERT (id, dt, name) VALUES (s.id, s.dt, s.name)
        WHEN NOT MATCHED BY SOURCE AND demo.t.id = 3 THEN UPDATE SET name = CASE WHEN t.id = 3
            THEN 'kept' END
        """
    )
    assert rows(STATE) == [(2, "NEW", "d1"), (3, "kept", "d2"), (9, "nine", "d3")]
    table = catalog.table("demo.t")
    assert isinstance(table, Table)
    assert [s.id for s in table.snapshots] == [1, 2, 3, 4]
    assert table.maintenance.fsck() == []
    assert rows("UPDATE t SET name = 'x' WHERE id = 77") == [(None,)]


def test_rows_with_ids_are_changed_by_the_same_statements(run: Sql, rows: Rows) -> None:
    run("CREATE TABLE r (id INT, name STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true')")
    run("INSERT INTO r VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    run("UPDATE r SET name = concat(name, '!') WHERE id = 1")
    run("DELETE FROM r WHERE id = 3")
    run(
        "MERGE INTO r USING (SELECT 2 AS id, 'B' AS name UNION ALL SELECT 9, 'nine') s "
        "ON r.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, upper(s.name))"
    )
    assert rows("SELECT * FROM r ORDER BY id") == [(1, "a!"), (2, "B"), (9, "NINE")]


def test_star_clauses_take_the_source_and_doubled_rows_are_refused(run: Sql, rows: Rows) -> None:
    created(run, "keyed")
    run(
        "MERGE INTO t USING (SELECT 1L AS id, 'd1' AS dt, 'z' AS name UNION ALL "
        "SELECT 8L, 'd8', 'y') s ON t.id = s.id AND t.dt = s.dt "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows("SELECT id, name FROM t WHERE id IN (1, 8) ORDER BY id") == [(1, "z"), (8, "y")]
    doubled = "(SELECT 1L AS id UNION ALL SELECT 1L) s ON t.id = s.id WHEN MATCHED THEN "
    with pytest.raises(InvalidInputError, match="More than one row of the source matches"):
        run(f"MERGE INTO t USING {doubled} UPDATE SET name = 'twice'")
    run(f"MERGE INTO t USING {doubled} DELETE")
    assert rows("SELECT count(*) FROM t") == [(4,)]


def test_inserts_go_by_place_by_name_and_into_partitions(
    run: Sql, rows: Rows, spark: SparkSession
) -> None:
    created(run, "append")
    run("INSERT INTO t (dt, id) VALUES ('d5', 5)")
    run("INSERT INTO t PARTITION (dt = 'd6') SELECT id, 'six' FROM range(6, 7)")
    run("INSERT INTO t BY NAME SELECT 'd7' AS DT, 7 AS id")
    run("WITH c AS (SELECT 8 AS id) INSERT INTO t SELECT id, 'eight', 'd8' FROM c")
    assert rows("SELECT id, name, dt FROM t WHERE id > 4 ORDER BY id") == [
        *((5, None, "d5"), (6, "six", "d6")),
        *((7, None, "d7"), (8, "eight", "d8")),
    ]
    run("INSERT OVERWRITE t PARTITION (dt = 'd1') (id) VALUES (100)")
    assert rows("SELECT id FROM t WHERE dt = 'd1'") == [(100,)]
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        run("INSERT OVERWRITE t SELECT 200, 'x', 'd2'")
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert rows("SELECT count(*), max(id) FROM t") == [(6, 200)]
    run("INSERT OVERWRITE t SELECT 1, 'only', 'd1'")
    assert rows(STATE) == [(1, "only", "d1")]
    run("TRUNCATE TABLE t PARTITION (dt = 'd1')")
    assert rows("SELECT count(*) FROM t") == [(0,)]


def test_values_are_assigned_as_spark_does(run: Sql, rows: Rows) -> None:
    run("CREATE TABLE v (i INT, s STRING, d DOUBLE, m DECIMAL(10, 2), ts TIMESTAMP)")
    run("INSERT INTO v VALUES (1L, 2, 3.5BD, 4, DATE '2026-01-01')")
    assert rows("SELECT i, s, d, cast(m AS string), cast(ts AS string) FROM v") == [
        (1, "2", 3.5, "4.00", "2026-01-01 00:00:00")
    ]


MERGE = "MERGE INTO v USING (VALUES (1, 2.5D), (7, 2.5D)) s(id, n) ON v.i = s.id"
CHANGED = [
    ("INSERT INTO v (i) VALUES (1.5)", "Column 'i' .int.: 1.5 cannot be"),
    ("INSERT INTO v (i) VALUES (1.5e0D)", "Column 'i' .int.: 1.5 cannot be"),
    ("INSERT INTO v (i) VALUES (3000000000)", "3000000000|out of range|overflow"),
    ("INSERT INTO v (f) VALUES (1e300D)", "Column 'f' .float.: 1.0E300 cannot be"),
    ("INSERT INTO v (f) VALUES (16777217)", "Column 'f' .float.: 16777217 cannot be"),
    ("INSERT INTO v (d) VALUES (9223372036854775807L)", "9223372036854775807|overflow"),
    ("INSERT INTO v (m) VALUES (1.555)", "Column 'm' .decimal.10,2..: 1.555 cannot be"),
    ("INSERT INTO v (m) VALUES (0.1D + 0.2D)", "0.30000000000000004 cannot be"),
    ("INSERT INTO v (day) VALUES (TIMESTAMP_NTZ '2026-01-01 10:00:00')", "'day' .date.: 2026"),
    ("INSERT INTO v (l) VALUES (array(1, 2.5))", "Column 'l..' .int.: 2.5 cannot be"),
    ("INSERT INTO v (r) VALUES (named_struct('x', 1.5))", "Column 'r.x' .int.: 1.5 cannot be"),
    ("INSERT INTO v (p) VALUES (map('a', 1.5))", "Column 'p.value.' .int.: 1.5 cannot be"),
    ("UPDATE v SET i = i * 1.5", "Column 'i' .int.: 1.5 cannot be"),
    ("UPDATE v SET m = m / 3", "Column 'm' .decimal.10,2.*cannot be"),
    (f"{MERGE} WHEN MATCHED THEN UPDATE SET i = s.n", "Column 'i' .int.: 2.5 cannot be"),
    (f"{MERGE} WHEN NOT MATCHED THEN INSERT (i) VALUES (s.n)", "Column 'i' .int.: 2.5 cannot be"),  # noqa: S608 - fixed texts
]
KEPT = [
    ("i", "CAST(2.9 AS INT)", 2),
    ("f", "16777216", 16777216.0),
    ("d", "4611686018427387904L", 2.0**62),
    ("e", "0.1", 0.1),
    ("m", "0.1D", Decimal("0.10")),
    ("n", "ROUND(1.555, 2)", Decimal("1.56")),
    ("day", "TIMESTAMP_NTZ '2026-01-01 00:00:00'", date(2026, 1, 1)),
    ("l", "array(1, 2.0)", [1, 2]),
    ("r", "named_struct('x', 2D)", (2,)),
    ("p", "map('a', 2BD)", {"a": 2}),
    ("s", "12", "12"),
]


def test_implicit_casts_keep_the_value_or_are_refused(run: Sql, rows: Rows) -> None:
    run(
        "CREATE TABLE v (i INT, f FLOAT, d DOUBLE, e DOUBLE, m DECIMAL(10, 2), n DECIMAL(10, 2), "
        "day DATE, l ARRAY<INT>, r STRUCT<x: INT>, p MAP<STRING, INT>, s STRING)"
    )
    run("INSERT INTO v (i, m) VALUES (1, 1)")
    for text, message in some(CHANGED, 3):
        with pytest.raises((PySparkException, InvalidInputError), match=message):
            run(text)
    assert rows("SELECT i, m FROM v") == [(1, Decimal("1.00"))]
    run("UPDATE v SET " + ", ".join(f"{column} = {text}" for column, text, _ in KEPT))  # noqa: S608 - fixed texts
    assert rows("SELECT * FROM v") == [tuple(value for _, _, value in KEPT)]


def test_a_partition_is_named_by_a_value_that_its_column_holds(run: Sql, rows: Rows) -> None:
    run("CREATE TABLE w (id INT, k INT) PARTITIONED BY (k)")
    with pytest.raises(InvalidInputError, match=r"1\.5 is not a valid constant"):
        run("INSERT INTO w PARTITION (k = 1.5) VALUES (1)")
    run("INSERT INTO w PARTITION (k = '7') VALUES (1)")
    assert rows("SELECT id, k FROM w") == [(1, 7)]


WRONG = [
    ("INSERT INTO t VALUES (1, 2)", "2 columns, but must return 3.*id, name, dt"),
    ("INSERT INTO t (id, nme) VALUES (1, 2)", "no column 'nme'.*'name'"),
    ("INSERT INTO t (id, ID) VALUES (1, 2)", "'id' occurs twice in the column list"),
    (
        "INSERT INTO t VALUES ('one', 'a', 'b')",
        "type string cannot be stored in column 'id' of type bigint",
    ),
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
    ("MERGE INTO t USING t s ON t.id = s.id", "The merge has no clause"),
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


def test_what_is_wrong_is_named_with_the_part_and_the_choices(run: Sql, rows: Rows) -> None:
    run(
        "CREATE TABLE t (id BIGINT NOT NULL, name STRING, dt STRING NOT NULL) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({KINDS['keyed']})"
    )
    errors = (InvalidInputError, NotFoundError, UnsupportedFeatureError)
    for text, message in WRONG:
        with pytest.raises(errors, match=message):
            run(text)
    assert rows("SELECT count(*) FROM t$snapshots") == [(0,)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_of_partitions_are_replaced_in_one_commit(
    kind: str, run: Sql, rows: Rows, catalog: Catalog
) -> None:
    created(run, kind)
    assert rows(
        "INSERT INTO t REPLACE WHERE (dt = 'd1') "
        "SELECT id + 10, upper(name), dt FROM t WHERE id = 1"
    ) == [(2,)]
    assert rows(STATE) == [(11, "A", "d1"), (3, "c", "d2"), (4, "d", "d2")]
    run("INSERT INTO t BY NAME REPLACE WHERE 'd2' <=> DT SELECT 'd2' AS dt, 5L AS id")
    assert rows(STATE) == [(11, "A", "d1"), (5, None, "d2")]
    run("INSERT INTO t REPLACE WHERE TRUE VALUES (7, 'z', 'd9')")
    assert rows(STATE) == [(7, "z", "d9")]
    table = catalog.table("demo.t")
    assert isinstance(table, Table)
    kinds = [snapshot.commit_kind.value for snapshot in table.snapshots]
    assert kinds == ["APPEND", "OVERWRITE", "OVERWRITE", "OVERWRITE"]


MEMBERS = {
    "keyed": "'primary-key' = 'id', 'bucket' = '1'",
    "append": "'target-file-size' = '1 mb'",
    "tracked": "'row-tracking.enabled' = 'true'",
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_of_structs_are_assigned(kind: str, run: Sql, rows: Rows) -> None:
    run(
        "CREATE TABLE m (id INT NOT NULL, s STRUCT<a: INT, b: STRUCT<c: STRING, d: INT>>) "
        f"TBLPROPERTIES ({MEMBERS[kind]})"
    )
    run(
        "INSERT INTO m VALUES (1, named_struct('a', 1, 'b', named_struct('c', 'x', 'd', 2))), "
        "(2, NULL)"
    )
    run("UPDATE m SET s.a = s.a + 10, m.s.b.c = concat(s.b.c, '!') WHERE id = 1")
    state = "SELECT id, s.a, s.b.c, s.b.d FROM m ORDER BY id"
    assert rows(state) == [(1, 11, "x!", 2), (2, None, None, None)]
    run("UPDATE m SET s.b.d = 5 WHERE id = 2")
    assert rows(state) == [(1, 11, "x!", 2), (2, None, None, 5)]
    run(
        "MERGE INTO m USING (SELECT 1 AS id, 7 AS n) s0 ON m.id = s0.id "
        "WHEN MATCHED THEN UPDATE SET s.a = s0.n, s.b.c = 'merged'"
    )
    assert rows(state) == [(1, 7, "merged", 2), (2, None, None, 5)]
    for text, message in (
        ("UPDATE m SET s.x = 1", "ROW 's' has no field 'x'"),
        ("UPDATE m SET s.a = 1, s = NULL", "sets column 's' twice"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            run(text)


@pytest.mark.parametrize("kind", MEMBERS)
def test_a_merge_adds_the_columns_of_its_source(
    kind: str, run: Sql, rows: Rows, catalog: Catalog
) -> None:
    run(f"CREATE TABLE e (id INT NOT NULL, v STRING) TBLPROPERTIES ({MEMBERS[kind]})")
    run("INSERT INTO e VALUES (1, 'a'), (2, 'b')")
    source = "USING (SELECT * FROM VALUES (2, 20L, 'x'), (3, 30L, 'y') AS v (id, n, w)) s"
    matched = "ON e.id = s.id WHEN MATCHED THEN UPDATE SET"
    run(f"MERGE WITH SCHEMA EVOLUTION INTO e {source} {matched} v = s.w")
    assert rows("SELECT * FROM e ORDER BY id") == [(1, "a"), (2, "x")]
    run(f"MERGE WITH SCHEMA EVOLUTION INTO e {source} {matched} n = s.n")
    assert rows("SELECT * FROM e ORDER BY id") == [(1, "a", None), (2, "x", 20)]
    run(f"MERGE WITH SCHEMA EVOLUTION INTO e {source} {matched} * WHEN NOT MATCHED THEN INSERT *")
    assert rows("SELECT id, v, n, w FROM e ORDER BY id") == [
        *((1, "a", None, None), (2, "x", 20, "x"), (3, None, 30, "y")),
    ]
    schema = catalog.table("demo.e").schema
    assert [field.name for field in schema.fields] == ["id", "v", "n", "w"]


def test_blobs_are_referred_to_by_functions(run: Sql, rows: Rows, catalog: Catalog) -> None:
    kind = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    for name, option in (("photos", "blob-descriptor-field"), ("t", "blob-view-field")):
        columns = {"k": "INT", "b": "BLOB"}
        catalog.create_table(f"demo.{name}", columns, options={**kind, option: "b"})
    run("INSERT INTO photos VALUES (1, sys.path_to_descriptor('/a/é')), (2, NULL)")
    run("INSERT INTO t SELECT k, sys.blob_view('demo.photos', 'b', k - 1) FROM photos")
    stored = catalog.table("demo.photos", {"blob-as-descriptor": "true"}).to_arrow()
    assert stored.column("b").to_pylist()[0] == encode_descriptor(
        BlobDescriptor(uri="/a/é", offset=0, length=-1)
    )
    run("INSERT INTO t VALUES (3, sys.blob_view('demo.photos', 'b', 0))")
    views = catalog.table("demo.t", {"blob-view.resolve.enabled": "false"}).to_arrow()
    assert views.column("b").to_pylist()[1] == encode_view(
        BlobView(table="demo.photos", field_id=1, row_id=1)
    )
    assert views.column("b").to_pylist()[2] == views.column("b").to_pylist()[0]
    text = "BlobDescriptor{version=2, uri='/a/é', offset=0, length=-1}"
    assert rows("SELECT paimon.sys.descriptor_to_string(path_to_descriptor('/a/é'))") == [(text,)]
    made = "sys.descriptor_to_string(sys.path_to_descriptor(concat('/a', '/é')))"
    assert rows(f"SELECT {made}") == [(text,)]
    assert rows("SELECT sys.path_to_descriptor(NULL)") == [(None,)]
    with pytest.raises(InvalidInputError, match="photos has no column 'x'"):
        run("SELECT sys.blob_view('demo.photos', 'x', 1)")


def test_the_largest_partition_with_rows_is_a_function(run: Sql, rows: Rows) -> None:
    created(run, "append")
    run("INSERT INTO t VALUES (9, 'z', 'it''s')")
    assert rows("SELECT sys.max_pt('t'), paimon.sys.max_pt('demo.t')") == [("it's", "it's")]
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
