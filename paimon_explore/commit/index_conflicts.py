"""Conflict checks of index files (deletion vectors, hash indexes, global indexes).

Index files are immutable: a commit replaces an index file by a new one, which is based on the old
one and on the live data files of the planned snapshot. So the commit is valid only if, in the
snapshot on which it is based:

1. every index file that the commit removes is still in the table;
2. if a bucket has one index file of a type (hash indexes; deletion vectors of tables with buckets),
   a new index file replaces the current one of the bucket, if any;
3. otherwise no data file gets a second deletion vector;
4. every data file of a new index file is live after the commit;
5. no remaining index file refers to a data file that the commit removes: another commit has deleted
   rows of that file, or built an index over it, since the change was planned.

A data file that the commit removes and adds again on another level does not count as removed.

Spec: concepts/concurrency-control; concepts/spec/tableindex.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.file_changes import Changes
from paimon_explore.encoding.global_index.index_sources import decode_sources, primary_key_sources
from paimon_explore.errors import PLAN_AGAIN, CommitConflictError
from paimon_explore.metadata.manifest.index_manifest import (
    DELETION_VECTORS_INDEX,
    HASH_INDEX,
    IndexEntries,
)
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries

IndexRow = Mapping[str, object]

_ONE_WRITER = (
    "Write the rows again. Only one job at a time should write to a table with dynamic buckets."
)


def has_one_file_per_bucket(index_type: str, *, is_bucketed: bool) -> bool:
    """Return whether a bucket has at most one index file of a type."""
    return index_type == HASH_INDEX or (index_type == DELETION_VECTORS_INDEX and is_bucketed)


def check_replaced(changes: Changes, before: IndexEntries, *, is_bucketed: bool) -> None:
    """Check that the index files that the commit replaces are the current ones.

    Args:
        changes: the changes.
        before: all index files of the latest snapshot.
        is_bucketed: whether the table has buckets.

    Raises:
        CommitConflictError: another commit has replaced, removed or added index files.
    """
    if not len(changes.added_index) and not len(changes.deleted_index):
        return
    existing = before.rows()
    deleted = changes.deleted_index.rows()
    _check_present(existing, deleted)
    _check_buckets(existing, changes.added_index.rows(), deleted, is_bucketed=is_bucketed)
    if not is_bucketed:
        _check_second_vectors(existing, changes.added_index, deleted)


def _check_present(existing: Iterable[IndexRow], deleted: Iterable[IndexRow]) -> None:
    """Check that every removed index file exists."""
    present = {_identity(row) for row in existing}
    for row in deleted:
        if _identity(row) not in present:
            raise CommitConflictError(_changed(row), hint=_hint(row))


def _check_buckets(
    existing: Iterable[IndexRow],
    added: Iterable[IndexRow],
    deleted: Iterable[IndexRow],
    *,
    is_bucketed: bool,
) -> None:
    """Check that a new index file of a bucket replaces the current one."""
    buckets = {
        _bucket_of(row)
        for row in added
        if has_one_file_per_bucket(str(row["index_type"]), is_bucketed=is_bucketed)
    }
    replaced = {_identity(row) for row in deleted}
    for row in existing if buckets else ():
        if _bucket_of(row) in buckets and _identity(row) not in replaced:
            raise CommitConflictError(_changed(row), hint=_hint(row))


def _check_second_vectors(
    existing: Iterable[IndexRow], added: IndexEntries, deleted: Iterable[IndexRow]
) -> None:
    """Check that no data file gets deletion vectors in two index files."""
    new: dict[object, set[str]] = {}
    for row in _of_vectors(added.rows()):
        new.setdefault(row["partition"], set()).update(marked_files(row))
    replaced = {_identity(row) for row in deleted}
    for row in _of_vectors(existing) if new else ():
        duplicates = new.get(row["partition"], set()).intersection(marked_files(row))
        if duplicates and _identity(row) not in replaced:
            raise CommitConflictError(
                f"Another commit deleted rows of data file {min(duplicates)}, whose rows this "
                "commit also deletes."
            )


def check_marked_files(changes: Changes, after: ManifestEntries) -> None:
    """Check that the data files of new deletion vectors and indexes are live after the commit.

    Args:
        changes: the changes.
        after: live files of the changed partitions after the commit.

    Raises:
        CommitConflictError: another commit has removed or replaced such a data file.
    """
    added = changes.added_index.rows()
    described = {
        (row["partition"], name)
        for row in added
        for name in (*marked_files(row), *indexed_files(row))
    }
    if not described:
        return
    names = pa.array(sorted({name for _, name in described}))
    files = after.table.select(["partition", "file_name"])
    live = files.filter(pc.is_in(files["file_name"], names)).to_pylist()
    missing = described - {(row["partition"], row["file_name"]) for row in live}
    for name in sorted(str(name) for _, name in missing):
        raise CommitConflictError(
            f"Data file {name}, whose rows this commit deletes or indexes, is no longer in the "
            "table: another commit removed or replaced it."
        )


def check_indexed_files(changes: Changes, before: IndexEntries) -> None:
    """Check that no remaining index file refers to a data file that the commit removes.

    Otherwise rows that another commit has deleted would reappear.

    Args:
        changes: the changes.
        before: all index files of the latest snapshot.

    Raises:
        CommitConflictError: another commit deleted rows of such a file, or built an index over it.
    """
    removed = _removed(changes.entries)
    if not removed:
        return
    replaced = {_identity(row) for row in changes.deleted_index.rows()}
    for row in before.rows():
        if _identity(row) in replaced:
            continue
        for name in marked_files(row):
            if (row["partition"], name) in removed:
                raise CommitConflictError(
                    f"Another commit deleted rows of data file {name}, which this commit replaces."
                )
        for name in _sources(row, removed):
            raise CommitConflictError(
                f"Another commit added an index of type {row['index_type']} for data file {name}, "
                "which this commit replaces."
            )


def check_indexed_columns(
    changes: Changes, before: IndexEntries, indexable: Mapping[str, int]
) -> None:
    """Check that no global index remains over columns of rows that the commit updates.

    Args:
        changes: the changes; of a table with data evolution.
        before: all index files of the latest snapshot.
        indexable: id by name of the columns whose indexes an update has to drop.

    Raises:
        CommitConflictError: another commit built such an index.
    """
    dropped = {_identity(row) for row in changes.deleted_index.rows()}
    indexes = [
        (row["index_type"], found)
        for row in before.rows()
        if isinstance(found := row["global_index"], dict) and _identity(row) not in dropped
    ]
    if not indexes:
        return
    columns = ["first_row_id", "row_count", "write_cols", "file_source"]
    added = changes.entries.of_kind(FileKind.ADD).table.select(columns).to_pylist()
    for row in added:
        first, names = row["first_row_id"], row["write_cols"]
        if first is None or names is None or row["file_source"] == FileSource.COMPACT:
            continue
        ids = {indexable[name] for name in names if name in indexable}
        for kind, found in indexes:
            is_same = ids.intersection((found["index_field_id"], *(found["extra_field_ids"] or ())))
            if is_same and _covers(found, first, first + row["row_count"]):
                raise CommitConflictError(
                    f"Another commit has built a {kind} index over a column that this commit "
                    f"updates, in {row['row_count']} rows from row id {first} on."
                )


def check_indexed_rows(changes: Changes, live: ManifestEntries, planned_on: int) -> None:
    """Check that no other commit has changed rows since a new global index was planned on them.

    Args:
        changes: the changes; of a table with data evolution.
        live: live files of the changed partitions.
        planned_on: the snapshot whose rows were indexed.

    Raises:
        CommitConflictError: another commit has written columns of the rows.
    """
    indexes = [
        found
        for row in changes.added_index.rows()
        if isinstance(found := row["global_index"], dict)
    ]
    if not indexes:
        return
    columns = ["first_row_id", "row_count", "max_sequence_number", "file_name"]
    for row in live.table.select(columns).to_pylist():
        first = row["first_row_id"]
        if first is None or row["max_sequence_number"] <= planned_on:
            continue
        if any(_covers(found, first, first + row["row_count"]) for found in indexes):
            raise CommitConflictError(
                f"File {row['file_name']} of another commit updates columns of rows that this "
                f"commit indexes, from row id {first} on."
            )


def check_removed_rows(
    changes: Changes, before: IndexEntries, gone: Sequence[tuple[int, int]]
) -> None:
    """Check that no global index remains over rows whose files the commit removes.

    Args:
        changes: the changes of a compaction of a table with data evolution.
        before: all index files of the latest snapshot.
        gone: first row id, and last one plus 1, of these rows.

    Raises:
        CommitConflictError: another commit built such an index.
    """
    dropped = {_identity(row) for row in changes.deleted_index.rows()}
    for row in before.rows() if gone else ():
        found = row["global_index"]
        if not isinstance(found, dict) or _identity(row) in dropped:
            continue
        if any(_covers(found, *rows) for rows in gone):
            raise CommitConflictError(
                f"Index file {row['file_name']} of type {row['index_type']} covers rows whose "
                "files this commit removes: another commit built it."
            )


def _covers(index: Mapping[str, int], first: int, after: int) -> bool:
    return index["row_range_start"] < after and first <= index["row_range_end"]


def _removed(entries: ManifestEntries) -> frozenset[tuple[object, str]]:
    """Return partition and name of removed data files, except those that only change the level."""
    if not entries.count_of(FileKind.DELETE):
        return frozenset()
    names: dict[FileKind, set[tuple[object, str]]] = {}
    for kind in (FileKind.DELETE, FileKind.ADD):
        rows = entries.of_kind(kind).table.select(["partition", "file_name"]).to_pylist()
        names[kind] = {(row["partition"], row["file_name"]) for row in rows}
    return frozenset(names[FileKind.DELETE] - names[FileKind.ADD])


def _sources(row: IndexRow, removed: frozenset[tuple[object, str]]) -> Iterator[str]:
    """Yield the removed files that a global index covers, by their names in its source metadata."""
    source = primary_key_sources(row["global_index"])
    if source is not None:
        for partition, name in sorted(removed, key=str):
            if partition == row["partition"] and name.encode() in source:
                yield name


def marked_files(row: IndexRow) -> tuple[str, ...]:
    """Return the data files for which an index file has deletion vectors."""
    ranges = row["dv_ranges"]
    return tuple(str(part["data_file"]) for part in ranges) if isinstance(ranges, list) else ()


def indexed_files(row: IndexRow) -> tuple[str, ...]:
    """Return the data files that a primary-key index covers; none for other index files.

    Raises:
        FormatError: the source metadata breaks its layout.
    """
    source = primary_key_sources(row["global_index"])
    if source is None:
        return ()
    return tuple(file.name for file in decode_sources(source, path=str(row["file_name"])).files)


def _of_vectors(rows: Iterable[IndexRow]) -> Iterator[IndexRow]:
    return (row for row in rows if row["index_type"] == DELETION_VECTORS_INDEX)


def _bucket_of(row: IndexRow) -> tuple[object, ...]:
    return row["index_type"], row["partition"], row["bucket"]


def _identity(row: IndexRow) -> tuple[object, ...]:
    return (*_bucket_of(row), row["file_name"])


def _changed(row: IndexRow) -> str:
    """Return the message for an index file that another commit has changed."""
    match row["index_type"]:
        case str(kind) if kind == HASH_INDEX:
            return (
                f"Another commit added keys to bucket {row['bucket']}, to which this commit also "
                "adds keys."
            )
        case str(kind) if kind == DELETION_VECTORS_INDEX:
            touched = next(iter(marked_files(row)), None)
            files = f"data file {touched}" if touched else f"bucket {row['bucket']}"
            return (
                f"Another commit changed the deletion vectors of {files}: it deleted rows of "
                f"bucket {row['bucket']} or compacted the bucket."
            )
        case kind:
            return f"Index file {row['file_name']} of type {kind} was replaced by another commit."


def _hint(row: IndexRow) -> str:
    return _ONE_WRITER if row["index_type"] == HASH_INDEX else PLAN_AGAIN
