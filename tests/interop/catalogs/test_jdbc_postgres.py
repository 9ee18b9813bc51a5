"""What only a database server can do: end connections, and refuse values."""

import os
from collections.abc import Iterator

import psycopg
import pytest

from catalogs.homes import Home, Homes
from paimon_explore import Catalog
from paimon_explore.errors import PaimonError, StorageError

OTHERS = "pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
COLUMNS = {"a": "BIGINT"}


@pytest.fixture(scope="module")
def home(homes: Homes) -> Home:
    """The catalog in PostgreSQL."""
    return homes.get("jdbc-postgres")


@pytest.fixture
def db(home: Home) -> Iterator[str]:
    """A database of its own."""
    home.catalog.create_database("served")
    yield "served"
    home.catalog.drop_database("served", cascade=True)


def end_other_connections(home: Home) -> None:
    """Let the server end every connection but this one."""
    address = home.options["uri"].removeprefix("jdbc:")
    end = f"SELECT pg_terminate_backend(pid) FROM {OTHERS}"  # noqa: S608 - constant
    with psycopg.connect(address) as connection:
        connection.execute(end)


def test_a_connection_that_the_server_ended_is_replaced(home: Home, db: str) -> None:
    table = home.catalog.create_table(f"{db}.t", COLUMNS)
    end_other_connections(home)
    assert home.catalog.tables(db) == ["t"]
    end_other_connections(home)
    with pytest.raises(PaimonError, match="connection"):
        table.append([{"a": 1}])
    table.append([{"a": 2}])
    assert table.to_arrow().to_pylist() == [{"a": 2}]
    assert table.maintenance.fsck() == []


def test_a_table_whose_option_is_too_long_for_the_catalog_is_not_made(home: Home, db: str) -> None:
    with pytest.raises(StorageError, match=r"character varying\(1000\).*paimon_table_properties"):
        home.catalog.create_table(f"{db}.t", COLUMNS, options={"a.b": "x" * 1001})
    assert home.catalog.tables(db) == home.java.tables(db) == []
    home.catalog.create_table(f"{db}.t", COLUMNS)
    assert home.java.tables(db) == ["t"]


def test_a_database_that_does_not_exist_is_told(home: Home) -> None:
    uri = home.options["uri"].replace("/postgres?", "/nowhere?")
    with pytest.raises(StorageError, match='database "nowhere" does not exist'):
        Catalog(options={**home.options, "uri": uri}).databases()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_leaves_the_connection_to_its_parent(home: Home, db: str) -> None:
    backend = f"SELECT pid, backend_start FROM {OTHERS}"  # noqa: S608 - constant
    address = home.options["uri"].removeprefix("jdbc:")
    found = home.catalog.databases()
    with psycopg.connect(address) as connection:
        before = set(connection.execute(backend).fetchall())
        child = os.fork()
        if not child:
            try:
                known = home.catalog.databases()
                home.catalog.close()
            except PaimonError:
                known = []
            os._exit(0 if known == found else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert before <= set(connection.execute(backend).fetchall())
    assert db in home.catalog.databases()
