"""Which rows can be among the first ones of an order, batch by batch."""

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.merge.first_rows import FirstBound, FirstRows, FirstValues

NULL, NAN = 0, 4
"""Places in the lists of values, which are in order; neither bounds the first rows."""
LISTS: Sequence[Column] = [
    pa.array([None, 0.5, 1.5, 2.5, float("nan")]),
    pa.array([None, "a", "b", "c"]),
]


@pytest.mark.parametrize("values", LISTS, ids=["numbers", "texts"])
@given(st.data(), st.integers(1, 3), st.booleans(), st.booleans())
def test_rows_that_enough_others_of_a_stream_come_before_are_left_out(
    values: Column,
    data: st.DataObject,
    count: int,
    descending: bool,  # noqa: FBT001 - drawn
    nulls_first: bool,  # noqa: FBT001 - drawn
) -> None:
    first = FirstRows(column="v", count=count, descending=descending, nulls_first=nulls_first)
    bound = FirstBound(first)
    streams = [FirstValues(bound), FirstValues(bound)]
    seen: list[list[int]] = [[], []]
    batch = st.lists(st.integers(0, len(values) - 1), max_size=4)
    for at, places in data.draw(st.lists(st.tuples(st.integers(0, 1), batch), max_size=6)):
        seen[at] += [place for place in places if NULL < place < NAN]
        ordered = [sorted(some, reverse=descending) for some in seen]
        lasts = [some[count - 1] for some in ordered if len(some) >= count]
        column = values.take(pa.array(places, pa.int64()))
        assert streams[at].kept(column).tolist() == [
            not lasts
            or (nulls_first if place == NULL else _reaches(place, lasts, descending=descending))
            for place in places
        ]


def _reaches(place: int, lasts: Sequence[int], *, descending: bool) -> bool:
    return place >= max(lasts) if descending else place <= min(lasts)
