"""What a table asks of its catalog, with a catalog in memory."""

import pickle
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pyarrow as pa
import pytest

from paimon_explore.errors import AccessDeniedError, StorageError, UnsupportedFeatureError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metadata.tag import Tag
from paimon_explore.metastore.catalog_values import TableInfo
from paimon_explore.store.references import Tags
from paimon_explore.store.snapshots import Snapshots
from paimon_explore.store.version_management import PartitionStatistics, VersionManagement
from paimon_explore.table.table import Table, open_stored_table
from support.small_tables import columns, new_catalog

COLUMNS = columns(id=pa.int32(), dt=pa.string())


@dataclass
class MemoryEnvironment:
    """A catalog with a lock."""

    root: str
    file_io: FileIO
    held: list[str] = field(default_factory=list)
    schemas: list[tuple[str, int]] = field(default_factory=list)
    identifier: str = "db.t"
    uuid: str | None = "u-1"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.held.append("take")
        yield
        self.held.append("release")

    def lock(self) -> AbstractContextManager[None] | None:
        return self._locked()

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        del branch, changes
        return None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        self.schemas.append((branch, schema.id))


@dataclass
class ServerEnvironment(MemoryEnvironment, VersionManagement):
    """A catalog that keeps snapshots in memory."""

    latest: dict[str, Snapshot] = field(default_factory=dict)
    statistics: list[PartitionStatistics] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    acts: list[tuple[object, ...]] = field(default_factory=list)

    def lock(self) -> None:
        return None

    def latest_snapshot(self, branch: str) -> Snapshot | None:
        return self.latest.get(branch)

    def commit_snapshot(
        self,
        branch: str,
        snapshot: Snapshot,
        statistics: Sequence[PartitionStatistics],
        base_uuid: str | None = None,
    ) -> bool:
        known = self.latest.get(branch)
        if (None if known is None else known.uuid) != base_uuid:
            return False
        loss = self.losses.pop() if self.losses else ""
        if loss == "request":
            raise StorageError("commit", "db.t", "the connection was lost")
        if loss == "refused":
            raise AccessDeniedError("commit", "db.t", "the token has expired")
        paths = TablePaths(self.root, branch)
        assert Snapshots(self.file_io, paths).create(snapshot)
        self.latest[branch] = snapshot
        self.statistics = list(statistics)
        if loss == "reply":
            raise StorageError("commit", "db.t", "the connection was lost")
        return True

    def create_tag(
        self, branch: str, name: str, snapshot_id: int | None, time_retained_millis: int | None
    ) -> None:
        self.acts.append(("create_tag", branch, name, snapshot_id, time_retained_millis))
        Tags(self.file_io, TablePaths(self.root, branch)).create(
            Tag(name=name, snapshot=self.latest[branch])
        )

    def delete_tag(self, branch: str, name: str) -> None:
        self.acts.append(("delete_tag", branch, name))

    def create_branch(self, name: str, tag: str | None) -> None:
        self.acts.append(("create_branch", name, tag))
        self.file_io.make_folder(TablePaths(self.root).branch_dir(name))

    def delete_branch(self, name: str) -> None:
        self.acts.append(("delete_branch", name))

    def fast_forward(self, name: str) -> None:
        self.acts.append(("fast_forward", name))

    def rollback_to_snapshot(self, branch: str, snapshot_id: int) -> None:
        self.acts.append(("rollback_to_snapshot", branch, snapshot_id))

    def rollback_to_tag(self, branch: str, name: str) -> None:
        self.acts.append(("rollback_to_tag", branch, name))

    def rollback_schema(self, branch: str, schema_id: int) -> None:
        self.acts.append(("rollback_schema", branch, schema_id))


def opened_in(environment: MemoryEnvironment) -> Table:
    info = TableInfo(path=environment.root, file_io=environment.file_io, environment=environment)
    return open_stored_table(info.file_io, info.path, info=info)


def managed(partition_by: Sequence[str] = ()) -> tuple[Table, ServerEnvironment]:
    made = new_catalog().create_table("db.t", COLUMNS, partition_by=partition_by)
    environment = ServerEnvironment(made.path, made._store.file_io)
    return opened_in(environment), environment


def locked() -> tuple[Table, MemoryEnvironment]:
    made = new_catalog().create_table("db.t", COLUMNS)
    environment = MemoryEnvironment(made.path, made._store.file_io)
    return opened_in(environment), environment


def test_a_catalog_that_decides_about_commits_is_asked_for_the_latest_snapshot() -> None:
    table, environment = managed()
    table.append([{"id": 1, "dt": "a"}])
    table.append([{"id": 2, "dt": "a"}])
    assert environment.latest["main"].id == 2
    assert table.count() == 2
    older, newer = table.snapshots
    environment.latest["main"] = older
    assert table.count() == 1
    assert table.snapshot == older
    assert table._store.snapshots.is_latest(older)
    assert not table._store.snapshots.is_latest(newer)
    assert table._store.snapshots.latest_id() == 1
    assert table._store.snapshots.ids() == [1]
    environment.latest.clear()
    assert table._store.snapshots.ids() == []


def test_the_catalog_is_told_what_each_partition_gains_and_loses() -> None:
    table, environment = managed(["dt"])
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
    table, environment = managed()
    table.append([{"id": 1, "dt": "a"}])
    environment.losses = [loss]
    snapshot = table.append([{"id": 2, "dt": "a"}])
    assert snapshot is not None
    assert snapshot.id == 2
    assert table.to_arrow().sort_by("id").column("id").to_pylist() == [1, 2]


def test_a_commit_that_the_catalog_refuses_leaves_no_metadata_files() -> None:
    table, environment = managed()
    table.append([{"id": 1, "dt": "a"}])
    before = [status.path for status in environment.file_io.walk(f"{environment.root}/manifest")]
    environment.losses = ["refused"]
    with pytest.raises(AccessDeniedError):
        table.append([{"id": 2, "dt": "a"}])
    after = [status.path for status in environment.file_io.walk(f"{environment.root}/manifest")]
    assert sorted(after) == sorted(before)
    assert table.count() == 1


def test_a_commit_on_a_replaced_snapshot_is_repeated_on_the_new_one() -> None:
    table, environment = managed()
    table.append([{"id": 1, "dt": "a"}])
    first = environment.latest["main"]
    asked = []

    class Stale(ServerEnvironment):
        def latest_snapshot(self, branch: str) -> Snapshot | None:
            asked.append(branch)
            return (
                replace(first, uuid="old") if len(asked) == 1 else super().latest_snapshot(branch)
            )

    stale = Stale(environment.root, environment.file_io, latest=environment.latest)
    other = opened_in(stale)
    asked.clear()
    snapshot = other.append([{"id": 2, "dt": "a"}])
    assert snapshot is not None
    assert snapshot.id == 2
    assert other.count() == 2


def test_tags_branches_and_rollbacks_are_left_to_the_server() -> None:
    table, environment = managed()
    table.append([{"id": 1, "dt": "a"}])
    assert table.create_tag("one", retained=timedelta(days=1)).snapshot.id == 1
    table.create_branch("draft", "one")
    table.rollback_to(1)
    table.rollback_to("one")
    table.fast_forward("draft")
    with pytest.raises(UnsupportedFeatureError, match="Renaming a branch"):
        table.maintenance.rename_branch("draft", "other")
    table.delete_branch("draft")
    assert len(table.delete_tag("one")) == 0
    table.maintenance.rollback_schema(0)
    assert environment.acts == [
        ("create_tag", "main", "one", 1, 86_400_000),
        ("create_branch", "draft", "one"),
        ("rollback_to_snapshot", "main", 1),
        ("rollback_to_tag", "main", "one"),
        ("fast_forward", "draft"),
        ("delete_branch", "draft"),
        ("delete_tag", "main", "one"),
        ("rollback_schema", "main", 0),
    ]


def test_the_lock_is_held_while_snapshots_and_schemas_are_created() -> None:
    table, environment = locked()
    table.append([{"id": 1, "dt": "a"}])
    assert environment.held == ["take", "release"]
    table.add_column("x", "INT")
    assert environment.held == ["take", "release"] * 2
    assert environment.schemas == [("main", 1)]


def test_a_branch_keeps_the_environment_and_pickles() -> None:
    table, _ = locked()
    table.append([{"id": 1, "dt": "a"}])
    table.create_tag("one")
    table.create_branch("draft", "one")
    store = table._store.for_branch("draft")
    assert pickle.loads(pickle.dumps(store)).environment == store.environment  # noqa: S301 - our own
    assert table.name == "db.t"
