import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.inspection.health.findings import Finding, Severity
from paimon_explore.inspection.health.health_report import Health, table_health
from paimon_explore.inspection.health.health_rules import RULES
from paimon_explore.inspection.overview.example_inputs import example_inputs
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.consumer import Consumer
from support.explored import History
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table, new_catalog

COLUMNS = columns(k=pa.int32(), v=pa.string())
NOW = 1_800_000_000_000


def rows(*keys: int) -> list[dict[str, object]]:
    return [{"k": k, "v": str(k)} for k in keys]


def found(health: Health, rule: str) -> list[Finding]:
    return [one for one in health if one.rule == rule]


def test_a_backlog_is_a_warning_and_beyond_the_stop_trigger_an_error() -> None:
    table = keyed_table(COLUMNS, *[rows(i) for i in range(6)], primary_key=["k"])
    (late,) = found(table.health(), "level-0 backlog")
    assert (late.severity, late.figure, late.threshold) == (Severity.WARNING, 6, 5)
    assert late.option == "num-sorted-run.compaction-trigger"
    assert late.evidence == "lsm:bucket 0"
    for number in range(6, 9):
        table.upsert(rows(number))
    (stopped,) = found(table.health(), "level-0 backlog")
    assert (stopped.severity, stopped.threshold) == (Severity.ERROR, 8)
    table.compact()
    assert found(table.health(), "level-0 backlog") == []


def test_small_files_of_append_tables_are_counted_by_partition() -> None:
    schema = columns(k=pa.int32(), dt=pa.string())
    commits = [[{"k": i, "dt": "it's"}] for i in range(7)]
    table = append_table(schema, *commits, [{"k": 9, "dt": "b"}], partition_by=["dt"])
    (small,) = found(table.health(), "small files")
    assert (small.figure, small.threshold, small.option) == (7, 5, "compaction.min.file-num")
    kind, _, condition = small.evidence.partition(":")
    assert kind == "filter"
    assert len(table.files(condition)) == 7


EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
BLOB_COLUMNS = {"k": "INT", "b": "BLOB"}


@pytest.mark.parametrize(
    ("schema", "options", "whats"),
    [
        ({"k": "INT", "b": "STRING"}, {}, ["the table has 7 files"]),
        (BLOB_COLUMNS, EVOLVING, ["the table has 7 files"]),
        (
            {"k": "INT", "b": "STRING"},
            {"bucket": "2", "bucket-key": "k"},
            ["bucket 0 has 7 files", "bucket 1 has 7 files"],
        ),
    ],
)
def test_small_files_are_those_that_a_compaction_merges(
    schema: Mapping[str, str], options: Mapping[str, str], whats: list[str]
) -> None:
    options = {"write-only": "true", **options}
    table = new_catalog().create_table("db.t", schema, options=options)
    small: list[Finding] = []
    for size in (5, 2):
        for number in range(size):
            value = b"x" if schema["b"] == "BLOB" else "x"
            table.append([{"k": k + number, "b": value} for k in range(20)])
        small = found(table.health(), "small files")
        assert [one.what.partition(" below")[0] for one in small] == ([] if size == 5 else whats)
    for one in small:
        assert len(table.files(one.evidence.partition(":")[2])) == one.figure
    assert found(table.health(), "no value statistics") == []
    for _ in range(2):
        table.compact(full=False)
    assert found(table.health(), "small files") == []


@pytest.mark.parametrize("name", ["size", "bucket", "file", "level"])
def test_the_evidence_of_a_partition_named_like_a_property_selects_its_files(name: str) -> None:
    schema = columns(k=pa.int32(), **{name: pa.string()})
    commits = [[{"k": i, name: "a"}] for i in range(7)]
    table = append_table(schema, *commits, [{"k": 9, name: "b"}], partition_by=[name])
    (small,) = found(table.health(), "small files")
    assert len(table.files(small.evidence.partition(":")[2])) == 7
    assert len(table.files(example_inputs(table._inspector())["files"])) in (1, 7, 8)


def test_files_that_wait_in_the_postponed_bucket_are_no_sorted_runs() -> None:
    table = keyed_table(
        COLUMNS, *[rows(i) for i in range(12)], primary_key=["k"], options={"bucket": "-2"}
    )
    (late,) = table.health()
    assert (late.severity, late.threshold) == (Severity.WARNING, 5)
    assert late.what == "bucket -2 has 12 files that wait for a compaction"
    table.compact()
    assert found(table.health(), "level-0 backlog") == []


@pytest.mark.parametrize(
    ("options", "late"),
    [
        ({}, 110),
        ({"consumer.changelog-only": "true"}, 110),
        ({"consumer.changelog-only": "false"}, 0),
    ],
)
def test_overdue_snapshots_are_those_that_expiry_removes(
    options: Mapping[str, str], late: int
) -> None:
    table = append_table(COLUMNS, options={"write-only": "true"})
    for number in range(120):
        table.append(rows(number))
    table.set_options({"snapshot.num-retained.min": "10", "snapshot.num-retained.max": "10"})
    if options:
        table._store.consumers.save("slow", Consumer(next_snapshot=3))
        table.set_options(options)
    overdue = found(table.health(), "overdue expiry")
    assert sum(one.figure for one in overdue) == late
    removed = 0
    while expired := table.maintenance.expire_snapshots().expired:
        removed += len(expired)
    assert removed == (late or 2)


def test_two_tags_of_one_snapshot_are_not_each_the_only_one() -> None:
    table = append_table(COLUMNS, rows(*range(3000)))
    for name in ("a", "b"):
        table.create_tag(name)
    table.overwrite(rows(1))
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
    held = found(table.health(), "tag retains space")
    assert [one.what.partition(" keeps ")[0] for one in held] == ["tag a", "tag b"]
    assert all(one.what.endswith("in 1 file that no snapshot needs") for one in held)


def test_missing_and_unreadable_files_are_errors(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table("db.t", COLUMNS)
    table.append(rows(1))
    table.append(rows(2))
    name = str(table.files().table.column("file_name")[0].as_py())
    next(Path(table.path).rglob(name)).unlink()
    (gone,) = found(table.health(), "missing files")
    assert (gone.severity, gone.figure, gone.evidence) == (Severity.ERROR, 1, f"file:{name}")
    (Path(table.path) / "snapshot" / "snapshot-1").write_text("{")
    health = table.health()
    assert [one.rule for one in health][:2] == ["unreadable metadata", "missing files"]


def test_hints_consumers_tags_and_overdue_snapshots_are_found() -> None:
    table = append_table(COLUMNS)
    for number in range(30):
        table.overwrite(rows(number))
    store = table._store
    store.snapshots.write_earliest_hint(7)
    table.create_tag("big", 3)
    table.maintenance.expire_snapshots(retain_max=25)
    store.consumers.save("late", Consumer(next_snapshot=2))
    store.snapshots.write_earliest_hint(7)
    health = table_health(Inspector(table._view()), NOW)
    assert [one.what for one in found(health, "stale hint")] == [
        "hint EARLIEST contains 7, but the earliest snapshot is 6"
    ]
    (lost,) = found(health, "expired consumer")
    assert (lost.figure, lost.threshold) == (2, 6)
    (tag,) = found(health, "tag retains space")
    assert tag.evidence == "snapshot:3"
    store.consumers.delete("late")
    (overdue,) = found(table_health(Inspector(table._view()), NOW), "overdue expiry")
    assert (overdue.figure, overdue.evidence) == (15, "expiry:")


def test_a_stray_snapshot_is_found() -> None:
    table = append_table(COLUMNS, rows(1), rows(2))
    store = table._store
    snapshot = store.file_io.read(store.paths.snapshot(2))
    store.file_io.replace(store.paths.snapshot(9), snapshot.replace(b'"id" : 2', b'"id" : 9'))
    (stray,) = found(table_health(Inspector(table._view()), NOW), "stray snapshot")
    assert (
        stray.what
        == "snapshot-9 exists, but snapshot-3 is missing: readers see no snapshot after 2"
    )
    assert (stray.figure, stray.threshold) == (9, 2)


def test_deleted_rows_and_absent_statistics_are_found(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "stats_none").folder)
    (none,) = found(table.health(), "no value statistics")
    assert none.figure == 1.0
    assert none.option == "metadata.stats-mode"


def test_skewed_buckets_and_partitions_are_found() -> None:
    schema = columns(k=pa.int32(), dt=pa.string())
    parts = [{"k": i, "dt": f"d{i % 5}"} for i in range(20)]
    big = [{"k": i, "dt": "big"} for i in range(2000)]
    table = append_table(schema, parts, big, partition_by=["dt"])
    (skew,) = found(table.health(), "partition skew")
    assert skew.evidence == "filter:dt = 'big'"


def test_a_table_in_order_has_no_finding() -> None:
    health = keyed_table(COLUMNS, rows(1), primary_key=["k"]).health()
    assert len(health) == 0
    assert f"All {len(RULES)} health rules passed." in repr(health)
    assert append_table(COLUMNS).health().state()["figures"] == {
        "snapshot": 0, "error": 0, "warning": 0, "note": 0, "findings": [],
    }  # fmt: skip


def test_a_rule_that_cannot_be_judged_does_not_hide_the_others() -> None:
    history = History()
    history.commit(("+", "a"))
    store = history.store
    store.file_io.delete(store.paths.manifest("manifest-1-1"))
    health = table_health(Inspector(history.view), NOW)
    assert [one.kind for one in health.problems] == ["MissingFileError"]
    assert json.dumps(health.state())
