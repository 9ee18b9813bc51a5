"""The base class of views of the explorer with a form: the form, and the result of its input.

The text input of the view What if: an action, and settings as `name = value`.

    compact full = false, target-file-size = '64 mb'

A value with a comma or a quote is written in single quotes, in which a quote is doubled.
"""

import re
from collections.abc import Mapping

import pyarrow as pa

from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.report import Commands, Failed, Form, Note, Report, Section
from paimon_explore.inspection.rendering.result import Result


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FormView(Result):
    """A form with the result of its input.

    Attributes:
        name: the table.
        form: the form.
        result: the result; None if there is none.
        commands: code that does what the result previews; None for none.
        problem: why there is no result.
        note: a remark above the result; empty for none.
    """

    name: str
    form: Form
    result: Result | None = None
    commands: Commands | None = None
    problem: Problem | None = None
    note: str = ""

    def to_arrow(self) -> pa.Table:
        """The rows of the result; none if there is none."""
        return pa.table({}) if self.result is None else self.result.to_arrow()

    def figures(self) -> dict[str, object]:
        """The figures of the result; none if there is none."""
        return {} if self.result is None else self.result.figures()

    def to_report(self) -> Report:
        """The form, the result, and the code."""
        sections: list[Section] = [self.form]
        if self.note:
            sections.append(Note(text=self.note))
        if self.problem is not None:
            sections.append(Failed(problem=self.problem))
        if self.result is None:
            title = f"{self.name}: {self.kind.replace('_', ' ')}"
            return Report(title=title, sections=tuple(sections))
        report = self.result.to_report()
        if self.commands is not None:
            sections.append(self.commands)
        return Report(title=report.title, sections=(*sections, *report.sections))


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
