"""Persistent views of a catalog in SQLite; the same on each engine.

The modules that import these tests give the fixture `run`, for statements in the database `db`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_explore as pe
from support.spark_sql import Rows


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[pe.Catalog]:
    """A catalog in SQLite with a table."""
    uri = f"jdbc:sqlite:{tmp_path / 'catalog.db'}"
    catalog = pe.Catalog(str(tmp_path / "w"), options={"metastore": "jdbc", "uri": uri})
    catalog.create_database("db")
    catalog.create_database("other")
    table = catalog.create_table("db.t", {"id": "INT", "city": "STRING"})
    table.append([{"id": 1, "city": "Oslo"}, {"id": 2, "city": "Lyon"}])
    yield catalog
    catalog.close()


def test_a_view_is_created_read_listed_and_dropped(run: Rows, stored: pe.Catalog) -> None:
    run("CREATE VIEW v COMMENT 'cities' AS SELECT city, id * 10 AS ten FROM t WHERE id < 5")
    assert run("SELECT * FROM v ORDER BY ten") == [("Oslo", 10), ("Lyon", 20)]
    assert run("SELECT max(ten) FROM db.v WHERE city = 'Oslo'") == [(10,)]
    assert run("SELECT t.id, v.ten FROM v JOIN t ON v.city = t.city ORDER BY 1") == [
        (1, 10),
        (2, 20),
    ]
    run("INSERT INTO t VALUES (3, 'Bern')")
    assert run("SELECT count(*) FROM v") == [(3,)]
    persistent = [row for row in run("SHOW VIEWS") if not row[2]]  # others have temporary ones
    assert persistent == [("db", "v", False)]
    assert run("SHOW VIEWS IN db LIKE 'x*'") == []
    view = stored.view("db.v")
    assert [field.name for field in view.fields] == ["city", "ten"]
    assert view.comment == "cities"
    assert view.dialects == {"spark": view.query}
    assert "`db`.t" in view.query
    run("DROP VIEW v")
    assert stored.views("db") == []
    run("DROP VIEW IF EXISTS db.v")
