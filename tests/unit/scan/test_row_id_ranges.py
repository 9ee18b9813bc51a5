import pytest

from paimon_explore.scan.splits.row_id_ranges import (
    is_blob_file,
    is_column_file,
    row_ranges,
    same_rows,
)
from support.entries import entries, entry


def test_files_with_common_row_ids_form_a_group() -> None:
    found = same_rows(
        entries(
            entry("a", first_row_id=10, row_count=5),
            entry("b", first_row_id=0, row_count=10),
            entry("c", first_row_id=4, row_count=2),
            entry("d", first_row_id=12, row_count=3),
        )
    )
    assert [sorted(group.tolist()) for group in found] == [[1, 2], [0, 3]]


def test_files_without_row_ids_stand_alone_and_come_first() -> None:
    found = same_rows(entries(entry("a", first_row_id=0, row_count=5), entry("b"), entry("c")))
    assert [group.tolist() for group in found] == [[1], [2], [0]]


def test_no_files_form_no_groups() -> None:
    assert same_rows(entries()) == []


def test_a_range_ends_behind_its_last_row() -> None:
    first, after = row_ranges(entries(entry("a", first_row_id=7, row_count=5), entry("b")))
    assert first.tolist() == [7, -1]
    assert after.tolist() == [12, -1]


@pytest.mark.parametrize(
    ("name", "of_column", "of_blobs"),
    [
        ("data-1-0.blob", True, True),
        ("data-1-0.video", True, True),
        ("data-1-0.vector.parquet", True, False),
        ("data-1-0.parquet", False, False),
        ("data-1-0.row", False, False),
    ],
)
def test_files_of_single_columns_are_known_by_name(
    name: str, *, of_column: bool, of_blobs: bool
) -> None:
    assert (is_column_file(name), is_blob_file(name)) == (of_column, of_blobs)
