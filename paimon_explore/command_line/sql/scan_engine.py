"""SQL without an engine: SELECT of one table with columns, WHERE and LIMIT."""

import re

import pyarrow as pa

from paimon_explore.command_line.sql.catalog_tables import CatalogTables
from paimon_explore.errors import InvalidInputError
from paimon_explore.table.scan import Scan

_SELECT = re.compile(
    r"\s*SELECT\s+(?P<columns>.+?)\s+FROM\s+(?P<table>\S+?)"
    r"(?:\s+WHERE\s+(?P<where>.+?))?(?:\s+LIMIT\s+(?P<limit>\d+))?\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_COUNT = re.compile(r"count\(\s*\*\s*\)", re.IGNORECASE)
_COLUMN = re.compile(r"[\w.]+")
_HINT = "Install DuckDB for all of SQL: pip install duckdb"


class ScanEngine:
    """Scans of this package.

    Args:
        tables: the tables.
    """

    def __init__(self, tables: CatalogTables) -> None:
        self._tables = tables

    @property
    def title(self) -> str:
        """What runs the statements."""
        return "scans of paimon-explore; install duckdb for all of SQL"

    def statements(self, text: str) -> list[str]:
        """Return the text as one statement."""
        return [text.strip()] if text.strip() else []

    def run(self, statement: str) -> pa.Table | pa.RecordBatchReader | None:
        """Run a SELECT of one table.

        Raises:
            InvalidInputError: the statement has other clauses.
        """
        found = _SELECT.fullmatch(statement)
        if found is None:
            message = "Without DuckDB, only SELECT … FROM one table WHERE … LIMIT … can be run."
            raise InvalidInputError(message, hint=_HINT)
        rows = self._tables.required(tuple(found["table"].replace('"', "").split(".")))
        if not isinstance(rows, Scan):
            return rows.to_arrow()
        scan = rows if found["where"] is None else rows.filter(found["where"])
        if _COUNT.fullmatch(found["columns"]):
            return pa.table({"count": [scan.count()]})
        if found["columns"] != "*":
            names = [name.strip() for name in found["columns"].split(",")]
            wrong = next((name for name in names if not _COLUMN.fullmatch(name)), None)
            if wrong is not None:
                message = f"Without DuckDB, {wrong!r} is not a column that can be selected."
                raise InvalidInputError(message, hint=_HINT)
            scan = scan.select(names)
        limit = found["limit"]
        return (scan if limit is None else scan.limit(int(limit))).to_batches()

    def close(self) -> None:
        """Nothing is held."""
