"""The members of values as JSON, for the browser."""

from dataclasses import fields
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class JsonMembers:
    """Base class of values that are sent to the browser with their members under the same names.

    Attributes:
        section: the type of section of a report, sent as `type`; empty for other values.
    """

    section = ""

    def state(self) -> dict[str, object]:
        """The members as JSON."""
        members = {one.name: _json(getattr(self, one.name)) for one in fields(self)}
        return {"type": self.section, **members} if self.section else members


def _json(value: object) -> object:
    match value:
        case JsonMembers():
            return value.state()
        case Enum():
            return value.value
        case tuple():
            return [_json(inner) for inner in value]
        case _:
            return value
