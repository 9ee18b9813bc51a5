"""Wrappers of Arrow compute functions, most of them for strings and binary."""

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Scalar,
    binary_scalar,
    build_bool,
    nulls_like,
    string_array,
    string_scalar,
)

Part: TypeAlias = "Column | Scalar"
"""A column, or one value for all rows."""


def computed(name: str, parts: Sequence[Part], options: pc.FunctionOptions | None = None) -> Column:
    """Call an Arrow compute function by name; the stubs of the functions are too narrow."""
    result: Column = pc.call_function(name, list(parts), options)
    return result


def cut_texts(texts: Column, length: int) -> Column:
    """Truncate each text to a number of code points."""
    return computed("utf8_slice_codeunits", [texts], pc.SliceOptions(0, length))


def padded_texts(texts: Column, length: int) -> Column:
    """Pad each text with trailing spaces to a number of code points."""
    return computed("utf8_rpad", [texts], pc.PadOptions(length, " "))


def cut_bytes(values: Column, length: int) -> Column:
    """Truncate each value to a number of bytes."""
    return computed("binary_slice", [values], pc.SliceOptions(0, length))


def replaced(texts: Column, pattern: str, replacement: str) -> Column:
    """Replace the matches of a regular expression in each text."""
    options = pc.ReplaceSubstringOptions(pattern, replacement)
    return computed("replace_substring_regex", [texts], options)


def matches(texts: Column, pattern: str) -> Column:
    """Return whether a regular expression is found in each text."""
    return computed("match_substring_regex", [texts], pc.MatchSubstringOptions(pattern))


def is_one_of(texts: Column, known: Sequence[str]) -> Column:
    """Return whether each text is in a list; False for null."""
    return computed("is_in", [texts], pc.SetLookupOptions(string_array(known)))


def concatenated(*parts: Part) -> Column:
    """Concatenate the parts of each row; null where a part is null."""
    empty = binary_scalar(b"") if _is_binary(parts) else string_scalar("")
    return computed("binary_join_element_wise", [*parts, empty], pc.JoinOptions())


def _is_binary(parts: Sequence[Part]) -> bool:
    return any(part.type == pa.binary() for part in parts)


def joined(lists: Column, separator: str) -> Column:
    """Join the texts of each list with a separator."""
    return computed("binary_join", [lists, string_scalar(separator)])


def where_valid(like: Column, values: Column) -> Column:
    """Return the values, null where another column is null."""
    return computed("if_else", [like.is_valid(), values, nulls_like(values)])


def kept_where(flags: Bools, values: Column) -> Column:
    """Return the values where a mask is true, null elsewhere."""
    return computed("if_else", [build_bool(flags), values, nulls_like(values)])
