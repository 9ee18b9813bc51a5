"""Iceberg metadata in real catalogs: a Hive metastore beside Java, and Iceberg's REST catalog."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from catalogs.homes import Home, Homes
from paimon_explore import Catalog, Table
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import HiveClient
from paimon_explore.metastore.hive.hive_settings import hive_settings
from paimon_explore.metastore.hive.metastore_structs import StorageDescriptor
from paimon_explore.metastore.hive.metastore_structs import Table as HiveTable
from support.catalog_servers import servers
from support.iceberg_reader import IcebergReader
from support.small_tables import rows_of

pytestmark = pytest.mark.interop

FIELDS = [("k", "INT"), ("v", "STRING"), ("p", "INT")]
COLUMNS = dict(FIELDS)
A, B, C = [{"k": number, "v": "abc"[number], "p": number % 2} for number in range(3)]
OF_THE_SERVER = {"totalSize", "numFiles", "transient_lastDdlTime"}
_NUMBERS = itertools.count()


def rows_at(location: str) -> list[dict[str, Any]]:
    """The rows of a metadata file."""
    metadata = json.loads(local(location).read_bytes())
    return IcebergReader(lambda path: local(path).read_bytes(), "", metadata=metadata).rows()


def local(location: str) -> Path:
    return Path(location.removeprefix("file:"))


def kept(table: HiveTable) -> HiveTable:
    """What must be the same for tables of both: all but names, places and times."""
    name = table.table_name or ""
    parameters = {k: v for k, v in (table.parameters or {}).items() if k not in OF_THE_SERVER}
    for key in ("metadata_location", "previous_metadata_location"):
        if key in parameters:
            parameters[key] = str(local(parameters[key])).replace(name, "T")
    storage = table.storage or StorageDescriptor()
    return replace(
        table,
        table_name="",
        create_time=0,
        last_access_time=0,
        parameters=parameters,
        storage=replace(storage, location=(storage.location or "").replace(name, "T")),
    )


@pytest.fixture(scope="module")
def home(homes: Homes) -> Home:
    return homes.get("hive")


@pytest.fixture
def db(home: Home) -> Iterator[str]:
    name = f"iceberg{next(_NUMBERS)}"
    home.catalog.create_database(name)
    yield name
    home.catalog.drop_database(name, cascade=True, if_exists=True)


@pytest.fixture(scope="module")
def client(home: Home) -> Iterator[HiveClient]:
    made = HiveClient(hive_settings(home.options))
    yield made
    made.close()


def make(home: Home, name: str, database: str) -> None:
    options = {
        "metadata.iceberg.storage": "hive-catalog",
        "metadata.iceberg.uri": home.options["uri"],
    }
    if database:
        options["metadata.iceberg.database"] = database
    home.java.create_table(name, FIELDS, partition_keys=["p"], options=options)


@pytest.mark.parametrize("database", ["", "lake"], ids=["own entry", "external table"])
def test_a_hive_metastore_has_the_same_after_our_commits_as_after_those_of_java(
    home: Home, db: str, client: HiveClient, database: str
) -> None:
    place = f"{db}{database}" if database else db
    for name in ("javas", "ours", "both"):
        make(home, f"{db}.{name}", f"{db}{database}" if database else "")
    location = ""
    for number, row in enumerate((A, B, C)):
        home.java.write(f"{db}.javas", [row])
        home.catalog.table(f"{db}.ours").append([row])
        if number % 2:
            home.java.write(f"{db}.both", [row])
        else:
            home.catalog.table(f"{db}.both").append([row])
        theirs, *others = [
            client.call(methods.GET_TABLE, place, name) for name in ("javas", "ours", "both")
        ]
        for other in others:
            assert kept(other) == kept(theirs)
            location = (other.parameters or {})["metadata_location"]
            assert rows_at(location) == rows_at((theirs.parameters or {})["metadata_location"])
    assert len(rows_at(location)) == 3


CHANGES: dict[str, Callable[[Table], object]] = {
    "append": lambda t: t.append([C]),
    "overwrite": lambda t: t.overwrite([C]),
    "delete": lambda t: t.delete("k = 0"),
    "schema": lambda t: (t.add_column("n", "BIGINT"), t.append([{**A, "k": 9}])),
    "tag": lambda t: t.create_tag("good"),
    "compact": lambda t: t.compact(full=True),
    "no tag": lambda t: t.delete_tag("good"),
    "rollback": lambda t: t.rollback_to(4),
    "append after it": lambda t: t.append([B]),
}


@pytest.fixture(scope="module")
def rest() -> Iterator[str]:
    with servers.started(servers.iceberg_rest) as url:
        yield url


@pytest.mark.parametrize("partition_by", ["", "k", "p"])
@pytest.mark.parametrize("version", ["2", "3"])
def test_the_rest_catalog_of_iceberg_follows_every_change(
    rest: str, tmp_path: Path, partition_by: str, version: str
) -> None:
    catalog = Catalog(tmp_path)
    name = f"t{next(_NUMBERS)}"
    catalog.create_database("db")
    catalog.create_table(
        f"db.{name}",
        COLUMNS,
        partition_by=partition_by or None,
        options={
            "metadata.iceberg.storage": "rest-catalog",
            "metadata.iceberg.rest.uri": rest,
            "metadata.iceberg.format-version": version,
        },
    )
    catalog.table(f"db.{name}").append([A, B])
    for change in CHANGES.values():
        change(catalog.table(f"db.{name}"))
        table = catalog.table(f"db.{name}")
        with urlopen(f"{rest}/v1/namespaces/db/tables/{name}") as answer:  # noqa: S310 - loopback
            metadata = json.load(answer)["metadata"]
        folder = f"{tmp_path}/iceberg/db/{name}/metadata"
        files = IcebergReader(lambda path: Path(path).read_bytes(), folder)
        found = IcebergReader(lambda path: Path(path).read_bytes(), "", metadata=metadata)
        assert found.rows() == files.rows()
        assert (list(found.snapshots), found.tags) == (list(files.snapshots), files.tags)
        assert [len(metadata[key]) for key in ("partition-specs", "sort-orders")] == [1, 1]
        (schema,) = [
            one for one in metadata["schemas"] if one["schema-id"] == metadata["current-schema-id"]
        ]
        names = [field["name"] for field in schema["fields"]]  # a rollback shows older columns
        assert found.rows() == rows_of(table.scan(columns=names).to_arrow())
