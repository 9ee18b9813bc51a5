import json
from pathlib import Path

import pyarrow as pa

import paimon_explore as pe
from paimon_explore.inspection.health.findings import Finding, Severity
from paimon_explore.inspection.health.health_report import Health, table_health
from paimon_explore.inspection.health.health_rules import RULES
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
