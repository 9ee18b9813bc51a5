"""Purge: no rows, no references, no old files."""

from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.consumer import Consumer
from support.lifecycle import files_of, keyed_table, keys, plain_table, replaced_rows
from support.through import interrupted

LOGS = {
    "changelog-producer": "input",
    "changelog.num-retained.min": "20",
    "changelog.num-retained.max": "100",
}


def grown(folder: Path) -> Table:
    """A table with changelogs that outlive their snapshots, a tag, a branch and a consumer."""
    table = keyed_table(folder, LOGS)
    for number in range(4):
        table.upsert([{"k": number, "v": "a"}, {"k": 0, "v": str(number)}])
    table.create_tag("old", 2)
    table.create_branch("side", "old")
    open_table(table.path, branch="side").upsert([{"k": 50, "v": "side"}])
    table.maintenance.expire_snapshots(retain_max=2)
    table._store.consumers.save("job", Consumer(next_snapshot=3))
    return table


def test_only_a_snapshot_without_rows_remains(tmp_path: Path) -> None:
    table = grown(tmp_path)
    report = table.maintenance.purge_files(dry_run=False)
    assert (report.snapshots, report.branches, report.tags) == (2, ("side",), ("old",))
    assert report.consumers == ("job",)
    assert len(report.files.data_files) > 0
    assert table.count() == 0
    assert table._store.snapshots.ids() == [5]
    assert table._store.changelogs.ids() == []
    left = {name.partition("/")[0] for name in files_of(table)}
    assert left == {"manifest", "schema", "snapshot"}
    assert table.maintenance.fsck() == []
    table.upsert([{"k": 7, "v": "new"}])
    assert keys(table) == [7]
    assert table.maintenance.purge_files(dry_run=False).snapshots == 2


def test_a_dry_run_counts_and_keeps_everything(tmp_path: Path) -> None:
    table = grown(tmp_path)
    before = files_of(table)
    report = table.maintenance.purge_files()
    assert report.dry_run
    assert repr(report).startswith(
        "would remove all rows, 2 snapshots, 1 branches, 1 tags, 1 consumers, "
    )
    assert files_of(table) == before
    assert {path.removeprefix(f"{table.path}/") for path in report.files.data_files} == {
        name for name in before if "bucket-" in name
    }


def test_rows_committed_after_the_truncation_stay(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    late = interrupted(table, lambda: table.append([{"k": 9, "v": "theirs"}]))
    late.maintenance.purge_files(dry_run=False)
    assert keys(table) == []  # committed before the snapshot without rows
    table.append([{"k": 1, "v": ""}])
    writer = interrupted(table, lambda: table.maintenance.purge_files(dry_run=False))
    writer.append([{"k": 10, "v": "theirs"}])
    assert keys(table) == [10]
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_table_without_snapshots_is_left_alone(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    assert table.maintenance.purge_files(dry_run=False).snapshots == 0
    assert table.snapshot is None


def test_a_branch_is_not_purged(tmp_path: Path) -> None:
    table = grown(tmp_path)
    side = open_table(table.path, branch="side")
    with pytest.raises(InvalidInputError, match="cannot run on the branch 'side'"):
        side.maintenance.purge_files(dry_run=False)
    assert side.count() == 3
