"""Default values of columns, which schemas store as text.

Writers use them for missing columns; readers never do. Nested values are written as in SQL,
`ARRAY('a', 'b')`, `MAP('k', 1)`, `STRUCT(42, 'x')`, or as `[a, b]`, `{k -> 1}`, `{42, x}`.

Spec: concepts/spec/schema; spark/default-value.
"""

import re
from collections.abc import Iterator

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, string_array
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.casts.cast_errors import uncastable_value
from paimon_explore.data_types.definitions import (
    STRING,
    ArrayType,
    DataType,
    MapType,
    RowType,
    VectorType,
)

_QUOTE = "'"
_NESTED = re.compile(r"(?:(ARRAY|MAP|STRUCT)\s*\((.*)\)|[\[{](.*)[\]}])", re.DOTALL | re.IGNORECASE)
_PART = re.compile(r"""(?:'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|\\.|[^,])+""")


def default_column(text: str, data_type: DataType) -> Column:
    """Convert the text of a default value, with or without single quotes, to a column of one row.

    Raises:
        UncastableError: the text cannot be cast to the type.
    """
    if not isinstance(data_type, ArrayType | VectorType | MapType | RowType):
        return cast_column(string_array([_bare(text)]), STRING, data_type, None)
    return pa.array([_value(_bare(text), data_type)], to_arrow(data_type))


def _bare(text: str) -> str:
    is_quoted = len(text) > 1 and text.startswith(_QUOTE) and text.endswith(_QUOTE)
    return text[1:-1] if is_quoted else text


def _value(text: str, data_type: DataType) -> object:
    """Return the value of a text within a default value; `null` is a null."""
    if text.lower() == "null":
        return None
    found = _NESTED.fullmatch(text)
    if not isinstance(data_type, ArrayType | VectorType | MapType | RowType):
        return default_column(text, data_type)[0].as_py()
    if found is None:
        raise uncastable_value(text, data_type)
    parts = list(_parts(found[2] or found[3] or ""))
    match data_type:
        case MapType():
            if found[1] is None:
                parts = [half.strip() for part in parts for half in part.split("->", 1)]
            if len(parts) % 2:
                raise uncastable_value(text, data_type)
            keys = [_value(part, data_type.key) for part in parts[::2]]
            return list(
                zip(keys, [_value(part, data_type.value) for part in parts[1::2]], strict=True)
            )
        case RowType():
            if len(parts) not in {0, len(data_type.fields)}:
                raise uncastable_value(text, data_type)
            fields = zip(data_type.fields, parts, strict=False)
            return {field.name: _value(part, field.type) for field, part in fields}
        case _:
            return [_value(part, data_type.element) for part in parts]


def _parts(text: str) -> Iterator[str]:
    """Split at the commas that are neither in quotes nor in brackets."""
    whole = ""
    for found in _PART.finditer(text):
        whole += ("," if whole else "") + found[0]
        plain = re.sub(r"'[^']*'|\"[^\"]*\"", "", whole)
        if sum(plain.count(sign) for sign in "([{") <= sum(plain.count(sign) for sign in ")]}"):
            yield whole.strip()
            whole = ""
