import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.encoding.blob.blob_references import MANAGED_SUFFIX
from paimon_explore.errors import FormatError, InvalidInputError, NotFoundError
from paimon_explore.maintenance.expiry.orphan_files import OrphanReport, remove_orphan_files
from paimon_explore.maintenance.expiry.reachable_files import TableFiles
from paimon_explore.store.table_store import TableStore
from support.lifecycle import (
    files_of,
    keyed_table,
    keys,
    options_of,
    plain_table,
    replaced_rows,
    states,
)
from support.paused_file_io import PausedFileIO
from support.written import columns

DAY = 86_400


def left_behind(table: Table, path: str, *, days: float = 2) -> Path:
    """A file that nothing refers to, of some age."""
    file = Path(table.path) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("rest", encoding="utf-8")
    then = system_clock() / 1000 - days * DAY
    os.utime(file, (then, then))
    return file


def aged(table: Table) -> Table:
    """The same table, all of whose files are old."""
    for path in files_of(table):
        os.utime(Path(table.path) / path, (0.001, 1))
    return table


def test_a_table_without_rests_loses_nothing(tmp_path: Path) -> None:
    index = {"file-index.bloom-filter.columns": "v", "file-index.in-manifest-threshold": "1 B"}
    table = keyed_table(tmp_path, {"changelog-producer": "input", "bucket": "-1", **index})
    for number in range(4):
        table.upsert([{"k": number, "v": "x"}])
    assert any(path.endswith(".index") for path in files_of(table))
    assert any(path.startswith("index/") for path in files_of(table))
    table.create_tag("one", 1)
    table.create_branch("side", "one")
    side = open_table(table.path, branch="side")
    side.upsert([{"k": 9, "v": "y"}])
    table.maintenance.expire_snapshots(retain_max=2)
    before = files_of(aged(table))
    report = table.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert (report.files, repr(report)) == ((), "removed 0 files, 0 bytes")
    assert files_of(table) == before
    assert (keys(table), keys(side)) == ([0, 1, 2, 3], [0, 9])


def test_the_schema_folder_is_not_listed_for_each_snapshot(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    lists = []
    for _ in range(2):
        for number in range(4):
            table.append([{"k": number, "v": "x"}])
        log: list[str] = []
        files = PausedFileIO(table._store.file_io, log.append)
        remove_orphan_files(
            TableStore(files, table._store.paths),
            options_of(table._store),
            system_clock(),
            dry_run=True,
        )
        lists.append(log.count("list schema"))
    assert lists[0] == lists[1] < 4


def changelog_of(table: Table) -> list[object]:
    """The changes of the only snapshot."""
    (number,) = table._store.snapshots.ids()
    return [
        *table.between(number - 1, number, mode="changelog", row_kinds=True).to_arrow().to_pylist()
    ]


def with_copies_of_one_snapshot(folder: Path, producer: str, order: str) -> tuple[Table, Table]:
    """A table and its branch `b`; the first snapshots of `b` and `d` have a changelog."""
    table = keyed_table(folder, {"changelog-producer": producer})
    for number in range(3):
        table.upsert([{"k": number, "v": "x"}])
        table.compact(full=True)
    number = next(s.id for s in table.snapshots if s.changelog_manifest_list is not None)
    table.create_tag("one", number)
    if "tag" in order:
        table.create_tag("two", number)
    for name in ("b", "d"):
        table.create_branch(name, "one")
    table.maintenance.expire_snapshots(retain_max=1)
    for name in ("a", "e"):
        table.create_branch(name, "one")
    return table, open_table(table.path, branch="b")


@pytest.mark.parametrize("producer", ["input", "lookup", "full-compaction"])
@pytest.mark.parametrize("order", ["branches", "branches and a tag"])
@pytest.mark.parametrize("removal", ["orphans", "expiry", "tag", "main"])
def test_a_branch_keeps_its_changelog_beside_copies_without_one(
    tmp_path: Path, producer: str, order: str, removal: str
) -> None:
    table, branch = with_copies_of_one_snapshot(tmp_path, producer, order)
    before = changelog_of(branch)
    assert before
    match removal:
        case "orphans":
            aged(table).maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
        case "expiry":
            for name in ("a", "d"):
                other = open_table(table.path, branch=name)
                other.upsert([{"k": 9, "v": "y"}])
                other.maintenance.expire_snapshots(retain_max=1)
        case "tag":
            table.delete_tag("one")
        case _:
            table.upsert([{"k": 9, "v": "y"}])
            table.compact(full=True)
            table.maintenance.expire_snapshots(retain_max=1)
    assert changelog_of(branch) == before
    assert table.maintenance.fsck() == []


def added_by_changelogs(table: Table) -> set[str]:
    """The data files that long-lived changelogs added."""
    files = TableFiles(store=table._store, options=options_of(table._store))
    return {
        path
        for log in table._store.changelogs.list()
        for path in files.paths(files.added_rows(log))
    }


@pytest.mark.parametrize("where", ["main", "branch"])
def test_long_lived_changes_stay_when_the_changelog_producer_changes(
    tmp_path: Path, where: str
) -> None:
    table = keyed_table(
        tmp_path,
        {"changelog.num-retained.max": "100", "changelog.time-retained": "9999 d"},
    )
    table.upsert([{"k": 1, "v": "x"}])
    table.create_tag("one")
    table.create_branch("side", "one")
    side = table if where == "main" else open_table(table.path, branch="side")
    side.upsert([{"k": 2, "v": "y"}])
    side.compact(full=True)
    side.maintenance.expire_snapshots(retain_max=1)
    table.delete_tag("one")
    paths = added_by_changelogs(side)
    table.set_options({"changelog-producer": "input"})
    fresh = aged(open_table(table.path))
    assert side._store.changelogs.ids()
    fresh.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert {path for path in paths if not Path(path).exists()} == set()


@pytest.mark.parametrize(
    "path",
    [
        "manifest/manifest-x-0",
        "manifest/manifest-list-x-0",
        "manifest/.manifest-y-0.1.tmp",
        "index/index-x-0",
        "statistics/stat-x-0",
        "bucket-0/data-x-0.parquet",
        "bucket-postpone/data-x-0.avro",
        "snapshot/.snapshot-3.x.tmp",
        "changelog/.changelog-3.x.tmp",
        "schema/.schema-3.x.tmp",
        "tag/.tag-x.y.tmp",
        "consumer/.consumer-x.y.tmp",
        "branch/branch-side/snapshot/.snapshot-3.x.tmp",
    ],
)
def test_old_rests_go_where_the_format_puts_files(tmp_path: Path, path: str) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_branch("side")
    rest = left_behind(table, path)
    found = table.maintenance.remove_orphan_files()
    assert (found.files, found.size) == ((str(rest),), 4)
    assert repr(found) == f"would remove 1 file, 4 bytes\n  {rest}"
    assert rest.exists()
    removed = table.maintenance.remove_orphan_files(dry_run=False)
    assert repr(removed) == f"removed 1 file, 4 bytes\n  {rest}"
    assert not rest.exists()
    assert states(table) == {1: [1], 2: [2]}


@pytest.mark.parametrize(
    "path",
    [
        *("notes.txt", "bucket-0/sub/data.parquet", "dt=1/bucket-0/x.parquet", "other/file"),
        *("tag/x", f"bucket-0/x{MANAGED_SUFFIX}"),
    ],
)
def test_files_elsewhere_are_left_alone(tmp_path: Path, path: str) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    left_behind(table, path)
    assert table.maintenance.remove_orphan_files().files == ()


def test_young_files_are_left_alone(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    left_behind(table, "bucket-0/data-x-0.parquet", days=0.9)
    assert table.maintenance.remove_orphan_files().files == ()
    found = table.maintenance.remove_orphan_files(older_than=timedelta(hours=1))
    assert len(found.files) == 1
    modified_ms = table._store.file_io.status(found.files[0]).modified_ms
    for before_ms, count in ((modified_ms, 0), (modified_ms + 1, 1)):
        options = options_of(table._store)
        report = remove_orphan_files(table._store, options, before_ms, dry_run=True)
        assert len(report.files) == count
    with pytest.raises(InvalidInputError, match="negative"):
        table.maintenance.remove_orphan_files(older_than=timedelta(hours=-1))


def test_a_report_shows_the_first_files() -> None:
    report = OrphanReport(files=("a", "b", "c", "d") * 300, size=12_345, dry_run=False)
    assert repr(report) == "removed 1,200 files, 12,345 bytes\n  a\n  b\n  c"


def test_partitions_are_looked_into(tmp_path: Path) -> None:
    schema = columns({"k": pa.int32(), "dt": pa.string()})
    table = plain_table(tmp_path, schema=schema, partition_by=("dt",))
    table.append([{"k": 1, "dt": "a/b"}])
    aged(table)
    left_behind(table, "notes/bucket-0/data-x-0.parquet")
    rest = left_behind(table, "dt=a%2Fb/bucket-0/data-x-0.parquet")
    assert table.maintenance.remove_orphan_files(dry_run=False).files == (str(rest),)
    assert keys(table) == [1]


def test_what_a_rollback_leaves_goes(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.rollback_to(snapshot=1)
    gone = table.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert len([path for path in gone.files if "bucket-0" in path]) == 2
    assert states(table) == {1: [1]}


def test_nothing_goes_while_a_branch_cannot_be_understood(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    rest = left_behind(table, "manifest/manifest-x-0")
    snapshot = left_behind(table, "branch/branch-b/snapshot/snapshot-1")
    with pytest.raises(NotFoundError, match=r"branch .*; if not, delete the branch\.$"):
        table.maintenance.remove_orphan_files(dry_run=False)
    schema = Path(table.path) / "branch" / "branch-b" / "schema" / "schema-0"
    schema.parent.mkdir()
    schema.write_bytes((Path(table.path) / "schema" / "schema-0").read_bytes())
    with pytest.raises(FormatError, match="snapshot-1"):
        table.maintenance.remove_orphan_files(dry_run=False)
    assert rest.exists()
    assert snapshot.exists()


def test_external_places_are_looked_into_only_when_asked(tmp_path: Path) -> None:
    external = tmp_path / "far"
    table = plain_table(
        tmp_path,
        {
            "data-file.external-paths": f"file://{external}",
            "data-file.external-paths.strategy": "round-robin",
        },
    )
    table.append([{"k": 1, "v": "x"}])
    for file in external.rglob("*.parquet"):
        os.utime(file, (1, 1))
    rest = external / "bucket-0" / "data-x-0.parquet"
    rest.parent.mkdir(parents=True, exist_ok=True)
    rest.write_text("rest", encoding="utf-8")
    os.utime(rest, (1, 1))
    keep = table.maintenance
    assert keep.remove_orphan_files(dry_run=False).files == ()
    gone = keep.remove_orphan_files(external=True, dry_run=False).files
    assert [path.rpartition("/")[2] for path in gone] == ["data-x-0.parquet"]
    assert keys(table) == [1]
