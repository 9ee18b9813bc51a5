"""The tables that SQL statements can name."""

from collections.abc import Iterator, Mapping
from itertools import islice

from paimon_explore.command_line.source import Source
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan

MAX_NAMES = 2000
"""Number of tables whose names are completed; a server may have very many."""
_PARTS = 2
_GLOBAL = "sys"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTables:
    """The tables of a catalog, and tables that are given by path.

    Attributes:
        source: the catalog, and the options of the storage.
        paths: paths by the name that statements use.
        database: the database of names without one.
    """

    source: Source
    paths: Mapping[str, str]
    database: str | None = None

    def find(self, parts: tuple[str, ...]) -> Scan | RowSource | None:
        """Open a table or system table; None if the name is not one of this catalog.

        Args:
            parts: database and table, or the table alone.
        """
        if len(parts) == 1 and parts[0] in self.paths:
            return self.source_of_paths().open_table(self.paths[parts[0]]).scan()
        is_short = len(parts) == 1 and self.database is not None
        if is_short:
            parts = (str(self.database), parts[0])
        if len(parts) != _PARTS or not self._has_database(parts[0]):
            return None
        name = ".".join(parts)
        try:
            if self.source.is_system_table(name):
                return self.source.open_rows(name)
            return self.source.open_table(name).scan()
        except UnsupportedFeatureError:
            found = self.source.open_files(name)
            if found is None:
                raise
            return found if isinstance(found, RowSource) else found.rows()
        except NotFoundError:
            if is_short:  # may be a name of the statement itself
                return None
            raise

    def _has_database(self, name: str) -> bool:
        """Whether a name is that of a database, and not the alias of a table."""
        if not self.source.has_catalog:
            return False
        return name == _GLOBAL or name in self.source.open_catalog().databases()

    def required(self, parts: tuple[str, ...]) -> Scan | RowSource:
        """Open a table or system table.

        Raises:
            NotFoundError: there is no such table.
        """
        found = self.find(parts)
        if found is None:
            raise NotFoundError("table", ".".join(parts), hint="Names are database.table.")
        return found

    def source_of_paths(self) -> Source:
        """Return the source that opens tables by path."""
        return Source(options={} if self.source.has_catalog else self.source.options)

    def names(self) -> list[str]:
        """Return the names of the tables, for completion."""
        return [*self.paths, *islice(self._catalog_names(), MAX_NAMES)]

    def _catalog_names(self) -> Iterator[str]:
        if not self.source.has_catalog:
            return
        catalog: Catalog = self.source.open_catalog()
        for database in catalog.databases():
            for table in catalog.iter_tables(database):
                yield table if database == self.database else f"{database}.{table}"


def catalog_tables(source: Source, paths: Mapping[str, str], database: str | None) -> CatalogTables:
    """Return the tables for SQL.

    Raises:
        InvalidInputError: neither a catalog nor a path is given.
    """
    if not source.has_catalog and not paths:
        raise InvalidInputError(
            "The command sql requires tables.",
            hint="Give --warehouse PATH, --catalog NAME, or --table NAME=PATH.",
        )
    return CatalogTables(source=source, paths=paths, database=database)
