"""The aggregate functions `rbm32` and `rbm64`: unions of roaring bitmaps."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.roaring_bitmap import (
    decode_bitmap,
    decode_wide,
    encode_bitmap,
    encode_wide,
    united,
)
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.group_reduction import (
    refuse_retract,
    since_reset,
    steps_by_key,
)

T = TypeVar("T")


def union_32(column: Column, steps: Steps) -> Column:
    """The union of 32-bit bitmaps in the portable format; a single value is unchanged."""
    refuse_retract(steps, "rbm32")
    decode = partial(decode_bitmap, path="")
    return united_values(column, steps, (decode, lambda one, two: one | two, encode_bitmap))


def union_64(column: Column, steps: Steps) -> Column:
    """The union of Java's 64-bit bitmaps; a single value is unchanged."""
    refuse_retract(steps, "rbm64")
    return united_values(column, steps, (partial(decode_wide, path=""), united, encode_wide))


def united_values(
    column: Column,
    steps: Steps,
    work: tuple[Callable[[bytes], T], Callable[[T, T], T], Callable[[T], bytes]],
) -> Column:
    """Unites the values of each key, one after another; nulls are ignored.

    Args:
        column: byte strings.
        steps: the steps of each key.
        work: functions to decode a value, unite two values, and encode the result.
    """
    decode, unite, encode = work
    values = nb.as_python(column)
    found: list[bytes | None] = []
    for group in steps_by_key(since_reset(steps)):
        parts: list[bytes] = []
        for step, row in group:
            value = values[row]
            if isinstance(value, bytes):
                parts.insert(0 if step is Step.ADD_REVERSED else len(parts), value)
        if len(parts) < 2:  # noqa: PLR2004 # nothing to unite
            found.append(parts[0] if parts else None)
            continue
        united_ = decode(parts[0])
        for part in parts[1:]:
            united_ = unite(united_, decode(part))
        found.append(encode(united_))
    return pa.array(found, column.type)
