"""The lock of the Hive metastore on one table, as Java's catalog takes it around commits.

The metastore queues the requests for a lock; a client that waits asks for the state again, which
also keeps its request alive. A lock whose holder dies expires on the server (`hive.txn.timeout`).
"""

import socket
import threading
import time
import uuid
from collections.abc import Callable
from typing import Self

from paimon_explore.errors import StorageError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import HiveClient, LostReplyError
from paimon_explore.metastore.hive.metastore_structs import (
    CheckLockRequest,
    LockComponent,
    LockRequest,
    NoSuchLockException,
    ShowLocksRequest,
    UnlockRequest,
)

_EXCLUSIVE = 3
_TABLE_LEVEL = 2
_ACQUIRED = 1
_WAITING = 2
_STATES = {1: "acquired", 2: "waiting", 3: "aborted", 4: "not acquired"}
_FIRST_WAIT_MS = 50


def _milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTiming:
    """How long a lock is waited for.

    Attributes:
        max_wait_ms: option `lock-check-max-sleep`: the longest wait between two requests.
        timeout_ms: option `lock-acquire-timeout`: when to give up.
        clock: returns milliseconds that never go back.
        sleep: waits for seconds.
    """

    max_wait_ms: int = 8_000
    timeout_ms: int = 480_000
    clock: Callable[[], int] = _milliseconds
    sleep: Callable[[float], None] = time.sleep


class HiveLock:
    """An exclusive lock on a table, held in a `with` block.

    Args:
        client: the connection.
        database: the database.
        table: the table, with `$branch_<name>` for a branch.
        timing: how long to wait.
    """

    def __init__(
        self, client: HiveClient, database: str, table: str, timing: LockTiming | None = None
    ) -> None:
        self._client = client
        self._database = database
        self._table = table
        self._timing = timing or LockTiming()
        self._held = threading.local()

    def __enter__(self) -> Self:
        """Wait until the lock is acquired.

        Raises:
            StorageError: others held the lock for too long, or the metastore has no locks.
        """
        started = self._timing.clock()
        number, state = self._request()
        wait_ms = _FIRST_WAIT_MS
        try:
            while state == _WAITING and self._timing.clock() - started < self._timing.timeout_ms:
                self._timing.sleep(min(wait_ms, self._timing.max_wait_ms) / 1000)
                wait_ms = min(wait_ms * 2, self._timing.max_wait_ms)
                response = self._client.call(methods.CHECK_LOCK, CheckLockRequest(lock_id=number))
                state = response.state or 0
        finally:
            if state != _ACQUIRED:
                self._release(number)
        if state != _ACQUIRED:
            raise self._failure(_STATES.get(state, str(state)), self._timing.clock() - started)
        self._held.number = number
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Release the lock."""
        self._release(self._held.number)

    def _request(self) -> tuple[int, int]:
        """Request the lock; return its id and state."""
        agent = f"paimon_explore-{uuid.uuid4()}"
        request = LockRequest(
            component=[
                LockComponent(
                    type=_EXCLUSIVE,
                    level=_TABLE_LEVEL,
                    db_name=self._database,
                    table_name=self._table,
                )
            ],
            user=self._client.settings.user,
            hostname=socket.gethostname(),
            agent_info=agent,
        )
        for _ in self._client.attempts():
            try:
                response = self._client.call(methods.LOCK, request)
            except LostReplyError:
                found = self._requested(agent)
                if found is not None:
                    return found
                continue  # the request did not arrive
            return response.lock_id or 0, response.state or 0
        raise self._failure("not confirmed by the metastore", 0)

    def _requested(self, agent: str) -> tuple[int, int] | None:
        """Look for a request whose reply was lost."""
        request = ShowLocksRequest(db_name=self._database, table_name=self._table)
        for lock in self._client.call(methods.SHOW_LOCKS, request).locks or ():
            if lock.agent_info == agent:
                return lock.lock_id or 0, lock.state or 0
        return None

    def _release(self, number: int) -> None:
        """Release a lock; one that cannot be released expires on the server."""
        try:
            self._client.call(methods.UNLOCK, UnlockRequest(lock_id=number))
        except (NoSuchLockException, StorageError):
            return

    def _failure(self, state: str, waited_ms: int) -> StorageError:
        return StorageError(
            "lock",
            f"table {self._database}.{self._table} in {self._client.settings.uri}",
            f"the lock is {state} after {waited_ms / 1000:.1f} s",
            hint="Another writer holds it (SHOW LOCKS in Hive). The option "
            "'lock-acquire-timeout' sets how long to wait.",
        )
