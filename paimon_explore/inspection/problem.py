"""Errors as values, so that a view can show an unreadable file beside its other content."""

from paimon_explore.errors import (
    CorruptFileError,
    PaimonError,
    StorageError,
    UnsupportedVersionError,
)
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """An error that a view shows instead of raising.

    Attributes:
        kind: name of the error class.
        message: the error message.
        path: path of the file; empty if the error has none.
        hint: what to do next.
    """

    kind: str
    message: str
    path: str = ""
    hint: str = ""

    def state(self) -> dict[str, str]:
        """The problem as JSON."""
        return {"kind": self.kind, "message": self.message, "path": self.path, "hint": self.hint}


def problem_of(error: PaimonError) -> Problem:
    """The problem that describes an error."""
    path = ""
    if isinstance(error, (CorruptFileError, StorageError, UnsupportedVersionError)):
        path = error.path
    return Problem(kind=type(error).__name__, message=error.message, path=path, hint=error.hint)
