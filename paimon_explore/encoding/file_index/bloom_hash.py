"""The 64-bit hashes of bloom filters.

Text and binary values have xxHash64 with seed 0. Numbers have Thomas Wang's integer mix, with right
shifts that keep the sign, as Java 0.9.0 computes it.
"""

import numpy as np
import xxhash

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Ints


def mix(numbers: Ints) -> Ints:
    """The hashes of numbers, n signed 64-bit integers; arithmetic wraps around."""
    key: Ints = ~numbers + (numbers << 21)
    key ^= key >> 24
    key += (key << 3) + (key << 8)
    key ^= key >> 14
    key += (key << 2) + (key << 4)
    key ^= key >> 28
    key += key << 31
    return key


def hash_text(text: bytes) -> int:
    """The hash of a byte string, signed.

    >>> hash_text(b"paimon")
    615975309333239268
    """
    unsigned = xxhash.xxh64_intdigest(text)
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned


def hash_texts(column: nb.Column) -> Ints:
    """The hashes of the values of a string or binary column that are not null.

    One call per value: xxHash has no way to take many at once.
    """
    offsets, data = nb.var_values(column)
    whole = memoryview(data.tobytes())
    ends = offsets.tolist()
    rows = np.nonzero(nb.valid_mask(column))[0].tolist()
    found = (xxhash.xxh64_intdigest(whole[ends[row] : ends[row + 1]]) for row in rows)
    return np.fromiter(found, np.uint64, len(rows)).view(np.int64)
