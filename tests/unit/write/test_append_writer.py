"""Rows into tables without primary key."""

from hashlib import sha256

import pytest

from paimon_explore.commit.committer import Committer
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.append_writer import AppendWriter, write_append
from paimon_explore.write.write_target import WriteTarget
from support.new_tables import all_files, file_rows, live_files, new_table, target_of


def rows_of(messages: list[CommitMessage]) -> list[dict[str, object]]:
    return ManifestEntries.concat([message.new_files for message in messages]).rows()


def test_rows_of_a_table_without_buckets_lie_in_bucket_0() -> None:
    store, schema = new_table({"a": "INT", "b": "STRING"})
    (message,) = write_append(store, schema, [{"a": 5, "b": "x"}, {"a": None, "b": "yy"}])
    (row,) = message.new_files.rows()
    assert (message.bucket, message.total_buckets, message.partition) == (0, -1, bytes(12))
    assert (row["bucket"], row["total_buckets"], row["row_count"]) == (0, -1, 2)
    assert (row["min_sequence_number"], row["max_sequence_number"]) == (0, 1)
    assert (row["min_key"], row["key_null_counts"], row["level"]) == (bytes(12), [], 0)
    assert (row["delete_row_count"], row["file_source"], row["schema_id"]) == (0, 0, 0)
    assert (row["value_null_counts"], row["value_stats_cols"]) == ([1, 0], None)
    assert row["extra_files"] == []
    assert row["write_cols"] is None
    path = f"{store.paths.root}/bucket-0/{row['file_name']}"
    assert len(store.file_io.read(path)) == row["file_size"]
    assert file_rows(store, "bucket-0", row).to_pylist() == [
        {"a": 5, "b": "x"},
        {"a": None, "b": "yy"},
    ]


def test_no_rows_make_no_files() -> None:
    store, schema = new_table({"a": "INT"})
    assert write_append(store, schema, []) == []
    assert all_files(store) == {"schema/schema-0"}


def test_each_partition_gets_a_folder_and_a_message() -> None:
    store, schema = new_table({"a": "INT", "p": "STRING"}, partition_keys=["p"])
    rows = [{"a": i, "p": p} for i, p in enumerate(["x", None, "x", "a=b"])]
    messages = write_append(store, schema, rows)
    folders = sorted(path.rpartition("/")[0] for path in all_files(store) if "bucket" in path)
    assert folders == ["p=__DEFAULT_PARTITION__/bucket-0", "p=a%3Db/bucket-0", "p=x/bucket-0"]
    assert sorted(int(str(row["row_count"])) for row in rows_of(messages)) == [1, 1, 2]


def test_bucketed_rows_are_numbered_on_from_the_live_files() -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": "2", "bucket-key": "a"})
    for _ in range(2):
        messages = write_append(store, schema, [{"a": i} for i in range(10)])
        Committer(store, schema).commit(messages)
    found = {
        (row["bucket"], row["min_sequence_number"], row["max_sequence_number"])
        for row in live_files(store).rows()
    }
    assert found == {(0, 0, 5), (0, 6, 11), (1, 0, 3), (1, 4, 7)}


def test_overwriting_rows_are_numbered_from_0() -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": "1", "bucket-key": "a"})
    Committer(store, schema).commit(write_append(store, schema, [{"a": 1}]))
    messages = write_append(store, schema, [{"a": 1}], replaces=True)
    assert rows_of(messages)[0]["min_sequence_number"] == 0


def test_another_number_of_buckets_needs_an_overwrite() -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": "2", "bucket-key": "a"})
    Committer(store, schema).commit(write_append(store, schema, [{"a": 1}]))
    options = TableOptions({**schema.options, "bucket": "3"})
    with pytest.raises(InvalidInputError, match="The table has 2 buckets"):
        write_append(store, schema, [{"a": 1}], options=options)
    assert len(write_append(store, schema, [{"a": 1}], options=options, replaces=True)) == 1


def test_files_end_at_the_target_number_of_rows() -> None:
    store, schema = new_table({"a": "INT"}, options={"target-file-row-num": "4"})
    found = rows_of(write_append(store, schema, [{"a": i} for i in range(10)]))
    assert [row["row_count"] for row in found] == [4, 4, 2]
    assert [row["max_sequence_number"] for row in found] == [3, 7, 9]
    names = [str(row["file_name"]) for row in found]
    assert [name[-9:] for name in names] == ["0.parquet", "1.parquet", "2.parquet"]
    assert len({name[:-9] for name in names}) == 1


def test_files_end_at_the_target_size() -> None:
    store, schema = new_table({"a": "STRING"}, options={"target-file-size": "20 kb"})
    rows = [{"a": sha256(b"%d" % i).hexdigest()} for i in range(6000)]
    found = rows_of(write_append(store, schema, rows))
    assert len(found) > 3
    assert sum(int(str(row["row_count"])) for row in found) == 6000
    assert all(int(str(row["file_size"])) < 60_000 for row in found)


def test_row_tracking_leaves_the_numbers_to_the_commit() -> None:
    store, schema = new_table(
        {"a": "INT"}, options={"row-tracking.enabled": "true", "target-file-row-num": "2"}
    )
    found = rows_of(write_append(store, schema, [{"a": i} for i in range(4)]))
    assert [row["max_sequence_number"] for row in found] == [0, 0]


def test_a_table_with_a_primary_key_takes_no_appends() -> None:
    store, schema = new_table({"a": "INT NOT NULL"}, primary_keys=["a"])
    with pytest.raises(InvalidInputError, match="without primary key"):
        write_append(store, schema, [{"a": 1}])


@pytest.mark.parametrize("bucket", ["-2", "0"])
def test_bucket_numbers_that_append_tables_do_not_have_are_refused(bucket: str) -> None:
    store, schema = new_table({"a": "INT"}, options={"bucket": bucket})
    with pytest.raises(UnsupportedFeatureError, match="with 'bucket' ="):
        write_append(store, schema, [{"a": 1}])


def test_data_that_does_not_fit_leaves_no_files() -> None:
    store, schema = new_table({"a": "INT"}, options={"target-file-row-num": "1"})
    with pytest.raises(InvalidInputError, match="row 1"):
        write_append(store, schema, [{"a": 1}, {"a": 2**40}])
    assert all_files(store) == {"schema/schema-0"}


def test_a_failed_block_removes_the_files_of_its_writer() -> None:
    store, schema = new_table({"a": "INT"}, options={"target-file-row-num": "2048"})

    def block() -> None:
        with AppendWriter(target_of(store, schema)) as writer:
            writer.write([{"a": i} for i in range(5000)])
            assert len(all_files(store)) == 1 + 2
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    assert all_files(store) == {"schema/schema-0"}


def test_many_partitions_do_not_keep_many_files_open() -> None:
    store, schema = new_table({"a": "INT", "p": "INT"}, partition_keys=["p"])
    with AppendWriter(target_of(store, schema)) as writer:
        for _ in range(2):
            writer.write([{"a": 1, "p": p} for p in range(300)])
        assert not any("bucket" in path for path in all_files(store))
        assert len(writer.prepare_commit()) == 300
    assert sum("bucket" in path for path in all_files(store)) == 300


@pytest.mark.parametrize(
    ("options", "ending"),
    [
        ({"file.format": "orc"}, ".orc"),
        ({"file.format": "avro"}, ".avro"),
        ({"file.suffix.include.compression": "true"}, ".zst.parquet"),
        ({"file.suffix.include.compression": "true", "file.compression": "none"}, "0.parquet"),
        ({"file.suffix.include.compression": "true", "file.compression": "gzip"}, ".gz.parquet"),
        ({"file.format": "row"}, ".row"),
        ({"file.format": "csv"}, ".csv.zst"),
        ({"file.format": "json", "file.compression": "gzip"}, ".json.gz"),
        ({"file.format": "json", "file.compression": "none"}, "0.json"),
    ],
)
def test_names_tell_format_and_compression(options: dict[str, str], ending: str) -> None:
    store, schema = new_table({"a": "INT"}, options={**options, "data-file.prefix": "part-"})
    (row,) = rows_of(write_append(store, schema, [{"a": 1}]))
    assert str(row["file_name"]).endswith(ending)
    assert str(row["file_name"]).startswith("part-")


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro", "csv"])
def test_an_unknown_compression_is_refused(file_format: str) -> None:
    store, schema = new_table(
        {"a": "INT"}, options={"file.format": file_format, "file.compression": "rar"}
    )
    with pytest.raises(InvalidInputError, match="'rar'"):
        write_append(store, schema, [{"a": 1}])
    assert all_files(store) == {"schema/schema-0"}


def test_statistics_follow_the_options() -> None:
    options = {"metadata.stats-mode": "none", "fields.b.stats-mode": "full"}
    store, schema = new_table({"a": "INT", "b": "INT"}, options=options)
    (row,) = rows_of(write_append(store, schema, [{"a": 1, "b": 2}]))
    assert row["value_stats_cols"] == ["b"]
    assert row["value_null_counts"] == [0]


def test_creation_times_are_the_local_clock() -> None:
    store, schema = new_table({"a": "INT"})
    target = WriteTarget(
        store=store, schema=schema, options=TableOptions({}), clock=lambda: 86_400_000
    )
    with AppendWriter(target) as writer:
        writer.write([{"a": 1}])
        (row,) = rows_of(writer.prepare_commit())
    shift = int(str(row["creation_time"])) - 86_400_000
    assert shift % 900_000 == 0
    assert abs(shift) <= 14 * 3_600_000
