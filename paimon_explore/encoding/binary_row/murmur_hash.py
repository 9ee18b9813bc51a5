"""Hash of binary rows: 32-bit Murmur3 with Paimon's treatment of trailing bytes.

Spec: concepts/spec/datafile, bucket section. Check values come from Java 0.9.0 and 2.0.0.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb

Hashes = npt.NDArray[np.int32]
_UInt32s = npt.NDArray[np.uint32]

_SEED = 42
_C1 = np.uint32(0xCC9E2D51)
_C2 = np.uint32(0x1B873593)
_BLOCK = 4


def hash_rows(rows: pa.BinaryArray) -> Hashes:
    """Hash rows or other byte strings; null is hashed as an empty string.

    Trailing bytes after the last multiple of 4 are mixed in one by one, as signed numbers.

    Args:
        rows: n byte strings; rows are without arity.

    Returns:
        n signed hashes.

    >>> hash_rows(pa.array([b"paimon"])).tolist()
    [-1594584418]
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


def _hash_equal_sizes(data: nb.Bytes, starts: nb.Ints, size: int) -> Hashes:
    state: _UInt32s = np.full(len(starts), _SEED, np.uint32)
    whole = size - size % _BLOCK
    if whole:
        blocks = np.ndarray((len(data) - _BLOCK + 1,), "<u4", buffer=data, strides=(1,))
        for step in range(0, whole, _BLOCK):
            state = _mix(state, blocks[starts + step])
    for step in range(whole, size):
        state = _mix(state, data[starts + step].view(np.int8).astype(np.int32).view(np.uint32))
    return _finalize(state, size).view(np.int32)


def _mix(state: _UInt32s, block: _UInt32s) -> _UInt32s:
    block = _rotate_left(block * _C1, 15) * _C2
    return _rotate_left(state ^ block, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _rotate_left(values: _UInt32s, count: int) -> _UInt32s:
    return (values << np.uint32(count)) | (values >> np.uint32(32 - count))


def _finalize(state: _UInt32s, size: int) -> _UInt32s:
    state = state ^ np.uint32(size)
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return state ^ (state >> np.uint32(16))
