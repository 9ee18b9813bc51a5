"""The `Metastore` protocol: the databases, tables, views and functions of a catalog.

`Catalog` is the public class; it checks arguments, opens tables and words errors that list the
existing names. Methods that create return False if the name exists, methods that drop return False
if it does not exist, and others raise `NotFoundError`. What a kind of catalog does not
have is refused by name with `UnsupportedFeatureError`, and its lists are empty.

Metastores can be pickled; connections are opened again on first use.

Spec: concepts/catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from paimon_explore.errors import NotFoundError, UnsupportedFeatureError, undo_on_error
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.catalog_values import DatabaseInfo, TableInfo
from paimon_explore.metastore.identifier import Identifier

if TYPE_CHECKING:
    from paimon_explore.metastore.view_values import (
        FunctionChange,
        FunctionInfo,
        PartitionInfo,
        ViewChange,
        ViewInfo,
    )


class Metastore(Protocol):
    """The databases, tables, views and functions of one catalog.

    Its own methods are those of a catalog without views, functions and partitions.
    """

    __slots__ = ()

    @property
    def kind(self) -> str:
        """The value of the option `metastore`: `filesystem`, `jdbc`, `hive` or `rest`."""

    @property
    def warehouse(self) -> str:
        """The folder of new tables, or the name of the warehouse on the server."""

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""

    def database(self, name: str) -> DatabaseInfo:
        """Return a database; raises NotFoundError."""

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists."""

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set and remove properties of a database; the comment is the property `comment`."""

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Drop a database; False if it does not exist.

        Raises:
            InvalidInputError: it has tables, unless `cascade`.
        """

    def rename_database(self, name: str, new_name: str) -> None:
        """Rename a database with all its tables."""

    def tables(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's tables page by page; raises NotFoundError.

        Args:
            database: the database.
            pattern: yield only names that match; `%` stands for any characters.
        """

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""

    def table(self, wanted: Identifier) -> TableInfo:
        """Return where a table is; raises NotFoundError of kind `table`.

        A metastore may return the place of a table that does not exist, if finding out takes a
        request: opening the table then fails.
        """

    def create_table(self, wanted: Identifier, schema: TableSchema) -> bool:
        """Create a table; False if it exists; raises NotFoundError for an unknown database."""

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table, with its files unless it is external; False if it does not exist."""

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, or move it to another database.

        Raises:
            NotFoundError: the table or the target's database does not exist.
            AlreadyExistsError: the target exists.
        """

    def _refusal(self, what: str) -> UnsupportedFeatureError:
        return UnsupportedFeatureError(f"{what} in a catalog with metastore={self.kind!r}")

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's views; nothing if the catalog has no views."""
        del database, pattern
        yield from ()

    def view(self, wanted: Identifier) -> "ViewInfo":
        """Return a view; raises NotFoundError of kind `view`."""
        raise NotFoundError("view", wanted.table, wanted.database)

    def create_view(self, wanted: Identifier, view: "ViewInfo") -> bool:
        """Create a view; False if a view or table of that name exists."""
        del wanted, view
        raise self._refusal("creating a view")

    def replace_view(self, wanted: Identifier, view: "ViewInfo") -> bool:
        """Create a view in place of the one of that name, if any; False if a table has the name.

        By default the old view is dropped first; it is created again if the new one is refused.
        """
        try:
            before = self.view(wanted)
        except NotFoundError:
            return self.create_view(wanted, view)
        self.drop_view(wanted)
        with undo_on_error(self.create_view, wanted, before):
            return self.create_view(wanted, view)

    def alter_view(self, wanted: Identifier, changes: "Sequence[ViewChange]") -> None:
        """Change a view."""
        del changes
        raise NotFoundError("view", wanted.table, wanted.database)

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view."""
        del target
        raise NotFoundError("view", source.table, source.database)

    def drop_view(self, wanted: Identifier) -> bool:
        """Drop a view; False if it does not exist."""
        del wanted
        return False

    def functions(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's functions; nothing if the catalog has no functions."""
        del database, pattern
        yield from ()

    def function(self, wanted: Identifier) -> "FunctionInfo":
        """Return a function; raises NotFoundError of kind `function`."""
        raise NotFoundError("function", wanted.table, wanted.database)

    def create_function(self, wanted: Identifier, function: "FunctionInfo") -> bool:
        """Create a function; False if it exists."""
        del wanted, function
        raise self._refusal("creating a function")

    def alter_function(self, wanted: Identifier, changes: "Sequence[FunctionChange]") -> None:
        """Change a function."""
        del changes
        raise NotFoundError("function", wanted.table, wanted.database)

    def drop_function(self, wanted: Identifier) -> bool:
        """Drop a function; False if it does not exist."""
        del wanted
        return False

    def partitions(
        self, wanted: Identifier, pattern: str | None = None
    ) -> "Iterator[PartitionInfo] | None":
        """Yield the partitions that the catalog keeps of a table; None: it keeps none."""
        del wanted, pattern
        return None

    def drop_partitions(self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]) -> None:
        """Remove partitions from the catalog; their files remain."""
        del wanted, partitions  # they exist as long as they have rows

    def mark_partitions_done(
        self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
    ) -> None:
        """Mark partitions as complete."""
        del wanted, partitions
        raise self._refusal("marking partitions as done")

    def close(self) -> None:
        """Close the connections; a later use opens them again."""
