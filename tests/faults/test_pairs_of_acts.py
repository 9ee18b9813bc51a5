"""Every act beside every other act: one stops before an operation, the other is done wholly there.

Afterwards the table is sound, nothing it refers to is missing, and its rows, tags and branches are
those of the two acts one after the other, or of the one that succeeded. Removing orphan files then
removes nothing of it. By default some pairs of each kind of table, by a fixed seed; a deep run
takes all pairs, each at some of the operations before and after changes and of the others.
"""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from itertools import islice, product

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    AlreadyExistsError,
    CommitConflictError,
    CommitOutcomeUnknownError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    SnapshotExpiredError,
    StreamError,
)
from paimon_explore.maintenance.references.auto_tags import create_auto_tags
from paimon_explore.maintenance.rewrites.table_copy import copy_files
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.table_base import write_target
from support.cuts import rows_of
from support.depth import DEEP
from support.figures import Figures
from support.memory_files import forget_manifests
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA
from support.table_model import Counted
from support.two_jobs import Job, TwoJobs

pytestmark = pytest.mark.usefixtures("single_reader_thread")

COUNT, PLACES = 5, 3
"""Pairs of acts on each kind of table that a short run takes, and places of each in a deep run."""
OLD, KEPT, NEW = "2024-01-01", "2999-01-01", "2999-01-02"
LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
EXPECTED = (
    *(AlreadyExistsError, CommitConflictError, CommitOutcomeUnknownError, InvalidInputError),
    *(NotFoundError, SnapshotExpiredError, StreamError),
)
"""The errors of an act that another one has overtaken."""
_EAGER = {"num-sorted-run.compaction-trigger": "2", "compaction.min.file-num": "2"}
_VECTORS = {"deletion-vectors.enabled": "true"}
KINDS: Mapping[str, Mapping[str, str]] = {
    "append": {},
    "append, vectors": _VECTORS,
    "append, evolving": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    "fixed, input": {"bucket": "2", "bucket-key": "k", "changelog-producer": "input"},
    "fixed, lookup": {
        "bucket": "1",
        "changelog-producer": "lookup",
        "changelog.num-retained.min": "20",
        "changelog.num-retained.max": "30",
    },
    "fixed, vectors": {"bucket": "1", **_VECTORS},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "4"},
    "postponed": {"bucket": "-2"},
}
State = dict[tuple[str, str], Counted]
"""Rows of the table, of its tags and of its branches."""


def row(partition: str, key: int, value: int) -> dict[str, object]:
    return {"p": partition, "k": key, "v": value, "w": f"{key} {value}"}


@cache
def created(kind: str) -> Table:
    """Five commits and more; a tag of the first begins a branch; a stream is at the third."""
    key = [] if kind.startswith("append") else ["p", "k"]
    waitless = {"commit.min-retry-wait": "0 ms", "commit.max-retry-wait": "0 ms"}
    options = {**waitless, **KINDS[kind], "write-only": "true", "manifest.merge-min-count": "3"}
    catalog = new_catalog()
    source, table = (
        catalog.create_table(name, SCHEMA, primary_key=key, partition_by=["p"], options=options)
        for name in ("db.s", "db.t")
    )
    source.append([row(OLD, 1, 1000), row(NEW, 77, 77)])
    table.append([row(OLD, 1, 1), row(OLD, 2, 2), row(KEPT, 3, 3), row(KEPT, 4, 4)])
    if kind == "postponed":
        table.compact()
    table.create_tag("one")
    table.create_branch("side", "one")
    on_side(table).append([row(KEPT, 50, 50)])
    table.append([row(OLD, 5, 5), row(KEPT, 3, 33)])
    table.create_tag("two")
    table.compact()
    table.append([row(KEPT, 6, 6), row(KEPT, 4, 44)])
    if kind == "postponed":
        table.compact()
    table._store.consumers.save("c", Consumer(next_snapshot=3))
    return open_table(table.path)


def on_side(table: Table) -> Table:
    return replace(table, _store=table._store.for_branch("side"))


def given(table: Table, **options: str) -> Table:
    named = {name.replace("__", ".").replace("_", "-"): text for name, text in options.items()}
    return replace(table, _dynamic_options={**table._dynamic_options, **named})


def _expire(table: Table) -> None:
    free = given(table, consumer__changelog_only="true")
    free.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than=LATER)


def _merge(table: Table) -> None:
    merge = table.merge([row(KEPT, 3, 700), row(KEPT, 150, 1)], on="k")
    merge.when_matched_update({"v": "target.v + source.v"}).when_not_matched_insert().execute()


def _transaction(table: Table) -> None:
    with table.transaction() as tx:
        tx.append([row(KEPT, 180, 1)])
        tx.delete("k = 3")


def _copy(table: Table) -> None:
    paths = TablePaths(f"{table.path.removesuffix('t')}s")
    source = replace(table, _store=TableStore(table._store.file_io, paths))
    copy_files(write_target(source, replaces=False), write_target(table, replaces=False), None)


def _auto_tags(table: Table) -> None:
    daily = given(table, tag__automatic_creation="process-time", tag__num_retained_max="1")
    create_auto_tags(daily._store, daily.options)


def _follow(table: Table) -> None:
    for _ in table.follow(3, consumer="c", timeout=0):
        pass


ACTS: Mapping[str, Callable[[Table, int], object]] = {
    "append": lambda t, n: t.append([row(KEPT, 3, 300 + n), row(OLD, 200 + n, n)]),
    "append, compact": lambda t, n: replace(
        t, _dynamic_options={**_EAGER, "write-only": "false"}
    ).append([row(KEPT, 3, 400 + n), row(KEPT, 110 + n, n)]),
    "overwrite": lambda t, n: t.overwrite([row(KEPT, 3, 500 + n)], {"p": KEPT}),
    "overwrite partitions": lambda t, n: t.overwrite([row(KEPT, 3, 600 + n), row(NEW, 1, n)]),
    "delete": lambda t, _: t.delete("k in (3, 5)"),
    "update": lambda t, n: t.update({"v": f"v + {1000 + n}"}, "k in (4, 6)"),
    "merge": lambda t, _: _merge(t),
    "transaction": lambda t, _: _transaction(t),
    "truncate": lambda t, _: t.truncate(),
    "drop a partition": lambda t, _: t.drop_partitions({"p": OLD}),
    "compact": lambda t, _: t.compact(),
    "compact a little": lambda t, _: replace(t, _dynamic_options=_EAGER).compact(full=False),
    "sort": lambda t, _: t.compact(strategy="zorder", columns=["v", "k"]),
    "rescale": lambda t, n: t.maintenance.rescale(3 + n),
    "add a column": lambda t, n: t.add_column(f"x{n}", "INT"),
    "rename a column": lambda t, n: t.rename_column("w", f"w{n}"),
    "drop a column": lambda t, _: t.drop_column("w"),
    "change a type": lambda t, _: t.alter_column_type("v", "BIGINT"),
    "set an option": lambda t, n: t.set_options({"snapshot.num-retained.min": str(3 + n)}),
    "create a tag": lambda t, n: t.create_tag(f"t{n}"),
    "tag an old snapshot": lambda t, n: t.create_tag(f"o{n}", 2),
    "delete a tag": lambda t, _: t.delete_tag("two"),
    "rename a tag": lambda t, n: t.maintenance.rename_tag("two", f"r{n}"),
    "replace a tag": lambda t, _: t.maintenance.replace_tag("two", 4),
    "tag by time": lambda t, _: _auto_tags(t),
    "expire tags": lambda t, _: t.maintenance.expire_tags(older_than=LATER),
    "create the same branch": lambda t, n: t.create_branch("same", ("one", "two", None)[n]),
    "create a branch": lambda t, n: t.create_branch(f"b{n}", "two"),
    "delete a branch": lambda t, _: t.delete_branch("side"),
    "rename a branch": lambda t, n: t.maintenance.rename_branch("side", f"s{n}"),
    "write to a branch": lambda t, n: on_side(t).append([row(KEPT, 170 + n, n)]),
    "expire in a branch": lambda t, _: _expire(on_side(t)),
    "fast-forward": lambda t, _: t.fast_forward("side"),
    "merge a branch": lambda t, _: t.maintenance.merge_branch("side"),
    "roll back": lambda t, _: t.rollback_to(snapshot=2),
    "roll back to a tag": lambda t, _: t.rollback_to(tag="one"),
    "expire": lambda t, _: _expire(t),
    "expire changelogs": lambda t, _: t.maintenance.expire_changelogs(
        retain_max=1, retain_min=1, older_than=LATER
    ),
    "expire partitions": lambda t, _: t.maintenance.expire_partitions(timedelta(days=30)),
    "remove orphans": lambda t, _: t.maintenance.remove_orphan_files(dry_run=False),
    "purge": lambda t, _: t.maintenance.purge_files(dry_run=False),
    "rewrite indexes": lambda t, _: given(
        t, file_index__bloom_filter__columns="v"
    ).maintenance.rewrite_file_index(),
    "create a global index": lambda t, _: t.maintenance.create_global_index("v"),
    "drop a global index": lambda t, _: t.maintenance.drop_global_index("v"),
    "copy": lambda t, _: _copy(t),
    "analyze": lambda t, _: t.maintenance.analyze(),
    "follow": lambda t, _: _follow(t),
    "reset a consumer": lambda t, n: t.maintenance.consumers.reset("c", 4 + n),
}
_MOVES = frozenset({"fast-forward", "roll back", "roll back to a tag"})
"""Acts during which main is at another snapshot."""
SURE = (
    ("write to a branch", "delete a branch"),
    ("write to a branch", "rename a branch"),
    ("write to a branch", "purge"),
    ("create the same branch", "create the same branch"),
    ("roll back", "purge"),
    ("roll back", "roll back to a tag"),
    ("transaction", "purge"),
)
"""Pairs in which something was lost once; a short run takes every third place, on one kind."""


def is_walked(first: str, second: str) -> bool:
    """Whether a pair is promised to be safe.

    A branch must not be purged while main is fast-forwarded to it. A rollback within a purge brings
    rows back.
    """
    if {first, second} == {"purge", "fast-forward"}:
        return False
    return not (first == "purge" and second in _MOVES)


def job(act: str, number: int) -> Job:
    return lambda table: ACTS[act](table, number)


@cache
def takes(kind: str, act: str) -> bool:
    """Whether a kind of table takes an act."""
    with TwoJobs(created(kind), (job(act, 0), job(act, 1))).copied() as table:
        try:
            ACTS[act](table, 0)
        except PaimonError:
            return False
    return True


def state_of(table: Table) -> State:
    """What readers see."""
    branches = ["main", *table._store.branches.names()]
    stores = {name: table._store.for_branch(name) for name in branches}
    views = {("branch", name): replace(table, _store=store) for name, store in stores.items()}
    views |= {("tag", name): table.at(tag=name) for name in table._store.tags.names()}
    return {what: rows_of(view) for what, view in views.items()}


def in_order(both: TwoJobs, order: tuple[int, ...]) -> State:
    """The state after some of the jobs, one after the other; those that fail have done nothing."""
    with both.copied() as table:
        for number in order:
            with suppress(PaimonError):
                both.jobs[number](table)
        return state_of(table)


def check(both: TwoJobs, table: Table, errors: list[BaseException | None]) -> None:
    for error in errors:
        assert error is None or isinstance(error, EXPECTED), repr(error)
    done = tuple(number for number in (0, 1) if errors[number] is None)
    possible = [in_order(both, order) for order in {(0, 1), (1, 0), done}]
    forget_manifests()
    found = state_of(table)
    assert any(found.keys() >= state.keys() for state in possible)
    for what, rows in found.items():
        known = [state[what] for state in possible if what in state]
        assert rows in known or not known, what
    assert table.maintenance.fsck(read_rows=True, cross_check_records=0) == []
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    forget_manifests()
    assert state_of(table) == found
    assert table.maintenance.fsck(read_rows=True, cross_check_records=0) == []


def places(log: list[str]) -> list[int]:
    """Before and after each change, and twelve others."""
    reads = ("read", "read_range", "open", "status", "exists", "list", "walk")
    changes = {at for at, told in enumerate(log) if told.split()[0] not in reads}
    near = {at for change in changes for at in (change, change + 1) if at < len(log)}
    others = [at for at in range(len(log)) if at not in near]
    return sorted(near | set(others[:: max(1, len(others) // 12)]))


@pytest.mark.parametrize("kind", KINDS)
def test_an_act_in_the_middle_of_another_one(kind: str, figures: Figures) -> None:
    chance = random.Random(kind)  # noqa: S311 - no secret
    pairs = [pair for pair in product(ACTS, ACTS) if is_walked(*pair)]
    chance.shuffle(pairs)
    able = (acts for acts in pairs if all(takes(kind, act) for act in acts))
    count = PLACES if DEEP else 1
    for acts in islice(able, None if DEEP else COUNT):
        walked = walk(kind, acts, lambda able: chance.sample(able, min(count, len(able))))
        figures.add("interleavings of two of all acts", walked)


@pytest.mark.parametrize("acts", SURE)
def test_acts_that_once_lost_something(acts: tuple[str, str]) -> None:
    walk("append", acts, lambda able: able[:: 1 if DEEP else 3])


def walk(kind: str, acts: tuple[str, str], chosen: Callable[[list[int]], list[int]]) -> int:
    """Do the second act at some of the operations of the first one; how many."""
    both = TwoJobs(created(kind), (job(acts[0], 0), job(acts[1], 1)))
    logs = both.operations()
    ats = chosen(places(logs[0]))
    for at in ats:
        with both.interleaved(((0, at + 1), (1, 9 * len(logs[1])))) as (table, errors):
            try:
                check(both, table, errors)
            except BaseException as error:
                error.add_note(f"{kind}: {acts}, {logs[0][at]}")
                raise
    return len(ats)
