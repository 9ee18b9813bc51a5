"""Cache of values that are computed from an immutable object, which is compared by identity.

Hashing the layout of a thousand columns takes longer than most of what is computed from it.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

K = TypeVar("K")
T = TypeVar("T")
_MAX_ENTRIES = 64


def cached_by_identity(make: Callable[[K], T]) -> Callable[[K], T]:
    """Cache the results of a function of one immutable object; the results must be immutable."""
    results: dict[int, tuple[K, T]] = {}

    def found(key: K) -> T:
        known = results.get(id(key))
        if known is not None and known[0] is key:
            return known[1]
        made = make(key)
        if len(results) >= _MAX_ENTRIES:
            results.clear()
        results[id(key)] = (key, made)
        return made

    return wraps(make)(found)
