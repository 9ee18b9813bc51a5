"""Copies the files of a table's latest snapshot to another table with the same columns.

Files keep their names, so that deletion vectors still name their files, and files that an earlier
copy brought stay. Live files of the target that the source does not have are removed in the same
commit: all of the table, or those of the chosen partitions.

A file that the target has removed since an earlier copy is added again. Its DELETE entry, which
would remove it again, is applied by a rewrite of the target's manifests in the same commit.

Java's procedure copies all files under new names each time.
"""

from collections import deque
from collections.abc import Sequence
from contextlib import closing

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.squash import bucket_messages
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.maintenance.rewrites.rewrite_commit import (
    identities,
    live_files_of,
    removed_entries,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Row
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.schema.storage_validation import managed_blobs
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.write_target import WriteTarget, message_paths

_CHUNK = 8 * 1024 * 1024


def check_copy(source: WriteTarget, target: WriteTarget, names: tuple[str, str]) -> None:
    """Check that the files of a table can belong to another one.

    Raises:
        InvalidInputError: the tables differ in columns, keys, buckets or file format.
        UnsupportedFeatureError: the table has row tracking or data evolution.
    """
    if source.options.value(opt.ROW_TRACKING_ENABLED):
        raise UnsupportedFeatureError(
            "copying the files of a table with 'row-tracking.enabled' = 'true'",
            names[0],
            hint="Write INSERT OVERWRITE target SELECT * FROM source.",
        )
    for name in managed_blobs(source.schema, source.options):
        raise UnsupportedFeatureError(
            f"copying the files of a primary-key table with the BLOB column {name!r}, whose "
            "descriptors refer to files of this table,",
            names[0],
            hint="Write INSERT OVERWRITE target SELECT * FROM source.",
        )
    ours, theirs = source.schema, target.schema
    facts: dict[str, tuple[object, object]] = {
        "columns": (_columns(ours), _columns(theirs)),
        "primary keys": (set(ours.primary_keys), set(theirs.primary_keys)),
        "partition keys": (ours.partition_keys, theirs.partition_keys),
    }
    for option in (opt.BUCKET, opt.FILE_FORMAT):
        pair = (source.options.value(option), target.options.value(option))
        facts[f"values of the option {option.key!r}"] = pair
    for what, (one, other) in facts.items():
        if one != other:
            raise InvalidInputError(
                f"Table {names[0]} cannot be copied into {names[1]}: they have different {what}.",
                hint="Copy into a table that does not exist yet.",
            )


def _columns(schema: TableSchema) -> list[tuple[str, object]]:
    return [(field.name, field.type) for field in assigned_ids(schema.fields)]


def copy_files(
    source: WriteTarget, target: WriteTarget, partitions: Sequence[PartitionSpec] | None
) -> Snapshot | None:
    """Make the live files of a table those of another one.

    Args:
        source: the table to copy.
        target: the table that gets its files; see `check_copy`.
        partitions: only these partitions; None for all.

    Returns:
        The new snapshot of the target; None if it has these files already.

    Raises:
        UnsupportedFeatureError: files have an earlier schema.
        StorageError: a file could not be read or written; the target is unchanged.
    """
    ours, our_indexes = _live(source, partitions)
    theirs, their_indexes = _live(target, partitions)
    _check_schemas(source, ours)
    known = {_identity(row) for row in theirs}
    new = [row for row in ours if _identity(row) not in known]
    kept = {_identity(row) for row in ours}
    gone = [row for row in theirs if _identity(row) not in kept]
    index_names = {row["file_name"] for row in their_indexes}
    new_indexes = [row for row in our_indexes if row["file_name"] not in index_names]
    kept_names = {row["file_name"] for row in our_indexes}
    gone_indexes = [row for row in their_indexes if row["file_name"] not in kept_names]
    found = bucket_messages({"new_files": new, "new_index_files": new_indexes})
    moved = {"schema_id": target.schema.id, "external_path": None}
    own = [{**row, **moved} for row in new]
    own_indexes = [{**row, "external_path": None} for row in new_indexes]
    added: dict[str, Sequence[Row]] = {"new_files": own, "new_index_files": own_indexes}
    messages = bucket_messages(
        {**added, "deleted_files": gone, "deleted_index_files": gone_indexes}
    )
    if not messages:
        return None
    copies = message_paths(target, bucket_messages(added))
    made: list[str] = []
    try:
        pairs = [*zip(message_paths(source, found), copies, strict=True)]

        def copy_file(pair: tuple[str, str]) -> None:
            path, copy = pair
            if not target.store.file_io.exists(copy):  # an earlier snapshot of the target has it
                made.append(copy)
                _copy(source, target, path, copy)

        threads = threads_for(len(pairs), 0, target.store.file_io)
        with closing(in_parallel(copy_file, pairs, threads)) as results:
            deque(results, maxlen=0)
        committer = Committer(target.store, target.schema, options=target.options)
        snapshots = committer.commit(
            messages, check_appends=True, applies_deletions=_were_removed(target, own)
        )
    except CommitOutcomeUnknownError:
        raise
    except BaseException:
        discard(target.store.file_io, made)
        raise
    run_post_commit(target.store, target.schema, target.options, snapshots[-1])
    return snapshots[-1]


def _live(
    table: WriteTarget, partitions: Sequence[PartitionSpec] | None
) -> tuple[list[Row], list[Row]]:
    """Return the live data files and index files."""
    snapshot = table.store.snapshots.latest()
    if snapshot is None:
        return [], []
    files: list[Row] = [*live_files_of(table, snapshot, partitions).rows()]
    places = {(row["partition"], row["bucket"]) for row in files}
    indexes = table.store.manifests.index_of(snapshot).rows()
    return files, [row for row in indexes if (row["partition"], row["bucket"]) in places]


def _were_removed(target: WriteTarget, new: Sequence[Row]) -> bool:
    """Return whether the target has removed one of some new files before."""
    snapshot = target.store.snapshots.latest()
    if snapshot is None or not new:
        return False
    found = identities(ManifestEntries.from_rows(new))
    return not removed_entries(target.store, snapshot).isdisjoint(found)


def _identity(row: Row) -> tuple[object, ...]:
    return (row["partition"], row["bucket"], row["level"], row["file_name"])


def _check_schemas(source: WriteTarget, rows: Sequence[Row]) -> None:
    latest = source.schema
    for schema_id in {int(str(row["schema_id"])) for row in rows}:
        if schema_id == latest.id or source.store.schemas.load(schema_id).fields == latest.fields:
            continue
        raise UnsupportedFeatureError(
            f"copying files of schema {schema_id}, whose columns are not those of the latest "
            f"schema {latest.id},",
            hint="Rewrite the files first, for example by compact(), or write INSERT OVERWRITE "
            "target SELECT * FROM source.",
        )


def _copy(source: WriteTarget, target: WriteTarget, path: str, copy: str) -> None:
    with source.store.file_io.open(path) as data, target.store.file_io.create_stream(copy) as out:
        while chunk := data.read(_CHUNK):
            out.write(chunk)
