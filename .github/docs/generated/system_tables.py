"""System tables, with their columns, from the code."""

from collections.abc import Iterator

import pyarrow as pa

from generated.markdown import code, grid
from generated.pictures import table, warehouse
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES
from paimon_explore.table.table_inspection import TableInspection

_ROW_TABLES = {
    "audit_log": ("customers", "The rows with their row kind, also deleted ones."),
    "binlog": (
        "customers",
        "As `audit_log`, with the values before and after an update in a list.",
    ),
    "ro": ("customers", "The rows of the highest level only; no merging."),
    "row_tracking": ("notes", "The rows with row id and sequence number; needs row tracking."),
}
"""A table that has each system table of rows, and what it shows."""
_GLOBAL = ("all_tables", "all_partitions", "all_table_options", "catalog_options")


def of_tables() -> str:
    """Return the system tables of metadata, each with its columns."""
    return "\n".join(_of_tables())


def _of_tables() -> Iterator[str]:
    inspection = table("parcels").inspect
    for name in sorted(SYSTEM_TABLES):
        text = (getattr(TableInspection, name).__doc__ or "").splitlines()[0]
        yield f"### ${name}\n\n{text} `t.inspect.{name}()`\n"
        yield _columns(getattr(inspection, name)().schema)


def of_rows() -> str:
    """Return the system tables of rows, each with the columns that it adds."""
    rows = []
    for name in ROW_TABLES:
        example, text = _ROW_TABLES.get(name, ("customers", ""))
        plain = {*table(example).schema.row_type.names}
        found = table(example).inspect.system_table(name).schema
        added = [code(field.name) for field in found if field.name not in plain]
        rows.append((code(f"${name}"), text, ", ".join(added) or "none"))
    return grid(("system table", "rows", "added columns"), rows)


def of_catalog() -> str:
    """Return the system tables of a catalog, in the database `sys`."""
    return "\n".join(
        f"### sys.{name}\n\n{_columns(warehouse().system_table(f'sys.{name}').schema)}"
        for name in _GLOBAL
    )


def _columns(schema: pa.Schema) -> str:
    return grid(("column", "type"), [(code(field.name), str(field.type)) for field in schema])
