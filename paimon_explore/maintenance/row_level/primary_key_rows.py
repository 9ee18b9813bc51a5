"""Update and delete in primary-key tables, which write new records of the rows.

Rows are read including level 0, even where batch reads skip it, because an update must be based on
the latest version of a row.

The commit fails if the same keys were written in the meantime, since the new records would undo
that write.

Bootstrap of the key index for cross-partition upserts: read all keys of a table.

Only the key columns are read, with a merge that drops deleted keys. Buckets whose newest file is
older than `cross-partition-upsert.index-ttl` are skipped: their keys count as new.

Writes to all kinds of primary-key tables, including cross-partition upserts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import uuid4

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.overwrite import all_files
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    build_fixed,
    gathered,
    string_array,
    valid_mask,
)
from paimon_explore.data_types.casts.text_functions import padded_texts
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.maintenance.row_level.append_table_rows import Inserts
from paimon_explore.maintenance.row_level.candidate_files import check_single_branch
from paimon_explore.maintenance.row_level.row_change import RowChange, take
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.keys.value_equality import codes
from paimon_explore.merge.numpy_columns import mask_array
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.column_options import SEQUENCE_GROUP
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.options.option_enums import MergeEngine, SortOrder
from paimon_explore.metadata.options.table_options import (
    CROSS_PARTITION_UPSERT_INDEX_TTL,
    TableOptions,
)
from paimon_explore.metadata.schema.fixed_buckets import fixed_buckets
from paimon_explore.metadata.schema.storage_validation import managed_blobs
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.plan import ScanTarget, plan_scan
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.blob_files import change_blobs
from paimon_explore.write.buckets.cross_partition import KeyIndex, KnownKeys
from paimon_explore.write.input.row_kinds import DELETE, INSERT, KINDS, ROW_KIND, UPDATE_AFTER
from paimon_explore.write.input.table_batches import Rows
from paimon_explore.write.primary_key_writer import needs_key_index, write_upsert
from paimon_explore.write.write_target import WriteTarget

_KIND_FIELD = pa.field(ROW_KIND, pa.int8(), nullable=False)
_KIND_TEXTS = {number: text for text, number in KINDS.items()}


class PrimaryKeyRows:
    """A row-level operation on a primary-key table.

    Args:
        scan: the table at the snapshot that the operation is based on.
        change: the change of rows.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        check_single_branch(scan)
        read_options = {**scan.options, opt.DELETION_VECTORS_MERGE_ON_READ.key: "true"}
        self._scan = replace(scan, options=TableOptions(read_options))
        self._options = scan.options
        self._change = change
        self._groups = _sequence_groups(scan.options)
        self._columns_ignoring_null = self._ignoring_null()
        self._blobs = managed_blobs(scan.schema, scan.options)
        self._mark = uuid4().bytes
        _check_copied_blobs(scan, change, self._blobs)

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write the new records.

        Args:
            inserts: returns rows to insert; called after all rows have been processed.

        Returns:
            The commit messages; empty if no row changes. All files are deleted if this raises.

        Raises:
            FormatError: a file is malformed.
            MissingFileError: a file does not exist.
            StorageError: a file cannot be read or written.
            InvalidInputError: a new value does not fit its column or the merge engine.
        """
        schema = arrow_schema(self._scan.schema.row_type)
        records = self._records(inserts)
        messages = write_primary_key_rows(
            self._scan.store,
            self._scan.schema,
            pa.RecordBatchReader.from_batches(schema.append(_KIND_FIELD), records),
            options=self._options,
            stored_mark=self._mark,
        )
        return with_seen_snapshot(messages, self._scan.snapshot)

    def _records(self, inserts: Inserts | None) -> Iterator[pa.RecordBatch]:
        plan = plan_scan(self._scan, self._change.where)
        reader = SplitReader(
            as_stored=True,
            target=self._scan,
            columns=self._scan.schema.row_type.names,
            predicate=plan.rest,
        )
        chars = self._bucket_chars()
        parts = [[split] for split in plan.splits] if chars else [plan.splits]
        for part in parts:
            for batch in gathered(reader.read_each(part), self._change.batch_rows):
                written = self._as_written(batch, part[0], chars) if chars else batch
                yield from self._changed(self._marked(batch), written.select(chars))
        if inserts is not None:
            for batch in inserts():
                yield self._with_kind(batch, INSERT)

    def _marked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Mark stored BLOBs: their descriptors are written again, not their contents."""
        for name in self._blobs:
            batch = change_blobs(batch, name, self._mark.__add__)
        return batch

    def _bucket_chars(self) -> list[str]:
        """Return the CHAR columns of the bucket key, if rows may be in several buckets."""
        schema = self._scan.schema
        keys = schema.project(schema.bucket_keys) if self._options.value(opt.BUCKET) > 1 else ()
        return [key.name for key in keys if is_root(key.type, TypeRoot.CHAR)]

    def _as_written(
        self, batch: pa.RecordBatch, split: Split, chars: Sequence[str]
    ) -> pa.RecordBatch:
        """Return rows with CHAR values of which their bucket follows.

        Reads of ORC files trim the values, and Spark writes them with spaces.
        """
        if not isinstance(split, DataSplit):
            return batch
        schema, options = self._scan.schema, self._options
        moved = fixed_buckets(batch, schema, options) != split.bucket
        if not moved.any() or split.total_buckets != options.value(opt.BUCKET):
            return batch
        found = batch
        for key in schema.project(chars).fields:
            length = key.type.length if isinstance(key.type, AtomicType) else None
            values = batch.column(key.name)
            texts = [padded_texts(values, length or 1), values]
            padded = pc.call_function("if_else", [mask_array(moved), *texts])
            found = found.set_column(found.schema.get_field_index(key.name), key.name, padded)
        if (fixed_buckets(found, schema, options) != split.bucket).any():
            raise UnsupportedFeatureError(
                f"changing rows of bucket {split.bucket} whose CHAR values were written with some "
                "spaces at the end, which ORC files do not keep,",
                hint="Write the rows again by an overwrite of the table or partition.",
            )
        return found

    def _changed(self, batch: pa.RecordBatch, keys: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        result = self._change.apply(batch)
        deleted = result.touched.copy()
        deleted[result.rows] = False
        if deleted.any():
            rows = np.flatnonzero(deleted)
            yield self._with_kind(_with_columns(take(batch, rows), take(keys, rows)), DELETE)
        if len(result.rows):
            before = take(batch, result.rows)
            self._check_order(before, result.after)
            self._check_groups(before, result.after)
            self._check_nulls(before, result.after)
            after = _with_columns(result.after, take(keys, result.rows))
            yield self._with_kind(after, UPDATE_AFTER)

    def _with_kind(self, batch: pa.RecordBatch, kind: int) -> pa.RecordBatch:
        """Append the row kind, and set the column of `rowkind.field` if the table has one."""
        name = self._options.value(opt.ROWKIND_FIELD)
        count = batch.num_rows
        if name is not None:
            index = batch.schema.get_field_index(name)
            texts = string_array([_KIND_TEXTS[kind]] * count).cast(batch.schema.field(index).type)
            if kind != DELETE:  # existing values are +I or +U
                texts = pc.call_function("coalesce", [batch.column(index), texts])
            batch = batch.set_column(index, batch.schema.field(index), texts)
        kinds = build_fixed(pa.int8(), np.full(count, kind, np.int8))
        return batch.append_column(_KIND_FIELD, kinds)

    def _check_order(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Check that no update has a lower sequence than the row it updates."""
        names = self._options.value(opt.SEQUENCE_FIELD)
        if not set(names) & set(self._change.updated):
            return
        old, new = _orders(before, after, names)
        is_descending = self._options.value(opt.SEQUENCE_FIELD_SORT_ORDER) is SortOrder.DESCENDING
        if bool((new > old if is_descending else new < old).any()):
            raise InvalidInputError(
                f"The update lowers the sequence field {', '.join(names)} of a row, so "
                "the updated row would be ignored.",
                hint="Set it to a value that is not lower; or delete the rows, compact the table, "
                "and then write them again.",
            )

    def _check_groups(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Check that no sequence group ignores new values, as it is null or lower than before."""
        for ordering, columns in self._groups:
            names = [name for name in self._change.updated if name in {*ordering, *columns}]
            if not names:
                continue
            old, new = _orders(before, after, ordering)
            has_order = np.zeros(len(new), np.bool_)
            for name in ordering:
                has_order |= valid_mask(after.column(name))
            changed = np.zeros(len(new), np.bool_)
            for name in names:
                found = codes(pa.concat_arrays([before.column(name), after.column(name)]))
                changed |= found[: len(new)] != found[len(new) :]
            if (changed & ((new < old) | ~has_order)).any():
                raise InvalidInputError(
                    f"The new values of {choices(names)} would be ignored, because the sequence "
                    f"field {', '.join(ordering)} of a row would be null or lower than before.",
                    hint="Set it to a value that is not lower.",
                )

    def _ignoring_null(self) -> tuple[str, ...]:
        """Return the updated columns in which the merge engine ignores nulls."""
        if self._options.value(opt.MERGE_ENGINE) is not MergeEngine.PARTIAL_UPDATE:
            return ()
        grouped = {name for group in self._groups for part in group for name in part}
        return tuple(name for name in self._change.updated if name not in grouped)

    def _check_nulls(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Check that no update sets a column to null for which partial-update ignores nulls."""
        for name in self._columns_ignoring_null:
            lost: Bools = valid_mask(before.column(name)) & ~valid_mask(after.column(name))
            if lost.any():
                raise InvalidInputError(
                    f"The update sets column {name!r} to null, but 'merge-engine' = "
                    "'partial-update' ignores null values.",
                    hint="Delete the row, or add the column to a sequence group.",
                )


def _with_columns(batch: pa.RecordBatch, columns: pa.RecordBatch) -> pa.RecordBatch:
    """Replace some columns of a batch."""
    for field, column in zip(columns.schema, columns.columns, strict=True):
        batch = batch.set_column(batch.schema.get_field_index(field.name), field, column)
    return batch


def _check_copied_blobs(scan: ScanTarget, change: RowChange, managed: Sequence[str]) -> None:
    """Check that no contents of descriptors are to be copied from one column to another."""
    if set(managed) & set(change.updated):
        for name in scan.options.value(opt.BLOB_DESCRIPTOR_FIELD):
            if name in change.reads:
                raise UnsupportedFeatureError(
                    f"updating a BLOB column by the contents of the descriptors in {name!r}",
                    hint="Read the contents, and write them with upsert().",
                )


def _orders(
    before: pa.RecordBatch, after: pa.RecordBatch, names: Sequence[str]
) -> tuple[Ints, Ints]:
    """Return the ranks of the rows before and after an update by some columns; null is least."""
    count = before.num_rows
    both: list[Column] = [
        pa.concat_arrays([before.column(name), after.column(name)]) for name in names
    ]
    ranked = ranks(both, count=2 * count)
    return ranked[:count], ranked[count:]


def _sequence_groups(options: TableOptions) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """Return the sequence fields and the columns of the groups of a partial-update table."""
    if options.value(opt.MERGE_ENGINE) is not MergeEngine.PARTIAL_UPDATE:
        return ()
    return tuple((one, parse_names(text)) for one, text in SEQUENCE_GROUP.columns_in(options))


def key_index(target: WriteTarget, snapshot: Snapshot | None) -> KeyIndex:
    """Build the index of partition and bucket of every key.

    Args:
        target: the table.
        snapshot: the latest snapshot, or the one that a row-level operation is based on.

    Raises:
        FormatError: a file is malformed.
        MissingFileError: a file does not exist.
    """
    known = [] if target.replaces else list(_known(target, snapshot))
    seen = None if target.replaces else SeenSnapshot.of(snapshot, reads=True)
    return KeyIndex(target.schema, target.options, known, seen)


def _known(target: WriteTarget, snapshot: Snapshot | None) -> Iterator[KnownKeys]:
    schema, options, store = target.schema, target.options, target.store
    if snapshot is None:
        return
    entries = all_files(store, schema, snapshot)
    if not len(entries):
        return
    scan = ScanTarget(store=store, schema=schema, options=options, snapshot=snapshot)
    reader = SplitReader(target=scan, columns=schema.primary_keys, unrestricted=True)
    ttl_ms = options.value(CROSS_PARTITION_UPSERT_INDEX_TTL)
    oldest = None if ttl_ms is None else local_millis(target.clock()) - ttl_ms
    splits = [
        split
        for split in whole_buckets(scan.located(entries, snapshot))
        if oldest is None or numbers(split.files.table, "creation_time").max() >= oldest
    ]
    for split, found in reader.by_split(splits):
        for rows in found:
            yield KnownKeys(partition=split.partition, bucket=split.bucket, columns=rows.columns)


def write_primary_key_rows(  # noqa: PLR0913  # as of write_upsert
    store: TableStore,
    schema: TableSchema,
    data: Rows,
    *,
    options: Mapping[str, str],
    replaces: bool = False,
    latest: LatestSnapshot | None = None,
    stored_mark: bytes | None = None,
) -> list[CommitMessage]:
    """Write rows to a table with a primary key, without committing them; see `write_upsert`."""
    effective = TableOptions({**schema.options, **options})
    write = partial(
        write_upsert,
        *(store, schema, data),
        options=options,
        replaces=replaces,
        stored_mark=stored_mark,
    )
    if not needs_key_index(schema, effective):
        return write(latest=latest)
    target = WriteTarget(store=store, schema=schema, options=effective, replaces=replaces)
    snapshot = None if replaces else store.snapshots.latest()
    return write(key_index=key_index(target, snapshot))


def with_seen_snapshot(
    messages: Sequence[CommitMessage], snapshot: Snapshot | None
) -> list[CommitMessage]:
    """Set the snapshot on whose rows the records of messages are based."""
    seen = SeenSnapshot.of(snapshot, reads=True)
    return [replace(message, seen=seen) for message in messages]
