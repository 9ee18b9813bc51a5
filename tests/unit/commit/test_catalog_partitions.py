"""Partitions and tags that a catalog such as Hive is told about."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from paimon_explore.errors import CatalogSyncWarning, StorageError
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metastore.catalog_values import TableInfo
from paimon_explore.store.version_management import PartitionStatistics
from paimon_explore.table.table import Table, open_stored_table
from support.catalog_environment import IdleEnvironment
from support.small_tables import new_catalog


@dataclass
class ListingEnvironment(IdleEnvironment):
    """A catalog that keeps partitions in a list."""

    partitions: list[dict[str, str]] = field(default_factory=list)
    fails: bool = False

    def latest_snapshot(self, branch: str) -> Snapshot | None:
        raise NotImplementedError(branch)

    def commit_snapshot(
        self, branch: str, snapshot: Snapshot, statistics: Sequence[PartitionStatistics]
    ) -> bool:
        raise NotImplementedError(branch, snapshot, statistics)

    def add_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        if self.fails:
            raise StorageError("add", "db.t", "no connection")
        self.partitions += [dict(spec) for spec in partitions if spec not in self.partitions]

    def drop_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        if self.fails:
            raise StorageError("drop", "db.t", "no connection")
        for spec in partitions:
            self.partitions.remove(dict(spec))


def table_of(
    environment: ListingEnvironment, options: Mapping[str, str], partitions: Sequence[str] = ()
) -> Table:
    schema = {"id": "INT", "dt": "STRING", "hour": "INT"}
    made = new_catalog().create_table(
        "db.t", schema, partition_by=partitions, options=dict(options)
    )
    store = made._store
    info = TableInfo(path=store.paths.root, file_io=store.file_io, environment=environment)
    return open_stored_table(store.file_io, store.paths.root, info=info)


def row(dt: str | None, hour: int) -> dict[str, object]:
    return {"id": 1, "dt": dt, "hour": hour}


def test_new_partitions_are_added_and_dropped_ones_removed() -> None:
    environment = ListingEnvironment()
    table = table_of(environment, {"metastore.partitioned-table": "true"}, ["dt", "hour"])
    table.append([row("a/b", 1), row("a/b", 1), row(None, 2)])
    table.append([row("a/b", 1), row("2020-01-01", 3)])
    expected = [
        {"dt": "__DEFAULT_PARTITION__", "hour": "2"},
        {"dt": "a/b", "hour": "1"},
        {"dt": "2020-01-01", "hour": "3"},
    ]
    assert sorted(environment.partitions, key=str) == sorted(expected, key=str)
    table.drop_partitions({"dt": "a/b"})
    assert {"dt": "a/b", "hour": "1"} not in environment.partitions
    table.compact()
    table.maintenance.expire_partitions(older_than=timedelta(days=1))
    assert environment.partitions == [{"dt": "__DEFAULT_PARTITION__", "hour": "2"}]


def test_a_partition_that_another_branch_has_is_kept() -> None:
    environment = ListingEnvironment()
    table = table_of(environment, {"metastore.partitioned-table": "true"}, ["dt"])
    table.append([row("a", 1), row("b", 1)])
    table.create_tag("start")
    table.append([row("c", 1)])
    table.create_branch("draft", "start")
    table.drop_partitions({"dt": "b"}, {"dt": "c"})
    assert sorted(spec["dt"] for spec in environment.partitions) == ["a", "b"]
    table.delete_branch("draft")
    table.append([row("b", 1)])
    table.drop_partitions({"dt": "b"})
    assert [spec["dt"] for spec in environment.partitions] == ["a"]


@pytest.mark.parametrize("keys", [[], ["dt"]])
def test_a_table_that_does_not_ask_for_it_reports_no_partitions(keys: list[str]) -> None:
    environment = ListingEnvironment()
    asks = {} if keys else {"metastore.partitioned-table": "true"}
    table_of(environment, asks, keys).append([row("a", 1)])
    assert environment.partitions == []


def test_tags_are_partitions() -> None:
    environment = ListingEnvironment()
    table = table_of(environment, {"metastore.tag-to-partition": "day"})
    table.append([row("a", 1)])
    table.create_tag("one")
    table.append([row("a", 1)])
    table.create_tag("two")
    assert environment.partitions == [{"day": "one"}, {"day": "two"}]
    table.maintenance.rename_tag("one", "first")
    assert environment.partitions == [{"day": "two"}, {"day": "first"}]
    table.rollback_to("first")
    assert environment.partitions == [{"day": "first"}]
    table.delete_tag("first")
    assert environment.partitions == []


def test_a_catalog_that_fails_after_the_commit_gives_a_warning() -> None:
    environment = ListingEnvironment(fails=True)
    table = table_of(environment, {"metastore.partitioned-table": "true"}, ["dt"])
    with pytest.warns(CatalogSyncWarning, match="commit took effect.*no connection"):
        table.append([row("a", 1)])
    assert table.count() == 1
    tagged = table_of(environment, {"metastore.tag-to-partition": "day"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tagged.append([row("a", 1)])
    with pytest.warns(CatalogSyncWarning, match="Tag 'one' is created, but .*no connection"):
        tagged.create_tag("one")
    assert [tag.name for tag in tagged.tags] == ["one"]
    with pytest.warns(CatalogSyncWarning, match="Tag 'one' is deleted, but .*no connection"):
        tagged.delete_tag("one")
    assert list(tagged.tags) == []
