"""Which files an overwrite removes, and at which level its new files start."""

from datetime import date, datetime

import pytest

from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.overwrite import (
    NEW_PARTITIONS,
    WHOLE_TABLE,
    Overwrite,
    PartitionMatcher,
    check_new_files,
    overwrite_changes,
    partition_scalar,
    upgrade_level_0,
)
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.errors import InvalidInputError
from support.entries import entries, entry, index, index_row, int_row, names

INT = AtomicType(root=TypeRoot.INT)
PARTITION = RowType(fields=(DataField(id=0, name="p", type=INT),))
KEYS = RowType(fields=(DataField(id=1, name="k", type=INT),))
NULL_ROW = (1).to_bytes(4, "big") + b"\0\1" + bytes(14)
LIVE = entries(
    entry("one", partition=int_row(1)),
    entry("two", partition=int_row(2)),
    entry("none", partition=NULL_ROW),
)
INDEX = index(index_row("i1", partition=int_row(1)), index_row("i2", partition=int_row(2)))


def removed(what: Overwrite, *new: dict[str, object]) -> tuple[list[str], list[object]]:
    changes = Changes(entries=entries(*new))
    matcher = PartitionMatcher(PARTITION, what, changes.partitions)
    found = overwrite_changes(LIVE, INDEX, changes, matcher)
    return names(found.entries), [row["file_name"] for row in found.deleted_index.rows()]


def test_the_whole_table_goes_before_the_new_files_come() -> None:
    found = removed(WHOLE_TABLE, entry("new", partition=int_row(9)))
    assert found == (["-one", "-two", "-none", "+new"], ["i1", "i2"])


def test_given_partitions_go_with_their_index_files() -> None:
    assert removed(Overwrite(specs=({"p": 2},))) == (["-two"], ["i2"])
    assert removed(Overwrite(specs=({"p": None}, {"p": 1}))) == (["-one", "-none"], ["i1"])


def test_the_partitions_of_the_new_files_go() -> None:
    found = removed(NEW_PARTITIONS, entry("new", partition=int_row(1)))
    assert found == (["-one", "+new"], ["i1"])


@pytest.mark.parametrize("spec", [{"q": 1}, {"p": "x"}])
def test_what_is_no_partition_is_refused(spec: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match=r"(?i)partition column"):
        removed(Overwrite(specs=(spec,)))


@pytest.mark.parametrize("day", [date(2024, 1, 2), datetime(2024, 1, 2), "2024-01-02"])  # noqa: DTZ001
def test_a_day_is_a_date_or_a_time_at_its_beginning(day: object) -> None:
    field = DataField(id=0, name="d", type=AtomicType(root=TypeRoot.DATE))
    assert partition_scalar(day, field).as_py() == date(2024, 1, 2)
    with pytest.raises(InvalidInputError, match=r"'d' is DATE, but .* is not a valid DATE"):
        partition_scalar(datetime(2024, 1, 2, 0, 0, 0, 1), field)  # noqa: DTZ001
    with pytest.raises(InvalidInputError):
        partition_scalar(None, field)


def test_digits_are_days_since_1970_but_no_day_after_the_year_9999() -> None:
    field = DataField(id=0, name="d", type=AtomicType(root=TypeRoot.DATE))
    assert partition_scalar("20454", field).as_py() == date(2026, 1, 1)
    with pytest.raises(InvalidInputError, match="'20260101' is not a valid DATE"):
        partition_scalar("20260101", field)


def test_new_files_outside_of_the_partitions_are_refused() -> None:
    matcher = PartitionMatcher(PARTITION, Overwrite(specs=({"p": 1},)), frozenset({int_row(2)}))
    with pytest.raises(InvalidInputError, match="belong to other partitions"):
        check_new_files(matcher)


def keyed(name: str, low: int, high: int, **values: object) -> dict[str, object]:
    return entry(name, min_key=int_row(low), max_key=int_row(high), **values)


def levels(*rows: dict[str, object]) -> list[object]:
    return [row["level"] for row in upgrade_level_0(entries(*rows), KEYS, 5).rows()]


def test_disjoint_new_files_of_an_overwrite_start_at_the_top_level() -> None:
    assert levels(keyed("a", 0, 4), keyed("b", 5, 9), keyed("c", 4, 5, bucket=1)) == [5, 5, 5]


def test_overlapping_or_retracting_new_files_stay_at_level_0() -> None:
    assert levels(keyed("a", 0, 5), keyed("b", 5, 9), keyed("c", 4, 5, bucket=1)) == [0, 0, 5]
    assert levels(keyed("a", 0, 4, delete_row_count=1), keyed("b", 5, 9)) == [0, 0]
    assert levels(keyed("a", 0, 4, bucket=-2)) == [0]
