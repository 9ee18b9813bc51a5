"""A Hive catalog in front of a server whose replies are given: requests, pages, refusals."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from thrift.Thrift import TApplicationException

from paimon_explore import Catalog
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive import metastore_structs as hms
from paimon_explore.metastore.hive.hive_lock import HiveLock, LockTiming
from paimon_explore.metastore.hive.hive_table import PAIMON_FORMAT
from paimon_explore.table.catalog.catalog import iter_table_names
from support.fake_metastore import client_of, failure, fake_metastore, reply
from support.new_process import printed

COLUMNS = {"id": "INT"}


class Server:
    """A metastore with tables of one database, which refuses to change anything."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder = folder
        self.names = names
        self.requests: Counter[str] = Counter()
        self.is_old = False

    def table(self, name: str) -> hms.Table:
        storage = hms.StorageDescriptor(
            columns=[],
            location=f"file:{self.folder}/db.db/{name}",
            input_format=PAIMON_FORMAT.input_format,
            output_format=PAIMON_FORMAT.output_format,
        )
        return hms.Table(
            table_name=name, db_name="db", create_time=7, storage=storage, parameters={}
        )

    def __call__(self, name: str, number: int) -> bytes:
        self.requests[name] += 1
        found = [self.table("found")]
        answers: dict[str, tuple[methods.Method[Any], object]] = {
            "get_all_databases": (methods.GET_ALL_DATABASES, ["db"]),
            "get_database": (methods.GET_DATABASE, hms.Database(name="db")),
            "get_all_tables": (methods.GET_ALL_TABLES, self.names),
            "get_table": (methods.GET_TABLE, self.table("t")),
            "get_table_objects_by_name": (methods.GET_TABLES, found),
        }
        if not self.is_old:
            one = hms.GetTableResult(table=self.table("t"))
            answers["get_table_req"] = (methods.GET_TABLE_REQUEST, one)
            several = hms.GetTablesResult(tables=found)
            answers["get_table_objects_by_name_req"] = (methods.GET_TABLES_REQUEST, several)
        if name in answers:
            method, value = answers[name]
            return reply(method, number, success=value)
        return failure(name, number, TApplicationException.UNKNOWN_METHOD, "Invalid method name")


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path, [f"t{number:05}" for number in range(10_000)])


def catalog_of(address: tuple[str, int], **options: str) -> Catalog:
    uri = f"thrift://127.0.0.1:{address[1]}"
    return Catalog(options={"metastore": "hive", "uri": uri, "warehouse": "/w", **options})


def test_tables_are_listed_batch_by_batch(server: Server) -> None:
    with fake_metastore(server) as address:
        catalog = catalog_of(address)
        assert next(iter_table_names(catalog, "db")) == "found"
        assert server.requests == {"get_all_tables": 1, "get_table_objects_by_name_req": 1}
        assert len(catalog.tables("db")) == 34
        assert server.requests["get_table_objects_by_name_req"] == 35
        catalog.close()


def test_a_table_is_opened_with_one_request(server: Server) -> None:
    Catalog(server.folder).create_database("db")
    made = Catalog(server.folder).create_table("db.t", COLUMNS)
    made.append([{"id": 1}])
    with fake_metastore(server) as address:
        catalog = catalog_of(address)
        table = catalog.table("db.t")
        assert table.count() == 1
        assert server.requests == {"get_table_req": 1}
        assert table.name == "db.t"
        assert table._store.environment is not None
        assert table._store.environment.uuid == "db.t.7"
        copy = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own bytes
        assert copy._store == table._store
        assert hash(copy._store.environment) == hash(table._store.environment)
        catalog.close()


def test_an_old_metastore_is_asked_in_the_old_way(server: Server) -> None:
    server.is_old = True
    with fake_metastore(server) as address:
        catalog = catalog_of(address)
        assert catalog.table_exists("db.t")
        assert next(iter_table_names(catalog, "db")) == "found"
        catalog.close()


def test_a_metastore_without_locks_is_named(server: Server) -> None:
    with fake_metastore(server) as address:
        client = client_of(address)
        lock = HiveLock(client, "db", "t", LockTiming(timeout_ms=10))
        with pytest.raises(UnsupportedFeatureError, match="Method lock"), lock:
            pass
        client.close()


def test_wrong_options_are_named(server: Server) -> None:
    with fake_metastore(server) as address:
        with pytest.raises(UnsupportedFeatureError, match="zookeeper"):
            catalog_of(address, **{"lock.type": "zookeeper"})
        with pytest.raises(InvalidInputError, match=r"lock\.enabled"):
            catalog_of(address, **{"lock.enabled": "perhaps"})
    with pytest.raises(InvalidInputError, match="'warehouse'"):
        Catalog(metastore="hive", uri="thrift://h")
    with pytest.raises(InvalidInputError, match="'uri'"):
        Catalog(metastore="hive", warehouse="/w")


def test_what_hive_does_not_have_is_refused(server: Server) -> None:
    with fake_metastore(server) as address:
        catalog = catalog_of(address)
        with pytest.raises(UnsupportedFeatureError, match="Renaming a database"):
            catalog.rename_database("db", "other")
        assert catalog.functions("db") == []
        with pytest.raises(NotFoundError, match="'f'"):
            catalog.function("db.f")
        with pytest.raises(UnsupportedFeatureError, match="object-table"):
            catalog.create_table("db.o", COLUMNS, options={"type": "object-table"})
        catalog.close()


def test_text_that_is_not_unicode_is_refused(server: Server) -> None:
    with fake_metastore(server) as address:
        catalog = catalog_of(address)
        for act in (
            lambda: catalog.database_exists("a\ud800"),
            lambda: catalog.table("db.a\ud800"),
            lambda: catalog.drop_database("a\ud800", if_exists=True),
        ):
            with pytest.raises(InvalidInputError, match=r"not Unicode: 'a\\ud800'"):
                act()
        assert catalog.databases() == ["db"]
        catalog.close()


def test_without_the_package_thrift_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['thrift'] = None\n"
        "import paimon_explore as pe\n"
        "try: pe.Catalog(metastore='hive', uri='thrift://h', warehouse='/w')\n"
        "except pe.errors.UnsupportedFeatureError as error: print(error)\n"
    )
    assert "pip install 'paimon-explore[hive]'" in printed(code)
