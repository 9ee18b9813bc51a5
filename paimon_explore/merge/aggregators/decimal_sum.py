"""Sums of decimals with Java's overflow rules."""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, UInt64s
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.numpy_columns import NARROW_DIGITS, decimal_halves, precision_of

_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


def decimal_total(values: Column, minus: Bools | None, steps: Steps) -> Column:
    """Sum per key: vectorized where it certainly stays in range, else record by record.

    As in Java, a sum that leaves its range becomes null, and the next record starts again. Above 18
    digits the range is that of the precision, else that of 64 bits, so that a sum may have more
    digits than its type.
    """
    some = steps.ends > steps.starts
    starts = steps.starts[some]
    if not len(starts):
        return values.take(pa.nulls(steps.count, pa.int64()))
    high, low = decimal_halves(values)
    size = np.abs(high.astype(float) * 2.0**64 + low.astype(float))
    far = np.add.reduceat(size, starts) >= float(_limit(values.type)) * 0.999
    halves = _add_halves((high, low), minus, starts)
    valid = some.copy()
    words = np.zeros((steps.count, 2), np.uint64)
    words[some, 0], words[some, 1] = halves[1], halves[0].view(np.uint64)
    if far.any():
        _walk_far(values, steps, (np.flatnonzero(some)[far], words, valid))
    return nb.build_fixed(values.type, words, valid)


def _limit(data_type: pa.DataType) -> int:
    """The limit of unscaled sums; sums of at least this magnitude become null."""
    digits = precision_of(data_type)
    return 2**63 if digits <= NARROW_DIGITS else 10**digits


def _add_halves(
    halves: tuple[Ints, UInt64s], minus: Bools | None, starts: Ints
) -> tuple[Ints, UInt64s]:
    """Sums of 128-bit integers, by four parts of 32 bits with carries applied at the end."""
    high, low = halves
    parts = [
        (low & _LOW_HALF).view(np.int64),
        (low >> _HALF).view(np.int64),
        high & 0xFFFFFFFF,
        high >> 32,
    ]
    if minus is not None:
        parts = [np.where(minus, -part, part) for part in parts]
    sums = [np.add.reduceat(part, starts) for part in parts]
    for at in range(3):
        sums[at + 1] += sums[at] >> 32
        sums[at] &= 0xFFFFFFFF
    return (sums[3] << 32) | sums[2], (sums[0] | (sums[1] << 32)).view(np.uint64)


def _walk_far(values: Column, steps: Steps, result: tuple[Ints, UInt64s, Bools]) -> None:
    keys, words, valid = result
    high, low = decimal_halves(values)
    limit = _limit(values.type)
    ends = steps.ends
    for key in keys.tolist():
        sum_: int | None = None
        for at in range(int(steps.starts[key]), int(ends[key])):
            number = (int(high[at]) << 64) + int(low[at])
            taken = steps.kinds is not None and steps.kinds[at] == Step.RETRACT
            sum_ = (sum_ or 0) + (-number if taken else number)
            sum_ = sum_ if abs(sum_) < limit else None
        valid[key] = sum_ is not None
        words[key] = [(sum_ or 0) & (2**64 - 1), ((sum_ or 0) >> 64) & (2**64 - 1)]
