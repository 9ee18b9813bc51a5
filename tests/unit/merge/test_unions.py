"""Unions of bitmaps and sketches, with values of a table that Java 2.0.0 wrote."""

import importlib.util

import pytest
from pyroaring import BitMap

from paimon_explore.encoding.roaring_bitmap import decode_wide
from paimon_explore.errors import CorruptFileError, FormatError, UnsupportedFeatureError
from paimon_explore.merge.aggregators import binary_unions
from support.merging import Row, merged

COLUMNS: dict[str, object] = {"k": "INT NOT NULL", "v": "BYTES"}


def united(function: str, *values: bytes | None) -> bytes | None:
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
    rows: list[Row] = [("+I", 1, value) for value in values]
    [(_, found)] = merged(COLUMNS, options, rows)
    assert found is None or isinstance(found, bytes)
    return found


def test_bitmaps_of_32_bits_are_united_in_the_portable_format() -> None:
    first, second = BitMap([1, 5, 70000]).serialize(), BitMap(range(100)).serialize()
    found = united("rbm32", first, None, second)
    assert found is not None
    assert BitMap.deserialize(found) == BitMap([*range(100), 70000])


def test_each_key_has_its_own_union() -> None:
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": "rbm32"}
    one, two, both = (BitMap(numbers).serialize() for numbers in ([1], [2], [1, 2]))
    rows: list[Row] = [("+I", 1, one), ("+I", 1, None), ("+I", 2, one), ("+I", 2, two)]
    assert merged(COLUMNS, options, rows) == [(1, one), (2, both)]


def test_one_value_alone_is_not_even_looked_at() -> None:
    for function in ("rbm32", "rbm64", "hll_sketch", "theta_sketch"):
        assert united(function, None, b"no bitmap", None) == b"no bitmap"
        assert united(function, None, None) is None


def test_bytes_that_are_no_bitmap_are_an_error() -> None:
    for function in ("rbm32", "rbm64"):
        with pytest.raises(CorruptFileError):
            united(function, b"\1abc", b"\1abc")


def wide(*numbers: tuple[int, int]) -> bytes:
    """Java's bytes of one array container per (high, low); highs below 256, at most four."""
    leaves = sorted({high for high, _ in numbers})
    image = b"\1" + len(leaves).to_bytes(8, "little")
    if len(leaves) > 1:
        image += bytes([0, len(leaves), 0, 5, 0, 0, 0, 0, 0])
        image += bytes(leaves).ljust(4, b"\0")[::-1]
    for place, high in enumerate(leaves):
        image += bytes([4, 0, 0, 0]) + high.to_bytes(6, "big") + place.to_bytes(8, "little")
    image += (1).to_bytes(4, "little") + b"\xfe" + len(leaves).to_bytes(4, "little")
    for high in leaves:
        lows = sorted(low for other, low in numbers if other == high)
        image += b"\1\2" + len(lows).to_bytes(4, "little")
        image += b"".join(low.to_bytes(2, "little") for low in lows)
    last = (len(leaves) - 1).to_bytes(4, "little")
    return image + len(leaves).to_bytes(8, "little") + bytes(4) + last


def test_bitmaps_of_64_bits_are_united_in_javas_own_format() -> None:
    first, second = wide((1, 5)), wide((1, 9), (2, 7))
    assert united("rbm64", first, second) == wide((1, 5), (1, 9), (2, 7))
    assert set(decode_wide(second, "").containers) == {b"\0\0\0\0\0\1", b"\0\0\0\0\0\2"}


HAS_SKETCHES = importlib.util.find_spec("datasketches") is not None
HLL = (
    "0201070c03080600ae3c8811223beb059407c204c87a24046de51d077b65e608",
    "0201070c030802006de51d0781bc5d06",
    "0201070c03080700ae3c8811223beb059407c204c87a24046de51d077b65e60881bc5d06",
)
THETA = (
    "02030300001acc93020000000000803f15f97dcbbd86a1059912b1088513b730",
    "02030300001acc93010000000000803f15f97dcbbd86a105",
    "02030300001acc93020000000000803f15f97dcbbd86a1059912b1088513b730",
)


@pytest.mark.skipif(not HAS_SKETCHES, reason="the extra 'sketches' is not installed")
class TestSketches:
    def test_hll_sketches_are_united(self) -> None:
        first, second, both = map(bytes.fromhex, HLL)
        found = united("hll_sketch", second, first)
        assert found is not None
        assert sorted(found[8:].hex(" ", 4).split()) == sorted(both[8:].hex(" ", 4).split())
        assert found[:8] == both[:8]

    def test_theta_sketches_are_united_with_javas_sampling_probability(self) -> None:
        first, second, both = map(bytes.fromhex, THETA)
        assert united("theta_sketch", first, second) == both

    @pytest.mark.parametrize("function", ["hll_sketch", "theta_sketch"])
    def test_bytes_that_are_no_sketch_are_an_error(self, function: str) -> None:
        with pytest.raises(FormatError, match=r"cannot be decoded as an? .* sketch"):
            united(function, b"no sketch", b"no sketch")


def test_without_the_package_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(binary_unions, "ds", None)
    with pytest.raises(UnsupportedFeatureError, match=r"paimon-explore\[sketches\]"):
        united("hll_sketch", b"a", b"b")
