"""We read what pypaimon and pypaimon-rust change, at every snapshot.

`tests/golden` has the kinds of tables that they write.
"""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table, open_table
from peers import PEERS, Peer, Peers
from support.rows import difference
from support.written import ID_NAME, KINDS, make, people

pytestmark = pytest.mark.interop


def differences(peers: Peers, peer: Peer, warehouse: Path, table: Table) -> list[str]:
    """How the snapshots differ between the peer and us."""
    found = []
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        options = {"scan.snapshot-id": str(snapshot.id)}
        theirs = peers.read(peer, warehouse, table.name, options)
        if theirs.num_columns == 0:  # Rust gives no batch, and so no schema, without rows
            assert ours.num_rows == 0
        else:
            found.append(difference(theirs, ours))
    return list(filter(None, found))


@pytest.mark.parametrize("peer", PEERS)
def test_what_a_peer_overwrote_is_gone(peers: Peers, peer: Peer, warehouse: Path) -> None:
    peers.create(warehouse, "db.t", ID_NAME, partition_keys=["name"])
    rows = pa.Table.from_pylist([dict(row) for row in people(0, 6)], schema=ID_NAME)
    peers.write(peer, warehouse, "db.t", rows)
    changed = pa.Table.from_pylist([{"id": 77, "name": "n4"}], schema=ID_NAME)
    peers.write(peer, warehouse, "db.t", changed, overwrite={"name": "n4"})
    table = open_table(warehouse / "db.db" / "t")
    assert sorted(table.to_pandas()["id"]) == [0, 1, 2, 3, 5, 77]
    assert differences(peers, peer, warehouse, table) == []


@pytest.mark.parametrize("peer", PEERS)
def test_all_write_to_one_table_in_turn(peers: Peers, peer: Peer, catalog: Catalog) -> None:
    table = make(catalog, "pk", KINDS["pk"])
    theirs = pa.Table.from_pylist([dict(row) for row in people(3, 20, peer)], schema=ID_NAME)
    warehouse = Path(catalog.warehouse)
    peers.write(peer, warehouse, "db.pk", theirs.cast(table.to_arrow().schema))
    table.delete("id >= 15")
    assert sorted(table.to_pandas()["id"]) == [2, *range(3, 15)]
    assert differences(peers, peer, warehouse, table) == []


def test_what_rust_changed_by_sql_is_read(peers: Peers, warehouse: Path) -> None:
    peers.create(warehouse, "db.t", ID_NAME)
    statements = [
        "INSERT INTO paimon.db.t VALUES (1, 'one'), (2, 'two'), (3, NULL)",
        "UPDATE paimon.db.t SET name = 'zwei' WHERE id = 2",
        "DELETE FROM paimon.db.t WHERE id = 1",
    ]
    for statement in statements:
        peers.sql(warehouse, statement)
    table = open_table(warehouse / "db.db" / "t")
    rows = sorted(table.to_arrow().to_pylist(), key=lambda row: int(row["id"]))
    assert rows == [{"id": 2, "name": "zwei"}, {"id": 3, "name": None}]
    assert differences(peers, "rust", warehouse, table) == []
