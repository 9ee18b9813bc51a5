"""Retries with backoff for requests to object stores, and translation of their errors.

The client library retries requests that it considers idempotent, which is wrong for conditional
puts: if a response is lost, the retry finds the object that the first request created. So
conditional puts are sent without retries of the client, and retried here.
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

_Result = TypeVar("_Result")

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_TRANSIENT_CODES = ("RequestTimeout", "SlowDown", "InternalError", "ServiceUnavailable")
_PERMANENT = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "builder error")
_NOT_CONNECTED = "kind: Connect"
_MIN_WAIT, _MAX_WAIT = 0.05, 5.0
_CONNECT_TIMEOUT = 3.0
"""Seconds of retries for a store that was never reached: its address is probably wrong."""
_CONFLICT = 409


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRetryPolicy:
    """Retry policy of failing requests.

    Attributes:
        timeout: seconds since the first attempt after which no retry is started.
        max_retries: maximum number of retries; None for no limit.
        store_key: identifies the store.
    """

    timeout: float
    max_retries: int | None
    store_key: object


_REACHED_STORES: set[object] = set()
"""Stores that have responded at least once."""


class Attempts:
    """The attempts of one request."""

    __slots__ = ("_number", "_policy", "_started")

    def __init__(self, policy: RequestRetryPolicy) -> None:
        self._policy = policy
        self._number = 0
        self._started = time.monotonic()

    def succeeded(self) -> None:
        """Record a response of the store, and restart the timeout for the next request."""
        _REACHED_STORES.add(self._policy.store_key)
        self._number = 0
        self._started = time.monotonic()

    def failed(self, error: Exception) -> None:
        """Wait before the next attempt.

        Raises:
            Exception: the given error, if it is permanent or the retries are exhausted.
        """
        if not is_transient(error):
            raise error
        limit = self._policy.timeout
        if _NOT_CONNECTED not in str(error):
            _REACHED_STORES.add(self._policy.store_key)
        elif self._policy.store_key not in _REACHED_STORES:
            limit = min(limit, _CONNECT_TIMEOUT)
        left = limit - (time.monotonic() - self._started)
        if left <= 0 or self._number == self._policy.max_retries:
            raise error
        wait = min(_MIN_WAIT * 2 ** min(self._number, 10), _MAX_WAIT, left)
        self._number += 1
        time.sleep(wait * random.uniform(0.5, 1))  # noqa: S311 - not a secret


def retry(policy: RequestRetryPolicy, request: Callable[[], _Result]) -> _Result:
    """Retry an idempotent request with exponential backoff until it succeeds.

    Raises:
        Exception: the error of the last attempt.
    """
    attempts = Attempts(policy)
    while True:
        try:
            answer = request()
        except BaseError as error:
            attempts.failed(error)
        else:
            _REACHED_STORES.add(policy.store_key)
            return answer


def is_transient(error: Exception) -> bool:
    """Return whether the same request may succeed later."""
    text = str(error)
    status = _status(text)
    if isinstance(error, AlreadyExistsError):
        return status == _CONFLICT
    if not isinstance(error, GenericError) or any(code in text for code in _PERMANENT):
        return False
    if status is None or status in _TRANSIENT_STATUS:
        return True
    return any(code in text for code in _TRANSIENT_CODES)


def is_write_conflict(error: Exception) -> bool:
    """Return whether a conditional put collided with a concurrent one; its outcome is undecided."""
    return _status(str(error)) == _CONFLICT


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return None if found is None else int(found[1])


@contextmanager
def translate_errors(operation: str, path: str) -> Iterator[None]:
    """Convert errors of the store to `StorageError` with operation and path.

    Raises:
        NotFoundError: the bucket does not exist.
        MissingFileError: the object does not exist.
        StorageError: any other error, including panics of the client library.
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
    """Return whether an error is a Rust panic, which is not a subclass of `Exception`."""
    return type(error).__name__ == "PanicException"


def _translated(operation: str, path: str, error: Exception) -> PaimonError:
    if "<Code>NoSuchBucket</Code>" in str(error):
        bucket = path.partition("://")[2].partition("/")[0]
        return NotFoundError("bucket", bucket, hint="Check the name, the endpoint and the region.")
    if isinstance(error, FileNotFoundError | MissingObjectError):
        return MissingFileError(operation, path)
    return StorageError(operation, path, _reason(error))


def _reason(error: BaseException) -> str:
    """Return the message of the store without debugging details."""
    text = str(error).partition("\n\nDebug source")[0]
    code, message = _CODE.search(text), _MESSAGE.search(text)
    if code is None:
        return text.partition("\n")[0]
    status = _status(text)
    reason = code[1] if message is None else f"{code[1]}: {message[1]}"
    return reason if status is None else f"{reason} (HTTP {status})"
