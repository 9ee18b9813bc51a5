"""Tables compared as multisets of rows, values exactly.

Equal values of different Arrow widths and units are equal: timestamps and times count in
nanoseconds, decimals by their digits, floats by their bits with -0.0 as 0.0, maps without order.
"""

import struct
from collections import Counter
from collections.abc import Collection
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    fixed_values,
    list_offsets,
    valid_mask,
)
from paimon_explore.scan.manifest_arrays import items_of

_NANOS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def difference(expected: pa.Table, found: pa.Table, unordered: Collection[str] = ()) -> str:
    """Empty if both hold the same rows and columns, else what differs.

    Args:
        expected: the right rows.
        found: the rows to judge.
        unordered: list columns whose elements have no order.
    """
    names = expected.schema.names
    if names != found.schema.names:
        return f"columns {found.schema.names}, expected {names}"
    want, have = _rows(expected, unordered), _rows(found, unordered)
    missing, extra = want - have, have - want
    if not missing and not extra:
        return ""
    samples = (
        f"e.g. missing {next(iter(missing), '-')!s:.200} extra {next(iter(extra), '-')!s:.200}"
    )
    return f"{missing.total()} rows missing, {extra.total()} extra; {samples}"


def _rows(table: pa.Table, unordered: Collection[str]) -> Counter[str]:
    columns = []
    for name in table.schema.names:
        values = [v for chunk in table.column(name).chunks for v in exact(chunk)]
        if name in unordered:
            values = [None if v is None else sorted(v, key=repr) for v in values]  # type: ignore[call-overload]
        columns.append(values)
    if not columns:
        return Counter({"()": table.num_rows})
    return Counter(map(repr, zip(*columns, strict=True)))


def exact(array: Column) -> list[object]:
    """Values of an array in a form that compares exactly."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return exact(array.storage)
    return _nested(array) if pat.is_nested(kind) else _flat(array)


def _flat(array: Column) -> list[object]:
    kind = array.type
    if isinstance(kind, pa.TimestampType | pa.Time32Type | pa.Time64Type):
        ticks = fixed_values(array, f"i{kind.bit_width // 8}").tolist()
        known = valid_mask(array).tolist()
        return [v * _NANOS[kind.unit] if ok else None for v, ok in zip(ticks, known, strict=True)]
    if pat.is_date32(kind):
        return as_python(array.cast(pa.int32()))
    return [None if v is None else _exact_value(v) for v in as_python(array)]


def _exact_value(value: object) -> object:
    if isinstance(value, float):
        return struct.pack(">d", value + 0.0).hex()
    return f"decimal {value:f}" if isinstance(value, Decimal) else value


def _nested(array: Column) -> list[object]:
    valid = valid_mask(array).tolist()
    if isinstance(array, pa.StructArray):
        members = [exact(array.field(i)) for i in range(array.type.num_fields)]
        return [tuple(m[i] for m in members) if ok else None for i, ok in enumerate(valid)]
    if isinstance(array, pa.MapArray):
        at, keys, items = list_offsets(array), exact(array.keys), exact(array.items)
        pairs = list(zip(keys, items, strict=True))
        return [
            sorted(pairs[at[i] : at[i + 1]], key=repr) if ok else None for i, ok in enumerate(valid)
        ]
    if isinstance(array, pa.FixedSizeListArray):
        size = array.type.list_size
        at = (np.arange(len(array) + 1) + array.offset) * size
    else:
        at = list_offsets(array)
    values = exact(items_of(array))
    return [values[at[i] : at[i + 1]] if ok else None for i, ok in enumerate(valid)]
