"""Incremental scans of tables that read two branches (`scan.fallback-branch`, chain tables).

As in Java, the increment is that of the first branch, plus the increment of the second branch in
partitions that the first increment lacks. Snapshot ids of the range apply to both branches;
timestamps are resolved in each branch. Seen with the official Java 2.0.0.
"""

from collections.abc import Callable, Iterator, Sequence

from paimon_explore.metadata.options.option_enums import IncrementalBetweenScanMode
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.branch_scan import branches_read, is_chain
from paimon_explore.scan.incremental import SnapshotRange, change_splits
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import Split

SpanOf = Callable[[ScanTarget], SnapshotRange]
"""The commits of a branch."""


def branch_changes(
    target: ScanTarget,
    span_of: SpanOf,
    mode: IncrementalBetweenScanMode,
    predicate: Expression = TRUE,
) -> Iterator[tuple[Snapshot, Sequence[Split]]]:
    """Like `change_splits`, for all branches that the table's options name.

    Args:
        target: the table.
        span_of: returns the commit range of a branch.
        mode: `delta` or `changelog`.
        predicate: bound to the reading schema.

    Raises:
        NotFoundError: a commit of a range does not exist.
    """
    own = is_chain(target)  # of which only the table's own commits are read
    first, *others = (target,) if own else branches_read(target)
    present: set[bytes] = set()
    for snapshot, splits in change_splits(first, span_of(first), mode, predicate):
        present.update(split.partition for split in splits)
        yield snapshot, splits
    for other in others:
        for snapshot, splits in change_splits(other, span_of(other), mode, predicate):
            if added := [split for split in splits if split.partition not in present]:
                yield snapshot, added
