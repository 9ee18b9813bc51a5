"""Default values of columns, which schemas hold as text.

Spec: concepts/spec/schema. Writers put them where a column is left out; readers never do.
"""

from datetime import tzinfo

from paimon_explore.data_types.arrow_buffers import Column, string_array
from paimon_explore.data_types.casts.cast_column import cast_column
from paimon_explore.data_types.definitions import MAX_LENGTH, AtomicType, DataType, TypeRoot

_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_QUOTE = "'"


def default_column(text: str, data_type: DataType, zone: tzinfo | None = None) -> Column:
    """One value: a default value's text, single quotes around it left out, in a column's type.

    Raises:
        UncastableError: the text is no value of the type, or the type takes no default values.
    """
    is_quoted = len(text) > 1 and text.startswith(_QUOTE) and text.endswith(_QUOTE)
    bare = text[1:-1] if is_quoted else text
    return cast_column(string_array([bare]), _STRING, data_type, zone)
