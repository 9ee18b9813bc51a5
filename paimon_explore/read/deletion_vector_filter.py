"""Filtering of rows by position: deletion vectors, which are read here, and file index results.

Both are bitmaps of physical positions, so they apply regardless of skipped parts of the file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Column, build_bool
from paimon_explore.encoding.data_file_reader import (
    OpenDataFile,
    PositionedBatch,
    Span,
    StoredColumn,
)
from paimon_explore.fileio.requests_ahead import read_part, requests_ahead
from paimon_explore.frozen_dataclass import dataclass

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

    from paimon_explore.encoding.deletion_vector import DeletionVector
    from paimon_explore.fileio.file_io import FileIO
    from paimon_explore.scan.splits.data_split import DeletionFile

Positions = npt.NDArray[np.int64]
FileRows = tuple[PositionedBatch, Positions | None]
"""A batch and its row positions; None if they are consecutive from the batch's first position."""


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Row positions to drop and to keep, ascending.

    Attributes:
        deleted: rows to drop.
        selected: the only rows to keep; None for all.
    """

    deleted: Positions
    selected: Positions | None = field(default=None)

    @classmethod
    def of(
        cls, deleted: "BitMap | BitMap64 | None", selection: "BitMap | BitMap64 | None"
    ) -> "RowFilter":
        """Creates a filter from bitmaps; None for no restriction."""
        dropped = np.zeros(0, np.int64) if deleted is None else positions(deleted)
        return cls(dropped, None if selection is None else positions(selection))

    def may_keep(self, span: Span) -> bool:
        """Whether any row of a span is kept."""
        end = span.first + span.rows
        if self.selected is not None and not len(_between(self.selected, span.first, end)):
            return False
        return len(_between(self.deleted, span.first, end)) < span.rows

    def within(self, span: Span) -> Positions:
        """The selected positions of a span, including deleted ones; needs `selected`.

        Raises:
            ValueError: `selected` is None.
        """
        if self.selected is None:
            raise ValueError("RowFilter.within needs selected positions.")
        return _between(self.selected, span.first, span.first + span.rows)

    def remaining(self, rows: Positions) -> Positions:
        """Those of the given ascending positions that are kept."""
        if not len(rows):
            return rows
        if self.selected is not None:
            rows = rows[_contained(rows, self.selected)]
        dropped = _between(self.deleted, int(rows[0]), int(rows[-1]) + 1) if len(rows) else rows
        return rows[~_contained(rows, dropped)] if len(dropped) else rows

    def kept(self, batch: PositionedBatch) -> FileRows:
        """Filters a batch; returns its rows, and their positions if they are not consecutive."""
        end = batch.first + batch.rows
        deleted = _between(self.deleted, batch.first, end)
        if self.selected is None:
            if not len(deleted):
                return batch, None
            keep = np.ones(batch.rows, dtype=np.bool_)
        else:
            selected = _between(self.selected, batch.first, end)
            if len(selected) == batch.rows and not len(deleted):
                return batch, None
            keep = np.zeros(batch.rows, dtype=np.bool_)
            keep[selected - batch.first] = True
        keep[deleted - batch.first] = False
        rows = np.flatnonzero(keep)
        mask = build_bool(keep)
        columns = tuple(_filtered(array, mask) for array in batch.columns)
        return (
            PositionedBatch(first=batch.first, rows=len(rows), columns=columns),
            rows + batch.first,
        )


def plain_rows(
    file: OpenDataFile,
    stored: Sequence[StoredColumn],
    spans: Sequence[int],
    rows: RowFilter,
    batch_rows: int,
) -> Iterator[FileRows]:
    """Reads the rows of some spans that are kept; batches are not empty."""
    if not spans:
        return
    for batch in file.batches(stored, spans, batch_rows):
        kept, found = rows.kept(batch)
        if kept.rows:
            yield kept, found


def _filtered(array: Column, mask: Column) -> Column:
    kept: Column = pc.call_function("filter", [array, mask])
    return kept


def _contained(rows: Positions, ascending: Positions) -> npt.NDArray[np.bool_]:
    """Whether each position is in `ascending`; both are ascending and without duplicates."""
    if not len(ascending):
        return np.zeros(len(rows), np.bool_)
    indices = np.minimum(np.searchsorted(ascending, rows), len(ascending) - 1)
    found: npt.NDArray[np.bool_] = ascending[indices] == rows
    return found


def _between(ascending: Positions, start: int, end: int) -> Positions:
    low, high = np.searchsorted(ascending, (start, end))
    return ascending[low:high]


def positions(bitmap: "BitMap | BitMap64") -> Positions:
    """The values of a bitmap, ascending."""
    packed = bitmap.to_array()
    kind = np.uint32 if packed.itemsize == 4 else np.uint64  # noqa: PLR2004 - bytes
    return np.frombuffer(packed, dtype=kind).astype(np.int64)


def load_vector(file_io: "FileIO", found: "DeletionFile") -> "DeletionVector":
    """Reads a deletion vector from its index file.

    Raises:
        CorruptFileError: the vector breaks its format.
        MissingFileError: the index file does not exist.
    """
    from paimon_explore.encoding.deletion_vector import decode_vector  # noqa: PLC0415 - there is one

    path, offset, size = vector_part(found)
    record = read_part(file_io, path, offset, size)
    return decode_vector(record, found.length, path=found.path, cardinality=found.cardinality)


def load_vectors(file_io: "FileIO", found: "Sequence[DeletionFile]") -> "list[DeletionVector]":
    """Reads deletion vectors as `load_vector` does, those of a store at the same time."""
    with requests_ahead(file_io, map(vector_part, found)):
        return [load_vector(file_io, one) for one in found]


def vector_part(found: "DeletionFile") -> tuple[str, int, int]:
    """Returns path, offset and size of a deletion vector with its frame in an index file."""
    from paimon_explore.encoding.deletion_vector import FRAME_BYTES  # noqa: PLC0415 - there is one

    return found.path, found.offset, found.length + FRAME_BYTES
