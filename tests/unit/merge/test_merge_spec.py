"""Which merge a table's options ask for, and the columns it takes."""

import pytest

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.merge.merge_spec import (
    AggregateFunction,
    SequenceGroup,
    merge_spec,
    needed_columns,
)
from paimon_explore.merge.section_merge import functions_of
from paimon_explore.metadata.options.option_enums import MergeEngine
from support.merging import schema_of

COLUMNS: dict[str, object] = {
    "k": "INT NOT NULL",
    "a": "STRING",
    "b": "INT",
    "g": "INT",
    "h": "INT",
    "x": "INT",
}
GROUPED = {
    "merge-engine": "partial-update",
    "fields.g.sequence-group": "a",
    "fields.h,x.sequence-group": "b",
}


def test_a_table_without_options_deduplicates() -> None:
    spec = merge_spec(schema_of(COLUMNS))
    assert (spec.engine, spec.keys, spec.columns) == (
        MergeEngine.DEDUPLICATE,
        ("k",),
        ("k", "a", "b", "g", "h", "x"),
    )


def test_wanted_columns_bring_the_key_and_the_sequence_fields_with_them() -> None:
    spec = merge_spec(schema_of(COLUMNS, {"sequence.field": "h, g"}), ["b"])
    assert spec.columns == ("b",)
    assert needed_columns(spec) == ("k", "b", "g", "h")


def test_no_wanted_columns_still_need_the_key() -> None:
    assert needed_columns(merge_spec(schema_of(COLUMNS), [])) == ("k",)


def test_columns_of_a_sequence_group_need_its_ordering_columns() -> None:
    spec = merge_spec(schema_of(COLUMNS, GROUPED), ["b"])
    assert needed_columns(spec) == ("k", "b", "h", "x")


def test_one_ordering_column_needs_the_others_of_its_group() -> None:
    assert needed_columns(merge_spec(schema_of(COLUMNS, GROUPED), ["x"])) == ("k", "h", "x")


def test_groups_that_remove_rows_are_always_needed() -> None:
    removing = {**GROUPED, "partial-update.remove-record-on-sequence-group": "x"}
    spec = merge_spec(schema_of(COLUMNS, removing), ["a"])
    assert needed_columns(spec) == ("k", "a", "g", "h", "x")
    assert spec.sequence_groups == (
        SequenceGroup(ordering=("g",), columns=("a",)),
        SequenceGroup(ordering=("h", "x"), columns=("b",), removes=True),
    )


def test_columns_of_an_aggregation_have_a_function_each_but_the_key() -> None:
    options = {
        "merge-engine": "aggregation",
        "sequence.field": "g",
        "fields.b.aggregate-function": "sum",
        "fields.b.ignore-retract": "true",
    }
    functions = merge_spec(schema_of(COLUMNS, options)).functions
    assert functions["b"] == AggregateFunction(name="sum", ignore_retract=True)
    assert {name: function.name for name, function in functions.items()} == {
        "a": "last_non_null_value",
        "b": "sum",
        "g": "last_value",
        "h": "last_non_null_value",
        "x": "last_non_null_value",
    }


def test_the_default_function_is_that_of_columns_without_one() -> None:
    options = {"merge-engine": "aggregation", "fields.default-aggregate-function": "first_value"}
    functions = merge_spec(schema_of(COLUMNS, options)).functions
    assert functions["a"] == AggregateFunction(name="first_value")


def test_options_of_a_function_are_read() -> None:
    options = {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "listagg",
        "fields.a.list-agg-delimiter": "; ",
        "fields.a.distinct": "true",
    }
    assert merge_spec(schema_of(COLUMNS, options)).functions["a"] == AggregateFunction(
        name="listagg", list_agg_delimiter="; ", distinct=True
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sequence.field": "no"}, "Sequence field 'no'"),
        ({**GROUPED, "fields.g.sequence-group": "k"}, "primary key column 'k'"),
        ({**GROUPED, "fields.g.sequence-group": "b"}, "'b' belongs to two sequence groups"),
        ({**GROUPED, "fields.g.sequence-group": "no"}, "'no' is not a column of the table"),
        (
            {**GROUPED, "partial-update.remove-record-on-sequence-group": "a"},
            "is not a sequence field of a sequence group",
        ),
        (
            {**GROUPED, "ignore-delete": "true"}
            | {"partial-update.remove-record-on-sequence-group": "g"},
            "'ignore-delete' cannot be combined with 'partial-update.remove",
        ),
        ({**GROUPED, "partial-update.remove-record-on-delete": "true"}, "sequence groups"),
        (
            {"merge-engine": "partial-update", "ignore-delete": "true"}
            | {"partial-update.remove-record-on-delete": "true"},
            "'ignore-delete' cannot be combined with 'partial-update.remove",
        ),
        (
            {**GROUPED, "fields.x.aggregate-function": "sum"} | {"fields.h,x.sequence-group": "b"},
            "",
        ),
    ],
)
def test_contradicting_options_are_refused(options: dict[str, str], message: str) -> None:
    if not message:
        assert "x" not in merge_spec(schema_of(COLUMNS, options)).functions
        return
    with pytest.raises(InvalidInputError, match=message):
        merge_spec(schema_of(COLUMNS, options))


def test_functions_of_partial_update_need_a_sequence_group() -> None:
    options = {"merge-engine": "partial-update", "fields.b.aggregate-function": "sum"}
    with pytest.raises(InvalidInputError, match="needs a sequence group"):
        merge_spec(schema_of(COLUMNS, options))


def test_unknown_wanted_columns_are_named_with_the_choices() -> None:
    with pytest.raises(InvalidInputError, match=r"'z'.*'k', 'a'"):
        merge_spec(schema_of(COLUMNS), ["z"])


ROWS = {
    "type": "ARRAY",
    "element": {"type": "ROW", "fields": [{"id": 7, "name": "i", "type": "INT"}]},
}


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("STRING", {"aggregate-function": "sum"}, "cannot be used on column 'v'"),
        ("INT", {"aggregate-function": "bool_and"}, "cannot be used"),
        ("INT", {"aggregate-function": "merge_map"}, "cannot be used"),
        (ROWS, {"aggregate-function": "max"}, "cannot be used"),
        (ROWS, {"aggregate-function": "nested_partial_update"}, "needs option 'nested-key'"),
        (ROWS, {"aggregate-function": "nested_update", "nested-key": "z"}, "no field 'z'"),
        (
            ROWS,
            {"aggregate-function": "nested_update", "nested-sequence-field": "i"},
            "needs option 'nested-key'",
        ),
    ],
)
def test_functions_that_do_not_fit_their_column_are_refused(
    kind: object, settings: dict[str, str], message: str
) -> None:
    options = {f"fields.v.{name}": value for name, value in settings.items()}
    schema = schema_of({"k": "INT NOT NULL", "v": kind}, {"merge-engine": "aggregation", **options})
    with pytest.raises(InvalidInputError, match=message):
        functions_of(merge_spec(schema))


def test_an_unknown_function_is_not_supported_unless_its_column_is_not_wanted() -> None:
    options = {"merge-engine": "aggregation", "fields.b.aggregate-function": "median"}
    schema = schema_of(COLUMNS, options)
    with pytest.raises(UnsupportedFeatureError, match=r"'median'.*'listagg'"):
        functions_of(merge_spec(schema))
    assert set(functions_of(merge_spec(schema, ["a"]))) == {"a"}
