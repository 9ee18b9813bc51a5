"""Commits of one of many processes to tables of catalogs; some replies are lost on purpose.

A plan is JSON: `rounds`, each with the `options` of a catalog and a `table`; the number of
`commits` of each process, and the share of `lost` replies. Where a catalog has a lock, the storage
creates files in two steps (`is_racy`), so that only the lock protects commits.
"""

import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from paimon_explore import Catalog, Table
from paimon_explore.errors import CommitError, StorageError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.catalog_environment import CatalogEnvironment
from paimon_explore.store.version_management import VersionManagement
from support.faulty_file_io import FaultyFileIO

_WINDOW_S = 0.1
"""Time between the two steps of a racy creation."""


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


def commit_some(table: Table, values: Sequence[int]) -> dict[str, list[int]]:
    """Append values, each in a commit of its own; returns those that were done and failed."""
    found: dict[str, list[int]] = {"done": [], "failed": []}
    for value in values:
        try:
            table.append([{"a": value}])
        except CommitError as error:
            sys.stderr.write(f"{value}: {error}\n")
            found["failed"].append(value)
        else:
            found["done"].append(value)
    return found


def main(told: str, number: int) -> None:
    """Commit in each round, as soon as its file is there."""
    plan = json.loads(Path(told).read_text(encoding="utf-8"))
    for turn, one in enumerate(plan["rounds"]):
        table = with_losses(Catalog(options=one["options"]).table(one["table"]), plan["lost"])
        go = Path(f"{told}.{turn}.go")
        while not go.exists():
            time.sleep(0.005)
        count = plan["commits"]
        found = commit_some(table, range(number * count, (number + 1) * count))
        part = Path(f"{told}.{turn}.{number}.part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.rename(f"{told}.{turn}.{number}.done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
