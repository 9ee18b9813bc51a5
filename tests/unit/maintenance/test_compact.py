"""Compactions of whole tables."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import (
    FormatError,
    InvalidInputError,
    MissingFileError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import CommitKind
from paimon_explore.write.primary_key_writer import write_upsert
from support.compacting import changelog, deleted, levels, live, numbered, numbered_table, values
from support.faulty_file_io import Fault, FaultyFileIO
from support.lifecycle import files_of
from support.memory_files import forget_manifests
from support.small_tables import new_catalog
from support.table_kinds import TABLE_KINDS
from support.through import through
from support.written import columns

MANY_VALUES = [(k, 1) for k in range(100, 1100)]
"""Enough keys for a file that is much larger than one of a few rows."""


def compacted(table: Table, *, full: bool = True) -> list[CommitMessage]:
    """The messages of a compaction that is not committed."""
    options = TableOptions(table.schema.options)
    return compact_table(table._store, table.schema, options, full=full)


def test_a_full_compaction_leaves_one_file_on_the_top_level(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 10), (2, 20), (3, 30)))
    table.upsert(numbered((2, 21), (4, 40)))
    table.upsert(numbered((1, None), (9, None), kind="-D"))
    made = table.compact()
    assert made is not None
    assert made.commit_kind is CommitKind.COMPACT
    assert levels(table) == [(5, 3)]
    assert values(table) == {2: 21, 3: 30, 4: 40}
    file = live(table)[0]
    assert (file["delete_row_count"], file["file_source"]) == (0, 1)
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (2, 4)
    assert (made.total_record_count, made.delta_record_count) == (3, -4)
    assert values(table.at(snapshot=2)) == {1: 10, 2: 21, 3: 30, 4: 40}


def test_what_is_compacted_is_not_compacted_again(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    assert table.compact() is None
    table.upsert(numbered((1, 10)))
    assert table.compact() is not None
    assert table.compact() is None
    assert table.compact(full=False) is None


def test_a_file_alone_is_upgraded_and_not_rewritten(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 10)))
    before = live(table)[0]
    table.compact()
    assert live(table) == [{**before, "level": 5}]
    assert values(table) == {1: 10}


def test_a_file_with_deletions_is_rewritten_for_the_top_level(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert([*numbered((1, 10)), *numbered((2, None), kind="-D")])
    table.compact()
    assert levels(table) == [(5, 1)]


def test_a_bucket_may_become_empty(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 10)))
    table.upsert(numbered((1, None), kind="-D"))
    table.compact()
    assert levels(table) == []
    assert values(table) == {}
    table.upsert(numbered((1, 11)))
    assert values(table) == {1: 11}


def test_large_files_go_up_and_small_ones_beside_them_are_put_together(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"target-file-size": "2 kb"})
    table.upsert(numbered((0, 1), (1, 1)))
    table.upsert(numbered((5, 1), (6, 1)))
    table.upsert(numbered(*((k, k) for k in range(100, 1100))))
    large = [row["file_name"] for row in live(table) if row["row_count"] == 1000]
    table.compact()
    assert levels(table) == [(5, 4), (5, 1000)]
    assert large[0] in [row["file_name"] for row in live(table)]


def test_files_whose_keys_move_on_are_merged_by_their_age(tmp_path: Path) -> None:
    """The first sorted run then holds the oldest and the newest file."""
    table = numbered_table(tmp_path)
    for first in range(0, 50, 10):
        table.upsert(numbered(*((key, first) for key in range(first, first + 15))))
    table.compact()
    assert levels(table) == [(5, 55)]
    assert values(table) == {key: min(key // 10 * 10, 40) for key in range(55)}
    file = live(table)[0]
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (0, 74)


def test_sums_of_files_in_order_keep_the_newest_sequence_number(tmp_path: Path) -> None:
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"}
    table = numbered_table(tmp_path, options)
    for value in (1, 2, 4):
        table.upsert(numbered((1, value), (2, value)))
    table.compact()
    assert values(table) == {1: 7, 2: 7}
    file = live(table)[0]
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (4, 5)


def test_files_written_at_the_same_time_are_merged_by_sequence_numbers(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    written = [
        write_upsert(table._store, table.schema, rows)
        for rows in (numbered((9, 0), (1, 10)), numbered((1, 20)))
    ]
    for messages in written:
        Committer(table._store, table.schema).commit(messages)
    assert values(table) == {1: 10, 9: 0}
    table.compact()
    assert values(table) == {1: 10, 9: 0}


def test_a_minor_compaction_keeps_deletions_that_hide_deeper_rows(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"num-sorted-run.compaction-trigger": "3"})
    table.upsert(numbered(*((k, k) for k in range(1000))))
    table.compact()
    assert levels(table) == [(3, 1000)]
    table.upsert(numbered((1, None), kind="-D"))
    assert table.compact(full=False) is None
    table.upsert(numbered((2, 22)))
    table.compact(full=False)
    assert levels(table) == [(2, 2), (3, 1000)]
    assert live(table)[0]["delete_row_count"] == 1
    assert len(values(table)) == 999
    assert values(table)[2] == 22
    table.compact()
    assert levels(table) == [(3, 999)]


def test_only_the_given_partitions_are_compacted(tmp_path: Path) -> None:
    table = new_catalog(tmp_path).create_table(
        "db.t",
        columns({"k": pa.int32(), "p": pa.string()}),
        primary_key=["k", "p"],
        partition_by=["p"],
        options={"bucket": "1"},
    )
    for _ in range(2):
        table.upsert([{"k": 1, "p": "a"}, {"k": 1, "p": "b"}])
    table.compact(partitions=[{"p": "b"}])
    assert levels(table) == [(0, 1), (0, 1), (5, 1)]
    with pytest.raises(InvalidInputError, match="'q' is not a partition column"):
        table.compact(partitions=[{"q": 1}])
    assert table.compact(partitions=[{"p": "none"}]) is None


def test_rows_written_meanwhile_stay(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    for value in (1, 2):
        table.upsert(numbered((1, value)))
    messages = compacted(table)
    table.upsert(numbered((1, 3)))
    Committer(table._store, table.schema).commit(messages)
    assert levels(table) == [(0, 1), (5, 1)]
    assert values(table) == {1: 3}


def test_a_table_with_an_index_of_an_unknown_type_is_not_compacted(tmp_path: Path) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 1)))
    common = {"kind": 0, "partition": bytes(12), "bucket": 0, "file_size": 1, "row_count": 1}
    index = IndexEntries.from_rows([{**common, "index_type": "OTHER", "file_name": "index-1"}])
    message = CommitMessage(partition=bytes(12), bucket=0, total_buckets=1, new_index_files=index)
    Committer(table._store, table.schema).commit([message])
    with pytest.raises(UnsupportedFeatureError, match="with an index of type OTHER"):
        table.compact()


@pytest.mark.parametrize("buckets", [None, 0])
def test_a_missing_manifest_is_explained(tmp_path: Path, buckets: int | None) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 1)))
    for path in Path(table.path, "manifest").iterdir():
        path.unlink()
    forget_manifests()
    with pytest.raises(MissingFileError, match=r"Snapshot 1 of .* needs this file"):
        table.compact(buckets=buckets)


# ---------------------------------------------------------------- changelogs


def test_lookup_tells_what_was_before(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"changelog-producer": "lookup"})
    table.upsert(numbered((1, 10), (2, 20), *MANY_VALUES))
    table.compact(full=False)
    assert changelog(table, 2)[:3] == [("+I", 1, 10), ("+I", 2, 20), ("+I", 100, 1)]
    table.upsert([*numbered((1, 10), (4, 40)), *numbered((2, None), (9, None), kind="-D")])
    table.compact(full=False)
    assert levels(table) == [(4, 4), (5, 1002)]
    assert changelog(table, 4) == [
        ("-U", 1, 10),
        ("+U", 1, 10),
        ("-D", 2, 20),
        ("+I", 4, 40),
    ]
    assert values(table) == {1: 10, 4: 40, **dict(MANY_VALUES)}
    assert table.compact() is not None
    assert changelog(table, 5) == []


def test_equal_updates_are_left_out_if_asked(tmp_path: Path) -> None:
    options = {"changelog-producer": "lookup", "changelog-producer.row-deduplicate": "true"}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 10), (2, 20), (3, None)))
    table.compact()
    table.upsert(numbered((1, 10), (2, 21), (3, None)))
    table.compact()
    assert changelog(table, 4) == [("-U", 2, 20), ("+U", 2, 21)]


def test_a_full_compaction_tells_what_changed_since_the_last_one(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"changelog-producer": "full-compaction"})
    table.upsert(numbered((1, 10)))
    table.compact()
    assert changelog(table, 2) == [("+I", 1, 10)]
    table.upsert(numbered((1, 11), (2, 20)))
    table.upsert(numbered((1, 12), (2, 21)))
    assert table.compact() is not None
    assert changelog(table, 5) == [("-U", 1, 10), ("+U", 1, 12), ("+I", 2, 21)]


def test_aggregates_are_completed_once_and_not_counted_twice(tmp_path: Path) -> None:
    options = {
        "changelog-producer": "lookup",
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
    }
    table = numbered_table(tmp_path, options)
    table.upsert(numbered(*MANY_VALUES))
    table.compact()
    table.upsert(numbered((107, 2)))
    table.compact(full=False)
    assert levels(table) == [(4, 1), (5, 1000)]
    assert changelog(table, 4) == [("-U", 107, 1), ("+U", 107, 3)]
    assert values(table)[107] == 3
    table.compact()
    assert levels(table) == [(5, 1000)]
    assert values(table)[107] == 3


@pytest.mark.parametrize("option", ["changelog-producer=lookup", "deletion-vectors.enabled=true"])
def test_a_lookup_merges_a_row_that_is_alone_with_its_key_too(tmp_path: Path, option: str) -> None:
    name, _, value = option.partition("=")
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", name: value}
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 10)))
    table.upsert(numbered((2, 3), kind="-D"))
    table.compact()
    assert values(table) == {1: 10, 2: -3}


def test_a_function_refuses_a_lone_retract_where_a_lookup_compacts(tmp_path: Path) -> None:
    options = {
        "changelog-producer": "lookup",
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "max",
        "fields.v.ignore-retract": "true",
    }
    table = numbered_table(tmp_path, options)
    table.upsert(numbered((1, 10)))
    table.upsert(numbered((2, 3), kind="-D"))
    table.set_options({"fields.v.ignore-retract": "false"})
    with pytest.raises(FormatError, match="ignore-retract"):
        table.compact()


# ---------------------------------------------------------------- deletion vectors, first row


def test_new_rows_mark_the_rows_that_they_replace(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"deletion-vectors.enabled": "true"})
    table.upsert(numbered((0, 0), (1, 1), (2, 2), *MANY_VALUES))
    assert values(table) == {}
    table.compact(full=False)
    assert deleted(table) == []
    table.upsert([*numbered((0, 33), (12, 12)), *numbered((2, None), kind="-D")])
    table.compact(full=False)
    assert levels(table) == [(4, 2), (5, 1003)]
    assert deleted(table) == [[0, 2]]
    assert values(table) == {0: 33, 1: 1, 12: 12, **dict(MANY_VALUES)}
    table.compact()
    assert levels(table) == [(5, 1003)]
    assert deleted(table) == []


def test_keys_are_looked_up_in_files_of_several_batches(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"deletion-vectors.enabled": "true"})
    keys = pa.array(range(270_000), pa.int32())
    table.upsert(pa.table({"k": keys, "v": keys, "s": keys}))
    table.compact()
    table.upsert(numbered((269_998, -1)))
    table.compact(full=False)
    assert levels(table) == [(4, 1), (5, 270_000)]
    assert deleted(table) == [[269_998]]
    assert table.scan(where="v = -1").to_arrow().column("k").to_pylist() == [269_998]


def test_the_first_and_the_last_row_of_files_are_replaced(tmp_path: Path) -> None:
    options = {"deletion-vectors.enabled": "true", "target-file-size": "1 kb"}
    table = numbered_table(tmp_path, options)
    for first in (0, 2000):
        table.upsert(numbered(*((k, 1) for k in range(first, first + 1000))))
        table.compact()
    for key, vectors in ((0, [[0]]), (2999, [[0], [999]]), (1500, [[0], [999]])):
        table.upsert(numbered((key, 2)))
        table.compact(full=False)
        assert levels(table)[-2:] == [(5, 1000), (5, 1000)]
        assert sorted(deleted(table)) == vectors
        assert values(table)[key] == 2


def test_a_full_compaction_rewrites_files_with_deleted_rows(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"deletion-vectors.enabled": "true"})
    table.upsert(numbered((1, 1), (2, 2), *MANY_VALUES))
    table.compact()
    table.upsert(numbered((2, None), kind="-D"))
    table.compact(full=False)
    assert values(table) == {1: 1, **dict(MANY_VALUES)}
    table.compact()
    assert (levels(table), deleted(table)) == ([(5, 1001)], [])


def test_the_first_row_of_a_key_stays_wherever_it_lies(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"merge-engine": "first-row", "changelog-producer": "lookup"})
    table.upsert(numbered((1, 10), (2, 20), *MANY_VALUES))
    table.compact()
    table.upsert(numbered((2, 21), (3, 30)))
    table.upsert(numbered((3, 31)))
    assert 3 not in values(table)
    table.compact(full=False)
    assert levels(table) == [(4, 1), (5, 1002)]
    assert changelog(table, 5) == [("+I", 3, 30)]
    assert values(table) == {1: 10, 2: 20, 3: 30, **dict(MANY_VALUES)}


def test_a_first_row_is_told_with_the_kind_it_was_written_with(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"merge-engine": "first-row", "changelog-producer": "lookup"})
    table.upsert([*numbered((1, 10)), *numbered((2, 20), kind="+U")])
    table.compact()
    assert changelog(table, 2) == [("+I", 1, 10), ("+U", 2, 20)]


# ---------------------------------------------------------------- postponed buckets


def test_postponed_rows_go_to_real_buckets_in_the_order_they_came(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"bucket": "-2", "postpone.default-bucket-num": "2"})
    table.upsert(numbered((1, 10), (2, 20), (3, 30)))
    table.upsert([*numbered((1, 11), (1, 12)), *numbered((2, None), kind="-D")])
    assert values(table) == {}
    made = table.compact()
    assert made is not None
    assert made.commit_kind is CommitKind.COMPACT
    assert values(table) == {1: 12, 3: 30}
    assert {row["total_buckets"] for row in live(table)} == {2}
    assert {row["level"] for row in live(table)} == {5}
    assert table.compact() is None


def test_later_postponed_rows_go_to_the_buckets_that_are_there(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"bucket": "-2", "changelog-producer": "input"})
    table.upsert(numbered((1, 10)))
    table.compact(full=False)
    assert levels(table) == [(0, 1)]
    assert changelog(table, 2) == [("+I", 1, 10)]
    table.set_options({"postpone.default-bucket-num": "4"})
    table.upsert(numbered((1, 11)))
    table.compact(full=False)
    assert {row["total_buckets"] for row in live(table)} == {1}
    assert levels(table) == [(0, 1), (0, 1)]
    assert [row["min_sequence_number"] for row in live(table)] == [0, 1]
    assert values(table) == {1: 11}


def test_gentle_lookups_wait_for_some_commits(tmp_path: Path) -> None:
    options = {
        "changelog-producer": "lookup",
        "lookup-compact": "gentle",
        "lookup-compact.max-interval": "3",
        "num-sorted-run.compaction-trigger": "3",
        "compaction.max-size-amplification-percent": "1000",
    }
    table = numbered_table(tmp_path, options)
    for keys in (range(20_000), range(2_000), range(1)):  # no run is as large as the one before
        assert table.compact(full=False) is None
        table.upsert(numbered(*((k, len(keys)) for k in keys)))
    assert table.compact(full=False) is not None
    assert levels(table) == [(3, 20_000)]


def test_some_buckets_are_compacted(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"bucket": "4", "write-only": "true"})
    for value in range(2):
        table.upsert(numbered(*((k, value) for k in range(40))))
    assert table.compact(buckets=[0, 2]) is not None
    files = table.inspect.files().select(["bucket", "level"]).to_pylist()
    assert sorted((row["bucket"], row["level"]) for row in files) == [
        *((0, 5), (1, 0), (1, 0), (2, 5), (3, 0), (3, 0)),
    ]
    assert table.compact(buckets=0) is None
    assert values(table) == dict.fromkeys(range(40), 1)
    with pytest.raises(InvalidInputError, match=r"Bucket 4 does not exist; .* 0 to 3"):
        table.compact(buckets=[1, 4])
    with pytest.raises(InvalidInputError, match="leave buckets out"):
        table.compact(buckets=1, strategy="order", columns="k")
    table.set_options({"bucket": 8})
    with pytest.raises(InvalidInputError, match="An item of buckets must be an integer"):
        table.compact(buckets=["1"])  # type: ignore[list-item]  # wrong


def test_buckets_are_chosen_where_their_number_is_fixed(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"bucket": "-1"})
    with pytest.raises(InvalidInputError, match="in tables with fixed buckets only"):
        table.compact(buckets=0)


@pytest.mark.parametrize(
    "kind",
    ["append", "append, evolving", "keyed", "indexed", "full-compaction", "lookup, vectors"],
)
def test_a_compaction_that_fails_leaves_no_files(kind: str, tmp_path: Path) -> None:
    table = TABLE_KINDS[kind].create(str(tmp_path))
    write = table.upsert if table.schema.primary_keys else table.append
    for v in range(3):
        write([{"p": "a", "k": k, "v": v, "w": str(v)} for k in range(v, v + 3)])
    before, count, failed, made = files_of(table), table.count(), 0, None
    while made is None and failed < 30:
        broken = FaultyFileIO(table._store.file_io, failed + 1, Fault.BEFORE)
        try:
            made = through(table, broken).compact(full=True)
            assert made is not None
        except StorageError:
            assert files_of(table) == before
            failed += 1
    assert 3 < failed < 30, "data, manifests and lists"
    assert table.count() == count
