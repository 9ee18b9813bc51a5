"""pypaimon and pypaimon-rust read what Spark wrote: the same rows, the same figures."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimon_explore import Catalog
from paimon_explore.spark.writes.write_table import write
from paimon_explore.table.table import Table
from peers import PEERS, Peer, Peers
from support.rows import difference
from support.system_rows import facts

pytestmark = pytest.mark.interop

COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("city", pa.string()),
    ("amount", pa.decimal128(10, 2)),
    ("day", pa.date32()),
    ("dt", pa.string()),
]
ROWS = [
    (1, "Oslo", Decimal("1.50"), date(2026, 1, 1), "a"),
    (2, None, None, None, "a"),
    (3, "大阪", Decimal("-0.01"), date(1969, 12, 31), "b"),
]
LATER = [(3, "Turin", Decimal("7.00"), None, "b"), (4, "Lyon", None, date(2026, 2, 1), "c")]
FIGURES = {
    "files": ("bucket", "file_path", "level", "record_count", "file_size_in_bytes"),
    "snapshots": ("snapshot_id", "commit_kind", "total_record_count", "delta_record_count"),
    "manifests": ("file_name", "file_size", "num_added_files", "num_deleted_files"),
    "partitions": ("record_count", "file_size_in_bytes", "file_count"),
}


def written(spark: SparkSession, warehouse: Path, kind: str) -> Table:
    """A table that Spark wrote to twice: by path, and by `write`."""
    catalog = Catalog(warehouse)
    catalog.create_database("db")
    keys = ["dt", "id"] if kind == "keyed" else []
    options = {"bucket": "2"} if kind == "keyed" else {}
    made = catalog.create_table(
        f"db.{kind}", pa.schema(COLUMNS), primary_key=keys, partition_by=["dt"], options=options
    )
    types = "id long, city string, amount decimal(10, 2), day date, dt string"
    first = spark.createDataFrame(ROWS, types)
    first.write.format("paimon_explore").mode("append").save(made.path)
    write(spark.createDataFrame(LATER, types), made, mode="append")
    return made


@pytest.mark.parametrize("kind", ["append", "keyed"])
@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_reads_the_rows_and_sees_the_figures(
    spark: SparkSession, peers: Peers, peer: Peer, kind: str, warehouse: Path
) -> None:
    table = written(spark, warehouse, kind)
    rows = table.to_arrow()
    assert rows.num_rows == (4 if kind == "keyed" else 5)
    assert difference(rows, peers.read(peer, warehouse, f"db.{kind}", {})) == ""
    for system, columns in FIGURES.items():
        theirs = facts(peers.system(peer, warehouse, f"db.{kind}", system), columns)
        assert facts(table.inspect.system_table(system).to_arrow(), columns) == theirs, system
