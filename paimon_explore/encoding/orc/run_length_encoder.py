"""Encoder of ORC's integer run-length encoding (version 2), and compression of streams.

Only DIRECT runs are written: up to 512 values of one width, in whole bytes.

Spec: ORC specification v1, run length encoding and compression.
"""

import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints

_RUN = 512
_DIRECT = 0b01 << 6
_WIDTH_CODES = {1: 7, 2: 15, 3: 23, 4: 27, 5: 28, 6: 29, 7: 30, 8: 31}
"""Encoded width by the number of bytes per value."""
_NONE, _ZLIB = 0, 1
_CODECS = {2: "snappy", 4: "lz4_raw", 5: "zstd"}
_RAW_DEFLATE = -15
_CHUNK_HEADER = 3


def encode_runs(values: Ints, *, signed: bool) -> bytes:
    """Encode integers as runs.

    Args:
        values: n integers.
        signed: whether the column is signed; values are then zigzag encoded.

    >>> encode_runs(np.array([23713, 43806, 57005, 48879]), signed=False).hex(" ")
    '5e 03 5c a1 ab 1e de ad be ef'
    """
    plain = values.astype(np.int64)
    numbers = ((plain << 1) ^ (plain >> 63) if signed else plain).view(np.uint64)
    runs = [numbers[first : first + _RUN] for first in range(0, len(numbers), _RUN)]
    return b"".join(_run(run) for run in runs)


def _run(values: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> bytes:
    width = max(1, (int(values.max()).bit_length() + 7) // 8)
    left = len(values) - 1
    head = bytes([_DIRECT | _WIDTH_CODES[width] << 1 | left >> 8, left & 0xFF])
    return head + values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :].tobytes()


def compressor(kind: int, block: int) -> Callable[[bytes], bytes]:
    """Return a function that compresses a stream or a footer.

    Args:
        kind: the compression kind of the postscript.
        block: bytes of a chunk before compression.
    """

    def compressed(data: bytes) -> bytes:
        parts = [data[first : first + block] for first in range(0, len(data), block)]
        return b"".join(_chunk(kind, part) for part in parts)

    return (lambda data: data) if kind == _NONE else compressed


def _chunk(kind: int, data: bytes) -> bytes:
    small = _deflated(data) if kind == _ZLIB else _squeezed(kind, data)
    is_original = len(small) >= len(data)
    content = data if is_original else small
    return (len(content) << 1 | is_original).to_bytes(_CHUNK_HEADER, "little") + content


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=_RAW_DEFLATE)
    return packer.compress(data) + packer.flush()


def _squeezed(kind: int, data: bytes) -> bytes:
    codec = _CODECS.get(kind)
    if codec is None:
        return data
    packed: bytes = pa.compress(data, codec=codec, asbytes=True)  # type: ignore[call-overload]  # names of codecs
    return packed
