"""Transactions on tables of JDBC and REST catalogs, and on an object store."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import CommitConflictError, UnsupportedFeatureError
from support.rest_catalog_stub import rest_catalog_stub
from support.s3 import s3_place
from support.small_tables import columns

COLUMNS = columns(k=pa.int64(), v=pa.int64())
ROWS = [{"k": k, "v": k} for k in range(4)]


@pytest.fixture(params=["jdbc", "rest", "store"])
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """A catalog that decides about commits, locks them, or lies in an object store."""
    folder = str(tmp_path / "warehouse")
    if request.param == "jdbc":
        uri = f"jdbc:sqlite:{tmp_path / 'catalog.db'}"
        options = {"metastore": "jdbc", "uri": uri, "warehouse": folder, "lock.enabled": "true"}
        made = Catalog(options=options)
        yield made
        made.close()
    elif request.param == "rest":
        with rest_catalog_stub(folder) as stub:
            yield Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")  # noqa: S106
    else:
        with s3_place(f"b{uuid4().hex}") as place:
            yield Catalog(place.location, place.options)


def new_table(catalog: Catalog) -> Table:
    catalog.create_database("db")
    table = catalog.create_table("db.t", COLUMNS)
    table.append(ROWS)
    return table


def test_all_changes_are_one_snapshot_of_the_catalog(catalog: Catalog) -> None:
    table = new_table(catalog)
    with table.transaction(properties={"job": "a"}) as tx:
        tx.append([{"k": 9, "v": 9}])
        tx.delete("k <= 1")
        tx.update({"v": "v * 2"}, "k = 9")
        assert tx.scan(["v"], "k = 9").to_arrow().to_pylist() == [{"v": 18}]
        assert catalog.table("db.t").count() == 4
    assert catalog.table("db.t").to_arrow().sort_by("k")["v"].to_pylist() == [2, 3, 18]
    assert tx.snapshot is not None
    assert (tx.snapshot.id, tx.snapshot.properties) == (2, {"job": "a"})
    assert table.maintenance.fsck() == []


def test_a_transaction_is_repeated_after_a_conflict(catalog: Catalog) -> None:
    table = new_table(catalog)
    with table.transaction() as tx:
        tx.delete("k = 1")
        catalog.table("db.t").delete("k = 2")
    assert table.to_arrow().sort_by("k")["k"].to_pylist() == [0, 3]


def test_a_conflict_behind_a_read_leaves_nothing(catalog: Catalog) -> None:
    table = new_table(catalog)

    def fails() -> None:
        with table.transaction() as tx:
            tx.scan().count()
            tx.delete("k = 1")
            catalog.table("db.t").delete("k = 2")

    with pytest.raises(CommitConflictError):
        fails()
    assert table.to_arrow().sort_by("k")["k"].to_pylist() == [0, 1, 3]


def test_a_schema_changes_with_the_rows_if_the_table_has_no_catalog_server(
    catalog: Catalog,
) -> None:
    table = new_table(catalog)
    if table._store.environment is None:
        table.append([{"k": 5, "new": 1}], merge_schema=True)
        assert table.count("new = 1") == 1
        return
    with pytest.raises(UnsupportedFeatureError, match="A schema change in a transaction"):
        table.append([{"k": 5, "new": 1}], merge_schema=True)
    table.append([{"k": 5}], merge_schema=True)
    assert table.count("k = 5") == 1
    assert len(table.schemas) == 1
