"""Casts of Arrow columns between Paimon types, with the results of the Java implementation.

Fields of rows are matched by field id, regardless of names and order; elements of arrays and values
of maps are cast recursively.

Spec: concepts/schema evolution.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import tzinfo

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_buffer,
    list_offsets,
    null_array,
    offsets_from_sizes,
    string_array,
    string_scalar,
    valid_mask,
    validity_bitmap,
)
from paimon_explore.data_types.casts.allowed_type_changes import is_executable, is_same
from paimon_explore.data_types.casts.cast_errors import uncastable_type
from paimon_explore.data_types.casts.datetime_casts import (
    dates_from_timestamps,
    integers_from_timestamps,
    times_from_timestamps,
    timestamps_from_dates,
    timestamps_from_integers,
    timestamps_from_times,
    timestamps_from_timestamps,
)
from paimon_explore.data_types.casts.numeric_casts import (
    decimals_from_decimals,
    decimals_from_floats,
    decimals_from_integers,
    flags_from_integers,
    numbers_from_decimals,
    numbers_from_flags,
    numbers_from_floats,
    numbers_from_integers,
)
from paimon_explore.data_types.casts.text_functions import (
    Part,
    computed,
    concatenated,
    joined,
    where_valid,
)
from paimon_explore.data_types.casts.text_to_values import (
    bytes_from_texts,
    dates_from_texts,
    decimals_from_texts,
    flags_from_texts,
    floats_from_texts,
    integers_from_texts,
    times_from_texts,
    timestamps_from_texts,
)
from paimon_explore.data_types.casts.values_to_text import sized_bytes, sized_texts, texts_of
from paimon_explore.data_types.definitions import (
    BYTES,
    FLOATS,
    INTEGERS,
    NUMBERS,
    STRING,
    TEXTS,
    TIMESTAMPS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)


def cast_column(
    array: Column, source: DataType, target: DataType, zone: tzinfo | None = None
) -> Column:
    """Cast a column to another type.

    Args:
        array: n values of exactly `to_arrow(source)`.
        source: the type of the values.
        target: the type of the result; its nullability is ignored.
        zone: the session time zone for TIMESTAMP_LTZ; None for the zone of this process.

    Returns:
        n values of exactly `to_arrow(target)`, null where the array is, and where Java returns
        null.

    Raises:
        UncastableError: there is no cast between the types, or a value cannot be cast.
    """
    if is_same(source, target):
        return array
    if not is_executable(source, target):
        raise uncastable_type(source, target)
    if isinstance(target, AtomicType):
        return _to_atomic(array, source, target, zone)
    if isinstance(source, RowType) and isinstance(target, RowType):
        return _rows(array, source, target, zone)
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        items = cast_column(_children(array), source.element, target.element, zone)
        return _lists(array, to_arrow(target), items)
    if isinstance(source, MapType) and isinstance(target, MapType):
        return _maps(array, source, target, zone)
    raise uncastable_type(source, target)


def _to_atomic(array: Column, source: DataType, target: AtomicType, zone: tzinfo | None) -> Column:
    if target.root in TEXTS:
        if not isinstance(source, AtomicType):
            return _nested_texts(array, source, zone)
        texts = texts_of(array, source, zone)
        # Java does not truncate or pad bytes cast to text
        return texts if source.root in BYTES else sized_texts(texts, target)
    if not isinstance(source, AtomicType):
        raise uncastable_type(source, target)
    pair = (source.root, target.root)
    if pair in _CASTS_BY_ZONE:
        return _CASTS_BY_ZONE[pair](array, source, target, zone)
    return _CASTS[pair](array, source, target)


def _rows(array: Column, source: RowType, target: RowType, zone: tzinfo | None) -> Column:
    columns = dict(zip((field.id for field in source), _members(array), strict=True))
    cast = []
    for field in target:
        before = source.field_by_id(field.id)
        if before is None:
            cast.append(null_array(len(array), to_arrow(field.type)))
        else:
            cast.append(cast_column(columns[field.id], before.type, field.type, zone))
    return pa.Array.from_buffers(
        to_arrow(target), len(array), [validity_bitmap(array)], children=cast
    )


def _members(array: Column) -> list[Column]:
    # flatten() propagates the row's nulls, so that values of null rows are not cast
    return array.flatten() if isinstance(array, pa.StructArray) else []


def _maps(array: Column, source: MapType, target: MapType, zone: tzinfo | None) -> Column:
    entries = _children(array)
    keys, values = _members(entries)
    cast = cast_column(values, source.value, target.value, zone)
    arrow = to_arrow(target)
    pairs = pa.Array.from_buffers(arrow.field(0).type, len(entries), [None], children=[keys, cast])
    return _lists(array, arrow, pairs)


def _children(array: Column) -> Column:
    """Return the concatenated elements of the non-null lists or maps of an array."""
    if isinstance(array, pa.MapArray):
        entries = pa.list_(pa.field("entries", array.type.field(0).type, nullable=False))
        array = pa.Array.from_buffers(
            entries, len(array), array.buffers()[:2], offset=array.offset, children=[_raw(array)]
        )
    return array.flatten() if isinstance(array, pa.ListArray) else array


def _raw(array: pa.MapArray) -> Column:  # type: ignore[type-arg] # not subscriptable when run
    keys, items = array.keys, array.items
    pair = array.type.field(0).type
    return pa.Array.from_buffers(pair, len(keys), [None], children=[keys, items])


def _lists(array: Column, arrow: pa.DataType, items: Column) -> Column:
    return pa.Array.from_buffers(
        arrow, len(array), [validity_bitmap(array), _offsets(array)], children=[items]
    )


def _offsets(array: Column) -> pa.Buffer:
    lengths = np.where(valid_mask(array), np.diff(list_offsets(array)), 0)
    return as_buffer(offsets_from_sizes(lengths).astype(np.int32))


def _nested_texts(array: Column, source: DataType, zone: tzinfo | None) -> Column:
    if isinstance(source, RowType):
        pairs = zip(_members(array), source.fields, strict=True)
        members = [_text_or_null(column, field.type, zone) for column, field in pairs]
        return _enclosed("{", _row_texts(members, len(array)), "}", array)
    children = _children(array)
    if isinstance(source, MapType):
        keys, values = _members(children)
        texts = concatenated(
            _text_or_null(keys, source.key, zone),
            string_scalar(" -> "),
            _text_or_null(values, source.value, zone),
        )
        return _enclosed("{", _listed(array, texts), "}", array)
    element = source.element if isinstance(source, ArrayType) else STRING
    texts = _text_or_null(children, element, zone)
    return _enclosed("[", _listed(array, texts), "]", array)


def _text_or_null(array: Column, source: DataType, zone: tzinfo | None) -> Column:
    texts = cast_column(array, source, STRING, zone)
    return computed("coalesce", [texts, string_scalar("null")])


def _row_texts(members: list[Column], length: int) -> Column:
    parts: list[Part] = []
    for member in members:
        parts += [string_scalar(", "), member] if parts else [member]
    return concatenated(*parts) if parts else string_array([""] * length)


def _listed(array: Column, texts: Column) -> Column:
    return joined(_lists(array, pa.list_(pa.string()), texts), ", ")


def _enclosed(before: str, texts: Column, after: str, like: Column) -> Column:
    return where_valid(like, concatenated(string_scalar(before), texts, string_scalar(after)))


_Cast = Callable[[Column, AtomicType, AtomicType], Column]
_CastByZone = Callable[[Column, AtomicType, AtomicType, tzinfo | None], Column]
_DECIMALS = frozenset({TypeRoot.DECIMAL})
_FLAGS = frozenset({TypeRoot.BOOLEAN})
_DATES = frozenset({TypeRoot.DATE})
_TIMES = frozenset({TypeRoot.TIME})
_SECONDS = frozenset({TypeRoot.INT, TypeRoot.BIGINT})
_PLAIN_NUMBERS = NUMBERS - _DECIMALS


def _bytes(array: Column, _: AtomicType, target: AtomicType) -> Column:
    return sized_bytes(array, target)


def _pairs(
    sources: Iterable[TypeRoot], targets: Iterable[TypeRoot]
) -> Iterator[tuple[TypeRoot, TypeRoot]]:
    wanted = tuple(targets)
    return ((source, target) for source in sources for target in wanted)


_CASTS: Mapping[tuple[TypeRoot, TypeRoot], _Cast] = {
    **dict.fromkeys(_pairs(INTEGERS, _PLAIN_NUMBERS), numbers_from_integers),
    **dict.fromkeys(_pairs(FLOATS, _PLAIN_NUMBERS), numbers_from_floats),
    **dict.fromkeys(_pairs(_DECIMALS, _PLAIN_NUMBERS), numbers_from_decimals),
    **dict.fromkeys(_pairs(INTEGERS, _DECIMALS), decimals_from_integers),
    **dict.fromkeys(_pairs(FLOATS, _DECIMALS), decimals_from_floats),
    **dict.fromkeys(_pairs(_DECIMALS, _DECIMALS), decimals_from_decimals),
    **dict.fromkeys(_pairs(_FLAGS, NUMBERS), numbers_from_flags),
    **dict.fromkeys(_pairs(INTEGERS, _FLAGS), flags_from_integers),
    **dict.fromkeys(_pairs(TEXTS, _FLAGS), flags_from_texts),
    **dict.fromkeys(_pairs(TEXTS, INTEGERS), integers_from_texts),
    **dict.fromkeys(_pairs(TEXTS, FLOATS), floats_from_texts),
    **dict.fromkeys(_pairs(TEXTS, _DECIMALS), decimals_from_texts),
    **dict.fromkeys(_pairs(TEXTS, _DATES), dates_from_texts),
    **dict.fromkeys(_pairs(TEXTS, _TIMES), times_from_texts),
    **dict.fromkeys(_pairs(TEXTS, BYTES), bytes_from_texts),
    **dict.fromkeys(_pairs(BYTES, BYTES), _bytes),
    **dict.fromkeys(_pairs(_TIMES, TIMESTAMPS), timestamps_from_times),
    **dict.fromkeys(_pairs(TIMESTAMPS, _SECONDS), integers_from_timestamps),
}
_CASTS_BY_ZONE: Mapping[tuple[TypeRoot, TypeRoot], _CastByZone] = {
    **dict.fromkeys(_pairs(TEXTS, TIMESTAMPS), timestamps_from_texts),
    **dict.fromkeys(_pairs(TIMESTAMPS, TIMESTAMPS), timestamps_from_timestamps),
    **dict.fromkeys(_pairs(TIMESTAMPS, _DATES), dates_from_timestamps),
    **dict.fromkeys(_pairs(TIMESTAMPS, _TIMES), times_from_timestamps),
    **dict.fromkeys(_pairs(_DATES, TIMESTAMPS), timestamps_from_dates),
    **dict.fromkeys(_pairs(_SECONDS, TIMESTAMPS), timestamps_from_integers),
}
