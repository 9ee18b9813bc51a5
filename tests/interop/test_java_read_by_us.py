"""We read the changelogs and evolved schemas that Java writes, and all points of time.

`tests/golden` has the kinds of tables, tags, branches and histories that Java writes.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

from oracle import ROW_KIND, JavaPaimon
from oracle.wire import TypeJson
from paimon_explore import open_table
from paimon_explore.metadata.options.option_enums import ChangelogProducer
from paimon_explore.metadata.options.table_options import CHANGELOG_PRODUCER
from support.rows import difference
from support.system_rows import facts

pytestmark = pytest.mark.interop

SYSTEM = (
    *("snapshots", "schemas", "options", "tags", "consumers", "manifests", "files"),
    *("file_key_ranges", "partitions", "buckets", "table_indexes", "aggregation_fields"),
)
ROWS = ("ro", "audit_log")

Unlike = Mapping[str, Collection[str]]

ID_NAME: Sequence[tuple[str, TypeJson]] = [("id", "INT NOT NULL"), ("name", "STRING")]


def people(first: int, last: int, word: str) -> list[dict[str, object]]:
    return [{"id": i, "name": f"{word}{i}"} for i in range(first, last)]


def gone(*keys: int) -> list[dict[str, object]]:
    return [{"id": key, "name": None, ROW_KIND: "-D"} for key in keys]


def check(java: JavaPaimon, folder: Path, unlike: Unlike = MappingProxyType({})) -> None:
    """Rows at every snapshot, and all system tables, are those that Java gives.

    Args:
        java: Java.
        folder: the table.
        unlike: columns of system tables that are known to differ.
    """
    table = open_table(folder)
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        assert difference(java.read(folder, snapshot=snapshot.id), ours) == "", snapshot.id
    for system in SYSTEM:
        theirs = java.system_table(folder, system)
        ours = table.inspect.system_table(system).to_arrow()
        names = set(theirs.schema.names) - set(unlike.get(system, ()))
        assert facts(theirs, names) == facts(ours, names), system
    for system in ROWS:
        theirs = java.system_table(folder, system)
        assert difference(theirs, table.inspect.system_table(system).to_arrow()) == "", system


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_evolved_schemas(
    java: JavaPaimon,
    tmp_path: Path,
    file_format: str,
    keyed: bool,  # noqa: FBT001 - a parameter
) -> None:
    folder = tmp_path / "t"
    fields = [
        *ID_NAME,
        ("n", "INT"),
        ("at", {"type": "ROW", "fields": [{"id": 0, "name": "x", "type": "INT"}]}),
    ]
    options = {"file.format": file_format, **({"bucket": "2"} if keyed else {})}
    java.create_table(folder, fields, primary_keys=["id"] if keyed else [], options=options)

    def row(identity: int, **values: object) -> dict[str, object]:
        return {"id": identity, **values}

    java.write(folder, [row(i, name=f"a{i}", n=i, at={"x": i}) for i in range(5)])
    java.alter(folder, {"change": "add_column", "column": "extra", "type": "DOUBLE"})
    java.write(folder, [row(i, name=f"b{i}", n=i, at={"x": i}, extra=i / 2) for i in range(3, 8)])
    java.alter(
        folder,
        {"change": "rename_column", "column": "name", "name": "title"},
        {"change": "update_type", "column": "n", "type": "BIGINT"},
    )
    java.write(folder, [row(i, title=f"c{i}", n=2**40 + i) for i in range(6, 10)])
    java.alter(folder, {"change": "add_column", "column": ["at", "y"], "type": "STRING"})
    java.alter(folder, {"change": "move_column", "column": "extra", "position": "first"})
    java.write(folder, [row(i, title=f"d{i}", at={"x": i, "y": "y"}) for i in range(9, 12)])
    java.alter(folder, {"change": "drop_column", "column": "n"})
    java.alter(folder, {"change": "add_column", "column": "n", "type": "STRING"})
    java.write(folder, [row(i, title=f"e{i}", n="again") for i in range(11, 13)])
    java.alter(folder, {"change": "update_type", "column": "extra", "type": "STRING"})
    if keyed:
        java.compact(folder)
    # bounds of DOUBLE say nothing about text, so we show none; Java casts them
    check(java, folder, {"files": ["min_value_stats", "max_value_stats"]})
    assert len(open_table(folder).schemas) == 8


def check_changes(java: JavaPaimon, folder: Path) -> None:
    """What each commit changed, and all of them together, is what Java streams and reads."""
    table = open_table(folder)
    theirs = java.stream(folder).rename_columns(
        ["_SNAPSHOT", *table.inspect.system_table("audit_log").schema.names]
    )
    streamed = [
        change.rows.add_column(
            0, "_SNAPSHOT", pa.array([change.snapshot.id] * len(change.rows), pa.int64())
        )
        for change in table.changes()
    ]
    assert difference(theirs, pa.concat_tables(streamed)) == ""
    last = len(table.snapshots)
    producer = table.options.value(CHANGELOG_PRODUCER)
    mode = "delta" if producer is ChangelogProducer.NONE else "changelog"  # Java's automatic mode
    ours = table.between(1, last, mode=mode, row_kinds=True).to_arrow()
    theirs = java.read(folder, row_kinds=True, between=(1, last))
    assert difference(theirs.rename_columns(ours.schema.names), ours) == ""


@pytest.mark.parametrize("producer", ["none", "input", "lookup", "full-compaction"])
def test_changelogs(java: JavaPaimon, tmp_path: Path, producer: str) -> None:
    folder = tmp_path / "t"
    java.create_table(
        folder,
        ID_NAME,
        primary_keys=["id"],
        options={"bucket": "2", "changelog-producer": producer},
    )
    java.write(folder, people(0, 9, "a"))
    java.write(folder, people(5, 12, "b") + gone(1, 2))
    java.compact(folder)
    java.write(folder, people(1, 3, "c") + gone(5))
    java.compact(folder)
    check(java, folder)
    check_changes(java, folder)


def test_changes_of_append_tables(java: JavaPaimon, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    java.create_table(folder, ID_NAME, options={"compaction.min.file-num": "2"})
    java.write(folder, people(0, 5, "a"))
    java.write(folder, people(5, 9, "b"))
    java.append_compact(folder)
    java.write(folder, people(9, 10, "c"))
    check_changes(java, folder)


def test_time_travel_with_a_fallback_branch(java: JavaPaimon, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    java.create_table(folder, [("dt", "STRING"), ("k", "INT")], partition_keys=["dt"])
    java.create_branch(folder, "fb")
    places = [("fb", "a"), ("main", "m"), ("fb", "b"), ("main", "m"), ("fb", "b"), ("main", "a")]
    for k, (branch, dt) in enumerate(places):
        row: dict[str, object] = {"dt": dt, "k": k}
        java.write(folder, [row], branch=branch, watermark=10 * k)
        time.sleep(0.002)  # no two commits in the same millisecond
    table = open_table(folder)
    table.set_options({"scan.fallback-branch": "fb"})
    fallback = open_table(folder, branch="fb")
    times = [snapshot.time_millis for snapshot in [*table.snapshots, *fallback.snapshots]]
    points: list[dict[str, str]] = [
        *({"scan.snapshot-id": str(number)} for number in (1, 2, 3)),
        *({"scan.timestamp-millis": str(moment)} for moment in times if moment != min(times)),
        *({"scan.watermark": str(mark)} for mark in (0, 15, 25, 35)),
    ]
    for point in points:
        theirs = java.read(folder, options=point)
        ours = open_table(folder, options=point).to_arrow()
        assert difference(theirs, ours) == "", point
