"""Partition columns that data files lack, as after a migration from Hive, have their values."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from support.migrated_files import drop_partition_columns

SCHEMA = {"id": "BIGINT NOT NULL", "v": "STRING", "day": "DATE", "region": "STRING"}
ROWS = [
    {"id": i, "v": f"v{i}", "day": dt.date(2026, 1, 1 + i % 3), "region": "eu" if i % 2 else None}
    for i in range(60)
]


def table_of(
    warehouse: Path, *, keyed: bool = False, options: dict[str, str] | None = None
) -> pe.Table:
    """A partitioned table whose files lack the partition columns."""
    catalog = pe.Catalog(warehouse)
    catalog.create_database("d")
    given = {"bucket": "1" if keyed else "-1", **(options or {})}
    rows = ROWS if not keyed else [{**row, "region": row["region"] or "us"} for row in ROWS]
    schema = dict(SCHEMA)
    keys = ["day", "region", "id"] if keyed else []
    if keyed:
        schema |= {"day": "DATE NOT NULL", "region": "STRING NOT NULL"}
    table = catalog.create_table(
        "d.t", schema=schema, primary_key=keys, partition_by=["day", "region"], options=given
    )
    write = table.upsert if keyed else table.append
    write(rows)
    if keyed:
        write([{**row, "v": "new"} for row in rows[:20]])
    before = sorted_rows(table.to_arrow())
    assert drop_partition_columns(table, ["day", "region"]) >= 6
    table = pe.Catalog(warehouse).table("d.t")
    assert sorted_rows(table.to_arrow()) == before
    return table


def sorted_rows(found: pa.Table) -> list[dict[str, object]]:
    return sorted(found.to_pylist(), key=repr)


@pytest.mark.parametrize(
    "where",
    [
        "day = DATE '2026-01-02'",
        "day > DATE '2026-01-01' AND region = 'eu'",
        "region IS NULL",
        "region IS NOT NULL AND id < 20",
        "id >= 30 OR region = 'eu'",
        "v = 'v7'",
        "length(v) = 2 AND day <> DATE '2026-01-01'",
    ],
)
def test_conditions_see_the_values_of_the_partition(tmp_path: Path, where: str) -> None:
    catalog = pe.Catalog(tmp_path / "whole")
    catalog.create_database("d")
    whole = catalog.create_table(
        "d.t", schema=SCHEMA, partition_by=["day", "region"], options={"bucket": "-1"}
    )
    whole.append(ROWS)
    table = table_of(tmp_path / "migrated")
    expected = sorted_rows(whole.scan(where=where).to_arrow())
    assert expected
    assert sorted_rows(table.scan(where=where).to_arrow()) == expected
    assert sorted_rows(table.scan(["day"], where).to_arrow()) == sorted(
        ({"day": row["day"]} for row in expected), key=repr
    )
    assert sorted_rows(table.scan(["v", "id"], where).to_arrow()) == sorted(
        ({"v": row["v"], "id": row["id"]} for row in expected), key=repr
    )


@pytest.mark.parametrize("options", [{}, {"deletion-vectors.enabled": "true"}], ids=str)
def test_merges_of_primary_key_tables_have_them(tmp_path: Path, options: dict[str, str]) -> None:
    table = table_of(tmp_path, keyed=True, options=options)
    found = table.scan(where="region = 'us' AND v = 'new'").to_arrow().to_pylist()
    if not options:
        assert sorted(row["id"] for row in found) == list(range(0, 20, 2))
        assert {row["region"] for row in found} == {"us"}


def test_rewritten_files_store_the_values(tmp_path: Path) -> None:
    table = table_of(tmp_path)
    before = sorted_rows(table.to_arrow())
    table.update({"v": pe.lit("x")}, where="region = 'eu' AND id < 10")
    table.delete("region IS NULL AND day = DATE '2026-01-01'")
    table.compact()
    expected = [
        {**row, "v": "x"} if row["region"] == "eu" and row["id"] < 10 else row  # type: ignore[operator]  # an integer
        for row in before
        if row["region"] is not None or row["day"] != dt.date(2026, 1, 1)
    ]
    assert sorted_rows(table.to_arrow()) == sorted(expected, key=repr)
    assert len(table.maintenance.fsck(read_rows=True)) == 0
