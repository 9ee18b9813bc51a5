"""Splits: the files that one reader reads, with all it needs to locate and decode them.

Splits are pickled (Spark tasks), so they consist of plain values and slices of Arrow tables.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python, offsets_from_sizes, take_rows
from paimon_explore.frozen_dataclass import cached_property, dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.manifest_arrays import Mask, Rows, column, numbers
from paimon_explore.scan.splits.row_id_ranges import row_ranges

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

    from paimon_explore.metadata.commit_message import BucketFields


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionFile:
    """The location of the deletion vector of one data file.

    Attributes:
        path: the index file.
        offset: byte offset of the vector's size field.
        length: as recorded; its meaning depends on the layout, see `encoding.deletion_vector`.
        cardinality: number of deleted rows; None if an old writer did not record it.
    """

    path: str
    offset: int
    length: int
    cardinality: int | None


DeletionFiles: TypeAlias = Mapping[tuple[bytes, int], Mapping[str, DeletionFile]]
"""By partition and bucket, then by data file name. Names are only unique within a bucket: those of
tables that Java has migrated are those of Hive."""


def vectors_of(entries: ManifestEntries, found: DeletionFiles) -> "list[DeletionFile | None]":
    """Return the deletion vector of each file; None for files that have none."""
    if not found:
        return [None] * len(entries)
    partitions, buckets, names = (
        as_python(column(entries.table, name)) for name in ("partition", "bucket", "file_name")
    )
    own = (found.get(bucket, {}) for bucket in zip(partitions, buckets, strict=True))  # type: ignore[arg-type] # bytes, int
    return [vectors.get(str(name)) for vectors, name in zip(own, names, strict=True)]


PathsOf: TypeAlias = Callable[[ManifestEntries], pa.StringArray]
"""Returns the absolute paths of files."""


@dataclass(frozen=True, slots=True)
class KnownPaths:
    """Precomputed paths of exactly the files that they are requested for."""

    paths: pa.StringArray

    def __call__(self, entries: ManifestEntries) -> pa.StringArray:
        """The paths."""
        del entries
        return self.paths


@dataclass(frozen=True, kw_only=True, eq=False)
class LocatedFiles:
    """Files with their paths and deletion vectors.

    Attributes:
        entries: n files.
        paths_of: computes their paths, on first access.
        deletion_files: of the files that have a deletion vector.
        snapshot_id: the snapshot they were planned at; None for files of several snapshots.
        branch: the branch whose schemas the files' schema ids name.
        row_ids: the only rows to read, found by global indexes; None for all.
        positions: the only rows to read by file name, found by primary-key indexes; files that are
            not listed are read as a whole. None for all rows.
    """

    entries: ManifestEntries
    paths_of: PathsOf
    deletion_files: DeletionFiles
    snapshot_id: int | None
    branch: str = MAIN_BRANCH
    row_ids: "BitMap64 | None" = None
    positions: "Mapping[str, BitMap] | None" = None

    @cached_property
    def paths(self) -> pa.StringArray:
        """The n absolute paths."""
        return self.paths_of(self.entries)

    @cached_property
    def vectors(self) -> "Sequence[DeletionFile | None]":
        """The n deletion vectors; None for files that have none."""
        return vectors_of(self.entries, self.deletion_files)

    def take(self, rows: Rows) -> "LocatedFiles":
        """The files at these row numbers, in this order."""
        if np.array_equal(rows, np.arange(len(self.entries))):
            return replace(self, entries=self.entries.combine_chunks())
        paths_of = self.paths_of
        if isinstance(paths_of, KnownPaths) or "paths" in vars(self):
            paths_of = KnownPaths(take_rows(self.paths, rows))  # type: ignore[arg-type]  # in stubs
        return replace(self, entries=self.entries.take(rows), paths_of=paths_of)


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits(Sequence["DataSplit"]):
    """The k splits of a plan in columnar form, over n files.

    A `DataSplit` is created on access.

    Plans may have hundreds of thousands of splits, most of which are only counted or passed on.

    Attributes:
        files: the files in any order.
        order: their row numbers in split order, as they have to be read.
        bounds: the start of each split in that order, then n: k + 1 numbers.
        raw: k values: whether the files' rows are the table's rows, so that no merge is needed.
        same_rows: n numbers; files of a split with the same number contain different columns of the
            same rows (data evolution). None if no files share rows.
    """

    files: LocatedFiles
    order: Rows
    bounds: Rows
    raw: Mask
    same_rows: Rows | None = None

    @classmethod
    def one(cls, files: LocatedFiles, *, raw: bool = True) -> "DataSplit":
        """One split of all files, in their order."""
        count = len(files.entries)
        bounds = np.array([0, count], np.int64)
        of = cls(files=files, order=np.arange(count), bounds=bounds, raw=np.array([raw], np.bool_))
        return DataSplit(of, 0)

    @classmethod
    def joined(cls, parts: Sequence["Splits"]) -> "Splits":
        """The splits of several plans, one plan after another.

        Args:
            parts: plans of files of one table and branch, without deletion vectors and row ids,
                that do not share rows; at least one.
        """
        first, *others = parts
        if not others:
            return first
        ends = offsets_from_sizes(np.array([len(part.order) for part in parts], np.int64))
        moved = list(zip(parts, ends.tolist(), strict=False))
        entries = pa.concat_tables([part.files.entries.table for part in parts])
        return cls(
            files=replace(first.files, entries=ManifestEntries(entries), snapshot_id=None),
            order=np.concatenate([part.order + start for part, start in moved]),
            bounds=np.append(
                np.concatenate([part.bounds[:-1] + start for part, start in moved]), ends[-1]
            ),
            raw=np.concatenate([part.raw for part in parts]),
        )

    @cached_property
    def source(self) -> LocatedFiles:
        """The files in the order of the splits."""
        return self.files.take(self.order)

    @cached_property
    def ends(self) -> "memoryview[int]":
        """`bounds` as a memoryview, for fast access to single values."""
        return memoryview(self.bounds.data).cast("B").cast("q")

    @cached_property
    def row_counts(self) -> "memoryview[int]":
        """Physical rows of each split."""
        return self._sums("row_count")

    @cached_property
    def file_bytes(self) -> "memoryview[int]":
        """Size of the data files of each split."""
        return self._sums("file_size")

    def _sums(self, name: str) -> "memoryview[int]":
        values = numbers(self.files.entries.table, name)[self.order]
        sums = np.diff(offsets_from_sizes(values)[self.bounds])
        return memoryview(sums.data).cast("B").cast("q")

    def __getstate__(self) -> dict[str, object]:
        """The fields without cached memoryviews, which cannot be pickled."""
        return {name: v for name, v in vars(self).items() if not isinstance(v, memoryview)}

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator["DataSplit"]:
        return map(DataSplit, repeat(self), range(len(self)))

    @overload
    def __getitem__(self, index: int) -> "DataSplit": ...
    @overload
    def __getitem__(self, index: slice) -> tuple["DataSplit", ...]: ...
    def __getitem__(self, index: int | slice) -> "DataSplit | tuple[DataSplit, ...]":
        """One split, or several of them."""
        numbers = range(len(self))[index]
        if isinstance(numbers, int):
            return DataSplit(self, numbers)
        return tuple(map(DataSplit, repeat(self), numbers))

    def __repr__(self) -> str:
        return f"<{len(self)} splits of {len(self.order)} files>"


@dataclass(slots=True, eq=False)
class DataSplit:
    """Files of one bucket that are read together.

    Immutable by convention: a frozen dataclass takes three times as long to create, and iterating
    over a plan creates one per bucket.

    Attributes:
        of: the splits that this is one of.
        number: its index among them.
    """

    of: Splits
    number: int

    @property
    def source(self) -> LocatedFiles:
        """The files of all splits in split order, including these."""
        return self.of.source

    @property
    def start(self) -> int:
        """Index of the first file in `source`; files are ordered as they have to be read."""
        return self.of.ends[self.number]

    @property
    def count(self) -> int:
        """Number of files, at least 1."""
        return self.of.ends[self.number + 1] - self.of.ends[self.number]

    @property
    def raw_convertible(self) -> bool:
        """Whether the files' rows are the table's rows; no merge is needed."""
        return bool(self.of.raw[self.number])

    @property
    def same_rows(self) -> tuple[int, ...]:
        """A number per file; equal numbers mark different columns of the same rows.

        Empty if no files share rows (tables without data evolution).
        """
        shared = self.of.same_rows
        return () if shared is None else tuple(shared[self._part].tolist())

    @property
    def files(self) -> ManifestEntries:
        """The files' entries."""
        return self.source.entries.slice(self.start, self.count)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files' absolute paths."""
        return tuple(map(str, as_python(self.source.paths.slice(self.start, self.count))))

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot the files were planned at."""
        return self.of.files.snapshot_id

    @property
    def branch(self) -> str:
        """The branch whose schemas the files' schema ids name."""
        return self.of.files.branch

    @property
    def partition(self) -> bytes:
        """The partition row as in the manifest, with its 4-byte arity."""
        found: bytes = self._value("partition")  # type: ignore[assignment]  # by the schema of manifest entries
        return found

    @property
    def bucket(self) -> int:
        """The bucket; 0 in tables without buckets."""
        found: int = self._value("bucket")  # type: ignore[assignment]  # by the schema of manifest entries
        return found

    @property
    def total_buckets(self) -> int:
        """Bucket count the files were written with; -1 for dynamic or no buckets, -2 postponed."""
        found: int = self._value("total_buckets")  # type: ignore[assignment]  # by the schema of manifest entries
        return found

    @property
    def bucket_fields(self) -> "BucketFields":
        """Partition, bucket and total number of buckets, as fields of messages and entries."""
        return {
            "partition": self.partition,
            "bucket": self.bucket,
            "total_buckets": self.total_buckets,
        }

    @property
    def deletion_files(self) -> Mapping[str, DeletionFile]:
        """Deletion vectors by data file name, for the files that have one."""
        if not self.of.files.deletion_files:
            return {}
        vectors = self.source.vectors[self._part]
        pairs = zip(self._names, vectors, strict=True)
        return {name: found for name, found in pairs if found is not None}

    @property
    def _names(self) -> Iterator[str]:
        return map(str, as_python(column(self.files.table, "file_name")))

    @property
    def row_count(self) -> int:
        """Physical rows of the files, including deleted and retracted ones."""
        return self.of.row_counts[self.number]

    @property
    def file_bytes(self) -> int:
        """Size of the data files."""
        return self.of.file_bytes[self.number]

    @property
    def _row_ids(self) -> "BitMap64 | None":
        """The only rows of the files to read; None for all."""
        found = self.of.files.row_ids
        if found is None:
            return None
        from pyroaring import BitMap64  # noqa: PLC0415 - there is a global index

        own = BitMap64()
        for start, end in zip(*(ends.tolist() for ends in row_ranges(self.files)), strict=True):
            own.add_range(start, end)
        return found & own

    def only(self, rows: Rows) -> "DataSplit":
        """A split of some of the files, at least one."""
        part = Splits.one(self.source.take(rows + self.start), raw=self.raw_convertible)
        shared = self.of.same_rows
        if shared is None:
            return part
        return DataSplit(replace(part.of, same_rows=shared[self._part][rows]), 0)

    def file(self, row: int) -> "DataSplit":
        """A split of one of the files, for files that are read independently of the others."""
        return self.only(np.array([row], np.int64))

    @property
    def _part(self) -> slice:
        return slice(self.start, self.start + self.count)

    def _value(self, name: str) -> object:
        """A column of the first file."""
        row = int(self.of.order[self.start])
        found: object = self.of.files.entries.table.column(name)[row].as_py()
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles only the files of this split, not the whole plan."""
        source, own = self.source, self.deletion_files
        known = source.positions
        part = replace(
            source,
            entries=source.entries.take(np.arange(len(source.entries))[self._part]),
            paths_of=KnownPaths(take_rows(source.paths, np.arange(len(source.paths))[self._part])),  # type: ignore[arg-type]  # in stubs
            deletion_files={(self.partition, self.bucket): own} if own else {},
            row_ids=self._row_ids,
            positions=None
            if known is None
            else {name: known[name] for name in self._names if name in known},
        )
        return (_rebuilt, (part, bool(self.raw_convertible), self.same_rows))


def _rebuilt(
    files: LocatedFiles,
    raw: bool,  # noqa: FBT001 - pickle passes positional arguments
    same_rows: tuple[int, ...],
) -> DataSplit:
    split = Splits.one(files, raw=raw)
    if same_rows:
        return DataSplit(replace(split.of, same_rows=np.array(same_rows, np.int64)), 0)
    return split


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketRange:
    """The buckets from `first` to below `end`, of `count` buckets."""

    first: int
    end: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredSplit:
    """Files that are merged by key in layers: each layer first, later layers count as newer.

    Attributes:
        layers: files of the same bucket in several partitions (chain tables), oldest partition
            first; or real buckets of a partition, then its postponed files.
        partition: the partition row of all resulting rows.
        buckets: those to which the wanted postponed records belong; None for all records. Splits of
            the other buckets have the same postponed files.
    """

    layers: tuple[DataSplit, ...]
    partition: bytes
    buckets: BucketRange | None = None
    raw_convertible = False

    @property
    def snapshot_id(self) -> int | None:
        """None: the layers are from several branches."""
        return None

    @property
    def files(self) -> ManifestEntries:
        """The files of all layers."""
        return ManifestEntries.concat([layer.files for layer in self.layers])

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return sum(layer.row_count for layer in self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetractedSplit:
    """Files that an overwrite removed; their merged rows are read as retractions (-D).

    Attributes:
        of: the removed files of a bucket.
    """

    of: DataSplit
    raw_convertible = False

    @property
    def snapshot_id(self) -> int | None:
        """The snapshot the files were planned at."""
        return self.of.snapshot_id

    @property
    def partition(self) -> bytes:
        """The partition row as in the manifest, with its 4-byte arity."""
        return self.of.partition

    @property
    def files(self) -> ManifestEntries:
        """The files' entries."""
        return self.of.files

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return self.of.row_count


PlainSplit: TypeAlias = DataSplit | LayeredSplit
"""Splits that read the rows of one snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSplit:
    """Files of the same buckets in two snapshots, read as the rows that differ.

    Attributes:
        before: splits of the old state.
        after: splits of the new state.
        keys: names of the columns by which rows are compared; empty to compare whole rows, which
            may occur several times.
        base: the snapshot of the old state; None for an empty table.
        snapshot_id: the snapshot of the new state.
    """

    before: tuple[PlainSplit, ...]
    after: tuple[PlainSplit, ...]
    keys: tuple[str, ...]
    base: Snapshot | None
    snapshot_id: int | None
    raw_convertible = False

    @property
    def partition(self) -> bytes:
        """The partition row of one of the splits; the others may have different ones."""
        return (*self.before, *self.after)[0].partition

    @property
    def files(self) -> ManifestEntries:
        """The files of both states."""
        return ManifestEntries.concat([split.files for split in (*self.before, *self.after)])

    @property
    def row_count(self) -> int:
        """Physical rows of the files of both states."""
        return sum(split.row_count for split in (*self.before, *self.after))


Split: TypeAlias = PlainSplit | RetractedSplit | DifferenceSplit
"""A unit of reading: one reader reads one split."""


def merged_row_count(split: Split) -> int | None:
    """The number of rows a split returns, from metadata alone; None if it is not known."""
    if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
        return None
    if not split.of.files.deletion_files:
        return split.row_count
    deleted = [found.cardinality for found in split.deletion_files.values()]
    known = [number for number in deleted if number is not None]
    return split.row_count - sum(known) if len(known) == len(deleted) else None
