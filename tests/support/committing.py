"""Processes that commit to tables of catalogs at once, and what each of them reports.

`rounds` starts the processes: python -m support.committing TOLD NUMBER. The file TOLD holds the
rounds. In each of them a process waits for TOLD.TURN.go, commits values of its own, and writes
those that were reported as done and as failed to TOLD.TURN.NUMBER.done.

Some replies are lost on purpose. Where a catalog has a lock, the storage creates files in two steps
(`is_racy`), so that only the lock protects commits.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from paimon_explore import Catalog, Table
from paimon_explore.errors import CommitError, StorageError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.catalog_environment import CatalogEnvironment
from paimon_explore.store.version_management import VersionManagement
from support.faulty_file_io import FaultyFileIO

PATIENT = {
    "commit.max-retries": "1000",
    "commit.max-retry-wait": "200 ms",
    "commit.timeout": "10 min",
}
_TESTS = Path(__file__).parents[1]
_A_LONG_TIME = 600
_WINDOW_S = 0.1
"""Time between the two steps of a racy creation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What all processes do to one table.

    Attributes:
        options: of the catalog.
        table: its name.
        commits: how many of each process.
        compacts: whether they upsert, and compact after each upsert; else they append.
        lost: the share of lost replies.
    """

    options: Mapping[str, str]
    table: str
    commits: int
    compacts: bool = False
    lost: float = 0


Reported = tuple[Counter[int], Counter[int]]
"""Values that were reported as done, and as failed."""


def rounds(told: Path, plan: Sequence[Round], count: int) -> Iterator[tuple[Round, Reported]]:
    """Run so many processes; yields what they reported of each round."""
    told.write_text(json.dumps([asdict(one) for one in plan]), encoding="utf-8")
    path = os.pathsep.join([str(_TESTS), str(_TESTS.parent)])
    command = [sys.executable, "-m", "support.committing", str(told)]
    with ExitStack() as stack:
        processes = []
        for number in range(count):
            process = subprocess.Popen(  # noqa: S603 - our own
                [*command, str(number)], env={**os.environ, "PYTHONPATH": path}
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            processes.append(process)
        for turn, one in enumerate(plan):
            Path(f"{told}.{turn}.go").touch()
            yield one, _awaited(told, turn, processes)
        assert [process.wait(_A_LONG_TIME) for process in processes] == [0] * count


def _awaited(told: Path, turn: int, processes: Sequence["subprocess.Popen[bytes]"]) -> Reported:
    done: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for number, process in enumerate(processes):
        part = Path(f"{told}.{turn}.{number}.done")
        deadline = time.monotonic() + _A_LONG_TIME
        while not part.exists():
            assert process.poll() in (None, 0), f"process {number} ended"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        more, less = json.loads(part.read_text(encoding="utf-8"))
        done.update(more)
        failed.update(less)
    return done, failed


def check_appends(table: Table, reported: Reported, count: int) -> None:
    """All commits were reported as done; the table holds each once, and nothing else."""
    done, failed = reported
    assert not failed
    assert done == Counter(range(count))
    assert Counter(table.to_arrow().column("a").to_pylist()) == done
    assert table._store.snapshots.ids() == list(range(1, count + 1))
    assert table.maintenance.fsck() == []


@dataclass(slots=True, eq=False)
class LossyFileIO(FaultyFileIO):
    """A storage that loses replies to the creation of snapshot files.

    Attributes:
        lost: the share of lost replies.
        is_racy: whether a file is created in two steps, as on a store without conditional puts.
    """

    lost: float = 0
    is_racy: bool = False

    def create(self, path: str, data: bytes) -> bool:
        if "/snapshot-" not in path:
            return self.inner.create(path, data)
        created = self._in_two_steps(path, data) if self.is_racy else self.inner.create(path, data)
        if random.random() < self.lost:  # noqa: S311 - which replies are lost
            raise StorageError("create", path, "injected, after its effect")
        return created

    def _in_two_steps(self, path: str, data: bytes) -> bool:
        if self.inner.exists(path):
            return False
        time.sleep(_WINDOW_S)
        self.inner.replace(path, data)
        return True


def lossy(environment: CatalogEnvironment, lost: float) -> CatalogEnvironment:
    """The same catalog; where a server decides about commits, it loses replies to them."""
    if not isinstance(environment, VersionManagement):
        return environment
    kind: Any = type(environment)

    class Lossy(kind):  # type: ignore[misc]  # a class of the running catalog
        __slots__ = ()

        def commit_snapshot(self, branch: str, snapshot: Snapshot, *rest: object) -> bool:
            done: bool = super().commit_snapshot(branch, snapshot, *rest)
            if random.random() < lost:  # noqa: S311 - which replies are lost
                raise StorageError("commit", self.identifier, "injected, after its effect")
            return done

    values = {one.name: getattr(environment, one.name) for one in fields(kind)}
    made: CatalogEnvironment = Lossy(**values)
    return made


def with_losses(table: Table, lost: float) -> Table:
    """The table, with lost replies."""
    environment = table._store.environment
    has_lock = environment is not None and environment.lock() is not None
    is_local = "://" not in table.path
    file_io = LossyFileIO(table._store.file_io, lost=lost, is_racy=has_lock and is_local)
    changed = None if environment is None else lossy(environment, lost)
    return replace(table, _store=replace(table._store, file_io=file_io, environment=changed))


def main(told: str, number: int) -> None:
    """Commit in each round, as soon as its file is there."""
    plan = json.loads(Path(told).read_text(encoding="utf-8"))
    for turn, one in enumerate(Round(**given) for given in plan):
        table = Catalog(options=dict(one.options)).table(one.table)
        if one.lost:
            table = with_losses(table, one.lost)
        go = Path(f"{told}.{turn}.go")
        while not go.exists():
            time.sleep(0.005)
        found: tuple[list[int], list[int]] = [], []
        for value in range(number * one.commits, (number + 1) * one.commits):
            try:
                if one.compacts:
                    table.upsert([{"a": value, "b": value}, {"a": -1, "b": value}])
                    table.compact()
                else:
                    table.append([{"a": value}])
            except CommitError as error:
                sys.stderr.write(f"{value}: {error}\n")
                found[1].append(value)
            else:
                found[0].append(value)
        part = Path(f"{told}.{turn}.{number}.part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.rename(f"{told}.{turn}.{number}.done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
