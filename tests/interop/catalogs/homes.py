"""The homes of catalogs that tests walk: each with our catalog, Java's and the options of both.

A home is started when the first test asks for it and ends with the test run.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from oracle import JavaCatalog, JavaPaimon, OracleUnavailableError
from paimon_explore import Catalog
from support.catalog_servers import servers
from support.required import lacking

PROPERTIES = "properties"
VIEWS = "views"
PYPAIMON = "pypaimon"
LOCKS = "locks"
DIALECTS = "dialects"
SERVER = "server"


@dataclass(frozen=True)
class Home:
    """One catalog.

    Attributes:
        name: how tests call it.
        options: its options, by Paimon's names.
        catalog: our catalog.
        java: the same catalog in Java.
        features: what it has: properties of databases, views, dialects of views, locks, a server
            that decides about commits (Paimon's test server, which forgets the snapshots of renamed
            tables and keeps those of dropped databases); and whether pypaimon opens it.
    """

    name: str
    options: Mapping[str, str]
    catalog: Catalog
    java: JavaCatalog
    features: frozenset[str]

    def has(self, feature: str) -> bool:
        """Whether the home has a feature."""
        return feature in self.features


@dataclass
class Starting:
    """What a home needs while it starts.

    Attributes:
        folder: an empty folder of its own.
        stack: closes its servers.
        java: the newest Java with the drivers of databases.
    """

    folder: Path
    stack: ExitStack
    java: JavaPaimon


Start = Callable[[Starting], tuple[Mapping[str, str], frozenset[str]]]
"""Starts a home; returns its options and features."""


def filesystem(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """A folder."""
    folder = starting.folder / "warehouse"
    folder.mkdir()
    return {"warehouse": str(folder)}, frozenset({PYPAIMON})


def jdbc_sqlite(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """SQLite, which needs no server."""
    uri = f"jdbc:sqlite:{starting.folder / 'catalog.db'}"
    return _jdbc(starting, uri)


def jdbc_postgres(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """PostgreSQL."""
    uri = starting.stack.enter_context(servers.started(servers.postgres))
    return _jdbc(starting, uri)


def _jdbc(starting: Starting, uri: str) -> tuple[Mapping[str, str], frozenset[str]]:
    options = {
        "metastore": "jdbc",
        "uri": uri,
        "warehouse": str(starting.folder / "warehouse"),
        "catalog-key": "tests",
        "lock.enabled": "true",
    }
    return options, frozenset({PROPERTIES, VIEWS, DIALECTS, PYPAIMON, LOCKS})


def hive(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """A Hive metastore, whose classes Java's catalog needs: so Java is a process of its own."""
    folder = starting.folder / "warehouse"
    folder.mkdir()
    server = partial(servers.hive_metastore, folder)
    uri = starting.stack.enter_context(servers.started(server))
    java = JavaPaimon(heap="512m", more_jars=[servers.hive_jars()])
    starting.java = starting.stack.enter_context(java)
    options = {"metastore": "hive", "uri": uri, "warehouse": str(folder), "lock.enabled": "true"}
    options["lock-check-max-sleep"] = "100 ms"  # many processes wait for one lock
    return options, frozenset({PROPERTIES, VIEWS, LOCKS})


def rest_new(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """Paimon's REST server of release 2.0.0, with a bearer token."""
    server = partial(servers.rest_server, starting.folder / "warehouse", version="2.0.0")
    options = {"token.provider": "bear", "token": "secret"}
    return _rest(starting, server, options)


def rest_old(starting: Starting) -> tuple[Mapping[str, str], frozenset[str]]:
    """Paimon's REST server of release 1.4.2, with requests signed as DLF asks."""
    keys = ("key", "hidden")
    folder = starting.folder / "warehouse"
    server = partial(servers.rest_server, folder, dlf=keys, version="1.4.2")
    options = {
        "token.provider": "dlf",
        "dlf.region": "cn-hangzhou",
        "dlf.access-key-id": keys[0],
        "dlf.access-key-secret": keys[1],
    }
    return _rest(starting, server, options)


def _rest(
    starting: Starting,
    server: Callable[[], AbstractContextManager[str]],
    credentials: Mapping[str, str],
) -> tuple[Mapping[str, str], frozenset[str]]:
    (starting.folder / "warehouse").mkdir()
    uri = starting.stack.enter_context(servers.started(server))
    options = {"metastore": "rest", "uri": uri, "warehouse": "wh", **credentials}
    return options, frozenset({PROPERTIES, VIEWS, DIALECTS, PYPAIMON, SERVER})


HOMES: Mapping[str, Start] = {
    "filesystem": filesystem,
    "jdbc-sqlite": jdbc_sqlite,
    "jdbc-postgres": jdbc_postgres,
    "hive": hive,
    "rest-2.0.0": rest_new,
    "rest-1.4.2": rest_old,
}


@dataclass
class Homes:
    """The homes of a test run, started one by one."""

    folder: Path
    stack: ExitStack
    java: JavaPaimon
    started: dict[str, Home] = field(default_factory=dict)

    def get(self, name: str) -> Home:
        """Return a home; start it the first time."""
        if name not in self.started:
            folder = self.folder / name
            folder.mkdir()
            starting = Starting(folder, self.stack, self.java)
            options, features = HOMES[name](starting)
            # Java first: if the table of locks exists, it never closes the query that found it,
            # and so holds a read lock of SQLite
            java = JavaCatalog(starting.java, options)
            java.databases()
            catalog = Catalog(options=options)
            self.stack.callback(catalog.close)
            self.started[name] = Home(name, options, catalog, java, features)
        return self.started[name]


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homes]:
    """The homes, and one Java process for all of them."""
    try:
        java = JavaPaimon(heap="1g", more_jars=[servers.drivers()])
    except (OracleUnavailableError, servers.ServerUnavailableError) as error:
        lacking("java", str(error))
    with java, ExitStack() as stack:
        yield Homes(tmp_path_factory.mktemp("homes"), stack, java)


@pytest.fixture(params=list(HOMES), scope="module")
def home(request: pytest.FixtureRequest, homes: Homes) -> Home:
    """Each home in turn."""
    name: str = request.param
    return homes.get(name)
