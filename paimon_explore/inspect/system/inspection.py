"""`Inspection`: the system tables of one table, a method for each."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from paimon_explore.inspect.system import files, history, manifests
from paimon_explore.inspect.system.context import TableState
from paimon_explore.values import dataclass

SYSTEM_TABLES: Mapping[str, Callable[[TableState], pa.Table]] = {
    "aggregation_fields": manifests.aggregation_fields,
    "branches": history.branches,
    "buckets": files.buckets,
    "consumers": history.consumers,
    "file_key_ranges": files.file_key_ranges,
    "files": files.files,
    "manifests": manifests.manifests,
    "options": history.options,
    "partitions": files.partitions,
    "schemas": history.schemas,
    "snapshots": history.snapshots,
    "statistics": history.statistics,
    "table_indexes": manifests.table_indexes,
    "tags": history.tags,
}
"""The system tables made of metadata alone, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The system tables of a table at one snapshot, each as Arrow with its documented columns.

    Spec: concepts/system-tables.

    Attributes:
        state: the table.
    """

    state: TableState

    def snapshots(self) -> pa.Table:
        """One row per snapshot of the branch, by id."""
        return history.snapshots(self.state)

    def schemas(self) -> pa.Table:
        """One row per schema, by id."""
        return history.schemas(self.state)

    def options(self) -> pa.Table:
        """One row per option that the schema states."""
        return history.options(self.state)

    def tags(self) -> pa.Table:
        """One row per tag, by name."""
        return history.tags(self.state)

    def branches(self) -> pa.Table:
        """One row per branch but main."""
        return history.branches(self.state)

    def consumers(self) -> pa.Table:
        """One row per consumer, by id."""
        return history.consumers(self.state)

    def statistics(self) -> pa.Table:
        """The figures of the last ANALYZE; no row without any."""
        return history.statistics(self.state)

    def manifests(self) -> pa.Table:
        """One row per manifest of the snapshot."""
        return manifests.manifests(self.state)

    def files(self) -> pa.Table:
        """One row per live file of the snapshot, with decoded keys and statistics."""
        return files.files(self.state)

    def file_key_ranges(self) -> pa.Table:
        """One row per live file with its key range."""
        return files.file_key_ranges(self.state)

    def partitions(self) -> pa.Table:
        """One row per partition that has live files."""
        return files.partitions(self.state)

    def buckets(self) -> pa.Table:
        """One row per bucket that has live files."""
        return files.buckets(self.state)

    def table_indexes(self) -> pa.Table:
        """One row per index file."""
        return manifests.table_indexes(self.state)

    def aggregation_fields(self) -> pa.Table:
        """One row per column with its aggregate function."""
        return manifests.aggregation_fields(self.state)

    def __repr__(self) -> str:
        """The names of the system tables."""
        return f"system tables: {', '.join(SYSTEM_TABLES)}"
