"""Reads through Spark: the same rows as without it, and no trap of the Python Data Source."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, StructField, StructType

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.spark.reads.read_table import DRIVER_BYTES, read
from paimon_explore.spark.reads.row_count import count
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table
from support.golden import GoldenTables
from support.migrated_files import drop_partition_columns
from support.rows import difference
from support.spark_rows import in_micros

NAME = "paimon_explore"
GOLDEN = [
    ("java200", "all_types_append_parquet"),
    ("java200", "all_types_append_parquet_nested"),
    ("java200", "all_types_pk_avro"),
    ("java200", "all_types_pk_orc"),
    ("java200", "append_part_types"),
    ("java200", "append_part_null"),
    ("java200", "append_dv"),
    ("java200", "chain_table"),
    ("java200", "data_evolution"),
    ("java200", "dv_pk"),
    ("java200", "me_agg"),
    ("java200", "me_partial_seq"),
    ("java200", "odd_names"),
    ("java142", "pk_parquet"),
    ("java09", "pk_parquet"),
    ("pypaimon21", "append_parquet"),
    ("rust04", "append_parquet"),
]


def table_of(catalog: Catalog, name: str) -> Table:
    return catalog.table(f"demo.{name}")


@pytest.mark.parametrize(("writer", "name"), GOLDEN)
def test_tables_of_other_writers_read_the_same_through_both_doors(
    writer: str, name: str, golden: GoldenTables, spark: SparkSession
) -> None:
    if name not in golden.names(writer):
        pytest.skip(f"{writer} has no table {name}")
    table = pe.open_table(golden.table(writer, name).folder)
    columns = [c.name for c in table.schema.fields if "VARIANT" not in str(c.type)]
    expected = in_micros(table.scan(columns).to_arrow())
    fast = read(spark, table, columns)
    assert difference(expected, fast.toArrow()) == ""
    conventional = (
        spark.read.format(NAME)
        .load(table.path)
        .select([f"`{column.replace('`', '``')}`" for column in columns])
    )
    assert difference(expected, conventional.toArrow()) == ""


def test_two_filters_of_one_frame_do_not_leak_into_each_other(
    spark: SparkSession, catalog: Catalog
) -> None:
    df = spark.read.format(NAME).load(table_of(catalog, "orders").path)
    small, large = df.filter("id < 100"), df.filter("id >= 100")
    assert small.union(large).count() == 30
    assert small.unionAll(large).filter("city IS NOT NULL OR id = 0").count() == 26


def test_a_loaded_table_stays_at_its_snapshot_and_a_new_load_sees_more(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    loaded = spark.read.format(NAME).load(table.path)
    fast = read(spark, table)
    loaded.createOrReplaceTempView("orders_before")
    table.append([{"id": 1000}])
    assert loaded.count() == 30
    assert fast.count() == 30
    assert spark.table("orders_before").count() == 30
    assert spark.read.format(NAME).load(table.path).count() == 31
    assert read(spark, table).count() == 31


def test_every_way_to_name_a_point_in_time_reads_that_snapshot(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    second = table.snapshots[2].time_millis
    moment = datetime.fromtimestamp(second / 1000, UTC)
    until = [s.id for s in table.snapshots if s.time_millis <= second][-1]
    rows = {"scan.snapshot-id": 12, "scan.version": 12, "scan.timestamp-millis": 6 * until}
    given = {"scan.snapshot-id": "2", "scan.version": "2", "scan.timestamp-millis": str(second)}
    for option, value in given.items():
        found = spark.read.format(NAME).option(option, value).load(table.path)
        assert found.count() == rows[option]
    assert read(spark, table, snapshot=2).count() == 12
    assert read(spark, table.at(snapshot=3)).count() == 18
    assert read(spark, table.path, timestamp=moment).count() == 6 * until


def test_a_snapshot_that_is_not_there_is_named_with_the_range_of_those_that_are(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    with pytest.raises(AnalysisException, match="Available snapshots: 1 to 5"):
        spark.read.format(NAME).option("scan.snapshot-id", 99).load(table.path).count()
    with pytest.raises(NotFoundError, match="Available snapshots: 1 to 5"):
        read(spark, table, snapshot=99)


def test_a_tag_is_read_by_its_name(spark: SparkSession, golden: GoldenTables) -> None:
    tagged = pe.open_table(golden.table("java200", "tags").folder)
    tag = next(iter(tagged.tags))
    expected = tagged.at(tag=tag.name).to_arrow().num_rows
    by_option = spark.read.format(NAME).option("scan.tag-name", tag.name).load(tagged.path)
    assert by_option.count() == expected
    assert read(spark, tagged, tag=tag.name).count() == expected


def test_columns_and_where_leave_out_columns_rows_and_files(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    where = "dt = '2026-01-02' AND id < 200"
    expected = table.scan(["id"], where).to_arrow()
    fast = read(spark, table, ["id"], where)
    reader = spark.read.format(NAME).option("where", where)
    assert {r.id for r in fast.collect()} == set(expected["id"].to_pylist())
    by_option = reader.option("columns", "id").load(table.path)
    assert by_option.columns == ["id"]
    assert {r.id for r in by_option.collect()} == set(expected["id"].to_pylist())
    as_list = reader.option("columns", '["city", "id"]').load(table.path)
    assert as_list.columns == ["city", "id"]
    assert fast.rdd.getNumPartitions() <= 2


def test_partition_columns_that_files_lack_have_the_values_of_the_partition(
    spark: SparkSession, catalog: Catalog
) -> None:
    columns = {"id": "INT", "day": "DATE", "n": "INT"}
    table = catalog.create_table(
        "demo.migrated", columns, partition_by=["day", "n"], options={"bucket": "-1"}
    )
    rows = [{"id": i, "day": date(2026, 1, 1 + i % 2), "n": i % 3} for i in range(30)]
    table.append(rows)
    drop_partition_columns(table, ["day", "n"])
    table = Catalog(catalog.warehouse).table("demo.migrated")
    for chosen, where in ((None, None), (["id", "n"], "day = DATE '2026-01-01' AND id > 3")):
        found = read(spark, table, columns=chosen, where=where)
        assert difference(found.toArrow(), table.scan(chosen, where).to_arrow()) == ""
    assert read(spark, table).where("n = 2").count() == 10


def test_a_schema_of_the_user_leaves_out_columns_and_may_not_change_types(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    narrow = spark.read.format(NAME).schema("city string, dt date").load(table.path)
    assert narrow.columns == ["city", "dt"]
    assert narrow.count() == 30
    wrong = StructType([StructField("id", IntegerType())])
    with pytest.raises(
        AnalysisException, match="declares column 'id' as int, but the column has type bigint"
    ):
        spark.read.format(NAME).schema(wrong).load(table.path).collect()


def test_a_schema_of_the_user_may_allow_nulls_everywhere(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    increment = {"incremental-between": "0,2"}
    reads: list[tuple[str, dict[str, str]]] = [
        *((f"${name}", {}) for name in ("files", "snapshots", "ro", "audit_log", "binlog")),
        ("", {}),
        ("", increment),
        ("", {**increment, "incremental-between-scan-mode": "diff"}),
    ]
    for suffix, options in reads:
        loaded = spark.read.format(NAME).options(**options).load(table.path + suffix)
        columns = [f"`{f.name}` {f.dataType.simpleString()}" for f in loaded.schema.fields]
        declared = spark.read.format(NAME).schema(", ".join(columns)).options(**options)
        found = declared.load(table.path + suffix)
        assert all(field.nullable for field in found.schema.fields)
        assert found.collect() == loaded.collect(), suffix


def test_names_of_columns_follow_the_rule_of_local_reads_and_fields_are_selected_by_spark(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "types")
    assert read(spark, table, ["S", "row"]).columns == ["s", "row"]
    with pytest.raises(UnsupportedFeatureError, match="select the field on the DataFrame"):
        read(spark, table, ["row.x"])
    assert [row.x for row in read(spark, table).select("row.x").collect()] == [1, None]


def test_a_table_without_a_snapshot_has_no_rows(spark: SparkSession, catalog: Catalog) -> None:
    table = table_of(catalog, "empty")
    assert read(spark, table).collect() == []
    assert spark.read.format(NAME).load(table.path).collect() == []


def test_system_tables_are_frames(spark: SparkSession, catalog: Catalog) -> None:
    found = read(spark, catalog.system_table("demo.orders$snapshots"))
    assert [row.snapshot_id for row in found.orderBy("snapshot_id").collect()] == [1, 2, 3, 4, 5]


def test_system_tables_and_increments_are_read_by_path_through_both_doors(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    for name in ("files", "snapshots", "ro", "audit_log", "binlog", "partitions"):
        path = f"{table.path}${name}"
        expected = table.inspect.system_table(name).to_arrow().num_rows
        assert spark.read.format(NAME).load(path).count() == expected, name
        assert read(spark, path).count() == expected, name
    audit = read(spark, f"{table.path}$audit_log", ["rowkind", "id"], "id < 3")
    assert sorted(tuple(row) for row in audit.collect()) == [("+I", 0), ("+I", 1), ("+I", 2)]
    assert read(spark, f"{table.path}$files", ["level"], "level > 99").columns == ["level"]
    newest = spark.read.format(NAME).option("where", "snapshot_id > 1 AND snapshot_id < 3")
    rows = newest.option("columns", "commit_kind,snapshot_id").load(f"{table.path}$snapshots")
    assert [tuple(row) for row in rows.collect()] == [("APPEND", 2)]


def test_what_changed_between_two_points_is_read(spark: SparkSession, catalog: Catalog) -> None:
    orders, events = table_of(catalog, "orders"), table_of(catalog, "events")
    for table, options in (
        (orders, {"incremental-between": "1,3"}),
        (orders, {"incremental-between-timestamp": "0,99999999999999"}),
        (events, {"incremental-between": "0,2", "incremental-between-scan-mode": "changelog"}),
        (events, {"incremental-between": "1,2", "incremental-between-scan-mode": "diff"}),
    ):
        expected = pe.open_table(table.path, options=options).to_arrow()
        assert difference(expected, read(spark, table, options=options).toArrow()) == ""
        loaded = spark.read.format(NAME).options(**options).load(table.path)
        assert difference(expected, loaded.toArrow()) == ""


def test_postponed_records_are_merged_if_asked(spark: SparkSession, catalog: Catalog) -> None:
    options = {"bucket": "-2", "postpone.default-bucket-num": "2", "write-only": "true"}
    columns = {"k": "INT", "v": "INT"}
    table = catalog.create_table("demo.late", columns, primary_key="k", options=options)
    table.upsert([{"k": k, "v": 1} for k in range(5)])
    table.compact()
    table.upsert([{"k": 1, "v": 2}, {"k": 9, "v": 2}])
    merged = {"postpone.merge-on-read": "true", "source.split.target-size": "1 b"}
    reader = spark.read.format(NAME).options(**merged)
    rows = reader.load(table.path)
    assert (rows.count(), rows.where("v = 2").count(), rows.where("v = 1").count()) == (6, 2, 4)
    with pytest.raises(AnalysisException, match=r"'postpone.merge-on-read' = 'true'"):
        reader.option("incremental-between", "1,2").load(table.path)


def test_branches_watermarks_and_versions_are_options(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    table.create_tag("v1", 1)
    table.create_branch("b1", "v1")
    reader = spark.read.format(NAME)
    assert reader.option("branch", "b1").load(table.path).count() == 6
    assert spark.read.format(NAME).option("scan.version", "v1").load(table.path).count() == 6
    assert read(spark, table.path, branch="b1").count() == 6
    assert read(spark, table, version="v1").count() == 6
    with pytest.raises(AnalysisException, match="watermark"):
        spark.read.format(NAME).option("scan.watermark", "5").load(table.path).count()


def test_the_name_paimon_is_the_same_where_no_connector_is(
    spark: SparkSession, catalog: Catalog
) -> None:
    assert spark.read.format("paimon").load(table_of(catalog, "orders").path).count() == 30


def test_variants_come_as_text_where_arrow_cannot_carry_them(
    spark: SparkSession, golden: GoldenTables
) -> None:
    table = pe.open_table(golden.table("java200", "variant").folder)
    (name,) = [f.name for f in table.schema.fields if "VARIANT" in str(f.type)][:1]
    found = read(spark, table, [name])
    assert len(found.collect()) == table.to_arrow().num_rows
    assert found.selectExpr(f"to_json({name}) AS text").toArrow().num_rows == found.count()


def test_a_view_of_sql_reads_and_takes_rows(spark: SparkSession, catalog: Catalog) -> None:
    table = table_of(catalog, "orders")
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW first_orders USING {NAME} "
        f"OPTIONS (path '{table.path}', where 'id < 100')"
    )
    assert spark.sql("SELECT count(*) AS n FROM first_orders").collect()[0].n == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scan.snapshotid": "1"}, "Did you mean 'scan.snapshot-id'?"),
        ({"where": "nope = 1"}, "nope"),
        ({"columns": "id,nope"}, "'nope'"),
        ({"scan.snapshot-id": "one"}, "scan.snapshot-id"),
        ({"branch": "nope"}, "Branch 'nope' does not exist"),
    ],
)
def test_a_wrong_option_is_named(
    options: dict[str, str], message: str, spark: SparkSession, catalog: Catalog
) -> None:
    reader = spark.read.format(NAME).options(**options)
    with pytest.raises(AnalysisException) as refused:
        reader.load(table_of(catalog, "orders").path).count()
    assert message in str(refused.value)


def test_a_missing_table_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException, match="does not exist"):
        spark.read.format(NAME).load(str(tmp_path / "nothing"))
    with pytest.raises(NotFoundError, match="nothing"):
        read(spark, tmp_path / "nothing")


def test_a_table_made_by_create_table_is_answered_with_what_works(
    spark: SparkSession, catalog: Catalog
) -> None:
    path = table_of(catalog, "orders").path
    spark.sql(f"CREATE TABLE no_options USING {NAME} OPTIONS (path '{path}')")
    try:
        with pytest.raises(AnalysisException, match="use CREATE TEMPORARY VIEW"):
            spark.sql("SELECT * FROM no_options").collect()
    finally:
        spark.sql("DROP TABLE no_options")


def test_a_file_that_is_gone_is_named_by_the_task(spark: SparkSession, catalog: Catalog) -> None:
    table = table_of(catalog, "orders")
    df = read(spark, table, where="id + 0 >= 0")  # else Spark reads the files, in its own words
    next(Path(table.path).glob("dt=*/bucket-0/*.parquet")).unlink()
    with pytest.raises(PythonException, match="no such file"):
        df.collect()


def test_files_without_a_merge_are_read_by_spark_itself_and_the_rest_by_python(
    spark: SparkSession, catalog: Catalog, golden: GoldenTables
) -> None:
    plain = read(spark, table_of(catalog, "orders"))
    assert "FileScan parquet" in physical_plan(plain)
    assert "MapInArrow" not in physical_plan(plain)
    deleted = pe.open_table(golden.table("java200", "append_dv").folder)
    for snapshot in deleted.snapshots:
        view = deleted.at(snapshot=snapshot.id)
        assert difference(view.to_arrow(), read(spark, view).toArrow()) == ""
    customers = table_of(catalog, "customers")
    customers.compact(full=True)
    customers.upsert([{"id": 1, "name": "new", "city": None}])
    assert difference(customers.to_arrow(), read(spark, customers).toArrow()) == ""


def test_files_with_names_that_spark_skips_are_read_by_python(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = catalog.create_table("demo.hidden", {"id": "INT"}, options={"data-file.prefix": "_d-"})
    table.append([{"id": 1}])
    assert [row.id for row in read(spark, table).collect()] == [1]
    table.set_options({"data-file.prefix": "d-"})
    catalog.table("demo.hidden").append([{"id": 2}])
    found = read(spark, table.path, where="id < 9")
    assert sorted(row.id for row in found.collect()) == [1, 2]


def physical_plan(df: DataFrame) -> str:
    return str(df._jdf.queryExecution().executedPlan().toString())


def test_unknown_columns_and_predicates_are_refused_before_anything_runs(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "orders")
    with pytest.raises(InvalidInputError, match="'nope'"):
        read(spark, table, ["nope"])
    assert isinstance(table.options, TableOptions)


def test_small_tables_that_need_a_merge_are_read_by_the_driver(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = table_of(catalog, "customers")
    table.upsert([{"id": 1, "name": "new", "city": None}])
    spark.conf.unset(DRIVER_BYTES)
    try:
        small = read(spark, table)
        assert "MapInArrow" not in physical_plan(small)
        assert small.schema == read(spark, table.path).schema
        assert difference(table.to_arrow(), small.toArrow()) == ""
        assert read(spark, table, ["name"], where="id = 1").collect()[0].name == "new"
        assert read(spark, table, where="id = -1").count() == 0
        spark.conf.set(DRIVER_BYTES, "1")
        assert "MapInArrow" in physical_plan(read(spark, table, where="name = 'new'"))
        found = read(spark, table, where="id IN (1, 2) AND name = 'new'")  # 2 keys at most
        assert "MapInArrow" not in physical_plan(found)
        assert [row.id for row in found.collect()] == [1]
    finally:
        spark.conf.set(DRIVER_BYTES, "0")
    assert "MapInArrow" in physical_plan(read(spark, table))


def test_many_rows_of_small_tables_are_read_by_one_task(
    spark: SparkSession, catalog: Catalog
) -> None:
    four = {"bucket": "4"}
    table = catalog.create_table("demo.many", {"id": "INT"}, primary_key="id", options=four)
    for start in (0, 5_000):
        table.upsert({"id": range(start, start + 10_000)})
    spark.conf.unset(DRIVER_BYTES)
    try:
        merged = read(spark, table)
        few = read(spark, table, where="id >= 14998")
        many = read(spark, table, where="id >= 4000")
        spark.sparkContext.setJobGroup("counted", "")
        assert count(spark, table) == 15_000
        assert not spark.sparkContext.statusTracker().getJobIdsForGroup("counted")
    finally:
        spark.conf.set(DRIVER_BYTES, "0")
    assert "MapInArrow" in physical_plan(merged)
    assert "Exchange" not in physical_plan(merged.groupBy().count())
    assert merged.count() == 15_000
    assert "MapInArrow" not in physical_plan(few)
    assert sorted(row.id for row in few.collect()) == [14_998, 14_999]
    assert "MapInArrow" in physical_plan(many)
    assert many.count() == 11_000


@pytest.mark.parametrize(
    ("limit", "how"), [("10MB", "BroadcastHashJoin"), ("500KB", "SortMergeJoin")]
)
def test_rows_of_tasks_are_broadcast_only_if_they_are_few(
    spark: SparkSession, catalog: Catalog, limit: str, how: str
) -> None:
    table = catalog.create_table("demo.joined", {"id": "INT", "n": "INT"}, primary_key="id")
    for start in (0, 1_000):
        table.upsert({"id": range(start, start + 20_000), "n": [1] * 20_000})
    system = f"{table.path}$audit_log"
    setting = "spark.sql.autoBroadcastJoinThreshold"
    before = str(spark.conf.get(setting))
    spark.conf.set(setting, limit)
    try:
        for other in (table, system):
            joined = read(spark, table, ["id"]).join(read(spark, other, ["id", "n"]), "id")
            assert how in physical_plan(joined)
        assert read(spark, table, ["id"]).join(read(spark, table), "id").count() == 21_000
    finally:
        spark.conf.set(setting, before)
