"""The locks of a JDBC catalog: a row of `paimon_distributed_locks` for each table that is locked.

Who inserts the row has the lock and deletes the row to release it. A row older than its
`expire_time_seconds` was left by a crashed process, and may be deleted by anyone.
"""

import random
import threading
import time
from contextlib import suppress

from paimon_explore.errors import StorageError, undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.jdbc.catalog_rows import LOCKS
from paimon_explore.metastore.jdbc.jdbc_database import (
    BusyDatabaseError,
    DuplicateRowError,
    JdbcDatabase,
)
from paimon_explore.threads import in_forks

_FIRST_PAUSE_S = 0.02
_LONGEST_PAUSE_S = 1.0
_RELEASE_ATTEMPTS = 3
_INSERT = f"INSERT INTO {LOCKS} (lock_id,expire_time_seconds) VALUES (?,?)"
_DELETE = f"DELETE FROM {LOCKS} WHERE lock_id = ?"

_THREADS: dict[str, threading.Lock] = {}
"""One lock per table for the threads of this process, so that only one of them polls."""
in_forks(_THREADS.clear)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRules:
    """Settings of locks.

    Attributes:
        enabled: whether rows are inserted; without them only threads of one process exclude
            each other.
        acquire_timeout_ms: how long to wait for a lock, and when a lock expires.
        check_max_sleep_ms: the longest pause between two attempts.
    """

    enabled: bool
    acquire_timeout_ms: int = 480_000
    check_max_sleep_ms: int = 8_000


class JdbcLock:
    """The lock of one table, as a context manager.

    Args:
        database: the database with the rows.
        lock_id: `<catalog key>.<database>.<table>`.
        rules: settings.
    """

    def __init__(self, database: JdbcDatabase, lock_id: str, rules: LockRules) -> None:
        self._database = database
        self._lock_id = lock_id
        self._rules = rules

    def __enter__(self) -> None:
        """Wait for the lock.

        Raises:
            StorageError: another process held the lock for longer than `lock-acquire-timeout`.
        """
        started = time.monotonic()
        limit = self._rules.acquire_timeout_ms / 1000
        threads = _THREADS.setdefault(self._lock_id, threading.Lock())
        if not threads.acquire(timeout=limit):
            raise self._timed_out(limit)
        with undo_on_error(threads.release):
            if self._rules.enabled:
                self._wait(started, limit)

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        try:
            if self._rules.enabled:
                self._release()
        finally:
            _THREADS[self._lock_id].release()

    def _wait(self, started: float, limit: float) -> None:
        pause = _FIRST_PAUSE_S
        longest = min(_LONGEST_PAUSE_S, self._rules.check_max_sleep_ms / 1000)
        while not self._acquired():
            if time.monotonic() - started > limit:
                raise self._timed_out(limit)
            time.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - spreads attempts
            pause = min(pause * 2, longest)

    def _acquired(self) -> bool:
        """Delete an expired row, and try to insert one."""
        expired = f"{_DELETE} AND {self._database.dialect.lock_expired}"
        with suppress(BusyDatabaseError):
            try:
                self._database.execute(
                    _INSERT, self._lock_id, self._rules.acquire_timeout_ms // 1000
                )
            except DuplicateRowError:
                self._database.execute(expired, self._lock_id)
            else:
                return True
        return False

    def _release(self) -> None:
        for attempt in range(_RELEASE_ATTEMPTS):
            try:
                self._database.execute(_DELETE, self._lock_id)
            except StorageError as error:
                if attempt == _RELEASE_ATTEMPTS - 1:
                    raise StorageError(
                        "release",
                        f"the lock {self._lock_id!r} of the catalog",
                        str(error),
                        hint=f"It expires after {self._rules.acquire_timeout_ms // 1000} seconds.",
                    ) from error
            else:
                return

    def _timed_out(self, limit: float) -> StorageError:
        return StorageError(
            "acquire",
            f"the lock {self._lock_id!r} of the catalog",
            f"another process holds it for more than {limit:g} seconds",
            hint="Try again, or increase the catalog option 'lock-acquire-timeout'.",
        )
