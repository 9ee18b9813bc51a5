"""Create, rename and delete tags.

A tag is a named copy of a snapshot file. It keeps the files of its snapshot when the snapshot
expires; deleting the last tag of an expired snapshot therefore removes the files that nothing else
references. The tag file is deleted first: a crash afterwards leaves orphan files, never a tag whose
files are missing.

Others may remove the files of a snapshot while it gets a tag. An expiry deletes the snapshot file
before it looks for new tags, a deletion of a tag deletes the tag before it reads all references,
and a new tag (also a renamed one) is written before it looks whether the snapshot or another tag of
it is still there. So of two operations at least one sees the other. A tag that is replaced gets its
new snapshot when a tag of its own, with a random name, keeps that snapshot for a day: it is deleted
at the end, and expires as other tags do after a crash.

With `tag.create-success-file` a file `tag-success-file/<tag>_SUCCESS` signals a tag to other
systems; it is created after the tag and deleted before it.

Spec: maintenance/manage-tags. Seen with the official Java 2.0.0, and in golden java200/tag_auto.

Tags as partitions in the catalog of a table (`metastore.tag-to-partition`).

The tag exists by then, so that a failure is a warning.
"""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

from paimon_explore.commit.iceberg.reference_updates import update_iceberg_tags
from paimon_explore.commit.planned_again import repeated_after_conflicts
from paimon_explore.data_types.local_time import in_zone, local_now, system_clock
from paimon_explore.errors import (
    AlreadyExistsError,
    CatalogSyncWarning,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    SnapshotExpiredError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.file_removal import Removal, remove_unreachable
from paimon_explore.maintenance.expiry.linked_folders import check_no_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import TableFiles
from paimon_explore.maintenance.partition_done import write_success_file
from paimon_explore.metadata.options.refused_options import Use, check_supported_options
from paimon_explore.metadata.options.table_options import (
    MAX_INT64,
    METASTORE_TAG_TO_PARTITION,
    TableOptions,
)
from paimon_explore.metadata.options.tag_options import (
    TAG_CREATE_SUCCESS_FILE,
    TAG_DEFAULT_TIME_RETAINED,
)
from paimon_explore.metadata.path_safety import escapes_folder
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.catalog_environment import PartitionEnvironment
from paimon_explore.store.table_store import TableStore
from paimon_explore.store.version_management import version_management

_MAX_REPLACEMENT = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRequest:
    """A tag to create.

    Attributes:
        name: the tag name.
        snapshot_id: id of the snapshot; None for the latest.
        retained: the retention; None for the option `tag.default-time-retained`, or forever.
    """

    name: str
    snapshot_id: int | None = None
    retained: timedelta | None = None


@repeated_after_conflicts
def create_tag(
    store: TableStore,
    options: TableOptions,
    request: TagRequest,
    *,
    replaces: bool = False,
    now: Callable[[], datetime] = local_now,
) -> Tag:
    """Create a tag of a snapshot.

    Args:
        store: the table and branch.
        options: effective options.
        request: the tag.
        replaces: whether to replace an existing tag of that name.
        now: local wall clock.

    Raises:
        InvalidInputError: the name is invalid.
        AlreadyExistsError: a tag of that name exists.
        NotFoundError: the snapshot, or the tag to replace, does not exist.
    """
    check_supported_options(options, Use.TAG, store.paths.root)
    check_tag_name(request.name)
    tag = _tag_of(store, options, request, now)
    server = version_management(store.environment)
    if server is not None and not replaces and store.snapshots.find(tag.snapshot.id) is not None:
        retained = tag.time_retained
        millis = None if retained is None else retained // timedelta(milliseconds=1)
        server.create_tag(store.paths.branch, tag.name, tag.snapshot.id, millis)
        return store.tags.load(tag.name)
    if not replaces:
        if not store.tags.create(tag):
            raise AlreadyExistsError("tag", request.name, store.paths.root)
        _check_snapshot_exists(store, tag, request)
        _write_success_file(store, options, tag.name)
        tag_created(store, tag.name)
        update_iceberg_tags(store, options)
        return tag
    before = store.tags.load(request.name)
    _replace(store, tag, request, before, now)
    _write_success_file(store, options, tag.name)
    update_iceberg_tags(store, options)
    if before.snapshot.id != tag.snapshot.id:
        _remove_files(store, options, before)
    return tag


def _replace(
    store: TableStore, tag: Tag, request: TagRequest, before: Tag, now: Callable[[], datetime]
) -> None:
    """Replace a tag by one of a snapshot that cannot expire meanwhile.

    Another tag, which expires if this process is killed, protects the snapshot first. The replaced
    tag may have lost its files once it is replaced, so it could not be restored if the snapshot
    turned out to be expired.
    """
    if before.snapshot.id == tag.snapshot.id:
        store.tags.replace(tag)
        return
    name = f"{tag.name}-{uuid4()}"
    protecting = replace(tag, name=name, create_time=now(), time_retained=_MAX_REPLACEMENT)
    store.tags.create(protecting)
    _check_snapshot_exists(store, protecting, request)
    try:
        store.tags.replace(tag)
        _check_snapshot_exists(store, tag, request)  # others may have deleted all tags
    finally:
        store.tags.delete(protecting.name)


def is_kept(store: TableStore, snapshot: Snapshot, *, without: str | None = None) -> bool:
    """Return whether a snapshot exists, or a tag of it, so that its files are not removed.

    Args:
        store: the table and branch.
        snapshot: the snapshot.
        without: a tag that does not count.
    """
    if store.snapshots.find(snapshot.id) is not None:
        return True
    return any(t.snapshot.id == snapshot.id for t in store.tags.list() if t.name != without)


def _check_snapshot_exists(store: TableStore, tag: Tag, request: TagRequest) -> None:
    """Withdraw a new tag if its snapshot has expired in the meantime, so that its files are gone.

    Raises:
        NotFoundError: the snapshot of the request has expired.
        SnapshotExpiredError: the latest snapshot has; another one can be tagged instead.
    """
    if is_kept(store, tag.snapshot, without=tag.name):
        return
    store.tags.delete(tag.name)
    if request.snapshot_id is None:
        raise SnapshotExpiredError(
            f"Snapshot {tag.snapshot.id} of {store.paths.branch_root} was removed while it was "
            "tagged."
        )
    store.snapshots.load(tag.snapshot.id)


def rename_tag(store: TableStore, options: TableOptions, name: str, new_name: str) -> Tag:
    """Rename a tag, and its success file.

    The new tag file is created before the old one is deleted, so that the snapshot is always
    tagged.

    Raises:
        NotFoundError: the tag does not exist.
        AlreadyExistsError: a tag of the new name exists.
        InvalidInputError: the new name is invalid.
    """
    check_tag_name(new_name)
    check_no_linked_metadata(store.paths)
    tag = replace(store.tags.load(name), name=new_name)
    if not store.tags.create(tag):
        raise AlreadyExistsError("tag", new_name, store.paths.root)
    if not is_kept(store, tag.snapshot, without=new_name):
        store.tags.delete(new_name)
        store.tags.load(name)  # raises: it was deleted meanwhile
    if options.value(TAG_CREATE_SUCCESS_FILE):
        old, new = store.paths.tag_success(name), store.paths.tag_success(new_name)
        with suppress(MissingFileError):
            store.file_io.replace(new, store.file_io.read(old))
            store.file_io.delete(old)
    store.tags.delete(name)
    tag_created(store, new_name)
    tag_deleted(store, name)
    return tag


def delete_tag(store: TableStore, options: TableOptions, name: str) -> Removal:
    """Delete a tag and the files that only it references.

    Raises:
        NotFoundError: the tag does not exist.
        StorageError, FormatError: the tag was deleted, but other references to its files could not
            be read; no files were removed.
    """
    check_no_linked_metadata(store.paths)
    tag = store.tags.load(name)
    if options.value(TAG_CREATE_SUCCESS_FILE):
        store.file_io.delete(store.paths.tag_success(name))
    server = version_management(store.environment)
    if server is not None:
        server.delete_tag(store.paths.branch, name)
        return Removal()  # the server removes the files
    store.tags.delete(name)
    tag_deleted(store, name)
    update_iceberg_tags(store, options)
    return _remove_files(store, options, tag)


def expire_tags(
    store: TableStore,
    options: TableOptions,
    *,
    before_ms: int | None = None,
    now: Callable[[], datetime] = local_now,
) -> list[str]:
    """Delete expired tags.

    Args:
        store: the table and branch.
        options: effective options.
        before_ms: also delete the tags that were created before this time, epoch milliseconds; of
            tags without a retention time, the time of their file counts.
        now: local wall clock.

    Returns:
        The names of the deleted tags.
    """
    moment = now()
    expired = []
    for tag in store.tags.list():
        is_due = tag.expire_time is not None and tag.expire_time < moment
        if is_due or (before_ms is not None and _created_ms(store, tag) < before_ms):
            with suppress(NotFoundError):  # another job has deleted or renamed it
                delete_tag(store, options, tag.name)
                expired.append(tag.name)
    return expired


def _created_ms(store: TableStore, tag: Tag) -> int:
    """Return when a tag was created, in epoch milliseconds; never if it is deleted meanwhile."""
    if tag.create_time is None or tag.time_retained is None:
        with suppress(MissingFileError):
            return store.file_io.status(store.paths.tag(tag.name)).modified_ms
        return MAX_INT64
    return int(in_zone(tag.create_time, None).timestamp() * 1000)


def check_tag_name(name: object) -> None:
    """Check that a tag name can be a file name.

    Raises:
        InvalidInputError: the name is invalid.
    """
    if not isinstance(name, str) or not name.strip() or escapes_folder(name):
        raise InvalidInputError(
            f"{name!r} is not a valid tag name.",
            hint="A tag name must not be empty or contain '/' or '\\\\'.",
        )


def _write_success_file(store: TableStore, options: TableOptions, name: str) -> None:
    """Write the success file of a tag, if enabled."""
    if options.value(TAG_CREATE_SUCCESS_FILE):
        write_success_file(store.file_io, store.paths.tag_success(name), system_clock())


def _tag_of(
    store: TableStore, options: TableOptions, request: TagRequest, now: Callable[[], datetime]
) -> Tag:
    snapshots = store.snapshots
    if request.snapshot_id is None:
        snapshot = snapshots.latest()
        if snapshot is None:
            message = f"The table {store.paths.root} has no snapshot to tag."
            raise NotFoundError("snapshot", "latest", store.paths.root, message=message)
    else:
        found = snapshots.find(request.snapshot_id)
        snapshot = found if found is not None else _snapshot_of_tag(store, request.snapshot_id)
    retained = request.retained
    default_ms = options.value(TAG_DEFAULT_TIME_RETAINED)
    if retained is None and default_ms is not None:
        retained = timedelta(milliseconds=default_ms)
    create_time = None if retained is None else now()
    return Tag(
        name=request.name, snapshot=snapshot, create_time=create_time, time_retained=retained
    )


def _snapshot_of_tag(store: TableStore, snapshot_id: int) -> Snapshot:
    """Return an expired snapshot from a tag of it."""
    for tag in store.tags.list():
        if tag.snapshot.id == snapshot_id:
            return tag.snapshot
    return store.snapshots.load(snapshot_id)


def _remove_files(store: TableStore, options: TableOptions, tag: Tag) -> Removal:
    """Remove the files that only a deleted tag referenced."""
    if store.snapshots.find(tag.snapshot.id) is not None:
        return Removal()
    files = TableFiles(store=store, options=options)
    try:
        candidates = files.of_state(tag.snapshot)
    except MissingFileError:  # an expiry that did not see the tag any more removes them
        return Removal()
    return remove_unreachable(files, candidates)


def tag_created(store: TableStore, name: str) -> None:
    """Add the partition of a new tag to the catalog."""
    _tell(store, name, added=True)


def tag_deleted(store: TableStore, name: str) -> None:
    """Remove the partition of a deleted tag from the catalog."""
    _tell(store, name, added=False)


def _tell(store: TableStore, name: str, *, added: bool) -> None:
    environment = store.environment
    if not isinstance(environment, PartitionEnvironment):
        return
    try:
        schema = store.schemas.latest()
        column = TableOptions(schema.options if schema else {}).value(METASTORE_TAG_TO_PARTITION)
        if column is not None:
            tell = environment.add_partitions if added else environment.drop_partitions
            tell([{column: name}])
    except PaimonError as error:
        what = "created" if added else "deleted"
        warnings.warn(
            f"Tag {name!r} is {what}, but the catalog was not told: {error}",
            CatalogSyncWarning,
            stacklevel=3,
        )
