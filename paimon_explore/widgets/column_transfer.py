"""Packs numeric columns into one buffer, which `frontend/src/channel.js` reads."""

from collections.abc import Mapping

import numpy as np

from paimon_explore.data_types.arrow_buffers import Numbers

ColumnSpec = tuple[str, str, int, int]
"""A packed column: name, type, offset in bytes and number of values."""

_ALIGNMENT = 8
_TYPES: dict[str, type[np.generic]] = {
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}


def pack_columns(columns: Mapping[str, Numbers]) -> tuple[list[ColumnSpec], bytes]:
    """Pack columns little-endian, each in the narrowest sufficient type and aligned to 8 bytes.

    Integers beyond 32 bits are sent as doubles, the number type of browsers; above 2^53 they lose
    precision.

    >>> pack_columns({"a": np.array([1, 2]), "b": np.array([70000])})[0]
    [('a', 'u8', 0, 2), ('b', 'u32', 8, 1)]
    """
    specs: list[ColumnSpec] = []
    parts: list[bytes] = []
    offset = 0
    for name, values in columns.items():
        kind = _narrowest(values)
        dtype = np.dtype(_TYPES.get(kind, np.float64)).newbyteorder("<")
        data = np.ascontiguousarray(values, dtype).tobytes()
        padding = -len(data) % _ALIGNMENT
        specs.append((name, kind, offset, len(values)))
        parts += [data, bytes(padding)]
        offset += len(data) + padding
    return specs, b"".join(parts)


def _narrowest(values: Numbers) -> str:
    if not np.issubdtype(values.dtype, np.integer):
        return "f64"
    if not len(values):
        return "u8"
    low, high = int(values.min()), int(values.max())
    for kind, numpy_type in _TYPES.items():
        limits = np.iinfo(numpy_type)  # type: ignore[type-var]  # integer types only
        if limits.min <= low and high <= limits.max:
            return kind
    return "f64"
