"""Errors of object stores: which are worth another try, for how long, and what they are called.

The client library retries by itself what it takes for safe, and gets it wrong for conditional
requests: a request whose reply was lost is repeated and then meets the object that it has made. So
conditional requests are sent once per try, and the tries are counted here.
"""

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    GenericError,
)
from obstore.exceptions import (
    NotFoundError as MissingObjectError,
)

from paimon_explore.errors import (
    MissingFileError,
    NotFoundError,
    PaimonError,
    StorageError,
    safe_cause,
)
from paimon_explore.frozen_dataclass import dataclass

_Answer = TypeVar("_Answer")

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_TRANSIENT_CODES = ("RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable")
_PERMANENT = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "builder error")
_NOT_CONNECTED = "kind: Connect"
_FIRST_WAIT, _LONGEST_WAIT = 0.05, 5.0
_FIRST_CONTACT = 3.0
"""Seconds of retries while a store has never answered: its address is probably wrong."""
_CONFLICT = 409


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long failing requests are repeated.

    Attributes:
        timeout: seconds since the first try after which no other one is begun.
        max_retries: tries after the first; None for no limit.
        place: the store, as told in `answered`.
    """

    timeout: float
    max_retries: int | None
    place: object


_ANSWERED: set[object] = set()
"""Stores that were reached once."""


class Attempts:
    """The tries of one request."""

    __slots__ = ("_number", "_policy", "_started")

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._number = 0
        self._started = time.monotonic()

    def succeeded(self) -> None:
        """Note that the store answers; what is asked next has all the time again."""
        _ANSWERED.add(self._policy.place)
        self._number = 0
        self._started = time.monotonic()

    def failed(self, error: Exception) -> None:
        """Wait for the next try.

        Raises:
            Exception: the error itself, if it is permanent or the time is over.
        """
        if not is_transient(error):
            raise error
        limit = self._policy.timeout
        if _NOT_CONNECTED not in str(error):
            _ANSWERED.add(self._policy.place)
        elif self._policy.place not in _ANSWERED:
            limit = min(limit, _FIRST_CONTACT)
        left = limit - (time.monotonic() - self._started)
        if left <= 0 or self._number == self._policy.max_retries:
            raise error
        wait = min(_FIRST_WAIT * 2 ** min(self._number, 10), _LONGEST_WAIT, left)
        self._number += 1
        time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 - no secret


def retried(policy: RetryPolicy, request: Callable[[], _Answer]) -> _Answer:
    """Repeat a request that may be repeated until it succeeds, with exponential backoff.

    Raises:
        Exception: of the last try.
    """
    attempts = Attempts(policy)
    while True:
        try:
            answer = request()
        except BaseError as error:
            attempts.failed(error)
        else:
            _ANSWERED.add(policy.place)
            return answer


def is_transient(error: Exception) -> bool:
    """Whether the same request may succeed later."""
    text = str(error)
    status = _status(text)
    if isinstance(error, AlreadyExistsError):
        return status == _CONFLICT
    if not isinstance(error, GenericError) or any(word in text for word in _PERMANENT):
        return False
    if status is None or status in _TRANSIENT_STATUS:
        return True
    return any(code in text for code in _TRANSIENT_CODES)


def is_write_conflict(error: Exception) -> bool:
    """Whether a conditional request met another one in flight, so that nothing is decided yet."""
    return _status(str(error)) == _CONFLICT


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return None if found is None else int(found[1])


@contextmanager
def naming(operation: str, path: str) -> Iterator[None]:
    """Turn the store's errors into ours, with what was done to which path.

    Raises:
        NotFoundError: there is no such bucket.
        MissingFileError: there is no such object.
        StorageError: anything else, panics of the client library included.
    """
    try:
        yield
    except PaimonError:
        raise
    except (BaseError, OSError, ValueError) as error:
        raise _translated(operation, path, error) from safe_cause(error)
    except BaseException as error:
        if not _is_panic(error):
            raise
        raise StorageError(
            operation, path, f"the storage client failed internally: {_reason(error)}"
        ) from safe_cause(error)


def _is_panic(error: BaseException) -> bool:
    """Whether Rust code has panicked, which Python sees as an exception outside of `Exception`."""
    return type(error).__name__ == "PanicException"


def _translated(operation: str, path: str, error: Exception) -> PaimonError:
    if "<Code>NoSuchBucket</Code>" in str(error):
        bucket = path.partition("://")[2].partition("/")[0]
        return NotFoundError("bucket", bucket, hint="Check the name, the endpoint and the region.")
    if isinstance(error, FileNotFoundError | MissingObjectError):
        return MissingFileError(operation, path)
    return StorageError(operation, path, _reason(error))


def _reason(error: BaseException) -> str:
    """What the store says, without its debugging details."""
    text = str(error).partition("\n\nDebug source")[0]
    code, message = _CODE.search(text), _MESSAGE.search(text)
    if code is None:
        return text.partition("\n")[0]
    status = _status(text)
    said = code[1] if message is None else f"{code[1]}: {message[1]}"
    return said if status is None else f"{said} (HTTP {status})"
