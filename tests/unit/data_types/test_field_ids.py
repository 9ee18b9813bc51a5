from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.data_types.field_ids import (
    KEY_FIELD_OFFSET,
    SEQUENCE_NUMBER_FIELD,
    assigned_ids,
    element_id,
    field_ids,
    highest_field_id,
    map_key_id,
)
from paimon_explore.data_types.type_parser import parse_type_text

INT = AtomicType(root=TypeRoot.INT)


def column(name: str, text: str, number: int = 0) -> DataField:
    return DataField(id=number, name=name, type=parse_type_text(text))


def test_a_column_is_numbered_before_its_members_and_members_after_theirs() -> None:
    fields = assigned_ids(
        [column("a", "INT"), column("r", "ROW<x INT, y ROW<z INT>>"), column("b", "INT")]
    )
    assert list(field_ids(fields)) == [0, 1, 2, 4, 3, 5]


def test_rows_inside_collections_are_numbered_too() -> None:
    fields = assigned_ids([column("m", "MAP<ROW<k INT>, ARRAY<ROW<v INT>>>")], 10)
    assert list(field_ids(fields)) == [11, 12, 13]


def test_the_highest_id_leaves_system_columns_out() -> None:
    system = DataField(id=SEQUENCE_NUMBER_FIELD, name="_SEQUENCE_NUMBER", type=INT)
    key = DataField(id=KEY_FIELD_OFFSET + 3, name="_KEY_a", type=INT)
    assert highest_field_id([system, key, column("a", "INT", 3)]) == 3
    assert highest_field_id([]) == -1


def test_elements_and_keys_have_the_ids_that_java_writes() -> None:
    assert element_id(0, 1) == 536870912
    assert element_id(3, 2) == 536870911 + 3 * 1024 + 2
    assert map_key_id(0, 1) == 536870910
    assert map_key_id(3, 2) == 536870911 - 3 * 1024 - 2
