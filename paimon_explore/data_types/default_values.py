"""Default values of columns, which schemas store as text.

Writers use them for missing columns; readers never do.

Spec: concepts/spec/schema.
"""

from paimon_explore.data_types.arrow_buffers import Column, string_array
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.definitions import MAX_LENGTH, AtomicType, DataType, TypeRoot

_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_QUOTE = "'"


def default_column(text: str, data_type: DataType) -> Column:
    """Convert the text of a default value, with or without single quotes, to a column of one row.

    Raises:
        UncastableError: the text cannot be cast to the type.
    """
    is_quoted = len(text) > 1 and text.startswith(_QUOTE) and text.endswith(_QUOTE)
    bare = text[1:-1] if is_quoted else text
    return cast_column(string_array([bare]), _STRING, data_type, None)
