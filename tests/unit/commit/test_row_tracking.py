"""Row ids and sequence numbers that the commit gives."""

from paimon_explore.commit.row_tracking import (
    RowIdMapping,
    assign_row_ids,
    grouped_by_partition,
    numbered_by_snapshot,
)
from support.entries import entries, entry, index, index_row, int_row

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


P, Q = int_row(1), int_row(2)
MOVED = RowIdMapping(ranges={P: {(10, 20): 100, (30, 40): 110}}, next_row_id=120)
OWN_ROWS = {
    (10, 20): 100,
    (12, 15): 102,
    (30, 31): 110,
    (39, 40): 119,
    (0, 10): 0,
    (20, 30): 20,
    (40, 50): 40,
}
"""Ranges of rows, each with its first id after the move."""
PARTED = [(9, 11), (19, 21), (5, 50), (15, 35), (39, 41)]


def ranged(rows: tuple[int, int], partition: bytes = P) -> dict[str, object]:
    first, end = rows
    covered = {"row_range_start": first, "row_range_end": end - 1, "index_field_id": 1}
    empty = {"extra_field_ids": None, "index_meta": None, "source_meta": None}
    name = f"{first}-{end}"
    return index_row(name, partition=partition, index_type="b", global_index={**covered, **empty})


def test_files_move_with_the_range_that_their_rows_are_in() -> None:
    files = [
        entry("f", partition=P, first_row_id=first, row_count=end - first)
        for first, end in (*OWN_ROWS, *PARTED)
    ]
    others = entry("o", partition=Q, first_row_id=10), entry("n", partition=P)
    found = MOVED.moved(entries(others[0], *files, others[1]))
    assert found is not None
    assert [row["first_row_id"] for row in found.rows()] == [
        *(10, *OWN_ROWS.values()),
        *(first for first, _ in PARTED),
        None,
    ]
    assert MOVED.moved(entries(*others)) is None


def test_indexes_move_with_their_rows_and_go_if_these_part() -> None:
    kept = [index_row("hash", partition=P), ranged((10, 20), Q)]
    found = MOVED.moved_index(index(*kept, *map(ranged, [*PARTED, *OWN_ROWS]))).rows()
    assert [row["file_name"] for row in found] == [
        *(row["file_name"] for row in kept),
        *(f"{first}-{end}" for first, end in OWN_ROWS),
    ]
    moved = [ranged((new, new + end - first)) for (first, end), new in OWN_ROWS.items()]
    assert [row["global_index"] for row in found[1:]] == [
        row["global_index"] for row in (kept[1], *moved)
    ]


def test_rows_of_a_partition_get_ids_together() -> None:
    names = [entry(name, partition=P if name in "ac" else Q) for name in "abcd"]
    grouped = grouped_by_partition(entries(*names))
    assert [row["file_name"] for row in grouped.rows()] == ["a", "c", "b", "d"]


def test_by_snapshot_new_files_get_its_id_as_number() -> None:
    rows = entry("a"), entry("b", kind=1, min_sequence_number=3, max_sequence_number=4)
    found = numbered_by_snapshot(entries(*rows), 7).table.select(COLUMNS[:3]).to_pylist()
    assert [list(row.values()) for row in found] == [["a", 7, 7], ["b", 3, 4]]
