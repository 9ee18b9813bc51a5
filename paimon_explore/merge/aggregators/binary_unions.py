"""The aggregate functions `hll_sketch` and `theta_sketch`: unions of Apache DataSketches.

The optional package `datasketches` reads and writes the same bytes as Java.

The aggregate functions `rbm32` and `rbm64`: unions of roaring bitmaps.
"""

import struct
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
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.merge.aggregation_steps import Step, Steps
from paimon_explore.merge.aggregators.group_reduction import (
    refuse_retract,
    since_reset,
    steps_by_key,
)

try:
    import datasketches as ds
except ImportError:  # the extra "sketches" is not installed
    ds = None

_THETA_LG_K = 12
"""Java's default of 4096 nominal entries."""
_SAMPLING = slice(12, 16)
"""Position of the sampling probability, a float, in theta sketches with several entries."""
_LONG_PREAMBLE = 2


def union_hll(column: Column, steps: Steps) -> Column:
    """The union of HyperLogLog sketches, as compact HLL_4; a single value is unchanged."""
    refuse_retract(steps, "hll_sketch")
    return _united(column, steps, _hll_of_two)


def union_theta(column: Column, steps: Steps) -> Column:
    """The union of theta sketches, compact and ordered; a single value is unchanged."""
    refuse_retract(steps, "theta_sketch")
    return _united(column, steps, _theta_of_two)


def _united(column: Column, steps: Steps, unite: Callable[[bytes, bytes], bytes]) -> Column:
    return united_values(column, steps, (_same, unite, _same))


def _same(value: bytes) -> bytes:
    return value


def _hll_of_two(value: bytes, more: bytes) -> bytes:
    """The union of two HLL sketches; like Java, it adds the older one to the newer one."""
    _need_package()
    try:
        newer, older = ds.hll_sketch.deserialize(more), ds.hll_sketch.deserialize(value)
    except (RuntimeError, ValueError, IndexError) as error:
        raise FormatError(f"A value cannot be decoded as an HLL sketch: {error}.") from error
    union = ds.hll_union(newer.lg_config_k)
    union.update(newer)
    union.update(older)
    image: bytes = union.get_result(ds.tgt_hll_type.HLL_4).serialize_compact()
    return image


def _theta_of_two(value: bytes, more: bytes) -> bytes:
    _need_package()
    union = ds.theta_union(_THETA_LG_K)
    try:
        union.update(ds.compact_theta_sketch.deserialize(value))
        union.update(ds.compact_theta_sketch.deserialize(more))
    except (RuntimeError, ValueError, IndexError) as error:
        raise FormatError(f"A value cannot be decoded as a theta sketch: {error}.") from error
    image = bytearray(union.get_result().serialize())
    if image[0] & 0x3F >= _LONG_PREAMBLE:
        image[_SAMPLING] = struct.pack("<f", 1.0)  # Java says 1, the package leaves zeros
    return bytes(image)


def _need_package() -> None:
    if ds is None:
        raise UnsupportedFeatureError(
            "the union of sketches without the package datasketches",
            hint="Run: pip install 'paimon-explore[sketches]'.",
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
