"""Streams of tables that Java wrote are those of Java, for each changelog producer and start."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import JavaPaimon
from paimon_explore import Table, open_table
from paimon_explore.metadata.consumer import Consumer
from support.rows import difference

pytestmark = pytest.mark.interop

FIELDS = [("p", "STRING NOT NULL"), ("k", "INT NOT NULL"), ("v", "INT")]
KINDS: Mapping[str, Mapping[str, str]] = {
    "append": {},
    "append, buckets": {"bucket": "2", "bucket-key": "k"},
    "none": {"bucket": "2"},
    "input": {"bucket": "1", "changelog-producer": "input"},
    "lookup": {"bucket": "1", "changelog-producer": "lookup"},
    "full-compaction": {
        "bucket": "1",
        "changelog-producer": "full-compaction",
        "num-sorted-run.compaction-trigger": "2",
    },
    "partial-update": {
        "bucket": "1",
        "changelog-producer": "lookup",
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "postponed": {"bucket": "-2"},
    "vectors": {
        "bucket": "1",
        "changelog-producer": "input",
        "deletion-vectors.enabled": "true",
    },
}


def row(key: int, value: int, kind: str = "+I") -> dict[str, object]:
    return {"_ROW_KIND": kind, "p": "ab"[key % 2], "k": key, "v": value}


def written(java: JavaPaimon, folder: Path, kind: str) -> Table:
    """Commits of Java: inserts, updates, deletes, compactions and an overwrite."""
    keyed = not kind.startswith("append")
    path = folder / "db.db" / "t"
    java.create_table(
        path,
        FIELDS,
        partition_keys=["p"],
        primary_keys=["p", "k"] if keyed else [],
        options=KINDS[kind],
    )
    java.write(path, [row(n, n) for n in range(4)], watermark=10)
    java.write(path, [row(n, 10 * n) for n in range(2, 6)], watermark=20)
    if keyed:
        java.compact(path)
        java.write(path, [row(1, 0, "-D"), row(3, 33, "+U")], watermark=30)
    java.write(path, [row(0, 5), row(8, 8)], overwrite={"p": "a"}, watermark=40)
    java.write(path, [row(n, 100) for n in (4, 5, 9)], watermark=50)
    if keyed:
        java.compact(path)
    java.write(path, [row(7, 7)], write_only=True, watermark=60)
    return open_table(path)


def starts(table: Table) -> Sequence[Mapping[str, str]]:
    """Start positions and other options of streams."""
    third = table.snapshots[3].time_millis
    options: list[dict[str, str]] = [
        {"scan.mode": "latest-full"},
        {"scan.mode": "full"},
        {"scan.mode": "compacted-full"},
        {"scan.mode": "from-snapshot", "scan.snapshot-id": "1"},
        {"scan.mode": "default", "scan.snapshot-id": "3"},
        {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"},
        {"scan.mode": "from-timestamp", "scan.timestamp-millis": str(third)},
        {"scan.mode": "default", "scan.timestamp-millis": str(third + 1)},
        {"scan.mode": "default", "scan.timestamp-millis": "1"},
        {"scan.mode": "from-timestamp", "scan.timestamp-millis": str(2**42)},
        {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": str(third)},
        {"scan.mode": "default", "scan.creation-time-millis": "1"},
        {"scan.mode": "from-file-creation-time", "scan.file-creation-time-millis": str(third)},
        {"scan.mode": "latest"},
    ]
    first = {"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}
    return [
        *options,
        {**first, "scan.bounded.watermark": "35"},
        {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2", "scan.bounded.watermark": "5"},
        *({**first, option: "true"} for option in _overwrites(table)),
    ]


def _overwrites(table: Table) -> list[str]:
    """The option for OVERWRITE commits that Java allows for the table."""
    if not table.schema.primary_keys:
        return ["streaming-read-append-overwrite"]
    plain = table.options.get("changelog-producer", "none") in {"none", "input"}
    return ["streaming-read-overwrite"] if plain else []


def inserted(rows: pa.Table, state: int | None) -> pa.Table:
    """The rows of a stream of Java with those of the state as inserts; Java tells stored kinds."""
    kinds = [
        "+I" if number == state and kind == "+U" else kind
        for number, kind in zip(
            rows["_SNAPSHOT"].to_pylist(), rows["_ROW_KIND"].to_pylist(), strict=True
        )
    ]
    return rows.set_column(1, "_ROW_KIND", pa.array(kinds, pa.string()))


def ours(table: Table, options: Mapping[str, str]) -> tuple[pa.Table, int | None]:
    """What our stream of Java's mode gives, in the form of the test tool; and its state."""
    keyed = table.schema.primary_keys and "changelog-producer" in table.options
    opened = replace(table, _dynamic_options=options)
    stream = opened.follow(timeout=0, mode="changelog" if keyed else "delta")
    schema = pa.schema([("_SNAPSHOT", pa.int64()), *stream.schema])
    found = list(stream)
    tables = [
        batch.rows.add_column(0, "_SNAPSHOT", pa.array([batch.snapshot_id] * batch.rows.num_rows))
        for batch in found
    ]
    rows = pa.concat_tables([schema.empty_table(), *tables])
    state = next((batch.snapshot_id for batch in found if batch.is_state), None)
    return rows.rename_columns(["_SNAPSHOT", "_ROW_KIND", *schema.names[2:]]), state


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_gives_what_java_gives(java: JavaPaimon, tmp_path: Path, kind: str) -> None:
    table = written(java, tmp_path, kind)
    found, rows = {}, 0
    for options in starts(table):
        theirs = java.stream(table.path, options=dict(options))
        rows += theirs.num_rows
        told, state = ours(table, options)
        found[str(options)] = difference(inserted(theirs, state), told)
    assert {name: text for name, text in found.items() if text} == {}
    assert rows > 60


def test_consumers_are_those_of_java(java: JavaPaimon, tmp_path: Path) -> None:
    table = written(java, tmp_path, "input")
    stream = table.follow(1, consumer="c", timeout=0, mode="changelog")
    assert [next(stream).snapshot_id for _ in range(2)] == [1, 2]
    listed = java.system_table(table.path, "consumers").to_pylist()
    assert listed == [{"consumer_id": "c", "next_snapshot_id": 2}]
    named = {"consumer-id": "c", "scan.mode": "latest"}
    theirs = java.stream(table.path, options=named)  # goes on where ours stopped
    assert difference(theirs, ours(table, named)[0]) == ""
    assert set(theirs["_SNAPSHOT"].to_pylist()) > {2}
    table.maintenance.consumers.delete("c")
    table._store.consumers.save("c", Consumer(next_snapshot=3))
    retained = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
    java.expire(table.path, {**retained, "snapshot.time-retained": "1 ms"})
    assert min(table._store.snapshots.ids()) == 3  # kept for our consumer
    java.reset_consumer(table.path, "c", 5)
    assert next(table.follow(consumer="c", timeout=0)).snapshot_id >= 5


@pytest.mark.parametrize("kind", ["append", "lookup", "postponed"])
def test_batch_reads_with_scan_modes_give_what_java_gives(
    java: JavaPaimon, tmp_path: Path, kind: str
) -> None:
    table = written(java, tmp_path, kind)
    table.create_tag("two", snapshot=2)
    table.create_tag("four", snapshot=4)
    times = [str(table.snapshots[n].time_millis) for n in (2, 4)]
    options: list[dict[str, str]] = [
        {"scan.mode": "latest"},
        {"scan.mode": "compacted-full"},
        {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"},
        {"scan.tag-name": "two"},
        {"scan.version": "two"},
        {"scan.watermark": "25"},
        {"scan.timestamp-millis": times[1]},
        {"scan.creation-time-millis": times[1]},
        {"scan.creation-time-millis": "1"},
        {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": str(2**42)},
        {"scan.file-creation-time-millis": times[1]},
        {"incremental-between": "1,4"},
        {"incremental-between": "two,four"},
        {"incremental-between-timestamp": ",".join(times)},
        {"incremental-between": "1,4", "incremental-between-scan-mode": "delta"},
    ]
    found = {}
    for given in options:
        theirs = java.read(table.path, options=given, row_kinds=True)
        kinds = theirs["_ROW_KIND"].to_pylist()  # engines drop the retractions
        theirs = theirs.filter(
            pa.array([kind in {"+I", "+U"} for kind in kinds], pa.bool_())
        ).drop_columns("_ROW_KIND")
        found[str(given)] = difference(theirs, open_table(table.path, options=given).to_arrow())
    assert {name: text for name, text in found.items() if text} == {}


def test_updates_by_columns_are_read_as_java_reads_them(java: JavaPaimon, tmp_path: Path) -> None:
    path = tmp_path / "db.db" / "t"
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    nullable = [(name, "STRING" if name == "p" else "INT") for name, _ in FIELDS]
    java.create_table(path, nullable, partition_keys=["p"], options=options)
    java.write(path, [row(n, n) for n in range(4)])
    table = open_table(path)
    table.update({"v": 50}, "k < 3")
    java.write(path, [row(n, n) for n in range(4, 8)])
    table.update({"v": 60}, "k > 1")
    last = table.snapshot.id if table.snapshot else 0
    assert last >= 4
    for mode in ({"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}, {"scan.mode": "latest"}):
        theirs = java.stream(path, options=mode)
        assert difference(theirs, ours(table, mode)[0]) == ""
    for start, end in itertools.combinations(range(last + 1), 2):
        given = {"incremental-between": f"{start},{end}", "incremental-between-scan-mode": "delta"}
        theirs = java.read(path, options=given)
        assert theirs.num_rows
        found = open_table(path, options=given).to_arrow()
        assert set(found["p"].to_pylist()) <= {"a", "b"}  # Java: null where files are merged
        names = ["k", "v"] if start else found.column_names
        assert difference(theirs.select(names), found.select(names)) == "", given
