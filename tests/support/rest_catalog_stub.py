"""A REST catalog in this process, for tests of faults that the official server cannot be told.

    with rest_catalog_stub(location, options) as stub:
        catalog = Catalog(metastore="rest", uri=stub.url, warehouse="wh", token="t")
        stub.lose_next("/commit")  # carried out, and the connection is closed without a reply

It keeps databases, tables and snapshots in memory, writes schema and snapshot files into the
warehouse as the official server does, and hands out storage tokens.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote_plus

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.schema.table_schema import encode_schema, schema_from_json
from paimon_explore.metadata.snapshot import parse_snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.snapshots import Snapshots
from support.http_stub import HttpStub, Reply, Seen, http_stub

NOTHING = Reply(body=b"")


@dataclass
class StubTable:
    """A table of the stub."""

    id: str
    path: str
    schema: dict[str, object]
    latest: dict[str, object] | None = None
    statistics: list[Any] = field(default_factory=list)
    external: bool = False


@dataclass
class RestCatalogStub:
    """The server, as tests see it.

    Attributes:
        location: the warehouse.
        storage: options of the storage, for the server itself.
        config: the defaults of its configuration.
        tables: the tables by (database, name).
        token: returns a storage token and its expiry; None for no tokens.
        auth: the rules of queries by (database, name).
        page_size: the maximum number of names on a page.
        script: replies for the next requests whose path contains a text; the flag says whether the
            request is carried out first.
        silent_from: part of a path; that request and all later ones are not answered.
        answer: answers all requests instead; `carry_out` gives the usual reply.
        drops_uuids: lose the uuids of snapshots, and ignore them, as servers before 2.0 do.
    """

    location: str
    storage: Mapping[str, str]
    config: dict[str, str] = field(default_factory=lambda: {"prefix": "p"})
    databases: dict[str, dict[str, str]] = field(default_factory=dict)
    tables: dict[tuple[str, str], StubTable] = field(default_factory=dict)
    token: Callable[[], tuple[dict[str, str], int]] | None = None
    auth: dict[tuple[str, str], dict[str, object]] = field(default_factory=dict)
    page_size: int = 100
    script: list[tuple[str, bool, Reply]] = field(default_factory=list)
    silent_from: str = ""
    answer: Callable[[Seen], Reply] | None = None
    drops_uuids: bool = False
    http: HttpStub | None = None

    @property
    def url(self) -> str:
        assert self.http is not None
        return self.http.url

    @property
    def seen(self) -> list[Seen]:
        assert self.http is not None
        return self.http.seen

    def lose_next(self, path: str, *, carried_out: bool = True) -> None:
        """Close the connection of the next request to a path instead of replying."""
        self.script.append((path, carried_out, Reply(nothing=True)))

    def reply(self, seen: Seen) -> Reply:
        return self._scripted(seen) if self.answer is None else self.answer(seen)

    def _scripted(self, seen: Seen) -> Reply:
        if self.silent_from and self.silent_from in seen.path:
            self.silent_from = "/"
            return Reply(nothing=True)
        for place, (path, carried_out, reply) in enumerate(self.script):
            if path in seen.path:
                del self.script[place]
                if carried_out:
                    self.carry_out(seen)
                return reply
        return self.carry_out(seen)

    def carry_out(self, seen: Seen) -> Reply:  # noqa: PLR0911 - a return per resource
        if seen.headers.get("authorization") != "Bearer t":
            return Reply(status=401)
        if seen.path == "/v1/config":
            return Reply(body={"defaults": self.config, "overrides": {}})
        parts = [unquote_plus(part) for part in seen.path.split("/")[3:]]
        match parts:
            case ["databases"]:
                return self._list_or_create(seen)
            case ["databases", database, *_] if database not in self.databases:
                return _missing("DATABASE", database)
            case ["databases", database]:
                return Reply(body={"id": "d", "name": database, "options": {}})
            case ["databases", database, "tables"]:
                return self._tables(seen, database)
            case ["databases", database, "tables", name, *rest]:
                table = self.tables.get((database, name))
                if table is None:
                    return _missing("TABLE", name)
                return self._table(seen, (database, name), table, rest)
            case _:
                return Reply(status=404)

    def _list_or_create(self, seen: Seen) -> Reply:
        if seen.method == "GET":
            return self._page(seen, "databases", sorted(self.databases))
        name = str(_members(seen)["name"])
        if name in self.databases:
            return _exists("DATABASE", name)
        self.databases[name] = {}
        return NOTHING

    def _tables(self, seen: Seen, database: str) -> Reply:
        if seen.method == "GET":
            prefix = seen.query.get("tableNamePattern", "").rstrip("%")
            names = sorted(t for d, t in self.tables if d == database and t.startswith(prefix))
            return self._page(seen, "tables", names)
        members = _members(seen)
        name, schema = str(members["identifier"]["object"]), members["schema"]  # type: ignore[index]
        if (database, name) in self.tables:
            return _exists("TABLE", name)
        assert isinstance(schema, dict)
        options = schema.get("options")
        chosen = options.get("path") if isinstance(options, dict) else None
        path = chosen or f"{self.location}/{database}.db/{name}"
        table = StubTable(f"id-{name}", path, schema, external=chosen is not None)
        self.tables[database, name] = table
        value = schema_from_json({**schema, "version": 3, "id": 0, "highestFieldId": 99}, "request")
        if chosen is None:
            self._files.create(TablePaths(table.path).schema(0), encode_schema(value))
        return NOTHING

    def _page(self, seen: Seen, key: str, names: list[str]) -> Reply:
        after = seen.query.get("pageToken", "")
        size = min(int(seen.query.get("maxResults", self.page_size)), self.page_size)
        left = [name for name in names if name > after]
        token = left[size - 1] if len(left) > size else None
        return Reply(body={key: left[:size], "nextPageToken": token})

    def _table(  # noqa: PLR0911 - a return per resource
        self, seen: Seen, name: tuple[str, str], table: StubTable, rest: list[str]
    ) -> Reply:
        match rest:
            case [] if seen.method == "DELETE":
                del self.tables[name]
                return NOTHING
            case []:
                return Reply(
                    body={
                        "id": table.id,
                        "name": name[1],
                        "path": table.path,
                        "schemaId": 0,
                        "isExternal": table.external,
                        "schema": table.schema,
                    }
                )
            case ["snapshot"]:
                if table.latest is None:
                    return _missing("SNAPSHOT", "")
                return Reply(body={"snapshot": {"snapshot": table.latest, "recordCount": 1}})
            case ["commit"]:
                return Reply(body={"success": self._commit(table, _members(seen))})
            case ["token"] if self.token is not None:
                token, expires_at = self.token()
                return Reply(body={"token": token, "expiresAtMillis": expires_at})
            case ["auth"]:
                return Reply(body=self.auth.get(name, {}))
            case _:
                return Reply(status=404)

    def _commit(self, table: StubTable, members: dict[str, object]) -> bool:
        base = None if table.latest is None else table.latest.get("uuid")
        is_based = self.drops_uuids or members["baseSnapshotUuid"] == base
        if members["tableId"] != table.id or not is_based:
            return False
        given = members["snapshot"]
        assert isinstance(given, dict)
        if self.drops_uuids:
            del given["uuid"]
        assert isinstance(members["statistics"], list)
        snapshot = parse_snapshot(json.dumps(given).encode(), "request")
        if not Snapshots(self._files, TablePaths(table.path)).create(snapshot):
            return False
        table.latest = given
        table.statistics = members["statistics"]
        return True

    @property
    def _files(self) -> FileIO:
        return resolve(self.location, self.storage)[0]


def _members(seen: Seen) -> dict[str, object]:
    found = seen.json
    assert isinstance(found, dict)
    return found


def _missing(kind: str, name: str) -> Reply:
    body = {"resourceType": kind, "resourceName": name, "message": "not found", "code": 404}
    return Reply(status=404, body=body)


def _exists(kind: str, name: str) -> Reply:
    body = {"resourceType": kind, "resourceName": name, "message": "exists", "code": 409}
    return Reply(status=409, body=body)


def in_an_hour() -> int:
    """An expiry that no test reaches, epoch milliseconds."""
    return time.time_ns() // 1_000_000 + 7_200_000


@contextmanager
def rest_catalog_stub(
    location: str, storage: Mapping[str, str] | None = None
) -> Iterator[RestCatalogStub]:
    """Run the server over a warehouse, for as long as the block lasts."""
    stub = RestCatalogStub(location, storage or {})
    with http_stub(stub.reply) as http:
        stub.http = http
        yield stub
