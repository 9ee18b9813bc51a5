"""Records of primary-key tables that meet others' records of the same keys: none is lost.

One job has planned its change and is about to commit; another one commits first.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from paimon_explore import Table
from paimon_explore.errors import CommitConflictError
from support.interrupted import interrupted
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA

BUCKETS: Mapping[str, Mapping[str, str]] = {
    "fixed": {"bucket": "1"},
    "dynamic": {"bucket": "-1"},
    "dynamic, small": {"bucket": "-1", "dynamic-bucket.target-row-num": "2"},
    "crossing": {"bucket": "-1"},
}
EVERYWHERE = pytest.mark.parametrize("buckets", BUCKETS)
Rows = Mapping[int, int]
Act = Callable[[Table], object]


def created(buckets: str, **more: str) -> Table:
    """Keys 1 to 3 of partition a, each with its number as value."""
    waitless = {"commit.min-retry-wait": "0 ms", "commit.max-retry-wait": "0 ms"}
    table = new_catalog().create_table(
        "db.t",
        SCHEMA,
        partition_by=["p"],
        primary_key=["k"] if buckets == "crossing" else ["p", "k"],
        options={**BUCKETS[buckets], **waitless, **more},
    )
    upsert(table, {1: 1, 2: 2, 3: 3})
    return table


def upsert(table: Table, rows: Rows, partition: str = "a") -> None:
    table.upsert([{"p": partition, "k": k, "v": v, "w": None} for k, v in rows.items()])


def found(table: Table) -> list[tuple[str, int, int]]:
    return sorted((row["p"], row["k"], row["v"]) for row in table.to_arrow().to_pylist())


def rows(values: Rows, partition: str = "a") -> list[tuple[str, int, int]]:
    return [(partition, k, v) for k, v in sorted(values.items())]


def check(table: Table, expected: list[tuple[str, int, int]]) -> None:
    assert found(table) == expected
    assert table.maintenance.fsck() == []
    table.compact()
    assert found(table) == expected


def merged(table: Table) -> object:
    source = [{"k": 2, "v": 100}]
    merge = table.merge(source, on="k").when_matched_update({"v": "target.v + source.v"})
    return merge.execute()


CHANGES: Mapping[str, Act] = {
    "update": lambda table: table.update({"v": "v + 10"}, "k = 2"),
    "delete": lambda table: table.delete("k = 2"),
    "merge": merged,
}


@EVERYWHERE
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_row_that_another_job_has_written_meanwhile_starts_from_its_values(
    change: str, buckets: str
) -> None:
    table = created(buckets)
    CHANGES[change](interrupted(table, 1, lambda: upsert(table, {2: 20})))
    changed = {"update": {2: 30}, "delete": {}, "merge": {2: 120}}[change]
    check(table, rows({1: 1, 3: 3, **changed}))


@EVERYWHERE
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_row_of_a_partition_that_is_dropped_meanwhile_changes_nothing(
    change: str, buckets: str
) -> None:
    table = created(buckets)
    other = interrupted(table, 1, lambda: table.drop_partitions({"p": "a"}))
    assert CHANGES[change](other) is None
    check(table, [])


def test_a_merge_whose_source_cannot_be_read_again_is_a_conflict() -> None:
    table = created("fixed")
    other = interrupted(table, 1, lambda: upsert(table, {2: 20}))
    merge = other.merge((row for row in [{"k": 2, "v": 100}]), on="k")
    with pytest.raises(CommitConflictError, match="Read the latest snapshot"):
        merge.when_matched_update({"v": "target.v + source.v"}).execute()
    check(table, rows({1: 1, 2: 20, 3: 3}))


@EVERYWHERE
def test_a_change_fits_beside_a_compaction_and_beside_writes_of_other_keys(buckets: str) -> None:
    table = created(buckets)
    upsert(table, {1: 11})

    def act() -> None:
        table.compact()
        upsert(table, {9: 9})

    interrupted(table, 1, act).update({"v": "v + 10"}, "k = 2")
    check(table, rows({1: 11, 2: 12, 3: 3, 9: 9}))


@EVERYWHERE
@pytest.mark.parametrize("first", [{1: 10, 2: 20, 3: 30}, {3: 30, 2: 20, 1: 10}])
def test_of_two_upserts_of_the_same_keys_the_later_one_wins_as_a_whole(
    first: Rows, buckets: str
) -> None:
    table = created(buckets)
    upsert(interrupted(table, 1, lambda: upsert(table, first)), {1: 100, 3: 300})
    check(table, rows({1: 100, 2: 20, 3: 300}))


@EVERYWHERE
def test_an_upsert_beside_an_update_of_the_same_key_wins_if_it_is_later(buckets: str) -> None:
    table = created(buckets)
    other = interrupted(table, 1, lambda: table.update({"v": "v + 10"}, "k in (1, 2, 3)"))
    upsert(other, {3: 300})
    check(table, rows({1: 11, 2: 12, 3: 300}))


@EVERYWHERE
@pytest.mark.parametrize("keys", [(2,), (2, 9), (9,)])
def test_an_upsert_beside_an_overwrite_leaves_each_key_once(
    keys: tuple[int, ...], buckets: str
) -> None:
    table = created(buckets)
    whole = replace(table, _dynamic_options={"dynamic-partition-overwrite": "false"})

    def overwrite() -> None:
        whole.overwrite([{"p": "a", "k": k, "v": -k, "w": None} for k in (9, 3, 2, 1)])

    upsert(interrupted(table, 1, overwrite), dict.fromkeys(keys, 5))
    check(table, rows({1: -1, 2: -2, 3: -3, 9: -9, **dict.fromkeys(keys, 5)}))


def test_a_key_that_two_jobs_put_into_different_partitions_lives_in_the_later_one() -> None:
    table = created("crossing")
    upsert(interrupted(table, 1, lambda: upsert(table, {2: 20, 7: 70}, "b")), {2: 200, 7: 700}, "c")
    check(table, [("a", 1, 1), ("a", 3, 3), ("c", 2, 200), ("c", 7, 700)])


def test_rows_that_cannot_be_read_again_are_written_as_they_are_where_no_key_can_come_twice() -> (
    None
):
    table = created("fixed")
    other = interrupted(table, 1, lambda: upsert(table, {5: 50, 2: 20}))
    other.upsert(row for row in [{"p": "a", "k": 5, "v": 500, "w": None}])
    assert [k for _, k, _ in found(table)] == [1, 2, 3, 5]
    table = created("crossing")
    other = interrupted(table, 1, lambda: upsert(table, {5: 50}, "b"))
    with pytest.raises(CommitConflictError):
        other.upsert(row for row in [{"p": "a", "k": 5, "v": 500, "w": None}])
    check(table, [*rows({1: 1, 2: 2, 3: 3}), ("b", 5, 50)])


def test_an_upsert_beside_a_compaction_writes_its_rows_once() -> None:
    table = created("fixed")
    upsert(table, {1: 11})
    lazy = replace(interrupted(table, 1, table.compact), _dynamic_options={"write-only": "true"})
    upsert(lazy, {2: 22})
    kinds = [snapshot.commit_kind.value for snapshot in table._store.snapshots.list()]
    assert kinds[-2:] == ["COMPACT", "APPEND"]
    names = [s.name for s in table._store.file_io.walk(table.path) if s.name.startswith("data-")]
    assert len(names) == 4  # three upserts and a compaction
    check(table, rows({1: 11, 2: 22, 3: 3}))
