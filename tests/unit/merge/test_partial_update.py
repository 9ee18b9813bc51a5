"""Records that fill in columns. Expected rows follow Java 2.0.0 (see test_java_answers)."""

import pytest

from paimon_explore.errors import FormatError
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import Row, batch_of, merged, schema_of

PLAIN: dict[str, object] = {"k": "INT NOT NULL", "a": "STRING", "b": "INT"}
PARTIAL = {"merge-engine": "partial-update"}


def test_columns_take_their_last_value_that_is_not_null() -> None:
    rows: list[Row] = [
        ("+I", 1, "a", None),
        ("+I", 1, None, 5),
        ("+U", 1, None, None),
        ("+I", 2, "x", 1),
    ]
    assert merged(PLAIN, PARTIAL, rows) == [(1, "a", 5), (2, "x", 1)]


def test_merged_rows_are_inserts_and_a_row_alone_keeps_its_kind() -> None:
    rows: list[Row] = [("+U", 1, "a", None), ("+U", 1, None, 5), ("+U", 2, "x", 1)]
    found = merged(PLAIN, PARTIAL, rows, keep_retracts=True)
    assert found == [(1, "a", 5, 1, 0), (2, "x", 1, 2, 2)]


def test_retracts_are_refused_by_default_unless_alone_with_their_key() -> None:
    with pytest.raises(FormatError, match="by default"):
        merged(PLAIN, PARTIAL, [("+I", 1, "a", 1), ("-D", 1, "a", 1)])
    assert merged(PLAIN, PARTIAL, [("-D", 1, "a", 1), ("+I", 2, "b", 2)]) == [(2, "b", 2)]


def test_ignored_deletes_are_passed_over_but_a_first_one_leaves_its_values() -> None:
    options = {**PARTIAL, "ignore-delete": "true"}
    rows: list[Row] = [
        ("+I", 1, "a", 1),
        ("-D", 1, "gone", 9),
        ("-D", 2, "seed", 7),
        ("+I", 2, None, 8),
        ("-U", 3, "x", 1),
        ("-D", 3, "y", 2),
    ]
    assert merged(PLAIN, options, rows) == [(1, "a", 1), (2, "seed", 8)]
    kept = merged(PLAIN, options, rows, keep_retracts=True)
    assert kept == [(1, "a", 1, 0, 0), (2, "seed", 8, 3, 0), (3, "x", 1, 0, 3)]


REMOVING = {**PARTIAL, "partial-update.remove-record-on-delete": "true"}


def test_a_removing_delete_starts_the_row_anew_from_its_own_values() -> None:
    rows: list[Row] = [
        ("+I", 1, "a", 1),
        ("-D", 1, "d", None),
        ("+I", 1, None, 3),
        ("+I", 2, "b", 2),
        ("-D", 2, "b", 2),
    ]
    assert merged(PLAIN, REMOVING, rows) == [(1, "d", 3)]
    kept = merged(PLAIN, REMOVING, rows, keep_retracts=True)
    assert kept == [(1, "d", 3, 2, 0), (2, "b", 2, 4, 3)]


def test_an_update_before_after_a_removing_delete_brings_the_row_back() -> None:
    rows: list[Row] = [("+I", 1, "a", 1), ("-D", 1, "d", 2), ("-U", 1, "x", 3)]
    assert merged(PLAIN, REMOVING, rows) == [(1, "d", 2)]


GROUPED: dict[str, object] = {
    "k": "INT NOT NULL",
    "a": "STRING",
    "g": "INT",
    "b": "INT",
    "h": "INT",
    "i": "STRING",
    "free": "STRING",
}
GROUPS = {**PARTIAL, "fields.g.sequence-group": "a", "fields.h,i.sequence-group": "b"}


def test_groups_follow_their_own_order_and_take_nulls_of_newer_records() -> None:
    rows: list[Row] = [
        ("+I", 1, "new", 5, 10, 1, "b", "f"),
        ("+I", 1, "old", 4, 20, 1, "a", None),
        ("+I", 1, None, 6, 30, None, None, "g"),
        ("+I", 1, "none", None, 40, 2, None, None),
    ]
    assert merged(GROUPED, GROUPS, rows) == [(1, None, 6, 40, 2, None, "g")]


def test_groups_of_a_key_are_not_older_than_those_of_the_keys_before_it() -> None:
    rows: list[Row] = [
        ("+I", 1, "x", 8, None, None, None, None),
        ("+I", 1, "a", 9, None, None, None, None),
        ("+I", 2, "b", 1, None, None, None, None),
        ("+I", 2, "c", 2, None, None, None, None),
    ]
    assert [row[:3] for row in merged(GROUPED, GROUPS, rows)] == [(1, "a", 9), (2, "c", 2)]


def test_a_retract_clears_the_columns_of_groups_that_are_not_newer_than_it() -> None:
    rows: list[Row] = [
        ("+I", 1, "a", 5, 10, 5, "x", "f"),
        ("-D", 1, "a", 5, 10, 4, "x", "gone"),
    ]
    assert merged(GROUPED, GROUPS, rows) == [(1, None, 5, 10, 5, "x", "f")]


def test_a_row_of_retracts_only_is_removed() -> None:
    rows: list[Row] = [("-D", 1, "a", 5, 1, 1, "x", "f"), ("-U", 1, "b", 6, 2, None, None, None)]
    kept = merged(GROUPED, GROUPS, rows, keep_retracts=True)
    assert kept == [(1, None, 6, None, 1, "x", "f", 1, 3)]


SUMMED = {**GROUPS, "fields.b.aggregate-function": "sum"}


def test_functions_of_a_group_take_older_records_too_and_retracts_back() -> None:
    rows: list[Row] = [
        ("+I", 1, None, None, 10, 5, "x", None),
        ("+I", 1, None, None, 1, 4, "x", None),
        ("-U", 1, None, None, 3, 2, "x", None),
        ("+I", 1, None, None, 100, None, None, None),
    ]
    assert merged(GROUPED, SUMMED, rows) == [(1, None, None, 8, 5, "x", None)]


@pytest.mark.parametrize(("ignores", "expected"), [("false", [1, 2, 3, 4]), ("true", [2, 1, 3, 4])])
def test_elements_of_older_records_come_in_front_where_retracts_are_ignored(
    ignores: str, expected: list[int]
) -> None:
    columns = {"k": "INT NOT NULL", "g": "INT", "l": {"type": "ARRAY", "element": "INT"}}
    options = {
        **PARTIAL,
        "fields.g.sequence-group": "l",
        "fields.l.aggregate-function": "collect",
        "fields.l.ignore-retract": ignores,
    }
    rows: list[Row] = [("+I", 1, 5, [1]), ("+I", 1, 4, [2]), ("+I", 1, 6, [3]), ("+I", 1, 7, [4])]
    assert merged(columns, options, rows) == [(1, 7, expected)]


def test_a_first_retract_with_a_function_is_taken_back_from_itself() -> None:
    rows: list[Row] = [
        ("-D", 1, "a", 1, 7, 1, "x", "f"),
        ("+I", 1, None, None, 2, 2, "x", None),
    ]
    assert merged(GROUPED, SUMMED, rows) == [(1, None, 1, 2, 2, "x", "f")]


@pytest.mark.parametrize(
    ("function", "records", "expected"),
    [
        ("first_value", [(10, 5), (20, 6), (30, 1)], (30, 6)),
        ("first_non_null_value", [(None, 5), (10, 4), (20, 3)], (10, 5)),
    ],
    ids=["of the oldest record", "nulls are filled by the next older value"],
)
def test_first_values_of_a_group(
    function: str, records: list[tuple[int | None, int]], expected: tuple[int, int]
) -> None:
    options = {**GROUPS, "fields.b.aggregate-function": function}
    rows: list[Row] = [("+I", 1, None, None, b, h, "x", None) for b, h in records]
    assert merged(GROUPED, options, rows) == [(1, None, None, *expected, "x", None)]


REMOVING_GROUP = {**SUMMED, "partial-update.remove-record-on-sequence-group": "g"}


def test_a_delete_of_a_removing_group_resets_all_groups_to_its_values() -> None:
    rows: list[Row] = [
        ("+I", 1, "a", 1, 10, 9, "z", "f"),
        ("-D", 1, "d", 2, 5, 3, "y", None),
        ("+I", 1, None, None, 7, 3, "z", "h"),
    ]
    assert merged(GROUPED, REMOVING_GROUP, rows) == [(1, "d", 2, 12, 3, "z", "h")]
    kept = merged(GROUPED, REMOVING_GROUP, rows[:2], keep_retracts=True)
    assert kept == [(1, "d", 2, 5, 3, "y", None, 1, 3)]


def test_an_older_or_silent_delete_of_a_removing_group_removes_nothing() -> None:
    rows: list[Row] = [
        ("+I", 1, "a", 5, 10, 1, "a", "f"),
        ("-D", 1, "d", 4, 3, 1, "a", None),
        ("-D", 1, "e", None, 2, None, None, None),
    ]
    assert merged(GROUPED, REMOVING_GROUP, rows) == [(1, "a", 5, 7, 1, "a", "f")]


def test_a_projection_without_the_group_still_removes_rows() -> None:
    schema = schema_of(GROUPED, REMOVING_GROUP)
    rows: list[Row] = [("+I", 1, "a", 1, 1, 1, "a", "f"), ("-D", 1, "a", 1, 1, 1, "a", "f")]
    found = merge_sorted(batch_of(schema, rows), merge_spec(schema, ["k"]))
    assert found.to_pylist() == [{"k": 1, "_SEQUENCE_NUMBER": 1, "_VALUE_KIND": 3}]
