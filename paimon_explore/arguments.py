"""Validation of arguments of public functions.

Each function returns the argument with its type, or raises `InvalidInputError` with the argument's
name, what is allowed and what was given: "limit must be an integer of at least 0 or None, not '3'
(str)". A check takes less than a microsecond. Checks are plain calls, not decorators, so that
signatures stay visible.
"""

from collections.abc import Iterable, Mapping
from math import inf
from operator import index
from os import PathLike
from typing import SupportsFloat, TypeVar

import numpy as np
import pyarrow as pa

from paimon_explore.errors import InvalidInputError

T = TypeVar("T")

_MAX_SHOWN = 80
_PLAIN = frozenset({"builtins", "datetime", "decimal"})
"""Modules of types whose values are shown in messages."""


def python_value(value: object) -> object:
    """Return the Python value of a scalar of numpy or Arrow; another value as it is.

    Raises:
        InvalidInputError: a date or time that Python does not have.

    >>> python_value(np.int64(3)), python_value(np.datetime64("2026-01-02"))
    (3, datetime.date(2026, 1, 2))
    """
    if isinstance(value, np.datetime64):
        found = value.item()
        return value.astype("datetime64[us]").item() if isinstance(found, int) else found
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, pa.Scalar):
        return value
    try:
        return value.as_py()
    except (OverflowError, ValueError) as error:
        raise InvalidInputError(
            f"A value of Arrow's type {value.type} cannot be a Python object: {error}.",
            hint="Write it as text, as in \"d = DATE '10000-01-01'\".",
        ) from error


def invalid_argument(
    name: str, value: object, allowed: str, *, hint: str = ""
) -> InvalidInputError:
    """Return the error for an argument that is not allowed."""
    return InvalidInputError(f"{name} must be {allowed}, not {_described(value)}.", hint=hint)


def _described(value: object) -> str:
    """Return a value with its type; only the type of other objects, whose `repr` may read files."""
    if value is None:
        return "None"
    kind = type(value)
    if kind.__module__ not in _PLAIN:
        return f"an instance of {kind.__qualname__}"
    shown = repr(value)
    return f"{shown[:_MAX_SHOWN]}{'…' if len(shown) > _MAX_SHOWN else ''} ({kind.__qualname__})"


def integer(name: str, value: object, *, minimum: int | None = None, none: bool = False) -> int:
    """Return an integer of Python or NumPy; with `none`, the error message mentions None.

    >>> integer("limit", 3)
    3
    """
    if type(value) is int and (minimum is None or value >= minimum):
        return value
    allowed = "an integer" if minimum is None else f"an integer of at least {minimum}"
    allowed += " or None" if none else ""
    if isinstance(value, bool):
        raise invalid_argument(name, value, allowed)
    try:
        number = index(value)  # type: ignore[arg-type]  # raises TypeError if not an integer
    except TypeError:
        raise invalid_argument(name, value, allowed) from None
    if minimum is not None and number < minimum:
        raise invalid_argument(name, number, allowed)
    return number


def optional_integer(name: str, value: object, *, minimum: int | None = None) -> int | None:
    """Return an integer or None."""
    return None if value is None else integer(name, value, minimum=minimum, none=True)


def integers(name: str, value: object, *, minimum: int = 0) -> tuple[int, ...] | None:
    """Return a tuple of integers from an integer or several, or None."""
    if value is None:
        return None
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return (integer(name, value, minimum=minimum),)
    return tuple(integer(f"An item of {name}", one, minimum=minimum) for one in value)


def seconds(name: str, value: object) -> float:
    """Return a number of seconds, zero or more, of Python or NumPy.

    >>> seconds("live", 2)
    2.0
    """
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        number = float(value)
        if 0 <= number < inf:
            return number
    raise invalid_argument(name, value, "a number of seconds, zero or more")


def string(name: str, value: object, *, hint: str = "") -> str:
    """Return a str."""
    return instance(name, value, str, "a str", hint=hint)


def optional_string(name: str, value: object) -> str | None:
    """Return a str or None."""
    return None if value is None else instance(name, value, str, "a str or None")


def boolean(name: str, value: object) -> bool:
    """Return a bool; other values are refused because, for example, `"no"` is truthy."""
    return instance(name, value, bool, "True or False")


def path(name: str, value: object) -> str | PathLike[str]:
    """Return a path or URL."""
    if isinstance(value, str | PathLike):
        return value
    raise invalid_argument(name, value, "a path or URL (str or os.PathLike)")


def mapping(name: str, value: object, *, hint: str = "") -> Mapping[str, object]:
    """Return a mapping with string keys."""
    if not isinstance(value, Mapping):
        raise invalid_argument(name, value, "a dict", hint=hint)
    for key in value:
        if not isinstance(key, str):
            raise invalid_argument(f"A key of {name}", key, "a str", hint=hint)
    return value


def optional_mapping(name: str, value: object, *, hint: str = "") -> Mapping[str, object] | None:
    """Return a mapping with string keys, or None."""
    return None if value is None else mapping(name, value, hint=hint)


def names(name: str, value: object) -> tuple[str, ...]:
    """Return a tuple of names from a name or an iterable of names."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise invalid_argument(name, value, "a str or a list of str")
    found = tuple(value)
    for one in found:
        if not isinstance(one, str):
            raise invalid_argument(f"An item of {name}", one, "a str")
    return found


def optional_names(name: str, value: object) -> tuple[str, ...] | None:
    """Return a tuple of names, or None."""
    return None if value is None else names(name, value)


def instance(name: str, value: object, kind: type[T], allowed: str, *, hint: str = "") -> T:
    """Return an instance of a class."""
    if isinstance(value, kind):
        return value
    raise invalid_argument(name, value, allowed, hint=hint)
