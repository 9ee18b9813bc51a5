"""The metastore of a REST catalog: databases, tables and partitions.

Spec: concepts/rest/rest-api, and Paimon's OpenAPI document of the REST catalog.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TypeVar

from paimon_explore.errors import (
    AlreadyExistsError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.catalog_values import (
    OWN_OPTIONS,
    DatabaseInfo,
    TableInfo,
    check_empty,
    check_same_schema,
)
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.metastore import Metastore
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.json_requests import (
    change_json,
    function_json,
    identifier_json,
    object_name,
    rename_json,
    schema_json,
)
from paimon_explore.metastore.rest.json_responses import (
    RestTable,
    database_of,
    function_of,
    partition_of,
    table_of,
    view_of,
)
from paimon_explore.metastore.rest.rest_client import RestClient
from paimon_explore.metastore.rest.rest_environment import (
    ManagedRestEnvironment,
    RestEnvironment,
)
from paimon_explore.metastore.rest.token_file_io import TokenFileIO
from paimon_explore.metastore.view_values import (
    FunctionChange,
    FunctionInfo,
    PartitionInfo,
    ViewChange,
    ViewInfo,
    view_json,
)
from paimon_explore.store.table_store import TableStore

T = TypeVar("T")

_LITERAL_PREFIX = re.compile(r"[^%_\\]*")


class RestViewsFunctions(Metastore):
    """The part of the metastore for views and functions.

    Args:
        client: the connection.
    """

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def _names(self, kind: str, database: str, pattern: str | None) -> Iterator[str]:
        """Yield the names of a database's tables, views or functions page by page, each once.

        Servers support patterns that are a prefix: the longest one is sent, and the rest of the
        pattern is checked here.
        """
        prefix = "" if pattern is None else _LITERAL_PREFIX.match(pattern)[0]  # type: ignore[index]  # matches always
        found = self._client.pages(
            self._folder(kind, database),
            f"list {kind}s of database {database!r}",
            Subject(kind="database", name=database),
            lambda page: page.names(f"{kind}s"),
            parameters={f"{kind}NamePattern": f"{prefix}%"} if prefix else {},
        )
        seen: set[str] = set()
        for name in found:
            if name not in seen and (pattern is None or matches(name, pattern)):
                seen.add(name)
                yield name

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's views."""
        return self._names("view", database, pattern)

    def view(self, wanted: Identifier) -> ViewInfo:
        """Return a view; raises NotFoundError of kind `view`."""
        return self._load("view", wanted, view_of)

    def create_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view; False if a view of that name exists."""
        body = {"identifier": identifier_json(wanted), "schema": view_json(view)}
        return self._create("view", wanted, body)

    def alter_view(self, wanted: Identifier, changes: Sequence[ViewChange]) -> None:
        """Change a view."""
        body = {"changes": [change_json(change) for change in changes]}
        self._post("view", wanted, "alter", body)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view."""
        self._rename("view", source, target)

    def drop_view(self, wanted: Identifier) -> bool:
        """Drop a view; False if it does not exist."""
        return self._drop("view", wanted)

    def functions(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's functions."""
        return self._names("function", database, pattern)

    def function(self, wanted: Identifier) -> FunctionInfo:
        """Return a function; raises NotFoundError of kind `function`."""
        return self._load("function", wanted, function_of)

    def create_function(self, wanted: Identifier, function: FunctionInfo) -> bool:
        """Create a function; False if it exists."""
        return self._create("function", wanted, function_json(wanted.table, function))

    def alter_function(self, wanted: Identifier, changes: Sequence[FunctionChange]) -> None:
        """Change a function."""
        body = {"changes": [change_json(change) for change in changes]}
        self._post("function", wanted, "alter", body)

    def drop_function(self, wanted: Identifier) -> bool:
        """Drop a function; False if it does not exist."""
        return self._drop("function", wanted)

    def _load(self, kind: str, wanted: Identifier, parse: Callable[[JsonObject], T]) -> T:
        path, action = self._path(kind, wanted), _action("load", kind, wanted)
        return self._client.load(path, action, _subject(kind, wanted), parse)

    def _create(self, kind: str, wanted: Identifier, body: Mapping[str, object]) -> bool:
        path, action = self._folder(kind, wanted.database), _action("create", kind, wanted)
        with suppress(AlreadyExistsError):
            self._client.post(path, action, _subject(kind, wanted), body=body)
            return True
        return False

    def _post(self, kind: str, wanted: Identifier, verb: str, body: Mapping[str, object]) -> None:
        path, action = self._path(kind, wanted), _action(verb, kind, wanted)
        self._client.post(path, action, _subject(kind, wanted), body=body)

    def _rename(self, kind: str, source: Identifier, target: Identifier) -> None:
        path, action = self._client.paths.of(f"{kind}s", "rename"), _action("rename", kind, source)
        body = rename_json(source, target)
        try:
            self._client.post(path, action, _subject(kind, source), body=body)
        except AlreadyExistsError as error:
            raise AlreadyExistsError(kind, target.table, target.database) from error

    def _drop(self, kind: str, wanted: Identifier) -> bool:
        path, action = self._path(kind, wanted), _action("drop", kind, wanted)
        try:
            self._client.delete(path, action, _subject(kind, wanted))
        except NotFoundError as error:
            if error.kind != kind:
                raise
            return False
        return True

    def _folder(self, kind: str, database: str) -> str:
        return self._client.paths.database(database, f"{kind}s")

    def _path(self, kind: str, wanted: Identifier, *parts: str) -> str:
        name = object_name(wanted.table, wanted.branch)
        return self._client.paths.database(wanted.database, f"{kind}s", name, *parts)


def _action(verb: str, kind: str, wanted: Identifier) -> str:
    return f"{verb} {kind} '{wanted.database}.{object_name(wanted.table, wanted.branch)}'"


def _subject(kind: str, wanted: Identifier) -> Subject:
    name = object_name(wanted.table, wanted.branch)
    return Subject(kind=kind, name=name, where=wanted.database)


_MAX_SHOWN = 20
PATH = "path"


class RestMetastore(RestViewsFunctions):
    """A REST catalog; can be pickled.

    Args:
        options: the catalog options.
        storage: settings of the storage, in addition to those in the options.
    """

    kind = "rest"

    def __init__(self, options: CatalogOptions, storage: Mapping[str, object]) -> None:
        super().__init__(RestClient(options.values))
        self._options = CatalogOptions(self._client.options)
        self._storage = {**self._options.storage(), **storage}

    @property
    def warehouse(self) -> str:
        """The name of the warehouse on the server; the URI if it has none."""
        return self._options.get("warehouse") or self._client.uri

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""
        subject = Subject(kind="warehouse", name=self.warehouse)
        found = self._client.pages(
            self._client.paths.of("databases"),
            "list databases",
            subject,
            lambda page: page.names("databases"),
        )
        return sorted(found)

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""
        try:
            self.database(name)
        except NotFoundError as error:
            if error.kind != "database":
                raise
            return False
        return True

    def database(self, name: str) -> DatabaseInfo:
        """Return a database; raises NotFoundError."""
        path, subject = self._client.paths.database(name), self._database_subject(name)
        return self._client.load(path, f"load database {name!r}", subject, database_of)

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists."""
        options = {**properties, **({} if comment is None else {"comment": comment})}
        body = {"name": name, "options": options}
        path, subject = self._client.paths.of("databases"), self._database_subject(name)
        with suppress(AlreadyExistsError):
            self._client.post(path, f"create database {name!r}", subject, body=body)
            return True
        return False

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set and remove properties of a database; the comment is the property `comment`."""
        body = {"removals": list(removed), "updates": dict(properties)}
        path, subject = self._client.paths.database(name), self._database_subject(name)
        self._client.post(path, f"alter database {name!r}", subject, body=body)

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Drop a database; False if it does not exist."""
        try:
            if not cascade:
                check_empty(name, list(islice(self.tables(name), _MAX_SHOWN)))
            path, subject = self._client.paths.database(name), self._database_subject(name)
            self._client.delete(path, f"drop database {name!r}", subject)
        except NotFoundError as error:
            if error.kind != "database":
                raise
            return False
        return True

    def rename_database(self, name: str, new_name: str) -> None:
        """Refuse: the protocol has no such request."""
        del new_name
        self.database(name)
        raise UnsupportedFeatureError(
            "renaming a database of a REST catalog",
            hint="Create the new database, and move the tables with rename_table().",
        )

    def tables(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's tables page by page; raises NotFoundError."""
        return self._names("table", database, pattern)

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""
        try:
            self._load("table", wanted, table_of)
        except NotFoundError:
            return False
        return True

    def table(self, wanted: Identifier) -> TableInfo:
        """Return where a table is; raises NotFoundError."""
        try:
            found = self._load("table", wanted, table_of)
        except NotFoundError as error:
            if error.kind != "table" or wanted.branch == MAIN_BRANCH:
                raise
            self._load("table", replace(wanted, branch=MAIN_BRANCH), table_of)
            raise NotFoundError("branch", wanted.branch, wanted.full_name) from error
        kind = RestEnvironment if found.is_external else ManagedRestEnvironment
        environment = kind(
            client=self._client, database=wanted.database, table=wanted.table, uuid=found.uuid
        )
        file_io, path = self._file_io(wanted, found)
        return TableInfo(
            path=path,
            file_io=file_io,
            environment=environment,
            schema=found.schema,
            uuid=found.uuid,
            is_external=found.is_external,
            type=found.schema.options.get("type", "table"),
        )

    def _file_io(self, wanted: Identifier, found: RestTable) -> tuple[FileIO, str]:
        if not self._options.flag("data-token.enabled", default=False):
            return resolve(found.path, self._storage)
        name = object_name(wanted.table, wanted.branch)
        file_io = TokenFileIO(self._client, wanted.database, name, found.path, self._storage)
        return file_io, found.path.rstrip("/")

    def create_table(self, wanted: Identifier, schema: TableSchema) -> bool:
        """Create a table; False if it exists; raises NotFoundError for an unknown database."""
        store = external_store(schema, self._storage)
        found = None if store is None else existing_schema(store, schema)
        body = {"identifier": identifier_json(wanted), "schema": schema_json(found or schema)}
        if not self._create("table", wanted, body):
            return False
        if store is not None and found is None:
            write_schema(store, schema)
        return True

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table, with its files unless it is external; False if it does not exist."""
        return self._drop("table", wanted)

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, or move it to another database."""
        self._rename("table", source, target)

    def partitions(
        self, wanted: Identifier, pattern: str | None = None
    ) -> Iterator[PartitionInfo] | None:
        """Yield the partitions that the server keeps of a table; None: it keeps none."""
        parameters = {} if pattern is None else {"partitionNamePattern": pattern}
        found = self._client.pages(
            self._path("table", wanted, "partitions"),
            _action("list partitions of", "table", wanted),
            _subject("table", wanted),
            _partitions_of,
            parameters=parameters,
        )
        try:
            first = next(found, None)
        except UnsupportedFeatureError:  # not a table with `metastore.partitioned-table`
            return None
        return iter(()) if first is None else chain((first,), found)

    def drop_partitions(self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]) -> None:
        """Remove partitions from the catalog; their files remain."""
        body = {"partitionSpecs": [dict(spec) for spec in partitions], "ignoreIfNotExists": True}
        self._post_partitions(wanted, "drop", body)

    def mark_partitions_done(
        self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
    ) -> None:
        """Mark partitions as complete."""
        body = {"specs": [dict(spec) for spec in partitions]}
        self._post_partitions(wanted, "mark", body)

    def _post_partitions(self, wanted: Identifier, verb: str, body: Mapping[str, object]) -> None:
        path = self._path("table", wanted, "partitions", verb)
        action = _action(f"{verb} partitions of", "table", wanted)
        self._client.post(path, action, _subject("table", wanted), body=body)

    def close(self) -> None:
        """Close the connections; a later use opens them again."""
        self._client.close()

    def _database_subject(self, name: str) -> Subject:
        return Subject(kind="database", name=name, where=self.warehouse)


def _partitions_of(page: JsonObject) -> list[PartitionInfo]:
    is_listed = page.values.get("partitions") is not None
    return [partition_of(one) for one in page.objects("partitions")] if is_listed else []


# If the folder is a table already, the new table has its schema, which the given one must match;
# else the schema file is written after the server has accepted the table.
#
# Spec: Paimon's `RESTCatalog`, which infers the schema of external tables.
def external_store(schema: TableSchema, storage: Mapping[str, object]) -> TableStore | None:
    """Return the store of a new external table; None for a table that the server places."""
    path = schema.options.get(PATH, "").strip()
    kind = schema.options.get("type", "table")
    if not path or kind != "table":
        return None
    file_io, root = resolve(path, storage)
    return TableStore(file_io, TablePaths(root))


def existing_schema(store: TableStore, given: TableSchema) -> TableSchema | None:
    """Return the schema of the table in the folder, with the options `path` and `owner` as given.

    Raises:
        InvalidInputError: the given schema differs from it.
    """
    found = store.schemas.latest()
    if found is None:
        return None
    check_same_schema(found, given, store.paths.root)
    own = {key: text for key, text in given.options.items() if key in OWN_OPTIONS}
    return replace(found, options={**found.options, **own})


def write_schema(store: TableStore, schema: TableSchema) -> None:
    """Write the first schema file, unless the server did."""
    if not store.schemas.ids():
        own = {key: text for key, text in schema.options.items() if key != PATH}
        store.schemas.create(replace(schema, options=own))
