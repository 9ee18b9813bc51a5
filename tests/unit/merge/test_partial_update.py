"""Records that fill in columns, where random records do not lead (see properties/test_merge)."""

import pytest

from paimon_explore.errors import FormatError
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import Row, batch_of, merged, schema_of

COLUMNS: dict[str, object] = {"k": "INT NOT NULL", "a": "STRING", "g": "INT"}
PARTIAL = {"merge-engine": "partial-update"}


def test_retracts_are_refused_by_default_unless_alone_with_their_key() -> None:
    with pytest.raises(FormatError, match="by default"):
        merged(COLUMNS, PARTIAL, [("+I", 1, "a", 1), ("-D", 1, "a", 1)])
    assert merged(COLUMNS, PARTIAL, [("-D", 1, "a", 1), ("+I", 2, "b", 2)]) == [(2, "b", 2)]


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
    options = {
        "fields.g.sequence-group": "a",
        "partial-update.remove-record-on-sequence-group": "g",
    }
    schema = schema_of(COLUMNS, {**PARTIAL, **options})
    rows: list[Row] = [("+I", 1, "a", 1), ("-D", 1, "a", 1)]
    found = merge_sorted(batch_of(schema, rows), merge_spec(schema, ["k"]))
    assert found.to_pylist() == [{"k": 1, "_SEQUENCE_NUMBER": 1, "_VALUE_KIND": 3}]
