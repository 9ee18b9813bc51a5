"""What is worked out once per table."""

from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema, cached_by_schema_and_options

CALLS: list[int] = []


@cached_by_schema_and_options
def answer(schema: TableSchema, options: TableOptions, *, factor: int = 1) -> list[int]:
    CALLS.append(schema.id)
    return [schema.id * factor, len(options)]


def schema(number: int) -> TableSchema:
    return TableSchema(id=number, fields=(), highest_field_id=0)


def test_the_same_schema_and_equal_options_have_the_same_answer() -> None:
    one = schema(7)
    first = answer(one, TableOptions({"a": "1"}), factor=2)
    assert first == [14, 1]
    assert answer(one, TableOptions({"a": "1"}), factor=2) is first


def test_another_schema_option_or_argument_has_another_answer() -> None:
    one = schema(7)
    first = answer(one, TableOptions({"a": "1"}))
    assert answer(schema(7), TableOptions({"a": "1"})) is not first
    assert answer(one, TableOptions({"a": "2"})) is not first
    assert answer(one, TableOptions({"a": "1"}), factor=3) == [21, 1]


def test_options_that_change_afterwards_do_not_change_what_is_kept() -> None:
    one, texts = schema(7), {"a": "1"}
    first = answer(one, TableOptions(texts))
    texts["b"] = "2"
    assert answer(one, TableOptions(texts)) == [7, 2]
    assert first == [7, 1]


def test_few_answers_are_kept() -> None:
    many = [schema(number) for number in range(200)]
    before = len(CALLS)
    for one in many:
        answer(one, TableOptions({}))
    assert answer(many[-1], TableOptions({})) == [199, 0]
    assert len(CALLS) - before == 200
