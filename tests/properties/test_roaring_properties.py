"""Bitmaps and deletion vectors: what is written is read, and damage never reaches the library."""

from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap, BitMap64

from paimon_explore.encoding.deletion_vector import encode_vectors
from paimon_explore.encoding.roaring_bitmap import decode_bitmap, encode_bitmap
from paimon_explore.errors import FormatError
from support.damage import damaged
from support.decoding import decode_vectors

NUMBERS = st.integers(0, 200) | st.integers(0, 2**32 - 1)
RANGES = st.tuples(st.integers(0, 2**20), st.integers(0, 70_000)).map(
    lambda pair: BitMap(range(pair[0], pair[0] + pair[1]))
)
BITMAPS = st.lists(RANGES | st.sets(NUMBERS).map(BitMap), max_size=3).map(
    lambda parts: BitMap().union(*parts)
)


@given(bitmap=BITMAPS)
def test_a_bitmap_comes_back_as_it_was(bitmap: BitMap) -> None:
    assert decode_bitmap(encode_bitmap(bitmap), "a file") == bitmap


@given(bitmap=BITMAPS, data=st.data())
def test_a_damaged_bitmap_is_refused_or_whole(bitmap: BitMap, data: st.DataObject) -> None:
    broken = data.draw(damaged(encode_bitmap(bitmap)))

    try:
        found = decode_bitmap(broken, "a file")
    except FormatError:
        return
    if len(found) < 10**6:
        assert BitMap(list(found)) == found


@given(vectors=st.lists(BITMAPS, max_size=3), wide=st.booleans())
def test_deletion_vectors_come_back_as_they_were(vectors: list[BitMap], *, wide: bool) -> None:
    data, ranges = encode_vectors([(str(n), v) for n, v in enumerate(vectors)], wide=wide)

    found = decode_vectors(data, path="a file")

    assert [offset for offset, _ in found] == [r.offset for r in ranges]
    kind = BitMap64 if wide else BitMap
    assert [vector for _, vector in found] == [kind(vector) for vector in vectors]


@given(vector=BITMAPS, wide=st.booleans(), data=st.data())
def test_a_damaged_deletion_vector_is_always_noticed(
    vector: BitMap, data: st.DataObject, *, wide: bool
) -> None:
    original, _ = encode_vectors([("a", vector)], wide=wide)
    broken = data.draw(damaged(original))

    try:
        found = decode_vectors(broken, path="a file")
    except FormatError:
        return
    assert broken == original or found == []
