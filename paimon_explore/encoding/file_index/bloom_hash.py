"""64-bit hash functions of bloom filters.

Text and binary values use xxHash64 with seed 0; numbers use Thomas Wang's integer hash with
arithmetic right shifts, as in Java 0.9.0.
"""

import numpy as np
import xxhash

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Ints


def mix(numbers: Ints) -> Ints:
    """Hash n signed 64-bit integers; arithmetic wraps around."""
    key: Ints = ~numbers + (numbers << 21)
    key ^= key >> 24
    key += (key << 3) + (key << 8)
    key ^= key >> 14
    key += (key << 2) + (key << 4)
    key ^= key >> 28
    key += key << 31
    return key


def hash_text(text: bytes) -> int:
    """Hash a byte string to a signed integer.

    >>> hash_text(b"paimon")
    615975309333239268
    """
    unsigned = xxhash.xxh64_intdigest(text)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def hash_texts(column: nb.Column) -> Ints:
    """Hash the non-null values of a string or binary column.

    One call per value, as xxHash has no batch function.
    """
    offsets, data = nb.var_values(column)
    whole = memoryview(data.tobytes())
    ends = offsets.tolist()
    rows = np.nonzero(nb.valid_mask(column))[0].tolist()
    found = (xxhash.xxh64_intdigest(whole[ends[row] : ends[row + 1]]) for row in rows)
    return np.fromiter(found, np.uint64, len(rows)).view(np.int64)
