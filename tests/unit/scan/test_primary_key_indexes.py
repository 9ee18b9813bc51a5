"""Scans with primary-key indexes of Java: the rows of a full read, from fewer rows."""

import pickle
import shutil
from pathlib import Path

import pytest

from paimon_explore import open_table
from paimon_explore.errors import MissingFileError
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.plan import PRIMARY_KEY_INDEX_STAGE
from paimon_explore.scan.splits.data_split import DataSplit
from support.golden import GoldenTables
from support.rows import difference

WITHOUT = {"global-index.enabled": "false"}
CONDITIONS = (
    "amt = 5",
    "amt = 6",
    "amt <> 5",
    "amt IN (1, 2, 3)",
    "amt IS NULL",
    "amt IS NOT NULL",
    "amt BETWEEN 3 AND 9",
    "amt > 1000",
    "amt = 5 AND k > 100",
    "amt = 5 OR k = 3",
    "NOT (amt = 5 OR amt = 7)",
)


@pytest.fixture
def folder(golden: GoldenTables) -> Path:
    return golden.table("java200", "pk_index_btree").folder


@pytest.mark.parametrize("where", CONDITIONS)
def test_rows_of_every_snapshot_are_equal_with_and_without_indexes(
    folder: Path, where: str
) -> None:
    table, plain = open_table(folder), open_table(folder, options=WITHOUT)
    for snapshot in table.snapshots:
        found = table.at(snapshot.id).scan(where=where).to_arrow()
        expected = plain.at(snapshot.id).scan(where=where).to_arrow()
        assert difference(expected, found) == "", snapshot.id


def test_only_rows_found_and_files_without_index_are_read(folder: Path) -> None:
    shown = open_table(folder).explain(where="amt = 5")
    assert shown.notes == (
        "Primary-key index (btree of 'amt'): 170 of 376 rows are read; 150 of them have no index.",
    )
    assert shown.stages[-1].name == PRIMARY_KEY_INDEX_STAGE


def test_files_without_a_row_found_are_skipped(folder: Path) -> None:
    shown = open_table(folder).explain(where="amt > 5 AND amt < 6")
    skipped = [
        row for row in shown.to_arrow().to_pylist() if row["stage"] == PRIMARY_KEY_INDEX_STAGE
    ]
    assert [row["reason"] for row in skipped] == [
        "The file is skipped: the primary-key index finds no matching row in it."
    ]


@pytest.mark.parametrize(
    "options",
    [
        WITHOUT,
        {"pk-btree.index.columns": "v"},
        {"pk-btree.index.columns": "", "pk-bitmap.index.columns": "amt"},
        {"deletion-vectors.merge-on-read": "true"},
    ],
)
def test_indexes_are_not_used(folder: Path, options: dict[str, str]) -> None:
    table = open_table(folder, options=options)
    assert table.explain(where="amt = 5").notes == ()
    expected = open_table(folder, options={**options, **WITHOUT}).scan(where="amt = 5").to_arrow()
    assert difference(expected, table.scan(where="amt = 5").to_arrow()) == ""


def test_splits_of_other_processes_have_the_rows(folder: Path) -> None:
    scan = open_table(folder).scan(where="amt = 5")
    plan = scan.plan()
    reader = SplitReader(target=scan.target, columns=("k",))
    splits = [pickle.loads(pickle.dumps(split)) for split in plan.splits]  # noqa: S301 - ours
    assert all(isinstance(split, DataSplit) for split in splits)
    found, expected = ([*reader.read_each(some)] for some in (splits, plan.splits))
    assert found == expected
    assert sum(batch.num_rows for batch in found) < 376


def test_a_missing_index_file_is_named(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "t"
    shutil.copytree(folder, copy)
    for path in (copy / "index").iterdir():
        if path.stat().st_size > 300:
            path.unlink()
    with pytest.raises(MissingFileError, match="index-"):
        open_table(copy).scan(where="amt = 5").to_arrow()
    assert open_table(copy, options=WITHOUT).scan(where="amt = 5").count() == 29
