"""Responses of any JSON: a value, or an error of ours; rules of any JSON: applied or refused."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.errors import FormatError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metastore.rest import json_responses as read
from paimon_explore.metastore.rest.error_mapping import error_body
from paimon_explore.scan.predicate.binder import bind, bind_value
from paimon_explore.scan.predicate.json_rules import parse_condition, parse_value

COLUMNS = RowType(
    fields=(
        DataField(id=0, name="id", type=AtomicType(root=TypeRoot.INT)),
        DataField(id=1, name="name", type=AtomicType(root=TypeRoot.VARCHAR, length=9)),
    )
)
KEYS = (
    *("id", "name", "path", "isExternal", "schemaId", "schema", "fields", "type", "options"),
    *("partitionKeys", "primaryKeys", "comment", "query", "dialects", "definitions", "snapshot"),
    *("inputParams", "returnParams", "deterministic", "spec", "recordCount", "done", "tables"),
    *("nextPageToken", "code", "message", "resourceType", "resourceName", "element", "key"),
    *("kind", "transform", "function", "literals", "children", "fieldRef", "inputs"),
)
WORDS = (
    *("INT", "STRING", "ROW", "ARRAY<INT>", "DECIMAL(99, 1)", "LEAF", "COMPOUND", "AND", "EQUAL"),
    *("IN", "LIKE", "FIELD_REF", "CAST", "CONCAT", "NULL", "id", "name", "BETWEEN", "TABLE", ""),
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)

READERS: dict[str, Callable[[JsonObject], object]] = {
    "database": read.database_of,
    "table": read.table_of,
    "view": read.view_of,
    "function": read.function_of,
    "partition": read.partition_of,
    "latest snapshot": read.latest_snapshot_of,
    "names": lambda source: source.names("tables"),
    "objects": lambda source: [*map(read.partition_of, source.objects("tables"))],
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@given(values=OBJECTS)
def test_any_object_is_read_or_refused(
    reader: Callable[[JsonObject], object], values: dict[str, object]
) -> None:
    try:
        reader(JsonObject(path="http://h", values=values))
    except FormatError as error:
        told = str(error)
    else:
        return
    assert "http://h" in told


@given(values=OBJECTS)
def test_any_error_body_is_read(values: dict[str, object]) -> None:
    found = error_body(json.dumps(values).encode())
    assert found.code is None or 400 <= found.code < 600


@given(values=VALUES)
def test_any_filter_is_understood_or_refused(values: object) -> None:
    try:
        bind(parse_condition(json.dumps(values), COLUMNS), COLUMNS)
    except (UnsupportedFeatureError, InvalidInputError):
        return


@given(values=VALUES)
def test_any_mask_is_understood_or_refused(values: object) -> None:
    try:
        bind_value(parse_value(json.dumps(values), COLUMNS), COLUMNS)
    except (UnsupportedFeatureError, InvalidInputError):
        return
