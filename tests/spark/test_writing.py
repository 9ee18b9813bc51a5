"""Writes through Spark: rows by name, one commit, one task a bucket, nothing left behind."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, PySparkException, PythonException
from pyspark.sql import SparkSession

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.data_source import PaimonDataSource
from paimon_explore.spark.reads.read_table import read
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.table import Table
from support.depth import some
from support.rows import difference
from support.small_tables import new_catalog

NAME = "paimon_explore"


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """An append table in partitions."""
    columns: list[tuple[str, pa.DataType]] = [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("amount", pa.decimal128(10, 2)),
        ("dt", pa.string()),
    ]
    return made(tmp_path, columns, partition_by=["dt"])


@pytest.fixture
def keyed(tmp_path: Path) -> Table:
    """A primary-key table of four buckets."""
    return made(
        tmp_path,
        [("id", pa.int64()), ("name", pa.string())],
        primary_key=["id"],
        options={"bucket": "4"},
    )


def made(
    folder: Path,
    columns: list[tuple[str, pa.DataType]],
    *,
    primary_key: tuple[str, ...] | list[str] = (),
    partition_by: tuple[str, ...] | list[str] = (),
    options: dict[str, str] | None = None,
) -> Table:
    schema = pa.schema(columns)
    return new_catalog(folder).create_table(
        "db.t", schema, primary_key=primary_key, partition_by=partition_by, options=options
    )


def data_files(table: Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("data-*.*")}


def live_files(table: Table) -> set[str]:
    paths = table.inspect.files()["file_path"].to_pylist()
    return {str(path).rpartition("/")[2] for path in paths}


def rows_of(table: Table) -> list[dict[str, object]]:
    return table.to_arrow().sort_by(table.schema.fields[0].name).to_pylist()


def test_columns_are_matched_by_name_and_cast_in_a_path_write(
    spark: SparkSession, table: Table
) -> None:
    df = spark.sql("SELECT 'a' AS dt, cast(1.5 AS decimal(4, 1)) AS amount, 'x' AS name, 7 AS id")
    df.write.format(NAME).mode("append").save(table.path)
    found = rows_of(table)
    assert [(r["id"], r["name"], str(r["amount"]), r["dt"]) for r in found] == [
        (7, "x", "1.50", "a")
    ]


def test_missing_columns_are_null(spark: SparkSession, table: Table) -> None:
    spark.sql("SELECT 1L AS ID, 'a' AS dt").write.format(NAME).mode("append").save(table.path)
    assert rows_of(table) == [{"id": 1, "name": None, "amount": None, "dt": "a"}]


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("1L AS id, 'a' AS dt, 2 AS nope", "no column 'nope'"),
        ("'one' AS id, 'a' AS dt", "'id'"),
        ("1L AS id, 2L AS Id", "Two columns"),
        ("1L AS id, interval '1' day AS name", "'name'"),
    ],
)
def test_columns_that_do_not_fit_are_refused_by_name_before_a_task_runs(
    select: str, message: str, spark: SparkSession, table: Table
) -> None:
    df = spark.sql(f"SELECT {select}")
    with pytest.raises(AnalysisException, match=message):
        df.write.format(NAME).mode("append").save(table.path)
    with pytest.raises(InvalidInputError, match=message):
        write(df, table)
    assert len(table.snapshots) == 0


def test_a_value_that_does_not_fit_fails_the_write_and_leaves_no_file(
    spark: SparkSession, table: Table
) -> None:
    df = spark.sql(
        "SELECT id, cast(id * 99999999L AS decimal(20, 0)) amount, 'a' dt FROM range(0, 9, 1, 1)"
    )
    with pytest.raises(PythonException, match="Column 'amount'"):
        write(df, table)
    with pytest.raises(PySparkException, match="Column 'amount'"):
        df.write.format(NAME).mode("append").save(table.path)
    assert len(table.snapshots) == 0
    assert data_files(table) == set()


def test_insert_into_a_view_takes_values_in_order(spark: SparkSession, table: Table) -> None:
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW written USING {NAME} OPTIONS (path '{table.path}')"
    )
    spark.sql("INSERT INTO written VALUES (1L, 'x', 2.5, 'a'), (2L, 'y', null, 'b')")
    assert [(r["id"], r["name"]) for r in rows_of(table)] == [(1, "x"), (2, "y")]
    spark.catalog.dropTempView("written")


def test_every_write_is_one_snapshot_and_leaves_only_its_files(
    spark: SparkSession, table: Table
) -> None:
    df = spark.range(0, 1000, 1, 4).selectExpr("id", "concat('d', id % 3) AS dt")
    made_by_door = write(df, table)
    assert made_by_door is not None
    df.write.format(NAME).mode("append").save(table.path)
    assert [(s.id, s.delta_record_count) for s in table.snapshots] == [(1, 1000), (2, 1000)]
    assert data_files(table) == live_files(table)


def test_nothing_to_write_makes_no_snapshot(spark: SparkSession, table: Table) -> None:
    assert write(spark.sql("SELECT 1L AS id WHERE false"), table) is None
    assert len(table.snapshots) == 0


def test_overwrite_replaces_the_partitions_of_the_new_rows_or_all(
    spark: SparkSession, table: Table
) -> None:
    write(spark.sql("SELECT id, concat('d', id % 2) AS dt FROM range(10)"), table)
    one = spark.sql("SELECT 100L AS id, 'd1' AS dt")
    writer = one.write.format(NAME).mode("overwrite")
    writer.option("dynamic-partition-overwrite", "true").save(table.path)
    assert [r["id"] for r in rows_of(table)] == [0, 2, 4, 6, 8, 100]
    write(one.selectExpr("id + 1 AS id", "dt"), table, "overwrite")
    assert [r["id"] for r in rows_of(table)] == [0, 2, 4, 6, 8, 101]
    table.set_options({"dynamic-partition-overwrite": "true"})
    one.write.format(NAME).mode("overwrite").save(table.path)
    assert [r["id"] for r in rows_of(table)] == [100]
    write(spark.sql("SELECT id, concat('d', id % 2) AS dt FROM range(10)"), table)
    spark.sql(f"CREATE OR REPLACE TEMP VIEW v USING {NAME} OPTIONS (path '{table.path}')")
    spark.sql("INSERT OVERWRITE v SELECT 100L, 'n', NULL, 'd1'")
    assert [r["id"] for r in rows_of(table)] == [100]
    outside = spark.sql("SELECT 7L AS id, 'd2' AS dt")
    with pytest.raises(InvalidInputError, match="belong to other partitions than the overwritten"):
        write(outside, table, "overwrite", partition={"dt": "d1"})
    assert [r["id"] for r in rows_of(table)] == [100]
    assert not list(Path(table.path).glob("dt=d2/*/data-*"))


def test_upsert_lets_every_task_write_all_buckets(spark: SparkSession, keyed: Table) -> None:
    df = spark.range(0, 2000, 1, 8).selectExpr("id", "concat('n', id) AS name")
    write(df, keyed, "upsert")
    files = keyed.inspect.files().select(["bucket", "min_sequence_number", "max_sequence_number"])
    spans: dict[int, list[list[int]]] = {}
    for row in files.to_pylist():
        span = [row["min_sequence_number"], row["max_sequence_number"]]
        spans.setdefault(row["bucket"], []).append(span)
    assert sorted(spans) == [0, 1, 2, 3]
    for first, second in map(sorted, spans.values()):  # two tasks, whose numbers do not meet
        assert first[0] == 0
        assert second[0] == 1 << 26
    write(df.selectExpr("id * 2 AS id", "'new' AS name"), keyed, "upsert")
    found = rows_of(keyed)
    assert len(found) == 3000
    assert [r["name"] for r in found[:4]] == ["new", "n1", "new", "n3"]
    assert read(spark, keyed).filter("name = 'new'").count() == 2000


DOUBLED = [
    {"bucket": "2"},
    {"bucket": "2", "num-sorted-run.compaction-trigger": "2"},
    {"bucket": "2", "write-only": "true", "sequence.snapshot-ordering": "true"},
    {"bucket": "2", "write-only": "true", "merge-engine": "partial-update"},
    {"bucket": "2", "merge-engine": "first-row"},
    {"bucket": "2", "deletion-vectors.enabled": "true"},
    {"bucket": "2", "changelog-producer": "input"},
]


@pytest.mark.parametrize("options", some(DOUBLED, 3, 1), ids=str)
def test_of_rows_with_one_key_in_several_tasks_one_is_left(
    options: dict[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    columns: list[tuple[str, pa.DataType]] = [("id", pa.int64()), ("name", pa.string())]
    table = made(tmp_path, columns, primary_key=["id"], options=options)
    twice = spark.range(0, 200, 1, 2).selectExpr("id % 100 AS id", "concat('n', id) AS name")
    write(twice, table)
    first = options.get("merge-engine") == "first-row"
    shuffled = "2" in options.get("num-sorted-run.compaction-trigger", "") or (
        "sequence.snapshot-ordering" in options
    )
    for key, row in enumerate(rows_of(table)):
        assert row["id"] == key
        assert shuffled or row["name"] == f"n{key if first else key + 100}"
    assert table.count() == 100
    assert difference(table.to_arrow(), read(spark, table).toArrow()) == ""


def test_rows_that_lie_in_the_driver_go_into_one_file(spark: SparkSession, keyed: Table) -> None:
    write(spark.createDataFrame([(1, "a"), (2, "b")], "id long, name string"), keyed)
    write(spark.sql("SELECT * FROM VALUES (1L, 'c'), (1L, 'd') AS v(id, name)"), keyed)
    assert [r["name"] for r in rows_of(keyed)] == ["d", "b"]
    assert [s.delta_record_count for s in keyed.snapshots] == [2, 1]


def test_row_kinds_delete(spark: SparkSession, keyed: Table) -> None:
    write(spark.sql("SELECT id, 'x' AS name FROM range(5)"), keyed)
    write(spark.sql("SELECT 3L AS id, cast(null AS string) name, '-D' AS _ROW_KIND"), keyed)
    assert [r["id"] for r in rows_of(keyed)] == [0, 1, 2, 4]


def test_dynamic_buckets_are_assigned_by_one_task_and_refused_in_a_path_write(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(tmp_path, [("id", pa.int64()), ("name", pa.string())], primary_key=["id"])
    df = spark.range(0, 100, 1, 4).selectExpr("id % 50 AS id", "'x' AS name")
    write(df, table)
    write(df, table)
    assert [r["id"] for r in rows_of(table)] == list(range(50))
    with pytest.raises(AnalysisException, match=r"Use pe\.spark\.write"):
        df.write.format(NAME).mode("append").save(table.path)


def test_wrong_modes_and_tables_are_refused(spark: SparkSession, table: Table) -> None:
    df = spark.sql("SELECT 1L AS id, 'a' AS dt")
    with pytest.raises(InvalidInputError, match="upsert"):
        write(df, table, "upsert")
    with pytest.raises(InvalidInputError, match="'append', 'upsert', 'overwrite'"):
        write(df, table, "ignore")  # type: ignore[arg-type]  # what a user might try
    write(df, table)
    with pytest.raises(InvalidInputError, match="opened with time travel"):
        write(df, table.at(snapshot=1))


def test_types_of_every_kind_come_back_as_they_were_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    demo = pe.demo(tmp_path / "warehouse")
    source, target = demo.table("demo.types"), None
    schema = source.to_arrow().schema
    target = demo.create_table("demo.copy", schema)
    write(read(spark, source), target)
    assert target.to_arrow().equals(source.to_arrow())
    write(read(spark, source), target, "overwrite")
    assert target.to_arrow().equals(source.to_arrow())


@pytest.mark.parametrize(
    ("primary_key", "partition_by", "options"),
    [
        ((), (), {}),
        ((), ("p.q",), {}),
        ((), (), {"bucket": "2", "bucket-key": "`t`"}),
        ((), (), {"bucket": "2", "bucket-key": "a b"}),
        (("a.b",), (), {"bucket": "4"}),
        (("a.b", "p.q"), ("p.q",), {"bucket": "2"}),
        (("a.b", "p.q"), ("p.q",), {"bucket": "-1"}),
        (("a.b",), (), {"bucket": "-2"}),
    ],
)
def test_columns_may_have_names_with_dots_and_backticks(
    primary_key: tuple[str, ...],
    partition_by: tuple[str, ...],
    options: dict[str, str],
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    names = ("a.b", "a", "p.q", "`t`", "a b")
    types = (pa.int32(), pa.string(), pa.string(), pa.int64(), pa.float64())
    columns: list[tuple[str, pa.DataType]] = list(zip(names, types, strict=True))
    table = made(
        tmp_path, columns, primary_key=primary_key, partition_by=partition_by, options=options
    )
    rows = [(1, "x", "p", 2, 0.5), (2, "y", "q", None, 1.5)]
    df = spark.createDataFrame(
        rows, "`a.b` int, a string, `p.q` string, ```t``` long, `a b` double"
    )
    write(df.repartition(2), table)
    table.compact()
    assert [tuple(row.values()) for row in rows_of(table)] == rows


def test_a_task_that_fails_once_writes_its_rows_once_and_leaves_no_file(
    spark: SparkSession, table: Table
) -> None:
    def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext  # noqa: PLC0415 - runs in the worker

        yield from batches
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise OSError("the first attempt fails")

    rows = spark.range(0, 70_000, 1, 1).selectExpr("id", "concat('d', id % 2) AS dt")
    broken = rows.mapInArrow(fail_once, rows.schema)
    write(broken, table)
    broken.write.format(NAME).mode("append").save(table.path)
    assert [s.delta_record_count for s in table.snapshots] == [70_000, 70_000]
    assert data_files(table) == live_files(table)


def test_an_abort_after_a_commit_that_took_effect_removes_nothing(
    spark: SparkSession, table: Table
) -> None:
    class Unlucky(PaimonDataSource):
        @classmethod
        def name(cls) -> str:
            return "unlucky"

        def writer(self, schema, overwrite):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
            made = super().writer(schema, overwrite)

            class FailsAfterwards(type(made)):  # type: ignore[misc]
                def commit(self, messages):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
                    super().commit(messages)
                    raise OSError("the reply is lost")

            made.__class__ = FailsAfterwards
            return made

    spark.dataSource.register(Unlucky)
    df = spark.range(0, 10, 1, 2).selectExpr("id", "'a' AS dt")
    with pytest.raises(PySparkException, match="the reply is lost"):
        df.write.format("unlucky").mode("append").save(table.path)
    assert len(rows_of(table)) == 10
    assert data_files(table) == live_files(table)
