"""Bloom filters: whether a column of a data file may contain a value.

    int32 BE number of hash functions | bits

Spec: concepts/spec/fileindex, bloom filter. Seen in: golden java200/fi_bloom_types.
"""

import math

import numpy as np
import pyarrow as pa
import xxhash
from pyroaring import BitMap

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Bytes, Column, Ints
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.index_condition import Condition, Relation, equal_keys
from paimon_explore.encoding.file_index.index_keys import IndexValue, KeyCodec, key_codec
from paimon_explore.errors import CorruptFileError, InvalidInputError

KIND = "bloom-filter"
DEFAULT_ITEMS = 1_000_000
DEFAULT_FPP = 0.1

_HEAD_BYTES = 4
_MAX_FUNCTIONS = 1 << 16
_SAMPLE_ROWS = 4096


class BloomFilter:
    """A decoded bloom filter."""

    def __init__(self, codec: KeyCodec, bits: Bytes, functions: int) -> None:
        self._codec = codec
        self._bits = bits
        self._functions = functions

    def may_match(self, condition: Condition) -> bool:
        """Return whether any row may satisfy the condition; always True except for equality."""
        if condition.relation not in {Relation.EQ, Relation.IN}:
            return True
        return any(self.may_contain(value) for value in condition.values)

    def rows(self, condition: Condition) -> BitMap | None:
        """Return an empty bitmap if no row matches, else None, as the rows are unknown."""
        return None if self.may_match(condition) else BitMap()

    def may_contain(self, value: IndexValue) -> bool:
        """Return whether the column may contain the value."""
        hashes = [
            hash_text(key)
            if isinstance(key, bytes)
            else int(mix(self._codec.hash_bits(np.array([key], np.int64)))[0])
            for key in equal_keys(self._codec, value)
        ]
        positions = bit_positions(np.array(hashes, np.int64), self._functions, len(self._bits) * 8)
        return bool((self._bits[positions >> 3] >> (positions & 7) & 1).all(axis=0).any())


def bit_positions(hashes: Ints, functions: int, bit_count: int) -> Ints:
    """Return the bit positions of each hash, `functions` by n: lower half + k * upper half."""
    low = hashes.astype(np.int32)
    high = (hashes >> 32).astype(np.int32)
    steps = np.arange(1, functions + 1, dtype=np.int32)[:, None]
    mixed = low + steps * high  # 32 bits, wrapping around
    mixed ^= mixed >> 31  # ~mixed if it is negative
    found = mixed.astype(np.int64)
    found -= found // bit_count * bit_count  # several times faster than a remainder
    return found


def decode_bloom(data: bytes, data_type: DataType, *, path: str) -> BloomFilter:
    """Decode the bloom filter of a column.

    Raises:
        CorruptFileError: there are no bits, or too many hash functions.
        UnsupportedFeatureError: the index kind does not support the column type.
    """
    functions = int.from_bytes(data[:_HEAD_BYTES], "big")
    if len(data) <= _HEAD_BYTES or not 1 <= functions <= _MAX_FUNCTIONS:
        rule = f"must have at least one bit and 1 to {_MAX_FUNCTIONS} hash functions"
        raise CorruptFileError(path, "bloom filter", rule)
    bits = np.frombuffer(data, np.uint8, offset=_HEAD_BYTES)
    return BloomFilter(key_codec(KIND, data_type), bits, functions)


class BloomBuilder:
    """Builds a bloom filter batch by batch.

    Args:
        data_type: the type of the column.
        items: expected number of distinct values.
        fpp: false positive probability, between 0 and 1.
    """

    def __init__(
        self, data_type: DataType, *, items: int = DEFAULT_ITEMS, fpp: float = DEFAULT_FPP
    ) -> None:
        if items < 1 or not 0 < fpp < 1:
            raise InvalidInputError(
                "A bloom filter needs at least 1 item and a false positive rate between 0 and 1, "
                f"not {items} items and a rate of {fpp}."
            )
        self._codec = key_codec(KIND, data_type)
        wanted = int(-items * math.log(fpp) / (math.log(2) * math.log(2)))
        self._bit_count = wanted + 8 - wanted % 8
        self._functions = max(1, math.floor(self._bit_count / items * math.log(2) + 0.5))
        self._bits = np.zeros(self._bit_count, np.bool_)

    def add(self, column: Column) -> None:
        """Add the values of a column; nulls are ignored."""
        if self._codec.width == 0:
            hashes = hash_texts(column)
        else:
            keys = self._codec.numbers(column)[nb.valid_mask(column)]
            hashes = mix(self._codec.hash_bits(keys))
        self._bits[bit_positions(hashes, self._functions, self._bit_count).reshape(-1)] = True

    def encode(self) -> bytes:
        """Encode the filter."""
        return (
            self._functions.to_bytes(4, "big")
            + np.packbits(self._bits, bitorder="little").tobytes()
        )


# Text and binary values use xxHash64 with seed 0; numbers use Thomas Wang's integer hash with
# arithmetic right shifts, as in Java 0.9.0.
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


def hash_texts(column: Column) -> Ints:
    """Hash the non-null values of a string or binary column, in any order.

    One call per value, as xxHash has no batch function. Values that recur are hashed once.
    """
    values = column.drop_null()
    sample = values.slice(0, _SAMPLE_ROWS)
    if pc.count_distinct(sample).as_py() <= len(sample) / 2:
        values = values.unique()
    texts = values.cast(pa.binary()).to_numpy(zero_copy_only=False).tolist()
    found = map(xxhash.xxh64_intdigest, texts)
    return np.fromiter(found, np.uint64, len(texts)).view(np.int64)
