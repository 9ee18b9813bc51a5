"""Traversal of nested types."""

from collections.abc import Iterable, Iterator

from paimon_explore.data_types.definitions import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
)
from paimon_explore.errors import UnsupportedFeatureError


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


def entry_types(data_type: MapType | MultisetType) -> tuple[DataType, DataType]:
    """Return the types of keys and values; the values of a multiset are its counts."""
    if isinstance(data_type, MultisetType):
        return data_type.element, AtomicType(root=TypeRoot.INT, nullable=False)
    return data_type.key, data_type.value


def parts(data_type: DataType) -> Iterator[DataType]:
    """Yield the type and all types inside it, outer before inner."""
    yield data_type
    for child in children(data_type):
        yield from parts(child)


def leaf_prefixes(name: str, data_type: DataType) -> list[str]:
    """Return the dotted paths that select a column; fields of a ROW are selected individually.

    Arrays and maps are selected as a whole, as writers name their inner groups differently.
    """
    if not isinstance(data_type, RowType) or not data_type.fields:
        return [name]
    return [
        path
        for field in data_type.fields
        for path in leaf_prefixes(f"{name}.{field.name}", field.type)
    ]


def is_root(data_type: DataType, *roots: TypeRoot) -> bool:
    """Return whether a type is atomic and of one of the kinds."""
    return isinstance(data_type, AtomicType) and data_type.root in roots


def unknown_types(data_type: DataType) -> Iterator[AtomicType]:
    """Yield the types inside a type that a later version of Paimon defined."""
    for part in parts(data_type):
        if isinstance(part, AtomicType) and part.root is TypeRoot.UNKNOWN:
            yield part


def check_known_types(fields: Iterable[DataField], act: str) -> None:
    """Check that all types of columns are known.

    Raises:
        UnsupportedFeatureError: a later version of Paimon defined the type of a column.
    """
    for field in fields:
        for part in unknown_types(field.type):
            raise UnsupportedFeatureError(
                f"{act} column {field.name!r} of the unknown type {part.parameters[0]}",
                hint="Select other columns, or use a newer version of paimon_explore.",
            )


def is_blob_file_type(data_type: DataType) -> bool:
    """Return whether the type is stored in blob files: BLOB, ARRAY<BLOB>, MAP<x, BLOB>."""
    match data_type:
        case ArrayType():
            return is_root(data_type.element, TypeRoot.BLOB)
        case MapType():
            return is_root(data_type.value, TypeRoot.BLOB)
        case _:
            return is_root(data_type, TypeRoot.BLOB)
