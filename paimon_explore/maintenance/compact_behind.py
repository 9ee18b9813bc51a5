"""The compaction that belongs to a write: what Paimon's writers do unless a table is `write-only`.

Rows of a primary-key table go to level 0. Behind them the buckets that got rows are compacted as
the options ask for: by the number and sizes of sorted runs, and always where new rows are completed
by looking at older ones (deletion vectors, first-row, changelogs of the producer `lookup`): before
that they are not visible there.

The rows are committed already. A compaction that others were faster with is dropped, and one that
fails is a warning: the next write, or `compact`, does it again.

Spec: primary-key-table, compaction; maintenance/configurations, `write-only`, `lookup-wait`.
"""

import warnings
from collections.abc import Sequence

from paimon_explore.commit.committer import Committer
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.compact import compact_table
from paimon_explore.metadata import options as opt
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.derived_options import needs_lookup
from paimon_explore.metadata.options import POSTPONE_BUCKET, TableOptions
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.target import WriteTarget, abort


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
    store, schema, options = target
    if not is_due(schema, options):
        return []
    places = {(m.partition, m.bucket) for m in written if m.bucket != POSTPONE_BUCKET}
    if not places:
        return []
    messages: list[CommitMessage] = []
    try:
        messages = compact_table(store, schema, options, full=False, places=places)
        return committer.commit(messages, identifier) if messages else []
    except CommitOutcomeUnknownError as error:
        _warn(error)
    except UnsupportedFeatureError as error:
        if needs_lookup(options):
            _warn(error)
    except PaimonError as error:
        abort(WriteTarget(store=store, schema=schema, options=options), messages)
        if not isinstance(error, CommitConflictError):
            _warn(error)
    return []


def is_due(schema: TableSchema, options: TableOptions) -> bool:
    """Whether a writer of the table compacts at all, and waits for it."""
    if not schema.primary_keys or options.value(opt.WRITE_ONLY):
        return False
    return options.value(opt.LOOKUP_WAIT) or not needs_lookup(options)


def _warn(error: PaimonError) -> None:
    warnings.warn(
        f"The rows are committed, but the compaction behind them failed: {error}",
        RuntimeWarning,
        stacklevel=4,
    )
