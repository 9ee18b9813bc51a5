"""Update and delete in append tables.

The operation makes two passes over the candidate files:

1. find the positions of touched rows, reading only the columns of the condition;
2. read the files with touched rows and write the result.

| `deletion-vectors.enabled` | second pass reads | and writes | old files |
| --- | --- | --- | --- |
| false | all rows of touched files | all remaining rows | are removed |
| true | touched rows, if they are updated | their new versions | get larger vectors |

A file whose rows are all deleted is removed without a second read. With row tracking, the new files
contain `_ROW_ID` and `_SEQUENCE_NUMBER`: rows keep their ids, and the sequence number of updated
rows is null, so that they get that of the snapshot.

The commit fails with a conflict if a touched file was replaced, or rows of it were deleted, in the
meantime.

Spec: append-table/row-tracking; concepts/spec/tableindex, deletion vectors.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    concat_batches,
    fixed_values,
    gathered,
    valid_mask,
)
from paimon_explore.errors import undo_on_error
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.candidate_files import (
    bitmap,
    live_positions,
    plan_candidate_files,
)
from paimon_explore.maintenance.row_level.deletion_vector_write import VectorChange, changed_vectors
from paimon_explore.maintenance.row_level.row_change import RowChange, take
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.append_writer import AppendWriter
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.table_layouts import row_tracking_update_layout
from paimon_explore.write.write_target import WriteTarget, abort

Inserts: TypeAlias = Callable[[], Iterator[pa.RecordBatch]]
"""Returns the rows to insert, in the table's columns."""


def insert_rows(target: WriteTarget, inserts: Inserts) -> list[CommitMessage]:
    """Write the rows that a change inserts."""
    with AppendWriter(target) as writer:
        for batch in inserts():
            writer.write_batch(batch)
        return writer.prepare_commit()


TRACKED = (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedFile:
    """A data file with touched rows.

    Attributes:
        split: a split of this file.
        positions: positions of the touched rows, ascending.
        is_whole: whether all live rows of the file are touched.
    """

    split: DataSplit
    positions: Ints
    is_whole: bool

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return str(self.split.files.table.column("file_name")[0].as_py())


class AppendRows:
    """A row-level operation on an append table.

    Args:
        scan: the table at the snapshot that the operation is based on.
        change: the change of rows.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        self._scan = scan
        self._change = change
        self._target = WriteTarget(store=scan.store, schema=scan.schema, options=scan.options)
        self._keeps_files = scan.options.value(opt.DELETION_VECTORS_ENABLED)
        self._tracks = scan.options.value(opt.ROW_TRACKING_ENABLED)

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write the changed rows.

        Args:
            inserts: returns rows to insert; called after all rows have been processed.

        Returns:
            The commit messages; empty if no row is touched. All files are deleted if this raises.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
            InvalidInputError: a new value does not fit its column.
        """
        touched = list(self._find())
        messages: list[CommitMessage] = []
        with undo_on_error(abort, self._target, messages):
            messages += self._written(touched)
            if inserts is not None:
                messages += insert_rows(self._target, inserts)
            messages += self._removed(touched)
        return messages

    # ------------------------------------------------------------ touched rows

    def _find(self) -> Iterator[TouchedFile]:
        splits, rest = plan_candidate_files(self._scan, self._change.where)
        columns = tuple(name for name in self._change.columns if name != SystemColumn.ROW_ID)
        system = [SystemColumn.POSITION]
        if len(columns) < len(self._change.columns):
            system.append(SystemColumn.ROW_ID)
        on_columns = split_predicate(rest, self._scan.schema.row_type.names).pushed
        reader = replace(self._reader(columns, tuple(system)), predicate=on_columns)
        is_decided = rest == TRUE and self._change.is_decided_by_where
        files = [split.file(row) for split in splits for row in range(len(split.files))]
        for file, rows in reader.by_split(files):
            live = live_positions(SplitFile(split=file, row=0, reader=reader))
            if is_decided:
                yield TouchedFile(split=file, positions=live, is_whole=True)
                continue
            batches = gathered(rows, self._change.batch_rows)
            found = [self._touched(batch) for batch in batches]
            positions = np.concatenate([np.zeros(0, np.int64), *found])
            if len(positions):
                is_whole = len(positions) == len(live)
                yield TouchedFile(split=file, positions=positions, is_whole=is_whole)

    def _touched(self, batch: pa.RecordBatch) -> Ints:
        positions = numbers(pa.Table.from_batches([batch]), SystemColumn.POSITION)
        return positions[self._change.touched(batch)]

    def _reader(self, columns: tuple[str, ...], system: tuple[SystemColumn, ...]) -> SplitReader:
        return SplitReader(target=self._scan, columns=columns, system_columns=system)

    # ------------------------------------------------------------ new files

    def _written(self, touched: Sequence[TouchedFile]) -> list[CommitMessage]:
        """Write the remaining rows of touched files that old files do not keep."""
        pending = [file for file in touched if self._leaves_rows(file)]
        if not pending:
            return []
        schema, options = self._target.schema, self._target.options
        layout = row_tracking_update_layout(schema, options) if self._tracks else None
        with AppendWriter(self._target, layout) as writer:
            reader = self._reader(self._scan.schema.row_type.names, TRACKED if self._tracks else ())
            with reader.files_ahead.of_splits([file.split for file in pending]):
                for file in pending:
                    for batch in self._rows(file, reader):
                        writer.write_batch(self._after(batch))
            return writer.prepare_commit()

    def _leaves_rows(self, file: TouchedFile) -> bool:
        has_updates = bool(self._change.updated)
        return has_updates or not (self._keeps_files or file.is_whole)

    def _rows(self, file: TouchedFile, reader: SplitReader) -> Iterator[pa.RecordBatch]:
        fields = self._scan.schema.fields
        found = SplitFile(split=file.split, row=0, reader=reader)
        request = ReadRequest(
            fields=fields,
            system_columns=reader.system_columns,
            deleted=found.deleted(),
            selection=bitmap(file.positions) if self._keeps_files else None,
        )
        return gathered(read_data_file(found.source(), request), self._change.batch_rows)

    def _after(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch to write, in their order."""
        result = self._change.apply(batch)
        if self._keeps_files:
            return self._with_ids(result.after, batch, result.rows, None)
        kept = np.flatnonzero(~result.touched)
        if len(kept) == batch.num_rows:
            return batch
        rows = np.concatenate([kept, result.rows])
        order = np.argsort(rows, kind="stable")
        names = self._scan.schema.row_type.names
        both = concat_batches([take(batch, kept).select(names), result.after.select(names)])
        is_new = np.concatenate(
            [np.zeros(len(kept), np.bool_), np.ones(len(result.rows), np.bool_)]
        )
        return self._with_ids(take(both, order), batch, rows[order], is_new[order])

    def _with_ids(
        self, rows: pa.RecordBatch, batch: pa.RecordBatch, sources: Ints, is_new: Bools | None
    ) -> pa.RecordBatch:
        """Append the row ids, and the sequence numbers of rows that are not new."""
        if not self._tracks:
            return rows
        before = take(batch.select(list(map(str, TRACKED))), sources)
        ids, sequences = before.columns
        new = np.ones(len(sources), np.bool_) if is_new is None else is_new
        sequences = _null_where(sequences, new)
        return rows.append_column("_ROW_ID", ids).append_column("_SEQUENCE_NUMBER", sequences)

    # ------------------------------------------------------------ old files

    def _removed(self, touched: Sequence[TouchedFile]) -> list[CommitMessage]:
        """Remove old files or extend their deletion vectors, by bucket."""
        buckets: dict[tuple[bytes, int], list[TouchedFile]] = {}
        for file in touched:
            buckets.setdefault((file.split.partition, file.split.bucket), []).append(file)
        messages: list[CommitMessage] = []
        with undo_on_error(abort, self._target, messages):
            results = in_parallel(
                self._removed_of,
                buckets.values(),
                threads_for(len(buckets), 0, self._scan.store.file_io),
                discard=lambda message: abort(self._target, [message]),
            )
            with closing(results):
                messages.extend(results)
        return messages

    def _removed_of(self, files: Sequence[TouchedFile]) -> CommitMessage:
        first = files[0].split
        removed = [file for file in files if file.is_whole or not self._keeps_files]
        kept = [file for file in files if not file.is_whole] if self._keeps_files else []
        vectors = changed_vectors(
            self._scan,
            first,
            VectorChange(
                removed=frozenset(file.name for file in removed),
                deleted={file.name: file.positions for file in kept},
            ),
        )
        return CommitMessage(
            **first.bucket_fields,
            deleted_files=ManifestEntries.concat([file.split.files for file in removed]),
            new_index_files=vectors.added,
            deleted_index_files=vectors.removed,
        )


def _null_where(sequences: Column, mask: Bools) -> Column:
    """Set masked values to null."""
    values = fixed_values(sequences, np.int64)
    return build_fixed(pa.int64(), values, valid_mask(sequences) & ~mask)
