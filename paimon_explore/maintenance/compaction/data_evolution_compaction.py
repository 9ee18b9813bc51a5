"""Compaction of tables with data evolution: the columns of rows brought together.

The files of one range of row ids become one file with all columns, and neighbouring ranges become
one range, as long as no row id is missing between them. Row ids stay what they were, because they
follow from the first one of the file; so indexes over row ids stay right too. Blob files stay as
they are: they lie along the row ids of whatever file has them.

Files of which rows are deleted stay as well: without the deleted rows the others would get other
ids.

Spec: append-table/data-evolution. Seen in: golden java200/data_evolution.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import row_ranges, same_rows
from paimon_explore.write.blob_files import blob_fields, without_blobs
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

SIDE_FILES = (".blob", ".vector.")
"""Parts of the names of files that hold single columns beside others."""
_LEAST_FILES = 2


@dataclass(frozen=True, slots=True)
class _Range:
    """Rows of which columns lie in some files.

    Attributes:
        files: their numbers in the bucket.
        first: row id.
        after: the row id behind the last.
        size: bytes of the files.
    """

    files: Rows
    first: int
    after: int
    size: int


def pick_evolved(target: WriteTarget, split: DataSplit, *, full: bool) -> list[list[Rows]]:
    """Which files are put together.

    Returns:
        Runs of ranges, each to become one file; a range is the numbers of its files.
    """
    enough = target_file_bytes(target.options, has_primary_key=False)
    least = _LEAST_FILES if full else target.options.value(opt.COMPACTION_MIN_FILE_NUM)
    runs: list[list[_Range]] = []
    for part in _ranges(split):
        last = runs[-1] if runs else []
        if last and last[-1].after == part.first and sum(r.size for r in last) < enough:
            last.append(part)
        else:
            runs.append([part])
    worth = [run for run in runs if sum(len(part.files) for part in run) >= least]
    return [[part.files for part in run] for run in worth]


def _ranges(split: DataSplit) -> list[_Range]:
    """The ranges of rows that may be rewritten, by row id."""
    names = [str(name) for name in split.files.table.column("file_name").to_pylist()]
    marked = split.deletion_files
    plain = [i for i, name in enumerate(names) if not any(mark in name for mark in SIDE_FILES)]
    chosen = np.array(plain, np.int64)
    files = split.files.take(chosen)
    first, after = row_ranges(files)
    sizes = numbers(files.table, "file_size")
    found = []
    for group in same_rows(files):
        known = bool((first[group] >= 0).all())
        if known and not any(names[chosen[i]] in marked for i in group):
            low, high = int(first[group].min()), int(after[group].max())
            found.append(_Range(chosen[group], low, high, int(sizes[group].sum())))
    return sorted(found, key=lambda part: part.first)


class EvolvedCompaction:
    """Rewrites files of one partition.

    Args:
        target: the table.
        split: all live files of the partition.
        runs: what becomes one file each, see `pick_evolved`.
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
        self._place = target.file_location(split.partition, split.bucket, target.file_names())
        self._writers: list[DataFileWriter] = []

    def run(self) -> CommitMessage:
        """Write the new files.

        Raises:
            FormatError: a file breaks the format.
            MissingFileError: a file is gone.
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
            store=self._target.store,
            schema=self._target.schema,
            options=self._target.options,
            columns=tuple(field.name for field in self._layout.fields),
        )
        writer = DataFileWriter(self._place, self._layout)
        self._writers.append(writer)
        for batch in reader.read(DataSplit(replace(part.of, same_rows=groups), 0)):
            writer.write(pa.Table.from_batches([batch]))
        old = split.files.take(files)
        # the numbers of the rows that were read: what others write meanwhile counts as newer
        numbered = {
            "first_row_id": int(row_ranges(old)[0].min()),
            "min_sequence_number": int(numbers(old.table, "min_sequence_number").min()),
            "max_sequence_number": int(numbers(old.table, "max_sequence_number").max()),
        }
        return [{**row, **numbered} for row in writer.close()]
