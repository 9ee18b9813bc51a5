"""SQL on the tables of a catalog.

The explorer of a catalog, and what it asks of the catalog.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from paimon_explore.arguments import integer, optional_integer, optional_string
from paimon_explore.errors import needs_extra
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.identifier import Identifier, check_name, parse_identifier
from paimon_explore.table import lazy_types as types
from paimon_explore.table.catalog.catalog_objects import CatalogObjects

if TYPE_CHECKING:
    from paimon_explore.inspection.table_view import TableView
    from paimon_explore.inspection.warehouse.warehouse_tables import ObjectType
    from paimon_explore.metastore.metastore import Metastore
    from paimon_explore.table.table import Table

_BRANCH = "$branch_"


class ExplorableCatalog(CatalogObjects):
    """A catalog with an explorer."""

    def explore(
        self,
        table: str | None = None,
        *,
        tab: str | None = None,
        snapshot: int | None = None,
        height: int = 560,
    ) -> "types.CatalogExplorer":
        """Open the explorer of the catalog, a notebook widget: its tables, or one of them.

        Args:
            table: the table to open, `database.table`; None for the list of tables.
            tab: the view of that table, such as `files`, `lsm` or `health`.
            snapshot: id of its snapshot; None for the latest.
            height: pixels.

        Raises:
            NotFoundError: the table or the snapshot does not exist.
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.

        >>> import paimon_explore as pe
        >>> explorer = pe.demo().explore("demo.orders", tab="health", snapshot=2)
        >>> explorer.explorer.selected
        2
        >>> pe.demo().explore().tables("demo").to_arrow()["name"].to_pylist()[:3]
        ['customers', 'empty', 'events']
        """
        optional_string("table", table)
        optional_string("tab", tab)
        optional_integer("snapshot", snapshot)
        integer("height", height, minimum=1)
        with needs_extra("notebook", "opening the explorer"):
            from paimon_explore.widgets.warehouse import explore_catalog
        source = _Source(
            metastore=self._metastore,
            place=self._place(),
            open=self._open,
            text=self.__repr__,
            html=self._repr_html_,
        )
        return explore_catalog(source, table=table, tab=tab, snapshot=snapshot, height=height)

    def _place(self) -> dict[str, str]:
        """Return the options that tell which catalog it is."""
        raise NotImplementedError

    def _open(self, wanted: Identifier) -> "Table":
        """Open a table."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """The catalog as static HTML."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A catalog as the `WarehouseSource` of its explorer.

    Attributes:
        metastore: the metastore of the catalog.
        place: the options that tell which catalog it is, without secrets.
        open: opens a table.
        text: returns the catalog as text.
        html: returns the catalog as static HTML.
    """

    metastore: "Metastore"
    place: Mapping[str, str]
    open: "Callable[[Identifier], Table]"
    text: Callable[[], str]
    html: Callable[[], str]
    expression = "catalog"

    @property
    def title(self) -> str:
        """The warehouse."""
        return self.metastore.warehouse

    def databases(self) -> list[str]:
        """Return the names of the databases."""
        return self.metastore.databases()

    def names(self, kind: "ObjectType", database: str) -> Iterator[str]:
        """Yield the names of the tables, views or functions of a database."""
        listings: dict[str, Callable[[str], Iterator[str]]] = {
            "table": self.metastore.tables,
            "view": self.metastore.views,
            "function": self.metastore.functions,
        }
        return listings[kind.value](database)

    def view(self, database: str, table: str) -> "TableView":
        """Open a table, whose name may contain any characters, or a branch of it."""
        wanted = _identifier(database, table)
        if _BRANCH in table:
            wanted = parse_identifier(wanted.full_name)
        return self.open(wanted)._view()  # noqa: SLF001 - of the same layer

    def comment(self, kind: "ObjectType", database: str, name: str) -> str:
        """Return the comment of a function or a view; the query of a view without a comment."""
        wanted = _identifier(database, name)
        if kind.value == "view":
            found = self.metastore.view(wanted)
            return found.comment or found.query
        return self.metastore.function(wanted).comment or ""


def _identifier(database: str, name: str) -> Identifier:
    """Return the identifier of a listed name, which may contain '.' and '$'.

    Raises:
        InvalidInputError: a part is not the name of a folder.
    """
    check_name(database, database)
    check_name(name, name)
    return Identifier(database=database, table=name)


class SqlFunction(Protocol):
    """The type of `pe.sql`."""

    def __call__(
        self, text: str, catalog: object, parameters: "types.Parameters", *, dialect: str
    ) -> "types.SqlResult":
        """Run SQL statements."""


class SqlCatalog(ExplorableCatalog):
    """A catalog whose tables SQL statements read and write."""

    def sql(
        self, text: str, parameters: "types.Parameters" = None, *, dialect: str = "spark"
    ) -> "types.SqlResult":
        """Run SQL statements on the tables of the catalog; DuckDB runs the queries.

        The statements are those of `pe.spark.sql`, in Spark's dialect. USE and temporary views last
        as long as the catalog.

        Args:
            text: one statement, or several separated by semicolons; the last result is returned.
            parameters: values of parameter markers: a dict for `:name`, a list for `?`.
            dialect: of queries: `spark`, or `duckdb`.

        Raises:
            InvalidInputError: a statement that cannot be parsed, an unknown column or function.
            NotFoundError: a table that does not exist.
            UnsupportedFeatureError: a valid statement that is not implemented.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> last = catalog.sql("SELECT max(id) AS last FROM demo.orders VERSION AS OF 1")
        >>> last.to_arrow().to_pylist()
        [{'last': 5}]
        """
        run: SqlFunction = import_module("paimon_explore").sql  # of a layer above
        return run(text, self, parameters, dialect=dialect)
