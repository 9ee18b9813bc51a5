"""Streams beside expiry, rollbacks, new schemas and dropped tables: never a silent gap."""

from collections.abc import Callable, Mapping
from datetime import datetime

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import (
    NotFoundError,
    SnapshotExpiredError,
    StreamError,
    StreamRollbackError,
    StreamSchemaError,
)
from support.small_tables import append_table, columns, keyed_table, new_catalog

COLUMNS = columns(k=pa.int32(), v=pa.string())
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it


def three() -> Table:
    return append_table(COLUMNS, *([{"k": n, "v": "x"}] for n in range(1, 4)))


def add(table: Table, *numbers: int) -> None:
    for number in numbers:
        table.append([{"k": number, "v": "x"}])


def expire(table: Table) -> None:
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)


def test_a_commit_that_expired_while_the_stream_was_away_is_named() -> None:
    table = three()
    stream = table.follow(2, timeout=0)
    assert next(stream).snapshot_id == 2
    add(table, 4)
    expire(table)
    with pytest.raises(SnapshotExpiredError, match=r"from_='full'"):
        next(stream)
    with pytest.raises(SnapshotExpiredError):  # and again: the stream does not end silently
        next(stream)
    add(table, 5)
    assert next(table.follow("earliest")).snapshot_id == 4


def test_a_start_that_expired_is_refused_and_long_lived_changelogs_count() -> None:
    table = three()
    expire(table)
    with pytest.raises(SnapshotExpiredError, match="The next snapshot of the stream, 1 of"):
        next(table.follow(1))
    options = {
        "changelog-producer": "input",
        "changelog.num-retained.min": "9",
        "changelog.num-retained.max": "9",
        "changelog.time-retained": "1 d",
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "1",
    }
    rows = ([{"k": n, "v": "x"}] for n in range(3))
    kept = keyed_table(COLUMNS, *rows, primary_key=["k"], options=options)
    expire(kept)
    assert kept._store.snapshots.ids() == [3]
    assert [b.snapshot_id for b in kept.follow("earliest", timeout=0)] == [1, 2, 3]
    first = kept._store.changelogs.find(1)
    assert first is not None
    start = {"scan.timestamp-millis": first.time_millis}
    assert next(kept.follow(start)).snapshot_id == 1


def rolled_back(table: Table) -> None:
    table.rollback_to(snapshot=2)


def rolled_back_and_written(table: Table) -> None:
    table.rollback_to(snapshot=2)
    add(table, 7, 8, 9)


def rolled_back_before_the_position(table: Table) -> None:
    table.rollback_to(snapshot=1)
    add(table, 7, 8, 9)


def replaced_by_a_branch(table: Table) -> None:
    table.create_tag("one", snapshot=1)
    table.create_branch("b", tag="one")
    table.fast_forward("b")
    add(table, 7, 8, 9)


REPLACING: Mapping[str, Callable[[Table], None]] = {
    "rolled back": rolled_back,
    "rolled back and written": rolled_back_and_written,
    "rolled back further": rolled_back_before_the_position,
    "replaced by a branch": replaced_by_a_branch,
}


@pytest.mark.parametrize("act", REPLACING)
def test_commits_that_are_replaced_end_the_stream(act: str) -> None:
    table = three()
    stream = table.follow(1, timeout=0)
    assert [batch.snapshot_id for batch in stream] == [1, 2, 3]
    REPLACING[act](table)
    with pytest.raises(StreamRollbackError, match="start a new stream") as caught:
        next(stream)
    assert caught.value.position == 4


def test_a_rollback_amid_the_commits_that_are_read_is_noticed() -> None:
    table = three()
    stream = table.follow(1, timeout=0)
    assert next(stream).snapshot_id == 1
    assert next(stream).snapshot_id == 2
    rolled_back_before_the_position(table)
    with pytest.raises(StreamRollbackError, match=r"Snapshot [12] of"):
        next(stream)


def test_a_rollback_of_what_was_not_read_is_none_of_its_business() -> None:
    table = three()
    stream = table.follow(1, timeout=0)
    assert next(stream).snapshot_id == 1
    stream.close()
    again = table.follow(2, until=5, timeout=0)
    rolled_back_and_written(table)
    assert [batch.rows["k"].to_pylist() for batch in again] == [[2], [7], [8], [9]]


def test_a_consumer_beyond_the_latest_snapshot_is_told_that_the_table_was_rolled_back() -> None:
    table = three()
    table.maintenance.consumers.reset("c", 4)
    table.rollback_to(snapshot=1)
    with pytest.raises(StreamRollbackError, match=r"the latest snapshot of .* is 1"):
        next(table.follow(consumer="c"))


def test_a_table_that_is_dropped_or_made_anew_ends_the_stream() -> None:
    catalog: Catalog = new_catalog()
    table = catalog.create_table("db.t", {"k": "INT"})
    waiting = table.follow(timeout=0)
    assert list(waiting) == []
    table.append([{"k": 1}])
    stream = table.follow("latest", timeout=0)
    empty = catalog.create_table("db.e", {"k": "INT"}).follow("latest", timeout=0)
    catalog.drop_table("db.t")
    catalog.drop_table("db.e")
    for dropped in (waiting, stream, empty):
        with pytest.raises(NotFoundError, match="Table"):
            next(dropped)
    anew = catalog.create_table("db.t", {"k": "INT"})
    with pytest.raises(StreamRollbackError, match="created anew"):
        next(stream)
    anew.append([{"k": 9}])
    with pytest.raises(StreamError, match="created anew"):
        next(stream)


def test_columns_that_are_added_appear_in_a_new_stream() -> None:
    table = three()
    stream = table.follow("latest", timeout=0)
    table.add_column("w", "INT")
    table.append([{"k": 4, "v": "y", "w": 1}])
    assert next(stream).rows.column_names == ["rowkind", "k", "v"]
    again = table.follow(4, timeout=0)
    assert next(again).rows.to_pylist() == [{"rowkind": "+I", "k": 4, "v": "y", "w": 1}]


SCHEMAS: Mapping[str, Callable[[Table], object]] = {
    "dropped": lambda table: table.drop_column("v"),
    "renamed": lambda table: table.rename_column("v", "u"),
    "another type": lambda table: table.alter_column_type("k", "BIGINT"),
}


@pytest.mark.parametrize("change", SCHEMAS)
def test_columns_that_change_end_the_stream_before_the_first_such_commit(change: str) -> None:
    table = three()
    stream = table.follow("latest", timeout=0)
    others = {"dropped": ["k"], "renamed": ["k"], "another type": ["v"]}
    unaffected = table.follow("latest", columns=others[change], timeout=0)
    add(table, 4)
    SCHEMAS[change](table)
    table.append([{"k": 5}])
    assert next(stream).snapshot_id == 4
    with pytest.raises(StreamSchemaError, match=r"from_=5") as caught:
        next(stream)
    assert caught.value.position == 5
    assert next(table.follow(caught.value.position)).rows["k"].to_pylist() == [5]
    assert [batch.snapshot_id for batch in unaffected] == [4, 5]


def test_options_that_change_apply_to_the_commits_after_them() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], primary_key=["k"])
    stream = table.follow(timeout=0)
    assert next(stream).is_state
    table.set_options({"changelog-producer": "input"})
    table.upsert([{"k": 1, "v": "b"}])
    table.set_options({"sequence.field": "v"})
    table.upsert([{"k": 1, "v": "A"}])  # is older by its sequence
    kinds = [(b.snapshot_id, b.rows["rowkind"].to_pylist()) for b in stream]
    assert kinds == [(2, ["-U", "+U"])]
    assert stream.position == 4


def test_compactions_meanwhile_bring_nothing() -> None:
    table = keyed_table(COLUMNS, [{"k": 1, "v": "a"}], primary_key=["k"])
    stream = table.follow("latest", timeout=0)
    table.upsert([{"k": 2, "v": "b"}])
    table.compact()
    table.upsert([{"k": 3, "v": "c"}])
    table.compact()
    assert [(b.snapshot_id, b.rows["k"].to_pylist()) for b in stream] == [(2, [2]), (4, [3])]
    assert stream.position == 6
