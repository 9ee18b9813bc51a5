"""`NOT_GIVEN`: the default of arguments that select all rows if omitted, for which None is refused.

Otherwise `table.update(values, where=condition)` with an unset variable would change every row.
Omitting the argument is deliberate; passing None is not.
"""

from enum import Enum
from typing import Final

from paimon_explore.errors import InvalidInputError


class NotGiven(Enum):
    """The type of `NOT_GIVEN`."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        """The name, for signatures."""
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
"""Default of an omitted argument."""


def refuse_none(value: object, argument: str, hint: str) -> None:
    """Refuses None for an argument that selects all rows if omitted.

    Args:
        value: the passed value.
        argument: its name.
        hint: how to select all rows.

    Raises:
        InvalidInputError: None was passed.
    """
    if value is None:
        msg = f"{argument} must not be None."
        raise InvalidInputError(msg, hint=hint)
