"""Every table of every writer gives its rows, at every tag and branch, and at its snapshots.

By default at the latest snapshot and one of three others; a deep run takes all.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from support.depth import some
from support.golden import WRITERS, GoldenTable, GoldenTables
from support.rows import difference


@pytest.mark.parametrize("writer", WRITERS)
def test_every_table_gives_its_rows_at_snapshots_tags_and_branches(
    writer: str, golden: GoldenTables
) -> None:
    checks = 0
    wrong = []
    for name in golden.names(writer):
        table = golden.table(writer, name)
        for path in _expectations(table):
            checks += 1
            found = _difference(table, path)
            if found:
                wrong.append(f"{name} {path.relative_to(table.expected)}: {found}")
    assert wrong == []
    assert checks > len(golden.names(writer))


def _expectations(table: GoldenTable) -> Iterator[Path]:
    """Files of rows that reads must give; rows as handed to the writer outrank rows it read."""
    for folder in (table.expected, *sorted(table.expected.glob("branch-*"))):
        paths = sorted(folder.glob("*.parquet"))
        yield from (one for one in paths if one.stem == "latest" or one.stem.startswith("tag-"))
        numbered = [one for one in paths if one.stem.removeprefix("truth-").isdigit()]
        known = [one for one in numbered if not one.with_name(f"truth-{one.name}").exists()]
        yield from some(known, 3)


def _difference(golden: GoldenTable, path: Path) -> str:
    parent, name = path.parent.name, path.stem
    branch = parent.removeprefix("branch-") if parent.startswith("branch-") else None
    table = pe.open_table(golden.folder, branch=branch)
    if name.startswith("tag-"):
        table = table.at(tag=name.removeprefix("tag-"))
    elif name != "latest":
        table = table.at(snapshot=int(name.removeprefix("truth-")))
    rows = table.to_arrow()
    unordered = golden.meta.get("unordered", [])
    assert isinstance(unordered, list)
    found = difference(pq.read_table(path), rows, unordered)
    newest = path.with_name(f"newest-{name}.pq")
    if found and newest.exists() and not difference(pq.read_table(newest), rows, unordered):
        return ""
    return found
