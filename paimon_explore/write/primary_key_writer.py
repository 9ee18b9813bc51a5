"""Writer of primary-key tables.

Each input row gets the next sequence number of its bucket and is added to the bucket's write
buffer. A flush sorts the buffered rows by key, merges the rows of each key with the table's merge
engine, and writes the result as one sorted run on level 0 (usually one file). Deletions are kept,
since they hide older rows in other files. With `changelog-producer = input` a flush also writes all
unmerged rows to a changelog file.

| option `bucket` | bucket of a row | also written |
| --- | --- | --- |
| n > 0 | by the hash of the bucket key | |
| -1, key includes the partition | by the hash index of the partition | a hash index per bucket |
| -1, else | by an index of all keys, see `cross_partition` | deletions in other partitions |
| -2 | assigned by a later compaction; Avro files in input order, unmerged | |

In tables with deletion vectors, and in first-row tables, batch reads skip level 0: new rows become
visible with the next compaction.

Spec: primary-key-table/overview; concepts/spec/datafile. Seen in: golden java200/pk_dynamic.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import build_fixed
from paimon_explore.encoding.bucket_function import key_hashes
from paimon_explore.encoding.hash_index import encode_hashes
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio.concurrent_requests import discard
from paimon_explore.merge.in_memory_merge import (
    check_row_kind,
    merge_sorted,
    merge_sorted_buckets,
    sort_rows,
)
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.merge_spec import MergeSpec, merge_spec
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import HASH_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import (
    POSTPONE_TOTAL_BUCKETS,
    FileKind,
    ManifestEntries,
)
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import ChangelogProducer, MergeEngine
from paimon_explore.metadata.options.table_options import (
    DYNAMIC_BUCKET,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.fixed_buckets import fixed_buckets
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import LatestSnapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import AbortableWriter
from paimon_explore.write.blob_files import ManagedBlobs, check_references
from paimon_explore.write.buckets.bucket_writers import BucketId, BucketWriters
from paimon_explore.write.buckets.cross_partition import KeyIndex
from paimon_explore.write.buckets.dynamic_buckets import HashAssigner, bucket_limit
from paimon_explore.write.buckets.partition_grouping import Partitions, partitions_of, split_rows
from paimon_explore.write.data_file_writer import DataFileWriter, LazySize
from paimon_explore.write.input.row_kinds import (
    INSERT,
    ROW_KIND,
    UPDATE_AFTER,
    Kinds,
    kept_kinds,
    kinds_of,
)
from paimon_explore.write.input.table_batches import InputShape, Rows, open_rows
from paimon_explore.write.new_file_names import FileRow
from paimon_explore.write.table_layouts import (
    KEY_PREFIX,
    SEQUENCE_NUMBER,
    VALUE_KIND,
    changelog_layout,
    keyed_layout,
    postpone_layout,
)
from paimon_explore.write.write_target import (
    HashFile,
    LiveState,
    WriteTarget,
    entries_of,
    with_uploads,
)

_UNKNOWN_SEQUENCE = -1
_SMALL_ROWS = 1024
_MAX_BUFFER_BYTES = 512 << 20
"""Limit of the write buffer: buffered rows are merged as one Arrow array, which ends at 2 GiB."""
_MERGED_CELLS = 1 << 21
"""Number of values, in rows times columns, after which further buckets are merged separately."""
_SELECTING_ENGINES = frozenset({MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW})
_Files = tuple[list[FileRow], list[FileRow], tuple[str, ...]]
"""Data files, changelog files, and paths of managed files of BLOBs."""
_KIND_FIELD = pa.field(VALUE_KIND.name, pa.int8(), nullable=False)
_SEQUENCE_FIELD = pa.field(SEQUENCE_NUMBER.name, pa.int64(), nullable=False)


class UpsertWriter(AbortableWriter):
    """Writes rows to a table with a primary key.

    As a context manager it deletes all its files if the block raises.

    Args:
        target: the table.
        default_kind: row kind of rows without a row kind (see `row_kinds`).
        key_index: all keys of the table; required if `needs_key_index`.
    """

    def __init__(
        self, target: WriteTarget, *, default_kind: int = INSERT, key_index: KeyIndex | None = None
    ) -> None:
        schema, options = target.schema, target.options
        if not schema.primary_keys:
            raise InvalidInputError(
                "upsert() requires a table with a primary key.",
                hint="Add rows to this table with append().",
            )
        self._target, self._uploads = with_uploads(target)
        self._buckets = options.value(opt.BUCKET)
        self._key_index = key_index
        if needs_key_index(schema, options) and key_index is None:
            raise UnsupportedFeatureError(
                "writing a table with dynamic buckets whose primary key does not contain the "
                "partition columns"
            )
        self._default_kind = default_kind
        self._shape = InputShape(row_type=schema.row_type, extra=frozenset({ROW_KIND}))
        self._state = LiveState(target)
        self._spec = merge_spec(schema_with(schema, options))
        budget = min(options.value(opt.WRITE_BUFFER_SIZE), _MAX_BUFFER_BYTES)
        self._writers = BucketWriters(self._open, budget_bytes=budget)
        self._mergeable_kinds = {INSERT, UPDATE_AFTER}
        self._assigners: dict[bytes, HashAssigner] = {}
        self._hash_files: dict[BucketId, HashFile] = {}
        self._index_files: list[str] = []

    @property
    def _is_postponed(self) -> bool:
        return self._buckets == POSTPONE_BUCKET

    def _open(self, partition: bytes, bucket: int) -> "BucketBuffer":
        if self._is_postponed:
            return PostponeBuffer(self._target, partition)
        if self._buckets > 0:
            self._state.check_buckets(partition, self._buckets)
        first = self._state.next_sequence(partition, bucket)
        return MergeBuffer(self._target, self._spec, (partition, bucket), first)

    def write(self, data: Rows) -> None:
        """Write rows; the optional column `_ROW_KIND` has their kinds (`+I`, `-U`, `+U`, `-D`).

        Raises:
            InvalidInputError: the data does not fit the table.
        """
        for batch in open_rows(data, self._shape):
            self._write_batch(batch)

    def _write_batch(self, batch: pa.RecordBatch) -> None:
        options = self._target.options
        check_references(batch, options)
        kinds = kinds_of(batch, options, self._default_kind)
        rows = _with_kinds(batch, kinds, self._target.schema)
        kept = kept_kinds(kinds, options)
        if kept is not None:
            rows = rows.filter(pa.array(kept.tolist(), pa.bool_()))
            kinds = kinds[kept]
        if rows.num_rows == 0:
            return
        self._check_kinds(rows, kinds)
        if self._key_index is not None:
            assigned = self._key_index.assign(rows)
            self._add(assigned.rows, assigned.partitions, assigned.buckets)
            return
        partitions = partitions_of(rows, self._target.schema.partition_type)
        self._add(rows, partitions, self._buckets_of(rows, partitions))

    def _check_kinds(self, rows: pa.RecordBatch, kinds: Kinds) -> None:
        """Refuse -U and -D rows that the merge engine could not merge in a later read."""
        if self._spec.engine is MergeEngine.DEDUPLICATE or not is_retract(kinds).any():
            return
        for kind in set(kinds.tolist()) - self._mergeable_kinds:
            check_row_kind(self._spec, rows, kind)
            if not self._spec.sequence_groups:  # which may be null in these rows, not in the next
                self._mergeable_kinds.add(kind)

    def _add(
        self, rows: pa.RecordBatch, partitions: Partitions, buckets: npt.NDArray[np.int32]
    ) -> None:
        if not rows.num_rows:
            return
        self._state.load(partitions.keys)
        self._target.add_partitions(partitions.keys)
        for group in split_rows(rows, partitions, buckets):
            writer = self._writers.of(group.partition, group.bucket)
            writer.add(group.rows)
            self._writers.keep_open(writer)
        self._writers.flush_over_budget()

    def _buckets_of(self, batch: pa.RecordBatch, partitions: Partitions) -> npt.NDArray[np.int32]:
        if self._is_postponed:
            return np.full(batch.num_rows, POSTPONE_BUCKET, np.int32)
        if self._buckets > 0:
            return fixed_buckets(batch, self._target.schema, self._target.options)
        keys = self._target.schema.project(self._target.schema.trimmed_primary_keys)
        hashes = key_hashes(
            [batch.column(column.name) for column in keys], [column.type for column in keys]
        )
        buckets = np.empty(batch.num_rows, np.int32)
        for number, partition in enumerate(partitions.keys):
            own = partitions.numbers == number
            buckets[own] = self._assigner(partition).assign(hashes[own])
        return buckets

    def _assigner(self, partition: bytes) -> HashAssigner:
        if partition not in self._assigners:
            options = self._target.options
            files = self._state.hash_files(partition)
            self._hash_files.update({(partition, bucket): f for bucket, f in files.items()})
            self._assigners[partition] = HashAssigner(
                {bucket: file.hashes for bucket, file in files.items()},
                target_rows=options.value(opt.DYNAMIC_BUCKET_TARGET_ROW_NUM),
                max_buckets=bucket_limit(options.value(opt.DYNAMIC_BUCKET_MAX_BUCKETS)),
            )
        return self._assigners[partition]

    def prepare_commit(self) -> list[CommitMessage]:
        """Close all files and return the commit messages; the writer cannot be used afterwards.

        Returns:
            One message per partition and bucket with new rows.
        """
        self._merge_small_buckets()
        index = self._write_index()
        messages = []
        for partition, bucket, (data, changelog, managed) in self._writers.close(
            lambda each: each.close()
        ):
            new_index = index.get((partition, bucket), IndexEntries.empty())
            old_index = self._hash_files.get((partition, bucket))
            messages.append(
                CommitMessage(
                    partition=partition,
                    bucket=bucket,
                    total_buckets=self._total_buckets,
                    new_files=self._entries(data, partition, bucket),
                    changelog_files=self._entries(changelog, partition, bucket),
                    new_index_files=new_index,
                    deleted_index_files=(
                        old_index.entry
                        if old_index is not None and len(new_index)
                        else IndexEntries.empty()
                    ),
                    managed_files=managed,
                    seen=self._state.seen if self._key_index is None else self._key_index.seen,
                )
            )
        self._uploads.finish()
        return messages

    def _merge_small_buckets(self) -> None:
        """Merge the rows of buckets with few rows together."""
        if self._spec.engine not in _SELECTING_ENGINES:
            return
        limit = _MERGED_CELLS // max(len(self._spec.columns), 1)
        some: list[MergeBuffer] = []
        for _, _, writer in self._writers:
            if isinstance(writer, MergeBuffer) and writer.is_small:
                some.append(writer)
                if sum(one.buffered_rows for one in some) >= limit:
                    _merge_together(some, self._spec)
                    some = []
        _merge_together(some, self._spec)

    @property
    def _total_buckets(self) -> int:
        return POSTPONE_TOTAL_BUCKETS if self._is_postponed else self._buckets

    def _entries(self, files: list[FileRow], partition: bytes, bucket: int) -> ManifestEntries:
        return entries_of(
            files, partition=partition, bucket=bucket, total_buckets=self._total_buckets
        )

    def _write_index(self) -> Mapping[BucketId, IndexEntries]:
        """Write a new hash index file for each bucket with new keys."""
        found: dict[BucketId, IndexEntries] = {}
        names = self._target.file_names()
        paths, file_io = self._target.store.paths, self._target.store.file_io
        for partition, assigner in self._assigners.items():
            folder = self._target.partition_path(partition)
            for bucket, hashes in assigner.changed().items():
                name = f"index-{names.unique}-{next(names.numbers)}"
                data = encode_hashes(hashes)
                path = paths.index_file(folder, bucket, name)
                self._index_files.append(path)
                file_io.create(path, data)
                found[partition, bucket] = IndexEntries.from_rows(
                    [
                        {
                            "kind": FileKind.ADD.value,
                            "partition": partition,
                            "bucket": bucket,
                            "index_type": HASH_INDEX,
                            "file_name": name,
                            "file_size": len(data),
                            "row_count": len(hashes),
                        }
                    ]
                )
        return found

    def abort(self) -> None:
        """Delete all files of this writer."""
        self._writers.abort()
        discard(self._target.store.file_io, self._index_files)


class MergeBuffer:
    """The write buffer of one bucket, which is merged at each flush.

    Args:
        target: the table.
        spec: merge specification of the table.
        bucket: partition and bucket.
        first_sequence: sequence number of the first row.
    """

    def __init__(
        self, target: WriteTarget, spec: MergeSpec, bucket: BucketId, first_sequence: int
    ) -> None:
        schema, options = target.schema, target.options
        self._spec = spec
        self._next_sequence = first_sequence
        self._rows: list[pa.RecordBatch] = []
        self._merged: pa.RecordBatch | None = None
        self.buffered = LazySize()
        self.buffered_rows = 0
        location = target.file_location(*bucket, target.file_names())
        layout = keyed_layout(schema, options)
        self._blobs = ManagedBlobs(location, layout, target)
        self._columns = tuple(column.name for column in layout.fields)
        self._data = DataFileWriter(location, layout)
        self._changelog: DataFileWriter | None = None
        if options.value(opt.CHANGELOG_PRODUCER) is ChangelogProducer.INPUT and not target.replaces:
            self._changelog = DataFileWriter(location, changelog_layout(schema, options))

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows with `_VALUE_KIND` as their last column, and assign sequence numbers."""
        rows = self._blobs.described(rows)
        numbers = np.arange(self._next_sequence, self._next_sequence + rows.num_rows)
        self._next_sequence += rows.num_rows
        column = build_fixed(pa.int64(), numbers)
        self._rows.append(rows.append_column(_SEQUENCE_FIELD, column))
        self.buffered_rows += rows.num_rows
        self.buffered.add(self._rows[-1])

    @property
    def is_small(self) -> bool:
        """Whether the rows may be merged together with those of other buckets."""
        return 0 < self.buffered_rows <= _SMALL_ROWS and self._changelog is None

    def rows(self) -> pa.Table:
        """Return the buffered rows."""
        return pa.Table.from_batches(self._rows)

    def replace_by_merged(self, rows: pa.RecordBatch) -> None:
        """Replace the buffered rows by the result of their merge."""
        self._rows = []
        self._merged = rows

    def flush(self) -> None:
        """Merge the buffered rows into a sorted run on level 0."""
        if self._merged is not None:
            self._write(self._data, self._merged)
            self._merged = None
        if not self._rows:
            return
        rows = self._rows[0] if len(self._rows) == 1 else pa.Table.from_batches(self._rows)
        self._rows = []
        self.buffered_rows = 0
        self.buffered = LazySize()
        if self._changelog is not None:
            self._write(self._changelog, sort_rows(rows, self._spec))
        self._write(self._data, merge_sorted(rows, self._spec))

    def _write(self, writer: DataFileWriter, rows: pa.RecordBatch) -> None:
        writer.write_file([rows.column(name.removeprefix(KEY_PREFIX)) for name in self._columns])

    @property
    def is_open(self) -> bool:
        """Whether a managed file is open; every flush closes its data files."""
        return self._blobs.is_open

    def end_file(self) -> None:
        """Close the open managed files."""
        self._blobs.end()

    def close(self) -> _Files:
        """Flush; return the new files."""
        self.flush()
        changelog = self._changelog.close() if self._changelog else []
        return self._data.close(), changelog, self._blobs.close()

    def abort(self) -> None:
        """Delete the files of the writer."""
        self._blobs.abort()
        self._data.abort()
        if self._changelog is not None:
            self._changelog.abort()


def _merge_together(buffers: list[MergeBuffer], spec: MergeSpec) -> None:
    if len(buffers) > 1:
        merged = merge_sorted_buckets([buffer.rows() for buffer in buffers], spec)
        for buffer, rows in zip(buffers, merged, strict=True):
            buffer.replace_by_merged(rows)


class PostponeBuffer:
    """The write buffer of one postpone bucket, which keeps rows in input order.

    Args:
        target: the table.
        partition: the partition.
    """

    def __init__(self, target: WriteTarget, partition: bytes) -> None:
        prefix = target.options.value(opt.DATA_FILE_PREFIX)
        prefix = f"{prefix}-u-{target.commit_user}-s-0-w-"
        layout = postpone_layout(target.schema, target.options, prefix)
        self._columns = tuple(column.name for column in layout.fields)
        location = target.file_location(partition, POSTPONE_BUCKET, target.file_names())
        self._blobs = ManagedBlobs(location, layout, target)
        self._data = DataFileWriter(location, layout)

    @property
    def buffered(self) -> LazySize:
        """Size of the rows that are not in a file yet."""
        return self._data.buffered

    @property
    def buffered_rows(self) -> int:
        """Number of rows that are not in a file yet."""
        return self._data.buffered_rows

    @property
    def is_open(self) -> bool:
        """Whether a file is open."""
        return self._data.is_open or self._blobs.is_open

    def add(self, rows: pa.RecordBatch) -> None:
        """Add rows with `_VALUE_KIND` as their last column."""
        rows = self._blobs.described(rows)
        numbers = np.full(rows.num_rows, _UNKNOWN_SEQUENCE, np.int64)
        column = build_fixed(pa.int64(), numbers)
        rows = rows.append_column(_SEQUENCE_FIELD, column)
        columns = [rows.column(name.removeprefix(KEY_PREFIX)) for name in self._columns]
        self._data.write(pa.Table.from_arrays(columns, names=list(self._columns)))

    def flush(self) -> None:
        """Write buffered rows to a file."""
        self._data.flush()

    def end_file(self) -> None:
        """Close the current file."""
        self._blobs.end()
        self._data.end_file()

    def close(self) -> _Files:
        """Close the files; there are no changelog files before a compaction."""
        return self._data.close(), [], self._blobs.close()

    def abort(self) -> None:
        """Delete the files of the writer."""
        self._blobs.abort()
        self._data.abort()


BucketBuffer = MergeBuffer | PostponeBuffer


def needs_key_index(schema: TableSchema, options: TableOptions) -> bool:
    """Whether an index of all keys assigns buckets: cross-partition keys and dynamic buckets."""
    return schema.is_cross_partition and options.value(opt.BUCKET) == DYNAMIC_BUCKET


def schema_with(schema: TableSchema, options: TableOptions) -> TableSchema:
    """Return the schema with the effective options."""
    return replace(schema, options=dict(options))


def _with_kinds(
    batch: pa.RecordBatch, kinds: npt.NDArray[np.int8], schema: TableSchema
) -> pa.RecordBatch:
    """Append the column `_VALUE_KIND` to the table's columns."""
    names = [column.name for column in schema.fields]
    column = build_fixed(pa.int8(), kinds)
    own = batch if batch.schema.names == names else batch.select(names)
    return own.append_column(_KIND_FIELD, column)


def write_upsert(  # noqa: PLR0913  # the options of one write
    store: TableStore,
    schema: TableSchema,
    data: Rows,
    *,
    options: Mapping[str, str] | None = None,
    default_kind: int = INSERT,
    replaces: bool = False,
    commit_user: str = "",
    key_index: KeyIndex | None = None,
    latest: LatestSnapshot | None = None,
    stored_mark: bytes | None = None,
) -> list[CommitMessage]:
    """Write rows to a table with a primary key, without committing them.

    Args:
        store: the table.
        schema: the latest schema.
        data: an Arrow table, batch or reader, a data frame, or dictionaries; the optional column
            `_ROW_KIND` has the row kinds.
        options: options that override the table's for this write.
        default_kind: row kind of rows without a row kind: 0 +I, 1 -U, 2 +U, 3 -D.
        replaces: whether the rows replace existing ones (overwrite).
        commit_user: the commit user, for file names in the postpone bucket.
        key_index: all keys of the table; required if `needs_key_index`.
        latest: the latest snapshot, if it was just read.
        stored_mark: see `WriteTarget`.

    Returns:
        The commit messages. All files are deleted if this raises.

    Raises:
        InvalidInputError: the data does not fit the table or its merge engine.
        UnsupportedFeatureError: the table uses a feature that writes do not support.
    """
    target = WriteTarget(
        store=store,
        schema=schema,
        options=TableOptions({**schema.options, **(options or {})}),
        commit_user=commit_user,
        replaces=replaces,
        latest=latest,
        stored_mark=stored_mark,
    )
    with UpsertWriter(target, default_kind=default_kind, key_index=key_index) as writer:
        writer.write(data)
        return writer.prepare_commit()
