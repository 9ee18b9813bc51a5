"""Conversion of ORC stripe statistics to Arrow, for integers, dates and strings.

Spec: ORC specification v1, `ColumnStatistics`.
"""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.data_file_reader import Span, SpanBounds
from paimon_explore.encoding.orc.protobuf import (
    Message,
    decode_message,
    number,
    raw,
    signed,
)

_VALUES = 1
_MIN, _MAX = 1, 2
_LOWER, _UPPER = 4, 5
_INTEGERS, _TEXTS, _DATES = 2, 4, 7
_KIND_STATISTICS: Mapping[int, int] = {
    1: _INTEGERS,  # BYTE
    2: _INTEGERS,  # SHORT
    3: _INTEGERS,  # INT
    4: _INTEGERS,  # LONG
    7: _TEXTS,  # STRING
    15: _DATES,  # DATE
    16: _TEXTS,  # VARCHAR
}
_Pair = tuple[int | bytes | None, int | bytes | None]


def stripe_bounds(
    stripes: Sequence[Message], spans: Sequence[Span], kind: int, data_type: pa.DataType
) -> SpanBounds | None:
    """Return bounds and null counts of a column per stripe.

    Args:
        stripes: the column's statistics in each stripe.
        spans: the stripes.
        kind: the column's ORC type kind.
        data_type: the column's Arrow type.

    Returns:
        None if there are no usable statistics.
    """
    field = _KIND_STATISTICS.get(kind)
    if field is None or len(stripes) != len(spans):
        return None
    read: Callable[[Message], _Pair] = _text_pair if field == _TEXTS else _int_pair
    pairs = [read(decode_message(raw(stripe, field) or b"")) for stripe in stripes]
    nulls = [
        span.rows - number(stripe, _VALUES) if _VALUES in stripe else None
        for stripe, span in zip(stripes, spans, strict=True)
    ]
    try:
        minimum = _column([pair[0] for pair in pairs], data_type)
        maximum = _column([pair[1] for pair in pairs], data_type)
    except pa.ArrowException:
        return None  # text truncated inside a character
    return SpanBounds(minimum=minimum, maximum=maximum, null_count=pa.array(nulls, pa.int64()))


def _int_pair(found: Message) -> _Pair:
    return signed(found, _MIN), signed(found, _MAX)


def _text_pair(found: Message) -> _Pair:
    low, high = raw(found, _MIN), raw(found, _MAX)
    return low or raw(found, _LOWER), high or raw(found, _UPPER)


def _column(values: list[int | bytes | None], data_type: pa.DataType) -> Column:
    if pa.types.is_string(data_type):
        return pa.array(values, pa.binary()).cast(data_type)
    if pa.types.is_date(data_type):
        return pa.array(values, pa.int32()).view(data_type)
    return pa.array(values, pa.int64()).cast(data_type)
