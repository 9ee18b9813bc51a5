"""Every act of a catalog in every home, checked from the other side by Java and pypaimon."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalogs.homes import DIALECTS, HOMES, PROPERTIES, PYPAIMON, SERVER, VIEWS, Home
from oracle import JavaPaimonError
from paimon_explore import Table
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.metadata.schema.schema_change import SetComment
from paimon_explore.metastore.view_values import ViewAction, ViewChange
from peers import Peers
from support.depth import some

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "10-catalogs.ipynb"

COLUMNS = {"id": "INT NOT NULL", "dt": "STRING", "v": "BIGINT"}
FIELDS = [("id", "INT NOT NULL"), ("dt", "STRING"), ("v", "BIGINT")]
Row = dict[str, object]

_NUMBERS = itertools.count()


def in_half_of_the_homes(turn: int) -> pytest.MarkDecorator:
    """For what depends little on the home: every other one, in a deep run all."""
    return pytest.mark.parametrize("home", some(list(HOMES), 2, turn), indirect=True)


@pytest.fixture
def db(home: Home) -> Iterator[str]:
    """A new database."""
    name = f"db{next(_NUMBERS)}"
    home.catalog.create_database(name)
    yield name
    home.catalog.drop_database(name, cascade=True, if_exists=True)


def row(key: int, value: int, dt: str = "a") -> dict[str, object]:
    return {"id": key, "dt": dt, "v": value}


def ours(table: Table) -> list[Row]:
    return table.to_arrow().select(list(COLUMNS)).sort_by("id").to_pylist()


def theirs(home: Home, name: str, **scan: object) -> list[Row]:
    found = home.java.read(name, **scan)  # type: ignore[arg-type]  # of Scan
    return found.select(list(COLUMNS)).sort_by("id").to_pylist()


def append_table(home: Home, name: str) -> Table:
    return home.catalog.create_table(name, COLUMNS, partition_by="dt")


# ---------------------------------------------------------------- databases


def test_databases_are_created_listed_and_dropped_by_either(home: Home) -> None:
    catalog, java = home.catalog, home.java
    catalog.create_database("mine")
    java.create_database("javas")
    assert {"mine", "javas"} <= set(catalog.databases())
    assert {"mine", "javas"} <= set(java.databases())
    assert catalog.database_exists("javas")
    with pytest.raises(AlreadyExistsError):
        catalog.create_database("javas")
    catalog.create_database("javas", if_not_exists=True)
    catalog.drop_database("javas")
    java.drop_database("mine")
    assert not {"mine", "javas"} & {*catalog.databases(), *java.databases()}
    with pytest.raises(NotFoundError, match="'mine'"):
        catalog.drop_database("mine")
    catalog.drop_database("mine", if_exists=True)


def test_properties_of_databases_are_the_same_for_both(home: Home) -> None:
    catalog, java = home.catalog, home.java
    if not home.has(PROPERTIES):
        with pytest.raises(UnsupportedFeatureError, match="properties or a comment"):
            catalog.create_database("noted", properties={"team": "me"})
        return
    catalog.create_database("noted", properties={"team": "me", "x": "1"}, comment="ours")
    java.create_database("told", {"team": "me", "x": "1", "comment": "theirs"})
    found = java.database("noted")
    assert {key: found.get(key) for key in ("team", "x", "comment")} == {
        "team": "me",
        "x": "1",
        "comment": "ours",
    }
    told = catalog.database("told")
    assert (told.comment, told.properties) == ("theirs", {"team": "me", "x": "1"})
    catalog.alter_database("noted", {"x": "2", "y": "3"}, remove="team")
    java.alter_database("told", {"x": "2", "y": "3"}, ["team"])
    after = java.database("noted")
    assert {key: after.get(key) for key in ("team", "x", "y")} == {
        "team": None,
        "x": "2",
        "y": "3",
    }
    assert catalog.database("told").properties == {"x": "2", "y": "3"}
    catalog.drop_database("told")
    catalog.drop_database("noted")


def test_a_database_with_tables_is_dropped_only_on_demand(home: Home, db: str) -> None:
    append_table(home, f"{db}.t").append([row(1, 1)])
    with pytest.raises(InvalidInputError, match="not empty"):
        home.catalog.drop_database(db)
    with pytest.raises(JavaPaimonError, match="not empty"):
        home.java.drop_database(db)
    home.catalog.drop_database(db, cascade=True)
    assert db not in home.java.databases()
    home.catalog.create_database(db)
    name = "u" if home.has(SERVER) else "t"  # Paimon's test server keeps the snapshots of a table
    assert ours(append_table(home, f"{db}.{name}")) == []


# ---------------------------------------------------------------- tables


def test_a_table_of_ours_is_the_same_for_java(home: Home, db: str, peers: Peers) -> None:
    home.catalog.create_table(
        f"{db}.t",
        {"id": "INT NOT NULL", "dt": "STRING NOT NULL", "r": "ROW<x INT, y ARRAY<STRING>>"},
        primary_key=["id", "dt"],
        partition_by="dt",
        options={"bucket": 3, "changelog-producer": "input"},
        comment="a table",
    )
    found = home.java.describe(f"{db}.t")
    assert [field["name"] for field in found.fields] == ["id", "dt", "r"]
    assert (found.primary_keys, found.partition_keys) == (["id", "dt"], ["dt"])
    assert found.comment == "a table"
    assert found.options["bucket"] == "3"
    assert home.java.tables(db) == ["t"]
    assert home.catalog.tables(db) == ["t"]
    if home.has(PYPAIMON):
        assert peers.names(home.options, db) == ["t"]


def test_a_table_of_javas_is_the_same_for_us(home: Home, db: str) -> None:
    home.java.create_table(
        f"{db}.t",
        FIELDS,
        primary_keys=["id"],
        options={"bucket": "2", "file.format": "orc"},
        comment="told",
    )
    table = home.catalog.table(f"{db}.t")
    assert table.name == f"{db}.t"
    assert table.schema.row_type.names == ("id", "dt", "v")
    assert table.schema.primary_keys == ("id",)
    assert table.schema.comment == "told"
    assert table.schema.options["file.format"] == "orc"
    assert home.catalog.table_exists(f"{db}.t")
    assert not home.catalog.table_exists(f"{db}.u")
    with pytest.raises(AlreadyExistsError):
        home.catalog.create_table(f"{db}.t", COLUMNS)
    assert home.catalog.create_table(f"{db}.t", COLUMNS, if_not_exists=True).schema == table.schema


@in_half_of_the_homes(0)
def test_tables_are_listed_by_pattern(home: Home, db: str) -> None:
    for name in ("orders", "orders_old", "parts"):
        home.catalog.create_table(f"{db}.{name}", COLUMNS)
    assert home.catalog.tables(db, "orders%") == ["orders", "orders_old"]
    assert home.catalog.tables(db) == ["orders", "orders_old", "parts"]


def test_what_is_missing_is_told_with_what_is_there(home: Home, db: str) -> None:
    append_table(home, f"{db}.orders")
    with pytest.raises(NotFoundError, match=r"'order'.*Did you mean 'orders'"):
        home.catalog.table(f"{db}.order")
    with pytest.raises(NotFoundError, match="'nowhere'"):
        home.catalog.table("nowhere.t")
    with pytest.raises(NotFoundError, match="'nowhere'"):
        home.catalog.create_table("nowhere.t", COLUMNS)
    with pytest.raises(NotFoundError, match="'nowhere'"):
        home.catalog.tables("nowhere")
    with pytest.raises(NotFoundError, match="'order'"):
        home.catalog.drop_table(f"{db}.order")
    home.catalog.drop_table(f"{db}.order", if_exists=True)
    with pytest.raises(NotFoundError, match="'b'"):
        home.catalog.table(f"{db}.orders$branch_b")


def test_a_table_is_renamed_by_either(home: Home, db: str) -> None:
    append_table(home, f"{db}.a").append([row(1, 1)])
    append_table(home, f"{db}.taken")
    home.catalog.rename_table(f"{db}.a", f"{db}.b")
    assert home.java.tables(db) == ["b", "taken"]
    if not home.has(SERVER):
        assert theirs(home, f"{db}.b") == [row(1, 1)]
    home.java.rename_table(f"{db}.b", f"{db}.c")
    if not home.has(SERVER):
        assert ours(home.catalog.table(f"{db}.c")) == [row(1, 1)]
    assert home.catalog.tables(db) == home.java.tables(db) == ["c", "taken"]
    with pytest.raises(AlreadyExistsError):
        home.catalog.rename_table(f"{db}.c", f"{db}.taken")
    with pytest.raises(NotFoundError, match="'a'"):
        home.catalog.rename_table(f"{db}.a", f"{db}.d")


def test_a_table_is_dropped_by_either_and_its_name_is_free(home: Home, db: str) -> None:
    append_table(home, f"{db}.a").append([row(1, 1)])
    append_table(home, f"{db}.b").append([row(1, 1)])
    home.catalog.drop_table(f"{db}.a")
    home.java.drop_table(f"{db}.b")
    assert home.java.tables(db) == home.catalog.tables(db) == []
    assert ours(append_table(home, f"{db}.a")) == []
    home.java.create_table(f"{db}.b", FIELDS)
    assert home.catalog.table(f"{db}.b").snapshot is None


# ---------------------------------------------------------------- rows


@in_half_of_the_homes(1)
def test_appended_rows_of_each_are_read_by_all(home: Home, db: str, peers: Peers) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    table.append([row(1, 10), row(2, 20, "b")])
    home.java.write(name, [row(3, 30)])
    if home.has(PYPAIMON):
        peers.write("py", home.options, name, table.to_arrow().slice(0, 1))
        assert peers.read("py", home.options, name).num_rows == 4
        assert len(theirs(home, name)) == 4
        table.delete("id = 1")
    else:
        table.delete("id = 1")
    assert ours(table) == theirs(home, name) == [row(2, 20, "b"), row(3, 30)]
    assert home.catalog.system_table(f"{name}$partitions").to_arrow().num_rows == 2


# ---------------------------------------------------------------- history


@in_half_of_the_homes(0)
def test_earlier_snapshots_and_tags_are_read_by_either(home: Home, db: str) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    for key in (1, 2, 3):
        table.append([row(key, key)])
    table.create_tag("two", snapshot=2)
    home.java.create_tag(name, "one", snapshot=1)
    assert ours(table.at(1)) == theirs(home, name, tag="one") == [row(1, 1)]
    assert ours(table.at(tag="two")) == theirs(home, name, snapshot=2) == [row(1, 1), row(2, 2)]
    assert ours(table.at(tag="one")) == [row(1, 1)]
    assert theirs(home, name, tag="two") == [row(1, 1), row(2, 2)]
    assert sorted(tag.name for tag in table.tags) == ["one", "two"]
    table.delete_tag("one")
    home.java.delete_tag(name, "two")
    assert len(table.tags) == 0


@in_half_of_the_homes(1)
def test_branches_are_written_and_read_by_either(home: Home, db: str) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    table.append([row(1, 1)])
    table.create_tag("start")
    table.create_branch("mine", "start")
    home.java.create_branch(name, "javas", "start")
    assert sorted(table.branches) == ["javas", "mine"]
    branch = home.catalog.table(f"{name}$branch_mine")
    assert branch.name == f"{name}$branch_mine"
    branch.append([row(2, 2)])
    assert theirs(home, name, branch="mine") == [row(1, 1), row(2, 2)]
    home.java.write(name, [row(3, 3)], branch="javas")
    assert ours(home.catalog.table(f"{name}$branch_javas")) == [row(1, 1), row(3, 3)]
    assert ours(table) == [row(1, 1)]
    table.fast_forward("mine")
    assert ours(table) == theirs(home, name) == [row(1, 1), row(2, 2)]
    table.delete_branch("javas")
    assert sorted(table.branches) == ["mine"]


@in_half_of_the_homes(0)
def test_a_rollback_of_either_is_seen_by_both(home: Home, db: str) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    for key in (1, 2, 3):
        table.append([row(key, key)])
    table.rollback_to(2)
    assert theirs(home, name) == [row(1, 1), row(2, 2)]
    home.java.rollback(name, snapshot=1)
    assert ours(table) == [row(1, 1)]
    table.append([row(9, 9)])
    assert ours(table) == theirs(home, name) == [row(1, 1), row(9, 9)]


@in_half_of_the_homes(1)
def test_snapshots_expire(home: Home, db: str) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    for key in (1, 2, 3):
        table.append([row(key, key)])
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1)
    assert [snapshot.id for snapshot in table.snapshots] == [3]
    assert len(theirs(home, name)) == 3
    assert all(check.error is None for check in home.java.check(name))


# ---------------------------------------------------------------- schemas


@in_half_of_the_homes(0)
def test_schema_changes_of_either_are_seen_by_both(home: Home, db: str) -> None:
    name = f"{db}.t"
    table = append_table(home, name)
    table.append([row(1, 1)])
    table.add_column("mine", "STRING")
    table.set_options({"snapshot.num-retained.min": "3"})
    home.catalog.alter_table(name, SetComment(comment="new"))
    told = home.java.describe(name)
    assert [field["name"] for field in told.fields] == ["id", "dt", "v", "mine"]
    assert told.options["snapshot.num-retained.min"] == "3"
    assert told.comment == "new"
    home.java.alter(name, {"change": "add_column", "column": "javas", "type": "INT"})
    assert home.catalog.table(name).schema.row_type.names == ("id", "dt", "v", "mine", "javas")
    home.java.write(name, [{**row(2, 2), "mine": "x", "javas": 7}])
    assert ours(table) == theirs(home, name) == [row(1, 1), row(2, 2)]
    table.drop_column("mine")
    table.rename_column("javas", "renamed")
    names = [field["name"] for field in home.java.describe(name).fields]
    assert names == ["id", "dt", "v", "renamed"]


# ---------------------------------------------------------------- views


def test_views_are_the_same_for_both(home: Home, db: str) -> None:
    catalog, java, name = home.catalog, home.java, f"{db}.v"
    query, columns = "SELECT id FROM t", {"id": "INT", "n": "STRING"}
    if not home.has(VIEWS):
        with pytest.raises(UnsupportedFeatureError, match="Creating a view"):
            catalog.create_view(name, query, columns)
        assert catalog.views(db) == []
        return
    dialects = {"spark": "S"} if home.has(DIALECTS) else {}
    catalog.create_view(name, query, columns, dialects=dialects, comment="ours")
    java.create_view(f"{db}.w", [("id", "INT"), ("n", "STRING")], query, comment="theirs")
    assert catalog.views(db) == java.views(db) == ["v", "w"]
    told = java.view(name)
    assert [field["name"] for field in told.fields] == ["id", "n"]
    assert (told.query, told.comment) == (query, "ours")
    assert told.dialects == dialects
    found = catalog.view(f"{db}.w")
    assert [field.name for field in found.fields] == ["id", "n"]
    assert (found.query, found.comment) == (query, "theirs")
    with pytest.raises(AlreadyExistsError):
        catalog.create_view(name, query, columns)
    catalog.create_view(name, query, columns, if_not_exists=True)
    for made in (name, f"{db}.y"):
        catalog.create_view(made, "SELECT x", {"x": "DOUBLE"}, replace=True)
        told = java.view(made)
        assert ([field["name"] for field in told.fields], told.query) == (["x"], "SELECT x")
    catalog.drop_view(f"{db}.y")
    catalog.rename_view(name, f"{db}.x")
    java.drop_view(f"{db}.w")
    assert catalog.views(db) == java.views(db) == ["x"]
    catalog.drop_view(f"{db}.x")
    assert java.views(db) == []
    with pytest.raises(NotFoundError, match="'x'"):
        catalog.view(f"{db}.x")


def test_a_view_is_changed(home: Home, db: str) -> None:
    catalog, name = home.catalog, f"{db}.v"
    if not home.has(VIEWS):
        with pytest.raises(NotFoundError, match="'v'"):
            catalog.alter_view(name)
        return
    catalog.create_view(name, "SELECT 1", {"x": "INT"}, options={"a": "1"})
    added = ViewChange(action=ViewAction.ADD_DIALECT, key="spark", value="SELECT 2")
    catalog.alter_view(
        name,
        *([added] if home.has(DIALECTS) else []),
        ViewChange(action=ViewAction.UPDATE_COMMENT, value="new"),
        ViewChange(action=ViewAction.SET_OPTION, key="b", value="2"),
        ViewChange(action=ViewAction.REMOVE_OPTION, key="a"),
    )
    told = home.java.view(name)
    assert (told.query, told.comment) == ("SELECT 1", "new")
    assert told.options.get("b") == "2"
    assert "a" not in told.options
    if not home.has(DIALECTS):
        with pytest.raises(UnsupportedFeatureError, match="dialects"):
            catalog.alter_view(name, added)
        return
    assert told.dialects == {"spark": "SELECT 2"}
    with pytest.raises(AlreadyExistsError, match="'spark'"):
        catalog.alter_view(name, ViewChange(action=ViewAction.ADD_DIALECT, key="spark", value="x"))
    with pytest.raises(NotFoundError, match="'flink'"):
        catalog.alter_view(name, ViewChange(action=ViewAction.DROP_DIALECT, key="flink"))
    catalog.alter_view(name, ViewChange(action=ViewAction.DROP_DIALECT, key="spark"))
    assert home.java.view(name).dialects == {}


# ---------------------------------------------------------------- one notebook for all


@in_half_of_the_homes(1)
def test_the_notebook_runs_unchanged_in_every_home(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for key, value in home.options.items():
        variable = key.upper().replace(".", "__").replace("-", "_")
        monkeypatch.setenv(f"PAIMON_CATALOG__TUTORIAL__{variable}", value)
    content = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    found = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    cells = [cell for cell in found if "spark" not in cell]  # tests/notebooks runs these
    names: dict[str, object] = {}
    for cell in cells[:-1]:
        exec(cell, names)  # noqa: S102 - our notebook
    assert home.catalog.tables("shop") == ["orders"]
    assert home.catalog.table("shop.orders").count() == 3
    assert home.java.tables("shop") == ["orders"]
    if home.has(VIEWS):
        assert home.catalog.views("shop") == ["cities"]
    exec(cells[-1], names)  # noqa: S102 - likewise
    assert "shop" not in home.catalog.databases()
