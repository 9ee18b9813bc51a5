"""Compaction of tables with data evolution: merge the column files of row id ranges.

All files of a row id range are merged into one file with all columns, and adjacent ranges without
a gap into one range. Row ids do not change, because they are derived from the first row id of the
file; indexes over row ids stay valid. Blob files are not rewritten: they refer to row ids. Vector
files are merged like the others, because Java refuses vector files with gaps between their row ids.
It also refuses blob files of some of the rows of a range only: ranges with blob files of a column,
and ranges before the column was added or without its values, do not become one.

Deleted rows keep their row ids, too: they are written again, and the deletion vectors of the old
files become one of the new file.

Which files become one is decided as by Java: ranges are added until their files, each counted with
at least `source.split.open-file-cost`, exceed the target size; a larger range stays alone.

Spec: append-table/data-evolution. Seen in: golden java200/data_evolution.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import (
    BucketVectors,
    replaced_vectors,
)
from paimon_explore.maintenance.compaction.compaction_plan import FileGroup
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.deletion_vector_filter import load_vector, positions
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import is_blob_file, row_ranges, same_rows
from paimon_explore.write.blob_files import blob_fields, without_blobs
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_MIN_FILES = 2


@dataclass(frozen=True, slots=True)
class RowIdRange:
    """A range of row ids and its files.

    Attributes:
        files: positions of the files in the bucket.
        first: the first row id.
        after: the row id after the last one.
        weight: total size of the files in bytes, with a minimum for each.
        beside: the ids of the columns whose values stay in other files.
    """

    files: Rows
    first: int
    after: int
    weight: int
    beside: frozenset[int]


def pick_data_evolution(target: WriteTarget, split: DataSplit, *, full: bool) -> list[list[Rows]]:
    """Pick the row id ranges to merge.

    Returns:
        Lists of adjacent ranges that each become one file; a range is the positions of its files.
    """
    min_files = _MIN_FILES if full else target.options.value(opt.COMPACTION_MIN_FILE_NUM)
    names = [str(name) for name in split.files.table.column("file_name").to_pylist()]
    rows = np.array([i for i, name in enumerate(names) if not is_blob_file(name)], np.int64)
    runs = adjacent_ranges(target, split, rows)
    picked = [run for run in runs if sum(len(part.files) for part in run) >= min_files]
    return [[part.files for part in run] for run in picked]


def adjacent_ranges(target: WriteTarget, split: DataSplit, files: Rows) -> list[list[RowIdRange]]:
    """Return the row id ranges of files, as lists of adjacent ranges that become one file.

    Args:
        target: the table.
        split: the files of a partition.
        files: positions of the files to group.
    """
    max_size = target_file_bytes(target.options, has_primary_key=False)
    min_weight = target.options.value(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    runs: list[list[RowIdRange]] = []
    for part in _ranges(target, split, files, min_weight):
        last = runs[-1] if runs else []
        weight = sum(before.weight for before in last)
        follows = bool(last) and (last[-1].after, last[-1].beside) == (part.first, part.beside)
        if follows and max(weight, part.weight) <= max_size:
            last.append(part)
        else:
            runs.append([part])
    return runs


def _ranges(target: WriteTarget, split: DataSplit, rows: Rows, min_weight: int) -> list[RowIdRange]:
    """Return the row id ranges of some files, sorted by row id.

    Args:
        target: the table.
        split: the files of a partition.
        rows: positions of the files.
        min_weight: number of bytes that a file counts at least.
    """
    files = split.files.take(rows)
    first, after = row_ranges(files)
    weights = np.maximum(numbers(files.table, "file_size"), min_weight)
    groups = [group for group in same_rows(files) if bool((first[group] >= 0).all())]
    groups.sort(key=lambda group: int(first[group].min()))
    starts = np.array([first[group].min() for group in groups], np.int64)
    beside = _columns_beside(target, split, rows, starts)
    return [
        RowIdRange(
            rows[group], int(start), int(after[group].max()), int(weights[group].sum()), columns
        )
        for group, start, columns in zip(groups, starts, beside, strict=True)
    ]


def _columns_beside(
    target: WriteTarget, split: DataSplit, rows: Rows, starts: Rows
) -> list[frozenset[int]]:
    """Return, per row id range, the ids of the columns in files that are not rewritten.

    Args:
        target: the table.
        split: the files of a partition.
        rows: positions of the files that are rewritten.
        starts: the first row id of each range, ascending.
    """
    found: list[set[int]] = [set() for _ in range(len(starts))]
    kept = split.files.take(np.setdiff1d(np.arange(split.count), rows))
    places = np.searchsorted(starts, row_ranges(kept)[0], "right") - 1
    columns = kept.table.select(["schema_id", "write_cols"]).to_pylist()
    schemas = {i: target.store.schemas.load(i) for i in {row["schema_id"] for row in columns}}
    for place, row in zip(places.tolist(), columns, strict=True):
        fields = (schemas[row["schema_id"]].field(name) for name in row["write_cols"] or ())
        if place >= 0:
            found[place].update(field.id for field in fields if field is not None)
    return [frozenset(ids) for ids in found]


class DataEvolutionCompaction:
    """Rewrites files of one partition.

    Args:
        target: the table.
        split: all live files of the partition.
        runs: the ranges that become one file each, see `pick_data_evolution`.
        index: the index files of the partition.
    """

    def __init__(
        self,
        target: WriteTarget,
        split: DataSplit,
        runs: Sequence[Sequence[Rows]],
        index: IndexEntries,
    ) -> None:
        self._index = index
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
        split = self._split
        vectors = BucketVectors(self._target, split)
        try:
            written = [self._rewrite(run) for run in self._runs]
            new_index = self._moved_vectors(vectors, written)
        except BaseException:
            for writer in self._writers:
                writer.abort()
            vectors.abort()
            raise
        before = np.concatenate([files for run in self._runs for files in run])
        return CommitMessage(
            **split.bucket_fields,
            compact_before=split.files.take(before),
            compact_after=entries_of(
                [row for rows in written for row in rows], **split.bucket_fields
            ),
            compact_new_index_files=new_index,
            compact_deleted_index_files=replaced_vectors(self._index, new_index),
        )

    def _moved_vectors(
        self, vectors: BucketVectors, written: Sequence[Sequence[Mapping[str, object]]]
    ) -> IndexEntries:
        """Write the deletion vectors of the new files, and those of the files that stay.

        Args:
            vectors: writes the index file.
            written: manifest entries of the one new file of each run.
        """
        split = self._split
        names = [str(name) for name in split.files.table.column("file_name").to_pylist()]
        first = row_ranges(split.files)[0]
        old = {
            name: load_vector(self._target.store.file_io, found)
            for name in names
            if (found := split.deletion_files.get(name)) is not None
        }
        moved: list[tuple[str, DeletionVector]] = []
        for run, rows in zip(self._runs, written, strict=True):
            files = np.concatenate(list(run)).tolist()
            start = min(int(first[file]) for file in files)
            deleted = BitMap64()
            for file in files:
                vector = old.pop(names[file], None)
                if vector is not None:
                    shift = int(first[file]) - start
                    deleted |= BitMap64((positions(vector) + shift).tolist())
            if deleted:
                moved.append((str(rows[0]["file_name"]), deleted))
        return vectors.write_index([*old.items(), *moved]) if moved else IndexEntries.empty()

    def _rewrite(self, run: Sequence[Rows]) -> list[dict[str, object]]:
        split = self._split
        files = np.concatenate(list(run))
        groups = np.repeat(np.arange(len(run)), [len(part) for part in run])
        source = replace(split.source.take(files + split.start), deletion_files={})
        part = Splits.one(source)
        reader = SplitReader(
            unrestricted=True,
            as_stored=True,
            target=self._target,
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
