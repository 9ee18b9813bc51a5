"""Thread pools that are kept for later work, to reuse the threads' Arrow memory arenas."""

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MAX_THREADS = 16
"""Maximum number of threads of a pool."""


@cache
def thread_pool(threads: int, name: str) -> "ThreadPoolExecutor":
    """The pool of a name and a number of threads."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - many splits

    return ThreadPoolExecutor(threads, name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=thread_pool.cache_clear)  # threads do not survive a fork
