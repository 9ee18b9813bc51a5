"""The output of `show` as JSON or CSV."""

import sys

from paimon_explore.command_line.rendering.machine_text import csv_line, json_text
from paimon_explore.data_types.formatter import type_text
from paimon_explore.sanitize import masked, masked_options, masked_tree
from paimon_explore.table.catalog.warehouse_listing import WarehouseListing
from paimon_explore.table.table import Table


def print_summary(found: Table | WarehouseListing, *, as_csv: bool) -> None:
    """Print a table, or the tables of a warehouse, as one JSON document or as CSV."""
    summary = (
        listing_summary(found) if isinstance(found, WarehouseListing) else table_summary(found)
    )
    if not as_csv:
        sys.stdout.write(f"{json_text(summary)}\n")
        return
    is_terminal = sys.stdout.isatty()
    rows = [("property", "value"), *summary.items()]
    sys.stdout.writelines(csv_line(row, is_terminal=is_terminal) for row in rows)


def listing_summary(found: WarehouseListing) -> dict[str, object]:
    """Return the tables by database."""
    return {database: list(tables) for database, tables in found.databases.items()}


def table_summary(table: Table) -> dict[str, object]:
    """Return name, keys, columns, snapshot, options, tags and branches of a table."""
    schema, snapshot, consumers = table.schema, table.snapshot, table.maintenance.consumers
    return {
        "table": masked(table.name),
        "path": masked(table.path),
        "comment": masked_tree(schema.comment),
        "schema_id": schema.id,
        "columns": [{"name": f.name, "type": type_text(f.type)} for f in schema.fields],
        "primary_keys": list(schema.primary_keys),
        "partition_keys": list(schema.partition_keys),
        "options": masked_options(schema.options),
        "snapshot_id": None if snapshot is None else snapshot.id,
        "commit_kind": None if snapshot is None else snapshot.commit_kind.value,
        "commit_time_ms": None if snapshot is None else snapshot.time_millis,
        "stored_rows": None if snapshot is None else snapshot.total_record_count,
        "snapshots": [one.id for one in table.snapshots],
        "tags": {tag.name: tag.snapshot.id for tag in table.tags},
        "branches": list(table.branches),
        "consumers": {name: consumers[name].next_snapshot for name in [*consumers.keys()]},
    }
