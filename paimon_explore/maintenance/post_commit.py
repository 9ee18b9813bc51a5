"""Maintenance after a commit, unless the table is `write-only`.

Steps in order: partition expiry (if enabled for batch writes), automatic tags, tag expiry and
snapshot expiry, changelog expiry, consumer expiry. Java looks for expired tags after each commit;
here only commits that may expire snapshots do, which list the tags anyway. The options
`snapshot.num-retained.*` and `snapshot.time-retained` (default one hour) set the retention of
snapshots.

An error of the maintenance is a warning: the commit has succeeded.

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
from paimon_explore.maintenance.references.tag_operations import expire_tags
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import is_changelog_decoupled
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import (
    END_INPUT_CHECK_PARTITION_EXPIRE,
    TAG_TIME_EXPIRE_ENABLED,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


def run_post_commit(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshot: Snapshot
) -> None:
    """Maintain a table after a commit.

    Args:
        store: the table and branch.
        schema: the schema.
        options: effective options; `write-only` disables the maintenance.
        snapshot: the committed snapshot.
    """
    if options.value(opt.WRITE_ONLY):
        return
    try:
        _maintain(store, schema, options, snapshot)
    except PaimonError as error:
        warnings.warn(
            f"Snapshot {snapshot.id} is committed, but the maintenance after the commit "
            f"failed: {error}",
            RuntimeWarning,
            stacklevel=2,
        )


def _maintain(
    store: TableStore, schema: TableSchema, options: TableOptions, snapshot: Snapshot
) -> None:
    if schema.partition_keys and _expires_partitions(options):
        expire_partitions(store, options, expiry_of(options, None))
    create_auto_tags(store, options)
    if _may_expire_snapshots(store, options, snapshot.id):
        if options.value(TAG_TIME_EXPIRE_ENABLED):
            expire_tags(store, options)
        expire_snapshots(store, options, snapshot_retention(options))
    if is_changelog_decoupled(options):
        expire_changelogs(store, options, changelog_retention(options))
    expire_consumers(store, options)


def _expires_partitions(options: TableOptions) -> bool:
    """Whether a batch write expires partitions: without a check interval, or at end of input."""
    if options.value(opt.PARTITION_EXPIRATION_TIME) is None:
        return False
    has_interval = options.value(opt.PARTITION_EXPIRATION_CHECK_INTERVAL) > 0
    return not has_interval or options.value(END_INPUT_CHECK_PARTITION_EXPIRE)


def _may_expire_snapshots(store: TableStore, options: TableOptions, newest: int) -> bool:
    """Whether there seem to be too many or too old snapshots; reads at most two small files.

    An EARLIEST hint that is too high delays the expiry; one that is too low only costs time.
    """
    minimum = options.value(opt.SNAPSHOT_NUM_RETAINED_MIN)
    if newest <= minimum:
        return False
    hint = store.snapshots.earliest_hint()
    earliest = store.snapshots.earliest_id() if hint is None else hint
    if earliest is None or newest - earliest < minimum:
        return False
    following = store.snapshots.find(earliest + 1)
    is_old = following is None or following.time_millis < snapshot_retention(options).keep_after_ms
    return is_old or newest - earliest >= options.value(opt.SNAPSHOT_NUM_RETAINED_MAX)
