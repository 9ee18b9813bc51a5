"""Retry policy of commits: exponential backoff with jitter; clock and sleep can be replaced.

Spec: maintenance/configurations, `commit.*`.
"""

import random
import time
from collections.abc import Callable
from dataclasses import field

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions

_JITTER = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Clock, sleep and random numbers; replaced in tests.

    Attributes:
        clock: returns epoch milliseconds.
        sleep: waits for seconds.
        chance: returns a random number in [0, 1).
    """

    clock: Callable[[], int] = system_clock
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = field(default=random.random)


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitRetryPolicy:
    """Retry policy of a commit.

    Attributes:
        max_retries: maximum number of retries.
        timeout_ms: time after which no retry is started; None for no limit.
        min_wait_ms: wait before the first retry; it doubles with each retry.
        max_wait_ms: maximum wait.
    """

    max_retries: int
    timeout_ms: int | None
    min_wait_ms: int
    max_wait_ms: int

    def wait_ms(self, retry: int, chance: float) -> float:
        """Return the wait before a retry.

        Args:
            retry: number of previous retries.
            chance: a random number in [0, 1).

        >>> waits = {"min_wait_ms": 10, "max_wait_ms": 50}
        >>> CommitRetryPolicy(max_retries=9, timeout_ms=None, **waits).wait_ms(2, 0.5)
        44.0
        """
        doubled = self.min_wait_ms << min(retry, 32)
        return min(doubled, self.max_wait_ms) * (1 + _JITTER * chance)

    def is_over(self, retry: int, elapsed_ms: int) -> bool:
        """Return whether no further retry is allowed."""
        timed_out = self.timeout_ms is not None and elapsed_ms > self.timeout_ms
        return timed_out or retry >= self.max_retries


def commit_retry_policy(options: TableOptions) -> CommitRetryPolicy:
    """Return the retry policy of the table options."""
    return CommitRetryPolicy(
        max_retries=options.value(opt.COMMIT_MAX_RETRIES),
        timeout_ms=options.value(opt.COMMIT_TIMEOUT),
        min_wait_ms=options.value(opt.COMMIT_MIN_RETRY_WAIT),
        max_wait_ms=options.value(opt.COMMIT_MAX_RETRY_WAIT),
    )
