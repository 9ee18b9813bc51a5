"""What a table asks of its catalog, with a catalog in memory."""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from paimon_explore.errors import StorageError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.partition_statistics import PartitionStatistics
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metastore.metastore import TableInfo
from paimon_explore.store.snapshots import Snapshots
from paimon_explore.table.table import Table, open_stored_table
from support.small_tables import columns, new_catalog

COLUMNS = columns(id=pa.int32(), dt=pa.string())


@dataclass
class MemoryEnvironment:
    """A catalog that keeps snapshots in memory, or one with a lock."""

    root: str
    file_io: FileIO
    supports_version_management: bool = True
    latest: dict[str, Snapshot] = field(default_factory=dict)
    statistics: list[PartitionStatistics] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    schemas: list[tuple[str, int]] = field(default_factory=list)
    identifier: str = "db.t"
    uuid: str | None = "u-1"

    def latest_snapshot(self, branch: str) -> Snapshot | None:
        return self.latest.get(branch)

    def commit_snapshot(
        self, branch: str, snapshot: Snapshot, statistics: Sequence[PartitionStatistics]
    ) -> bool:
        known = self.latest.get(branch)
        if (0 if known is None else known.id) != snapshot.id - 1:
            return False
        loss = self.losses.pop() if self.losses else ""
        if loss == "request":
            raise StorageError("commit", "db.t", "the connection was lost")
        paths = TablePaths(self.root, branch)
        assert Snapshots(self.file_io, paths).create(snapshot)
        self.latest[branch] = snapshot
        self.statistics = list(statistics)
        if loss == "reply":
            raise StorageError("commit", "db.t", "the connection was lost")
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.held.append("take")
        yield
        self.held.append("release")

    def lock(self) -> AbstractContextManager[None] | None:
        return None if self.supports_version_management else self._locked()

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        del branch, changes
        return None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        self.schemas.append((branch, schema.id))


def opened(*, manages: bool, partition_by: Sequence[str] = ()) -> tuple[Table, MemoryEnvironment]:
    made = new_catalog().create_table("db.t", COLUMNS, partition_by=partition_by)
    environment = MemoryEnvironment(made.path, made.store.file_io, manages)
    info = TableInfo(path=made.path, file_io=made.store.file_io, environment=environment)
    return open_stored_table(info.file_io, info.path, info=info), environment


def test_a_catalog_that_decides_about_commits_is_asked_for_the_latest_snapshot() -> None:
    table, environment = opened(manages=True)
    table.append([{"id": 1, "dt": "a"}])
    table.append([{"id": 2, "dt": "a"}])
    assert environment.latest["main"].id == 2
    assert table.count() == 2
    environment.latest["main"] = table.snapshots[1]
    assert table.count() == 1
    assert table.snapshot == table.snapshots[1]
    assert table.store.snapshots.latest_id() == 1


def test_the_catalog_is_told_what_each_partition_gains_and_loses() -> None:
    table, environment = opened(manages=True, partition_by=["dt"])
    table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}, {"id": 3, "dt": "b"}])
    added = {one.spec["dt"]: one for one in environment.statistics}
    assert {dt: (one.record_count, one.file_count) for dt, one in added.items()} == {
        "a": (1, 1),
        "b": (2, 1),
    }
    assert all(one.last_file_creation_time > 1_700_000_000_000 for one in added.values())
    table.drop_partitions({"dt": "b"})
    (removed,) = environment.statistics
    assert (removed.spec, removed.record_count, removed.file_count) == ({"dt": "b"}, -2, -1)
    assert removed.file_size_in_bytes == -added["b"].file_size_in_bytes


@pytest.mark.parametrize("loss", ["request", "reply"])
def test_a_commit_whose_reply_is_lost_takes_effect_once(loss: str) -> None:
    table, environment = opened(manages=True)
    table.append([{"id": 1, "dt": "a"}])
    environment.losses = [loss]
    snapshot = table.append([{"id": 2, "dt": "a"}])
    assert snapshot is not None
    assert snapshot.id == 2
    assert table.to_arrow().sort_by("id").column("id").to_pylist() == [1, 2]


def test_the_lock_is_held_while_snapshots_and_schemas_are_created() -> None:
    table, environment = opened(manages=False)
    table.append([{"id": 1, "dt": "a"}])
    assert environment.held == ["take", "release"]
    table.add_column("x", "INT")
    assert environment.held == ["take", "release"] * 2
    assert environment.schemas == [("main", 1)]


def test_a_branch_keeps_the_environment_and_pickles() -> None:
    table, _ = opened(manages=False)
    table.append([{"id": 1, "dt": "a"}])
    table.create_tag("one")
    table.create_branch("draft", "one")
    store = table.store.for_branch("draft")
    assert pickle.loads(pickle.dumps(store)).environment == store.environment  # noqa: S301 - our own
    assert table.name == "db.t"
