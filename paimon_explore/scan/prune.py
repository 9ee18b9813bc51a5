"""Which files, manifests or row groups may hold a row that a predicate keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.scan.expression import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStats:
    """Statistics of one column for n items.

    Attributes:
        minimum: n lower bounds in the column's Arrow type; null where unknown or all is null.
        maximum: n upper bounds, likewise; both inclusive, and perhaps wider than the values.
        null_count: n int64; null where unknown.
    """

    minimum: pa.Array
    maximum: pa.Array
    null_count: pa.Int64Array


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsFrame:
    """Statistics of n files, manifests or row groups.

    Attributes:
        row_count: n int64 numbers of rows; null where unknown.
        columns: by top-level column name; nothing is known of a column that is missing.
    """

    row_count: pa.Int64Array
    columns: Mapping[str, ColumnStats] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of items."""
        return len(self.row_count)


def may_match(expr: Expression, stats: StatsFrame) -> npt.NDArray[np.bool_]:
    """Whether each item may hold a row of which a bound predicate is true.

    Args:
        expr: bound to the row type whose columns `stats` describes.
        stats: of n items.

    Returns:
        n values; False only where no row can match.

    Spec: format 5.3.
    """
    ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafFinding:
    """What the statistics of one item say about one simple condition.

    Attributes:
        condition: SQL text of the condition.
        column: the column it reads; None if it reads several, none, or a nested member.
        excludes: whether no row of the item can fulfil it.
        bounds: the statistics that decided it, as text.
    """

    condition: str
    column: str | None
    excludes: bool
    bounds: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Why an item is read or skipped.

    Attributes:
        kept: whether it may hold matching rows.
        leaves: if skipped the conditions that exclude it, else every condition that did not.
        text: one sentence for people.
    """

    kept: bool
    leaves: tuple[LeafFinding, ...]
    text: str


def explain(expr: Expression, stats: StatsFrame, index: int) -> Finding:
    """Why `may_match` keeps or drops item `index`."""
    ...
