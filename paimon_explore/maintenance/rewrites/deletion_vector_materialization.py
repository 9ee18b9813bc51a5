"""Materialization of deletion vectors: files of tables with data evolution without deleted rows.

A compaction of these tables keeps row ids, so it keeps deleted rows, too. A materialization writes
the remaining rows anew, with new row ids, and removes the vectors. Rewritten are the files of row
id ranges with deleted rows, together with adjacent ranges up to the target size of a file, as by
Java. Global indexes refer to row ids: those over rewritten rows are dropped in the same commit.

The commit conflicts with others that deleted or updated rows of these files; it is then planned
again, as a whole.

Spec: multimodal-table/data-evolution, materialize_deletion_vectors (after 2.0).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from paimon_explore.commit.overwrite import PartitionSpec
from paimon_explore.commit.planned_again import planned_again, snapshot_to_plan
from paimon_explore.data_types.arrow_buffers import Ints, as_python
from paimon_explore.errors import UnsupportedFeatureError, undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.data_evolution_compaction import adjacent_ranges
from paimon_explore.maintenance.rewrites.rewrite_commit import commit_rewrite, live_files_of
from paimon_explore.maintenance.row_level.deletion_vector_write import VectorChange, changed_vectors
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import MAX_INT64, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.deletion_vector_filter import load_vector
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import Rows
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import AppendWriter
from paimon_explore.write.write_target import WriteTarget, abort

_NO_POSITIONS: Mapping[str, Ints] = {}
_ONE_FILE: Mapping[str, str] = {
    opt.TARGET_FILE_SIZE.key: f"{MAX_INT64} b",
    opt.TARGET_FILE_ROW_NUM.key: str(MAX_INT64),
    opt.BLOB_TARGET_FILE_SIZE.key: f"{MAX_INT64} b",
    opt.BLOB_AS_DESCRIPTOR.key: "false",  # the contents are read, and may look like descriptors
}
"""Options of the new files: one for each list of adjacent ranges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterializationReport:
    """The result of a materialization of deletion vectors.

    Attributes:
        files: number of data files that were replaced, or would be.
        deleted_rows: number of deleted rows that they contain.
        indexes: names of the global index files that were dropped, or would be.
        snapshot_id: the snapshot that was created; None if nothing was rewritten.
        dry_run: whether the rewrite was only planned.
    """

    files: int = 0
    deleted_rows: int = 0
    indexes: tuple[str, ...] = ()
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the numbers of files, rows and indexes."""
        act = "would remove" if self.dry_run else "removed"
        return (
            f"{act} {self.deleted_rows:,} deleted rows of {self.files:,} files, "
            f"and {len(self.indexes):,} global index files"
        )


@planned_again
def materialize_deletion_vectors(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    partitions: Sequence[PartitionSpec] | None = None,
    dry_run: bool = False,
) -> MaterializationReport:
    """Write the files with deleted rows anew without them, in one commit.

    Args:
        store: the table and branch.
        schema: the latest schema.
        options: effective options.
        partitions: rewrite the partitions that match one of these; None for all.
        dry_run: only return what would be rewritten.

    Raises:
        UnsupportedFeatureError: the table has no data evolution or no deletion vectors.
        InvalidInputError: a partition names a column that is not a partition column.
    """
    _check_options(options)
    snapshot = snapshot_to_plan(store, schema)
    if snapshot is None:
        return MaterializationReport(dry_run=dry_run)
    target = WriteTarget(store=store, schema=schema, options=options, replaces=True)
    scan = ScanTarget(store=store, schema=schema, options=options, snapshot=snapshot)
    entries = live_files_of(target, snapshot, partitions)
    messages: list[CommitMessage] = []
    with undo_on_error(abort, target, messages), explain_missing_files(store, snapshot):
        index = store.manifests.index_of(snapshot)
        found = list(_rewrites(target, scan, entries, index))
        report = MaterializationReport(
            files=sum(len(one.files) for one in found),
            deleted_rows=sum(one.deleted_rows for one in found),
            indexes=tuple(str(row["file_name"]) for one in found for row in one.indexes.rows()),
            dry_run=dry_run,
        )
        if dry_run or not found:
            return report
        messages.extend(one.run() for one in found)
    made = commit_rewrite(target, messages)
    return replace(report, snapshot_id=None if made is None else made.id)


def _check_options(options: TableOptions) -> None:
    if not options.value(opt.DATA_EVOLUTION_ENABLED):
        raise UnsupportedFeatureError(
            "materializing the deletion vectors of a table without data evolution",
            hint="compact() removes the deleted rows of such a table.",
        )
    if not options.value(opt.DELETION_VECTORS_ENABLED):
        raise UnsupportedFeatureError(
            f"materializing deletion vectors without {opt.DELETION_VECTORS_ENABLED.key!r} = 'true'"
        )


def _rewrites(
    target: WriteTarget, scan: ScanTarget, entries: ManifestEntries, index: IndexEntries
) -> Iterator["_Rewrite"]:
    """Yield what is rewritten of each partition with deleted rows."""
    assert scan.snapshot is not None  # noqa: S101 - the caller has checked it
    splits = whole_buckets(scan.located(entries, scan.snapshot)) if len(entries) else ()
    for split in splits:
        names = [str(name) for name in split.files.table.column("file_name").to_pylist()]
        marked = [i for i, name in enumerate(names) if name in split.deletion_files]
        runs = [
            tuple(part.files for part in run)
            for run in adjacent_ranges(target, split, np.arange(split.count))
            if any(np.isin(part.files, marked).any() for part in run)
        ]
        if runs:
            yield _Rewrite(scan=scan, split=split, runs=tuple(runs), index=index)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewrite:
    """The rewrite of one partition.

    Attributes:
        scan: the table at the planned snapshot.
        split: the files of the partition.
        runs: positions of the files of adjacent ranges that become one file.
        index: all index files of the snapshot.
    """

    scan: ScanTarget
    split: DataSplit
    runs: tuple[tuple[Rows, ...], ...]
    index: IndexEntries

    @property
    def files(self) -> ManifestEntries:
        """The files that are replaced."""
        return self.split.files.take(np.concatenate([files for run in self.runs for files in run]))

    @property
    def _names(self) -> frozenset[str]:
        return frozenset(map(str, as_python(self.files.column("file_name").combine_chunks())))

    @property
    def deleted_rows(self) -> int:
        """The number of deleted rows of the files."""
        file_io = self.scan.store.file_io
        vectors = [self.split.deletion_files[n] for n in self._names & {*self.split.deletion_files}]
        return sum(
            len(load_vector(file_io, one)) if one.cardinality is None else one.cardinality
            for one in vectors
        )

    @property
    def indexes(self) -> IndexEntries:
        """The global index files over rows of the files."""
        first, after = row_ranges(self.files)
        own = [
            row["partition"] == self.split.partition
            and isinstance(found := row["global_index"], dict)
            and bool(((first <= found["row_range_end"]) & (after > found["row_range_start"])).any())
            for row in self.index.rows()
        ]
        return self.index.filter(np.array(own, np.bool_))

    def run(self) -> CommitMessage:
        """Write the new files; they are deleted if this raises."""
        scan, split = self.scan, self.split
        options = TableOptions({**scan.options, **_ONE_FILE})
        target = WriteTarget(store=scan.store, schema=scan.schema, options=options, replaces=True)
        written: list[CommitMessage] = []
        with undo_on_error(abort, target, written):
            for run in self.runs:
                written += self._written(target, run)
            change = VectorChange(removed=self._names, deleted=_NO_POSITIONS)
            vectors = changed_vectors(scan, split, change)
        return CommitMessage(
            **split.bucket_fields,
            compact_before=self.files,
            compact_after=ManifestEntries.concat([one.new_files for one in written]),
            compact_new_index_files=vectors.added,
            compact_deleted_index_files=IndexEntries.concat([vectors.removed, self.indexes]),
        )

    def _written(self, target: WriteTarget, run: Sequence[Rows]) -> list[CommitMessage]:
        """Write the remaining rows of adjacent ranges."""
        split = self.split
        reader = SplitReader(
            unrestricted=True,
            as_stored=True,
            target=self.scan,
            columns=target.schema.row_type.names,
        )
        groups = np.repeat(np.arange(len(run)), [len(files) for files in run])
        part = Splits.one(split.source.take(np.concatenate(list(run)) + split.start))
        with AppendWriter(target) as writer:
            for batch in reader.read(DataSplit(replace(part.of, same_rows=groups), 0)):
                writer.write_batch(batch)
            return writer.prepare_commit()
