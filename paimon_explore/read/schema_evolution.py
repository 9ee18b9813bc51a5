"""Values of a file's schema turned into columns of the reading schema.

Fields are one and the same when their *ids* are equal; the file holds them under the *name* of its
own schema. A wanted field that the file's schema lacks is null in every row (defaults are applied
when writing, never when reading); one of another type is cast as Java casts. Members of ROWs are
matched by id in the same way at any depth, also inside of arrays and maps.

Spec: concepts/spec/schema, "Update Schema". Seen in: golden se_nested, se_casts, se_rename.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, null_array
from paimon_explore.data_types.definitions import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
    with_nullable,
)
from paimon_explore.encoding.arrow_type_conversion import (
    COUNT,
    entries_of,
    struct_of_children,
    with_children,
)
from paimon_explore.encoding.data_file_reader import decode_dictionary
from paimon_explore.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Casting:
    """What casts depend on.

    Attributes:
        path: the data file, for messages.
        zone: where local-zoned timestamps meet wall clocks; None for the zone of this process.
    """

    path: str
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSource:
    """Where a wanted field comes from.

    Attributes:
        wanted: the field of the reading schema.
        stored: the field of the file's schema, its ROWs cut down to the members to read; None when
            the file's schema has no field of that id.
    """

    wanted: DataField
    stored: DataField | None

    def column(self, array: "Column | None", rows: int, casting: Casting) -> Column:
        """The wanted column.

        Args:
            array: the stored column, n values in `to_arrow(stored.type)` or as places in a
                dictionary of that; None when absent.
            rows: n.
            casting: what casts depend on.

        Raises:
            CorruptFileError: a value cannot be cast.
        """
        if self.stored is None or array is None:
            return null_array(rows, to_arrow(self.wanted.type))
        return adapt(decode_dictionary(array), self.stored.type, self.wanted.type, casting)


def field_sources(
    wanted: Sequence[DataField], stored: Sequence[DataField]
) -> tuple[FieldSource, ...]:
    """For each wanted field its source among the fields of the file's schema."""
    by_id = {field.id: field for field in stored}
    return tuple(_field_source(field, by_id.get(field.id)) for field in wanted)


def _field_source(wanted: DataField, stored: DataField | None) -> FieldSource:
    if stored is not None:
        stored = replace(stored, type=pruned(stored.type, wanted.type))
    return FieldSource(wanted=wanted, stored=stored)


def pruned(stored: DataType, wanted: DataType) -> DataType:
    """The stored type with only those ROW members that the wanted type needs, by id.

    A ROW of which no member is wanted keeps its first one: it tells which rows are null.
    """
    match stored, wanted:
        case RowType(), RowType():
            pairs = [(field, wanted.field_by_id(field.id)) for field in stored.fields]
            kept = tuple(
                replace(field, type=pruned(field.type, found.type))
                for field, found in pairs
                if found is not None
            )
            return replace(stored, fields=kept or stored.fields[:1])
        case ArrayType(), ArrayType():
            return replace(stored, element=pruned(stored.element, wanted.element))
        case MapType(), MapType():
            key = pruned(stored.key, wanted.key)
            return replace(stored, key=key, value=pruned(stored.value, wanted.value))
        case MultisetType(), MultisetType():
            return replace(stored, element=pruned(stored.element, wanted.element))
        case _:
            return stored


def adapt(array: Column, stored: DataType, wanted: DataType, casting: Casting) -> Column:
    """Values of one type as values of another.

    Args:
        array: n values in `to_arrow(stored)`.
        stored: as in the file's schema, maybe pruned.
        wanted: as in the reading schema.
        casting: what casts depend on.

    Returns:
        n values in `to_arrow(wanted)`.

    Raises:
        CorruptFileError: a value cannot be cast.
    """
    if with_nullable(stored, nullable=wanted.nullable) == wanted:
        return array
    match stored, wanted:
        case RowType(), RowType():
            return _adapt_row(array, stored, wanted, casting)
        case ArrayType(), ArrayType():
            return _adapt_list(array, stored, wanted, casting)
        case ((MapType() | MultisetType()), (MapType() | MultisetType())):
            return _adapt_map(array, _as_map(stored), _as_map(wanted), casting)
        case VectorType(), VectorType() if stored.length == wanted.length:
            return _adapt_vector(array, stored, wanted, casting)
        case _:
            from paimon_explore.read.column_cast import cast_array  # noqa: PLC0415 - where a type has changed

            return cast_array(array, stored, wanted, zone=casting.zone, path=casting.path)


def _adapt_list(array: Column, stored: ArrayType, wanted: ArrayType, casting: Casting) -> Column:
    assert isinstance(array, pa.ListArray)  # noqa: S101 - by `to_arrow`
    child = adapt(array.values, stored.element, wanted.element, casting)
    return with_children(array, to_arrow(wanted), child)


def _adapt_row(array: Column, stored: RowType, wanted: RowType, casting: Casting) -> Column:
    assert isinstance(array, pa.StructArray)  # noqa: S101 - by `to_arrow`
    # flattened: members of null rows are null too, instead of anything that a cast might trip over
    members = zip(stored.fields, array.flatten(), strict=True)
    by_id = {field.id: (member, field.type) for field, member in members}
    children = [
        adapt(*by_id[field.id], field.type, casting)
        if field.id in by_id
        else null_array(len(array), to_arrow(field.type))
        for field in wanted.fields
    ]
    return struct_of_children(array, wanted, children)


def _as_map(data_type: MapType | MultisetType) -> MapType:
    if isinstance(data_type, MapType):
        return data_type
    return MapType(key=data_type.element, value=COUNT, nullable=data_type.nullable)


def _adapt_map(array: Column, stored: MapType, wanted: MapType, casting: Casting) -> Column:
    assert isinstance(array, pa.MapArray)  # noqa: S101 - by `to_arrow`
    keys = adapt(array.keys, stored.key, wanted.key, casting)
    values = adapt(array.items, stored.value, wanted.value, casting)
    return with_children(array, to_arrow(wanted), entries_of(to_arrow(wanted), keys, values))


def _adapt_vector(
    array: Column, stored: VectorType, wanted: VectorType, casting: Casting
) -> Column:
    assert isinstance(array, pa.FixedSizeListArray)  # noqa: S101 - by `to_arrow`
    child = adapt(array.values, stored.element, wanted.element, casting)
    return pa.Array.from_buffers(
        to_arrow(wanted), len(array), array.buffers()[:1], offset=array.offset, children=[child]
    )
