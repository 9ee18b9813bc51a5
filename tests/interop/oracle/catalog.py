"""Catalogs of any kind in the Java process of the oracle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.oracle import JavaPaimon
from oracle.values import JavaPaimonError
from oracle.wire import Fields, TypeJson


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaView:
    """A view as Java sees it."""

    fields: Fields
    query: str
    dialects: Mapping[str, str]
    comment: str | None
    options: Mapping[str, str]


class JavaCatalog(JavaPaimon):
    """The tables of one catalog: every method of `JavaPaimon`, with names such as `db.t`.

    Args:
        java: the process, which stays open.
        options: the options of the catalog: `metastore`, `uri`, `warehouse`, …
    """

    def __init__(self, java: JavaPaimon, options: Mapping[str, str]) -> None:
        self.version = java.version
        self._scratch = java._scratch
        self._numbers = java._numbers
        self._jvm = java._jvm
        self._options = dict(options)

    def close(self) -> None:
        """Close the catalog, not the process."""
        self._ask("catalog_close", "")

    def _ask(self, command: str, table: object, **request: Any) -> Any:  # noqa: ANN401
        answer = self._jvm.ask(
            {"command": command, "table": str(table), "catalog": self._options, **request}
        )
        if "error" in answer:
            raise JavaPaimonError(command, answer["error"], answer["message"])
        return answer["reply"]

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""
        return sorted(self._ask("catalog_databases", ""))

    def create_database(self, name: str, properties: Mapping[str, str] | None = None) -> None:
        """Create a database."""
        self._ask("catalog_create_database", name, properties=dict(properties or {}))

    def database(self, name: str) -> dict[str, str]:
        """Return the properties of a database, its comment among them."""
        found = self._ask("catalog_database", name)
        comment = {} if found["comment"] is None else {"comment": found["comment"]}
        return {**found["properties"], **comment}

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str] = ()
    ) -> None:
        """Set and remove properties."""
        request = {"properties": dict(properties), "removed": list(removed)}
        self._ask("catalog_alter_database", name, **request)

    def drop_database(self, name: str, *, cascade: bool = False) -> None:
        """Drop a database."""
        self._ask("catalog_drop_database", name, cascade=cascade)

    def tables(self, database: str) -> list[str]:
        """Return the names of the tables, sorted."""
        return sorted(self._ask("catalog_tables", database))

    def rename_table(self, source: str, target: str) -> None:
        """Rename a table."""
        self._ask("catalog_rename_table", source, target=target)

    def partitions(self, table: str) -> list[dict[str, Any]]:
        """Return the partitions that the catalog lists."""
        found: list[dict[str, Any]] = self._ask("catalog_partitions", table)
        return found

    def views(self, database: str) -> list[str]:
        """Return the names of the views, sorted."""
        return sorted(self._ask("catalog_views", database))

    def view(self, name: str) -> JavaView:
        """Return a view."""
        return JavaView(**self._ask("catalog_view", name))

    def create_view(
        self,
        name: str,
        fields: Sequence[tuple[str, TypeJson]],
        query: str,
        *,
        dialects: Mapping[str, str] | None = None,
        comment: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Create a view."""
        columns = [{"name": column, "type": kind} for column, kind in fields]
        request = {"fields": columns, "query": query, "dialects": dict(dialects or {})}
        self._ask("catalog_create_view", name, **request, comment=comment, options=options or {})

    def rename_view(self, source: str, target: str) -> None:
        """Rename a view."""
        self._ask("catalog_rename_view", source, target=target)

    def drop_view(self, name: str) -> None:
        """Drop a view."""
        self._ask("catalog_drop_view", name)
