"""`Catalog`: databases, tables, views and functions of a warehouse or a catalog server.

`Catalog` checks arguments, opens tables and words errors; a `Metastore` knows where tables are.
Spec: concepts/catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING

from paimon_explore.arguments import boolean, mapping, names, optional_string, string
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
    choices,
    suggestion,
)
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.metadata.options.table_options import BRANCH
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metastore.catalog_values import DatabaseInfo, check_paimon_table
from paimon_explore.metastore.filesystem_metastore import FilesystemMetastore
from paimon_explore.metastore.identifier import (
    Identifier,
    check_new_name,
    new_table,
    parse_identifier,
    plain_identifier,
)
from paimon_explore.sanitize import sanitized
from paimon_explore.table.catalog.catalog_exploration import SqlCatalog
from paimon_explore.table.catalog.catalog_objects import new_table_schema, opener_of
from paimon_explore.table.catalog.catalog_system_tables import (
    DATABASE,
    GLOBAL_TABLES,
    Warehouse,
    global_table,
)
from paimon_explore.table.catalog.catalog_tables import READABLE, table_info
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table, open_stored_table
from paimon_explore.table.table_definition import (
    Columns,
    OptionValue,
    option_texts,
)

if TYPE_CHECKING:
    from paimon_explore.metastore.metastore import Metastore

_MAX_SUGGESTED = 1_000
"""Number of names that an error searches for a similar one; a server may have very many."""

_SHOWN = 20
"""Number of names that an error shows if it does not know how many there are."""


class Catalog(SqlCatalog):
    """The databases and tables of a warehouse folder, or of a catalog server.

    | where | arguments |
    | --- | --- |
    | a folder | `Catalog("/data/warehouse")`, `Catalog("s3://bucket/warehouse")` |
    | a REST server | `Catalog(metastore="rest", uri="https://…", warehouse="wh", token="…")` |
    | a database | `Catalog(metastore="jdbc", uri="jdbc:postgresql://…", warehouse="s3://…")` |
    | a Hive metastore | `Catalog(metastore="hive", uri="thrift://…", warehouse="s3://…")` |
    | a configured catalog | `Catalog(name="prod")` |

    Catalogs are configured in `~/.paimon.yaml` or by variables (`PAIMON_CATALOG__PROD__URI`).

    Args:
        warehouse: its folder: a local path, `file:///…`, `s3://bucket/…` and so on; or the name of
            the warehouse on a REST server.
        storage_options: settings and secrets of the storage, in the names of Paimon, Hadoop, boto3,
            s3fs or object_store (`s3.endpoint`, `endpoint_url`, …). `timeout` and
            `connect_timeout` limit one request (30 s, 5 s); a failed request is retried with
            exponential backoff for `retry_timeout` (60 s), at most `max_retries` times.
        name: the name of a configured catalog.
        options: catalog options by Paimon's names, such as `{"jdbc.user": "me"}`.
        keywords: catalog options with `_` for `.` and `-`: `metastore`, `uri`, `token`, …

    >>> import tempfile
    >>> cat = Catalog(tempfile.mkdtemp())
    >>> cat.create_database("db")
    >>> cat.databases()
    ['db']
    """

    _metastore: "Metastore"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Raise an error that names what the catalog can do."""
            from paimon_explore.table.other_names import missing

            raise missing(self, name, "catalog")

    def __init__(
        self,
        warehouse: str | PathLike[str] | None = None,
        storage_options: Mapping[str, object] | None = None,
        *,
        name: str | None = None,
        options: Mapping[str, object] | None = None,
        **keywords: object,
    ) -> None:
        self._options: dict[str, str] | None = None
        self._java_options: dict[str, str] = {}
        self._table_defaults: dict[str, str] = {}
        is_folder = name is None and options is None and not keywords
        if is_folder and warehouse is not None:
            self._metastore = FilesystemMetastore(*resolve_location(warehouse, storage_options))
            self.storage_options = dict(storage_options or {})
            return
        if is_folder:
            raise InvalidInputError(
                "Catalog() requires a warehouse.",
                hint="Pass a folder, or the options of a catalog: metastore='rest', uri='…'.",
            )
        from paimon_explore.metastore.catalog_options import catalog_options
        from paimon_explore.metastore.open_metastore import open_metastore

        found = catalog_options(name, options, {"warehouse": warehouse, **keywords})
        storage = mapping("storage_options", storage_options or {})
        self._metastore = open_metastore(found, storage)
        self.storage_options = {**found.storage(), **storage}
        self._options = found.shown()
        self._java_options = dict(found.values)
        self._table_defaults = found.table_defaults()

    def __repr__(self) -> str:
        """The warehouse and its databases, or why they cannot be listed."""
        try:
            content = f"databases {choices(self._known())}"
        except PaimonError as error:
            content = error.message
        return sanitized(f"Catalog({self._shown()}): {content}")

    def _repr_html_(self) -> str:
        """The databases with the first of their tables, views and functions."""
        from paimon_explore.table.catalog.catalog_html import catalog_html

        return catalog_html(self._metastore, self._place())

    def _shown(self) -> str:
        if self._options is None:
            return repr(self.warehouse)
        return ", ".join(f"{key}={value!r}" for key, value in self._place().items())

    def _place(self) -> dict[str, str]:
        """Return the options that tell which catalog it is."""
        if self._options is None:
            return {"warehouse": self.warehouse}
        shown = ("metastore", "uri", "warehouse")
        return {key: self._options[key] for key in shown if key in self._options}

    def _known(self) -> list[str]:
        try:
            return self._metastore.databases()
        except NotFoundError:
            return []

    @property
    def warehouse(self) -> str:
        """The folder of the warehouse, or its name on a server."""
        return self._metastore.warehouse

    def databases(self) -> list[str]:
        """Return the names of the databases, sorted.

        Raises:
            NotFoundError: the warehouse is a local folder that does not exist.

        >>> import paimon_explore as pe
        >>> pe.demo().databases()
        ['demo']
        """
        return self._metastore.databases()

    def database_exists(self, name: str) -> bool:
        """Return whether a database exists.

        >>> import paimon_explore as pe
        >>> pe.demo().database_exists("demo"), pe.demo().database_exists("prod")
        (True, False)
        """
        return self._metastore.database_exists(string("database", name))

    def database(self, name: str) -> DatabaseInfo:
        """Return the location, comment and properties of a database.

        Raises:
            NotFoundError: there is no such database.

        >>> import paimon_explore as pe
        >>> pe.demo().database("demo").name
        'demo'
        """
        return self._metastore.database(string("database", name))

    def create_database(
        self,
        name: str,
        *,
        properties: Mapping[str, str] | None = None,
        comment: str | None = None,
        if_not_exists: bool = False,
    ) -> None:
        """Create a database.

        Args:
            name: the database.
            properties: its properties; a warehouse folder cannot store any.
            comment: its comment.
            if_not_exists: do nothing if there is a database of that name.

        Raises:
            AlreadyExistsError: it exists, unless `if_not_exists`.
            InvalidInputError: an invalid name.
            UnsupportedFeatureError: the catalog cannot store properties or comments.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.create_database("sales", if_not_exists=True)
        >>> catalog.databases()
        ['demo', 'sales']
        """
        _check_new_database(name)
        boolean("if_not_exists", if_not_exists)
        created = self._metastore.create_database(
            name, option_texts(properties), optional_string("comment", comment)
        )
        if not created and not if_not_exists:
            raise AlreadyExistsError("database", name, self.warehouse)

    def alter_database(
        self,
        name: str,
        properties: Mapping[str, str] | None = None,
        *,
        remove: str | Sequence[str] = (),
    ) -> None:
        """Set or remove properties of a database; `comment` and `owner` are properties, too.

        Args:
            name: the database.
            properties: the properties to set.
            remove: the properties to remove.

        Raises:
            NotFoundError: there is no such database.
            UnsupportedFeatureError: the catalog cannot store properties.

        >>> import paimon_explore as pe
        >>> pe.demo().alter_database("demo", {"owner": "me"})
        Traceback (most recent call last):
        paimon_explore.errors.UnsupportedFeatureError: Setting properties ...
        """
        texts = option_texts(properties)
        self._metastore.alter_database(string("database", name), texts, names("remove", remove))

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
        dropped = self._metastore.drop_database(string("database", name), cascade=cascade)
        if not dropped and not boolean("if_exists", if_exists):
            self._metastore.database(name)
            raise NotFoundError("database", name, self.warehouse)

    def rename_database(self, name: str, new_name: str) -> None:
        """Rename a database of a warehouse folder.

        Raises:
            NotFoundError: there is no such database.
            AlreadyExistsError: the new name is taken.
            UnsupportedFeatureError: the catalog is a server, which cannot rename databases.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> catalog.rename_database("demo", "samples")
        >>> catalog.databases()
        ['samples']
        """
        _check_new_database(new_name)
        self._metastore.rename_database(string("database", name), new_name)

    def tables(self, database: str, pattern: str | None = None) -> list[str]:
        """Return the names of a database's tables, sorted.

        Args:
            database: the database.
            pattern: return only names that match; `%` stands for any characters.

        Raises:
            NotFoundError: there is no such database.

        >>> import paimon_explore as pe
        >>> pe.demo().tables("demo")[:3], pe.demo().tables("demo", "no%")
        (['customers', 'empty', 'events'], ['notes'])
        """
        return sorted(self._names(database, pattern))

    def _names(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """The names of a database's tables; a server is asked page by page."""
        if database == DATABASE and not self._metastore.database_exists(DATABASE):
            return iter(sorted(GLOBAL_TABLES))
        return self._metastore.tables(
            string("database", database), optional_string("pattern", pattern)
        )

    def table_exists(self, name: str) -> bool:
        """Return whether a table, or a branch of it, exists.

        >>> import paimon_explore as pe
        >>> pe.demo().table_exists("demo.orders"), pe.demo().table_exists("demo.order")
        (True, False)
        """
        wanted = parse_identifier(name)
        if wanted.branch == MAIN_BRANCH:
            return self._metastore.table_exists(wanted)
        try:
            self._open(wanted)
        except NotFoundError:
            return False
        return True

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
                f"{name!r} is a system table.", hint=f"Open it with system_table({name!r})."
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
            warehouse = Warehouse(options=self.options, metastore=self._metastore)
            return global_table(warehouse, wanted.table)
        if wanted.system_table is None:
            raise InvalidInputError(
                f"{name!r} is not the name of a system table.",
                hint=f"Open the table with table({name!r}), or write '{name}$snapshots'.",
            )
        return self._open(wanted, option_texts(options)).inspect.system_table(wanted.system_table)

    def _is_global(self, wanted: Identifier) -> bool:
        return wanted.database == DATABASE and not self._metastore.database_exists(DATABASE)

    def options(self) -> dict[str, str]:
        """Return the options of the catalog; those of the storage are left out, secrets masked.

        >>> import paimon_explore as pe
        >>> list(pe.demo().options())
        ['warehouse']
        """
        return {"warehouse": self.warehouse} if self._options is None else dict(self._options)

    def _open(self, wanted: Identifier, options: Mapping[str, str] | None = None) -> Table:
        if options and wanted.branch == MAIN_BRANCH:
            wanted = replace(wanted, branch=options.get(BRANCH.key, MAIN_BRANCH))
        try:
            info = table_info(self._metastore, wanted)
            if info.type not in READABLE:
                raise _other_type(info.type, wanted)
            return open_stored_table(info.file_io, info.path, wanted.branch, options, info)
        except NotFoundError as error:
            if error.kind != "table":
                raise
            raise self._unknown_table(wanted) from error

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
            UnsupportedFeatureError: the option `type` is not that of a table with snapshots.

        >>> import paimon_explore as pe
        >>> columns = {"id": "BIGINT NOT NULL", "dt": "DATE", "name": "STRING"}
        >>> t = pe.demo().create_table("demo.people", columns, primary_key=["id", "dt"])
        >>> t.schema.primary_keys
        ('id', 'dt')
        """
        wanted = new_table(name)
        created = new_table_schema(
            self,
            schema,
            primary_key=primary_key,
            partition_by=partition_by,
            options=options,
            comment=comment,
        )
        check_paimon_table(wanted, created, "by create_table")
        made = self._metastore.create_table(wanted, created)
        if not made and not boolean("if_not_exists", if_not_exists):
            raise AlreadyExistsError("table", wanted.table, wanted.database)
        return self._open(wanted)

    def alter_table(self, name: str, *changes: SchemaChange, check: bool = True) -> TableSchema:
        """Change the schema of a table by several changes at once; see `Table.alter`.

        Args:
            name: `database.table`, or a branch of it.
            changes: values of `paimon_explore.metadata.schema.schema_change`.
            check: reject a new type that stored values do not fit.

        >>> import paimon_explore as pe
        >>> from paimon_explore.metadata.schema.schema_change import SetComment
        >>> pe.demo().alter_table("demo.notes", SetComment(comment="Notes")).comment
        'Notes'
        """
        return self.table(name).alter(*changes, check=check)

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
        wanted = plain_identifier(name)
        if not self._metastore.drop_table(wanted) and not boolean("if_exists", if_exists):
            raise self._unknown_table(wanted)

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
        old, new = plain_identifier(source), plain_identifier(target)
        check_new_name("table", new.table, target)
        try:
            self._metastore.rename_table(old, new)
        except NotFoundError as error:
            if error.kind != "table":
                raise
            raise self._unknown_table(old) from error

    def _unknown_table(self, wanted: Identifier) -> NotFoundError:
        if self._is_view(wanted):
            hint = "It is a view: use view(), rename_view(), drop_view() or ALTER VIEW, DROP VIEW."
            return NotFoundError("table", wanted.table, wanted.database, hint=hint)
        known = sorted(islice(self._names(wanted.database), _MAX_SUGGESTED))
        is_part = len(known) == _MAX_SUGGESTED
        shown = f"{choices(known[:_SHOWN])} and more" if is_part else choices(known)
        hint = f"{suggestion(wanted.table, known)}Existing tables: {shown}."
        return NotFoundError("table", wanted.table, wanted.database, hint=hint)

    def _is_view(self, wanted: Identifier) -> bool:
        try:
            self._metastore.view(wanted)
        except PaimonError:
            return False
        return True


def iter_table_names(catalog: Catalog, database: str) -> Iterator[str]:
    """Iterate over the names of a database's tables; a server is asked page by page.

    Raises:
        NotFoundError: there is no such database.
    """
    return catalog._names(database)  # noqa: SLF001 - of this module


def java_options_of(catalog: Catalog) -> dict[str, str]:
    """Return the options for a catalog of the official connector, with secrets."""
    return {"warehouse": catalog.warehouse, **catalog._java_options}  # noqa: SLF001 - of this module


def _other_type(kind: str, wanted: Identifier) -> UnsupportedFeatureError:
    method, name = opener_of(kind), wanted.full_name
    hint = "" if method == "table" else f"Open it with {method}({name!r})."
    return UnsupportedFeatureError(f"a table of type {kind!r}", name, hint=hint)


def _check_new_database(name: str) -> None:
    check_new_name("database", name, name, forbidden=".$:")
    if name == DATABASE:
        raise InvalidInputError(f"Database {name!r} is reserved for system tables of the catalog.")
