"""Avro schemas."""

import json

import pytest

from paimon_explore.encoding.avro.schema import (
    ArrayNode,
    MapNode,
    OptionalNode,
    PlainNode,
    Primitive,
    RecordNode,
    RecursiveNode,
    describe,
    generic_nodes,
    parse_avro_schema,
    refuse_generic,
    top_record,
)
from paimon_explore.errors import CorruptFileError

LONG = PlainNode(primitive=Primitive.LONG)


def parse(schema: object) -> object:
    return parse_avro_schema(json.dumps(schema).encode())


def record(*types: object) -> dict[str, object]:
    fields = [{"name": f"f{index}", "type": kind} for index, kind in enumerate(types)]
    return {"type": "record", "name": "r", "fields": fields}


def test_nested_types_become_nodes() -> None:
    schema = ["null", record(["null", "long"], {"type": "array", "items": "long"}, ["long"])]
    assert parse(schema) == OptionalNode(
        null_branch=0,
        inner=RecordNode(
            name="r",
            fields=(
                ("f0", OptionalNode(inner=LONG, null_branch=0)),
                ("f1", ArrayNode(items=LONG)),
                ("f2", OptionalNode(inner=LONG, null_branch=None)),
            ),
        ),
    )


def test_maps_are_maps_or_arrays_marked_as_maps() -> None:
    assert parse({"type": "map", "values": "long"}) == MapNode(values=LONG)
    pair = {"type": "record", "name": "p", "fields": [{"name": "key", "type": "long"}]}
    found = parse({"type": "array", "items": pair, "logicalType": "map"})
    assert isinstance(found, ArrayNode)
    assert found.is_map


def test_logical_types_are_kept() -> None:
    assert parse({"type": "int", "logicalType": "date"}) == PlainNode(
        primitive=Primitive.INT, logical="date"
    )
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    assert parse(decimal) == PlainNode(
        primitive=Primitive.BYTES, logical="decimal", precision=10, scale=2
    )
    fixed = {"type": "fixed", "name": "f", "size": 4, "logicalType": "decimal", "precision": 9}
    assert parse(fixed) == PlainNode(
        primitive=Primitive.FIXED, logical="decimal", precision=9, size=4
    )


def test_a_type_may_be_named_again() -> None:
    named = {"type": "fixed", "name": "a.b.F", "size": 2}
    found = parse(record(named, "F", "a.b.F"))
    assert isinstance(found, RecordNode)
    assert len({node for _, node in found.fields}) == 1


def test_generic_types_are_nodes_that_the_columnar_decoder_refuses() -> None:
    enum = {"type": "enum", "name": "e", "symbols": ["a", "b"]}
    kinds = [enum, ["null", "int", "long"], {"type": "map", "values": ["null", "r"]}]
    node = parse_avro_schema(json.dumps(record(*kinds)).encode())
    assert [(where, describe(found)) for where, found in generic_nodes(node)] == [
        ("f0", "the Avro enum 'e'"),
        ("f1", "an Avro union of 3 types"),
        ("f2", "the recursive Avro record 'r'"),
    ]
    with pytest.raises(CorruptFileError, match=r"schema\.f0 must be a type that .* the Avro enum"):
        refuse_generic(node)


def test_a_recursive_type_knows_the_record_that_it_stands_for() -> None:
    inner = {"type": "record", "name": "a.n", "fields": [{"name": "x", "type": ["null", "a.n"]}]}
    outer = {"type": "record", "name": "b.n", "fields": [{"name": "y", "type": inner}]}
    node = parse_avro_schema(json.dumps(outer).encode())
    assert isinstance(node, RecordNode)
    ((where, found),) = generic_nodes(node)
    assert isinstance(found, RecursiveNode)
    assert (where, found.record) == ("y.x", node.field("y"))


def deep(levels: int) -> object:
    schema: object = "long"
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


def wide(doublings: int) -> object:
    """Records that hold the one before twice: short to write, endless to walk."""
    fields = []
    for index in range(doublings):
        inner: object = f"r{index - 1}" if index else "long"
        two = [{"name": name, "type": inner} for name in ("a", "b")]
        fields.append(
            {"name": f"f{index}", "type": {"type": "record", "name": f"r{index}", "fields": two}}
        )
    return {"type": "record", "name": "top", "fields": fields}


@pytest.mark.parametrize(
    ("schema", "rule"),
    [
        ("null", "must be a type that Paimon uses"),
        ("text", "must be a type that Paimon uses"),
        (5, "must be a type"),
        (["null"], "must contain a type other than null"),
        (["null", "null", "int"], "and null at most once"),
        (["null", ["null", "int"]], "a union must not contain another union"),
        ({"type": "enum", "name": "e"}, "an enum must have symbols"),
        ({"type": "array"}, "must be a type"),
        ({"type": "map", "values": "null"}, "must be a type that Paimon uses"),
        ({"type": "record", "name": "r", "fields": []}, "must have fields"),
        ({"type": "record", "name": "r", "fields": [{"type": "int"}]}, "must have a name"),
        ({"type": "record", "name": "r", "fields": [5]}, "must have a name"),
        (record("s"), "must be a type that Paimon uses, not 's'"),
        ({"type": "fixed", "name": "f", "size": 0}, "must have a size"),
        ({"type": "fixed", "name": "f", "size": True}, "must have a size"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 39},
            "the precision of a decimal must be 1 to 38",
        ),
        ({"type": "bytes", "logicalType": "decimal", "precision": "9"}, "must have a precision"),
        (deep(100), "at most 64 levels"),
        (wide(40), "at most 50000 types"),
    ],
)
def test_what_paimon_does_not_write_is_refused(schema: object, rule: str) -> None:
    with pytest.raises(CorruptFileError, match=rule):
        parse(schema)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(text: bytes) -> None:
    with pytest.raises(CorruptFileError, match="must be a schema in JSON"):
        parse_avro_schema(text)


def test_two_fields_must_not_share_a_name() -> None:
    twice = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "int"}] * 2}
    with pytest.raises(CorruptFileError, match="field name 'a' is used twice"):
        parse(twice)


def test_the_top_must_be_a_record() -> None:
    assert top_record(parse_avro_schema(json.dumps(["null", record("int")]).encode())).name == "r"
    with pytest.raises(CorruptFileError, match="must have a record as its top-level type"):
        top_record(LONG)
