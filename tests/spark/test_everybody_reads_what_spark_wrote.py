"""Everybody reads every kind of table that Spark wrote: the same rows, the same figures.

A run takes some kinds, a deep one (HYPOTHESIS_PROFILE=deep) all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from oracle import JavaPaimon
from paimon_explore.spark.row_level.delete_update import delete, update
from paimon_explore.spark.row_level.merge_dataframe import merge_into
from paimon_explore.spark.writes.distributed_compaction import compact
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.table import Table
from peers import PEERS, Peer, PeerError, Peers
from support.depth import some
from support.rows import difference
from support.small_tables import new_catalog
from support.system_rows import facts

pytestmark = pytest.mark.interop

COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("name", pa.string()),
    ("amount", pa.int32()),
    ("dt", pa.string()),
]
SYSTEM = ("snapshots", "manifests", "files", "partitions", "buckets")
PEERS_CANNOT = (
    "missing first_row_id|does not yet implement|not yet supported|is not supported"
    "|unsupported error"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of table, and what Spark can do to its rows."""

    options: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    changes: bool = True


KINDS: Mapping[str, Kind] = {
    "append": Kind(),
    "append, partitioned": Kind(parts=("dt",)),
    "keyed": Kind(key=("id",), options={"bucket": "2"}),
    "keyed, vectors": Kind(
        key=("id",), options={"bucket": "2", "deletion-vectors.enabled": "true"}
    ),
    "partial update": Kind(
        key=("id",), options={"bucket": "2", "merge-engine": "partial-update"}, changes=False
    ),
    "append, vectors": Kind(parts=("dt",), options={"deletion-vectors.enabled": "true"}),
    "append, bucketed": Kind(options={"bucket": "2", "bucket-key": "id"}),
    "append, row ids": Kind(options={"row-tracking.enabled": "true"}),
    "keyed, partitioned": Kind(key=("dt", "id"), parts=("dt",), options={"bucket": "2"}),
    "dynamic buckets": Kind(
        key=("dt", "id"), parts=("dt",), options={"dynamic-bucket.target-row-num": "5"}
    ),
    "first row": Kind(
        key=("id",), options={"bucket": "2", "merge-engine": "first-row"}, changes=False
    ),
    "aggregation": Kind(
        key=("id",),
        options={
            "bucket": "2",
            "merge-engine": "aggregation",
            "fields.amount.aggregate-function": "sum",
        },
        changes=False,
    ),
    "changelog by input": Kind(key=("id",), options={"bucket": "2", "changelog-producer": "input"}),
    "changelog by lookup": Kind(
        key=("id",), options={"bucket": "2", "changelog-producer": "lookup"}
    ),
    "changelog by full compaction": Kind(
        key=("id",), options={"bucket": "2", "changelog-producer": "full-compaction"}
    ),
}
CHOSEN = dict.fromkeys(["append, partitioned", "keyed, vectors", *some(list(KINDS), 8, 4)])


def rows(spark: SparkSession, first: int, count: int) -> DataFrame:
    """Rows in two tasks, with every third amount missing."""
    return spark.range(first, first + count, 1, 2).selectExpr(
        "id",
        "concat('n', id) AS name",
        "IF(id % 3 = 0, null, int(id)) AS amount",
        "concat('d', id % 2) AS dt",
    )


@pytest.mark.parametrize("name", CHOSEN)
def test_all_read_the_rows_and_see_the_figures(
    name: str,
    spark: SparkSession,
    java: JavaPaimon,
    peers: Peers,
    warehouse: Path,
    tmp_path: Path,
) -> None:
    kind = KINDS[name]
    table = new_catalog(warehouse).create_table(
        "db.t",
        pa.schema(COLUMNS),
        primary_key=kind.key,
        partition_by=kind.parts,
        options=dict(kind.options),
    )
    write(rows(spark, 0, 30), table)
    write(rows(spark, 20, 20).withColumnRenamed("name", "NAME"), table)
    assert against_all(table, java, peers, warehouse) == []
    streamed(spark, table, tmp_path)
    if kind.changes:
        changed(spark, table)
    assert against_all(table, java, peers, warehouse) == []
    if kind.key:
        compact(spark, table, full=True)
        assert against_all(table, java, peers, warehouse) == []
    assert table.maintenance.fsck(read_rows=True) == []


def streamed(spark: SparkSession, table: Table, folder: Path) -> None:
    """More rows by a stream, where paths are taken."""
    if table.schema.primary_keys and table.options.get("bucket") is None:
        return  # dynamic buckets
    source = str(folder / "source")
    rows(spark, 50, 10).write.parquet(source)
    files = spark.readStream.schema(rows(spark, 0, 1).schema).parquet(source)
    writer = files.writeStream.format("paimon_explore").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.start(table.path).awaitTermination()


def changed(spark: SparkSession, table: Table) -> None:
    """Rows updated, deleted and merged."""
    update(spark, table, {"name": "upper(name)"}, "id < 5")
    delete(spark, table, "id BETWEEN 5 AND 7")
    source = spark.sql("SELECT * FROM VALUES (8L, 'd0'), (99L, 'd1') AS s (id, dt)")
    merge = merge_into(source, table, on=["id", "dt"])
    merge = merge.whenMatched().update({"name": "concat('merged ', target.name)"})
    values = {"id": "source.id", "name": "'new'", "dt": "source.dt", "amount": 1}
    merge.whenNotMatched().insert(values).merge()


def against_all(table: Table, java: JavaPaimon, peers: Peers, warehouse: Path) -> list[str]:
    """What others read or see in another way."""
    ours = table.to_arrow()
    found = [difference(java.read(Path(table.path)), ours)]
    for system in SYSTEM:
        own = table.inspect.system_table(system).to_arrow()
        theirs = java.system_table(Path(table.path), system)
        columns = [column for column in own.schema.names if column in theirs.schema.names]
        if facts(theirs, columns) != facts(own, columns):
            found.append(f"${system}: {facts(theirs, columns)}, ours: {facts(own, columns)}")
    found += [against(peer, peers, warehouse, ours) for peer in PEERS]
    return [text for text in found if text]


def against(peer: Peer, peers: Peers, warehouse: Path, ours: pa.Table) -> str:
    """What a peer reads in another way."""
    try:
        theirs = peers.read(peer, warehouse, "db.t")
    except PeerError as error:
        return "" if re.search(PEERS_CANNOT, str(error)) else f"{peer}: {error}"
    differs = difference(ours, theirs) if theirs.num_columns else ""
    return f"{peer}: {differs}" if differs else ""
