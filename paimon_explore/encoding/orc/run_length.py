"""ORC's run-length encoding of integers, and compression of streams.

All runs of both versions are read. Only DIRECT runs of version 2 are written: up to 512 values of
one width, in whole bytes.

Spec: ORC specification v1, run length encoding and compression.
"""

import zlib
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.orc.protobuf import ProtobufError, varint_at

Unsigned = np.ndarray[tuple[int], np.dtype[np.uint64]]
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


def _run(values: Unsigned) -> bytes:
    width = max(1, (int(values.max()).bit_length() + 7) // 8)
    left = len(values) - 1
    head = bytes([_DIRECT | _WIDTH_CODES[width] << 1 | left >> 8, left & 0xFF])
    return head + values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :].tobytes()


_WIDTHS = (*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64)
"""Bits per value by encoded width."""
_SHORT_REPEAT, _DIRECT_RUN, _PATCHED_BASE = 0, 1, 2
_LITERALS = 0x80


def decode_runs(data: bytes, count: int, *, version: int) -> Ints:
    """Decode unsigned integers.

    Args:
        data: runs; what follows the last integer is ignored.
        count: number of integers to decode.
        version: of the encoding, 1 or 2.

    Raises:
        ProtobufError: the runs end before `count` integers.

    >>> decode_runs(bytes.fromhex("5e035ca1ab1edeadbeef0a2710"), 9, version=2)
    array([23713, 43806, 57005, 48879, 10000, 10000, 10000, 10000, 10000])
    """
    runs, at, found = [], 0, 0
    while found < count:
        if at >= len(data):
            raise ProtobufError(f"{count} integers are required, but the runs have only {found}")
        try:
            run, at = (_run_of_bytes if version == 1 else _run_of_bits)(data, at)
        except (IndexError, ValueError, OverflowError) as error:
            raise ProtobufError(f"the run at byte {at} is truncated") from error
        runs.append(run)
        found += len(run)
    whole = np.concatenate(runs)[:count] if runs else np.zeros(0, np.uint64)
    return whole.view(np.int64)


def _run_of_bytes(data: bytes, at: int) -> tuple[Unsigned, int]:
    """Decode a run of version 1: values with a common difference, or literals."""
    control, at = data[at], at + 1
    if control < _LITERALS:
        delta = int.from_bytes(data[at : at + 1], "little", signed=True)
        base, at = varint_at(data, at + 1)
        return _sums(base, np.full(control + 2, delta, np.int64)), at
    literals = []
    for _ in range(2 * _LITERALS - control):
        value, at = varint_at(data, at)
        literals.append(value)
    return np.array(literals, np.uint64), at


def _run_of_bits(data: bytes, at: int) -> tuple[Unsigned, int]:
    """Decode a run of version 2."""
    first = data[at]
    kind, code = first >> 6, first >> 1 & 31
    if kind == _SHORT_REPEAT:
        size = (first >> 3 & 7) + 1
        value = int.from_bytes(_bytes(data, at + 1, size), "big")
        return np.full((first & 7) + 3, value, np.uint64), at + 1 + size
    count, at = ((first & 1) << 8 | data[at + 1]) + 1, at + 2
    if kind == _DIRECT_RUN:
        return _packed(data, at, _WIDTHS[code], count)
    if kind == _PATCHED_BASE:
        return _patched(data, at, _WIDTHS[code], count)
    base, at = varint_at(data, at)
    zigzag, at = varint_at(data, at)
    delta = zigzag >> 1 ^ -(zigzag & 1)
    if not code:
        return _sums(base, np.full(count - 1, delta, np.int64)), at
    deltas, at = _packed(data, at, _WIDTHS[code], count - 2)
    signed = deltas.view(np.int64) * (-1 if delta < 0 else 1)
    return _sums(base, np.concatenate([[delta], signed])), at


def _patched(data: bytes, at: int, width: int, count: int) -> tuple[Unsigned, int]:
    """Decode a run whose values are added to a base, and some of which have more bits."""
    size, patch_width = (data[at] >> 5) + 1, _WIDTHS[data[at] & 31]
    gap_width, patches = (data[at + 1] >> 5) + 1, data[at + 1] & 31
    base = int.from_bytes(_bytes(data, at + 2, size), "big")
    sign = 1 << size * 8 - 1
    values, at = _packed(data, at + 2 + size, width, count)
    entry_width = next(w for w in _WIDTHS if w >= min(gap_width + patch_width, 64))
    entries, at = _packed(data, at, entry_width, patches)
    places = np.cumsum(entries >> np.uint64(patch_width))
    high = entries & np.uint64((1 << patch_width) - 1)
    values[places] |= high << np.uint64(width)
    return values + np.int64(sign - base if base & sign else base).view(np.uint64), at


def _packed(data: bytes, at: int, width: int, count: int) -> tuple[Unsigned, int]:
    """Decode bit-packed integers, the highest bit first."""
    size = (width * count + 7) // 8
    bits = np.unpackbits(np.frombuffer(_bytes(data, at, size), np.uint8), count=width * count)
    eight = np.zeros((count, 64), np.uint8)
    eight[:, 64 - width :] = bits.reshape(count, width)
    return np.packbits(eight, axis=1).view(">u8").reshape(-1).astype(np.uint64), at + size


def _sums(base: int, deltas: Ints) -> Unsigned:
    return np.cumsum(np.concatenate([[np.uint64(base).view(np.int64)], deltas])).view(np.uint64)


def _bytes(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise IndexError
    return data[at : at + size]


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
