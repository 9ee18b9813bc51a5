"""The commit on the driver for a Spark job, and the removal of uncommitted files.

Theory of operation. A job has an id that is part of the names of all files its tasks write, and a
separate commit user. Tasks return commit messages; of several attempts at a task Spark passes on
one. The driver commits once.

| what happens | what is done |
| --- | --- |
| a task fails, and Spark tries again | the attempt removes its files |
| an attempt is killed, or was speculative | its files are removed by job id after the commit |
| the job fails | the messages' files are removed, then all files of the job's id |
| the commit fails | the same, unless a new snapshot has the job's commit user |
| the commit took effect, but the reply was lost | the snapshot is found: nothing is removed |
| the outcome is unknown | nothing is removed; orphan removal finds the files later |

An attempt that is still running during the removal may leave an orphan file, which is harmless.
"""

from collections.abc import Sequence
from contextlib import suppress

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite
from paimon_explore.errors import PaimonError
from paimon_explore.fileio.paths import parent
from paimon_explore.maintenance.compaction.auto_compaction import auto_compact
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.effective_options import needs_lookup
from paimon_explore.metadata.options.table_options import (
    COMMIT_FORCE_CREATE_SNAPSHOT,
)
from paimon_explore.metadata.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimon_explore.write.write_target import WriteTarget, abort, message_paths

_NEWEST = 100


def publish(
    target: WriteTarget,
    messages: Sequence[CommitMessage],
    what: Overwrite | None,
    identifier: int = BATCH_COMMIT_IDENTIFIER,
    *,
    completes: bool = False,
    produced: Sequence[CommitMessage] | None = None,
) -> Snapshot | None:
    """Commit the files of the tasks, then remove the files of failed attempts.

    Args:
        target: the table, with the job's id and commit user.
        messages: of all tasks.
        what: what an overwrite replaces; None for an append or upsert.
        identifier: of a batch of a stream; if it is already committed, the files of this second
            attempt are removed instead.
        completes: compact on the driver rows that are only readable after compaction; for entry
            points that cannot start tasks.
        produced: all messages of the job, if only some are committed.

    Returns:
        The snapshot; None if nothing changed.

    Raises:
        CommitError, StorageError, InvalidInputError: as for a commit; nothing is removed here.
    """
    if identifier != BATCH_COMMIT_IDENTIFIER and took_effect(target, identifier):
        _remove_repeated(target, messages)
        return None
    committer = Committer(
        target.store, target.schema, options=target.options, commit_user=target.commit_user
    )
    made = (
        committer.commit(
            messages, identifier, ignore_empty=not _forces_snapshot(target, identifier)
        )
        if what is None
        else committer.overwrite(messages, what, identifier)
    )
    with suppress(PaimonError):  # an orphan file is harmless, and the commit succeeded
        sweep(target, messages if produced is None else produced)
    if made and completes and what is None and needs_lookup(target.options):
        table = (target.store, target.schema, target.options)
        made = [*made, *auto_compact(committer, table, messages, identifier)]
    if made:
        run_post_commit(target.store, target.schema, target.options, made[-1])
    return made[-1] if made else None


def _forces_snapshot(target: WriteTarget, identifier: int) -> bool:
    """Whether an empty batch of a stream creates a snapshot."""
    is_stream = identifier != BATCH_COMMIT_IDENTIFIER
    return is_stream and target.options.value(COMMIT_FORCE_CREATE_SNAPSHOT)


def _remove_repeated(target: WriteTarget, messages: Sequence[CommitMessage]) -> None:
    """Remove the files of a batch that another attempt has committed; live files stay."""
    latest = target.store.snapshots.latest()
    if latest is None:
        return
    entries = target.store.manifests.read_many(
        target.store.manifests.all(latest).names, ("file_name",)
    )
    names = entries.column("file_name")
    if not any(_is_of(target, str(name)) for name in names):
        abort(target, messages)


def withdraw(
    target: WriteTarget, messages: Sequence[CommitMessage], identifier: int | None = None
) -> None:
    """Remove all files of a failed job, unless its commit took effect or may have."""
    try:
        if took_effect(target, identifier):
            return
    except PaimonError:
        return
    abort(target, messages)
    own = [s.path for s in target.store.file_io.walk(target.store.paths.root)]
    for path in own:
        if _is_of(target, path):
            target.store.file_io.delete(path)


def took_effect(target: WriteTarget, identifier: int | None = None) -> bool:
    """Return whether a snapshot has the job's commit user and this batch or a later one.

    Raises:
        StorageError, FormatError: a snapshot cannot be read.
    """
    snapshots = target.store.snapshots
    for snapshot_id in reversed(snapshots.history()[-_NEWEST:]):
        snapshot = snapshots.find(snapshot_id)
        if snapshot is not None and snapshot.commit_user == target.commit_user:
            return identifier is None or snapshot.commit_identifier >= identifier
    return False


def sweep(target: WriteTarget, messages: Sequence[CommitMessage]) -> list[str]:
    """Remove the job's files that no message lists, in the folders of the listed files.

    Returns:
        The removed files.
    """
    named = set(message_paths(target, messages))
    file_io = target.store.file_io
    gone = [
        status.path
        for folder in sorted({parent(path) for path in named})
        for status in file_io.list(folder)
        if _is_of(target, status.path) and status.path not in named
    ]
    for path in gone:
        file_io.delete(path)
    return gone


def _is_of(target: WriteTarget, path: str) -> bool:
    return bool(target.job) and f"-{target.job}-" in path.rpartition("/")[2]
