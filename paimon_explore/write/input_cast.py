"""Arrow columns of callers into the types of a table, safely.

Values may change their form, not what they mean: an INT column takes 64-bit integers that fit,
TIMESTAMP(3) takes microseconds that are whole milliseconds, STRING takes dictionaries of strings.
Text is not parsed, and timestamps with and without zone are not mixed. The first value that does
not fit is named by column and row.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pat

from paimon_explore.encoding.buffers import (
    Column,
    Ints,
    build_bool,
    build_list,
    build_struct,
    ends_of,
    fixed_values,
    list_offsets,
    valid_mask,
)
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.types.arrow import timestamp_unit, to_arrow
from paimon_explore.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullable,
)

NestedType: TypeAlias = RowType | ArrayType | VectorType | MapType | MultisetType

_OTHER_LISTS = (
    pa.LargeListArray,
    pa.FixedSizeListArray,
    pa.ListViewArray,
    pa.LargeListViewArray,
)
_COUNT = AtomicType(root=TypeRoot.INT, nullable=False)
_VARIANT_PART = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
_VARIANT_PARTS = ("value", "metadata")
_TEXT = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_ZONE_HINT = (
    "One has a time zone and the other has not: say which time is meant, as pandas does by "
    "dt.tz_localize(zone) or dt.tz_localize(None)."
)
_DIGITS_OF_INTEGERS = 20
_MOST_DIGITS = 76
_DIGITS_OF_UNIT = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def conform(array: Column, data_type: DataType, *, where: str, first_row: int = 0) -> Column:
    """The same values in `to_arrow(data_type)`.

    Args:
        array: n values of any Arrow type.
        data_type: the column's type.
        where: the column, for messages; parts of nested types are named behind it.
        first_row: number of the first value's row, for messages.

    Raises:
        InvalidInputError: a value that does not fit, or a null that must not be.
    """
    cast = _Cast(where, first_row)
    return cast.column(array, data_type)


def plain_form(array: Column) -> Column:
    """The same values, not encoded: dictionaries, runs and extension types are resolved."""
    if isinstance(array, pa.ExtensionArray):
        return plain_form(array.storage)
    if isinstance(array, pa.RunEndEncodedArray):
        found: Column = pc.call_function("run_end_decode", [array])
        return plain_form(found)
    if isinstance(array, pa.DictionaryArray):
        words: Column = array.dictionary
        if pat.is_string_view(words.type) or pat.is_binary_view(words.type):
            # pyarrow takes no values out of views
            words = words.cast(pa.string() if pat.is_string_view(words.type) else pa.binary())
        return plain_form(words.take(array.indices))
    return array


def is_castable(found: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of a type may be written as another, as long as each one fits.

    Days and their midnights stand for each other.
    """
    is_day = (pat.is_date(found) and _is_local_time(target)) or (
        _is_local_time(found) and pat.is_date(target)
    )
    return is_day or any(family(found) and family(target) for family in _FAMILIES)


def _safely_cast(array: Column, target: pa.DataType) -> Column:
    """Cast, and refuse what would change.

    Raises:
        pa.ArrowException: a value does not fit.
    """
    if pat.is_integer(array.type) and pat.is_decimal(target):
        # pyarrow takes no integers into fewer digits than their type may have
        digits = min(_DIGITS_OF_INTEGERS + target.scale, _MOST_DIGITS)
        return array.cast(pa.decimal256(digits, target.scale)).cast(target)
    found = array.cast(target)
    if (
        _is_local_time(array.type)
        and pat.is_date(target)
        and not found.cast(array.type).equals(array)
    ):
        msg = "a time of the day"
        raise pa.ArrowInvalid(msg)
    return found


class _Cast:
    """Casts the values of one column, and knows what to call them."""

    def __init__(self, where: str, first_row: int) -> None:
        self._where = where
        self._first_row = first_row

    def inside(self, part: str) -> "_Cast":
        """For the values of a part of a nested type; their rows are not known."""
        return _Cast(f"{self._where}{part}", -1)

    def refuse(self, problem: str, row: int | None = None, hint: str = "") -> InvalidInputError:
        place = f", row {self._first_row + row}" if row is not None and self._first_row >= 0 else ""
        return InvalidInputError(f"Column {self._where!r}{place}: {problem}.", hint=hint)

    def column(self, array: Column, data_type: DataType) -> Column:
        target = to_arrow(data_type)
        array = plain_form(array)
        if not data_type.nullable and array.null_count:
            row = int((~valid_mask(array)).argmax())
            raise self.refuse("null in a NOT NULL column", row)
        is_unknown = pat.is_null(array.type) or pat.is_floating(array.type)
        if is_unknown and array.null_count == len(array):  # what pandas makes of missing values
            nulls: Column = pa.nulls(len(array), target)  # type: ignore[call-overload]  # stubs list single types
            return nulls
        if isinstance(data_type, AtomicType):
            is_variant = data_type.root is TypeRoot.VARIANT
            return (self._variant if is_variant else self._atomic)(array, data_type, target)
        return self._nested(array, data_type, target)

    def _nested(self, array: Column, data_type: NestedType, target: pa.DataType) -> Column:
        match data_type:
            case RowType():
                return self._row(array, data_type, target)
            case ArrayType(element=element):
                return self._list(array, element, target)
            case VectorType():
                return self._vector(array, data_type, target)
            case MapType(key=key, value=value):
                return self._map(array, key, value, target)
            case MultisetType(element=element):
                return self._map(array, element, _COUNT, target)

    def _variant(self, array: Column, _: AtomicType, target: pa.DataType) -> Column:
        if array.type.equals(target):
            return array
        if not isinstance(array, pa.StructArray) or {f.name for f in array.type} != {
            *_VARIANT_PARTS
        }:
            raise self.refuse(f"{array.type} is no variant of value and metadata")
        valid = valid_mask(array)
        parts: list[Column] = []
        for name in _VARIANT_PARTS:
            part: Column = array.field(name)
            if (valid & ~valid_mask(part)).any():
                raise self.refuse(f"a variant without {name}")
            found = self.inside(f".{name}").column(part, _VARIANT_PART)
            parts.append(pc.call_function("coalesce", [found, pa.scalar(b"")]))
        return build_struct(target, parts, valid)

    def _atomic(self, array: Column, data_type: AtomicType, target: pa.DataType) -> Column:
        if not array.type.equals(target):
            if not is_castable(array.type, target):
                problem = f"{array.type} cannot be written as {target} without a cast"
                are_times = pat.is_timestamp(array.type) and pat.is_timestamp(target)
                raise self.refuse(problem, hint=_ZONE_HINT if are_times else "")
            try:
                array = _safely_cast(array, target)
            except pa.ArrowException as error:
                row = _first_failure(array, target)
                raise self.refuse(f"{array[row]} does not fit {target}", row) from error
        self._check_size(array, data_type)
        return array

    def _check_size(self, array: Column, data_type: AtomicType) -> None:
        """Refuse texts, bytes and fractions that are longer than the type has room for."""
        too_long = _too_long(array, data_type)
        if too_long is not None:
            found = pc.index(too_long, pa.scalar(value=True)).as_py()
            if found >= 0:
                limit = data_type.length if data_type.length is not None else data_type.precision
                problem = f"{array[found]} does not fit {data_type.root.value}({limit})"
                raise self.refuse(problem, found)

    def _row(self, array: Column, data_type: RowType, target: pa.DataType) -> Column:
        if not isinstance(array, pa.StructArray):
            raise self.refuse(f"{array.type} is no row")
        names = [field.name for field in array.type]
        unknown = [name for name in names if data_type.field(name) is None]
        if unknown:
            known = choices(data_type.names)
            raise self.refuse(f"the row has no field {unknown[0]!r}; it has {known}")
        valid = valid_mask(array)
        children: list[Column] = []
        for field in data_type:
            found = field.name in names
            child: Column = array.field(field.name) if found else pa.nulls(len(array))
            inner = self.inside(f".{field.name}")
            if not field.type.nullable and bool((valid & ~valid_mask(child)).any()):
                raise inner.refuse("null in a NOT NULL field")
            children.append(inner.column(child, with_nullable(field.type, nullable=True)))
        return build_struct(target, children, valid)

    def _list(self, array: Column, element: DataType, target: pa.DataType) -> Column:
        if isinstance(array, _OTHER_LISTS):
            array = self._plain_cast(array, pa.list_(array.type.value_type))
        if not isinstance(array, pa.ListArray):
            raise self.refuse(f"{array.type} is no list")
        values = self.inside("[]").column(array.flatten(), element)
        return build_list(target, _dense_offsets(array), [values], valid_mask(array))

    def _vector(self, array: Column, data_type: VectorType, target: pa.DataType) -> Column:
        shell = pa.list_(pa.field("item", target.field(0).type), data_type.length)
        if not isinstance(array, pa.FixedSizeListArray):
            array = self._plain_cast(array, shell)
        if not isinstance(array, pa.FixedSizeListArray):
            raise self.refuse(f"{array.type} is no vector")
        if array.type.list_size != data_type.length:
            raise self.refuse(f"vectors of {array.type.list_size} where {data_type.length} are due")
        self.inside("[]").column(array.flatten(), data_type.element)
        return array.cast(target)

    def _map(self, array: Column, key: DataType, value: DataType, target: pa.DataType) -> Column:
        if not isinstance(array, pa.MapArray):
            raise self.refuse(f"{array.type} is no map")
        pairs = pa.StructArray.from_arrays([array.keys, array.items], names=["key", "value"])
        dense = _as_list(array, pairs)
        live_keys, live_items = dense.flatten().flatten()  # type: ignore[attr-defined]  # a list array of structs
        keys = self.inside("{key}").column(live_keys, with_nullable(key, nullable=False))
        items = self.inside("{value}").column(live_items, value)
        entries = build_struct(target.field(0).type, [keys, items], np.ones(len(keys), np.bool_))
        return build_list(target, _dense_offsets(dense), [entries], valid_mask(array))

    def _plain_cast(self, array: Column, target: pa.DataType) -> Column:
        try:
            return array.cast(target)
        except pa.ArrowException as error:
            raise self.refuse(f"{array.type} cannot be written as {target}") from error


def _as_list(array: Column, pairs: Column) -> Column:
    """The map as a list of its pairs."""
    return pa.Array.from_buffers(
        pa.list_(pairs.type),
        len(array),
        array.buffers()[:2],
        array.null_count,
        array.offset,
        children=[pairs],
    )


def _dense_offsets(array: Column) -> Ints:
    """Offsets into `array.flatten()`, which leaves out what lies under null lists."""
    return ends_of(np.diff(list_offsets(array)) * valid_mask(array))


def _first_failure(array: Column, target: pa.DataType) -> int:
    """Position of the first value that does not cast: halves the range until it is one value."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _safely_cast(array.slice(low, middle - low), target)
        except pa.ArrowException:
            high = middle
        else:
            low = middle
    return low


def _too_long(array: Column, data_type: AtomicType) -> "Column | None":
    """Which values have more characters, bytes or fraction digits than the type; None: no limit."""
    limit = MAX_LENGTH if data_type.length is None else data_type.length
    if data_type.root in _TEXT | _BYTES and limit < MAX_LENGTH:
        measure = "utf8_length" if data_type.root in _TEXT else "binary_length"
        sizes: Column = pc.call_function(measure, [array])
        return build_bool(fixed_values(sizes, np.int32).astype(np.int64) > limit, valid_mask(array))
    if data_type.root in _TIMESTAMPS:
        spare = _DIGITS_OF_UNIT[timestamp_unit(data_type.precision)] - (data_type.precision or 0)
        if spare:
            ticks = fixed_values(array, np.int64).astype(np.int64)
            return build_bool(ticks % 10**spare != 0, valid_mask(array))
    return None


def _is_number(found: pa.DataType) -> bool:
    return pat.is_integer(found) or pat.is_floating(found) or pat.is_decimal(found)


def _is_text(found: pa.DataType) -> bool:
    return pat.is_string(found) or pat.is_large_string(found) or pat.is_string_view(found)


def _is_bytes(found: pa.DataType) -> bool:
    return (
        pat.is_binary(found)
        or pat.is_large_binary(found)
        or pat.is_fixed_size_binary(found)
        or pat.is_binary_view(found)
    )


def _is_local_time(found: pa.DataType) -> bool:
    return pat.is_timestamp(found) and found.tz is None


def _is_instant(found: pa.DataType) -> bool:
    return pat.is_timestamp(found) and found.tz is not None


_FAMILIES: tuple[Callable[[pa.DataType], bool], ...] = (
    _is_number,
    _is_text,
    _is_bytes,
    _is_local_time,
    _is_instant,
    pat.is_date,
    pat.is_time,
    pat.is_boolean,
)
"""Types whose values may be cast into each other as long as none changes."""
