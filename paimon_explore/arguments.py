"""Checks of what a caller passes to a public function.

Each check returns the argument, typed. What does not fit raises `InvalidInputError`, which names
the argument, what is allowed, and what was given: "limit must be an integer of at least 0 or None,
not '3' (str)". Checks stand in the body of the function they guard: they cost less than a
microsecond, and no decorator hides the signature.
"""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from operator import index
from os import PathLike
from typing import TypeVar

from paimon_explore.errors import InvalidInputError, choices, suggestion

T = TypeVar("T")

_MAX_SHOWN = 80
_PLAIN = frozenset({"builtins", "datetime", "decimal"})
"""Modules of types whose values are shown."""


def refused(name: str, value: object, allowed: str, *, hint: str = "") -> InvalidInputError:
    """The error for an argument that is not what is allowed."""
    return InvalidInputError(f"{name} must be {allowed}, not {_told(value)}.", hint=hint)


def _told(value: object) -> str:
    """A value with its type; of larger things, whose `repr` may read files, the type alone."""
    if value is None:
        return "None"
    kind = type(value)
    if kind.__module__ not in _PLAIN:
        return f"a value of type {kind.__qualname__}"
    shown = repr(value)
    return f"{shown[:_MAX_SHOWN]}{'…' if len(shown) > _MAX_SHOWN else ''} ({kind.__qualname__})"


def integer(name: str, value: object, *, least: int | None = None, none: bool = False) -> int:
    """An integer, of Python or NumPy; `none` says that the message allows None as well.

    >>> integer("limit", 3)
    3
    """
    if type(value) is int and (least is None or value >= least):
        return value
    allowed = "an integer" if least is None else f"an integer of at least {least}"
    allowed += " or None" if none else ""
    if isinstance(value, bool):
        raise refused(name, value, allowed)
    try:
        number = index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        raise refused(name, value, allowed) from None
    if least is not None and number < least:
        raise refused(name, number, allowed)
    return number


def optional_integer(name: str, value: object, *, least: int | None = None) -> int | None:
    """An integer or None."""
    return None if value is None else integer(name, value, least=least, none=True)


def string(name: str, value: object, *, hint: str = "") -> str:
    """A str."""
    if isinstance(value, str):
        return value
    raise refused(name, value, "a str", hint=hint)


def optional_string(name: str, value: object) -> str | None:
    """A str or None."""
    if value is None or isinstance(value, str):
        return value
    raise refused(name, value, "a str or None")


def boolean(name: str, value: object) -> bool:
    """True or False; nothing else, for `"no"` would count as true."""
    if isinstance(value, bool):
        return value
    raise refused(name, value, "True or False")


def one_of(name: str, value: object, known: Iterable[str]) -> str:
    """One of some words."""
    words = list(known)
    if isinstance(value, str) and value in words:
        return value
    hint = suggestion(value, words).strip() if isinstance(value, str) else ""
    raise refused(name, value, f"one of {choices(words)}", hint=hint)


def path(name: str, value: object) -> str | PathLike[str]:
    """A path or URL."""
    if isinstance(value, str | PathLike):
        return value
    raise refused(name, value, "a path or URL (str or os.PathLike)")


def mapping(name: str, value: object, *, hint: str = "") -> Mapping[str, object]:
    """A mapping whose keys are strings."""
    if not isinstance(value, Mapping):
        raise refused(name, value, "a dict", hint=hint)
    for key in value:
        if not isinstance(key, str):
            raise refused(f"A key of {name}", key, "a str", hint=hint)
    return value


def optional_mapping(name: str, value: object, *, hint: str = "") -> Mapping[str, object] | None:
    """A mapping whose keys are strings, or None."""
    return None if value is None else mapping(name, value, hint=hint)


def names(name: str, value: object) -> tuple[str, ...]:
    """Names; a single one may stand alone."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise refused(name, value, "a str or a list of str")
    found = tuple(value)
    for one in found:
        if not isinstance(one, str):
            raise refused(f"An item of {name}", one, "a str")
    return found


def optional_names(name: str, value: object) -> tuple[str, ...] | None:
    """Names, or None."""
    return None if value is None else names(name, value)


def optional_duration(name: str, value: object) -> timedelta | None:
    """A timedelta of zero or more, or None."""
    if value is None:
        return None
    if not isinstance(value, timedelta):
        raise refused(name, value, "a datetime.timedelta or None")
    if value < timedelta(0):
        raise InvalidInputError(f"{name} must not be negative, but {value} was given.")
    return value


def instance(name: str, value: object, kind: type[T], allowed: str, *, hint: str = "") -> T:
    """A value of a class."""
    if isinstance(value, kind):
        return value
    raise refused(name, value, allowed, hint=hint)
