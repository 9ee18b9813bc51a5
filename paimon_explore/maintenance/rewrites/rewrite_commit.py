"""The commit of a rewrite: removes the new files if it fails, then maintains the table."""

from collections.abc import Callable, Sequence
from itertools import chain

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import (
    PartitionSpec,
    all_files,
    files_of_specs,
)
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.encoding.binary_row.decoder import decode_rows
from paimon_explore.errors import CommitOutcomeUnknownError, PaimonError
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.entry_cancellation import entry_identities
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import as_array
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import byte_array
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget, abort


def commit_rewrite(
    target: WriteTarget,
    messages: Sequence[CommitMessage],
    act: Callable[[Committer], list[Snapshot]] | None = None,
    committer: Committer | None = None,
) -> Snapshot | None:
    """Commit messages; delete their files if the commit certainly failed.

    Args:
        target: the table.
        messages: the messages.
        act: commits them, if not as a plain commit.
        committer: the committer, if it is not a plain one.

    Returns:
        The last snapshot; None if there was nothing to commit.
    """
    own = committer or Committer(target.store, target.schema, options=target.options)
    try:
        made = own.commit(messages) if act is None else act(own)
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        abort(target, messages)
        raise
    if not made:
        return None
    run_post_commit(target.store, target.schema, target.options, made[-1])
    return made[-1]


def live_files_of(
    target: WriteTarget, snapshot: Snapshot, partitions: Sequence[PartitionSpec] | None
) -> ManifestEntries:
    """Return the live files of a snapshot in the partitions that match one of the specs.

    Raises:
        InvalidInputError: a spec has a column that is not a partition column, or a wrong value.
        SnapshotExpiredError: the snapshot expired meanwhile; retry.
    """
    with explain_missing_files(target.store, snapshot):
        entries = all_files(target.store, target.schema, snapshot)
    return files_of_specs(entries, target.schema, partitions)


def partition_specs(schema: TableSchema, partitions: Sequence[bytes]) -> list[dict[str, object]]:
    """Return the values of partitions by column."""
    if not schema.partition_keys:
        return [{} for _ in partitions]
    types = [field.type for field in schema.partition_type]
    columns = decode_rows(byte_array(partitions), types, where="_PARTITION")
    values = zip(*map(as_python, columns), strict=True)
    return [dict(zip(schema.partition_keys, row, strict=True)) for row in values]


def removed_entries(store: TableStore, snapshot: Snapshot) -> frozenset[object]:
    """Return the identities of the DELETE entries in the manifests of a snapshot.

    They would also remove an entry of the same identity that is added later.
    """
    names = store.manifests.all(snapshot).names
    deleted = (store.manifests.read(name).of_kind(FileKind.DELETE) for name in names)
    return frozenset(chain.from_iterable(map(identities, deleted)))


def identities(entries: ManifestEntries) -> list[object]:
    """Return the identity of each entry, by which ADD and DELETE entries cancel."""
    return as_python(as_array(entry_identities(entries))) if len(entries) else []
