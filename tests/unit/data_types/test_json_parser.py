import pytest

from paimon_explore.data_types.definitions import ArrayType, AtomicType, RowType, TypeRoot
from paimon_explore.data_types.formatter import field_to_json, type_to_json
from paimon_explore.data_types.json_parser import parse_fields, parse_type
from paimon_explore.errors import CorruptFileError

INT = AtomicType(root=TypeRoot.INT)


def test_a_nested_type_is_an_object() -> None:
    json = {
        "type": "ROW NOT NULL",
        "fields": [
            {"id": 4, "name": "m", "type": {"type": "MAP", "key": "INT NOT NULL", "value": "DATE"}},
            {"id": 5, "name": "v", "type": {"type": "VECTOR", "element": "FLOAT", "length": 3}},
            {"id": 6, "name": "s", "type": {"type": "MULTISET NOT NULL", "element": "STRING"}},
        ],
    }
    data_type = parse_type(json, "here")
    assert not data_type.nullable
    assert type_to_json(data_type) == json


def test_keys_that_are_not_known_are_ignored() -> None:
    json = {"type": "ARRAY", "element": "INT", "nullable": True}
    assert parse_type(json, "here") == ArrayType(element=INT)


def test_a_field_keeps_its_comment_and_default_value() -> None:
    json = {"id": 1, "name": "a", "type": "INT", "description": "c", "defaultValue": "5"}
    field = parse_fields([json], "here")[0]
    assert (field.description, field.default_value) == ("c", "5")
    assert field_to_json(field) == json


def test_null_comments_are_no_comments() -> None:
    json = {"id": 1, "name": "a", "type": "INT", "description": None, "defaultValue": None}
    assert field_to_json(parse_fields([json], "here")[0]) == {"id": 1, "name": "a", "type": "INT"}


def test_fields_without_ids_are_numbered_in_the_order_of_the_text() -> None:
    row = {"type": "ROW", "fields": [{"name": "x", "type": "INT"}]}
    fields = parse_fields([{"name": "a", "type": row}, {"name": "b", "type": "INT"}], "fields")
    inner = fields[0].type
    assert isinstance(inner, RowType)
    assert [field.id for field in (*fields, *inner)] == [0, 2, 1]


@pytest.mark.parametrize(
    ("json", "where"),
    [
        (None, "fields must be a list of fields"),
        ({}, "fields must be a list of fields"),
        ([3], r"fields\[0\] must be a field"),
        ([{"id": 0, "type": "INT"}], r"fields\[0\]: 'name' must be a string"),
        ([{"id": 0, "name": 5, "type": "INT"}], r"fields\[0\]: 'name' must be a string"),
        ([{"id": -1, "name": "a", "type": "INT"}], r"fields\[0\]: a field id"),
        ([{"id": 2**31, "name": "a", "type": "INT"}], r"fields\[0\]: a field id"),
        ([{"id": True, "name": "a", "type": "INT"}], r"fields\[0\]: a field id"),
        ([{"id": "1", "name": "a", "type": "INT"}], r"fields\[0\]: a field id"),
        ([{"id": 0, "name": "a"}], r"fields\[0\]\(a\)\.type must be a type"),
        ([{"id": 0, "name": "a", "type": "INTT"}], r"fields\[0\]\(a\)\.type is not a valid type"),
        (
            [{"id": 0, "name": "a", "type": "ROW<x INT>"}],
            "a schema file must store ROW as an object, not as a string",
        ),
        ([{"id": 0, "name": "a", "type": {"type": "SET"}}], "the type 'SET' is unknown"),
        ([{"id": 0, "name": "a", "type": {"type": "ARRAY"}}], r"type\.element must be a type"),
        (
            [{"id": 0, "name": "a", "type": {"type": "VECTOR", "element": "INT", "length": 0}}],
            "the length of VECTOR",
        ),
        (
            [{"id": 0, "name": "a", "type": {"type": "VECTOR", "element": "INT"}}],
            "the length of a vector",
        ),
        (
            [{"id": 0, "name": "a", "type": "INT"}, {"name": "b", "type": "INT"}],
            r"fields\[1\] must have an id, because other fields have one",
        ),
        (
            [{"id": 0, "name": "a", "type": "INT", "description": 5}],
            "'description' must be a string",
        ),
    ],
)
def test_broken_fields_are_refused_with_their_place(json: object, where: str) -> None:
    with pytest.raises(CorruptFileError, match=where) as caught:
        parse_fields(json, "fields", path="/t/schema/schema-0")
    assert str(caught.value).startswith("Corrupt data in /t/schema/schema-0")


def test_types_nested_too_deep_are_refused() -> None:
    json: object = "INT"
    for _ in range(100):
        json = {"type": "ARRAY", "element": json}
    with pytest.raises(CorruptFileError, match="nested more than 64 levels deep"):
        parse_type(json, "here")
