"""A split: the files one reader takes, with all it needs to find and interpret them.

Splits cross process borders (Spark tasks), so they hold plain values and slices of Arrow tables.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import repeat
from typing import TypeAlias, overload

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python, offsets_from_sizes, take_rows
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.manifest_arrays import Mask, Rows, column, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionFile:
    """Where the deletion vector of one data file lies.

    Attributes:
        path: the index file.
        offset: byte of the vector's size field.
        length: as recorded; its meaning differs by layout, see `encoding.deletion_vector`.
        cardinality: number of deleted rows; None in files of old writers.
    """

    path: str
    offset: int
    length: int
    cardinality: int | None


Place: TypeAlias = Callable[[ManifestEntries], pa.StringArray]
"""Tells the absolute paths of files."""


@dataclass(frozen=True, slots=True)
class Known:
    """Paths that are known already, of the very files that are asked for."""

    paths: pa.StringArray

    def __call__(self, entries: ManifestEntries) -> pa.StringArray:
        """The paths."""
        del entries
        return self.paths


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedFiles:
    """Files with where they lie.

    Attributes:
        entries: n files.
        place: tells their paths, which are made when they are asked for first.
        deletion_files: by data file name, for the files that have a deletion vector.
        snapshot_id: the snapshot they were planned at; None for files of several snapshots.
        branch: the branch whose schemas the files' schema ids name.
    """

    entries: ManifestEntries
    place: Place
    deletion_files: Mapping[str, DeletionFile]
    snapshot_id: int | None
    branch: str = MAIN_BRANCH

    @cached_property
    def paths(self) -> pa.StringArray:
        """The n absolute paths."""
        return self.place(self.entries)

    def take(self, rows: Rows) -> "PlacedFiles":
        """The files of these row numbers, in this order."""
        if np.array_equal(rows, np.arange(len(self.entries))):
            return replace(self, entries=self.entries.combine_chunks())
        place = self.place
        if isinstance(place, Known) or "paths" in vars(self):
            place = Known(take_rows(self.paths, rows))  # type: ignore[arg-type]  # in stubs
        return replace(self, entries=self.entries.take(rows), place=place)


@dataclass(frozen=True, kw_only=True, eq=False)
class Splits(Sequence["DataSplit"]):
    """Splits as columns: the n files of k splits in a row. A split is made when it is looked at.

    Plans have splits by the hundred thousand, of which most are only counted or handed on.

    Attributes:
        files: the files in any order.
        order: their row numbers in the order of the splits, as they have to be read.
        bounds: where each split begins in that order, and n: k + 1 numbers.
        raw: k values, whether the files' rows are the table's rows, so that no merge is needed.
        same_rows: n numbers; files of a split with the same number hold different columns of the
            same rows (data evolution). None where every file holds rows of its own.
    """

    files: PlacedFiles
    order: Rows
    bounds: Rows
    raw: Mask
    same_rows: Rows | None = None

    @classmethod
    def one(cls, files: PlacedFiles, *, raw: bool = True) -> "DataSplit":
        """A split of all files, in their order."""
        count = len(files.entries)
        bounds = np.array([0, count], np.int64)
        of = cls(files=files, order=np.arange(count), bounds=bounds, raw=np.array([raw], np.bool_))
        return DataSplit(of, 0)

    @cached_property
    def source(self) -> PlacedFiles:
        """The files in the order of the splits."""
        return self.files.take(self.order)

    @cached_property
    def ends(self) -> "memoryview[int]":
        """`bounds` for quick looks at single ones."""
        return memoryview(self.bounds.data).cast("B").cast("q")

    @cached_property
    def row_counts(self) -> "memoryview[int]":
        """Physical rows of each split."""
        rows = numbers(self.files.entries.table, "row_count")[self.order]
        counts = np.diff(offsets_from_sizes(rows)[self.bounds])
        return memoryview(counts.data).cast("B").cast("q")

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

    Never changed once made. It is not declared frozen because a look at a plan makes one per
    bucket, and a frozen one takes three times as long to make.

    Attributes:
        of: the splits that this is one of.
        number: its place among them.
    """

    of: Splits
    number: int

    @property
    def source(self) -> PlacedFiles:
        """The files of all splits in a row, these ones among them."""
        return self.of.source

    @property
    def start(self) -> int:
        """Number of the first file in `source`; they are ordered as they have to be read."""
        return self.of.ends[self.number]

    @property
    def count(self) -> int:
        """How many files, at least 1."""
        return self.of.ends[self.number + 1] - self.of.ends[self.number]

    @property
    def raw_convertible(self) -> bool:
        """Whether the files' rows are the table's rows; no merge is needed."""
        return bool(self.of.raw[self.number])

    @property
    def same_rows(self) -> tuple[int, ...]:
        """Files with the same number hold different columns of the same rows (data evolution).

        Empty where every file holds rows of its own.
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
        found: bytes = self._value("partition")  # type: ignore[assignment]  # of the frame's schema
        return found

    @property
    def bucket(self) -> int:
        """The bucket; 0 in tables without buckets."""
        found: int = self._value("bucket")  # type: ignore[assignment]  # of the frame's schema
        return found

    @property
    def total_buckets(self) -> int:
        """Bucket count the files were written under; -1 dynamic or none, -2 postponed."""
        found: int = self._value("total_buckets")  # type: ignore[assignment]  # of the frame's schema
        return found

    @property
    def deletion_files(self) -> Mapping[str, DeletionFile]:
        """By data file name, for those of the files that have a deletion vector."""
        known = self.of.files.deletion_files
        if not known:
            return {}
        names = map(str, as_python(column(self.files.table, "file_name")))
        return {name: known[name] for name in names if name in known}

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return self.of.row_counts[self.number]

    def only(self, rows: Rows) -> "DataSplit":
        """Some of the files, at least one, as a split of their own."""
        part = Splits.one(self.source.take(rows + self.start), raw=self.raw_convertible)
        shared = self.of.same_rows
        if shared is None:
            return part
        return DataSplit(replace(part.of, same_rows=shared[self._part][rows]), 0)

    def file(self, row: int) -> "DataSplit":
        """One of the files as a split of its own, for files whose rows need no other file."""
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
        """Pickle this part alone, not the whole frame."""
        source = self.source
        part = replace(
            source,
            entries=source.entries.take(np.arange(len(source.entries))[self._part]),
            place=Known(take_rows(source.paths, np.arange(len(source.paths))[self._part])),  # type: ignore[arg-type]  # in stubs
            deletion_files=dict(self.deletion_files),
        )
        return (_rebuilt, (part, bool(self.raw_convertible), self.same_rows))


def _rebuilt(
    files: PlacedFiles,
    raw: bool,  # noqa: FBT001 - pickle passes by place
    same_rows: tuple[int, ...],
) -> DataSplit:
    split = Splits.one(files, raw=raw)
    if same_rows:
        return DataSplit(replace(split.of, same_rows=np.array(same_rows, np.int64)), 0)
    return split


@dataclass(frozen=True, slots=True, kw_only=True)
class LayeredSplit:
    """Buckets of several partitions, laid over each other by key (chain tables).

    Attributes:
        layers: the buckets' files, oldest partition first; each is merged by itself, then a key's
            row of a later layer counts as written later.
        partition: partition row that all resulting rows have.
    """

    layers: tuple[DataSplit, ...]
    partition: bytes

    @property
    def snapshot_id(self) -> int | None:
        """None: the layers are of several branches."""
        return None

    @property
    def files(self) -> ManifestEntries:
        """The files of all layers."""
        return ManifestEntries.concat([layer.files for layer in self.layers])

    @property
    def raw_convertible(self) -> bool:
        """False: layers are always merged."""
        return False

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return sum(layer.row_count for layer in self.layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneSplit:
    """Files that an overwrite removed: their merged rows are told as taken back.

    Attributes:
        of: the removed files of a bucket.
    """

    of: DataSplit

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
    def raw_convertible(self) -> bool:
        """False: the rows are merged."""
        return False

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        return self.of.row_count


PlainSplit: TypeAlias = DataSplit | LayeredSplit
"""Of the rows of one state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSplit:
    """Files of two states of the same buckets, to be read as the rows that differ.

    Attributes:
        before: splits of the old state.
        after: splits of the new state.
        keys: names of the columns by which rows are compared; none to compare whole rows, of which
            a state may hold several that are equal.
        base: the snapshot of the old state; None for an empty table.
        snapshot_id: the snapshot of the new state.
    """

    before: tuple[PlainSplit, ...]
    after: tuple[PlainSplit, ...]
    keys: tuple[str, ...]
    base: Snapshot | None
    snapshot_id: int | None

    @property
    def partition(self) -> bytes:
        """The partition row of one of the splits; there may be others where keys may move."""
        return (*self.before, *self.after)[0].partition

    @property
    def files(self) -> ManifestEntries:
        """The files of both states."""
        return ManifestEntries.concat([split.files for split in (*self.before, *self.after)])

    @property
    def raw_convertible(self) -> bool:
        """False: the rows are compared."""
        return False

    @property
    def row_count(self) -> int:
        """Physical rows of the files of both states."""
        return sum(split.row_count for split in (*self.before, *self.after))


Split: TypeAlias = PlainSplit | GoneSplit | DifferenceSplit
"""What one reader takes."""
