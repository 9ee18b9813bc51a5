"""CALL sys.…: the upkeep of tables under Java's names; what runs on Spark is in tests/spark."""

from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.sql_statements.procedures.call_statement import PROCEDURES, signature
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.migrated_files import equal_names
from support.spark_sql import Rows, Run


@pytest.fixture
def orders(catalog: Catalog) -> Table:
    """An append table with five snapshots."""
    return catalog.table("demo.orders")


def test_tags_and_branches_are_made_moved_and_removed(run: Run, rows: Rows, orders: Table) -> None:
    millis = orders.snapshots[3].time_millis
    for call in (
        "create_tag('demo.orders', 'a', 2)",
        "create_tag(table => 'demo.orders', tag => 'b', snapshot => 3, time_retained => '2 d')",
        "replace_tag('demo.orders', tag_name => 'a', snapshot_id => 1)",
        "rename_tag(table => 'demo.orders', tag => 'a', target_tag => 'c')",
        "create_branch('demo.orders', 'b1', 'c')",
        "create_branch('demo.orders', 'b2')",
        "rename_branch('demo.orders', 'b1', 'b3')",
        "delete_branch('demo.orders', 'b2')",
    ):
        assert rows(f"CALL sys.{call}") == [(True,)]
    assert {tag.name: tag.snapshot.id for tag in orders.tags} == {"b": 3, "c": 1}
    assert list(orders.branches) == ["b3"]
    (found,) = rows(f"CALL sys.create_tag_from_timestamp('demo.orders', 't', {millis})")
    first = next(s.id for s in orders.snapshots if s.time_millis >= millis)
    assert found[:2] == ("t", first)
    run("CALL sys.delete_tag('demo.orders', 'b,t')")
    assert rows("CALL sys.expire_tags('demo.orders')") == [("No expired tags.",)]
    run("INSERT INTO demo.orders$branch_b3 (id) VALUES (1000)")
    run("CALL sys.fast_forward('demo.orders', 'b3')")
    assert rows("SELECT count(*) FROM demo.orders") == [(7,)]


def test_partitions_are_compacted_by_values_with_quotes(catalog: Catalog, rows: Rows) -> None:
    columns = {"id": "INT", "p": "STRING"}
    options = {"partition.default-name": "none"}
    table = catalog.create_table("demo.odd", columns, partition_by="p", options=options)
    for value in ("it's", "a\\b", "\\", 'say "x"', None):
        table.append([{"id": 1, "p": value}])
        table.append([{"id": 2, "p": value}])
        text = ("none" if value is None else value).replace("\\", "\\\\").replace("'", "\\'")
        rows(f"CALL sys.compact(table => 'demo.odd', partitions => 'p={text}')")
        where = pe.col("p").is_null() if value is None else pe.col("p") == value
        assert sum(len(split.files) for split in table.scan(where=where).plan().splits) == 1, value


def test_tables_are_rolled_back_and_snapshots_expire(run: Run, rows: Rows, orders: Table) -> None:
    assert rows("CALL sys.rollback(table => 'demo.orders', version => '4')") == [(5, 4)]
    moment = orders.snapshots[3].time_millis
    last = [s.id for s in orders.snapshots if s.time_millis <= moment][-1]
    assert rows(f"CALL sys.rollback_to_timestamp('demo.orders', {moment})") == [(4, last)]
    run("CALL sys.create_tag('demo.orders', 'v1', 1)")
    gone = rows("CALL sys.expire_snapshots('demo.orders', retain_max => 1)")
    assert gone == [(last - 1,)]
    assert rows("CALL sys.rollback('demo.orders', tag => 'v1')") == [(last, 1)]
    assert rows("CALL sys.remove_orphan_files('demo.*', dry_run => true)") == [(0, 0)]
    assert rows("CALL sys.fsck('demo.orders')") == []
    with pytest.raises(NotFoundError, match="watermark of at most 5"):
        run("CALL sys.rollback_to_watermark('demo.orders', 5)")


def test_consumers_are_reset_and_cleared(run: Run, rows: Rows, orders: Table) -> None:
    run("CALL sys.reset_consumer('demo.orders', consumerId => 'a', nextSnapshotId => 3)")
    run(
        "CALL sys.reset_consumer(table => 'demo.orders', consumer_id => 'b', next_snapshot_id => 4)"
    )
    assert orders.maintenance.consumers["a"] == Consumer(next_snapshot=3)
    run("CALL sys.reset_consumer('demo.orders', 'a')")
    for name in ("my1", "my2", "my10"):
        run(f"CALL sys.reset_consumer('demo.orders', '{name}', 1)")
    run("CALL sys.clear_consumers('demo.orders', 'my.*', 'my1.*')")
    assert orders._store.consumers.ids() == ["b", "my1", "my10"]
    run("CALL sys.clear_consumers('demo.orders', '', excluding_consumers => 'b')")
    assert orders._store.consumers.ids() == ["b"]
    run("CALL sys.clear_consumers('demo.orders')")
    assert orders._store.consumers.ids() == []
    assert rows("CALL sys.expire_consumers('demo.orders')") == []


def test_old_partitions_expire(run: Run, rows: Rows) -> None:
    run("CREATE TABLE days (id INT, dt STRING) PARTITIONED BY (dt)")
    run("INSERT INTO days VALUES (1, '2020-01-01'), (2, '2999-01-01')")
    call = "CALL sys.expire_partitions('days', '1 d', timestamp_formatter => 'yyyy-MM-dd')"
    assert rows(call) == [("dt=2020-01-01",)]
    assert rows("SELECT id FROM days") == [(2,)]


def test_tables_are_rescaled_as_a_whole_or_in_some_partitions(run: Run, rows: Rows) -> None:
    run(
        "CREATE TABLE counted (k INT NOT NULL, dt STRING NOT NULL) PARTITIONED BY (dt) "
        "TBLPROPERTIES ('primary-key' = 'k,dt', 'bucket' = '2')"
    )
    run("INSERT INTO counted SELECT id, CONCAT('d', id % 2) FROM range(40)")
    buckets = "SELECT `partition`, count(DISTINCT bucket) FROM counted$files GROUP BY 1 ORDER BY 1"
    assert [count for _, count in rows(buckets)] == [2, 2]
    assert rows("CALL sys.rescale('counted', 4, 'dt=d0')") == [(True,)]
    assert [count for _, count in rows(buckets)] == [4, 2]
    run("CALL sys.rescale(table => 'counted', bucket_num => 3, where => \"dt = 'd1'\")")
    assert [count for _, count in rows(buckets)] == [4, 3]
    run("CALL sys.rescale(`table` => 'counted', bucketNum => 5)")
    assert [count for _, count in rows(buckets)] == [5, 5]
    run("INSERT INTO counted VALUES (100, 'd1')")
    assert rows("SELECT count(*), sum(k) FROM counted") == [(41, 880)]
    run("CALL sys.compact('counted', buckets => '0-1, 3')")


def test_damaged_tables_are_repaired(run: Run, rows: Rows, orders: Table) -> None:
    run("CREATE TABLE damaged (id INT)")
    assert orders.path.endswith("/orders")
    folder = Path(orders.path).parent / "damaged"
    run("INSERT INTO damaged VALUES (0)")
    (lost,) = folder.rglob("data-*")
    for number in range(1, 4):
        run(f"INSERT INTO damaged VALUES ({number})")  # noqa: S608 - a number
    lost.unlink()
    (folder / "snapshot" / "snapshot-2").unlink()
    call = "CALL sys.remove_unexisting_files('damaged', dry_run => true)"
    assert rows(call) == [(str(lost),)]
    assert rows("CALL sys.remove_unexisting_files('damaged', parallelism => 2)") == [(str(lost),)]
    assert rows("SELECT id FROM damaged ORDER BY id") == [(1,), (2,), (3,)]
    assert rows("CALL sys.repair_earliest_snapshot('damaged', 3)") == [(1, 3)]
    assert rows("CALL sys.purge_files('damaged')") == [("Success",)]
    assert rows("SELECT id FROM damaged") == []


def test_partitions_are_marked_as_done(rows: Rows, orders: Table) -> None:
    call = "CALL sys.mark_partition_done('demo.orders', 'dt=2026-01-01;dt=2026-01-02')"
    assert rows(call) == [(True,)]
    done = sorted(path.parent.name for path in Path(orders.path).rglob("_SUCCESS"))
    assert done == ["dt=20454", "dt=20455"]


def test_file_indexes_are_built_and_branches_merged(run: Run, rows: Rows) -> None:
    run("CREATE TABLE logged (id INT, dt STRING) PARTITIONED BY (dt)")
    run("INSERT INTO logged VALUES (1, 'a'), (2, 'b')")
    run("ALTER TABLE logged SET TBLPROPERTIES ('file-index.bloom-filter.columns' = 'id')")
    assert rows("CALL sys.rewrite_file_index('logged', \"dt = 'a'\")") == [(1, 1)]
    assert rows("CALL sys.rewrite_file_index('logged')") == [(1, 1)]
    assert rows("CALL sys.rewrite_file_index('logged')") == [(0, 0)]
    assert rows("SELECT id FROM logged WHERE id = 2") == [(2,)]
    run("CREATE TABLE merged (id INT)")
    run("INSERT INTO merged VALUES (1)")
    run("CALL sys.create_tag('merged', 't')")
    run("CALL sys.create_branch('merged', 'b', 't')")
    run("INSERT INTO merged$branch_b VALUES (2)")
    assert rows("CALL sys.merge_branch('merged', 'b')") == [(True,)]
    run("CALL sys.merge_branch(table => 'merged', source_branch => 'main', target_branch => 'b')")
    assert rows("SELECT id FROM merged$branch_b ORDER BY id") == [(1,), (2,)]
    assert rows("SELECT id FROM merged ORDER BY id") == [(1,), (2,)]


@pytest.mark.parametrize(
    "options",
    [
        "'primary-key' = 'k,dt', 'bucket' = '2'",
        "'deletion-vectors.enabled' = 'true'",
        "'file-index.bloom-filter.columns' = 'k', 'file-index.in-manifest-threshold' = '1 b'",
    ],
)
def test_the_files_of_a_table_are_copied_and_kept_in_step(
    options: str, run: Run, rows: Rows, catalog: Catalog
) -> None:
    run(
        "CREATE TABLE source (k INT NOT NULL, v STRING, dt STRING NOT NULL) "
        f"PARTITIONED BY (dt) TBLPROPERTIES ({options})"
    )
    run("INSERT INTO source SELECT id, 'a', CONCAT('d', id % 2) FROM range(10)")
    run("DELETE FROM source WHERE k = 3")
    copy = "CALL sys.copy('source', 'backup.copied')"
    assert rows(f"{copy.removesuffix(')')}, where => \"dt = 'd1'\")") == [(True,)]
    assert rows("SELECT k FROM backup.copied ORDER BY k") == [(1,), (5,), (7,), (9,)]
    run(copy)
    state = "SELECT * FROM {} ORDER BY k"
    assert rows(state.format("backup.copied")) == rows(state.format("source"))
    run("UPDATE source SET v = 'b' WHERE dt = 'd0'")
    run(copy)
    assert rows(state.format("backup.copied")) == rows(state.format("source"))
    table = catalog.table("backup.copied")
    assert table.maintenance.fsck(read_rows=True) == []
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2, 3]
    run(copy)
    assert len(table.snapshots) == 3


@pytest.mark.parametrize("bucket", ["", ", 'bucket' = '2', 'bucket-key' = 'k'"])
def test_a_copy_brings_back_files_that_the_copied_table_has_removed(
    run: Run, rows: Rows, catalog: Catalog, bucket: str
) -> None:
    """The entries that removed them stay in its manifests."""
    run(f"CREATE TABLE source (k INT) TBLPROPERTIES ('manifest.merge-min-count' = '99'{bucket})")
    for number in range(3):
        catalog.table("demo.source").append([{"k": number}])
    copy = "CALL sys.copy('source', 'copied')"
    run(copy)
    for act in (
        "CALL sys.compact('copied')",
        "TRUNCATE TABLE copied",
        "INSERT OVERWRITE copied VALUES (9)",
        "DELETE FROM copied WHERE k < 2",
        "INSERT OVERWRITE source VALUES (7)",
        "CALL sys.rollback('source', '3')",
    ):
        run(act)
        run(copy)
        expected = rows("SELECT k FROM source ORDER BY k")
        assert rows("SELECT k FROM copied ORDER BY k") == expected, act
    table = catalog.table("demo.copied")
    assert table.maintenance.fsck(read_rows=True) == []
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_copy_of_files_with_the_same_name_in_several_partitions(
    run: Run, rows: Rows, catalog: Catalog
) -> None:
    run(
        "CREATE TABLE source (k INT, p STRING) PARTITIONED BY (p) "
        "TBLPROPERTIES ('deletion-vectors.enabled' = 'true')"
    )
    source = catalog.table("demo.source")
    with equal_names():
        source.append([{"k": k, "p": p} for p in ("a", "b") for k in range(4)])
    for act in (
        "DELETE FROM source WHERE p = 'a' AND k = 1",
        "DELETE FROM copied WHERE p = 'b'",
        "DELETE FROM source WHERE p = 'b' AND k = 2",
    ):
        run(act)
        run("CALL sys.copy('source', 'copied')")
        expected = rows("SELECT * FROM source ORDER BY p, k")
        assert rows("SELECT * FROM copied ORDER BY p, k") == expected, act
    assert catalog.table("demo.copied").maintenance.fsck(read_rows=True) == []


def test_all_tables_of_a_database_are_compacted(rows: Rows, orders: Table) -> None:
    call = (
        "CALL sys.compact_database(including_tables => '.*[.]o.*', options => 'write-only=false')"
    )
    assert rows(call) == [("Compact database finished. Success: 1, Failed: 0",)]
    assert orders.inspect.files().num_rows == 3
    assert rows("CALL sys.compact_database('nothing')") == [
        ("Compact database finished. Success: 0, Failed: 0",)
    ]


def test_idle_partitions_are_compacted_and_old_tags_expire(
    run: Run, rows: Rows, orders: Table
) -> None:
    run("CALL sys.compact('demo.orders', partition_idle_time => '1 d')")
    assert orders.inspect.files().num_rows == 15
    run("CALL sys.compact('demo.orders', 'dt=2026-01-01', partition_idle_time => '0 s')")
    assert orders.inspect.files().num_rows == 11
    orders.create_tag("old")
    none = [("No expired tags.",)]
    assert rows("CALL sys.expire_tags('demo.orders', '2001-01-01 00:00:00')") == none
    assert rows("CALL sys.expire_tags('demo.orders', older_than => '2999-01-01')") == [("old",)]


def test_rows_are_found_through_a_global_index(run: Run, rows: Rows, catalog: Catalog) -> None:
    run(
        "CREATE TABLE demo.tracked (id INT, city STRING) TBLPROPERTIES "
        "('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true')"
    )
    run("INSERT INTO demo.tracked SELECT CAST(id AS INT), concat('c', id % 7) FROM range(100)")
    tracked = catalog.table("demo.tracked")
    call = "global_index(table => 'demo.tracked', index_column => 'id', index_type => 'BTREE')"
    assert rows(f"CALL sys.create_{call}") == [(True,)]
    assert "btree" in str(tracked.explain("id = 42"))
    assert rows("SELECT city FROM demo.tracked WHERE id = 42") == [("c0",)]
    assert rows(f"CALL sys.drop_{call}") == [(True, 1)]
    assert "btree" not in str(tracked.explain("id = 42"))


def test_procedures_are_shown_with_their_arguments(rows: Rows) -> None:
    assert rows("SHOW PROCEDURES LIKE 'delete*'") == [
        ("delete_branch", "delete_branch(table, branch)"),
        ("delete_tag", "delete_tag(table, tag)"),
    ]
    of_catalogs = ("alter_view_dialect", "create_function", "alter_function", "drop_function")
    without_table = {"compact_database", "copy", "migrate_table", "migrate_database", *of_catalogs}
    for name in set(PROCEDURES) - without_table:
        assert signature(name).startswith(f"{name}(table")


WRONG_CALLS = [
    (
        "sys.compactt('demo.orders')",
        "Unknown procedure 'compactt'.*Did you mean 'compact'.*create_tag",
    ),
    ("sys.refresh_object_table('demo.orders')", "refresh_object_table is not supported"),
    ("sys.merge_into('demo.orders')", "Write MERGE INTO"),
    ("sys.rollback_to('demo.orders', 1)", r"sys\.rollback\(table"),
    ("sys.vector_search('demo.orders', 'v', '1.0', 5)", r"FROM vector_search\("),
    ("sys.reset_consumer('demo.orders', consumer_id => )", "argument consumer_id has no value"),
    ("sys.clear_consumers('demo.orders', '(')", "is not a regular expression"),
    ("sys.rescale('demo.orders', 4)", "The table has no buckets"),
    ("sys.copy('demo.orders', 'demo.customers')", "they have different columns"),
    ("sys.copy('demo.nope', 'demo.o')", "Table 'nope' does not exist"),
    ("sys.copy('demo.orders')", "'target_table' is missing"),
    ("sys.create_global_index('demo.orders', 'id', 'btree')", "data evolution"),
    ("sys.migrate_table('delta', 'default.x')", "source_type = 'delta' is unknown"),
    (
        "sys.migrate_table('hive', 'default.nope')",
        "default.nope without Spark is not supported",
    ),
    ("sys.migrate_table('hive', '/no/folder')", "'target_table' is missing"),
    ("sys.migrate_database('hive', 'nope')", "Database 'nope' does not exist"),
    ("sys.repair('demo')", "into a Hive metastore"),
    ("sys.reassign_row_id('demo.orders')", "without data evolution"),
    ("sys.compact_chain_table('demo.orders', 'dt=2026-01-01')", "a chain table"),
    ("sys.drop_function('demo.f')", "Function 'f' does not exist"),
    (
        'sys.create_function(\'demo.f\', \'[{"id": 0, "name": "x", "type": "INT"}]\', \'[]\')',
        "Creating a function in a catalog with metastore='filesystem' is not supported",
    ),
    ("sys.create_function('demo.f', '{}', '[]')", "is not a list of fields"),
    ("sys.alter_function('demo.f', '{\"action\": \"rise\"}')", "'addDefinition'"),
    ("sys.alter_function('demo.f', 'x')", "is not JSON"),
    (
        'sys.alter_function(\'demo.f\', \'{"action": "removeOption", "key": "a"}\')',
        "Function 'f' does not exist",
    ),
    ("sys.alter_view_dialect('demo.v', 'drop')", "View 'v' does not exist"),
    ("sys.alter_view_dialect('demo.v', 'rise')", "Use add, update or drop"),
    ("sys.compact('demo.parcels', buckets => '1-')", "not of the form '0-99,200-299'"),
    ("sys.compact('demo.parcels', buckets => '3-1')", "not of the form '0-99,200-299'"),
    ("compact('demo.orders')", r"Write CALL sys\.compact"),
    ("sys.compact(tabel => 'x')", r"argument tabel is unknown.*CALL sys\.compact\(table,"),
    ("sys.compact('demo.orders', table => 'x')", "argument table is given twice"),
    ("sys.compact()", "argument 'table' is missing"),
    ("sys.compact('demo.nope')", "Table 'nope' does not exist"),
    ("sys.compact('demo.orders', 'x')", "not of the form"),
    ("sys.compact('demo.orders', where => 'id = 1')", "'id', which is not a partition column"),
    ("sys.compact('demo.orders', compact_strategy => 'most')", "'full' or 'minor'"),
    ("sys.compact('demo.orders', order_by => 'id')", "order_by is given without"),
    ("sys.create_tag('demo.orders', 'v', 'one')", "'one' is not an integer"),
    ("sys.create_tag('demo.orders', v)", "tag => v is not a constant"),
    ("sys.rollback_to_timestamp('demo.orders', 'soon')", "'soon' is not a timestamp"),
    ("sys.remove_orphan_files('demo.orders', dry_run => 'maybe')", "neither true nor false"),
    ("sys.remove_orphan_files('demo.orders', dry_run => NULL)", "neither true nor false"),
    (
        "sys.clear_consumers('demo.orders', including_consumers => NULL)",
        "must not be NULL",
    ),
    (
        "sys.clear_consumers('demo.orders', including_consumers => ' ')",
        "must not be ' '",
    ),
    (
        "sys.reset_consumer('demo.orders', 'a', NULL)",
        "Omit next_snapshot_id to delete",
    ),
    ("sys.delete_tag('demo.orders', '')", "'tag' is missing"),
    ("sys.delete_tag('demo.orders', 'v1,')", "'v1,' contains an empty name"),
    ("sys.delete_branch('demo.orders', NULL)", "'branch' is missing"),
    ("sys.rollback('demo.orders', version => '')", "'' cannot be the name of a tag"),
]


def test_a_wrong_call_is_answered_with_what_is_right(run: Run) -> None:
    expected = (InvalidInputError, NotFoundError, UnsupportedFeatureError)
    for call, message in WRONG_CALLS:
        with pytest.raises(expected, match=message):
            run(f"CALL {call}")


def test_append_tables_are_sorted_by_a_call(run: Run, rows: Rows) -> None:
    run("CREATE TABLE demo.points (x INT, y INT)")
    run("INSERT INTO demo.points VALUES (3, 1), (1, 3)")
    run("INSERT INTO demo.points VALUES (2, 2), (0, 9)")
    run("CALL sys.compact(table => 'demo.points', order_strategy => 'order', order_by => 'x')")
    assert [x for (x,) in rows("SELECT x FROM demo.points")] == [0, 1, 2, 3]
    with pytest.raises(InvalidInputError, match="order_by is given without order_strategy"):
        run("CALL sys.compact(table => 'demo.points', order_by => 'x')")


@pytest.mark.parametrize(
    "options",
    [
        "'bucket' = '1', 'deletion-vectors.enabled' = 'true', 'write-only' = 'true'",
        "'bucket' = '-2'",
    ],
)
def test_a_condition_names_also_partitions_whose_rows_wait_for_a_compaction(
    run: Run, rows: Rows, options: str
) -> None:
    run(
        "CREATE TABLE demo.waiting (id INT, dt STRING) PARTITIONED BY (dt) "
        f"TBLPROPERTIES ('primary-key' = 'id,dt', {options})"
    )
    run("INSERT INTO demo.waiting VALUES (1, 'p'), (2, 'q'), (3, 'r')")
    for where, ids in (("dt = 'x'", []), ("dt IN ('q', 'x')", [2]), ("dt > 'q'", [2, 3])):
        run(f"CALL sys.compact(table => 'demo.waiting', where => \"{where}\")")
        assert rows("SELECT id FROM demo.waiting ORDER BY id") == [(one,) for one in ids]
