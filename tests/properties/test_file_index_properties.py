"""Indexes of any columns: their answers are those of a look at every row."""

import operator
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.encoding.file_index.container import decode_container, encode_container
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings, decode_index
from paimon_explore.errors import FormatError
from support.arrow import column_of
from support.damage import damaged

Value = int | str | float
Values = list[Value | None]

KINDS = ["bloom-filter", "bitmap", "bsi", "range-bitmap"]
OPERATORS: Mapping[Relation, Callable[..., bool]] = {
    Relation.EQ: operator.eq,
    Relation.NE: operator.ne,
    Relation.LT: operator.lt,
    Relation.LE: operator.le,
    Relation.GT: operator.gt,
    Relation.GE: operator.ge,
}
NUMBERS = st.integers(-5, 5) | st.integers(-(2**63) + 1, 2**63 - 1)
TYPED: Mapping[str, st.SearchStrategy[Value]] = {
    "BIGINT": NUMBERS,
    "STRING": st.text("ab\U0001f600\ufffd", max_size=3),
    "DOUBLE": st.floats(-2, 2, allow_nan=False) | st.sampled_from([0.0, -0.0]),
}
SETTINGS = st.builds(
    IndexSettings,
    items=st.integers(1, 20),
    version=st.sampled_from([1, 2]),
    block_bytes=st.integers(0, 60),
    chunk_bytes=st.none() | st.integers(0, 60),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, Values]:
    text = draw(st.sampled_from(sorted(TYPED)))
    return text, draw(st.lists(st.none() | TYPED[text], max_size=30))


def built(kind: str, text: str, values: Values, settings: IndexSettings) -> bytes:
    data_type = parse_type(text, "a test")
    builder = IndexBuilder(kind, data_type, settings)
    builder.add(column_of(values, data_type))
    return builder.encode()


@pytest.mark.parametrize("kind", KINDS)
@given(case=cases(), settings=SETTINGS, data=st.data())
def test_an_index_answers_as_a_look_at_every_row_does(
    kind: str, case: tuple[str, Values], settings: IndexSettings, data: st.DataObject
) -> None:
    text, values = case
    if kind == "bsi" and text != "BIGINT":
        return
    index = decode_index(kind, built(kind, text, values, settings), parse_type(text, "t"), path="f")
    literal = data.draw(TYPED[text])
    for relation, holds in OPERATORS.items():
        expected = BitMap(
            [row for row, value in enumerate(values) if value is not None and holds(value, literal)]
        )
        found = index.rows(Condition(relation, (literal,)))
        if kind == "bloom-filter" or found is None:
            assert index.may_match(Condition(relation, (literal,))) or not expected
        else:
            assert found == expected


@given(data=st.data())
def test_a_damaged_container_is_refused_or_names_parts_of_itself(data: st.DataObject) -> None:
    original = encode_container([("a", "bsi", b"1234"), ("b", "bitmap", None)])
    broken = data.draw(damaged(original))

    try:
        parts = decode_container(broken, path="a file")
    except FormatError:
        return
    assert all(part.start is None or part.start + part.length <= len(broken) for part in parts)
