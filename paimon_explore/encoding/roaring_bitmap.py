"""Roaring bitmaps, in the portable format and in that of Java's `Roaring64Bitmap`.

The portable format. The bitmap library does not validate its input: a wrong cardinality would make
it write out of bounds later. So every container is validated here first. This also determines the
end of a bitmap, which formats with consecutive bitmaps do not store.

Layout (all integers are little-endian): cookie, [run flags], key and cardinality - 1 of each
container, [offset of each container], containers. A container is an array of 16-bit numbers, a
bitset of 8192 bytes, or runs.

Spec: https://github.com/RoaringBitmap/RoaringFormatSpec.

Java's `Roaring64Bitmap` format of `rbm64` values: a radix tree of 16-bit containers.

It differs from the portable 64-bit format of other languages (that of `Roaring64NavigableMap`).

Layout, little-endian except keys: byte 0 for an empty bitmap, else byte 1, int64 number of keys,
the tree, the containers.
Tree, parents first: byte kind (0-3: up to 4, 16, 48, 256 children; 4: leaf), int16 children, byte
length of the common prefix, the prefix, then the node: of kinds 0 and 1 the children's key bytes in
ascending order, stored from the end within each 4 or 8 bytes; of kind 2 256 bytes with the
index of each child (255: none), of kind 3 256 bits; and the children in ascending order. A leaf has
the high 48 bits of its numbers, big-endian, and the index of its container as int64.
Containers: int32 number of arrays, for each array byte -2 and int32 slots; a slot is byte 0, or
byte 1, byte kind (0 runs, 1 bitset, 2 array), int32 cardinality and the content. Then int64
number of containers, int32 last array, int32 last slot.

Seen in: golden java200/me_agg_more_aggregation.
"""

import struct
from itertools import groupby
from typing import NoReturn

import numpy as np
from pyroaring import BitMap, BitMap64

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bools, Bytes, Ints
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

_COOKIE = 0x303A
_RUN_COOKIE = 0x303B
_OFFSETS_FROM = 4
"""Minimum number of containers for which offsets are stored if there are run containers."""
_ARRAY_MAX = 4096
_BITSET_BYTES = 8192
_SPACE = 1 << 16


class BitmapReader:
    """Reads consecutive bitmaps from bytes.

    Attributes:
        data: the bytes.
        position: start of the next bitmap.
    """

    def __init__(self, data: bytes, path: str, position: int = 0) -> None:
        self.data = data
        self.position = position
        self._path = path
        self._view: Bytes = np.frombuffer(data, np.uint8)

    def take(self) -> BitMap:
        """Read the next bitmap.

        Raises:
            CorruptFileError: the bitmap is damaged.
        """
        start = self.position
        self._check(start)
        try:
            return BitMap.deserialize(self.data[start : self.position])
        except ValueError as error:
            self._fail(start, "cannot be decoded as a roaring bitmap", error)

    def take_wide(self) -> BitMap64:
        """Read the next 64-bit bitmap: a count, then each high half with its bitmap."""
        start = self.position
        count = int(self._numbers(start, 1, "<i8")[0])
        self.position += 8
        last = -1
        if count < 0:
            self._fail(start, "the number of bitmaps must not be negative")
        for _ in range(count):
            key = int(self._numbers(self.position, 1, "<u4")[0])
            if key <= last:
                self._fail(
                    self.position, "the high 32 bits of the bitmaps must be in ascending order"
                )
            last = key
            self.position += 4
            self._check(self.position)
        try:
            return BitMap64.deserialize(self.data[start : self.position])
        except ValueError as error:
            self._fail(start, "cannot be decoded as a roaring bitmap", error)

    def _fail(self, position: int, rule: str, cause: Exception | None = None) -> NoReturn:
        raise CorruptFileError(self._path, f"bitmap at byte {position}", rule) from cause

    def _numbers(self, position: int, count: int, dtype: str) -> Ints:
        size = count * np.dtype(dtype).itemsize
        part = self._view[position : position + size]
        if len(part) != size:
            self._fail(position, "extends beyond the end of the file")
        return part.view(dtype).astype(np.int64)

    def _check(self, start: int) -> None:
        """Validate the bitmap at `start` and move to its end."""
        count, runs, self.position = self._head(start)
        header = self._numbers(self.position, 2 * count, "<u2")
        self.position += 4 * count
        keys, cardinalities = header[::2], header[1::2] + 1
        if (np.diff(keys) <= 0).any():
            self._fail(start, "container keys must be in ascending order")
        if runs is None or count >= _OFFSETS_FROM:
            self.position += 4 * count
        for index, cardinality in enumerate(cardinalities.tolist()):
            if runs is not None and runs[index]:
                self._check_runs(cardinality)
            elif cardinality <= _ARRAY_MAX:
                self._check_array(cardinality)
            else:
                self._check_bitset(cardinality)

    def _head(self, start: int) -> tuple[int, Bools | None, int]:
        """Read the head: number of containers, run flags (None if absent), and its end."""
        cookie = int(self._numbers(start, 1, "<u4")[0])
        if cookie & 0xFFFF == _RUN_COOKIE:
            count = (cookie >> 16) + 1
            size = (count + 7) // 8
            flags = self._numbers(start + 4, size, "u1").astype(np.uint8)
            return count, nb.bits_of(flags, 0, count), start + 4 + size
        if cookie != _COOKIE:
            self._fail(
                start, f"the cookie must be {_COOKIE:#x} or {_RUN_COOKIE:#x}, not {cookie:#x}"
            )
        count = int(self._numbers(start + 4, 1, "<u4")[0])
        if count > _SPACE:
            self._fail(start, f"must have at most {_SPACE} containers")
        return count, None, start + 8

    def _check_array(self, cardinality: int) -> None:
        values = self._numbers(self.position, cardinality, "<u2")
        if (np.diff(values) <= 0).any():
            self._fail(self.position, "the values of an array container must be in ascending order")
        self.position += 2 * cardinality

    def _check_bitset(self, cardinality: int) -> None:
        part = self._view[self.position : self.position + _BITSET_BYTES]
        if len(part) != _BITSET_BYTES:
            self._fail(self.position, "extends beyond the end of the file")
        if int.from_bytes(part.tobytes()).bit_count() != cardinality:
            self._fail(
                self.position, f"a bitset must have {cardinality} bits set, as stated in the header"
            )
        self.position += _BITSET_BYTES

    def _check_runs(self, cardinality: int) -> None:
        count = int(self._numbers(self.position, 1, "<u2")[0])
        runs = self._numbers(self.position + 2, 2 * count, "<u2")
        first, last = runs[::2], runs[::2] + runs[1::2]
        if (first[1:] <= last[:-1]).any() or (last >= _SPACE).any():
            self._fail(self.position, "runs must be in ascending order within their container")
        if int((last - first + 1).sum()) != cardinality:
            self._fail(
                self.position, f"the runs must have {cardinality} values, as stated in the header"
            )
        self.position += 2 + 4 * count


def decode_bitmap(data: bytes, path: str) -> BitMap:
    """Decode the bitmap at the start of the bytes; following bytes are ignored.

    Raises:
        CorruptFileError: the bitmap is damaged.
    """
    return BitmapReader(data, path).take()


def encode_bitmap(bitmap: BitMap) -> bytes:
    """Encode a bitmap as Java does, with run containers where they are shorter."""
    best = bitmap.copy()
    best.run_optimize()
    return best.serialize()


_LEAF = 4
_KEY_BYTES = 6
_NODE_BODY = (4, 16, 256, 32)
_NODE_CHILDREN = (4, 16, 48, 256)
_RUNS, _BITSET, _ARRAY = 0, 1, 2
_MAX_DEPTH = 7
_NOT_TRIMMED = 0xFE


@dataclass(frozen=True, slots=True)
class WideBitmap:
    """A set of 64-bit numbers.

    Attributes:
        containers: the low 16 bits by the high 48 bits, in the order of Java's container array.
        slots: capacity of Java's container array.
    """

    containers: dict[bytes, BitMap]
    slots: int


def decode_wide(data: bytes, path: str) -> WideBitmap:
    """Decode the bitmap of a value.

    Raises:
        CorruptFileError: the bytes violate the layout.
    """
    reader = _Reader(data, path)
    if reader.byte() == 0:
        return WideBitmap({}, 0)
    count = reader.number("<q", 8)
    leaves: list[tuple[bytes, int]] = []
    _read_node(reader, leaves, 0)
    if len(leaves) != count:
        reader.fail("the number of leaves must match the number of keys")
    containers = _read_containers(reader)
    found = {}
    for key, place in sorted(leaves, key=lambda leaf: leaf[1]):
        if not 0 <= place < len(containers) or containers[place] is None:
            reader.fail("every leaf must have a container")
        found[key] = containers[place] or BitMap()
    return WideBitmap(found, len(containers))


def united(first: WideBitmap, second: WideBitmap) -> WideBitmap:
    """Return the union, stored as Java does: new containers are appended in the order of keys."""
    found = dict(first.containers)
    slots = first.slots
    for key in sorted(second.containers):
        if key in found:
            found[key] = found[key] | second.containers[key]
            continue
        found[key] = second.containers[key]
        if len(found) > slots:
            slots = max(slots + slots // 2, len(found))
    return WideBitmap(found, slots)


def encode_wide(bitmap: WideBitmap) -> bytes:
    """Encode a bitmap, with run containers where they are shorter."""
    if not bitmap.containers:
        return b"\0"
    leaves = sorted((key, place) for place, key in enumerate(bitmap.containers))
    parts = [b"\1", struct.pack("<q", len(leaves))]
    _write_node(leaves, 0, parts)
    parts.append(struct.pack("<iBi", 1, _NOT_TRIMMED, bitmap.slots))
    parts.extend(b"\1" + _container_bytes(values) for values in bitmap.containers.values())
    parts.append(b"\0" * (bitmap.slots - len(leaves)))
    parts.append(struct.pack("<qii", len(leaves), 0, len(leaves) - 1))
    return b"".join(parts)


class _Reader:
    """Bounds-checked reader of consecutive values."""

    def __init__(self, data: bytes, path: str) -> None:
        self._data = data
        self._path = path
        self._at = 0

    def fail(self, rule: str) -> NoReturn:
        raise CorruptFileError(self._path, f"64-bit bitmap at byte {self._at}", rule)

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if size < 0 or len(part) != size:
            self.fail("extends beyond the end of the data")
        self._at += size
        return part

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self, layout: str, size: int) -> int:
        return int(struct.unpack(layout, self.take(size))[0])


# ---------------------------------------------------------------- tree


def _read_node(reader: _Reader, leaves: list[tuple[bytes, int]], depth: int) -> None:
    kind = reader.byte()
    children = reader.number("<h", 2)
    reader.take(reader.byte())
    if kind == _LEAF:
        leaves.append((reader.take(_KEY_BYTES), reader.number("<q", 8)))
        return
    if kind > _LEAF:
        reader.fail(f"the node type {kind} is unknown")
    if depth >= _MAX_DEPTH:
        reader.fail(f"the tree must have at most {_MAX_DEPTH} levels above its leaves")
    if not 0 < children <= _NODE_CHILDREN[kind]:
        reader.fail(f"a node must have 1 to {_NODE_CHILDREN[kind]} children, not {children}")
    reader.take(_NODE_BODY[kind])
    for _ in range(children):
        _read_node(reader, leaves, depth + 1)


def _write_node(leaves: list[tuple[bytes, int]], depth: int, parts: list[bytes]) -> None:
    if len(leaves) == 1:
        key, place = leaves[0]
        parts.append(struct.pack("<BhB", _LEAF, 0, 0) + key + struct.pack("<q", place))
        return
    low, high = leaves[0][0], leaves[-1][0]
    split = next(at for at in range(depth, _KEY_BYTES) if low[at] != high[at])
    children = [(byte, list(part)) for byte, part in groupby(leaves, lambda leaf: leaf[0][split])]
    kind = next(at for at, capacity in enumerate(_NODE_CHILDREN) if len(children) <= capacity)
    prefix = low[depth:split]
    head = struct.pack("<BhB", kind, len(children), len(prefix)) + prefix
    parts.append(head + _node_body(kind, [byte for byte, _ in children]))
    for _, part in children:
        _write_node(part, split + 1, parts)


def _node_body(kind: int, keys: list[int]) -> bytes:
    if kind == 0:
        return bytes(keys).ljust(4, b"\0")[::-1]
    if kind == 1:
        body = bytes(keys).ljust(16, b"\0")
        return body[7::-1] + body[:7:-1]
    if kind == 2:  # noqa: PLR2004 # the kind's number in the layout
        places = np.full(256, 255, np.uint8)
        places[keys] = np.arange(len(keys))
        return places.reshape(32, 8)[:, ::-1].tobytes()
    bits = np.zeros(256, np.bool_)
    bits[keys] = True
    return np.packbits(bits, bitorder="little").tobytes()


# ---------------------------------------------------------------- containers


def _read_containers(reader: _Reader) -> list[BitMap | None]:
    found: list[BitMap | None] = []
    arrays = reader.number("<i", 4)
    if arrays != 1:
        reader.fail(f"the number of container arrays must be 1, not {arrays}")
    reader.byte()
    slots = reader.number("<i", 4)
    for _ in range(slots):
        there = reader.byte()
        found.append(_read_container(reader) if there else None)
    reader.take(16)
    return found


def _read_container(reader: _Reader) -> BitMap:
    kind = reader.byte()
    cardinality = reader.number("<i", 4)
    if kind == _ARRAY:
        return BitMap(np.frombuffer(reader.take(2 * cardinality), "<u2").tolist())
    if kind == _BITSET:
        bits = np.unpackbits(np.frombuffer(reader.take(_BITSET_BYTES), np.uint8), bitorder="little")
        return BitMap(np.flatnonzero(bits).tolist())
    if kind != _RUNS:
        reader.fail("a container must be a run, bitset or array container")
    runs = np.frombuffer(reader.take(4 * reader.number("<H", 2)), "<u2").astype(int)
    values = BitMap()
    for start, more in runs.reshape(-1, 2).tolist():
        values.add_range(start, start + more + 1)
    return values


def _container_bytes(values: BitMap) -> bytes:
    """Encode kind, cardinality and content; the content is that of the portable 32-bit format."""
    image = encode_bitmap(values)
    has_runs = int.from_bytes(image[:2], "little") == _RUN_COOKIE
    kind = _RUNS if has_runs else _ARRAY if len(values) <= _ARRAY_MAX else _BITSET
    content = image[9:] if has_runs else image[16:]
    return struct.pack("<Bi", kind, len(values)) + content
