"""Java reads partition columns as we do: with the values of the partition, not of the files."""

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


@pytest.mark.parametrize("keyed", [False, True], ids=["append", "keyed"])
def test_orc_files_of_java_store_other_values_than_the_partition(
    java: JavaPaimon, tmp_path: Path, *, keyed: bool
) -> None:
    moment = dt.datetime(1969, 12, 31, 23, 59, 59, 999000)  # noqa: DTZ001 - TIMESTAMP has no zone
    java.create_table(
        tmp_path / "d.db" / "t",
        [("at", "TIMESTAMP(3) NOT NULL"), ("code", "CHAR(3) NOT NULL"), ("id", "INT NOT NULL")],
        partition_keys=["at", "code"],
        primary_keys=["at", "code", "id"] if keyed else [],
        options={"file.format": "orc", "bucket": "1" if keyed else "-1"},
    )
    table = Catalog(tmp_path).table("d.t")
    for first in (0, 2):
        java.write(table.path, [{"at": moment, "code": "a", "id": first + i} for i in range(3)])
    assert set(table.to_arrow()["at"].to_pylist()) == {moment}
    assert difference(java.read(table.path), table.to_arrow()) == ""
    for where in ("id = 2", "code = 'a'", "at < TIMESTAMP '1970-01-01' AND id > 1"):
        assert table.count(where) == table.scan(["id"], where).to_arrow().num_rows > 0, where
    assert list(table.maintenance.fsck(read_rows=True)) == []
