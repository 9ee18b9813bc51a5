"""Partitions of chain tables, written to the snapshot branch."""

from collections.abc import Mapping

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite
from support.small_tables import new_catalog

Rows = list[tuple[str, int, str]]
CHAIN = {
    "bucket": "2",
    "sequence.field": "n",
    "partition.timestamp-pattern": "$dt",
    "partition.timestamp-formatter": "yyyyMMdd",
}


def new(
    whole: Rows, changes: Rows, options: Mapping[str, str] | None = None
) -> tuple[Catalog, Table]:
    """A chain table with rows in both branches: day, key and value."""
    catalog = new_catalog()
    table = catalog.create_table(
        "db.t",
        {"dt": "STRING", "k": "INT", "v": "STRING", "n": "BIGINT"},
        partition_by="dt",
        primary_key=["dt", "k"],
        options={**CHAIN, **(options or {})},
    )
    for branch, rows in (("snapshot", whole), ("delta", changes)):
        table.create_branch(branch)
        for day in dict.fromkeys(day for day, _, _ in rows):
            write(catalog, branch, [row for row in rows if row[0] == day])
    table.set_options({"chain-table.enabled": "true"})
    return catalog, catalog.table("db.t")


def write(catalog: Catalog, branch: str, rows: Rows, kind: str = "+I") -> None:
    own = catalog.table(f"db.t$branch_{branch}")
    numbered = [{"dt": day, "k": k, "v": v, "n": int(day), "_ROW_KIND": kind} for day, k, v in rows]
    own.upsert(numbered)


def values(table: Table, day: str) -> dict[object, object]:
    return {row["k"]: row["v"] for row in table.scan(where=f"dt = '{day}'").to_arrow().to_pylist()}


def test_the_changes_since_the_last_whole_partition_are_written_with_it() -> None:
    catalog, table = new(
        [("20260101", 1, "a"), ("20260101", 2, "b"), ("20260101", 3, "c")],
        [("20260102", 2, "B"), ("20260103", 4, "d")],
    )
    write(catalog, "delta", [("20260103", 3, "c")], kind="-D")
    expected = {1: "a", 2: "B", 4: "d"}
    assert values(table, "20260103") == expected
    made = table.maintenance.compact_chain_table({"dt": "20260103"})
    whole = catalog.table("db.t$branch_snapshot")
    assert made is not None
    assert (made.id, made.commit_kind.value) == (2, "APPEND")
    assert values(whole, "20260103") == values(table, "20260103") == expected
    assert values(whole, "20260102") == {}
    assert values(table, "20260102") == {1: "a", 2: "B", 3: "c"}
    assert table.maintenance.fsck() == []


def test_a_whole_partition_is_replaced_only_if_asked_for() -> None:
    catalog, table = new(
        [("20260101", 1, "a"), ("20260102", 1, "old"), ("20260103", 9, "later")],
        [("20260102", 2, "new")],
    )
    assert table.maintenance.compact_chain_table({"dt": "20260102"}) is None
    made = table.maintenance.compact_chain_table({"dt": "20260102"}, overwrite=True)
    assert made is not None
    assert made.commit_kind.value == "OVERWRITE"
    assert values(table, "20260102") == {1: "a", 2: "new"}
    assert values(table, "20260103") == {9: "later"}
    assert values(catalog.table("db.t$branch_snapshot"), "20260101") == {1: "a"}
    assert table.maintenance.fsck() == []


@pytest.mark.parametrize("where", ["main", "snapshot"])
def test_only_partitions_of_the_same_group_are_merged(where: str) -> None:
    catalog = new_catalog()
    table = catalog.create_table(
        "db.t",
        {"region": "STRING", "dt": "STRING", "k": "INT", "n": "INT"},
        partition_by=["region", "dt"],
        primary_key=["region", "dt", "k"],
        options=CHAIN,
    )
    for branch, rows in (
        ("snapshot", [("eu", 1, 1), ("us", 2, 2)]),
        ("delta", [("asia", 1, 3), ("eu", 2, 4), ("us", 1, 5), ("us", 3, 6)]),
    ):
        table.create_branch(branch)
        own = catalog.table(f"db.t$branch_{branch}")
        own.upsert([{"region": r, "dt": f"2026010{day}", "k": k, "n": k} for r, day, k in rows])
    options = {"chain-table.enabled": "true", "chain-table.chain-partition-keys": "dt"}
    table.set_options({"chain-table.enabled": "true"})
    catalog.table("db.t" if where == "main" else "db.t$branch_snapshot").set_options(options)
    table = catalog.table("db.t")

    def keys(region: str, day: int) -> list[int]:
        rows = table.scan(where=f"region = '{region}' AND dt = '2026010{day}'").to_arrow()
        return sorted(row["k"] for row in rows.to_pylist())

    for compacted in (False, True):
        assert (keys("eu", 1), keys("eu", 2)) == ([1], [1, 4])
        assert (keys("us", 1), keys("us", 2), keys("us", 3)) == ([5], [2], [2, 6])
        assert keys("asia", 1) == [3]
        if not compacted:
            for region, day in (("eu", 2), ("us", 3), ("us", 1), ("asia", 1)):
                made = table.maintenance.compact_chain_table(
                    {"region": region, "dt": f"2026010{day}"}
                )
                assert made is not None
    assert catalog.table("db.t$branch_snapshot").count() == table.count() == 8


@pytest.mark.parametrize("day", ["20260101", "20260109"])
def test_a_partition_without_changes_is_left(day: str) -> None:
    _, table = new([("20260101", 1, "a")], [("20260102", 2, "b")])
    assert table.maintenance.compact_chain_table({"dt": day}, overwrite=True) is None
    assert table.count() == 3


def test_it_is_planned_again_after_another_write_to_the_partition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    catalog, table = new([("20260101", 1, "a")], [("20260102", 2, "b")])
    calls: list[object] = []

    def after_another(*args: object) -> object:
        calls.append(1)
        write(catalog, "snapshot", [("20260102", 7, "other")])
        return commit_rewrite(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(
        "paimon_explore.maintenance.rewrites.chain_compaction.commit_rewrite", after_another
    )
    assert table.maintenance.compact_chain_table({"dt": "20260102"}) is None
    assert calls == [1]
    assert values(table, "20260102") == {7: "other"}


def test_other_tables_and_partitions_are_refused() -> None:
    catalog, table = new([("20260101", 1, "a")], [("20260102", 2, "b")])
    with pytest.raises(InvalidInputError, match="no value for 'dt'"):
        table.maintenance.compact_chain_table({})
    with pytest.raises(InvalidInputError, match="not a partition column"):
        table.maintenance.compact_chain_table({"k": 1})
    with pytest.raises(InvalidInputError, match="main branch of a chain table"):
        catalog.table("db.t$branch_delta").maintenance.compact_chain_table({"dt": "20260102"})


def test_a_compaction_of_changes_keeps_deletions_for_earlier_partitions() -> None:
    catalog, table = new([("20260101", 1, "a"), ("20260101", 2, "b")], [("20260102", 3, "c")])
    catalog.table("db.t$branch_delta").set_options({"chain-table.enabled": "true"})
    write(catalog, "delta", [("20260102", 1, "a")], kind="-D")
    assert values(table, "20260102") == {2: "b", 3: "c"}
    for _ in range(2):
        catalog.table("db.t$branch_delta").compact()
        assert values(table, "20260102") == {2: "b", 3: "c"}
        assert values(catalog.table("db.t$branch_delta"), "20260102") == {3: "c"}
    assert table.maintenance.fsck(read_rows=True) == []


@pytest.mark.parametrize("branch", ["main", "snapshot", "delta"])
def test_branches_of_a_chain_table_keep_the_same_number_of_buckets(branch: str) -> None:
    catalog, table = new([("20260101", 1, "a")], [("20260102", 1, "b")])
    name = "db.t" if branch == "main" else f"db.t$branch_{branch}"
    catalog.table(name).set_options({"chain-table.enabled": "true"})
    with pytest.raises(UnsupportedFeatureError, match="Rescaling a chain table"):
        catalog.table(name).maintenance.rescale(3)
    assert values(table, "20260102") == {1: "b"}


def test_a_new_whole_partition_with_deletion_vectors_is_visible_in_its_branch() -> None:
    options = {"deletion-vectors.enabled": "true"}
    catalog, table = new([("20260101", 1, "a")], [("20260102", 2, "b")], options)
    made = table.maintenance.compact_chain_table({"dt": "20260102"})
    assert made is not None
    assert values(catalog.table("db.t$branch_snapshot"), "20260102") == {1: "a", 2: "b"}
