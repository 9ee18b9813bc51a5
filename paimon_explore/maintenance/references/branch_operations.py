"""Branches made, renamed, deleted, and main moved forward to one.

A branch is a folder with its own schemas, snapshots and tags; data and manifests are shared. What
each act leaves when it is cut off:

- create: the tag and the snapshot are copied before the schemas; a branch without its last schema
  is deleted and made again. On an error the folder is removed.
- fast-forward: main is rolled back to the branch's first snapshot, from the newest downwards; then
  the branch's schemas, its snapshots in ascending order and its tags are copied, each over what
  main has of that number or name. If the branch has expired its beginning, main's older snapshots
  are not what came before: they go as well, the oldest first. Main is readable at any moment, and
  doing it again finishes the work, for the branch stays as it is. An expiry at the same time either
  gives way or is told (`snapshot_removal` has the steps of both).

Spec: maintenance/manage-branches.
"""

from collections.abc import Sequence
from contextlib import suppress

from paimon_explore.errors import (
    AlreadyExistsError,
    CommitConflictError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    StorageError,
    choices,
)
from paimon_explore.maintenance.expiry.linked_folders import refuse_linked_metadata, refuse_links
from paimon_explore.maintenance.expiry.reachable_files import continues
from paimon_explore.maintenance.expiry.snapshot_removal import refuse_beside_expiry
from paimon_explore.maintenance.references.rollback import (
    following_ids,
    remove_newer_marks,
    remove_newer_snapshots,
    restored,
)
from paimon_explore.metadata.snapshot import encode_snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.store.table_store import TableStore

_COPIES = 20
"""How often a fast-forward copies snapshots that others remove meanwhile."""


def create_branch(store: TableStore, name: str, tag: str | None = None) -> None:
    """Make a branch.

    Args:
        store: the table and the branch to begin from.
        name: the new branch.
        tag: the tag whose snapshot the branch begins with; None for a branch without rows, of the
            newest schema.

    Raises:
        InvalidInputError: a name that cannot be used.
        AlreadyExistsError: there is a branch of that name.
        NotFoundError: there is no such tag, or no table.
    """
    check_branch_name(name)
    if store.branches.exists(name):
        raise AlreadyExistsError("branch", name, store.paths.root)
    begin = None if tag is None else store.tags.load(tag)
    ids = store.schemas.ids()
    if not ids:
        raise NotFoundError("table", store.paths.branch_root)
    if begin is not None:
        ids = [schema_id for schema_id in ids if schema_id <= begin.snapshot.schema_id]
    made = store.for_branch(name)
    try:
        if begin is not None:
            _copy(store, store.paths.tag(begin.name), made.paths.tag(begin.name))
            snapshot_id = begin.snapshot.id
            if store.snapshots.find(snapshot_id) is not None:
                _copy(store, store.paths.snapshot(snapshot_id), made.paths.snapshot(snapshot_id))
            else:
                path = made.paths.snapshot(snapshot_id)
                store.file_io.replace(path, encode_snapshot(restored(store, begin.snapshot)))
        for schema_id in ids:
            _copy(store, store.paths.schema(schema_id), made.paths.schema(schema_id))
    except PaimonError:
        with suppress(StorageError):
            store.branches.delete(name)
        raise


def delete_branch(store: TableStore, name: str) -> None:
    """Remove a branch; files that only it needs are left to the removal of orphans.

    Raises:
        NotFoundError: there is no such branch.
        InvalidInputError: it is the branch that is open, or main.
    """
    _known(store, name)
    if name == store.paths.branch:
        raise InvalidInputError(f"Branch {name!r} cannot be deleted through itself.")
    refuse_links(store.paths, [store.paths.branches_dir])
    store.branches.delete(name)


def rename_branch(store: TableStore, name: str, new_name: str) -> None:
    """Give a branch another name.

    Raises:
        NotFoundError: there is no such branch.
        AlreadyExistsError: the new name is taken.
        InvalidInputError: the new name cannot be used.
    """
    check_branch_name(new_name)
    _known(store, name)
    if store.branches.exists(new_name):
        raise AlreadyExistsError("branch", new_name, store.paths.root)
    refuse_links(store.paths, [store.paths.branches_dir])
    store.branches.rename(name, new_name)


def fast_forward(store: TableStore, name: str) -> None:
    """Make main what a branch is: from the branch's first snapshot on, main's history is replaced.

    Main's older snapshots stay where they are what came before the branch's first one. The
    snapshots appear one by one: a job that starts meanwhile may see main at an earlier one of them.

    Raises:
        NotFoundError: there is no such branch.
        InvalidInputError: the branch is main, or has no snapshot.
        CommitConflictError: snapshots of main or of the branch are being expired, or their expiry
            was interrupted; nothing was changed.
    """
    _known(store, name)
    main, branch = store.for_branch(MAIN_BRANCH), store.for_branch(name)
    refuse_linked_metadata(main.paths)
    earliest = branch.snapshots.earliest()
    if earliest is None:
        raise InvalidInputError(f"Branch {name!r} has no snapshot to fast-forward to.")
    refuse_beside_expiry(branch, earliest.id, branch.snapshots.history())
    _step_back(main, earliest.id, frozenset(branch.tags.names()))
    _take_schemas(main, branch, earliest.schema_id)
    taken = _take_snapshots(main, branch)
    _remove_followers(main, taken[-1])
    _remove_strangers(main, taken[0])
    for tag in branch.tags.names():
        _copy(store, branch.paths.tag(tag), main.paths.tag(tag))
    with suppress(StorageError):  # readers list the folder
        main.snapshots.write_latest_hint(taken[-1])
        main.snapshots.write_earliest_hint(main.snapshots.history()[0])


def check_branch_name(name: object) -> None:
    """Refuse names that no branch may have.

    Raises:
        InvalidInputError: it is one.
    """
    if not isinstance(name, str) or not name.strip() or "/" in name or "\\" in name:
        rule = "is not a valid branch name"
    elif name == MAIN_BRANCH:
        rule = "is the default branch of every table"
    elif name.isascii() and name.isdigit():
        rule = "is not a valid branch name: it must not consist of digits only"
    else:
        return
    raise InvalidInputError(f"{name!r} {rule}.")


def _known(store: TableStore, name: str) -> None:
    if name == MAIN_BRANCH:
        raise InvalidInputError("Branch 'main' cannot be renamed, deleted or fast-forwarded.")
    if not name.strip() or "/" in name or not store.branches.exists(name):
        hint = f"Branches: {choices(store.branches.names())}."
        raise NotFoundError("branch", name, store.paths.root, hint=hint)


def _step_back(main: TableStore, snapshot_id: int, kept_tags: frozenset[str]) -> None:
    """Remove main's snapshots after an id, and its changelogs and tags from that id on.

    Raises:
        CommitConflictError: main's snapshots are being expired; nothing was changed.
    """
    history = main.snapshots.history()
    refuse_beside_expiry(main, snapshot_id, history)
    if history:
        kept = [older for older in history if older <= snapshot_id]
        main.snapshots.write_latest_hint(kept[-1] if kept else history[0])
        try:
            refuse_beside_expiry(main, snapshot_id, history)
        except CommitConflictError:
            main.snapshots.write_latest_hint(history[-1])
            raise
    else:
        main.file_io.delete(main.paths.latest_hint)
    remove_newer_snapshots(main, snapshot_id, history)
    remove_newer_marks(main, snapshot_id - 1, kept_tags)


def _take_snapshots(main: TableStore, branch: TableStore) -> list[int]:
    """Copy the branch's snapshots to main, but none that expires meanwhile; their ids.

    A rollback at the same time may remove some of them: they are copied again.
    """
    history = branch.snapshots.history()
    missing = history
    for _ in range(_COPIES):
        _copy_snapshots(main, branch, missing)
        announced = branch.snapshots.earliest_hint() or 0
        first = max(announced, branch.snapshots.earliest_id() or 0)
        expiring = [snapshot_id for snapshot_id in history if snapshot_id < first <= history[-1]]
        for snapshot_id in expiring:
            main.snapshots.delete(snapshot_id)
        history = history[len(expiring) :]
        missing = sorted(frozenset(history).difference(main.snapshots.all_ids()))
        if not missing:
            break
    return history


def _copy_snapshots(main: TableStore, branch: TableStore, ids: Sequence[int]) -> None:
    for snapshot_id in ids:
        try:
            _copy(main, branch.paths.snapshot(snapshot_id), main.paths.snapshot(snapshot_id))
        except MissingFileError:
            if branch.snapshots.history()[:1] <= [snapshot_id]:
                raise


def _remove_followers(main: TableStore, last_id: int) -> None:
    """Remove snapshots that others have built meanwhile on what the branch has replaced."""
    known = frozenset(main.snapshots.all_ids())
    last = main.snapshots.find(last_id)
    while last is not None and last.id + 1 in known:
        following = main.snapshots.find(last.id + 1)
        if following is not None and not continues(main.manifests, last, following):
            remove_newer_snapshots(main, last.id, following_ids(known, last.id))
            return
        last = following


def _remove_strangers(main: TableStore, first_id: int) -> None:
    """Remove main's snapshots before the branch's first one, unless it was made of the last."""
    before, first = main.snapshots.find(first_id - 1), main.snapshots.find(first_id)
    if first is None:  # others have rolled back since
        return
    with suppress(MissingFileError):  # what came before has expired, or expires right now
        if before is not None and continues(main.manifests, before, first):
            return
    for older in main.snapshots.ids():
        if older < first_id:
            main.snapshots.delete(older)


def _take_schemas(main: TableStore, branch: TableStore, first_id: int) -> None:
    """Replace main's schemas from an id on by those of the branch, none of which is ever absent."""
    wanted = branch.schemas.ids()
    for schema_id in wanted:
        _copy(main, branch.paths.schema(schema_id), main.paths.schema(schema_id))
    for schema_id in reversed(main.schemas.ids()):
        if schema_id >= first_id and schema_id not in wanted:
            main.file_io.delete(main.paths.schema(schema_id))


def _copy(store: TableStore, source: str, target: str) -> None:
    """Copy a small file as it is, unknown members included."""
    store.file_io.replace(target, store.file_io.read(source))
