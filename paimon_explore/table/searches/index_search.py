"""Searches in full-text and vector indexes: the best rows of a table, with their scores."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.arguments import integer, string
from paimon_explore.data_types.arrow import arrow_field
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.row_rules import rules_of
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import row_array
from paimon_explore.scan.plan import ScanTarget, plan_scan
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.search_indexes import IndexQuery, search_indexes
from paimon_explore.scan.splits.data_split import PlainSplit
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table.scan import make_scan
from paimon_explore.table.searches.rows_by_id import files_with_row_ids, rows_by_id

if TYPE_CHECKING:
    from paimon_explore.table import lazy_types as types

SCORE = "_SCORE"
"""Name of the column with the scores."""


def index_query(column: object, query: object, limit: object) -> IndexQuery:
    """The query of `Table.search`.

    Raises:
        InvalidInputError: the query is neither text, a mapping nor a list of finite numbers.
    """
    name = string("column", column)
    count = integer("limit", limit, minimum=1)
    if isinstance(query, str | Mapping):
        return IndexQuery(column=name, limit=count, words=query)
    try:
        numbers = np.asarray(query, np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"The vector must be numbers: {error}.") from error
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InvalidInputError("The query must be text, or a vector: a list of finite numbers.")
    return IndexQuery(column=name, limit=count, vector=numbers)


def searched_rows(
    target: ScanTarget,
    query: IndexQuery,
    columns: Iterable[str] | None,
    where: "types.Where | None",
) -> pa.Table:
    """Return the best rows, the best first; see `Table.search`."""
    scan = make_scan(target, columns, where, None)
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
    search = _Search(target, scan.columns)
    with explain_missing_files(target.store, target.snapshot):
        files = files_with_row_ids(target)
        found = search_indexes(target, query, search.allowed(files, scan.where))
        return search.rows(files, found.row_ids, found.scores)


class _Search:
    """Reads rows of one snapshot by row id."""

    def __init__(self, target: ScanTarget, columns: tuple[str, ...]) -> None:
        self._target = target
        self._columns = columns

    def allowed(self, files: ManifestEntries, where: Expression) -> BitMap64:
        """The row ids of the rows that are not deleted and match a condition."""
        target, found = self._target, BitMap64()
        snapshot = target.snapshot
        if where == TRUE and (snapshot is None or not _has_deletions(target, snapshot)):
            for start, end in zip(*(part.tolist() for part in row_ranges(files)), strict=True):
                found.add_range(start, end)
            return found
        plan = plan_scan(target, where)
        for batch in self._read(plan.splits, plan.rest):
            found.update(batch.column(0).to_numpy().astype(np.uint64))
        return found

    def rows(
        self, files: ManifestEntries, row_ids: Sequence[int], scores: Sequence[float]
    ) -> pa.Table:
        """The columns of rows, with their scores."""
        fields = [arrow_field(field) for field in self._target.schema.project(self._columns).fields]
        schema = pa.schema([*fields, pa.field(SCORE, pa.float64(), nullable=False)])
        if self._target.snapshot is None or not row_ids:
            return schema.empty_table()
        read_rows = rows_by_id(self._target, files, self._columns, row_ids, unrestricted=True)
        table = pa.Table.from_batches(list(read_rows))
        read = table.column(len(self._columns)).to_numpy()
        order = np.argsort(read)[np.searchsorted(np.sort(read), np.array(row_ids, np.int64))]
        chosen = table.select(range(len(self._columns))).take(row_array(order))
        best = pa.chunked_array([pa.array(scores, pa.float64())])
        return pa.Table.from_arrays([*chosen.columns, best], schema=schema)

    def _read(self, splits: Sequence[PlainSplit], where: Expression) -> Iterator[pa.RecordBatch]:
        reader = SplitReader(
            store=self._target.store,
            schema=self._target.schema,
            options=self._target.options,
            columns=(),
            predicate=where,
            system_columns=(SystemColumn.ROW_ID,),
            unrestricted=True,  # rules were refused
        )
        for split in splits:
            yield from reader.read(split)


def _has_deletions(target: ScanTarget, snapshot: Snapshot) -> bool:
    return bool(len(target.store.manifests.index_of(snapshot).of_type(DELETION_VECTORS_INDEX)))
