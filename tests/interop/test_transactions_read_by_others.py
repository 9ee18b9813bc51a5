"""Java and pypaimon read what transactions and merged schemas wrote: the same rows by snapshot."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as po
import pyarrow.parquet as pq
import pytest

from oracle import JavaPaimon
from paimon_explore import Catalog, Table
from paimon_explore.table.transactions.transaction import Transaction
from peers import Peers
from support.rows import difference
from support.small_tables import columns

pytestmark = pytest.mark.interop

COLUMNS = columns(k=pa.int32(), v=pa.int32(), w=pa.string())
OLD = [{"k": k, "v": k, "w": str(k)} for k in range(6)]


def rewritten(tx: Transaction) -> None:
    """Append, delete, update and overwrite rows in one snapshot."""
    tx.append([{"k": 7, "v": 7}])
    tx.delete("k <= 1 OR k = 7")
    tx.update({"v": "v * 10"}, "k = 3")
    tx.append([{"k": 8, "v": 8, "w": "new"}])


def evolved(tx: Transaction) -> None:
    """A new column, a wider type, and rows of both."""
    tx.add_column("extra", "ROW<a INT>")
    tx.append([{"k": 8, "v": 8, "extra": {"a": 1}}])
    tx.append(
        pa.table(
            {
                "k": [9],
                "v": [2**40],
                "extra": pa.array(
                    [{"a": 2, "b": "x"}], pa.struct([("a", pa.int32()), ("b", pa.string())])
                ),
            }
        ),
        merge_schema=True,
    )
    tx.delete("k = 1")


def upserted(tx: Transaction) -> None:
    """Records of the same keys several times."""
    tx.upsert([{"k": 1, "v": 10}, {"k": 9, "v": 9}])
    tx.update({"w": "'changed'"}, "k <= 2")
    tx.delete("k = 3")
    tx.merge([{"k": 1, "v": 11}], on="k").when_matched_update_all().execute()


def replaced(tx: Transaction) -> None:
    """All rows, then some more."""
    tx.truncate()
    tx.append(OLD[:2])
    tx.append(OLD[2:3])


CASES: Mapping[str, tuple[str | None, Mapping[str, str], Callable[[Transaction], None]]] = {
    "files": (None, {}, rewritten),
    "vectors": (None, {"deletion-vectors.enabled": "true"}, rewritten),
    "schema": (None, {}, evolved),
    "row_ids": (None, {"row-tracking.enabled": "true"}, replaced),
    "keys": ("k", {"bucket": "2"}, upserted),
    "dynamic": ("k", {"bucket": "-1"}, upserted),
}


def make(catalog: Catalog, name: str) -> Table:
    key, options, block = CASES[name]
    catalog.create_database("db")
    table = catalog.create_table(f"db.{name}", COLUMNS, primary_key=key, options=dict(options))
    (table.append if key is None else table.upsert)(OLD)
    with table.transaction(properties={"job": name}) as tx:
        block(tx)
    return table


@pytest.mark.parametrize("name", CASES)
def test_java_reads_transactions(java: JavaPaimon, catalog: Catalog, name: str) -> None:
    table = make(catalog, name)
    for snapshot in table.snapshots:
        theirs = java.read(table.path, snapshot=snapshot.id)
        assert difference(theirs, table.at(snapshot=snapshot.id).to_arrow()) == ""
    later = table.snapshots[len(table.snapshots)].time_millis + 1000
    assert java.remove_orphans(table.path, later, dry_run=True) == []


def test_java_goes_on_after_a_transaction(java: JavaPaimon, catalog: Catalog) -> None:
    table = make(catalog, "keys")
    java.write(table.path, [{"k": 1, "v": 12, "w": "java"}])
    java.compact(table.path)
    assert table.scan(where="k = 1").to_arrow().to_pylist() == [{"k": 1, "v": 12, "w": "java"}]
    assert difference(java.read(table.path), table.to_arrow()) == ""


@pytest.mark.parametrize("name", CASES)
def test_pypaimon_reads_transactions(peers: Peers, warehouse: Path, name: str) -> None:
    table = make(Catalog(warehouse), name)
    theirs = peers.read("py", warehouse, f"db.{name}")
    assert difference(table.to_arrow(), theirs) == ""


@pytest.mark.parametrize("extension", ["parquet", "orc"])
def test_java_and_pypaimon_read_added_files(
    java: JavaPaimon, peers: Peers, catalog: Catalog, warehouse: Path, extension: str
) -> None:
    schema = columns(
        p=pa.string(),
        k=pa.int64(),
        small=pa.decimal128(8, 2),
        large=pa.decimal128(30, 4),
        day=pa.date32(),
        **({"at": pa.timestamp("us")} if extension == "parquet" else {}),
    )
    moment = dt.datetime.combine(dt.date(2026, 1, 31), dt.time(10, 11, 12, 345_678))
    rows = [
        {
            "p": "a",
            "k": k,
            "small": Decimal(k) / 4,
            "large": Decimal(k) * 10**20 / 8,
            "day": moment.date(),
            "at": moment,
        }
        for k in range(5)
    ]
    catalog.create_database("db")
    table = catalog.create_table("db.added", schema, partition_by="p")
    path = warehouse.parent / f"one.{extension}"
    found = pa.Table.from_pylist(rows, schema=schema)
    if extension == "orc":
        po.write_table(found, path)
    else:
        pq.write_table(found, path)
    table.add_files(path)
    assert difference(java.read(table.path), found) == ""
    assert difference(peers.read("py", warehouse, "db.added"), found) == ""
