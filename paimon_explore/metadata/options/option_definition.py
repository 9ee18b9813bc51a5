"""What a table option is: a key, how its text is read, and a default.

Values are read as the Java implementation reads them: white space around a value and the case of
flags, names and units do not matter, sizes count in steps of 1024.

Spec: maintenance/configurations.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Generic, TypeVar

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass

T = TypeVar("T")
Value_co = TypeVar("Value_co", covariant=True)
IntDefault = TypeVar("IntDefault", int, None)
FlagDefault = TypeVar("FlagDefault", bool, None)
TextDefault = TypeVar("TextDefault", str, None)
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
    """What an option's text should have been; stays inside `metadata`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option(Generic[Value_co]):
    """A documented option of a table.

    Attributes:
        key: its name.
        parse: the value of a text; raises `UnreadableValueError`.
        default: the value without a text.
        description: what it does, one line.
        fallback_keys: older names, tried in order when the key is absent.
        is_immutable: whether it stays as it is once the table has a snapshot.
    """

    key: str
    parse: Callable[[str], Value_co]
    default: Value_co
    description: str
    fallback_keys: tuple[str, ...] = ()
    is_immutable: bool = False

    def value_in(self, options: Mapping[str, str]) -> Value_co:
        """The option's value in a table's options.

        Raises:
            InvalidInputError: the text is no value of the option.
        """
        for key in (self.key, *self.fallback_keys):
            if key in options:
                return read_value(key, options[key], self.parse)
        return self.default


def read_value(key: str, text: str, parse: Callable[[str], T]) -> T:
    """The value of an option's text.

    Raises:
        InvalidInputError: the text is no value of the option.
    """
    try:
        return parse(text)
    except UnreadableValueError as problem:
        raise InvalidInputError(f"Option {key!r} = {text!r}: {problem}.") from problem


def parse_whole(text: str) -> int:
    """A whole number of 64 bits."""
    stripped = text.strip()
    if not _WHOLE.fullmatch(stripped) or not -_MAX_INT64 <= int(stripped) <= _MAX_INT64:
        raise UnreadableValueError("an integer is expected")
    return int(stripped)


def parse_number(text: str) -> float:
    """A finite decimal number."""
    try:
        number = float(text)
    except ValueError:
        raise UnreadableValueError("a number is expected") from None
    if number - number != 0:
        raise UnreadableValueError("a finite number is expected")
    return number


def parse_flag(text: str) -> bool:
    """True or false."""
    flag = _FLAGS.get(text.strip().lower())
    if flag is None:
        raise UnreadableValueError("'true' or 'false' is expected")
    return flag


def parse_duration(text: str) -> int:
    """A duration such as `1 h` or `10ms` in milliseconds, cut; a bare number is milliseconds.

    >>> parse_duration("1 d")
    86400000
    """
    return _quantity(text, _DURATION_UNITS, "a duration such as '1 h' or '10 s'") // 10**6


def parse_size(text: str) -> int:
    """A size such as `128 mb` in bytes; a bare number is bytes.

    >>> parse_size("2 kb")
    2048
    """
    return _quantity(text, _SIZE_UNITS, "a size such as '128 mb'")


def _quantity(text: str, units: Mapping[tuple[str, ...], int], due: str) -> int:
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnreadableValueError(f"{due} is expected")
    for names, factor in units.items():
        if match[2].lower() in names:
            return int(match[1]) * factor
    known = choices(names[0] for names in units)
    raise UnreadableValueError(f"{due} is expected; {match[2]!r} is not a unit (units: {known})")


def parse_names(text: str) -> tuple[str, ...]:
    """Names between commas.

    >>> parse_names("a, b")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())


def parse_per_level(text: str) -> Mapping[int, str]:
    """Values per level of the merge tree.

    >>> parse_per_level("0:avro,3:parquet")
    {0: 'avro', 3: 'parquet'}
    """
    found = {}
    for part in parse_names(text):
        level, colon, value = part.partition(":")
        if not colon or not level.strip().isdecimal():
            raise UnreadableValueError("values per level such as '0:avro,3:parquet' are expected")
        found[int(level)] = value.strip()
    return found


def choice_parser(kind: type[E]) -> Callable[[str], E]:
    """A parser of the members of an enum of texts, in any case."""

    def parse(text: str) -> E:
        wanted = text.strip().lower().replace("_", "-")
        for member in kind:
            if wanted == str(member.value).lower().replace("_", "-"):
                return member
        raise UnreadableValueError(
            f"one of {choices(str(member.value) for member in kind)} is expected"
        )

    return parse


def whole(key: str, description: str, *, default: IntDefault) -> Option[int | IntDefault]:
    """An option that is a whole number."""
    return Option(key=key, parse=parse_whole, default=default, description=description)


def number(key: str, description: str, *, default: float) -> Option[float]:
    """An option that is a decimal number."""
    return Option(key=key, parse=parse_number, default=default, description=description)


def duration(key: str, description: str, *, default: IntDefault) -> Option[int | IntDefault]:
    """An option in milliseconds."""
    return Option(key=key, parse=parse_duration, default=default, description=description)


def size(key: str, description: str, *, default: IntDefault) -> Option[int | IntDefault]:
    """An option in bytes."""
    return Option(key=key, parse=parse_size, default=default, description=description)


def flag(key: str, description: str, *, default: FlagDefault) -> Option[bool | FlagDefault]:
    """An option that is true or false."""
    return Option(key=key, parse=parse_flag, default=default, description=description)


def text(key: str, description: str, *, default: TextDefault) -> Option[str | TextDefault]:
    """An option that is any text."""
    return Option(key=key, parse=str, default=default, description=description)


def names(key: str, description: str) -> Option[tuple[str, ...]]:
    """An option that lists columns between commas."""
    return Option(key=key, parse=parse_names, default=(), description=description)


def per_level(key: str, description: str) -> Option[Mapping[int, str]]:
    """An option that has values for levels of the merge tree."""
    return Option(key=key, parse=parse_per_level, default={}, description=description)


def choice(key: str, description: str, *, default: E) -> Option[E]:
    """An option that is a member of the default's enum."""
    parse = choice_parser(type(default))
    return Option(key=key, parse=parse, default=default, description=description)


def immutable(option: Option[T]) -> Option[T]:
    """The option, fixed once the table has a snapshot."""
    return replace(option, is_immutable=True)


def also_called(option: Option[T], *fallback_keys: str) -> Option[T]:
    """The option with older names."""
    return replace(option, fallback_keys=fallback_keys)
