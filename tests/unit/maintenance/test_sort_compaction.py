"""Rows of append tables brought in an order."""

import random
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.data_types import array_sizes
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.sort_compaction import row_order
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind
from support.compacting import live, numbered_table
from support.small_tables import append_table, new_catalog
from support.small_tables import columns as columns_of
from support.written import columns


def filled(table: Table, commits: int = 3, each: int = 40) -> Table:
    chance = random.Random(1)  # noqa: S311 - test data
    for number in range(commits):
        keys = [chance.choice([None, chance.randint(0, 99)]) for _ in range(each)]
        table.append([{"k": k, "v": chance.randint(0, 9), "s": number} for k in keys])
    return table


def sorted_rows(table: Table) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in table.to_arrow().to_pylist()), key=str)


def test_rows_are_ordered_by_columns_with_nulls_first(tmp_path: Path) -> None:
    table = filled(numbered_table(tmp_path, keyed=False))
    before = sorted_rows(table)
    made = table.compact(strategy="order", columns=["k", "v"])
    assert made is not None
    assert (made.commit_kind, made.delta_record_count) == (CommitKind.OVERWRITE, 0)
    assert sorted_rows(table) == before
    found = [(row["k"] is not None, row["k"], row["v"]) for row in table.to_arrow().to_pylist()]
    assert found == sorted(found, key=lambda row: (row[0], row[1] or 0, row[2]))
    (file,) = live(table)
    facts = (file["level"], file["file_source"], file["min_sequence_number"])
    assert facts == (0, 0, 0)
    assert table.maintenance.fsck() == []


def test_rows_that_no_array_can_have_are_sorted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"k": (at * 7) % 120, "s": str(at) * 40} for at in range(120)]
    table = append_table(columns_of(k=pa.int32(), s=pa.string()), rows[:50], rows[50:51], rows[51:])
    monkeypatch.setattr(array_sizes, "_MAX_BYTES", 1000)
    table.compact(strategy="order", columns=["k"])
    expected = sorted(rows, key=lambda row: str(row["k"]).zfill(3))
    assert table.to_arrow().to_pylist() == expected
    with pytest.raises(InvalidInputError, match=r"'s' has more than 2 GiB .* another column"):
        table.compact(strategy="order", columns=["s"])
    assert table.to_arrow().to_pylist() == expected


@pytest.mark.parametrize("strategy", ["zorder", "z-order", "hilbert", "auto"])
def test_curves_keep_all_rows(tmp_path: Path, strategy: str) -> None:
    table = filled(numbered_table(tmp_path, keyed=False))
    before = sorted_rows(table)
    assert table.compact(strategy=strategy, columns=["k", "v", "s"]) is not None
    assert sorted_rows(table) == before


@pytest.mark.parametrize(("strategy", "lengths"), [("zorder", {1, 2, 10}), ("hilbert", {1})])
def test_curves_differ_in_their_steps(strategy: str, lengths: set[int]) -> None:
    rows = [{"a": a, "b": b} for b in range(4) for a in range(4)]
    table = append_table(columns_of(a=pa.int32(), b=pa.int32()), rows[:9], rows[9:])
    table.compact(strategy=strategy, columns=["a", "b"])
    path = [(row["a"], row["b"]) for row in table.to_arrow().to_pylist()]
    assert {(c - a) ** 2 + (d - b) ** 2 for (a, b), (c, d) in pairwise(path)} == lengths


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "order"), (2, "zorder"), (4, "zorder"), (5, "hilbert")]
)
def test_the_number_of_columns_decides_the_strategy(count: int, expected: str) -> None:
    names = [f"c{number}" for number in range(count)]
    schema = new_catalog().create_table("db.t", dict.fromkeys(names, "INT")).schema
    for chosen in ("auto", None):
        assert row_order(schema, TableOptions({}), chosen, names).strategy == expected


def test_the_options_may_name_columns_and_strategy(tmp_path: Path) -> None:
    options = {"clustering.columns": "v", "clustering.strategy": "order"}
    table = filled(numbered_table(tmp_path, options, keyed=False))
    table.compact(strategy="auto")
    found = table.to_arrow().column("v").to_pylist()
    assert found == sorted(found, key=str)


def test_each_partition_is_sorted_by_itself(tmp_path: Path) -> None:
    schema = columns({"p": pa.string(), "k": pa.int32()})
    table = new_catalog(tmp_path).create_table("db.t", schema, partition_by=["p"])
    for keys in ([5, 2, 3], [4, 1, 0]):
        table.append([{"p": "ab"[k % 2], "k": k} for k in keys])
    table.compact(strategy="order", columns="k", partitions=[{"p": "a"}])
    assert sorted(int(str(row["row_count"])) for row in live(table)) == [1, 2, 3]
    assert table.scan(where="p = 'a'").to_arrow().column("k").to_pylist() == [0, 2, 4]


def test_ids_of_tracked_rows_are_kept(tmp_path: Path) -> None:
    table = filled(numbered_table(tmp_path, {"row-tracking.enabled": "true"}, keyed=False))
    system = table.inspect.system_table("row_tracking")
    before = system.to_arrow().sort_by("_ROW_ID").to_pylist()
    table.compact(strategy="order", columns=["v"])
    after = table.inspect.system_table("row_tracking").to_arrow().sort_by("_ROW_ID").to_pylist()
    assert after == before


def test_incremental_clustering_sorts_what_is_new(tmp_path: Path) -> None:
    options = {
        "clustering.incremental": "true",
        "clustering.columns": "k",
        "num-sorted-run.compaction-trigger": "3",
    }
    table = filled(numbered_table(tmp_path, options, keyed=False), 2)
    assert table.compact(full=False) is None
    made = table.compact()
    assert made is not None
    assert made.commit_kind is CommitKind.COMPACT
    assert [(r["level"], r["row_count"], r["file_source"]) for r in live(table)] == [(3, 80, 0)]
    filled(table, 3, 5)
    before = sorted_rows(table)
    table.compact(full=False)
    assert sorted_rows(table) == before
    assert [(row["level"], row["row_count"]) for row in live(table)] == [(3, 95)]
    keys = [k for k in table.to_arrow().column("k").to_pylist() if k is not None]
    assert keys == sorted(keys)
    assert table.compact() is None


@pytest.mark.parametrize(
    ("names", "strategy", "part"),
    [([], "order", "columns"), (["x"], "order", "'x'"), (["k"], "spiral", "spiral")],
)
def test_a_wrong_order_is_named(tmp_path: Path, names: list[str], strategy: str, part: str) -> None:
    table = numbered_table(tmp_path, keyed=False)
    with pytest.raises(InvalidInputError, match=part):
        table.compact(strategy=strategy, columns=names)


def test_a_column_without_an_order_is_named() -> None:
    schema = new_catalog().create_table("db.t", {"a": "ARRAY<INT>"}).schema
    with pytest.raises(UnsupportedFeatureError, match="by column 'a' of type ARRAY"):
        row_order(schema, TableOptions({}), "order", ["a"])
