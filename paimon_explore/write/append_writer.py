"""Writer of append tables (tables without primary key).

In a bucket-unaware table all rows of a partition go to bucket 0; else the bucket key decides.
Sequence numbers count the rows of each bucket in input order.

Spec: append-table/overview, append-table/bucketed. Seen in: golden java200/append_bucketed.

Base class of writers whose files are deleted if the `with` block raises.
"""

from collections.abc import Mapping
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import UNAWARE_TOTAL_BUCKETS
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import DYNAMIC_BUCKET, TableOptions
from paimon_explore.metadata.schema.fixed_buckets import fixed_buckets
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.blob_files import BlobFiles, blob_fields, check_references, without_blobs
from paimon_explore.write.buckets.bucket_writers import BucketWriters
from paimon_explore.write.buckets.partition_grouping import partitions_of, split_rows
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows
from paimon_explore.write.table_layouts import append_layout
from paimon_explore.write.write_target import (
    LiveState,
    WriteTarget,
    entries_of,
    with_uploads,
)


class AbortableWriter:
    """A writer that calls `abort` if its `with` block raises."""

    def abort(self) -> None:
        """Delete all files of this writer."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Delete all files if the block raised."""
        if kind is not None:
            self.abort()


_UNAWARE_BUCKET = 0


class AppendWriter(AbortableWriter):
    """Writes rows to a table without primary key.

    As a context manager it deletes all its files if the block raises.

    Args:
        target: the table.
        layout: layout of the files; by default that of new rows.
    """

    def __init__(self, target: WriteTarget, layout: FileLayout | None = None) -> None:
        if target.schema.primary_keys:
            raise InvalidInputError(
                "append() requires a table without primary key.",
                hint="Add or update rows of this table with upsert().",
            )
        self._target, self._uploads = with_uploads(target)
        self._blobs = blob_fields(target.schema, target.options)
        layout = layout or append_layout(target.schema, target.options)
        self._columns = [field.name for field in layout.fields]
        self._layout = without_blobs(layout, self._blobs)
        self._shape = InputShape(row_type=target.schema.row_type)
        self._buckets = target.options.value(opt.BUCKET)
        self._state = LiveState(target) if self._is_bucketed else None
        self._writers = BucketWriters(self._open)
        if self._buckets < DYNAMIC_BUCKET or self._buckets == 0:
            raise UnsupportedFeatureError(
                f"a table without primary key and with 'bucket' = '{self._buckets}'",
                hint="Set the option 'bucket' to -1 or to a positive number.",
            )

    @property
    def _is_bucketed(self) -> bool:
        return self._buckets != DYNAMIC_BUCKET

    def _open(self, partition: bytes, bucket: int) -> DataFileWriter:
        first = 0
        if self._state is not None:
            self._state.check_buckets(partition, self._buckets)
            first = self._state.next_sequence(partition, bucket)
        location = self._target.file_location(partition, bucket, self._target.file_names())
        blobs = None
        if self._blobs:
            blobs = BlobFiles(location, self._layout, self._blobs, self._target)
        return DataFileWriter(location, self._layout, first_sequence=first, blob_files=blobs)

    def write(self, data: Rows) -> None:
        """Write rows; see `open_rows`.

        Raises:
            InvalidInputError: the data does not fit the table.
        """
        for batch in open_rows(data, self._shape):
            self.write_batch(batch)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write rows that have exactly the columns and types of the files, in any order."""
        if not batch.num_rows:
            return
        check_references(batch, self._target.options)
        partitions = partitions_of(batch, self._target.schema.partition_type)
        self._target.add_partitions(partitions.keys)
        if self._state is not None:
            self._state.load(partitions.keys)
        for group in split_rows(batch, partitions, self._buckets_of(batch)):
            rows = pa.Table.from_batches([group.rows.select(self._columns)])
            self._writers.of(group.partition, group.bucket).write(rows)
        self._writers.flush_over_budget()

    def _buckets_of(self, batch: pa.RecordBatch) -> npt.NDArray[np.int32]:
        if not self._is_bucketed:
            return np.full(batch.num_rows, _UNAWARE_BUCKET, np.int32)
        return fixed_buckets(batch, self._target.schema, self._target.options)

    def prepare_commit(self) -> list[CommitMessage]:
        """Close all files and return the commit messages; the writer cannot be used afterwards.

        Returns:
            One message per partition and bucket with new rows.
        """
        total = self._buckets if self._is_bucketed else UNAWARE_TOTAL_BUCKETS
        messages = [
            CommitMessage(
                partition=partition,
                bucket=bucket,
                total_buckets=total,
                new_files=entries_of(
                    files, partition=partition, bucket=bucket, total_buckets=total
                ),
                seen=None if self._state is None else self._state.seen,
            )
            for partition, bucket, files in self._writers.close(DataFileWriter.close)
        ]
        self._uploads.finish()
        return messages

    def abort(self) -> None:
        """Delete all files of this writer."""
        self._writers.abort()


def write_append(
    store: TableStore,
    schema: TableSchema,
    data: Rows,
    *,
    options: Mapping[str, str] | None = None,
    replaces: bool = False,
) -> list[CommitMessage]:
    """Write rows to a table without primary key, without committing them.

    Args:
        store: the table.
        schema: the latest schema.
        data: an Arrow table, batch or reader, a data frame, or dictionaries.
        options: options that override the table's for this write.
        replaces: whether the rows replace existing ones (overwrite).

    Returns:
        The commit messages. All files are deleted if this raises.

    Raises:
        InvalidInputError: the data does not fit the table.
        UnsupportedFeatureError: the table uses a feature that writes do not support.
    """
    target = WriteTarget(
        store=store,
        schema=schema,
        options=TableOptions({**schema.options, **(options or {})}),
        replaces=replaces,
    )
    with AppendWriter(target) as writer:
        writer.write(data)
        return writer.prepare_commit()
