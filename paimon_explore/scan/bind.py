"""Predicates tied to the columns of a table."""

from datetime import tzinfo

from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import RowType


def bind(expr: Expression, row_type: RowType, *, zone: tzinfo | None = None) -> Expression:
    """The same condition on exactly named columns and with literals of their types.

    Names match exactly, else without regard to case if only one column does. Comparisons that no
    value of the column's type can tell are folded to constants.

    Args:
        expr: a tree as written.
        row_type: the table's columns.
        zone: zone of timestamps without one that meet a column WITH LOCAL TIME ZONE, and the other
            way round; None is the local zone.

    Returns:
        A tree that `evaluate`, `may_match` and the other users take, boolean as a whole.

    Raises:
        InvalidInputError: unknown column, or a comparison of types that do not compare.
    """
    ...
