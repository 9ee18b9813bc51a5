"""What a predicate says about the rows of one data file: which spans to read, and how.

Spans that cannot hold a match, by the file's statistics, are left out. Of others, single pages are
decoded where that pays (`late_rows`); the rest is read as it lies in the file. Where the statistics
say that all rows match, columns that only the predicate reads are left alone.
"""

from collections.abc import Iterator
from enum import Enum
from itertools import groupby

import numpy as np

from paimon_explore.encoding.data_file_reader import Bounded, OpenDataFile, Paged, StoredColumn
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.read.deletion_filter import FileRows, RowFilter, plain_rows
from paimon_explore.read.file_predicate import Condition, only_matches
from paimon_explore.read.late_materialization import LateSpan
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is wanted of a file besides the rows.

    Attributes:
        stored: columns to read, the predicate's among them.
        given: columns of the result, the first ones of `stored`: only matches come then. None: all
            of `stored`, and rows may come of which the predicate is not true.
        batch_rows: no batch is longer.
    """

    stored: tuple[StoredColumn, ...]
    given: tuple[StoredColumn, ...] | None
    batch_rows: int


class _How(Enum):
    LATE = "only pages that may hold matches"
    TESTED = "whole, and the rows that do not match are dropped"
    PLAIN = "whole, and all rows are given"


def matching_rows(
    file: OpenDataFile, condition: Condition, wanted: Wanted, rows: RowFilter
) -> Iterator[FileRows]:
    """The rows of a file that may match, in its order.

    Args:
        file: open.
        condition: the predicate; its columns are among the stored ones.
        wanted: columns, and whether only matches.
        rows: which may be kept besides.
    """
    given = wanted.stored if wanted.given is None else wanted.given
    for how, spans in groupby(_spans(file, condition, wanted, rows), key=lambda span: span[0]):
        if how is _How.LATE:
            for _, _, late in spans:
                yield from late.batches() if late is not None else ()
            continue
        stored = wanted.stored if how is _How.TESTED else given
        found = plain_rows(file, stored, [index for _, index, _ in spans], rows, wanted.batch_rows)
        if how is _How.TESTED:
            found = only_matches(found, condition, stored, len(given))
        yield from found


def _spans(
    file: OpenDataFile, condition: Condition, wanted: Wanted, rows: RowFilter
) -> Iterator[tuple[_How, int, LateSpan | None]]:
    """The spans that may hold a match, and how each is read."""
    judged = _judged(file, condition)
    is_sure = ~(judged.false | judged.unknown)
    for index, span in enumerate(file.spans):
        if not judged.true[index] or not rows.may_keep(span):
            continue
        late = None
        if condition.is_flat and not is_sure[index]:
            late = _late(file, condition, wanted, rows, index)
        if late is not None:
            yield _How.LATE, index, late
        elif is_sure[index] or wanted.given is None:
            yield _How.PLAIN, index, None
        else:
            yield _How.TESTED, index, None


def _late(
    file: OpenDataFile, condition: Condition, wanted: Wanted, rows: RowFilter, index: int
) -> LateSpan | None:
    """A span to read late; None where it has no pages or is too small."""
    pages = file.paged(wanted.stored, index) if isinstance(file, Paged) else None
    if pages is None:
        return None
    return LateSpan(
        file=file,
        pages=pages,
        index=index,
        stored=wanted.stored,
        given=wanted.given,
        condition=condition,
        rows=rows,
        batch_rows=wanted.batch_rows,
    )


def _judged(file: OpenDataFile, condition: Condition) -> Outcomes:
    """What the predicate can be in each span, by the statistics of the file."""
    known: dict[str, ColumnStats] = {}
    if isinstance(file, Bounded):
        for name, column in condition.bounded.items():
            found = file.bounds(column)
            if found is not None:
                known[name] = ColumnStats(
                    minimum=found.minimum, maximum=found.maximum, null_count=found.null_count
                )
    return condition.outcomes(np.array([span.rows for span in file.spans], np.int64), known)
