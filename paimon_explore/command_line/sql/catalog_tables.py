"""The tables that SQL statements can name, and the statements that DuckDB runs on them.

Without DuckDB: SELECT of one table with columns, WHERE and LIMIT.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.command_line.source import Source
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import cached_property
from paimon_explore.table.catalog.catalog import iter_table_names
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.sql_statements.session import Session

_SELECT = re.compile(
    r"\s*SELECT\s+(?P<columns>.+?)\s+FROM\s+(?P<table>\S+?)"
    r"(?:\s+WHERE\s+(?P<where>.+?))?(?:\s+LIMIT\s+(?P<limit>\d+))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_COUNT = re.compile(r"count\(\s*\*\s*\)", re.IGNORECASE)
_COLUMN = re.compile(r"[\w.]+")
SQL_HINT = "Install DuckDB for all of SQL: pip install 'paimon-explore[sql]'"

MAX_NAMES = 2000
"""Number of tables whose names are completed; a server may have very many."""


class CatalogTables:
    """The tables of a catalog, and tables that are given by path.

    Args:
        source: the catalog, and the options of the storage.
        paths: paths by the name that statements use.
        database: the database of names without one.
        dialect: of queries.

    Raises:
        InvalidInputError: neither a catalog nor a path is given.
    """

    def __init__(
        self, source: Source, paths: Mapping[str, str], database: str | None, dialect: str = "spark"
    ) -> None:
        if not source.has_catalog and not paths:
            raise InvalidInputError(
                "The command sql requires tables.",
                hint="Give --warehouse PATH, --catalog NAME, or --table NAME=PATH.",
            )
        self._source = source
        self._paths = paths
        self._database = database
        self._dialect = dialect

    @cached_property
    def _session(self) -> "Session":
        from paimon_explore.sql_statements.quoted_names import quoted
        from paimon_explore.sql_statements.session import Session

        catalog = self._source.open_catalog() if self._source.has_catalog else None
        tables = {name: self._of_paths().open_table(path) for name, path in self._paths.items()}
        session = Session(catalog, tables, dialect=self._dialect)
        if catalog is not None and self._database is not None:
            session.run(f"USE {quoted(self._database)}")
        return session

    def run(self, text: str) -> "Iterator[pa.RecordBatchReader]":
        """Run statements; yields the rows of each one that has a result.

        Raises:
            PaimonError: as for `pe.sql`.
        """
        from paimon_explore.sql_statements.tokenizer import statements_of

        for statement in statements_of(text):
            rows = self._session.run(statement).to_batches()
            if rows.schema.names:
                yield rows

    def open(self, name: str) -> Scan | RowSource:
        """Open a table or system table.

        Args:
            name: `database.table`, or the table alone.

        Raises:
            NotFoundError: there is no such table.
        """
        if name in self._paths:
            return self._of_paths().open_table(self._paths[name]).scan()
        if "." not in name and self._database is not None:
            name = f"{self._database}.{name}"
        if self._source.is_system_table(name):
            return self._source.open_rows(name)
        try:
            return self._source.open_table(name).scan()
        except UnsupportedFeatureError:
            found = self._source.open_files(name)
            if found is None:
                raise
            return found if isinstance(found, RowSource) else found.rows()

    def _of_paths(self) -> Source:
        """Return the source that opens tables by path."""
        return Source(options={} if self._source.has_catalog else self._source.options)

    def names(self) -> list[str]:
        """Return the names of the tables, for completion."""
        return [*self._paths, *islice(self._catalog_names(), MAX_NAMES)]

    def _catalog_names(self) -> Iterator[str]:
        if not self._source.has_catalog:
            return
        catalog = self._source.open_catalog()
        for database in catalog.databases():
            for table in iter_table_names(catalog, database):
                yield table if database == self._database else f"{database}.{table}"


def select_by_scan(tables: CatalogTables, text: str) -> Iterator[pa.Table | pa.RecordBatchReader]:
    """Run a SELECT of one table.

    Raises:
        InvalidInputError: the statement has other clauses.
    """
    found = _SELECT.fullmatch(text)
    if found is None:
        message = "Without DuckDB, only SELECT … FROM one table WHERE … LIMIT … can be run."
        raise InvalidInputError(message, hint=SQL_HINT)
    rows, where = tables.open(found["table"].replace("`", "")), found["where"]
    if _COUNT.fullmatch(found["columns"]):
        if isinstance(rows, RowSource):
            count = rows.scan(rows.schema.names[:1], where).to_arrow().num_rows
        else:
            count = (rows if where is None else rows.filter(where)).count()
        yield pa.table({"count": [count]})
        return
    names = None
    if found["columns"] != "*":
        names = [name.strip() for name in found["columns"].split(",")]
        wrong = next((name for name in names if not _COLUMN.fullmatch(name)), None)
        if wrong is not None:
            message = f"Without DuckDB, {wrong!r} is not a column that can be selected."
            raise InvalidInputError(message, hint=SQL_HINT)
    limit = None if found["limit"] is None else int(found["limit"])
    if isinstance(rows, RowSource):
        yield rows.scan(names, where, limit).to_batches()
        return
    scan = rows if where is None else rows.filter(where)
    scan = scan if names is None else scan.select(names)
    yield (scan if limit is None else scan.limit(limit)).to_batches()
