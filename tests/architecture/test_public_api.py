"""The names that users rely on; taking one away breaks them."""

import paimon_explore as pe
from paimon_explore.inspection.system_tables.table_inspection import SYSTEM_TABLES, Inspection
from paimon_explore.table.scan import Scan

PACKAGE = ["Catalog", "PaimonError", "Table", "col", "demo", "expr", "lit", "open_table", "trace"]
DOORS = ["errors", "inspect", "spark", "widgets"]
CATALOG = {
    *("create_database", "create_table", "databases", "drop_database", "drop_table"),
    *("rename_table", "system_table", "table", "tables", "warehouse"),
}
TABLE = {
    *("append", "at", "branch", "branches", "consumers", "delete", "drop_partitions", "explore"),
    *("diff", "explain", "health", "history", "lsm", "preview_expiry", "schema_history", "why"),
    *("inspect", "name", "options", "overwrite", "path", "scan", "schema", "schemas", "snapshot"),
    *("snapshots", "system_table", "tags", "to_arrow", "to_batches", "to_duckdb", "to_pandas"),
    *("to_polars", "truncate", "upsert", "update", "merge", "compact", "maintenance", "count"),
    *("alter", "add_column", "drop_column", "rename_column", "alter_column_type", "fsck"),
    *("set_options", "unset_options", "create_tag", "delete_tag", "create_branch", "analyze"),
    *("delete_branch", "fast_forward", "rollback_to", "expire_snapshots", "expire_partitions"),
    *("remove_orphan_files", "consumers", "changes", "between", "head"),
}
SCAN = {
    *(
        "columns",
        "count",
        "explain",
        "filter",
        "limit",
        "plan",
        "row_limit",
        "select",
        "schema",
        "to_arrow",
        "to_batches",
    ),
    *("to_duckdb", "to_pandas", "to_polars", "where"),
}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_package_offers_these_names_and_doors() -> None:
    assert sorted(pe.__all__) == PACKAGE
    assert dir(pe) == sorted(["__version__", *PACKAGE, *DOORS])


def test_every_door_opens() -> None:
    for door in DOORS:
        assert getattr(pe, door).__name__.startswith("paimon_explore.")


def test_catalog_table_and_scan_keep_their_names() -> None:
    catalog = pe.demo()
    table = catalog.table("demo.empty")
    assert isinstance(table, pe.Table)
    assert public(catalog) >= CATALOG
    assert public(table) >= TABLE
    assert public(table.scan()) >= SCAN


def test_there_is_a_method_for_each_system_table_of_metadata() -> None:
    assert public(Inspection) - {"state"} == set(SYSTEM_TABLES)


def test_public_things_are_documented() -> None:
    for thing in (pe.Catalog, pe.Table, Scan, Inspection):
        methods = {name for name in public(thing) if callable(getattr(thing, name))}
        assert [name for name in methods if not getattr(thing, name).__doc__] == []
