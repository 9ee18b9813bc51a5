"""The bucket as a Spark expression is the format's bucket, for every key type that it knows."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.bucket_function import bucket_of
from paimon_explore.spark.executor_tasks import WriteJob
from paimon_explore.spark.writes.bucket_assignment import bucket_expression
from paimon_explore.spark.writes.write_table import distributed
from paimon_explore.table.table_base import write_target
from support.small_tables import new_catalog

ROWS = 2000
CHANCE = random.Random(7)  # noqa: S311 - test data
KINDS: dict[str, tuple[str, Callable[[], object]]] = {
    "flag": ("BOOLEAN", lambda: CHANCE.random() < 0.5),
    "tiny": ("TINYINT", lambda: CHANCE.randint(-128, 127)),
    "small": ("SMALLINT", lambda: CHANCE.randint(-(2**15), 2**15 - 1)),
    "int": ("INT", lambda: CHANCE.choice([-(2**31), -1, 0, CHANCE.randint(0, 2**31 - 1)])),
    "long": ("BIGINT", lambda: CHANCE.choice([-(2**63), 2**63 - 1, CHANCE.getrandbits(62)])),
    "day": ("DATE", lambda: date(1950, 1, 1) + timedelta(days=CHANCE.randint(0, 40_000))),
    "money": ("DECIMAL(18, 6)", lambda: Decimal(CHANCE.randint(-(10**18) + 1, 10**18 - 1)) / 10**6),
    "part": ("DECIMAL(18, 18)", lambda: Decimal(CHANCE.randint(0, 10**18 - 1)).scaleb(-18)),
    "text": ("STRING", lambda: "".join(CHANCE.choices("aé大 z", k=CHANCE.randint(0, 12)))),
    "name": ("STRING", lambda: "x" * CHANCE.randint(0, 40)),
    "bytes": ("VARBINARY(20)", lambda: CHANCE.randbytes(CHANCE.randint(0, 20))),
}
KEYS = [
    *([name] for name in KINDS),
    ["text", "name"],
    ["long", "text", "int", "name", "bytes"],
    ["name", "flag", "bytes", "money"],
    list(KINDS),
]
TYPES = {name: parse_type(kind, name) for name, (kind, _) in KINDS.items()}


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_the_expression_gives_the_formats_bucket_of_every_row(
    ansi: str, spark: SparkSession
) -> None:
    values = {
        name: pa.array([None if CHANCE.random() < 0.1 else one() for _ in range(ROWS)], kind)
        for name, kind, one in ((n, to_arrow(TYPES[n]), KINDS[n][1]) for n in KINDS)
    }
    df = spark.createDataFrame(pa.table(values))
    columns = []
    for key in KEYS:
        made = bucket_expression([f.col(n) for n in key], [TYPES[n] for n in key], 7)
        assert made is not None
        columns.append(made)
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        found = df.select(columns).toArrow()
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")
    for key, column in zip(KEYS, found.columns, strict=True):
        expected = bucket_of([values[n] for n in key], [TYPES[n] for n in key], 7)
        assert column.to_pylist() == expected.tolist(), key


@pytest.mark.parametrize("kind", ["DOUBLE", "TIMESTAMP(3)", "DECIMAL(19, 0)", "TIME(0)"])
def test_other_key_types_have_no_expression(kind: str, spark: SparkSession) -> None:
    assert bucket_expression([f.lit(1)], [parse_type(kind, "k")], 2) is None
    assert spark.version


def test_every_task_of_a_shuffle_gets_its_own_buckets(spark: SparkSession, tmp_path: Path) -> None:
    """`repartition` would hash the numbers of tasks again, and leave tasks without rows."""
    options = {"bucket": "4", "bucket-key": "id"}
    table = new_catalog(tmp_path).create_table("db.t", {"id": "BIGINT"}, options=options)
    target = write_target(table, replaces=False)
    job = WriteJob(target=target, columns=("id",), shares_buckets=False)
    placed = distributed(spark.range(0, 100, 1, 8), job)
    task, bucket = f.spark_partition_id(), bucket_expression([f.col("id")], [TYPES["long"]], 4)
    assert bucket is not None
    found = {tuple(row) for row in placed.select(task, bucket).distinct().collect()}
    assert found == {(0, 0), (1, 1), (0, 2), (1, 3)}
