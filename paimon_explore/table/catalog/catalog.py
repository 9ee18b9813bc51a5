"""`Catalog`: the databases and tables of a warehouse.

A database is a folder `<name>.db`; a table is a folder in it that contains a schema.
Spec: concepts/catalog, filesystem catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

from paimon_explore.arguments import boolean, optional_string, string
from paimon_explore.commit.commit_timing import system_clock
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    choices,
    suggestion,
)
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.fileio.paths import join
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.metadata.schema.schema_validation import new_schema, validate_create
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.sanitize import sanitized
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.catalog.catalog_system_tables import DATABASE, GLOBAL_TABLES, global_table
from paimon_explore.table.catalog.identifier import Identifier, check_name, parse_identifier
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.table_definition import (
    Columns,
    OptionValue,
    option_texts,
    optional_column_names,
    parse_columns,
)

_SUFFIX = ".db"


class Catalog:
    """The databases and tables of a warehouse.

    Args:
        warehouse: its folder: a local path, `file:///…`, `s3://bucket/…` and so on.
        storage_options: settings and secrets of the storage, in the names of Paimon, Hadoop, boto3,
            s3fs or object_store (`s3.endpoint`, `endpoint_url`, …). `timeout` and
            `connect_timeout` limit one request (30 s, 5 s); a failed request is retried with
            exponential backoff for `retry_timeout` (60 s), at most `max_retries` times.

    >>> import tempfile
    >>> cat = Catalog(tempfile.mkdtemp())
    >>> cat.create_database("db")
    >>> cat.databases()
    ['db']
    """

    def __init__(
        self, warehouse: str | PathLike[str], storage_options: Mapping[str, object] | None = None
    ) -> None:
        self._file_io, self.warehouse = resolve_location(warehouse, storage_options)
        self._storage_options = dict(storage_options or {})

    def __repr__(self) -> str:
        """The warehouse and its databases."""
        return sanitized(f"Catalog({self.warehouse!r}): databases {choices(self._names())}")

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted.

        Raises:
            NotFoundError: the warehouse is a local folder that does not exist.

        >>> import paimon_explore as pe
        >>> pe.demo().databases()
        ['demo']
        """
        found = self._names()
        is_local = isinstance(self._file_io, LocalFileIO)
        if not found and is_local and not self._file_io.exists(self.warehouse):
            hint = "Check the path; create_database() creates a new warehouse."
            raise NotFoundError("warehouse", self.warehouse, hint=hint)
        return found

    def _names(self) -> list[str]:
        found = (s.name for s in self._file_io.list(self.warehouse) if s.is_folder)
        return sorted(n.removesuffix(_SUFFIX) for n in found if n.endswith(_SUFFIX))

    def create_database(self, name: str, *, if_not_exists: bool = False) -> None:
        """Create a database.

        Args:
            name: the database.
            if_not_exists: do nothing if there is a database of that name.

        Raises:
            AlreadyExistsError: it exists, unless `if_not_exists`.
            InvalidInputError: an invalid name.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.create_database("sales", if_not_exists=True)
        >>> catalog.databases()
        ['demo', 'sales']
        """
        check_name(name, name)
        if "." in name or "$" in name:
            raise InvalidInputError(f"Database name {name!r} must not contain '.' or '$'.")
        boolean("if_not_exists", if_not_exists)
        if name in self._names():
            if if_not_exists:
                return
            raise AlreadyExistsError("database", name, self.warehouse)
        self._file_io.make_folder(self._folder(name))

    def drop_database(self, name: str, *, cascade: bool = False, if_exists: bool = False) -> None:
        """Remove a database.

        Args:
            name: the database.
            cascade: also remove its tables with all their files.
            if_exists: do nothing if there is no such database.

        Raises:
            NotFoundError: it does not exist, unless `if_exists`.
            InvalidInputError: it has tables, unless `cascade`.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.drop_database("demo", cascade=True)
        >>> catalog.databases()
        []
        """
        boolean("cascade", cascade)
        if boolean("if_exists", if_exists) and string("database", name) not in self._names():
            return
        self._known_database(name)
        tables = self.tables(name)
        if tables and not cascade:
            msg = f"Database {name!r} is not empty; it contains the tables {choices(tables)}."
            raise InvalidInputError(msg, hint="Drop the tables first, or pass cascade=True.")
        self._file_io.delete_folder(self._folder(name))

    def tables(self, database: str) -> list[str]:
        """Return the names of a database's tables, sorted.

        Raises:
            NotFoundError: there is no such database.

        >>> import paimon_explore as pe
        >>> pe.demo().tables("demo")[:3]
        ['customers', 'empty', 'events']
        """
        if database == DATABASE and DATABASE not in self._names():
            return sorted(GLOBAL_TABLES)
        self._known_database(database)
        folders = [s for s in self._file_io.list(self._folder(database)) if s.is_folder]
        return sorted(s.name for s in folders if self._store(s.path).schemas.ids())

    def table(self, name: str, options: Mapping[str, OptionValue] | None = None) -> Table:
        """Open a table, or one of its branches.

        Args:
            name: `database.table` or `database.table$branch_<branch>`. System tables are opened by
                `system_table`.
            options: dynamic table options, such as `scan.snapshot-id`.

        Raises:
            NotFoundError: there is no such database, table or branch.
            InvalidInputError: an unusable name, a system table, or a wrong option.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips$branch_draft").count()
        3
        """
        wanted = parse_identifier(name)
        if wanted.system_table is not None or self._is_global(wanted):
            raise InvalidInputError(
                f"{name!r} is a system table.",
                hint=f"Open it with system_table({name!r}).",
            )
        return self._open(wanted, option_texts(options))

    def system_table(
        self, name: str, options: Mapping[str, OptionValue] | None = None
    ) -> RowSource:
        """Open a system table, which is read-only.

        Args:
            name: `database.table$files` and the like, or a table of the whole catalog:
                `sys.all_tables`, `sys.all_partitions`, `sys.all_table_options`,
                `sys.catalog_options`.
            options: dynamic table options, such as `scan.snapshot-id`.

        Raises:
            NotFoundError: there is no such database, table, branch or system table.
            InvalidInputError: an unusable name, or a wrong option.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.system_table("demo.orders$snapshots").to_arrow().num_rows
        5
        >>> catalog.system_table("sys.all_tables").to_arrow().num_rows
        11
        """
        wanted = parse_identifier(name)
        if self._is_global(wanted):
            return global_table(self, wanted.table)
        if wanted.system_table is None:
            raise InvalidInputError(
                f"{name!r} is not the name of a system table.",
                hint=f"Open the table with table({name!r}), or write '{name}$snapshots'.",
            )
        return self._open(wanted, option_texts(options)).system_table(wanted.system_table)

    def _is_global(self, wanted: Identifier) -> bool:
        return wanted.database == DATABASE and DATABASE not in self._names()

    def options(self) -> dict[str, str]:
        """Return the options of the catalog, without those of the storage, which may be secret.

        >>> import paimon_explore as pe
        >>> list(pe.demo().options())
        ['warehouse']
        """
        return {"warehouse": self.warehouse}

    def opened(self) -> Iterator[tuple[str, str, Table]]:
        """Open all tables one after the other, with their database and name.

        >>> import paimon_explore as pe
        >>> sum(1 for database, name, table in pe.demo().opened())
        11
        """
        for database in self.databases():
            for name in self.tables(database):
                yield database, name, self._open(Identifier(database=database, table=name))

    def _open(self, wanted: Identifier, options: Mapping[str, str] | None = None) -> Table:
        try:
            return open_table(
                self._table_folder(wanted), wanted.branch, self._storage_options, options
            )
        except NotFoundError as error:
            if error.kind != "table":
                raise
            self._known_database(wanted.database)
            raise self._empty_table(wanted) from error

    def create_table(  # noqa: PLR0913 - the clauses of CREATE TABLE
        self,
        name: str,
        schema: Columns,
        *,
        primary_key: str | Sequence[str] | None = None,
        partition_by: str | Sequence[str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        if_not_exists: bool = False,
    ) -> Table:
        """Create a table.

        Args:
            name: `database.table`.
            schema: its columns: types by name (`{"id": "BIGINT NOT NULL", "name": "STRING"}`), an
                Arrow schema (the metadata key `comment` of a field may hold its comment), or a
                table or data frame with these columns.
            primary_key: a column, or several, that identify a row; None for an append table.
            partition_by: the partition column, or several in the order of the folders; None for
            none.
            options: table options, such as `{"bucket": 2}`.
            comment: a comment on the table.
            if_not_exists: return the existing table if there is one of that name.

        Raises:
            AlreadyExistsError: the table exists, unless `if_not_exists`.
            NotFoundError: there is no such database.
            InvalidInputError: columns, keys or options break a rule, which the message names.

        >>> import paimon_explore as pe
        >>> columns = {"id": "BIGINT NOT NULL", "dt": "DATE", "name": "STRING"}
        >>> t = pe.demo().create_table("demo.people", columns, primary_key=["id", "dt"])
        >>> t.schema.primary_keys
        ('id', 'dt')
        """
        wanted = parse_identifier(name)
        if wanted.branch != MAIN_BRANCH or wanted.system_table is not None:
            raise InvalidInputError(
                f"{name!r} is not a valid name for a new table, because it contains '$'."
            )
        self._known_database(wanted.database, creates=True)
        created = new_schema(
            parse_columns(schema),
            primary_key=optional_column_names("primary_key", primary_key),
            partition_by=optional_column_names("partition_by", partition_by),
            options=option_texts(options),
            comment=optional_string("comment", comment),
            time_millis=system_clock(),
        )
        validate_create(created)
        store = self._store(self._table_folder(wanted))
        made = not store.schemas.ids() and store.schemas.create(created)
        if not made and not if_not_exists:
            raise AlreadyExistsError("table", wanted.table, wanted.database)
        return self._open(wanted)

    def drop_table(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a table with all its files.

        Args:
            name: `database.table`.
            if_exists: do nothing if there is no such table.

        Raises:
            NotFoundError: it does not exist, unless `if_exists`.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.drop_table("demo.empty", if_exists=True)
        >>> "empty" in catalog.tables("demo")
        False
        """
        wanted = parse_identifier(name)
        if not self._store(self._table_folder(wanted)).schemas.ids():
            if if_exists:
                return
            raise self._empty_table(wanted)
        self._file_io.delete_folder(self._table_folder(wanted))

    def rename_table(self, source: str, target: str) -> None:
        """Rename a table, or move it to another database of the warehouse.

        Args:
            source: its name.
            target: its new name.

        Raises:
            NotFoundError: the table or the target's database does not exist.
            AlreadyExistsError: the target exists.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.rename_table("demo.empty", "demo.void")
        >>> catalog.table("demo.void").count()
        0
        """
        old, new = parse_identifier(source), parse_identifier(target)
        self._known_database(new.database)
        if not self._store(self._table_folder(old)).schemas.ids():
            self._known_database(old.database)
            raise self._empty_table(old)
        if self._file_io.exists(self._table_folder(new)):
            raise AlreadyExistsError("table", new.table, new.database)
        self._file_io.rename_folder(self._table_folder(old), self._table_folder(new))

    def _known_database(self, name: str, *, creates: bool = False) -> None:
        known = self.databases()
        if string("database", name) not in known:
            create = f" create_database({name!r}) creates it." if creates else ""
            hint = f"{suggestion(name, known)}Databases: {choices(known)}.{create}"
            raise NotFoundError("database", name, self.warehouse, hint=hint)

    def _empty_table(self, wanted: Identifier) -> NotFoundError:
        known = self.tables(wanted.database)
        hint = f"{suggestion(wanted.table, known)}Existing tables: {choices(known)}."
        return NotFoundError("table", wanted.table, wanted.database, hint=hint)

    def _folder(self, database: str) -> str:
        return join(self.warehouse, f"{database}{_SUFFIX}")

    def _table_folder(self, wanted: Identifier) -> str:
        return join(self._folder(wanted.database), wanted.table)

    def _store(self, folder: str) -> TableStore:
        return TableStore(self._file_io, TablePaths(folder))
