"""What a writer does behind its commit unless the table is `write-only`.

In this order: partitions expire if that is due in a batch, automatic tags are made, snapshots and
consumers expire. A table whose old snapshots nobody may lose has its retention in the options
`snapshot.num-retained.*` and `snapshot.time-retained` (an hour by default).

The commit stands, whatever happens here: an error of the upkeep is a warning, not a failed write.

Spec: concepts/spec, commit; maintenance/manage-snapshots.
"""

import warnings

from paimon_explore.errors import PaimonError
from paimon_explore.maintenance.expiry.changelog_expiry import (
    changelog_retention,
    expire_changelogs,
    expire_consumers,
)
from paimon_explore.maintenance.expiry.partition_expiry import expire_partitions, expiry_of
from paimon_explore.maintenance.expiry.snapshot_expiry import expire_snapshots, snapshot_retention
from paimon_explore.maintenance.references.auto_tags import create_auto_tags
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import is_changelog_decoupled
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import END_INPUT_CHECK_PARTITION_EXPIRE
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


def after_commit(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshot: Snapshot
) -> None:
    """Look after a table behind a commit.

    Args:
        store: the table and branch.
        schema: its schema.
        options: its options; nothing is done with `write-only`.
        snapshot: what was committed.
    """
    if options.value(opt.WRITE_ONLY):
        return
    try:
        _upkeep(store, schema, options, snapshot)
    except PaimonError as error:
        warnings.warn(
            f"Snapshot {snapshot.id} is committed, but the maintenance after it failed: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


def _upkeep(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshot: Snapshot
) -> None:
    if schema.partition_keys and _partitions_are_due(options):
        expire_partitions(store, options, expiry_of(options, None))
    create_auto_tags(store, options)
    if _may_expire(store, options, snapshot.id):
        expire_snapshots(store, options, snapshot_retention(options))
    if is_changelog_decoupled(options):
        expire_changelogs(store, options, changelog_retention(options))
    expire_consumers(store, options)


def _partitions_are_due(options: TableOptions) -> bool:
    """A batch has just begun to wait for the next look, unless it never waits."""
    if options.value(opt.PARTITION_EXPIRATION_TIME) is None:
        return False
    waits = options.value(opt.PARTITION_EXPIRATION_CHECK_INTERVAL) > 0
    return not waits or options.value(END_INPUT_CHECK_PARTITION_EXPIRE)


def _may_expire(store: TableStore, options: TableOptions, newest: int) -> bool:
    """Whether snapshots seem to be too many or too old; costs two small files at most.

    A hint that lies upwards delays the expiry, one that lies downwards costs a look at all.
    """
    least = options.value(opt.SNAPSHOT_NUM_RETAINED_MIN)
    if newest <= least:
        return False
    hint = store.snapshots.earliest_hint()
    earliest = store.snapshots.earliest_id() if hint is None else hint
    if earliest is None or newest - earliest < least:
        return False
    following = store.snapshots.find(earliest + 1)
    is_old = following is None or following.time_millis < snapshot_retention(options).keep_after_ms
    return is_old or newest - earliest >= options.value(opt.SNAPSHOT_NUM_RETAINED_MAX)
