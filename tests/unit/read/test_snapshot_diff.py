import pyarrow as pa

from paimon_explore.read.snapshot_diff import changed_splits, difference
from paimon_explore.scan.splits.data_split import DataSplit, KnownPaths, LayeredSplit, LocatedFiles
from paimon_explore.scan.splits.split_generator import whole_buckets
from support.entries import entries, entry

BEFORE = pa.Table.from_arrays([pa.array([1, 2, 3]), pa.array(["a", "b", None])], ["k", "v"])
AFTER = pa.Table.from_arrays([pa.array([2, 3, 4]), pa.array(["b", "c", "d"])], ["k", "v"])


def test_new_changed_and_gone_keys_are_told() -> None:
    found = difference(BEFORE, AFTER, ["k"])
    assert found.to_pylist() == [
        {"k": 1, "v": "a", "_VALUE_KIND": 3},
        {"k": 3, "v": "c", "_VALUE_KIND": 0},
        {"k": 4, "v": "d", "_VALUE_KIND": 0},
    ]


def test_equal_states_do_not_differ() -> None:
    assert difference(AFTER, AFTER, ["k"]).num_rows == 0


def test_keys_of_several_columns_are_compared_together() -> None:
    before = pa.table({"a": [1, 1], "b": [1, 2]})
    after = pa.table({"a": [1, 2], "b": [1, 1]})
    assert difference(before, after, ["a", "b"]).to_pylist() == [
        {"a": 1, "b": 2, "_VALUE_KIND": 3},
        {"a": 2, "b": 1, "_VALUE_KIND": 0},
    ]


def test_without_keys_equal_rows_count_as_often_as_they_are_there() -> None:
    before = pa.table({"v": [1, 1, 2, None]})
    after = pa.table({"v": [None, 1, 3, 3]})
    assert difference(before, after, []).to_pylist() == [
        {"v": 1, "_VALUE_KIND": 3},
        {"v": 2, "_VALUE_KIND": 3},
        {"v": 3, "_VALUE_KIND": 0},
        {"v": 3, "_VALUE_KIND": 0},
    ]


def splits(*rows: dict[str, object]) -> tuple[DataSplit, ...]:
    paths = pa.array([str(row["file_name"]) for row in rows])
    place = KnownPaths(paths)
    placed = LocatedFiles(entries=entries(*rows), paths_of=place, deletion_files={}, snapshot_id=1)
    return tuple(whole_buckets(placed))


def test_buckets_with_the_same_files_are_left_out() -> None:
    before = splits(entry("a"), entry("b", bucket=1))
    after = splits(entry("a"), entry("c", bucket=1), entry("d", bucket=2))
    old, new = changed_splits(before, after)
    assert [split.paths for split in old if isinstance(split, DataSplit)] == [("b",)]
    assert [split.paths for split in new if isinstance(split, DataSplit)] == [("c",), ("d",)]


def test_files_of_both_states_are_left_out_where_none_is_merged() -> None:
    before, after = splits(entry("a"), entry("b")), splits(entry("b"), entry("c"))
    old, new = changed_splits(before, after, whole_buckets=False)
    assert [split.paths for split in old if isinstance(split, DataSplit)] == [("a",)]
    assert [split.paths for split in new if isinstance(split, DataSplit)] == [("c",)]
    assert changed_splits(before, splits(entry("b")), whole_buckets=False)[1] == []


def test_a_file_that_moved_to_another_level_counts_as_changed() -> None:
    old, new = changed_splits(splits(entry("a")), splits(entry("a", level=5)))
    assert (len(old), len(new)) == (1, 1)


def test_layers_are_compared_by_partition() -> None:
    layered = LayeredSplit(layers=splits(entry("a")), partition=bytes(12))
    assert changed_splits([layered], [layered]) == ([], [])
