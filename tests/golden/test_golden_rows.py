"""Every table of every writer gives its rows, at every snapshot, tag and branch."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from support.golden import WRITERS, GoldenTable, GoldenTables
from support.rows import difference


@pytest.mark.parametrize("writer", WRITERS)
def test_every_table_gives_its_rows_at_every_snapshot_tag_and_branch(
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
    folders = [table.expected, *table.expected.glob("branch-*")]
    for path in sorted(p for folder in folders for p in folder.glob("*.parquet")):
        name = path.stem
        read = name == "latest" or name.isdigit() or name.startswith(("tag-", "truth-"))
        if read and not path.with_name(f"truth-{path.name}").exists():
            yield path


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
