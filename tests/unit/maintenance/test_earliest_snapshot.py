"""The hint EARLIEST is set to the first snapshot after a gap, by Java's rules."""

from pathlib import Path

import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, NotFoundError
from support.lifecycle import plain_table, replaced_rows


def with_gap(folder: Path) -> Table:
    """Snapshots 1 to 6 without 3; the hint names 1."""
    table = replaced_rows(plain_table(folder), 6)
    Path(table._store.paths.snapshot(3)).unlink()
    return table


def test_the_hint_names_the_first_snapshot_after_the_gap(tmp_path: Path) -> None:
    table = with_gap(tmp_path)
    assert table.maintenance.repair_earliest_snapshot(4) == 1
    assert table._store.snapshots.earliest_hint() == 4
    assert table.maintenance.repair_earliest_snapshot(4) == 4
    assert Path(table._store.paths.snapshot(1)).exists()


def test_without_a_hint_the_lowest_id_is_the_one_before(tmp_path: Path) -> None:
    table = with_gap(tmp_path)
    Path(table._store.paths.earliest_hint).unlink()
    assert table.maintenance.repair_earliest_snapshot(4) == 1
    Path(table._store.paths.snapshot(5)).unlink()
    assert table.maintenance.repair_earliest_snapshot(6) == 4


@pytest.mark.parametrize(
    ("number", "rule"),
    [
        (5, "Snapshot 5 does not follow a gap: snapshot 4 exists"),
        (7, "Snapshot 7 is not between the earliest snapshot 1 and the latest snapshot 6"),
        (0, "snapshot_id must be an integer of at least 1"),
    ],
)
def test_other_snapshots_are_refused(tmp_path: Path, number: int, rule: str) -> None:
    table = with_gap(tmp_path)
    with pytest.raises(InvalidInputError, match=rule):
        table.maintenance.repair_earliest_snapshot(number)
    assert table._store.snapshots.earliest_hint() == 1


def test_a_snapshot_before_the_gap_is_refused_with_the_one_to_use(tmp_path: Path) -> None:
    table = with_gap(tmp_path)
    with pytest.raises(
        NotFoundError, match=r"The snapshots 4 to 6 follow each other: pass snapshot 4\.$"
    ) as error:
        table.maintenance.repair_earliest_snapshot(2)
    assert error.value.name == 3


def test_a_table_without_snapshots_is_refused(tmp_path: Path) -> None:
    table = plain_table(tmp_path)
    with pytest.raises(NotFoundError, match=f"^Table {table.path} has no snapshots"):
        table.maintenance.repair_earliest_snapshot(1)
