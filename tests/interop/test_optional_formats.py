"""Tables in the formats lance, vortex and mosaic, exchanged with pypaimon and pypaimon-rust."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, open_table
from peers import Peer, PeerError, Peers
from support.optional_formats import PACKAGES, columns_of, need, typed_rows
from support.required import NEED
from support.rows import difference
from support.written import KINDS, columns, make

pytestmark = pytest.mark.interop

PAIRS: list[tuple[Peer, str]] = [*(("py", name) for name in PACKAGES), ("rust", "mosaic")]
"""Who knows which format; Rust has Mosaic only."""


def has_package(peers: Peers, peer: Peer, file_format: str, warehouse: Path) -> None:
    """Skip the test if pypaimon lacks the package of a format; Rust brings its own."""
    if peer == "rust":
        return
    name = f"db.probe_{file_format}"
    rows = pa.table({"a": [1]})
    peers.create(warehouse, name, rows.schema, options={"file.format": file_format})
    try:
        peers.write(peer, warehouse, name, rows)
    except PeerError as error:
        if "No module named" not in str(error):
            raise
        pytest.skip(f"{NEED}the package {PACKAGES[file_format]} beside pypaimon")


def rows_of(file_format: str) -> pa.Table:
    """Rows of all types that the peers exchange.

    pypaimon 2.1 needs pylance before 1.0, which loses null ROW values and cannot read those of
    later releases.
    """
    types = columns_of(file_format)
    nested = ("list", "row", "rows") if file_format == "lance" else ()
    return typed_rows({name: kind for name, kind in types.items() if name not in nested})


@pytest.mark.parametrize(("peer", "file_format"), PAIRS)
def test_all_types_written_by_a_peer_are_read(
    peers: Peers, peer: Peer, file_format: str, warehouse: Path
) -> None:
    need(file_format)
    has_package(peers, peer, file_format, warehouse)
    rows = rows_of(file_format)
    peers.create(warehouse, "db.t", rows.schema, options={"file.format": file_format})
    peers.write(peer, warehouse, "db.t", rows)
    peers.write(peer, warehouse, "db.t", rows.slice(1, 1))
    assert list(warehouse.glob(f"db.db/t/bucket-0/*.{file_format}"))
    table = open_table(warehouse / "db.db" / "t")
    both = pa.concat_tables([rows, rows.slice(1, 1)])
    assert difference(both, table.to_arrow()) == ""
    assert table.scan().filter("id = 1").to_arrow().num_rows == 2


@pytest.mark.parametrize(("peer", "file_format"), PAIRS)
def test_all_types_written_here_are_read_by_a_peer(
    peers: Peers, peer: Peer, file_format: str, catalog: Catalog
) -> None:
    need(file_format)
    warehouse = Path(catalog.warehouse)
    catalog.create_database("db")
    has_package(peers, peer, file_format, warehouse)
    rows = rows_of(file_format)
    table = catalog.create_table("db.t", rows.schema, options={"file.format": file_format})
    table.append(rows)
    table.append(rows.slice(1, 1))
    both = pa.concat_tables([rows, rows.slice(1, 1)])
    assert difference(both, peers.read(peer, warehouse, "db.t")) == ""


@pytest.mark.parametrize("kind", ["append", "append_row_tracking", "pk", "pk_changelog_input"])
@pytest.mark.parametrize(("peer", "file_format"), PAIRS)
def test_tables_of_many_commits_are_read_by_a_peer(
    peers: Peers, peer: Peer, file_format: str, kind: str, catalog: Catalog
) -> None:
    need(file_format)
    catalog.create_database("db")
    has_package(peers, peer, file_format, Path(catalog.warehouse))
    of = KINDS[kind]
    options = {**of.options, "file.format": file_format}
    table = make(catalog, kind, type(of)(**{**vars(of), "options": options}))
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        at = {"scan.snapshot-id": str(snapshot.id)}
        theirs = peers.read(peer, Path(catalog.warehouse), f"db.{kind}", at)
        assert difference(theirs, ours) == ""


@pytest.mark.parametrize(("peer", "file_format"), PAIRS)
def test_keyed_tables_of_a_peer_are_merged(
    peers: Peers, peer: Peer, file_format: str, warehouse: Path
) -> None:
    need(file_format)
    has_package(peers, peer, file_format, warehouse)
    schema = columns({"id": pa.int64(), "s": pa.string()})
    options = {"bucket": "1", "file.format": file_format}
    peers.create(warehouse, "db.pk", schema, primary_keys=["id"], options=options)
    for word, count in (("old", 10), ("new", 5)):
        rows = pa.table({"id": range(count), "s": [word] * count}, schema=schema)
        peers.write(peer, warehouse, "db.pk", rows)
    table = open_table(warehouse / "db.db" / "pk")
    want = [{"id": i, "s": "new" if i < 5 else "old"} for i in range(10)]
    assert sorted(table.to_arrow().to_pylist(), key=lambda row: int(row["id"])) == want
    table.compact(full=True)
    assert difference(peers.read(peer, warehouse, "db.pk"), table.to_arrow()) == ""
