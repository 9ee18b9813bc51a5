"""The metastore of a REST catalog: databases, tables and partitions.

Spec: concepts/rest/rest-api, and Paimon's OpenAPI document of the REST catalog.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from paimon_explore.data_types.definitions import DataType, RowType
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.catalog_values import DatabaseInfo, TableInfo
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.json_requests import (
    function_change_json,
    function_json,
    identifier_json,
    object_name,
    rename_json,
    schema_json,
    view_change_json,
    view_json,
)
from paimon_explore.metastore.rest.json_responses import (
    RestTable,
    database_of,
    function_of,
    names_of,
    partition_of,
    table_of,
    view_of,
)
from paimon_explore.metastore.rest.rest_client import RestClient, checked_response
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
)
from paimon_explore.store.table_store import TableStore

_LITERAL_PREFIX = re.compile(r"[^%_\\]*")


class RestViewsFunctions:
    """The part of the metastore for views and functions.

    Args:
        client: the connection.
    """

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def _names(self, database: str, resource: str, kind: str, pattern: str | None) -> Iterator[str]:
        """Yield the names of a database's tables, views or functions page by page, each once.

        Servers support patterns that are a prefix: the longest one is sent, and the rest of the
        pattern is checked here.
        """
        prefix = "" if pattern is None else _LITERAL_PREFIX.match(pattern)[0]  # type: ignore[index]  # matches always
        found = self._client.pages(
            self._client.paths.database(database, resource),
            f"list {resource} of database {database!r}",
            Subject(kind="database", name=database),
            lambda page: names_of(page, resource),
            parameters={f"{kind}NamePattern": f"{prefix}%"} if prefix else {},
        )
        seen: set[str] = set()
        for name in found:
            if name not in seen and (pattern is None or matches(name, pattern)):
                seen.add(name)
                yield name

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's views."""
        return self._names(database, "views", "view", pattern)

    def view(self, wanted: Identifier) -> ViewInfo:
        """Return a view; raises NotFoundError of kind `view`."""
        action = f"load view '{wanted.database}.{wanted.table}'"
        source = self._client.get(self._view_path(wanted), action, _subject("view", wanted))
        with checked_response(action, source.path):
            return view_of(source)

    def create_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view; False if a view of that name exists."""
        body = {"identifier": identifier_json(wanted), "schema": view_json(view)}
        path = self._client.paths.database(wanted.database, "views")
        action = f"create view '{wanted.database}.{wanted.table}'"
        return self._create(path, action, _subject("view", wanted), body)

    def alter_view(self, wanted: Identifier, changes: Sequence[ViewChange]) -> None:
        """Change a view."""
        body = {"changes": [view_change_json(change) for change in changes]}
        action = f"alter view '{wanted.database}.{wanted.table}'"
        self._client.post(self._view_path(wanted), action, _subject("view", wanted), body=body)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view."""
        self._rename("view", _subject("view", source), source, target)

    def drop_view(self, wanted: Identifier) -> bool:
        """Drop a view; False if it does not exist."""
        action = f"drop view '{wanted.database}.{wanted.table}'"
        return self._drop(self._view_path(wanted), action, _subject("view", wanted))

    def functions(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's functions."""
        return self._names(database, "functions", "function", pattern)

    def function(self, wanted: Identifier) -> FunctionInfo:
        """Return a function; raises NotFoundError of kind `function`."""
        action = f"load function '{wanted.database}.{wanted.table}'"
        path = self._function_path(wanted)
        source = self._client.get(path, action, _subject("function", wanted))
        with checked_response(action, source.path):
            return function_of(source)

    def create_function(self, wanted: Identifier, function: FunctionInfo) -> bool:
        """Create a function; False if it exists."""
        path = self._client.paths.database(wanted.database, "functions")
        action = f"create function '{wanted.database}.{wanted.table}'"
        body = function_json(wanted.table, function)
        return self._create(path, action, _subject("function", wanted), body)

    def alter_function(self, wanted: Identifier, changes: Sequence[FunctionChange]) -> None:
        """Change a function."""
        body = {"changes": [function_change_json(change) for change in changes]}
        action = f"alter function '{wanted.database}.{wanted.table}'"
        path = self._function_path(wanted)
        self._client.post(path, action, _subject("function", wanted), body=body)

    def drop_function(self, wanted: Identifier) -> bool:
        """Drop a function; False if it does not exist."""
        action = f"drop function '{wanted.database}.{wanted.table}'"
        return self._drop(self._function_path(wanted), action, _subject("function", wanted))

    def _create(self, path: str, action: str, subject: Subject, body: Mapping[str, object]) -> bool:
        try:
            self._client.post(path, action, subject, body=body)
        except AlreadyExistsError:
            return False
        return True

    def _rename(self, kind: str, subject: Subject, source: Identifier, target: Identifier) -> None:
        action = f"rename {kind} '{source.database}.{source.table}'"
        path, body = self._client.paths.of(f"{kind}s", "rename"), rename_json(source, target)
        try:
            self._client.post(path, action, subject, body=body)
        except AlreadyExistsError as error:
            raise AlreadyExistsError(kind, target.table, target.database) from error

    def _drop(self, path: str, action: str, subject: Subject) -> bool:
        try:
            self._client.delete(path, action, subject)
        except NotFoundError as error:
            if error.kind != subject.kind:
                raise
            return False
        return True

    def _view_path(self, wanted: Identifier) -> str:
        return self._client.paths.database(wanted.database, "views", wanted.table)

    def _function_path(self, wanted: Identifier) -> str:
        return self._client.paths.database(wanted.database, "functions", wanted.table)


def _subject(kind: str, wanted: Identifier) -> Subject:
    return Subject(kind=kind, name=wanted.table, where=wanted.database)


_MAX_SHOWN = 20
PATH = "path"
_IGNORED = frozenset({PATH, "owner"})


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
            lambda page: names_of(page, "databases"),
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
        action = f"load database {name!r}"
        path = self._client.paths.database(name)
        source = self._client.get(path, action, self._database_subject(name))
        with checked_response(action, source.path):
            return database_of(source)

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists."""
        options = {**properties, **({} if comment is None else {"comment": comment})}
        body = {"name": name, "options": options}
        path = self._client.paths.of("databases")
        subject = self._database_subject(name)
        return self._create(path, f"create database {name!r}", subject, body)

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
                self._check_empty(name)
            path, subject = self._client.paths.database(name), self._database_subject(name)
            self._client.delete(path, f"drop database {name!r}", subject)
        except NotFoundError as error:
            if error.kind != "database":
                raise
            return False
        return True

    def _check_empty(self, name: str) -> None:
        found = [table for table, _ in zip(self.tables(name), range(_MAX_SHOWN), strict=False)]
        if found:
            raise InvalidInputError(
                f"Database {name!r} is not empty; it contains the tables {choices(found)}.",
                hint="Drop the tables first, or pass cascade=True.",
            )

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
        return self._names(database, "tables", "table", pattern)

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""
        try:
            self._load(wanted)
        except NotFoundError:
            return False
        return True

    def table(self, wanted: Identifier) -> TableInfo:
        """Return where a table is; raises NotFoundError."""
        try:
            found = self._load(wanted)
        except NotFoundError as error:
            if error.kind != "table" or wanted.branch == MAIN_BRANCH:
                raise
            self._load(Identifier(database=wanted.database, table=wanted.table))
            where = f"{wanted.database}.{wanted.table}"
            raise NotFoundError("branch", wanted.branch, where) from error
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

    def _load(self, wanted: Identifier) -> RestTable:
        name = object_name(wanted.table, wanted.branch)
        action = f"load table '{wanted.database}.{name}'"
        path = self._client.paths.table(wanted.database, name)
        source = self._client.get(path, action, self._table_subject(wanted))
        with checked_response(action, source.path):
            return table_of(source)

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
        path = self._client.paths.database(wanted.database, "tables")
        action = f"create table '{wanted.database}.{wanted.table}'"
        if not self._create(path, action, self._table_subject(wanted), body):
            return False
        if store is not None and found is None:
            write_schema(store, schema)
        return True

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table, with its files unless it is external; False if it does not exist."""
        path = self._client.paths.table(wanted.database, wanted.table)
        action = f"drop table '{wanted.database}.{wanted.table}'"
        return self._drop(path, action, self._table_subject(wanted))

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, or move it to another database."""
        self._rename("table", self._table_subject(source), source, target)

    def partitions(
        self, wanted: Identifier, pattern: str | None = None
    ) -> Iterator[PartitionInfo] | None:
        """Yield the partitions that the server keeps of a table; None: it keeps none."""
        parameters = {} if pattern is None else {"partitionNamePattern": pattern}
        found = self._client.pages(
            self._client.paths.table(wanted.database, wanted.table, "partitions"),
            f"list partitions of table '{wanted.database}.{wanted.table}'",
            self._table_subject(wanted),
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
        path = self._client.paths.table(wanted.database, wanted.table, "partitions", verb)
        action = f"{verb} partitions of table '{wanted.database}.{wanted.table}'"
        self._client.post(path, action, self._table_subject(wanted), body=body)

    def close(self) -> None:
        """Close the connections; a later use opens them again."""
        self._client.close()

    def _database_subject(self, name: str) -> Subject:
        return Subject(kind="database", name=name, where=self.warehouse)

    def _table_subject(self, wanted: Identifier) -> Subject:
        name = object_name(wanted.table, wanted.branch)
        return Subject(kind="table", name=name, where=wanted.database)


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
    same = (
        _columns(given.row_type) == _columns(found.row_type)
        and given.partition_keys in ((), found.partition_keys)
        and given.primary_keys in ((), found.primary_keys)
    )
    if not same:
        raise InvalidInputError(
            f"The table in {store.paths.root} has other columns or keys than the new table.",
            hint="Create the table with the columns and keys of the existing one.",
        )
    own = {key: text for key, text in given.options.items() if key in _IGNORED}
    for key, text in given.options.items():
        if key not in _IGNORED and found.options.get(key) != text:
            raise InvalidInputError(
                f"Option {key!r} of the new table differs from that of the table in "
                f"{store.paths.root}.",
                hint="Omit the option, and change it after the table is created.",
            )
    return replace(found, options={**found.options, **own})


def _columns(row_type: RowType) -> list[tuple[str, DataType]]:
    return [(field.name, field.type) for field in row_type.fields]


def write_schema(store: TableStore, schema: TableSchema) -> None:
    """Write the first schema file, unless the server did."""
    if not store.schemas.ids():
        own = {key: text for key, text in schema.options.items() if key != PATH}
        store.schemas.create(replace(schema, options=own))
