"""What single table options change: files, names, statistics, rows and snapshots."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.commit.commit_attempt import CommitNote
from paimon_explore.commit.commit_timing import commit_retry_policy
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.maintenance.expiry.snapshot_expiry import expire_snapshots, snapshot_retention
from paimon_explore.maintenance.references.auto_tags import create_auto_tags, time_of
from paimon_explore.maintenance.references.tag_operations import TagRequest, create_tag
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.new_file_names import external_folders
from paimon_explore.write.primary_key_writer import write_upsert
from support.compacting import changelog, deleted, live, numbered, numbered_table, values
from support.entries import int_row
from support.golden import GoldenTables
from support.lifecycle import plain_table
from support.small_tables import new_catalog
from support.written import columns

OLD = datetime(2020, 1, 1)  # noqa: DTZ001 - local times
ROWS = columns({"p": pa.int32(), "k": pa.int32(), "v": pa.string()})


def partitioned(folder: object, options: Mapping[str, str] | None = None) -> Table:
    """A table with the key p, k and two buckets in each partition p; only `compact` compacts it."""
    catalog = Catalog(str(folder))
    catalog.create_database("db", if_not_exists=True)
    given = {"bucket": "2", "write-only": "true", **(options or {})}
    return catalog.create_table(
        "db.t", ROWS, primary_key=["p", "k"], partition_by="p", options=given
    )


def by_partition(folder: object, options: Mapping[str, str]) -> Table:
    """An append table with the partition column p."""
    catalog = Catalog(str(folder))
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table("db.t", ROWS, partition_by="p", options=options)


def rows(*found: tuple[int, int]) -> list[dict[str, object]]:
    return [{"p": p, "k": k, "v": str(k)} for p, k in found]


def delta(table: Table) -> list[dict[str, object]]:
    """The entries of the newest commit, in the order of its manifests."""
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    manifests = table._store.manifests
    return manifests.read_many(manifests.delta(snapshot).names).rows()


def manifest_sizes(table: Table) -> list[int]:
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    found = table._store.manifests.all(snapshot).table.column("file_size").to_pylist()
    return [int(str(size)) for size in found]


def test_entries_of_deleted_files_have_no_statistics_if_asked(tmp_path: Path) -> None:
    found = {}
    for drops in ("false", "true"):
        table = numbered_table(tmp_path / drops, {"manifest.delete-file-drop-stats": drops})
        table.upsert(numbered((1, 1)))
        table.upsert(numbered((2, 2)))
        table.compact()
        found[drops] = [row for row in delta(table) if row["kind"] == FileKind.DELETE]
        assert values(table) == {1: 1, 2: 2}
    assert [len(str(row["value_null_counts"])) for row in found["true"]] == [2, 2]
    assert [row["value_stats_cols"] for row in found["true"]] == [[], []]
    assert [row["value_null_counts"] for row in found["false"]] == [[0, 0, 1], [0, 0, 1]]
    assert [row["min_key"] for row in found["true"]] == [row["min_key"] for row in found["false"]]


def test_row_ids_are_contiguous_in_a_partition_unless_asked_otherwise(tmp_path: Path) -> None:
    key = "row-tracking.partition-group-on-commit"
    firsts: dict[str, list[tuple[object, object]]] = {}
    for groups in ("true", "false"):
        options = {"row-tracking.enabled": "true", key: groups}
        table = by_partition(tmp_path / groups, options)
        messages = [
            message
            for p in (1, 2, 1)
            for message in write_append(table._store, table.schema, rows((p, 0), (p, 1)))
        ]
        Committer(table._store, table.schema).commit(messages)
        firsts[groups] = [(row["partition"], row["first_row_id"]) for row in delta(table)]
    a, b = firsts["false"][0][0], firsts["false"][1][0]
    assert firsts["true"] == [(a, 0), (a, 2), (b, 4)]
    assert firsts["false"] == [(a, 0), (b, 2), (a, 4)]


def test_only_one_bucket_is_scanned_if_asked(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    table.upsert(rows(*[(1, k) for k in range(20)]))
    parts = [
        open_table(table.path, options={"scan.bucket": bucket}).to_arrow().column("k").to_pylist()
        for bucket in ("0", "1")
    ]
    assert {*parts[0], *parts[1]} == set(range(20))
    assert len(parts[0]) + len(parts[1]) == 20
    assert all(parts)


def test_only_fixed_buckets_of_keyed_tables_are_scanned_alone(tmp_path: Path) -> None:
    table = by_partition(tmp_path, {})
    table.append(rows((1, 1)))
    with pytest.raises(InvalidInputError, match=r"'scan.bucket' = 0 needs a table with a primary"):
        open_table(table.path, options={"scan.bucket": "0"}).to_arrow()


def test_writes_see_all_buckets_whatever_is_scanned(tmp_path: Path) -> None:
    table = partitioned(tmp_path)
    table.upsert(rows(*[(1, k) for k in range(20)]))
    open_table(table.path, options={"scan.bucket": "0"}).delete("k >= 0")
    assert table.to_arrow().num_rows == 0


def test_partitions_are_read_in_the_order_of_their_values_if_asked(tmp_path: Path) -> None:
    table = by_partition(tmp_path, {})
    for p in (10, 9, 2, 9):
        table.append(rows((p, p)))
    key = "scan.plan-sort-partition"
    found = open_table(table.path, options={key: "true"}).to_arrow().column("p").to_pylist()
    assert found == [2, 9, 9, 10]
    assert table.to_arrow().column("p").to_pylist() != found


def test_expired_tags_stay_if_asked(tmp_path: Path) -> None:
    left = {}
    for expires in ("true", "false"):
        options = {"tag.automatic-creation": "process-time", "tag.time-expire-enabled": expires}
        table = plain_table(tmp_path / expires, {**options, "write-only": "true"})
        table.append([{"k": 1, "v": "a"}])
        chosen = TableOptions(dict(table.options))
        request = TagRequest(name="old", retained=timedelta(days=1))
        create_tag(table._store, chosen, request, now=lambda: OLD)
        create_auto_tags(table._store, chosen)
        left[expires] = "old" in {tag.name for tag in table.tags}
    assert left == {"true": False, "false": True}


def test_commits_that_expire_snapshots_delete_tags_whose_time_has_passed(tmp_path: Path) -> None:
    left = {}
    for expires in ("true", "false"):
        options = {"snapshot.num-retained.max": "2", "snapshot.num-retained.min": "1"}
        table = plain_table(tmp_path / expires, {**options, "tag.time-expire-enabled": expires})
        table.append([{"k": 1, "v": "a"}])
        table.create_tag("young", retained="1 d")
        request = TagRequest(name="old", retained=timedelta(days=1))
        create_tag(table._store, TableOptions(dict(table.options)), request, now=lambda: OLD)
        table.append([{"k": 2, "v": "a"}])
        assert list(table.tags.keys()) == ["old", "young"]
        table.append([{"k": 3, "v": "a"}])
        left[expires] = list(table.tags.keys())
    assert left == {"true": ["young"], "false": ["old", "young"]}


def test_days_of_automatic_tags_are_those_of_the_time_zone(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    table.append([{"k": 1, "v": "a"}])
    snapshot = table.snapshots[1]
    utc = datetime.fromtimestamp(snapshot.time_millis / 1000, UTC).replace(tzinfo=None)
    hours = {}
    for zone in ("UTC", "Asia/Tokyo"):
        found = time_of(snapshot, TableOptions({"sink.process-time-zone": zone}))
        assert found is not None
        hours[zone] = (found - utc).total_seconds() / 3600
    assert hours == {"UTC": 0, "Asia/Tokyo": 9}
    with pytest.raises(InvalidInputError, match=r"^Option 'sink.process-time-zone' is 'Mars'"):
        time_of(snapshot, TableOptions({"sink.process-time-zone": "Mars"}))


def test_watermarks_are_times_of_the_time_zone(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    table.append([{"k": 1, "v": "a"}])
    given = {"tag.automatic-creation": "watermark", "sink.watermark-time-zone": "Asia/Tokyo"}
    times = {
        watermark: time_of(replace(table.snapshots[1], watermark=watermark), TableOptions(given))
        for watermark in (None, -1, 0, 90_061_500, 253_402_300_800_000)
    }
    assert {watermark: str(time) for watermark, time in times.items()} == {
        None: "None",
        -1: "None",
        0: "1970-01-01 09:00:00",
        90_061_500: "1970-01-02 10:01:01.500000",
        253_402_300_800_000: "None",
    }


def test_each_batch_is_compacted_fully_if_asked(tmp_path: Path) -> None:
    key = "full-compaction.delta-commits"
    options = {"changelog-producer": "full-compaction", "write-only": "false", key: "1"}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 10)))
    table.upsert(numbered((1, 11)))
    assert [row["level"] for row in live(table)] == [5]
    assert changelog(table, 4) == [("-U", 1, 10), ("+U", 1, 11)]


def test_a_new_partition_of_postponed_rows_gets_as_many_buckets_as_rows_need(
    tmp_path: Path,
) -> None:
    options = {"bucket": "-2", "postpone.target-row-num-per-bucket": "30"}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered(*[(k, k) for k in range(100)]))
    table.compact()
    assert {row["total_buckets"] for row in live(table)} == {4}
    assert len(values(table)) == 100


def test_waits_between_retries_are_those_of_the_options() -> None:
    options = {
        "commit.min-retry-wait": "20 ms",
        "commit.max-retry-wait": "50 ms",
        "commit.timeout": "3 s",
        "commit.max-retries": "4",
    }
    policy = commit_retry_policy(TableOptions(options))
    assert [policy.wait_ms(retry, 0.0) for retry in range(3)] == [20, 40, 50]
    assert not policy.is_over(3, 2999)
    assert policy.is_over(3, 3001)
    assert policy.is_over(4, 0)


def test_equal_values_of_ignored_fields_make_no_change(tmp_path: Path) -> None:
    options = {
        "changelog-producer": "lookup",
        "changelog-producer.row-deduplicate": "true",
        "changelog-producer.row-deduplicate-ignore-fields": "s",
    }
    table = numbered_table(tmp_path, options)
    table.upsert([{"k": 1, "v": 1, "s": 1}, {"k": 2, "v": 1, "s": 1}])
    table.compact()
    table.upsert([{"k": 1, "v": 1, "s": 2}, {"k": 2, "v": 2, "s": 1}])
    table.compact()
    assert changelog(table, 4) == [("-U", 2, 1), ("+U", 2, 2)]


def test_changelog_files_have_statistics_of_their_own(tmp_path: Path) -> None:
    options = {"changelog-producer": "input", "changelog-file.stats-mode": "none"}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 1)))
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    manifests = table._store.manifests
    told = manifests.read_many(manifests.changelog(snapshot).names).rows()
    assert [row["value_stats_cols"] for row in told] == [[]]
    assert [row["value_stats_cols"] for row in live(table)] == [None]


def test_statistics_may_differ_per_level(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"metadata.stats-mode.per.level": "0:none"})
    table.upsert(numbered((1, 1)))
    table.upsert(numbered((1, 2)))
    assert [row["value_stats_cols"] for row in live(table)] == [[], []]
    table.compact()
    assert [row["value_stats_cols"] for row in live(table)] == [None]


def test_only_the_first_columns_have_statistics_if_asked(tmp_path: Path) -> None:
    options = {"metadata.stats-keep-first-n-columns": "2"}
    table = numbered_table(tmp_path, options, keyed=False)
    table.append([{"k": 1, "v": 1, "s": 1}])
    assert [row["value_stats_cols"] for row in live(table)] == [["k", "v"]]


def test_columns_without_statistics_have_null_ones_if_asked(tmp_path: Path) -> None:
    options = {"metadata.stats-keep-first-n-columns": "1", "metadata.stats-dense-store": "false"}
    table = numbered_table(tmp_path, options, keyed=False)
    table.append([{"k": 1, "v": 1, "s": 1}])
    (row,) = live(table)
    assert (row["value_stats_cols"], row["value_null_counts"]) == (None, [0, None, None])


def test_large_file_indexes_are_files_of_their_own(tmp_path: Path) -> None:
    found = {}
    for threshold in ("1 mb", "1 b"):
        options = {
            "file-index.bloom-filter.columns": "k",
            "file-index.in-manifest-threshold": threshold,
        }
        table = numbered_table(tmp_path / threshold, options, keyed=False)
        table.append([{"k": 1, "v": 1, "s": 1}])
        (row,) = live(table)
        found[threshold] = (
            row["embedded_file_index"] is not None,
            len(str(row["extra_files"])) > 2,
        )
    assert found == {"1 mb": (True, False), "1 b": (False, True)}


def test_file_indexes_are_used_unless_disabled(tmp_path: Path) -> None:
    options = {"file-index.bloom-filter.columns": "k", "file-index.in-manifest-threshold": "1 b"}
    table = numbered_table(tmp_path, options, keyed=False)
    table.append([{"k": k, "v": 1, "s": 1} for k in (1, 3)])
    index = next(path for path in Path(table.path).rglob("*.index"))
    index.write_bytes(b"damaged")
    off = open_table(table.path, options={"file-index.read.enabled": "false"})
    assert off.scan(where="k = 3").to_arrow().num_rows == 1
    with pytest.raises(Exception, match="index"):
        table.scan(where="k = 3").to_arrow()


def test_deletion_vectors_are_packed_into_files_of_the_target_size(tmp_path: Path) -> None:
    counts = {}
    for target in ("2 mb", "1 b"):
        options = {
            "deletion-vectors.enabled": "true",
            "deletion-vector.index-file.target-size": target,
        }
        table = numbered_table(tmp_path / target, options, keyed=False)
        for first in (0, 10, 20):
            table.append([{"k": first + i, "v": i, "s": 0} for i in range(5)])
        table.delete("v = 1")
        assert deleted(table) == [[1], [1], [1]]
        counts[target] = len(list((Path(table.path) / "index").glob("index-*")))
    assert counts == {"2 mb": 1, "1 b": 3}


def test_index_files_are_beside_data_files_if_asked(tmp_path: Path) -> None:
    options = {"deletion-vectors.enabled": "true", "index-file-in-data-file-dir": "true"}
    table = numbered_table(tmp_path, options, keyed=False)
    table.append([{"k": 1, "v": 1, "s": 1}, {"k": 2, "v": 2, "s": 2}])
    table.delete("k = 1")
    assert [
        path.parent.name
        for path in Path(table.path).rglob("index-*")
        if "manifest" not in path.name
    ] == ["bucket-0"]
    assert values(table) == {2: 2}


def test_indexes_over_row_ids_are_never_beside_data_files(tmp_path: Path) -> None:
    options = {
        "row-tracking.enabled": "true",
        "data-evolution.enabled": "true",
        "index-file-in-data-file-dir": "true",
    }
    table = numbered_table(tmp_path, options, keyed=False)
    table.append([{"k": i, "v": i, "s": i} for i in range(5)])
    table.maintenance.create_global_index("v", "btree")
    table.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert table.maintenance.fsck(read_rows=True) == []
    assert len(list((Path(table.path) / "index").iterdir())) == 1
    assert table.count("v = 3") == 1
    table.maintenance.drop_global_index("v", "btree")
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1, older_than=datetime.now(UTC))
    assert list((Path(table.path) / "index").iterdir()) == []


def test_level_0_is_merged_on_read_if_asked(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"deletion-vectors.enabled": "true"})
    table.upsert(numbered((1, 1)))
    assert values(table) == {}
    merged = open_table(table.path, options={"deletion-vectors.merge-on-read": "true"})
    assert values(merged) == {1: 1}


def test_compactions_take_level_0_if_asked(tmp_path: Path) -> None:
    found = {}
    for force in ("false", "true"):
        options = {"compaction.force-up-level-0": force}
        table = numbered_table(tmp_path / force, options)
        table.upsert(numbered((1, 1)))
        table.compact(full=False)
        found[force] = [row["level"] for row in live(table)]
    assert found == {"false": [0], "true": [5]}


@pytest.mark.parametrize(
    ("make", "bucket"), [(by_partition, "-1"), (partitioned, "1"), (partitioned, "-2")]
)
def test_partitions_that_expire_are_not_compacted_if_asked(
    tmp_path: Path, make: Callable[[object, Mapping[str, str]], Table], bucket: str
) -> None:
    """By their values only: partitions that expire by their time of update are compacted."""
    options = {"partition.expiration-time": "7 d", "partition.timestamp-pattern": "$p-01-01"}
    table = make(tmp_path, {"bucket": bucket, **options})
    for k in range(2):
        table.append(rows((2020, k), (2999, k)))
    skips = {"compaction.skip-expired-partitions": "true"}
    by_update = {"partition.expiration-strategy": "update-time"}
    assert compacted(table, skips) == {int_row(2999)}
    assert compacted(table, {**skips, **by_update}) == {int_row(2020)}


def compacted(table: Table, options: Mapping[str, str]) -> set[object]:
    """The partitions that a compaction with some options changes."""
    assert open_table(table.path, options=options).compact() is not None
    return {row["partition"] for row in delta(table)}


def test_files_with_many_deleted_rows_are_rewritten(tmp_path: Path) -> None:
    found = {}
    for threshold in ("0.9", "0.1"):
        options = {
            "deletion-vectors.enabled": "true",
            "compaction.delete-ratio-threshold": threshold,
            "target-file-size": "1 b",
        }
        table = numbered_table(tmp_path / threshold, options, keyed=False)
        table.append([{"k": k, "v": k, "s": 0} for k in range(10)])
        table.delete("k < 5")
        table.compact(full=False)
        found[threshold] = [row["row_count"] for row in live(table)]
    assert found == {"0.9": [10], "0.1": [5]}


def test_large_files_need_no_compaction_by_the_ratio_of_small_ones(tmp_path: Path) -> None:
    found = {}
    for ratio in ("0.7", "0.0001"):
        options = {"compaction.small-file-ratio": ratio, "target-file-size": "1 mb"}
        options |= {"compaction.min.file-num": "2"}
        table = numbered_table(tmp_path / ratio, options, keyed=False)
        for k in range(3):
            table.append([{"k": k, "v": k, "s": 0}])
        table.compact(full=False)
        found[ratio] = len(live(table))
    assert found == {"0.7": 2, "0.0001": 3}


def test_manifests_end_at_the_target_size(tmp_path: Path) -> None:
    table = by_partition(tmp_path, {"manifest.target-file-size": "3 kb"})
    table.append(rows(*[(p, p) for p in range(60)]))
    assert len(manifest_sizes(table)) > 1
    assert max(manifest_sizes(table)) < 6000


def test_manifests_are_merged_at_the_threshold(tmp_path: Path) -> None:
    counts = {}
    for threshold in ("16 mb", "1 b"):
        key = "manifest.full-compaction-threshold-size"
        table = numbered_table(tmp_path / threshold, {key: threshold})
        for k in range(5):
            table.upsert(numbered((k, k)))
        counts[threshold] = len(manifest_sizes(table))
    assert counts["16 mb"] == 5
    assert counts["1 b"] == 2


def test_overwritten_files_go_to_the_top_level_unless_asked_otherwise(tmp_path: Path) -> None:
    found = {}
    for upgrade in ("true", "false"):
        table = numbered_table(tmp_path / upgrade, {"overwrite-upgrade": upgrade})
        table.upsert(numbered((1, 1)))
        table.overwrite(numbered((2, 2)))
        found[upgrade] = [row["level"] for row in live(table)]
    assert found == {"true": [5], "false": [0]}


def test_folders_of_days_have_numbers_or_dates(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    names = {}
    for legacy in ("true", "false"):
        table = catalog.create_table(
            f"db.t_{legacy}",
            {"d": "DATE", "k": "INT"},
            partition_by="d",
            options={"partition.legacy-name": legacy},
        )
        table.append([{"d": datetime(1970, 1, 3).date(), "k": 1}])  # noqa: DTZ001 - a day
        names[legacy] = [path.name for path in Path(table.path).glob("d=*")]
    assert names == {"true": ["d=2"], "false": ["d=1970-01-03"]}


def test_a_local_time_selects_the_snapshot_before_it(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    table.append([{"k": 1, "v": "a"}])
    time.sleep(0.01)
    between = datetime.fromtimestamp(table.snapshots[1].time_millis / 1000 + 0.005)  # noqa: DTZ006
    table.append([{"k": 2, "v": "b"}])
    at = open_table(table.path, options={"scan.timestamp": between.isoformat(sep=" ")})
    assert at.to_arrow().column("k").to_pylist() == [1]


def test_the_cost_of_opening_files_limits_the_files_of_a_split(tmp_path: Path) -> None:
    counts = {}
    for cost in ("1 b", "64 mb"):
        table = numbered_table(tmp_path / cost, {"source.split.open-file-cost": cost}, keyed=False)
        for k in range(4):
            table.append([{"k": k, "v": k, "s": 0}])
        counts[cost] = len(table.scan().plan().splits)
    assert counts == {"1 b": 1, "64 mb": 2}


def test_buckets_are_those_of_the_hash_function(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t",
        {"k": "INT", "v": "INT"},
        options={"bucket": "3", "bucket-key": "k", "bucket-function.type": "mod"},
    )
    table.append([{"k": k, "v": k} for k in (0, 3, 4, 8)])
    found = {row["bucket"]: row["row_count"] for row in live(table)}
    assert found == {0: 2, 1: 1, 2: 1}


def test_a_row_without_a_key_value_is_stored_if_keys_may_be_null(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"primary-key.nullable": "true"})
    assert table.schema.fields[0].type.nullable


def test_rows_of_partitions_without_a_time_are_refused_if_asked(tmp_path: Path) -> None:
    options = {
        "partition.timestamp-format.strict": "true",
        "partition.timestamp-pattern": "$d",
        "partition.timestamp-formatter": "yyyyMMdd",
    }
    kinds = {"d": "STRING", "k": "INT"}
    table = new_catalog(tmp_path).create_table("db.t", kinds, partition_by="d", options=options)
    table.append([{"d": "20240131", "k": 1}])
    for wrong in ("2024-01-31", "20240231", None):
        with pytest.raises(InvalidInputError, match=r"Partition d=.* has no time"):
            table.append([{"d": wrong, "k": 2}])
    assert table.to_arrow().to_pylist() == [{"d": "20240131", "k": 1}]
    lenient = open_table(table.path, options={"partition.timestamp-format.strict": "false"})
    lenient.append([{"d": "x", "k": 3}])
    assert table.to_arrow().num_rows == 2


def test_a_point_in_time_is_an_option(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    for k in (1, 2):
        note = CommitNote(watermark=k * 100)
        messages = write_append(table._store, table.schema, [{"k": k, "v": "x"}])
        Committer(table._store, table.schema).commit(messages, note=note)
        time.sleep(0.003)
    table.create_tag("first", snapshot=1)
    millis = str(table.snapshots[2].time_millis - 1)
    for options in (
        {"scan.snapshot-id": "1"},
        {"scan.tag-name": "first"},
        {"scan.version": "first"},
        {"scan.version": "1"},
        {"scan.watermark": "50"},
        {"scan.timestamp-millis": millis},
        {"scan.mode": "from-timestamp", "scan.timestamp-millis": millis},
    ):
        found = open_table(table.path, options=options).to_arrow()
        assert found.column("k").to_pylist() == [1], options


def test_a_branch_is_an_option(tmp_path: Path) -> None:
    table = plain_table(tmp_path, {"write-only": "true"})
    table.append([{"k": 1, "v": "x"}])
    table.create_tag("one")
    table.create_branch("b", tag="one")
    open_table(table.path, options={"branch": "b"}).append([{"k": 2, "v": "y"}])
    assert table.to_arrow().num_rows == 1
    assert open_table(table.path, options={"branch": "b"}).to_arrow().num_rows == 2


def test_keys_and_partitions_may_be_options(tmp_path: Path) -> None:
    options = {"primary-key": "p,k", "partition": "p", "bucket": "1"}
    table = new_catalog(tmp_path).create_table("db.t", {"p": "INT", "k": "INT"}, options=options)
    assert (table.schema.primary_keys, table.schema.partition_keys) == (("p", "k"), ("p",))
    assert dict(table.options) == {"bucket": "1"}


def test_each_level_has_its_compression(tmp_path: Path) -> None:
    options = {
        "file.compression": "snappy",
        "file.compression.per.level": "0:none",
        "changelog-file.compression": "gzip",
        "changelog-producer": "input",
        "changelog-file.prefix": "log-",
    }
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 1)))
    table.upsert(numbered((1, 2)))
    table.compact()
    codecs = {
        (
            path.name.partition("-")[0],
            pq.ParquetFile(path).metadata.row_group(0).column(0).compression,
        )
        for path in Path(table.path).rglob("*.parquet")
    }
    assert codecs == {("data", "UNCOMPRESSED"), ("data", "SNAPPY"), ("log", "GZIP")}


def test_a_higher_level_of_zstd_makes_smaller_files(tmp_path: Path) -> None:
    sizes = {}
    for level in ("1", "19"):
        options = {"file.compression.zstd-level": level}
        table = plain_table(tmp_path / level, {**options, "write-only": "true"})
        table.append([{"k": k, "v": f"{k * 7919 % 1000:04d} {k * k}" * 3} for k in range(4000)])
        (row,) = live(table)
        sizes[level] = int(str(row["file_size"]))
    assert sizes["19"] < sizes["1"]


def test_manifests_have_the_compression_of_the_option(tmp_path: Path) -> None:
    for codec in (b"snappy", b"null"):
        name = codec.decode()
        table = numbered_table(tmp_path / name, {"manifest.compression": name})
        table.upsert(numbered((1, 1)))
        for path in (Path(table.path) / "manifest").glob("manifest-*"):
            assert codec in path.read_bytes()[:9000]


def test_as_many_snapshots_expire_at_once_as_the_options_say(tmp_path: Path) -> None:
    options = {
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "100",
        "snapshot.time-retained": "1 ms",
        "snapshot.expire.limit": "2",
    }
    table = plain_table(tmp_path, {**options, "write-only": "true"})
    for k in range(5):
        table.append([{"k": k, "v": "x"}])
    time.sleep(0.01)
    expire_snapshots(table._store, TableOptions(options), snapshot_retention(TableOptions(options)))
    assert [found.id for found in table.snapshots] == [3, 4, 5]


def test_splits_have_the_target_size(tmp_path: Path) -> None:
    counts = {}
    for size in ("128 mb", "1 b"):
        options = {"source.split.target-size": size, "source.split.open-file-cost": "1 b"}
        table = numbered_table(tmp_path / size, options, keyed=False)
        for k in range(4):
            table.append([{"k": k, "v": k, "s": 0}])
        counts[size] = len(table.scan().plan().splits)
    assert counts == {"128 mb": 1, "1 b": 4}


@pytest.mark.parametrize(
    ("more", "roots"),
    [
        (
            {
                "data-file.external-paths.strategy": "specific-fs",
                "data-file.external-paths.specific-fs": "s3",
            },
            ("s3://b",),
        ),
        (
            {
                "data-file.external-paths.strategy": "weight-robin",
                "data-file.external-paths.weights": "1,3",
            },
            ("oss://a", "s3://b"),
        ),
    ],
)
def test_new_files_go_to_the_external_paths_of_the_strategy(
    more: dict[str, str], roots: tuple[str, ...]
) -> None:
    folders = external_folders(TableOptions({"data-file.external-paths": "oss://a,s3://b", **more}))
    assert folders is not None
    assert folders.roots == roots


def test_the_branches_of_a_chain_table_are_options(golden: GoldenTables) -> None:
    folder = golden.table("java200", "chain_table").folder
    assert open_table(folder).to_arrow().num_rows > 0
    for key in ("scan.fallback-snapshot-branch", "scan.fallback-delta-branch"):
        with pytest.raises(NotFoundError, match="nowhere"):
            open_table(folder, options={key: "nowhere"}).to_arrow()
    alone = open_table(folder, options={"chain-table.enabled": "false"})
    assert alone.to_arrow().num_rows == 0


def test_later_snapshots_win_over_larger_sequence_numbers(tmp_path: Path) -> None:
    options = {"sequence.snapshot-ordering": "true", "write-only": "true", "bucket": "1"}
    table = numbered_table(tmp_path, options)
    late = write_upsert(table._store, table.schema, numbered((1, 1)))
    table.upsert(numbered((1, 2), (2, 2), (3, 3), (1, 4)))
    Committer(table._store, table.schema).commit(late)
    assert values(table) == {1: 1, 2: 2, 3: 3}
    table.compact()
    assert values(table) == {1: 1, 2: 2, 3: 3}
    table.upsert(numbered((1, 5)))
    assert values(table)[1] == 5
