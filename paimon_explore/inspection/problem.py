"""Errors as values, so that a view can show an unreadable file beside its other content."""

import re
from collections.abc import Callable
from typing import TypeVar

from paimon_explore.errors import (
    AccessDeniedError,
    CorruptFileError,
    MissingFileError,
    PaimonError,
    StorageError,
    UnsupportedVersionError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.sanitize import sanitized

_NO_PERMISSION = (
    "Ask the owner of the files for the permission to read them, or open the table with other "
    "credentials, for object stores with storage_options=."
)
_MISSING = (
    "The file was deleted, or is not in this copy of the table. Select a snapshot that does not "
    "need it, or restore it from a backup; for a lost data file see "
    "t.maintenance.remove_unexisting_files()."
)
_UNAVAILABLE = "Check the path and the connection to the storage, then try again."
_CORRUPT = "Select a snapshot that does not need the file, or restore it from a backup."
_DENIED = re.compile(r"permission|denied|forbidden|unauthorized|\b40[13]\b", re.IGNORECASE)


_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem(JsonMembers):
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


def problem_of(error: Exception) -> Problem:
    """The problem that describes an error, with a hint if the file cannot be read."""
    if not isinstance(error, PaimonError):
        return Problem(kind=type(error).__name__, message=sanitized(str(error) or repr(error)))
    path = ""
    if isinstance(error, (CorruptFileError, StorageError, UnsupportedVersionError)):
        path = error.path
    hint = error.hint or _hint(error)
    return Problem(kind=type(error).__name__, message=error.message, path=path, hint=hint)


def attempt(compute: Callable[[], _Value], problems: list[Problem]) -> _Value | None:
    """The value, or None if metadata cannot be read, which is added to the problems once."""
    try:
        return compute()
    except PaimonError as error:
        found = problem_of(error)
        problems += [] if found in problems else [found]
        return None


def _hint(error: PaimonError) -> str:
    """What to do about a file that cannot be read; empty for other errors."""
    if isinstance(error, AccessDeniedError):
        return _NO_PERMISSION
    if isinstance(error, MissingFileError):
        return _MISSING
    if isinstance(error, StorageError):
        is_denied = isinstance(error.__cause__, PermissionError) or _DENIED.search(error.reason)
        return _NO_PERMISSION if is_denied else _UNAVAILABLE
    return _CORRUPT if isinstance(error, CorruptFileError) else ""
