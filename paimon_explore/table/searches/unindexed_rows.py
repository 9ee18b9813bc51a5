"""Searches of rows that no index covers, with the scores that an index gives.

Vectors are compared with each query, batch by batch. Texts get a full-text index in memory, whose
scores depend on all texts in it; as in index files it has up to
`global-index.row-count-per-shard` rows.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Floats, Ints
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.global_index.search_scores import SCORES, exact_scores
from paimon_explore.encoding.native_libraries import PositionalSource
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.index_files.search_index import (
    check_search_column,
    metric_of,
    search_index,
)
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.metadata.options.table_options import (
    GLOBAL_INDEX_ROW_COUNT_PER_SHARD,
    TableOptions,
)
from paimon_explore.scan.scored_rows import ScoredRows
from paimon_explore.scan.search_indexes import FULL_TEXT, IndexQuery, IndexSearch

_BLOCK_VALUES = 1 << 20
"""Maximum numbers of vectors that are compared at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnindexedRows:
    """The rows of a table that no index of a column covers.

    Attributes:
        field: the column.
        allowed: the row ids that a search may return.
        texts: returns the row ids of all texts, on which scores depend, also of others.
        read: reads the column of some rows, with their row ids.
        options: of the table.
    """

    field: DataField
    allowed: BitMap64
    texts: Callable[[], BitMap64]
    read: Callable[[BitMap64], Iterator[pa.RecordBatch]]
    options: TableOptions

    def search(self, query: IndexQuery, found: IndexSearch) -> tuple[ScoredRows, ...]:
        """Return the best rows of each query.

        Args:
            query: the queries.
            found: what the indexes of the column have found.

        Raises:
            InvalidInputError: the column has another type, or a vector another dimension.
            UnsupportedFeatureError: the optional package for texts is not installed.
        """
        if not self.allowed:
            return ()
        if found.index_type is None:
            check_search_column(self.field, query.types[0])
        if query.vectors is None:
            return (self._search_texts(query),)
        metric = found.metric or metric_of(self.field, found.index_type, self.options)
        if metric not in SCORES:
            rule = f"must be one of {choices(tuple(SCORES))}"
            raise InvalidInputError(f"The metric of column {self.field.name!r} {rule}.")
        best = [ScoredRows.best([], [], query.limit) for _ in query.vectors]
        for batch in self.read(self.allowed):
            for ids, vectors in self._vectors(batch, query.vectors.shape[1]):
                for at, one in enumerate(query.vectors):
                    scores = exact_scores(one, vectors, metric)
                    known = ~np.isnan(scores)
                    own = ScoredRows.best(ids[known], scores[known], query.limit)
                    best[at] = ScoredRows.merged([best[at], own], query.limit)
        return tuple(best)

    def _vectors(self, batch: pa.RecordBatch, dimension: int) -> Iterator[tuple[Ints, Floats]]:
        """Row ids and vectors of a batch, in blocks; nulls are left out."""
        kept = batch.filter(batch.column(0).is_valid())
        step = max(_BLOCK_VALUES // dimension, 1)
        for start in range(0, kept.num_rows, step):
            part = kept.slice(start, step)
            ids, lists = ints_of(part.column(1)), part.column(0)
            sizes = np.asarray(pc.call_function("list_value_length", [lists]))
            wrong = np.flatnonzero(sizes != dimension)
            if len(wrong):
                at = int(wrong[0])
                raise InvalidInputError(
                    f"The vector has {dimension} dimensions; in column {self.field.name!r} the "
                    f"row with the id {ids[at]} has {sizes[at]}."
                )
            values = pc.call_function("list_flatten", [lists])
            numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
            yield ids, numbers.reshape(len(ids), dimension)

    def _search_texts(self, query: IndexQuery) -> ScoredRows:
        most = max(self.options.value(GLOBAL_INDEX_ROW_COUNT_PER_SHARD), 1)
        parts: list[pa.RecordBatch] = []
        best = ScoredRows.best([], [], query.limit)
        for batch in self.read(self.texts()):
            for start in range(0, batch.num_rows, most):
                parts.append(batch.slice(start, most))
                if sum(part.num_rows for part in parts) < most:
                    continue
                rows = pa.Table.from_batches(parts)
                own = self._search_index(query, rows.slice(0, most))
                best = ScoredRows.merged([best, own], query.limit)
                parts = rows.slice(most).to_batches()
        if parts:
            own = self._search_index(query, pa.Table.from_batches(parts))
            best = ScoredRows.merged([best, own], query.limit)
        return best

    def _search_index(self, query: IndexQuery, rows: pa.Table) -> ScoredRows:
        """Search texts by an index over them."""
        ids: Ints = rows.column(1).to_numpy()
        own = [at for at, row in enumerate(ids.tolist()) if row in self.allowed]
        content = own and search_index(
            rows.column(0), np.arange(len(ids)), self.field, FULL_TEXT, self.options
        )
        if not content:
            return ScoredRows.best([], [], query.limit)
        source = PositionalSource(pa.BufferReader(content.data))
        allowed = None if len(own) == len(ids) else BitMap64(own)
        _, (hits,) = query.hits(source, "", allowed)
        found = [(ids[row], score) for row, score in hits]
        return ScoredRows.best([row for row, _ in found], [one for _, one in found], query.limit)
