"""Schema projection of nested manifest records: fields are matched by name.

Paimon releases add fields to nested records, and Avro, ORC and Parquet all store field names. So a
nullable field that is missing in the file is null, an unknown field is skipped, and the order of
fields in the file does not matter.
"""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Column,
    build_list,
    build_struct,
    list_offsets,
    offsets_from_sizes,
    valid_mask,
)
from paimon_explore.errors import CorruptFileError


def project_record(array: Column, wanted: pa.DataType, *, path: str, where: str) -> Column:
    """Project values to the fields of another type, at every nesting level.

    Args:
        array: n values as stored in the file.
        wanted: the target type, with the field names of the file.
        path: of the file, for messages.
        where: the field, for messages.

    Raises:
        CorruptFileError: a required field is missing or null, or a list contains a null record.
        pa.ArrowException: a value cannot be cast to the target type.
    """
    if isinstance(array, pa.ListArray) and isinstance(wanted, pa.ListType):
        items = project_record(array.flatten(), wanted.value_type, path=path, where=where)
        if isinstance(wanted.value_type, pa.StructType) and items.null_count:
            raise CorruptFileError(path, where, "must not contain null")
        valid = valid_mask(array)
        offsets = offsets_from_sizes(np.where(valid, np.diff(list_offsets(array)), 0))
        return build_list(wanted, offsets, [items], valid)
    if isinstance(array, pa.StructArray) and isinstance(wanted, pa.StructType):
        fields = [wanted.field(index) for index in range(wanted.num_fields)]
        children = [_child(array, field, path, where) for field in fields]
        return build_struct(wanted, children, valid_mask(array))
    return array if array.type == wanted else array.cast(wanted)


def _child(array: pa.StructArray, field: "pa.Field[pa.DataType]", path: str, where: str) -> Column:
    where = f"{where}.{field.name}"
    index = array.type.get_field_index(field.name)
    needed = not field.nullable and array.null_count < len(array)
    if index < 0:
        if needed:
            raise CorruptFileError(path, where, "must be present")
        return pa.nulls(len(array), field.type)  # type: ignore[call-overload,no-any-return]  # in stubs
    child = project_record(array.field(index), field.type, path=path, where=where)
    if needed and child.null_count and bool((valid_mask(array) & ~valid_mask(child)).any()):
        raise CorruptFileError(path, where, "must not be null")
    return child
