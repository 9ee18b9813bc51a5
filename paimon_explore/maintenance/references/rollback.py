"""Back to an earlier snapshot: everything newer of the branch goes.

Newer snapshots of the history go from the newest downwards, and the hint LATEST names one that is
there, so that the table is readable, at some snapshot, at any moment; a rollback that was cut off
is finished by doing it again. If the target's own file has expired, it is made again from a tag
before anything goes; a target that expires meanwhile, and that no tag holds, is refused before
anything goes (see `snapshot_removal`). Data files of what went are left to the removal of orphans.

Spec: maintenance/manage-snapshots, rollback.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from paimon_explore.errors import InvalidInputError, StorageError
from paimon_explore.maintenance.expiry.linked_folders import refuse_linked_metadata
from paimon_explore.maintenance.expiry.snapshot_removal import confirm_target, keep_target
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.table_store import TableStore


def rollback_to_snapshot(store: TableStore, snapshot_id: int) -> Snapshot:
    """Make a snapshot the newest one again.

    Args:
        store: the table and branch.
        snapshot_id: the snapshot; it exists, or a tag holds it.

    Raises:
        NotFoundError: there is neither.
        InvalidInputError: the snapshot's file is a stray above the latest snapshot.
        SnapshotExpiredError: the snapshot expired meanwhile; nothing was removed.
    """
    found = store.snapshots.find(snapshot_id)
    if found is not None:
        return _roll_back(store, found, tagged=False)
    tagged = [tag.snapshot for tag in store.tags.list() if tag.snapshot.id == snapshot_id]
    return _roll_back(store, tagged[0]) if tagged else store.snapshots.load(snapshot_id)


def rollback_to_tag(store: TableStore, name: str) -> Snapshot:
    """Make a tag's snapshot the newest one again.

    Raises:
        NotFoundError: there is no such tag.
        SnapshotExpiredError: the snapshot expired meanwhile; nothing was removed.
    """
    return _roll_back(store, store.tags.load(name).snapshot)


def restored(store: TableStore, snapshot: Snapshot) -> Snapshot:
    """An expired snapshot as it may come back: without its changelog, which tags do not hold.

    The changelog stays if a long-lived changelog holds it. That its files are there says nothing:
    an expiry may be about to delete them.
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
    refuse_linked_metadata(store.paths)
    snapshots = store.snapshots
    history = snapshots.history()
    if history and target.id > history[-1]:
        raise InvalidInputError(
            f"Snapshot {target.id} is newer than the latest snapshot, {history[-1]}: its file is "
            "not part of the table's history.",
            hint="A rollback goes back. `fsck` lists the files that do not belong to the table.",
        )
    made = tagged and snapshots.create(restored(store, target))
    before = history[-1] if history else None
    follows = not history or target.id in history
    oldest = None if follows else snapshots.find(history[0])
    snapshots.write_latest_hint(target.id if follows else history[0])
    if not tagged:
        confirm_target(store, target.id, before)
    elif snapshots.create(restored(store, target)):
        made = True
    remove_newer_snapshots(store, target.id, history)
    remove_newer_marks(store, target.id)
    if not follows:
        snapshots.write_latest_hint(target.id)
        if oldest is not None and snapshots.find(oldest.id) == oldest:  # an expiry made it again
            remove_newer_snapshots(store, target.id, history)
    keep_target(store, target)
    if made:
        with suppress(StorageError):  # readers list the folder
            snapshots.write_earliest_hint(target.id)
    return target


def remove_newer_snapshots(store: TableStore, snapshot_id: int, history: Sequence[int]) -> None:
    """Remove a branch's snapshots that are newer than one, from the newest downwards.

    A commit may have built on one of them meanwhile, and have taken a number that was free already.
    Either it sees that its predecessor is gone and takes itself back, or its snapshot is there when
    the numbers are listed again. Commits on the snapshot that stays come later than the rollback,
    and stay: their numbers follow it without a gap.

    Args:
        store: the table and branch.
        snapshot_id: the snapshot that stays.
        history: the numbers of all snapshots of the branch.
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


def following_ids(known: Collection[int], snapshot_id: int) -> list[int]:
    """The numbers behind one that are there without a hole."""
    found: list[int] = []
    while snapshot_id + 1 + len(found) in known:
        found.append(snapshot_id + 1 + len(found))
    return found


def remove_newer_marks(
    store: TableStore, snapshot_id: int, kept_tags: frozenset[str] = frozenset()
) -> None:
    """Remove a branch's changelogs, and tags but some, that are newer than a snapshot."""
    logs = store.changelogs.ids()
    for newer in reversed(logs):
        if newer > snapshot_id:
            store.changelogs.delete(newer)
    if any(newer > snapshot_id for newer in logs):
        with suppress(StorageError):
            store.changelogs.write_latest_hint(
                max((i for i in logs if i <= snapshot_id), default=0)
            )
    for tag in store.tags.list():
        if tag.snapshot.id > snapshot_id and tag.name not in kept_tags:
            store.tags.delete(tag.name)


def rollback_schema(store: TableStore, schema_id: int) -> None:
    """Make a schema the newest one again; newer ones go, from the newest downwards.

    Rows that are being written with a newer schema would lose it: stop writers first.

    Args:
        store: the table and branch.
        schema_id: the schema.

    Raises:
        NotFoundError: there is no such schema.
        InvalidInputError: a snapshot, tag or changelog has a newer one.
    """
    store.schemas.load(schema_id)
    refuse_linked_metadata(store.paths)
    users = [
        (f"snapshot {s.id}", s.schema_id)
        for s in (*store.snapshots.list(), *store.snapshots.outside_history())
    ]
    users += [(f"tag {tag.name!r}", tag.snapshot.schema_id) for tag in store.tags.list()]
    users += [(f"changelog {log.id}", log.schema_id) for log in store.changelogs.list()]
    for name, used in users:
        if used > schema_id:
            raise InvalidInputError(
                f"Schema {used} cannot be removed: {name} uses it.",
                hint="Roll back the table first.",
            )
    for newer in reversed(store.schemas.ids()):
        if newer > schema_id:
            store.file_io.delete(store.paths.schema(newer))
