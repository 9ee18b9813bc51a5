"""Where streams start: as arguments, as options, and as batch reads understand the same options."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.metadata.snapshot import CommitKind, Snapshot, encode_snapshot
from support.chain_tables import chains, spec
from support.small_tables import append_table, columns, new_catalog

COLUMNS = columns(k=pa.int32())


def numbered() -> Table:
    """Snapshots 1 to 5 at the times 1000 to 5000 with the watermarks 10 to 50; 3 is compacted."""
    table = append_table(COLUMNS)
    for number in range(1, 6):
        table.append([{"k": number}])
        snapshot = table.snapshots[number]
        kind = CommitKind.COMPACT if number == 3 else snapshot.commit_kind
        rewrite(
            table,
            replace(snapshot, time_millis=number * 1000, watermark=number * 10, commit_kind=kind),
        )
    table.create_tag("two", snapshot=2)
    return table


def rewrite(table: Table, snapshot: Snapshot) -> None:
    path = table._store.paths.snapshot(snapshot.id)
    table._store.file_io.replace(path, encode_snapshot(snapshot))


def moment(millis: int) -> datetime:
    return datetime.fromtimestamp(millis / 1000, UTC)


def started(table: Table, start: object, *, full: bool = False) -> tuple[list[int], list[int]]:
    """The values of the state, and the snapshots of the commits after it."""
    stream = table.follow(start, full=full, timeout=0)  # type: ignore[arg-type]  # of many types
    batches = list(stream)
    state = [n for b in batches if b.is_state for n in b.rows["k"].to_pylist()]
    return sorted(n for n in state if n is not None), [
        batch.snapshot_id for batch in batches if not batch.is_state
    ]


ALL = [1, 2, 3, 4, 5]
STARTS: list[tuple[object, list[int], list[int]]] = [
    (None, ALL, []),
    ("full", ALL, []),
    ("latest-full", ALL, []),
    ("compacted-full", [1, 2, 3], [4, 5]),
    ("latest", [], []),
    ("earliest", [], [1, 2, 4, 5]),  # the changes of a COMPACT snapshot are none
    (4, [], [4, 5]),
    (6, [], []),
    ("two", [], [2, 4, 5]),
    (moment(4000), [], [4, 5]),
    (moment(4001), [], [5]),
    (moment(1), [], [1, 2, 4, 5]),
    (moment(9000), [], []),
    ("1970-01-01T00:00:04+00:00", [], [4, 5]),
    ({"scan.mode": "latest"}, [], []),
    ({"scan.mode": "full"}, ALL, []),
    ({"scan.mode": "compacted-full"}, [1, 2, 3], [4, 5]),
    ({"scan.snapshot-id": "2"}, [], [2, 4, 5]),
    ({"scan.snapshot-id": 2, "scan.mode": "from-snapshot-full"}, [1, 2], [4, 5]),
    ({"scan.tag-name": "two"}, [], [2, 4, 5]),
    ({"scan.version": "two"}, [], [2, 4, 5]),
    ({"scan.version": "4"}, [], [4, 5]),
    ({"scan.watermark": "35"}, [], [4, 5]),
    ({"scan.timestamp-millis": "4000"}, [], [4, 5]),
    ({"scan.timestamp-millis": "1"}, [], [1, 2, 4, 5]),
    ({"scan.timestamp": "1970-01-01 00:00:03.500+00:00"}, [], [4, 5]),
    ({"scan.creation-time-millis": "3500"}, [], [4, 5]),
    ({"scan.creation-time-millis": "1000"}, ALL, []),  # older commits may have expired
    ({"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": 9000}, ALL, []),
    ({"scan.file-creation-time-millis": "0"}, ALL, []),
    ({"scan.file-creation-time-millis": str(2**42)}, [], []),
]


@pytest.mark.parametrize(("start", "state", "commits"), STARTS, ids=[str(s[0]) for s in STARTS])
def test_a_stream_starts_where_it_is_told_to(
    start: object, state: list[int], commits: list[int]
) -> None:
    assert started(numbered(), start) == (state, commits)


@pytest.mark.parametrize(
    ("start", "state", "commits"),
    [
        ("latest", ALL, []),
        ("earliest", [1], [2, 4, 5]),
        (4, [1, 2, 3, 4], [5]),
        ("two", [1, 2], [4, 5]),
        (moment(4999), [1, 2, 3, 4], [5]),
        ({"scan.snapshot-id": "4"}, [1, 2, 3], [4, 5]),
        ({"scan.timestamp-millis": "3000"}, [1, 2], [4, 5]),
        ({"scan.timestamp-millis": "1"}, [], [1, 2, 4, 5]),
    ],
    ids=str,
)
def test_the_rows_at_the_start_may_come_first(
    start: object, state: list[int], commits: list[int]
) -> None:
    assert started(numbered(), start, full=True) == (state, commits)


def test_options_of_the_table_say_where_to_start() -> None:
    table = numbered()
    assert started(replace(table, _dynamic_options={"scan.mode": "latest"}), None) == ([], [])
    table.set_options({"scan.mode": "compacted-full"})
    assert started(table, None) == ([1, 2, 3], [4, 5])
    assert started(table, 5) == ([], [5])  # the argument replaces them
    assert started(table, {"scan.snapshot-id": "5"}) == ([], [5])


BATCHES: list[tuple[Mapping[str, str], list[int]]] = [
    ({}, ALL),
    ({"scan.mode": "latest"}, ALL),
    ({"scan.mode": "compacted-full"}, [1, 2, 3]),
    ({"scan.snapshot-id": "2", "scan.mode": "from-snapshot-full"}, [1, 2]),
    ({"scan.creation-time-millis": "3500"}, [1, 2, 3, 4]),
    ({"scan.creation-time-millis": "1000"}, ALL),
    ({"scan.creation-time-millis": str(2**42)}, []),
    ({"scan.file-creation-time-millis": str(2**42)}, []),
    ({"incremental-between": "2,4"}, [4]),
    ({"incremental-between-timestamp": "2000,4000"}, [4]),
]


@pytest.mark.parametrize(("options", "rows"), BATCHES, ids=str)
def test_batch_reads_give_the_options_javas_meaning(
    options: Mapping[str, str], rows: list[int]
) -> None:
    import paimon_explore as pe  # noqa: PLC0415 - one use

    table = pe.open_table(numbered().path, options=options)
    assert sorted(table.to_arrow()["k"].to_pylist()) == rows  # type: ignore[type-var]  # no nulls


def test_full_compactions_are_found_by_their_commit_identifier() -> None:
    table = new_catalog().create_table(
        "db.t",
        {"k": "INT"},
        primary_key="k",
        options={"bucket": "1", "full-compaction.delta-commits": "3", "write-only": "true"},
    )
    for number in range(1, 5):
        table.upsert([{"k": number}])
        rewrite(
            table,
            replace(
                table.snapshots[number], commit_kind=CommitKind.COMPACT, commit_identifier=number
            ),
        )
    assert started(table, "compacted-full") == ([1, 2, 3], [])
    table.set_options({"full-compaction.delta-commits": None})
    assert started(table, "compacted-full")[0] == [1, 2, 3, 4]


def test_times_that_go_back_are_searched_as_java_does() -> None:
    table = append_table(COLUMNS, *([{"k": n}] for n in range(1, 6)))
    for number, time in enumerate([1000, 5000, 2000, 3000, 4000], start=1):
        rewrite(table, replace(table.snapshots[number], time_millis=time))
    assert started(table, moment(2500)) == ([], [4, 5])
    assert started(table, moment(4500)) == ([], [])


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        (7, NotFoundError, "The latest snapshot is 5"),
        ("nothing", NotFoundError, "from_ is one of 'latest', 'earliest', 'full'"),
        ({"scan.mode": "newest"}, InvalidInputError, "'newest' is invalid"),
        ({"scan.mode": "from-timestamp"}, InvalidInputError, "needs a timestamp option"),
        ({"scan.mode": "incremental"}, InvalidInputError, "cannot be streamed"),
        ({"scan.mode": "latest-delta"}, InvalidInputError, "cannot be streamed"),
        ({"incremental-between": "1,2"}, InvalidInputError, "cannot be streamed"),
        ({"scan.tag-name": "x"}, NotFoundError, "Tag 'x'"),
    ],
    ids=str,
)
def test_starts_that_are_not_there_are_refused(
    start: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        started(numbered(), start)


def test_a_watermark_ends_a_stream_before_the_first_snapshot_beyond_it() -> None:
    table = replace(numbered(), _dynamic_options={"scan.bounded.watermark": "40"})
    assert [b.snapshot_id for b in table.follow(2)] == [2, 4]
    assert list(table.follow("latest")) == []
    assert [b.is_state for b in table.follow("full")] == [True]
    ended = replace(numbered(), _dynamic_options={"scan.bounded.watermark": "50"})
    assert [b.snapshot_id for b in ended.follow(5, timeout=0)] == [5]


def test_young_snapshots_are_delayed() -> None:
    table = replace(numbered(), _dynamic_options={"streaming.read.snapshot.delay": "1 d"})
    assert started(table, 4) == ([], [4, 5])
    table.append([{"k": 6}])
    assert started(table, 4) == ([], [4, 5])


LIGHT = [("asia", 1), ("asia", 3), ("eu", 4), ("eu", 5), ("us", 3), ("us", 4)]
MERGED = [
    ("asia", 3, 1),
    ("asia", 3, 3),
    *(("eu", 5, k) for k in (4, 5)),
    ("us", 4, 3),
    ("us", 4, 4),
]


@pytest.mark.parametrize("merges", [False, True])
def test_the_stream_of_a_chain_table_starts_with_both_branches(*, merges: bool) -> None:
    catalog = chains()
    options = {"chain-table.streaming.merge-snapshot": str(merges).lower()}
    stream = catalog.table("db.t", options=options).follow(timeout=0)

    def taken() -> list[tuple[str, int, int]]:
        rows = [row for batch in stream for row in batch.rows.to_pylist()]
        return sorted((row["region"], int(row["dt"][-1]), row["k"]) for row in rows)

    expected = MERGED if merges else [(region, day, day) for region, day in LIGHT]
    assert taken() == expected
    catalog.table("db.t").maintenance.compact_chain_table(spec("us", 4))
    assert taken() == []
    catalog.table("db.t$branch_delta").upsert([{**spec("us", 7), "k": 7, "n": 7}])
    assert taken() == [("us", 7, 7)]
    assert stream.position == 3
    anew = catalog.table("db.t", options=options).follow(1, full=True, timeout=0)
    rows = [row for batch in anew if batch.is_state for row in batch.rows.to_pylist()]
    days = {row["dt"] for row in rows if row["region"] == "us"}
    assert days == {"20260104"}
    stream = catalog.table("db.t", options=options).follow("latest", timeout=0)
    assert taken() == []


def test_records_that_are_no_whole_rows_are_not_streamed_from_a_chain_table() -> None:
    table = chains().table("db.t", options={"merge-engine": "partial-update"})
    with pytest.raises(UnsupportedFeatureError, match="chain table with 'merge-engine'"):
        table.follow(timeout=0)
