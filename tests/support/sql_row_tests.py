"""INSERT, UPDATE, DELETE, MERGE: each one commit, on every kind of table; the same on each engine.

The modules that import these tests give the fixtures `run`, `rows`, `catalog`, `kind` and
`member_kind`, which are names of `KINDS` and `MEMBERS`.
"""

import pytest

from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.table.catalog.catalog import Catalog
from support.spark_sql import Rows, Run

KINDS = {
    "keyed": "'primary-key' = 'dt,id', 'bucket' = '2'",
    "append": "'target-file-size' = '1 mb'",
    "vectors": "'deletion-vectors.enabled' = 'true'",
}
MEMBERS = {
    "keyed": "'primary-key' = 'id', 'bucket' = '1'",
    "append": "'target-file-size' = '1 mb'",
    "tracked": "'row-tracking.enabled' = 'true'",
}
STATE = "SELECT id, name, dt FROM t ORDER BY dt, id"


def created(run: Run, kind: str) -> None:
    run(
        "CREATE TABLE t (id BIGINT NOT NULL, name STRING, dt STRING NOT NULL) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({KINDS[kind]})"
    )
    run("INSERT INTO t VALUES (1, 'a', 'd1'), (2, 'b', 'd1'), (3, 'c', 'd2'), (4, 'd', 'd2')")


@pytest.mark.parametrize("tracked", ["false", "true"])
def test_insert_into_merges_rows_by_the_upsert_key(run: Run, rows: Rows, tracked: str) -> None:
    run(
        "CREATE TABLE t (id INT, seq INT, name STRING) TBLPROPERTIES ('upsert-key' = 'id', "
        f"'sequence.field' = 'seq', 'row-tracking.enabled' = '{tracked}')"
    )
    run(
        "INSERT INTO t VALUES (1, 1, 'a'), (NULL, 1, 'n'), (2, NULL, 'b'), (1, 2, 'c'), (2, 4, 'd')"
    )
    state = "SELECT id, seq, name FROM t ORDER BY id, name"
    assert rows(state) == [(None, 1, "n"), (1, 2, "c"), (2, 4, "d")]
    run("INSERT INTO t VALUES (1, 1, 'old'), (2, 4, 'same'), (NULL, 3, 'new')")
    run("INSERT INTO t (name, id) VALUES ('null', 1), ('null', 5)")
    assert rows(state) == [(None, 3, "new"), (1, 2, "c"), (2, 4, "same"), (5, None, "null")]
    run("INSERT OVERWRITE t VALUES (1, 1, 'a'), (1, 2, 'b')")
    assert rows(state) == [(1, 1, "a"), (1, 2, "b")]
    run("INSERT INTO t VALUES (1, 2, 'both')")
    assert rows(state) == [(1, 2, "both"), (1, 2, "both")]
    run("ALTER TABLE t UNSET TBLPROPERTIES ('sequence.field')")
    with pytest.raises(InvalidInputError, match=r"(?i)source matches|match the same row"):
        run("INSERT INTO t VALUES (1, 8, 'x'), (1, 9, 'y')")
    run("INSERT INTO t (id) VALUES (NULL)")
    assert rows(state) == [(None, None, None), (1, 2, "both"), (1, 2, "both")]


def test_buckets_and_functions_are_those_of_the_connector(run: Run, rows: Rows) -> None:
    run("CREATE TABLE b (id INT, v STRING) TBLPROPERTIES ('bucket' = '10', 'bucket-key' = 'id')")
    run("INSERT INTO b VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, 'd')")
    query = "SELECT id, sys.bucket(10, id), paimon.sys.bucket(id, v, id), __paimon_bucket FROM b"
    found = rows(f"{query} ORDER BY id")
    assert [(one, of_id) for one, of_id, *_ in found] == [(1, 8), (2, 4), (3, 5), (4, 6)]
    assert all(of_id == stored for _, of_id, _, stored in found)
    more = "sys.mod_bucket(10, 17), sys.hive_bucket(10, 'abc'), sys.bucket(10, CAST(NULL AS INT))"
    assert rows(f"SELECT {more}, sys.bucket(10, DATE '2024-01-01')") == [(7, 4, 4, 5)]
    shown = rows("SHOW FUNCTIONS IN sys LIKE '*bucket'")
    assert shown == [(f"paimon.sys.{name}",) for name in ("bucket", "hive_bucket", "mod_bucket")]


def test_partitions_are_added_where_the_catalog_keeps_them(run: Run, rows: Rows) -> None:
    run("CREATE TABLE p (id INT, dt STRING, h INT) PARTITIONED BY (dt, h)")
    run("INSERT INTO p VALUES (1, 'a', 1)")
    run("ALTER TABLE p ADD IF NOT EXISTS PARTITION (dt = 'a', h = 1) PARTITION (dt = 'b', h = 2)")
    assert rows("SHOW PARTITIONS p") == [("dt=a/h=1",)]
    with pytest.raises(AlreadyExistsError, match="Partition 'dt=a/h=1' already exists"):
        run("ALTER TABLE p ADD PARTITION (dt = 'a', h = 1)")
    with pytest.raises(InvalidInputError, match=r"each partition column.*'dt', 'h'"):
        run("ALTER TABLE p ADD PARTITION (dt = 'a')")


def test_rows_are_updated_deleted_and_merged(
    kind: str, run: Run, rows: Rows, catalog: Catalog
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
    assert [s.id for s in table.snapshots] == [1, 2, 3, 4]
    assert table.maintenance.fsck() == []
    assert rows("UPDATE t SET name = 'x' WHERE id = 77") == [(None,)]


def test_rows_with_ids_are_changed_by_the_same_statements(run: Run, rows: Rows) -> None:
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


def test_star_clauses_take_the_source_and_doubled_rows_are_refused(run: Run, rows: Rows) -> None:
    created(run, "keyed")
    run(
        "MERGE INTO t USING (SELECT 1L AS id, 'd1' AS dt, 'z' AS name UNION ALL "
        "SELECT 8L, 'd8', 'y') s ON t.id = s.id AND t.dt = s.dt "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows("SELECT id, name FROM t WHERE id IN (1, 8) ORDER BY id") == [(1, "z"), (8, "y")]
    doubled = "(SELECT 1L AS id UNION ALL SELECT 1L) s ON t.id = s.id WHEN MATCHED THEN "
    with pytest.raises(
        InvalidInputError,
        match=r"More than one row of the source matches|match the same row of the table",
    ):
        run(f"MERGE INTO t USING {doubled} UPDATE SET name = 'twice'")
    run(f"MERGE INTO t USING {doubled} DELETE")
    assert rows("SELECT count(*) FROM t") == [(4,)]


def test_a_clause_of_one_side_needs_no_qualifier(kind: str, run: Run, rows: Rows) -> None:
    created(run, kind)
    run(
        "MERGE INTO t USING (SELECT * FROM VALUES (1L, 'b', 'd1'), (8L, 'y', 'd8'), (9L, 'z', 'd9')"
        " AS v) AS s (id, name, dt) ON t.id = s.id AND t.dt = s.dt "
        "WHEN NOT MATCHED AND name > 'y' THEN INSERT (id, name, dt) VALUES (id, name, dt) "
        "WHEN NOT MATCHED THEN INSERT (id, name, dt) "
        "VALUES (id, array_join(transform(array('q'), name -> concat(name, dt)), ''), dt) "
        "WHEN NOT MATCHED BY SOURCE AND dt = 'd2' THEN UPDATE SET name = upper(name)"
    )
    assert rows("SELECT id, name FROM t ORDER BY id") == [
        *((1, "a"), (2, "b"), (3, "C"), (4, "D"), (8, "qd8"), (9, "z")),
    ]


@pytest.mark.parametrize("name", ["t", "demo.t", "paimon.demo.t"])
def test_columns_are_qualified_by_each_name_of_their_table(
    name: str, kind: str, run: Run, rows: Rows
) -> None:
    def run_named(text: str) -> None:
        run(text.replace("#t", name).replace("#s", name[:-1] + "s"))

    created(run, kind)
    run("CREATE TABLE s AS SELECT 1L AS id, 'x' AS name, 'd1' AS dt UNION ALL SELECT 9L, 'z', 'd1'")
    run_named(
        "MERGE INTO t USING s ON #t.id = #s.id AND #t.dt = #s.dt "
        "WHEN MATCHED AND #s.name > 'w' THEN UPDATE SET #t.name = #s.name "
        "WHEN NOT MATCHED THEN INSERT (id, #t.name, dt) VALUES (#s.id, #s.name, #s.dt) "
        "WHEN NOT MATCHED BY SOURCE AND #t.dt = 'd2' THEN DELETE"
    )
    assert rows("SELECT id, name FROM t ORDER BY id") == [(1, "x"), (2, "b"), (9, "z")]
    run_named("UPDATE t SET #t.name = upper(#t.name) WHERE #t.id = 1")
    run_named("DELETE FROM t WHERE #t.id = 9")
    assert rows("SELECT id, name FROM t ORDER BY id") == [(1, "X"), (2, "b")]
    with pytest.raises(InvalidInputError, match="are both named 't'"):
        run_named("MERGE INTO t USING #t ON #t.id = 1 WHEN MATCHED THEN DELETE")


def test_values_are_assigned_as_spark_does(run: Run, rows: Rows) -> None:
    run("CREATE TABLE v (i INT, s STRING, d DOUBLE, m DECIMAL(10, 2), ts TIMESTAMP)")
    run("INSERT INTO v VALUES (1L, 2, 3.5BD, 4, DATE '2026-01-01')")
    assert rows("SELECT i, s, d, cast(m AS string), cast(ts AS string) FROM v") == [
        (1, "2", 3.5, "4.00", "2026-01-01 00:00:00")
    ]


def test_a_partition_is_named_by_a_value_that_its_column_holds(run: Run, rows: Rows) -> None:
    run("CREATE TABLE w (id INT, k INT) PARTITIONED BY (k)")
    with pytest.raises(InvalidInputError, match=r"1\.5 is not a valid constant"):
        run("INSERT INTO w PARTITION (k = 1.5) VALUES (1)")
    run("INSERT INTO w PARTITION (k = '7') VALUES (1)")
    assert rows("SELECT id, k FROM w") == [(1, 7)]


def test_the_rows_of_partitions_are_replaced_in_one_commit(
    kind: str, run: Run, rows: Rows, catalog: Catalog
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
    kinds = [snapshot.commit_kind.value for snapshot in table.snapshots]
    assert kinds == ["APPEND", "OVERWRITE", "OVERWRITE", "OVERWRITE"]


def test_members_of_structs_are_assigned(member_kind: str, run: Run, rows: Rows) -> None:
    run(
        "CREATE TABLE m (id INT NOT NULL, s STRUCT<a: INT, b: STRUCT<c: STRING, d: INT>>) "
        f"TBLPROPERTIES ({MEMBERS[member_kind]})"
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


def test_a_merge_of_all_columns_stores_them_as_an_insert_does(
    run: Run, rows: Rows, member_kind: str
) -> None:
    run(
        "CREATE TABLE t (id INT, d DECIMAL(6, 2), st STRUCT<x: INT, y: STRING>, a ARRAY<INT>) "
        f"TBLPROPERTIES ({MEMBERS[member_kind]})"
    )
    run("INSERT INTO t VALUES (1, 1, NULL, NULL)")
    run(
        "MERGE INTO t USING (SELECT * FROM VALUES (1, '12.345', named_struct('y', 'k', 'x', NULL), "
        "array()), (2, '7', NULL, array(3L)) AS v (id, d, st, a)) AS s ON t.id = s.id "
        "WHEN MATCHED AND s.d LIKE '%5' THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert rows("SELECT id, CAST(d AS STRING), st.x, st.y, a FROM t ORDER BY id") == [
        *((1, "12.35", None, "k", []), (2, "7.00", None, None, [3]))
    ]


def test_a_merge_adds_the_columns_of_its_source(
    member_kind: str, run: Run, rows: Rows, catalog: Catalog
) -> None:
    run(f"CREATE TABLE e (id INT NOT NULL, v STRING) TBLPROPERTIES ({MEMBERS[member_kind]})")
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


def test_blobs_are_referred_to_by_functions(run: Run, rows: Rows, catalog: Catalog) -> None:
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


def test_rows_have_metadata_columns_that_star_leaves_out(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    created(run, "vectors")
    run("DELETE FROM t WHERE id = 1")
    assert rows(
        "SELECT t.*, b.__paimon_row_index, b.__paimon_partition.dt AS p, b.__paimon_bucket "
        "FROM t JOIN t b USING (id) WHERE b.dt = 'd1'"
    ) == [(2, "b", "d1", 1, "d1", 0)]
    table = catalog.table("demo.t")
    files = table.inspect.system_table("files").to_arrow().to_pylist()
    paths = {file["file_path"] for file in files}
    found = rows("SELECT *, __paimon_file_path AS f, t.__paimon_row_index AS i FROM t")
    assert {row[3] for row in found} == paths
    assert sorted((row[0], row[4]) for row in found) == [(2, 1), (3, 0), (4, 1)]


def test_row_ids_are_columns_of_tables_that_track_rows(run: Run, rows: Rows) -> None:
    run(
        "CREATE TABLE r (id INT, name STRING) TBLPROPERTIES ('row-tracking.enabled' = 'true',"
        " 'data-evolution.enabled' = 'true')"
    )
    run("INSERT INTO r VALUES (1, 'a'), (2, 'b')")
    run("UPDATE r SET name = 'B' WHERE _ROW_ID = 1")
    state = "SELECT *, _ROW_ID, _SEQUENCE_NUMBER FROM r ORDER BY _row_id"
    assert rows(state) == [(1, "a", 0, 2), (2, "B", 1, 2)]
    run(
        "MERGE WITH SCHEMA EVOLUTION INTO r "
        "USING (SELECT _ROW_ID, concat(name, '!') AS name FROM r VERSION AS OF 1) s "
        "ON r._ROW_ID = s._ROW_ID WHEN MATCHED THEN UPDATE SET name = s.name"
    )
    assert rows("SELECT * FROM r WHERE _ROW_ID > 0") == [(2, "b!")]
    run("CREATE TABLE k (id INT) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')")
    run("INSERT INTO k VALUES (1)")
    run("INSERT INTO k VALUES (1)")
    with pytest.raises(UnsupportedFeatureError, match=r"merged from several files.*t\.rows"):
        rows("SELECT __paimon_file_path FROM k")


SETTINGS = {
    "spark.paimon.*.*.other.scan.snapshot-id": "xxxx",
    "spark.paimon.scan.snapshot-id": "abcd",
    "spark.paimon.*.demo.t.scan.snapshot-id": "abcd",
    "`spark.paimon.paimon.*.t.scan.version`": "abcd",
}
"""The names that a read of the table gives with each of them."""


def test_settings_are_options_of_tables(run: Run, rows: Rows) -> None:
    created(run, "append")
    run("UPDATE t SET name = 'x'")
    for gone, (key, found) in enumerate(SETTINGS.items(), 1):
        run(f"-- as in the documentation\nSET {key}=1")
        try:
            names = [str(name) for (name,) in rows("SELECT name FROM t ORDER BY id")]
            assert "".join(names) == found, key
            assert rows("SELECT min(name) FROM t VERSION AS OF 2") == [("x",)]
            deleted = rows(f"DELETE FROM t WHERE name = 'x' AND id = {gone}")  # noqa: S608 - a number
            assert deleted == [(2 + gone,)]
            assert (key.strip("`"), "1") in rows("SET")
        finally:
            run(f"RESET {key}")
        assert rows("SELECT count(*) FROM t WHERE name = 'x'") == [(4 - gone,)], key
    for key in SETTINGS:
        run(f"SET {key} = 1")
    run("RESET")
    assert rows("SELECT max(name) FROM t VERSION AS OF 1") == [("d",)]
    assert rows("SELECT count(*) FROM t") == [(0,)]
    with pytest.raises(InvalidInputError, match=r"Did you mean spark\.paimon\.scan\.snapshot-id"):
        run("SET spark.paimon.scan.snapshot-idd = 1")


def test_settings_name_a_branch_and_leave_fixed_options(run: Run, rows: Rows) -> None:
    created(run, "append")
    before = rows("SELECT * FROM t")
    run("CALL sys.create_branch('t', 'b')")
    run("SET spark.paimon.branch = b")
    try:
        run("INSERT INTO t VALUES (7, 'g', 'd1')")
        assert rows("SELECT * FROM t") == [(7, "g", "d1")]
    finally:
        run("RESET spark.paimon.branch")
    assert (rows("SELECT * FROM t"), rows("SELECT id FROM `t$branch_b`")) == (before, [(7,)])
    run("SET spark.paimon.bucket = 4")
    try:
        with pytest.raises(InvalidInputError, match="'bucket' cannot be changed"):
            rows("SELECT * FROM t")
    finally:
        run("RESET spark.paimon.bucket")


def test_an_insert_takes_options_of_the_table(run: Run, rows: Rows) -> None:
    created(run, "append")
    run("INSERT INTO t WITH ('file.format' = 'orc') VALUES (5, 'e', 'd1')")
    run("INSERT OVERWRITE t WITH (file.format = 'avro') PARTITION (dt = 'd2') SELECT 6, 'f'")
    run("INSERT INTO t WITH one AS (SELECT 7 AS id) SELECT id, 'g', 'd3' FROM one")
    files = "SELECT file_format, count(*) FROM t$files GROUP BY file_format ORDER BY file_format"
    assert rows(files) == [("avro", 1), ("orc", 1), ("parquet", 2)]
    with pytest.raises(InvalidInputError, match=r"Did you mean 'file\.format'"):
        run("INSERT INTO t WITH ('file.formt' = 'orc') VALUES (5, 'e', 'd1')")


def test_a_setting_adds_columns_of_new_rows(run: Run, rows: Rows) -> None:
    created(run, "append")
    run("SET `spark.paimon.write.merge-schema` = true")
    try:
        run("INSERT INTO t BY NAME SELECT 5 AS id, 'd1' AS dt, 7 AS more")
        run(
            "MERGE INTO t USING (SELECT 6L AS id, 'd1' AS dt, 'f' AS name, 8 AS more, 9 AS most) s "
            "ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
        )
    finally:
        run("RESET spark.paimon.write.merge-schema")
    assert rows("SELECT * FROM t WHERE id > 4 ORDER BY id") == [
        *((5, None, "d1", 7, None), (6, "f", "d1", 8, 9)),
    ]
    with pytest.raises(InvalidInputError, match="no column 'new'"):
        run("INSERT INTO t BY NAME SELECT 5 AS id, 'd1' AS dt, 7 AS new")


def test_nested_columns_have_default_values(run: Run, rows: Rows) -> None:
    run(
        "CREATE TABLE d (a INT, l ARRAY<STRING> DEFAULT ARRAY('x, y', NULL, 'z'), "
        "m MAP<STRING, INT> DEFAULT MAP('k', 1, 'l', 2), "
        "s STRUCT<x: INT, y: ARRAY<DATE>> DEFAULT STRUCT(42, ARRAY('2026-01-02')))"
    )
    run("INSERT INTO d (a) VALUES (1)")
    run("INSERT INTO d VALUES (2, DEFAULT, DEFAULT, DEFAULT)")
    run("ALTER TABLE d ALTER COLUMN l SET DEFAULT '[]'")
    run("ALTER TABLE d ALTER COLUMN m SET DEFAULT '{a -> 7}'")
    run(
        "MERGE INTO d USING (SELECT 3 AS a) s ON d.a = s.a "
        "WHEN NOT MATCHED THEN INSERT (a) VALUES (a)"
    )
    assert rows(
        "SELECT a, array_join(l, '|', '-'), try_element_at(m, 'k'), try_element_at(m, 'a'), s.x, "
        "string(s.y[0]) FROM d ORDER BY a"
    ) == [
        (1, "x, y|-|z", 1, None, 42, "2026-01-02"),
        (2, "x, y|-|z", 1, None, 42, "2026-01-02"),
        (3, "", None, 7, 42, "2026-01-02"),
    ]
    for default in ("'{a}'", "ARRAY(1)", "MAP('k')"):
        with pytest.raises(InvalidInputError, match="cannot be read as MAP"):
            run(f"ALTER TABLE d ALTER COLUMN m SET DEFAULT {default}")
