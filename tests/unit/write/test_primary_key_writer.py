"""Rows into tables with a primary key."""

import pyarrow as pa
import pytest

from paimon_explore.commit.committer import Committer
from paimon_explore.encoding.hash_index import decode_hashes
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write import primary_key_writer
from paimon_explore.write.primary_key_writer import write_upsert
from support.entries import int_row
from support.new_tables import all_files, file_rows, latest, live_files, new_table


def table(**options: str) -> tuple[TableStore, TableSchema]:
    return new_table(
        {"k": "INT NOT NULL", "v": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", **{name.replace("_", "."): text for name, text in options.items()}},
    )


def stored(store: TableStore, messages: list[CommitMessage]) -> list[dict[str, object]]:
    (message,) = messages
    (row,) = message.new_files.rows()
    found: list[dict[str, object]] = file_rows(store, f"bucket-{message.bucket}", row).to_pylist()
    return found


def test_a_file_holds_each_key_once_sorted_with_number_and_kind() -> None:
    store, schema = table()
    rows = [
        {"k": 3, "v": "a"},
        {"k": 1, "v": "b"},
        {"k": 3, "v": "c", "_ROW_KIND": "+U"},
        {"k": 2, "v": "d", "_ROW_KIND": "-D"},
    ]
    rows = [{"_ROW_KIND": "+I", **row} for row in rows]
    messages = write_upsert(store, schema, rows)
    assert stored(store, messages) == [
        {"_KEY_k": 1, "_SEQUENCE_NUMBER": 1, "_VALUE_KIND": 0, "k": 1, "v": "b"},
        {"_KEY_k": 2, "_SEQUENCE_NUMBER": 3, "_VALUE_KIND": 3, "k": 2, "v": "d"},
        {"_KEY_k": 3, "_SEQUENCE_NUMBER": 2, "_VALUE_KIND": 2, "k": 3, "v": "c"},
    ]
    (entry,) = messages[0].new_files.rows()
    assert (entry["min_key"], entry["max_key"]) == (int_row(1), int_row(3))
    assert (entry["key_min"], entry["key_max"]) == (int_row(1), int_row(3))
    assert (entry["min_sequence_number"], entry["max_sequence_number"]) == (1, 3)
    assert (entry["row_count"], entry["delete_row_count"], entry["level"]) == (3, 1, 0)
    assert (entry["total_buckets"], entry["key_null_counts"]) == (1, [0])


def test_numbers_go_on_from_the_live_files() -> None:
    store, schema = table()
    for value in "ab":
        messages = write_upsert(store, schema, [{"k": 1, "v": value}, {"k": 2, "v": value}])
        Committer(store, schema).commit(messages)
    ranges = [
        (row["min_sequence_number"], row["max_sequence_number"]) for row in live_files(store).rows()
    ]
    assert ranges == [(0, 1), (2, 3)]
    replacing = write_upsert(store, schema, [{"k": 1, "v": "c"}], replaces=True)
    assert replacing[0].new_files.rows()[0]["min_sequence_number"] == 0


def test_thin_files_have_no_key_columns() -> None:
    store, schema = table(**{"data-file.thin-mode": "true"})
    messages = write_upsert(store, schema, [{"k": 1, "v": "a"}])
    assert list(stored(store, messages)[0]) == ["_SEQUENCE_NUMBER", "_VALUE_KIND", "k", "v"]
    assert messages[0].new_files.rows()[0]["min_key"] == int_row(1)


def test_an_input_changelog_holds_every_row_by_key_and_number() -> None:
    store, schema = table(**{"changelog-producer": "input"})
    rows = [
        {"k": 2, "v": "a", "_ROW_KIND": "+I"},
        {"k": 1, "v": "b", "_ROW_KIND": "+I"},
        {"k": 2, "v": "a", "_ROW_KIND": "-U"},
        {"k": 2, "v": "c", "_ROW_KIND": "+U"},
    ]
    (message,) = write_upsert(store, schema, rows)
    (entry,) = message.changelog_files.rows()
    found = file_rows(store, "bucket-0", entry).select(["k", "_VALUE_KIND", "v"]).to_pylist()
    assert [list(row.values()) for row in found] == [
        [1, 0, "b"],
        [2, 0, "a"],
        [2, 1, "a"],
        [2, 2, "c"],
    ]
    assert str(entry["file_name"]).startswith("changelog-")
    data = message.new_files.rows()[0]
    assert str(data["file_name"])[5:41] == str(entry["file_name"])[10:46], "one random part"
    assert write_upsert(store, schema, rows, replaces=True)[0].changelog_files.rows() == []


def test_ignored_kinds_are_not_written() -> None:
    store, schema = table(**{"ignore-delete": "true"})
    rows = [{"k": 1, "v": "a", "_ROW_KIND": "-D"}]
    assert write_upsert(store, schema, rows) == []
    assert all_files(store) == {"schema/schema-0"}


def test_rows_without_a_kind_can_all_be_deletions() -> None:
    store, schema = table()
    messages = write_upsert(store, schema, [{"k": 1}], default_kind=3)
    assert stored(store, messages)[0]["_VALUE_KIND"] == 3


def test_a_buffer_ends_where_its_merge_would_not_fit_an_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(primary_key_writer, "_MAX_BUFFER_BYTES", 1)
    store, schema = table(**{"write-buffer-size": "8 gb"})
    (message,) = write_upsert(store, schema, [pa.table({"k": [k], "v": ["a"]}) for k in range(3)])
    assert [row["row_count"] for row in message.new_files.rows()] == [1, 1, 1]


def test_a_full_buffer_is_flushed_as_a_run_of_its_own() -> None:
    store, schema = table(**{"write-buffer-size": "1 b"})
    batch = pa.table({"k": pa.array([1, 2], pa.int32()), "v": pa.array(["a", "b"])})
    reader = pa.Table.from_batches(batch.to_batches() * 2).to_reader()
    (message,) = write_upsert(store, schema, reader)
    assert [row["row_count"] for row in message.new_files.rows()] == [2, 2]
    assert [row["min_sequence_number"] for row in message.new_files.rows()] == [0, 2]


def test_rows_of_a_fixed_bucket_table_go_to_the_bucket_of_their_key() -> None:
    store, schema = table(bucket="5")
    messages = write_upsert(store, schema, [{"k": k, "v": None} for k in (0, 1, -1, 42)])
    found = {message.bucket: [row["k"] for row in stored(store, [message])] for message in messages}
    assert found == {4: [0], 3: [1], 2: [-1, 42]}


def test_dynamic_buckets_fill_up_and_remember_their_keys() -> None:
    store, schema = table(bucket="-1", **{"dynamic-bucket.target-row-num": "2"})
    committer = Committer(store, schema)
    committer.commit(write_upsert(store, schema, [{"k": k, "v": None} for k in range(3)]))
    committer.commit(write_upsert(store, schema, [{"k": k, "v": "x"} for k in (0, 2, 3)]))
    index = store.manifests.index_of(latest(store)).rows()
    assert [(row["bucket"], row["row_count"]) for row in index] == [(0, 2), (1, 2)]
    buckets = {row["bucket"] for row in live_files(store).rows()}
    assert buckets == {0, 1}
    for row in index:
        path = store.paths.index(str(row["file_name"]))
        data = store.file_io.read(path)
        assert len(decode_hashes(data, path=path, count=2)) == 2
        assert len(data) == row["file_size"]
    totals = {row["total_buckets"] for row in live_files(store).rows()}
    assert totals == {-1}


def test_known_keys_of_dynamic_buckets_write_no_index() -> None:
    store, schema = table(bucket="-1")
    committer = Committer(store, schema)
    committer.commit(write_upsert(store, schema, [{"k": 1, "v": None}]))
    (message,) = write_upsert(store, schema, [{"k": 1, "v": "x"}])
    assert len(message.new_index_files) == 0


def test_postponed_rows_keep_their_order_in_avro_files_without_numbers() -> None:
    store, schema = table(bucket="-2")
    rows = [{"k": 2, "v": "a"}, {"k": 1, "v": "b"}, {"k": 2, "v": "c"}]
    (message,) = write_upsert(store, schema, rows, commit_user="me")
    (entry,) = message.new_files.rows()
    assert (message.bucket, message.total_buckets) == (-2, -2)
    assert str(entry["file_name"]).startswith("data--u-me-s-0-w-")
    assert str(entry["file_name"]).endswith(".avro")
    assert (entry["row_count"], entry["min_sequence_number"]) == (3, -1)
    assert entry["value_stats_cols"] == []
    assert any(path.startswith("bucket-postpone/") for path in all_files(store))


def test_a_failed_write_of_postponed_rows_leaves_no_files() -> None:
    store, schema = table(bucket="-2", **{"write-buffer-size": "1 b"})
    good = pa.record_batch([pa.array([1], pa.int32()), pa.array(["a"])], names=["k", "v"])
    bad = pa.record_batch([pa.array([None], pa.int32()), pa.array(["a"])], names=["k", "v"])
    with pytest.raises(InvalidInputError, match="row 1"):
        write_upsert(store, schema, pa.Table.from_batches([good, bad]))
    assert all_files(store) == {"schema/schema-0"}


def test_a_failed_write_leaves_neither_data_nor_changelog_files() -> None:
    store, schema = table(**{"write-buffer-size": "1 b", "changelog-producer": "input"})
    batches = [
        pa.record_batch([pa.array([key], pa.int32()), pa.array(["a"])], names=["k", "v"])
        for key in (1, None)
    ]
    with pytest.raises(InvalidInputError, match="row 1"):
        write_upsert(store, schema, pa.Table.from_batches(batches))
    assert all_files(store) == {"schema/schema-0"}


def test_keys_that_do_not_hold_the_partition_need_an_index_that_is_not_here() -> None:
    store, schema = new_table(
        {"k": "INT NOT NULL", "p": "INT"}, primary_keys=["k"], partition_keys=["p"]
    )
    with pytest.raises(UnsupportedFeatureError, match="does not contain the partition"):
        write_upsert(store, schema, [{"k": 1, "p": 1}])


def test_a_table_without_primary_key_takes_no_upserts() -> None:
    store, schema = new_table({"a": "INT"})
    with pytest.raises(InvalidInputError, match="requires a table with a primary key"):
        write_upsert(store, schema, [{"a": 1}])


def test_a_null_in_the_key_is_refused_and_leaves_no_files() -> None:
    store, schema = table(bucket="-1")
    with pytest.raises(InvalidInputError, match="'k', row 1"):
        write_upsert(store, schema, [{"k": 1, "v": "a"}, {"k": None, "v": "b"}])
    assert all_files(store) == {"schema/schema-0"}


def test_formats_may_differ_per_level_and_for_changelogs() -> None:
    options = {
        "file.format.per.level": "0:avro",
        "changelog-producer": "input",
        "changelog-file.format": "orc",
    }
    store, schema = table(**options)
    (message,) = write_upsert(store, schema, [{"k": 1, "v": "a"}])
    assert str(message.new_files.rows()[0]["file_name"]).endswith(".avro")
    assert str(message.changelog_files.rows()[0]["file_name"]).endswith(".orc")
