"""Conversion of decoded columns from the physical types of a file to the Arrow types of the schema.

Writers differ in physical types: decimals as integers or bytes, timestamps of any unit, TINYINT as
plain INT32, maps as lists of key and value structs, vectors as lists, shredded variants. Values do
not change; a value that does not fit the column's type is an error. Schema evolution is a later
step (`read/schema_evolution.py`).

Spec: concepts/spec/fileformat, type mappings.

Decoder of INT96 timestamps: nanoseconds of the day (int64), Julian day (int32), little-endian.

The Java writer truncates negative milliseconds toward zero, so the nanoseconds of a timestamp
before 1970 may be negative. Arrow's decoder wraps around outside 1677 to 2262; this one raises
an error.

Seen in: golden java200/ts9_negative.
"""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
from pyarrow import lib

from paimon_explore.data_types.arrow import PER_SECOND, VARIANT_ARROW, arrow_field, to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Bytes,
    Column,
    ListColumn,
    MapColumn,
    as_bytes,
    as_python,
    build_fixed,
    fixed_values,
    null_array,
    scaled_sum,
    used_bytes,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError

_INT64_MAX = 2**63 - 1
_OTHER_LISTS = (pa.LargeListType, pa.FixedSizeListType, pa.ListViewType, pa.LargeListViewType)
_ENTRY_FIELDS = 2

_WORD = 8
_HIGH_BITS = 0x8080_8080_8080_8080
_FEW_TEXTS = 64
"""Number of texts up to which Python is faster."""


def conform(array: Column, data_type: DataType, *, path: str, column: str) -> Column:
    """Convert a column to `to_arrow(data_type)` without changing its values.

    Args:
        array: n values in any physical type used by writers.
        data_type: the column's type in the schema of the file. Fields of a ROW are matched by
            name; missing ones are null.
        path: path of the file, for errors.
        column: name of the column, for errors.

    Raises:
        CorruptFileError: the array's type cannot be converted to the column's, or a value does not
        fit.
        UnsupportedFeatureError: a timestamp is out of range for the Arrow type.
    """
    match data_type:
        case AtomicType():
            return _atomic(array, data_type, path, column)
        case ArrayType():
            return _list(array, data_type, path, column)
        case VectorType():
            return _vector(array, data_type, path, column)
        case MapType() | MultisetType():
            return _map(array, data_type, path, column)
        case RowType():
            return _row(array, data_type, path, column)


def is_conform(source: pa.DataType, data_type: DataType) -> bool:
    """Return whether `conform` returns every array of a physical type unchanged."""
    return (
        isinstance(data_type, AtomicType)
        and data_type.root is not TypeRoot.VARIANT
        and not pa.types.is_string(source)
        and source == to_arrow(data_type)
    )


def _mismatch(array: Column, expected: str, path: str, column: str) -> CorruptFileError:
    return CorruptFileError(path, f"column {column!r}", f"must be {expected}, not {array.type}")


def _atomic(array: Column, data_type: AtomicType, path: str, column: str) -> Column:
    target = to_arrow(data_type)
    if data_type.root is TypeRoot.VARIANT:
        return _variant(array, path, column)
    if array.type == target:
        if pa.types.is_string(target):
            check_utf8(array, path=path, column=column)
        return array
    if isinstance(target, pa.TimestampType):
        return _timestamp(array, target, path, column)
    source = _unwrapped(array)
    if isinstance(target, pa.Decimal128Type) and pa.types.is_integer(source.type):
        source = _unscaled(source, target.scale)
    if not _may_cast(source.type, target):
        raise _mismatch(array, str(target), path, column)
    try:
        values: Column = source.cast(target)
        if pa.types.is_string(target):
            check_utf8(values, path=path, column=column)
    except pa.ArrowInvalid as error:
        rule = f"a value does not fit {target}: {error}"
        raise CorruptFileError(path, f"column {column!r}", rule) from error
    return values


def _unwrapped(array: Column) -> Column:
    """Decode dictionaries and replace extension types by their storage."""
    if isinstance(array, pa.DictionaryArray):
        return array.dictionary_decode()
    if isinstance(array, pa.ExtensionArray):
        storage: Column = array.storage
        return storage
    return array


def _may_cast(source: pa.DataType, target: pa.DataType) -> bool:
    """Return whether two types are physical types of the same kind of value."""
    kind = _KINDS.get(target.id)
    # ORC stores TIME as an int, and so do some writers with DATE
    as_int = source == pa.int32() and kind in ("date", "time")
    return kind is not None and (as_int or _KINDS.get(source.id) == kind)


_INTEGERS = (lib.Type_INT8, lib.Type_INT16, lib.Type_INT32, lib.Type_INT64)
_UNSIGNED = (lib.Type_UINT8, lib.Type_UINT16, lib.Type_UINT32, lib.Type_UINT64)
_TEXTS = (lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW)
_BINARIES = (lib.Type_BINARY, lib.Type_LARGE_BINARY, lib.Type_BINARY_VIEW)
_BY_KIND: Mapping[str, tuple[int, ...]] = {
    "boolean": (lib.Type_BOOL,),
    "integer": (*_INTEGERS, *_UNSIGNED),
    "float": (lib.Type_HALF_FLOAT, lib.Type_FLOAT, lib.Type_DOUBLE),
    "decimal": (pa.decimal32(1).id, pa.decimal64(1).id, lib.Type_DECIMAL128, lib.Type_DECIMAL256),
    "date": (lib.Type_DATE32, lib.Type_DATE64),
    "time": (lib.Type_TIME32, lib.Type_TIME64),
    "bytes": (*_TEXTS, *_BINARIES, lib.Type_FIXED_SIZE_BINARY),
}
_KINDS: Mapping[int, str] = {id_: kind for kind, ids in _BY_KIND.items() for id_ in ids}


def _unscaled(array: Column, scale: int) -> Column:
    """Convert unscaled integers to decimals of a scale."""
    digits = array.cast(pa.int64()).cast(pa.decimal128(38, 0))
    scaled = pa.decimal128(38, scale)
    return pa.Array.from_buffers(scaled, len(digits), digits.buffers(), offset=digits.offset)


def _timestamp(array: Column, target: pa.TimestampType, path: str, column: str) -> Column:
    source = array.type
    if pa.types.is_fixed_size_binary(source) and source.byte_width == WIDTH:
        return decode_int96(array, target, where=f"{path}, column {column!r}")
    if pa.types.is_int64(source):
        raise _mismatch(array, str(target), path, column)
    if not isinstance(source, pa.TimestampType):
        raise _mismatch(array, str(target), path, column)
    if source.unit == target.unit:
        return array.view(target)
    valid = valid_mask(array)
    values = np.where(valid, fixed_values(array, np.int64), 0)
    have, want = PER_SECOND[source.unit], PER_SECOND[target.unit]
    if have > want:
        return build_fixed(target, values // (have // want), valid)
    factor = want // have
    if bool(np.any(np.abs(values) > _INT64_MAX // factor)):
        raise UnsupportedFeatureError(
            f"A timestamp out of range for Arrow's {target}", f"{path}, column {column!r}"
        )
    return build_fixed(target, values * factor, valid)


def _as_list(array: Column, path: str, column: str) -> "ListColumn | MapColumn":
    """Convert any list type to a list or map with 32-bit offsets."""
    if isinstance(array.type, _OTHER_LISTS):
        array = array.cast(pa.list_(array.type.field(0)))
    if not isinstance(array, pa.ListArray | pa.MapArray):
        raise _mismatch(array, "a list", path, column)
    return array


def _list(array: Column, data_type: ArrayType, path: str, column: str) -> Column:
    source = _as_list(array, path, column)
    element = conform(source.values, data_type.element, path=path, column=f"{column}.element")
    return with_children(source, to_arrow(data_type), element)


def with_children(array: Column, target: pa.DataType, child: Column) -> Column:
    """Build a list or map array with a new type and child; offsets and nulls are shared."""
    return pa.Array.from_buffers(
        target, len(array), array.buffers()[:2], offset=array.offset, children=[child]
    )


def _vector(array: Column, data_type: VectorType, path: str, column: str) -> Column:
    target = to_arrow(data_type)
    plain = ArrayType(element=data_type.element, nullable=data_type.nullable)
    try:
        return _list(array, plain, path, column).cast(target)
    except pa.ArrowInvalid as error:
        rule = f"must contain vectors of {data_type.length} elements: {error}"
        raise CorruptFileError(path, f"column {column!r}", rule) from error


def _map(array: Column, data_type: MapType | MultisetType, path: str, column: str) -> Column:
    key, value = entry_types(data_type)
    source = _as_list(array, path, column)
    entries = source.values
    if not isinstance(entries, pa.StructArray) or entries.type.num_fields != _ENTRY_FIELDS:
        raise _mismatch(array, "a map", path, column)
    keys = conform(entries.field(0), key, path=path, column=f"{column}.key")
    values = conform(entries.field(1), value, path=path, column=f"{column}.value")
    if keys.null_count:
        raise CorruptFileError(path, f"column {column!r}", "a map key must not be null")
    return with_children(source, to_arrow(data_type), entries_of(to_arrow(data_type), keys, values))


def entries_of(map_type: pa.DataType, keys: Column, values: Column) -> Column:
    """Build the child of a map array."""
    assert isinstance(map_type, pa.MapType)  # noqa: S101 - of to_arrow
    fields = [map_type.key_field, map_type.item_field]
    return pa.StructArray.from_arrays([keys, values], fields=fields)


def _row(array: Column, data_type: RowType, path: str, column: str) -> Column:
    if not isinstance(array, pa.StructArray):
        raise _mismatch(array, "a struct", path, column)
    stored = {array.type.field(i).name: i for i in range(array.type.num_fields)}
    children = [
        conform(
            array.field(stored[field.name]), field.type, path=path, column=f"{column}.{field.name}"
        )
        if field.name in stored
        else null_array(len(array), to_arrow(field.type))
        for field in data_type.fields
    ]
    return struct_of_children(array, data_type, children)


def struct_of_children(array: Column, data_type: RowType, children: list[Column]) -> Column:
    """Build a struct of `to_arrow(data_type)` with the nulls of `array`."""
    fields = [arrow_field(field) for field in data_type.fields]
    mask = array.is_null() if array.null_count else None
    if not fields:
        return pa.array([{}] * len(array), pa.struct([]), mask=mask)
    return pa.StructArray.from_arrays(children, fields=fields, mask=mask)


def _variant(array: Column, path: str, column: str) -> Column:
    if not isinstance(array, pa.StructArray):
        raise _mismatch(array, "a variant", path, column)
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    if {"metadata", "typed_value"} <= set(names):
        from paimon_explore.encoding.variant.shredding import assemble  # noqa: PLC0415 - for shredded ones

        return assemble(array, path=path, column=column)
    if not {"metadata", "value"} <= set(names):
        raise _mismatch(array, "a variant", path, column)
    parts = [array.field(names.index(part.name)) for part in VARIANT_ARROW]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(parts, fields=list(VARIANT_ARROW), mask=mask)


def check_utf8(texts: Column, *, path: str, column: str) -> None:
    """Check that texts are UTF-8; otherwise the first access to a value would fail.

    Args:
        texts: n texts.
        path: path of the file, for errors.
        column: name of the column, for errors.

    Raises:
        CorruptFileError: a text is not UTF-8.
    """
    if _is_ascii(used_bytes(texts)):
        return
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(path, f"column {column!r}", f"must be UTF-8: {error}") from error


def is_utf8(texts: Column) -> bool:
    """Return whether all texts are UTF-8, which Arrow does not check where it makes them."""
    if len(texts) <= _FEW_TEXTS:
        try:
            as_python(texts)
        except UnicodeDecodeError:
            return False
        return True
    try:
        check_utf8(texts, path="", column="")
    except CorruptFileError:
        return False
    return True


def _is_ascii(data: Bytes) -> bool:
    """Return whether no byte has its highest bit set, testing eight bytes at a time."""
    whole = len(data) // _WORD * _WORD
    words = int(np.bitwise_or.reduce(data[:whole].view(np.uint64))) if whole else 0
    rest = int(np.bitwise_or.reduce(data[whole:])) if len(data) > whole else 0
    return not (words | rest) & _HIGH_BITS


WIDTH = 12
"""Bytes per value."""

_EPOCH_JULIAN_DAY = 2_440_588
_NANOS: Mapping[str, int] = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NANOS_PER_DAY = 86_400 * 10**9


def decode_int96(array: Column, target: pa.DataType, *, where: str) -> Column:
    """Decode 12-byte fixed-length binaries to timestamps.

    Args:
        array: n values, type fixed_size_binary(12).
        target: the timestamp type of the result; finer fractions are rounded down.
        where: file and column, for errors.

    Raises:
        UnsupportedFeatureError: a timestamp is out of range for the target type.

    >>> raw = (0).to_bytes(8, "little") + (2440589).to_bytes(4, "little")
    >>> decode_int96(pa.array([raw], pa.binary(12)), pa.timestamp("ms"), where="t")[0].value
    86400000
    """
    assert isinstance(target, pa.TimestampType)  # noqa: S101 - ensured by callers
    start = array.offset * WIDTH
    raw = as_bytes(array.buffers()[1])[start : start + len(array) * WIDTH].reshape(-1, WIDTH)
    valid = valid_mask(array)
    nanos = np.where(valid, np.ascontiguousarray(raw[:, :8]).view("<i8").reshape(-1), 0)
    julian = np.ascontiguousarray(raw[:, 8:]).view("<i4").reshape(-1).astype(np.int64)
    days = np.where(valid, julian - _EPOCH_JULIAN_DAY, 0)
    per_unit = _NANOS[target.unit]
    per_day = _NANOS_PER_DAY // per_unit
    fraction = nanos // per_unit
    values, fits = scaled_sum(days, per_day, fraction)
    if not fits.all() or bool(((fraction > per_day) | (fraction < -per_day)).any()):
        raise UnsupportedFeatureError(
            f"A timestamp out of range for Arrow's {target}", where, hint=_COARSER
        )
    return build_fixed(target, values, valid)


_COARSER = "Read the column as a timestamp of a lower precision."
