"""Create, rename, delete and fast-forward branches.

A branch is a directory with its own schemas, snapshots and tags; data files and manifests are
shared with the table. State after an interrupted operation:

- create: the tag and the snapshot are copied before the schemas; a branch without its last schema
  has to be deleted and created again. After an error the directory is removed. Of several at once
  one creates LATEST, and of those and the ones without a tag one creates the first schema.
- fast-forward: main is rolled back to the branch's first snapshot, from the newest to the oldest;
  then the branch's schemas, its snapshots in ascending order and its tags are copied over those of
  main with the same id or name. If the branch's first snapshots have expired, main's older
  snapshots are not its predecessors: they are removed as well, oldest first. Those with the same
  files by chance are found by the schemas that the branch lacks. Main is readable at any moment,
  and repeating the operation completes it, since the branch does not change. A concurrent expiry
  either gives way or raises a conflict (see `expiry_protocol`).

Spec: maintenance/manage-branches.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from paimon_explore.errors import (
    AlreadyExistsError,
    CommitConflictError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    StorageError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.fileio.concurrent_requests import delete_each
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.expiry_protocol import check_no_expiry, is_same_commit
from paimon_explore.maintenance.expiry.linked_folders import (
    check_no_linked_metadata,
    check_no_links,
)
from paimon_explore.maintenance.expiry.reachable_files import continues, newest_schema_id
from paimon_explore.maintenance.references.rollback import (
    following_ids,
    remove_newer_marks,
    remove_newer_snapshots,
    restored,
)
from paimon_explore.maintenance.references.tag_operations import is_kept
from paimon_explore.metadata.path_safety import escapes_folder
from paimon_explore.metadata.snapshot import Snapshot, encode_snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.table_store import TableStore
from paimon_explore.store.version_management import version_management

_MAX_COPIES = 20
"""Maximum number of attempts of a fast-forward to read or copy files that others remove."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _BranchFiles:
    """The content of a branch's files, including unknown JSON members.

    It is read before main is changed: others may delete or rename the branch meanwhile.

    Attributes:
        schemas: by id, ascending.
        snapshots: those of the history by id, ascending.
        tags: by name.
        last_schema: the highest id of a schema that it has, or that its snapshots or tags need.
    """

    schemas: Mapping[int, bytes]
    snapshots: Mapping[int, bytes]
    tags: Mapping[str, bytes]
    last_schema: int


def create_branch(store: TableStore, name: str, tag: str | None = None) -> None:
    """Create a branch.

    Args:
        store: the table and the branch to start from.
        name: name of the new branch.
        tag: the tag whose snapshot is the first one of the branch; None for an empty branch with
            the latest schema.

    Raises:
        InvalidInputError: the name is invalid.
        AlreadyExistsError: a branch of that name exists.
        NotFoundError: the tag or the table does not exist.
    """
    check_branch_name(name)
    server = version_management(store.environment)
    if server is not None:
        server.create_branch(name, tag)
        return
    if store.branches.exists(name):
        raise AlreadyExistsError("branch", name, store.paths.root)
    start = None if tag is None else store.tags.load(tag)
    ids = store.schemas.ids()
    if not ids:
        raise NotFoundError("table", store.paths.branch_root)
    branch = store.for_branch(name)
    if start is not None:
        hint = str(start.snapshot.id).encode()
        if not store.file_io.create(branch.paths.latest_hint, hint):
            raise AlreadyExistsError("branch", name, store.paths.root)
    try:
        _create_files(store, branch, start, ids)
        if start is not None and not is_kept(store, start.snapshot):
            store.tags.load(start.name)  # raises: it was deleted meanwhile, and its files as well
    except AlreadyExistsError:
        raise
    except PaimonError as error:
        with suppress(StorageError):
            store.branches.delete(name)
        if start is not None and isinstance(error, MissingFileError):
            store.tags.load(start.name)  # as above
        raise


def _copy_start(store: TableStore, branch: TableStore, start: Tag) -> list[str]:
    """Copy the tag and the snapshot with which a branch starts; return the files."""
    paths, snapshot_id = branch.paths, start.snapshot.id
    _copy(store, store.paths.tag(start.name), paths.tag(start.name))
    found = store.snapshots.find(snapshot_id)
    if found is not None and is_same_commit(found, start.snapshot):
        _copy(store, store.paths.snapshot(snapshot_id), paths.snapshot(snapshot_id))
    else:
        snapshot = encode_snapshot(restored(store, start.snapshot))
        store.file_io.replace(paths.snapshot(snapshot_id), snapshot)
    return [paths.latest_hint, paths.tag(start.name), paths.snapshot(snapshot_id)]


def _create_files(
    store: TableStore, branch: TableStore, start: Tag | None, ids: Sequence[int]
) -> None:
    """Copy the files of a new branch; delete them if another one gets its name."""
    own: list[str] = []
    if start is not None:
        last_schema = newest_schema_id(store.manifests, start.snapshot)
        ids = [schema_id for schema_id in ids if schema_id <= last_schema]
        own = _copy_start(store, branch, start)
    for schema_id in ids:
        content = store.file_io.read(store.paths.schema(schema_id))
        if not store.file_io.create(branch.paths.schema(schema_id), content):
            delete_each(store.file_io, own)
            raise AlreadyExistsError("branch", branch.paths.branch, store.paths.root)


def delete_branch(store: TableStore, name: str) -> None:
    """Delete a branch; files that only it references are left to the removal of orphan files.

    Raises:
        NotFoundError: the branch does not exist.
        InvalidInputError: it is main, or the branch that is opened.
    """
    _check_branch_exists(store, name)
    if name == store.paths.branch:
        raise InvalidInputError(
            f"Branch {name!r} cannot be deleted by a table that is opened on this branch.",
            hint="Open the table on its main branch, and delete the branch there.",
        )
    server = version_management(store.environment)
    if server is not None:
        server.delete_branch(name)
        return
    check_no_links(store.paths, [store.paths.branches_dir])
    store.branches.delete(name)


def rename_branch(store: TableStore, name: str, new_name: str) -> None:
    """Rename a branch.

    Raises:
        NotFoundError: the branch does not exist.
        AlreadyExistsError: a branch of the new name exists.
        InvalidInputError: the new name is invalid.
    """
    check_branch_name(new_name)
    _check_branch_exists(store, name)
    if version_management(store.environment) is not None:
        raise UnsupportedFeatureError("renaming a branch of a table in a REST catalog")
    if store.branches.exists(new_name):
        raise AlreadyExistsError("branch", new_name, store.paths.root)
    check_no_links(store.paths, [store.paths.branches_dir])
    try:
        store.branches.rename(name, new_name)
    except MissingFileError:  # another job has renamed or deleted it
        _check_branch_exists(store, name)
        raise


def fast_forward(store: TableStore, name: str) -> None:
    """Fast-forward main to a branch: replace main's history from the branch's first snapshot on.

    Main's older snapshots are kept if they are predecessors of the branch's first one. Snapshots
    are copied one by one: a concurrent job may see main at an earlier one of them.

    Raises:
        NotFoundError: the branch does not exist.
        InvalidInputError: the branch is main, or has no snapshots; or an older snapshot, tag or
            changelog of main needs a schema that the branch replaces.
        CommitConflictError: snapshots of main or of the branch are being expired, or their expiry
            was interrupted; nothing was changed.
    """
    _check_branch_exists(store, name)
    server = version_management(store.environment)
    if server is not None:
        server.fast_forward(name)
        return
    main, branch = store.for_branch(MAIN_BRANCH), store.for_branch(name)
    check_no_linked_metadata(main.paths)
    earliest = branch.snapshots.earliest()
    if earliest is None:
        raise InvalidInputError(f"Branch {name!r} has no snapshot to fast-forward to.")
    check_no_expiry(branch, earliest.id, branch.snapshots.history())
    files = _files_of(branch)
    lost = _first_lost_schema(main, branch, files.last_schema)
    older = [snapshot for snapshot in main.snapshots.list() if snapshot.id < earliest.id]
    there = main.snapshots.find(earliest.id)
    is_followed = there is not None and is_same_commit(there, earliest)
    keeps = is_followed or not any(_needs(main, snapshot, lost) for snapshot in older)
    _check_kept_schemas(main, branch, earliest.id, lost, older if is_followed else ())
    _roll_back_main(main, earliest.id, frozenset(files.tags))
    _replace_schemas(main, files)
    copied = _replace_snapshots(main, branch, files)
    _remove_followers(main, copied[-1])
    _remove_unrelated(main, copied[0], keeps=keeps)
    for tag, content in files.tags.items():
        store.file_io.replace(main.paths.tag(tag), content)
    with suppress(StorageError):  # hints are optional: readers list the directory
        main.snapshots.write_latest_hint(copied[-1])
        main.snapshots.write_earliest_hint(main.snapshots.history()[0])


def check_branch_name(name: object) -> None:
    """Check a branch name.

    Raises:
        InvalidInputError: the name is invalid.
    """
    if not isinstance(name, str) or not name.strip() or escapes_folder(name):
        rule = "is not a valid branch name"
    elif name == MAIN_BRANCH:
        rule = "is the name of the default branch and cannot be used for another branch"
    elif name.isascii() and name.isdigit():
        rule = "is not a valid branch name, because it consists of digits only"
    else:
        return
    raise InvalidInputError(f"{name!r} {rule}.")


def _check_branch_exists(store: TableStore, name: str) -> None:
    if name == MAIN_BRANCH:
        raise InvalidInputError("Branch 'main' cannot be renamed, deleted or fast-forwarded.")
    if not name.strip() or "/" in name or not store.branches.exists(name):
        hint = f"Branches: {choices(store.branches.names())}."
        raise NotFoundError("branch", name, store.paths.root, hint=hint)


def _first_lost_schema(main: TableStore, branch: TableStore, last_id: int) -> int | None:
    """Return the first of main's schemas that a fast-forward replaces by another or removes."""
    ids = branch.schemas.ids()
    for schema_id in main.schemas.ids():
        if schema_id > last_id or (
            schema_id in ids and main.schemas.load(schema_id) != branch.schemas.load(schema_id)
        ):
            return schema_id
    return None


def _needs(main: TableStore, snapshot: Snapshot, first_schema: int | None) -> bool:
    """Whether files of a snapshot may need a schema from an id on."""
    return first_schema is not None and newest_schema_id(main.manifests, snapshot) >= first_schema


def _check_kept_schemas(
    main: TableStore, branch: TableStore, first_id: int, lost: int | None, older: Sequence[Snapshot]
) -> None:
    """Check that what stays of main needs no schema that is replaced or removed.

    Raises:
        InvalidInputError: a snapshot, tag or changelog does; nothing was changed.
    """
    copied = branch.tags.names()
    kept = [(f"snapshot {snapshot.id}", snapshot) for snapshot in older]
    kept += [
        (f"tag {tag.name!r}", tag.snapshot) for tag in main.tags.list() if tag.name not in copied
    ]
    kept += [(f"changelog {log.id}", log) for log in main.changelogs.list()]
    for user, snapshot in kept:
        if snapshot.id < first_id and _needs(main, snapshot, lost):
            raise InvalidInputError(
                f"Main cannot be fast-forwarded to branch {branch.paths.branch!r}: {user} of main "
                f"needs schema {lost}, which the branch lacks or has in another form.",
                hint="Delete the tag, or expire the snapshots or changelogs, and fast-forward "
                "again.",
            )


def _files_of(branch: TableStore) -> _BranchFiles:
    """Read the files of a branch.

    Raises:
        CommitConflictError: others remove them meanwhile.
    """
    paths, read = branch.paths, branch.file_io.read
    for _ in range(_MAX_COPIES):
        with suppress(MissingFileError):
            kept = [*branch.snapshots.list(), *(tag.snapshot for tag in branch.tags.list())]
            needed = [newest_schema_id(branch.manifests, snapshot) for snapshot in kept]
            ids = branch.schemas.ids()
            files = _BranchFiles(
                schemas={number: read(paths.schema(number)) for number in ids},
                snapshots={
                    number: read(paths.snapshot(number)) for number in branch.snapshots.history()
                },
                tags={name: read(paths.tag(name)) for name in branch.tags.names()},
                last_schema=max([*ids, *needed], default=0),
            )
            if files.snapshots and ids and frozenset(ids).issubset(branch.schemas.ids()):
                return files
    raise CommitConflictError(
        f"Cannot fast-forward main to branch {paths.branch!r} of {paths.root}: another job removes "
        "files of the branch.",
        hint="Retry.",
    )


def _roll_back_main(main: TableStore, snapshot_id: int, kept_tags: frozenset[str]) -> None:
    """Delete main's snapshots after an id, and its changelogs and tags from that id on.

    Raises:
        CommitConflictError: main's snapshots are being expired; nothing was changed.
    """
    history = main.snapshots.history()
    check_no_expiry(main, snapshot_id, history)
    if history:
        kept = [older for older in history if older <= snapshot_id]
        main.snapshots.write_latest_hint(kept[-1] if kept else history[0])
        try:
            check_no_expiry(main, snapshot_id, history)
        except CommitConflictError:
            main.snapshots.write_latest_hint(history[-1])
            raise
    else:
        main.file_io.delete(main.paths.latest_hint)
    remove_newer_snapshots(main, snapshot_id, history, exists=snapshot_id in history)
    remove_newer_marks(main, snapshot_id - 1, kept_tags)


def _replace_snapshots(main: TableStore, branch: TableStore, files: _BranchFiles) -> list[int]:
    """Copy the branch's snapshots to main, except those that expire concurrently.

    A concurrent rollback may remove some of them: they are copied again.

    Returns:
        The ids of the copied snapshots.
    """
    history = missing = list(files.snapshots)
    for _ in range(_MAX_COPIES):
        for snapshot_id in missing:
            main.file_io.replace(main.paths.snapshot(snapshot_id), files.snapshots[snapshot_id])
        first = max(branch.snapshots.earliest_hint() or 0, branch.snapshots.earliest_id() or 0)
        expiring = [snapshot_id for snapshot_id in history if snapshot_id < first <= history[-1]]
        for snapshot_id in expiring:
            main.snapshots.delete(snapshot_id)
        history = history[len(expiring) :]
        missing = sorted(frozenset(history).difference(main.snapshots.all_ids()))
        if not missing:
            break
    return history


def _remove_followers(main: TableStore, last_id: int) -> None:
    """Delete snapshots that others have concurrently based on replaced ones."""
    known = frozenset(main.snapshots.all_ids())
    last = main.snapshots.find(last_id)
    while last is not None and last.id + 1 in known:
        following = main.snapshots.find(last.id + 1)
        if following is not None and not continues(main.manifests, last, following):
            remove_newer_snapshots(main, last.id, following_ids(known, last.id))
            return
        last = following


def _remove_unrelated(main: TableStore, first_id: int, *, keeps: bool) -> None:
    """Delete main's snapshots before the branch's first one, unless it is based on them.

    Args:
        main: the table.
        first_id: the first snapshot of the branch.
        keeps: whether the older ones have all their schemas.
    """
    before, first = main.snapshots.find(first_id - 1), main.snapshots.find(first_id)
    if first is None:  # a concurrent rollback removed it
        return
    with suppress(MissingFileError):  # the predecessor has expired, or is expiring
        if keeps and before is not None and continues(main.manifests, before, first):
            return
    for older in main.snapshots.ids():
        if older < first_id:
            main.snapshots.delete(older)


def _replace_schemas(main: TableStore, files: _BranchFiles) -> None:
    """Replace main's schemas by the branch's without a moment of absence, and remove later ones."""
    for schema_id, content in files.schemas.items():
        main.file_io.replace(main.paths.schema(schema_id), content)
    for schema_id in reversed(main.schemas.ids()):
        if schema_id > files.last_schema:
            main.file_io.delete(main.paths.schema(schema_id))


def _copy(store: TableStore, source: str, target: str) -> None:
    """Copy a small file byte by byte, including unknown JSON members."""
    store.file_io.replace(target, store.file_io.read(source))
