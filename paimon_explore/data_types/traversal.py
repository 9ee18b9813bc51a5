"""Traversal of nested types."""

from collections.abc import Iterator

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


def children(data_type: DataType) -> tuple[DataType, ...]:
    """Return the types directly inside a type: elements, keys before values, fields in order."""
    match data_type:
        case AtomicType():
            return ()
        case ArrayType() | VectorType() | MultisetType():
            return (data_type.element,)
        case MapType():
            return (data_type.key, data_type.value)
        case RowType():
            return tuple(field.type for field in data_type.fields)


def parts(data_type: DataType) -> Iterator[DataType]:
    """Yield the type and all types inside it, outer before inner."""
    yield data_type
    for child in children(data_type):
        yield from parts(child)


def is_root(data_type: DataType, *roots: TypeRoot) -> bool:
    """Return whether a type is atomic and of one of the kinds."""
    return isinstance(data_type, AtomicType) and data_type.root in roots


def is_blob_file_type(data_type: DataType) -> bool:
    """Return whether the type is stored in blob files: BLOB, ARRAY<BLOB>, MAP<x, BLOB>."""
    match data_type:
        case ArrayType():
            return is_root(data_type.element, TypeRoot.BLOB)
        case MapType():
            return is_root(data_type.value, TypeRoot.BLOB)
        case _:
            return is_root(data_type, TypeRoot.BLOB)
