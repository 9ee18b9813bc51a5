"""The JDBC metastore; see the package.

A table is a row of `paimon_tables` and a folder `<warehouse>/<database>.db/<table>`; a database is
a row of any of the tables. Changes of a name are made under its lock, as Java makes them.

Spec: concepts/catalog, JDBC catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    choices,
)
from paimon_explore.fileio import paths
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import parse_object
from paimon_explore.metadata.schema.table_schema import TableSchema, pretty_json
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.catalog_values import (
    DatabaseInfo,
    TableInfo,
    check_movable,
    check_paimon_table,
    check_placed,
    is_soon_registered,
    properties_of,
)
from paimon_explore.metastore.filesystem_metastore import SUFFIX, unknown_database
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.jdbc.catalog_rows import (
    COMMENT,
    CREATE,
    CREATE_LOCKS,
    EXISTS,
    LOCATION,
    LOCKS,
    CatalogRows,
)
from paimon_explore.metastore.jdbc.dialects import absolute_address
from paimon_explore.metastore.jdbc.jdbc_database import DuplicateRowError, JdbcDatabase
from paimon_explore.metastore.jdbc.jdbc_lock import JdbcLock, LockRules
from paimon_explore.metastore.lock_environment import LockEnvironment, with_locked_creation
from paimon_explore.metastore.metastore import Metastore
from paimon_explore.metastore.view_values import (
    ViewChange,
    ViewInfo,
    apply_view_changes,
    view_from_json,
    view_json,
)
from paimon_explore.store.table_store import TableStore

_LOCK_TIMEOUT_MS = 8 * 60 * 1000
_LOCK_SLEEP_MS = 8 * 1000
_LOCK_LENGTH = 255


def open_jdbc_metastore(options: CatalogOptions, storage: Mapping[str, object]) -> "JdbcMetastore":
    """Open a JDBC catalog; the database is first contacted when it is used.

    Raises:
        InvalidInputError: an option is missing or wrong.
        UnsupportedFeatureError: a database that is not supported, or that has no locks.
    """
    uri, location = options.required("uri"), options.required("warehouse")
    file_io, warehouse = resolve(location, {**options.storage(), **storage})
    is_store = paths.scheme(warehouse) in paths.OBJECT_STORE_SCHEMES
    enabled = options.flag("lock.enabled", default=is_store)
    tables = dict(CREATE)
    if enabled:
        length = options.integer("lock-key-max-length", _LOCK_LENGTH)
        tables[LOCKS] = CREATE_LOCKS % length
    prefix = "jdbc."
    properties = {k[len(prefix) :]: v for k, v in options.values.items() if k.startswith(prefix)}
    database = JdbcDatabase(absolute_address(uri), properties, tables)
    if enabled and database.dialect.lock_expired is None:
        raise InvalidInputError(
            f"A JDBC catalog in {database.dialect.name} has no locks.",
            hint="Set option 'lock.enabled' to false, or use MySQL or PostgreSQL.",
        )
    return JdbcMetastore(
        rows=CatalogRows(database, options.get("catalog-key") or "jdbc"),
        file_io=with_locked_creation(file_io) if enabled else file_io,
        warehouse=warehouse,
        shown_warehouse=shown_location(location, warehouse),
        locks=LockRules(
            enabled=enabled,
            acquire_timeout_ms=options.duration_ms("lock-acquire-timeout", _LOCK_TIMEOUT_MS),
            check_max_sleep_ms=options.duration_ms("lock-check-max-sleep", _LOCK_SLEEP_MS),
        ),
        copies_options=options.flag("sync-all-properties", default=True),
    )


def shown_location(location: str, resolved: str) -> str:
    """Return a location as Java's Path prints it: `file:/a` for `file:///a`."""
    is_url = paths.scheme(location) == "file"
    return f"file:{resolved}" if is_url else resolved


@dataclass(frozen=True, slots=True, kw_only=True)
class JdbcMetastore(Metastore):
    """A catalog in a database.

    Attributes:
        rows: its rows.
        file_io: the storage of the tables.
        warehouse: the folder of the tables.
        shown_warehouse: the same as recorded in the locations of databases.
        locks: settings of locks.
        copies_options: whether options of tables are copied to `paimon_table_properties`.
    """

    rows: CatalogRows
    file_io: FileIO
    warehouse: str
    shown_warehouse: str
    locks: LockRules
    copies_options: bool
    kind = "jdbc"

    # ------------------------------------------------------------ databases

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted."""
        return self.rows.databases()

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists."""
        return self.rows.database_exists(name)

    def database(self, name: str) -> DatabaseInfo:
        """Return a database; raises NotFoundError."""
        self._check_database(name)
        properties = self.rows.properties(name)
        return DatabaseInfo(
            name=name,
            location=properties.pop(LOCATION, None) or self._location(name),
            comment=properties.pop(COMMENT, None),
            properties=properties,
        )

    def create_database(
        self, name: str, properties: Mapping[str, str], comment: str | None
    ) -> bool:
        """Create a database; False if it exists."""
        if self.rows.database_exists(name):
            return False
        noted = {} if comment is None else {COMMENT: comment}
        stored = {EXISTS: "true", LOCATION: self._location(name), **noted, **properties}
        try:
            with self.rows.database.transaction():
                self.rows.set_properties(name, stored)
        except DuplicateRowError:
            return False
        return True

    def alter_database(
        self, name: str, properties: Mapping[str, str], removed: Sequence[str]
    ) -> None:
        """Set and remove properties; the comment is the property `comment`."""
        self._check_database(name)
        for key in (*properties, *removed):
            if key in {EXISTS, LOCATION}:
                raise InvalidInputError(f"Property {key!r} of a database cannot be changed.")

        def change() -> None:
            self.rows.remove_properties(name, [*properties, *removed])
            self.rows.set_properties(name, properties)

        self.rows.database.replace(change)

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Drop a database; False if it does not exist."""
        if not self.rows.database_exists(name):
            return False
        tables, views = list(self.rows.tables(name)), list(self.rows.views(name))
        if (tables or views) and not cascade:
            msg = f"Database {name!r} is not empty; it contains {choices([*tables, *views])}."
            raise InvalidInputError(
                msg, hint="Drop the tables and views first, or pass cascade=True."
            )
        for table in tables:
            self.drop_table(Identifier(database=name, table=table))
        for view in views:
            self.drop_view(Identifier(database=name, table=view))
        self.rows.remove_database(name)
        return True

    def rename_database(self, name: str, new_name: str) -> None:
        """Refuse, as Java does: the folders of all tables would have to move."""
        del new_name
        self._check_database(name)
        raise self._refusal("renaming a database")

    # ------------------------------------------------------------ tables

    def tables(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's tables, page by page; raises NotFoundError."""
        self._check_database(database)
        return (n for n in self.rows.tables(database) if pattern is None or matches(n, pattern))

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a table exists."""
        return self.rows.table_exists(wanted)

    def table(self, wanted: Identifier) -> TableInfo:
        """Return where a table is; raises NotFoundError of kind `table`."""
        if not self.rows.table_exists(wanted):
            raise NotFoundError("table", wanted.table, wanted.database)
        return TableInfo(
            path=self._folder(wanted),
            file_io=self.file_io,
            environment=LockEnvironment(
                metastore=self, wanted=Identifier(database=wanted.database, table=wanted.table)
            ),
        )

    def create_table(self, wanted: Identifier, schema: TableSchema) -> bool:
        """Create a table; False if it or a view of that name exists."""
        self._check_database(wanted.database, creates=True)
        where = "in a JDBC catalog"
        check_paimon_table(wanted, schema, where)
        check_placed(wanted, schema, where)
        with self._lock(wanted):
            if self.rows.table_exists(wanted) or self.rows.view(wanted) is not None:
                return False
            folder = self._folder(wanted)
            schemas = TableStore(self.file_io, TablePaths(folder)).schemas
            if schemas.ids() or not schemas.create(schema):
                if is_soon_registered(partial(self.rows.table_exists, wanted)):
                    return False
                raise InvalidInputError(
                    f"Folder {folder} contains a table that is not registered in the catalog.",
                    hint="Remove the folder, or register the table with repairTable of Java.",
                )
            try:
                self._register(wanted, schema)
            except BaseException:
                if not self.rows.table_exists(wanted):  # else only the reply was lost
                    self.file_io.delete_folder(folder)
                    raise
            return True

    def _register(self, wanted: Identifier, schema: TableSchema) -> None:
        with self.rows.database.transaction():
            self.rows.insert_table(wanted)
            if self.copies_options:
                self.rows.copy_options(wanted, properties_of(schema))

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table with its files; False if it does not exist."""
        with self._lock(wanted):
            with self.rows.database.transaction():
                if not self.rows.remove_table(wanted):
                    return False
                self.rows.remove_options(wanted)
            self.file_io.delete_folder(self._folder(wanted))
        return True

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table and its folder."""
        with ExitStack() as stack:
            for wanted in _in_order(source, target):
                stack.enter_context(self._lock(wanted))
            if not self.rows.table_exists(source):
                self._check_database(source.database)
                raise NotFoundError("table", source.table, source.database)
            self._check_free(target, "table")
            old, new = self._folder(source), self._folder(target)
            check_movable(self.file_io, old)
            is_moved = False
            try:
                with self.rows.database.transaction():
                    if self.rows.rename_table(source, target):
                        self.file_io.rename_folder(old, new)
                        is_moved = True
            except DuplicateRowError as error:
                raise AlreadyExistsError("table", target.table, target.database) from error
            except BaseException:
                if not is_moved or not self.rows.table_exists(target):  # else the reply was lost
                    if is_moved:
                        self.file_io.rename_folder(new, old)
                    raise
            if not is_moved:  # another client dropped it
                raise NotFoundError("table", source.table, source.database)

    # ------------------------------------------------------------ views

    def views(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of a database's views, page by page; raises NotFoundError."""
        self._check_database(database)
        return (n for n in self.rows.views(database) if pattern is None or matches(n, pattern))

    def view(self, wanted: Identifier) -> ViewInfo:
        """Return a view; raises NotFoundError of kind `view`."""
        found = self.rows.view(wanted)
        if found is None:
            self._check_database(wanted.database)
            raise NotFoundError("view", wanted.table, wanted.database)
        return parse_view(found, f"view {wanted.full_name}")

    def create_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view; False if a view or table of that name exists."""
        self._check_database(wanted.database, creates=True)
        with self._lock(wanted):
            if self.rows.table_exists(wanted):
                return False
            try:
                self.rows.insert_view(wanted, encode_view(view))
            except DuplicateRowError:
                return False
        return True

    def replace_view(self, wanted: Identifier, view: ViewInfo) -> bool:
        """Create a view in place of the one of that name, if any; False if a table has the name."""
        if self.create_view(wanted, view):
            return True
        with self._lock(wanted):
            self.rows.update_view(wanted, encode_view(view))
            return self.rows.view(wanted) is not None

    def alter_view(self, wanted: Identifier, changes: Sequence[ViewChange]) -> None:
        """Change a view."""
        with self._lock(wanted):
            changed = apply_view_changes(self.view(wanted), changes, wanted.full_name)
            self.rows.update_view(wanted, encode_view(changed))

    def rename_view(self, source: Identifier, target: Identifier) -> None:
        """Rename a view."""
        with ExitStack() as stack:
            for wanted in _in_order(source, target):
                stack.enter_context(self._lock(wanted))
            self.view(source)
            self._check_free(target, "view")
            try:
                self.rows.rename_view(source, target)
            except DuplicateRowError as error:
                raise AlreadyExistsError("view", target.table, target.database) from error

    def drop_view(self, wanted: Identifier) -> bool:
        """Drop a view; False if it does not exist."""
        with self._lock(wanted):
            return self.rows.remove_view(wanted)

    # ------------------------------------------------------------ commits

    def commit_lock(self, wanted: Identifier) -> AbstractContextManager[object] | None:
        """Return the lock of a table for commits; None if locks are not enabled."""
        return self._lock(wanted) if self.locks.enabled else None

    def record_schema(self, wanted: Identifier, schema: TableSchema) -> None:
        """Replace the copies of a table's options."""
        if self.copies_options:
            options = properties_of(schema)
            self.rows.database.replace(partial(self.rows.copy_options, wanted, options))

    def close(self) -> None:
        """Close the connection; a later use opens it again."""
        self.rows.database.close()

    def _lock(self, wanted: Identifier) -> JdbcLock:
        name = f"{self.rows.key}.{wanted.full_name}"
        return JdbcLock(self.rows.database, name, self.locks)

    def _check_database(self, name: str, *, creates: bool = False) -> None:
        if not self.rows.database_exists(name):
            raise unknown_database(name, self.databases(), self.warehouse, creates=creates)

    def _check_free(self, wanted: Identifier, kind: str) -> None:
        self._check_database(wanted.database)
        if self.rows.table_exists(wanted) or self.rows.view(wanted) is not None:
            raise AlreadyExistsError(kind, wanted.table, wanted.database)

    def _location(self, database: str) -> str:
        return paths.join(self.shown_warehouse, f"{database}{SUFFIX}")

    def _folder(self, wanted: Identifier) -> str:
        return paths.join(self.warehouse, f"{wanted.database}{SUFFIX}", wanted.table)


def _in_order(source: Identifier, target: Identifier) -> list[Identifier]:
    """Return different names in the order of their locks, so that two renames never deadlock."""
    names = {one.full_name: one for one in (source, target)}
    return [names[name] for name in sorted(names)]


def encode_view(view: ViewInfo) -> str:
    """Encode a view in Java's layout."""
    return pretty_json({key: value for key, value in view_json(view).items() if value is not None})


def parse_view(text: str, where: str) -> ViewInfo:
    """Parse the JSON of a view.

    Args:
        text: the JSON.
        where: the name of the view, for errors.

    Raises:
        CorruptFileError: it is not the JSON of a view.
    """
    return view_from_json(parse_object(text.encode(), where))
