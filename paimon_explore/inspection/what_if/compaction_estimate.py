"""Estimates what a bucket looks like after a compaction, from manifest entries only.

Which files are replaced is known exactly, since the compaction itself plans it. Rows and bytes of
the new files depend on how many keys the files have in common, which only reading them would tell:

- at most all rows of the replaced files, if no key occurs twice;
- at least, per section of overlapping files, the rows of the largest sorted run, if all other runs
  only have keys of this run; each retract row may remove one of these keys.

Bytes are the rows times the mean size of a row of the replaced files; at least, this without the
footers and statistics of the files that are gone; at most, with those of one file, which do not
shrink with its rows. The number of files is the bytes divided by the
target file size.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.views.lsm_tree_view import (
    key_rank_ranges,
    mean_read_amplification,
    read_amplification,
)
from paimon_explore.maintenance.compaction.compaction_plan import FileGroup
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit

_FOOTER_BYTES = 300
"""Bytes of a file for each column, besides values: measured in Parquet, ORC and Avro."""


class Range(NamedTuple):
    """An estimate that is not exact: the least and the greatest possible value."""

    low: int
    high: int

    @staticmethod
    def total(ranges: "Iterable[Range]") -> "Range":
        """The sum of ranges."""
        listed = list(ranges)
        return Range(sum(one.low for one in listed), sum(one.high for one in listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEstimate:
    """The new files of a group.

    Attributes:
        rows: rows in the new files.
        bytes: their size.
        files: their number.
    """

    rows: Range
    bytes: Range
    files: Range


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketShape:
    """The files of a bucket, before or after a compaction.

    Attributes:
        files: number of files.
        bytes: their size.
        rows: rows in the files, before merging.
        runs: number of sorted runs; 0 without a primary key.
        max_depth: maximum number of sorted runs that overlap at a key.
        mean_depth: mean number of overlapping runs per stored row.
    """

    files: Range
    bytes: Range
    rows: Range
    runs: int
    max_depth: int
    mean_depth: float


class BucketEstimate:
    """Estimates the files of one bucket after a compaction.

    Args:
        split: the live files.
        groups: the files that are replaced together.
        keys: the trimmed primary key; no fields for append tables.
        options: effective options.
        columns: number of columns of the table.
    """

    def __init__(
        self,
        split: DataSplit,
        groups: Sequence[FileGroup],
        keys: RowType,
        options: TableOptions,
        *,
        columns: int,
    ) -> None:
        stored = columns + len(keys) + 2 if len(keys) else columns
        self._footer = _FOOTER_BYTES * stored
        self._groups = groups
        self._keyed = bool(len(keys))
        self._options = options
        table = split.files.table
        self._names = [str(name) for name in table.column("file_name").to_pylist()]
        self._levels = numbers(table, "level")
        self._sizes = numbers(table, "file_size")
        self._rows = numbers(table, "row_count")
        self._retracts = table.column("delete_row_count").to_pylist()
        self._vectors = split.deletion_files
        self._lows, self._highs = key_rank_ranges(split.files, keys)

    def before(self) -> BucketShape:
        """The bucket as it is."""
        everything = np.arange(len(self._names))
        return self._shape(everything, [])

    def after(self) -> BucketShape:
        """The bucket after the compaction."""
        replaced = {file for group in self._groups for file in group.files}
        kept = [file for file in range(len(self._names)) if file not in replaced]
        return self._shape(np.array(kept, np.int64), self._groups)

    def group(self, group: FileGroup) -> GroupEstimate:
        """The new files of a group."""
        files = list(group.files)
        size, rows = int(self._sizes[files].sum()), int(self._rows[files].sum())
        if not group.rewritten:
            return GroupEstimate(rows=Range(rows, rows), bytes=Range(size, size), files=Range(1, 1))
        found = Range.total(self._section(section, group) for section in group.sections)
        if group.same_rows:
            counted = sum(int(self._rows[list(s[0])].sum()) for s in group.sections)
            share = Range(size if counted else 0, size)
        else:
            share = Range(*(size * n // rows if rows else 0 for n in found))
        smallest = int(self._sizes[files].min())
        footer = min(smallest, self._footer)
        least = max(share.low - (len(files) - 1) * footer, min(share.low, smallest))
        share = Range(least, min(share.high + footer, size) if share.high else 0)
        return GroupEstimate(rows=found, bytes=share, files=self._file_count(group, found, share))

    def _file_count(self, group: FileGroup, rows: Range, size: Range) -> Range:
        if group.one_file:
            return Range(*(min(n, 1) for n in rows))
        target = max(target_file_bytes(self._options, has_primary_key=self._keyed), 1)
        return Range(
            *(max(-(-b // target), 1) if n else 0 for n, b in zip(rows, size, strict=True))
        )

    def _section(self, section: Sequence[Sequence[int]], group: FileGroup) -> Range:
        """The rows that remain of files whose rows are merged by key."""
        if group.same_rows:
            rows = int(max(self._rows[list(run)].sum() for run in section))
            return Range(rows, rows)
        if not self._keyed:
            return Range.total(self._live(file) for run in section for file in run)
        runs = [Range.total(map(self._live, run)) for run in section]
        gone = [Range.total(map(self._retracted, run)) for run in section]
        engine = self._options.value(opt.MERGE_ENGINE)
        drops = group.drops_retracts and engine is MergeEngine.DEDUPLICATE
        high = sum(one.high for one in runs) - (sum(n.low for n in gone) if drops else 0)
        total = sum(n.high for n in gone)
        low = max(one.low - total for one in runs)
        # a first-row table drops keys that another file has; expired rows are dropped as well
        outside = len(group.files) < len(self._names) and engine is MergeEngine.FIRST_ROW
        if outside or self._options.value(opt.RECORD_LEVEL_EXPIRE_TIME) is not None:
            low = 0
        return Range(max(low, 0), max(high, 0))

    def _live(self, file: int) -> Range:
        """The rows of a file that no deletion vector deletes."""
        rows = int(self._rows[file])
        vector = self._vectors.get(self._names[file])
        if vector is None:
            return Range(rows, rows)
        if vector.cardinality is None:
            return Range(0, rows)
        return Range(rows - vector.cardinality, rows - vector.cardinality)

    def _retracted(self, file: int) -> Range:
        """The number of stored -U and -D rows of a file; unknown counts may be all rows."""
        count = self._retracts[file]
        high = count if isinstance(count, int) else int(self._rows[file])
        exact = isinstance(count, int) and self._names[file] not in self._vectors
        return Range(high if exact else 0, high)

    def _shape(self, kept: Ints, groups: Sequence[FileGroup]) -> BucketShape:
        lows, highs, rows = self._lows[kept], self._highs[kept], self._rows[kept]
        levels = self._levels[kept].tolist()
        made = [self.group(group) for group in groups]
        before = [len(kept), int(self._sizes[kept].sum()), int(rows.sum())]
        files, size, stored = (Range(number, number) for number in before)
        for group, estimate in zip(groups, made, strict=True):
            if estimate.rows.high:
                replaced = list(group.files)
                lows = np.append(lows, self._lows[replaced].min())
                highs = np.append(highs, self._highs[replaced].max())
                rows = np.append(rows, estimate.rows.high)
                levels.append(group.level)
        depths = read_amplification(lows, highs) if self._keyed else np.empty(0, np.int64)
        mean = mean_read_amplification(lows, highs, depths, rows) if self._keyed else 0.0
        return BucketShape(
            files=Range.total([files, *(one.files for one in made)]),
            bytes=Range.total([size, *(one.bytes for one in made)]),
            rows=Range.total([stored, *(one.rows for one in made)]),
            runs=levels.count(0) + len(set(levels) - {0}) if self._keyed else 0,
            max_depth=int(depths.max(initial=0)),
            mean_depth=mean,
        )
