"""When a changed option takes effect, and for whom.

`option_effects.csv` has the effects; the first row whose pattern matches an option applies.
"""

import csv
import pkgutil
from collections.abc import Sequence
from enum import Enum
from fnmatch import fnmatchcase

from paimon_explore.metadata.options.option_definition import Option, parse_duration, parse_size
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS

_TEXT = (pkgutil.get_data(__package__, "option_effects.csv") or b"").decode()
_EFFECTS = [(row["options"], row["effect"]) for row in csv.DictReader(_TEXT.splitlines())]
_OTHER = "Applies to readers and writers that open the table from now on."
_UNKNOWN = "Not an option of this version: it is stored, and readers and writers ignore it."


def option_effect(key: str) -> str:
    """When a changed option takes effect, in one or two sentences.

    >>> option_effect("snapshot.num-retained.max")
    'Applies to the next snapshot expiry; nothing is removed before.'
    """
    known = definition_of(key)
    name = key if known is None else known.key
    effects = (effect for pattern, effect in _EFFECTS if fnmatchcase(name, pattern))
    return next(effects, _UNKNOWN if known is None else _OTHER)


def definition_of(key: str) -> Option[object] | None:
    """The definition of an option by its key or an older name; None if there is none."""
    found = ALL_OPTIONS.get(key)
    if found is not None:
        return found
    return next((one for one in ALL_OPTIONS.values() if key in one.fallback_keys), None)


_DURATIONS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
_SIZES = (("gb", 1024**3), ("mb", 1024**2), ("kb", 1024), ("b", 1))


def default_text(option: Option[object]) -> str | None:
    """The default value of an option as text; None if it has none.

    >>> from paimon_explore.metadata.options.table_options import SNAPSHOT_TIME_RETAINED
    >>> default_text(SNAPSHOT_TIME_RETAINED)
    '1 h'
    """
    default = option.default
    match default:
        case bool():
            return "true" if default else "false"
        case Enum():
            return str(default.value)
        case int() if default > 0 and option.parse in (parse_duration, parse_size):
            return _in_units(default, _DURATIONS if option.parse is parse_duration else _SIZES)
        case int() | float():
            return str(default)
        case str():
            return default
        case _:
            return None


def duration_text(millis: int) -> str:
    """A length of time as the value of an option.

    >>> duration_text(7_200_000)
    '2 h'
    """
    return _in_units(millis, _DURATIONS)


def _in_units(number: int, units: Sequence[tuple[str, int]]) -> str:
    """A number of the smallest unit in the largest unit that divides it."""
    unit, factor = next((name, factor) for name, factor in units if number % factor == 0)
    return f"{number // factor} {unit}"
