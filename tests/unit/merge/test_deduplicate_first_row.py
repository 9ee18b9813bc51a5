"""Engines that choose one record of a key: deduplicate and first-row."""

import pytest

from paimon_explore.errors import FormatError, InvalidInputError
from support.merging import merged, merged_commits, schema_of

COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}
FIRST_ROW = {"merge-engine": "first-row"}


@pytest.mark.parametrize("key_order", [True, False])
def test_the_last_record_of_a_key_wins(*, key_order: bool) -> None:
    rows = [("+I", 2, "a"), ("+I", 1, "b"), ("+U", 2, "c"), ("+I", 3, None)]
    found = merged(COLUMNS, {}, rows, key_order=key_order)
    assert sorted(found) == [(1, "b"), (2, "c"), (3, None)]


@pytest.mark.parametrize("key_order", [True, False])
@pytest.mark.parametrize("kind", ["-D", "-U"])
def test_a_last_retract_removes_the_row(kind: str, *, key_order: bool) -> None:
    rows = [("+I", 1, "a"), ("+I", 2, "b"), (kind, 1, "a")]
    assert merged(COLUMNS, {}, rows, key_order=key_order) == [(2, "b")]


def test_kept_retracts_show_kind_and_sequence_number() -> None:
    rows = [("+I", 1, "a"), ("+I", 2, "b"), ("-D", 1, "a"), ("-U", 3, "c"), ("+U", 2, "d")]
    found = merged(COLUMNS, {}, rows, keep_retracts=True)
    assert found == [(1, "a", 2, 3), (2, "d", 4, 2), (3, "c", 3, 1)]


def test_ignored_deletes_leave_the_older_row() -> None:
    rows = [("+I", 1, "a"), ("-D", 1, "x"), ("-D", 2, "y"), ("-U", 2, "y"), ("-D", 3, "z")]
    found = merged(COLUMNS, {"ignore-delete": "true"}, rows)
    assert found == [(1, "a")]


def test_an_ignored_delete_that_is_alone_with_its_key_is_still_kept_for_compaction() -> None:
    rows = [("-D", 2, "y"), ("-U", 2, "y"), ("-D", 3, "z")]
    found = merged(COLUMNS, {"ignore-delete": "true"}, rows, keep_retracts=True)
    assert found == [(3, "z", 2, 3)]


@pytest.mark.parametrize("key_order", [True, False])
def test_first_row_keeps_the_oldest_record(*, key_order: bool) -> None:
    rows = [("+I", 1, "a"), ("+I", 1, "b"), ("+I", 0, "c"), ("+I", 1, None)]
    assert sorted(merged(COLUMNS, FIRST_ROW, rows, key_order=key_order)) == [(0, "c"), (1, "a")]


@pytest.mark.parametrize("key_order", [True, False])
def test_first_row_refuses_retracts_of_keys_with_several_records(*, key_order: bool) -> None:
    with pytest.raises(FormatError, match="first-row"):
        merged(COLUMNS, FIRST_ROW, [("+I", 1, "a"), ("-D", 1, "a")], key_order=key_order)


def test_first_row_passes_over_ignored_retracts() -> None:
    rows = [("-D", 1, "x"), ("+I", 1, "a"), ("+I", 1, "b"), ("-D", 1, "a")]
    assert merged(COLUMNS, {**FIRST_ROW, "ignore-delete": "true"}, rows) == [(1, "a")]


def test_what_a_writer_may_not_merge_is_bad_input_of_the_caller() -> None:
    with pytest.raises(InvalidInputError, match="first-row"):
        merged_commits(schema_of(COLUMNS, FIRST_ROW), [[("+I", 1, "a"), ("-D", 1, "a")]])


ORDERED = {**COLUMNS, "s": "INT", "t": "STRING"}


def test_sequence_fields_outrank_arrival_and_null_is_the_oldest() -> None:
    rows = [
        ("+I", 1, "new", 5, "b"),
        ("+I", 1, "old", 5, "a"),
        ("+I", 1, "none", None, "z"),
        ("+I", 2, "first", None, None),
        ("+I", 2, "second", None, None),
        ("+I", 3, "late", 1, None),
        ("-D", 3, "gone", 2, None),
        ("+I", 3, "later but lower", 1, "x"),
    ]
    found = merged(ORDERED, {"sequence.field": "s,t"}, rows)
    assert found == [(1, "new", 5, "b"), (2, "second", None, None)]


def test_descending_sequence_fields_let_the_smallest_win_but_never_null() -> None:
    rows = [("+I", 1, "five", 5, ""), ("+I", 1, "four", 4, ""), ("+I", 1, "none", None, "")]
    options = {"sequence.field": "s", "sequence.field.sort-order": "descending"}
    assert merged(ORDERED, options, rows) == [(1, "four", 4, "")]
