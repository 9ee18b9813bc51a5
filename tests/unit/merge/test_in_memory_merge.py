"""What a writer buffered, sorted and merged."""

import pyarrow as pa
import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.merge.in_memory_merge import merge_sorted, merge_sorted_buckets, sort_rows
from paimon_explore.merge.merge_spec import merge_spec
from support.merging import Row, batch_of, merged_commits, schema_of

COLUMNS: dict[str, object] = {"k": "STRING NOT NULL", "s": "INT"}
ROWS: list[Row] = [("+I", "b", 1), ("-U", "a", 9), ("+U", "a", 2), ("-D", "b", 0), ("+I", "c", 1)]


def test_sorted_rows_keep_every_record_by_key_and_sequence() -> None:
    schema = schema_of(COLUMNS)
    found = sort_rows(batch_of(schema, ROWS), merge_spec(schema))
    assert found.column("k").to_pylist() == ["a", "a", "b", "b", "c"]
    assert found.column("_SEQUENCE_NUMBER").to_pylist() == [1, 2, 0, 3, 4]
    assert found.column("_VALUE_KIND").to_pylist() == [1, 2, 0, 3, 0]


def test_sequence_fields_come_before_the_sequence_number() -> None:
    schema = schema_of(COLUMNS, {"sequence.field": "s"})
    found = sort_rows(batch_of(schema, ROWS), merge_spec(schema))
    assert found.column("_SEQUENCE_NUMBER").to_pylist() == [2, 1, 3, 0, 4]


def test_rows_that_are_sorted_already_are_left_alone() -> None:
    schema = schema_of(COLUMNS)
    batch = batch_of(schema, [("+I", "a", 1), ("+I", "b", 2)])
    assert sort_rows(batch, merge_spec(schema)) is batch


def test_merged_rows_are_one_per_key_with_deletes_kept() -> None:
    schema = schema_of(COLUMNS)
    table = pa.Table.from_batches([batch_of(schema, ROWS[:2]), batch_of(schema, ROWS[2:], first=2)])
    assert merge_sorted(table, merge_spec(schema)).to_pylist() == [
        {"k": "a", "s": 2, "_SEQUENCE_NUMBER": 2, "_VALUE_KIND": 2},
        {"k": "b", "s": 0, "_SEQUENCE_NUMBER": 3, "_VALUE_KIND": 3},
        {"k": "c", "s": 1, "_SEQUENCE_NUMBER": 4, "_VALUE_KIND": 0},
    ]


def test_no_rows_merge_to_no_rows() -> None:
    schema = schema_of(COLUMNS)
    for options in ({}, {"merge-engine": "aggregation"}, {"merge-engine": "partial-update"}):
        spec = merge_spec(schema_of(COLUMNS, options))
        assert merge_sorted(batch_of(schema, []), spec).num_rows == 0
        assert sort_rows(batch_of(schema, []), spec).num_rows == 0


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ignore-delete": "true"},
        {"sequence.field": "s"},
        {"merge-engine": "first-row"},
        {"merge-engine": "aggregation", "fields.s.aggregate-function": "sum"},
        {"merge-engine": "partial-update", "ignore-delete": "true"},
    ],
)
@pytest.mark.parametrize("key", ["k", "_BUCKET"])
def test_buckets_merged_together_are_merged_as_each_alone(
    options: dict[str, str], key: str
) -> None:
    schema = schema_of({key: "STRING NOT NULL", "s": "INT"}, options, keys=[key])
    spec = merge_spec(schema)
    rows: list[Row] = ROWS if not options.get("merge-engine") else [("+I", *r[1:]) for r in ROWS]
    buckets = [
        pa.Table.from_batches([batch_of(schema, rows)]),
        pa.Table.from_batches([batch_of(schema, rows[::-1]), batch_of(schema, rows, first=9)]),
        pa.Table.from_batches([batch_of(schema, rows[2:3], first=3)]),
    ]
    names = [key, "s", "_SEQUENCE_NUMBER", "_VALUE_KIND"]
    together = [merged.select(names) for merged in merge_sorted_buckets(buckets, spec)]
    assert [merged.to_pylist() for merged in together] == [
        merge_sorted(bucket, spec).to_pylist() for bucket in buckets
    ]


def test_what_a_writer_may_not_merge_is_bad_input_of_the_caller() -> None:
    schema = schema_of(COLUMNS, {"merge-engine": "first-row"})
    with pytest.raises(InvalidInputError, match="first-row"):
        merged_commits(schema, [[("+I", "a", 1), ("-D", "a", 1)]])
