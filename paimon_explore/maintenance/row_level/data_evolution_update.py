"""Update in tables with data evolution: write only the updated columns.

The rows of a row id range are stored in one file with all columns and later files with updated
columns. An update adds a file to every range with touched rows: the file has the range's first row
id, all of its rows, and only the updated columns, which `_WRITE_COLS` names. Rows that are not
touched keep their old values. Reads take each column from the newest file that has it.

Spec: append-table/data-evolution. Seen in: golden java200/data_evolution.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, Ints, take_rows
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.maintenance.row_level.append_table_rows import Inserts, insert_rows
from paimon_explore.maintenance.row_level.candidate_files import plan_candidate_files
from paimon_explore.maintenance.row_level.row_change import RowChange, in_order
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.data_evolution import ColumnFile, merge_columns
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import WriteTarget, abort, entries_of


class DataEvolutionUpdate:
    """An update of a table with data evolution.

    Args:
        scan: the table at the snapshot that the operation is based on.
        change: the change of rows, without deletes.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        self._scan = scan
        self._change = change
        self._target = WriteTarget(store=scan.store, schema=scan.schema, options=scan.options)
        row_type = scan.schema.row_type
        needed = {*change.columns, *change.reads, *change.updated}
        self._read = scan.schema.project(in_order(row_type, frozenset(needed))).fields
        self._layout = _layout_of(scan, change.updated)
        self._writers: list[DataFileWriter] = []

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write the new values.

        Args:
            inserts: returns rows to insert; called after all rows have been processed.

        Returns:
            The commit messages; empty if no row is touched. All files are deleted if this raises.

        Raises:
            UnsupportedFeatureError: a file stores row ids as a column, or has deleted rows.
            FormatError, MissingFileError, StorageError, InvalidInputError: as for `AppendRows`.
        """
        messages: list[CommitMessage] = []
        try:
            splits, _ = plan_candidate_files(self._scan, self._change.where)
            for split in splits:
                messages += self._updated(split)
            if inserts is not None:
                messages += insert_rows(self._target, inserts)
        except BaseException:
            for writer in self._writers:
                writer.abort()
            abort(self._target, messages)
            raise
        return messages

    def _updated(self, split: DataSplit) -> Iterator[CommitMessage]:
        reader = SplitReader(
            store=self._scan.store,
            schema=self._scan.schema,
            options=self._scan.options,
            columns=tuple(field.name for field in self._read),
        )
        for files in _ranges(split):
            rows = [SplitFile(split=split, row=row, reader=reader) for row in files]
            _check_files(rows)
            group = [row.columns() for row in rows]
            for batch in merge_columns(group, self._read):
                result = self._change.apply(batch)
                if len(result.rows):
                    new = [
                        _replace_rows(batch.column(name), result.after.column(name), result.rows)
                        for name in self._change.updated
                    ]
                    yield self._message(split, group, new)

    def _message(
        self, split: DataSplit, group: Sequence[ColumnFile], columns: Sequence[Column]
    ) -> CommitMessage:
        """Write one file with the updated columns of all rows of a range."""
        target = self._target
        location = target.file_location(split.partition, split.bucket, target.file_names())
        writer = DataFileWriter(location, self._layout)
        self._writers.append(writer)
        writer.write(pa.Table.from_arrays(list(columns), names=list(self._change.updated)))
        first = min(file.first for file in group)
        entries = [{**row, "first_row_id": first} for row in writer.close()]
        return CommitMessage(
            partition=split.partition,
            bucket=split.bucket,
            total_buckets=split.total_buckets,
            new_files=entries_of(
                entries,
                partition=split.partition,
                bucket=split.bucket,
                total_buckets=split.total_buckets,
            ),
        )


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


def _ranges(split: DataSplit) -> list[list[int]]:
    """Group the files of a split by row id range."""
    numbers = split.same_rows or tuple(range(split.count))
    return [list(rows) for _, rows in groupby(range(split.count), key=numbers.__getitem__)]


def _check_files(files: Sequence[SplitFile]) -> None:
    for file in files:
        name = file.value("file_name")
        if file.value("first_row_id") is None:
            raise UnsupportedFeatureError(
                "updating files that store row ids as a column", str(name)
            )
        if file.deleted() is not None:
            raise UnsupportedFeatureError(
                "updating files with deleted rows on a table with data evolution", str(name)
            )


def _replace_rows(old: Column, new: Column, rows: Ints) -> Column:
    """Replace the values of some rows of a column."""
    source = np.arange(len(old))
    source[rows] = len(old) + np.arange(len(rows))
    both: Column = pa.concat_arrays([old, new])
    return take_rows(both, source)
