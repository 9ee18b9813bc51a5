"""Tags made, renamed and deleted.

A tag is a copy of a snapshot file under a name. It keeps the files of its snapshot when the
snapshot expires; so whoever deletes the last tag of an expired snapshot has to remove the files
that nobody else needs. The tag's file goes first: a crash afterwards leaves orphans, never a tag
whose files are gone.

With `tag.create-success-file` a file `tag-success-file/<tag>_SUCCESS` tells other systems of a tag;
it comes after the tag and goes before it.

Spec: maintenance/manage-tags. Seen with the official Java 2.0.0, and in golden java200/tag_auto.
"""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    MissingFileError,
    NotFoundError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.file_removal import Removal, remove_unreachable
from paimon_explore.maintenance.expiry.linked_folders import refuse_linked_metadata
from paimon_explore.maintenance.expiry.reachable_files import TableFiles, roots_of
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.options.tag_options import (
    TAG_CREATE_SUCCESS_FILE,
    TAG_DEFAULT_TIME_RETAINED,
)
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.store.table_store import TableStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRequest:
    """A tag to be made.

    Attributes:
        name: its name.
        snapshot_id: the snapshot; None for the newest.
        retained: how long it lives; None for the option `tag.default-time-retained`, or for ever.
    """

    name: str
    snapshot_id: int | None = None
    retained: timedelta | None = None


def local_now() -> datetime:
    """The local wall clock, as tags write it."""
    return datetime.now().astimezone().replace(tzinfo=None)


def create_tag(
    store: TableStore,
    options: TableOptions,
    request: TagRequest,
    *,
    replaces: bool = False,
    now: Callable[[], datetime] = local_now,
) -> Tag:
    """Give a snapshot a name.

    Args:
        store: the table and branch.
        options: its options.
        request: the tag.
        replaces: whether a tag of that name is replaced; it must exist then.
        now: local wall clock.

    Raises:
        InvalidInputError: a name that cannot be used.
        AlreadyExistsError: there is a tag of that name.
        NotFoundError: there is no such snapshot; or no tag to replace.
    """
    check_tag_name(request.name)
    tag = _tag_of(store, options, request, now)
    if not replaces:
        if not store.tags.create(tag):
            raise AlreadyExistsError("tag", request.name, store.paths.root)
        _check_kept(store, tag)
        _tell(store, options, tag.name)
        return tag
    before = store.tags.load(request.name)
    store.tags.replace(tag)
    _tell(store, options, tag.name)
    if before.snapshot.id != tag.snapshot.id:
        _remove_files(store, options, before)
    return tag


def _check_kept(store: TableStore, tag: Tag) -> None:
    """Take a new tag back if its snapshot has gone meanwhile: nobody has kept its files.

    Raises:
        NotFoundError: it has gone.
    """
    wanted = tag.snapshot.id
    if store.snapshots.find(wanted) is not None:
        return
    if not any(t.snapshot.id == wanted for t in store.tags.list() if t.name != tag.name):
        store.tags.delete(tag.name)
        store.snapshots.load(wanted)


def rename_tag(store: TableStore, name: str, new_name: str) -> Tag:
    """Give a tag another name.

    The new file is there before the old one goes, so that the files are held at any time.

    Raises:
        NotFoundError: there is no such tag.
        AlreadyExistsError: the new name is taken.
        InvalidInputError: the new name cannot be used.
    """
    check_tag_name(new_name)
    refuse_linked_metadata(store.paths)
    tag = replace(store.tags.load(name), name=new_name)
    if not store.tags.create(tag):
        raise AlreadyExistsError("tag", new_name, store.paths.root)
    store.tags.delete(name)
    return tag


def delete_tag(store: TableStore, options: TableOptions, name: str) -> Removal:
    """Remove a tag, and the files that only it held.

    Raises:
        NotFoundError: there is no such tag.
        StorageError, FormatError: the tag is gone, but what else needs its files could not be
            read; nothing more was removed.
    """
    refuse_linked_metadata(store.paths)
    tag = store.tags.load(name)
    if options.value(TAG_CREATE_SUCCESS_FILE):
        store.file_io.delete(store.paths.tag_success(name))
    store.tags.delete(name)
    return _remove_files(store, options, tag)


def expire_tags(
    store: TableStore, options: TableOptions, *, now: Callable[[], datetime] = local_now
) -> list[str]:
    """Delete the tags that have outlived their time.

    Returns:
        Their names.
    """
    moment = now()
    gone = []
    for tag in store.tags.list():
        if tag.expire_time is not None and tag.expire_time < moment:
            delete_tag(store, options, tag.name)
            gone.append(tag.name)
    return gone


def check_tag_name(name: object) -> None:
    """Refuse names that are no file name.

    Raises:
        InvalidInputError: it is one.
    """
    if not isinstance(name, str) or not name.strip() or "/" in name or "\\" in name:
        raise InvalidInputError(
            f"{name!r} is not a valid tag name.",
            hint="A tag name must not be empty or contain '/' or '\\\\'.",
        )


def _tell(store: TableStore, options: TableOptions, name: str) -> None:
    """Let other systems know that a tag is there, if they are to."""
    if not options.value(TAG_CREATE_SUCCESS_FILE):
        return
    path, now_ms = store.paths.tag_success(name), time.time_ns() // 1_000_000
    made_ms = now_ms
    with suppress(MissingFileError, ValueError, KeyError, TypeError):
        made_ms = int(json.loads(store.file_io.read(path))["creationTime"])
    text = f'{{\n  "creationTime" : {made_ms},\n  "modificationTime" : {now_ms}\n}}'
    store.file_io.replace(path, text.encode())


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
        snapshot = found if found is not None else _tagged(store, request.snapshot_id)
    retained = request.retained
    default_ms = options.value(TAG_DEFAULT_TIME_RETAINED)
    if retained is None and default_ms is not None:
        retained = timedelta(milliseconds=default_ms)
    create_time = None if retained is None else now()
    return Tag(
        name=request.name, snapshot=snapshot, create_time=create_time, time_retained=retained
    )


def _tagged(store: TableStore, snapshot_id: int) -> Snapshot:
    """An expired snapshot that another tag holds."""
    for tag in store.tags.list():
        if tag.snapshot.id == snapshot_id:
            return tag.snapshot
    return store.snapshots.load(snapshot_id)


def _remove_files(store: TableStore, options: TableOptions, tag: Tag) -> Removal:
    """What only the tag held; nothing while its snapshot is there or has another tag."""
    snapshot_id = tag.snapshot.id
    others = [other for other in store.tags.list() if other.snapshot.id == snapshot_id]
    if others or store.snapshots.find(snapshot_id) is not None:
        return Removal()
    files = TableFiles(store=store, options=options)
    candidates = files.of_state(tag.snapshot)
    return remove_unreachable(files, candidates, roots_of(store, options))
