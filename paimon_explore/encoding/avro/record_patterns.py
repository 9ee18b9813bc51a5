"""Sizes of the records of a block, by a regular expression compiled from the schema.

The bytes of a record without arrays and maps form a regular language if strings are short: a varint
is any number of bytes above 127 and one below; a string of up to 63 bytes is one of 64 cases, told
apart by its first byte. Python's regular expressions walk such records four times as fast as Python
code does. Where a block does not match, it is walked by `record_offsets`, which also finds errors.
"""

import re

import numpy as np

from paimon_explore.encoding.avro.schema import (
    FIXED_SIZES,
    AvroNode,
    OptionalNode,
    PlainNode,
    Primitive,
    RecordNode,
)
from paimon_explore.encoding.avro.vectorized_varint import Positions

_MAX_STRINGS = 32
"""Maximum number of string fields; compiling the cases of one takes about a millisecond."""
_SHORT = 64
"""Strings below this size have a length of one byte."""
_VARINT = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_SHORT_STRING = b"(?:%s)" % b"|".join(
    re.escape(bytes([2 * size])) + (b".{%d}" % size if size else b"") for size in range(_SHORT)
)


def record_pattern(node: AvroNode) -> re.Pattern[bytes] | None:
    """Return a pattern of records with short strings; None if the type needs another parser."""
    found = _pattern(node)
    if not found or found.count(_SHORT_STRING) > _MAX_STRINGS:
        return None
    return re.compile(b"(?>%s)" % found, re.DOTALL)


def record_starts_in(
    pattern: re.Pattern[bytes], data: bytes | bytearray, begin: int, end: int, count: int
) -> Positions | None:
    """Return the start of each record of a block; None if the block does not match.

    Args:
        pattern: of the records.
        data: the block and other bytes.
        begin: start of the block.
        end: its end.
        count: its number of records.
    """
    records: list[bytes] = pattern.findall(data, begin, end)
    if len(records) != count:
        return None
    ends = begin + np.cumsum(np.fromiter(map(len, records), np.int64, count))
    if not count or ends[-1] != end:  # then bytes between two matches were skipped
        return None
    return np.concatenate([[begin], ends[:-1]])


def _pattern(node: AvroNode) -> bytes | None:
    match node:
        case PlainNode():
            return _plain_pattern(node)
        case OptionalNode():
            inner = _pattern(node.inner)
            if inner is None or node.null_branch is None:
                return None if inner is None else rb"\x00" + inner
            value, null = (rb"\x02", rb"\x00") if node.null_branch == 0 else (rb"\x00", rb"\x02")
            return b"(?:%s%s|%s)" % (value, inner, null)
        case RecordNode():
            fields = [_pattern(field) for _, field in node.fields]
            known = [field for field in fields if field is not None]
            return b"".join(known) if len(known) == len(fields) else None
        case _:
            return None


def _plain_pattern(node: PlainNode) -> bytes:
    match node.primitive:
        case Primitive.INT | Primitive.LONG:
            return _VARINT
        case Primitive.BYTES | Primitive.STRING:
            return _SHORT_STRING
        case _:
            return b".{%d}" % (node.size or FIXED_SIZES[node.primitive])
