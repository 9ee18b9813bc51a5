"""Curves through the space of several columns."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from paimon_explore.data_types.json_parser import parse_type
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.maintenance.compaction.sort_compaction import (
    SortKeys,
    hilbert_order,
    sort_keys,
    z_order,
)

ASCENDING: dict[str, pa.Array] = {  # type: ignore[type-arg]  # not subscriptable when run
    "INT": pa.array([None, -(2**31), -1, 0, 7], pa.int32()),
    "BIGINT": pa.array([None, -(2**62), -1, 0, 2**63 - 1], pa.int64()),
    "DOUBLE": pa.array([None, -1e300, -0.5, 0.0, 1e-300, 3.0], pa.float64()),
    "FLOAT": pa.array([None, -2.0, 0.0, 2.0], pa.float32()),
    "BOOLEAN": pa.array([None, False, True]),
    "STRING": pa.array([None, "\x01", "a", "a2", "b", "bcdefghi"]),
    "DECIMAL(30, 2)": pa.array([None, Decimal(-5), Decimal(0), Decimal("1e20")]),
    "TIMESTAMP(6)": pa.array([None, -5, 0, 5], pa.timestamp("us")),
}


@pytest.mark.parametrize("name", ASCENDING)
def test_words_are_in_the_order_of_the_values(name: str) -> None:
    values = ASCENDING[name]
    keys = sort_keys(values, parse_type(name, "c"))
    assert (keys[1:] > keys[:-1]).all()
    assert keys[0] == 0
    assert (sort_keys(values.slice(2), parse_type(name, "c")) == keys[2:]).all()


def test_values_without_an_order_are_refused() -> None:
    with pytest.raises(UnsupportedFeatureError, match="ARRAY"):
        sort_keys(pa.array([[1]]), parse_type({"type": "ARRAY", "element": "INT"}, "c"))


def shift_of(size: int) -> np.uint64:
    """How far numbers below a size are from the highest bits."""
    return np.uint64(64 - (size - 1).bit_length())


def grid(size: int, dimensions: int, shift: np.uint64) -> list[SortKeys]:
    """All points of a cube."""
    axes = np.meshgrid(*[np.arange(size)] * dimensions, indexing="ij")
    return [axis.ravel().astype(np.uint64) << shift for axis in axes]


def test_z_order_takes_the_bits_in_turn() -> None:
    points = grid(4, 2, shift_of(4))
    order = z_order(points)
    walked = [tuple(int(axis[row] >> np.uint64(62)) for axis in points) for row in order]
    assert walked[:8] == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]


@pytest.mark.parametrize("shift", [None, np.uint64(0)])
@pytest.mark.parametrize(("size", "dimensions"), [(8, 2), (4, 3), (2, 5)])
def test_the_hilbert_curve_goes_to_a_neighbour_with_every_step(
    size: int, dimensions: int, shift: np.uint64 | None
) -> None:
    shift = shift_of(size) if shift is None else shift
    points = grid(size, dimensions, shift)
    order = hilbert_order(points)
    assert sorted(order.tolist()) == list(range(size**dimensions))
    walked = np.array([(axis >> shift).astype(np.int64)[order] for axis in points])
    assert (np.abs(np.diff(walked, axis=1)).sum(axis=0) == 1).all()
