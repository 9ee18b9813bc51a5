"""Reads of tables with postponed records and the option `postpone.merge-on-read`."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.merge import in_memory_merge
from support.compacting import numbered, numbered_table, values
from support.small_tables import new_catalog

POSTPONED = {"bucket": "-2", "postpone.default-bucket-num": "3"}
MERGED = {"postpone.merge-on-read": "true"}


def merging(table: Table) -> Table:
    """The table with the option."""
    return open_table(table.path, options=MERGED)


def half_compacted(folder: Path, options: Mapping[str, str]) -> Table:
    """Keys 1 to 4 in real buckets, then postponed: 2 and 3 changed, 5 and 6 added, 1 deleted."""
    table = numbered_table(folder, {**POSTPONED, **options})
    table.upsert([{"k": k, "v": 10 * k, "s": k} for k in range(1, 5)])
    table.compact()
    table.upsert([{"k": k, "v": v, "s": s} for k, v, s in ((2, 5, 1), (3, None, 9), (5, 50, 5))])
    table.upsert([{"k": 2, "v": 7, "s": 8}, {"k": 6, "v": 60, "s": 6}, {"k": 6, "v": 61, "s": 5}])
    if "merge-engine" not in options:
        table.upsert([{"k": 1, "v": 10, "s": 1, "_ROW_KIND": "-D"}])
    return table


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {2: 7, 3: None, 4: 40, 5: 50, 6: 61}),
        ({"sequence.field": "s"}, {2: 7, 3: None, 4: 40, 5: 50, 6: 60}),
        ({"deletion-vectors.enabled": "true"}, {2: 7, 3: None, 4: 40, 5: 50, 6: 61}),
        ({"changelog-producer": "lookup"}, {2: 7, 3: None, 4: 40, 5: 50, 6: 61}),
        ({"merge-engine": "partial-update"}, {1: 10, 2: 7, 3: 30, 4: 40, 5: 50, 6: 61}),
        ({"merge-engine": "first-row"}, {1: 10, 2: 20, 3: 30, 4: 40, 5: 50, 6: 60}),
        (
            {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
            {1: 10, 2: 32, 3: 30, 4: 40, 5: 50, 6: 121},
        ),
    ],
)
@pytest.mark.parametrize(("split_size", "splits"), [("1 b", 3), ("1 mb", 1)])
def test_postponed_records_are_merged_as_by_a_compaction(  # the parameters
    options: Mapping[str, str],
    expected: Mapping[object, object],
    split_size: str,
    splits: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_memory_merge, "_BLOCK_BYTES", 1 if splits == 1 else 1 << 20)
    table = half_compacted(tmp_path, {**options, "source.split.target-size": split_size})
    assert values(table) == {1: 10, 2: 20, 3: 30, 4: 40}
    merged = merging(table)
    assert len(merged.scan().plan().splits) == splits
    assert values(merged) == expected
    assert merged.count() == len(expected)
    assert values(merged.at(snapshot=2)) == {1: 10, 2: 20, 3: 30, 4: 40}
    table.compact()
    assert values(table) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("v = 20", []),  # the new value is not in the file with the old one
        ("v = 7", [2]),
        ("v IS NULL", [3]),
        ("v < 60", [2, 4, 5]),
        ("k = 2", [2]),
        ("k = 1", []),
        ("k > 4", [5, 6]),
        ("k = 2 AND v = 20", []),
    ],
)
def test_filters_apply_to_merged_rows(where: str, expected: list[int], tmp_path: Path) -> None:
    merged = merging(half_compacted(tmp_path, {}))
    rows = merged.scan(["v", "k"], where=where).to_arrow().to_pylist()
    assert sorted(row["k"] for row in rows) == expected
    assert merged.scan(where=where).count() == len(expected)
    assert merged.scan(["s"], where=where, limit=1).to_arrow().num_rows == min(len(expected), 1)


def test_partitions_are_merged_apart_and_keep_their_order(tmp_path: Path) -> None:
    options = {**POSTPONED, **MERGED, "write-only": "true", "scan.plan-sort-partition": "true"}
    table = new_catalog(tmp_path).create_table(
        "db.p",
        {"p": "INT", "k": "INT", "v": "INT"},
        primary_key=["p", "k"],
        partition_by="p",
        options=options,
    )
    table.upsert([{"p": p, "k": k, "v": p} for p in (1, 3) for k in range(4)])
    table.compact()
    table.upsert([{"p": 2, "k": 0, "v": 20}, {"p": 1, "k": 0, "v": 10}])
    rows = table.to_arrow().to_pylist()
    assert [row["p"] for row in rows] == [1] * 4 + [2] + [3] * 4
    assert [row["v"] for row in rows if row["k"] == 0] == [10, 20, 3]
    plan = table.scan(where="v = 1").plan()
    assert [len(split.files) for split in plan.splits] == [4, 1]  # the files of p=3 are pruned
    assert len(table.scan(where="v = 1").explain().splits) == len(plan.splits)


def test_rows_are_changed_with_the_postponed_ones(tmp_path: Path) -> None:
    table = merging(half_compacted(tmp_path, {}))
    table.update({"v": "v + 1"}, "v = 7")
    table.delete("k >= 5")
    assert values(table) == {2: 8, 3: None, 4: 40}


def test_level_0_is_visible_with_the_postponed_records(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {**POSTPONED, "deletion-vectors.enabled": "true"})
    table.upsert(numbered((1, 1)))
    table.compact()
    fixed = open_table(table.path, options={"bucket": "3"})
    fixed.upsert(numbered((2, 2)))
    assert values(table) == {1: 1}
    assert values(merging(table)) == {1: 1, 2: 2}


def read_new_files(table: Table) -> object:
    options = {**MERGED, "scan.file-creation-time-millis": "1"}
    return open_table(table.path, options=options).to_arrow()


OTHER_READS: Mapping[str, Callable[[Table], object]] = {
    "changes": lambda table: list(table.changes()),
    "increment": lambda table: table.between(1, 2).to_arrow(),
    "stream": lambda table: next(iter(table.follow())),
    "search": lambda table: table.search("s", "x"),
    "new files": read_new_files,
}


@pytest.mark.parametrize("read", OTHER_READS)
def test_other_reads_refuse_the_option(read: str, tmp_path: Path) -> None:
    table = merging(half_compacted(tmp_path, {}))
    with pytest.raises(UnsupportedFeatureError, match=r"'postpone.merge-on-read' = 'true'"):
        OTHER_READS[read](table)


def test_tables_and_views_without_postponed_records_ignore_the_option(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 1)))
    merged = merging(table)
    assert values(merged) == {1: 1}
    assert len(list(merged.changes())) == 1
    log = merging(half_compacted(tmp_path / "log", {})).inspect.system_table("audit_log")
    assert sorted(row["v"] for row in log.to_arrow().to_pylist()) == [10, 20, 30, 40]


def test_postponed_records_are_not_hidden_by_another_number_of_buckets(tmp_path: Path) -> None:
    table = half_compacted(tmp_path, {})
    with pytest.raises(InvalidInputError, match="has rows in the folders 'bucket-postpone'"):
        table.set_options({"bucket": "3"})
    table.compact()
    table.set_options({"bucket": "3"})
    table.upsert([{"k": 7, "v": 70, "s": 7}])
    assert values(table) == {2: 7, 3: None, 4: 40, 5: 50, 6: 61, 7: 70}
