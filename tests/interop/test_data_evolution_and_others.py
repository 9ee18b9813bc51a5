"""Rows of tables with data evolution, changed by pypaimon and by us in turn, read by Java."""

import struct
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog, Table, open_table
from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.maintenance.checks.findings import Severity
from peers import PEERS, Peer, Peers
from support.changed_rows import STOCK, stock
from support.compacting import deleted, live
from support.rows import difference
from support.written import columns

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
    ids = table.inspect.system_table("row_tracking").to_arrow()
    assert difference(ids, java.system_table(table.path, "row_tracking")) == ""
    assert table.maintenance.fsck() == []
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
    left = table.inspect.system_table("row_tracking").to_arrow()
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


BLOBS = columns(
    {"id": pa.int32(), "name": pa.string(), "b": pa.large_binary(), "c": pa.large_binary()}
)


def new_blobs(name: str, by_row_id: dict[int, bytes | None]) -> pa.Table:
    """New values of a BLOB column."""
    ids = pa.array(list(by_row_id), pa.int64())
    return pa.table({"_ROW_ID": ids, name: pa.array(list(by_row_id.values()), pa.large_binary())})


def test_pypaimon_and_we_update_blobs_in_turn(
    java: JavaPaimon, peers: Peers, warehouse: Path
) -> None:
    peers.create(warehouse, "db.t", BLOBS, options=OPTIONS)
    rows = [
        {"id": i, "name": f"n{i}", "b": None if i == 3 else b"b%d" % i, "c": b"c%d" % i}
        for i in range(8)
    ]
    peers.write("py", warehouse, "db.t", pa.Table.from_pylist(rows, BLOBS))
    table = Catalog(warehouse).table("db.t")
    peers.update(warehouse, "db.t", new_blobs("b", {2: b"py2", 5: None}))
    same_rows(java, peers, table, warehouse)
    table.update({"b": b"us4"}, "id = 4")
    table.update({"b": None, "name": "'x'"}, "id = 2")
    same_rows(java, peers, table, warehouse)
    source = pa.Table.from_pylist(
        [{"id": 6, "b": b"m6"}, {"id": 7, "c": b"m7"}, {"id": 100, "b": b"m", "c": b"q"}], BLOBS
    )
    merge = table.merge(source, on="id").when_matched_update({"b": "s.b"}, "s.b IS NOT NULL")
    merge.when_matched_update({"c": "s.c", "name": "'y'"}).when_not_matched_insert().execute()
    same_rows(java, peers, table, warehouse)
    table.delete("id IN (0, 4)")
    table.add_column("d", "BLOB")
    table.update({"d": b"us"}, "id = 5")
    peers.update(warehouse, "db.t", new_blobs("d", {8: b"py"}))
    assert same_rows(java, peers, table, warehouse) == [1, 2, 3, 5, 6, 7, 100]
    found = {row["id"]: (row["b"], row["c"], row["d"]) for row in table.to_arrow().to_pylist()}
    assert found[2] == (None, b"c2", None)
    assert found[6] == (b"m6", b"c6", None)
    assert found[7] == (b"b7", b"m7", None)
    assert found[100] == (b"m", b"q", b"py")


def test_all_read_compacted_rows_with_and_without_blobs(
    java: JavaPaimon, peers: Peers, warehouse: Path
) -> None:
    start = columns({"id": pa.int32(), "name": pa.string(), "b": pa.large_binary()})
    peers.create(warehouse, "db.t", start, options=OPTIONS)
    rows = [{"id": i, "name": "n", "b": b"b%d" % i} for i in range(6)]
    table = Catalog(warehouse).table("db.t")
    table.append(rows[:2])
    table.append(rows[2:4])
    table.add_column("c", "BLOB")
    for writer in PEERS:
        peers.write(writer, warehouse, "db.t", pa.Table.from_pylist(rows, BLOBS))
    java.write(table.path, pa.Table.from_pylist(rows, BLOBS))
    table.append([{"id": 9, "c": b"c9"}])
    for _ in range(2):
        table.compact()
        same_rows(java, peers, table, warehouse)
        assert difference(table.to_arrow(), peers.read("rust", warehouse, "db.t")) == ""
        table.update({"c": b"new"}, "id IN (1, 9)")
        same_rows(java, peers, table, warehouse)


def frame(video: Path, number: int) -> bytes:
    """A frame of a video, as pypaimon describes it: the whole file, without an index of it."""
    uri = str(video).encode()
    head = struct.pack("<BQI", 1, 0x564944454F46524D, len(uri))
    return head + uri + struct.pack("<5q", 0, video.stat().st_size, number, -1, 0)


def test_frames_of_videos_outlive_our_acts(peers: Peers, warehouse: Path) -> None:
    peers.create(warehouse, "db.t", BLOBS, options={**OPTIONS, "video-frame-field": "b"})
    video = warehouse / "video"
    video.write_bytes(b"frames")
    for first in (0, 5):
        rows = [{"id": first + i, "b": frame(video, i), "c": b"c"} for i in range(5)]
        peers.write("py", warehouse, "db.t", pa.Table.from_pylist(rows, BLOBS))
    table = Catalog(warehouse).table("db.t")

    def frames() -> dict[object, object]:
        found = peers.read("py", warehouse, "db.t")
        ours = table.scan(["id", "name", "c"]).to_arrow()
        assert difference(ours, found.select(ours.schema.names)) == ""
        return dict(zip(found["id"].to_pylist(), found["b"].to_pylist(), strict=True))

    before = frames()
    table.update({"name": "'x'"}, "id IN (1, 7)")
    table.delete("id = 2")
    peers.delete(warehouse, "db.t", row_ids=[3])
    table.append([{"id": 20, "c": b"us"}])
    table.compact()
    table.maintenance.reassign_row_ids()
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
    table.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert frames() == {i: before.get(i) for i in (0, 1, *range(4, 10), 20)}
    findings = table.maintenance.fsck(read_rows=True)
    assert {found.severity for found in findings} == {Severity.WARNING}
    with pytest.raises(UnsupportedFeatureError, match="'video'"):
        table.to_arrow()


@pytest.mark.parametrize("peer", PEERS)
def test_data_files_without_names_of_columns_have_no_blobs(
    peers: Peers, warehouse: Path, peer: Peer
) -> None:
    compact = {"data-evolution.write-cols-optimization.enabled": "true"}
    peers.create(warehouse, "db.t", BLOBS, options={**OPTIONS, **compact})
    rows = [{"id": i, "name": f"n{i}", "b": b"b%d" % i, "c": None} for i in range(4)]
    for _ in range(2):
        peers.write(peer, warehouse, "db.t", pa.Table.from_pylist(rows, BLOBS))
    table = Catalog(warehouse).table("db.t")
    assert None in table.inspect.files()["write_cols"].to_pylist()
    assert difference(pa.Table.from_pylist(rows * 2, BLOBS), table.to_arrow()) == ""
    assert table.count("b IS NOT NULL AND c IS NULL AND id = 1") == 2
    table.update({"c": b"us", "name": "upper(name)"}, "id = 2")
    table.delete("id = 3")
    table.compact()
    ours = table.to_arrow()
    assert ours["b"].to_pylist() == [b"b0", b"b1", b"b2"] * 2
    assert difference(peers.read("py", warehouse, "db.t"), ours) == ""
    assert table.maintenance.fsck(read_rows=True) == []


def test_columns_of_descriptors_and_descriptors_of_blob_files(
    java: JavaPaimon, peers: Peers, warehouse: Path
) -> None:
    contents = warehouse / "photos"
    contents.write_bytes(b"0123456789")
    options = {**OPTIONS, "blob-descriptor-field": "b"}
    peers.create(warehouse, "db.t", BLOBS, options=options)
    places = [("", 2, 3), ("file:", 0, -1), ("file://", 8, 2)]
    stored = [
        encode_descriptor(BlobDescriptor(uri=f"{prefix}{contents}", offset=first, length=length))
        for prefix, first, length in places
    ]
    values = [*stored, None]
    rows = [[{"id": first + i, "b": value} for i, value in enumerate(values)] for first in (0, 10)]
    peers.write("py", warehouse, "db.t", pa.Table.from_pylist(rows[0], BLOBS))
    table = Catalog(warehouse).table("db.t")
    table.append(rows[1])
    table.update({"name": "'x'", "b": stored[0]}, "id = 12")
    same_rows(java, peers, table, warehouse)
    wanted = [b"234", b"0123456789", b"89", None]
    assert table.to_arrow().column("b").to_pylist() == [*wanted, *wanted[:2], b"234", None]
    as_stored = {"blob-as-descriptor": "true"}
    ours = open_table(table.path, options=as_stored).to_arrow()
    assert difference(ours, peers.read("py", warehouse, "db.t", as_stored)) == ""
    assert ours.column("b").to_pylist()[:4] == [*stored, None]


@pytest.mark.parametrize("partition_by", [[], ["dt"]])
def test_java_and_we_delete_rows_in_turn(
    java: JavaPaimon, peers: Peers, catalog: Catalog, warehouse: Path, partition_by: list[str]
) -> None:
    catalog.create_database("db")
    table = catalog.create_table("db.t", STOCK, partition_by=partition_by, options=OPTIONS)
    table.append(list(stock(0, 8)))
    java.write(table.path, stock(8, 12))
    table.update({"qty": "-qty"}, "id IN (1, 9)")
    java.delete_row_ids(table.path, [0, 3, 9])
    assert len(same_rows(java, peers, table, warehouse)) == 9
    table.delete("_ROW_ID IN (1, 3, 8)")
    table.update({"name": "'x'"}, "_ROW_ID < 6")
    assert len(same_rows(java, peers, table, warehouse)) == 7
    java.delete_row_ids(table.path, [2, 10])
    assert len(same_rows(java, peers, table, warehouse)) == 5
    table.compact()
    java.delete_row_ids(table.path, [4])
    assert len(same_rows(java, peers, table, warehouse)) == 4
    java.delete_row_ids(table.path, list(range(12)))
    assert same_rows(java, peers, table, warehouse) == []


def file_facts(table: Table) -> list[tuple[object, ...]]:
    """Ranges and columns of the files, whoever wrote them."""
    names = ("first_row_id", "row_count", "min_sequence_number", "max_sequence_number", "level")
    return sorted(
        (*(found[name] for name in names), str(found["write_cols"])) for found in live(table)
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"source.split.open-file-cost": "1 b", "target-file-size": "1700 b"},
        {"compaction.min.file-num": "9"},
    ],
)
def test_java_and_we_compact_the_same_files(
    java: JavaPaimon, catalog: Catalog, options: dict[str, str]
) -> None:
    catalog.create_database("db")
    tables = []
    for name in ("ours", "java"):
        given = {**OPTIONS, "compaction.min.file-num": "2", **options}
        table = catalog.create_table(f"db.{name}", BLOBS, options=given)
        for first in range(0, 12, 3):
            table.append([{"id": i, "b": b"%d" % i} for i in range(first, first + 3)])
        table.update({"name": "'x'"}, "id IN (1, 7)")
        table.update({"b": b"new"}, "id IN (4, 7)")
        table.delete("id IN (1, 5, 9)")
        tables.append(table)
    ours, theirs = tables
    before = ours.inspect.system_table("row_tracking").to_arrow().drop_columns(["_SEQUENCE_NUMBER"])
    ours.compact(full=False)
    java.append_compact(theirs.path)
    assert file_facts(ours) == file_facts(theirs)
    assert deleted(ours) == deleted(theirs)
    for table in tables:
        assert difference(table.to_arrow(), java.read(table.path)) == ""
        after = table.inspect.system_table("row_tracking").to_arrow()
        assert difference(after, java.system_table(table.path, "row_tracking")) == ""
        assert difference(before, after.drop_columns(["_SEQUENCE_NUMBER"])) == ""
        assert table.maintenance.fsck() == []
