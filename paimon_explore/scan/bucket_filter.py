"""The buckets that a predicate's equalities on the bucket key leave."""

from collections.abc import Sequence

from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import DataField


def allowed_buckets(
    expr: Expression, keys: Sequence[DataField], total_buckets: int, function: str = "default"
) -> frozenset[int] | None:
    """The buckets that may hold a row of which a bound predicate is true.

    Args:
        expr: bound to the table's row type.
        keys: the bucket key's fields in order.
        total_buckets: bucket count of the entries in question, at least 1.
        function: the table's `bucket-function.type`.

    Returns:
        Bucket ids; None if the predicate leaves all.

    Spec: format 9.7, 10.
    """
    ...
