"""Formats the values of all types, nested ones too, for table cells.

Texts are not escaped. Long binary values are abbreviated, variants are shown as JSON.
"""

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.data_types.definitions import (
    BYTES,
    SPATIAL,
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
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.rendering.number_format import bytes_text
from paimon_explore.inspection.rendering.value_text import value_texts
from paimon_explore.metadata.manifest.manifest_table import Chunks

MAX_BINARY = 128
"""Maximum number of bytes of a binary value that are shown as hex."""
_BINARY = BYTES | SPATIAL | {TypeRoot.BLOB}


def cell_texts(
    column: Column, data_type: DataType, *, max_binary: int = MAX_BINARY
) -> list[str | None]:
    """The text of each value; None for null.

    >>> from paimon_explore.data_types.json_parser import parse_type
    >>> cell_texts(pa.array([[1, None], None]), parse_type("ARRAY<INT>", "a"))
    ['[1, null]', None]
    """
    match data_type:
        case AtomicType():
            return _atomic_texts(column, data_type, max_binary)
        case RowType():
            return _row_texts(column, data_type, max_binary)
        case ArrayType(element=element) | VectorType(element=element):
            items = cell_texts(_items(column), element, max_binary=max_binary)
            return _lists(column, _plain(items), "[]")
        case MultisetType(element=element):
            count = AtomicType(root=TypeRoot.INT)
            return _map_texts(column, element, count, max_binary)
        case MapType(key=key, value=value):
            return _map_texts(column, key, value, max_binary)


def table_texts(rows: pa.Table, fields: Sequence[DataField]) -> list[list[str | None]]:
    """The cells of the first columns as text, by column."""
    return [cell_texts(rows.column(at).combine_chunks(), one.type) for at, one in enumerate(fields)]


def arrow_texts(column: Chunks) -> list[str | None]:
    """The text of each value, of the Paimon type that the Arrow type stands for; None for null."""
    kind, values = paimon_type(column.type), column.combine_chunks()
    if kind is None:
        return [None if value is None else str(value) for value in as_python(values)]
    return cell_texts(values, kind)


def row_texts(rows: pa.Table) -> list[list[str]]:
    """The cells of each row as text, nulls too."""
    columns = (_plain(arrow_texts(column)) for column in rows.columns)
    return [list(cells) for cells in zip(*columns, strict=True)]


def paimon_type(kind: pa.DataType) -> DataType | None:
    """The Paimon type that an Arrow type stands for; None if there is none."""
    try:
        return from_arrow(kind)
    except PaimonError:
        return None


def _atomic_texts(column: Column, data_type: AtomicType, max_binary: int) -> list[str | None]:
    if data_type.root is TypeRoot.VARIANT:
        return [_variant_text(value) for value in as_python(column)]
    if data_type.root in _BINARY:
        return [_binary_text(value, max_binary) for value in as_python(column)]
    return value_texts(column, data_type)


def _plain(texts: Sequence[str | None]) -> list[str]:
    return ["null" if text is None else text for text in texts]


def _row_texts(column: Column, row_type: RowType, max_binary: int) -> list[str | None]:
    children: list[Column] = column.flatten()  # type: ignore[attr-defined]  # a struct array
    texts = [
        _plain(cell_texts(child, field.type, max_binary=max_binary))
        for child, field in zip(children, row_type.fields, strict=True)
    ]
    valid = as_python(pc.is_valid(column))
    found: list[str | None] = []
    for at, is_valid in enumerate(valid):
        members = (f"{f.name}: {t[at]}" for f, t in zip(row_type.fields, texts, strict=True))
        found.append(f"{{{', '.join(members)}}}" if is_valid else None)
    return found


def _map_texts(column: Column, key: DataType, value: DataType, max_binary: int) -> list[str | None]:
    entries = _items(column)
    keys, values = entries.flatten()  # type: ignore[attr-defined]  # a struct array
    pairs = [
        f"{name}: {text}"
        for name, text in zip(
            _plain(cell_texts(keys, key, max_binary=max_binary)),
            _plain(cell_texts(values, value, max_binary=max_binary)),
            strict=True,
        )
    ]
    return _lists(column, pairs, "{}")


def _items(column: Column) -> Column:
    """The items of all lists that are not null."""
    if isinstance(column, pa.MapArray):
        kept = column.filter(pc.is_valid(column))
        entries = pa.StructArray.from_arrays(
            [kept.keys, kept.items], fields=[column.type.key_field, column.type.item_field]
        )
        start = kept.offsets[0].as_py() if len(kept) else 0
        stop = kept.offsets[-1].as_py() if len(kept) else 0
        return entries.slice(start, stop - start)
    items: Column = column.flatten()  # type: ignore[attr-defined]  # a list array
    return items


def _lists(column: Column, items: Sequence[str], brackets: str) -> list[str | None]:
    sizes = _sizes_of(column)
    found: list[str | None] = []
    start = 0
    for size in sizes:
        if size is None:
            found.append(None)
            continue
        text = ", ".join(items[start : start + size])
        found.append(f"{brackets[0]}{text}{brackets[1]}")
        start += size
    return found


def _sizes_of(column: Column) -> list[int | None]:
    """The size of each list; None for null."""
    if isinstance(column, pa.FixedSizeListArray):
        size = column.type.list_size
        return [size if valid else None for valid in as_python(pc.is_valid(column))]
    if isinstance(column, pa.MapArray):
        offsets = [int(str(offset)) for offset in as_python(column.offsets)]
        valid = as_python(pc.is_valid(column))
        sizes = [end - start for start, end in pairwise(offsets)]
        return [size if ok else None for size, ok in zip(sizes, valid, strict=True)]
    lengths = as_python(pc.call_function("list_value_length", [column]))
    return [size if isinstance(size, int) else None for size in lengths]


def _binary_text(value: object, most: int) -> str | None:
    if not isinstance(value, bytes):
        return None if value is None else str(value)
    if len(value) <= most:
        return f"0x{value.hex()}"
    return f"0x{value[:most].hex()}… ({bytes_text(len(value))})"


def _variant_text(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    try:
        return json_text(value["value"], value["metadata"])
    except PaimonError as error:
        return f"unreadable variant: {error.message}"
