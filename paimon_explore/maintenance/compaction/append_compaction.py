"""Small files of a table without primary key, put together.

| table | which files | order of rows |
| --- | --- | --- |
| without buckets | small ones, and those with many deleted rows, packed by size | any |
| with buckets | neighbours in the order of writing | kept |

Rows that a deletion vector deletes are left out, and the vectors of replaced files go: the index
files that hold them are written anew with the vectors that stay.

With row tracking, ids and sequence numbers of the rows become columns of the new files.

Spec: append-table/overview; maintenance/configurations, `compaction.*`.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.deletion_vector import DeletionVector
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import (
    BucketVectors,
    replaced_vectors,
)
from paimon_explore.maintenance.compaction.sort_compaction import RowOrder
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileSource, ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import MAX_INT64, TableOptions
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader, load_vector
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.table_layouts import append_layout, tracked_layout
from paimon_explore.write.write_target import WriteTarget, entries_of

_TRACKED = (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)
_LEAST_FILES = 2
"""A full compaction puts so few files together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendBucket:
    """One bucket of an append table.

    Attributes:
        target: the table.
        split: its live files in any order, with their deletion vectors.
        index: the index files of its partition and bucket.
        has_buckets: whether the bucket is one, not the place for "no bucket".
    """

    target: WriteTarget
    split: DataSplit
    index: IndexEntries
    has_buckets: bool


def pick_append(bucket: AppendBucket, *, full: bool) -> list[list[int]]:
    """Which files are put together: positions in the split, in the order of their rows."""
    files, options = bucket.split.files, bucket.target.options
    sizes = numbers(files.table, "file_size").tolist()
    oldest = numbers(files.table, "min_sequence_number")
    ordered = np.lexsort((row_ranges(files)[0], oldest)).tolist()
    target = target_file_bytes(options, has_primary_key=False)
    least = _LEAST_FILES if full else options.value(opt.COMPACTION_MIN_FILE_NUM)
    marked = _marked(bucket, every=full or bucket.has_buckets)
    if bucket.has_buckets:
        if full:
            return _all_neighbours(ordered, sizes, target, marked)
        return _some_neighbours(ordered, sizes, target, least)
    small = int(target * options.value(opt.COMPACTION_SMALL_FILE_RATIO))
    chosen = [i for i in ordered if sizes[i] < small or i in marked]
    chosen.sort(key=lambda i: sizes[i])
    bins = _packed(chosen, sizes, options, least)
    packed = {i for part in bins for i in part}
    bins += [[i] for i in chosen if i in marked and i not in packed]
    return [sorted(part, key=ordered.index) for part in bins]


def _marked(bucket: AppendBucket, *, every: bool) -> frozenset[int]:
    """The files with deleted rows: all of them, or those where these are many."""
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
    chosen: Sequence[int], sizes: Sequence[int], options: TableOptions, least: int
) -> list[list[int]]:
    """Files by size in bins of about two full files; the last bin needs some files."""
    cost = options.value(opt.SOURCE_SPLIT_OPEN_FILE_COST)
    enough = 2 * target_file_bytes(options, has_primary_key=False)
    bins: list[list[int]] = []
    current: list[int] = []
    weight = 0
    for i in chosen:
        current.append(i)
        weight += sizes[i] + cost
        if len(current) > 1 and weight >= enough:
            bins.append(current)
            current, weight = [], 0
    if len(current) >= least:
        bins.append(current)
    return bins


def _all_neighbours(
    ordered: Sequence[int], sizes: Sequence[int], target: int, marked: frozenset[int]
) -> list[list[int]]:
    """All files behind the large ones at the begin, if small ones prevail or rows are deleted."""
    rest = list(ordered)
    while rest and sizes[rest[0]] >= target and rest[0] not in marked:
        rest.pop(0)
    small = sum(sizes[i] < target for i in rest)
    worth = len(rest) >= _LEAST_FILES and small > len(rest) - small
    return [rest] if worth or marked.intersection(rest) else []


def _some_neighbours(
    ordered: Sequence[int], sizes: Sequence[int], target: int, least: int
) -> list[list[int]]:
    """The first neighbours that are as many as it takes and together not too large."""
    current: list[int] = []
    for i in ordered:
        current.append(i)
        if len(current) >= least:
            return [current]
        if sum(sizes[j] for j in current) >= target:
            current.pop(0)
    return []


class AppendCompaction:
    """Rewrites files of one bucket.

    Args:
        bucket: the bucket.
        groups: files that become one run of files each.
        order: in which the rows of a group are written; None: as they come.
        level: of the new files.
        overwrites: the new rows are told as an overwrite instead of a compaction.
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
        self._place = target.file_location(bucket.split.partition, bucket.split.bucket, self._names)
        self._writers: list[DataFileWriter] = []

    def run(self) -> CommitMessage:
        """Write the new files.

        Raises:
            FormatError: a file breaks the format.
            MissingFileError: a file is gone.
            StorageError: a file cannot be read or written.
        """
        try:
            return self._run()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Remove every file that was begun."""
        for writer in self._writers:
            writer.abort()
        self._vectors.abort()

    def _run(self) -> CommitMessage:
        split = self._bucket.split
        before = [i for group in self._groups for i in group]
        after = [row for group in self._groups for row in self._rewrite(group)]
        gone, new = self._changed_index(before)
        replaced = split.files.take(np.array(before, np.int64))
        added = self._entries(after)
        if self._overwrites:
            return CommitMessage(
                partition=split.partition,
                bucket=split.bucket,
                total_buckets=split.total_buckets,
                deleted_files=replaced,
                new_files=added,
                new_index_files=new,
                deleted_index_files=gone,
            )
        return CommitMessage(
            partition=split.partition,
            bucket=split.bucket,
            total_buckets=split.total_buckets,
            compact_before=replaced,
            compact_after=added,
            compact_new_index_files=new,
            compact_deleted_index_files=gone,
        )

    def _entries(self, files: list[FileRow]) -> ManifestEntries:
        split = self._bucket.split
        if not files:
            return ManifestEntries.empty()
        return entries_of(
            files,
            partition=split.partition,
            bucket=split.bucket,
            total_buckets=split.total_buckets,
        )

    @property
    def _source(self) -> FileSource:
        return FileSource.COMPACT if self._order is None else FileSource.APPEND

    def _rewrite(self, group: Sequence[int]) -> list[FileRow]:
        target, split = self._bucket.target, self._bucket.split
        tracked = target.options.value(opt.ROW_TRACKING_ENABLED)
        layout = (
            tracked_layout(target.schema, target.options)
            if tracked
            else append_layout(target.schema, target.options, source=self._source)
        )
        layout = replace(layout, target_rows=MAX_INT64, level=self._level)
        sequences = numbers(split.files.table, "min_sequence_number")[list(group)]
        first = int(sequences.min()) if self._order is None else 0
        writer = DataFileWriter(self._place, layout, first_sequence=first)
        self._writers.append(writer)
        reader = SplitReader(
            store=target.store,
            schema=target.schema,
            options=target.options,
            columns=target.schema.row_type.names,
            system_columns=_TRACKED if tracked else (),
        )
        rows = np.array(group, np.int64) + split.start
        part = Splits.one(split.source.take(rows))
        batches = reader.read(part)
        if self._order is not None:
            batches = iter(self._order.sorted_batches(batches))
        for batch in batches:
            writer.write(pa.Table.from_batches([batch]))
        return writer.close()

    def _changed_index(self, before: Sequence[int]) -> tuple[IndexEntries, IndexEntries]:
        """Index files that go, and those that come, as files are replaced."""
        names = [str(n) for n in self._bucket.split.files.table.column("file_name").to_pylist()]
        replaced = {names[i] for i in before}
        vectors = self._bucket.index.of_type(DELETION_VECTORS_INDEX)
        if self._bucket.has_buckets:
            self._vectors.forget(before)
            new = self._vectors.write()
            return replaced_vectors(self._bucket.index, new), new
        touched: list[bool] = []
        kept: list[str] = []
        for row in vectors.rows():
            ranges = row["dv_ranges"]
            held = [str(part["data_file"]) for part in ranges] if isinstance(ranges, list) else []
            touched.append(not replaced.isdisjoint(held))
            if touched[-1]:
                kept.extend(name for name in held if name not in replaced)
        gone = vectors.filter(np.array(touched, np.bool_))
        if not kept:
            return gone, IndexEntries.empty()
        return gone, self._vectors.written([(name, self._vector(name)) for name in kept])

    def _vector(self, name: str) -> DeletionVector:
        found = self._bucket.split.deletion_files[name]
        return load_vector(self._bucket.target.store.file_io, found)
