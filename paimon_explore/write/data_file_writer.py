"""Writer of the data files of one bucket: rolling, statistics, manifest entries.

A file is opened when its first row group is full or the writer is closed, so that many writers with
few rows do not keep files open. Aborting the writer deletes all its files. Files are invisible
until their manifest entries are committed.

Spec: concepts/spec/datafile; concepts/spec/manifest, data file meta.

Size of buffered rows, measured only when it matters.

Measuring the rows of a batch exactly takes as long as copying a small one, so that writers compare
an upper limit first.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Protocol

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, as_python, fixed_values, valid_mask
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.encoding.blob.blob_references import (
    REFERENCES_SUFFIX,
    encode_references,
    managed_uris,
)
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.fileio.file_io import FileIO, translate_stream_errors
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.write.column_statistics import (
    EMPTY_STATS,
    KEY_MODE,
    StatsCollector,
    StatsPlan,
)
from paimon_explore.write.file_indexes import FileIndexes
from paimon_explore.write.file_layout import FileLayout, cached_by_identity
from paimon_explore.write.file_row import file_row
from paimon_explore.write.formats.format_writers import open_format
from paimon_explore.write.new_file_names import FileLocation, FileRow
from paimon_explore.write.parallel import check_cancelled

GROUP_ROWS = 1 << 18
GROUP_BYTES = 64 * 1024 * 1024
_MIN_GROUP_ROWS = 1024
_RETRACT_KINDS = (1, 3)


class SideFiles(Protocol):
    """Files that store some columns of the rows of a data file."""

    def add(self, rows: pa.Table) -> None:
        """Write the columns of rows that are added to the current data file."""

    def end(self) -> list[FileRow]:
        """Close the files together with the data file; return their manifest entries."""

    def abort(self) -> None:
        """Delete the files of the writer."""


class DataFileWriter:
    """Writes the rows of one bucket in order, and starts a new file at the target size.

    Args:
        location: directory and names of the files.
        layout: layout of the files.
        first_sequence: sequence number of the first row of append files.
        blob_files: writes the columns that the layout does not have; its files are closed together
            with each data file.
    """

    def __init__(
        self,
        location: FileLocation,
        layout: FileLayout,
        *,
        first_sequence: int = 0,
        blob_files: SideFiles | None = None,
    ) -> None:
        self._location = location
        self._layout = layout
        self._one_group = min(_MIN_GROUP_ROWS, layout.target_rows)
        self._next_sequence = first_sequence
        self._buffer: list[pa.Table] = []
        self.buffered_rows = 0
        """Number of rows that are not in a file yet."""
        self._open: _OpenFile | None = None
        self._external: str | None = None
        self._blob_files = blob_files
        self._files: list[FileRow] = []
        self._paths: list[str] = []
        self.buffered = LazySize()

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return self._open is not None

    def write(self, rows: pa.Table) -> None:
        """Write rows with the layout's columns in its order, and the columns of blob files."""
        if len(rows) == 0:
            return
        check_cancelled()
        self._buffer.append(rows)
        self.buffered_rows += len(rows)
        self.buffered.add(rows)
        if self.buffered_rows >= self._one_group and self.buffered_rows >= self._group_rows():
            self._write_groups(everything=False)

    def write_file(self, columns: list[Column]) -> None:
        """Write all rows of a file, or of several if they are larger than the target size.

        Args:
            columns: the layout's columns in its order.
        """
        rows = len(columns[0])
        if rows > self._one_group or self._blob_files is not None:
            names = [field.name for field in self._layout.fields]
            self.write(pa.Table.from_arrays(columns, names=names))
            self.flush()
        elif rows:
            self._opened().write(columns)
        self.end_file()

    def _group_rows(self) -> int:
        limit = min(self._layout.group_bytes or GROUP_BYTES, self._layout.target_bytes)
        row_bytes = max(self.buffered.exact // self.buffered_rows, 1)
        rows = max(min(GROUP_ROWS, limit // row_bytes), _MIN_GROUP_ROWS)
        return min(rows, self._layout.target_rows)

    def _write_groups(self, *, everything: bool) -> None:
        """Write buffered rows in row groups; keep an incomplete group unless `everything`."""
        rows = self._buffer[0] if len(self._buffer) == 1 else pa.concat_tables(self._buffer)
        # so few rows are one group, whatever their size
        size = self.buffered_rows if self.buffered_rows <= self._one_group else self._group_rows()
        start = 0
        while start < len(rows) and (everything or len(rows) - start >= size):
            check_cancelled()
            group = rows.slice(start, min(size, self._room()))
            self._write_group(group)
            start += len(group)
        rest = rows.slice(start)
        self._buffer = [rest] if len(rest) else []
        self.buffered_rows = len(rest)
        self.buffered = LazySize()
        if len(rest):
            self.buffered.add(rest)

    def _room(self) -> int:
        """Return the number of rows until the current file is full."""
        return self._layout.target_rows - (self._open.row_count if self._open else 0)

    def _write_group(self, rows: pa.Table) -> None:
        file = self._opened()
        if self._blob_files is not None:
            self._blob_files.add(rows)
            rows = rows.select([field.name for field in self._layout.fields])
        file.write([_contiguous(column) for column in rows.columns])
        self._end_full_file(file)

    def _opened(self) -> "_OpenFile":
        """Return the current file; open one if none is open."""
        if self._open is None:
            path, self._external = self._location.next_path(self._layout)
            self._paths.append(path)
            self._open = _OpenFile(self._location.file_io, path, self._layout)
        return self._open

    def _end_full_file(self, file: "_OpenFile") -> None:
        full = file.row_count >= self._layout.target_rows
        if full or file.position() >= self._layout.target_bytes:
            self.end_file()

    def flush(self) -> None:
        """Write all buffered rows to a file."""
        if self._buffer:
            self._write_groups(everything=True)

    def end_file(self) -> None:
        """Close the current file, if one is open; further rows start a new one."""
        if self._open is None:
            return
        row = self._open.close(self._next_sequence)
        self._store_index(row, self._open.path, self._open.indexes.encode())
        if self._layout.managed_blobs:
            references = encode_references(self._open.managed_uris)
            self._store_extra(row, f"{self._open.path}{REFERENCES_SUFFIX}", references)
        self._next_sequence += self._open.row_count
        row["creation_time"] = local_millis(self._location.clock())
        if self._external is not None:
            row["external_path"] = self._external
        self._files.append(row)
        self._open = None
        if self._blob_files is not None:
            self._files.extend(self._blob_files.end())

    def _store_index(self, row: FileRow, path: str, container: bytes | None) -> None:
        """Store the index container in the manifest entry or in a file next to the data file."""
        if container is None:
            return
        if len(container) <= self._layout.embedded_index_bytes:
            row["embedded_file_index"] = container
            return
        self._store_extra(row, f"{path}.index", container)

    def _store_extra(self, row: FileRow, path: str, data: bytes) -> None:
        """Store a file next to the data file."""
        self._paths.append(path)
        self._location.file_io.create(path, data)
        row["extra_files"] = [*row["extra_files"], path.rpartition("/")[2]]  # type: ignore[misc]  # names

    def close(self) -> list[FileRow]:
        """Close all files and return their manifest entries."""
        self.flush()
        self.end_file()
        return self._files

    def abort(self) -> None:
        """Delete all files of this writer."""
        if self._open is not None:
            self._open.abort()
            self._open = None
        if self._blob_files is not None:
            self._blob_files.abort()
        discard(self._location.file_io, self._paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FilePlan:
    """What all files of a layout share.

    Attributes:
        keys: statistics of the key columns.
        values: statistics of the table's columns.
        positions: positions of the table's columns by name.
    """

    keys: StatsPlan
    values: StatsPlan
    positions: Mapping[str, int]


@cached_by_identity
def _plan_of(layout: FileLayout) -> _FilePlan:
    keys = [layout.fields[i] for i in layout.key_columns]
    values = [layout.fields[i] for i in layout.value_columns]
    return _FilePlan(
        keys=StatsPlan(keys, [KEY_MODE] * len(keys)),
        values=StatsPlan(values, layout.value_modes),
        positions={layout.fields[i].name: i for i in layout.value_columns},
    )


class _OpenFile:
    """A data file that is being written."""

    def __init__(self, file_io: FileIO, path: str, layout: FileLayout) -> None:
        self.row_count = 0
        self.path = path
        self._layout = layout
        plan = _plan_of(layout)
        self.indexes = FileIndexes(layout.indexes, plan.positions)
        self._name = path.rpartition("/")[2]
        self._ends: list[tuple[bytes, bytes]] = []
        self._sequences: list[int] = []
        self._deletes = 0
        self.managed_uris: set[str] = set()
        self._key_stats = StatsCollector(plan.keys) if layout.key_columns else None
        self._value_stats = StatsCollector(plan.values)
        self._stack = ExitStack()
        self._sink = self._stack.enter_context(file_io.create_stream(path))
        try:
            with translate_stream_errors(path):
                self._writer = open_format(self._sink, layout)
        except BaseException as error:
            self._stack.__exit__(type(error), error, error.__traceback__)
            raise

    def position(self) -> int:
        return self._writer.position()

    def write(self, columns: list[Column]) -> None:
        layout = self._layout
        keys = [columns[i] for i in layout.key_columns]
        if self._key_stats is not None:
            self._key_stats.add(keys)
        self._value_stats.add([columns[i] for i in layout.value_columns])
        if keys:
            self._ends.append(self._first_and_last(keys))
        if layout.sequence_column is not None:
            self._sequences += _bounds_of(columns[layout.sequence_column])
        if layout.kind_column is not None:
            kinds = fixed_values(columns[layout.kind_column], np.int8)
            if kinds.any():
                self._deletes += int(np.isin(kinds, _RETRACT_KINDS).sum())
        for position in layout.managed_blobs:
            self.managed_uris |= managed_uris(as_python(columns[position]))
        self.indexes.add(columns)
        with translate_stream_errors(self.path):
            self._writer.write(columns)
        self.row_count += len(columns[0])

    def _first_and_last(self, keys: list[Column]) -> tuple[bytes, bytes]:
        types = [self._layout.fields[i].type for i in self._layout.key_columns]
        ends = [pa.concat_arrays([key.slice(0, 1), key.slice(len(key) - 1, 1)]) for key in keys]
        first, last = row_images(ends, types)
        return first, last

    def close(self, first_sequence: int) -> FileRow:
        with translate_stream_errors(self.path):
            self._writer.close()
            size = self._writer.position()
            self._stack.close()
        layout = self._layout
        keys = self._key_stats
        found = file_row(
            layout,
            file_size=size,
            row_count=self.row_count,
            sequences=self._sequence_range(first_sequence),
            key_stats=EMPTY_STATS if keys is None else keys.encode(dense=False),
            value_stats=self._value_stats.encode(dense=layout.dense_stats),
        )
        if self._ends:
            found |= {"min_key": self._ends[0][0], "max_key": self._ends[-1][1]}
        return {
            **found,
            "file_name": self._name,
            "delete_row_count": self._deletes,
            "write_cols": None if layout.write_columns is None else list(layout.write_columns),
        }

    def _sequence_range(self, first: int) -> tuple[int, int]:
        if self._layout.sequence_column is not None:
            return min(self._sequences), max(self._sequences)
        return (first, first + self.row_count - 1) if self._layout.numbered else (0, 0)

    def abort(self) -> None:
        """Close the sink as failed; the writer deletes the file."""
        error = AbortedError()
        try:
            self._writer.abort()
        finally:
            self._stack.__exit__(AbortedError, error, None)


class AbortedError(Exception):
    """Raised inside a sink's context to discard its file."""


def _bounds_of(numbers: Column) -> list[int]:
    """Return minimum and maximum of sequence numbers; nothing if all are null."""
    values = fixed_values(numbers, np.int64)
    if numbers.null_count:
        values = values[valid_mask(numbers)]
    return [int(values.min()), int(values.max())] if len(values) else []


def _contiguous(column: "pa.ChunkedArray[pa.Scalar[pa.DataType]]") -> Column:
    if column.num_chunks == 1:
        return column.chunk(0)  # type: ignore[return-value]  # stubs: a chunk is chunked
    chunks: list[Column] = [column.chunk(i) for i in range(column.num_chunks)]  # type: ignore[misc]  # stubs: a chunk is chunked
    return pa.concat_arrays(chunks)


class LazySize:
    """The size of batches in bytes."""

    __slots__ = ("_measured", "_unmeasured", "limit")

    def __init__(self) -> None:
        self._measured = 0
        self._unmeasured: list[pa.RecordBatch | pa.Table] = []
        self.limit = 0
        """An upper limit of the size: of all buffers of the batches, each counted once a batch."""

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Add a batch."""
        self._unmeasured.append(rows)
        self.limit += rows.get_total_buffer_size()

    @property
    def exact(self) -> int:
        """Return the size; afterwards the limit is exact, too."""
        self._measured += sum(rows.nbytes for rows in self._unmeasured)
        self._unmeasured.clear()
        self.limit = self._measured
        return self._measured
