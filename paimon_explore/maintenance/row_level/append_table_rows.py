"""Rows updated and deleted in tables without primary key.

Theory of operation. Two passes over the files that may hold rows to be touched:

1. find the places of the touched rows in every file, reading only the columns that decide;
2. read the files that have some, and write what becomes of their rows.

| `deletion-vectors.enabled` | the second pass reads | it writes | the old files |
| --- | --- | --- | --- |
| false | all rows of touched files | all rows that stay | go |
| true | touched rows, if they are updated | their new versions | stay, with larger vectors |

A file of which every row goes is dropped without being read again. On tables with row tracking the
written files hold `_ROW_ID` and `_SEQUENCE_NUMBER`: rows keep their ids, and updated rows have no
sequence number of their own, so that they get the snapshot's.

Nothing becomes visible here. Whoever commits the messages learns of a conflict if others have
replaced a touched file, or deleted rows of it, meanwhile.

Spec: append-table/row-tracking; concepts/spec/tableindex, deletion vectors.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    fixed_values,
    valid_mask,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.candidate_files import bitmap, live_positions, planned
from paimon_explore.maintenance.row_level.row_change import RowChange, stacked, taken
from paimon_explore.maintenance.row_level.row_deletion_vectors import VectorChange, changed_vectors
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.append_writer import AppendWriter
from paimon_explore.write.table_layouts import changed_layout
from paimon_explore.write.write_target import WriteTarget, abort

Inserts: TypeAlias = Callable[[], Iterator[pa.RecordBatch]]
"""Rows to be added, in the table's columns."""

TRACKED = (SystemColumn.ROW_ID, SystemColumn.SEQUENCE_NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedFile:
    """A data file with rows that change.

    Attributes:
        split: the file alone.
        positions: of the touched rows in it, ascending.
        is_whole: whether these are all of its live rows.
    """

    split: DataSplit
    positions: Ints
    is_whole: bool

    @property
    def name(self) -> str:
        """Of the file."""
        return str(self.split.files.table.column("file_name")[0].as_py())


class AppendRows:
    """One operation on a table without primary key.

    Args:
        scan: the table at the snapshot that the operation builds on.
        change: what happens to the rows.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        self._scan = scan
        self._change = change
        self._target = WriteTarget(store=scan.store, schema=scan.schema, options=scan.options)
        self._keeps_files = scan.options.value(opt.DELETION_VECTORS_ENABLED)
        self._tracks = scan.options.value(opt.ROW_TRACKING_ENABLED)

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write what becomes of the rows.

        Args:
            inserts: gives rows to be added, asked after all rows have been looked at.

        Returns:
            What a commit makes visible; nothing if no row is touched. All files are removed again
            if this raises.

        Raises:
            FormatError: a file breaks the format.
            MissingFileError: a file is gone.
            StorageError: a file cannot be read or written.
            InvalidInputError: a new value does not fit its column.
        """
        touched = list(self._find())
        messages: list[CommitMessage] = []
        try:
            messages += self._written(touched)
            if inserts is not None:
                messages += self._inserted(inserts)
            messages += self._removed(touched)
        except BaseException:
            abort(self._target, messages)
            raise
        return messages

    # ------------------------------------------------------------ the rows that are touched

    def _find(self) -> Iterator[TouchedFile]:
        splits, rest = planned(self._scan, self._change.where)
        reader = self._reader(self._change.columns, (SystemColumn.POSITION,))
        reader = replace(reader, predicate=rest)
        is_decided = rest == TRUE and self._change.is_decided_by_where
        for split in splits:
            for row in range(len(split.files)):
                file = split.file(row)
                live = live_positions(SplitFile(split=file, row=0, reader=reader))
                if is_decided:
                    yield TouchedFile(split=file, positions=live, is_whole=True)
                    continue
                found = [self._touched(batch) for batch in reader.read(file)]
                positions = np.concatenate([np.zeros(0, np.int64), *found])
                if len(positions):
                    is_whole = len(positions) == len(live)
                    yield TouchedFile(split=file, positions=positions, is_whole=is_whole)

    def _touched(self, batch: pa.RecordBatch) -> Ints:
        places = numbers(pa.Table.from_batches([batch]), SystemColumn.POSITION)
        return places[self._change.touched(batch)]

    def _reader(self, columns: tuple[str, ...], system: tuple[SystemColumn, ...]) -> SplitReader:
        return SplitReader(
            store=self._scan.store,
            schema=self._scan.schema,
            options=self._scan.options,
            columns=columns,
            system_columns=system,
        )

    # ------------------------------------------------------------ what becomes of them

    def _written(self, touched: Sequence[TouchedFile]) -> list[CommitMessage]:
        """New files with the rows of touched files that stay and are not in the old ones."""
        pending = [file for file in touched if self._leaves_rows(file)]
        if not pending:
            return []
        schema, options = self._target.schema, self._target.options
        layout = changed_layout(schema, options) if self._tracks else None
        with AppendWriter(self._target, layout) as writer:
            for file in pending:
                for batch in self._rows(file):
                    writer.write_batch(self._after(batch))
            return writer.prepare_commit()

    def _leaves_rows(self, file: TouchedFile) -> bool:
        has_updates = bool(self._change.updated)
        return has_updates or not (self._keeps_files or file.is_whole)

    def _rows(self, file: TouchedFile) -> Iterator[pa.RecordBatch]:
        system = TRACKED if self._tracks else ()
        fields = self._scan.schema.fields
        reader = self._reader(self._scan.schema.row_type.names, system)
        found = SplitFile(split=file.split, row=0, reader=reader)
        request = ReadRequest(
            fields=fields,
            system_columns=system,
            deleted=found.deleted(),
            selection=bitmap(file.positions) if self._keeps_files else None,
        )
        return read_data_file(found.source(), request)

    def _after(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of a batch that are written, in their order."""
        outcome = self._change.outcome(batch)
        if self._keeps_files:
            return self._with_ids(outcome.after, batch, outcome.rows, None)
        kept = np.flatnonzero(~outcome.touched)
        if len(kept) == batch.num_rows:
            return batch
        rows = np.concatenate([kept, outcome.rows])
        order = np.argsort(rows, kind="stable")
        names = self._scan.schema.row_type.names
        both = stacked([taken(batch, kept).select(names), outcome.after.select(names)])
        is_new = np.concatenate(
            [np.zeros(len(kept), np.bool_), np.ones(len(outcome.rows), np.bool_)]
        )
        return self._with_ids(taken(both, order), batch, rows[order], is_new[order])

    def _with_ids(
        self, rows: pa.RecordBatch, batch: pa.RecordBatch, places: Ints, is_new: Bools | None
    ) -> pa.RecordBatch:
        """The rows with the ids that they had; sequence numbers only of rows that are not new."""
        if not self._tracks:
            return rows
        before = taken(batch.select(list(map(str, TRACKED))), places)
        ids, sequences = before.columns
        new = np.ones(len(places), np.bool_) if is_new is None else is_new
        sequences = _null_where(sequences, new)
        return rows.append_column("_ROW_ID", ids).append_column("_SEQUENCE_NUMBER", sequences)

    def _inserted(self, inserts: Inserts) -> list[CommitMessage]:
        with AppendWriter(self._target) as writer:
            for batch in inserts():
                writer.write_batch(batch)
            return writer.prepare_commit()

    # ------------------------------------------------------------ the old rows

    def _removed(self, touched: Sequence[TouchedFile]) -> list[CommitMessage]:
        """Files that go, and vectors that grow, bucket by bucket."""
        buckets: dict[tuple[bytes, int], list[TouchedFile]] = {}
        for file in touched:
            buckets.setdefault((file.split.partition, file.split.bucket), []).append(file)
        messages: list[CommitMessage] = []
        try:
            for files in buckets.values():
                messages.append(self._removed_of(files))  # noqa: PERF401 - kept if one fails
        except BaseException:
            abort(self._target, messages)
            raise
        return messages

    def _removed_of(self, files: Sequence[TouchedFile]) -> CommitMessage:
        first = files[0].split
        gone = [file for file in files if file.is_whole or not self._keeps_files]
        marked = [file for file in files if not file.is_whole] if self._keeps_files else []
        vectors = changed_vectors(
            self._scan,
            first,
            VectorChange(
                gone=frozenset(file.name for file in gone),
                marked={file.name: file.positions for file in marked},
            ),
        )
        return CommitMessage(
            partition=first.partition,
            bucket=first.bucket,
            total_buckets=first.total_buckets,
            deleted_files=ManifestEntries.concat([file.split.files for file in gone]),
            new_index_files=vectors.added,
            deleted_index_files=vectors.gone,
        )


def _null_where(sequences: Column, gone: Bools) -> Column:
    """Whole numbers, null where told."""
    values = fixed_values(sequences, np.int64)
    return build_fixed(pa.int64(), values, valid_mask(sequences) & ~gone)
