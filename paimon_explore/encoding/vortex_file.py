"""Reader of Vortex files, by the optional package `vortex-data`.

Spec: concepts/spec/fileformat, Vortex section. Seen in: files of pypaimon 2.1.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import pairwise

import pyarrow as pa
import vortex
import vortex.expr as ve

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.data_file_reader import (
    Choice,
    Filtering,
    Paged,
    PositionedBatch,
    Span,
    StoredColumn,
)
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.encoding.native_libraries import PositionalSource, native_decoding
from paimon_explore.encoding.positional_batches import (
    TakenRows,
    conformed,
    rows_without_columns,
)
from paimon_explore.errors import CorruptFileError

_COMPARISONS: Mapping[Relation, Callable[[object, object], ve.Expr]] = {
    Relation.EQ: ve.eq,
    Relation.NE: ve.not_eq,
    Relation.LT: ve.lt,
    Relation.LE: ve.lt_eq,
    Relation.GT: ve.gt,
    Relation.GE: ve.gt_eq,
}
_FEW_ROWS = 1024
_CACHE_BYTES = 64 << 20


class VortexDataFile(Filtering, Paged):
    """An open Vortex file; see `OpenDataFile`. Its spans are those that Vortex suggests.

    Args:
        stream: the file, opened for random access.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: the footer is damaged.
    """

    def __init__(self, stream: pa.NativeFile, path: str) -> None:
        self._path = path
        self._source = PositionalSource(stream)
        self._is_cached = False
        with self._decoding("footer"):
            self._file = vortex.open_readable(self._source, without_segment_cache=True)
            self._types = dict(
                zip(self._file.dtype.names(), self._file.dtype.fields(), strict=True)
            )
            self.names = frozenset(self._types)
            """Names of the columns."""
            splits = self._file.splits()
        self.spans = tuple(Span(first=start, rows=end - start) for start, end in splits)
        """Row ranges that are decoded together."""
        starts = [0, *(span.first + span.rows for span in self.spans)]
        if [span.first for span in self.spans] != starts[:-1] or starts[-1] != len(self._file):
            raise CorruptFileError(path, "footer", "the row ranges must cover all rows in order")

    def batches(
        self, columns: Sequence[StoredColumn], spans: Sequence[int], batch_rows: int
    ) -> Iterator[PositionedBatch]:
        """Yield the rows of spans in file order; see `OpenDataFile`.

        Raises:
            CorruptFileError: a part of the file is damaged.
        """
        if not columns:
            yield from rows_without_columns([self.spans[span] for span in spans], batch_rows)
            return
        with self._decoding("columns"):
            scan = self._file.to_repeated_scan(
                [column.name for column in columns], batch_size=batch_rows
            )
        for start, end in self._ranges(spans):
            first = start
            with self._decoding(f"rows {start} to {end}"):
                reader: pa.RecordBatchReader = scan.execute(row_range=(start, end)).to_arrow()
            while True:
                with self._decoding(f"rows {first} to {end}"):
                    batch = next(reader, None)
                if batch is None:
                    break
                yield from conformed(batch, columns, first, batch_rows, path=self._path)
                first += batch.num_rows
            if first != end:
                rule = f"must have {end - start} rows as stated in the footer"
                raise CorruptFileError(self._path, f"rows {start} to {end}", rule)

    def match_finder(self, choices: Sequence[Choice]) -> Callable[[int], bool] | None:
        """Return whether spans have matches, whose positions Vortex does not tell; see `Filtering`.

        Vortex skips parts of columns by their statistics.
        """
        if len(self._file) < _FEW_ROWS:
            return None
        try:
            wanted = ve.and_collect(
                [
                    ve.or_collect([self._expression(column.name, one) for column, one in choice])
                    for choice in choices
                ]
            )
        except (RuntimeError, TypeError, ValueError):  # a constant that the type does not have
            return None
        self._keep_segments()
        with self._decoding("columns"):
            scan = self._file.to_repeated_scan([choices[0][0][0].name], expr=wanted)

        def has_match(index: int) -> bool:
            span = self.spans[index]
            end = span.first + span.rows
            with self._decoding(f"rows {span.first} to {end}"):
                found: pa.RecordBatchReader = scan.execute(row_range=(span.first, end)).to_arrow()
                return any(batch.num_rows for batch in found)

        return has_match

    def _expression(self, name: str, condition: Condition) -> ve.Expr:
        column, kind = ve.column(name), self._types[name]
        match condition.relation:
            case Relation.IS_NULL:
                return ve.is_null(column)
            case Relation.IS_NOT_NULL:
                return ve.is_not_null(column)
            case Relation.IN | Relation.NOT_IN:
                found = ve.in_list(column, ve.literal(vortex.list_(kind), list(condition.values)))
                return found if condition.relation is Relation.IN else ve.not_(found)
            case relation:
                return _COMPARISONS[relation](column, ve.literal(kind, condition.values[0]))

    def paged(self, columns: Sequence[StoredColumn], span: int) -> TakenRows | None:
        """Return the rows of a span as pages of one row; see `Paged`."""
        del columns
        found = self.spans[span]
        if found.rows < _FEW_ROWS:
            return None
        self._keep_segments()
        return TakenRows(path=self._path, span=found, take=self._taken)

    def _taken(self, column: str, rows: Ints) -> pa.Table:
        with self._decoding(f"column {column}"):
            indices = vortex.array(pa.array(rows, pa.uint64()))
            reader: pa.RecordBatchReader = self._file.to_arrow([column], indices=indices)
            return reader.read_all()

    def _keep_segments(self) -> None:
        """Keep the last bytes that were read, because parts of the same bytes are read again."""
        if self._is_cached:
            return
        with self._decoding("footer"):
            self._file = vortex.open_readable(
                self._source,
                footer=self._file.footer,
                segment_cache=vortex.SegmentCache(_CACHE_BYTES),
                cache_key=self._path,
            )
        self._is_cached = True

    def _decoding(self, what: str) -> AbstractContextManager[None]:
        return native_decoding(self._path, what, self._source)

    def _ranges(self, spans: Sequence[int]) -> list[tuple[int, int]]:
        """Return the row ranges of adjacent spans."""
        if not spans:
            return []
        breaks = [i + 1 for i, (one, other) in enumerate(pairwise(spans)) if other != one + 1]
        groups = [spans[a:b] for a, b in pairwise([0, *breaks, len(spans)])]
        return [
            (self.spans[group[0]].first, self.spans[group[-1]].first + self.spans[group[-1]].rows)
            for group in groups
        ]
