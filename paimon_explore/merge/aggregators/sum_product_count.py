"""The aggregate functions `sum`, `product` and `count`."""

from collections.abc import Callable
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    localcontext,
)
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, Numbers, UInt64s
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import FormatError
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.group_reduction import fold, since_reset, steps_by_key
from paimon_explore.merge.numpy_columns import (
    NARROW_DIGITS,
    decimal_halves,
    ints_of,
    nulls_mask,
    precision_of,
    scale_of,
    take_or_null,
)

_Number: TypeAlias = int | float | Decimal
_NUMBERS = (int, float, Decimal)
_EXACT_FLOAT = 2.0**62
_DIGITS = 80
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


def total(column: Column, steps: Steps) -> Column:
    """Sum; a retract subtracts. Integer overflow is an error, decimal overflow becomes null."""
    steps = _of_values(column, since_reset(steps))
    values = take_or_null(column, steps.rows)
    minus = None if steps.kinds is None else steps.kinds == Step.RETRACT
    some = steps.ends > steps.starts
    starts = steps.starts[some]
    if pat.is_decimal(column.type):
        return decimal_total(values, minus, steps)
    if pat.is_floating(column.type):
        numbers = ints_of(values).view(f"f{column.type.bit_width // 8}")
        signed = numbers if minus is None else np.where(minus, -numbers, numbers)
        found = fold(np.add, signed, starts) if len(starts) else signed
        return _spread(found, some, column.type)
    return _integer_total(values, minus, (starts, some))


def product(column: Column, steps: Steps) -> Column:
    """Product; a retract divides (integers towards zero), or is ignored if there is no value."""
    steps = since_reset(steps)
    steps = _of_values(column, steps)
    if pat.is_decimal(column.type):
        return _walked_product(column, steps, _decimal_step(column.type))
    if steps.kinds is not None and (steps.kinds == Step.RETRACT).any():
        return _walked_product(column, steps, _plain_step(column.type))
    some = steps.ends > steps.starts
    starts = steps.starts[some]
    values = take_or_null(column, steps.rows)
    numbers = ints_of(values)
    if pat.is_floating(column.type):
        numbers = numbers.view(f"f{column.type.bit_width // 8}")
        return _spread(fold(np.multiply, numbers, starts), some, column.type)
    size = fold(np.multiply, np.maximum(np.abs(numbers.astype(float)), 1.0), starts)
    if len(size) and float(size.max()) >= _EXACT_FLOAT:
        return _walked_product(column, steps, _plain_step(column.type))
    found = fold(np.multiply, numbers.astype(np.int64), starts).astype(np.int64)
    return _spread(in_range(found, column.type), some, column.type)


def count(column: Column, steps: Steps) -> Column:
    """Number of values that are not null, minus retracts; exists in releases up to 0.8.

    As in those releases, a record counts as one even if its value is already a count.

    Raises:
        FormatError: the count does not fit the type.
    """
    valid = nb.valid_mask(column)
    replaces = np.zeros(len(column), np.bool_)
    if steps.kinds is not None:
        replaces[steps.rows[steps.kinds == Step.REPLACE]] = True
    steps = since_reset(steps)
    steps = steps.kept((valid | ~replaces)[steps.rows])
    numbers = valid[steps.rows].astype(np.int64)
    if steps.kinds is not None:
        numbers[steps.kinds == Step.RETRACT] *= -1
        values = ints_of(take_or_null(column, steps.rows))
        numbers = np.where(replaces[steps.rows], values, numbers)
    some = steps.ends > steps.starts
    return _exact_total(numbers, (steps.starts[some], some), column.type)


def _of_values(column: Column, steps: Steps) -> Steps:
    valid = nulls_mask(column)
    return steps if valid is None else steps.kept(valid[steps.rows])


def _spread(values: Numbers, some: Bools, data_type: pa.DataType) -> Column:
    """Builds a column with the values of the keys that have one; null for the others."""
    spread = np.zeros(len(some), values.dtype)
    spread[some] = values
    return nb.build_fixed(data_type, spread, some)


def _overflow(data_type: pa.DataType) -> FormatError:
    return FormatError(
        f"An aggregated value is out of range for {type_text(from_arrow(data_type))}.",
        hint="Change the column to a wider type.",
    )


def in_range(values: Ints, data_type: pa.DataType) -> Numbers:
    """Converts values to the type's width.

    Raises:
        FormatError: a value does not fit.
    """
    bits = data_type.bit_width
    limits = np.iinfo(f"i{bits // 8}")
    if ((values < limits.min) | (values > limits.max)).any():
        raise _overflow(data_type)
    return values.astype(limits.dtype)


def _integer_total(values: Column, minus: Bools | None, groups: tuple[Ints, Bools]) -> Column:
    numbers = ints_of(values).astype(np.int64)
    return _exact_total(numbers, groups, values.type, minus)


def _exact_total(
    numbers: Ints, groups: tuple[Ints, Bools], data_type: pa.DataType, minus: Bools | None = None
) -> Column:
    """Exact sums: high and low halves are added separately and then combined."""
    starts, some = groups
    if not len(starts):
        return _spread(in_range(numbers[:0], data_type), some, data_type)
    high, low = numbers >> 32, numbers & 0xFFFFFFFF
    if minus is not None:
        high, low = np.where(minus, -high, high), np.where(minus, -low, low)
    highs, lows = np.add.reduceat(high, starts), np.add.reduceat(low, starts)
    highs += lows >> 32
    if ((highs < -(2**31)) | (highs >= 2**31)).any():
        raise _overflow(data_type)
    found = (highs << 32) | (lows & 0xFFFFFFFF)
    return _spread(in_range(found, data_type), some, data_type)


# ---------------------------------------------------------------- products record by record

_ProductStep: TypeAlias = Callable[[_Number, _Number, bool], _Number | None]


def _walked_product(column: Column, steps: Steps, work: _ProductStep) -> Column:
    """Products record by record, for divisions and numbers that may overflow."""
    known = [value if isinstance(value, _NUMBERS) else 0 for value in nb.as_python(column)]
    found: list[_Number | None] = []
    for group in steps_by_key(steps):
        value: _Number | None = None
        for step, row in group:
            taken = step is Step.RETRACT
            if value is not None:
                value = work(value, known[row], taken)
            elif not taken:
                value = known[row]
        found.append(value)
    return pa.array(found, column.type)


def _plain_step(data_type: pa.DataType) -> _ProductStep:
    return _float_step(data_type) if pat.is_floating(data_type) else _integer_step(data_type)


def _integer_step(data_type: pa.DataType) -> _ProductStep:
    limits = np.iinfo(f"i{data_type.bit_width // 8}")

    def work(value: _Number, other: _Number, divide: bool) -> int:  # noqa: FBT001 # a step's kind
        left, right = int(value), int(other)
        if divide and not right:
            raise _no_division()
        found = left * right
        if divide:
            found = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        if not limits.min <= found <= limits.max:
            raise _overflow(data_type)
        return found

    return work


def _float_step(data_type: pa.DataType) -> _ProductStep:
    number = np.float32 if pat.is_float32(data_type) else np.float64

    def work(value: _Number, other: _Number, divide: bool) -> float:  # noqa: FBT001 # a step's kind
        with np.errstate(all="ignore"):
            left, right = number(value), number(other)
            return float(left / right if divide else left * right)

    return work


def _decimal_step(data_type: pa.DataType) -> _ProductStep:
    unit = Decimal(1).scaleb(-scale_of(data_type))
    limit = Decimal(10) ** (precision_of(data_type) - scale_of(data_type))

    def work(value: _Number, other: _Number, divide: bool) -> Decimal | None:  # noqa: FBT001 # a step's kind
        left, right = Decimal(value), Decimal(other)
        with localcontext(Context(prec=_DIGITS, rounding=ROUND_HALF_UP)) as context:
            context.traps[Inexact] = divide
            context.traps[InvalidOperation] = context.traps[DivisionByZero] = True
            try:
                found = left / right if divide else left * right
            except (Inexact, InvalidOperation, DivisionByZero) as error:
                raise _no_division() from error
            context.traps[Inexact] = False
            found = found.quantize(unit)
        return found if abs(found) < limit else None

    return work


def _no_division() -> FormatError:
    return FormatError(
        "A value cannot be retracted from the product: the quotient does not fit the column type.",
        hint="Set fields.<column>.ignore-retract = true to ignore deletes and old values.",
    )


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
