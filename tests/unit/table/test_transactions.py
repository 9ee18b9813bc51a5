"""Several writes in one snapshot: what is visible, what conflicts, and what is refused."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from uuid import uuid4

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    CommitConflictError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.metadata.schema.schema_change import SetOption
from paimon_explore.table.transactions.transaction import Transaction
from support.cuts import rows_of
from support.depth import some
from support.small_tables import append_table, columns, keyed_table
from support.table_kinds import PARTITIONS, TABLE_KINDS, TableKind
from support.table_model import found_in

FIRST, SECOND, THIRD = PARTITIONS
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
COLUMNS = columns(k=pa.int32(), v=pa.int32())
Act = Callable[[Table | Transaction], object]
Given = list[dict[str, object]]


def row(p: str, k: int, v: int, w: str | None = None) -> dict[str, object]:
    return {"p": p, "k": k, "v": v, "w": w}


OLD = [row(FIRST, k, k) for k in range(4)] + [row(SECOND, 1, 1)]
NEW = [row(FIRST, 2, 20), row(FIRST, 9, 9), row(THIRD, 1, 7, "w")]
NEWER = [row(FIRST, 9, 90, "n"), row(SECOND, 5, 5)]


def write(kind: TableKind, rows: Given) -> Act:
    return lambda table: (table.append if kind.merge is None else table.upsert)(rows)


def acts_of(name: str) -> dict[str, Act]:
    """What a transaction may do to a table of a kind, in order."""
    kind = TABLE_KINDS[name]
    acts: dict[str, Act] = {}
    if name != "append, row ids":  # a delete must come first there
        acts["write"] = write(kind, NEW)
    if (kind.merge is None and "evolving" not in name) or kind.deletes:
        acts["delete"] = lambda table: table.delete("k = 9 OR (k = 0 AND v = 0)")
    acts["write again"] = write(kind, NEWER)
    if name != "input":
        acts["overwrite"] = lambda table: table.overwrite([row(SECOND, 6, 6)])
        acts["write to it"] = write(kind, [row(SECOND, 6, 60), row(SECOND, 7, 7)])
    return acts


def table_of(name: str, root: str | None = None) -> Table:
    kind = TABLE_KINDS[name]
    table = kind.create(root or f"memory://{uuid4()}/wh")
    write(kind, OLD)(table)
    return table


def orphans(table: Table) -> tuple[str, ...]:
    return table.maintenance.remove_orphan_files(older_than=LATER).files


def data_files(table: Table) -> set[str]:
    return {status.path for status in table._store.file_io.walk(table.path)}


def written_changelog(table: Table) -> int:
    written = [one for one in table.snapshots if one.commit_kind.value != "COMPACT"]
    return sum(one.changelog_record_count or 0 for one in written)


@pytest.mark.parametrize("name", TABLE_KINDS)
def test_a_transaction_does_what_its_operations_do_one_by_one_in_one_snapshot(name: str) -> None:
    one, many = table_of(name), table_of(name)
    before, acts = one.snapshot, acts_of(name)
    assert before is not None
    with one.transaction() as tx:
        for act in acts.values():
            act(tx)
            act(many)
        assert one.snapshot == before, "visible before the commit"
    made = [s for s in one.snapshots if s.id > before.id and s.commit_kind.value != "COMPACT"]
    assert [s.commit_user for s in made] == [made[0].commit_user], "not one snapshot"
    assert written_changelog(one) == written_changelog(many)
    for table in (one, many):
        if TABLE_KINDS[name].waits:
            table.compact()
    assert rows_of(one) == rows_of(many)
    assert one.maintenance.fsck() == []
    assert orphans(one) == ()


@pytest.mark.parametrize("name", some([n for n in TABLE_KINDS if n != "first row"], 3))
def test_reads_of_a_transaction_see_its_changes(name: str) -> None:
    table, twin = table_of(name), table_of(name)
    with table.transaction() as tx:
        for act in acts_of(name).values():
            act(tx)
            act(twin)
            if "postponed" in name:
                continue  # the rows are visible after a compaction only, to every reader
            if TABLE_KINDS[name].waits:
                twin.compact()
            assert found_in(tx.scan().to_arrow().to_pylist()) == rows_of(twin)


@pytest.mark.parametrize("name", some(list(TABLE_KINDS), 3, 1))
def test_an_exception_in_the_block_leaves_nothing(name: str) -> None:
    table = table_of(name)
    before, files = rows_of(table), data_files(table)

    def fails() -> None:
        with table.transaction() as tx:
            for act in acts_of(name).values():
                act(tx)
            tx.add_column("more", "INT")
            raise ValueError("of the block")

    with pytest.raises(ValueError, match="of the block"):
        fails()
    assert rows_of(table) == before
    assert data_files(table) == files


def test_a_failed_operation_has_no_effect_and_the_transaction_goes_on() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.append([{"k": 2}])
        with pytest.raises(InvalidInputError, match="Column 'k' \\(INT\\), row 0"):
            tx.append([{"k": "x", "new": 1}], merge_schema=True)
        assert tx.schema.row_type.names == ("k", "v")
        tx.append([{"k": 4}])
    assert Counter(table.to_arrow()["k"].to_pylist()) == Counter([1, 2, 4])
    assert orphans(table) == ()


def test_files_that_later_operations_replace_are_removed() -> None:
    table = append_table(COLUMNS, [{"k": k, "v": 0} for k in range(5)])
    with table.transaction() as tx:
        tx.append([{"k": 7, "v": 0}])
        tx.update({"v": "v + 1"}, "k >= 3")
        tx.update({"v": "v * 10"}, "k >= 3")
    assert orphans(table) == ()
    found = table.to_arrow().sort_by("k")["v"].to_pylist()
    assert found == [0, 0, 0, 10, 10, 10]
    assert tx.snapshot is not None
    assert tx.snapshot.delta_record_count == 1


def test_rows_that_are_added_and_deleted_again_make_no_snapshot() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.append([{"k": 2, "v": 2}])
        tx.delete("k = 2")
    assert tx.snapshot is None
    assert len(table.snapshots) == 1
    assert orphans(table) == ()


def test_an_empty_transaction_makes_no_snapshot() -> None:
    table = append_table(COLUMNS)
    with table.transaction() as tx:
        pass
    assert tx.snapshot is None
    assert table.snapshot is None


def test_schema_and_rows_change_together_and_old_snapshots_keep_their_schema() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.add_column("w", "STRING")
        tx.append([{"k": 2, "v": 2, "w": "b"}])
        tx.rename_column("v", "n")
        tx.alter_column_type("n", "BIGINT")
        tx.append([{"k": 3, "n": 3_000_000_000, "w": "c"}])
        assert table.schema.row_type.names == ("k", "v")
    assert table.to_arrow().sort_by("k").to_pylist() == [
        {"k": 1, "n": 1, "w": None},
        {"k": 2, "n": 2, "w": "b"},
        {"k": 3, "n": 3_000_000_000, "w": "c"},
    ]
    assert table.at(snapshot=1).to_arrow().to_pylist() == [{"k": 1, "v": 1}]
    assert table.snapshot is not None
    assert table.snapshot.schema_id == table.schema.id == 3
    assert table.maintenance.fsck() == []


def test_a_transaction_may_only_change_the_schema() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.drop_column("v")
        tx.alter(SetOption(key="snapshot.num-retained.min", value="3"))
    assert tx.snapshot is None
    assert len(table.snapshots) == 1
    assert table.schema.row_type.names == ("k",)
    assert table.schema.options["snapshot.num-retained.min"] == "3"


# ------------------------------------------------------------ other commits meanwhile


def other(table: Table) -> Table:
    """The table as another process opens it."""
    return open_table(table.path)


def test_appends_of_others_are_kept() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.append([{"k": 2, "v": 2}])
        other(table).append([{"k": 3, "v": 3}])
        tx.append([{"k": 4, "v": 4}])
        assert tx.scan().count() == 3, "rows of others are seen"
    assert Counter(table.to_arrow()["k"].to_pylist()) == Counter([1, 2, 3, 4])


CONFLICTS: Mapping[str, tuple[Mapping[str, str], str | None, Act, Act]] = {
    "two deletes of a file": (
        {},
        None,
        lambda table: table.delete("k = 1"),
        lambda table: table.delete("k = 2"),
    ),
    "two deletes with vectors": (
        {"deletion-vectors.enabled": "true"},
        None,
        lambda table: table.delete("k = 1"),
        lambda table: table.delete("k = 2"),
    ),
    "a delete and a compaction": (
        {"compaction.min.file-num": "2"},
        None,
        lambda table: table.delete("k = 1"),
        lambda table: table.overwrite([{"k": 2, "v": 2}, {"k": 1, "v": 0}]),
    ),
    "two upserts of a key": (
        {},
        "k",
        lambda table: table.upsert([{"k": 1, "v": 10}]),
        lambda table: table.upsert([{"k": 1, "v": 20}, {"k": 5, "v": 5}]),
    ),
    "an update of an upserted key": (
        {},
        "k",
        lambda table: table.update({"v": "v + 100"}, "k = 1"),
        lambda table: table.upsert([{"k": 1, "v": 20}]),
    ),
    "an overwrite and an append": (
        {},
        None,
        lambda table: table.overwrite([{"k": 8, "v": 8}]),
        lambda table: table.append([{"k": 7, "v": 7}]),
    ),
    "two new schemas": (
        {},
        None,
        lambda table: table.add_column("mine", "INT"),
        lambda table: table.add_column("theirs", "INT"),
    ),
}


def make(options: Mapping[str, str], key: str | None) -> Table:
    rows = [{"k": k, "v": k} for k in (1, 2, 3)]
    if key is None:
        return append_table(COLUMNS, rows, options=dict(options))
    return keyed_table(COLUMNS, rows, primary_key=[key], options=dict(options))


@pytest.mark.parametrize("name", CONFLICTS)
def test_operations_are_repeated_after_a_conflict(name: str) -> None:
    options, key, mine, theirs = CONFLICTS[name]
    table, serial = make(options, key), make(options, key)
    theirs(serial)
    mine(serial)
    with table.transaction() as tx:
        mine(tx)
        theirs(other(table))
    assert rows_of(table) == rows_of(serial)
    assert table.schema.row_type.names == serial.schema.row_type.names
    assert table.maintenance.fsck() == []
    assert orphans(table) == ()


def test_an_update_after_a_rollback_starts_from_the_rows_of_now() -> None:
    """Commits after the rollback have the ids of the snapshots that the transaction has seen."""
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = append_table(COLUMNS, [{"k": k, "v": 0} for k in range(3)], options=options)
    for k in (10, 11):
        table.append([{"k": k, "v": 0}])
    with table.transaction() as tx:
        tx.update({"v": "v + 1"}, "k = 1")
        now = other(table)
        now.rollback_to(1)
        now.update({"v": 100})
        for k in (12, 13):
            now.append([{"k": k, "v": 0}])
    found = {row["k"]: row["v"] for row in table.to_arrow().to_pylist()}
    assert found == {0: 100, 1: 101, 2: 100, 12: 0, 13: 0}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_transaction_that_has_read_rows_fails_after_a_conflict(name: str) -> None:
    options, key, mine, theirs = CONFLICTS[name]
    table, alone = make(options, key), make(options, key)
    theirs(alone)

    def fails() -> None:
        with table.transaction() as tx:
            tx.scan().count()
            mine(tx)
            theirs(other(table))

    with pytest.raises(CommitConflictError):
        fails()
    assert rows_of(table) == rows_of(alone)
    assert table.schema.row_type.names == alone.schema.row_type.names
    assert orphans(table) == ()


def test_input_that_can_be_read_only_once_is_not_repeated() -> None:
    table = make({}, "k")

    def rows() -> Iterator[dict[str, object]]:
        yield {"k": 1, "v": 10}

    def fails() -> None:
        with table.transaction() as tx:
            tx.upsert(rows())
            other(table).upsert([{"k": 1, "v": 20}])

    with pytest.raises(CommitConflictError, match="keys in bucket 0"):
        fails()
    assert table.scan(["v"], "k = 1").to_arrow().to_pylist() == [{"v": 20}]


def test_a_schema_that_fails_to_commit_is_withdrawn() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])

    def fails() -> None:
        with table.transaction() as tx:
            tx.scan().count()
            tx.add_column("w", "STRING")
            tx.delete("k = 1")
            other(table).delete("k = 1")

    with pytest.raises(CommitConflictError):
        fails()
    assert len(table.schemas) == 1
    assert table.count() == 0


def test_the_schema_of_another_process_meanwhile_stays() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.append([{"k": 2, "v": 2}])
        other(table).add_column("w", "STRING")
    assert table.to_arrow().num_rows == 2
    assert table.snapshot is not None
    assert table.snapshot.schema_id == 1


# ------------------------------------------------------------ properties, the end, refusals


def test_properties_and_user_are_those_of_the_transaction() -> None:
    table = append_table(COLUMNS)
    with table.transaction(properties={"job": "a"}, commit_user="nightly") as tx:
        tx.append([{"k": 1}])
        tx.set_properties({"rows": "1"})
    assert table.snapshot is not None
    assert table.snapshot.properties == {"job": "a", "rows": "1"}
    assert table.snapshot.commit_user == "nightly"


def test_a_transaction_ends_once() -> None:
    table = append_table(COLUMNS)
    tx = table.transaction()
    tx.append([{"k": 1}])
    assert repr(tx) == f"Transaction on {table.name} (open); operations: append"
    assert tx.commit() == table.snapshot
    assert repr(tx) == f"Transaction on {table.name} (committed); operations: append"
    for call in (tx.commit, tx.rollback, lambda: tx.append([]), tx.scan, tx.__enter__):
        with pytest.raises(InvalidInputError, match=r"after the end of the transaction \(commit"):
            call()


def test_rollback_in_the_block_ends_the_transaction() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    with table.transaction() as tx:
        tx.truncate()
        tx.rollback()
    assert table.count() == 1
    assert orphans(table) == ()


def tx_call(call: Callable[[], object]) -> object:
    """Call a method, also one without a result."""
    return call()


REFUSED: Mapping[str, tuple[str, Callable[[Transaction], object], str]] = {
    "a compaction": ("keyed", lambda tx: tx.compact(), "A compaction in a transaction"),
    "a delete of rows without ids": (
        "append, row ids",
        lambda tx: [tx_call(lambda: tx.append(OLD)), tx_call(lambda: tx.delete("k = 1"))],
        r"Calling delete\(\) after other writes .*row-tracking.enabled",
    ),
    "an update of rows without ids": (
        "append, evolving",
        lambda tx: [tx_call(lambda: tx.append(OLD)), tx_call(lambda: tx.update({"v": 1}, "k = 1"))],
        r"Calling update\(\) after other writes .*row-tracking.enabled",
    ),
    "an overwrite beside a changelog": (
        "input",
        lambda tx: [tx_call(lambda: tx.upsert(OLD)), tx_call(tx.truncate)],
        "A transaction of truncate and upsert .*changelog-producer",
    ),
    "a read of rows that wait for a compaction": (
        "first row",
        lambda tx: [tx_call(lambda: tx.upsert(OLD)), tx_call(tx.scan)],
        "Reading rows of a transaction .*first-row",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_one_snapshot_cannot_store_is_refused_by_name(name: str) -> None:
    kind, act, message = REFUSED[name]
    table = table_of(kind)
    with table.transaction() as tx:
        with pytest.raises(UnsupportedFeatureError, match=message):
            act(tx)
        tx.rollback()
    assert orphans(table) == ()


def test_wrong_arguments_are_errors_of_the_operation() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    calls: list[Callable[[Transaction], object]] = [
        lambda tx: tx.upsert([{"k": 1}]),
        lambda tx: tx.delete(None),  # type: ignore[arg-type] # an error
        lambda tx: tx.update({"v": 1}, None),  # type: ignore[arg-type] # an error
        lambda tx: tx.drop_partitions(),
        lambda tx: tx.append([{"k": 1}], cast="loose"),
        lambda tx: tx.set_properties({"k": 1}),  # type: ignore[dict-item] # an error
    ]
    for call in calls:
        with table.transaction() as tx, pytest.raises(InvalidInputError):
            call(tx)
    with pytest.raises(InvalidInputError, match="read-only"):
        table.at(1).transaction()
    assert len(table.snapshots) == 1


def test_drop_partitions_and_truncate_are_part_of_a_transaction() -> None:
    table = table_of("append")
    with table.transaction() as tx:
        tx.drop_partitions({"p": FIRST})
        tx.append([row(FIRST, 1, 1)])
    assert table.count() == 2
    with table.transaction() as tx:
        tx.truncate()
        tx.append([row(THIRD, 1, 1)])
    assert table.to_arrow()["p"].to_pylist() == [THIRD]


def test_a_branch_has_transactions_of_its_own() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": 1}])
    table.create_tag("one")
    table.create_branch("side", "one")
    side = open_table(table.path, branch="side")
    with side.transaction() as tx:
        tx.add_column("w", "STRING")
        tx.append([{"k": 2, "w": "side"}])
        tx.delete("k = 1")
    assert side.to_arrow().to_pylist() == [{"k": 2, "v": None, "w": "side"}]
    assert table.to_arrow().to_pylist() == [{"k": 1, "v": 1}]
    assert table.schema.row_type.names == ("k", "v")
    assert orphans(table) == ()
