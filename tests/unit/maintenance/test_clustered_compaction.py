"""Primary-key tables whose files are ordered by other columns."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from paimon_explore import Table
from support.compacting import deleted, levels, live, marked, numbered, numbered_table, values

CLUSTERED = {
    "pk-clustering-override": "true",
    "clustering.columns": "v",
    "deletion-vectors.enabled": "true",
}
FIRST = {
    "pk-clustering-override": "true",
    "clustering.columns": "v",
    "merge-engine": "first-row",
}


def stored(table: Table) -> list[object]:
    """Values in the order of the file."""
    found: list[object] = table.to_arrow().column("v").to_pylist()
    return found


@pytest.mark.parametrize(
    ("options", "expected"),
    [(CLUSTERED, {1: 50, 3: 10, 4: 0}), (FIRST, {1: 30, 2: 20, 3: 10, 4: 0})],
)
def test_rows_are_merged_by_key_and_stored_by_the_other_columns(
    tmp_path: Path, options: Mapping[str, str], expected: dict[object, object]
) -> None:
    table = numbered_table(tmp_path, {**options, "write-only": "true"})
    table.upsert(numbered((1, 30), (2, 20), (3, 10)))
    assert table.compact() is not None
    assert stored(table) == [10, 20, 30]
    table.upsert(numbered((1, 50), (4, 0)))
    if options is CLUSTERED:
        table.upsert(numbered((2, 0), kind="-D"))
    assert table.compact(full=False) is not None
    assert values(table) == expected
    assert stored(table) == sorted(stored(table), key=lambda v: int(str(v)))
    assert (levels(table), deleted(table)) == ([(1, len(expected))], [])
    (file,) = live(table)
    ends = [bytes(file[name])[12:16] for name in ("min_key", "max_key")]  # type: ignore[call-overload]
    assert [int.from_bytes(end, "little") for end in ends] == [1, 4]
    assert table.compact() is None
    assert table.maintenance.fsck() == []


def test_deleted_rows_are_left_out_and_their_vectors_go(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**CLUSTERED, "write-only": "true"})
    table.upsert(numbered((1, 30), (2, 20), (3, 10)))
    table.compact()
    marked(table, {0: [0]})
    assert (stored(table), deleted(table)) == ([20, 30], [[0]])
    assert table.compact() is not None
    assert (stored(table), deleted(table)) == ([20, 30], [])


def test_a_bucket_of_which_nothing_is_left_has_no_file(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**CLUSTERED, "write-only": "true"})
    table.upsert(numbered((1, 1)))
    table.upsert(numbered((1, 1), kind="-D"))
    assert table.compact() is not None
    assert live(table) == []
