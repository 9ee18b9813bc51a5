"""Tables compared as multisets of rows, values exactly.

Equal values of different Arrow widths and units are equal: timestamps and times count in
nanoseconds, decimals by their digits, floats by their bits with -0.0 as 0.0, maps without order.
"""

import struct
from collections import Counter
from collections.abc import Collection

import pyarrow as pa
import pyarrow.types as pat

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


def exact(array: pa.Array) -> list[object]:
    """Values of an array in a form that compares exactly."""
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return exact(array.storage)
    return _nested(array) if pat.is_nested(kind) else _flat(array)


def _flat(array: pa.Array) -> list[object]:
    kind = array.type
    if pat.is_timestamp(kind) or pat.is_time(kind):
        wide = pa.int32() if kind.bit_width == 32 else pa.int64()
        ticks = array.cast(wide).to_pylist()
        return [None if v is None else v * _NANOS[kind.unit] for v in ticks]
    if pat.is_date32(kind):
        return list(array.cast(pa.int32()).to_pylist())
    if pat.is_floating(kind):
        return [None if v is None else struct.pack(">d", v + 0.0).hex() for v in array.to_pylist()]
    if pat.is_decimal(kind):
        return [None if v is None else f"decimal {v:f}" for v in array.to_pylist()]
    return list(array.to_pylist())


def _nested(array: pa.Array) -> list[object]:
    valid = array.is_valid().to_pylist()
    if isinstance(array, pa.StructArray):
        members = [exact(array.field(i)) for i in range(array.type.num_fields)]
        return [tuple(m[i] for m in members) if ok else None for i, ok in enumerate(valid)]
    if isinstance(array, pa.MapArray):
        at, keys, items = array.offsets.to_pylist(), exact(array.keys), exact(array.items)
        pairs = list(zip(keys, items, strict=True))
        return [
            sorted(pairs[at[i] : at[i + 1]], key=repr) if ok else None for i, ok in enumerate(valid)
        ]
    if isinstance(array, pa.FixedSizeListArray):
        return [exact(item.values) if item.is_valid else None for item in array]
    at, values = array.offsets.to_pylist(), exact(array.values)
    return [values[at[i] : at[i + 1]] if ok else None for i, ok in enumerate(valid)]
