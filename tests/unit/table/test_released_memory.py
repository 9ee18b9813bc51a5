"""Rows that were read are released, whatever read them, and however it ended."""

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from support.small_tables import new_catalog

_JOIN = "SELECT sum(a.id) AS s, min(b.v) AS v FROM t AS a JOIN t AS b ON a.id = b.id"
DOORS: dict[str, Callable[[pe.Catalog, pe.Table], object]] = {
    "a join": lambda catalog, _: catalog.sql(_JOIN).to_arrow(),
    "the first batch of a query": lambda catalog, _: next(
        iter(catalog.sql("SELECT * FROM t ORDER BY v").to_batches())
    ),
    "a query that fails": lambda catalog, _: catalog.sql("SELECT CAST(v AS INT) FROM t").to_arrow(),
    "a difference": lambda catalog, _: catalog.sql(_JOIN).diff(1, 2),
    "a history": lambda catalog, _: catalog.sql("SELECT sum(id) FROM t").history(),
    "the first batch": lambda _, table: next(iter(table.scan().to_batches())),
    "a dataset": lambda _, table: table.scan().to_dataset().to_table(filter=pc.field("id") < 9),
    "a count of a dataset": lambda _, table: table.scan().to_dataset().count_rows(),
    "a lazy frame": lambda _, table: (
        table.scan().to_polars(lazy=True).filter(pl.col("id") < 9).collect()
    ),
    "DuckDB": lambda _, table: table.scan().to_duckdb(lazy=True).execute("FROM t").fetchall(),
    "changes": lambda _, table: table.between(1, 2).to_arrow(),
    "checked rows": lambda _, table: table.maintenance.fsck(read_rows=True),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[pe.Catalog]:
    catalog = new_catalog(tmp_path_factory.mktemp("warehouse"))
    schema = {"id": "INT NOT NULL", "v": "STRING"}
    made = catalog.create_table("db.t", schema, primary_key="id", options={"bucket": 2})
    for start in (0, 500):
        ids = range(start, start + 1000)
        made.upsert([{"id": n, "v": f"text of row {n}"} for n in ids])
    catalog.sql("USE db")
    gc.collect()
    gc.freeze()  # each collection below would go through all that other tests left
    yield catalog
    gc.unfreeze()


@pytest.mark.parametrize("door", DOORS)
def test_rows_that_were_read_are_released(catalog: pe.Catalog, door: str) -> None:
    table = catalog.table("db.t")

    def read() -> int:
        with suppress(InvalidInputError):
            DOORS[door](catalog, table)
        gc.collect()
        return pa.total_allocated_bytes()

    read()
    before = read()
    assert min(read(), read()) <= before  # Arrow's threads may release the last bytes later
