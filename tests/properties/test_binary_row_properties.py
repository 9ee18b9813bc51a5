"""Binary rows of any types: what is written is read, and damage is an error of its own kind."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.binary_row.row_encoder import encode_rows, row_images
from paimon_explore.encoding.binary_row.single_row_encoder import MAX_ROWS
from paimon_explore.errors import FormatError
from support.arrow import column_of
from support.damage import damaged
from support.decoding import with_arity
from support.type_strategies import columns

Drawn = tuple[list[DataType], list[list[object]]]


@given(drawn=columns(), reserve=st.booleans())
def test_rows_come_back_as_they_were(drawn: Drawn, *, reserve: bool) -> None:
    types, values = drawn
    written = [column_of(v, t) for v, t in zip(values, types, strict=True)]

    rows = with_arity(encode_rows(written, types, reserve_nulls=reserve), len(types))

    assert decode_rows(rows, types, where="rows") == written


@given(drawn=columns(), start=st.integers(0, 3))
def test_few_rows_have_the_same_bytes_as_many(drawn: Drawn, start: int) -> None:
    types, values = drawn
    whole = [column_of(v * (MAX_ROWS + 1), t) for v, t in zip(values, types, strict=True)]
    few = [column.slice(start, 2) for column in whole]
    many = encode_rows(whole, types)

    assert encode_rows(few, types) == many.slice(start, len(few[0]))
    assert row_images(few, types) == as_python(with_arity(many, len(types)))[start : start + 2]


@given(drawn=columns(), data=st.data())
def test_damaged_rows_are_refused_or_read_as_other_values(
    drawn: Drawn, data: st.DataObject
) -> None:
    types, values = drawn
    written = [column_of(v, t) for v, t in zip(values, types, strict=True)]
    images = [row.as_py() for row in with_arity(encode_rows(written, types), len(types))]
    broken = pa.array([data.draw(damaged(image)) for image in images], pa.binary())

    try:
        found = decode_rows(broken, types, where="rows")
    except FormatError:
        return
    for column in found:
        column.validate(full=True)
