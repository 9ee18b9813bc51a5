"""Java reads data files without partition columns as we do: with the values of their partition."""

import datetime as dt
from pathlib import Path

import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog
from support.migrated_files import drop_partition_columns
from support.rows import difference

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("keyed", [False, True], ids=["append", "keyed"])
def test_java_reads_the_same_rows(java: JavaPaimon, tmp_path: Path, *, keyed: bool) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("d")
    table = catalog.create_table(
        "d.t",
        schema={"id": "INT NOT NULL", "v": "STRING", "day": "DATE NOT NULL", "n": "INT NOT NULL"},
        primary_key=["day", "n", "id"] if keyed else [],
        partition_by=["day", "n"],
        options={"bucket": "1" if keyed else "-1"},
    )
    rows = [
        {"id": i, "v": f"v{i}", "day": dt.date(2026, 1, 1 + i % 2), "n": i % 3} for i in range(40)
    ]
    for part in (rows, [{**row, "v": "new"} for row in rows[:10]]):
        (table.upsert if keyed else table.append)(part)
    assert drop_partition_columns(table, ["day", "n"]) == 12
    ours = Catalog(tmp_path).table("d.t").to_arrow()
    assert difference(java.read(table.path), ours) == ""
    assert ours.num_rows == (40 if keyed else 50)
