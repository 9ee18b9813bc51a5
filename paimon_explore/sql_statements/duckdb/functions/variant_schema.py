"""Schemas of VARIANT values, as `schema_of_variant` of Spark returns them."""

import re
from collections.abc import Iterable
from decimal import Decimal
from functools import reduce
from typing import TypeAlias

from paimon_explore.encoding.variant.decoder import Kind
from paimon_explore.encoding.variant.tree import Primitive, Tree
from paimon_explore.scan.predicate.variants.casts import raw_of

_MAX_DIGITS = 38
_LONG = (20, 0)
_VOID, _BIGINT, _FLOAT, _DOUBLE, _VARIANT = "VOID", "BIGINT", "FLOAT", "DOUBLE", "VARIANT"
_NAMES = {
    Kind.NULL: _VOID,
    **dict.fromkeys((Kind.TRUE, Kind.FALSE), "BOOLEAN"),
    **dict.fromkeys((Kind.INT1, Kind.INT2, Kind.INT4, Kind.INT8), _BIGINT),
    Kind.TEXT: "STRING",
}
_WIDER = {
    frozenset({_BIGINT, _FLOAT}): _FLOAT,
    frozenset({_BIGINT, _DOUBLE}): _DOUBLE,
    frozenset({_FLOAT, _DOUBLE}): _DOUBLE,
    frozenset({"DATE", "TIMESTAMP"}): "TIMESTAMP",
    frozenset({"DATE", "TIMESTAMP_NTZ"}): "TIMESTAMP_NTZ",
    frozenset({"TIMESTAMP", "TIMESTAMP_NTZ"}): "TIMESTAMP",
}
_Schema: TypeAlias = str | tuple[int, int] | list["_Schema"] | dict[str, "_Schema"]
"""A name; precision and scale; a list of the schema of the elements; the schemas of the members."""


def schema_text(trees: Iterable[Tree | None]) -> str | None:
    """Return the schema that all variants fit; None if there is none."""
    found = [_schema(tree) for tree in trees if tree is not None]
    return _text(reduce(_merged, found)) if found else None


def _schema(tree: Tree) -> _Schema:
    match tree:
        case Primitive():
            kind, raw = raw_of(tree)
            return _digits(raw) if isinstance(raw, Decimal) else _NAMES.get(kind, kind.name)
        case list():
            void: _Schema = _VOID
            return [reduce(_merged, map(_schema, tree), void)]
        case dict():
            return {key: _schema(member) for key, member in tree.items()}


def _digits(value: Decimal) -> tuple[int, int]:
    """Return precision and scale without trailing zeros."""
    _, digits, exponent = value.normalize().as_tuple()
    scale = max(-int(exponent), 0)
    return max(len(digits) + max(int(exponent), 0), scale), scale


def _merged(first: _Schema, second: _Schema) -> _Schema:
    match first, second:
        case _ if second in (first, _VOID):
            return first
        case "VOID", _:
            return second
        case dict(), dict():
            pairs = {key: _merged(first.get(key, one), one) for key, one in second.items()}
            return dict(sorted({**first, **pairs}.items()))
        case list(), list():
            return [_merged(first[0], second[0])]
        case str(), str():
            return _WIDER.get(frozenset({first, second}), _VARIANT)
        case _:
            return _merged_numbers(first, second)


def _merged_numbers(first: _Schema, second: _Schema) -> _Schema:
    """Return the schema of decimals and other numbers."""
    sides = [_LONG if side == _BIGINT else side for side in (first, second)]
    if all(isinstance(side, tuple) or side in (_FLOAT, _DOUBLE) for side in sides):
        decimals = [side for side in sides if isinstance(side, tuple)]
        scale = max(side[1] for side in decimals)
        precision = max(side[0] - side[1] for side in decimals) + scale
        is_decimal = len(decimals) == len(sides) and precision <= _MAX_DIGITS
        return (precision, scale) if is_decimal else _DOUBLE
    return _VARIANT


def _text(schema: _Schema) -> str:
    match schema:
        case str():
            return schema
        case tuple():
            return f"DECIMAL({schema[0]},{schema[1]})"
        case list():
            return f"ARRAY<{_text(schema[0])}>"
        case dict():
            members = (f"{_name(key)}: {_text(member)}" for key, member in schema.items())
            return f"OBJECT<{', '.join(members)}>"


def _name(key: str) -> str:
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key)
    return key if is_plain else "`{}`".format(key.replace("`", "``"))
