"""SQL without an engine: SELECT of one table with columns, WHERE and LIMIT."""

import re
from collections.abc import Iterator

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
SQL_HINT = "Install DuckDB for all of SQL: pip install 'paimon-explore[sql]'"


def select_by_scan(tables: CatalogTables, text: str) -> Iterator[pa.Table | pa.RecordBatchReader]:
    """Run a SELECT of one table.

    Raises:
        InvalidInputError: the statement has other clauses.
    """
    found = _SELECT.fullmatch(text)
    if found is None:
        message = "Without DuckDB, only SELECT … FROM one table WHERE … LIMIT … can be run."
        raise InvalidInputError(message, hint=SQL_HINT)
    rows = tables.open(found["table"].replace("`", ""))
    if not isinstance(rows, Scan):
        yield rows.to_arrow()
        return
    scan = rows if found["where"] is None else rows.filter(found["where"])
    if _COUNT.fullmatch(found["columns"]):
        yield pa.table({"count": [scan.count()]})
        return
    if found["columns"] != "*":
        names = [name.strip() for name in found["columns"].split(",")]
        wrong = next((name for name in names if not _COLUMN.fullmatch(name)), None)
        if wrong is not None:
            message = f"Without DuckDB, {wrong!r} is not a column that can be selected."
            raise InvalidInputError(message, hint=SQL_HINT)
        scan = scan.select(names)
    limit = found["limit"]
    yield (scan if limit is None else scan.limit(int(limit))).to_batches()
