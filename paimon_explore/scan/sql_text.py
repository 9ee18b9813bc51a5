"""Predicates as SQL text, for messages and for `scan.sql` to read back."""

from paimon_explore.scan.expression import Expression


def to_sql(expr: Expression) -> str:
    """The text of a tree; `parse_where` of it gives an equal tree if `expr` is not bound yet."""
    ...
