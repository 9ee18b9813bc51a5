"""Reader and writer of the row format (`.row`): blocks of rows, compressed with Zstandard.

    blocks | index | footer
    block, decompressed: rows | int32 offset per row | int32 number of rows
    index: 3 lists, each preceded by its size as a varint: compressed sizes, decompressed sizes,
           number of the first row of each block
    footer: int64 rows | int32 blocks | int64 offset of the index | int32 its size | byte version
            3 spare bytes | int32 magic "ROWS"

All integers are little-endian. The file stores no column names; its columns are those of its
schema, in order.

Spec: none yet (release 2.0). Seen in: golden java200/append_row_format.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import zstandard

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow_buffers import Column, Ints
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.binary_row.decoder import Source
from paimon_explore.encoding.data_file_reader import PositionedBatch, Span, StoredColumn
from paimon_explore.encoding.positional_batches import sliced
from paimon_explore.encoding.row_format.row_block import (
    Cursor,
    decode_row_fields,
    encode_row_fields,
    split_block,
)
from paimon_explore.encoding.varint import (
    decode_deltas,
    decode_varint,
    encode_deltas,
    encode_varints,
)
from paimon_explore.errors import CorruptFileError, UnsupportedVersionError
from paimon_explore.limits import max_unpacked_size, too_large

MAGIC = 0x524F5753
VERSION = 1
FOOTER_BYTES = 32
DEFAULT_BLOCK_BYTES = 64 * 1024
DEFAULT_LEVEL = 1

MAX_BLOCK_BYTES = 1 << 30
"""Maximum decompressed size of a block."""
_DECODED_BYTES = 16 * 1024 * 1024
"""Adjacent blocks are decoded at once up to about this size."""


class RowDataFile:
    """An open row file; see `OpenDataFile`. Its spans are blocks.

    Args:
        stream: the file, opened for random access.
        path: path of the file, for errors.
        columns: all columns of the file in order, with the system columns of primary-key tables.

    Raises:
        CorruptFileError: the footer or the index is damaged.
        UnsupportedVersionError: the version of the file is unknown.
    """

    def __init__(self, stream: pa.NativeFile, path: str, columns: Sequence[StoredColumn]) -> None:
        self._stream = stream
        self._path = path
        self._columns = tuple(columns)
        self._compressed, self._sizes, firsts = _read_index(stream, path)
        self._offsets = nb.offsets_from_sizes(self._compressed)
        self.spans = tuple(
            Span(first=first, rows=end - first) for first, end in pairwise(firsts.tolist())
        )
        """The blocks as spans."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(column.name for column in self._columns)

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of blocks in file order.

        Args:
            columns: each in `names`; a ROW may have only some of its fields.
            spans: ascending indexes of blocks.
            batch_rows: maximum number of rows of a batch.

        Raises:
            CorruptFileError: a block is damaged.
        """
        stored = {column.name: place for place, column in enumerate(self._columns)}
        for group in self._groups(spans, batch_rows):
            decoded = self._decode(group)
            first = self.spans[group[0]].first
            rows = sum(self.spans[block].rows for block in group)
            kept = [
                conform(decoded[stored[c.name]], c.type, path=self._path, column=c.name)
                for c in columns
            ]
            yield from sliced(kept, first, rows, batch_rows)

    def _groups(self, spans: Sequence[int], batch_rows: int) -> Iterator[list[int]]:
        """Group adjacent blocks, which are faster to decode at once."""
        group: list[int] = []
        rows = size = 0
        for block in spans:
            full = rows >= batch_rows or size >= _DECODED_BYTES
            if group and (full or block != group[-1] + 1):
                yield group
                group, rows, size = [], 0, 0
            group.append(block)
            rows += self.spans[block].rows
            size += int(self._sizes[block])
        if group:
            yield group

    def _decode(self, group: list[int]) -> list[Column]:
        parts = [self._decompress(block) for block in group]
        data = np.frombuffer(b"".join(parts), np.uint8)
        source = Source(data, self._path)
        cursors = []
        start = 0
        for block, part in zip(group, parts, strict=True):
            cursor = split_block(source, start, len(part))
            if len(cursor.at) != self.spans[block].rows:
                rule = f"must have {self.spans[block].rows} rows as stated in the index"
                raise CorruptFileError(self._path, f"block {block}", rule)
            cursors.append(cursor)
            start += len(part)
        cursor = Cursor(
            np.concatenate([part.at for part in cursors]),
            np.concatenate([part.end for part in cursors]),
        )
        columns = decode_row_fields(source, cursor, [column.type for column in self._columns])
        source.check(cursor.at == cursor.end, "a row must end where the next one starts")
        return columns

    def _decompress(self, block: int) -> bytes:
        start, size = int(self._offsets[block]), int(self._sizes[block])
        packed = _read(self._stream, start, int(self._compressed[block]))
        most = max_unpacked_size(len(packed))
        if size > most:
            what = f"a block of {len(packed):,} compressed bytes"
            raise too_large(size, self._path, f"block {block}", what, limit=most)
        reader = zstandard.ZstdDecompressor().stream_reader(packed)
        try:
            data = reader.read(size + 1)
        except zstandard.ZstdError as error:
            raise CorruptFileError(self._path, f"block {block}", str(error)) from error
        if len(data) != size:
            rule = f"must decompress to {size} bytes as stated in the index"
            raise CorruptFileError(self._path, f"block {block}", rule)
        return data


def _read(stream: pa.NativeFile, start: int, size: int) -> bytes:
    stream.seek(start)
    return stream.read(size)


def _read_index(stream: pa.NativeFile, path: str) -> tuple[Ints, Ints, Ints]:
    """Read compressed sizes, decompressed sizes, and first rows followed by the number of rows."""
    total = stream.size()
    footer = _read(stream, max(total - FOOTER_BYTES, 0), FOOTER_BYTES)
    if len(footer) < FOOTER_BYTES or _int(footer[28:32]) != MAGIC:
        raise CorruptFileError(path, "last 4 bytes", f"a row file must end with {MAGIC:#x}")
    if footer[24] != VERSION:
        raise UnsupportedVersionError("row file", footer[24], [VERSION], path)
    rows, blocks = _int(footer[:8]), _int(footer[8:12])
    offset, size = _int(footer[12:20]), _int(footer[20:24])
    if not 0 <= size <= total - FOOTER_BYTES or not 0 <= offset <= total - FOOTER_BYTES - size:
        raise CorruptFileError(path, "footer", "the index must be before the footer")
    compressed, sizes, firsts = _lists(_read(stream, offset, size), path)
    if not len(compressed) == len(sizes) == len(firsts) == blocks:
        raise CorruptFileError(path, "index", f"must have {blocks} blocks as stated in the footer")
    edges = np.append(firsts, rows)
    good = (
        bool((compressed >= 0).all())
        and bool((compressed <= offset).all())
        and int(compressed.sum()) <= offset
        and bool(((sizes >= 0) & (sizes <= MAX_BLOCK_BYTES)).all())
        and bool((np.diff(edges) >= 0).all())
        and (edges[0] == 0)
    )
    if not good:
        raise CorruptFileError(path, "index", "the blocks must be consecutive")
    return compressed, sizes, edges


def _int(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _lists(index: bytes, path: str) -> list[Ints]:
    found = []
    position = 0
    for _ in range(3):
        try:
            size, position = decode_varint(index, position)
        except ValueError as error:
            raise CorruptFileError(path, "index", "must have 3 lists") from error
        values = decode_deltas(index[position : position + size])
        position += size
        if values is None or position > len(index):
            raise CorruptFileError(
                path, "index", "the lists must consist of delta-encoded integers"
            )
        found.append(values)
    return found


class RowFileWriter:
    """Writes a row file batch by batch.

    Args:
        write: writes the next bytes of the file.
        columns: all columns of the file in order.
        block_bytes: target size of a block (option `file.block-size`).
        level: compression level (option `file.compression.zstd-level`).
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        columns: Sequence[StoredColumn],
        *,
        block_bytes: int = DEFAULT_BLOCK_BYTES,
        level: int = DEFAULT_LEVEL,
    ) -> None:
        self._write = write
        self._types = [column.type for column in columns]
        self._block_bytes = block_bytes
        self._compressor = zstandard.ZstdCompressor(level=level)
        self._rows: list[bytes] = []
        self._row_sizes: list[int] = []
        self._pending = 0
        self._blocks: list[tuple[int, int, int]] = []
        self.row_count = 0
        self.size = 0

    def write(self, columns: Sequence[Column]) -> None:
        """Write the next rows.

        Args:
            columns: the columns of the constructor, in `to_arrow(type)`.

        Raises:
            InvalidInputError: a column has another type.
        """
        count = len(columns[0])
        encoded = encode_row_fields(list(columns), self._types, count)
        data = encoded.data.tobytes()
        ends = np.cumsum(encoded.sizes)
        costs = np.cumsum(encoded.sizes + 4)  # with the offset of the row at the end of the block
        done = 0
        while done < count:
            spent = int(costs[done - 1]) if done else 0
            room = self._block_bytes - 4 - self._pending
            last = max(int(np.searchsorted(costs, spent + room)), done)
            stop = min(last + 1, count)
            start = int(ends[done - 1]) if done else 0
            self._rows.append(data[start : int(ends[stop - 1])])
            self._row_sizes += encoded.sizes[done:stop].tolist()
            self._pending += int(costs[stop - 1]) - spent
            done = stop
            if last < count:
                self._flush()

    def close(self) -> None:
        """Write the last block, the index and the footer."""
        self._flush()
        lists = np.array(self._blocks, np.int64).reshape(-1, 3)
        index = b""
        for position in range(3):
            packed = encode_deltas(lists[:, position])
            index += encode_varints(np.array([len(packed)], np.int64))[1].tobytes() + packed
        footer = [
            self.row_count.to_bytes(8, "little"),
            len(self._blocks).to_bytes(4, "little"),
            self.size.to_bytes(8, "little"),
            len(index).to_bytes(4, "little"),
            bytes([VERSION, 0, 0, 0]),
            MAGIC.to_bytes(4, "little"),
        ]
        self._put(index + b"".join(footer))

    def _flush(self) -> None:
        if not self._row_sizes:
            return
        sizes = np.array(self._row_sizes, np.int64)
        offsets = nb.offsets_from_sizes(sizes)[:-1].astype("<i4").tobytes()
        block = b"".join([*self._rows, offsets, len(sizes).to_bytes(4, "little")])
        packed = self._compressor.compress(block)
        self._blocks.append((len(packed), len(block), self.row_count))
        self._put(packed)
        self.row_count += len(sizes)
        self._rows, self._row_sizes, self._pending = [], [], 0

    def _put(self, data: bytes) -> None:
        self._write(data)
        self.size += len(data)
