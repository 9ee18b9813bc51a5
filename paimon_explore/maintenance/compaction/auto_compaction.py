"""The compaction that belongs to a write: what Paimon's writers do unless a table is `write-only`.

Rows of a primary-key table go to level 0. Behind them the buckets that got rows are compacted as
the options ask for: by the number and sizes of sorted runs, and always where new rows are completed
by looking at older ones (deletion vectors, first-row, changelogs of the producer `lookup`): before
that they are not visible there.

The rows are committed already. A compaction that others were faster with is planned again where the
rows are not visible before one, as often as a lost commit is tried again; elsewhere it is dropped.
One that fails is a warning: the next write, or `compact`, does it again.

Spec: primary-key-table, compaction; maintenance/configurations, `write-only`, `lookup-wait`.
"""

import warnings
from collections.abc import Collection, Sequence

from paimon_explore.commit.backoff import RetryPolicy, Timing, retry_policy_of
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    PaimonError,
    SnapshotExpiredError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.compaction.compact import Place, compact_table
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.table_options import POSTPONE_BUCKET, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget, abort

_MAY_WAIT = (CommitConflictError, SnapshotExpiredError, UnsupportedFeatureError)
"""Why a compaction is left to others, where rows are visible without it."""
_NO_RETRY = RetryPolicy(max_retries=0, timeout_ms=None, min_wait_ms=0, max_wait_ms=0)


def compact_behind(
    committer: Committer,
    target: tuple[TableStore, TableSchema, TableOptions],
    written: Sequence[CommitMessage],
    identifier: int = BATCH_COMMIT_IDENTIFIER,
) -> list[Snapshot]:
    """Compact the buckets that a commit has written to, if that is due.

    Args:
        committer: who has committed the rows; the compaction is the same transaction.
        target: the table, its newest schema, its options.
        written: what was committed.
        identifier: of the transaction.

    Returns:
        The snapshot of the compaction; none if there was nothing to do, or others did it.
    """
    _, schema, options = target
    places = {(m.partition, m.bucket) for m in written if m.bucket != POSTPONE_BUCKET}
    if not places or not is_due(schema, options):
        return []
    try:
        return _compacted_in_the_end(committer, target, places, identifier)
    except PaimonError as error:
        if needs_lookup(options) or not isinstance(error, _MAY_WAIT):
            _warn(error)
        return []


def _compacted_in_the_end(
    committer: Committer,
    target: tuple[TableStore, TableSchema, TableOptions],
    places: Collection[Place],
    identifier: int,
) -> list[Snapshot]:
    """Tries until nobody is faster, where rows have to be made visible; elsewhere one try."""
    options = target[2]
    retry_policy = retry_policy_of(options) if needs_lookup(options) else _NO_RETRY
    timing = Timing()
    started = timing.clock()
    retry = 0
    while True:
        try:
            return _compacted(committer, target, places, identifier)
        except (CommitConflictError, SnapshotExpiredError):
            if retry_policy.is_over(retry, timing.clock() - started):
                raise
        timing.sleep(retry_policy.wait_ms(retry, timing.chance()) / 1000)
        retry += 1


def _compacted(
    committer: Committer,
    target: tuple[TableStore, TableSchema, TableOptions],
    places: Collection[Place],
    identifier: int,
) -> list[Snapshot]:
    """One try: plan, merge, commit; without a commit nothing stays behind."""
    store, schema, options = target
    messages = compact_table(store, schema, options, full=False, places=places)
    try:
        return committer.commit(messages, identifier) if messages else []
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        abort(WriteTarget(store=store, schema=schema, options=options), messages)
        raise


def is_due(schema: TableSchema, options: TableOptions) -> bool:
    """Whether a writer of the table compacts at all, and waits for it."""
    if not schema.primary_keys or options.value(opt.WRITE_ONLY):
        return False
    return options.value(opt.LOOKUP_WAIT) or not needs_lookup(options)


def _warn(error: PaimonError) -> None:
    warnings.warn(
        f"The rows are committed, but the compaction after the commit failed: {error}",
        RuntimeWarning,
        stacklevel=4,
    )
