"""The part of a predicate that partitions, or any set of columns, decide alone."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A predicate in two: it is true of a row exactly if both are.

    Attributes:
        inside: reads the given columns only; TRUE if they say nothing.
        rest: what remains to be checked on rows; TRUE if nothing.
    """

    inside: Expression
    rest: Expression


def split(expr: Expression, names: Collection[str]) -> Parts:
    """A predicate's part on the columns `names`, and what it leaves over.

    The part may also follow from a condition that stays in the rest: `(p = 1 AND a > 2) OR p = 3`
    gives `p = 1 OR p = 3`.
    """
    ...


def partition_mask(
    expr: Expression, columns: Sequence[pa.Array], partition_type: RowType
) -> npt.NDArray[np.bool_]:
    """Which partitions a bound predicate on partition columns keeps.

    Args:
        expr: `split(...).inside`.
        columns: n partitions' values by partition key, as `decode_rows` gives them.
        partition_type: the partition keys' fields, in the same order.

    Returns:
        n values.
    """
    ...
