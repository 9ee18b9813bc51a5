"""Change the types of columns in the footer of a new Parquet file to those that pyarrow lacks.

Paimon stores timestamps of precision 7 to 9 as INT96. pyarrow writes INT96 either for all
timestamps of a file or for none. Such columns are therefore written as 12-byte fixed-length
binaries without statistics, whose pages are identical to those of INT96 columns; then their type is
changed in the footer, the only place that names it. Likewise GEOMETRY and GEOGRAPHY columns are
binaries without statistics that get their logical type there: Parquet defines no order of them.

Spec: github.com/apache/parquet-format, `parquet.thrift`.
"""

from collections.abc import Mapping

from paimon_explore.data_types.definitions import SPATIAL, AtomicType, TypeRoot
from paimon_explore.encoding.parquet.footer_fixes import MAGIC, TAIL_BYTES
from paimon_explore.encoding.parquet.thrift_compact import (
    Struct,
    ThriftList,
    Wire,
    decode_struct,
    encode_struct,
    int_of,
    struct_of,
    structs_of,
)

_FOOTER_SCHEMA, _FOOTER_ROW_GROUPS = 2, 4
_ELEMENT_TYPE, _ELEMENT_LENGTH, _ELEMENT_NAME, _ELEMENT_CHILDREN = 1, 2, 4, 5
_ELEMENT_LOGICAL_TYPE, _GEOMETRY, _GEOGRAPHY = 10, 17, 18
_ALGORITHMS = ("spherical", "vincenty", "thomas", "andoyer", "karney")
_GROUP_COLUMNS, _COLUMN_META, _META_TYPE, _META_PATH = 1, 3, 1, 3
_INT96 = (Wire.I32, 3)

Path = tuple[str, ...]


def with_types(ending: bytes, columns: Mapping[Path, AtomicType]) -> bytes:
    """Rewrite the end of a Parquet file with the types of some columns changed.

    Args:
        ending: the last bytes of the file, including the whole footer.
        columns: leaf columns by their path in the Parquet schema: a GEOMETRY or GEOGRAPHY, or a
            timestamp, which is a 12-byte binary and becomes INT96.

    Returns:
        The bytes that replace `ending`.
    """
    start = len(ending) - TAIL_BYTES - int.from_bytes(ending[-TAIL_BYTES:-4], "little")
    footer = decode_struct(ending[start:])
    _mark_elements(list(structs_of(footer[_FOOTER_SCHEMA][1])), columns)
    for group in structs_of(footer[_FOOTER_ROW_GROUPS][1]):
        for column in structs_of(group[_GROUP_COLUMNS][1]):
            meta = struct_of(column[_COLUMN_META][1])
            kind = columns.get(_path(meta))
            if kind is not None and kind.root not in SPATIAL:
                meta[_META_TYPE] = _INT96
    changed = encode_struct(footer)
    return ending[:start] + changed + len(changed).to_bytes(4, "little") + MAGIC


def _path(meta: Struct) -> Path:
    parts = meta[_META_PATH][1]
    return tuple(_text(part) for part in parts.items) if isinstance(parts, ThriftList) else ()


def _mark_elements(elements: list[Struct], leaves: Mapping[Path, AtomicType]) -> None:
    """Change the type of the given leaves of the schema, which is flattened depth first."""
    open_groups: list[tuple[Path, int]] = [((), int_of(elements[0], _ELEMENT_CHILDREN) or 0)]
    for element in elements[1:]:
        above, left = open_groups.pop()
        if left > 1:
            open_groups.append((above, left - 1))
        path = (*above, _text(element[_ELEMENT_NAME][1]))
        kind = leaves.get(path)
        if kind is not None and kind.root in SPATIAL:
            element[_ELEMENT_LOGICAL_TYPE] = (Wire.STRUCT, _logical_type(kind))
        elif kind is not None:
            element[_ELEMENT_TYPE] = _INT96
            del element[_ELEMENT_LENGTH]
        if children := int_of(element, _ELEMENT_CHILDREN):
            open_groups.append((path, children))


def _logical_type(kind: AtomicType) -> Struct:
    crs, *algorithm = kind.parameters
    members: Struct = {1: (Wire.BINARY, crs.encode())}
    if algorithm:
        members[2] = (Wire.I32, _ALGORITHMS.index(algorithm[0]))
    field = _GEOMETRY if kind.root is TypeRoot.GEOMETRY else _GEOGRAPHY
    return {field: (Wire.STRUCT, members)}


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else ""
