"""SQL, and operations on several tables of a catalog."""

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from paimon_explore.arguments import optional_string, string
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.table import lazy_types as types
from paimon_explore.table.catalog.catalog_exploration import ExplorableCatalog
from paimon_explore.table.table_definition import OptionValue

if TYPE_CHECKING:
    from paimon_explore.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """The result of a compaction of several tables.

    Attributes:
        compacted: the tables that were compacted, or needed no compaction.
        errors: the error of each table whose compaction failed.
    """

    compacted: tuple[str, ...] = ()
    errors: Mapping[str, PaimonError]

    def __repr__(self) -> str:
        """Return the numbers of tables, and the errors."""
        failed = [f"  {name}: {error.message}" for name, error in self.errors.items()]
        head = f"compacted {len(self.compacted):,} tables, {len(self.errors):,} failed"
        return "\n".join([head, *failed])


class SqlFunction(Protocol):
    """The type of `pe.sql`."""

    def __call__(
        self, text: str, catalog: object, parameters: "types.Parameters", *, dialect: str
    ) -> "types.SqlResult":
        """Run SQL statements."""


class OperableCatalog(ExplorableCatalog):
    """A catalog with SQL, and with operations on several tables."""

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

    def databases(self) -> list[str]:
        """Return the names of the databases."""
        raise NotImplementedError

    def tables(self, database: str, pattern: str | None = None) -> list[str]:
        """Return the names of the tables of a database."""
        raise NotImplementedError

    def table(self, name: str, options: Mapping[str, OptionValue] | None = None) -> "Table":
        """Open a table."""
        raise NotImplementedError


def matching_tables(
    catalog: OperableCatalog,
    databases: str = ".*",
    tables: str = ".*",
    excluding: str | None = None,
    *,
    options: Mapping[str, OptionValue] | None = None,
) -> "Iterator[tuple[str, Table | PaimonError]]":
    """Open the tables whose names match regular expressions, one after the other.

    The arguments are those of `OperableCatalog.compact_tables`. Tables that this package cannot
    open, such as format tables, and tables that are dropped in the meantime are left out; another
    error is yielded instead of the table.
    """
    in_database = _pattern("databases", string("databases", databases))
    wanted = _pattern("tables", string("tables", tables))
    text = optional_string("excluding", excluding)
    left_out = None if not text or not text.strip() else _pattern("excluding", text)
    for database in catalog.databases():
        for table in catalog.tables(database) if in_database.fullmatch(database) else ():
            name = f"{database}.{table}"
            if not wanted.fullmatch(name) or (left_out and left_out.fullmatch(name)):
                continue
            try:
                yield name, catalog.table(name, options)
            except (NotFoundError, UnsupportedFeatureError):
                continue
            except PaimonError as error:
                yield name, error


def compact_each(
    tables: "Iterator[tuple[str, Table | PaimonError]]", compact: "Callable[[Table], object]"
) -> CompactionReport:
    """Compact tables one after the other, and collect the errors.

    Args:
        tables: names, and the tables or why they cannot be opened.
        compact: compacts one.
    """
    compacted: list[str] = []
    errors: dict[str, PaimonError] = {}
    for name, table in tables:
        if isinstance(table, PaimonError):
            errors[name] = table
            continue
        try:
            compact(table)
        except PaimonError as error:
            errors[name] = error
        else:
            compacted.append(name)
    return CompactionReport(compacted=tuple(compacted), errors=errors)


def _pattern(name: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidInputError(
            f"{name} = {text!r} is not a regular expression: {error}.",
            hint="'.*' matches all names.",
        ) from error
