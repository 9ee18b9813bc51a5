"""Paths into VARIANT values: `$.key[0]['other key']`, and changes at them, as in Spark.

Of shredded columns, the parts that contain the values at some paths: the `value` of an object has
no key that has a group, and a `value` without `typed_value` is no object. So a key with a group is
only in that group, and a key without one is only in `value`. A path that does not lead through
objects only needs the whole group at which it leaves them.

Spec: the Parquet Variant Shredding specification, which lets readers assume that. Seen in: golden
java200/variant_given, java200/variant_inferred.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NoReturn

import pyarrow as pa

from paimon_explore.encoding.variant.tree import MAX_BYTES, NULL, Tree
from paimon_explore.errors import InvalidInputError

VariantPath = tuple[str | int, ...]
"""Keys of objects and indices of arrays."""

_SEGMENT = re.compile(r"\[([0-9]+)]|\.([^.\[]+)|\['([^']+)']|\[\"([^\"]+)\"]")
_HINT = "Write a path such as $.key[0] or $['other key']."


@lru_cache(maxsize=256)
def parse_path(text: str) -> VariantPath:
    """Parse a path.

    Raises:
        InvalidInputError: the text is not a path.

    >>> parse_path("$.a[0]['b.c']")
    ('a', 0, 'b.c')
    """
    at, found = 1, list[str | int]()
    while at < len(text):
        match = _SEGMENT.match(text, at)
        if match is None:
            break
        index, *keys = match.groups()
        found.append(next(filter(None, keys)) if index is None else int(index))
        at = match.end()
    is_index = all(isinstance(part, str) or part < MAX_BYTES for part in found)
    if text[:1] != "$" or at < len(text) or not is_index:
        raise InvalidInputError(f"{text!r} is not a path into a variant.", hint=_HINT)
    return tuple(found)


def path_text(path: Sequence[str | int]) -> str:
    """Format a path.

    >>> path_text(("a", 0, "b.c"))
    "$.a[0]['b.c']"
    """
    return "$" + "".join(map(_segment, path))


def _segment(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f"['{part}']" if re.search(r"[.\[]", part) else f".{part}"


def tree_at(tree: Tree, path: VariantPath) -> Tree | None:
    """Return the value at a path; None if there is none."""
    found: Tree | None = tree
    for part in path:
        match found, part:
            case dict(), str():
                found = found.get(part)
            case list(), int() if part < len(found):
                found = found[part]
            case _:
                return None
    return found


def with_tree_at(tree: Tree, path: VariantPath, new: Tree, *, creates: bool = True) -> Tree:
    """Return a value that is changed at a path.

    Args:
        tree: the value; it is not changed itself.
        path: the path, not empty.
        new: the value at the path.
        creates: whether missing keys and elements are added, with nulls before an element;
            otherwise the value stays as it is.

    Raises:
        InvalidInputError: the path leads into a value that is not an object or array, or is empty.
    """
    if not path:
        raise InvalidInputError(
            "The path '$' is the whole value and cannot be set.", hint="Use the new value itself."
        )
    return _set(tree, path, 0, new, creates=creates)


def _set(tree: Tree | None, path: VariantPath, at: int, new: Tree, *, creates: bool) -> Tree:
    if at == len(path):
        return new
    part = path[at]
    match tree, part:
        case None, _:
            return _set({} if isinstance(part, str) else [], path, at, new, creates=creates)
        case dict(), str():
            if part in tree or creates:
                return {**tree, part: _set(tree.get(part), path, at + 1, new, creates=creates)}
        case list(), int():
            if part < len(tree) or creates:
                inner = tree[part] if part < len(tree) else None
                grown = [*tree, *[NULL] * (part + 1 - len(tree))]
                grown[part] = _set(inner, path, at + 1, new, creates=creates)
                return grown
        case _:
            _fail(path, at)
    return tree


def _fail(path: VariantPath, at: int) -> NoReturn:
    wanted = "an object" if isinstance(path[at], str) else "an array"
    raise InvalidInputError(
        f"The path {path_text(path)} cannot be set: the value at {path_text(path[:at])} is not "
        f"{wanted}.",
        hint=f"Set {path_text(path[:at])}." if at else "Use the new value itself.",
    )


def without_tree_at(tree: Tree, path: VariantPath) -> Tree:
    """Return a value without the key or element at a path; the same if there is none.

    Raises:
        InvalidInputError: the path leads into a value that is not an object or array, or is empty.
    """
    if not path:
        raise InvalidInputError("The path '$' is the whole value and cannot be deleted.")
    owner = tree_at(tree, path[:-1])
    match owner, path[-1]:
        case dict(), str(key):
            rest: Tree = {name: member for name, member in owner.items() if name != key}
        case list(), int(index):
            rest = [*owner[:index], *owner[index + 1 :]]
        case _:
            return tree
    return rest if len(path) == 1 else with_tree_at(tree, path[:-1], rest)


def shredded_parts(column: pa.DataType, paths: Iterable[VariantPath]) -> list[str] | None:
    """Return the parts to read besides `metadata`, as dotted paths of Parquet columns.

    Args:
        column: the type of the column as Arrow reads it.
        paths: paths into its variants.

    Returns:
        The parts; None if a path needs the whole column.

    >>> leaf = pa.struct({"value": pa.binary(), "typed_value": pa.int64()})
    >>> column = pa.struct({"value": pa.binary(), "typed_value": pa.struct({"a": leaf})})
    >>> shredded_parts(column, [("a",), ("b", 0)])
    ['typed_value.a', 'value']
    """
    parts = {_part(column, path) for path in paths}
    return None if "" in parts else sorted(parts)


def _part(group: pa.DataType, path: VariantPath) -> str:
    """Return the part of a group that contains the value at a path; empty for the whole group."""
    members = _members(group)
    typed = members.get("typed_value")
    if not path or not isinstance(path[0], str) or not isinstance(typed, pa.StructType):
        return ""
    inner = _members(typed).get(path[0])
    if inner is None:
        return "value" if "value" in members else ""
    rest = _part(inner, path[1:])
    return f"typed_value.{path[0]}" + (f".{rest}" if rest else "")


def _members(kind: pa.DataType) -> dict[str, pa.DataType]:
    return {field.name: field.type for field in kind} if isinstance(kind, pa.StructType) else {}
