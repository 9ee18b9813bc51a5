"""Column functions, most of them on texts and bytes, by what they do."""

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Scalar,
    binary_scalar,
    build_bool,
    null_scalar,
    string_array,
    string_scalar,
)

Part: TypeAlias = "Column | Scalar"
"""A column, or one value for all rows."""


def computed(name: str, parts: Sequence[Part], options: pc.FunctionOptions | None = None) -> Column:
    """The result of an Arrow function, by name: the stubs type the functions too narrowly."""
    result: Column = pc.call_function(name, list(parts), options)
    return result


def cut_texts(texts: Column, length: int) -> Column:
    """The first code points of each text."""
    return computed("utf8_slice_codeunits", [texts], pc.SliceOptions(0, length))


def padded_texts(texts: Column, length: int) -> Column:
    """Each text with spaces behind it, up to so many code points."""
    return computed("utf8_rpad", [texts], pc.PadOptions(length, " "))


def cut_bytes(values: Column, length: int) -> Column:
    """The first bytes of each value."""
    return computed("binary_slice", [values], pc.SliceOptions(0, length))


def replaced(texts: Column, pattern: str, replacement: str) -> Column:
    """Each text with the matches of a regular expression replaced."""
    options = pc.ReplaceSubstringOptions(pattern, replacement)
    return computed("replace_substring_regex", [texts], options)


def matches(texts: Column, pattern: str) -> Column:
    """Whether a regular expression is found in each text."""
    return computed("match_substring_regex", [texts], pc.MatchSubstringOptions(pattern))


def is_one_of(texts: Column, known: Sequence[str]) -> Column:
    """Whether each text is one of some; False for null."""
    return computed("is_in", [texts], pc.SetLookupOptions(string_array(known)))


def concatenated(*parts: Part) -> Column:
    """The parts of each row, one after the other; null where a part is."""
    empty = binary_scalar(b"") if _is_binary(parts) else string_scalar("")
    return computed("binary_join_element_wise", [*parts, empty], pc.JoinOptions())


def _is_binary(parts: Sequence[Part]) -> bool:
    return any(part.type == pa.binary() for part in parts)


def joined(lists: Column, separator: str) -> Column:
    """The texts of each list with a separator between them."""
    return computed("binary_join", [lists, string_scalar(separator)])


def where_valid(like: Column, values: Column) -> Column:
    """The values, null where another column is."""
    return computed("if_else", [like.is_valid(), values, null_scalar(values.type)])


def kept_where(flags: Bools, values: Column) -> Column:
    """The values where flags are set, null elsewhere."""
    return computed("if_else", [build_bool(flags), values, null_scalar(values.type)])
