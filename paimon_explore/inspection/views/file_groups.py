"""Data files aggregated into groups, for tables with more files than a browser should hold.

Files of one partition, bucket and level that the same snapshots added and removed form one group;
the timeline, the file grid and the partitions view need no more than groups. If a condition selects
few enough files, they are listed individually.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.rendering.number_format import bytes_text, count_text, plural
from paimon_explore.inspection.rendering.report import facts
from paimon_explore.inspection.views.node_detail import Document
from paimon_explore.metadata.manifest.manifest_table import take_rows
from paimon_explore.scan.manifest_arrays import numbers

MAX_FILES = 1_000_000
"""Maximum number of files that are sent to the browser individually."""

_KEYS = ("partition", "bucket", "level", "added", "removed")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroups:
    """n groups of data files.

    Attributes:
        columns: n numbers each: partition (code), bucket, level, added, removed, files, rows, size.
        partitions: partition texts by code.
    """

    columns: dict[str, Ints]
    partitions: tuple[str, ...]

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.columns["files"])

    def size_text(self, group: int) -> str:
        """The number of files of a group as text."""
        return plural(int(self.columns["files"][group]), "file")

    def document(self, group: int) -> Document:
        """The details of a group."""
        own = {name: int(values[group]) for name, values in self.columns.items()}
        partition = self.partitions[own["partition"]]
        condition = f"bucket = {own['bucket']} and level = {own['level']}"
        rows = facts(
            ("partition", partition or "unpartitioned"),
            ("bucket", str(own["bucket"])),
            ("level", str(own["level"])),
            ("files", count_text(own["files"])),
            ("rows", count_text(own["rows"])),
            ("size", bytes_text(own["size"])),
            ("filter for single files", condition),
        )
        title = self.size_text(group)
        return Document(title=title, subtitle="group of data files", sections=(rows,))


def file_groups(lifetimes: FileLifetimes) -> FileGroups:
    """Aggregate files into groups."""
    files = lifetimes.files
    values = {
        "partition": lifetimes.partitions.codes,
        "bucket": numbers(files, "bucket"),
        "level": numbers(files, "level"),
        "added": lifetimes.added,
        "removed": lifetimes.removed,
        "rows": numbers(files, "row_count"),
        "size": numbers(files, "file_size"),
    }
    found = pa.table({name: pa.array(column, pa.int64()) for name, column in values.items()})
    sums = found.group_by([*_KEYS]).aggregate([([], "count_all"), ("rows", "sum"), ("size", "sum")])
    named = sums.rename_columns([*_KEYS, "files", "rows", "size"]).combine_chunks()
    columns = {name: numbers(named, name) for name in named.column_names}
    return FileGroups(columns=columns, partitions=tuple(lifetimes.partitions.texts))


def only(lifetimes: FileLifetimes, passes: Bools) -> FileLifetimes:
    """The files that match the mask."""
    rows = np.flatnonzero(passes)
    codes = lifetimes.partitions.codes[rows]
    return replace(
        lifetimes,
        files=take_rows(lifetimes.files, rows),
        added=lifetimes.added[rows],
        removed=lifetimes.removed[rows],
        partitions=replace(lifetimes.partitions, codes=codes),
    )
