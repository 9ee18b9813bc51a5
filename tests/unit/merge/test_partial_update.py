"""Records that fill in columns. Expected rows follow Java 2.0.0 (see test_java_answers)."""

import pytest

from paimon_explore.errors import FormatError
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import Row, batch_of, merged, schema_of

PLAIN: dict[str, object] = {"k": "INT NOT NULL", "a": "STRING", "b": "INT"}
PARTIAL = {"merge-engine": "partial-update"}


def test_retracts_are_refused_by_default() -> None:
    with pytest.raises(FormatError, match="by default"):
        merged(PLAIN, PARTIAL, [("+I", 1, "a", 1), ("-D", 1, "a", 1)])


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


def test_groups_of_a_key_are_not_older_than_those_of_the_keys_before_it() -> None:
    rows: list[Row] = [
        ("+I", 1, "x", 8, None, None, None, None),
        ("+I", 1, "a", 9, None, None, None, None),
        ("+I", 2, "b", 1, None, None, None, None),
        ("+I", 2, "c", 2, None, None, None, None),
    ]
    assert [row[:3] for row in merged(GROUPED, GROUPS, rows)] == [(1, "a", 9), (2, "c", 2)]


def test_nulls_of_a_first_value_of_a_group_are_filled_by_the_next_older_one() -> None:
    options = {**GROUPS, "fields.b.aggregate-function": "first_non_null_value"}
    records = [(None, 5), (10, 4), (20, 3)]
    rows: list[Row] = [("+I", 1, None, None, b, h, "x", None) for b, h in records]
    assert merged(GROUPED, options, rows) == [(1, None, None, 10, 5, "x", None)]


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


def test_a_projection_without_the_group_still_removes_rows() -> None:
    removing = {
        **GROUPS,
        "fields.b.aggregate-function": "sum",
        "partial-update.remove-record-on-sequence-group": "g",
    }
    schema = schema_of(GROUPED, removing)
    rows: list[Row] = [("+I", 1, "a", 1, 1, 1, "a", "f"), ("-D", 1, "a", 1, 1, 1, "a", "f")]
    found = merge_sorted(batch_of(schema, rows), merge_spec(schema, ["k"]))
    assert found.to_pylist() == [{"k": 1, "_SEQUENCE_NUMBER": 1, "_VALUE_KIND": 3}]
