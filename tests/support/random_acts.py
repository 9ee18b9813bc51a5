"""One of many processes that do random acts on shared tables and remember what each must hold.

Every process owns some keys, and one partition, in every table: nobody else writes them, so that it
knows their rows whatever the others do. Before an act it stores the rows that the act leads to.
When the process is killed, or the storage does not tell the outcome, it reads the table: its rows
must be those before the act or those behind it, and nothing in between.
"""

import json
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    MissingFileError,
    NotFoundError,
    SnapshotExpiredError,
    StorageError,
)
from support.table_kinds import TABLE_KINDS, TableKind

Key = tuple[str, int]
Rows = dict[Key, int]
"""Values of the column `v` by partition and key."""

SHARED = ("shared-1", "shared-2")
KEYS = 12
_NO_EFFECT = (CommitConflictError, SnapshotExpiredError, NotFoundError)
"""A commit that lost to another one; a state or a tag that is gone."""
_UNKNOWN = (CommitOutcomeUnknownError, StorageError)
"""The store failed, or did not tell the outcome. A missing file is neither: it must be there."""
_TRIES = 60


class LostRowsError(AssertionError):
    """A table does not hold what was reported."""


def key_of(row: Mapping[str, object]) -> Key:
    """Partition and key of a row."""
    return str(row["p"]), int(str(row["k"]))


def rows_by_key(table: Table) -> Rows:
    """All rows of a table.

    Raises:
        LostRowsError: a key is there twice.
    """
    rows = table.to_arrow().to_pylist()
    twice = [key for key, count in Counter(map(key_of, rows)).items() if count > 1]
    if twice:
        raise LostRowsError(f"{table.path} holds keys twice: {twice}")
    return {key_of(row): int(row["v"]) for row in rows}


def settled(table: Table, kind: TableKind) -> Table:
    """The newest state, with rows that wait for a compaction made visible."""
    for _ in range(_TRIES if kind.waits else 0):
        try:
            table.compact()
        except (*_NO_EFFECT, *_UNKNOWN):
            time.sleep(0.05)
        else:
            return table
    return table


@dataclass(slots=True)
class Worker:
    """Does random acts until a file tells it to stop.

    Attributes:
        plan: the tables by name: location, storage options, kind.
        number: of this process.
        processes: how many there are.
        folder: where it keeps what it knows.
    """

    plan: Mapping[str, tuple[str, dict[str, str], str]]
    number: int
    processes: int
    folder: Path

    def run(self, stop: Path, chance: random.Random) -> None:
        """Recover from the last end, then act."""
        known = self._known()
        self._recover(known)
        while not stop.exists():
            name = chance.choice(list(self.plan))
            self._act(name, known, chance)

    @property
    def _file(self) -> Path:
        return self.folder / f"known-{self.number}.json"

    def _known(self) -> dict[str, Rows]:
        """The own rows by table."""
        return known_rows(self._file) if self._file.exists() else {name: {} for name in self.plan}

    def _store(self, known: Mapping[str, Rows], pending: tuple[str, Rows] | None = None) -> None:
        told = {
            "rows": {name: _listed(rows) for name, rows in known.items()},
            "pending": None if pending is None else [pending[0], _listed(pending[1])],
        }
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(told), encoding="utf-8")
        part.rename(self._file)

    def _recover(self, known: dict[str, Rows]) -> None:
        """Find out what became of an act in whose middle this process was killed."""
        if not self._file.exists():
            self._store(known)
            return
        pending = json.loads(self._file.read_text(encoding="utf-8"))["pending"]
        if pending is not None:
            self._resolve(pending[0], known, _unlisted(pending[1]), "killed")

    def _resolve(self, name: str, known: dict[str, Rows], after: Rows, why: str) -> None:
        found = self._own_rows(name)
        if found not in (known[name], after):
            raise LostRowsError(f"{name} after {why}: {found} is not {known[name]} nor {after}")
        known[name] = found
        self._store(known)
        self._count(f"resolved, {why}")

    def _own_rows(self, name: str) -> Rows:
        rows = self._all_rows(name)
        return {key: v for key, v in rows.items() if key[1] % self.processes == self.number}

    def _all_rows(self, name: str) -> Rows:
        for _ in range(_TRIES):
            try:
                return rows_by_key(settled(self._table(name), self._kind(name)))
            except MissingFileError:
                raise
            except (StorageError, SnapshotExpiredError):
                time.sleep(0.05)
        return rows_by_key(self._table(name))

    def _table(self, name: str) -> Table:
        location, options, _ = self.plan[name]
        return open_table(location, storage_options=options)

    def _kind(self, name: str) -> TableKind:
        return TABLE_KINDS[self.plan[name][2]]

    def _act(self, name: str, known: dict[str, Rows], chance: random.Random) -> None:
        kind = self._kind(name)
        acts = [write, write, *_OTHERS]
        acts += [delete, update, merge] if kind.merge is None or kind.deletes else []
        acts += [replace_partition, drop_partition]
        act = chance.choice(acts)
        after = dict(known[name])
        scope = Scope(kind=kind, rows=after, chance=chance, number=self.number, of=self.processes)
        work = act(scope)
        self._store(known, (name, after))
        what = act.__name__
        try:
            work(self._table(name))
        except MissingFileError as error:
            raise LostRowsError(f"{name}: {what} misses a file") from error
        except _NO_EFFECT as error:
            self._count(f"{what}: {type(error).__name__}")
            self._store(known)
        except _UNKNOWN as error:
            self._count(f"{what}: {type(error).__name__}")
            time.sleep(0.5)
            self._resolve(name, known, after, f"{what}, {error}")
        else:
            known[name] = after
            self._store(known)
            self._count(what)
        if chance.random() < 0.1:
            found = self._own_rows(name)
            if found != known[name]:
                raise LostRowsError(f"{name} after {what}: {found} is not {known[name]}")

    def _count(self, what: str) -> None:
        with (self.folder / f"counts-{self.number}.txt").open("a", encoding="utf-8") as file:
            file.write(what.splitlines()[0].replace("\t", " ")[:60] + "\n")


def known_rows(file: Path) -> dict[str, Rows]:
    """The rows that a process knows of, by table."""
    told = json.loads(file.read_text(encoding="utf-8"))
    return {name: _unlisted(rows) for name, rows in told["rows"].items()}


def _listed(rows: Rows) -> list[tuple[str, int, int]]:
    return [(p, k, v) for (p, k), v in rows.items()]


def _unlisted(rows: list[tuple[str, int, int]]) -> Rows:
    return {(p, k): v for p, k, v in rows}


@dataclass(frozen=True, slots=True)
class Scope:
    """What an act may touch: it changes `rows` to what they are behind it.

    Attributes:
        kind: of the table.
        rows: the own rows.
        chance: chooses.
        number: of the process.
        of: how many processes there are.
    """

    kind: TableKind
    rows: Rows
    chance: random.Random
    number: int
    of: int

    @property
    def own(self) -> str:
        """The partition that only this process writes."""
        return f"own-{self.number}"

    def key(self) -> Key:
        """Any own key."""
        k = self.number + self.of * self.chance.randrange(KEYS)
        return self.chance.choice([*SHARED, self.own]), k

    def value(self) -> int:
        """A value that hardly comes twice."""
        return self.chance.randrange(1, 10**6)

    def put(self, key: Key, value: int) -> dict[str, object]:
        """Write a row as this kind of table does, and give it."""
        before = self.rows.get(key)
        sums = "fields.v.aggregate-function" in self.kind.options
        self.rows[key] = value + before if sums and before is not None else value
        return {"p": key[0], "k": key[1], "v": value, "w": "w" * (value % 50)}


Work = Callable[[Table], object]


def write(scope: Scope) -> Work:
    keys = {scope.key() for _ in range(scope.chance.randrange(1, 5))}
    if scope.kind.merge is None:
        keys -= set(scope.rows)
    rows = [scope.put(key, scope.value()) for key in sorted(keys)]
    return lambda table: (table.append if scope.kind.merge is None else table.upsert)(rows)


def delete(scope: Scope) -> Work:
    p, k = scope.key()
    scope.rows.pop((p, k), None)
    return lambda table: table.delete(f"p = '{p}' AND k = {k}")


def update(scope: Scope) -> Work:
    (p, k), value = scope.key(), scope.value()
    if (p, k) in scope.rows:
        scope.rows[p, k] = value
    return lambda table: table.update({"v": value}, f"p = '{p}' AND k = {k}")


def merge(scope: Scope) -> Work:
    rows = [scope.put(key, scope.value()) for key in sorted({scope.key(), scope.key()})]
    return lambda table: (
        table.merge(rows, on=["p", "k"])
        .when_matched_update({"v": "source.v"})
        .when_not_matched_insert_all()
        .execute()
    )


def replace_partition(scope: Scope) -> Work:
    for key in [key for key in scope.rows if key[0] == scope.own]:
        del scope.rows[key]
    keys = {scope.number + scope.of * scope.chance.randrange(KEYS) for _ in range(3)}
    rows = [scope.put((scope.own, k), scope.value()) for k in sorted(keys)]
    return lambda table: table.overwrite(rows, partition={"p": scope.own})


def drop_partition(scope: Scope) -> Work:
    for key in [key for key in scope.rows if key[0] == scope.own]:
        del scope.rows[key]
    return lambda table: table.drop_partitions({"p": scope.own})


def compact(_: Scope) -> Work:
    return lambda table: table.compact()


def expire(_: Scope) -> Work:
    return lambda table: table.maintenance.expire_snapshots(
        retain_min=2, retain_max=6, older_than=timedelta(seconds=1)
    )


def remove_orphans(_: Scope) -> Work:
    return lambda table: table.maintenance.remove_orphan_files(
        older_than=timedelta(minutes=5), dry_run=False
    )


def tag(scope: Scope) -> Work:
    name = f"tag-{scope.number}-{scope.chance.randrange(3)}"

    def work(table: Table) -> None:
        if name not in table.tags:
            table.create_tag(name)

    return work


def untag(scope: Scope) -> Work:
    name = f"tag-{scope.number}-{scope.chance.randrange(3)}"
    return lambda table: table.delete_tag(name)


def read_tag(scope: Scope) -> Work:
    name = f"tag-{scope.number}-{scope.chance.randrange(3)}"
    return lambda table: rows_by_key(table.at(tag=name))


def read(_: Scope) -> Work:
    return rows_by_key


_OTHERS = (compact, compact, expire, remove_orphans, tag, untag, read_tag, read)


def main(told: str, number: int, processes: int) -> None:
    """Act by a plan until the file `stop` beside it exists."""
    warnings.simplefilter("ignore")
    plan = json.loads(Path(told).read_text(encoding="utf-8"))
    folder = Path(told).parent
    worker = Worker(plan=plan, number=number, processes=processes, folder=folder)
    worker.run(folder / "stop", random.Random(time.time_ns()))  # noqa: S311 - no secret


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
