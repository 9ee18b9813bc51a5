"""Schema evolution: maps the columns of a data file to the reading schema.

Fields are matched by id; the file stores them under the names of its own schema. A field that the
file's schema lacks is null in every row (defaults are applied on write, never on read); a field of
another type is cast as in Java. Nested fields are matched by id in the same way, also inside arrays
and maps.

Spec: concepts/spec/schema, "Update Schema". Seen in: golden se_nested, se_casts, se_rename.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo
from functools import lru_cache

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, null_array, take_rows
from paimon_explore.data_types.casts.cast_errors import UncastableError
from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    VectorType,
    with_nullable,
)
from paimon_explore.data_types.traversal import entry_types
from paimon_explore.encoding.arrow_type_conversion import (
    entries_of,
    struct_of_children,
    with_children,
)
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.encoding.data_file_reader import decode_dictionary
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.manifest_arrays import byte_array


@dataclass(frozen=True, slots=True, kw_only=True)
class Casting:
    """Parameters of casts.

    Attributes:
        path: the data file, for messages.
        zone: for casts between TIMESTAMP_LTZ and wall clock times; None for the process's zone.
        partition: binary row of the partition of the file, if known.
        partition_types: types of the partition columns.
    """

    path: str
    zone: tzinfo | None = None
    partition: bytes | None = None
    partition_types: tuple[DataType, ...] = ()

    def partition_value(self, index: int) -> Column:
        """Return the value of a partition column, as an array of one value."""
        if self.partition is None:
            return null_array(1, to_arrow(self.partition_types[index]))
        return _partition_values(self.partition, self.partition_types)[index]


@lru_cache(maxsize=64)
def _partition_values(partition: bytes, types: tuple[DataType, ...]) -> list[Column]:
    """Return the values of a partition, which files that are read one after the other share."""
    return decode_rows(byte_array([partition]), types, where="_PARTITION")


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSource:
    """A field of the reading schema and its source in a file.

    Attributes:
        wanted: the field of the reading schema.
        stored: the field of the file's schema, with ROWs reduced to the fields to read; None if
            the file's schema has no field with this id.
        partition: the index among the partition columns of a column that has the value of the
            file's partition.
    """

    wanted: DataField
    stored: DataField | None
    partition: int | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether stored values are returned as they are."""
        return self.stored is not None and _same_type(self.stored.type, self.wanted.type)

    def column(self, array: "Column | None", rows: int, casting: Casting) -> Column:
        """Converts the stored column to the reading schema.

        Args:
            array: the stored column, n values in `to_arrow(stored.type)`, possibly
                dictionary-encoded; None if it is missing.
            rows: n.
            casting: parameters of casts.

        Raises:
            CorruptFileError: a value cannot be cast.
        """
        if self.stored is None:
            return null_array(rows, to_arrow(self.wanted.type))
        types = self.stored.type, self.wanted.type
        try:
            if self.partition is not None:
                value = adapt(casting.partition_value(self.partition), *types, casting.zone)
                return take_rows(value, np.zeros(rows, np.int64))
            if array is not None:
                return adapt(decode_dictionary(array), *types, casting.zone)
        except UncastableError as error:
            where = f"column {self.wanted.name!r}"
            raise CorruptFileError(casting.path, where, error.reason) from error
        return null_array(rows, to_arrow(self.wanted.type))


def field_sources(
    wanted: Sequence[DataField], stored: Sequence[DataField]
) -> tuple[FieldSource, ...]:
    """Finds the source of each field among the fields of the file's schema."""
    by_id = {field.id: field for field in stored}
    return tuple(_field_source(field, by_id.get(field.id)) for field in wanted)


def _field_source(wanted: DataField, stored: DataField | None) -> FieldSource:
    if stored is not None and not isinstance(stored.type, AtomicType):
        stored = replace(stored, type=pruned(stored.type, wanted.type))
    return FieldSource(wanted=wanted, stored=stored)


def pruned(stored: DataType, wanted: DataType) -> DataType:
    """Removes ROW fields from the stored type that the wanted type does not have, by id.

    A ROW without any wanted field keeps its first one, to determine which rows are null.
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


def _same_type(stored: DataType, wanted: DataType) -> bool:
    return stored == wanted or with_nullable(stored, nullable=wanted.nullable) == wanted


def adapt(array: Column, stored: DataType, wanted: DataType, zone: tzinfo | None) -> Column:
    """Converts values from the file's type to the type of the reading schema.

    Args:
        array: n values in `to_arrow(stored)`.
        stored: the type in the file's schema, possibly pruned.
        wanted: the type in the reading schema.
        zone: for casts between TIMESTAMP_LTZ and wall clock times; None for the process's zone.

    Returns:
        n values in `to_arrow(wanted)`.

    Raises:
        UncastableError: a value cannot be cast.
    """
    if _same_type(stored, wanted):
        return array
    match stored, wanted:
        case RowType(), RowType():
            return _adapt_row(array, stored, wanted, zone)
        case ArrayType(), ArrayType():
            return _adapt_list(array, stored, wanted, zone)
        case ((MapType() | MultisetType()), (MapType() | MultisetType())):
            return _adapt_map(array, stored, wanted, zone)
        case VectorType(), VectorType() if stored.length == wanted.length:
            return _adapt_vector(array, stored, wanted, zone)
        case _:
            from paimon_explore.data_types.casts.cast_column import cast_column  # noqa: PLC0415 - where a type has changed

            return cast_column(array, stored, wanted, zone)


def _adapt_list(array: Column, stored: ArrayType, wanted: ArrayType, zone: tzinfo | None) -> Column:
    assert isinstance(array, pa.ListArray)  # noqa: S101 - by `to_arrow`
    child = adapt(array.values, stored.element, wanted.element, zone)
    return with_children(array, to_arrow(wanted), child)


def _adapt_row(array: Column, stored: RowType, wanted: RowType, zone: tzinfo | None) -> Column:
    assert isinstance(array, pa.StructArray)  # noqa: S101 - by `to_arrow`
    # Flattened, so that fields of null rows are null and cannot fail in a cast.
    members = zip(stored.fields, array.flatten(), strict=True)
    by_id = {field.id: (member, field.type) for field, member in members}
    children = [
        adapt(*by_id[field.id], field.type, zone)
        if field.id in by_id
        else null_array(len(array), to_arrow(field.type))
        for field in wanted.fields
    ]
    return struct_of_children(array, wanted, children)


def _adapt_map(
    array: Column,
    stored: MapType | MultisetType,
    wanted: MapType | MultisetType,
    zone: tzinfo | None,
) -> Column:
    assert isinstance(array, pa.MapArray)  # noqa: S101 - by `to_arrow`
    (key, value), (wanted_key, wanted_value) = entry_types(stored), entry_types(wanted)
    keys = adapt(array.keys, key, wanted_key, zone)
    values = adapt(array.items, value, wanted_value, zone)
    return with_children(array, to_arrow(wanted), entries_of(to_arrow(wanted), keys, values))


def _adapt_vector(
    array: Column, stored: VectorType, wanted: VectorType, zone: tzinfo | None
) -> Column:
    assert isinstance(array, pa.FixedSizeListArray)  # noqa: S101 - by `to_arrow`
    child = adapt(array.values, stored.element, wanted.element, zone)
    return pa.Array.from_buffers(
        to_arrow(wanted), len(array), array.buffers()[:1], offset=array.offset, children=[child]
    )
