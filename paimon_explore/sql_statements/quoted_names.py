"""Quoting of column names for Spark, and the name of Paimon's catalog in SQL."""

from collections.abc import Iterable

CATALOG = "paimon"
"""The catalog that statements may name."""


def quoted(name: str) -> str:
    """Quote a column name for Spark.

    >>> quoted("user id")
    '`user id`'
    """
    return "`" + name.replace("`", "``") + "`"


def text_constant(value: str) -> str:
    """Return a text as a constant of Spark's dialect."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def are_distinct(names: Iterable[str]) -> bool:
    """Return whether names differ by more than case, which Spark's file sources ignore."""
    lower = [name.lower() for name in names]
    return len(set(lower)) == len(lower)
