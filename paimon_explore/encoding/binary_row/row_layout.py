"""Layout of binary rows, for their encoders and their decoder.

Spec: concepts/spec, binary row; the layouts are those of Java's BinaryRow.
"""

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.definitions import FIXED_WIDTHS, AtomicType, DataType, TypeRoot

ARITY_BYTES = 4
EMPTY_ROW = bytes(12)
"""A row without fields, with its arity: the partition of unpartitioned tables."""
KIND_BITS = 8
"""Bits of the row kind, before the null bits."""
COMPACT_DECIMAL = 18
"""Maximum precision of a decimal stored in 8 bytes."""
COMPACT_TIMESTAMP = 3
"""Maximum precision of a timestamp stored as milliseconds only."""
INLINE = 7
"""Maximum bytes of a string or binary stored in the fixed part."""
DECIMAL_ITEM = 16
UNITS_PER_MILLI = {"us": 1_000, "ns": 1_000_000}


def row_header(arity: int) -> int:
    """Return the bytes of a row's header: row kind and a null bit per field, in whole words."""
    return (arity + 63 + 8) // 64 * nb.WORD_BYTES


def fixed_width(data_type: DataType) -> int:
    """Return the bytes of the fixed part of an array element."""
    return FIXED_WIDTHS.get(data_type.root, 8) if isinstance(data_type, AtomicType) else 8


def is_text(data_type: AtomicType) -> bool:
    """Return whether values are stored as plain bytes: strings and all kinds of binary."""
    return data_type.root in {
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
        TypeRoot.BINARY,
        TypeRoot.VARBINARY,
        TypeRoot.BLOB,
        TypeRoot.GEOMETRY,
        TypeRoot.GEOGRAPHY,
    }


def is_timestamp(data_type: AtomicType) -> bool:
    """Return whether it is one of the two timestamp types."""
    return data_type.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
