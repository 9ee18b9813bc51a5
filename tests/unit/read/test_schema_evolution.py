"""Fields of the reading schema found in a file's schema."""

import datetime as dt
from collections.abc import Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.read.schema_evolution import Casting, adapt, field_sources, pruned

CASTING = Casting(path="/t/f", zone=dt.UTC)


def field(field_id: int, name: str, data_type: object) -> DataField:
    return DataField(id=field_id, name=name, type=parse_type(data_type, "test"))


def row(*members: tuple[int, str, object]) -> dict[str, object]:
    fields = [{"id": number, "name": name, "type": kind} for number, name, kind in members]
    return {"type": "ROW", "fields": fields}


def adapted(values: Sequence[object], stored: object, wanted: object) -> Column:
    before, after = parse_type(stored, "test"), parse_type(wanted, "test")
    found = adapt(pa.array(values, to_arrow(before)), before, after, dt.UTC)
    found.validate(full=True)
    assert found.type == to_arrow(after)
    return found


def test_a_renamed_field_is_found_under_its_old_name() -> None:
    (source,) = field_sources([field(3, "new", "INT")], [field(3, "old", "INT")])
    assert source.stored == field(3, "old", "INT")
    assert as_python(source.column(pa.array([1], pa.int32()), 1, CASTING)) == [1]


def test_a_field_of_the_same_name_but_another_id_is_another_field() -> None:
    (source,) = field_sources([field(4, "a", "INT")], [field(3, "a", "INT")])
    assert source.stored is None
    assert as_python(source.column(None, 2, CASTING)) == [None, None]


def test_a_changed_type_is_cast() -> None:
    (source,) = field_sources([field(0, "a", "STRING")], [field(0, "a", "INT")])
    assert as_python(source.column(pa.array([1, None], pa.int32()), 2, CASTING)) == ["1", None]


def test_nullability_alone_changes_nothing() -> None:
    column = pa.array([1], pa.int32())
    stored, wanted = parse_type("INT", "t"), parse_type("INT NOT NULL", "t")
    assert adapt(column, stored, wanted, dt.UTC) is column


def test_members_are_matched_by_id_at_any_depth() -> None:
    stored = row((1, "a", "INT"), (2, "b", row((5, "x", "INT"), (6, "y", "INT"))))
    wanted = row((2, "b", row((7, "new", "INT"), (6, "z", "BIGINT"))), (1, "c", "INT"))
    assert as_python(adapted([{"a": 1, "b": {"x": 2, "y": 3}}, None], stored, wanted)) == [
        {"b": {"new": None, "z": 3}, "c": 1},
        None,
    ]


def test_elements_keys_and_values_are_adapted_too() -> None:
    stored = {"type": "ARRAY", "element": row((1, "a", "INT"))}
    wanted = {"type": "ARRAY", "element": row((1, "b", "BIGINT"))}
    assert as_python(adapted([[{"a": 1}, None], None], stored, wanted)) == [[{"b": 1}, None], None]
    stored = {"type": "MAP", "key": "INT", "value": row((1, "a", "INT"))}
    wanted = {"type": "MAP", "key": "BIGINT", "value": row((1, "b", "STRING"))}
    assert as_python(adapted([[(7, {"a": 1})], None], stored, wanted)) == [[(7, {"b": "1"})], None]


def test_multisets_and_vectors_keep_counts_and_lengths() -> None:
    stored: dict[str, object] = {"type": "MULTISET", "element": "INT"}
    wanted: dict[str, object] = {"type": "MULTISET", "element": "BIGINT"}
    assert as_python(adapted([[(7, 2)]], stored, wanted)) == [[(7, 2)]]
    stored = {"type": "VECTOR", "element": "FLOAT", "length": 2}
    wanted = {"type": "VECTOR", "element": "DOUBLE", "length": 2}
    assert as_python(adapted([[1.0, 2.0], None], stored, wanted)) == [[1.0, 2.0], None]


def test_sliced_columns_are_adapted_in_place() -> None:
    stored, wanted = row((1, "a", "INT")), row((1, "b", "BIGINT"))
    before, after = parse_type(stored, "t"), parse_type(wanted, "t")
    rows = pa.array([{"a": 1}, None, {"a": 3}], to_arrow(before))[1:]
    assert as_python(adapt(rows, before, after, dt.UTC)) == [None, {"b": 3}]
    lists = pa.array([[1], None, [3, 4]], pa.list_(pa.int32()))[1:]
    ints, bigints = ({"type": "ARRAY", "element": kind} for kind in ("INT", "BIGINT"))
    before, after = parse_type(ints, "t"), parse_type(bigints, "t")
    assert as_python(adapt(lists, before, after, dt.UTC)) == [None, [3, 4]]


def test_what_lies_under_a_null_row_is_not_cast() -> None:
    stored, wanted = row((1, "a", "STRING")), row((1, "a", "INT"))
    before, after = parse_type(stored, "t"), parse_type(wanted, "t")
    texts = pa.array(["1", "no number"])
    fields = [pa.field("a", pa.string())]
    rows = pa.StructArray.from_arrays([texts], fields=fields, mask=pa.array([False, True]))
    assert as_python(adapt(rows, before, after, dt.UTC)) == [{"a": 1}, None]


def test_only_wanted_members_are_read() -> None:
    stored = row(
        (1, "a", "INT"),
        (2, "b", {"type": "ARRAY", "element": row((3, "c", "INT"), (4, "d", "INT"))}),
    )
    wanted = row((2, "z", {"type": "ARRAY", "element": row((4, "d", "INT"))}))
    expected = row((2, "b", {"type": "ARRAY", "element": row((4, "d", "INT"))}))
    assert pruned(parse_type(stored, "t"), parse_type(wanted, "t")) == parse_type(expected, "t")


def test_a_row_without_any_wanted_member_keeps_one_to_know_its_nulls() -> None:
    stored, wanted = row((1, "a", "INT"), (2, "b", "INT")), row((9, "n", "INT"))
    assert pruned(parse_type(stored, "t"), parse_type(wanted, "t")) == parse_type(
        row((1, "a", "INT")), "t"
    )
    assert as_python(adapted([{"a": 1}, None], row((1, "a", "INT")), wanted)) == [
        {"n": None},
        None,
    ]
