"""SQL on the tables of a catalog."""

from importlib import import_module
from typing import Protocol

from paimon_explore.table import lazy_types as types
from paimon_explore.table.catalog.catalog_exploration import ExplorableCatalog


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
