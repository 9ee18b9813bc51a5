"""Reader and writer of blob files (`.blob`): the values of one BLOB column.

    entries | list of entry sizes | int32 size of the list | byte version
    entry: int32 magic | value | int64 size of the whole entry | int32 crc32 of all before

All integers are little-endian. In the list, -1 is a null and -2 a value that is stored in another
file of the same rows (data evolution); neither has an entry. The file stores neither the name nor
the type of its column; for arrays and maps of BLOB see `blob_collections`.

Spec: concepts/spec/fileformat, blob. Seen in: golden java200/blob and blob_more.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.data_types.definitions import AtomicType, DataType, MapType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_blob_file_type
from paimon_explore.encoding.blob.blob_collections import decode_array, decode_map
from paimon_explore.encoding.blob.blob_descriptor import BlobDescriptor, encode_descriptor
from paimon_explore.encoding.blob.map_keys import key_coder
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn
from paimon_explore.encoding.varint import decode_deltas, encode_deltas
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    UnsupportedFeatureError,
    UnsupportedVersionError,
)

MAGIC = 1481511375
VERSION = 1
NULL = -1
ELSEWHERE = -2
DEFAULT_BATCH_BYTES = 64 * 1024 * 1024

_MAGIC_BYTES = MAGIC.to_bytes(4, "little")
_TAIL_BYTES = 5
_FRAME_BYTES = 16
"""Bytes of magic, size and checksum of an entry."""


class BlobDataFile:
    """An open blob file; see `OpenDataFile`.

    Attributes:
        sizes: size of each row's value; `NULL` or `ELSEWHERE` without a value.
        offsets: offset of each row's value in the file, for partial reads.

    Args:
        stream: the file, opened for random access.
        path: path of the file, for errors.
        column: the column of the file.
        batch_bytes: target size of the values of a batch.
        as_descriptor: return descriptors of the values, which are not read.

    Raises:
        CorruptFileError: the tail or the list of entries is damaged.
        UnsupportedVersionError: the version of the file is unknown.
        UnsupportedFeatureError: the type of the column is not supported.
    """

    def __init__(
        self,
        stream: pa.NativeFile,
        path: str,
        column: StoredColumn,
        *,
        batch_bytes: int = DEFAULT_BATCH_BYTES,
        as_descriptor: bool = False,
    ) -> None:
        _check_type(column.type)
        self._as_descriptor = as_descriptor
        self._batch_bytes = batch_bytes
        self._stream = stream
        self._path = path
        self._column = column
        self.sizes, self.offsets = _read_list(stream, path)

    @property
    def names(self) -> frozenset[str]:
        """Name of the column."""
        return frozenset({self._column.name})

    @property
    def spans(self) -> Sequence[Span]:
        """One span with all rows."""
        return (Span(first=0, rows=len(self.sizes)),)

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows in file order; values that are in another file are null.

        Args:
            columns: the column of the file, or none.
            spans: [0], or empty.
            batch_rows: maximum number of rows of a batch.

        Raises:
            CorruptFileError: an entry is damaged.
        """
        start = 0 if spans else len(self.sizes)
        while start < len(self.sizes):
            stop = self._batch_end(start, batch_rows)
            found = tuple(self._values(start, stop) for _ in columns)
            yield PositionedBatch(first=start, rows=stop - start, columns=found)
            start = stop

    def _batch_end(self, start: int, batch_rows: int) -> int:
        part = np.cumsum(np.maximum(self.sizes[start : start + batch_rows], 0))
        return start + max(int(np.searchsorted(part, self._batch_bytes, side="right")), 1)

    def _values(self, start: int, stop: int) -> Column:
        sizes = self.sizes[start:stop]
        valid = sizes >= 0
        rows = np.nonzero(valid)[0]
        is_nested = not isinstance(self._column.type, AtomicType)
        if self._as_descriptor and not is_nested:
            return self._descriptors(start, stop)
        values = [self._entry(row) for row in (start + rows).tolist()]
        if is_nested:
            return self._nested(values, start + rows, stop - start, start)
        offsets = nb.offsets_from_sizes(np.where(valid, sizes, 0))
        data = np.frombuffer(b"".join(values), np.uint8)
        return nb.build_var(pa.large_binary(), offsets, data, valid)

    def _descriptors(self, start: int, stop: int) -> Column:
        """Return descriptors of the values of some rows."""
        places = zip(
            self.sizes[start:stop].tolist(), self.offsets[start:stop].tolist(), strict=True
        )
        found: Column = pa.array(
            [self._descriptor(offset, size) if size >= 0 else None for size, offset in places],
            pa.large_binary(),
        )
        return found

    def _descriptor(self, offset: int, size: int) -> bytes:
        return encode_descriptor(BlobDescriptor(uri=self._path, offset=offset, length=size))

    def _nested(self, entries: list[bytes], rows: Ints, count: int, start: int) -> Column:
        """Decode arrays or maps from the entries of some rows; other rows are null."""
        found: list[object] = [None] * count
        kind = self._column.type
        for row, data in zip(rows.tolist(), entries, strict=True):
            first = int(self.offsets[row])

            def place(at: int, size: int, first: int = first) -> bytes:
                return self._descriptor(first + at, size)

            value_at = place if self._as_descriptor else None
            try:
                if isinstance(kind, MapType):
                    found[row - start] = decode_map(data, kind.key, value_at)
                else:
                    found[row - start] = decode_array(data, value_at)
            except ValueError as error:
                raise CorruptFileError(self._path, f"entry {row}", str(error)) from error
        nested: Column = pa.array(found, to_arrow(kind))
        return nested

    def _entry(self, row: int) -> bytes:
        size = int(self.sizes[row])
        self._stream.seek(int(self.offsets[row]) - 4)
        entry = self._stream.read(size + _FRAME_BYTES)
        stated = int.from_bytes(entry[-12:-4], "little")
        checksum = int.from_bytes(entry[-4:], "little")
        if len(entry) != size + _FRAME_BYTES:
            raise CorruptFileError(self._path, f"entry {row}", "extends beyond the end of the file")
        if entry[:4] != _MAGIC_BYTES:
            rule = f"must start with the magic number 0x{_MAGIC_BYTES.hex()}"
            raise CorruptFileError(self._path, f"entry {row}", rule)
        if stated != len(entry):
            rule = f"has a size of {stated} bytes, but the list of entries states {len(entry)}"
            raise CorruptFileError(self._path, f"entry {row}", rule)
        if zlib.crc32(entry[:-4]) != checksum:
            raise CorruptFileError(
                self._path, f"entry {row}", "the checksum does not match the data"
            )
        return entry[4:-12]


def _check_type(data_type: DataType) -> None:
    if not is_blob_file_type(data_type):
        raise UnsupportedFeatureError(f"a blob file for a column of type {type_text(data_type)}")
    if isinstance(data_type, MapType):
        key_coder(data_type.key)  # raises for other types


def _read_list(stream: pa.NativeFile, path: str) -> tuple[Ints, Ints]:
    """Read the sizes and offsets of the values."""
    total = stream.size()
    stream.seek(max(total - _TAIL_BYTES, 0))
    tail = stream.read(_TAIL_BYTES)
    if len(tail) < _TAIL_BYTES:
        raise CorruptFileError(
            path, "last 5 bytes", "a blob file must end with the list of entries and the version"
        )
    if tail[4] != VERSION:
        raise UnsupportedVersionError("blob file", tail[4], [VERSION], path)
    size = int.from_bytes(tail[:4], "little", signed=True)
    if not 0 <= size <= total - _TAIL_BYTES:
        raise CorruptFileError(path, "last 5 bytes", "the list of entries must fit into the file")
    end = total - _TAIL_BYTES - size
    stream.seek(end)
    entries = decode_deltas(stream.read(size))
    if entries is None:
        raise CorruptFileError(path, "list of entries", "must consist of delta-encoded integers")
    present = entries >= 0
    good = (entries >= ELSEWHERE) & (~present | ((entries >= _FRAME_BYTES) & (entries <= end)))
    lengths = np.where(present, entries, 0)
    if not good.all() or int(lengths.sum()) != end:
        raise CorruptFileError(
            path, "list of entries", "the entries must fill the file up to the list"
        )
    starts = nb.offsets_from_sizes(lengths)[:-1]
    return np.where(present, entries - _FRAME_BYTES, entries), starts + 4


class BlobFileWriter:
    """Writes a blob file value by value.

    Args:
        write: writes the next bytes of the file.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._entries: list[int] = []
        self.size = 0

    @property
    def row_count(self) -> int:
        """Number of rows written so far."""
        return len(self._entries)

    def add(self, column: Column) -> None:
        """Write the next rows.

        Args:
            column: a large_binary column.

        Raises:
            InvalidInputError: the column has another type.
        """
        if not pa.types.is_large_binary(column.type):
            raise InvalidInputError(
                f"The column of a blob file must be Arrow large_binary, not {column.type}."
            )
        for value in nb.as_python(column):
            self.add_value(value if isinstance(value, bytes) else None)

    def add_value(self, value: bytes | None) -> int:
        """Write the next row; return the offset of its value in the file."""
        start = self.size + len(_MAGIC_BYTES)
        if value is None:
            self._entries.append(NULL)
            return start
        size = len(value) + _FRAME_BYTES
        head = _MAGIC_BYTES + value + size.to_bytes(8, "little")
        self._put(head + zlib.crc32(head).to_bytes(4, "little"))
        self._entries.append(size)
        return start

    def add_elsewhere(self) -> None:
        """Write a row whose value is in another file of the same rows."""
        self._entries.append(ELSEWHERE)

    def finish(self) -> None:
        """Write the list of entries and the version."""
        packed = encode_deltas(np.array(self._entries, np.int64))
        self._put(packed + len(packed).to_bytes(4, "little") + bytes([VERSION]))

    def _put(self, data: bytes) -> None:
        self._write(data)
        self.size += len(data)
