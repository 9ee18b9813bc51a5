"""Java, pypaimon and pypaimon-rust read tables whose rows we updated, deleted and merged."""

from pathlib import Path

import pytest

from java_rows import compact, differences
from oracle import JavaPaimon
from paimon_explore import Catalog
from peers import PEERS, PeerError, Peers
from support.changed_rows import CHANGED
from support.rows import difference
from support.system_rows import facts
from support.written import make

pytestmark = pytest.mark.interop

REFUSED = {
    # pypaimon knows no 64-bit deletion vectors
    ("py", "marked_wide"): "Invalid magic number",
    # pypaimon-rust does not read rows that bring their ids, as compacted ones do too
    ("rust", "tracked"): "missing first_row_id",
    ("rust", "tracked_marked"): "missing first_row_id",
}
_FIRST_CHANGE = 3


@pytest.mark.parametrize("name", CHANGED)
def test_java_reads_every_snapshot_sees_the_same_files_and_ids_and_goes_on(
    java: JavaPaimon, name: str, catalog: Catalog
) -> None:
    """Rows of all snapshots are compared at the end, with those that Java and we add."""
    kind = CHANGED[name]
    table = make(catalog, name, kind)
    assert table.to_arrow().num_rows == kind.count
    assert table.maintenance.fsck() == []
    for system in ("snapshots", "manifests", "files", "partitions", "buckets", "table_indexes"):
        theirs = java.system_table(table.path, system)
        ours = table.inspect.system_table(system).to_arrow()
        assert facts(theirs) == facts(ours, theirs.schema.names), system
    if "tracked" in name or "ev" in name:
        theirs = java.system_table(table.path, "row_tracking")
        assert difference(theirs, table.inspect.system_table("row_tracking").to_arrow()) == ""

    if name != "keyed_across":  # engines write to such tables, the core does not
        java.write(table.path, list(kind.more))
    compact(java, table)
    table.update({"qty": "-qty"}, "id < 5 OR id > 100")
    assert differences(java, table) == []
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("name", CHANGED)
def test_both_peers_read_the_rows_of_every_snapshot(
    peers: Peers, name: str, warehouse: Path
) -> None:
    table = make(Catalog(warehouse), name, CHANGED[name])
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        options = {"scan.snapshot-id": str(snapshot.id)}
        for peer in PEERS:
            if (peer, name) in REFUSED and snapshot.id >= _FIRST_CHANGE:
                with pytest.raises(PeerError, match=REFUSED[peer, name]):
                    peers.read(peer, warehouse, f"db.{name}", options)
                continue
            theirs = peers.read(peer, warehouse, f"db.{name}", options)
            assert difference(ours, theirs) == "", (peer, snapshot.id)
