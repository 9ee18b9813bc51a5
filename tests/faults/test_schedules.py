"""Committers, compactions, expiries and readers interleaved, operation by operation.

Whatever the order: a success that was reported is in the table exactly once, a failure left nothing
that can be seen, the rows are those of the commits one after the other, and checks find nothing.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, permutations
from uuid import uuid4

import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite
from paimon_explore.errors import (
    CommitConflictError,
    NotFoundError,
    PaimonError,
    SnapshotExpiredError,
)
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.metadata.options.table_options import DELETION_VECTORS_ENABLED, TableOptions
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget, abort
from support.acts import (
    LATER,
    OLD,
    QUIET,
    Given,
    Write,
    changes_rows,
    compacts,
    deletes,
    row,
    writes,
)
from support.cuts import rows_of, unaccounted
from support.depth import DEEP
from support.figures import Figures
from support.memory_files import copied_files, forget_files
from support.paused_file_io import PausedFileIO
from support.schedules import Pick, Schedule, at_random, few_switches, following
from support.table_kinds import PARTITIONS, TABLE_KINDS
from support.table_model import Counted, found_in

pytestmark = pytest.mark.usefixtures("single_reader_thread")
FIRST, SECOND, _ = PARTITIONS
Change = Callable[[Counted], Counted]
"""What a commit makes of the rows."""


def nothing(rows: Counted) -> Counted:
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one of the actors does.

    Attributes:
        run: does it, as a commit user of its own.
        change: what it does to the rows if it succeeds.
        may_fail: how it may fail.
        ties: whether others may write the same keys with the same sequence numbers: they were
            planned at the same time, and any of them may win, but always the same one.
    """

    run: Callable[[Table, str], Counted | None]
    change: Change = nothing
    may_fail: tuple[type[PaimonError], ...] = ()
    ties: bool = False


def committed(table: Table, user: str, write: Write, what: Overwrite | None = None) -> None:
    schema = table._store.schemas.latest()
    assert schema is not None
    committer = Committer(table._store, schema, commit_user=user, timing=QUIET)
    messages = write(table, schema)
    try:
        if what is None:
            committer.commit(messages, 1)
        else:
            committer.overwrite(messages, what, 1)
    except CommitConflictError:
        options = TableOptions(schema.options)
        abort(WriteTarget(store=table._store, schema=schema, options=options), messages)
        raise


def adds(*rows: dict[str, object]) -> Part:
    """Adds rows."""
    return Part(
        run=lambda table, user: committed(table, user, writes(list(rows))),
        change=lambda before: before + found_in(rows),
    )


def upserts(*rows: dict[str, object], may_fail: bool = False) -> Part:
    """Adds rows or replaces those of the same key."""
    keys = {(one["p"], one["k"]) for one in rows}

    def change(before: Counted) -> Counted:
        kept = {cells: n for cells, n in before.items() if _key(cells) not in keys}
        return Counter(kept) + found_in(rows)

    return Part(
        run=lambda table, user: committed(table, user, writes(list(rows))),
        change=change,
        may_fail=(CommitConflictError, SnapshotExpiredError) if may_fail else (),
        ties=not may_fail,
    )


def _key(cells: tuple[tuple[str, object], ...]) -> tuple[object, object]:
    named = dict(cells)
    return named["p"], named["k"]


def replaces(partition: str, *rows: dict[str, object]) -> Part:
    """Replaces the rows of a partition."""

    def change(before: Counted) -> Counted:
        kept = {cells: n for cells, n in before.items() if dict(cells)["p"] != partition}
        return Counter(kept) + found_in(rows)

    what = Overwrite(specs=({"p": partition},))
    return Part(
        run=lambda t, user: committed(t, user, writes(list(rows), replaces=True), what),
        change=change,
    )


COMPACTS = Part(
    run=lambda table, user: committed(table, user, compacts(full=True)),
    may_fail=(CommitConflictError, SnapshotExpiredError),
)


def _expire(table: Table, _: str) -> None:
    table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)


def deletes_rows(key: int) -> Part:
    """Deletes the rows of a key where they are."""

    def change(before: Counted) -> Counted:
        return Counter({cells: n for cells, n in before.items() if dict(cells)["k"] != key})

    work = deletes(f"k = {key}")
    return Part(
        run=lambda table, user: changes_rows(table, work, user),
        change=change,
        may_fail=(CommitConflictError,),
    )


MORE: Given = [row(FIRST, 1, 1, "again"), row(SECOND, 5, 5)]
REVEALS = replace(COMPACTS, change=lambda _: upserts(*MORE).change(found_in(OLD)))
"""A compaction that makes new rows visible."""
EXPIRES = Part(run=_expire)
READS = Part(run=lambda table, _: rows_of(table), may_fail=(SnapshotExpiredError, NotFoundError))
ONE, TWO = row(FIRST, 11, 1), row(FIRST, 12, 2)
SHARED = [row(FIRST, 1, 100, "one"), row(FIRST, 1, 200, "two")]

CASES: dict[str, tuple[str, tuple[Part, ...]]] = {
    "append, append": ("append", (adds(ONE), adds(TWO))),
    "append, append, append": ("append", (adds(ONE), adds(TWO), adds(row(SECOND, 13, 3)))),
    "append, compact": ("append", (adds(ONE), COMPACTS)),
    "compact, compact": ("append", (COMPACTS, COMPACTS)),
    "compact, compact, keyed": ("keyed", (COMPACTS, COMPACTS)),
    "compact, compact, append": ("append", (COMPACTS, COMPACTS, adds(ONE))),
    "compact, compact, vectors": ("vectors", (REVEALS, REVEALS)),
    "overwrite, append": ("append", (replaces(FIRST, ONE), adds(TWO))),
    "overwrite, overwrite, append": (
        "append",
        (replaces(FIRST, ONE), replaces(FIRST, TWO), adds(row(FIRST, 13, 3))),
    ),
    "overwrite, compact": ("keyed", (replaces(FIRST, ONE), COMPACTS)),
    "upsert, upsert": ("keyed", (upserts(SHARED[0], ONE), upserts(SHARED[1], TWO))),
    "upsert, upsert, compact": (
        "keyed",
        (upserts(SHARED[0], ONE), upserts(SHARED[1], TWO), COMPACTS),
    ),
    "upsert, upsert, dynamic": (
        "dynamic buckets",
        (upserts(ONE, may_fail=True), upserts(TWO, may_fail=True)),
    ),
    "delete, delete": ("append", (deletes_rows(1), deletes_rows(2))),
    "delete, delete, vectors": ("append, vectors", (deletes_rows(1), deletes_rows(2))),
    "delete, compact, vectors": ("append, vectors", (deletes_rows(1), COMPACTS)),
    "delete, append, compact": ("append", (deletes_rows(1), adds(ONE), COMPACTS)),
    "expire, read": ("append", (EXPIRES, READS)),
    "expire, read, keyed": ("keyed", (EXPIRES, READS)),
    "compact, expire": ("keyed", (COMPACTS, EXPIRES)),
    "append, expire": ("append", (adds(ONE), EXPIRES)),
    "append, compact, expire": ("append", (adds(ONE), COMPACTS, EXPIRES)),
    "upsert, compact, expire": (
        "dynamic buckets",
        (upserts(ONE, may_fail=True), COMPACTS, EXPIRES),
    ),
    "append, append, expire": ("append", (adds(ONE), adds(TWO), EXPIRES)),
    "overwrite, expire, read": ("append", (replaces(FIRST, ONE), EXPIRES, READS)),
    "compact, expire, read": ("keyed", (COMPACTS, EXPIRES, READS)),
    "expire, expire": ("append", (EXPIRES, EXPIRES)),
}


class Arena:
    """A table, and actors that work on copies of it in some order."""

    def __init__(self, kind: str, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.files = MemoryFileIO(str(uuid4()))
        given = TABLE_KINDS[kind]
        options = {**given.options, "write-only": "true"}
        self.table = replace(given, options=options).create(f"memory://{self.files.name}/wh")
        for rows in (OLD, MORE):
            (self.table.append if given.merge is None else self.table.upsert)(rows)
        self.before = rows_of(self.table)

    def run(self, pick: Pick) -> Schedule:
        """One schedule, checked."""
        files = copied_files(self.files)
        read: dict[int, Counted] = {}

        def actor(number: int) -> Callable[[Callable[[str], None]], None]:
            def act(wait: Callable[[str], None]) -> None:
                own = TableStore(PausedFileIO(files, wait), self.table._store.paths)
                rows = self.parts[number].run(replace(self.table, _store=own), f"user{number}")
                if rows is not None:
                    read[number] = rows

            return act

        schedule = Schedule([actor(number) for number in range(len(self.parts))], pick)
        errors = schedule.run()
        table = replace(self.table, _store=TableStore(files, self.table._store.paths))
        try:
            self.check(table, errors, list(read.values()))
        except AssertionError as error:
            error.add_note("\n".join(schedule.log))
            raise
        forget_files(files.name)
        return schedule

    def check(
        self, table: Table, errors: Sequence[BaseException | None], read: Sequence[Counted]
    ) -> None:
        """Successes are there once, failures are not, and the rows are those of the successes."""
        order: list[tuple[int, int]] = []
        for number, (part, error) in enumerate(zip(self.parts, errors, strict=True)):
            if error is not None and not isinstance(error, part.may_fail):
                raise AssertionError(f"actor {number} failed") from error
            own = [s.id for s in table._store.snapshots.list() if s.commit_user == f"user{number}"]
            assert len(own) <= (error is None), "committed twice, or failed but visible"
            order += [(snapshot_id, number) for snapshot_id in own]
            needs_snapshot = part.change is not nothing and part is not REVEALS
            if error is None and needs_snapshot and EXPIRES not in self.parts:
                assert own, "reported, but absent"
        states = [self.before]
        for _, number in sorted(order):
            states.append(self.parts[number].change(states[-1]))
        if EXPIRES in self.parts or any(part.ties for part in self.parts):
            done = [part for part, error in zip(self.parts, errors, strict=True) if error is None]
            self.check_some_order(table, done, read)
        else:
            assert rows_of(table) == states[-1]
            assert all(rows in states for rows in read)
        assert table.maintenance.fsck() == []
        assert unaccounted(table) == []
        rows = rows_of(table)
        table.compact()
        assert self.table.options.value(DELETION_VECTORS_ENABLED) or rows_of(table) == rows

    def check_some_order(self, table: Table, done: Sequence[Part], read: Sequence[Counted]) -> None:
        """Nobody knows the order: all reported changes are there, in one order or another."""
        changes = [part.change for part in done if part.change is not nothing]
        orders = [
            list(accumulate(order, _apply, initial=self.before)) for order in permutations(changes)
        ]
        assert rows_of(table) in [states[-1] for states in orders]
        assert all(any(rows in states for states in orders) for rows in read)


def _apply(rows: Counted, change: Change) -> Counted:
    return change(rows)


@pytest.mark.parametrize("name", CASES)
def test_any_order_of_operations_gives_what_some_order_of_commits_gives(
    name: str, figures: Figures
) -> None:
    kind, parts = CASES[name]
    arena = Arena(kind, parts)
    first, more = (200, 40) if DEEP else (5, 3)
    made = (
        sum(1 for _ in islice(few_switches(arena.run, 1), first)) if DEEP else _spread(arena, first)
    )
    for seed in range(more):
        arena.run(at_random(seed))
    forget_files(arena.files.name)
    figures.add("interleavings", made + more)


def _spread(arena: Arena, count: int) -> int:
    """Some schedules of one switch, spread over the operations."""
    done = arena.run(following([]))
    length = len([choice for choice, able in done.choices if len(able) > 1])
    for number in range(count):
        place = 1 + number * max(length - 1, 1) // count
        plan = [choice for choice, _ in done.choices[:place]]
        arena.run(following([*plan, len(arena.parts) - 1]))
    return count + 1
