"""Arguments that mean everything when they are left out, so that None must not stand for that.

`table.update(values, where=condition)` with a variable that was never set would otherwise change
every row. Leaving the argument out is deliberate; passing None is not.
"""

from enum import Enum
from typing import Final

from paimon_explore.errors import InvalidInputError


class NotGiven(Enum):
    """The type of `NOT_GIVEN`."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        """The name, as signatures show it."""
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
"""Default of an argument that was left out."""


def refuse_none(value: object, argument: str, hint: str) -> None:
    """Refuse None for an argument that means everything when it is left out.

    Args:
        value: what the caller passed.
        argument: its name.
        hint: what to do to mean everything.

    Raises:
        InvalidInputError: None was passed.
    """
    if value is None:
        msg = f"{argument} is None, which does not stand for all rows."
        raise InvalidInputError(msg, hint=hint)
