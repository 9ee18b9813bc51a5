"""Reader of Parquet data files.

Arrow decodes the files; this module selects the leaf columns, tracks row positions across skipped
row groups, and opens files that Arrow cannot read with a footer changed in memory (`footer_fixes`).

Columns are matched by name, as files of releases up to 0.9 and of other writers have no field ids.

Spec: concepts/spec/fileformat, Parquet.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    BYTES,
    TEXTS,
    MapType,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.arrow_type_conversion import conform, is_conform
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    Bounded,
    Paged,
    PagedRows,
    PositionedBatch,
    SpanBounds,
    StoredColumn,
    WholeColumns,
    decoding,
)
from paimon_explore.encoding.parquet.arrow_reader import (
    ColumnChunkMetaData,
    FileMetaData,
    ParquetReader,
    open_reader,
)
from paimon_explore.encoding.parquet.file_metadata import (
    ParquetMetadata,
    chunk_ranges,
    read_metadata,
)
from paimon_explore.encoding.parquet.leaf_columns import under
from paimon_explore.encoding.parts_ahead import ReadsAhead, each_ahead
from paimon_explore.encoding.positional_batches import rows_without_columns
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import check_size, memory_limit

if TYPE_CHECKING:
    from paimon_explore.encoding.parquet.page_reader import ParquetPages

_FORMAT = "Parquet file"


_LARGE_BATCH_BYTES = 16 << 20
_MIN_BATCH_ROWS = 1024
_BUFFER_BYTES = 1 << 18
"""Read size of local files with large column chunks, instead of whole chunks."""
_CODED_BYTES = 3
"""Strings with fewer bytes per value are dictionary encoded, as PLAIN has a 4-byte length."""
_MIN_EXAMINED_BYTES = 64 << 10
"""Minimum size of a chunk for which it pays off to examine its dictionary."""
_ROWS_PER_VALUE = 8
"""Rows of a batch per value in the dictionary, from which on it pays off to read indices."""
_LONG_BYTES = 256
"""Average bytes of a value from which on values are long ..."""
_CACHED_BYTES = 2 << 20
"""... and the size of their batches."""


_PAGED_BYTES = 4 << 20
"""Minimum size of the wanted columns of a row group for which reading single pages pays off."""
_BOUNDED_ROWS = 1 << 17
"""Rows of a smaller one of a local file, on some pages, whose statistics may exclude most rows."""
_LATE_BYTES = 128 << 10
"""Minimum size for reading the columns of a predicate of a local file before the others."""
_REMOTE_PAGED_BYTES = 32 << 20
"""Minimum size for reading single pages of remote files."""
_CHUNK_BYTES = 128 << 10
"""Average size of column chunks up to which most of them are single pages."""
_THREADED_BYTES = 8 << 20
"""Minimum size of the wanted columns for which decoding with threads pays off."""
_MIN_COLUMNS = 32
"""Number of columns from which on groups of columns are decoded in parallel ..."""
_MAX_COLUMN_BYTES = 64 << 10
"""... if a batch has fewer bytes per column: then Arrow's tasks per column would cost much."""
_UNCOMPRESSED, _VARIABLE = "UNCOMPRESSED", "BYTE_ARRAY"
_BYTES_PER_FOOTER_BYTE = 200
"""Bytes decoded in the time in which one byte of the footer is decoded, roughly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """How a file is opened.

    Attributes:
        file: opened for random access.
        remote: whether each read is a request.
        pre_buffer: whether Arrow requests the wanted chunks of row groups together; not needed if
            this module does (`parts_ahead`).
    """

    file: pa.NativeFile
    remote: bool
    pre_buffer: bool


class ParquetDataFile(Bounded, Paged):
    """An open Parquet file; see `OpenDataFile`."""

    def __init__(
        self,
        metadata: ParquetMetadata,
        path: str,
        source: "_Source",
        *,
        use_threads: bool,
        batch_bytes: int,
    ) -> None:
        self._metadata = metadata
        self._batch_bytes = batch_bytes
        self._source = source
        self._path = path
        self._use_threads = use_threads
        self.metadata: FileMetaData = metadata.arrow
        self.spans = metadata.spans
        self._schema = metadata.schema
        self._columns = metadata.columns
        self._pages: ParquetPages | None = None
        self.late_bytes, self.bounded_rows = _LATE_BYTES, _BOUNDED_ROWS
        self.paged_bytes = _REMOTE_PAGED_BYTES if source.remote else _PAGED_BYTES

    @property
    def names(self) -> frozenset[str]:
        """Names of the top-level columns."""
        return frozenset(self._schema.names)

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Return the statistics of the row groups; see `Bounded`."""
        target = to_arrow(column.type)
        leaves = self._columns.by_path.get(column.name, ())
        if len(leaves) != 1 or self._schema.field(column.name).type != target:
            return None
        with decoding(self._path, _FORMAT):
            return self._metadata.bounds(self._source.file, leaves[0], target)

    def paged(self, columns: Sequence[StoredColumn], span: int) -> PagedRows | None:
        """Return the pages of a row group; see `Paged`."""
        self._check_chunks(columns, (span,))
        (size,) = self._sizes(columns, (span,))
        footer = self.metadata.serialized_size * _BYTES_PER_FOOTER_BYTE
        least = max(footer // len(self.spans), _CHUNK_BYTES * len(columns))
        is_small = bool(self.paged_bytes) and size < max(self.paged_bytes, least)
        if is_small and (self._source.remote or size < self.late_bytes):
            return None
        batch_rows = self._rows_within(self._batch_bytes, (size,), (span,))
        distinct = self._distinct(columns, span) if is_small else None
        if distinct is not None and (size < least or self.spans[span].rows < self.bounded_rows):
            return WholeColumns(batch_rows, distinct)
        from paimon_explore.encoding.parquet.page_reader import PagedGroup, ParquetPages  # noqa: PLC0415 - selective reads

        if self._pages is None:
            self._pages = ParquetPages(
                file=self._source.file,
                path=self._path,
                metadata=self._metadata,
                may_walk=not self._source.remote,
            )
        return PagedGroup(
            pages=self._pages,
            group=span,
            first=self.spans[span].first,
            batch_rows=batch_rows,
            distinct=distinct,
        )

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of row groups; see `OpenDataFile`."""
        if not columns:
            yield from rows_without_columns([self.spans[i] for i in spans], batch_rows)
            return
        self._check_chunks(columns, spans)
        paths = self._columns.paths(columns, spans)
        sizes = self._sizes(columns, spans)
        most = self._bytes_at_a_time(columns, sizes, spans)
        batch_rows = min(batch_rows, self._rows_within(most, sizes, spans))
        use_threads = (
            self._use_threads
            and pa.cpu_count() > 1
            and sum(sizes) > _THREADED_BYTES
            and self._is_decoding_slow(columns, spans)
        )
        for run in self._runs(spans, paths):
            first = self.spans[run[0]].first
            coded = self._coded(columns, run, batch_rows)
            for batch in self._decoded(coded, run, columns, (batch_rows, use_threads)):
                convert = _Conversion.of(batch.schema, columns)
                yield PositionedBatch(
                    first=first, rows=batch.num_rows, columns=self._conformed(batch, convert)
                )
                first += batch.num_rows

    def _check_chunks(self, columns: Sequence[StoredColumn], spans: Sequence[int]) -> None:
        """Check that the column chunks of columns may be asked for."""
        leaves = self._columns.whole({column.name for column in columns})
        with decoding(self._path, _FORMAT):
            self._metadata.check_chunks(self._source.file, leaves, spans)

    def _runs(self, spans: Sequence[int], paths: Sequence[str]) -> Iterator[list[int]]:
        """Yield row groups that are read together; on a store each is requested one ahead."""
        file = self._source.file
        if not isinstance(file, ReadsAhead):
            yield from consecutive(spans)
            return
        ranges_of = partial(chunk_ranges, self.metadata, is_wanted=under(paths))
        for span in each_ahead(file, spans, ranges_of):
            yield [span]

    def _sizes(self, columns: Sequence[StoredColumn], spans: Sequence[int]) -> list[int]:
        """Return the uncompressed, encoded size of columns in each row group."""
        leaves = self._columns.leaves(columns, spans)
        groups = map(self.metadata.row_group, spans)
        return [
            sum(group.column(leaf).total_uncompressed_size for leaf in leaves) for group in groups
        ]

    def _distinct(self, columns: Sequence[StoredColumn], span: int) -> frozenset[str]:
        """Return the columns that take so many bytes that they have many distinct values."""
        group = self.metadata.row_group(span)
        chunks = map(group.column, self._columns.leaves(columns, (span,)))
        return frozenset(
            chunk.path_in_schema
            for chunk in chunks
            if chunk.total_uncompressed_size >= _CODED_BYTES * chunk.num_values
        )

    def _is_decoding_slow(self, columns: Sequence[StoredColumn], spans: Sequence[int]) -> bool:
        """Return whether decoding needs more time than copying the bytes.

        Values of fixed width that are not compressed are copied, by one thread as fast as by
        several.
        """
        group = self.metadata.row_group(spans[0])
        chunks = map(group.column, self._columns.leaves(columns, spans))
        slow = sum(
            chunk.total_uncompressed_size
            for chunk in chunks
            if chunk.compression != _UNCOMPRESSED or chunk.physical_type == _VARIABLE
        )
        return slow * len(spans) > _THREADED_BYTES

    def _bytes_at_a_time(
        self, columns: Sequence[StoredColumn], sizes: Sequence[int], spans: Sequence[int]
    ) -> int:
        """Return the size of batches: less for long values, so that they stay in the CPU caches.

        The rows of a batch are then enough for the costs per column and batch to be small.
        """
        values = len(self._columns.leaves(columns, spans)) * sum(
            self.spans[span].rows for span in spans
        )
        is_long = sum(sizes) >= _LONG_BYTES * values
        return min(self._batch_bytes, _CACHED_BYTES) if is_long else self._batch_bytes

    def _rows_within(self, size: int, sizes: Sequence[int], spans: Sequence[int]) -> int:
        """Return how many rows of the widest row group take about `size` bytes, at least a minimum.

        The result is a power of two, so that arrays fill whole blocks of Arrow's memory pool;
        otherwise the pool wastes about a quarter. If large batches are wanted, a row group that is
        not much larger is one batch, as the costs per column of a second one would be too high.
        """
        rows = [max(self.spans[span].rows, 1) for span in spans]
        width = max((total // count for total, count in zip(sizes, rows, strict=True)), default=1)
        if size >= _LARGE_BATCH_BYTES and rows and max(rows) * width <= 2 * size:
            return max(rows)
        return 1 << (max(size // max(width, 1), _MIN_BATCH_ROWS).bit_length() - 1)

    def _coded(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> list[str]:
        """Return the strings to read as dictionary arrays.

        Decoding the dictionary of a whole column takes half the time of Arrow's value by value
        decoding.
        """
        names = {column.name for column in columns if is_root(column.type, *TEXTS, *BYTES)}
        return [
            name
            for name, leaves in self._columns.by_path.items()
            if name in names and len(leaves) == 1 and self._is_coded(leaves[0], spans, batch_rows)
        ]

    def _opened(self, coded: Sequence[str], buffer_bytes: int) -> ParquetReader:
        """Open the file with Arrow, which reads some columns as dictionary arrays."""
        with decoding(self._path, _FORMAT):
            return open_reader(
                self._source.file,
                metadata=self.metadata,
                pre_buffer=self._source.pre_buffer,
                buffer_size=buffer_bytes,
                coded=coded,
            )

    def _buffer_bytes(self, groups: Sequence[int]) -> int:
        """Return the read size of row groups; 0 to read whole column chunks.

        A chunk that is not larger than the buffer would only be copied once more.
        """
        found = map(self.metadata.row_group, groups)
        limit = self.metadata.num_columns * _BUFFER_BYTES
        large = not self._source.remote and any(group.total_byte_size > limit for group in found)
        return _BUFFER_BYTES if large else 0

    def _is_coded(self, leaf: int, spans: Sequence[int], batch_rows: int) -> bool:
        """Return whether a string column is read as dictionary arrays.

        It is if its data pages are so small that they must be dictionary encoded, and also if a
        batch of its longest values could exceed memory: the size is then checked before decoding.
        Otherwise Arrow would have to build the dictionary of values that are not in one: slow if
        many are distinct.
        """
        chunks = [self.metadata.row_group(group).column(leaf) for group in spans]
        if all(
            chunk.has_dictionary_page
            and self._index_bytes(chunk, batch_rows) < _CODED_BYTES * chunk.num_values
            for chunk in chunks
        ):
            return True
        places = ((group, leaf) for group in spans)
        return any(map(partial(self._may_exceed, batch_rows), places, chunks))

    def _index_bytes(self, chunk: ColumnChunkMetaData, batch_rows: int) -> int:
        """Return the size of a chunk, without its dictionary if few values are in it.

        Every batch contains the dictionary, so a large one would cost more than it saves.
        """
        size = chunk.total_uncompressed_size
        is_small = size < max(_CODED_BYTES * chunk.num_values, _MIN_EXAMINED_BYTES)
        if is_small or self._source.remote:  # examining the dictionary would be another request
            return size
        from paimon_explore.encoding.parquet.dictionary_page import dictionary_size  # noqa: PLC0415 - large values

        values, dictionary = dictionary_size(self._source.file, chunk)
        is_short = values * _ROWS_PER_VALUE <= min(batch_rows, chunk.num_values)
        return size - dictionary if is_short else size

    def _may_exceed(
        self, batch_rows: int, place: tuple[int, int], chunk: ColumnChunkMetaData
    ) -> bool:
        """Return whether decoded strings of a column chunk could exceed the memory limit."""
        size, rows, limit = chunk.total_uncompressed_size, chunk.num_values, memory_limit()
        rows = min(batch_rows, rows)
        if not chunk.has_dictionary_page or size * rows <= limit:
            return False
        if self._source.pre_buffer:
            return True  # examining the dictionary would be another request
        from paimon_explore.encoding.parquet.dictionary_page import UNKNOWN_LENGTH, longest_value  # noqa: PLC0415 - many strings

        known, enough = self._metadata.longest_values, (limit - size) // rows
        if known.get(place, UNKNOWN_LENGTH) > enough:
            known[place] = longest_value(self._source.file, chunk, enough)
        return known[place] > enough

    def _check_decoded_size(self, values: Column, places: Column, column: StoredColumn) -> None:
        """Reject dictionary arrays that would exceed the memory limit when decoded."""
        if values.nbytes * len(places) <= memory_limit():
            return
        sizes = pc.call_function("binary_length", [values])
        total = pc.call_function("sum", [sizes.take(places).cast(pa.int64())]).as_py()
        what = f"{len(places):,} values of column {column.name!r}"
        check_size(int(total or 0), self._path, f"column {column.name!r}", what)

    def _decoded(
        self,
        coded: Sequence[str],
        groups: list[int],
        columns: Sequence[StoredColumn],
        how: tuple[int, bool],
    ) -> Iterator[pa.RecordBatch]:
        """Yield the record batches of row groups."""
        rows, use_threads = how
        paths = self._columns.paths(columns, groups)
        many = not self._source.remote and len(paths) >= _MIN_COLUMNS
        buffer_bytes = self._buffer_bytes(groups)
        with decoding(self._path, _FORMAT):
            if use_threads and many and _MAX_COLUMN_BYTES * len(paths) > self._batch_bytes:
                from paimon_explore.encoding.parquet.column_groups import decode_column_groups  # noqa: PLC0415 - many columns

                opened = partial(self._opened, coded, buffer_bytes)
                yield from decode_column_groups(opened, paths, self._columns.below, groups, rows)
                return
            file = self._opened(coded, buffer_bytes)
            if many:
                yield from self._by_column(file, groups, columns, how)
                return
            leaves = self._columns.below(paths)
            yield from file.iter_batches(rows, groups, leaves, use_threads=use_threads)

    def _by_column(
        self,
        file: ParquetReader,
        groups: Sequence[int],
        columns: Sequence[StoredColumn],
        how: tuple[int, bool],
    ) -> Iterator[pa.RecordBatch]:
        """Yield the record batches of row groups with many columns."""
        rows, use_threads = how
        names = [column.name for column in columns]
        for group in groups:
            plain = self._plain_columns(group, columns) if self.spans[group].rows <= rows else {}
            rest = [column for column in columns if column.name not in plain]
            if plain and not rest:
                yield pa.RecordBatch.from_arrays([plain[name] for name in names], names)
                continue
            first = 0
            leaves = self._columns.below(self._columns.paths(rest, [group]))
            for batch in file.iter_batches(rows, [group], leaves, use_threads=use_threads):
                if not plain:
                    yield batch
                    continue
                arrays = [
                    plain[name].slice(first, batch.num_rows)
                    if name in plain
                    else batch.column(name)
                    for name in names
                ]
                first += batch.num_rows
                yield pa.RecordBatch.from_arrays(arrays, names)

    def _plain_columns(self, group: int, columns: Sequence[StoredColumn]) -> "dict[str, Column]":
        """Return the columns of a row group that contain nothing but values of fixed width."""
        from paimon_explore.encoding.parquet.plain_chunks import (  # noqa: PLC0415 - many columns
            PlainChunk,
            ReadsInto,
            plain_chunk,
            read_plain_chunks,
        )

        file, size = self._source.file, self._source.file.size()
        if not isinstance(file, ReadsInto):
            return {}
        found = self.metadata.row_group(group)
        fields = {field.name: field for field in self._schema}
        chunks: dict[str, PlainChunk] = {}
        for column in columns:
            leaves = self._columns.by_path.get(column.name, ())
            if len(leaves) != 1:
                continue
            chunk = plain_chunk(found, leaves[0], fields[column.name])
            if chunk is not None and 0 <= chunk.offset <= chunk.end <= size:
                chunks[column.name] = chunk
        return read_plain_chunks(file, chunks)

    def _conformed(self, batch: pa.RecordBatch, convert: "_Conversion") -> tuple[Column, ...]:
        found = batch.columns
        arrays = [found[place] for place in convert.places]
        for at, column in convert.converted:
            arrays[at] = self._conformed_column(arrays[at], column)
        return tuple(arrays)

    def _conformed_column(self, array: Column, column: StoredColumn) -> Column:
        if isinstance(array, pa.DictionaryArray):
            self._check_decoded_size(array.dictionary, array.indices, column)
            values = conformed_column(array.dictionary, column, self._path)
            return pa.DictionaryArray.from_arrays(array.indices, values, safe=False)
        if isinstance(array, pa.StructArray) and isinstance(column.type, MapType):
            from paimon_explore.encoding.shared_shredding import (  # noqa: PLC0415 - rare
                assembled_map,
            )

            array = assembled_map(array, self._schema, path=self._path, column=column.name)
        is_part = array.type != self._schema.field(column.name).type
        if column.paths and is_part and isinstance(array, pa.StructArray):
            from paimon_explore.encoding.variant.shredding import assemble_parts  # noqa: PLC0415 - rare

            return assemble_parts(array, path=self._path, column=column.name)
        return conformed_column(array, column, self._path)


@dataclass(frozen=True, slots=True)
class _Conversion:
    """How the columns of decoded batches become those of a request.

    Attributes:
        places: the index of each requested column in the batches.
        converted: the requested columns, by index, that may have to be converted or checked.
    """

    places: Sequence[int]
    converted: Sequence[tuple[int, StoredColumn]]

    @classmethod
    def of(cls, schema: pa.Schema, columns: Sequence[StoredColumn]) -> "_Conversion":
        """The conversion for batches of a schema; it is kept for other files with this schema."""
        known = _conversions.get(id(columns))
        if known is not None and known[1].equals(schema):
            return known[2]
        by_name = {name: i for i, name in enumerate(schema.names)}
        places = [by_name[column.name] for column in columns]
        types = schema.types
        converted = [
            (at, column)
            for at, (place, column) in enumerate(zip(places, columns, strict=True))
            if not is_conform(types[place], column.type)
        ]
        if len(_conversions) >= _MAX_CONVERSIONS:
            _conversions.clear()
        made = cls(places, converted)
        _conversions[id(columns)] = (columns, schema, made)
        return made


_MAX_CONVERSIONS = 64
_conversions: dict[int, tuple[Sequence[StoredColumn], pa.Schema, _Conversion]] = {}
"""Conversions by the id of the columns, which stay the same while they are kept here."""


def conformed_column(array: Column, column: StoredColumn, path: str) -> Column:
    """Convert values to the column's type in the file's schema; see `conform`."""
    return conform(array, column.type, path=path, column=column.name)


def open_parquet(
    file: pa.NativeFile, path: str, *, use_threads: bool = True, batch_bytes: int = BATCH_BYTES
) -> ParquetDataFile:
    """Open a Parquet file and read its footer.

    Args:
        file: opened for random access; the caller closes it after the last batch.
        path: path of the file, for errors.
        use_threads: whether columns are decoded in parallel.
        batch_bytes: approximate maximum size of a decoded batch.

    Raises:
        CorruptFileError: the file is not a Parquet file, or its footer is damaged.
    """
    # for remote files: few large requests; for local files it would only take memory
    remote = not isinstance(file, pa.OSFile | pa.MemoryMappedFile | pa.BufferReader)
    pre_buffer = remote and not isinstance(file, ReadsAhead)
    with decoding(path, _FORMAT):
        metadata = read_metadata(file, path)
    source = _Source(file=file, remote=remote, pre_buffer=pre_buffer)
    return ParquetDataFile(metadata, path, source, use_threads=use_threads, batch_bytes=batch_bytes)


def consecutive(indexes: Sequence[int]) -> list[list[int]]:
    """Split ascending indexes into runs of consecutive ones.

    >>> consecutive([0, 1, 3])
    [[0, 1], [3]]
    """
    runs: list[list[int]] = []
    for index in indexes:
        if runs and runs[-1][-1] + 1 == index:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs
