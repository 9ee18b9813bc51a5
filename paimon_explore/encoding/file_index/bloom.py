"""Bloom filters: whether a column of a data file may hold a value.

    int32 BE number of hash functions | bits

Spec: concepts/spec/fileindex, bloom filter. Seen in: golden java200/fi_bloom_types.
"""

import math

import numpy as np
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Bytes, Column, Ints
from paimon_explore.data_types.definitions import DataType
from paimon_explore.encoding.file_index.bloom_hash import hash_text, hash_texts, mix
from paimon_explore.encoding.file_index.index_condition import Condition, Relation, equal_keys
from paimon_explore.encoding.file_index.index_keys import IndexValue, KeyCodec, key_codec
from paimon_explore.errors import CorruptFileError, InvalidInputError

KIND = "bloom-filter"
DEFAULT_ITEMS = 1_000_000
DEFAULT_FPP = 0.1

_HEAD_BYTES = 4
_MAX_FUNCTIONS = 1 << 16


class BloomFilter:
    """The filter of one column."""

    def __init__(self, codec: KeyCodec, bits: Bytes, functions: int) -> None:
        self._codec = codec
        self._bits = bits
        self._functions = functions

    def may_match(self, condition: Condition) -> bool:
        """Whether any row may satisfy the condition; it tells of equality only."""
        if condition.relation not in {Relation.EQ, Relation.IN}:
            return True
        return any(self.may_hold(value) for value in condition.values)

    def rows(self, condition: Condition) -> BitMap | None:
        """Never told: a filter knows no rows, but when no row matches at all."""
        return None if self.may_match(condition) else BitMap()

    def may_hold(self, value: IndexValue) -> bool:
        """Whether the column may hold the value."""
        hashes = [
            hash_text(key)
            if isinstance(key, bytes)
            else int(mix(self._codec.hash_bits(np.array([key], np.int64)))[0])
            for key in equal_keys(self._codec, value)
        ]
        places = bit_places(np.array(hashes, np.int64), self._functions, len(self._bits) * 8)
        return bool((self._bits[places >> 3] >> (places & 7) & 1).all(axis=1).any())


def bit_places(hashes: Ints, functions: int, bit_count: int) -> Ints:
    """The bits of each hash, n by `functions`: they step by its upper half from its lower half."""
    low = hashes.astype(np.int32)[:, None]
    high = (hashes >> 32).astype(np.int32)[:, None]
    steps = np.arange(1, functions + 1, dtype=np.int32)
    mixed = low + steps * high  # 32 bits, wraps around
    return np.where(mixed < 0, ~mixed, mixed).astype(np.int64) % bit_count


def decode_bloom(data: bytes, data_type: DataType, *, path: str) -> BloomFilter:
    """The filter of a column of that type.

    Raises:
        CorruptFileError: there are no bits, or an absurd number of hash functions.
        UnsupportedFeatureError: no such index can be on such a column.
    """
    functions = int.from_bytes(data[:_HEAD_BYTES], "big")
    if len(data) <= _HEAD_BYTES or not 1 <= functions <= _MAX_FUNCTIONS:
        rule = f"must have bits and 1 to {_MAX_FUNCTIONS} hash functions"
        raise CorruptFileError(path, "bloom filter", rule)
    bits = np.frombuffer(data, np.uint8, offset=_HEAD_BYTES)
    return BloomFilter(key_codec(KIND, data_type), bits, functions)


class BloomBuilder:
    """Makes a filter batch by batch.

    Args:
        data_type: of the column.
        items: number of distinct values to expect.
        fpp: share of absent values that may be found all the same, between 0 and 1.
    """

    def __init__(
        self, data_type: DataType, *, items: int = DEFAULT_ITEMS, fpp: float = DEFAULT_FPP
    ) -> None:
        if items < 1 or not 0 < fpp < 1:
            message = (
                "A bloom filter needs at least 1 item and a false positive rate between 0 and 1."
            )
            raise InvalidInputError(message)
        self._codec = key_codec(KIND, data_type)
        wanted = int(-items * math.log(fpp) / (math.log(2) * math.log(2)))
        self._bit_count = wanted + 8 - wanted % 8
        self._functions = max(1, math.floor(self._bit_count / items * math.log(2) + 0.5))
        self._bits = np.zeros(self._bit_count, np.bool_)

    def add(self, column: Column) -> None:
        """Take up the values of a column; nulls leave no trace."""
        if self._codec.width == 0:
            hashes = hash_texts(column)
        else:
            keys = np.array(self._codec.ranked(column).keys, np.int64)
            hashes = mix(self._codec.hash_bits(keys))
        self._bits[bit_places(hashes, self._functions, self._bit_count).reshape(-1)] = True

    def encode(self) -> bytes:
        """The filter's bytes."""
        return (
            self._functions.to_bytes(4, "big")
            + np.packbits(self._bits, bitorder="little").tobytes()
        )
