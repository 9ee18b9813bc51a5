"""The functions that the notebook magics `%paimon`, `%%paimon_trace` and `%%paimon_sql` call."""

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.sql_magic import DUCKDB, register_sql_magic
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.catalog.warehouse_listing import listing
from paimon_explore.table.table import Table, open_table
from paimon_explore.table.trace_context import trace
from paimon_explore.widgets import magics


def register(shell: magics.Shell) -> None:
    """Register the magics in an interactive shell."""
    api = magics.MagicsApi(
        open=lambda path, branch: open_table(path, branch=branch),
        listing=listing,
        at=lambda table, snapshot, tag: _table(table).at(snapshot=snapshot, tag=tag),
        explore=lambda table: _table(table).explore(),
        trace=trace,
        table=Table,
        watched=(Table, Catalog),
    )
    magics.register(shell, api)
    register_sql_magic(shell, DUCKDB)


def _table(value: object) -> Table:
    if not isinstance(value, Table):
        raise InvalidInputError(
            f"A table is required, but the value is of type {type(value).__name__}."
        )
    return value
