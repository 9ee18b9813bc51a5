"""Java and we write to tables whose options change what is stored, in turns."""

import shutil
from pathlib import Path

import pytest

from oracle import JavaPaimon
from paimon_explore import Table, open_table
from support.golden import GoldenTables

pytestmark = pytest.mark.interop

FIELDS = [("k", "INT NOT NULL"), ("v", "INT")]


def new_table(java: JavaPaimon, folder: Path, options: dict[str, str]) -> Table:
    java.create_table(folder, FIELDS, primary_keys=["k"], options={"bucket": "1", **options})
    return open_table(folder)


def values(java: JavaPaimon, table: Table) -> dict[int, int]:
    """Key to value, in which Java and we agree."""
    ours = {row["k"]: row["v"] for row in table.to_arrow().to_pylist()}
    assert {row["k"]: row["v"] for row in java.read(table.path).to_pylist()} == ours
    return ours


@pytest.mark.parametrize(
    "option", ["sequence.snapshot-ordering", "write.sequence-number-init-mode"]
)
def test_the_last_commit_wins_whoever_makes_it(
    java: JavaPaimon, tmp_path: Path, option: str
) -> None:
    chosen = {"sequence.snapshot-ordering": "true"}.get(option, "snapshot")
    table = new_table(java, tmp_path / "t", {"write-only": "true", option: chosen})
    for number, writer in enumerate("ojjoojo"):
        rows = [{"k": 1, "v": number}, {"k": 10 + number, "v": number}]
        _ = table.upsert(rows) if writer == "o" else java.write(table.path, rows)
        assert values(java, table)[1] == number
    java.compact(table.path)
    assert values(java, table)[1] == 6
    table.upsert([{"k": 1, "v": 7}])
    table.compact()
    java.write(table.path, [{"k": 1, "v": 8}])
    assert values(java, table)[1] == 8


def test_java_reads_deleted_files_without_statistics(java: JavaPaimon, tmp_path: Path) -> None:
    table = new_table(java, tmp_path / "t", {"manifest.delete-file-drop-stats": "true"})
    for key in range(4):
        table.upsert([{"k": key, "v": key}])
    table.compact()
    java.write(table.path, [{"k": 0, "v": 9}])
    java.compact(table.path)
    assert values(java, table) == {0: 9, 1: 1, 2: 2, 3: 3}
    assert [check.error for check in java.check(table.path) if check.error] == []


def test_java_finds_rows_of_files_that_lost_their_index(
    java: JavaPaimon, golden: GoldenTables, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    shutil.copytree(golden.table("java200", "pk_index_btree").folder, folder)
    table = open_table(folder)
    assert dict(table.options)["pk-btree.index.columns"] == "amt"
    row = table.to_arrow().to_pylist()[0]
    table.upsert([{**row, "amt": 5}])
    table.compact()
    ours = table.scan(where="amt = 5").to_arrow()
    assert ours.num_rows == 30
    found = java.read(folder, where=("=", "amt", 5), options={"scalar-index.search-mode": "fast"})
    assert found.num_rows == 30
    assert {*found.column("k").to_pylist()} == {*ours.column("k").to_pylist()}
