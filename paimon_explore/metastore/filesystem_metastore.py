"""The filesystem metastore: a database is a folder `<name>.db`, a table a folder with a schema.

Spec: concepts/catalog, filesystem catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from paimon_explore.errors import (
    AlreadyExistsError,
    MissingFileError,
    NotFoundError,
    StorageError,
    UnsupportedFeatureError,
    choices,
    suggestion,
)
from paimon_explore.fileio.concurrent_requests import each_at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.paths import join, parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metastore.catalog_values import (
    DatabaseInfo,
    TableInfo,
    check_empty,
    check_movable,
    check_paimon_table,
    check_placed,
)
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.metastore import Metastore
from paimon_explore.store.table_store import TableStore

SUFFIX = ".db"
"""Suffix of the folder of a database."""


@dataclass(frozen=True, slots=True)
class FilesystemMetastore(Metastore):
    """A warehouse folder.

    Attributes:
        file_io: its storage.
        warehouse: its path.
    """

    file_io: FileIO
    warehouse: str
    kind = "filesystem"

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted.

        Raises:
            NotFoundError: the warehouse is a local folder that does not exist.
        """
        found = self._names()
        if not found:
            self._check_warehouse()
        is_local = isinstance(self.file_io, LocalFileIO)
        if not found and is_local and not self.file_io.exists(self.warehouse):
            hint = "Check the path; create_database() creates a new warehouse."
            raise NotFoundError("warehouse", self.warehouse, hint=hint)
        return found

    def _check_warehouse(self) -> None:
        """Refuse the folder of a table or of a database in place of a warehouse."""
        if self.file_io.list(TablePaths(self.warehouse).schema_dir):
            hint = "It is the folder of a table, which is opened by its path."
        elif self.warehouse.endswith(SUFFIX) and any(self._tables(self.warehouse)):
            hint = f"It is the folder of a database: the warehouse is {parent(self.warehouse)!r}."
        else:
            return
        message = f"{self.warehouse!r} is not a warehouse."
        raise NotFoundError("warehouse", self.warehouse, message=message, hint=hint)

    def _names(self) -> list[str]:
        found = (s.name for s in self.file_io.list(self.warehouse) if s.is_folder)
        return sorted(n.removesuffix(SUFFIX) for n in found if n.endswith(SUFFIX))

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""
        return name in self._names()

    def database(self, name: str) -> DatabaseInfo:
        """Return a database, which has no properties; raises NotFoundError."""
        self._check_database(name)
        return DatabaseInfo(name=name, location=self.folder(name))

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists."""
        if properties or comment is not None:
            raise self._no_properties()
        if name in self._names():
            return False
        self.file_io.make_folder(self.folder(name))
        return True

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Refuse: a folder has no properties."""
        del properties, removed
        self._check_database(name)
        raise self._no_properties()

    def _no_properties(self) -> UnsupportedFeatureError:
        return self._refusal("setting properties or a comment of a database")

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Drop a database; False if it does not exist."""
        if name not in self._names():
            return False
        if not cascade:
            check_empty(name, list(self._tables(self.folder(name))))
        self.file_io.delete_folder(self.folder(name))
        return True

    def rename_database(self, name: str, new_name: str) -> None:
        """Rename the folder of a database."""
        known = self.databases()
        if name not in known:
            self._check_database(name)
        if new_name in known:
            raise AlreadyExistsError("database", new_name, self.warehouse)
        for table in self.tables(name):
            check_movable(self.file_io, join(self.folder(name), table))
        try:
            self.file_io.rename_folder(self.folder(name), self.folder(new_name))
        except MissingFileError:  # another client renamed or dropped it
            self._check_database(name)
            raise

    def tables(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's tables, sorted; raises NotFoundError."""
        self._check_database(database)
        return self._tables(self.folder(database), pattern)

    def _tables(self, folder: str, pattern: str | None = None) -> Iterator[str]:
        folders = [
            status
            for status in self.file_io.list(folder)
            if status.is_folder and (pattern is None or matches(status.name, pattern))
        ]
        calls = [partial(self._has_schema, status.path) for status in folders]
        for status, is_table in zip(folders, each_at_once(self.file_io, calls), strict=True):
            if is_table:
                yield status.name

    def _has_schema(self, folder: str) -> bool:
        return bool(self._store(folder).schemas.ids())

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""
        return self._has_schema(self._table_folder(wanted))

    def table(self, wanted: Identifier) -> TableInfo:
        """Return the folder of a table, which may not exist."""
        return TableInfo(path=self._table_folder(wanted), file_io=self.file_io)

    def create_table(self, wanted: Identifier, schema: TableSchema) -> bool:
        """Create a table; False if it exists; raises NotFoundError for an unknown database.

        Raises:
            UnsupportedFeatureError: it is a format table or an object table, or has a `path`.
        """
        self._check_database(wanted.database, creates=True)
        where = "in a filesystem catalog"
        check_paimon_table(wanted, schema, where)
        check_placed(wanted, schema, where)
        schemas = self._store(self._table_folder(wanted)).schemas
        return not schemas.ids() and schemas.create(schema)

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table with its files; False if it does not exist."""
        if not self.table_exists(wanted):
            return False
        self.file_io.delete_folder(self._table_folder(wanted))
        return True

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename the folder of a table."""
        self._check_database(target.database)
        if not self.table_exists(source):
            self._check_database(source.database)
            raise NotFoundError("table", source.table, source.database)
        if self.file_io.exists(self._table_folder(target)):
            raise AlreadyExistsError("table", target.table, target.database)
        check_movable(self.file_io, self._table_folder(source))
        try:
            self.file_io.rename_folder(self._table_folder(source), self._table_folder(target))
        except MissingFileError as error:  # another client renamed or dropped it
            raise NotFoundError("table", source.table, source.database) from error
        except StorageError as error:
            if not self.table_exists(target):
                raise
            raise AlreadyExistsError("table", target.table, target.database) from error

    def close(self) -> None:
        """Do nothing."""

    def folder(self, database: str) -> str:
        """Return the folder of a database."""
        return join(self.warehouse, f"{database}{SUFFIX}")

    def _table_folder(self, wanted: Identifier) -> str:
        return join(self.folder(wanted.database), wanted.table)

    def _check_database(self, name: str, *, creates: bool = False) -> None:
        known = self.databases()
        if name not in known:
            raise unknown_database(name, known, self.warehouse, creates=creates)

    def _store(self, folder: str) -> TableStore:
        return TableStore(self.file_io, TablePaths(folder))


def unknown_database(
    name: str, known: Sequence[str], where: str, *, creates: bool = False
) -> NotFoundError:
    """Return the error for a database that does not exist.

    Args:
        name: the database.
        known: the existing databases.
        where: the warehouse.
        creates: whether to name `create_database`.
    """
    create = f" create_database({name!r}) creates it." if creates else ""
    hint = f"{suggestion(name, known)}Databases: {choices(known)}.{create}"
    return NotFoundError("database", name, where, hint=hint)
