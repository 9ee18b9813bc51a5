import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode
from paimon_explore.scan.incremental import SnapshotRange, change_mode, change_splits
from paimon_explore.scan.plan import ScanTarget
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), dt=pa.string())
A, B = {"k": 1, "dt": "a"}, {"k": 2, "dt": "b"}


def target(table: Table) -> ScanTarget:
    return table.scan().target


def told(table: Table, mode: IncrementalBetweenScanMode, where: str = "TRUE") -> list[int]:
    span = SnapshotRange(start=0, end=table._store.snapshots.latest_id() or 0)
    predicate = table.scan(where=where).where
    found = change_splits(target(table), span, mode, predicate)
    return [snapshot.id for snapshot, splits in found if splits]


def test_added_files_are_those_of_append_commits() -> None:
    table = append_table(COLUMNS, [A], [B])
    table.overwrite([A])
    table.append([B])
    assert told(table, IncrementalBetweenScanMode.DELTA) == [1, 2, 4]


def test_commits_are_cut_by_partition() -> None:
    table = append_table(COLUMNS, [A], [B], partition_by=["dt"])
    assert told(table, IncrementalBetweenScanMode.AUTO, "dt = 'b'") == [2]


def test_changelog_files_are_taken_where_the_table_makes_them() -> None:
    table = keyed_table(
        COLUMNS, [A], [B], primary_key=["k"], options={"changelog-producer": "input"}
    )
    assert change_mode(target(table)) is IncrementalBetweenScanMode.CHANGELOG
    assert told(table, IncrementalBetweenScanMode.AUTO) == [1, 2]
    plain = append_table(COLUMNS, [A])
    assert change_mode(target(plain)) is IncrementalBetweenScanMode.DELTA
    assert told(plain, IncrementalBetweenScanMode.CHANGELOG) == []


def test_a_difference_of_states_is_not_told_by_files() -> None:
    with pytest.raises(InvalidInputError, match="rows of two snapshots"):
        told(append_table(COLUMNS, [A]), IncrementalBetweenScanMode.DIFF)


def test_expired_commits_are_read_from_their_changelog() -> None:
    table = append_table(COLUMNS, [A], [B])
    store, paths = table._store, table._store.paths
    store.file_io.create(paths.changelog(1), store.file_io.read(paths.snapshot(1)))
    store.file_io.delete(paths.snapshot(1))
    assert told(table, IncrementalBetweenScanMode.DELTA) == [1, 2]
    store.file_io.delete(paths.changelog(1))
    with pytest.raises(NotFoundError, match="available snapshot is 2"):
        told(table, IncrementalBetweenScanMode.DELTA)
