"""The engines that run SQL statements."""

from enum import StrEnum
from importlib.util import find_spec
from typing import Protocol

import pyarrow as pa

from paimon_explore.command_line.sql.catalog_tables import CatalogTables
from paimon_explore.errors import UnsupportedFeatureError


class EngineName(StrEnum):
    """The engines."""

    AUTO = "auto"
    DUCKDB = "duckdb"
    SCAN = "scan"


class Engine(Protocol):
    """Runs SQL statements."""

    @property
    def title(self) -> str:
        """Name and version, for people."""

    def statements(self, text: str) -> list[str]:
        """Split text into statements."""

    def run(self, statement: str) -> pa.Table | pa.RecordBatchReader | None:
        """Run one statement; None if it has no result.

        Raises:
            InvalidInputError: the statement is wrong.
        """

    def close(self) -> None:
        """Release the resources."""


def open_engine(name: EngineName, tables: CatalogTables) -> Engine:
    """Open an engine: for `auto` DuckDB if it is installed.

    Raises:
        UnsupportedFeatureError: DuckDB is asked for and not installed.
    """
    has_duckdb = find_spec("duckdb") is not None
    if name is EngineName.SCAN or (name is EngineName.AUTO and not has_duckdb):
        from paimon_explore.command_line.sql.scan_engine import ScanEngine

        return ScanEngine(tables)
    if not has_duckdb:
        raise UnsupportedFeatureError(
            "SQL by DuckDB without the package duckdb", hint="Run: pip install duckdb"
        )
    from paimon_explore.command_line.sql.duckdb_engine import DuckDBEngine

    return DuckDBEngine(tables)
