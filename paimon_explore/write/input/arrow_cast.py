"""Cast Arrow columns of input data to the types of a table without changing any value.

`cast_policy` and `safe_cast` define which casts of single values are allowed. This module applies
them to nested types: lists, maps and rows are cast recursively. The error for the first value that
does not fit names its column, path and row.
"""

from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pat

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.array_sizes import without_surroundings
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_list,
    build_struct,
    concat_arrays,
    is_large,
    list_offsets,
    offsets_from_sizes,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
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
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.errors import choices
from paimon_explore.write.input.cast_policy import cast_values
from paimon_explore.write.input.safe_cast import Misfit
from paimon_explore.write.input.value_location import Location
from paimon_explore.write.input.variant_values import variants_of_arrow

NestedType: TypeAlias = RowType | ArrayType | VectorType | MapType | MultisetType

_OTHER_LISTS = (pa.LargeListArray, pa.FixedSizeListArray, pa.ListViewArray, pa.LargeListViewArray)
_VARIANT_PART = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)


def conform(array: Column, data_type: DataType, *, where: str, first_row: int = 0) -> Column:
    """Cast values to the Arrow type of a column.

    Args:
        array: n values of any Arrow type.
        data_type: the column's type.
        where: the column name, for error messages; the path in a nested type is appended to it.
        first_row: the row number of the first value, for error messages; -1 if unknown.

    Returns:
        n values in `to_arrow(data_type)`.

    Raises:
        InvalidInputError: a value does not fit, or is null in a NOT NULL column.
    """
    row_of = None if first_row < 0 else lambda position: first_row + position
    return conform_at(array, data_type, Location(column=where, row_of=row_of))


def conform_at(array: Column, data_type: DataType, location: Location) -> Column:
    """Cast values like `conform`, with row numbers from a location."""
    return _Cast(location).column(array, data_type)


def plain_form(array: Column) -> Column:
    """Decode dictionary, run-end and extension arrays to plain arrays that can be cast."""
    if array.offset and is_large(array.type):
        return without_surroundings(array)
    if isinstance(array, pa.ExtensionArray):
        return plain_form(array.storage)
    if isinstance(array, pa.RunEndEncodedArray):
        found: Column = pc.call_function("run_end_decode", [array])
        return plain_form(found)
    if isinstance(array, pa.DictionaryArray):
        values: Column = array.dictionary
        if pat.is_string_view(values.type) or pat.is_binary_view(values.type):
            # pyarrow has no take() for views
            values = values.cast(pa.string() if pat.is_string_view(values.type) else pa.binary())
        return plain_form(values.take(array.indices))
    return array


def nulls_of(count: int, data_type: DataType) -> Column:
    """Build n nulls of a column's type; NOT NULL fields below them hold empty values."""
    target = to_arrow(data_type)
    nulls: Column = pa.nulls(count, target)  # type: ignore[call-overload]  # stubs list single types
    if not isinstance(nulls, pa.StructArray):
        return nulls
    children = _filled_fields(nulls, data_type)
    return build_struct(target, children, np.zeros(count, np.bool_))


def filled(array: Column, data_type: DataType) -> Column:
    """Replace nulls of a NOT NULL field, which occur below null rows, by empty values.

    The Parquet writer rejects nulls there.
    """
    if not array.null_count:
        return array
    valid = np.ones(len(array), np.bool_)
    if isinstance(array, pa.StructArray):
        return build_struct(array.type, _filled_fields(array, data_type), valid)
    if isinstance(array, pa.ListArray):  # or a map
        return build_list(array.type, list_offsets(array), [array.values], valid)
    if isinstance(array, pa.FixedSizeListArray):
        return array
    buffers = [None, *array.buffers()[1:]]
    return pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)


def _filled_fields(array: pa.StructArray, data_type: DataType) -> list[Column]:
    found: list[Column] = [array.field(index) for index in range(array.type.num_fields)]
    if not isinstance(data_type, RowType):  # a variant
        return [filled(part, _VARIANT_PART) for part in found]
    return [
        child if field.type.nullable else filled(child, field.type)
        for child, field in zip(found, data_type, strict=True)
    ]


class _Cast:
    """Casts the values of one column; errors name their location."""

    def __init__(self, location: Location) -> None:
        self._at = location

    def column(self, array: Column, data_type: DataType) -> Column:
        target = to_arrow(data_type)
        array = plain_form(array)
        if not data_type.nullable and array.null_count:
            position = int((~valid_mask(array)).argmax())
            raise self._at.error("the value is null, but the column is NOT NULL", position=position)
        is_unknown = pat.is_null(array.type) or pat.is_floating(array.type)
        if is_unknown and array.null_count == len(array):  # pandas' type of missing values
            return nulls_of(len(array), data_type)
        if isinstance(data_type, AtomicType):
            if data_type.root is TypeRoot.VARIANT:
                return variants_of_arrow(array, data_type, self._at)
            return self._atomic(array, data_type)
        return self._nested(array, data_type, target)

    def _atomic(self, array: Column, data_type: AtomicType) -> Column:
        found = cast_values(array, data_type, is_python=self._at.values is not None)
        if not isinstance(found, Misfit):
            return found
        if found.position is None:
            subject = f"values of type {array.type}"
        else:
            subject = self._at.value_text(array, found.position)
            if found.is_type:
                subject = f"{subject} of type {self._at.type_name(array, found.position)}"
        raise self._at.error(
            f"{subject} {found.problem}",
            data_type=with_nullable(data_type, nullable=True),
            position=found.position,
            hint=found.hint,
        )

    def _wrong_type(self, array: Column, data_type: DataType, expected: str) -> Exception:
        """Return the error for values that are not lists, maps or rows."""
        found = np.flatnonzero(valid_mask(array))
        position = int(found[0]) if len(found) else None
        return self._at.error(
            f"the values must be {expected}, not of type {array.type}", data_type, position
        )

    def _nested(self, array: Column, data_type: NestedType, target: pa.DataType) -> Column:
        match data_type:
            case RowType():
                return self._row(array, data_type, target)
            case ArrayType(element=element):
                return self._list(array, element, target)
            case VectorType():
                return self._vector(array, data_type, target)
            case MapType() | MultisetType():
                return self._map(array, data_type)

    def _row(self, array: Column, data_type: RowType, target: pa.DataType) -> Column:
        if not isinstance(array, pa.StructArray):
            raise self._wrong_type(array, data_type, "rows")
        names = [field.name for field in array.type]
        unknown = [name for name in names if data_type.field(name) is None]
        if unknown:
            known = choices(data_type.names)
            raise self._at.error(
                f"the ROW type has no field {unknown[0]!r}; its fields are {known}"
            )
        valid = valid_mask(array)
        given = dict(zip(names, array.flatten(), strict=True))  # null where the row is
        children: list[Column] = []
        for field in data_type:
            child: Column = given[field.name] if field.name in given else pa.nulls(len(array))
            inner = self._at.part(f".{field.name}")
            lacking = valid & ~valid_mask(child)
            if not field.type.nullable and bool(lacking.any()):
                raise inner.error(
                    "the value is null, but the field is NOT NULL", position=int(lacking.argmax())
                )
            kind = with_nullable(field.type, nullable=True)
            cast = _Cast(inner).column(child, kind)
            children.append(cast if field.type.nullable else filled(cast, field.type))
        return build_struct(target, children, valid)

    def _list(self, array: Column, element: DataType, target: pa.DataType) -> Column:
        if isinstance(array, _OTHER_LISTS):
            array = _plain_list(array)
        if not isinstance(array, pa.ListArray):
            raise self._wrong_type(array, ArrayType(element=element), "lists")
        offsets = _dense_offsets(array)
        inner = _Cast(self._at.elements("[]", offsets))
        values = inner.column(array.flatten(), element)
        return build_list(target, offsets, [values], valid_mask(array))

    def _vector(self, array: Column, data_type: VectorType, target: pa.DataType) -> Column:
        if not isinstance(array, pa.FixedSizeListArray):
            array = self._fixed_size(array, data_type)
        assert isinstance(array, pa.FixedSizeListArray)  # noqa: S101 - it is one now
        if array.type.list_size != data_type.length:
            problem = (
                f"the vectors must have {data_type.length} elements, not {array.type.list_size}"
            )
            raise self._at.error(problem, data_type=data_type)
        valid, size = valid_mask(array), data_type.length
        offsets = offsets_from_sizes(valid * np.int64(size))
        inner = _Cast(self._at.elements("[]", offsets))
        live = inner.column(array.flatten(), data_type.element)
        if not valid.all():
            element = with_nullable(data_type.element, nullable=True)
            parts = concat_arrays([live, nulls_of(1, element)])
            starts = np.where(valid, offsets[:-1], len(live))
            steps = np.where(valid[:, None], np.arange(size), 0)
            live = take_rows(parts, (starts[:, None] + steps).ravel())
            live = live if data_type.element.nullable else filled(live, data_type.element)
        return build_struct(target, [live], valid)

    def _fixed_size(self, array: Column, data_type: VectorType) -> Column:
        if not isinstance(array, (pa.ListArray, *_OTHER_LISTS)):
            raise self._wrong_type(array, data_type, "vectors")
        array = _plain_list(array)
        sizes = np.diff(list_offsets(array))
        wrong = (sizes != data_type.length) & valid_mask(array)
        if wrong.any():
            position = int(wrong.argmax())
            problem = f"the vector must have {data_type.length} elements, not {sizes[position]}"
            raise self._at.error(problem, data_type, position)
        return array.cast(pa.list_(array.type.field(0), data_type.length))

    def _map(self, array: Column, data_type: MapType | MultisetType) -> Column:
        key, value = entry_types(data_type)
        if not isinstance(array, pa.MapArray):
            raise self._wrong_type(array, data_type, "maps")
        target = to_arrow(data_type)
        entries = array.values  # of which `array.keys` and `array.items` ignore an offset
        parts: list[Column] = [entries.field(0), entries.field(1)]  # type: ignore[attr-defined]  # a struct array
        pairs = pa.StructArray.from_arrays(parts, names=["key", "value"])
        dense = _as_list(array, pairs)
        live_keys, live_items = dense.flatten().flatten()  # type: ignore[attr-defined]  # a list array of structs
        offsets = _dense_offsets(dense)
        in_keys, in_values = (self._at.elements(part, offsets) for part in ("{key}", "{value}"))
        keys = _Cast(in_keys).column(live_keys, with_nullable(key, nullable=False))
        items = _Cast(in_values).column(live_items, value)
        entries = build_struct(target.field(0).type, [keys, items], np.ones(len(keys), np.bool_))
        return build_list(target, offsets, [entries], valid_mask(array))


def _plain_list(array: Column) -> Column:
    """Return any lists as a list array; the casts of Arrow lose elements of list views."""
    if isinstance(array, pa.ListArray):
        return array
    if isinstance(array, pa.LargeListArray | pa.FixedSizeListArray):
        found: Column = array.cast(pa.list_(array.type.value_type))
        return found
    assert isinstance(array, pa.ListViewArray | pa.LargeListViewArray)  # noqa: S101 - it is a list
    valid = valid_mask(array)
    offsets = offsets_from_sizes(np.array(array.sizes) * valid)
    values = array.flatten()
    return build_list(pa.list_(values.type), offsets, [values], valid)


def _as_list(array: Column, pairs: Column) -> Column:
    """Return the map as a list of its key-value pairs."""
    return pa.Array.from_buffers(
        pa.list_(pairs.type),
        len(array),
        array.buffers()[:2],
        array.null_count,
        array.offset,
        children=[pairs],
    )


def _dense_offsets(array: Column) -> Ints:
    """Return offsets into `array.flatten()`, which omits the elements below null lists."""
    return offsets_from_sizes(np.diff(list_offsets(array)) * valid_mask(array))
