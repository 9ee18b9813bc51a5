"""Tables that the next version of Java wrote, continued by us and by it in turn.

Needs the next version, which `tests/interop/next/run` builds; other runs skip these tests.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from implementations import JAVA
from next.features import FEATURES
from next.kinds import KINDS, compact
from oracle import JavaPaimon, JavaPaimonError
from paimon_explore import Table, open_table
from support.golden import NEWEST, GoldenTables
from support.rows import difference
from support.system_rows import facts

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(not JAVA.endswith("-SNAPSHOT"), reason="PAIMON_EXPLORE_JAVA is a release"),
]

SYSTEM = ("snapshots", "manifests", "files", "table_indexes")
JAVA_CANNOT: Mapping[str, str] = {"postponed": "IllegalArgumentException"}
"""What the tool for Java does not compact, by the beginning of the table's name and the reason."""
ELSEWHERE = {name for name in FEATURES if name.startswith("chain_")}
"""Written through branches of their own."""


@pytest.mark.parametrize("name", sorted({*FEATURES, *KINDS} - ELSEWHERE))
def test_a_table_of_the_next_version_is_continued_by_us_and_by_it(
    golden: GoldenTables, java: JavaPaimon, tmp_path: Path, name: str
) -> None:
    source = golden.table(NEWEST, name)
    folder = tmp_path / "gold.db" / name
    shutil.copytree(source.folder, folder)
    rows = open_table(folder).to_arrow()
    unordered = source.meta["unordered"]
    assert isinstance(unordered, list)
    assert difference(java.read(folder), rows, unordered) == ""
    for step, act in steps(java, folder, rows).items():
        try:
            act()
        except JavaPaimonError as error:
            if not any(
                name.startswith(k) and text in str(error) for k, text in JAVA_CANNOT.items()
            ):
                raise
            continue
        table = open_table(folder)
        assert difference(java.read(folder), table.to_arrow(), unordered) == "", step
        assert system_tables(java, table) == [], step
    assert list(open_table(folder).maintenance.fsck(read_rows=True)) == []


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_the_branches_of_a_chain_table_are_written_by_us(
    golden: GoldenTables, java: JavaPaimon, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "gold.db" / name
    shutil.copytree(golden.table(NEWEST, name).folder, folder)
    for branch in ("delta", "snapshot"):
        table = open_table(folder, branch=branch)
        rows = table.to_arrow().to_pylist()
        table.upsert([{**row, "n": (row["n"] or 0) + 1000} for row in rows[::2]])
        if (
            name != "chain_vectors"
        ):  # Java shows the row of the earlier partition after a compaction
            table.delete(f"n = {rows[1]['n']}")
        for act in ("written", "compacted"):
            assert difference(java.read(folder), open_table(folder).to_arrow()) == "", act
            table.compact(full=True)
    assert max(row["n"] for row in open_table(folder).to_arrow().to_pylist()) > 1000


def steps(java: JavaPaimon, folder: Path, rows: pa.Table) -> Mapping[str, Callable[[], object]]:
    """What is done to a table."""

    def part(start: float, end: float) -> pa.Table:
        first, last = int(len(rows) * start), int(len(rows) * end)
        return rows.slice(first, max(last - first, 1))

    def java_compact() -> None:
        schema = open_table(folder).schema
        compact(java, folder, schema.options, keyed=bool(schema.primary_keys))

    def table() -> Table:
        return open_table(folder)

    return {
        "append": lambda: table().append(part(0, 0.5)),
        "java writes": lambda: java.write(folder, part(0.3, 0.9)),
        "compact": lambda: table().compact(full=True),
        "append more": lambda: table().append(part(0.5, 1)),
        "java compacts": java_compact,
        "append to java's": lambda: table().append(part(0.2, 0.4)),
        "compact java's": lambda: table().compact(full=False),
        "java writes again": lambda: java.write(folder, part(0, 0.2)),
    }


def system_tables(java: JavaPaimon, table: Table) -> list[str]:
    """What differs between the system tables of Java and ours."""
    found = []
    for system in SYSTEM:
        ours = table.inspect.system_table(system).to_arrow()
        theirs = java.system_table(table.path, system)
        known = [name for name in ours.schema.names if name in theirs.schema.names]
        if facts(theirs, known) != facts(ours, known):
            found.append(f"${system} of Java: {facts(theirs, known)}, ours: {facts(ours, known)}")
    return found
