"""Compaction of append tables: merge small files into larger ones.

| table | files that are merged | order of rows |
| --- | --- | --- |
| bucket-unaware | small files, and files with many deleted rows, packed by size | any |
| fixed buckets | files that are adjacent in write order | kept |

Rows deleted by deletion vectors are dropped, together with the vectors of replaced files: index
files that contain such vectors are rewritten with the remaining ones.

With row tracking, row ids and sequence numbers become columns of the new files.

Spec: append-table/overview; maintenance/configurations, `compaction.*`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.errors import undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import (
    BucketVectors,
    replaced_vectors,
)
from paimon_explore.maintenance.compaction.compaction_plan import FileGroup
from paimon_explore.maintenance.compaction.sort_compaction import RowOrder
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import MAX_INT64, TableOptions
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.table_layouts import append_layout, row_tracking_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_TRACKED = (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)
_MIN_FILES = 2
"""Minimum number of files that a full compaction merges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendBucket:
    """One bucket of an append table.

    Attributes:
        target: the table.
        split: the live files in any order, with their deletion vectors.
        index: the index files of the partition and bucket.
        has_buckets: whether the table has fixed buckets; otherwise it is bucket-unaware.
    """

    target: WriteTarget
    split: DataSplit
    index: IndexEntries
    has_buckets: bool


def pick_append(bucket: AppendBucket, *, full: bool) -> list[list[int]]:
    """Pick groups of files to merge: positions in the split, in the order of their rows."""
    files, options = bucket.split.files, bucket.target.options
    sizes = numbers(files.table, "file_size").tolist()
    oldest = numbers(files.table, "min_sequence_number")
    ordered = np.lexsort((row_ranges(files)[0], oldest)).tolist()
    target = target_file_bytes(options, has_primary_key=False)
    min_files = _MIN_FILES if full else options.value(opt.COMPACTION_MIN_FILE_NUM)
    with_deletions = _files_with_deletions(bucket, every=full or bucket.has_buckets)
    if bucket.has_buckets:
        if full:
            return _all_adjacent(ordered, sizes, target, with_deletions)
        return _first_adjacent(ordered, sizes, target, min_files)
    small = int(target * options.value(opt.COMPACTION_SMALL_FILE_RATIO))
    candidates = [i for i in ordered if sizes[i] < small or i in with_deletions]
    candidates.sort(key=lambda i: sizes[i])
    bins = _packed(candidates, sizes, options, min_files)
    packed = {i for part in bins for i in part}
    bins += [[i] for i in candidates if i in with_deletions and i not in packed]
    return [sorted(part, key=ordered.index) for part in bins]


def _files_with_deletions(bucket: AppendBucket, *, every: bool) -> frozenset[int]:
    """Return the files with deleted rows: all of them, or those above the delete ratio."""
    names = [str(name) for name in bucket.split.files.table.column("file_name").to_pylist()]
    rows = numbers(bucket.split.files.table, "row_count").tolist()
    share = bucket.target.options.value(opt.COMPACTION_DELETE_RATIO_THRESHOLD)
    vectors = bucket.split.deletion_files
    found = set()
    for i, name in enumerate(names):
        vector = vectors.get(name)
        if vector is None:
            continue
        count = vector.cardinality
        if every or (count is not None and count > rows[i] * share):
            found.add(i)
    return frozenset(found)


def _packed(
    files: Sequence[int], sizes: Sequence[int], options: TableOptions, min_files: int
) -> list[list[int]]:
    """Pack files into bins of about twice the target size; the last bin needs `min_files`."""
    cost = options.value(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    bin_size = 2 * target_file_bytes(options, has_primary_key=False)
    bins: list[list[int]] = []
    current: list[int] = []
    weight = 0
    for i in files:
        current.append(i)
        weight += sizes[i] + cost
        if len(current) > 1 and weight >= bin_size:
            bins.append(current)
            current, weight = [], 0
    if len(current) >= min_files:
        bins.append(current)
    return bins


def _all_adjacent(
    ordered: Sequence[int], sizes: Sequence[int], target: int, with_deletions: frozenset[int]
) -> list[list[int]]:
    """Return all files after the leading large ones, if most are small or have deleted rows."""
    rest = list(ordered)
    while rest and sizes[rest[0]] >= target and rest[0] not in with_deletions:
        rest.pop(0)
    small = sum(sizes[i] < target for i in rest)
    is_worthwhile = len(rest) >= _MIN_FILES and small > len(rest) - small
    return [rest] if is_worthwhile or with_deletions.intersection(rest) else []


def _first_adjacent(
    ordered: Sequence[int], sizes: Sequence[int], target: int, min_files: int
) -> list[list[int]]:
    """Return the first `min_files` adjacent files below the target size."""
    current: list[int] = []
    for i in ordered:
        current.append(i)
        if len(current) >= min_files:
            return [current]
        if sum(sizes[j] for j in current) >= target:
            current.pop(0)
    return []


class AppendCompaction:
    """Rewrites files of one bucket.

    Args:
        bucket: the bucket.
        groups: groups of files that are merged.
        order: sort order of the rows of a group; None to keep their order.
        level: level of the new files.
        overwrites: whether the result is committed as an overwrite instead of a compaction.
    """

    def __init__(
        self,
        bucket: AppendBucket,
        groups: Sequence[Sequence[int]],
        *,
        order: RowOrder | None = None,
        level: int = 0,
        overwrites: bool = False,
    ) -> None:
        self._bucket = bucket
        self._groups = groups
        self._order = order
        self._level = level
        self._overwrites = overwrites
        target = bucket.target
        self._vectors = BucketVectors(target, bucket.split)
        self._names = target.file_names()
        self._location = target.file_location(
            bucket.split.partition, bucket.split.bucket, self._names
        )
        self._writers: list[DataFileWriter] = []

    def groups(self) -> list[FileGroup]:
        """Return which files are replaced together; nothing is read or written."""
        return [
            FileGroup(sections=tuple(((file,),) for file in group), level=self._level)
            for group in self._groups
        ]

    def run(self) -> CommitMessage:
        """Write the new files and return the commit message.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
        """
        with undo_on_error(self.abort):
            return self._run()

    def abort(self) -> None:
        """Delete all new files."""
        for writer in self._writers:
            writer.abort()
        self._vectors.abort()

    def _run(self) -> CommitMessage:
        split = self._bucket.split
        before = [i for group in self._groups for i in group]
        after = [row for group in self._groups for row in self._rewrite(group)]
        removed, new = self._changed_index(before)
        replaced = split.files.take(np.array(before, np.int64))
        added = entries_of(after, **split.bucket_fields)
        if self._overwrites:
            return CommitMessage(
                **split.bucket_fields,
                deleted_files=replaced,
                new_files=added,
                new_index_files=new,
                deleted_index_files=removed,
            )
        return CommitMessage(
            **split.bucket_fields,
            compact_before=replaced,
            compact_after=added,
            compact_new_index_files=new,
            compact_deleted_index_files=removed,
        )

    @property
    def _source(self) -> FileSource:
        return FileSource.COMPACT if self._order is None else FileSource.APPEND

    def _rewrite(self, group: Sequence[int]) -> list[FileRow]:
        target, split = self._bucket.target, self._bucket.split
        tracked = target.options.value(opt.ROW_TRACKING_ENABLED)
        layout = (
            row_tracking_layout(target.schema, target.options)
            if tracked
            else append_layout(target.schema, target.options, source=self._source)
        )
        layout = replace(layout, target_rows=MAX_INT64, level=self._level)
        sequences = numbers(split.files.table, "min_sequence_number")[list(group)]
        first = int(sequences.min()) if self._order is None else 0
        writer = DataFileWriter(self._location, layout, first_sequence=first)
        self._writers.append(writer)
        reader = SplitReader(
            unrestricted=True,
            as_stored=True,
            target=target,
            columns=target.schema.row_type.names,
            system_columns=_TRACKED if tracked else (),
        )
        rows = np.array(group, np.int64) + split.start
        part = Splits.one(split.source.take(rows))
        batches = reader.read(part)
        if self._order is not None:
            batches = self._order.sorted_batches(batches)
        for batch in batches:
            writer.write(pa.Table.from_batches([batch]))
        return writer.close()

    def _changed_index(self, before: Sequence[int]) -> tuple[IndexEntries, IndexEntries]:
        """Return removed and new index files for replaced data files."""
        names = [str(n) for n in self._bucket.split.files.table.column("file_name").to_pylist()]
        replaced = {names[i] for i in before}
        vectors = self._bucket.index.of_type(DELETION_VECTORS_INDEX)
        if self._bucket.has_buckets:
            self._vectors.remove(before)
            new = self._vectors.write()
            return replaced_vectors(self._bucket.index, new), new
        is_affected: list[bool] = []
        kept: list[str] = []
        for row in vectors.rows():
            ranges = row["dv_ranges"]
            names = [str(part["data_file"]) for part in ranges] if isinstance(ranges, list) else []
            is_affected.append(not replaced.isdisjoint(names))
            if is_affected[-1]:
                kept.extend(name for name in names if name not in replaced)
        removed = vectors.filter(np.array(is_affected, np.bool_))
        if not kept:
            return removed, IndexEntries.empty()
        return removed, self._vectors.write_index([(name, self._vector(name)) for name in kept])

    def _vector(self, name: str) -> DeletionVector:
        found = self._bucket.split.deletion_files[name]
        return load_vector(self._bucket.target.store.file_io, found)
