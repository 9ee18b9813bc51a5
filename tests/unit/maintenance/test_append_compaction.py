"""Small files of append tables put together."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitConflictError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.options.table_options import TableOptions
from support.compacting import deleted, live, marked, numbered_table
from support.small_tables import new_catalog
from support.written import columns


def rows(first: int, last: int) -> list[dict[str, object]]:
    return [{"k": k, "v": k, "s": None} for k in range(first, last)]


def keys(table: Table) -> list[object]:
    found: list[object] = table.to_arrow().column("k").to_pylist()
    return found


def counts(table: Table) -> list[int]:
    return sorted(int(str(row["row_count"])) for row in live(table))


def appended(table: Table, times: int, each: int = 2) -> Table:
    for number in range(times):
        table.append(rows(number * each, number * each + each))
    return table


def test_a_full_compaction_puts_all_small_files_together(tmp_path: Path) -> None:
    table = appended(numbered_table(tmp_path, keyed=False), 3)
    made = table.compact()
    assert made is not None
    assert (counts(table), made.delta_record_count) == ([6], 0)
    assert sorted(keys(table), key=str) == [0, 1, 2, 3, 4, 5]
    file = live(table)[0]
    assert (file["file_source"], file["total_buckets"], file["level"]) == (1, -1, 0)
    assert table.compact() is None


def test_every_file_counts_at_least_the_open_cost(tmp_path: Path) -> None:
    options = {"source.split.open-file-cost": "200 mb"}
    table = appended(numbered_table(tmp_path, options, keyed=False), 6)
    table.compact()
    assert counts(table) == [6, 6]


def test_a_minor_compaction_waits_for_enough_files(tmp_path: Path) -> None:
    table = appended(numbered_table(tmp_path, keyed=False), 4)
    assert table.compact(full=False) is None
    table.append(rows(8, 10))
    assert table.compact(full=False) is not None
    assert counts(table) == [10]


def test_large_files_are_left_alone(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {"target-file-size": "2 kb"}, keyed=False)
    table.append(rows(0, 1000))
    appended(table, 2)
    table.compact()
    assert counts(table) == [4, 1000]


def test_partitions_are_compacted_one_by_one(tmp_path: Path) -> None:
    kinds = columns({"k": pa.int32(), "p": pa.string()})
    table = new_catalog(tmp_path).create_table("db.t", kinds, partition_by=["p"])
    for number in range(3):
        table.append([{"k": number, "p": "a"}, {"k": number, "p": None}])
    table.compact(partitions=[{"p": None}])
    assert counts(table) == [1, 1, 1, 3]
    table.compact()
    assert counts(table) == [3, 3]


def test_the_rows_of_a_bucket_keep_their_order(tmp_path: Path) -> None:
    options = {"bucket": "1", "bucket-key": "k"}
    table = numbered_table(tmp_path, options, keyed=False)
    for number in (5, 1, 9, 3):
        table.append(rows(number, number + 1))
    table.compact()
    assert counts(table) == [4]
    assert keys(table) == [5, 1, 9, 3]
    file = live(table)[0]
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (0, 3)


def test_the_first_neighbours_of_a_bucket_are_enough_for_a_minor_one(tmp_path: Path) -> None:
    options = {"bucket": "1", "bucket-key": "k", "compaction.min.file-num": "3"}
    table = appended(numbered_table(tmp_path, options, keyed=False), 5)
    table.compact(full=False)
    assert counts(table) == [2, 2, 6]
    assert keys(table) == [*range(10)]
    table.compact(full=False)
    assert counts(table) == [10]
    assert table.compact(full=False) is None


@pytest.mark.parametrize("more", [0, 1])
def test_neighbours_of_the_target_size_are_left_alone(tmp_path: Path, more: int) -> None:
    options = {"bucket": "1", "bucket-key": "k", "compaction.min.file-num": "2"}
    table = appended(numbered_table(tmp_path, options, keyed=False), 2)
    (size,) = {int(str(row["file_size"])) for row in live(table)}
    table.set_options({"target-file-size": f"{size + more} b"})
    assert (table.compact(full=False) is None) == (more == 0)


def test_large_files_part_the_neighbours_of_a_bucket(tmp_path: Path) -> None:
    options = {"bucket": "1", "bucket-key": "k", "target-file-size": "2 kb"}
    options["compaction.min.file-num"] = "3"
    table = numbered_table(tmp_path, options, keyed=False)
    table.append(rows(0, 1))
    table.append(rows(1, 1001))
    for first in (1001, 1002, 1003):
        table.append(rows(first, first + 1))
    table.compact(full=False)
    assert keys(table) == [*range(1004)]
    assert counts(table) == [1, 3, 1000]


# ---------------------------------------------------------------- deleted rows


def test_deleted_rows_are_left_out_and_their_vectors_go(tmp_path: Path) -> None:
    options = {"deletion-vectors.enabled": "true"}
    table = appended(numbered_table(tmp_path, options, keyed=False), 3, each=4)
    marked(table, {0: [1], 2: [0, 3]})
    assert keys(table) == [0, 2, 3, 4, 5, 6, 7, 9, 10]
    table.compact()
    assert (counts(table), deleted(table)) == ([9], [])
    assert sorted(keys(table), key=lambda k: int(str(k))) == [0, 2, 3, 4, 5, 6, 7, 9, 10]


def test_vectors_of_files_that_stay_are_kept(tmp_path: Path) -> None:
    options = {"deletion-vectors.enabled": "true", "target-file-size": "2 kb"}
    table = numbered_table(tmp_path, options, keyed=False)
    table.append(rows(0, 1000))
    table.append(rows(1000, 1004))
    marked(table, {0: [7], 1: [0, 3]})
    assert table.compact(full=False) is not None
    assert deleted(table) == [[7]]
    assert counts(table) == [2, 1000]
    assert len(keys(table)) == 1001


def test_row_ids_and_sequence_numbers_outlive_a_compaction(tmp_path: Path) -> None:
    options = {"row-tracking.enabled": "true", "deletion-vectors.enabled": "true"}
    table = appended(numbered_table(tmp_path, options, keyed=False), 3)
    marked(table, {1: [0]})
    before = table.inspect.system_table("row_tracking").to_arrow().sort_by("k").to_pylist()
    assert [(row["k"], row["_ROW_ID"], row["_SEQUENCE_NUMBER"]) for row in before] == [
        (0, 0, 1),
        (1, 1, 1),
        (3, 3, 2),
        (4, 4, 3),
        (5, 5, 3),
    ]
    assert table.compact() is not None
    assert table.inspect.system_table("row_tracking").to_arrow().sort_by("k").to_pylist() == before
    (file,) = live(table)
    assert file["write_cols"] == ["k", "v", "s", "_ROW_ID", "_SEQUENCE_NUMBER"]
    assert (file["min_sequence_number"], file["max_sequence_number"]) == (1, 3)
    assert (file["first_row_id"], file["value_stats_cols"]) == (None, None)
    table.append(rows(7, 8))
    assert table.compact() is not None
    after = table.inspect.system_table("row_tracking").to_arrow().sort_by("k").to_pylist()
    assert after[:-1] == before
    assert (after[-1]["_ROW_ID"], after[-1]["_SEQUENCE_NUMBER"]) == (6, 6)


@pytest.mark.parametrize("earlier", ["", "k = 3"])
def test_rows_deleted_while_their_bucket_is_compacted_stay_deleted(
    tmp_path: Path, earlier: str
) -> None:
    options = {"bucket": "1", "bucket-key": "k", "deletion-vectors.enabled": "true"}
    table = new_catalog(tmp_path).create_table("db.t", {"k": "INT", "v": "INT"}, options=options)
    for first in (0, 10, 20):
        table.append([{"k": k, "v": 0} for k in range(first, first + 10)])
    if earlier:
        table.delete(earlier)
    before = set(table.to_arrow().column("k").to_pylist())
    held = TableOptions(table.schema.options)
    messages = compact_table(table._store, table.schema, held)
    table.delete("k = 15")
    with pytest.raises(CommitConflictError):
        Committer(table._store, table.schema).commit(messages)
    assert set(table.to_arrow().column("k").to_pylist()) == before - {15}
    table.compact()
    assert set(table.to_arrow().column("k").to_pylist()) == before - {15}
    assert table.maintenance.fsck(read_rows=True) == []
