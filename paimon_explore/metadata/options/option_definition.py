"""The definition of a table option (key, parser, default, description) and parsers of values.

Values are parsed like in Java: surrounding white space and the case of booleans, enum values and
units are ignored; size units are powers of 1024.

Spec: maintenance/configurations.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Generic, TypeVar, overload

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass

T = TypeVar("T")
Value_co = TypeVar("Value_co", covariant=True)
E = TypeVar("E", bound=Enum)

_MAX_INT64 = 2**63 - 1
_QUANTITY = re.compile(r"([0-9]{1,19})\s*([a-zµ]*)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_FLAGS: Mapping[str, bool] = {"true": True, "false": False}

_SECOND_NANOS = 10**9
_DURATION_UNITS: Mapping[tuple[str, ...], int] = {
    ("d", "day", "days"): 86_400 * _SECOND_NANOS,
    ("h", "hour", "hours"): 3_600 * _SECOND_NANOS,
    ("min", "m", "minute", "minutes"): 60 * _SECOND_NANOS,
    ("s", "sec", "secs", "second", "seconds"): _SECOND_NANOS,
    ("ms", "milli", "millis", "millisecond", "milliseconds", ""): 10**6,
    ("µs", "micro", "micros", "microsecond", "microseconds"): 10**3,
    ("ns", "nano", "nanos", "nanosecond", "nanoseconds"): 1,
}
_SIZE_UNITS: Mapping[tuple[str, ...], int] = {
    ("b", "bytes", ""): 1,
    ("k", "kb", "kibibytes"): 1024,
    ("m", "mb", "mebibytes"): 1024**2,
    ("g", "gb", "gibibytes"): 1024**3,
    ("t", "tb", "tebibytes"): 1024**4,
}


class UnreadableValueError(Exception):
    """The text of an option is invalid; the message is what the value must be. Internal."""

    def __init__(self, *, must_be: str) -> None:
        super().__init__(must_be)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[Value_co]):
    """A table option.

    Attributes:
        key: the name.
        parse: converts a text to a value; raises `UnreadableValueError`.
        default: the default value.
        fallback_keys: older names, used in order if the key is absent.
        is_immutable: whether the option cannot be changed once the table has a snapshot.
        values: the allowed texts, if the option is a choice.
    """

    key: str
    parse: Callable[[str], Value_co]
    default: Value_co
    fallback_keys: tuple[str, ...] = ()
    is_immutable: bool = False
    values: tuple[str, ...] = ()

    def value_in(self, options: Mapping[str, str]) -> Value_co:
        """Return the value of the option in the options of a table.

        Raises:
            InvalidInputError: the value is invalid.
        """
        for key in (self.key, *self.fallback_keys):
            if key in options:
                return read_value(key, options[key], self.parse)
        return self.default


def read_value(key: str, text: str, parse: Callable[[str], T]) -> T:
    """Parse the text of an option.

    Raises:
        InvalidInputError: the value is invalid.
    """
    try:
        return parse(text)
    except UnreadableValueError as problem:
        raise InvalidInputError(
            f"Option {key!r} = {text!r} is invalid: the value must be {problem}."
        ) from problem


def parse_integer(text: str) -> int:
    """Parse a 64-bit integer."""
    stripped = text.strip()
    if not _WHOLE.fullmatch(stripped) or not -_MAX_INT64 <= int(stripped) <= _MAX_INT64:
        raise UnreadableValueError(must_be="an integer")
    return int(stripped)


def parse_number(text: str) -> float:
    """Parse a finite decimal number."""
    try:
        number = float(text)
    except ValueError:
        raise UnreadableValueError(must_be="a number") from None
    if number - number != 0:
        raise UnreadableValueError(must_be="a finite number")
    return number


def parse_flag(text: str) -> bool:
    """Parse a boolean."""
    flag = _FLAGS.get(text.strip().lower())
    if flag is None:
        raise UnreadableValueError(must_be="'true' or 'false'")
    return flag


def parse_duration(text: str) -> int:
    """Parse a duration such as `1 h` or `10ms` to milliseconds, which is also the default unit.

    >>> parse_duration("1 d")
    86400000
    """
    return _quantity(text, _DURATION_UNITS, "a duration such as '1 h' or '10 s'") // 10**6


def parse_size(text: str) -> int:
    """Parse a size such as `128 mb` to bytes, which is also the default unit.

    >>> parse_size("2 kb")
    2048
    """
    return _quantity(text, _SIZE_UNITS, "a size such as '128 mb'")


def _quantity(text: str, units: Mapping[tuple[str, ...], int], expected: str) -> int:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnreadableValueError(must_be=expected)
    for names, factor in units.items():
        if match[2].lower() in names:
            return int(match[1]) * factor
    known = choices(names[0] for names in units)
    raise UnreadableValueError(
        must_be=f"{expected}; the unit {match[2]!r} is unknown (units: {known})"
    )


def parse_names(text: str) -> tuple[str, ...]:
    """Parse comma-separated names.

    >>> parse_names("a, b")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parse_per_level(text: str) -> Mapping[int, str]:
    """Parse values per level of the LSM tree.

    >>> parse_per_level("0:avro,3:parquet")
    {0: 'avro', 3: 'parquet'}
    """
    found = {}
    for part in parse_names(text):
        level, colon, value = part.partition(":")
        if not colon or not level.strip().isdecimal():
            raise UnreadableValueError(
                must_be="a list of level:value pairs such as '0:avro,3:parquet'"
            )
        found[int(level)] = value.strip()
    return found


class OptionType(Enum):
    """Types of option values."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    TEXT = "text"
    NAMES = "names"
    PER_LEVEL = "values per level"
    CHOICE = "choice"


PARSERS: Mapping[OptionType, Callable[[str], object]] = {
    OptionType.BOOLEAN: parse_flag,
    OptionType.INTEGER: parse_integer,
    OptionType.NUMBER: parse_number,
    OptionType.SIZE: parse_size,
    OptionType.DURATION: parse_duration,
    OptionType.TEXT: str,
    OptionType.NAMES: parse_names,
    OptionType.PER_LEVEL: parse_per_level,
}
"""The parsers of values by type; a choice has a parser of its own."""


def choice_parser(kind: type[E]) -> Callable[[str], E]:
    """Return a case-insensitive parser for the members of an enum."""
    return _one_of({str(member.value): member for member in kind})


def _one_of(values: Mapping[str, T]) -> Callable[[str], T]:
    """Return a case-insensitive parser for values by their texts."""

    def parse(text: str) -> T:
        wanted = _plain(text)
        for name, value in values.items():
            if wanted == _plain(name):
                return value
        raise UnreadableValueError(must_be=f"one of {choices(values)}")

    return parse


def _plain(text: str) -> str:
    return text.strip().lower().replace("_", "-")


@dataclass(frozen=True, slots=True)
class _Kind(Generic[T]):
    """Options whose values one function parses; without a default, the default is None."""

    parse: Callable[[str], T]

    @overload
    def __call__(self, key: str, *, default: T) -> Option[T]: ...
    @overload
    def __call__(self, key: str) -> Option[T | None]: ...
    def __call__(self, key: str, *, default: T | None = None) -> Option[T] | Option[T | None]:
        """Define an option of this kind."""
        return Option(key=key, parse=self.parse, default=default)


integer = _Kind(parse_integer)
"""An integer option."""

number = _Kind(parse_number)
"""A decimal number option."""

duration = _Kind(parse_duration)
"""A duration option, in milliseconds."""

size = _Kind(parse_size)
"""A size option, in bytes."""

text = _Kind(str)
"""A string option."""

unset_flag = _Kind(parse_flag)
"""A boolean option whose default depends on other options."""


def flag(key: str, *, default: bool = False) -> Option[bool]:
    """Define a boolean option."""
    return Option(key=key, parse=parse_flag, default=default)


def names(key: str) -> Option[tuple[str, ...]]:
    """Define an option with a comma-separated list of names."""
    return Option(key=key, parse=parse_names, default=())


def per_level(key: str) -> Option[Mapping[int, str]]:
    """Define an option with values per level of the LSM tree."""
    return Option(key=key, parse=parse_per_level, default={})


def choice(key: str, *, default: E) -> Option[E]:
    """Define an enum option; the default determines the enum."""
    kind = type(default)
    return Option(
        key=key,
        parse=choice_parser(kind),
        default=default,
        values=tuple(str(member.value) for member in kind),
    )


@overload
def one_of(key: str, values: tuple[str, ...], *, default: str) -> Option[str]: ...
@overload
def one_of(key: str, values: tuple[str, ...]) -> Option[str | None]: ...
def one_of(
    key: str, values: tuple[str, ...], *, default: str | None = None
) -> Option[str] | Option[str | None]:
    """Define an option whose value is one of some texts."""
    parse = _one_of({value: value for value in values})
    return Option(key=key, parse=parse, default=default, values=values)


def immutable(option: Option[T]) -> Option[T]:
    """Return the option as immutable once the table has a snapshot."""
    return replace(option, is_immutable=True)


def with_fallback_keys(option: Option[T], *fallback_keys: str) -> Option[T]:
    """Return the option with older names as fallback keys."""
    return replace(option, fallback_keys=fallback_keys)
