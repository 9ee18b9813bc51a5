"""The values of Arrow columns as Python values that print well.

Dates and times become text, also inside of nested values: Python cannot represent all of them, such
as nanoseconds and years after 9999.
"""

import pyarrow as pa

from paimon_explore.command_line.rendering.machine_text import json_text
from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.sanitize import masked, visible

NULL = "null"
"""The text for null."""


def cell_values(column: Column) -> list[object]:
    """Return the values of a column; dates and times as text."""
    wanted = _text_type(column.type)
    if wanted == column.type:
        return as_python(column)
    try:
        return as_python(column.cast(wanted))
    except pa.ArrowNotImplementedError:  # nested types that Arrow does not cast
        return as_python(column)


def _text_type(data_type: pa.DataType) -> pa.DataType:
    """Return the type with text in place of dates and times."""
    if pa.types.is_temporal(data_type):
        return pa.string()
    if isinstance(data_type, pa.StructType):
        return pa.struct([_text_field(field) for field in data_type])
    if isinstance(data_type, pa.ListType):
        return pa.list_(_text_field(data_type.value_field))
    if isinstance(data_type, pa.MapType):
        key, item = _text_field(data_type.key_field), _text_field(data_type.item_field)
        texts: pa.DataType = pa.map_(key, item)  # type: ignore[call-overload]  # stubs know no fields
        return texts
    return data_type


def _text_field(field: "pa.Field[pa.DataType]") -> "pa.Field[pa.DataType]":
    return field.with_type(_text_type(field.type))


def json_cells(column: Column) -> list[object]:
    """Return the values for JSON: maps with text keys become objects."""
    values = cell_values(column)
    if not pa.types.is_map(column.type) or not pa.types.is_string(column.type.key_type):
        return values
    return [None if value is None else dict(value) for value in values]  # type: ignore[call-overload]  # pairs


def text_cells(column: Column, null: str = NULL) -> list[str]:
    """Return the values as text for people, without control characters."""
    return [null if value is None else _text(value) for value in json_cells(column)]


def _text(value: object) -> str:
    match value:
        case str():
            return visible(value)
        case bytes():
            return f"0x{value.hex()}"
        case bool() | list() | dict() | tuple():
            return json_text(value)
        case float():
            return repr(value)
        case _:
            return visible(str(value))


def masked_texts(table: pa.Table) -> pa.Table:
    """Return a table of metadata with the secrets in its texts masked."""
    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            texts = [masked(value) if isinstance(value, str) else None for value in _all(table, at)]
            table = table.set_column(at, field, pa.array(texts, pa.string()))
    return table


def _all(table: pa.Table, at: int) -> list[object]:
    return as_python(table.column(at).combine_chunks())


def is_number(data_type: pa.DataType) -> bool:
    """Whether values of a type are aligned on the right."""
    return bool(
        pa.types.is_integer(data_type)
        or pa.types.is_floating(data_type)
        or pa.types.is_decimal(data_type)
    )
