"""Partitions are marked as done by the actions of the table's options."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.partition_done import mark_partitions_done
from support.catalog_environment import IdleEnvironment
from support.lifecycle import options_of
from support.small_tables import new_catalog
from support.written import columns

COLUMNS = columns({"id": pa.int32(), "dt": pa.date32(), "hh": pa.int32()})


def partitioned(folder: Path, **options: str) -> Table:
    """An empty table with the partition columns `dt` and `hh`."""
    given = {key.replace("_", "-"): text for key, text in options.items()}
    return new_catalog(folder).create_table(
        "db.t", COLUMNS, partition_by=["dt", "hh"], options=given
    )


def mark(table: Table, now_ms: int, *specs: Mapping[str, object]) -> list[str]:
    schema = table._store.schemas.latest()
    assert schema is not None
    return mark_partitions_done(
        table._store, schema, options_of(table._store), specs, clock=lambda: now_ms
    )


def test_a_success_file_keeps_its_creation_time(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    spec = {"dt": "2026-01-02", "hh": 3}
    assert mark(table, 100, spec) == ["dt=20455/hh=3"]
    path = Path(table.path) / "dt=20455/hh=3/_SUCCESS"
    assert path.read_text() == '{\n  "creationTime" : 100,\n  "modificationTime" : 100\n}'
    assert mark(table, 250, {"hh": None, "dt": "2026-01-02"}, spec) == [
        "dt=20455/hh=__DEFAULT_PARTITION__",
        "dt=20455/hh=3",
    ]
    assert json.loads(path.read_text()) == {"creationTime": 100, "modificationTime": 250}


def test_the_file_is_in_the_folder_of_the_rows_and_no_row(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    table.append([{"id": 1, "dt": "2026-01-02", "hh": 3}], cast="parse")
    (place,) = table.maintenance.mark_partition_done({"dt": "2026-01-02", "hh": 3})
    assert sorted(path.name for path in (Path(table.path) / place).iterdir()) == [
        "_SUCCESS",
        "bucket-0",
    ]
    assert table.count() == 1
    assert table.maintenance.fsck() == []


@dataclass
class PartitionCatalog(IdleEnvironment):
    """A catalog that keeps partitions, and notes what it is told."""

    told: list[tuple[str, list[Mapping[str, str]]]] = field(default_factory=list)

    def add_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        self.told.append(("add", list(partitions)))

    def drop_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        self.told.append(("drop", list(partitions)))

    def mark_partitions_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        self.told.append(("mark", list(partitions)))


def test_a_catalog_is_told(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    options = {
        "partition.mark-done-action": "done-partition,mark-event,success-file",
        "metastore.partitioned-table": "true",
    }
    table.set_options(options)
    catalog = PartitionCatalog()
    known = replace(table, _store=replace(table._store, environment=catalog))
    mark(known, 7, {"dt": "2026-01-02", "hh": 3})
    assert catalog.told == [
        ("add", [{"dt": "20455", "hh": "3.done"}]),
        ("mark", [{"dt": "20455", "hh": "3"}]),
    ]
    assert (Path(table.path) / "dt=20455/hh=3/_SUCCESS").exists()
    table.set_options({"metastore.partitioned-table": "false"})
    with pytest.raises(InvalidInputError, match=r"Set the option 'metastore\.partitioned-table'"):
        mark(known, 8, {"dt": "2026-01-02", "hh": 3})


@pytest.mark.parametrize("action", ["done-partition", "mark-event", "http-report", "custom"])
def test_an_action_that_cannot_be_done_leaves_nothing(tmp_path: Path, action: str) -> None:
    table = partitioned(tmp_path)
    table.set_options({"partition.mark-done-action": f"success-file,{action}"})
    with pytest.raises(UnsupportedFeatureError, match=action):
        mark(table, 1, {"dt": "2026-01-02", "hh": 3})
    assert not list(Path(table.path).rglob("_SUCCESS"))


def test_wrong_partitions_are_refused(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    done = table.maintenance.mark_partition_done
    with pytest.raises(InvalidInputError, match="has no value of partition column 'hh'"):
        done({"dt": "2026-01-02"})
    with pytest.raises(InvalidInputError, match="'id' is not a partition column"):
        done({"dt": "2026-01-02", "hh": 1, "id": 1})
    with pytest.raises(InvalidInputError, match="'monday' is not a valid DATE"):
        done({"dt": "monday", "hh": 1})
    with pytest.raises(InvalidInputError, match="A partition must be a dict"):
        done()
    table.set_options({"partition.mark-done-action": "succes-file"})
    with pytest.raises(InvalidInputError, match="'succes-file', which is not an action"):
        done({"dt": "2026-01-02", "hh": 1})
    catalog = Catalog(tmp_path)
    plain = catalog.create_table("db.plain", {"id": "INT"})
    with pytest.raises(InvalidInputError, match="requires a partitioned table"):
        plain.maintenance.mark_partition_done({"dt": 1})
