"""A branch of an append table is merged into another: its files are added, none is copied."""

from collections.abc import Callable
from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
)
from support.faulty_file_io import FaultyFileIO
from support.lifecycle import data_files, keyed_table, keys, plain_table
from support.through import interrupted, through


def branched(folder: Path, **options: str) -> tuple[Table, Table]:
    """A table with rows 1 and 2, and its branch with 1 and 3."""
    given = {key.replace("_", "-").replace("--", "."): text for key, text in options.items()}
    table = plain_table(folder, given)
    table.append([{"k": 1, "v": ""}])
    table.create_tag("start")
    table.create_branch("side", "start")
    side = open_table(table.path, branch="side")
    table.append([{"k": 2, "v": ""}])
    side.append([{"k": 3, "v": ""}])
    return table, side


@pytest.mark.parametrize("options", [{}, {"row_tracking--enabled": "true"}], ids=["plain", "ids"])
def test_the_files_of_a_branch_are_added_once(tmp_path: Path, options: dict[str, str]) -> None:
    table, side = branched(tmp_path, **options)
    files = data_files(table)
    made = table.maintenance.merge_branch("side")
    assert made is not None
    assert (made.id, made.commit_kind.value) == (3, "APPEND")
    assert keys(table) == [1, 2, 3]
    assert data_files(table) == files
    assert table.maintenance.merge_branch("side") is None
    assert keys(side) == [1, 3]
    table.maintenance.merge_branch("main", "side")
    assert keys(side) == [1, 2, 3]
    if options:
        ids = table.inspect.system_table("row_tracking").to_arrow().column("_ROW_ID").to_pylist()
        assert sorted(ids, key=str) == [0, 1, 2]
    table.delete_branch("side")
    table.maintenance.remove_orphan_files(older_than="2999-01-01", dry_run=False)
    assert keys(table) == [1, 2, 3]
    assert table.maintenance.fsck(read_rows=True) == []


def overwritten(table: Table, side: Table) -> None:
    del table
    side.delete("k = 1")


def expired(table: Table, side: Table) -> None:
    del side
    table.maintenance.expire_snapshots(retain_max=1)


def widened(table: Table, side: Table) -> None:
    del table
    side.add_column("n", "INT")


def altered_both(table: Table, side: Table) -> None:
    table.add_column("n", "INT")
    side.set_options({"write-only": "true"})
    side.rename_column("v", "w")
    side.rename_column("w", "v")
    side.add_column("n", "INT")
    side.append([{"k": 4, "v": "", "n": 1}])


@pytest.mark.parametrize(
    ("act", "rule"),
    [
        (overwritten, "Snapshot 3 of branch 'side' is of kind OVERWRITE"),
        (expired, "The snapshots before 2 of branch 'main' are missing"),
        (widened, "they have different columns"),
        (altered_both, "which 'main' does not have"),
    ],
)
def test_branches_of_another_history_or_schema_are_refused(
    tmp_path: Path, act: Callable[[Table, Table], None], rule: str
) -> None:
    table, side = branched(tmp_path)
    act(table, side)
    before = table.snapshot
    with pytest.raises(InvalidInputError, match=rule):
        table.maintenance.merge_branch("side")
    assert table.snapshot == before


def test_what_is_no_branch_with_rows_is_refused(tmp_path: Path) -> None:
    table, _ = branched(tmp_path)
    merge = table.maintenance.merge_branch
    table.create_branch("empty")
    for names, kind, rule in (
        (("nope",), NotFoundError, "Branch 'nope' does not exist.*'main', 'empty', 'side'"),
        (("side", "nope"), NotFoundError, "Branch 'nope' does not exist"),
        (("side", "side"), InvalidInputError, "cannot be merged into itself"),
        (("empty",), InvalidInputError, "has no snapshot"),
    ):
        error: type[PaimonError] = kind
        with pytest.raises(error, match=rule):
            merge(*names)
    keyed = keyed_table(tmp_path / "other")
    keyed.create_branch("side")
    with pytest.raises(UnsupportedFeatureError, match="table with a primary key"):
        keyed.maintenance.merge_branch("side")


def test_a_failed_merge_deletes_no_file_of_the_branch(tmp_path: Path) -> None:
    table, side = branched(tmp_path)
    for step in range(1, 4):
        with pytest.raises(StorageError, match="injected"):
            through(table, FaultyFileIO(table._store.file_io, step)).maintenance.merge_branch(
                "side"
            )
        assert keys(side) == [1, 3]
        assert keys(table) == [1, 2]
    late = interrupted(table, lambda: table.maintenance.merge_branch("side"))
    assert late.maintenance.merge_branch("side") is None
    interrupted(table, lambda: table.append([{"k": 9, "v": ""}])).maintenance.merge_branch(
        "main", "side"
    )
    assert keys(table) == [1, 2, 3, 9]
    assert keys(side) == [1, 2, 3]
