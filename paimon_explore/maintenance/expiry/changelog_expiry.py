"""Expiry of long-lived changelogs and of consumers.

Changelogs in the directory `changelog/`, which outlive their snapshots, expire by the same rules as
snapshots, except that all of them may expire, also those below a gap in the ids: a fast-forward
leaves a gap, and so does a time without `changelog.num-retained.*`. Changelogs above the latest
snapshot are kept. If snapshots exist outside of the history, changelogs below a gap are kept, too,
because the latest snapshot may be a stray. Expiry removes a changelog's files; for a commit without
changelog files, these are the delta manifests, and the data files that the commit added or deleted
and that nothing else references.

Files are removed first, then `changelog-N`, then the hints are updated: a crash leaves changelogs
without files, which the next expiry removes.

Spec: maintenance/manage-snapshots, `changelog.num-retained`; flink/consumer-id.
"""

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress

from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import MissingFileError, StorageError
from paimon_explore.maintenance.expiry.file_removal import remove, unreachable
from paimon_explore.maintenance.expiry.linked_folders import check_no_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import (
    FileSet,
    TableFiles,
    roots_of,
    without_changelog_files,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import ExpiryReport, Retention, expiring_ids
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import CONSUMER_EXPIRATION_TIME
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.snapshots import last_run
from paimon_explore.store.table_store import TableStore


def changelog_retention(options: TableOptions) -> Retention:
    """Return the retention of changelogs, which also counts snapshots, from the options."""
    low = options.value(opt.CHANGELOG_NUM_RETAINED_MIN)
    high = options.value(opt.CHANGELOG_NUM_RETAINED_MAX)
    age_ms = options.value(opt.CHANGELOG_TIME_RETAINED)
    return Retention(
        retain_min=options.value(opt.SNAPSHOT_NUM_RETAINED_MIN) if low is None else low,
        retain_max=options.value(opt.SNAPSHOT_NUM_RETAINED_MAX) if high is None else high,
        keep_after_ms=system_clock()
        - (options.value(opt.SNAPSHOT_TIME_RETAINED) if age_ms is None else age_ms),
        limit=options.value(opt.SNAPSHOT_EXPIRE_LIMIT),
    )


def expire_changelogs(
    store: TableStore, options: TableOptions, retention: Retention, *, dry_run: bool = False
) -> ExpiryReport:
    """Expire long-lived changelogs of a branch and the files that only they reference.

    Args:
        store: the table and branch.
        options: effective options.
        retention: the retention of snapshots and changelogs together.
        dry_run: whether to only report what would be removed.

    Raises:
        InvalidInputError: the retention is inconsistent.
        CorruptFileError, UnsupportedVersionError, StorageError: a kept file could not be read, and
            nothing was removed; or a removal failed and can be repeated.
    """
    retention.check()
    expiring = _expiring(store, retention)
    if not expiring:
        return ExpiryReport(dry_run=dry_run)
    check_no_linked_metadata(store.paths)
    ids = tuple(changelog.id for changelog in expiring)
    files = TableFiles(store=store, options=options)
    roots = roots_of(store, options, leaving_logs=ids)
    found = unreachable(files, _candidates(files, expiring), roots)
    if not dry_run:
        remove(files, found)
        for number in ids:
            store.changelogs.delete(number)
        _write_hints(store)
    return ExpiryReport(expired=ids, files=found, dry_run=dry_run)


def expire_consumers(store: TableStore, options: TableOptions) -> list[str]:
    """Delete consumers without progress for `consumer.expiration-time`.

    Returns:
        The ids of the deleted consumers; empty without that option.
    """
    age_ms = options.value(CONSUMER_EXPIRATION_TIME)
    if age_ms is None:
        return []
    keep_after_ms = system_clock() - age_ms
    expired = [i for i in store.consumers.ids() if store.consumers.modified_ms(i) < keep_after_ms]
    if expired:
        check_no_linked_metadata(store.paths)
    for consumer_id in expired:
        store.consumers.delete(consumer_id)
    return expired


def _expiring(store: TableStore, retention: Retention) -> list[Snapshot]:
    changelogs = store.changelogs
    logs = changelogs.ids()
    if not logs:
        return []
    known = _known_ids(store, logs)

    def time_of(number: int) -> int:
        source = changelogs if number in logs else store.snapshots
        return source.load(number).time_millis

    first_consumed = store.consumers.min_next_snapshot()
    expiring = expiring_ids(known, time_of, retention, first_consumed)
    return [found for found in map(changelogs.find, expiring) if found is not None]


def _known_ids(store: TableStore, logs: Sequence[int]) -> list[int]:
    """Return the ids of changelogs and snapshots up to the latest snapshot.

    Without snapshots they end at the last changelog.
    """
    history = store.snapshots.history()
    existing = sorted({*logs, *history})
    known = existing[: bisect_right(existing, history[-1])] if history else existing
    return last_run(known) if store.snapshots.all_ids() != history else known


def _candidates(files: TableFiles, expiring: Sequence[Snapshot]) -> FileSet:
    data: set[str] = set()
    metadata: set[str] = set()
    for changelog in expiring:
        with suppress(MissingFileError):
            data |= files.paths(files.changelog(changelog))
        with suppress(MissingFileError):
            metadata |= files.changelog_metadata(changelog)
    for changelog in without_changelog_files(files.store, files.options, expiring):
        with suppress(MissingFileError):
            data |= files.paths(files.delta(changelog))
        with suppress(MissingFileError):
            metadata |= files.delta_metadata(changelog)
    return FileSet(data=frozenset(data), metadata=frozenset(metadata))


def _write_hints(store: TableStore) -> None:
    ids = store.changelogs.ids()
    paths = store.paths
    with suppress(StorageError):  # hints are optional: readers list the directory
        if ids:
            store.changelogs.write_earliest_hint(ids[0])
        else:
            store.file_io.delete(paths.changelog_earliest_hint)
            store.file_io.delete(paths.changelog_latest_hint)
