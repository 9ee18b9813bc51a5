"""The system tables of a table by name."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from paimon_explore.inspection.system_tables import file_tables, history_tables
from paimon_explore.inspection.system_tables.table_state import TableState

SYSTEM_TABLES: Mapping[str, Callable[[TableState], pa.Table]] = {
    "aggregation_fields": file_tables.aggregation_fields,
    "branches": history_tables.branches,
    "buckets": file_tables.buckets,
    "consumers": history_tables.consumers,
    "file_key_ranges": file_tables.file_key_ranges,
    "files": file_tables.files,
    "manifests": file_tables.manifests,
    "options": history_tables.options,
    "partitions": file_tables.partitions,
    "schemas": history_tables.schemas,
    "snapshots": history_tables.snapshots,
    "statistics": history_tables.statistics,
    "table_indexes": file_tables.table_indexes,
    "tags": history_tables.tags,
}
"""The names of the metadata system tables."""
