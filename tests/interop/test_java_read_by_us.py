"""We read what Java writes, compacts, deletes, evolves and cleans up, at every point of time."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pytest

from oracle import ROW_KIND, JavaPaimon
from oracle.wire import TypeJson
from paimon_explore import Catalog, open_table
from paimon_explore.metadata.options.option_enums import ChangelogProducer
from paimon_explore.metadata.options.table_options import CHANGELOG_PRODUCER
from support.rows import difference
from support.system_rows import facts
from support.written import KINDS, Kind, make

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
    """Rows at every snapshot, tag and branch, and all system tables, are those that Java gives.

    Args:
        java: Java.
        folder: the table.
        unlike: columns of system tables that are known to differ.
    """
    table = open_table(folder)
    for snapshot in table.snapshots:
        ours = table.at(snapshot=snapshot.id).to_arrow()
        assert difference(java.read(folder, snapshot=snapshot.id), ours) == "", snapshot.id
    for tag in table.tags:
        ours = table.at(tag=tag.name).to_arrow()
        assert difference(java.read(folder, tag=tag.name), ours) == "", tag.name
    for branch in table.branches:
        ours = open_table(folder, branch=branch).to_arrow()
        assert difference(java.read(folder, branch=branch), ours) == "", branch
    for system in SYSTEM:
        theirs = java.system_table(folder, system)
        ours = table.inspect.system_table(system).to_arrow()
        names = set(theirs.schema.names) - set(unlike.get(system, ()))
        assert facts(theirs, names) == facts(ours, names), system
    for system in ROWS:
        theirs = java.system_table(folder, system)
        assert difference(theirs, table.inspect.system_table(system).to_arrow()) == "", system


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_table_filled_by_java(java: JavaPaimon, name: str, catalog: Catalog) -> None:
    kind = KINDS[name]
    source = make(catalog, f"{name}_source", kind).to_arrow()
    more = pa.Table.from_pylist([dict(row) for row in kind.more], schema=source.schema)
    rows = pa.concat_tables([source, more])
    empty = Kind(
        schema=kind.schema,
        steps=[],
        count=0,
        more=[],
        primary_key=kind.primary_key,
        partition_by=kind.partition_by,
        options=kind.options,
    )
    table = make(catalog, name, empty)
    java.write(table.path, rows.slice(0, rows.num_rows // 2 + 1))
    java.write(table.path, rows.slice(rows.num_rows // 2))
    assert len(table.snapshots) >= 2
    check(java, Path(table.path))


@pytest.mark.parametrize("bits", ["32", "64"])
def test_deletion_vectors(java: JavaPaimon, tmp_path: Path, bits: str) -> None:
    java.create_table(
        tmp_path / "t",
        ID_NAME,
        primary_keys=["id"],
        options={
            "bucket": "1",
            "deletion-vectors.enabled": "true",
            "deletion-vectors.bitmap64": str(bits == "64").lower(),
            "num-sorted-run.compaction-trigger": "3",
        },
    )
    java.write(tmp_path / "t", people(0, 50, "a"))
    java.compact(tmp_path / "t")
    for turn in range(4):
        java.write(tmp_path / "t", people(turn * 3, turn * 3 + 5, f"b{turn}") + gone(40 + turn))
    java.compact(tmp_path / "t", full=False)
    check(java, tmp_path / "t")
    assert open_table(tmp_path / "t").inspect.table_indexes().num_rows > 0


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


ENGINES = {
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.name.aggregate-function": "listagg",
        "fields.n.aggregate-function": "sum",
        "fields.name.ignore-retract": "true",
    },
    "partial-update": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "first-row": {"merge-engine": "first-row", "ignore-delete": "true"},
    "sequence": {"sequence.field": "n"},
    "row kinds": {"rowkind.field": "kind"},
}


@pytest.mark.parametrize("engine", ENGINES)
def test_merge_engines(java: JavaPaimon, tmp_path: Path, engine: str) -> None:
    folder = tmp_path / "t"
    java.create_table(
        folder,
        [*ID_NAME, ("n", "INT"), ("kind", "STRING")],
        primary_keys=["id"],
        options={"bucket": "1", **ENGINES[engine]},
    )

    def rows(first: int, last: int, n: int | None, kind: str = "+I") -> list[dict[str, object]]:
        written = "+I" if engine == "row kinds" else kind
        return [
            {"id": i, "name": f"n{n}" if i % 2 else None, "n": n, "kind": kind, ROW_KIND: written}
            for i in range(first, last)
        ]

    java.write(folder, rows(0, 8, 5))
    java.write(folder, rows(2, 6, 3))
    java.write(folder, rows(3, 5, 2, "-D"))
    java.write(folder, rows(4, 12, None))
    java.compact(folder)
    java.write(folder, rows(1, 5, 7))
    check(java, folder)


@pytest.mark.parametrize("manifest_format", ["avro", "orc", "parquet"])
def test_dropped_and_overwritten_partitions(
    java: JavaPaimon, tmp_path: Path, manifest_format: str
) -> None:
    folder = tmp_path / "t"
    java.create_table(
        folder,
        [("id", "INT"), ("dt", "STRING"), ("hr", "INT")],
        partition_keys=["dt", "hr"],
        options={"manifest.format": manifest_format},
    )

    def rows(first: int, last: int) -> list[dict[str, object]]:
        days = ["a", "b=/ %", None]
        return [{"id": i, "dt": days[i % 3], "hr": i % 2} for i in range(first, last)]

    java.write(folder, rows(0, 12))
    java.write(folder, rows(12, 14), overwrite="dynamic")
    java.drop_partitions(folder, {"dt": "a", "hr": "0"})
    java.write(folder, rows(20, 26))
    java.write(folder, [{"id": 99, "dt": "a", "hr": 1}], overwrite={"dt": "a"})
    java.truncate(folder)
    java.write(folder, rows(30, 33))
    check(java, folder)


def _tagged(java: JavaPaimon, folder: Path) -> None:
    java.create_tag(folder, "old", snapshot=2)
    java.create_branch(folder, "b", tag="old")
    java.write(folder, people(50, 53, "branch"), branch="b")
    java.expire(folder, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "2"})


def _forwarded(java: JavaPaimon, folder: Path) -> None:
    java.create_tag(folder, "old", snapshot=2)
    java.create_branch(folder, "b", tag="old")
    java.write(folder, people(50, 53, "branch"), branch="b")
    java.fast_forward(folder, "b")
    (folder / "snapshot" / "EARLIEST").unlink()  # a wrong hint, which only Java trusts


def _rolled_back(java: JavaPaimon, folder: Path) -> None:
    java.rollback(folder, snapshot=3)
    java.write(folder, people(60, 62, "after"))


def _decoupled(java: JavaPaimon, folder: Path) -> None:
    options = {"changelog.num-retained.min": "10", "changelog.num-retained.max": "20"}
    java.alter(
        folder, *({"change": "set_option", "key": k, "value": v} for k, v in options.items())
    )
    java.expire(folder, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"})
    java.reset_consumer(folder, "reader", 5)


HISTORIES: dict[str, Callable[[JavaPaimon, Path], None]] = {
    "tags, branches, expired snapshots": _tagged,
    "fast forward": _forwarded,
    "rollback": _rolled_back,
    "changelogs outlive snapshots": _decoupled,
}


@pytest.mark.parametrize("history", HISTORIES)
def test_histories(java: JavaPaimon, tmp_path: Path, history: str) -> None:
    folder = tmp_path / "db.db" / "t"
    java.create_table(
        folder,
        ID_NAME,
        primary_keys=["id"],
        options={"bucket": "1", "changelog-producer": "input"},
    )
    for turn in range(5):
        java.write(folder, people(turn, turn + 4, f"v{turn}"))
    HISTORIES[history](java, folder)
    check(java, folder)
