"""Reads of VARIANT columns at paths, and what they must give."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore import Table
from paimon_explore.encoding.variant.arrow_values import trees_of
from paimon_explore.encoding.variant.paths import VariantPath, tree_at
from paimon_explore.encoding.variant.tree import Tree


def trees_at_paths(
    table: Table, column: str, paths: Sequence[VariantPath], *, whole: bool
) -> list[list[Tree | None] | None]:
    """Return what is at the paths of each row, null variants as None.

    Args:
        table: the table; its rows keep their order.
        column: the VARIANT column.
        paths: the paths.
        whole: whether the scan reads the whole values.
    """
    scan = table.scan([column])
    if not whole:
        scan = replace(scan, variant_paths={column: tuple(paths)})
    found = scan.to_arrow().column(0).combine_chunks()
    assert isinstance(found, pa.Array)
    return [
        None if tree is None else [tree_at(tree, path) for path in paths]
        for tree in trees_of(found)
    ]


def paths_in(tree: Tree | None, path: VariantPath = ()) -> Iterator[VariantPath]:
    """Yield the paths below a value, and one beside each of them that leads nowhere."""
    members: dict[str | int, Tree] = {}
    match tree:
        case dict():
            members = dict(tree.items())
        case list():
            members = dict(enumerate(tree))
        case _:
            pass
    for part, member in members.items():
        yield (*path, part)
        yield from paths_in(member, (*path, part))
    if path:
        yield (*path, "nothing")
        yield (*path, 9)
