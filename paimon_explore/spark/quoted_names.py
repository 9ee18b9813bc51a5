"""Names: of Paimon's catalog, and of columns as Spark takes them literally."""

from collections.abc import Iterable

CATALOG = "paimon"
"""The catalog that statements may name."""


def quoted(name: str) -> str:
    """A column's name as Spark takes it literally.

    >>> quoted("user id")
    '`user id`'
    """
    return "`" + name.replace("`", "``") + "`"


def are_distinct(names: Iterable[str]) -> bool:
    """Whether names differ by more than their case, which Spark's file sources do not see."""
    lower = [name.lower() for name in names]
    return len(set(lower)) == len(lower)
