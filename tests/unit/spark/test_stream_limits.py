"""How much a batch of a stream takes."""

import time
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, StreamRollbackError
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.spark.data_source import source_options
from paimon_explore.spark.stream_source import (
    PaimonStreamReader,
    ReadAllAvailable,
    StreamLimits,
    stream_schema,
)
from paimon_explore.table.table import Table

COUNTED = [(1, (3, 30, 300)), (2, (1, 10, 100)), (3, (2, 20, 200))]


@pytest.mark.parametrize(
    ("limits", "last"),
    [
        (StreamLimits(files=4), 2),
        (StreamLimits(files=1), 1),
        (StreamLimits(rows=40), 2),
        (StreamLimits(size=599), 2),
        (StreamLimits(snapshots=1), 1),
        (StreamLimits(snapshots=2, files=3), 1),
        (StreamLimits(files=100), 3),
    ],
)
def test_a_batch_takes_the_snapshots_that_fit_and_at_least_one(
    limits: StreamLimits, last: int
) -> None:
    assert limits.last(COUNTED) == last
    assert limits.last([]) is None


def test_limits_are_options_by_javas_names_and_by_sparks() -> None:
    given = {"path": "/t", "read.stream.maxfilespertrigger": "3", "maxrowspertrigger": "7"}
    assert source_options(given).limits == StreamLimits(files=3, rows=7)
    with pytest.raises(InvalidInputError, match="at least 1"):
        source_options({"path": "/t", "maxsnapshotspertrigger": "0"})


@pytest.fixture
def orders(tmp_path: Path) -> Table:
    return pe.demo(tmp_path / "warehouse").table("demo.orders")


@pytest.mark.parametrize(
    ("options", "snapshot", "first"),
    [
        ({}, 0, 5),
        ({"scan.mode": "latest"}, 5, None),
        ({"scan.snapshot-id": "3"}, 2, None),
        ({"scan.snapshot-id": "3", "scan.mode": "from-snapshot-full"}, 0, 3),
        ({"consumer-id": "known"}, 3, None),
        ({"consumer-id": "new"}, 0, 5),
        ({"consumer-id": "known", "consumer.ignore-progress": "true"}, 0, 5),
    ],
)
def test_a_stream_begins_where_the_options_say(
    options: dict[str, str], snapshot: int, first: int | None, orders: Table
) -> None:
    orders._store.consumers.save("known", Consumer(next_snapshot=4))
    scan = pe.open_table(orders.path, options=options).scan()
    reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
    assert reader.initialOffset() == {"snapshot": snapshot, "whole": first is not None}
    if first is not None:
        end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
        assert (end["snapshot"], end["whole"]) == (first, False)


def test_a_stream_may_begin_at_a_time(orders: Table) -> None:
    second = orders.snapshots[2].time_millis
    before = [0, *(s.id for s in orders.snapshots if s.time_millis < second)][-1]
    scan = pe.open_table(orders.path, options={"scan.timestamp-millis": str(second)}).scan()
    reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
    assert reader.initialOffset() == {"snapshot": before, "whole": False}


def test_a_stream_waits_until_snapshots_are_old_enough(orders: Table) -> None:
    def newest(delay: str) -> object:
        options = {"streaming.read.snapshot.delay": delay, "scan.snapshot-id": "1"}
        scan = pe.open_table(orders.path, options=options).scan()
        reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
        return reader.latestOffset(reader.initialOffset())["snapshot"]

    age_ms = time.time_ns() // 1_000_000 - orders.snapshots[5].time_millis
    assert newest(f"{age_ms} ms") == 5
    assert newest("36500 d") == 0


def delivered(table: Table, limits: StreamLimits, **options: str) -> list[int]:
    """The rows of each batch, as Spark asks for them until nothing is left."""
    opened = pe.open_table(table.path, options=options)
    scan = opened.scan()
    schema = stream_schema(scan, kinds=False)
    reader = PaimonStreamReader(scan, schema, 2, limits)
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    counts = []
    while (end := reader.latestOffset(start, reader.getDefaultReadLimit())) != start:
        parts = reader.partitions(start, end)
        counts.append(sum(batch.num_rows for part in parts for batch in reader.read(part)))
        reader.commit(end)
        start = end
    return counts


@pytest.mark.parametrize(
    ("limits", "options", "counts"),
    [
        (StreamLimits(), {}, [30]),
        (StreamLimits(), {"scan.snapshot-id": "4"}, [12]),
        (StreamLimits(files=6), {"scan.snapshot-id": "1"}, [12, 12, 6]),
        (StreamLimits(rows=1), {"scan.snapshot-id": "3"}, [6, 6, 6]),
        (StreamLimits(snapshots=2), {"scan.snapshot-id": "1"}, [12, 12, 6]),
        (StreamLimits(), {"scan.snapshot-id": "2", "scan.mode": "from-snapshot-full"}, [12, 18]),
        (StreamLimits(), {"consumer-id": "known"}, [12]),
    ],
)
def test_batches_are_as_large_as_the_limits_allow_and_lose_nothing(
    limits: StreamLimits, options: dict[str, str], counts: list[int], orders: Table
) -> None:
    orders._store.consumers.save("known", Consumer(next_snapshot=4))
    assert delivered(orders, limits, **options) == counts
    assert orders.maintenance.consumers["known"].next_snapshot == (
        6 if "consumer-id" in options else 4
    )


def test_a_batch_asked_for_without_a_limit_takes_everything(orders: Table) -> None:
    scan = pe.open_table(orders.path, options={"scan.snapshot-id": "1"}).scan()
    reader = PaimonStreamReader(
        scan, stream_schema(scan, kinds=False), 2, StreamLimits(snapshots=1)
    )
    everything = reader.latestOffset()
    assert (everything["snapshot"], everything["whole"]) == (5, False)
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == everything


@pytest.mark.parametrize("commits", [0, 2, 4])
@pytest.mark.parametrize("trigger", ["availableNow", "processingTime"])
def test_a_stream_fails_if_the_commits_it_has_delivered_were_replaced(
    commits: int, trigger: str, orders: Table
) -> None:
    def restarted() -> PaimonStreamReader:
        scan = pe.open_table(orders.path).scan()
        reader = PaimonStreamReader(scan, stream_schema(scan, kinds=False), 2, StreamLimits())
        if trigger == "availableNow":
            reader.prepareForTriggerAvailableNow()
        return reader

    reader = restarted()
    done = reader.latestOffset(reader.initialOffset())
    assert restarted().latestOffset(done) == done
    assert restarted().partitions(done, done) == []
    orders.rollback_to(3)
    for number in range(commits):
        orders.append([{"id": 1000 + number}])
    with pytest.raises(StreamRollbackError):
        restarted().latestOffset(done)
    with pytest.raises(StreamRollbackError):
        restarted().partitions(done, restarted().latestOffset())
    old = {"snapshot": 3, "whole": False}  # of versions that did not name the commit
    assert restarted().latestOffset(old)["snapshot"] == 3 + commits
