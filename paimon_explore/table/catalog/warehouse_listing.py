"""The tables of a warehouse or database, listed by path for the command line and notebooks."""

from collections.abc import Mapping

from paimon_explore.errors import NotFoundError
from paimon_explore.fileio.paths import with_slashes
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.escape import esc
from paimon_explore.sanitize import sanitized
from paimon_explore.table.catalog.catalog import Catalog

_DATABASE_SUFFIX = ".db"


@dataclass(frozen=True, slots=True, repr=False)
class WarehouseListing:
    """Databases and their tables.

    Attributes:
        databases: the names of the tables by database.
    """

    databases: dict[str, tuple[str, ...]]

    def __repr__(self) -> str:
        """A line for each database and table."""
        parts = []
        for database, tables in self.databases.items():
            parts.append(sanitized(database))
            parts += [f"  {sanitized(database)}.{sanitized(table)}" for table in tables]
            parts += [] if tables else [f"  {sanitized(database)}.(no tables)"]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        """The same as a static page part."""
        rows = "".join(
            f"<tr><th>{esc(database)}</th><td>{esc(', '.join(tables) or 'no tables')}</td></tr>"
            for database, tables in self.databases.items()
        )
        return f"<table><tbody>{rows}</tbody></table>"


def listing(
    path: str, storage_options: Mapping[str, object] | None = None
) -> WarehouseListing | None:
    """List the tables of a warehouse or database; None if the path is neither."""
    try:
        return _listing(path, storage_options)
    except NotFoundError:
        return None


def catalog_listing(catalog: Catalog, database: str | None = None) -> WarehouseListing:
    """List the tables of a catalog, or of one of its databases.

    Raises:
        NotFoundError: there is no such database.
    """
    names = catalog.databases() if database is None else [database]
    return WarehouseListing({name: tuple(catalog.tables(name)) for name in names})


def _listing(path: str, storage_options: Mapping[str, object] | None) -> WarehouseListing | None:
    trimmed = with_slashes(path).rstrip("/")
    if trimmed.endswith(_DATABASE_SUFFIX):
        warehouse, _, folder = trimmed.rpartition("/")
        name = folder.removesuffix(_DATABASE_SUFFIX)
        catalog = Catalog(warehouse or ".", storage_options)
        return catalog_listing(catalog, name) if name in catalog.databases() else None
    found = catalog_listing(Catalog(path, storage_options))
    return found if found.databases else None
