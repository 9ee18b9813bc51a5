"""Views and functions of a REST catalog, and lists of names by pattern."""

import re
from collections.abc import Iterator, Sequence

from paimon_explore.errors import AlreadyExistsError, NotFoundError
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.metastore.name_pattern import matches
from paimon_explore.metastore.rest.error_mapping import Subject
from paimon_explore.metastore.rest.json_requests import (
    function_change_json,
    function_json,
    identifier_json,
    rename_json,
    view_change_json,
    view_json,
)
from paimon_explore.metastore.rest.json_responses import function_of, names_of, view_of
from paimon_explore.metastore.rest.rest_client import RestClient, checked_response
from paimon_explore.metastore.view_values import (
    FunctionChange,
    FunctionInfo,
    ViewChange,
    ViewInfo,
)

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
        try:
            self._client.post(path, action, _subject("view", wanted), body=body)
        except AlreadyExistsError:
            return False
        return True

    def alter_view(self, wanted: Identifier, changes: Sequence[ViewChange]) -> None:
        """Change a view."""
        body = {"changes": [view_change_json(change) for change in changes]}
        action = f"alter view '{wanted.database}.{wanted.table}'"
        self._client.post(self._view_path(wanted), action, _subject("view", wanted), body=body)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view."""
        path = self._client.paths.of("views", "rename")
        action = f"rename view '{source.database}.{source.table}'"
        body = rename_json(source, target)
        try:
            self._client.post(path, action, _subject("view", source), body=body)
        except AlreadyExistsError as error:
            raise AlreadyExistsError("view", target.table, target.database) from error

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
        try:
            self._client.post(path, action, _subject("function", wanted), body=body)
        except AlreadyExistsError:
            return False
        return True

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
