"""`follow` gives the changes of each commit as it is made, to loops and to coroutines."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.table.row_changes import ChangeReader
from paimon_explore.table.streams.change_batch import BatchLimits, ChangeBatch
from paimon_explore.table.streams.change_stream import ChangeStream, Pace
from paimon_explore.table.streams.follow import Following, follow
from paimon_explore.table.table_read import stream_request
from support.small_tables import append_table, columns, keyed_table, new_catalog

COLUMNS = columns(k=pa.int32(), v=pa.string())
Told = tuple[int, list[tuple[object, ...]]]


def keyed() -> Table:
    """Two inserts, a change and a new row, a deletion."""
    return keyed_table(
        COLUMNS,
        [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}],
        [{"k": 2, "v": "B"}, {"k": 3, "v": "c"}],
        [{"k": 1, "v": "a", "_ROW_KIND": "-D"}],
        primary_key=["k"],
    )


def told(batches: Iterable[ChangeBatch]) -> list[Told]:
    return [(b.snapshot_id, [tuple(row.values()) for row in b.rows.to_pylist()]) for b in batches]


def test_a_state_of_mode_delta_ends_with_postponed_records() -> None:
    table = keyed_table(COLUMNS, primary_key=["k"], options={"bucket": "-2"})
    table.upsert([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    table.compact()
    table.upsert([{"k": 2, "v": "c", "_ROW_KIND": "+U"}, {"k": 3, "v": "d"}])
    table.upsert([{"k": 1, "v": "a", "_ROW_KIND": "-D"}])
    last = max(snapshot.id for snapshot in table.snapshots)
    merged = [("+I", 1, "a"), ("+I", 2, "b")]
    postponed = [("+I", 2, "c"), ("+I", 3, "d"), ("-D", 1, "a")]
    found = told(table.follow(timeout=0, mode="delta"))
    assert [row for _, rows in found for row in rows] == [*merged, *postponed]
    assert {number for number, _ in found} == {last}
    found = told(table.follow(timeout=0, mode="delta", where="k = 2"))
    assert [row for _, rows in found for row in rows] == [merged[1], postponed[0]]
    assert told(table.follow(timeout=0)) == [(last, merged)]  # the rest comes with a compaction
    assert table.between(0, last, mode="delta").to_arrow().num_rows == 0


def test_the_state_comes_first_and_then_each_commit() -> None:
    table = keyed()
    stream = table.follow(timeout=0)
    state = next(stream)
    assert told([state]) == [(3, [("+I", 2, "B"), ("+I", 3, "c")])]
    assert (state.is_state, state.commit_kind, state.part, state.is_last) == (
        True,
        "APPEND",
        0,
        True,
    )
    table.upsert([{"k": 4, "v": "d"}])
    table.delete("k = 2")
    table.overwrite([{"k": 3, "v": "C"}])
    found = list(stream)
    assert told(found) == [
        (4, [("+I", 4, "d")]),
        (5, [("-D", 2, "B")]),
        (6, [("-U", 3, "c"), ("+U", 3, "C"), ("-D", 4, "d")]),
    ]
    assert [(b.commit_kind, b.is_state) for b in found][2] == ("OVERWRITE", False)
    assert found[0].time.timestamp() * 1000 == table.snapshots[4].time_millis


def test_changes_are_applied_to_a_copy() -> None:
    table, copy = keyed(), keyed_table(COLUMNS, primary_key=["k"])
    for batch in table.follow("earliest", until="now"):
        with pytest.raises(InvalidInputError, match="Rename the column to '_ROW_KIND' to apply"):
            copy.upsert(batch.rows)
        copy.upsert(batch.rows.rename_columns({"rowkind": "_ROW_KIND"}))
    assert copy.to_arrow().sort_by("k") == table.to_arrow().sort_by("k")


def test_columns_and_rows_are_selected() -> None:
    table = keyed()
    stream = table.follow("earliest", columns=["v"], where="k = 2", timeout=0)
    assert stream.schema.names == ["rowkind", "v"]
    assert told(stream) == [(1, [("+I", "b")]), (2, [("+I", "B")])]
    nested = append_table(columns(r=pa.struct([("x", pa.int32()), ("y", pa.int32())])))
    nested.append([{"r": {"x": 1, "y": 2}}])
    for start in ("full", "earliest"):
        rows = next(nested.follow(start, columns=["r.x"])).rows
        assert rows.to_pylist() == [{"rowkind": "+I", "r": {"x": 1}}]


def test_commits_without_rows_are_passed() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.maintenance.analyze()
    stream = table.follow(1, timeout=0)
    assert [batch.snapshot_id for batch in stream] == [1]
    assert stream.position == 3


def test_batches_have_as_many_rows_and_bytes_as_the_limits_allow() -> None:
    table = append_table(COLUMNS, [{"k": n, "v": "x"} for n in range(10)], [{"k": 10, "v": "y"}])
    found = list(table.follow("earliest", max_rows=4, timeout=0))
    figures = [(b.snapshot_id, b.part, b.is_last, b.rows.num_rows) for b in found]
    assert figures == [(1, 0, False, 4), (1, 1, False, 4), (1, 2, True, 2), (2, 0, True, 1)]
    assert [n for b in found for n in b.rows["k"].to_pylist()] == list(range(11))
    assert {b.rows.num_rows for b in table.follow("full", max_bytes=1, timeout=0)} == {1}
    assert [b.is_last for b in table.follow("full", max_rows=11, timeout=0)] == [True]


def test_small_batches_are_put_together_and_large_ones_divided() -> None:
    schema = pa.schema({"n": pa.int64()})
    sizes = [2, 2, 2, 9, 1]
    found = (pa.RecordBatch.from_arrays([pa.array(range(n))], schema=schema) for n in sizes)
    parts = list(BatchLimits(rows=5, size=1 << 20).batches(found, schema))
    assert [(rows.num_rows, last) for rows, last in parts] == [
        (4, False),
        (2, False),
        (5, False),
        (5, True),
    ]
    assert [n for rows, _ in parts for n in rows["n"].to_pylist()] == [
        *range(2),
        *range(2),
        *range(2),
        *range(9),
        0,
    ]


def test_nothing_is_read_ahead() -> None:
    table = append_table(COLUMNS, *([{"k": n, "v": "x"}] for n in range(5)))
    stream = table.follow("earliest", timeout=0)
    assert [batch.snapshot_id for batch in islice(stream, 2)] == [1, 2]
    assert stream.position == 2
    table._store.file_io.delete(table.scan().plan().splits[0].paths[3])  # type: ignore[union-attr]  # of rows
    assert next(stream).snapshot_id == 3
    with pytest.raises(StorageError, match="exists and needs this file"):
        next(stream)


@pytest.mark.parametrize(
    ("until", "ids"),
    [(2, [1, 2]), ("now", [1, 2, 3]), ("v2", [1, 2]), (0, []), (3, [1, 2, 3])],
)
def test_a_stream_may_have_an_end(until: int | str, ids: list[int]) -> None:
    table = keyed()
    table.create_tag("v2", snapshot=2)
    stream = table.follow(1, until=until)
    table.upsert([{"k": 9, "v": "z"}])
    assert [batch.snapshot_id for batch in stream] == ids
    assert list(stream) == []


@pytest.mark.parametrize("start", ["earliest", "latest", "full", None])
def test_a_stream_until_now_of_an_empty_table_ends(start: str | None) -> None:
    table = new_catalog().create_table("db.t", {"k": "INT"})
    stream = table.follow(start, full=start == "latest", until="now")
    table.append([{"k": 1}])
    assert list(stream) == []


def test_an_end_that_is_not_there_yet_is_waited_for() -> None:
    table = keyed()
    stream = table.follow(3, until=4, poll=0.01)
    threading.Timer(0.05, lambda: table.upsert([{"k": 9, "v": "z"}])).start()
    assert [batch.snapshot_id for batch in stream] == [3, 4]


def test_a_time_out_ends_the_loop_and_the_next_loop_goes_on() -> None:
    table = keyed()
    stream = table.follow("latest", poll=0.01, timeout=0.03)
    assert list(stream) == []
    table.upsert([{"k": 9, "v": "z"}])
    assert [batch.snapshot_id for batch in stream] == [4]
    assert repr(stream) == "<ChangeStream of db.t, next snapshot 5>"


def waits(table: Table, poll_s: float | None = None) -> list[float]:
    """How long a stream waits between looks at the table, within four seconds."""
    waited: list[float] = []
    pace = Pace(timeout_s=4, clock=lambda: sum(waited), sleep=waited.append)
    following = Following(name="db.t", from_="latest", poll_s=poll_s)
    assert list(follow(stream_request(table, None, None), following, pace)) == []
    return waited


def test_the_table_says_how_long_to_wait_between_looks() -> None:
    table = keyed()
    assert waits(table) == [1, 1, 1, 1]
    table = replace(table, _dynamic_options={"continuous.discovery-interval": "1500 ms"})
    assert waits(table) == [1.5, 1.5, 1]
    assert waits(table, poll_s=3) == [3, 1]


def test_another_thread_ends_a_stream_that_waits() -> None:
    stream = keyed().follow("latest", poll=600)
    threading.Timer(0.05, stream.close).start()
    assert list(stream) == []
    assert repr(stream).endswith(", next snapshot 4, ended>")


def test_ctrl_c_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    table = keyed()
    stream = table.follow("earliest", timeout=0, max_rows=1)
    assert told([next(stream)]) == [(1, [("+I", 1, "a")])]
    step = BatchLimits.batches

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    assert told([next(stream)]) == [(1, [("+I", 2, "b")])]
    monkeypatch.setattr(BatchLimits, "batches", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    monkeypatch.setattr(BatchLimits, "batches", step)
    assert [told([batch])[0][0] for batch in stream] == [2, 2, 3]


def test_an_error_amid_a_commit_repeats_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    table = append_table(COLUMNS, [{"k": n, "v": "x"} for n in range(3)])
    stream = table.follow("earliest", timeout=0, max_rows=1)
    batches = ChangeReader.batches

    def failing(*given: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - passed on
        monkeypatch.setattr(ChangeReader, "batches", batches)
        found = batches(*given)
        yield next(found)
        yield next(found)
        raise StorageError("read", "x", "no answer")

    monkeypatch.setattr(ChangeReader, "batches", failing)
    assert next(stream).part == 0
    with pytest.raises(StorageError, match="no answer"):
        next(stream)
    assert [(batch.part, batch.rows["k"].to_pylist()) for batch in stream] == [
        (0, [0]),
        (1, [1]),
        (2, [2]),
    ]


async def _collect(stream: ChangeStream, count: int) -> list[int]:
    found: list[int] = []
    async with stream:
        async for batch in stream:
            found.append(batch.snapshot_id)
            if len(found) == count:
                break
    return found


def test_coroutines_follow_while_others_run() -> None:
    table = keyed()

    async def both() -> list[int]:
        stream = table.follow(2, poll=0.01)
        reading = asyncio.create_task(_collect(stream, 3))
        await asyncio.sleep(0.03)
        await asyncio.to_thread(table.upsert, [{"k": 9, "v": "z"}])
        return await reading

    assert asyncio.run(both()) == [2, 3, 4]


def test_a_coroutine_that_waits_is_ended_or_cancelled_without_loss() -> None:
    table = keyed()

    async def closed(end: Callable[[ChangeStream], object]) -> list[int]:
        stream = table.follow("latest", poll=600)
        asyncio.get_running_loop().call_later(0.02, end, stream)
        return [batch.snapshot_id async for batch in stream]

    assert asyncio.run(closed(ChangeStream.close)) == []

    async def cancelled() -> list[int]:
        stream = table.follow(3, poll=0.01, timeout=0)
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        return [batch.snapshot_id async for batch in stream]

    assert asyncio.run(cancelled()) == [3]


def test_an_empty_table_is_followed_from_its_first_commit() -> None:
    for start in (None, "latest", "earliest", "full", 1):
        table = new_catalog().create_table("db.t", {"k": "INT"})
        stream = table.follow(start, timeout=0)
        assert list(stream) == []
        table.append([{"k": 1}])
        assert [b.rows.to_pylist() for b in stream] == [[{"rowkind": "+I", "k": 1}]]
        assert stream.position == 2


@pytest.mark.parametrize(
    "given",
    [
        {"poll": -1},
        {"timeout": "1"},
        {"max_rows": 0},
        {"max_bytes": None},
        {"consumer": 3},
        {"auto_ack": 1},
        {"mode": "diff"},
        {"until": 1.5},
        {"from_": True},
        {"from_": 0},
        {"from_": {"bucket": "1"}},
        {"where": "nothing = 1"},
        {"columns": ["nothing"]},
    ],
)
def test_wrong_arguments_are_refused_at_once(given: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        keyed().follow(**given)  # type: ignore[arg-type]  # what is refused here


def test_a_table_at_a_fixed_point_is_not_followed() -> None:
    with pytest.raises(InvalidInputError, match="no new commits"):
        keyed().at(snapshot=2).follow()
