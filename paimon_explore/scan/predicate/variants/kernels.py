"""Kernels of the functions of VARIANT values, which also DuckDB calls; the results are Spark's."""

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python
from paimon_explore.encoding.variant.arrow_values import trees_of, variant_column, variant_readers
from paimon_explore.encoding.variant.json_parser import parse_json_tree
from paimon_explore.encoding.variant.json_text import json_text
from paimon_explore.encoding.variant.paths import (
    parse_path,
    with_tree_at,
    without_tree_at,
)
from paimon_explore.encoding.variant.tree import NULL, TREES, Tree, encode_tree
from paimon_explore.errors import InvalidInputError

Columns = Sequence[Column]


def trees_at(variants: Column, paths: Column) -> list[Tree | None]:
    """Return the value of each variant at a path; None if there is none.

    Raises:
        InvalidInputError: a path is invalid.
    """
    found: list[Tree | None] = []
    for (_, reader), path in zip(variant_readers(variants), as_python(paths), strict=True):
        at = None
        if reader is not None and path is not None:
            at = reader.find(parse_path(str(path)))
        found.append(None if reader is None or at is None else reader.read(TREES, at))
    return found


def got(columns: Columns) -> Column:
    """Return the value of each variant at a path."""
    return variant_column(trees_at(*columns))


def put(columns: Columns, *, fails: bool = True) -> Column:
    """Set the value at a path; null if an argument is.

    Args:
        columns: variants, paths, values, and optionally whether missing keys are added.
        fails: whether a path into a value that is no object or array is an error, not null.
    """
    variants, paths, values, *more = columns
    creates = as_python(more[0]) if more else [True] * len(variants)
    rows = zip(trees_of(variants), as_python(paths), trees_of(values), creates, strict=True)
    return variant_column(_set(*row, fails=fails) for row in rows)


def _set(
    tree: Tree | None, path: object, new: Tree | None, creates: object, *, fails: bool
) -> Tree | None:
    if tree is None or path is None or new is None or creates is None:
        return None
    parts = parse_path(str(path))
    try:
        return with_tree_at(tree, parts, new, creates=bool(creates))
    except InvalidInputError:
        if fails or not parts:
            raise
        return None


def deleted(columns: Columns) -> Column:
    """Delete the keys and elements at paths, from left to right; null paths are skipped."""
    variants, *paths = columns
    rows = zip(trees_of(variants), *map(as_python, paths), strict=True)
    return variant_column(_without(*row) for row in rows)


def _without(tree: Tree | None, *paths: object) -> Tree | None:
    for path in paths:
        if tree is not None and path is not None:
            tree = without_tree_at(tree, parse_path(str(path)))
    return tree


def parsed(columns: Columns, *, fails: bool = True) -> Column:
    """Parse JSON documents; `fails` tells whether a text that is not JSON is an error, not null."""
    return variant_column(_document(text, fails=fails) for text in as_python(columns[0]))


def _document(text: object, *, fails: bool) -> Tree | None:
    try:
        return None if text is None else parse_json_tree(str(text))
    except InvalidInputError:
        if fails:
            raise
        return None


def json_texts(columns: Columns) -> Column:
    """Format variants as JSON, with timestamps in the time zone of this process."""
    trees = trees_of(columns[0])
    texts = [None if tree is None else json_text(*encode_tree(tree), zone=None) for tree in trees]
    found: Column = pa.array(texts, pa.string())
    return found


def null_variants(columns: Columns) -> Column:
    """Return whether each value is the null of a variant; false for NULL."""
    found: Column = pa.array([tree == NULL for tree in trees_of(columns[0])], pa.bool_())
    return found


VARIANT_KERNELS: dict[str, Callable[[Columns], Column]] = {
    "variant_get": got,
    "variant_set": put,
    "try_variant_set": partial(put, fails=False),
    "variant_delete": deleted,
    "parse_json": parsed,
    "try_parse_json": partial(parsed, fails=False),
    "to_json": json_texts,
    "is_variant_null": null_variants,
}
"""Kernel of each function by its name in SQL."""
