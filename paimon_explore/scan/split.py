"""A split: the files one reader takes, with all it needs to find and interpret them.

Splits cross process borders (Spark tasks), so they hold plain values and slices of Arrow tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.encoding.buffers import as_python, ends_of, taken_rows
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.paths import MAIN_BRANCH
from paimon_explore.scan.frames import Rows, column, numbers


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


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedFiles:
    """Files with where they lie; many splits are parts of one such frame.

    Attributes:
        entries: n files.
        paths: n absolute paths.
        deletion_files: by data file name, for the files that have a deletion vector.
        snapshot_id: the snapshot they were planned at; None for files of several snapshots.
        branch: the branch whose schemas the files' schema ids name.
    """

    entries: ManifestEntries
    paths: pa.StringArray
    deletion_files: Mapping[str, DeletionFile]
    snapshot_id: int | None
    branch: str = MAIN_BRANCH

    @cached_property
    def row_ends(self) -> list[int]:
        """Rows of the first 0 to n files: n + 1 numbers."""
        ends: list[int] = ends_of(numbers(self.entries.table, "row_count")).tolist()
        return ends

    def take(self, rows: Rows) -> "PlacedFiles":
        """The files of these row numbers, in this order."""
        if np.array_equal(rows, np.arange(len(self.entries))):
            return replace(self, entries=self.entries.in_one_piece())
        return replace(
            self,
            entries=self.entries.take(rows),
            paths=taken_rows(self.paths, rows),  # type: ignore[arg-type]  # in stubs
        )


@dataclass(slots=True, kw_only=True, eq=False)
class DataSplit:
    """Files of one bucket that are read together: a part of a frame, taken out when looked at.

    Never changed once made. It is not declared frozen because a plan makes one per bucket, and a
    frozen one takes three times as long to make.

    Attributes:
        source: the frame.
        start: number of the first file in it; the files are ordered as they have to be read.
        count: how many files, at least 1.
        raw_convertible: the files' rows are the table's rows; no merge is needed.
        same_rows: files with the same number hold different columns of the same rows (data
            evolution); empty where every file holds rows of its own.
    """

    source: PlacedFiles
    start: int
    count: int
    raw_convertible: bool
    same_rows: tuple[int, ...] = ()

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
        return self.source.snapshot_id

    @property
    def branch(self) -> str:
        """The branch whose schemas the files' schema ids name."""
        return self.source.branch

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
        known = self.source.deletion_files
        if not known:
            return {}
        names = map(str, as_python(column(self.files.table, "file_name")))
        return {name: known[name] for name in names if name in known}

    @property
    def row_count(self) -> int:
        """Physical rows of the files, deleted and retracted ones included."""
        ends = self.source.row_ends
        return ends[self.start + self.count] - ends[self.start]

    def file(self, row: int) -> "DataSplit":
        """One of the files as a split of its own, for files whose rows need no other file."""
        return replace(self, start=self.start + row, count=1, same_rows=())

    def _value(self, name: str) -> object:
        """A column of the first file."""
        found: object = self.source.entries.table.column(name)[self.start].as_py()
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle this part alone, not the whole frame."""
        rows = np.arange(self.start, self.start + self.count)
        part = replace(self.source.take(rows), deletion_files=dict(self.deletion_files))
        return (_rebuilt, (part, self.count, self.raw_convertible, self.same_rows))


def _rebuilt(
    source: PlacedFiles,
    count: int,
    raw_convertible: bool,  # noqa: FBT001 - pickle passes by place
    same_rows: tuple[int, ...],
) -> DataSplit:
    return DataSplit(
        source=source, start=0, count=count, raw_convertible=raw_convertible, same_rows=same_rows
    )


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


Split: TypeAlias = DataSplit | LayeredSplit
"""What one reader takes."""
