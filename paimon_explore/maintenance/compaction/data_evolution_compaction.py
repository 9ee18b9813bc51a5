"""Compaction of tables with data evolution: merge the column files of row id ranges.

All files of a row id range are merged into one file with all columns, and adjacent ranges without
a gap into one range. Row ids do not change, because they are derived from the first row id of the
file; indexes over row ids stay valid. Blob files are not rewritten: they refer to row ids.

Files with deleted rows are not compacted either, since dropping rows would change the ids of the
others.

Spec: append-table/data-evolution. Seen in: golden java200/data_evolution.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.file_group import FileGroup
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import is_column_file, row_ranges, same_rows
from paimon_explore.write.blob_files import blob_fields, without_blobs
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_MIN_FILES = 2


@dataclass(frozen=True, slots=True)
class _Range:
    """A range of row ids and its files.

    Attributes:
        files: positions of the files in the bucket.
        first: the first row id.
        after: the row id after the last one.
        size: total size of the files in bytes.
    """

    files: Rows
    first: int
    after: int
    size: int


def pick_data_evolution(target: WriteTarget, split: DataSplit, *, full: bool) -> list[list[Rows]]:
    """Pick the row id ranges to merge.

    Returns:
        Lists of adjacent ranges that each become one file; a range is the positions of its files.
    """
    max_size = target_file_bytes(target.options, has_primary_key=False)
    min_files = _MIN_FILES if full else target.options.value(opt.COMPACTION_MIN_FILE_NUM)
    runs: list[list[_Range]] = []
    for part in _ranges(split):
        last = runs[-1] if runs else []
        if last and last[-1].after == part.first and sum(r.size for r in last) < max_size:
            last.append(part)
        else:
            runs.append([part])
    picked = [run for run in runs if sum(len(part.files) for part in run) >= min_files]
    return [[part.files for part in run] for run in picked]


def _ranges(split: DataSplit) -> list[_Range]:
    """Return the row id ranges without deleted rows, sorted by row id."""
    names = [str(name) for name in split.files.table.column("file_name").to_pylist()]

    plain = [i for i, name in enumerate(names) if not is_column_file(name)]
    positions = np.array(plain, np.int64)
    files = split.files.take(positions)
    first, after = row_ranges(files)
    sizes = numbers(files.table, "file_size")
    found = []
    for group in same_rows(files):
        known = bool((first[group] >= 0).all())
        if known and not any(names[positions[i]] in split.deletion_files for i in group):
            low, high = int(first[group].min()), int(after[group].max())
            found.append(_Range(positions[group], low, high, int(sizes[group].sum())))
    return sorted(found, key=lambda part: part.first)


class DataEvolutionCompaction:
    """Rewrites files of one partition.

    Args:
        target: the table.
        split: all live files of the partition.
        runs: the ranges that become one file each, see `pick_data_evolution`.
    """

    def __init__(
        self, target: WriteTarget, split: DataSplit, runs: Sequence[Sequence[Rows]]
    ) -> None:
        self._target = target
        self._split = split
        self._runs = runs
        blobs = blob_fields(target.schema, target.options)
        layout = append_layout(target.schema, target.options, source=FileSource.COMPACT)
        self._layout = replace(
            without_blobs(layout, blobs), target_bytes=MAX_INT64, target_rows=MAX_INT64
        )
        self._location = target.file_location(split.partition, split.bucket, target.file_names())
        self._writers: list[DataFileWriter] = []

    def groups(self) -> list[FileGroup]:
        """Return which files are replaced together; nothing is read or written."""
        return [
            FileGroup(
                sections=tuple(tuple((int(file),) for file in part) for part in run),
                level=0,
                one_file=True,
                same_rows=True,
            )
            for run in self._runs
        ]

    def run(self) -> CommitMessage:
        """Write the new files and return the commit message.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
        """
        try:
            after = [row for run in self._runs for row in self._rewrite(run)]
        except BaseException:
            for writer in self._writers:
                writer.abort()
            raise
        split = self._split
        before = np.concatenate([files for run in self._runs for files in run])
        return CommitMessage(
            partition=split.partition,
            bucket=split.bucket,
            total_buckets=split.total_buckets,
            compact_before=split.files.take(before),
            compact_after=entries_of(
                after,
                partition=split.partition,
                bucket=split.bucket,
                total_buckets=split.total_buckets,
            ),
        )

    def _rewrite(self, run: Sequence[Rows]) -> list[dict[str, object]]:
        split = self._split
        files = np.concatenate(list(run))
        groups = np.repeat(np.arange(len(run)), [len(part) for part in run])
        part = Splits.one(split.source.take(files + split.start))
        reader = SplitReader(
            unrestricted=True,
            as_stored=True,
            store=self._target.store,
            schema=self._target.schema,
            options=self._target.options,
            columns=tuple(field.name for field in self._layout.fields),
        )
        writer = DataFileWriter(self._location, self._layout)
        self._writers.append(writer)
        for batch in reader.read(DataSplit(replace(part.of, same_rows=groups), 0)):
            writer.write(pa.Table.from_batches([batch]))
        old = split.files.take(files)
        # the sequence numbers of the rows read, so that concurrent updates count as newer
        numbering = {
            "first_row_id": int(row_ranges(old)[0].min()),
            "min_sequence_number": int(numbers(old.table, "min_sequence_number").min()),
            "max_sequence_number": int(numbers(old.table, "max_sequence_number").max()),
        }
        return [{**row, **numbering} for row in writer.close()]
