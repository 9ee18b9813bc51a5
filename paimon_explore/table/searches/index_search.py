"""Searches in full-text and vector indexes: the best rows of a table, with their scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore import arrow_compute as pc
from paimon_explore.arguments import integer, mapping, optional_integer, string
from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.data_types.arrow_buffers import Floats, Ints
from paimon_explore.data_types.definitions import DataField
from paimon_explore.encoding.global_index.search_scores import SCORES, exact_scores
from paimon_explore.encoding.native_libraries import PositionalSource
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.index_files.search_index import (
    check_search_column,
    metric_of,
    search_index,
)
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.refused_options import check_not_postponed
from paimon_explore.metadata.options.table_options import (
    GLOBAL_INDEX_ROW_COUNT_PER_SHARD,
    TableOptions,
)
from paimon_explore.read.row_rules import rules_of
from paimon_explore.scan.manifest_arrays import row_array
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.scored_rows import Ranker, ScoredRows, fused
from paimon_explore.scan.search_indexes import FULL_TEXT, IndexQuery, IndexSearch, search_indexes
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.scan import make_scan
from paimon_explore.table.searches.rows_by_id import (
    files_with_row_ids,
    matching_row_ids,
    rows_by_id,
)

if TYPE_CHECKING:
    from paimon_explore.table import lazy_types as types

SCORE = "_SCORE"
"""Name of the column with the scores."""
QUERY = "_QUERY"
"""Name of the column with the number of the query vector."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Search:
    """What `Table.search` is asked for.

    Attributes:
        queries: one for each column.
        limit: maximum number of rows of each result.
        weights: of the queries; None for a search in one column, whose scores are not combined.
        ranker: how the results of several columns are combined.
        is_batch: whether the rows name their query.
    """

    queries: tuple[IndexQuery, ...]
    limit: int
    weights: tuple[float, ...] | None = None
    ranker: Ranker = Ranker.RRF
    is_batch: bool = False


def search_of(column: object, query: object, limit: object, options: object = None) -> Search:
    """The search in one column.

    Raises:
        InvalidInputError: the query is neither text, a mapping, a vector nor a list of vectors, or
            a text has options.
    """
    given = {} if options is None else mapping("options", options)
    name = string("column", column, hint="Or pass a mapping of columns to queries.")
    count = integer("limit", limit, minimum=1)
    if isinstance(query, str | Mapping):
        if given:
            raise InvalidInputError("A search for words takes no options.")
        return Search(queries=(IndexQuery(column=name, limit=count, words=query),), limit=count)
    vectors = _numbers(query)
    is_batch = vectors.ndim > 1
    with np.errstate(over="ignore"):
        finite = np.isfinite(vectors.astype(np.float32)).all()
    if vectors.ndim not in {1, 2} or not vectors.size or not finite:
        raise InvalidInputError(
            "The query must be text, a vector: a list of finite numbers, or a list of such vectors "
            "of the same length."
        )
    asked = IndexQuery(column=name, limit=count, vectors=np.atleast_2d(vectors), options=given)
    return Search(queries=(asked,), limit=count, is_batch=is_batch)


def hybrid_search_of(
    queries: object, limit: object, weights: object, ranker: object, candidates: object
) -> Search:
    """The search in several columns; see `Table.search` for the arguments.

    Raises:
        InvalidInputError: a query, weight or ranker is invalid.
    """
    asked = mapping("column", queries)
    most = optional_integer("candidates", candidates, minimum=1) or limit
    given = {} if weights is None else mapping("weights", weights)
    for column in given.keys() - asked.keys():
        raise InvalidInputError(
            f"The weights have column {column!r}, which is not searched. "
            f"Searched columns: {choices(asked)}."
        )
    single = [
        (search_of(column, query, most), given.get(column, 1.0)) for column, query in asked.items()
    ]
    return combined(single, limit, ranker)


def combined(searches: Sequence[tuple[Search, object]], limit: object, ranker: object) -> Search:
    """The search that combines the results of several ones.

    Args:
        searches: searches with one query each, and their weights.
        limit: maximum number of rows.
        ranker: how they are combined.

    Raises:
        InvalidInputError: no search, several queries in one, or an invalid weight or ranker.
    """
    count = integer("limit", limit, minimum=1)
    if not searches:
        raise InvalidInputError(
            "The list of searches is empty. Pass at least one search of a column."
        )
    known = [one.value for one in Ranker]
    if ranker not in known:
        raise InvalidInputError(f"The ranker must be one of {choices(known)}, not {ranker!r}.")
    for search, weight in searches:
        if search.is_batch:
            raise InvalidInputError(
                f"A search in several columns takes one query for each, not several for column "
                f"{search.queries[0].column!r}. Pass a dict of columns and queries."
            )
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not 0 < weight < float("inf"):  # type: ignore[operator]  # it is a number
            raise InvalidInputError(
                f"The weights must be positive numbers, not {weight!r} for "
                f"{search.queries[0].column!r}."
            )
    return Search(
        queries=tuple(query for search, _ in searches for query in search.queries),
        limit=count,
        weights=tuple(float(str(weight)) for _, weight in searches),
        ranker=Ranker(str(ranker)),
    )


def _numbers(query: object) -> Floats:
    if isinstance(query, pa.Array | pa.ChunkedArray):
        query = query.to_pylist()
    elif isinstance(query, pa.Scalar):
        query = query.as_py()
    try:
        found = np.asarray(query)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "The query must be a list of numbers (a vector), or lists of numbers of one length."
        ) from error
    if found.size and found.dtype.kind not in "iuf":
        raise InvalidInputError(
            f"The query must be a text or a list of numbers (a vector), not {query!r}."
        )
    return found.astype(np.float64)


def searched_rows(
    target: ScanTarget, search: Search, columns: Iterable[str] | None, where: "types.Where | None"
) -> pa.Table:
    """Return the best rows, the best first; see `Table.search`."""
    scan = make_scan(target, columns, where, None)
    check_not_postponed(target.options, "searching a table", target.store.paths.root)
    for query in search.queries:
        if target.schema.field(query.column) is None:
            known = ", ".join(repr(field.name) for field in target.schema.fields)
            raise InvalidInputError(
                f"Column {query.column!r} does not exist.", hint=f"Columns: {known}."
            )
    if scan.narrowed is not None:
        raise InvalidInputError("A search returns whole columns: select no field of a ROW column.")
    if target.store.environment is not None and rules_of(target, scan.columns, scan.where):
        raise UnsupportedFeatureError(
            "searching an index of a table with row filters or column masks",
            hint="Read the rows with scan(), which applies the rules.",
        )
    with explain_missing_files(target.store, target.snapshot):
        files = files_with_row_ids(target, scan.where)
        results = _results(target, files, search, scan.where)
        return _rows(target, files, scan.columns, results, is_batch=search.is_batch)


def _results(
    target: ScanTarget, files: ManifestEntries, search: Search, where: Expression
) -> Sequence[ScoredRows]:
    """The best rows of each query vector, or of the only query."""
    allowed = matching_row_ids(target, files, where)
    found = []
    for query in search.queries:
        indexed = search_indexes(target, query, files, allowed)
        results = [indexed.results]
        field = target.schema.field(query.column)
        if field is not None and query.finds_all_rows(target):
            rows = UnindexedRows(
                field=field,
                allowed=allowed - indexed.covered,
                texts=lambda: matching_row_ids(target, files) - indexed.covered,  # noqa: B023 - called in the loop
                read=partial(rows_by_id, target, files, (field.name,), unrestricted=True),
                options=target.options,
            )
            results.append(rows.search(query, indexed))
        parts = zip(*filter(None, results), strict=True)
        found.append([ScoredRows.merged(part, query.limit) for part in parts])
    if search.weights is None:
        return found[0]
    single = [one for (one,) in found]
    return [fused(single, search.weights, search.ranker, search.limit)]


def _rows(
    target: ScanTarget,
    files: ManifestEntries,
    columns: tuple[str, ...],
    results: Sequence[ScoredRows],
    *,
    is_batch: bool,
) -> pa.Table:
    """The columns of rows, with the number of their query and their scores."""
    fields = [arrow_field(field) for field in target.schema.project(columns).fields]
    fields += [pa.field(QUERY, pa.int32(), nullable=False)] if is_batch else []
    schema = pa.schema([*fields, pa.field(SCORE, pa.float64(), nullable=False)])
    row_ids = np.concatenate([one.row_ids for one in results])
    if not len(row_ids):
        return schema.empty_table()
    batches = rows_by_id(target, files, columns, row_ids.tolist(), unrestricted=True)
    table = pa.Table.from_batches(list(batches))
    read = table.column(len(columns)).to_numpy()
    order = np.argsort(read)[np.searchsorted(np.sort(read), row_ids)]
    chosen = table.select(range(len(columns))).take(row_array(order)).columns
    if is_batch:
        counts = [len(one.row_ids) for one in results]
        of = np.repeat(np.arange(len(results), dtype=np.int32), counts)
        chosen.append(pa.chunked_array([pa.array(of)]))
    scores = np.concatenate([one.scores for one in results])
    chosen.append(pa.chunked_array([pa.array(scores)]))
    return pa.Table.from_arrays(chosen, schema=schema)


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
