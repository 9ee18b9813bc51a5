"""The text input of the view What if: an action, and settings as `name = value`.

    compact full = false, target-file-size = '64 mb'

A value with a comma or a quote is written in single quotes, in which a quote is doubled.
"""

import re
from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass

ACTIONS: Mapping[str, str] = {
    "compact": "Compaction",
    "expire_snapshots": "Snapshot expiry",
    "expire_partitions": "Partition expiry",
    "options": "Changed options",
}
"""The actions with their labels."""
MORE = "more"
"""The setting whose value is a list of further settings."""
_MAX_SETTINGS = 100
_ACTION = re.compile(r"\s*([a-z_]+)(?:\s+|$)")
_SETTING = re.compile(r"\s*([^=,']{1,200}?)\s*=\s*(?:'((?:[^']|'')*)'|([^,']*?))\s*(?:,|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfInput:
    """The parsed input.

    Attributes:
        action: one of `ACTIONS`.
        settings: values by name.
    """

    action: str
    settings: Mapping[str, str]


def parse_input(text: str) -> WhatIfInput:
    """Parse an input; an empty one is a full compaction.

    Raises:
        InvalidInputError: the action is unknown, or a setting is malformed.

    >>> parse_input("compact full = false, more = 'a=1, b=2'").settings
    {'full': 'false', 'a': '1', 'b': '2'}
    """
    found = _ACTION.match(text)
    if not text.strip():
        return WhatIfInput(action="compact", settings={})
    if found is None or found[1] not in ACTIONS:
        raise InvalidInputError(
            f"{text[:40]!r} does not start with an action.",
            hint=f"Actions: {choices(list(ACTIONS))}.",
        )
    settings = parse_settings(text[found.end() :])
    more = settings.pop(MORE, "")
    return WhatIfInput(action=found[1], settings={**settings, **parse_settings(more)})


def parse_settings(text: str) -> dict[str, str]:
    """Parse `name = value` pairs, separated by commas.

    Raises:
        InvalidInputError: a pair is malformed.

    >>> parse_settings("a = 1, b = 'x, it''s'")
    {'a': '1', 'b': "x, it's"}
    """
    settings: dict[str, str] = {}
    place = 0
    while text[place:].strip():
        found = _SETTING.match(text, place)
        if found is None or len(settings) >= _MAX_SETTINGS:
            raise InvalidInputError(
                f"{text[place : place + 60].strip()!r} is not a setting.",
                hint="Write settings as name = value, separated by commas; put a value with a "
                "comma in single quotes.",
            )
        name, quoted, plain = found.groups()
        settings[name] = plain if quoted is None else quoted.replace("''", "'")
        place = found.end()
    return settings
