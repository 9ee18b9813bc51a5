"""Predicate pushdown into one data file: which spans (row groups) to read, and how.

Spans that cannot match by the file's statistics are skipped, and those without a match where the
library of the format finds matches by itself. Others are read with late
materialization where that pays off, else completely. Where the statistics show that all rows match,
columns that only the predicate reads are not read.
"""

from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from itertools import groupby

import numpy as np

from paimon_explore.data_types.definitions import INTEGERS, TEXTS, AtomicType, TypeRoot
from paimon_explore.encoding.data_file_reader import (
    Bounded,
    Choice,
    Filtering,
    OpenDataFile,
    Paged,
    StoredColumn,
)
from paimon_explore.encoding.file_index.index_condition import Condition, Relation
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_vector_filter import FileRows, RowFilter, plain_rows
from paimon_explore.read.file_predicate import FilePredicate, only_matches
from paimon_explore.read.late_materialization import LateSpan
from paimon_explore.scan.predicate.column_condition import column_condition
from paimon_explore.scan.predicate.expression import (
    And,
    Expression,
    IsNull,
    Not,
    Or,
)
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, Outcomes

_COMPARABLE = INTEGERS | TEXTS | {TypeRoot.BOOLEAN, TypeRoot.DATE}
_FEW_VALUES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """The columns to read from a file.

    Attributes:
        stored: columns to read, including the predicate's.
        output: columns of the result, the first ones of `stored`; only matching rows are returned.
            None for all of `stored`; if the predicate fails on a row, rows that do not match may
            then be returned.
        batch_rows: maximum rows of a batch.
    """

    stored: tuple[StoredColumn, ...]
    output: tuple[StoredColumn, ...] | None
    batch_rows: int


class _ReadMode(Enum):
    LATE = "with late materialization"
    FILTERED = "completely, rows that do not match are dropped"
    PLAIN = "completely, all rows are returned"


def matching_rows(
    file: OpenDataFile, predicate: FilePredicate, projection: Projection, rows: RowFilter
) -> Iterator[FileRows]:
    """Reads the rows of a file that may match, in file order.

    Args:
        file: the open file.
        predicate: the predicate; its columns are among the stored ones.
        projection: the columns, and whether only matching rows are returned.
        rows: the filter by position.
    """
    output = projection.stored if projection.output is None else projection.output
    for mode, spans in groupby(_spans(file, predicate, projection, rows), key=lambda span: span[0]):
        if mode is _ReadMode.LATE:
            for _, _, late in spans:
                yield from late.batches() if late is not None else ()
            continue
        stored = projection.stored if mode is _ReadMode.FILTERED else output
        indices = [index for _, index, _ in spans]
        found = plain_rows(file, stored, indices, rows, projection.batch_rows)
        if mode is _ReadMode.FILTERED:
            may_fail = projection.output is None
            found = only_matches(found, predicate, stored, len(output), may_fail=may_fail)
        yield from found


def _spans(
    file: OpenDataFile, predicate: FilePredicate, projection: Projection, rows: RowFilter
) -> Iterator[tuple[_ReadMode, int, LateSpan | None]]:
    """The spans that may contain a match, each with its read mode."""
    outcomes = _outcomes(file, predicate)
    all_match = ~(outcomes.false | outcomes.unknown)
    has_match = None
    if isinstance(file, Filtering) and (choices := _comparisons(predicate)):
        has_match = file.match_finder(choices)
    for index, span in enumerate(file.spans):
        if not outcomes.true[index] or not rows.may_keep(span):
            continue
        if has_match is not None and not has_match(index):
            continue
        late = None
        if predicate.is_flat and not all_match[index]:
            late = _late(file, predicate, projection, rows, index)
        if late is not None:
            yield _ReadMode.LATE, index, late
        elif all_match[index]:
            yield _ReadMode.PLAIN, index, None
        else:
            yield _ReadMode.FILTERED, index, None


def _late(
    file: OpenDataFile,
    predicate: FilePredicate,
    projection: Projection,
    rows: RowFilter,
    index: int,
) -> LateSpan | None:
    """The span for late materialization; None if it is too small, or matches are not few."""
    pages = file.paged(projection.stored, index) if isinstance(file, Paged) else None
    if pages is None:
        return None
    late = LateSpan(
        file=file,
        pages=pages,
        index=index,
        stored=projection.stored,
        output=projection.output,
        predicate=predicate,
        rows=rows,
        batch_rows=projection.batch_rows,
    )
    few = pages.distinct is None or _matches_few(predicate, pages.distinct)
    return late if few or late.has_few_candidates() else None


def _matches_few(predicate: FilePredicate, distinct: Collection[str]) -> bool:
    """Return whether a column with many distinct values must equal one of few constants."""
    return any(
        len(choice) == 1
        and column.name in distinct
        and condition.relation in (Relation.EQ, Relation.IN)
        and len(condition.values) <= _FEW_VALUES
        for choice in _comparisons(predicate)
        for column, condition in choice
    )


def _outcomes(file: OpenDataFile, predicate: FilePredicate) -> Outcomes:
    """The possible outcomes of the predicate in each span, by the statistics of the file."""
    known: dict[str, ColumnStats] = {}
    if isinstance(file, Bounded):
        for name, column in predicate.bounded.items():
            found = file.bounds(column)
            if found is not None:
                known[name] = ColumnStats(
                    minimum=found.minimum, maximum=found.maximum, null_count=found.null_count
                )
    return predicate.outcomes(np.array([span.rows for span in file.spans], np.int64), known)


def _comparisons(predicate: FilePredicate) -> list[Choice]:
    """Return comparisons with constants that the library of a file format can evaluate by itself.

    They are a superset: all matching rows fulfil them, and the predicate is evaluated on the rows
    that are read. Floating-point columns are left out, since libraries order NaN and -0.0
    differently.
    """
    columns = {
        name: column
        for name, column in predicate.bounded.items()
        if isinstance(column.type, AtomicType) and column.type.root in _COMPARABLE
    }
    found: list[Choice] = []
    for part in _parts(predicate.predicate, And):
        choice = [_comparison(one, columns) for one in _parts(part, Or)]
        known = [one for one in choice if one is not None]
        if len(known) == len(choice):
            found.append(known)
    return found


def _parts(expr: Expression, kind: type[And | Or]) -> list[Expression]:
    """Return the parts that AND or OR combine, also in parentheses."""
    if not isinstance(expr, kind):
        return [expr]
    return [part for child in expr.children for part in _parts(child, kind)]


def _comparison(
    expr: Expression, columns: Mapping[str, StoredColumn]
) -> tuple[StoredColumn, Condition] | None:
    """Return a comparison of one of the columns; None for another predicate."""
    inner = expr.child if isinstance(expr, Not) else expr
    if inner is not expr and not isinstance(inner, IsNull):
        return None
    name, condition = column_condition(inner, wanted=inner is expr) or ("", None)
    if condition is None or name not in columns:
        return None
    is_never_true = condition.relation is Relation.IN and not condition.values
    return None if is_never_true else (columns[name], condition)
