"""Errors of casts; callers convert them to errors with a path or a column."""

from paimon_explore.data_types.definitions import DataType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import excerpt


class UncastableError(Exception):
    """A value or a type cannot be cast.

    Attributes:
        reason: a sentence without a full stop.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def uncastable_value(value: object, target: DataType) -> UncastableError:
    """Return the error for a value that cannot be cast to a type."""
    return UncastableError(f"{excerpt(value)} cannot be read as {type_text(target)}")


def uncastable_type(source: DataType, target: DataType) -> UncastableError:
    """Return the error for two types without a cast."""
    return UncastableError(f"{type_text(source)} cannot be cast to {type_text(target)}")
