"""Rows of a table without primary key written again, to wherever they belong now."""

from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.metadata import options as opt
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest_entry import UNAWARE_TOTAL_BUCKETS
from paimon_explore.metadata.options import DYNAMIC_BUCKET
from paimon_explore.types.data_types import AtomicType, DataField, TypeRoot
from paimon_explore.types.field_ids import ROW_ID_FIELD, SEQUENCE_NUMBER_FIELD
from paimon_explore.write.append import fixed_buckets
from paimon_explore.write.bucket_writers import BucketWriters
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.grouping import partitions_of, split_rows
from paimon_explore.write.layouts import append_layout
from paimon_explore.write.stats import KEY_MODE, NONE, StatsKind
from paimon_explore.write.target import LiveState, WriteTarget, entries_of

_UNAWARE_BUCKET = 0
_ID_FIELDS = (
    DataField(
        id=ROW_ID_FIELD, name="_ROW_ID", type=AtomicType(root=TypeRoot.BIGINT, nullable=False)
    ),
    DataField(
        id=SEQUENCE_NUMBER_FIELD, name="_SEQUENCE_NUMBER", type=AtomicType(root=TypeRoot.BIGINT)
    ),
)


class MovedRows:
    """Writes rows of the table, into the partitions and buckets of their values.

    As a context manager it removes all its files if the block raises.

    Args:
        target: the table.
        keeps_ids: whether the rows come with `_ROW_ID` and `_SEQUENCE_NUMBER` as last columns.
    """

    def __init__(self, target: WriteTarget, *, keeps_ids: bool) -> None:
        self._target = target
        self._buckets = target.options.value(opt.BUCKET)
        self._layout = append_layout(target.schema, target.options)
        if keeps_ids:
            self._layout = _with_ids(self._layout)
        self._columns = [column.name for column in self._layout.fields]
        self._state = LiveState(target)
        self._writers = BucketWriters(self._open)

    @property
    def _is_bucketed(self) -> bool:
        return self._buckets != DYNAMIC_BUCKET

    @property
    def _total_buckets(self) -> int:
        return self._buckets if self._is_bucketed else UNAWARE_TOTAL_BUCKETS

    def _open(self, partition: bytes, bucket: int) -> DataFileWriter:
        first = 0
        if self._is_bucketed:
            self._state.check_buckets(partition, self._buckets)
            first = self._state.next_sequence(partition, bucket)
        place = self._target.place(partition, bucket, self._target.file_names())
        return DataFileWriter(place, self._layout, first_sequence=first)

    def write(self, batch: pa.RecordBatch) -> None:
        """Take rows in exactly the columns and types of the files."""
        if not batch.num_rows:
            return
        partitions = partitions_of(batch, self._target.schema.partition_type)
        for group in split_rows(batch, partitions, self._buckets_of(batch)):
            rows = pa.Table.from_batches([group.rows.select(self._columns)])
            self._writers.of(group.partition, group.bucket).write(rows)
        self._writers.relieve()

    def _buckets_of(self, batch: pa.RecordBatch) -> npt.NDArray[np.int32]:
        if not self._is_bucketed:
            return np.full(batch.num_rows, _UNAWARE_BUCKET, np.int32)
        return fixed_buckets(batch, self._target.schema, self._target.options)

    def prepare_commit(self) -> list[CommitMessage]:
        """Complete all files and tell what was written; the writer is done."""
        total = self._total_buckets
        return [
            CommitMessage(
                partition=partition,
                bucket=bucket,
                total_buckets=total,
                new_files=entries_of(
                    writer.close(), partition=partition, bucket=bucket, total_buckets=total
                ),
            )
            for partition, bucket, writer in self._writers
        ]

    def __enter__(self) -> Self:
        """The writer itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove all files if the block raised."""
        if kind is not None:
            self._writers.abort()


def _with_ids(layout: FileLayout) -> FileLayout:
    """Files whose rows bring their ids: `_WRITE_COLS` says so, and the commit gives no new ones."""
    fields = (*layout.fields, *_ID_FIELDS)
    has_stats = any(mode.kind is not StatsKind.NONE for mode in layout.value_modes)
    mode = KEY_MODE if has_stats else NONE
    return replace(
        layout,
        fields=fields,
        value_columns=tuple(range(len(fields))),
        value_modes=(*layout.value_modes, mode, mode),
        write_columns=tuple(field.name for field in fields),
    )
