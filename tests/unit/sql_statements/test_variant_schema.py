"""Schemas of variants whose arrays have elements of several kinds."""

import pytest

from paimon_explore.encoding.variant.json_parser import parse_json_tree
from paimon_explore.sql_statements.duckdb.functions.variant_schema import schema_text

ARRAYS = {
    "[]": "ARRAY<VOID>",
    '[null, {"a": 1}]': "ARRAY<OBJECT<a: BIGINT>>",
    "[1, 1.5]": "ARRAY<DECIMAL(21,1)>",
    "[1.5, 1e400]": "ARRAY<DOUBLE>",
    '[1, {"a": 2}]': "ARRAY<VARIANT>",
    '[{"a": 2}, 1.5]': "ARRAY<VARIANT>",
    '[[1], {"a": 1}]': "ARRAY<VARIANT>",
    "[1.5, [1]]": "ARRAY<VARIANT>",
    '["x", {"a": 1}]': "ARRAY<VARIANT>",
    "[true, 1.5]": "ARRAY<VARIANT>",
    '[{"a": 1}, {"a": {"b": [1, {"c": 2}]}}]': "ARRAY<OBJECT<a: VARIANT>>",
    '[{"a": [1]}, {"a": [{"b": 1}]}]': "ARRAY<OBJECT<a: ARRAY<VARIANT>>>",
}


@pytest.mark.parametrize("text", ARRAYS)
def test_an_array_has_the_schema_that_all_elements_fit(text: str) -> None:
    assert schema_text([parse_json_tree(text)]) == ARRAYS[text]
