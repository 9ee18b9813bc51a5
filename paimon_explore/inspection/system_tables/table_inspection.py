"""`Inspection` has a method for each system table of a table."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.system_tables import file_tables, history_tables, manifest_tables
from paimon_explore.inspection.system_tables.table_state import TableState

SYSTEM_TABLES: Mapping[str, Callable[[TableState], pa.Table]] = {
    "aggregation_fields": manifest_tables.aggregation_fields,
    "branches": history_tables.branches,
    "buckets": file_tables.buckets,
    "consumers": history_tables.consumers,
    "file_key_ranges": file_tables.file_key_ranges,
    "files": file_tables.files,
    "manifests": manifest_tables.manifests,
    "options": history_tables.options,
    "partitions": file_tables.partitions,
    "schemas": history_tables.schemas,
    "snapshots": history_tables.snapshots,
    "statistics": history_tables.statistics,
    "table_indexes": manifest_tables.table_indexes,
    "tags": history_tables.tags,
}
"""The names of the metadata system tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The metadata system tables of a table at one snapshot, as Arrow tables.

    Spec: concepts/system-tables.

    Attributes:
        state: the table and snapshot.
    """

    state: TableState

    def snapshots(self) -> pa.Table:
        """One row per snapshot of the branch, by id."""
        return history_tables.snapshots(self.state)

    def schemas(self) -> pa.Table:
        """One row per schema, by id."""
        return history_tables.schemas(self.state)

    def options(self) -> pa.Table:
        """One row per option of the schema."""
        return history_tables.options(self.state)

    def tags(self) -> pa.Table:
        """One row per tag, by name."""
        return history_tables.tags(self.state)

    def branches(self) -> pa.Table:
        """One row per branch except main."""
        return history_tables.branches(self.state)

    def consumers(self) -> pa.Table:
        """One row per consumer, by id."""
        return history_tables.consumers(self.state)

    def statistics(self) -> pa.Table:
        """The statistics of the last ANALYZE; empty without any."""
        return history_tables.statistics(self.state)

    def manifests(self) -> pa.Table:
        """One row per manifest of the snapshot."""
        return manifest_tables.manifests(self.state)

    def files(self) -> pa.Table:
        """One row per live file of the snapshot, with decoded keys and statistics."""
        return file_tables.files(self.state)

    def file_key_ranges(self) -> pa.Table:
        """One row per live file with its key range."""
        return file_tables.file_key_ranges(self.state)

    def partitions(self) -> pa.Table:
        """One row per partition with live files."""
        return file_tables.partitions(self.state)

    def buckets(self) -> pa.Table:
        """One row per bucket with live files."""
        return file_tables.buckets(self.state)

    def table_indexes(self) -> pa.Table:
        """One row per index file."""
        return manifest_tables.table_indexes(self.state)

    def aggregation_fields(self) -> pa.Table:
        """One row per column with its aggregate function."""
        return manifest_tables.aggregation_fields(self.state)

    def __repr__(self) -> str:
        """The names of the system tables."""
        return f"system tables: {', '.join(SYSTEM_TABLES)}"
