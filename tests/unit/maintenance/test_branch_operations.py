import shutil
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    StorageError,
)
from paimon_explore.maintenance.references.branch_operations import create_branch
from support.faulty_file_io import FaultyFileIO
from support.lifecycle import files_of, keyed_table, keys, plain_table, replaced_rows, states

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it


def test_a_branch_from_a_tag_begins_with_its_snapshot(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("two", 2)
    table.create_branch("side", "two")
    side = open_table(table.path, branch="side")
    assert states(side) == {2: [2]}
    side.append([{"k": 20, "v": "x"}])
    assert states(side) == {2: [2], 3: [2, 20]}
    assert states(table) == {1: [1], 2: [2], 3: [3]}
    assert side._store.tags.names() == ["two"]


def test_a_branch_may_begin_from_a_tag_whose_snapshot_has_expired(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("one", 1)
    table.maintenance.expire_snapshots(retain_max=1)
    table.create_branch("side", "one")
    assert states(open_table(table.path, branch="side")) == {1: [1]}


def test_a_branch_without_a_tag_has_no_rows(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.add_column("n", "INT")
    table.create_branch("empty")
    side = open_table(table.path, branch="empty")
    assert side.snapshot is None
    assert side.schema.id == 1


def test_a_branch_has_the_schemas_up_to_that_of_its_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.create_tag("a")
    table.add_column("n", "INT")
    table.create_branch("side", "a")
    assert open_table(table.path, branch="side")._store.schemas.ids() == [0]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", r"not a valid branch name\."),
        ("main", r"default branch and cannot be used for another branch\."),
        ("12", "it consists of digits only\\."),
        ("a/b", "not a valid branch name"),
        *((name, "not a valid branch name") for name in (".", "..", "a\0b")),
        ("..\\x", "not a valid branch name"),
    ],
)
def test_names_that_no_branch_may_have_are_refused(tmp_path: Path, name: str, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=rule):
        plain_table(tmp_path).create_branch(name)


def test_an_unknown_tag_leaves_no_branch(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    with pytest.raises(NotFoundError):
        table.create_branch("side", "nope")
    assert list(table.branches) == []


def test_a_branch_that_cannot_be_completed_leaves_no_files(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.create_tag("two")
    store = table._store
    sound = FaultyFileIO(store.file_io)
    create_branch(replace(store, file_io=sound), "sound", "two")
    assert len(sound.log) > 2
    for step in range(1, len(sound.log) + 1):
        faulty = replace(store, file_io=FaultyFileIO(store.file_io, fail_at=step))
        with pytest.raises(StorageError, match="injected"):
            create_branch(faulty, "side", "two")
        assert not any("branch-side" in path for path in files_of(table))


def test_a_table_that_is_gone_gets_no_branch(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    shutil.rmtree(table.path)
    with pytest.raises(NotFoundError) as failure:
        table.create_branch("side")
    assert (failure.value.kind, failure.value.name) == ("table", table.path)


def test_branches_are_renamed_and_deleted(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.create_branch("a")
    table.create_branch("b")
    with pytest.raises(AlreadyExistsError):
        table.create_branch("a")
    with pytest.raises(AlreadyExistsError):
        table.maintenance.rename_branch("a", "b")
    with pytest.raises(InvalidInputError, match="not a valid branch name"):
        table.maintenance.rename_branch("a", "b/c")
    with pytest.raises(NotFoundError, match="Branches: 'a', 'b'"):
        table.maintenance.rename_branch("d", "c")
    table.maintenance.rename_branch("a", "c")
    assert sorted(table.branches) == ["b", "c"]
    table.delete_branch("c")
    assert list(table.branches) == ["b"]
    with pytest.raises(NotFoundError):
        table.delete_branch("c")
    with pytest.raises(InvalidInputError):
        table.delete_branch("main")


def test_fast_forward_makes_main_what_the_branch_is(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.create_tag("late", 4)
    table.create_branch("side", "two")
    side = open_table(table.path, branch="side")
    side.add_column("n", "INT")
    side.append([{"k": 20, "v": "x", "n": 1}])
    side.create_tag("mine")
    table.add_column("other", "STRING")
    table.add_column("another", "STRING")
    table.fast_forward("side")
    assert states(table) == {1: [1], 2: [2], 3: [2, 20]}
    assert list(table.schema.row_type.names) == ["k", "v", "n"]
    assert table._store.tags.names() == ["mine", "two"]
    assert states(side) == {2: [2], 3: [2, 20]}
    table.append([{"k": 9, "v": "y", "n": 2}])
    assert keys(table) == [2, 20, 9]


def test_a_table_without_rows_is_fast_forwarded_to_a_branch_without_a_tag(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    table.create_branch("side")
    replaced_rows(open_table(table.path, branch="side"), 2)
    table.fast_forward("side")
    assert states(table) == {1: [1], 2: [2]}


def test_a_branch_without_snapshots_is_nothing_to_go_forward_to(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.create_branch("empty")
    with pytest.raises(InvalidInputError, match="no snapshot"):
        table.fast_forward("empty")
    assert states(table) == {1: [1]}


def branch_that_forgot_its_beginning(folder: Path) -> Table:
    """Main has snapshots 1 and 2; its branch from 1 went another way, and has only 3."""
    table = plain_table(folder)
    table.append([{"k": 1, "v": "both"}])
    table.create_tag("one")
    table.create_branch("b", "one")
    table.append([{"k": 2, "v": "main"}])
    branch = open_table(table.path, branch="b")
    branch.append([{"k": 3, "v": "branch"}])
    branch.append([{"k": 4, "v": "branch"}])
    branch.delete_tag("one")
    branch.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    return table


def test_what_main_had_goes_if_it_is_not_what_came_before_the_branch(tmp_path: Path) -> None:
    table = branch_that_forgot_its_beginning(tmp_path)
    table.fast_forward("b")
    assert states(table) == {3: [1, 3, 4]}
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("branch_changes", [False, True])
def test_snapshots_of_main_with_the_same_files_but_other_schemas_go(
    tmp_path: Path, *, branch_changes: bool
) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "both"}])
    table.create_tag("one")
    table.create_branch("b", "one")
    table.add_column("n", "INT")
    table.truncate()
    branch = open_table(table.path, branch="b")
    if branch_changes:
        branch.add_column("text", "STRING")
    branch.truncate()
    branch.append([{"k": 3, "v": "branch"}])
    branch.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    table.fast_forward("b")
    assert states(table) == {3: [3]}
    assert table.maintenance.fsck(read_rows=True) == []


def table_with_a_stale_schema_id(folder: Path) -> Table:
    """Snapshot 3, with a tag, names schema 0, but some of its files have schema 1."""
    table = plain_table(folder)
    table.append([{"k": 1, "v": "old"}])
    table.add_column("n", "INT")
    table.append([{"k": 2, "v": "new", "n": 2}])
    table.append([{"k": 3, "v": "of a writer that began before"}])
    path = Path(table.path) / "snapshot" / "snapshot-3"
    path.write_text(path.read_text().replace('"schemaId" : 1', '"schemaId" : 0'))
    assert table.snapshots[3].schema_id == 0
    table.create_tag("three", 3)
    table.create_branch("b", "three")
    return table


@pytest.mark.parametrize("has_schema", [True, False])
def test_a_branch_and_a_fast_forward_keep_the_schemas_of_files(
    tmp_path: Path, *, has_schema: bool
) -> None:
    table = table_with_a_stale_schema_id(tmp_path)
    branch = open_table(table.path, branch="b")
    assert branch.at(snapshot=3).to_arrow()["k"].to_pylist() == [1, 2, 3]
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    if not has_schema:  # as other implementations create a branch
        Path(branch._store.paths.schema(1)).unlink()
    with pytest.raises(InvalidInputError, match="snapshot 3 uses"):
        table.maintenance.rollback_schema(0)
    table.fast_forward("b")
    assert states(table) == {3: [1, 2, 3]}
    assert table.schema.id == 1
    table.delete_branch("b")
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_snapshot_of_main_that_needs_a_lost_schema_is_not_left_without_it(
    tmp_path: Path,
) -> None:
    table = table_with_a_stale_schema_id(tmp_path)
    branch = open_table(table.path, branch="b")
    Path(branch._store.paths.schema(1)).unlink()  # as other implementations create a branch
    branch.add_column("text", "STRING")
    with pytest.raises(InvalidInputError, match=r"snapshot 2 of main needs schema 1"):
        table.fast_forward("b")
    assert states(table) == {1: [1], 2: [1, 2], 3: [1, 2, 3]}


@pytest.mark.parametrize("branch_changes", [False, True])
def test_schemas_that_tags_of_main_need_are_not_replaced(
    tmp_path: Path, *, branch_changes: bool
) -> None:
    table = plain_table(tmp_path)
    table.append([{"k": 1, "v": "both"}])
    table.create_tag("one")
    table.create_branch("b", "one")
    table.add_column("n", "INT")
    table.append([{"k": 2, "v": "main", "n": 2}])
    table.create_tag("kept")
    branch = open_table(table.path, branch="b")
    if branch_changes:
        branch.add_column("text", "STRING")
    for number in (3, 4):
        branch.append([{"k": number, "v": "branch"}])
    branch.delete_tag("one")
    branch.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    with pytest.raises(InvalidInputError, match=r"tag 'kept' of main needs schema 1"):
        table.fast_forward("b")
    assert states(table) == {1: [1], 2: [1, 2]}
    assert table.at(tag="kept").to_arrow()["n"].to_pylist() == [None, 2]
    table.delete_tag("kept")
    table.fast_forward("b")
    assert states(table) == {3: [1, 3, 4]}
    assert table.at(tag="one").to_arrow()["k"].to_pylist() == [1]
    assert table.maintenance.fsck(read_rows=True) == []


def test_schemas_that_changelogs_of_main_need_are_not_removed(tmp_path: Path) -> None:
    options = {
        "changelog-producer": "input",
        "changelog.num-retained.max": "99",
        "changelog.time-retained": "9 d",
    }
    table = keyed_table(tmp_path, options)
    table.upsert([{"k": 1, "v": "both"}])
    table.create_tag("one")
    table.create_branch("b", "one")
    table.add_column("n", "INT")
    for number in (2, 3):
        table.upsert([{"k": number, "v": "main", "n": 2}])
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    branch = open_table(table.path, branch="b")
    for number in (4, 5, 6):
        branch.upsert([{"k": number, "v": "branch"}])
    branch.delete_tag("one")
    branch.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    table.delete_tag("one")
    with pytest.raises(InvalidInputError, match=r"changelog 2 of main needs schema 1, which"):
        table.fast_forward("b")
    table.maintenance.expire_changelogs(retain_min=1, retain_max=1, older_than=LATER)
    table.fast_forward("b")
    assert states(table) == {4: [1, 4, 5, 6]}
    assert table.maintenance.fsck(read_rows=True) == []


def test_files_of_a_history_with_a_break_are_held(tmp_path: Path) -> None:
    table = branch_that_forgot_its_beginning(tmp_path)
    branch = table._store.for_branch("b").paths
    table._store.file_io.create(
        table._store.paths.snapshot(3), table._store.file_io.read(branch.snapshot(3))
    )  # as other implementations leave it
    table.delete_branch("b")
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    assert states(table) == {1: [1], 2: [1, 2], 3: [1, 3, 4]}
