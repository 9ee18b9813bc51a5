"""The tables of a JDBC catalog are those that Java makes, text by text and row by row."""

import sqlite3
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from catalogs.homes import Homes
from oracle import JavaCatalog
from paimon_explore import Catalog
from paimon_explore.metadata.schema.schema_change import SetComment
from paimon_explore.metastore.view_values import ViewAction, ViewChange

QUERY = 'SELECT "a" FROM t'
# in the order of Java's hash map
DIALECTS = {"spark": "SELECT `a` FROM t", "flink": "SELECT a\nFROM t"}


def options(folder: Path) -> dict[str, str]:
    return {
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{folder / 'catalog.db'}",
        "warehouse": f"file://{folder}/warehouse",
        "lock.enabled": "true",
    }


def acts_of_java(java: JavaCatalog) -> None:
    java.create_database("db", {"owner": "Zoë", "comment": "it's"})
    java.create_database("empty")
    keyed = {"bucket": "2", "bucket-key": "b"}
    columns = [("a", "INT NOT NULL"), ("b", "INT NOT NULL"), ("p", "STRING NOT NULL")]
    java.create_table(
        "db.keyed",
        columns,
        primary_keys=["a", "b", "p"],
        partition_keys=["p"],
        options=keyed,
        comment="c",
    )
    java.create_table("db.plain", columns)
    java.create_table("db.gone", columns)
    java.alter("db.keyed", {"change": "set_option", "key": "x.y", "value": "z"})
    java.alter("db.plain", {"change": "update_comment", "comment": "told"})
    java.rename_table("db.plain", "db.renamed")
    java.drop_table("db.gone")
    java.create_view(
        "db.v",
        [("a", "DECIMAL(10, 2)"), ("b", {"type": "ARRAY", "element": "INT"})],
        QUERY,
        dialects=DIALECTS,
        comment="a view",
        options={"k": "v"},
    )
    java.create_view("db.bare", [("a", "INT")], QUERY)
    java.rename_view("db.bare", "empty.moved")
    java.alter_database("db", {"owner": "me", "new": "1"}, ["comment"])


def acts_of_ours(catalog: Catalog) -> None:
    catalog.create_database("db", properties={"owner": "Zoë"}, comment="it's")
    catalog.create_database("empty")
    keyed = {"bucket": "2", "bucket-key": "b"}
    columns = {"a": "INT NOT NULL", "b": "INT NOT NULL", "p": "STRING NOT NULL"}
    catalog.create_table(
        "db.keyed",
        columns,
        primary_key=["a", "b", "p"],
        partition_by="p",
        options=keyed,
        comment="c",
    )
    catalog.create_table("db.plain", columns)
    catalog.create_table("db.gone", columns)
    catalog.table("db.keyed").set_options({"x.y": "z"})
    catalog.alter_table("db.plain", SetComment(comment="told"))
    catalog.rename_table("db.plain", "db.renamed")
    catalog.drop_table("db.gone")
    catalog.create_view(
        "db.v",
        QUERY,
        {"a": "DECIMAL(10, 2)", "b": "ARRAY<INT>"},
        dialects={"flink": DIALECTS["flink"]},
        comment="old",
        options={"k": "v"},
    )
    catalog.alter_view(
        "db.v",
        ViewChange(action=ViewAction.ADD_DIALECT, key="spark", value=DIALECTS["spark"]),
        ViewChange(action=ViewAction.UPDATE_COMMENT, value="a view"),
    )
    catalog.create_view("db.bare", QUERY, {"a": "INT"})
    catalog.rename_view("db.bare", "empty.moved")
    catalog.alter_database("db", {"owner": "me", "new": "1"}, remove="comment")


def content(folder: Path) -> Mapping[str, object]:
    """The definitions and the rows of a catalog, without its folder."""
    opened = sqlite3.connect(folder / "catalog.db")
    tables = dict(opened.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    rows = {
        name: sorted(
            tuple(str(value).replace(str(folder), "…") for value in row)
            for row in opened.execute(f"SELECT * FROM {name}")  # noqa: S608 - names of the catalog
        )
        for name in tables
    }
    opened.close()
    return {"tables": tables, "rows": rows}


def test_our_catalog_has_the_tables_and_rows_of_javas(homes: Homes, tmp_path: Path) -> None:
    javas, mine = tmp_path / "java", tmp_path / "ours"
    javas.mkdir()
    mine.mkdir()
    java = JavaCatalog(homes.java, options(javas))
    acts_of_java(java)
    java.close()
    catalog = Catalog(options=options(mine))
    acts_of_ours(catalog)
    catalog.close()
    expected, found = content(javas), content(mine)
    assert found["tables"] == expected["tables"]
    assert found["rows"] == expected["rows"]
    rows = found["rows"]
    assert isinstance(rows, dict)
    assert {name: len(inner) for name, inner in rows.items()} == {
        "paimon_tables": 2,
        "paimon_database_properties": 6,
        "paimon_table_properties": 5,
        "paimon_views": 2,
        "paimon_distributed_locks": 0,
    }


def test_java_waits_for_a_lock_of_ours_and_we_wait_for_javas(homes: Homes, tmp_path: Path) -> None:
    java = JavaCatalog(homes.java, options(tmp_path))
    java.create_database("db")
    catalog = Catalog(options=options(tmp_path))
    table = catalog.create_table("db.t", {"a": "INT"}, options={"bucket": "-1"})
    environment = table._store.environment
    assert environment is not None
    held = environment.lock()
    assert held is not None
    with ThreadPoolExecutor(1) as pool:
        with held:
            waiting = pool.submit(java.write, "db.t", [{"a": 1}])
            with pytest.raises(TimeoutError):
                waiting.result(1)
            assert table.snapshot is None
        assert waiting.result(60) == 1
    table.append([{"a": 2}])
    assert java.read("db.t").sort_by("a").column("a").to_pylist() == [1, 2]
    java.close()
    catalog.close()


def test_java_and_we_commit_to_one_table_at_once(homes: Homes, tmp_path: Path) -> None:
    java = JavaCatalog(homes.java, options(tmp_path))
    java.create_database("db")
    catalog = Catalog(options=options(tmp_path))
    table = catalog.create_table("db.t", {"a": "INT"}, options={"commit.max-retries": "100"})
    with ThreadPoolExecutor(2) as pool:
        theirs = pool.submit(lambda: [java.write("db.t", [{"a": n}]) for n in range(8)])
        ours = pool.submit(lambda: [table.append([{"a": 100 + n}]) for n in range(8)])
        assert len(theirs.result(120)) == len(ours.result(120)) == 8
    values = sorted(row["a"] for row in table.to_arrow().to_pylist())
    assert values == [*range(8), *range(100, 108)]
    assert [snapshot.id for snapshot in table.snapshots] == list(range(1, 17))
    java.close()
    catalog.close()
