"""Append files that Spark's own Parquet writer makes look as if the tasks had written them."""

import math
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from paimon_explore import Catalog
from paimon_explore.errors import InvalidInputError
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.table import Table
from support.rows import difference
from support.small_tables import new_catalog

COLUMNS = {
    "id": "BIGINT NOT NULL",
    "flag": "BOOLEAN",
    "small": "SMALLINT",
    "ratio": "DOUBLE",
    "price": "DECIMAL(10, 2)",
    "wide": "DECIMAL(30, 4)",
    "name": "STRING",
    "data": "BYTES",
    "day": "DATE",
    "never": "INT",
}
SCHEMA = (
    "id long NOT NULL, flag boolean, small short, ratio double, price decimal(10, 2), "
    "wide decimal(30, 4), name string, data binary, day date, never int"
)
IDS = "spark.sql.parquet.fieldId.write.enabled"
OLD, NEW = date(1500, 1, 1), date(2026, 1, 1)
LONG = Decimal(10**25)
ROWS = [
    (1, True, 5, -0.0, Decimal("1.50"), Decimal("-7.0001"), "a", b"\x00", OLD, None),
    (2, None, None, 2.5, None, None, None, None, None, None),
    (3, False, -5, 0.0, Decimal("-9.99"), LONG, "大" * 40, b"\xff" * 40, NEW, None),
]


def made(folder: Path, name: str = "t") -> Table:
    catalog = Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table(f"db.{name}", COLUMNS)


def test_entries_tell_what_those_of_the_tasks_tell(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.createDataFrame(ROWS, SCHEMA).coalesce(1)
    native, ours = made(tmp_path), made(tmp_path, "ours")
    write(df.select(*reversed(df.columns)), native)
    spark.conf.set(IDS, "false")  # without them Spark does not write the files
    try:
        write(df, ours)
    finally:
        spark.conf.unset(IDS)
    assert native.to_arrow().to_pylist() == ours.to_arrow().to_pylist()
    columns = [
        name
        for name in native.inspect.files().column_names
        if name not in {"file_path", "file_size_in_bytes", "creation_time"}
    ]
    told = native.inspect.files().select(columns)
    assert difference(told, ours.inspect.files().select(columns)) == ""
    (file,) = Path(native.path).rglob("data-*.parquet")
    fields = pq.read_schema(file)
    ids = [(field.metadata or {}).get(b"PARQUET:field_id") for field in fields]
    assert ids == [b"%d" % number for number in range(10)]
    assert pq.read_metadata(file).row_group(0).column(0).compression == "ZSTD"
    assert native.maintenance.fsck(read_rows=True) == []
    left = [path.name for path in Path(native.path).iterdir()]
    assert sorted(left) == ["bucket-0", "manifest", "schema", "snapshot"]


def test_numbers_that_are_none_have_no_bounds(spark: SparkSession, tmp_path: Path) -> None:
    table = made(tmp_path)
    rows = spark.createDataFrame(ROWS, SCHEMA).withColumn("ratio", f.lit(math.nan))
    write(rows.unionByName(rows.withColumn("ratio", f.lit(1.5))).coalesce(1), table)
    assert table.scan(where="ratio = 1.5").to_arrow().num_rows == 3
    assert table.scan(where="ratio > 2").count() == table.to_arrow().num_rows - 3
    assert "ratio=null" in str(table.inspect.files()["min_value_stats"][0])


def test_nulls_in_columns_that_take_none_are_refused_and_leave_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(tmp_path)
    rows = spark.createDataFrame([(None, *ROWS[0][1:])], SCHEMA.replace(" NOT NULL", ""))
    with pytest.raises(InvalidInputError, match="'id' is NOT NULL, but 1 row has no value"):
        write(rows, table)
    broken = spark.createDataFrame(ROWS, SCHEMA).withColumn(
        "never", f.raise_error("no").cast("int")
    )
    with pytest.raises(PySparkException, match="no"):
        write(broken, table)
    assert [p.name for p in Path(table.path).rglob("*.parquet")] == []
    assert not list(Path(table.path).glob("staging-*"))
    assert len(table.snapshots) == 0


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"a": "INT", "p": "STRING"}, {"file.format": "orc"}),
        ({"a": "INT", "p": "STRING"}, {"row-tracking.enabled": "true"}),
        ({"a": "INT", "p": "STRING"}, {"bucket": "2", "bucket-key": "a"}),
        ({"a": "INT", "p": "STRING"}, {"file-index.bloom-filter.columns": "a"}),
        ({"a": "INT", "p": "STRING"}, {"parquet.page.size": "100"}),
        ({"a": "INT", "p": "STRING"}, {"file.compression": "lz4"}),
        ({"a": "INT", "p": "VARCHAR(3)"}, {}),
        ({"a": "BIGINT", "p": "STRING"}, {}),
        ({"a": "INT", "p": "STRING", "t": "TIMESTAMP(3)"}, {}),
    ],
    ids=str,
)
def test_other_appends_go_through_the_tasks(
    columns: dict[str, str], options: dict[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    table = new_catalog(tmp_path).create_table("db.t", columns, options=options)
    df = spark.sql("SELECT 1 AS a, 'x' AS p")
    write(df, table)
    assert table.to_arrow().select(["a", "p"]).to_pylist() == [{"a": 1, "p": "x"}]
    for file in Path(table.path).rglob("data-*.parquet"):
        assert "parquet-mr" not in pq.read_metadata(file).created_by


def test_orphan_removal_takes_what_a_dead_driver_left(spark: SparkSession, tmp_path: Path) -> None:
    table = made(tmp_path)
    write(spark.createDataFrame(ROWS, SCHEMA), table)
    left = Path(table.path) / "staging-0" / "_temporary" / "0"
    left.mkdir(parents=True)
    (left / "part-0.parquet").write_bytes(b"x")
    found = table.maintenance.remove_orphan_files(older_than="2999-01-01", dry_run=False)
    assert [path.rpartition("/")[2] for path in found.files] == ["part-0.parquet"]
    assert table.count() == 3
