"""pypaimon and pypaimon-rust read what this library wrote: the same rows, the same figures."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paimon_explore import Table
from peers import PEERS, Peer, PeerError, Peers
from support.rows import difference
from support.system_rows import facts
from support.written import KINDS

pytestmark = pytest.mark.interop

FIGURES = {
    "snapshots": (
        *("snapshot_id", "schema_id", "commit_user", "commit_identifier", "commit_kind"),
        *("base_manifest_list", "delta_manifest_list", "changelog_manifest_list", "commit_time"),
        *("total_record_count", "delta_record_count", "changelog_record_count", "watermark"),
    ),
    "files": (
        *("bucket", "file_path", "file_format", "schema_id", "level", "record_count"),
        *("file_size_in_bytes", "min_sequence_number", "max_sequence_number", "deleteRowCount"),
        *("first_row_id", "write_cols"),
    ),
    "manifests": (
        *("file_name", "file_size", "num_added_files", "num_deleted_files", "schema_id"),
        *("min_row_id", "max_row_id"),
    ),
    "partitions": ("record_count", "file_size_in_bytes", "file_count"),
    "buckets": ("bucket", "record_count", "file_size_in_bytes", "file_count"),
    "schemas": ("schema_id", "partition_keys", "primary_keys", "options", "update_time"),
}

UNTOLD = {("py", "pk_changelog_input"), ("py", "pk_first_row")}
"""pypaimon leaves the manifests of the changelog out of `$manifests`; Java has them."""

REFUSED = {
    # pypaimon has no sequence groups
    ("py", "pk_partial"): "fields.g.sequence-group",
}


@pytest.mark.parametrize("name", KINDS)
def test_both_peers_read_every_snapshot_and_see_the_same_figures_in_system_tables(
    peers: Peers, name: str, written: Callable[[str], Table]
) -> None:
    table = written(name)
    warehouse = Path(table.path).parents[1]
    assert table.to_arrow().num_rows == KINDS[name].count
    for peer in PEERS:
        if (peer, name) in REFUSED:
            with pytest.raises(PeerError, match=REFUSED[peer, name]):
                peers.read(peer, warehouse, f"db.{name}")
        else:
            assert_same_rows(peers, peer, warehouse, table)
        assert_same_figures(peers, peer, warehouse, table)


def assert_same_rows(peers: Peers, peer: Peer, warehouse: Path, table: Table) -> None:
    """The rows of every snapshot are the same."""
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        options = {"scan.snapshot-id": str(snapshot.id)}
        theirs = peers.read(peer, warehouse, table.name, options)
        if theirs.num_columns == 0:  # Rust gives no batch, and so no schema, without rows
            assert ours.num_rows == 0
        elif (peer, table.name, snapshot.id) == ("py", "db.pk_aggregation", 3):
            # pypaimon's listagg takes an empty text for none
            assert "'decimal 0.00', '', None, False)" in difference(ours, theirs)
        else:
            assert difference(ours, theirs) == "", (peer, snapshot.id)


def assert_same_figures(peers: Peers, peer: Peer, warehouse: Path, table: Table) -> None:
    """The figures of the system tables are the same."""
    for system, columns in FIGURES.items():
        theirs = facts(peers.system(peer, warehouse, table.name, system), columns)
        ours = facts(table.inspect.system_table(system).to_arrow(), columns)
        if system == "manifests" and (peer, table.name.removeprefix("db.")) in UNTOLD:
            assert len(ours) == len(theirs) + 1
            assert set(theirs) < set(ours)
        else:
            assert theirs == ours, (peer, system)
