"""Parquet data files as positioned batches in the package's Arrow types.

Arrow decodes; this module chooses the leaf columns, keeps positions over skipped row groups, and
opens files that Arrow would refuse or garble through a footer changed in memory (`parquet_footer`).

Columns are found by name. Files up to release 0.9 and those of other writers carry no field ids.

Spec: concepts/spec/fileformat, Parquet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import AtomicType, DataType, MapType, RowType, TypeRoot
from paimon_explore.encoding.arrow_type_conversion import conform
from paimon_explore.encoding.data_file_reader import (
    BATCH_BYTES,
    PagedRows,
    PositionedBatch,
    Span,
    SpanBounds,
    StoredColumn,
    decoding,
)
from paimon_explore.encoding.parquet.footer_fixes import (
    TAIL_BYTES,
    footer_as_file,
    footer_length,
    readable_footer,
)
from paimon_explore.encoding.parquet.row_group_statistics import row_group_bounds
from paimon_explore.encoding.positional_batches import rows_without_columns
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.limits import check_size, memory_limit

if TYPE_CHECKING:
    from paimon_explore.encoding.parquet.page_reader import ParquetPages

_KEYS_REFUSED = "Map keys must be annotated as required"
_FORMAT = "Parquet file"
_TEXTS = {TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY}


_FEWEST_ROWS = 1024
_BUFFER_BYTES = 1 << 18
"""What is read at a time of each column of a local file, instead of all that it has in a group."""
_CODED_BYTES = 3
_MOST_BATCH_ROWS = 1 << 16
"""Texts that take fewer bytes each are in a dictionary: PLAIN ones have four for their length."""


_PAGED_BYTES = 4 << 20
"""Row groups whose wanted columns take less are decoded as quickly as their pages are chosen."""
_FAR_PAGED_BYTES = 32 << 20
"""Likewise where each read is a request."""
_THREADED_BYTES = 8 << 20
"""What takes less is decoded before another thread is awake."""
_BYTES_PER_FOOTER_BYTE = 200
"""About how much is decoded in the time that a byte of the footer takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """How a file is opened.

    Attributes:
        pre_buffer: fetch the wanted chunks of a row group in few large requests.
        buffer_bytes: read at a time otherwise.
        footer: its bytes if they were changed in memory, else empty.
    """

    file: pa.NativeFile
    pre_buffer: bool
    buffer_bytes: int
    footer: bytes = b""


class ParquetDataFile:
    """An open Parquet file; see `decoding.OpenDataFile`."""

    def __init__(
        self,
        file: pq.ParquetFile,
        path: str,
        source: "_Source",
        *,
        use_threads: bool,
        batch_bytes: int,
    ) -> None:
        self._file = file
        self._batch_bytes = batch_bytes
        self._source = source
        self._path = path
        self._use_threads = use_threads
        self.metadata: pq.FileMetaData = file.metadata
        self.spans = _spans(self.metadata)
        self._leaves = _leaves(self.metadata)
        self._pages: ParquetPages | None = None
        self.paged_bytes = _FAR_PAGED_BYTES if source.pre_buffer else _PAGED_BYTES

    @property
    def names(self) -> frozenset[str]:
        """The top-level columns."""
        return frozenset(self._file.schema_arrow.names)

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Statistics of the row groups; see `decoding.Bounded`."""
        target = to_arrow(column.type)
        leaves = self._leaves.get(column.name, ())
        if len(leaves) != 1 or self._file.schema_arrow.field(column.name).type != target:
            return None
        with decoding(self._path, _FORMAT):
            return row_group_bounds(self.metadata, leaves[0], target)

    def paged(self, columns: Sequence[StoredColumn], span: int) -> PagedRows | None:
        """The pages of a row group; see `decoding.Paged`."""
        (size,) = self._sizes(columns, (span,))
        footer = self.metadata.serialized_size * _BYTES_PER_FOOTER_BYTE
        if size < self.paged_bytes or (self.paged_bytes and size * len(self.spans) < footer):
            return None
        from paimon_explore.encoding.parquet.page_reader import PagedGroup, ParquetPages  # noqa: PLC0415 - selective reads

        if self._pages is None:
            self._pages = ParquetPages(
                file=self._source.file,
                path=self._path,
                leaves=self._leaves,
                arrow=self._file.schema_arrow,
                footer=self._source.footer,
                may_walk=not self._source.pre_buffer,
            )
        return PagedGroup(
            pages=self._pages,
            group=span,
            first=self.spans[span].first,
            batch_rows=self._rows_within(self._batch_bytes, (size,), (span,)),
        )

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Rows of the given row groups; see `decoding.OpenDataFile`."""
        if not columns:
            yield from rows_without_columns([self.spans[i] for i in spans], batch_rows)
            return
        paths = [path for column in columns for path in _leaf_prefixes(column.name, column.type)]
        file = self._with_dictionaries(columns, spans)
        sizes = self._sizes(columns, spans)
        batch_rows = min(batch_rows, self._rows_within(self._batch_bytes, sizes, spans))
        use_threads = self._use_threads and sum(sizes) > _THREADED_BYTES
        for run in consecutive(spans):
            first = self.spans[run[0]].first
            for batch in self._decoded(file, run, paths, (batch_rows, use_threads)):
                yield PositionedBatch(
                    first=first, rows=batch.num_rows, columns=self._conformed(batch, columns)
                )
                first += batch.num_rows

    def _sizes(self, columns: Sequence[StoredColumn], spans: Sequence[int]) -> list[int]:
        """The bytes that columns take in each row group, decompressed but not decoded."""
        names = {column.name for column in columns}
        leaves = [
            leaf
            for path, found in self._leaves.items()
            if path.partition(".")[0] in names or path in names
            for leaf in found
        ]
        groups = map(self.metadata.row_group, spans)
        return [
            sum(group.column(leaf).total_uncompressed_size for leaf in leaves) for group in groups
        ]

    def _rows_within(self, size: int, sizes: Sequence[int], spans: Sequence[int]) -> int:
        """How many rows of the widest row group take about so many bytes, at least some.

        A power of two: values of any width then take whole blocks of Arrow's pool. Between two of
        them the pool holds a quarter more than is used.
        """
        rows = [max(self.spans[span].rows, 1) for span in spans]
        width = max((total // count for total, count in zip(sizes, rows, strict=True)), default=1)
        return 1 << (max(size // max(width, 1), _FEWEST_ROWS).bit_length() - 1)

    def _with_dictionaries(
        self, columns: Sequence[StoredColumn], spans: Sequence[int]
    ) -> pq.ParquetFile:
        """The file so opened that texts which are stored as dictionaries are read as such.

        Looking up whole columns afterwards costs half of what Arrow takes value by value. Reads
        that fetch ahead are kept apart: the second would forget what the first has fetched.
        """
        names = {column.name for column in columns if _is_text(column.type)}
        kept = [
            name
            for name, leaves in self._leaves.items()
            if name in names and len(leaves) == 1 and self._is_coded(leaves[0], spans)
        ]
        if not kept and not self._source.pre_buffer:
            return self._file
        with decoding(self._path, _FORMAT):
            return pq.ParquetFile(
                self._source.file,
                metadata=self.metadata,
                pre_buffer=self._source.pre_buffer,
                buffer_size=self._source.buffer_bytes,
                read_dictionary=kept,
            )

    def _is_coded(self, leaf: int, spans: Sequence[int]) -> bool:
        """Whether a text column takes so few bytes that its values must be in dictionaries.

        So are values that could be so long that a batch of copies of them would not fit into
        memory: their places are counted before they are looked up.
        """
        limit = memory_limit()
        for group in spans:
            chunk = self.metadata.row_group(group).column(leaf)
            size, count = chunk.total_uncompressed_size, chunk.num_values
            few = size < _CODED_BYTES * count or size * min(count, _MOST_BATCH_ROWS) > limit
            if not (few and chunk.has_dictionary_page):
                return False
        return True

    def _check_expanded(self, values: Column, places: Column, column: StoredColumn) -> None:
        """Refuse values that take more memory than allowed once they are looked up."""
        if values.nbytes * len(places) <= memory_limit():
            return
        sizes = pc.call_function("binary_length", [values])
        total = pc.call_function("sum", [sizes.take(places).cast(pa.int64())]).as_py()
        what = f"{len(places):,} values of column {column.name!r}"
        check_size(int(total or 0), self._path, f"column {column.name!r}", what)

    def _decoded(
        self, file: pq.ParquetFile, groups: list[int], paths: list[str], how: tuple[int, bool]
    ) -> Iterator[pa.RecordBatch]:
        """Batches of so many rows, perhaps with threads."""
        rows, use_threads = how
        with decoding(self._path, _FORMAT):
            yield from file.iter_batches(
                rows, row_groups=groups, columns=paths, use_threads=use_threads
            )

    def _conformed(
        self, batch: pa.RecordBatch, columns: Sequence[StoredColumn]
    ) -> tuple[Column, ...]:
        places = {name: i for i, name in enumerate(batch.schema.names)}
        return tuple(
            self._conformed_column(batch.column(places[column.name]), column) for column in columns
        )

    def _conformed_column(self, array: Column, column: StoredColumn) -> Column:
        if isinstance(array, pa.DictionaryArray):
            self._check_expanded(array.dictionary, array.indices, column)
            values = conform(array.dictionary, column.type, path=self._path, column=column.name)
            return pa.DictionaryArray.from_arrays(array.indices, values, safe=False)
        if isinstance(array, pa.StructArray) and isinstance(column.type, MapType):
            from paimon_explore.encoding.shared_shredding import (  # noqa: PLC0415 - rare
                assembled_map,
            )

            array = assembled_map(
                array, self._file.schema_arrow, path=self._path, column=column.name
            )
        return conform(array, column.type, path=self._path, column=column.name)


def open_parquet(
    file: pa.NativeFile, path: str, *, use_threads: bool = True, batch_bytes: int = BATCH_BYTES
) -> ParquetDataFile:
    """Read the footer of a Parquet file.

    Args:
        file: open for random reading; the caller closes it, after the last batch.
        path: for messages.
        use_threads: decode columns in parallel.
        batch_bytes: about what a batch takes at most, decoded.

    Raises:
        CorruptFileError: the file is no Parquet file or its footer is damaged.
    """
    # remote files: fetch the wanted chunks in few large requests; locally it only costs memory
    pre_buffer = not isinstance(file, pa.OSFile | pa.MemoryMappedFile | pa.BufferReader)
    with decoding(path, _FORMAT):
        size = 0 if pre_buffer else _BUFFER_BYTES
        source = _Source(file=file, pre_buffer=pre_buffer, buffer_bytes=size)
        opened = _opened(source)
        if opened is None:
            footer = _readable_footer(file, path)
            metadata = pq.ParquetFile(pa.BufferReader(footer_as_file(footer))).metadata
            opened = pq.ParquetFile(
                file, metadata=metadata, pre_buffer=pre_buffer, buffer_size=size
            )
            source = replace(source, footer=footer)
        return ParquetDataFile(
            opened, path, source, use_threads=use_threads, batch_bytes=batch_bytes
        )


def _opened(source: _Source) -> pq.ParquetFile | None:
    """The file as Arrow opens it; None where its footer has to be changed first."""
    try:
        opened = pq.ParquetFile(
            source.file, pre_buffer=source.pre_buffer, buffer_size=source.buffer_bytes
        )
    except pa.ArrowInvalid as error:
        if _KEYS_REFUSED in str(error):
            return None
        raise
    schema = opened.metadata.schema
    has_int96 = any(schema.column(i).physical_type == "INT96" for i in range(len(schema)))
    return None if has_int96 else opened


def _readable_footer(file: pa.NativeFile, path: str) -> bytes:
    size = file.size()
    file.seek(max(size - TAIL_BYTES, 0))
    length = footer_length(file.read(TAIL_BYTES), path=path, size=size)
    file.seek(size - TAIL_BYTES - length)
    return readable_footer(file.read(length), path=path)


def _leaves(metadata: pq.FileMetaData) -> Mapping[str, tuple[int, ...]]:
    """Indexes of the leaves by their dotted path."""
    schema = metadata.schema
    found: dict[str, tuple[int, ...]] = {}
    for i in range(len(schema)):
        path = schema.column(i).path
        found[path] = (*found.get(path, ()), i)
    return found


def _is_text(data_type: DataType) -> bool:
    return isinstance(data_type, AtomicType) and data_type.root in _TEXTS


def _spans(metadata: pq.FileMetaData) -> tuple[Span, ...]:
    """The row groups."""
    spans = []
    first = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        spans.append(Span(first=first, rows=rows))
        first += rows
    return tuple(spans)


def _leaf_prefixes(name: str, data_type: DataType) -> list[str]:
    """Dotted paths that together select the leaves of a column; ROW members are chosen one by one.

    Below arrays and maps all is selected, for writers name the groups in between differently.
    """
    if not isinstance(data_type, RowType) or not data_type.fields:
        return [name]
    return [
        path
        for field in data_type.fields
        for path in _leaf_prefixes(f"{name}.{field.name}", field.type)
    ]


def consecutive(indexes: Sequence[int]) -> list[list[int]]:
    """Ascending indexes cut where one is left out.

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
