"""Names of columns as Spark takes them literally."""


def quoted(name: str) -> str:
    """A column's name as Spark takes it literally.

    >>> quoted("user id")
    '`user id`'
    """
    return "`" + name.replace("`", "``") + "`"
