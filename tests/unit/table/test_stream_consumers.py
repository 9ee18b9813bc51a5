"""Consumers of streams: where they go on, what they keep, and who may move them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from itertools import islice

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    ConsumerConflictError,
    InvalidInputError,
    NotFoundError,
    SnapshotExpiredError,
)
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.table.streams.stream_consumer import StreamConsumer
from support.small_tables import append_table, columns

COLUMNS = columns(k=pa.int32())
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it


def four() -> Table:
    return append_table(COLUMNS, *([{"k": n}] for n in range(1, 5)))


def position(table: Table) -> int | None:
    found = table._store.consumers.find("c")
    return None if found is None else found.next_snapshot


def test_the_position_moves_when_the_next_batch_is_asked_for() -> None:
    table = four()
    stream = table.follow("earliest", consumer="c", timeout=0)
    assert position(table) == 1
    assert [batch.snapshot_id for batch in islice(stream, 2)] == [1, 2]
    assert position(table) == 2  # the second one may not have been worked on
    with table.follow("latest", consumer="c", timeout=0) as again:
        assert [batch.snapshot_id for batch in again] == [2, 3, 4]
    assert position(table) == 5
    table.append([{"k": 5}])
    assert [b.snapshot_id for b in table.follow(consumer="c", until="now")] == [5]


def test_the_position_is_what_java_stores() -> None:
    table = four()
    list(table.follow("earliest", consumer="c", timeout=0))
    text = table._store.file_io.read(table._store.paths.consumer("c")).decode()
    assert "".join(text.split()) == '{"nextSnapshot":5}'


def test_the_state_is_read_again_until_it_was_taken_whole() -> None:
    table = four()
    stream = table.follow("full", consumer="c", timeout=0, max_rows=3)
    assert [batch.is_last for batch in islice(stream, 2)] == [False, True]
    assert position(table) is None
    again = table.follow("full", consumer="c", timeout=0)
    assert [batch.is_state for batch in again] == [True]
    assert position(table) == 5


def test_by_hand_only_what_was_acknowledged_counts() -> None:
    table = four()
    stream = table.follow("earliest", consumer="c", timeout=0, auto_ack=False)
    batches = list(stream)
    assert (len(batches), position(table)) == (4, 1)
    batches[1].ack()
    assert position(table) == 3
    batches[0].ack()  # included in the one before
    assert position(table) == 3
    stream.ack()
    assert position(table) == 5
    table.maintenance.analyze()
    assert list(stream) == []
    assert position(table) == 6  # nothing of the commit is left to acknowledge


def test_commits_without_rows_count_with_the_batch_before_them() -> None:
    table = append_table(COLUMNS, [{"k": 1}])
    table.maintenance.analyze()
    stream = table.follow(1, consumer="c", timeout=0, auto_ack=False)
    batches = list(stream)
    assert position(table) == 1
    batches[0].ack()
    assert position(table) == 3


def test_a_part_of_a_commit_moves_nothing() -> None:
    table = append_table(COLUMNS, [{"k": n} for n in range(4)])
    stream = table.follow(1, consumer="c", timeout=0, max_rows=2, auto_ack=False)
    first, second = stream
    first.ack()
    assert position(table) == 1
    second.ack()
    assert position(table) == 2


def test_options_name_the_consumer_and_ignore_its_progress() -> None:
    table = four()
    table.maintenance.consumers.reset("c", 4)
    named = replace(table, _dynamic_options={"consumer-id": "c"})
    assert [b.snapshot_id for b in named.follow("earliest", until="now")] == [4]
    table.maintenance.consumers.reset("c", 4)
    ignored = replace(
        table, _dynamic_options={"consumer-id": "c", "consumer.ignore-progress": "true"}
    )
    assert [b.snapshot_id for b in ignored.follow(2, until="now")] == [2, 3, 4]
    assert position(table) == 5


def test_snapshots_that_were_not_read_do_not_expire() -> None:
    table = four()
    stream = table.follow(2, consumer="c", timeout=0)
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    assert table._store.snapshots.ids() == [2, 3, 4]
    assert [batch.snapshot_id for batch in islice(stream, 2)] == [2, 3]
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    assert table._store.snapshots.ids() == [3, 4]
    table.maintenance.consumers.delete("c")
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    assert table._store.snapshots.ids() == [4]


def test_a_consumer_whose_snapshot_is_gone_is_told_what_to_do() -> None:
    table = four()
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)
    table.maintenance.consumers.reset("c", 2)
    with pytest.raises(SnapshotExpiredError, match="the earliest one is 4") as caught:
        next(table.follow(consumer="c"))
    assert "A consumer must be deleted or reset before" in caught.value.hint
    table.maintenance.consumers.reset("c", 4)
    assert next(table.follow(consumer="c")).snapshot_id == 4


@pytest.mark.parametrize("act", ["another stream", "by hand"])
def test_of_two_streams_with_one_consumer_the_slower_one_fails(act: str) -> None:
    table = four()
    first = table.follow(1, consumer="c", timeout=0)
    second = table.follow(1, consumer="c", timeout=0)
    assert next(first).snapshot_id == 1
    if act == "another stream":
        assert [batch.snapshot_id for batch in islice(second, 3)] == [1, 2, 3]
    else:
        table.maintenance.consumers.reset("c", 3)
    with pytest.raises(ConsumerConflictError, match="moved to snapshot 3") as caught:
        next(first)
    assert (caught.value.position, position(table)) == (2, 3)
    assert [b.snapshot_id for b in table.follow(consumer="c", timeout=0)] == [3, 4]


def test_a_consumer_that_was_deleted_is_written_anew() -> None:
    table = four()
    stream = table.follow(1, consumer="c", timeout=0)
    assert next(stream).snapshot_id == 1
    table.maintenance.consumers.delete("c")
    assert [batch.snapshot_id for batch in stream] == [2, 3, 4]
    assert position(table) == 5


def test_a_stream_that_waits_keeps_its_consumer_from_expiring() -> None:
    table = four()
    now = [0.0]
    options = TableOptions({"consumer.expiration-time": "60 s"})
    consumer = StreamConsumer(table._store.consumers, "c", options, None, lambda: now[0])
    consumer.renew()
    assert position(table) is None
    consumer.move(3)
    table._store.file_io.delete(table._store.paths.consumer("c"))
    for now[0], kept in ((19.0, None), (20.0, 3)):
        consumer.renew()
        assert position(table) == kept


def test_consumers_are_reset_and_deleted() -> None:
    table = four()
    table.maintenance.consumers.reset("c", 3)
    assert [*table.maintenance.consumers] == [Consumer(next_snapshot=3)]
    assert repr(table.maintenance.consumers) == "1 consumer\n  c  next snapshot 3"
    table.maintenance.consumers.delete("c")
    with pytest.raises(NotFoundError, match="Consumers: none"):
        table.maintenance.consumers.delete("c")
    wrong: list[Callable[[], object]] = [
        lambda: table.maintenance.consumers.reset("c", 0),
        lambda: table.maintenance.consumers.reset("../x", 1),
    ]
    for act in wrong:
        with pytest.raises(InvalidInputError):
            act()


def test_streams_of_a_branch_have_their_own_consumers() -> None:
    table = four()
    table.create_tag("two", snapshot=2)
    table.create_branch("b", tag="two")
    branch = open_table(table.path, branch="b")
    branch.append([{"k": 9}])
    found = [b.rows["k"].to_pylist() for b in branch.follow(2, consumer="c", until="now")]
    assert (found, position(branch), position(table)) == ([[2], [9]], 4, None)
