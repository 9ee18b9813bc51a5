"""Rollback to an earlier snapshot: remove everything newer from the branch.

Newer snapshots of the history are deleted from the newest to the oldest, and the hint LATEST always
names an existing snapshot, so that the table is readable at any moment; repeating an interrupted
rollback completes it. If the target snapshot has expired, it is first restored from a tag. If it
expires concurrently and has no tag, the rollback fails before anything is removed (see
`expiry_protocol`). The data files of removed snapshots are left to the removal of orphan files.

Spec: maintenance/manage-snapshots, rollback.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count, takewhile

from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.maintenance.expiry.expiry_protocol import (
    confirm_target,
    is_same_commit,
    keep_target,
)
from paimon_explore.maintenance.expiry.linked_folders import check_no_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import newest_schema_id
from paimon_explore.maintenance.references.tag_operations import tag_deleted
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.store.version_management import version_management


def rollback_to_snapshot(store: TableStore, snapshot_id: int) -> Snapshot:
    """Roll back a branch to a snapshot.

    Args:
        store: the table and branch.
        snapshot_id: id of an existing snapshot, or of an expired one with a tag.

    Raises:
        NotFoundError: there is neither such a snapshot nor a tag of it.
        InvalidInputError: the snapshot file is not part of the history.
        SnapshotExpiredError: the snapshot expired concurrently; nothing was removed.
    """
    server = version_management(store.environment)
    if server is not None:
        server.rollback_to_snapshot(store.paths.branch, snapshot_id)
        return store.snapshots.load(snapshot_id)
    found = store.snapshots.find(snapshot_id)
    if found is not None:
        return _roll_back(store, found, tagged=False)
    tagged = [tag.snapshot for tag in store.tags.list() if tag.snapshot.id == snapshot_id]
    return _roll_back(store, tagged[0]) if tagged else store.snapshots.load(snapshot_id)


def rollback_to_tag(store: TableStore, name: str) -> Snapshot:
    """Roll back a branch to the snapshot of a tag.

    Raises:
        NotFoundError: the tag does not exist.
        InvalidInputError: another commit has the id of its snapshot, after an interrupted rollback.
        SnapshotExpiredError: the snapshot expired concurrently; nothing was removed.
    """
    server = version_management(store.environment)
    if server is None:
        return _roll_back(store, store.tags.load(name).snapshot)
    server.rollback_to_tag(store.paths.branch, name)
    return store.tags.load(name).snapshot


def restored(store: TableStore, snapshot: Snapshot) -> Snapshot:
    """Return an expired snapshot to restore: without its changelog, which tags do not keep.

    A changelog that a long-lived changelog keeps stays. Existing changelog files alone prove
    nothing, since an expiry may be about to delete them.
    """
    name = snapshot.changelog_manifest_list
    log = None if name is None else store.changelogs.find(snapshot.id)
    if name is None or (log is not None and log.changelog_manifest_list == name):
        return snapshot
    return replace(
        snapshot,
        changelog_manifest_list=None,
        changelog_manifest_list_size=None,
        changelog_record_count=None,
    )


def _roll_back(store: TableStore, target: Snapshot, *, tagged: bool = True) -> Snapshot:
    check_no_linked_metadata(store.paths)
    snapshots = store.snapshots
    history = snapshots.history()
    if history and target.id > history[-1]:
        raise InvalidInputError(
            f"Snapshot {target.id} is not part of the table's history, which ends at snapshot "
            f"{history[-1]}.",
            hint="Roll back to an earlier snapshot. fsck() lists snapshots outside of the history.",
        )
    there = snapshots.find(target.id) if tagged else None
    if there is not None and not is_same_commit(there, target):
        raise InvalidInputError(
            f"Snapshot {target.id} of the tag is not part of the table's history: another commit "
            "has its id.",
            hint="Create a branch from the tag, and fast-forward main to it.",
        )
    before = history[-1] if history else None
    created = tagged and _restore(store, target, before)
    follows = not history or target.id in history
    oldest = None if follows else snapshots.find(history[0])
    snapshots.write_latest_hint(target.id if follows else history[0])
    if not tagged:
        confirm_target(store, target.id, before)
    elif _restore(store, target, before):
        created = True
    remove_newer_snapshots(store, target.id, history)
    remove_newer_marks(store, target.id)
    if not follows:
        snapshots.write_latest_hint(target.id)
        if oldest is not None and snapshots.find(oldest.id) == oldest:  # restored by an expiry
            remove_newer_snapshots(store, target.id, history)
    keep_target(store, target)
    with suppress(StorageError):  # we list the folder, Java only if EARLIEST names no snapshot
        if created or (snapshots.earliest_hint() or 0) > target.id:
            is_first = created or target.id not in history
            snapshots.write_earliest_hint(target.id if is_first else history[0])
    return target


def _restore(store: TableStore, target: Snapshot, before: int | None) -> bool:
    """Create the file of an expired snapshot that a tag keeps; return whether it was missing.

    Args:
        store: the table and branch.
        target: the snapshot.
        before: id of the latest snapshot before the rollback; None without snapshots.

    Raises:
        SnapshotExpiredError: the tag was deleted meanwhile; LATEST was restored.
    """
    if not store.snapshots.create(restored(store, target)):
        return False
    if any(tag.snapshot.id == target.id for tag in store.tags.list()):
        return True
    store.snapshots.delete(target.id)
    confirm_target(store, target.id, before)  # raises: the target is missing
    return True


def remove_newer_snapshots(
    store: TableStore, snapshot_id: int, history: Sequence[int], *, exists: bool = True
) -> None:
    """Delete a branch's snapshots that are newer than a snapshot, from the newest to the oldest.

    A concurrent commit may be based on one of them, and may have taken an id that is free again.
    Either it detects that its predecessor is gone and withdraws, or its snapshot is found when the
    ids are listed again. Commits based on the remaining snapshot are later than the rollback and
    are kept: their ids follow it without a gap.

    Args:
        store: the table and branch.
        snapshot_id: the snapshot that becomes the latest.
        history: the ids of all snapshots of the branch.
        exists: whether there is such a snapshot.

    Raises:
        SnapshotExpiredError: an expiry that followed such a commit has removed this snapshot.
    """
    newer = [number for number in history if number > snapshot_id]
    seen = frozenset(newer)
    while newer:
        for number in reversed(newer):
            store.snapshots.delete(number)
        known = frozenset(store.snapshots.all_ids())
        left = {*(seen & known), *following_ids(known, max(seen))}
        newer = sorted(left.difference(following_ids(known, snapshot_id)))
        seen = seen.union(newer)
        if newer:  # a commit has written LATEST: without this, the next one would build on it
            store.snapshots.write_latest_hint(snapshot_id)
            if exists:
                confirm_target(store, snapshot_id, newer[-1])


def following_ids(known: Collection[int], snapshot_id: int) -> list[int]:
    """Return the existing ids after an id up to the first gap."""
    return list(takewhile(lambda following: following in known, count(snapshot_id + 1)))


def remove_newer_marks(
    store: TableStore, snapshot_id: int, kept_tags: frozenset[str] = frozenset()
) -> None:
    """Delete a branch's changelogs and tags that are newer than a snapshot, except `kept_tags`."""
    logs = store.changelogs.ids()
    newer = [number for number in logs if number > snapshot_id]
    for number in reversed(newer):
        store.changelogs.delete(number)
    if newer:
        with suppress(StorageError):
            store.changelogs.write_latest_hint(max({0, *logs}.difference(newer)))
            if newer == logs:  # else it names one that stays
                store.file_io.delete(store.paths.changelog_earliest_hint)
    for tag in store.tags.list():
        if tag.snapshot.id > snapshot_id and tag.name not in kept_tags:
            store.tags.delete(tag.name)
            tag_deleted(store, tag.name)


def rollback_schema(store: TableStore, schema_id: int) -> None:
    """Roll back to a schema: delete newer schemas from the newest to the oldest.

    Stop all writers first: concurrent writes with a newer schema would lose it.

    Args:
        store: the table and branch.
        schema_id: id of the schema.

    Raises:
        NotFoundError: the schema does not exist.
        InvalidInputError: a snapshot, tag or changelog uses a newer schema.
    """
    store.schemas.load(schema_id)
    server = version_management(store.environment)
    if server is not None:
        server.rollback_schema(store.paths.branch, schema_id)
        return
    check_no_linked_metadata(store.paths)
    users = [
        (f"snapshot {s.id}", s)
        for s in (*store.snapshots.list(), *store.snapshots.outside_history())
    ]
    users += [(f"tag {tag.name!r}", tag.snapshot) for tag in store.tags.list()]
    users += [(f"changelog {log.id}", log) for log in store.changelogs.list()]
    for name, snapshot in users:
        used = newest_schema_id(store.manifests, snapshot)
        if used > schema_id:
            raise InvalidInputError(
                f"Schema {used} cannot be removed, because {name} uses the schema.",
                hint="Roll back the table first.",
            )
    for newer in reversed(store.schemas.ids()):
        if newer > schema_id:
            store.file_io.delete(store.paths.schema(newer))
