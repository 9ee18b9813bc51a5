import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.table.catalog import catalog as catalog_module
from support.small_tables import columns, new_catalog

COLUMNS = columns(id=pa.int32(), dt=pa.string())


def test_databases_are_made_listed_and_dropped() -> None:
    catalog = new_catalog()
    catalog.create_database("a")
    assert catalog.databases() == ["a", "db"]
    catalog.create_database("a", if_not_exists=True)
    catalog.drop_database("a")
    assert catalog.databases() == ["db"]
    assert repr(catalog) == f"Catalog({catalog.warehouse!r}): databases 'db'"


@pytest.mark.parametrize("name", ["", "a.b", "a$b", "a/b", ".."])
def test_a_database_has_a_usable_name(name: str) -> None:
    with pytest.raises(InvalidInputError):
        new_catalog().create_database(name)


def test_a_database_with_tables_is_dropped_only_with_them() -> None:
    catalog = new_catalog()
    catalog.create_table("db.t", COLUMNS)
    with pytest.raises(InvalidInputError, match="'t'"):
        catalog.drop_database("db")
    catalog.drop_database("db", cascade=True)
    assert catalog.databases() == []


def test_tables_are_made_listed_opened_and_dropped() -> None:
    catalog = new_catalog()
    made = catalog.create_table("db.t", COLUMNS, comment="a table")
    assert made.schema.comment == "a table"
    assert catalog.tables("db") == ["t"]
    opened = catalog.table("db.t")
    assert opened.name == "db.t"
    catalog.drop_table("db.t")
    assert catalog.tables("db") == []
    catalog.drop_table("db.t", if_exists=True)
    with pytest.raises(NotFoundError):
        catalog.drop_table("db.t")


@pytest.mark.parametrize("name", ["db.t$files", "db.t$branch_b"])
def test_a_branch_or_system_table_is_not_made_as_a_table(name: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a valid name for a new table"):
        new_catalog().create_table(name, COLUMNS)


def test_a_table_is_renamed() -> None:
    catalog = new_catalog()
    catalog.create_database("other")
    catalog.create_table("db.t", COLUMNS).append([{"id": 1, "dt": "a"}])
    catalog.rename_table("db.t", "other.u")
    assert catalog.tables("db") == []
    renamed = catalog.table("other.u")
    assert renamed.to_arrow().to_pylist() == [{"id": 1, "dt": "a"}]


def filled() -> Catalog:
    catalog = new_catalog()
    table = catalog.create_table("db.p", COLUMNS, partition_by=["dt"])
    table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}, {"id": 3, "dt": "b"}])
    catalog.create_table("db.k", COLUMNS, primary_key=["id"], options={"bucket": "2"})
    return catalog


def test_the_catalog_tells_of_all_its_tables() -> None:
    found = filled().system_table("sys.all_tables").to_arrow()
    wanted = ["database_name", "table_name", "table_type", "partitioned", "primary_key"]
    assert [tuple(row.values()) for row in found.select(wanted).to_pylist()] == [
        ("db", "k", "table", False, True),
        ("db", "p", "table", True, False),
    ]


def test_the_catalog_tells_of_all_partitions() -> None:
    found = filled().system_table("sys.all_partitions").to_arrow()
    wanted = ["table_name", "partition_name", "record_count", "file_count", "done"]
    assert [tuple(row.values()) for row in found.select(wanted).to_pylist()] == [
        ("p", "dt=a", 1, 1, False),
        ("p", "dt=b", 2, 1, False),
    ]
    assert all(isinstance(t, int) for t in found.column("last_file_creation_time").to_pylist())


def test_the_catalog_tells_of_all_options() -> None:
    catalog = filled()
    found = catalog.system_table("sys.all_table_options").to_arrow().to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("db", "k", "bucket", "2"),
        ("db", "k", "path", catalog.table("db.k").path),
        ("db", "p", "path", catalog.table("db.p").path),
    ]
    assert catalog.system_table("sys.catalog_options").to_arrow().to_pylist() == [
        {"key": "warehouse", "value": catalog.warehouse}
    ]


def test_a_database_called_sys_is_not_created_but_used_if_it_exists() -> None:
    catalog = new_catalog()
    with pytest.raises(InvalidInputError, match="'sys' is reserved"):
        catalog.create_database("sys", if_not_exists=True)
    assert catalog._metastore.create_database("sys", {}, None)
    catalog.create_table("sys.t", COLUMNS)
    assert isinstance(catalog.table("sys.t"), Table)


def test_an_error_does_not_count_tables_that_it_has_not_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = new_catalog()
    for number in range(30):
        found.create_table(f"db.t{number:02}", {"id": "INT"})
    with pytest.raises(NotFoundError, match=r"Existing tables: 't00', .*'t19' and 10 more\."):
        found.table("db.x")
    monkeypatch.setattr(catalog_module, "_MAX_SUGGESTED", 25)
    with pytest.raises(NotFoundError, match=r"Existing tables: 't00', .*'t19' and more\."):
        found.table("db.x")
