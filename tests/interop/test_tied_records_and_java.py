"""Tables with tied records: equal keys and sequence numbers. Java returns the rows we return."""

import random
import shutil
from pathlib import Path

import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog, open_table
from support.rows import difference
from support.tied_tables import ARROW, ENGINES, write_tied

pytestmark = pytest.mark.interop
ROUNDS = 3


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ENGINES)
def test_reads_and_compactions_of_tied_records_give_the_rows_of_java(
    java: JavaPaimon, tmp_path: Path, name: str, seed: int
) -> None:
    chance = random.Random(f"{name}{seed}")  # noqa: S311 - test data
    catalog = Catalog(str(tmp_path))
    catalog.create_database("d")
    options = {"bucket": "1", "write-only": "true", "num-sorted-run.stop-trigger": "50"}
    table = catalog.create_table(
        "d.t", ARROW, primary_key=["k"], options={**options, **ENGINES[name]}
    )
    ours, theirs = tmp_path / "d.db" / "t", tmp_path / "d.db" / "copy"
    for _ in range(ROUNDS):
        # Java after 2.0 puts a retract before an addition that is tied with it
        deletes = name in ("deduplicate", "lookup") and java.version == "2.0.0"
        write_tied(table, chance, chance.randint(2, 6), deletes=deletes)
        table = open_table(ours)
        assert difference(java.read(ours), table.to_arrow()) == ""
        shutil.rmtree(theirs, ignore_errors=True)
        shutil.copytree(ours, theirs)
        full = chance.random() < 0.5
        java.compact(theirs, full=full)
        table.compact(full=full)
        table = open_table(ours)
        assert difference(java.read(theirs), table.to_arrow()) == ""
