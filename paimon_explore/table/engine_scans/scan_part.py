"""Parts of a scan that workers of other engines read, each in its own process."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.small_files import read_split
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.requested_columns import projected_columns
from paimon_explore.scan.splits.data_split import DataSplit, Split, merged_row_count
from paimon_explore.store.expired import explain_missing_files

_IN_MEMORY = "memory:"
"""The scheme of tables in the memory of a process."""


class WholeScan(Protocol):
    """A scan that is not divided."""

    @property
    def schema(self) -> pa.Schema:
        """The columns."""

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRows:
    """How splits are read.

    Attributes:
        reader: reads splits into the selected columns.
        snapshot: the snapshot that is read.
        narrowed: the columns' types where fields of ROW columns were selected; else None.
    """

    reader: SplitReader
    snapshot: Snapshot | None
    narrowed: RowType | None

    def batches(self, split: Split, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Read the rows of a split in a schema."""
        with explain_missing_files(self.reader.target.store, self.snapshot):
            for batch in read_split(self.reader, split):
                columns = batch.columns
                if self.narrowed is not None:
                    whole = self.reader.target.schema.project(self.reader.columns)
                    columns = projected_columns(columns, whole, self.narrowed)
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ScanPart:
    """A part of the rows of a scan, which can be pickled and read by another process.

    `Scan.parts` makes it. A part is a split of the table, or the whole scan.

    Attributes:
        schema: the columns.
        split: the split; None for the whole scan.
        row_count: the number of rows, if it is known without reading them.
        file_bytes: the size of the data files; 0 if it is not known.
        is_shared: whether other processes can read the files: they are not in the memory of this
            process.
        source: how the split is read, or the scan.
    """

    schema: pa.Schema
    is_shared: bool
    split: Split | None
    row_count: int | None
    file_bytes: int
    source: SplitRows | WholeScan

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows as a stream of record batches.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile; raised while rows are read.

        >>> import paimon_explore as pe
        >>> parts = pe.demo().table("demo.orders").scan(["id"]).parts()
        >>> sum(batch.num_rows for part in parts for batch in part.to_batches())
        30
        """
        if self.split is None or not isinstance(self.source, SplitRows):
            return self.source.to_batches()  # type: ignore[union-attr]  # a scan has no split
        rows = self.source.batches(self.split, self.schema)
        return pa.RecordBatchReader.from_batches(self.schema, rows)

    @property
    def paths(self) -> tuple[str, ...]:
        """The absolute paths of the data files; empty if they are not known yet."""
        return self.split.paths if isinstance(self.split, DataSplit) else ()

    def divided(self) -> "tuple[ScanPart, ...]":
        """Divide the part into one for each file, where files can be read independently.

        >>> import paimon_explore as pe
        >>> parts = pe.demo().table("demo.orders").scan().parts()
        >>> len(parts), sum(len(part.divided()) for part in parts)
        (3, 15)
        """
        split = self.split
        if not isinstance(split, DataSplit) or not split.raw_convertible or split.same_rows:
            return (self,)
        files = range(split.count) if split.count > 1 else ()
        return tuple(_with_split(self, split.file(row)) for row in files) or (self,)

    def __repr__(self) -> str:
        """Rows and files."""
        rows = "an unknown number of" if self.row_count is None else str(self.row_count)
        return f"ScanPart of {rows} rows, {self.file_bytes} bytes of data files"


def split_part(source: SplitRows, split: Split, schema: pa.Schema) -> ScanPart:
    """Return the part of a scan that is a split."""
    part = _part(source, schema, source.reader.target.store.paths.root)
    return _with_split(part, split)


def whole_part(scan: WholeScan, root: str) -> ScanPart:
    """Return a whole scan as its only part.

    Args:
        scan: the scan.
        root: the folder of the table.
    """
    return _part(scan, scan.schema, root)


def _part(source: SplitRows | WholeScan, schema: pa.Schema, root: str) -> ScanPart:
    return ScanPart(
        schema=schema,
        is_shared=not root.startswith(_IN_MEMORY),
        split=None,
        row_count=None,
        file_bytes=0,
        source=source,
    )


def _with_split(part: ScanPart, split: Split) -> ScanPart:
    known = isinstance(part.source, SplitRows) and part.source.reader.predicate == TRUE
    if isinstance(split, DataSplit):
        size = split.file_bytes
    else:
        size = int(numbers(split.files.table, "file_size").sum())
    rows = merged_row_count(split) if known else None
    return replace(part, split=split, row_count=rows, file_bytes=size)


def shares(parts: Sequence[ScanPart], count: int) -> list[list[ScanPart]]:
    """Divide parts among workers, evenly by size; the same for all workers.

    Args:
        parts: the parts.
        count: number of workers. Parts are divided into files if there are fewer of them.

    Returns:
        The parts of each worker, in the order of the parts; some may have none.
    """
    if len(parts) < count:
        parts = [one for part in parts for one in part.divided()]
    found = even_shares([part.file_bytes for part in parts], count)
    return [[parts[at] for at in sorted(numbers)] for numbers in found]


def even_shares(sizes: Sequence[int], count: int) -> list[list[int]]:
    """Divide things among workers, evenly by size; return the numbers of the things of each."""
    found: list[list[int]] = [[] for _ in range(count)]
    loads = [(0, worker) for worker in range(count)]
    for at in sorted(range(len(sizes)), key=lambda at: (-sizes[at], at)):
        load, worker = heapq.heappop(loads)
        found[worker].append(at)
        heapq.heappush(loads, (load + max(sizes[at], 1), worker))
    return found
