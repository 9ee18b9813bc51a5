"""Metadata of one table that several health rules use, read once."""

import numpy as np

from paimon_explore.data_types.arrow_buffers import Bools, as_python
from paimon_explore.frozen_dataclass import cached_property
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.partition_argument import partition_tests
from paimon_explore.inspection.rendering.value_text import Partitions, partitions_of
from paimon_explore.inspection.views.files_view import property_name
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.lsm_tree_view import BucketSummary, bucket_summaries
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.table_options import (
    TableOptions,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import column
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.splits.row_id_ranges import is_blob_file

MAX_CHECKED_FILES = 20_000
"""Tables with more files are checked only when their Health view is opened, and then without
looking up each file."""


class TableFacts:
    """Metadata of a table at a snapshot, read on first use and cached.

    Args:
        inspector: the table.
        now_ms: current time, epoch milliseconds.
    """

    def __init__(self, *, inspector: Inspector, now_ms: int) -> None:
        self.inspector = inspector
        self.now_ms = now_ms

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """The checked snapshot; None for a table without snapshots."""
        number = self.inspector.snapshot_id
        return self.inspector.timeline().snapshot(number) if number else None

    @cached_property
    def snapshot_files(self) -> list[int]:
        """The ids of all snapshot files, including strays, ascending."""
        return self.inspector.view.store.snapshots.all_ids()

    @cached_property
    def snapshot_ids(self) -> list[int]:
        """The ids of all snapshots up to the latest one, ascending."""
        return self.inspector.view.store.snapshots.until_latest(self.snapshot_files)

    @cached_property
    def manifests(self) -> ManifestFiles:
        """The manifests of the snapshot."""
        if self.snapshot is None:
            return ManifestFiles.empty()
        return self.inspector.view.store.manifests.all(self.snapshot)

    @cached_property
    def files(self) -> ManifestEntries:
        """The live files."""
        if self.snapshot is None:
            return ManifestEntries.empty()
        return live_entries(self.inspector.view.store.manifests.read_many(self.manifests.names))

    @cached_property
    def is_blob(self) -> Bools:
        """Whether each live file is a BLOB file, which has no statistics and is not merged."""
        names = as_python(column(self.files.table, "file_name"))
        return np.array([is_blob_file(str(name)) for name in names], np.bool_)

    @cached_property
    def partitions(self) -> Partitions:
        """The partitions of the live files."""
        return partitions_of(self.files.table, partition_type(self.inspector.view))

    @cached_property
    def buckets(self) -> list[BucketSummary]:
        """The buckets, by descending number of sorted runs."""
        return bucket_summaries(self.files, self.partitions.codes, self.partitions.texts)[0]

    @property
    def options(self) -> TableOptions:
        """The effective table options."""
        return self.inspector.view.options

    @property
    def keyed(self) -> bool:
        """Whether the table has a primary key."""
        return bool(len(self.inspector.keys))

    def condition(self, partition: str, **tests: str) -> str:
        """The selection `filter:…` of the files of a partition, by tests of file properties."""
        row_type = partition_type(self.inspector.view)
        parts = [to_sql(test) for test in partition_tests(self.partitions, row_type, partition)]
        parts += [f"{property_name(name, row_type.names)} {test}" for name, test in tests.items()]
        return f"filter:{' and '.join(parts)}"
