"""Files without `_DELETE_ROW_COUNT` (releases before 0.8) may hold -D records: never read raw."""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.scan.splits.data_split import merged_row_count
from support.old_manifests import Record, without_delete_counts
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.int32())
TOP = 5
"""The highest level of a table with the default trigger."""


def add(k: int) -> dict[str, object]:
    return {"k": k, "v": k * 10, "_ROW_KIND": "+I"}


def gone(k: int) -> dict[str, object]:
    return {"k": k, "v": None, "_ROW_KIND": "-D"}


def at_level(level: int) -> Callable[[Record], None]:
    def change(file: Record) -> None:
        file["_LEVEL"] = level

    return change


def by_key(table: Table) -> list[dict[str, object]]:
    return sorted(table.scan().to_arrow().to_pylist(), key=lambda row: int(row["k"]))


ALONE = [[add(1), gone(2), add(3)]]
APART = [[add(1), gone(2), add(3)], [add(11), add(12)], [gone(21), gone(22)]]
OVERLAPPING = [[add(1), add(2), add(3)], [gone(2), add(11)], [gone(12)]]
LAYOUTS = {
    "a file alone in its bucket": (ALONE, 0),
    "a file alone in its bucket at the top level": (ALONE, TOP),
    "files apart in their keys": (APART, 0),
    "files apart in their keys at the top level": (APART, TOP),
    "overlapping files": (OVERLAPPING, 0),
}
"""Commits, and the level at which their files lie. The keys that remain are 1, 3, 11 and 12."""


def old_table(
    commits: Sequence[Sequence[dict[str, object]]],
    level: int,
    options: Mapping[str, str] | None = None,
) -> tuple[Table, list[int]]:
    """The table as an old release left it, and the keys it holds."""
    table = keyed_table(COLUMNS, *commits, primary_key=["k"], options=options)
    live = {r["k"]: r["_ROW_KIND"] == "+I" for rows in commits for r in rows}
    keys = sorted(int(str(k)) for k, is_live in live.items() if is_live)
    return without_delete_counts(table, at_level(level)), keys


def keys(table: pa.Table) -> list[int]:
    return sorted(int(str(k)) for k in table.column("k").to_pylist())


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_deleted_rows_do_not_show(layout: str, file_format: str) -> None:
    table, live = old_table(*LAYOUTS[layout], {"file.format": file_format})
    scan = table.scan()
    assert not any(split.raw_convertible for split in scan.plan().splits)
    assert keys(scan.to_arrow()) == live
    assert keys(scan.to_batches().read_all()) == live
    assert keys(table.scan(where="k >= 2").to_arrow()) == [k for k in live if k >= 2]
    assert keys(table.scan(where="v IS NULL").to_arrow()) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_are_not_counted_by_the_manifest(layout: str) -> None:
    table, live = old_table(*LAYOUTS[layout])
    assert [merged_row_count(split) for split in table.scan().plan().splits] == [None] * len(
        table.scan().plan().splits
    )
    assert table.scan().count() == len(live)
    assert table.scan(where="k > 1").count() == len([k for k in live if k > 1])
    assert table.scan(limit=1).to_arrow().num_rows == 1
    assert table.explain(limit=1).figures()["raw_splits"] == 0


@pytest.mark.parametrize("level", [0, TOP])
def test_the_read_optimized_table_shows_no_deleted_rows(level: int) -> None:
    table, live = old_table(APART, level)
    found = table.inspect.system_table("ro").to_arrow()
    assert keys(found) == (live if level == TOP else [])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_level_changes_and_compaction_leave_deleted_rows_gone(layout: str) -> None:
    table, live = old_table(*LAYOUTS[layout])
    table.update({"v": 7}, where="k <= 2")
    expected = [{"k": k, "v": 7 if k <= 2 else k * 10} for k in live]
    assert by_key(table) == expected
    table.compact(full=True)
    assert by_key(table) == expected
    assert table.scan().count() == len(live)


@pytest.mark.parametrize("level", [0, TOP])
def test_a_file_with_a_known_count_of_0_is_read_raw(level: int) -> None:
    """The missing count alone keeps a file from being read raw."""
    rows = [[add(1), add(2)]]
    assert all(
        s.raw_convertible
        for s in keyed_table(COLUMNS, *rows, primary_key=["k"]).scan().plan().splits
    )
    table, live = old_table(rows, level)
    assert [split.raw_convertible for split in table.scan().plan().splits] == [False]
    assert keys(table.scan().to_arrow()) == live == [1, 2]


def test_files_of_append_tables_hold_no_deletes_and_are_read_raw() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 10}], [{"k": 2, "v": None}])
    again = without_delete_counts(table)
    assert all(split.raw_convertible for split in again.scan().plan().splits)
    assert keys(again.scan().to_arrow()) == [1, 2]
    assert again.scan().count() == 2
