"""Thread pools that are kept for later work, and what a fork does to them and to locks.

A process that `os.fork` creates, as `multiprocessing` does by default on Linux up to Python 3.13,
has one thread. A lock that another thread held during the fork would never be released in it, and
pools and clients whose threads are gone would never answer.
"""

import os
from collections.abc import Callable
from functools import cache
from threading import Lock, RLock, local
from time import monotonic
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MAX_THREADS = 16
"""Maximum number of threads of a pool that computes."""
_LONGEST_WAIT_S = 1.0
"""How long a fork waits for the locks."""
_PAUSE_S = 0.05
_Lock = TypeVar("_Lock", bound="Lock | RLock")
_locks: "WeakSet[Lock | RLock]" = WeakSet()


class _Held(local):
    """The locks that a thread holds while it forks; other threads may fork at the same time."""

    def __init__(self) -> None:
        self.locks: list[Lock | RLock] = []


_held = _Held()


@cache
def thread_pool(threads: int, name: str) -> "ThreadPoolExecutor":
    """The pool of a name and a number of threads."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - many splits

    return ThreadPoolExecutor(threads, name)


def free_in_forks(lock: _Lock) -> _Lock:
    """Let forks wait for a lock, so that it is free in the new process, and what it guards whole.

    Args:
        lock: held for moments only, and never during a fork by the thread that forks.
    """
    _locks.add(lock)
    return lock


def in_forks(act: Callable[[], object]) -> None:
    """Call a function in each process that is forked from this one, before all else."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=act)


def _acquire() -> None:
    deadline = monotonic() + _LONGEST_WAIT_S
    while True:
        wanted = list(_locks)
        _held.locks = [lock for lock in wanted if lock.acquire(timeout=_PAUSE_S)]
        if len(_held.locks) == len(wanted) or monotonic() > deadline:
            return
        _release()  # for a thread that holds one lock and waits for another


def _release() -> None:
    while _held.locks:
        _held.locks.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_acquire, after_in_child=_release, after_in_parent=_release)
in_forks(thread_pool.cache_clear)
