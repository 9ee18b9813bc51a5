"""The error tree: what is caught with what, and errors that travel between processes."""

import inspect
import pickle

import pytest

from paimon_explore import errors
from paimon_explore.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    CommitConflictError,
    CommitOutcomeUnknownError,
    CorruptFileError,
    InvalidInputError,
    InvalidResponseError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    PaimonWarning,
    ResourceLimitError,
    SnapshotExpiredError,
    StorageError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)

EXAMPLES = [
    NotFoundError("table", "t", "db", hint="Its tables: none."),
    AlreadyExistsError("table", "t", "db"),
    InvalidInputError("limit is -1.", hint="Use 0 or more."),
    CorruptFileError("/t/manifest/m", "byte 7", "must be 1"),
    UnsupportedVersionError("snapshot file", 9, [1, 2, 3], "/t/snapshot/snapshot-1"),
    UnsupportedFeatureError("reading lance files", "t"),
    CommitConflictError("The bucket count changed.", hint="Plan again."),
    CommitOutcomeUnknownError("No answer."),
    SnapshotExpiredError("Snapshot 1 expired."),
    StorageError("list", "/t", "permission denied"),
    MissingFileError("read", "/t/bucket-0/data-1"),
    InvalidResponseError("load table 't' at", "http://h/v1", "the response is not JSON"),
    AccessDeniedError("load table 't'", "http://h/v1", "HTTP 401", hint="Check the token."),
    ResourceLimitError("/t/manifest/m", "block 1", "its records", size=2, limit=1),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: PaimonError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_every_error_is_a_paimon_error_with_a_text_that_says_when() -> None:
    classes = [value for _, value in inspect.getmembers(errors, inspect.isclass)]
    ours = [kind for kind in classes if kind.__module__ == errors.__name__]
    assert len([kind for kind in ours if issubclass(kind, PaimonError)]) == 21
    assert len([kind for kind in ours if issubclass(kind, PaimonWarning)]) == 4
    assert len(ours) == 25
    assert all(kind.__doc__ for kind in ours)


def test_errors_are_also_what_python_calls_them() -> None:
    assert issubclass(NotFoundError, LookupError)
    assert issubclass(InvalidInputError, ValueError)
    assert issubclass(CorruptFileError, ValueError)
    assert issubclass(UnsupportedFeatureError, NotImplementedError)
    assert issubclass(MissingFileError, FileNotFoundError)
    assert issubclass(StorageError, OSError)


def test_messages_hold_the_facts() -> None:
    assert [str(error) for error in EXAMPLES[:6]] == [
        "Table 't' does not exist in db. Its tables: none.",
        "Table 't' already exists in db.",
        "limit is -1. Use 0 or more.",
        "Corrupt data in /t/manifest/m: byte 7 must be 1.",
        (
            "Snapshot file /t/snapshot/snapshot-1 has version 9; supported versions: 1, 2, 3. "
            "Use a newer version of paimon_explore."
        ),
        "Reading lance files is not supported (t).",
    ]
