"""Computes the index manifest of a new snapshot from the previous one and the changes.

An index manifest lists all index files of the snapshot. How changes are applied depends on the type
of index:

| index | key | rule |
| --- | --- | --- |
| hash index | partition, bucket | one file each; a new file replaces the current one |
| deletion vectors of tables with buckets | partition, bucket | the same |
| deletion vectors of tables without buckets | file name | removed files must exist, added files must not; no data file in two of them |
| global index | file name | removals first; new files of a field cover rows without index |
| primary-key index | file name | removals first; its data files must be live, see `index_conflicts` |

`index_conflicts` checks that the removed files are those on which the change was planned.

Spec: concepts/spec/manifest, index manifest.
"""  # noqa: E501  # a table

from collections.abc import Iterable
from itertools import pairwise

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.index_conflicts import (
    check_replaced,
    has_one_file_per_bucket,
    marked_files,
)
from paimon_explore.encoding.global_index.index_sources import primary_key_sources
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries

IndexRow = dict[str, object]


def combine_index(before: IndexEntries, changes: Changes, *, is_bucketed: bool) -> IndexEntries:
    """Return all index files after a commit.

    Args:
        before: all index files of the latest snapshot.
        changes: the added and deleted index files.
        is_bucketed: whether the table has buckets; False for append tables without buckets.

    Raises:
        CommitConflictError: a deleted file does not exist, or an added file conflicts.
    """
    check_replaced(changes, before, is_bucketed=is_bucketed)
    by_bucket: list[IndexEntries] = []
    parts = (before, changes.added_index, changes.deleted_index)
    for index_type in _types(*parts):
        old, new, deleted = (part.of_type(index_type) for part in parts)
        if has_one_file_per_bucket(index_type, is_bucketed=is_bucketed):
            by_bucket.append(_by_bucket(old, new, deleted))
            continue
        kept = _drop(old, deleted)
        _refuse_known(kept, new)
        if index_type == DELETION_VECTORS_INDEX:
            _refuse_two_vectors([*kept.rows(), *new.rows()])
        else:
            _refuse_overlaps(kept.rows(), new.rows())
        by_bucket.append(IndexEntries.concat([kept, new]))
    return IndexEntries.concat([part for part in by_bucket if len(part)])


def _types(*parts: IndexEntries) -> list[str]:
    return list(dict.fromkeys(str(row["index_type"]) for part in parts for row in part.rows()))


def _by_bucket(old: IndexEntries, new: IndexEntries, deleted: IndexEntries) -> IndexEntries:
    files = {_bucket_key(row): row for row in old.rows()}
    for row in deleted.rows():
        files.pop(_bucket_key(row), None)
    for row in new.rows():
        files[_bucket_key(row)] = row
    return IndexEntries.from_rows(list(files.values()))


def _bucket_key(row: IndexRow) -> tuple[object, object]:
    return row["partition"], row["bucket"]


def _names(entries: IndexEntries) -> set[str]:
    return {str(row["file_name"]) for row in entries.rows()}


def _drop(old: IndexEntries, deleted: IndexEntries) -> IndexEntries:
    value_set = pa.array(sorted(_names(deleted)), pa.string())
    return old.filter(pc.invert(pc.is_in(old.column("file_name"), value_set=value_set)))


def _refuse_known(old: IndexEntries, new: IndexEntries) -> None:
    duplicates = _names(old) & _names(new)
    if duplicates:
        raise CommitConflictError(
            f"The table already contains index file {min(duplicates)}, which this commit adds.",
            hint="Check whether the same commit has already succeeded.",
        )


def _refuse_two_vectors(rows: Iterable[IndexRow]) -> None:
    seen: dict[tuple[object, str], str] = {}
    for row in rows:
        for name in marked_files(row):
            key = (row["partition"], name)
            if key in seen:
                raise CommitConflictError(
                    f"Data file {key[1]} has deletion vectors in the index files {seen[key]} and "
                    f"{row['file_name']}: another commit deleted rows of the file."
                )
            seen[key] = str(row["file_name"])


_Ranges = dict[tuple[object, ...], list[tuple[int, int, str]]]
"""Row ranges and names of index files, by partition, bucket, type and field."""


def _refuse_overlaps(kept: Iterable[IndexRow], new: Iterable[IndexRow]) -> None:
    """Check that new global indexes of a field and partition cover rows that have none.

    Several new files may divide the rows of one range among them.
    """
    before = _ranges(kept)
    for key, parts in _ranges(new).items():
        for part, other in pairwise(sorted(parts)):
            if other[0] <= part[1] and other[:2] != part[:2]:
                raise _overlap(part, other)
        for other in before.get(key, ()):
            for part in parts:
                if part[0] <= other[1] and other[0] <= part[1]:
                    raise _overlap(other, part)


def _ranges(rows: Iterable[IndexRow]) -> _Ranges:
    ranges: _Ranges = {}
    for row in rows:
        found = row["global_index"]
        if isinstance(found, dict) and primary_key_sources(found) is None:
            key = (row["partition"], row["bucket"], row["index_type"], found["index_field_id"])
            part = (found["row_range_start"], found["row_range_end"], str(row["file_name"]))
            ranges.setdefault(key, []).append(part)
    return ranges


def _overlap(first: tuple[int, int, str], second: tuple[int, int, str]) -> CommitConflictError:
    return CommitConflictError(
        f"Index file {second[2]} of this commit covers rows that index file {first[2]} covers, too."
    )
