"""Rows of tables with data evolution, changed by pypaimon and by us in turn, read by Java."""

from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog, Table
from peers import Peers
from support.changed_rows import STOCK, stock
from support.rows import difference

pytestmark = pytest.mark.interop

OPTIONS = {
    "row-tracking.enabled": "true",
    "data-evolution.enabled": "true",
    "deletion-vectors.enabled": "true",
}


def same_rows(java: JavaPaimon, peers: Peers, table: Table, warehouse: Path) -> list[object]:
    """The keys of the rows, after all have read the same rows and row ids."""
    ours = table.to_arrow()
    assert difference(ours, java.read(table.path)) == ""
    assert difference(ours, peers.read("py", warehouse, "db.t")) == ""
    ids = table.system_table("row_tracking").to_arrow()
    assert difference(ids, java.system_table(table.path, "row_tracking")) == ""
    assert table.fsck() == []
    return list(ours.column("id").to_pylist())


@pytest.mark.parametrize("partition_by", [[], ["dt"]])
def test_pypaimon_and_we_delete_and_update_rows_in_turn(
    java: JavaPaimon, peers: Peers, warehouse: Path, partition_by: list[str]
) -> None:
    peers.create(warehouse, "db.t", STOCK, partition_keys=partition_by, options=OPTIONS)
    peers.write("py", warehouse, "db.t", pa.Table.from_pylist(stock(0, 8), STOCK))
    table = Catalog(warehouse).table("db.t")
    table.append(list(stock(8, 12)))
    peers.delete(warehouse, "db.t", row_ids=[1, 9])
    assert len(same_rows(java, peers, table, warehouse)) == 10
    table.delete("id = 4 OR _ROW_ID = 10")
    assert len(same_rows(java, peers, table, warehouse)) == 8
    left = table.system_table("row_tracking").to_arrow()
    first, last = left.column("_ROW_ID")[0].as_py(), left.column("_ROW_ID")[-1].as_py()
    new = pa.table(
        {"_ROW_ID": pa.array([first, last], pa.int64()), "qty": pa.array([-1, -2], pa.int64())}
    )
    peers.update(warehouse, "db.t", new)
    assert table.scan(where="qty < 0").to_arrow()["qty"].to_pylist() == [-1, -2]
    same_rows(java, peers, table, warehouse)
    table.update({"name": "upper(name)"}, "qty < 0")
    peers.delete(warehouse, "db.t", conditions=[("qty", "less_than", 0)])
    assert len(same_rows(java, peers, table, warehouse)) == 6
    java.write(table.path, stock(20, 22))
    table.delete("id > 5")
    peers.delete(warehouse, "db.t", conditions=[("id", "greater_or_equal", 0)])
    assert same_rows(java, peers, table, warehouse) == []
