"""The parts of shredded VARIANT columns that contain the values at some paths.

The `value` of an object has no key that has a group, and a `value` without `typed_value` is no
object. So a key with a group is only in that group, and a key without one is only in `value`. A
path that does not lead through objects only needs the whole group at which it leaves them.

Spec: the Parquet Variant Shredding specification, which lets readers assume that. Seen in: golden
java200/variant_given, java200/variant_inferred.
"""

from collections.abc import Iterable

import pyarrow as pa

from paimon_explore.encoding.variant.paths import VariantPath


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
