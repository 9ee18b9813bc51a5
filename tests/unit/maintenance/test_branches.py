from pathlib import Path

import pytest

from paimon_explore import open_table
from paimon_explore.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from support.lifecycle import keys, plain_table, replaced_rows, states


def test_a_branch_from_a_tag_begins_with_its_snapshot(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("two", 2)
    table.maintenance.create_branch("side", "two")
    side = open_table(table.path, branch="side")
    assert states(side) == {2: [2]}
    side.append([{"k": 20, "v": "x"}])
    assert states(side) == {2: [2], 3: [2, 20]}
    assert states(table) == {1: [1], 2: [2], 3: [3]}
    assert side.store.tags.names() == ["two"]


def test_a_branch_may_begin_from_a_tag_whose_snapshot_has_expired(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 3)
    table.create_tag("one", 1)
    table.maintenance.expire_snapshots(retain_max=1)
    table.maintenance.create_branch("side", "one")
    assert states(open_table(table.path, branch="side")) == {1: [1]}


def test_a_branch_without_a_tag_has_no_rows(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    table.maintenance.add_column("n", "INT")
    table.maintenance.create_branch("empty")
    side = open_table(table.path, branch="empty")
    assert side.snapshot is None
    assert side.schema.id == 1


def test_a_branch_has_the_schemas_up_to_that_of_its_tag(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.create_tag("a")
    table.maintenance.add_column("n", "INT")
    table.maintenance.create_branch("side", "a")
    assert open_table(table.path, branch="side").store.schemas.ids() == [0]


@pytest.mark.parametrize(
    ("name", "rule"), [("", "no name"), ("main", "default"), ("12", "digits"), ("a/b", "no name")]
)
def test_names_that_no_branch_may_have_are_refused(tmp_path: Path, name: str, rule: str) -> None:
    with pytest.raises(InvalidInputError, match=rule):
        plain_table(tmp_path).maintenance.create_branch(name)


def test_an_unknown_tag_leaves_no_branch(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    with pytest.raises(NotFoundError):
        table.maintenance.create_branch("side", "nope")
    assert list(table.branches) == []


def test_branches_are_renamed_and_deleted(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.maintenance.create_branch("a")
    table.maintenance.create_branch("b")
    with pytest.raises(AlreadyExistsError):
        table.maintenance.create_branch("a")
    with pytest.raises(AlreadyExistsError):
        table.maintenance.rename_branch("a", "b")
    table.maintenance.rename_branch("a", "c")
    assert sorted(table.branches) == ["b", "c"]
    table.maintenance.delete_branch("c")
    assert list(table.branches) == ["b"]
    with pytest.raises(NotFoundError):
        table.maintenance.delete_branch("c")
    with pytest.raises(InvalidInputError):
        table.maintenance.delete_branch("main")


def test_fast_forward_makes_main_what_the_branch_is(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    table.create_tag("two", 2)
    table.create_tag("late", 4)
    table.maintenance.create_branch("side", "two")
    side = open_table(table.path, branch="side")
    side.maintenance.add_column("n", "INT")
    side.append([{"k": 20, "v": "x", "n": 1}])
    side.create_tag("mine")
    table.maintenance.add_column("other", "STRING")
    table.maintenance.add_column("another", "STRING")
    table.maintenance.fast_forward("side")
    assert states(table) == {1: [1], 2: [2], 3: [2, 20]}
    assert list(table.schema.row_type.names) == ["k", "v", "n"]
    assert table.store.tags.names() == ["mine", "two"]
    assert states(side) == {2: [2], 3: [2, 20]}
    table.append([{"k": 9, "v": "y", "n": 2}])
    assert keys(table) == [2, 20, 9]


def test_a_branch_without_snapshots_is_nothing_to_go_forward_to(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    table.maintenance.create_branch("empty")
    with pytest.raises(InvalidInputError, match="no snapshot"):
        table.maintenance.fast_forward("empty")
    assert states(table) == {1: [1]}
