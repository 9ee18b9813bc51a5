"""Copies the files of a table's latest snapshot to another table with the same columns.

Copies get new names, `<name>-copy-<random>.<extension>`, by which a later copy finds them, so that
files that an earlier copy brought stay. Live files of the target that the source does not have are
removed in the same commit: all of the table, or those of the chosen partitions.

A name is never used again: an expiry of the target may be about to delete the file that had it.
Index files name their data files in the index manifest, where the names are replaced.

Java's procedure copies all files under new names each time.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from uuid import uuid4

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.index_conflicts import indexed_files, marked_files
from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import repeated, with_latest_schema
from paimon_explore.commit.squash import bucket_messages
from paimon_explore.data_types.field_ids import assigned_ids
from paimon_explore.encoding.global_index.index_sources import (
    decode_sources,
    encode_sources,
    primary_key_sources,
)
from paimon_explore.errors import (
    CommitOutcomeUnknownError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.maintenance.post_commit import run_post_commit
from paimon_explore.maintenance.rewrites.rewrite_commit import live_files_of
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.manifest_table import Row
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.schema.storage_validation import managed_blobs
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.write_target import WriteTarget, message_paths

_CHUNK = 8 * 1024 * 1024
_COPIED = re.compile(r"-copy-[0-9a-f]{8}(?=\.|$)")
"""What a copy adds to the name of a file."""


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

    def attempt(retry: int) -> Snapshot | None:
        if not retry:
            return _copy_once(source, target, partitions)
        ends = _latest(source), _latest(target)
        check_copy(*ends, (source.store.paths.root, target.store.paths.root))
        return _copy_once(*ends, partitions)

    return repeated(target.options, attempt)


def _latest(table: WriteTarget) -> WriteTarget:
    _, schema, options = with_latest_schema((table.store, table.schema, table.options))
    return replace(table, schema=schema, options=options)


def _copy_once(
    source: WriteTarget, target: WriteTarget, partitions: Sequence[PartitionSpec] | None
) -> Snapshot | None:
    read, before = source.store.snapshots.latest(), target.store.snapshots.latest()
    ours, our_indexes = _live(source, read, partitions)
    theirs, their_indexes = _live(target, before, partitions)
    _check_schemas(source, ours)
    known = {_identity(row): str(row["file_name"]) for row in theirs}
    kept = {_identity(row) for row in ours}
    suffix = f"-copy-{uuid4().hex[:8]}"
    names = {
        _place(row, row["file_name"]): known.get(_identity(row))
        or _renamed(row["file_name"], suffix)
        for row in ours
    }
    new = [row for row in ours if _identity(row) not in known]
    gone = [row for row in theirs if _identity(row) not in kept]
    moved = {"schema_id": target.schema.id, "external_path": None}
    own = [{**row, **_new_names(row, suffix), **moved} for row in new]
    copied = [(row, _copied_index(row, names, suffix)) for row in our_indexes]
    indexes = {_index_identity(one): (row, one) for row, one in copied}
    known_indexes = {_index_identity(row) for row in their_indexes}
    new_indexes = [pair for key, pair in indexes.items() if key not in known_indexes]
    gone_indexes = [row for row in their_indexes if _index_identity(row) not in indexes]
    found = bucket_messages({"new_files": new, "new_index_files": [row for row, _ in new_indexes]})
    added: dict[str, Sequence[Row]] = {
        "new_files": own,
        "new_index_files": [one for _, one in new_indexes],
    }
    messages = bucket_messages(
        {**added, "deleted_files": gone, "deleted_index_files": gone_indexes}
    )
    if not messages:
        return None
    copies = message_paths(target, bucket_messages(added))
    since = OverwrittenPartitions(
        since=SeenSnapshot.of(before), specs=({},) if partitions is None else tuple(partitions)
    )
    try:
        with explain_missing_files(source.store, read):
            pairs = [*zip(message_paths(source, found), copies, strict=True)]
            threads = threads_for(len(pairs), 0, target.store.file_io)
            with closing(in_parallel(partial(_copy, source, target), pairs, threads)) as results:
                deque(results, maxlen=0)
        committer = Committer(target.store, target.schema, options=target.options)
        snapshots = committer.commit(messages, check_appends=True, overwritten=since)
    except CommitOutcomeUnknownError:
        raise
    except BaseException:
        discard(target.store.file_io, copies)
        raise
    run_post_commit(target.store, target.schema, target.options, snapshots[-1])
    return snapshots[-1]


def _live(
    table: WriteTarget, snapshot: Snapshot | None, partitions: Sequence[PartitionSpec] | None
) -> tuple[list[Row], list[Row]]:
    """Return the live data files and index files of a snapshot."""
    if snapshot is None:
        return [], []
    files: list[Row] = [*live_files_of(table, snapshot, partitions).rows()]
    places = {(row["partition"], row["bucket"]) for row in files}
    indexes = table.store.manifests.index_of(snapshot).rows()
    return files, [row for row in indexes if (row["partition"], row["bucket"]) in places]


def _identity(row: Row) -> tuple[object, ...]:
    return (row["partition"], row["bucket"], row["level"], _COPIED.sub("", str(row["file_name"])))


def _index_identity(row: Row) -> tuple[object, ...]:
    """Return the name of the copied index file, and the names of the data files of the target."""
    return (_COPIED.sub("", str(row["file_name"])), marked_files(row), indexed_files(row))


def _renamed(name: object, suffix: str) -> str:
    stem, dot, extensions = _COPIED.sub("", str(name)).partition(".")
    return f"{stem}{suffix}{dot}{extensions}"


def _new_names(row: Row, suffix: str) -> dict[str, object]:
    extra = row["extra_files"]
    extras = [_renamed(name, suffix) for name in extra] if isinstance(extra, list) else extra
    return {"file_name": _renamed(row["file_name"], suffix), "extra_files": extras}


def _place(row: Row, name: object) -> tuple[object, ...]:
    """Return partition, bucket and name of a data file: the name alone may be that of several."""
    return (row["partition"], row["bucket"], name)


def _copied_index(row: Row, names: Mapping[tuple[object, ...], str], suffix: str) -> Row:
    """Return the entry of a copied index file, which names the data files of the target."""
    ranges, index = row["dv_ranges"], row["global_index"]

    def renamed(name: str) -> str:
        return names.get(_place(row, name), name)

    if isinstance(ranges, list):
        ranges = [{**one, "data_file": renamed(one["data_file"])} for one in ranges]
    source = primary_key_sources(index)
    if source is not None and isinstance(index, dict):
        sources = decode_sources(source, path=str(row["file_name"]))
        files = tuple(replace(file, name=renamed(file.name)) for file in sources.files)
        index = {**index, "source_meta": encode_sources(replace(sources, files=files))}
    return {
        **row,
        "file_name": _renamed(row["file_name"], suffix),
        "dv_ranges": ranges,
        "global_index": index,
        "external_path": None,
    }


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


def _copy(source: WriteTarget, target: WriteTarget, pair: tuple[str, str]) -> None:
    path, copy = pair
    with source.store.file_io.open(path) as data, target.store.file_io.create_stream(copy) as out:
        while chunk := data.read(_CHUNK):
            out.write(chunk)
