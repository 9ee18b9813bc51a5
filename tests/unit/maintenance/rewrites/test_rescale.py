"""Rescale: the same rows in another number of buckets, and nobody's rows lost."""

from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest

import paimon_explore as pe
from paimon_explore import Table
from paimon_explore.errors import InvalidInputError
from paimon_explore.maintenance.rewrites.rescale import RescaledPartition
from paimon_explore.scan.splits.data_split import DataSplit
from support.memory_files import forget_files
from support.small_tables import new_catalog
from support.table_kinds import PARTITIONS, TABLE_KINDS, TableKind
from support.through import interrupted

FIRST, SECOND, _ = PARTITIONS
ROWS = [{"p": FIRST, "k": k, "v": k, "w": f"w{k}"} for k in range(20)]
NEWER = [{"p": FIRST, "k": k, "v": 100, "w": "new"} for k in range(5)]
OTHERS = [{"p": SECOND, "k": k, "v": k, "w": None} for k in range(6)]
RESCALABLE = [name for name in TABLE_KINDS if TABLE_KINDS[name].options.get("bucket", "-1") > "0"]


@pytest.fixture
def warehouse() -> Iterator[str]:
    """A warehouse in memory."""
    name = str(uuid4())
    yield f"memory://{name}/wh"
    forget_files(name)


def filled(kind: TableKind, warehouse: str) -> Table:
    """A table with two commits to its first partition, and one to the second."""
    table = kind.create(warehouse)
    write = table.append if kind.merge is None else table.upsert
    for rows in (ROWS, NEWER, OTHERS):
        write(rows)
    return table


def rows_of(table: Table) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in table.to_arrow().to_pylist()), key=str)


def buckets_of(table: Table, partition: str) -> set[tuple[int, int]]:
    """The buckets with files, and their number."""
    splits = table.scan().plan().splits
    return {
        (split.bucket, split.total_buckets)
        for split in splits
        if isinstance(split, DataSplit) and partition in split.paths[0]
    }


@pytest.mark.parametrize("name", RESCALABLE)
def test_a_table_has_the_same_rows_in_another_number_of_buckets(warehouse: str, name: str) -> None:
    table = filled(TABLE_KINDS[name], warehouse)
    if TABLE_KINDS[name].waits:
        table.compact()
    before = rows_of(table)
    report = table.maintenance.rescale(5)
    assert [one.partition for one in report.partitions] == [{"p": FIRST}, {"p": SECOND}]
    assert report.snapshot_id == table.snapshot.id  # type: ignore[union-attr]  # it has one
    assert rows_of(table) == before
    assert {total for _, total in buckets_of(table, FIRST)} == {5}
    assert len(buckets_of(table, FIRST)) == 5
    assert table.options["bucket"] == "5"
    assert table.maintenance.fsck(read_rows=True) == []
    (table.append if table.schema.primary_keys == () else table.upsert)(NEWER)


def test_rows_that_wait_for_a_compaction_are_not_lost(warehouse: str) -> None:
    table = TABLE_KINDS["first row"].create(warehouse)
    table.set_options({"write-only": "true"})
    table.upsert(ROWS)
    assert table.count() == 0
    table.maintenance.rescale(4)
    assert table.count() == 20


def test_postponed_rows_stay_and_compacted_ones_are_rescaled(warehouse: str) -> None:
    table = TABLE_KINDS["postponed buckets"].create(warehouse)
    table.upsert(ROWS)
    table.compact()
    table.upsert([{"p": FIRST, "k": 50, "v": 1, "w": "later"}])
    table.maintenance.rescale(3)
    assert table.count() == 20
    assert {total for _, total in buckets_of(table, FIRST)} == {3}
    assert table.options["bucket"] == "-2"
    table.compact()
    assert table.count() == 21
    assert {total for _, total in buckets_of(table, FIRST)} == {3}


def test_dynamic_buckets_are_assigned_again(warehouse: str) -> None:
    table = filled(TABLE_KINDS["dynamic buckets"], warehouse)
    before = rows_of(table)
    assert len(buckets_of(table, FIRST)) == 10
    table.set_options({"dynamic-bucket.target-row-num": "10"})
    table.maintenance.rescale()
    assert rows_of(table) == before
    assert len(buckets_of(table, FIRST)) == 2
    table.upsert(NEWER)
    assert rows_of(table) == before
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_partition_alone_may_have_another_number(warehouse: str) -> None:
    table = filled(TABLE_KINDS["keyed"], warehouse)
    before = rows_of(table)
    table.maintenance.rescale(4, partitions={"p": FIRST})
    assert rows_of(table) == before
    assert {total for _, total in buckets_of(table, FIRST)} == {4}
    assert {total for _, total in buckets_of(table, SECOND)} == {2}
    assert table.options["bucket"] == "2"
    with pytest.raises(InvalidInputError, match="has 4 buckets, but option 'bucket' is 2"):
        table.upsert(NEWER)
    table.maintenance.rescale()
    assert {total for _, total in buckets_of(table, FIRST)} == {2}


def test_the_number_of_the_option_is_the_default_and_done_partitions_are_left(
    warehouse: str,
) -> None:
    table = filled(TABLE_KINDS["append, bucketed"], warehouse)
    table.set_options({"bucket": 3})
    table.maintenance.rescale(partitions=[{"p": FIRST}])
    report = table.maintenance.rescale()
    assert [one.partition for one in report.partitions] == [{"p": SECOND}]
    assert table.maintenance.rescale().snapshot_id is None


def test_a_dry_run_tells_what_would_be_rewritten(warehouse: str) -> None:
    table = filled(TABLE_KINDS["append, bucketed"], warehouse)
    snapshot = table.snapshot
    report = table.maintenance.rescale(1, partitions={"p": SECOND}, dry_run=True)
    (found,) = report.partitions
    assert found == RescaledPartition(
        partition={"p": SECOND},
        buckets_before=2,
        buckets_after=1,
        files=2,
        records=6,
        size=found.size,
    )
    assert repr(report).startswith("would rescale 1 partitions, 2 files, ")
    assert table.snapshot == snapshot


def test_of_a_table_without_rows_only_the_option_changes(warehouse: str) -> None:
    table = TABLE_KINDS["keyed"].create(warehouse)
    assert table.maintenance.rescale(7).partitions == ()
    assert table.options["bucket"] == "7"


def test_partitions_whose_rows_are_all_deleted_are_rescaled_too(warehouse: str) -> None:
    table = filled(TABLE_KINDS["keyed"], warehouse)
    table.delete(f"p = '{SECOND}'")
    table.maintenance.rescale(3)
    table.upsert(OTHERS)
    assert {total for _, total in buckets_of(table, SECOND)} == {3}


@pytest.mark.parametrize("name", ["keyed", "append, bucketed", "input", "aggregation"])
@pytest.mark.parametrize("partitions", [None, {"p": FIRST}], ids=["table", "partition"])
def test_rows_written_for_the_old_number_of_buckets_are_written_for_the_new_one(
    warehouse: str, name: str, partitions: Mapping[str, object] | None
) -> None:
    table = filled(TABLE_KINDS[name], warehouse)
    before = rows_of(table)
    late = interrupted(table, lambda: table.maintenance.rescale(3, partitions=partitions))
    write = late.append if name.startswith("append") else late.upsert
    if partitions is None:
        write(ROWS)
        assert table.count() == len(before) + (len(ROWS) if name.startswith("append") else 0)
        assert {total for _, total in buckets_of(table, FIRST)} == {3}
    else:
        with pytest.raises(InvalidInputError, match="has 3 buckets, but option 'bucket' is"):
            write(ROWS)
        assert rows_of(table) == before
    assert table.maintenance.fsck(read_rows=True) == []


def test_a_transaction_assigns_its_rows_to_the_new_buckets(warehouse: str) -> None:
    table = filled(TABLE_KINDS["keyed"], warehouse)
    before = rows_of(table)
    with interrupted(table, lambda: table.maintenance.rescale(3)).transaction() as tx:
        tx.upsert(NEWER)
    assert rows_of(table) == before
    assert {total for _, total in buckets_of(table, FIRST)} == {3}


@pytest.mark.parametrize("name", ["keyed", "append, bucketed"])
@pytest.mark.parametrize("act", ["delete", "overwrite", "update"])
def test_a_transaction_that_removes_rows_elsewhere_keeps_no_old_buckets(
    warehouse: str, name: str, act: str
) -> None:
    kind = TABLE_KINDS[name]
    table = filled(kind, warehouse)
    before = rows_of(table)
    partition = {"p": FIRST}
    late = interrupted(table, lambda: table.maintenance.rescale(3, partitions=partition))

    def run() -> None:
        with late.transaction() as tx:
            if act == "overwrite":
                tx.overwrite(OTHERS[:1], partition={"p": SECOND})
            elif act == "delete":
                tx.delete(pe.col("p") == SECOND)
            else:
                tx.update({"v": "v + 1"}, pe.col("p") == SECOND)
            (tx.append if kind.merge is None else tx.upsert)([{**NEWER[0], "k": 77}])

    with pytest.raises(InvalidInputError, match="has 3 buckets, but option 'bucket' is"):
        run()
    assert rows_of(table) == before
    assert {total for _, total in buckets_of(table, FIRST)} == {3}


def test_rows_that_a_compaction_spreads_meanwhile_are_rescaled_too(warehouse: str) -> None:
    table = TABLE_KINDS["postponed buckets"].create(warehouse)
    table.upsert(ROWS)
    table.compact()
    table.upsert([{"p": FIRST, "k": 50, "v": 1, "w": "later"}])
    interrupted(table, table.compact).maintenance.rescale(3)
    assert table.count() == 21
    assert {total for _, total in buckets_of(table, FIRST)} == {3}


def test_postponed_rows_of_others_are_no_conflict(warehouse: str) -> None:
    table = TABLE_KINDS["postponed buckets"].create(warehouse)
    table.upsert(ROWS)
    table.compact()
    late = interrupted(table, lambda: table.upsert([{"p": FIRST, "k": 50, "v": 1, "w": "later"}]))
    late.maintenance.rescale(3)
    table.compact()
    assert table.count() == 21


@pytest.mark.parametrize(
    ("options", "buckets", "rule"),
    [
        ({}, 2, "The table has no buckets"),
        ({"bucket": "-2"}, None, "has no default number of buckets"),
        ({"bucket": "-1"}, 4, "has dynamic buckets"),
        ({"bucket": "2"}, 0, "buckets must be an integer of at least 1 or None"),
    ],
)
def test_a_number_that_cannot_be_is_refused(
    warehouse: str, options: Mapping[str, str], buckets: int | None, rule: str
) -> None:
    key = ["id"] if options else []
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    table = new_catalog(warehouse).create_table(
        "db.t", columns, primary_key=key, options=dict(options)
    )
    table.append([{"id": 1}])
    with pytest.raises(InvalidInputError, match=rule):
        table.maintenance.rescale(buckets)


def test_partitions_of_a_table_whose_keys_cross_them_are_not_rescaled_alone(
    warehouse: str,
) -> None:
    columns = {"id": "INT NOT NULL", "p": "STRING"}
    table = new_catalog(warehouse).create_table(
        "db.t", columns, primary_key=["id"], partition_by=["p"]
    )
    table.upsert([{"id": 1, "p": "a"}, {"id": 2, "p": "b"}])
    with pytest.raises(InvalidInputError, match="Rescale the whole table"):
        table.maintenance.rescale(partitions={"p": "a"})
    table.maintenance.rescale()
    table.upsert([{"id": 1, "p": "b"}])
    assert rows_of(table) == [(1, "b"), (2, "b")]
