"""The methods of `Catalog` for views, functions and the partitions that a catalog keeps."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from paimon_explore.arguments import boolean, optional_string, string
from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    choices,
    suggestion,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.identifier import new_table, plain_identifier
from paimon_explore.table import lazy_types as types
from paimon_explore.table.table_definition import (
    Columns,
    OptionValue,
    option_texts,
    optional_column_names,
    parse_columns,
)

if TYPE_CHECKING:
    from paimon_explore.metastore.catalog_values import TableInfo
    from paimon_explore.metastore.metastore import Metastore

FORMAT_TABLE, OBJECT_TABLE = "format-table", "object-table"
"""Values of the option `type`."""
_OPENERS = {FORMAT_TABLE: "format_table", OBJECT_TABLE: "object_table"}


def opener_of(kind: str) -> str:
    """Return the method of `Catalog` that opens tables of a type."""
    return _OPENERS.get(kind, "table")


class CatalogObjects:
    """Views, functions and partitions; which of them a catalog has depends on its kind."""

    _table_defaults: dict[str, str]
    _metastore: "Metastore"

    def format_table(self, name: str) -> "types.FormatTable":
        """Open a table of type `format-table`: folders of Parquet, ORC, CSV, JSON or text files.

        REST catalogs and Hive metastores have such tables, which are also listed by `tables`. The
        table is read by `scan` and written by `append` and `overwrite`.

        Raises:
            NotFoundError: there is no such table.
            InvalidInputError: the table has another type.

        >>> import paimon_explore as pe
        >>> pe.demo().format_table("demo.orders")
        Traceback (most recent call last):
        paimon_explore.errors.InvalidInputError: Table demo.orders has the type 'table', ...
        """
        from paimon_explore.table.file_tables.format_table import FormatTable

        info, schema = self._of_type(name, FORMAT_TABLE)
        return FormatTable(name=name, schema=schema, location=info.path, file_io=info.file_io)

    def create_format_table(
        self,
        name: str,
        schema: Columns,
        file_format: str,
        *,
        partition_by: str | Sequence[str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
    ) -> "types.FormatTable":
        """Create a table of type `format-table`, whose folder the catalog chooses.

        REST catalogs and Hive metastores have such tables, as in Java.

        Args:
            name: `database.table`.
            schema: its columns, as for `create_table`.
            file_format: `parquet`, `orc`, `csv`, `json` or `text`.
            partition_by: the partition columns, which are folders.
            options: options of the table, such as `{"csv.field-delimiter": ";"}`.
            comment: a comment on the table.

        Raises:
            AlreadyExistsError: the table exists.
            NotFoundError: there is no such database.
            InvalidInputError: columns or options break a rule, or there is no such format.
            UnsupportedFeatureError: the catalog creates no format tables.

        >>> import paimon_explore as pe
        >>> pe.demo().create_format_table("demo.files", {"id": "INT"}, "csv")
        Traceback (most recent call last):
        paimon_explore.errors.UnsupportedFeatureError: Creating a table of type 'format-table' ...
        """
        from paimon_explore.table.file_tables.format_table import FORMATS

        if file_format not in FORMATS:
            raise InvalidInputError(
                f"A format table cannot have files of the format {file_format!r}.",
                hint=f"Pass one of {choices(FORMATS)}.",
            )
        wanted = new_table(name)
        given = {**(options or {}), "type": FORMAT_TABLE, "file.format": file_format}
        created = new_table_schema(
            self, schema, partition_by=partition_by, options=given, comment=comment
        )
        # servers of Paimon replace an existing format table without an error
        exists = self._metastore.table_exists(wanted)
        if exists or not self._metastore.create_table(wanted, created):
            raise AlreadyExistsError("table", wanted.table, wanted.database)
        return self.format_table(name)

    def object_table(self, name: str) -> "types.RowSource":
        """Open a table of type `object-table`: the files below a folder as rows.

        Columns: `path` in the folder, `name`, `length`, `mtime` in epoch milliseconds, `atime` (0)
        and `owner` (null).

        Raises:
            NotFoundError: there is no such table.
            InvalidInputError: the table has another type.

        >>> import paimon_explore as pe
        >>> pe.demo().object_table("demo.orders")
        Traceback (most recent call last):
        paimon_explore.errors.InvalidInputError: Table demo.orders has the type 'table', ...
        """
        from paimon_explore.table.file_tables.object_table import object_table

        info, _ = self._of_type(name, OBJECT_TABLE)
        return object_table(name, info.path, info.file_io)

    def _of_type(self, name: str, kind: str) -> "tuple[TableInfo, TableSchema]":
        """Where a table of a type is, and its schema."""
        wanted = plain_identifier(name)
        info = self._metastore.table(wanted)
        schema = info.schema
        if schema is None:
            from paimon_explore.metadata.table_paths import TablePaths
            from paimon_explore.store.table_store import TableStore
            from paimon_explore.table.latest_schema import schema_at_open

            schema = schema_at_open(TableStore(info.file_io, TablePaths(info.path)))
        found = schema.options.get("type", info.type)
        if found != kind:
            raise InvalidInputError(
                f"Table {wanted.full_name} has the type {found!r}, not {kind!r}.",
                hint=f"Open it with {opener_of(found)}({name!r}).",
            )
        return info, schema

    def views(self, database: str, pattern: str | None = None) -> list[str]:
        """Return the names of a database's views, sorted; none if the catalog has no views.

        Args:
            database: the database.
            pattern: return only names that match; `%` stands for any characters.

        >>> import paimon_explore as pe
        >>> pe.demo().views("demo")
        []
        """
        found = self._metastore.views(
            string("database", database), optional_string("pattern", pattern)
        )
        return sorted(found)

    def view(self, name: str) -> "types.ViewInfo":
        """Return the columns and queries of a view.

        Raises:
            NotFoundError: there is no such view.

        >>> import paimon_explore as pe
        >>> pe.demo().view("demo.v")
        Traceback (most recent call last):
        paimon_explore.errors.NotFoundError: View 'v' does not exist in demo. ...
        """
        wanted = plain_identifier(name)
        try:
            return self._metastore.view(wanted)
        except NotFoundError as error:
            if error.kind != "view":
                raise
            known = self.views(wanted.database)
            hint = f"{suggestion(wanted.table, known)}Existing views: {choices(known)}."
            raise NotFoundError("view", wanted.table, wanted.database, hint=hint) from error

    def create_view(  # noqa: PLR0913 - the clauses of CREATE VIEW
        self,
        name: str,
        query: str,
        schema: Columns | None = None,
        *,
        dialects: Mapping[str, str] | None = None,
        comment: str | None = None,
        options: Mapping[str, OptionValue] | None = None,
        if_not_exists: bool = False,
        replace: bool = False,
    ) -> None:
        """Create a view.

        Args:
            name: `database.view`.
            query: its query.
            schema: its columns, in any form that `create_table` takes. Without them they are those
                of the query, which DuckDB analyses in Spark's dialect and in the view's database.
            dialects: the query in the SQL of engines, such as `{"spark": "SELECT …"}`.
            comment: its comment.
            options: its options.
            if_not_exists: do nothing if there is a view of that name.
            replace: replace the view of that name, if there is one.

        Raises:
            AlreadyExistsError: a view or table of that name exists, unless `if_not_exists`.
            NotFoundError: a table of the query does not exist, if there is no schema.
            InvalidInputError: there is no schema, and the query cannot be analysed, or a package
                for that is not installed.
            UnsupportedFeatureError: the catalog has no views.

        >>> import paimon_explore as pe
        >>> pe.demo().create_view("demo.v", "SELECT id FROM demo.orders")
        Traceback (most recent call last):
        paimon_explore.errors.UnsupportedFeatureError: Creating a view in a catalog with ...
        """
        from paimon_explore.metadata.schema.schema_validation import new_schema
        from paimon_explore.metastore.view_values import ViewInfo

        wanted, texts = plain_identifier(name), option_texts(dialects)
        string("query", query)
        if schema is None:
            schema = self._columns_of(name, texts.get("spark", query))
        view = ViewInfo(
            fields=new_schema(parse_columns(schema)).fields,
            query=query,
            dialects=texts,
            comment=optional_string("comment", comment),
            options=option_texts(options),
        )
        replaces, metastore = boolean("replace", replace), self._metastore
        created = (metastore.replace_view if replaces else metastore.create_view)(wanted, view)
        if not created and not boolean("if_not_exists", if_not_exists):
            raise AlreadyExistsError("view", wanted.table, wanted.database)

    def _columns_of(self, view: str, query: str) -> RowType:
        """Return the columns of the query of a view."""
        try:
            session = import_module("paimon_explore.sql_statements.session")  # of a layer above
        except ModuleNotFoundError as error:
            raise InvalidInputError(
                f"The columns of view {view} cannot be found without the package {error.name}.",
                hint="Pass the schema, or run: pip install 'paimon-explore[sql]'",
            ) from error
        columns: Callable[[object, str, str], RowType] = session.view_columns
        return columns(self, view, query)

    def alter_view(self, name: str, *changes: "types.ViewChange") -> None:
        """Change the options, the comment or the dialects of a view.

        Args:
            name: `database.view`.
            changes: values of `paimon_explore.metastore.catalog_values.ViewChange`.

        Raises:
            NotFoundError: there is no such view, or no such dialect.
            AlreadyExistsError: a new dialect exists already.

        >>> import paimon_explore as pe
        >>> pe.demo().alter_view("demo.v")
        Traceback (most recent call last):
        paimon_explore.errors.NotFoundError: View 'v' does not exist in demo.
        """
        self._metastore.alter_view(plain_identifier(name), changes)

    def rename_view(self, source: str, target: str) -> None:
        """Rename a view, or move it to another database.

        Raises:
            NotFoundError: the view or the target's database does not exist.
            AlreadyExistsError: the target exists.

        >>> import paimon_explore as pe
        >>> pe.demo().rename_view("demo.v", "demo.w")
        Traceback (most recent call last):
        paimon_explore.errors.NotFoundError: View 'v' does not exist in demo.
        """
        self._metastore.rename_view(plain_identifier(source), plain_identifier(target))

    def drop_view(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a view.

        Args:
            name: `database.view`.
            if_exists: do nothing if there is no such view.

        Raises:
            NotFoundError: it does not exist, unless `if_exists`.

        >>> import paimon_explore as pe
        >>> pe.demo().drop_view("demo.v", if_exists=True)
        """
        wanted = plain_identifier(name)
        if not self._metastore.drop_view(wanted) and not boolean("if_exists", if_exists):
            raise NotFoundError("view", wanted.table, wanted.database)

    def functions(self, database: str, pattern: str | None = None) -> list[str]:
        """Return the names of a database's functions, sorted; none if the catalog has none.

        Args:
            database: the database.
            pattern: return only names that match; `%` stands for any characters.

        >>> import paimon_explore as pe
        >>> pe.demo().functions("demo")
        []
        """
        found = self._metastore.functions(
            string("database", database), optional_string("pattern", pattern)
        )
        return sorted(found)

    def function(self, name: str) -> "types.FunctionInfo":
        """Return the parameters and definitions of a function.

        Raises:
            NotFoundError: there is no such function.

        >>> import paimon_explore as pe
        >>> pe.demo().function("demo.f")
        Traceback (most recent call last):
        paimon_explore.errors.NotFoundError: Function 'f' does not exist in demo.
        """
        return self._metastore.function(plain_identifier(name))

    def create_function(
        self, name: str, function: "types.FunctionInfo", *, if_not_exists: bool = False
    ) -> None:
        """Create a function.

        Args:
            name: `database.function`.
            function: its parameters and definitions.
            if_not_exists: do nothing if there is a function of that name.

        Raises:
            AlreadyExistsError: it exists, unless `if_not_exists`.
            UnsupportedFeatureError: the catalog has no functions.

        >>> import paimon_explore as pe
        >>> from paimon_explore.metastore.view_values import FunctionInfo
        >>> pe.demo().create_function("demo.f", FunctionInfo())
        Traceback (most recent call last):
        paimon_explore.errors.UnsupportedFeatureError: Creating a function in a catalog with ...
        """
        wanted = plain_identifier(name)
        created = self._metastore.create_function(wanted, function)
        if not created and not boolean("if_not_exists", if_not_exists):
            raise AlreadyExistsError("function", wanted.table, wanted.database)

    def alter_function(self, name: str, *changes: "types.FunctionChange") -> None:
        """Change the options, the comment or the definitions of a function.

        Args:
            name: `database.function`.
            changes: values of `paimon_explore.metastore.view_values.FunctionChange`.

        Raises:
            NotFoundError: there is no such function, or no such definition.
            AlreadyExistsError: a new definition exists already.

        >>> import paimon_explore as pe
        >>> pe.demo().alter_function("demo.f")
        Traceback (most recent call last):
        paimon_explore.errors.NotFoundError: Function 'f' does not exist in demo.
        """
        self._metastore.alter_function(plain_identifier(name), changes)

    def drop_function(self, name: str, *, if_exists: bool = False) -> None:
        """Remove a function.

        Args:
            name: `database.function`.
            if_exists: do nothing if there is no such function.

        Raises:
            NotFoundError: it does not exist, unless `if_exists`.

        >>> import paimon_explore as pe
        >>> pe.demo().drop_function("demo.f", if_exists=True)
        """
        wanted = plain_identifier(name)
        if not self._metastore.drop_function(wanted) and not boolean("if_exists", if_exists):
            raise NotFoundError("function", wanted.table, wanted.database)

    def partitions(
        self, name: str, pattern: str | None = None
    ) -> "list[types.PartitionInfo] | None":
        """Return the partitions that the catalog keeps of a table; None if it keeps none.

        `Table.inspect.partitions()` computes the partitions from the files of any table. Negative
        figures are unknown to the catalog.

        Args:
            name: `database.table`.
            pattern: return only partitions whose name matches; `%` stands for any characters.

        >>> import paimon_explore as pe
        >>> pe.demo().partitions("demo.orders") is None
        True
        """
        found = self._metastore.partitions(
            plain_identifier(name), optional_string("pattern", pattern)
        )
        return None if found is None else list(found)

    def close(self) -> None:
        """Close the connections to a catalog server; a later call opens them again.

        >>> import paimon_explore as pe
        >>> pe.demo().close()
        """
        self._metastore.close()


def new_table_schema(
    catalog: CatalogObjects,
    schema: Columns,
    *,
    primary_key: str | Sequence[str] | None = None,
    partition_by: str | Sequence[str] | None = None,
    options: Mapping[str, OptionValue] | None = None,
    comment: str | None = None,
) -> TableSchema:
    """Return the schema that `create_table` gives a table; nothing is created.

    Args:
        catalog: the catalog.
        schema: its columns, as for `create_table`.
        primary_key: the columns that identify a row.
        partition_by: the partition columns.
        options: table options; those that the catalog sets for new tables are added.
        comment: a comment on the table.

    Raises:
        InvalidInputError: columns, keys or options break a rule, which the message names.
    """
    from paimon_explore.metadata.schema.schema_validation import new_schema, validate_create

    defaults = catalog._table_defaults  # noqa: SLF001 - of this module
    created = new_schema(
        parse_columns(schema),
        primary_key=optional_column_names("primary_key", primary_key),
        partition_by=optional_column_names("partition_by", partition_by),
        options={**defaults, **option_texts(options)},
        comment=optional_string("comment", comment),
        time_millis=system_clock(),
    )
    validate_create(created)
    return created


def open_file_table(
    catalog: CatalogObjects, name: str
) -> "types.FormatTable | types.RowSource | None":
    """Open a format table, or an object table as rows; None if the table is neither."""
    for opener in (catalog.format_table, catalog.object_table):
        with suppress(InvalidInputError):
            return opener(name)
    return None
