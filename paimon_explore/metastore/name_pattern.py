r"""Patterns of names: `%` stands for any characters, as in SQL's LIKE; `\` escapes it."""

import re

_PART = re.compile(r"\\.|%|.", re.DOTALL)


def matches(name: str, pattern: str) -> bool:
    r"""Return whether a name matches a pattern.

    `_` stands for itself, because it is common in names.

    >>> matches("orders_2024", "orders%"), matches("orders", "order"), matches("a%b", r"a\%b")
    (True, False, True)
    """
    expression = []
    for part in _PART.findall(pattern):
        if part == "%":
            expression.append(".*")
        else:
            expression.append(re.escape(part[-1]))
    return re.fullmatch("".join(expression), name, re.DOTALL) is not None
