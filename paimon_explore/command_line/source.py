"""Where a command finds its tables: a catalog by name, a warehouse, or the path of a table."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_explore.table.catalog.catalog import Catalog
    from paimon_explore.table.file_tables.format_table import FormatTable
    from paimon_explore.table.row_reader import RowSource
    from paimon_explore.table.table import Table

SOURCE_HINT = "Name the catalog: --warehouse PATH, or --catalog NAME."
_BRANCH = "$branch_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the tables of a command are.

    Attributes:
        catalog: the name of a configured catalog.
        warehouse: the folder of a warehouse, or its name on a server.
        options: options of the catalog or the storage.
    """

    catalog: str | None = None
    warehouse: str | None = None
    options: Mapping[str, str]

    @property
    def has_catalog(self) -> bool:
        """Whether tables are named `database.table`; otherwise by path."""
        return self.catalog is not None or self.warehouse is not None or "metastore" in self.options

    def open_catalog(self) -> "Catalog":
        """Open the catalog.

        Raises:
            InvalidInputError: no catalog is given.
        """
        from paimon_explore.table.catalog.catalog import Catalog

        if not self.has_catalog:
            raise InvalidInputError("The command requires a catalog.", hint=SOURCE_HINT)
        if self.catalog is not None or "metastore" in self.options:
            return Catalog(self.warehouse, name=self.catalog, options=self.options)
        return Catalog(self.warehouse, storage_options=self.options)

    def open_table(self, name: str, branch: str | None = None) -> "Table":
        """Open a table by name in the catalog, or by path.

        Args:
            name: `database.table` in a catalog; otherwise the path of the table's folder.
            branch: a branch of the table.

        Raises:
            NotFoundError: there is no such table or branch.
        """
        if self.has_catalog:
            full = name if branch is None else f"{name}{_BRANCH}{branch}"
            return self.open_catalog().table(full)
        from paimon_explore.table.table import open_table

        try:
            return open_table(name, branch=branch, storage_options=self.options)
        except NotFoundError as error:
            hint = self._hint(name) if error.kind == "table" else ""
            if not hint:
                raise
            raise NotFoundError("table", name, message=error.message, hint=hint) from error

    def _hint(self, path: str) -> str:
        """The hint for a path that is not a table, with options of the command line."""
        from paimon_explore.fileio.paths import with_slashes
        from paimon_explore.fileio.resolve import resolve
        from paimon_explore.table.path_hints import databases_in

        if "/" not in with_slashes(path) and "." in path:
            return SOURCE_HINT
        databases = databases_in(*resolve(path, self.options))
        if not databases:
            return ""
        return (
            f"The path is a warehouse with the databases {choices(databases)}. "
            f"Name a table and the warehouse: {databases[0]}.TABLE --warehouse {path}."
        )

    def open_files(self, name: str) -> "FormatTable | RowSource | None":
        """Open a format table or an object table of the catalog; None if the table is neither."""
        from paimon_explore.table.catalog.catalog_objects import open_file_table

        return open_file_table(self.open_catalog(), name) if self.has_catalog else None

    def open_rows(self, name: str) -> "RowSource":
        """Open a system table: `database.table$files`, or the path of a table with `$files`.

        Raises:
            NotFoundError: there is no such table or system table.
        """
        if self.has_catalog:
            return self.open_catalog().system_table(name)
        path, _, system = name.rpartition("$")
        return self.open_table(path).inspect.system_table(system)

    def is_system_table(self, name: str) -> bool:
        """Whether a name is that of a system table, and not of a branch."""
        from paimon_explore.fileio.paths import with_slashes

        last = with_slashes(name).rpartition("/")[2]
        is_global = self.has_catalog and last.startswith("sys.")
        return is_global or ("$" in last and not last.rpartition("$")[2].startswith("branch_"))
