"""Conversion of constants to Arrow values, from bytes: `pa.array` would import pandas."""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.decimals import unscaled
from paimon_explore.data_types.definitions import (
    BOOLEAN,
    FIXED_WIDTHS,
    FLOATS,
    AtomicType,
    TypeRoot,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import Literal, LiteralValue

_DTYPES = {
    root: f"<{'f' if root in FLOATS else 'i'}{width}"
    for root, width in FIXED_WIDTHS.items()
    if root is not TypeRoot.BOOLEAN
}
_DECIMAL_BYTES = 16


def values_array(values: Sequence[object], kind: AtomicType) -> Column:
    """Converts values, represented as in `Literal.value`, to an Arrow array.

    >>> values_array([19723], AtomicType(root=TypeRoot.DATE)).to_pylist()
    [datetime.date(2024, 1, 1)]
    """
    arrow = to_arrow(kind)
    valid = np.array([value is not None for value in values], np.bool_)
    if kind.root is TypeRoot.BOOLEAN:
        return nb.build_bool(np.array([value is True for value in values], np.bool_), valid)
    if kind.root in _DTYPES:
        numbers = [0 if value is None else value for value in values]
        try:
            fixed = np.array(numbers, _DTYPES[kind.root])
        except OverflowError as error:
            raise InvalidInputError(
                f"A value is out of range for Arrow's {arrow}.",
                hint="Nanoseconds range from 1677 to 2262: write at most 6 fractional digits.",
            ) from error
        return nb.build_fixed(arrow, fixed, valid)
    if kind.root is TypeRoot.DECIMAL:
        return nb.build_fixed(arrow, _decimal_bytes(values, kind.scale or 0), valid)
    data = [_text_bytes(value) for value in values]
    return nb.build_values(data, arrow, valid)


def scalar_of(constant: Literal) -> "pa.Scalar[pa.DataType]":
    """The Arrow scalar of a bound literal; an untyped null is a boolean null."""
    scalar: pa.Scalar[pa.DataType] = values_array([constant.value], constant.type or BOOLEAN)[0]
    return scalar


def repeated(constant: Literal, count: int) -> Column:
    """An array that repeats a bound literal `count` times."""
    one = values_array([constant.value], constant.type or BOOLEAN)
    return nb.take_rows(one, np.zeros(count, np.int64))


def value_at(array: Column, index: int, kind: AtomicType) -> LiteralValue:
    """The value at `index`, represented as in `Literal.value`; None for null.

    >>> kind = AtomicType(root=TypeRoot.DATE)
    >>> value_at(values_array([19723], kind), 0, kind)
    19723
    """
    one = array.slice(index, 1)
    if one.null_count:
        return None
    if kind.root in _DTYPES:
        number: LiteralValue = nb.fixed_values(one, _DTYPES[kind.root])[0].item()
        return number
    value: LiteralValue = one[0].as_py()
    return value


def _decimal_bytes(values: Sequence[object], scale: int) -> nb.Bytes:
    numbers = (
        unscaled(Decimal(value), scale) if isinstance(value, Decimal | int) else 0
        for value in values
    )
    return nb.as_bytes(
        b"".join(number.to_bytes(_DECIMAL_BYTES, "little", signed=True) for number in numbers)
    )


def _text_bytes(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else b""
