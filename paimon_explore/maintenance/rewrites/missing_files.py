"""Removal of data files from the table that no longer exist in the storage.

Readers fail on a data file that is recorded but was deleted, for example by hand. The removal
commits a snapshot without these files, so that the remaining rows can be read; their rows are lost.
With data evolution the rows of a file that updated some columns stay, with the values from before
the update; if the first file of rows is missing, the rows are lost with all their columns. The
deletion vectors and primary-key indexes of the files are removed with them. Only the latest
snapshot is repaired.

Spec: maintenance/manage-snapshots; spark procedures, remove_unexisting_files.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pyarrow as pa

from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.planned_again import planned_again
from paimon_explore.data_types.arrow_buffers import Bools, Ints, as_python
from paimon_explore.errors import undo_on_error
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.primary_key_indexes import indexes_over
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite, live_files_of
from paimon_explore.maintenance.row_level.deletion_vector_write import VectorChange, changed_vectors
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.manifest_arrays import numbers, text
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit, LocatedFiles
from paimon_explore.scan.splits.row_id_ranges import is_column_file, same_rows
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget, abort

_MAX_SHOWN = 3
_NO_POSITIONS: Mapping[str, Ints] = {}
_EVERYWHERE: tuple[PartitionSpec, ...] = ({},)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFilesReport:
    """The result of a removal of missing files.

    Attributes:
        files: sorted paths of the missing data files.
        records: number of records that were stored in them.
        snapshot_id: the snapshot without them; None if nothing was removed.
        dry_run: whether the files were only listed.
    """

    files: tuple[str, ...] = ()
    records: int = 0
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the numbers of files and records, and the first files."""
        act = "would remove" if self.dry_run else "removed"
        count = f"{len(self.files):,} missing file{'' if len(self.files) == 1 else 's'}"
        first = [f"  {sanitized(path)}" for path in self.files[:_MAX_SHOWN]]
        return "\n".join([f"{act} {count}, {self.records:,} records", *first])


@planned_again
def remove_unexisting_files(
    store: TableStore, schema: TableSchema, options: TableOptions, *, dry_run: bool
) -> MissingFilesReport:
    """Remove the data files from the latest snapshot that do not exist in the storage.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        dry_run: only list the files.

    Raises:
        StorageError: the storage did not say whether a file exists; nothing was removed.
    """
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return MissingFilesReport(dry_run=dry_run)
    target = WriteTarget(store=store, schema=schema, options=options)
    with explain_missing_files(store, snapshot):
        entries = live_files_of(target, snapshot, _EVERYWHERE)
    located = _scan(target, snapshot).located(entries, snapshot)
    lost = _missing(located, store.file_io)
    paths = located.paths.filter(pa.array(lost))
    report = MissingFilesReport(
        files=tuple(sorted(map(str, as_python(paths)))),
        records=entries.filter(lost).total_rows,
        dry_run=dry_run,
    )
    if dry_run or not lost.any():
        return report
    found = whole_buckets(located.take(np.flatnonzero(_without_rows(entries, lost))))
    messages: list[CommitMessage] = []
    with undo_on_error(abort, target, messages), explain_missing_files(store, snapshot):
        messages.extend(_removal(target, snapshot, one) for one in found)
    made = commit_rewrite(target, messages)
    return MissingFilesReport(
        files=report.files, records=report.records, snapshot_id=None if made is None else made.id
    )


def _scan(target: WriteTarget, snapshot: Snapshot) -> ScanTarget:
    return ScanTarget(
        store=target.store, schema=target.schema, options=target.options, snapshot=snapshot
    )


def _missing(located: LocatedFiles, file_io: FileIO) -> Bools:
    """Return which files do not exist."""
    paths = map(str, as_python(located.paths))
    exists = at_once(file_io, [partial(file_io.exists, path) for path in paths])
    return ~np.array(exists, np.bool_)


def _without_rows(entries: ManifestEntries, lost: Bools) -> Bools:
    """Return which files to remove: the lost ones, and further columns of rows that are lost."""
    found = lost.copy()
    numbers_of_files = numbers(entries.table, "max_sequence_number")
    names = text(entries.table, "file_name")
    for rows in same_rows(entries):
        data = [row for row in rows.tolist() if not is_column_file(str(names[row]))]
        if lost[rows].any() and data:
            found[rows] |= lost[min(data, key=lambda row: int(numbers_of_files[row]))]
    return found


def _removal(target: WriteTarget, snapshot: Snapshot, lost: DataSplit) -> CommitMessage:
    """Return the message that removes files of one bucket, their vectors and their indexes."""
    names = frozenset(map(str, as_python(lost.files.column("file_name").combine_chunks())))
    change = VectorChange(removed=names, deleted=_NO_POSITIONS)
    vectors = changed_vectors(_scan(target, snapshot), lost, change)
    index = target.store.manifests.index_of(snapshot)
    return CommitMessage(
        **lost.bucket_fields,
        deleted_files=lost.files,
        new_index_files=vectors.added,
        deleted_index_files=IndexEntries.concat([vectors.removed, indexes_over(index, names)]),
    )
