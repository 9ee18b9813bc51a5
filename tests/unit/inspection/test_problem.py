"""Hints of problems: what to do about a file that cannot be read."""

import pytest

from paimon_explore.errors import (
    AccessDeniedError,
    CorruptFileError,
    InvalidInputError,
    MissingFileError,
    PaimonError,
    StorageError,
)
from paimon_explore.inspection.problem import problem_of


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (StorageError("read", "/f", "Permission denied"), "credentials"),
        (StorageError("read", "s3://b/f", "status 403: Forbidden"), "credentials"),
        (AccessDeniedError("load", "/t", "the token has expired"), "credentials"),
        (StorageError("read", "/f", "timed out after 4031 ms"), "connection"),
        (MissingFileError("read", "/f"), "restore it from a backup"),
        (CorruptFileError("/f", "version", "must be 3"), "restore it from a backup"),
    ],
)
def test_a_file_that_cannot_be_read_has_a_hint(error: PaimonError, hint: str) -> None:
    assert hint in problem_of(error).hint


def test_the_hint_of_an_error_stays() -> None:
    assert problem_of(MissingFileError("read", "/f", hint="Look here.")).hint == "Look here."
    assert problem_of(InvalidInputError("No.")).hint == ""
