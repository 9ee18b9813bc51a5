"""Persistent views of a catalog: CREATE, DROP, ALTER and SHOW VIEWS, and reading them in queries.

A view is stored with its query as text, for all engines and in the dialect `spark`. Its tables are
resolved in the database of the view; names without a database are qualified when it is created. A
view with several dialects is read in `spark`, else by its query for all engines. ALTER VIEW … AS
keeps the dialects of other engines; CREATE OR REPLACE VIEW drops them, as in Java.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from paimon_explore.data_types.definitions import RowType, with_nullable
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.identifier import parse_identifier
from paimon_explore.metastore.view_values import ViewInfo
from paimon_explore.sql_statements.outcome import QueryRows, row_type_of
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.table_references import references_of, spliced
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table

DIALECT = "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewView:
    """The parts of CREATE VIEW.

    Attributes:
        name: `database.view`.
        query: its query.
        columns: names of its columns; empty for those of the query.
        comment: its comment.
        if_not_exists: do nothing if it exists.
        replaces: replace an existing view.
        options: its options.
        dialects: its queries for other engines.
    """

    name: str
    query: str
    columns: Sequence[str] = ()
    comment: str | None = None
    if_not_exists: bool = False
    replaces: bool = False
    options: Mapping[str, str] = field(default_factory=dict)
    dialects: Mapping[str, str] = field(default_factory=dict)


def create_view(warehouse: Warehouse, view: NewView, rows: QueryRows) -> None:
    """Create a view.

    Args:
        warehouse: resolves the names of tables.
        view: the view.
        rows: those of its query, for the types of its columns.

    Raises:
        AlreadyExistsError: a view or table of that name exists.
        InvalidInputError: the query has another number of columns.
        UnsupportedFeatureError: the catalog has no views, or a column has a type that Paimon lacks.
    """
    catalog = warehouse.warehouse()
    text, columns = qualified(warehouse, view.query), columns_of(view, rows)
    try:
        catalog.create_view(
            view.name,
            text,
            columns,
            dialects={**view.dialects, DIALECT: text},
            options=view.options,
            comment=view.comment,
            if_not_exists=view.if_not_exists,
            replace=view.replaces,
        )
    except UnsupportedFeatureError as error:
        hint = "Use CREATE TEMPORARY VIEW, or a catalog with views: REST, JDBC or Hive."
        raise UnsupportedFeatureError(error.feature, error.where, hint=hint) from error


def columns_of(view: NewView, rows: QueryRows) -> RowType:
    """Return the columns of a view: those of its query, nullable and with the view's names.

    Raises:
        InvalidInputError: the query has another number of columns.
        UnsupportedFeatureError: a column has a type that Paimon lacks.
    """
    found = row_type_of(rows.fields, "a view")
    names = view.columns or found.names
    if len(names) != len(found.names):
        raise InvalidInputError(
            f"View {view.name} has {len(names)} columns, but its query has {len(found.names)}."
        )
    fields = (
        replace(column, name=name, type=with_nullable(column.type, nullable=True), description=None)
        for name, column in zip(names, found, strict=True)
    )
    return RowType(fields=tuple(fields))


def qualified(warehouse: Warehouse, query: str) -> str:
    """Return a query whose Paimon tables and views all have a database."""
    prefix = f"{quoted(warehouse.database)}."
    edits = [
        (found.start, found.start, prefix)
        for found in references_of(query)
        if len(found.parts) == 1 and found.arguments is None and warehouse.find(found.parts)
    ]
    return spliced(query, edits)


def find_view(warehouse: Warehouse, name: Name) -> ViewInfo | None:
    """Return the view of a name; None if there is none."""
    if name.is_folder or warehouse.catalog is None or "$" in name.table:
        return None
    try:
        return warehouse.catalog.view(name.table)
    except NotFoundError:
        return None


def table_or_view(warehouse: Warehouse, name: Name) -> Table | RowSource | ViewInfo:
    """Open a table or system table, or return the view of that name.

    Raises:
        NotFoundError: there is neither.
    """
    try:
        return warehouse.open(name)
    except NotFoundError:
        view = find_view(warehouse, name)
        if view is None:
            raise
        return view


def opened(warehouse: Warehouse, name: Name) -> Warehouse:
    """Return the warehouse in which the query of a view is run.

    Raises:
        InvalidInputError: the view reads itself.
    """
    if name.table in warehouse.open_views:
        path = " → ".join((*warehouse.open_views, name.table))
        raise InvalidInputError(f"View {name.table} reads itself: {path}.")
    return replace(
        warehouse,
        database=parse_identifier(name.table).database,
        open_views=(*warehouse.open_views, name.table),
    )


def query_of(view: ViewInfo) -> str:
    """Return the query of a view in Spark's dialect."""
    return view.dialects.get(DIALECT, view.query)


def named_columns(view: ViewInfo, name: Name, rows: QueryRows) -> QueryRows:
    """Return the rows of a view with the names of its columns.

    Raises:
        InvalidInputError: the query has another number of columns than the view.
    """
    names = [field.name for field in view.fields]
    if len(names) != len(rows.fields):
        raise InvalidInputError(
            f"View {name.table} has {len(names)} columns, but its query now has "
            f"{len(rows.fields)}.",
            hint="Create the view again.",
        )
    return rows.renamed(names)
