"""Automatic compaction after a write, as in Paimon's writers; `write-only` disables it.

Rows of a primary-key table are written to level 0. Then the written buckets are compacted if the
number and sizes of sorted runs require it, or fully with `full-compaction.delta-commits`. Tables
that compact by lookup (deletion vectors, first-row, changelog producer `lookup`) always compact,
because their new rows are invisible before.

The rows are already committed. If a compaction loses a commit conflict, it is planned again where
rows are invisible without it, with the retries of a commit; otherwise it is skipped. A failed
compaction is a warning: the next write or `compact` repeats it.

Spec: primary-key-table, compaction; maintenance/configurations, `write-only`, `lookup-wait`.
"""

import warnings
from collections.abc import Collection, Sequence

from paimon_explore.commit.commit_timing import CommitRetryPolicy
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.planned_again import PlannedTable, repeated, with_latest_schema
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    PaimonError,
    SnapshotExpiredError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.table_options import POSTPONE_BUCKET, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimon_explore.write.buckets.bucket_writers import BucketId
from paimon_explore.write.write_target import WriteTarget, abort

_SKIPPED = (CommitConflictError, SnapshotExpiredError, UnsupportedFeatureError)
"""Errors that skip a compaction without a warning, if rows are visible without it."""
_NO_RETRY = CommitRetryPolicy(max_retries=0, timeout_ms=None, min_wait_ms=0, max_wait_ms=0)


def auto_compact(
    committer: Committer,
    target: PlannedTable,
    written: Sequence[CommitMessage],
    identifier: int = BATCH_COMMIT_IDENTIFIER,
) -> list[Snapshot]:
    """Compact the buckets that a commit has written to, if the table's options require it.

    Args:
        committer: the committer of the rows; it also commits the compaction.
        target: the table, its latest schema, its options.
        written: the committed messages.
        identifier: the commit identifier of the rows.

    Returns:
        The snapshot of the compaction; empty if there was nothing to compact or it was skipped.
    """
    _, schema, options = target
    buckets = {(m.partition, m.bucket) for m in written if m.bucket != POSTPONE_BUCKET}
    if not buckets or not is_auto_compacted(schema, options):
        return []
    try:
        return repeated(
            options,
            lambda retry: _compact_once(
                committer, with_latest_schema(target) if retry else target, buckets, identifier
            ),
            policy=None if needs_lookup(options) else _NO_RETRY,
        )
    except PaimonError as error:
        if needs_lookup(options) or not isinstance(error, _SKIPPED):
            _warn(error)
        return []


def _compact_once(
    committer: Committer, target: PlannedTable, buckets: Collection[BucketId], identifier: int
) -> list[Snapshot]:
    """Plan, merge and commit once; delete the new files if the commit fails."""
    store, schema, options = target
    full = _is_full(options, identifier)
    messages = compact_table(store, schema, options, full=full, buckets=buckets)
    try:
        return committer.commit(messages, identifier) if messages else []
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        abort(WriteTarget(store=store, schema=schema, options=options), messages)
        raise


def _is_full(options: TableOptions, identifier: int) -> bool:
    """Whether the compaction is full: after each batch, after each n-th commit of a stream."""
    interval = options.value(opt.FULL_COMPACTION_DELTA_COMMITS)
    if interval is None or interval < 1:
        return False
    return identifier == BATCH_COMMIT_IDENTIFIER or identifier % interval == 0


def is_auto_compacted(schema: TableSchema, options: TableOptions) -> bool:
    """Whether writers of the table compact after a write, and wait for the compaction."""
    if not schema.primary_keys or options.value(opt.WRITE_ONLY):
        return False
    return options.value(opt.LOOKUP_WAIT) or not needs_lookup(options)


def _warn(error: PaimonError) -> None:
    warnings.warn(
        f"The rows are committed, but the compaction after the commit failed: {error}",
        RuntimeWarning,
        stacklevel=4,
    )
