"""Variants of any values: what is written is read, and damage is an error of its own kind."""

import datetime as dt
import json

from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.encoding.variant.json_text import json_text
from support.variants import encode_python, python_value

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20)).filter(
        lambda number: abs(number) < 10**30
    ),
    st.text(max_size=70),
    st.binary(max_size=20),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.UTC)),
    st.uuids(),
)
VALUES = st.recursive(
    SCALARS,
    lambda children: st.one_of(
        st.lists(children, max_size=4), st.dictionaries(st.text(max_size=5), children, max_size=4)
    ),
    max_leaves=12,
)


@given(value=VALUES)
def test_a_variant_comes_back_as_it_was(value: object) -> None:
    data, metadata = encode_python(value)

    assert python_value(data, metadata) == value


@given(value=VALUES)
def test_its_json_text_is_json(value: object) -> None:
    text = json_text(*encode_python(value))

    json.loads(text)
