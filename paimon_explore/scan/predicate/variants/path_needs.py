"""Which VARIANT columns a read needs only at some paths."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.variant.paths import VariantPath, parse_path
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.expression import (
    Call,
    Column,
    Expression,
    IsNull,
    Literal,
    parts_of,
)

VariantPaths: TypeAlias = tuple[tuple[str, tuple[VariantPath, ...]], ...]
"""Columns, each with its paths: at least one, none of which is the whole value."""


def needed_paths(
    fields: Sequence[DataField], given: Mapping[str, Sequence[VariantPath]], predicate: Expression
) -> VariantPaths:
    """Return the columns of which only some paths are needed.

    Args:
        fields: the columns to read.
        given: the paths that the reader of the result needs, by column: no path if it needs
            nothing but the predicate, all other columns are needed as a whole.
        predicate: of the read.
    """
    names = [field.name for field in fields if is_root(field.type, TypeRoot.VARIANT)]
    found: dict[str, set[VariantPath]] = {name: set(given[name]) for name in names if name in given}
    for name, path in _uses(predicate):
        found.get(name, set()).add(path)
    return tuple(
        (name, tuple(sorted(paths, key=repr)))
        for name, paths in found.items()
        if paths and () not in paths
    )


def _uses(expr: Expression) -> Iterator[tuple[str, VariantPath]]:
    """Yield the columns that an expression reads, each with a path; `()` for the whole value."""
    match expr:
        case Call(function="variant_get", arguments=(Column(path=(name,)), Literal(value=str(at)))):
            yield name, path_of(at)
        case IsNull(operand=Column(path=(_,))):
            pass  # every part says which variants are null
        case Column(name=name):
            yield name, ()
        case _:
            for part in parts_of(expr):
                yield from _uses(part)


def path_of(text: str) -> VariantPath:
    """Parse a path; an invalid one, at which `variant_get` fails, is taken as the whole value."""
    try:
        return parse_path(text)
    except InvalidInputError:
        return ()
