"""Names: of Paimon's catalog, and of columns as Spark takes them literally."""

CATALOG = "paimon"
"""The catalog that statements may name."""


def quoted(name: str) -> str:
    """A column's name as Spark takes it literally.

    >>> quoted("user id")
    '`user id`'
    """
    return "`" + name.replace("`", "``") + "`"
