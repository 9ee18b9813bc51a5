"""Time budgets of the explorer.

The figures are printed. A run that requires "budgets" (`.ci/run` does) fails when a figure exceeds
its budget `STRICT` times over, any other run `GROSS` times over, after the budget was scaled by the
speed of this machine: the same code takes twice as long on one and the same machine an hour later.
"""

import os
import statistics
import time
from functools import cache

from support.required import required

STRICT = 2
GROSS = 4
REFERENCE_MS = 20.0
"""What `_work_ms` took on the machine for which the budgets were written (idle, two cores)."""


def allowed(budget: float) -> float:
    """The most that a measured time may be, in the unit of the budget.

    A strict budget is multiplied by the jobs that share a core beyond the first, if that is more
    than the calibration, since the clock then runs that many times slower for us.
    """
    if required("budgets"):
        return budget * STRICT * max(jobs_per_core(), slowness())
    return budget * GROSS * slowness()


def jobs_per_core() -> float:
    """How many jobs of others share a core; 1 on an idle machine, as in CI."""
    return max(os.getloadavg()[0] / (os.cpu_count() or 1) - 1, 1.0)


@cache
def slowness() -> float:
    """How many times slower than the reference this machine is; at least 1."""
    return max(statistics.median(_work_ms() for _ in range(9)) / REFERENCE_MS, 1.0)


def _work_ms() -> float:
    start = time.perf_counter()
    sum(number * number % 7 for number in range(200_000))
    return (time.perf_counter() - start) * 1000
