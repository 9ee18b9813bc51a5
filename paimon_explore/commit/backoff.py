"""Time and chance, as arguments: so that tests own them.

Spec: maintenance/configurations, `commit.*`.
"""

import random
import time
from collections.abc import Callable
from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions

_JITTER = 0.2


def system_clock() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What a commit asks of the world besides storage.

    Attributes:
        clock: epoch milliseconds.
        sleep: waits so many seconds.
        chance: a number in [0, 1).
    """

    clock: Callable[[], int] = system_clock
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = field(default=random.random)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long a commit that lost a race tries again.

    Attributes:
        max_retries: tries after the first.
        timeout_ms: time after which no try is begun, None for no limit.
        min_wait_ms: wait after the first try; it doubles with each.
        max_wait_ms: longest wait.
    """

    max_retries: int
    timeout_ms: int | None
    min_wait_ms: int
    max_wait_ms: int

    def wait_ms(self, retry: int, chance: float) -> float:
        """How long to wait before a try.

        Args:
            retry: number of tries before, from 0.
            chance: a number in [0, 1).

        >>> policy = RetryPolicy(max_retries=9, timeout_ms=None, min_wait_ms=10, max_wait_ms=50)
        >>> policy.wait_ms(2, 0.5)
        44.0
        """
        doubled = self.min_wait_ms << min(retry, 32)
        return min(doubled, self.max_wait_ms) * (1 + _JITTER * chance)

    def is_over(self, retry: int, elapsed_ms: int) -> bool:
        """Whether no further try may be made."""
        late = self.timeout_ms is not None and elapsed_ms > self.timeout_ms
        return late or retry >= self.max_retries


def retry_policy_of(options: TableOptions) -> RetryPolicy:
    """The retry_policy that the table's options ask for."""
    return RetryPolicy(
        max_retries=options.value(opt.COMMIT_MAX_RETRIES),
        timeout_ms=options.value(opt.COMMIT_TIMEOUT),
        min_wait_ms=options.value(opt.COMMIT_MIN_RETRY_WAIT),
        max_wait_ms=options.value(opt.COMMIT_MAX_RETRY_WAIT),
    )
