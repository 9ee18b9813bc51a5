"""Decoder of INT96 timestamps: nanoseconds of the day (int64), Julian day (int32), little-endian.

The Java writer truncates negative milliseconds toward zero, so the nanoseconds of a timestamp
before 1970 may be negative. Arrow's decoder wraps around outside 1677 to 2262; this one raises
an error.

Seen in: golden java200/ts9_negative.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_bytes, build_fixed, valid_mask
from paimon_explore.errors import UnsupportedFeatureError

WIDTH = 12
"""Bytes per value."""

_EPOCH_JULIAN_DAY = 2_440_588
_NANOS: Mapping[str, int] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NANOS_PER_DAY = 86_400 * 10**9
_INT64_MAX = 2**63 - 1


def decode_int96(array: Column, target: pa.DataType, *, where: str) -> Column:
    """Decode 12-byte fixed-length binaries to timestamps.

    Args:
        array: n values, type fixed_size_binary(12).
        target: the timestamp type of the result; finer fractions are rounded down.
        where: file and column, for errors.

    Raises:
        UnsupportedFeatureError: a timestamp is out of range for the target type.

    >>> raw = (0).to_bytes(8, "little") + (2440589).to_bytes(4, "little")
    >>> decode_int96(pa.array([raw], pa.binary(12)), pa.timestamp("ms"), where="t")[0].value
    86400000
    """
    assert isinstance(target, pa.TimestampType)  # noqa: S101 - ensured by callers
    start = array.offset * WIDTH
    raw = as_bytes(array.buffers()[1])[start : start + len(array) * WIDTH].reshape(-1, WIDTH)
    valid = valid_mask(array)
    nanos = np.where(valid, np.ascontiguousarray(raw[:, :8]).view("<i8").reshape(-1), 0)
    julian = np.ascontiguousarray(raw[:, 8:]).view("<i4").reshape(-1).astype(np.int64)
    days = np.where(valid, julian - _EPOCH_JULIAN_DAY, 0)
    per_unit = _NANOS[target.unit]
    per_day = _NANOS_PER_DAY // per_unit
    fraction = nanos // per_unit
    # a day of slack each way keeps the product and the sum within 64 bits
    limit = _INT64_MAX // per_day - 1
    if bool(np.any(np.abs(days) > limit)) or bool(np.any(np.abs(fraction) > per_day)):
        raise UnsupportedFeatureError(
            f"A timestamp out of range for Arrow's {target}", where, hint=_COARSER
        )
    return build_fixed(target, days * per_day + fraction, valid)


_COARSER = "Read the column as a timestamp of a lower precision."
