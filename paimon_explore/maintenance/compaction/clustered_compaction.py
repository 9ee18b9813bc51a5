"""Compaction of primary-key tables with `pk-clustering-override`.

Files above level 0 are sorted by the clustering columns instead of the key, so they cannot be
merged as sorted runs. All live rows of a bucket are merged by key in memory and written in
clustering order to one file on level 1, whose entry has the minimum and maximum key as usual.

Spec: none yet (release 2.0). Seen in: golden java200/clustering_pk.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.binary_row.row_encoder import row_images
from paimon_explore.maintenance.compaction.bucket_compaction import PrimaryKeyBucket
from paimon_explore.maintenance.compaction.compaction_deletion_vectors import (
    BucketVectors,
    replaced_vectors,
)
from paimon_explore.maintenance.compaction.compaction_plan import FileGroup
from paimon_explore.maintenance.compaction.sort_compaction import row_order
from paimon_explore.merge.in_memory_merge import merge_sorted
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.merge_spec import VALUE_KIND, merge_spec
from paimon_explore.merge.numpy_columns import ints_of, mask_array
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options.table_options import MAX_INT64
from paimon_explore.read.data_file import ReadRequest, SystemColumn, read_data_file
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.write.data_file_writer import DataFileWriter
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.primary_key_writer import schema_with
from paimon_explore.write.table_layouts import KEY_PREFIX, keyed_layout
from paimon_explore.write.write_target import entries_of

_LEVEL = 1


def needs_clustered_compaction(bucket: PrimaryKeyBucket, *, full: bool) -> bool:
    """Return whether there is something to compact.

    Args:
        bucket: the bucket.
        full: whether to compact several files, or deleted rows, without files on level 0 as well.
    """
    levels = numbers(bucket.split.files.table, "level")
    has_new = bool((levels == 0).any())
    return has_new or (full and (len(levels) > 1 or bool(bucket.files_with_deletions)))


class ClusteredCompaction:
    """Compacts all files of a bucket to one.

    Args:
        bucket: the bucket.
    """

    def __init__(self, bucket: PrimaryKeyBucket) -> None:
        self._bucket = bucket

    def groups(self) -> list[FileGroup]:
        """Return all files as one group; nothing is read or written."""
        section = tuple((file,) for file in range(self._bucket.split.count))
        return [FileGroup(sections=(section,), level=_LEVEL, drops_retracts=True, one_file=True)]

    def run(self) -> CommitMessage:
        """Write the new file and return the commit message.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
        """
        bucket = self._bucket
        target, split = bucket.target, bucket.split
        vectors = BucketVectors(target, split)
        layout = replace(
            keyed_layout(target.schema, target.options, level=_LEVEL, source=FileSource.COMPACT),
            target_bytes=MAX_INT64,
            target_rows=MAX_INT64,
        )
        names = [field.name for field in layout.fields]
        writer = DataFileWriter(
            target.file_location(split.partition, split.bucket, target.file_names()), layout
        )
        try:
            rows = _merged(bucket)
            order = row_order(target.schema, target.options, None, ())
            for batch in order.sorted_batches([rows] if rows.num_rows else []):
                columns = [batch.column(name.removeprefix(KEY_PREFIX)) for name in names]
                writer.write(pa.Table.from_arrays(columns, names=names))
            after = [{**row, **_ends(bucket, rows)} for row in writer.close()]
            vectors.remove(range(split.count))
            index = vectors.write()
        except BaseException:
            writer.abort()
            vectors.abort()
            raise
        return CommitMessage(
            **split.bucket_fields,
            compact_before=split.files.take(np.arange(split.count)),
            compact_after=entries_of(after, **split.bucket_fields),
            compact_new_index_files=index,
            compact_deleted_index_files=replaced_vectors(bucket.index, index),
        )


def _merged(bucket: PrimaryKeyBucket) -> pa.RecordBatch:
    """Merge all live rows of the bucket by key; drop retracts."""
    target, split = bucket.target, bucket.split
    reader = SplitReader(
        unrestricted=True, as_stored=True, target=target, columns=target.schema.row_type.names
    )
    found: list[pa.RecordBatch] = []
    with reader.files_ahead.of_splits([split]):
        for row in range(split.count):
            file = SplitFile(split=split, row=row, reader=reader)
            request = ReadRequest(
                fields=reader.fields,
                system_columns=(SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND),
                deleted=file.deleted(),
            )
            found.extend(read_data_file(file.source(), request))
    if not found:
        return pa.RecordBatch.from_pylist([])
    spec = merge_spec(schema_with(target.schema, target.options))
    rows = merge_sorted(pa.Table.from_batches(found), spec)
    kinds = ints_of(rows.column(VALUE_KIND)).astype(np.int8, copy=False)
    return rows.filter(mask_array(~is_retract(kinds)))


def _ends(bucket: PrimaryKeyBucket, rows: pa.RecordBatch) -> FileRow:
    """Return the minimum and maximum key of rows that are sorted by key."""
    fields = bucket.keys.fields
    ends: list[Column] = []
    for field in fields:
        key = rows.column(field.name)
        ends.append(pa.concat_arrays([key.slice(0, 1), key.slice(len(key) - 1, 1)]))
    first, last = row_images(ends, [field.type for field in fields])
    return {"min_key": first, "max_key": last}
