"""64-bit hashes of Arrow arrays, for sketches; they are not stored and may change.

Words of eight bytes are mixed as in SplitMix64, all values at once.
"""

import numpy as np
import pyarrow.types as pat
import xxhash

from paimon_explore.data_types.arrow_buffers import (
    WORD_BYTES,
    Bytes,
    Column,
    Ints,
    UInt64s,
    bool_values,
    fixed_values,
    padded,
    unaligned_words,
    var_values,
)

_LONG = 512
"""Size in bytes from which values are hashed one at a time."""
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(WORD_BYTES + 1)], np.uint64)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST_SHIFT = np.uint64(31)
_BLOCK = 16_384


def hash64(values: Column) -> UInt64s:
    """Hash values without nulls; equal values have equal hashes, also 0.0 and -0.0.

    >>> import pyarrow as pa
    >>> a, b, c = hash64(pa.array(["x", "y", "x"]))
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    kind = values.type
    if pat.is_boolean(kind):
        return _mixed(bool_values(values).astype(np.uint64))
    if pat.is_floating(kind):
        numbers = fixed_values(values, f"<f{kind.bit_width // 8}").astype(np.float64) + 0.0
        return _mixed(numbers.view(np.uint64))
    if pat.is_decimal(kind):
        words = fixed_values(values, "V16").view("<u8")
        return _mixed(words[::2] ^ _mixed(words[1::2]))
    if pat.is_primitive(kind):
        return _mixed(fixed_values(values, f"<u{kind.bit_width // 8}").astype(np.uint64))
    return _hashed_bytes(values)


def _hashed_bytes(values: Column) -> UInt64s:
    offsets, data = var_values(values)
    data = data[offsets[0] : offsets[-1]]
    begin, size = offsets[:-1] - offsets[0], np.diff(offsets)
    short = size < _LONG
    if short.all():
        return _hashed_words(begin, size, data)
    found = np.empty(len(size), np.uint64)
    found[short] = _hashed_words(begin[short], size[short], data)
    for row in np.flatnonzero(~short).tolist():
        part = data[begin[row] : begin[row] + size[row]]
        found[row] = xxhash.xxh64_intdigest(part.tobytes())
    return found


def _hashed_words(begin: Ints, size: Ints, data: Bytes) -> UInt64s:
    """Mix the words of each value, first words first."""
    words = unaligned_words(padded(data))
    found = _mixed(size.astype(np.uint64))
    first = np.minimum(size, WORD_BYTES)
    found = _mixed(found ^ (words[begin] & _MASKS[first]))
    rows = np.flatnonzero(size > WORD_BYTES)
    at = WORD_BYTES
    while len(rows):
        rest = np.minimum(size[rows] - at, WORD_BYTES)
        found[rows] = _mixed(found[rows] ^ (words[begin[rows] + at] & _MASKS[rest]))
        at += WORD_BYTES
        rows = rows[size[rows] > at]
    return found


def _mixed(words: UInt64s) -> UInt64s:
    """The output function of SplitMix64; arithmetic wraps around."""
    found = words + _SEED
    spare = np.empty(min(len(found), _BLOCK), np.uint64)
    for start in range(0, len(found), _BLOCK):
        _mix(found[start : start + _BLOCK], spare)
    return found


def _mix(block: UInt64s, spare: UInt64s) -> None:
    """Mix words in place; blocks and what is computed of them fit into the cache."""
    shifted = spare[: len(block)]
    for shift, factor in _ROUNDS:
        np.right_shift(block, shift, out=shifted)
        np.bitwise_xor(block, shifted, out=block)
        np.multiply(block, factor, out=block)
    np.right_shift(block, _LAST_SHIFT, out=shifted)
    np.bitwise_xor(block, shifted, out=block)
