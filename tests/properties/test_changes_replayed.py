"""Changes give the rows of a table: replayed onto the rows at a snapshot, those at a later one.

Some kinds of tables, everything that can be done to them, pairs of snapshots. The
deep run, of all kinds and every pair, is that of `HYPOTHESIS_PROFILE=deep`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from types import MappingProxyType

import pytest

from paimon_explore import Table
from paimon_explore.errors import NotFoundError, PaimonError, SnapshotExpiredError
from paimon_explore.spark.stream_source import (
    PaimonStreamReader,
    StreamLimits,
    stream_schema,
)
from support.depth import DEEP, some
from support.figures import Figures
from support.replayed_kinds import APPEND, KEYED, KINDS
from support.replaying import LATER, Change, act, replayed, state_at


def of_changes(table: Table, start: int, end: int, where: str | None = None) -> list[Change]:
    found = table.changes(start + 1, end, where=where)
    return [row for change in found for row in change.rows.to_pylist()]


def of_between(table: Table, start: int | str, end: int | str, where: str | None) -> list[Change]:
    return [*table.between(start, end, row_kinds=True, where=where).to_arrow().to_pylist()]


def pairs_of(ids: Sequence[int], random: Random) -> list[tuple[int, int]]:
    """Pairs of points: all of them in a deep run, else the ends and some."""
    pairs = list(combinations(ids, 2))
    if DEEP or len(pairs) < 5:
        return pairs
    return [(ids[0], ids[-1]), *random.sample(pairs, 4)]


def check_table(table: Table, random: Random) -> int:
    """Both doors, between pairs of snapshots; how many there were."""
    keys = table.schema.primary_keys
    ids = [0, *table._store.snapshots.ids()]
    filters = (None, random.choice(["v > 4", "k > 2", "p = 'a'", "w IS NULL AND p <> 'b'"]))
    count = 0
    for where in filters:
        states = {number: state_at(table, number, where) for number in ids}
        for start, end in pairs_of(ids, random):
            told = of_changes(table, start, end, where)
            found = replayed(states[start], told, keys)
            assert found == states[end], f"changes from {start} to {end} where {where}"
            told = of_between(table, start, end, where)
            found = replayed(states[start], told, keys)
            assert found == states[end], f"between {start} and {end} where {where}"
            assert len(told) <= (states[start] + states[end]).total()
            count += 1
    return count


def with_history(
    name: str,
    seed: int,
    steps: int,
    check: Callable[[Table, Random], int],
    options: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Check a table after random acts; errors tell these."""
    random = Random(f"{name} {seed}")  # noqa: S311 - of a test
    kind = KINDS[name]
    table = replace(kind, options={**kind.options, **options}).create()
    acts = [act(table, random) for _ in range(steps)]
    try:
        return check(table, random)
    except (AssertionError, PaimonError) as error:
        commits = [f"{s.id} {s.commit_kind.value}" for s in table.snapshots]
        error.add_note(f"seed {seed}: {acts}\n{commits}")
        raise


@pytest.mark.parametrize("name", [*some(APPEND, 2), *some(KEYED, 23)])
def test_changes_replayed_give_the_rows(name: str, figures: Figures) -> None:
    for seed in range(8 if DEEP else 1):
        count = with_history(name, seed, 9 if DEEP else 7, check_table)
        figures.add("pairs of snapshots whose changes were replayed", count)


def streamed(table: Table, start: int, end: int) -> list[list[Change]]:
    """What the tasks of one batch of a Spark stream give, with row kinds."""
    scan = table.scan()
    reader = PaimonStreamReader(scan, stream_schema(scan, kinds=True), 2, StreamLimits())
    parts = reader.partitions(
        {"snapshot": start, "whole": False}, {"snapshot": end, "whole": False}
    )
    return [
        [
            {"rowkind": row["_row_kind"], **{name: row[name] for name in scan.columns}}
            for batch in reader.read(part)
            for row in batch.to_pylist()
        ]
        for part in parts
    ]


def check_stream(table: Table, random: Random) -> int:
    """A batch of the Spark source, its tasks in any order."""
    keys = table.schema.primary_keys
    ids = [0, *table._store.snapshots.ids()]
    pairs = pairs_of(ids, random)
    for start, end in pairs:
        before, after = state_at(table, start), state_at(table, end)
        tasks = streamed(table, start, end)
        if keys:
            random.shuffle(tasks)
        told = [change for task in tasks for change in task]
        if not keys:  # taken away after it was added
            told.sort(key=lambda change: str(change["rowkind"]))
        assert replayed(before, told, keys) == after, f"stream from {start} to {end}"
    return len(pairs)


@pytest.mark.parametrize("name", [*some(APPEND, 3), *some(KEYED, 41)])
def test_streams_of_spark_replayed_give_the_rows(name: str, figures: Figures) -> None:
    for seed in range(4 if DEEP else 1):
        count = with_history(name, 100 + seed, 7, check_stream)
        figures.add("pairs of snapshots whose changes were streamed", count)


def check_expiry(table: Table, random: Random) -> int:
    """Changes after an expiry: they give the rows, or the commit that cannot be told is named."""
    keys = table.schema.primary_keys
    states = {number: state_at(table, number) for number in [0, *table._store.snapshots.ids()]}
    last, count = max(states), 0
    table.maintenance.expire_snapshots(retain_max=random.randint(1, 4), older_than=LATER)
    kept = table._store.snapshots.ids()
    for start in range(last):
        try:
            told = of_changes(table, start, last)
        except (NotFoundError, SnapshotExpiredError):
            assert start < kept[0], f"nothing has expired that the changes from {start} need"
            continue
        count += 1
        assert replayed(states[start], told, keys) == states[last], f"changes {start} to {last}"
    changes = list(table.changes())
    told = [row for change in changes for row in change.rows.to_pylist()]
    begun = changes[0].snapshot.id - 1 if changes else last
    assert replayed(states[begun], told, keys) == states[last], "changes from the first told"
    return count + 1


LOGS = {
    "changelog.num-retained.min": "1",
    "changelog.num-retained.max": "1000",
    "changelog.time-retained": "9999 d",
}
"""Changelogs outlive their snapshots."""


@pytest.mark.parametrize("name", [*some(APPEND, 6), *some(KEYED, 61)])
def test_changes_after_an_expiry_give_the_rows_or_are_refused(name: str, figures: Figures) -> None:
    for seed in range(6 if DEEP else 1):
        for options in ({}, LOGS):
            count = with_history(name, 200 + seed, 7, check_expiry, options)
            figures.add("ranges replayed after an expiry", count)
