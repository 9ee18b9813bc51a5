"""Why a value or a type cannot be cast; each caller makes it an error of its own side."""

from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import excerpt


class UncastableError(Exception):
    """A cast that has no result.

    Attributes:
        reason: a sentence without a full stop.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def uncastable_value(value: object, target: DataType) -> UncastableError:
    """The error for a value that has no counterpart in a type."""
    return UncastableError(f"{excerpt(value)} cannot be read as {type_text(target)}")


def uncastable_type(source: DataType, target: DataType) -> UncastableError:
    """The error for two types without a cast."""
    return UncastableError(f"{type_text(source)} cannot be cast to {type_text(target)}")
