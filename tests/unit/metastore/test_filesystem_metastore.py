import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.metastore.view_values import FunctionInfo
from support.small_tables import new_catalog

COLUMNS = {"id": "INT"}


def test_databases_are_found_by_name_and_renamed() -> None:
    catalog = new_catalog()
    catalog.create_table("db.t", COLUMNS)
    assert catalog.database_exists("db")
    assert catalog.database("db").location == f"{catalog.warehouse}/db.db"
    catalog.rename_database("db", "shop")
    assert catalog.databases() == ["shop"]
    assert catalog.tables("shop") == ["t"]
    with pytest.raises(NotFoundError, match="'db'"):
        catalog.rename_database("db", "x")
    catalog.create_database("x")
    with pytest.raises(AlreadyExistsError, match="'x'"):
        catalog.rename_database("shop", "x")


def test_tables_are_listed_by_pattern() -> None:
    catalog = new_catalog()
    for name in ("a_1", "a_2", "ab1", "b"):
        catalog.create_table(f"db.{name}", COLUMNS)
    assert catalog.tables("db", "a_%") == ["a_1", "a_2"]
    assert catalog.tables("db", "%1") == ["a_1", "ab1"]
    assert catalog.tables("db", "a") == []
    assert catalog.table_exists("db.b")
    assert not catalog.table_exists("db.c")


@pytest.mark.parametrize("name", ["db.t$branch_b", "db.t$files"])
def test_a_branch_or_system_table_is_not_dropped_or_renamed_as_a_table(name: str) -> None:
    catalog = new_catalog()
    table = catalog.create_table("db.t", COLUMNS)
    table.append([{"id": 1}])
    table.create_tag("one")
    table.create_branch("b", "one")
    changes: list[Callable[[], None]] = [
        lambda: catalog.drop_table(name, if_exists=True),
        lambda: catalog.rename_table(name, "db.u"),
        lambda: catalog.rename_table("db.t", name),
        lambda: catalog.create_view(name, "SELECT 1", COLUMNS),
    ]
    for change in changes:
        with pytest.raises(InvalidInputError, match=r"is a (branch|system table).*'db\.t'"):
            change()
    assert catalog.tables("db") == ["t"]
    assert catalog.table_exists("db.t$branch_b")
    assert not catalog.table_exists("db.t$branch_c")


def test_what_a_folder_cannot_keep_is_refused_by_name() -> None:
    catalog = new_catalog()
    refused = "in a catalog with metastore='filesystem' is not supported"
    with pytest.raises(UnsupportedFeatureError, match=f"comment of a database {refused}"):
        catalog.create_database("x", comment="c")
    with pytest.raises(UnsupportedFeatureError, match=refused):
        catalog.alter_database("db", remove="owner")
    with pytest.raises(UnsupportedFeatureError, match=f"Creating a view {refused}"):
        catalog.create_view("db.v", "SELECT 1", {"x": "INT"})
    with pytest.raises(UnsupportedFeatureError, match=f"Creating a function {refused}"):
        catalog.create_function("db.f", FunctionInfo())
    assert catalog.databases() == ["db"]
    assert catalog.views("db") == []
    assert catalog.functions("db") == []


def test_a_catalog_can_be_pickled() -> None:
    catalog = new_catalog()
    catalog.create_table("db.t", COLUMNS).append([{"id": 1}])
    assert pickle.loads(pickle.dumps(catalog)).table("db.t").count() == 1  # noqa: S301 - our own


def test_names_that_another_process_changes_during_a_rename_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, rename = new_catalog(tmp_path), LocalFileIO.rename_folder
    for name in ("db.t", "db.u", "db.v"):
        catalog.create_table(name, {"a": "INT"})
    root = f"{tmp_path}/db.db"
    meanwhile = [
        (root, f"{tmp_path}/gone.db"),
        (f"{root}/u", f"{root}/new"),
        (f"{root}/t", f"{root}/gone"),
    ]

    def late(self: LocalFileIO, source: str, target: str) -> None:
        if meanwhile:
            rename(self, *meanwhile.pop())
        rename(self, source, target)

    monkeypatch.setattr(LocalFileIO, "rename_folder", late)
    with pytest.raises(NotFoundError, match="'t' does not exist"):
        catalog.rename_table("db.t", "db.new")
    with pytest.raises(AlreadyExistsError, match="'new' already exists"):
        catalog.rename_table("db.v", "db.new")
    with pytest.raises(NotFoundError, match="Database 'db' does not exist"):
        catalog.rename_database("db", "new")
