"""Row ids and sequence numbers that the commit gives."""

from paimon_explore.commit.row_tracking import assign_row_ids
from support.entries import entries, entry

COLUMNS = ["file_name", "min_sequence_number", "max_sequence_number", "first_row_id"]


def assigned(*rows: dict[str, object], next_row_id: int = 100) -> tuple[list[list[object]], int]:
    found, free = assign_row_ids(entries(*rows), snapshot_id=7, next_row_id=next_row_id)
    return [list(row.values()) for row in found.table.select(COLUMNS).to_pylist()], free


def test_new_files_get_the_snapshot_as_sequence_and_the_next_ids() -> None:
    rows, free = assigned(entry("a", row_count=10), entry("b", row_count=5))
    assert rows == [["a", 7, 7, 100], ["b", 7, 7, 110]]
    assert free == 115


def test_deleted_files_keep_what_they_have() -> None:
    rows, free = assigned(entry("a", kind=1, first_row_id=3, min_sequence_number=2))
    assert rows == [["a", 2, 0, 3]]
    assert free == 100


def test_files_that_have_ids_or_store_them_get_none() -> None:
    rows, free = assigned(
        entry("a", first_row_id=4, min_sequence_number=3, max_sequence_number=5),
        entry("b", write_cols=["x", "_ROW_ID"], min_sequence_number=3),
        entry("c", file_source=1, min_sequence_number=3, max_sequence_number=3),
    )
    assert rows == [["a", 3, 5, 4], ["b", 3, 7, None], ["c", 3, 3, None]]
    assert free == 100


def test_side_files_share_the_ids_of_the_file_before_them() -> None:
    rows, free = assigned(
        entry("a.parquet", row_count=10),
        entry("b1.blob", row_count=4),
        entry("b2.blob", row_count=6),
        entry("v.vector.parquet", row_count=10),
        entry("c.parquet", row_count=1),
    )
    assert [row[3] for row in rows] == [100, 100, 104, 100, 110]
    assert free == 111
