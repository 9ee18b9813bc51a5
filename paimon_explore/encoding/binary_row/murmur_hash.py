"""The hash of binary rows: 32-bit Murmur3 with Paimon's own treatment of trailing bytes.

Spec: concepts/spec/datafile, bucket section. Check values come from Java 0.9.0 and 2.0.0.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb

Hashes = npt.NDArray[np.int32]
_Halves = npt.NDArray[np.uint32]

_SEED = 42
_C1 = np.uint32(0xCC9E2D51)
_C2 = np.uint32(0x1B873593)
_HALF = 4


def hash_rows(rows: pa.BinaryArray) -> Hashes:
    """The hash of each row image or other byte string; of null it is the hash of no bytes.

    Args:
        rows: n byte strings; row images come without arity.

    Returns:
        n signed hashes. Trailing bytes that fill no 4 are mixed in one by one, as signed numbers.
    """
    offsets, data = nb.var_values(rows)
    sizes = np.where(nb.valid_mask(rows), np.diff(offsets), 0)
    if len(sizes) and (sizes == sizes[0]).all():
        return _hash_equal_sizes(data, offsets[:-1], int(sizes[0]))
    hashes = np.empty(len(rows), np.int32)
    for size in np.unique(sizes).tolist():
        group = np.nonzero(sizes == size)[0]
        hashes[group] = _hash_equal_sizes(data, offsets[:-1][group], size)
    return hashes


def hash_bytes(data: bytes) -> int:
    """The hash of one byte string.

    >>> hash_bytes(b"paimon")
    -1594584418
    """
    return int(
        _hash_equal_sizes(np.frombuffer(data, np.uint8), np.zeros(1, np.int64), len(data))[0]
    )


def _hash_equal_sizes(data: nb.Bytes, starts: nb.Ints, size: int) -> Hashes:
    state: _Halves = np.full(len(starts), _SEED, np.uint32)
    whole = size - size % _HALF
    if whole:
        halves = np.ndarray((len(data) - _HALF + 1,), "<u4", buffer=data, strides=(1,))
        for step in range(0, whole, _HALF):
            state = _mixed(state, halves[starts + step])
    for step in range(whole, size):
        state = _mixed(state, data[starts + step].view(np.int8).astype(np.int32).view(np.uint32))
    return _finished(state, size).view(np.int32)


def _mixed(state: _Halves, block: _Halves) -> _Halves:
    block = _rotated(block * _C1, 15) * _C2
    return _rotated(state ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _rotated(values: _Halves, count: int) -> _Halves:
    return (values << np.uint32(count)) | (values >> np.uint32(32 - count))


def _finished(state: _Halves, size: int) -> _Halves:
    state = state ^ np.uint32(size)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return state ^ (state >> np.uint32(16))
