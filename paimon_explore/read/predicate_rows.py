"""What a predicate says about the rows of one data file: which spans to read, and how.

Spans that cannot hold a match, by the file's statistics, are left out. Of others, single pages are
decoded where that pays (`late_rows`); the rest is read as it lies in the file, and may hold rows of
which the predicate is not true.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from paimon_explore.encoding.decoding import Bounded, OpenDataFile, Paged, StoredColumn
from paimon_explore.read.data_file_rows import FileRows, RowFilter, plain_rows
from paimon_explore.read.file_condition import Condition
from paimon_explore.read.late_rows import LateSpan
from paimon_explore.scan.prune import ColumnStats, Outcomes


def matching_rows(
    file: OpenDataFile,
    condition: Condition,
    stored: Sequence[StoredColumn],
    rows: RowFilter,
    batch_rows: int,
) -> Iterator[FileRows]:
    """The rows of a file that may match, in its order.

    Args:
        file: open.
        condition: the predicate; its columns are among `stored`.
        stored: columns to read.
        rows: which may be kept besides.
        batch_rows: no batch is longer.
    """
    judged = _judged(file, condition)
    whole: list[int] = []
    for index, span in enumerate(file.spans):
        if not judged.true[index] or not rows.may_keep(span):
            continue
        late = None
        if condition.is_flat and (judged.false[index] or judged.unknown[index]):
            late = _late(file, condition, stored, rows, (index, batch_rows))
        if late is None:
            whole.append(index)
            continue
        yield from plain_rows(file, stored, whole, rows, batch_rows)
        whole = []
        yield from late.batches()
    yield from plain_rows(file, stored, whole, rows, batch_rows)


def _late(
    file: OpenDataFile,
    condition: Condition,
    stored: Sequence[StoredColumn],
    rows: RowFilter,
    place: tuple[int, int],
) -> LateSpan | None:
    """A span to read late; None where it has no pages or is too small."""
    index, batch_rows = place
    pages = file.paged(stored, index) if isinstance(file, Paged) else None
    if pages is None:
        return None
    return LateSpan(
        file=file,
        pages=pages,
        index=index,
        stored=tuple(stored),
        condition=condition,
        rows=rows,
        batch_rows=batch_rows,
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
