"""The metadata of every golden table: it decodes, and its figures agree with each other.

The files of one of three snapshots of a table are counted by default.
"""

from pathlib import Path

import pytest

from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metadata.manifest.entry_cancellation import live_entries, merge_entries
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.snapshot import Snapshot, encode_snapshot, parse_snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.manifests import shared_cache
from paimon_explore.store.table_store import TableStore
from support.depth import some
from support.golden import WRITERS, GoldenTables

FILES_HIDDEN_BY_JAVA = {
    *("dv_pk_l0", "pk_postpone", "postpone_compacted", "postponed_by_rows", "postponed_default"),
}
"""Tables whose `$files` leaves out files that batch reads do not see."""

HIDDEN_SNAPSHOTS = {"branch_ff"}
"""Tables whose `$snapshots` trusts an EARLIEST hint above the oldest snapshot."""


def stores(golden: GoldenTables, writer: str) -> list[TableStore]:
    found = []
    for folder in sorted((golden.warehouse(writer) / "gold.db").iterdir()):
        main = TableStore(LocalFileIO(), TablePaths(str(folder)))
        found += [main, *(main.for_branch(name) for name in main.branches.names())]
    return found


@pytest.mark.parametrize("writer", WRITERS)
def test_live_files_of_snapshots_and_tags_hold_their_rows(
    golden: GoldenTables, writer: str
) -> None:
    checked = 0
    for store in stores(golden, writer):
        shared_cache().clear()
        tagged = [tag.snapshot for tag in store.tags.list()]
        for snapshot in [*some(store.snapshots.list(), 3), *tagged]:
            check_files(store, snapshot)
            checked += 1
    assert checked >= 50


def check_files(store: TableStore, snapshot: Snapshot) -> None:
    where = f"{store.paths.branch_root}, snapshot {snapshot.id}"
    entries = store.manifests.read_many(store.manifests.all(snapshot).names)
    live = merge_entries(live_entries(entries), path=where)
    assert live.total_rows == snapshot.total_record_count, where
    assert sorted(map(repr, merge_entries(entries).rows())) == sorted(map(repr, live.rows())), where
    delta = store.manifests.read_many(store.manifests.delta(snapshot).names)
    added, removed = delta.of_kind(FileKind.ADD), delta.of_kind(FileKind.DELETE)
    assert added.total_rows - removed.total_rows == snapshot.delta_record_count, where
    changes = store.manifests.read_many(store.manifests.changelog(snapshot).names)
    assert changes.total_rows == (snapshot.changelog_record_count or 0), where
    store.manifests.index_of(snapshot)
    if snapshot.statistics is not None:
        assert store.statistics.load(snapshot.statistics).snapshot_id <= snapshot.id, where


@pytest.mark.parametrize("writer", WRITERS)
def test_every_snapshot_survives_a_round_trip(golden: GoldenTables, writer: str) -> None:
    for store in stores(golden, writer):
        for snapshot in [*store.snapshots.list(), *store.changelogs.list()]:
            assert parse_snapshot(encode_snapshot(snapshot), "again") == snapshot


@pytest.mark.parametrize("writer", ["java200", "java142"])
def test_snapshots_are_written_as_java_writes_them(golden: GoldenTables, writer: str) -> None:
    for store in stores(golden, writer):
        for snapshot_id in store.snapshots.ids():
            text = store.file_io.read(store.paths.snapshot(snapshot_id))
            if b'"changelogManifestList" : null' not in text:
                assert encode_snapshot(store.snapshots.load(snapshot_id)) == text


@pytest.mark.parametrize("writer", WRITERS)
def test_snapshots_and_files_are_those_that_the_writer_lists(
    golden: GoldenTables, writer: str
) -> None:
    for name in golden.names(writer):
        table = golden.table(writer, name)
        store = TableStore(LocalFileIO(), TablePaths(str(table.folder)))
        latest = store.snapshots.latest()
        listed = column(table.system, "snapshots", "snapshot_id")
        if name not in HIDDEN_SNAPSHOTS and listed is not None:
            assert listed == store.snapshots.ids(), name
        files = column(table.system, "files", "file_path")
        if latest is None or files is None or name in FILES_HIDDEN_BY_JAVA:
            continue
        entries = store.manifests.read_many(store.manifests.all(latest).names)
        ours = [row["file_name"] for row in live_entries(entries).rows()]
        assert sorted(map(str, ours)) == sorted(Path(str(path)).name for path in files), name


def column(system: dict[str, object], table: str, name: str) -> list[object] | None:
    rows = system.get(table)
    return [row[name] for row in rows] if isinstance(rows, list) else None
