"""Purge: remove all rows of a table and everything that keeps old files.

Steps, each of which can be repeated after a failure: a snapshot without rows is committed;
branches, tags and consumers are deleted; older snapshots and long-lived changelogs expire; then the
files that the table referenced before and that nothing references now are removed, and orphan files
of at least one day.

Files of a concurrent commit are not among those: a commit that follows the one without rows keeps
its rows. Java's `purge_files` also removes younger files that nothing references yet, which breaks
such a commit.

Spec: maintenance/manage-snapshots; spark procedures, purge_files.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from functools import partial

from paimon_explore.commit.catalog_partitions import remove_dropped_partitions
from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import WHOLE_TABLE
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.file_removal import Removal, remove_unreachable, unreachable
from paimon_explore.maintenance.expiry.linked_folders import check_no_linked_metadata
from paimon_explore.maintenance.expiry.orphan_files import remove_orphan_files
from paimon_explore.maintenance.expiry.reachable_files import (
    Roots,
    TableFiles,
    with_current_roots,
)
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention, expire_snapshots
from paimon_explore.maintenance.references.branch_operations import delete_branch
from paimon_explore.maintenance.references.tag_operations import delete_tag
from paimon_explore.metadata.options.table_options import MAX_INT64, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore

_ORPHAN_AGE_MS = 24 * 60 * 60 * 1000
_OUTLIVING = "changelog."
"""Prefix of the options by which changelogs outlive their snapshots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReport:
    """What a purge removed, or would remove.

    Attributes:
        snapshots: number of snapshots.
        branches: names of branches.
        tags: names of tags.
        consumers: ids of consumers.
        files: the files.
        dry_run: whether nothing was removed.
    """

    snapshots: int = 0
    branches: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    files: Removal = field(default_factory=Removal)
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the numbers of what was removed."""
        act = "would remove" if self.dry_run else "removed"
        counts = {
            "snapshots": self.snapshots,
            "branches": len(self.branches),
            "tags": len(self.tags),
            "consumers": len(self.consumers),
        }
        named = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        return f"{act} all rows, {named}, {self.files!r}"


def purge_files(
    store: TableStore, schema: TableSchema, options: TableOptions, *, dry_run: bool
) -> PurgeReport:
    """Remove all rows, branches, tags, consumers and old snapshots of a table, and their files.

    Args:
        store: the main branch of the table.
        schema: the latest schema.
        options: effective options.
        dry_run: only return what would be removed.

    Raises:
        InvalidInputError: the table is opened on another branch.
        CorruptFileError, UnsupportedVersionError, StorageError: a referenced file cannot be read,
            and nothing was removed; or a step failed, and the purge can be repeated.
    """
    if store.paths.branch != MAIN_BRANCH:
        raise InvalidInputError(
            f"A purge removes all branches, so it cannot run on the branch {store.paths.branch!r}.",
            hint="Open the table on its main branch.",
        )
    check_no_linked_metadata(store.paths)
    if not dry_run:
        _delete_remains_of_branches(store)
    files = TableFiles(store=store, options=options)
    before = with_current_roots(files, files.referenced_by)
    snapshots = store.snapshots.ids()
    report = PurgeReport(
        snapshots=len(snapshots),
        branches=tuple(store.branches.names()),
        tags=tuple(store.tags.names()),
        consumers=tuple(store.consumers.ids()),
        files=unreachable(files, before, Roots()),
        dry_run=dry_run,
    )
    if dry_run:
        return report
    if report.snapshots:
        made = Committer(store, schema, options=options).overwrite([], WHOLE_TABLE)
        remove_dropped_partitions(store, schema, options, made)
    _delete_references(store, options, report)
    _expire_history(store, options)
    gone = remove_unreachable(files, before)
    before_ms = system_clock() - _ORPHAN_AGE_MS
    remove_orphan_files(store, options, before_ms)
    return PurgeReport(
        snapshots=len(set(snapshots).difference(store.snapshots.ids())),
        branches=report.branches,
        tags=report.tags,
        consumers=report.consumers,
        files=gone,
    )


def _delete_remains_of_branches(store: TableStore) -> None:
    """Delete branches without a schema: a purge ended while it deleted them."""
    for name in store.branches.names():
        if not store.for_branch(name).schemas.ids():
            delete_branch(store, name)


def _delete_references(store: TableStore, options: TableOptions, found: PurgeReport) -> None:
    def delete(act: Callable[[], object]) -> None:
        with suppress(NotFoundError):  # others have deleted or renamed it
            act()

    acts = [partial(delete_branch, store, name) for name in found.branches]
    at_once(store.file_io, [partial(delete, act) for act in acts])
    for name in found.tags:
        delete(partial(delete_tag, store, options, name))
    for name in found.consumers:
        store.consumers.delete(name)


def _expire_history(store: TableStore, options: TableOptions) -> None:
    """Expire all snapshots but the latest, and delete all long-lived changelogs."""
    kept = {key: text for key, text in options.items() if not key.startswith(_OUTLIVING)}
    retention = Retention(retain_min=1, retain_max=1, keep_after_ms=MAX_INT64, limit=MAX_INT64)
    expire_snapshots(store, TableOptions(kept), retention)
    for number in store.changelogs.ids():
        store.changelogs.delete(number)
    store.file_io.delete(store.paths.changelog_earliest_hint)
    store.file_io.delete(store.paths.changelog_latest_hint)
