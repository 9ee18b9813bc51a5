"""Unions of DataSketches: `hll_sketch` and `theta_sketch`; need the package `datasketches`."""

from paimon_explore.encoding.buffers import Column
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.merge.steps import Steps


def union_hll(column: Column, steps: Steps) -> Column:
    """The union of HyperLogLog sketches."""
    raise UnsupportedFeatureError("hll_sketch")


def union_theta(column: Column, steps: Steps) -> Column:
    """The union of theta sketches."""
    raise UnsupportedFeatureError("theta_sketch")
