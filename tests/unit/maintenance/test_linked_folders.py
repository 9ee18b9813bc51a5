"""Nothing is removed behind a symbolic link, whatever removes."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.errors import CorruptFileError, StorageError
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.maintenance.expiry.changelog_expiry import expire_consumers
from paimon_explore.maintenance.expiry.linked_folders import is_link, resolves_outside
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.table_paths import TablePaths
from support.acts import ACTS, NEWEST, names_of
from support.depth import some
from support.table_kinds import TABLE_KINDS

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
LONG_AGO = 1_000_000_000
REMOVING = names_of(
    (
        *("expire", "delete a", "rename a", "move a", "fast-forward", "roll back"),
        *("remove orphans", "truncate", "drop a", "overwrite"),
    )
)
OTHERS = [name for name in ACTS if name not in REMOVING]
METADATA = [
    "schema",
    "snapshot",
    "tag",
    "manifest",
    "branch",
    "changelog",
    "consumer",
    "statistics",
]


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, links not followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def stranger(outside: Path) -> None:
    """A folder of somebody else that looks like parts of a table."""
    for name in (
        *("data-old-0.parquet", "bucket-0/data-old-0.parquet", "p=x/bucket-0/data-old-0.parquet"),
        *("manifest-old", "snapshot-99", ".snapshot-1.tmp", "schema/.schema-0.tmp", "keep.txt"),
    ):
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("of somebody else")
        os.utime(path, (LONG_AGO, LONG_AGO))


def plant(table: Table, outside: Path) -> None:
    """Links to folders and files outside, wherever removals look."""
    root = Path(table.path)
    for place in (
        *("bucket-7", "p=x", "p=2024-01-01/bucket-9", "staging-x", "manifest/link", "index/link"),
        *("statistics/link", "snapshot/link", "schema/link", "tag/link", "extra"),
    ):
        link = root / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside, target_is_directory=True)
    for place in ("manifest/manifest-link", "snapshot/.snapshot-5.tmp", "bucket-0/data-link"):
        link = root / place
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(outside / "keep.txt")


@pytest.mark.parametrize("name", [*some(REMOVING, 4), *some(OTHERS, 25)])
def test_no_act_touches_what_links_in_a_table_lead_to(tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    stranger(outside)
    before = contents(outside)
    act = ACTS[name]
    table = act.table(str(tmp_path / "w"))
    plant(table, outside)
    act.run(table)
    if TABLE_KINDS[act.kind].merge is None:
        table = open_table(table.path)  # the act may have dropped a column
        kept = table.schema.row_type.names
        table.append([{name: row[name] for name in kept if name in row} for row in NEWEST])
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    assert contents(outside) == before
    open_table(table.path).to_arrow()


@pytest.mark.parametrize("name", some(REMOVING, 7))
@pytest.mark.parametrize("folder", some(METADATA, 2))
def test_metadata_behind_a_linked_folder_is_not_removed(
    tmp_path: Path, name: str, folder: str
) -> None:
    act = ACTS[name]
    table = act.table(str(tmp_path / "w"))
    moved = tmp_path / "moved"
    move_out(Path(table.path) / folder, moved)
    before = set(contents(moved))
    with suppress(StorageError):
        act.run(table)
    assert before <= set(contents(moved)) | {"LATEST", "EARLIEST"}


@pytest.mark.parametrize("kind", ["append", "keyed", "lookup, vectors"])
def test_data_behind_a_linked_folder_stays_and_is_read(tmp_path: Path, kind: str) -> None:
    act = replace(ACTS["expire snapshots, append"], kind=kind)
    table = act.table(str(tmp_path / "w"))
    moved = tmp_path / "moved"
    move_out(Path(table.path) / "p=2024-01-01", moved)
    before = contents(moved)
    rows = table.to_arrow().num_rows
    act.run(table)
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    assert contents(moved) == before
    assert open_table(table.path).to_arrow().num_rows == rows
    assert [found.rule for found in table.maintenance.fsck()] == []


def test_a_linked_folder_is_named_and_nothing_has_gone(tmp_path: Path) -> None:
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    for _ in range(3):
        table.append(NEWEST)
    table.create_tag("one", 1)
    table.create_branch("side", "one")
    table._store.consumers.save("c", Consumer(next_snapshot=3))
    side = open_table(table.path, branch="side")
    move_out(Path(table.path) / "branch", tmp_path / "branches")
    with pytest.raises(StorageError, match="a directory outside the table"):
        side.delete_tag("one")
    assert table._store.changelogs.create(table.snapshots[1])
    move_out(Path(table.path) / "snapshot", tmp_path / "moved")
    with pytest.raises(
        StorageError, match=r"t/snapshot: the directory is a link to a directory outside"
    ):
        table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    upkeep = table.maintenance
    for act in (
        lambda: table.rollback_to(snapshot=1),
        lambda: table.delete_tag("one"),
        lambda: upkeep.rename_tag("one", "two"),
        lambda: upkeep.rollback_schema(0),
        lambda: table.fast_forward("side"),
        lambda: upkeep.expire_changelogs(retain_min=1, retain_max=1, older_than=LATER),
        lambda: expire_consumers(table._store, TableOptions({"consumer.expiration-time": "0 s"})),
    ):
        with pytest.raises(StorageError, match="a directory outside the table"):
            act()
    assert table._store.tags.names() == ["one"]
    assert table._store.snapshots.ids() == [1, 2, 3]
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("name", some(names_of(("expire", "remove", "roll back", "delete a")), 5))
def test_a_table_whose_own_folder_is_a_link_works_as_ever(tmp_path: Path, name: str) -> None:
    act = ACTS[name]
    straight, linked = act.table(str(tmp_path / "a")), act.table(str(tmp_path / "b"))
    move_out(Path(linked.path), tmp_path / "elsewhere" / "t")
    act.run(straight)
    act.run(linked)
    assert shape(Path(linked.path)) == shape(Path(straight.path))
    assert open_table(linked.path).to_arrow().num_rows == straight.to_arrow().num_rows


def test_a_dropped_table_that_is_a_link_leaves_what_it_leads_to(tmp_path: Path) -> None:
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    table.append(NEWEST)
    moved = tmp_path / "moved"
    move_out(Path(table.path), moved)
    before = contents(moved)
    Catalog(tmp_path / "w").drop_table("db.t")
    assert Catalog(tmp_path / "w").tables("db") == []
    assert contents(moved) == before


def test_dropped_tables_and_branches_take_links_and_not_what_they_lead_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    stranger(outside)
    before = contents(outside)
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    table.append(NEWEST)
    table.create_tag("one")
    table.create_branch("side", "one")
    (Path(table.path) / "branch" / "branch-side" / "link").symlink_to(outside)
    table.delete_branch("side")
    plant(table, outside)
    Catalog(tmp_path / "w").drop_table("db.t")
    assert not Path(table.path).exists()
    assert contents(outside) == before


def test_aborted_writes_touch_nothing_behind_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    stranger(outside)
    before = contents(outside)
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    table.append(NEWEST)
    plant(table, outside)

    def broken() -> Iterator[dict[str, object]]:
        yield from NEWEST
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        table.append(broken())
    assert contents(outside) == before


EXTERNAL = [
    "{root}/snapshot/snapshot-1",
    "{root}//snapshot//snapshot-1",
    "file:{root}/snapshot/snapshot-1",
    "file://{root}/schema/schema-0",
    "{root}/manifest/x",
    "{root}/tag/tag-one",
    "{root}/branch/branch-side/schema/schema-0",
    "{root}/index/x",
    "{root}/statistics/x",
    "{root}/changelog/changelog-1",
    "{root}/consumer/consumer-c",
    "{root}/./snapshot/snapshot-1",
    "{root}/bucket-0/../snapshot/snapshot-1",
    "/x/..{root}/snapshot/snapshot-1",
]


@pytest.mark.parametrize("path", EXTERNAL)
def test_an_external_path_into_the_metadata_of_the_table_is_refused(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = TABLE_KINDS["append"].create(str(tmp_path / "w"))
    table.append(NEWEST)
    table.create_tag("one")
    table.create_branch("side", "one")
    hostile = path.format(root=table.path)
    as_written = ManifestEntries.from_rows

    def from_rows(rows: list[dict[str, object]]) -> ManifestEntries:
        return as_written([{**row, "external_path": hostile} for row in rows])

    with monkeypatch.context() as patched:
        patched.setattr(ManifestEntries, "from_rows", staticmethod(from_rows))
        table.append(NEWEST)
    before = contents(Path(table.path))
    opened = open_table(table.path)
    for run in (opened.to_arrow, opened.compact, lambda: opened.delete("k = 1")):
        with pytest.raises(CorruptFileError, match=r"_EXTERNAL_PATH of a data file must "):
            run()
    with suppress(CorruptFileError):
        opened.truncate()  # the hostile entry is a candidate of the next expiry
    for _ in range(2):
        with suppress(CorruptFileError):
            opened.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
        with suppress(CorruptFileError):
            opened.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    gone = set(before) - set(contents(Path(table.path)))
    assert {name.partition("/")[0] for name in gone} <= {"p=2024-01-01", "p=2999-01-01"}


def test_external_paths_elsewhere_are_what_they_are() -> None:
    paths = TablePaths("/w/db.db/t")
    for path in ("file:/x/data-1", "/w/db.db/t2/snapshot/x", "/w/db.db/t/bucket-0/d", "s3://b/x"):
        assert paths.data_file("", 0, "d", path) == path
    assert paths.index_file("", 0, "i", "/w/db.db/t/index/i") == "/w/db.db/t/index/i"
    with pytest.raises(CorruptFileError, match="_EXTERNAL_PATH"):
        paths.extra_file("", 0, "i", "/w/db.db/t/index/i")
    with pytest.raises(CorruptFileError, match="_EXTERNAL_PATH"):
        TablePaths("file:/w/db.db/t").data_file("", 0, "d", "/w/db.db/t/tag/tag-x")


def test_a_walk_leaves_links_out_and_a_listing_shows_what_they_lead_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    stranger(outside)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").write_text("own")
    (inside / "folder").symlink_to(outside)
    (inside / "link").symlink_to(outside / "keep.txt")
    (inside / "loop").symlink_to(inside)
    (inside / "broken").symlink_to(tmp_path / "nothing")
    file_io = LocalFileIO()
    assert [status.name for status in file_io.walk(str(inside))] == ["file"]
    listed = {status.name: status.is_folder for status in file_io.list(str(inside))}
    assert listed == {"file": False, "folder": True, "link": False, "loop": True}
    (tmp_path / "alias").symlink_to(inside)
    assert [status.name for status in file_io.walk(str(tmp_path / "alias"))] == ["file"]
    file_io.delete_folder(str(tmp_path / "alias"))
    assert (inside / "file").read_text() == "own"
    assert is_link(f"file://{inside}/folder")
    assert resolves_outside(str(inside / "folder" / "x"), str(inside))
    assert not resolves_outside(str(inside / "loop" / "file"), str(inside))
    assert not resolves_outside("s3://bucket/t/x", "s3://bucket/t")


def move_out(folder: Path, target: Path) -> None:
    """Put a folder elsewhere, and a link in its place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        shutil.move(folder, target)
    else:
        target.mkdir()
    folder.symlink_to(target, target_is_directory=True)


def shape(root: Path) -> dict[str, int]:
    """How many files each folder of a table has."""
    counts: dict[str, int] = {}
    for path in root.rglob("*"):
        if path.is_file():
            folder = str(path.parent.relative_to(root))
            counts[folder] = counts.get(folder, 0) + 1
    return counts
