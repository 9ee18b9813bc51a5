"""Update and delete in tables with data evolution.

The rows of a row id range are stored in one file with all columns and later files with updated
columns. An update adds a file to every range with touched rows: the file has the range's first row
id, all of its rows, and only the updated columns, which `_WRITE_COLS` names. Rows that are not
touched keep their old values. Reads take each column from the newest file that has it.

An update of a BLOB column adds blob files from the first row of the range to its last touched row,
which refer to older files for the rows in between.

Deleted rows keep their row ids and stay in the files. They are marked in the deletion vector of the
range's anchor file, the oldest file that is neither a blob nor a vector file, which applies to all
files of the range. So deletes need `deletion-vectors.enabled`. A delete that partitions decide
removes the files instead.

Spec: append-table/data-evolution. Seen in: golden java200/data_evolution.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    as_python,
    gathered,
    take_rows,
)
from paimon_explore.data_types.definitions import DataField, TypeRoot
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import CorruptFileError, UnsupportedFeatureError
from paimon_explore.maintenance.row_level.append_table_rows import Inserts, insert_rows
from paimon_explore.maintenance.row_level.candidate_files import plan_candidate_files
from paimon_explore.maintenance.row_level.deletion_vector_write import VectorChange, changed_vectors
from paimon_explore.maintenance.row_level.row_change import RowChange, in_order, take
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.data_evolution import ColumnFile, merge_columns, remaining_row_ids
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.row_id_ranges import grouped_indices, is_column_file
from paimon_explore.write.blob_files import ELSEWHERE, BlobColumn, blob_fields, check_references
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, abort, entries_of


class DataEvolutionRows:
    """A row-level operation on a table with data evolution.

    Args:
        scan: the table at the snapshot that the operation is based on.
        change: the change of rows.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        self._scan = scan
        self._change = change
        self._target = WriteTarget(store=scan.store, schema=scan.schema, options=scan.options)
        row_type = scan.schema.row_type
        updated = scan.schema.project(change.updated).fields
        self._blobs: tuple[DataField, ...] = ()
        if any(is_root(kind, TypeRoot.BLOB) for field in updated for kind in parts(field.type)):
            self._blobs = tuple(f for f in blob_fields(scan.schema, scan.options) if f in updated)
        self._updated = tuple(f.name for f in updated if f not in self._blobs)
        needed = {*change.columns, *change.reads, *self._updated, *change.kept}
        self._read = scan.schema.project(in_order(row_type, frozenset(needed))).fields
        self._layout = _layout_of(scan, self._updated)
        self._writers: list[DataFileWriter | BlobColumn] = []
        self._deleted: dict[tuple[bytes, int], tuple[DataSplit, dict[str, Ints]]] = {}

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write the new values and the deletion vectors.

        Args:
            inserts: returns rows to insert; called after all rows have been processed.

        Returns:
            The commit messages; empty if no row is touched. All files are deleted if this raises.

        Raises:
            UnsupportedFeatureError: a file stores row ids as a column, or rows are deleted without
                deletion vectors.
            FormatError, MissingFileError, StorageError, InvalidInputError: as for `AppendRows`.
        """
        messages: list[CommitMessage] = []
        splits, rest = plan_candidate_files(self._scan, self._change.where)
        is_decided = rest == TRUE and self._change.is_decided_by_where
        if is_decided and self._change.deletes and not self._change.updated:
            return removed_partitions(self._scan, splits)
        if self._change.deletes and not self._scan.options.value(opt.DELETION_VECTORS_ENABLED):
            raise UnsupportedFeatureError(
                f"deleting rows of a table with {opt.DATA_EVOLUTION_ENABLED.key!r} = 'true' and "
                f"without deletion vectors",
                hint=f"Set {opt.DELETION_VECTORS_MODIFIABLE.key!r} = 'true', then in a second call "
                f"{opt.DELETION_VECTORS_ENABLED.key!r} = 'true'; or drop "
                "the partition that contains the rows.",
            )
        try:
            for split in splits:
                for rows in grouped_indices(split.same_rows or range(split.count)):
                    messages += self._changed(split, rows)
            if inserts is not None:
                messages += insert_rows(self._target, inserts)
            for split, deleted in self._deleted.values():
                messages.append(self._marked(split, deleted))
        except BaseException:
            for writer in self._writers:
                writer.abort()
            abort(self._target, messages)
            raise
        return messages

    def _changed(self, split: DataSplit, rows: Sequence[int]) -> Iterator[CommitMessage]:
        """Apply the change to the rows of a range, and remember the deleted rows."""
        reader = SplitReader(target=self._scan, columns=tuple(field.name for field in self._read))
        files = [SplitFile(split=split, row=row, reader=reader) for row in rows]
        _check_files(files)
        group = [file.columns() for file in files]
        remaining = remaining_row_ids(None, [file.row_id_range() for file in files])
        first = min(file.first for file in group)
        # whole ranges: new values are written for deleted rows, too, which are not changed
        batches = merge_columns(group, self._read, (SystemColumn.ROW_ID,))
        for batch in gathered(batches, self._change.batch_rows):
            live = np.arange(batch.num_rows) if remaining is None else remaining - first
            result = self._change.apply(batch if remaining is None else take(batch, live))
            if len(result.rows):
                yield self._message(split, group, batch, live[result.rows], result.after)
            is_deleted = result.touched.copy()
            is_deleted[result.rows] = False
            if is_deleted.any():
                self._mark(files, first + live[is_deleted])

    def _mark(self, files: Sequence[SplitFile], row_ids: Ints) -> None:
        """Remember deleted rows, by the anchor file of their range."""
        split = files[0].split
        _, deleted = self._deleted.setdefault((split.partition, split.bucket), (split, {}))
        anchor = anchor_file(files)
        deleted[str(anchor.value("file_name"))] = row_ids - anchor.row_id_range().first

    def _marked(self, split: DataSplit, deleted: Mapping[str, Ints]) -> CommitMessage:
        """Write the deletion vectors of a bucket."""
        change = VectorChange(removed=frozenset(), deleted=deleted)
        vectors = changed_vectors(self._scan, split, change)
        return CommitMessage(
            **split.bucket_fields,
            new_index_files=vectors.added,
            deleted_index_files=vectors.removed,
        )

    def _message(
        self,
        split: DataSplit,
        group: Sequence[ColumnFile],
        before: pa.RecordBatch,
        rows: Ints,
        after: pa.RecordBatch,
    ) -> CommitMessage:
        """Write the files with the updated columns of a range.

        Args:
            split: the split of the range.
            group: its files.
            before: all of its rows.
            rows: row numbers of the updated rows, ascending.
            after: these rows with their new values.
        """
        target = self._target
        location = target.file_location(split.partition, split.bucket, target.file_names())
        first = min(file.first for file in group)
        files: list[FileRow] = []
        check_references(after, self._scan.options)
        if self._updated:
            writer = DataFileWriter(location, self._layout)
            self._writers.append(writer)
            columns = [
                _replace_rows(before.column(name), after.column(name), rows)
                for name in self._updated
            ]
            writer.write(pa.Table.from_arrays(columns, names=list(self._updated)))
            files += [{**row, "first_row_id": first} for row in writer.close()]
        for field in self._blobs:
            layout = append_layout(self._scan.schema, self._scan.options)
            column = BlobColumn(location, layout, field, self._target)
            self._writers.append(column)
            is_stored = _stored_rows(
                [file for file in group if file.contains(field)], before, first
            )
            for value in _blob_values(as_python(after.column(field.name)), rows, is_stored):
                column.add(value)
            start = first
            for row in column.end():
                files.append({**row, "first_row_id": start})
                start += int(str(row["row_count"]))
        return CommitMessage(
            **split.bucket_fields, new_files=entries_of(files, **split.bucket_fields)
        )


def _stored_rows(files: Sequence[ColumnFile], rows: pa.RecordBatch, first: int) -> Bools:
    """Return which rows of a range, from row id `first` on, are in one of some files."""
    found = np.zeros(rows.num_rows, np.bool_)
    for file in files:
        found[file.first - first : file.first - first + file.row_count] = True
    return found


def _blob_values(values: Sequence[object], rows: Ints, is_stored: Bools) -> Iterator[object]:
    """Yield the values of a new blob file: other rows are in older files, or null."""
    count = int(rows[-1]) + 1 if is_stored.all() else len(is_stored)
    updated = dict(zip(rows.tolist(), values, strict=True))
    for row in range(count):
        if row in updated:
            yield updated[row]
        else:
            yield ELSEWHERE if is_stored[row] else None


def _layout_of(scan: ScanTarget, columns: tuple[str, ...]) -> FileLayout:
    """Return the layout of a single file, of any size, with some of the table's columns."""
    layout = append_layout(scan.schema, scan.options)
    kept = [i for i, field in enumerate(layout.fields) if field.name in columns]
    return replace(
        layout,
        fields=tuple(layout.fields[i] for i in kept),
        value_columns=tuple(range(len(kept))),
        value_modes=tuple(layout.value_modes[i] for i in kept),
        target_bytes=MAX_INT64,
        target_rows=MAX_INT64,
        indexes=(),
        write_columns=columns,
    )


def _check_files(files: Sequence[SplitFile]) -> None:
    for file in files:
        if file.value("first_row_id") is None:
            raise UnsupportedFeatureError(
                "changing rows of files that store row ids as a column",
                str(file.value("file_name")),
            )


def anchor_file(files: Sequence[SplitFile]) -> SplitFile:
    """Return the file whose deletion vector applies to all files of the same rows.

    It is the oldest one with several columns; of files of one commit, the first by name.

    Raises:
        CorruptFileError: there is none.
    """
    normal = [file for file in files if not is_column_file(str(file.value("file_name")))]
    if not normal:
        raise CorruptFileError(
            files[0].path, "_FILE", "a blob or vector file must belong to a file with other columns"
        )
    return min(
        normal, key=lambda file: (file.value("max_sequence_number"), file.value("file_name"))
    )


def removed_partitions(scan: ScanTarget, splits: Sequence[DataSplit]) -> list[CommitMessage]:
    """Return the removal of all files of some partitions, with their index files."""
    buckets: dict[tuple[bytes, int], list[DataSplit]] = {}
    for split in splits:
        buckets.setdefault((split.partition, split.bucket), []).append(split)
    index: dict[tuple[object, object], list[dict[str, object]]] = {}
    if scan.snapshot is not None:
        for row in scan.store.manifests.index_of(scan.snapshot).rows():
            index.setdefault((row["partition"], row["bucket"]), []).append(dict(row))
    return [
        CommitMessage(
            partition=partition,
            bucket=bucket,
            total_buckets=parts[0].total_buckets,
            deleted_files=ManifestEntries.concat([split.files for split in parts]),
            deleted_index_files=IndexEntries.from_rows(index.get((partition, bucket), [])),
        )
        for (partition, bucket), parts in buckets.items()
    ]


def _replace_rows(old: Column, new: Column, rows: Ints) -> Column:
    """Replace the values of some rows of a column."""
    source = np.arange(len(old))
    source[rows] = len(old) + np.arange(len(rows))
    both: Column = pa.concat_arrays([old, new])
    return take_rows(both, source)
