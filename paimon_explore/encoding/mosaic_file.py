"""Reader of Mosaic files, by the optional package `paimon-mosaic`.

A Mosaic file consists of row groups; the columns of a row group are stored in buckets, each of
which is compressed by itself. Only the buckets of the requested columns are read.

Spec: concepts/spec/fileformat, Mosaic section. Seen in: files of pypaimon 2.1 and
pypaimon-rust 0.4.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate

import mosaic
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import INTEGERS, TEXTS, AtomicType, TypeRoot
from paimon_explore.encoding.data_file_reader import (
    Bounded,
    PositionedBatch,
    Span,
    SpanBounds,
    StoredColumn,
)
from paimon_explore.encoding.native_libraries import PositionalSource, native_decoding
from paimon_explore.encoding.positional_batches import conformed, rows_without_columns
from paimon_explore.errors import CorruptFileError

_BOUNDED = INTEGERS | TEXTS | {TypeRoot.BOOLEAN, TypeRoot.DATE}


class MosaicDataFile(Bounded):
    """An open Mosaic file; see `OpenDataFile`. Its spans are row groups.

    Args:
        stream: the file, opened for random access.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the footer is damaged.
    """

    def __init__(self, stream: pa.NativeFile, path: str) -> None:
        self._source = PositionalSource(stream)
        self._path = path
        with self._opened() as reader:
            self.names = frozenset(reader.schema.names)
            """Names of the columns."""
            sizes = [reader.row_group_num_rows(group) for group in range(reader.num_row_groups)]
            self._statistics = [reader.get_row_group_statistics(at) for at in range(len(sizes))]
        firsts = accumulate(sizes, initial=0)
        self.spans = tuple(
            Span(first=first, rows=rows) for first, rows in zip(firsts, sizes, strict=False)
        )
        """The row groups as spans."""

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of row groups in file order; see `OpenDataFile`.

        Raises:
            CorruptFileError: a row group is damaged.
        """
        if not columns:
            yield from rows_without_columns([self.spans[group] for group in spans], batch_rows)
            return
        with self._opened() as reader:
            with self._decoding("columns"):
                reader.project([column.name for column in columns])
            for group in spans:
                with self._decoding(f"row group {group}"):
                    batch: pa.RecordBatch = reader.read_row_group(group)
                span = self.spans[group]
                if batch.num_rows != span.rows:
                    rule = f"must have {span.rows} rows as stated in the footer"
                    raise CorruptFileError(self._path, f"row group {group}", rule)
                yield from conformed(batch, columns, span.first, batch_rows, path=self._path)

    def bounds(self, column: StoredColumn) -> SpanBounds | None:
        """Return the statistics of the row groups, which `mosaic.stats-columns` has; see `Bounded`.

        Raises:
            CorruptFileError: a value is not one of the column's type.
        """
        known = [found.get(column.name) for found in self._statistics]
        root = column.type.root if isinstance(column.type, AtomicType) else None
        if root not in _BOUNDED or not any(known):
            return None
        kind = to_arrow(column.type)
        with self._decoding("statistics"):
            return SpanBounds(
                minimum=_decoded([None if one is None else one.min for one in known], kind),
                maximum=_decoded([None if one is None else one.max for one in known], kind),
                null_count=pa.array(
                    [None if one is None else one.null_count for one in known], pa.int64()
                ),
            )

    @contextmanager
    def _opened(self) -> Iterator[mosaic.MosaicReader]:
        with self._decoding("footer"):
            source = self._source
            reader = mosaic.MosaicReader.from_input_file(source.read_at, source.size())
        try:
            yield reader
        finally:
            reader.close()

    def _decoding(self, what: str) -> AbstractContextManager[None]:
        return native_decoding(self._path, what, self._source)


def _decoded(stored: Sequence[bytes | None], kind: pa.DataType) -> Column:
    """Return bounds, which are stored with the most significant byte first."""
    if pa.types.is_string(kind):
        return pa.array(stored, pa.binary()).cast(kind)
    numbers = [None if one is None else int.from_bytes(one, "big", signed=True) for one in stored]
    width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    return pa.array(numbers, width).cast(kind)
