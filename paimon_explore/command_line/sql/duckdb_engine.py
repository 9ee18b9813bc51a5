"""SQL by DuckDB; it reads tables by Arrow scans with pushed-down columns and filters."""

import re

import duckdb
import pyarrow as pa

from paimon_explore.command_line.sql.catalog_tables import CatalogTables
from paimon_explore.command_line.sql.table_names import possible_tables
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.scan import Scan

_CHANGE = re.compile(
    r"\s*(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|TRUNCATE|(?:ALTER|DROP)\s+TABLE)\s",
    re.IGNORECASE,
)
_SCAN_FAILED = re.compile(
    r"^[\w ]+ Error: (?:exporting a stream from|reading the stream) .{1,200}? failed: \w+: "
)
"""What DuckDB writes before an error of a table's scan."""
_ROWS = 10_000
"""Rows of a batch of the result."""


class DuckDBEngine:
    """An in-memory database with views of the tables that statements name.

    Args:
        tables: the tables.
    """

    def __init__(self, tables: CatalogTables) -> None:
        self._tables = tables
        self._connection = duckdb.connect()
        self._views: set[tuple[str, ...]] = set()

    @property
    def title(self) -> str:
        """Name and version."""
        return f"DuckDB {duckdb.__version__}"

    def statements(self, text: str) -> list[str]:
        """Split text into statements.

        Raises:
            InvalidInputError: the text cannot be parsed.
        """
        try:
            return [one.query.strip() for one in self._connection.extract_statements(text)]
        except duckdb.Error as error:
            raise InvalidInputError(_sentence(error)) from error

    def run(self, statement: str) -> pa.Table | pa.RecordBatchReader | None:
        """Run one statement; None if it has no result."""
        try:
            for name in possible_tables(statement):
                self._add_view(name)
            self._check_reads(statement)
            result = self._relation(statement)
            return None if result is None else result.to_arrow_reader(_ROWS)
        except duckdb.Error as error:
            raise InvalidInputError(_sentence(error)) from error

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _check_reads(self, statement: str) -> None:
        """Reject statements that change a table of the catalog, for which there are only views."""
        change = _CHANGE.match(statement)
        target = possible_tables(f"FROM {statement[change.end() :]}")[:1] if change else []
        if target and target[0] in self._views:
            raise InvalidInputError(
                f"SQL cannot change table {'.'.join(target[0])!r}: it only reads tables.",
                hint="To add rows, use the command import.",
            )

    def _relation(self, statement: str) -> duckdb.DuckDBPyRelation | None:
        """The result; None for statements such as CREATE VIEW, which the stubs do not say."""
        return self._connection.sql(statement)

    def _add_view(self, parts: tuple[str, ...]) -> None:
        """Create or renew the view of a table, so that it has the latest snapshot."""
        found = self._tables.find(parts)
        if found is None:
            return
        self._views.add(parts)
        held = f"__rows_{'.'.join(parts)}"
        rows = found.to_dataset() if isinstance(found, Scan) else found.to_arrow()
        self._connection.register(held, rows)
        if len(parts) > 1:
            self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {_quoted(parts[0])}")
        name = ".".join(map(_quoted, parts))
        self._connection.execute(
            f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM {_quoted(held)}"  # noqa: S608 - quoted
        )


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


def _sentence(error: duckdb.Error) -> str:
    """The message of DuckDB in one line, without its drawing of the place and stack traces."""
    text = str(error).partition("\n\n")[0].partition("Detail: Python exception:")[0]
    text = _SCAN_FAILED.sub("", " ".join(text.split())).replace("..", ".")
    return text if text.endswith((".", "?", "!")) else f"{text}."
