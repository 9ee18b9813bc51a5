"""What this library and Java do to copies of one table leaves the same files and rows."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from paimon_explore import Table, open_table
from paimon_explore.metadata.consumer import Consumer
from support.lifecycle import files_of, keyed_table, keys, plain_table, states
from support.rows import difference
from support.written import columns

pytestmark = pytest.mark.interop

DECOUPLED = {"changelog.num-retained.min": "20", "changelog.num-retained.max": "100"}


def copied(table: Table, folder: Path) -> Table:
    """The same table in another place."""
    target = folder / "copy.db" / "t"
    shutil.copytree(table.path, target)
    return open_table(target)


def grown(java: JavaPaimon, table: Table) -> Table:
    """Ten snapshots of both implementations: appends, compactions, a tag."""
    for number in range(4):
        rows = [{"k": key, "v": str(number)} for key in range(number, number + 3)]
        java.write(table.path, rows)
        table.upsert([{"k": number, "v": "ours"}])
        if number == 1:
            table.create_tag("early")
        if number % 2:
            java.compact(table.path)
    return table


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"changelog-producer": "input"},
        DECOUPLED,
        {"changelog-producer": "input", **DECOUPLED},
        {"deletion-vectors.enabled": "true"},
    ],
    ids=["plain", "changelog", "plain-outlive", "changelog-outlive", "vectors"],
)
def test_expiry_leaves_the_same_files(
    java: JavaPaimon, tmp_path: Path, options: Mapping[str, str]
) -> None:
    ours = grown(java, keyed_table(tmp_path, options))
    theirs = copied(ours, tmp_path)
    retained = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3"}
    java.expire(theirs.path, {**retained, "snapshot.time-retained": "1 h"})
    ours.maintenance.expire_snapshots(retain_max=3)
    assert len(ours.snapshots) == 3
    assert files_of(ours) == files_of(theirs)
    if "changelog.num-retained.max" in options:
        logs = {"changelog.num-retained.min": "1", "changelog.num-retained.max": "5"}
        java.expire(theirs.path, {**retained, **logs})
        assert ours.maintenance.expire_changelogs(retain_max=5).expired == tuple(range(1, 6))
        assert files_of(ours) == files_of(theirs)
    assert [check.error for check in java.check(ours.path) if check.error] == []
    tagged = java.read(ours.path, tag="early")
    assert difference(tagged, ours.at(tag="early").to_arrow()) == ""
    java.delete_tag(theirs.path, "early")
    ours.delete_tag("early")
    assert files_of(ours) == files_of(theirs)
    assert ours.maintenance.fsck(read_rows=True) == []


@pytest.mark.parametrize(
    "retained",
    [("1", "100", "1 h"), ("1", "100", "1 ms"), ("4", "5", "1 ms"), ("2", "6", "1 h")],
)
def test_the_same_snapshots_expire(
    java: JavaPaimon, tmp_path: Path, retained: tuple[str, str, str]
) -> None:
    ours = plain_table(tmp_path)
    for number in range(8):
        ours.append([{"k": number, "v": "x"}])
    ours._store.consumers.save("job", Consumer(next_snapshot=6))
    theirs = copied(ours, tmp_path)
    least, most, age = retained
    options = {
        "snapshot.num-retained.min": least,
        "snapshot.num-retained.max": most,
        "snapshot.time-retained": age,
        "snapshot.expire.limit": "4",
    }
    java.expire(theirs.path, options)
    ours.set_options(options)
    ours.maintenance.expire_snapshots()
    assert ours._store.snapshots.ids() == theirs._store.snapshots.ids()


def test_tags_branches_and_rollbacks_are_understood(java: JavaPaimon, tmp_path: Path) -> None:
    table = grown(java, keyed_table(tmp_path))
    table.create_branch("side", "early")
    side = open_table(table.path, branch="side")
    assert difference(java.read(table.path, branch="side"), side.to_arrow()) == ""
    java.write(table.path, [{"k": 70, "v": "java"}], branch="side")
    assert 70 in keys(side)
    side.upsert([{"k": 71, "v": "ours"}])
    assert difference(java.read(table.path, branch="side"), side.to_arrow()) == ""
    theirs = copied(table, tmp_path)
    java.fast_forward(theirs.path, "side")
    table.fast_forward("side")
    assert states(theirs) == states(table)
    assert files_of(theirs) ^ files_of(table) <= {"snapshot/EARLIEST"}
    assert difference(java.read(table.path), table.to_arrow()) == ""
    java.write(table.path, [{"k": 80, "v": "java"}])
    assert difference(java.read(table.path), table.to_arrow()) == ""


@pytest.mark.parametrize("expired", [False, True])
def test_a_rollback_leaves_the_same_files(
    java: JavaPaimon, tmp_path: Path, *, expired: bool
) -> None:
    ours = grown(java, keyed_table(tmp_path))
    ours.create_tag("late")
    if expired:
        ours.maintenance.expire_snapshots(retain_max=2)
    theirs = copied(ours, tmp_path)
    java.rollback(theirs.path, tag="early")
    ours.rollback_to(tag="early")
    assert states(theirs) == states(ours)
    assert theirs._store.tags.names() == ours._store.tags.names() == ["early"]
    assert files_of(ours) == files_of(theirs)
    java.write(ours.path, [{"k": 80, "v": "java"}])
    assert difference(java.read(ours.path), ours.to_arrow()) == ""


def test_orphans_are_the_same(java: JavaPaimon, tmp_path: Path) -> None:
    ours = grown(java, keyed_table(tmp_path))
    ours.create_branch("side", "early")
    ours.rollback_to(snapshot=6)
    for path in ("bucket-0/data-x-0.parquet", "manifest/manifest-x-0", "index/index-x-0"):
        file = Path(ours.path) / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("rest", encoding="utf-8")
    theirs = copied(ours, tmp_path)
    java.remove_orphans(theirs.path, older_than_ms=2**53, dry_run=False)
    gone = ours.maintenance.remove_orphan_files(older_than="2100-01-01", dry_run=False)
    assert len(gone.files) > 3
    assert files_of(ours) == files_of(theirs)
    assert difference(java.read(ours.path), ours.to_arrow()) == ""


def test_java_reads_changed_schemas(java: JavaPaimon, tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    table.upsert([{"k": 1, "v": "a"}])
    table.add_column("n", "INT", comment="a number", after="k")
    table.rename_column("v", "w")
    table.upsert([{"k": 2, "n": 7, "w": "b"}])
    table.alter_column_type("n", "BIGINT")
    table.set_options({"snapshot.num-retained.min": "2"})
    java.write(table.path, [{"k": 3, "n": 2**40, "w": "java"}])
    assert difference(java.read(table.path), table.to_arrow()) == ""
    table.drop_column("n")
    assert difference(java.read(table.path), table.to_arrow()) == ""


def test_the_same_partitions_expire(java: JavaPaimon, tmp_path: Path) -> None:
    schema = columns({"k": pa.int32(), "dt": pa.string(), "day": pa.date32()})
    options = {"partition.expiration-time": "7 d"}
    ours = plain_table(tmp_path, options, schema, ("dt", "day"))
    days = ["2020-01-01", "2020-1-2", "soon", None, "2090-01-01", "2020-01-01 10:00:00"]
    ours.append([{"k": i, "dt": dt, "day": None} for i, dt in enumerate(days)])
    theirs = copied(ours, tmp_path)
    java.expire_partitions(theirs.path, options)
    assert len(ours.maintenance.expire_partitions()) == 3
    assert keys(ours) == keys(theirs) == [2, 3, 4]
    assert difference(java.read(ours.path), ours.to_arrow()) == ""


def test_java_reads_statistics(java: JavaPaimon, tmp_path: Path) -> None:
    table = keyed_table(tmp_path)
    table.upsert([{"k": 1, "v": "a"}, {"k": 2, "v": None}])
    table.maintenance.analyze()
    rows = java.system_table(table.path, "statistics").to_pylist()
    assert (rows[0]["snapshot_id"], rows[0]["mergedRecordCount"]) == (1, 2)
    assert "distinctCount" in rows[0]["colstat"]
    java.write(table.path, [{"k": 3, "v": "java"}])
    assert difference(java.read(table.path), table.to_arrow()) == ""
