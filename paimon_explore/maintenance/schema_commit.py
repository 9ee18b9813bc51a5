"""Commits schema changes to a table: creates the file `schema-N+1`, with retries.

`metadata.schema.alter_schema` computes the new schema in memory. The schema file is created
atomically, only if it does not exist. If another change has created it, the changes are applied to
that schema again, so that the rules are checked against the latest schema.

Spec: concepts/schema evolution; concepts/spec/schema.

Check before a schema change that stored values fit the new column types.

Reads cast stored values to a changed type. All records of all live data files are checked,
including older records of a key, because merges read them as well. Statistics decide for integers
and nulls where possible; otherwise the column is read from the file.

A table that leaves `bucket` = -2 must have no postponed rows, which nothing would read any more.
One that leaves `global-index.column-update-action` = `ignore` must have no global indexes.

Rows written concurrently are not checked.

Spec: concepts/schema evolution; primary-key-table, data distribution.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.casts.allowed_type_changes import is_same
from paimon_explore.data_types.casts.lossy_values import Loss, losses, may_lose
from paimon_explore.data_types.definitions import (
    INTEGER_BITS,
    INTEGERS,
    AtomicType,
    DataField,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    CommitError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    StorageError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import DataFileSource, ReadRequest, read_data_file
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.store.table_store import TableStore

_MAX_ATTEMPTS = 100


def alter_schema(
    store: TableStore,
    changes: Sequence[SchemaChange],
    *,
    check: bool = True,
    clock: Callable[[], int] = system_clock,
) -> TableSchema:
    """Apply changes to the latest schema of a branch, all or none.

    Args:
        store: the table and branch.
        changes: the changes in order.
        check: check that stored values fit new column types, and rows new buckets.
        clock: epoch milliseconds.

    Returns:
        The new schema.

    Raises:
        InvalidInputError: no change is given, a change is not allowed, or stored values do not fit.
        NotFoundError: the table or a column of a change does not exist.
        AlreadyExistsError: a new column name already exists.
        CommitError: the retries are exhausted because of concurrent schema changes.
        StorageError: the file could not be written; the schema is unchanged.
    """
    if not changes:
        raise InvalidInputError("alter() needs at least one change.")
    for _ in range(_MAX_ATTEMPTS):
        before = store.schemas.latest()
        if before is None:
            raise NotFoundError("table", store.paths.branch_root)
        has_snapshots = store.snapshots.latest_id() is not None
        after = apply_changes(before, changes, has_snapshots=has_snapshots, time_millis=clock())
        if check:
            check_values_fit(store, before, after)
            _check_postponed_rows(store, before, after)
            _check_global_indexes(store, before, after)
        if store.environment is not None:
            owned = store.environment.alter_schema(store.paths.branch, changes)
            if owned is not None:
                return owned
        if create_schema(store, after):
            return after
    raise CommitError(
        f"The schema change failed after {_MAX_ATTEMPTS} attempts because of concurrent schema "
        "changes."
    )


def create_schema(store: TableStore, schema: TableSchema) -> bool:
    """Create the schema file; if the response was lost, check whether the file exists.

    The catalog of the table is told. If it refuses the schema, the file is deleted.

    Returns:
        Whether the file was created; False if there is another schema of that id.
    """
    try:
        created = store.schemas.create(schema)
    except StorageError:
        created = schema.id in store.schemas.ids() and store.schemas.load(schema.id) == schema
        if not created:
            raise
    if created and store.environment is not None:
        try:
            store.environment.schema_changed(store.paths.branch, schema)
        except PaimonError:
            withdraw_schema(store, schema)
            raise
    return created


def withdraw_schema(store: TableStore, schema: TableSchema) -> None:
    """Delete a new schema file, unless a commit or a newer schema is based on it."""
    latest, newest = store.snapshots.latest(), store.schemas.latest()
    committed = latest is not None and latest.schema_id >= schema.id
    if not committed and newest == schema:
        store.file_io.delete(store.paths.schema(schema.id))


@dataclass(frozen=True, slots=True)
class _Change:
    """A column before and after the change."""

    old: DataField
    new: DataField


def check_values_fit(store: TableStore, before: TableSchema, after: TableSchema) -> None:
    """Check that stored values fit the column types of a new schema.

    Args:
        store: the table and branch.
        before: the current schema.
        after: the new schema.

    Raises:
        InvalidInputError: values do not fit; the message has their number and an example.
        CorruptFileError, MissingFileError, StorageError: a data file cannot be read.
    """
    old = {field.id: field for field in before.fields}
    changes = [
        _Change(old[field.id], field)
        for field in after.fields
        if field.id in old and may_lose(old[field.id].type, field.type)
    ]
    snapshot = store.snapshots.latest() if changes else None
    if snapshot is None:
        return
    entries = live_entries(store.manifests.read_many(store.manifests.all(snapshot).names))
    if not len(entries):
        return
    for change in changes:
        _check(store, before, entries, change)


def _check_postponed_rows(store: TableStore, before: TableSchema, after: TableSchema) -> None:
    old, new = (TableOptions(schema.options).value(BUCKET) for schema in (before, after))
    snapshot = store.snapshots.latest() if old == POSTPONE_BUCKET != new else None
    if snapshot is None:
        return
    entries = live_entries(store.manifests.read_many(store.manifests.all(snapshot).names))
    if np.any(numbers(entries.table, "bucket") == POSTPONE_BUCKET):
        raise InvalidInputError(
            f"Option {BUCKET.key!r} cannot be changed to {new}: the table has rows in the folders "
            "'bucket-postpone', which are read only with 'bucket' = '-2'.",
            hint="Call compact() first: it moves the rows to real buckets.",
        )


def _check_global_indexes(store: TableStore, before: TableSchema, after: TableSchema) -> None:
    ignore, option = GlobalIndexColumnUpdateAction.IGNORE, GLOBAL_INDEX_COLUMN_UPDATE_ACTION
    old, new = (TableOptions(schema.options).value(option) for schema in (before, after))
    snapshot = store.snapshots.latest() if old is ignore is not new else None
    if snapshot is None:
        return
    if any(row["global_index"] is not None for row in store.manifests.index_of(snapshot).rows()):
        raise InvalidInputError(
            f"Option {option.key!r} cannot be changed from 'ignore' to {new.value!r}: updates may "
            "have left the global indexes of the table outdated.",
            hint="Call drop_global_index() for each indexed column first, and build the indexes "
            "again afterwards.",
        )


def _check(
    store: TableStore, before: TableSchema, entries: ManifestEntries, change: _Change
) -> None:
    to_read = entries.filter(pa.array(_must_read(store, entries, change)))
    found: list[Loss] = []
    files = 0
    for source, field in _sources(store, before, to_read, change.old.id):
        request = ReadRequest(fields=(field,))
        losses_here = [
            loss
            for batch in read_data_file(source, request)
            for loss in losses(batch.column(0), field.type, change.new.type)
        ]
        files += bool(losses_here)
        found += losses_here
    if found:
        raise _values_do_not_fit(change, found, files)


def _values_do_not_fit(change: _Change, found: Sequence[Loss], files: int) -> InvalidInputError:
    count = sum(loss.count for loss in found)
    first = found[0]
    values = "1 value does" if count == 1 else f"{count} values do"
    within = "1 data file" if files == 1 else f"{files} data files"
    below = f" in {change.old.name}{first.where}" if first.where else ""
    return InvalidInputError(
        f"Column {change.old.name!r} of type {type_text(change.old.type)} cannot be changed to "
        f"{type_text(change.new.type)}: {values} not fit the new type in {within}, such as "
        f"{first.example}{below}.",
        hint="Update or delete these rows, then compact the table to remove the replaced rows. "
        "With check=False the type is changed anyway, and reads truncate, wrap, nullify or "
        "reject the values.",
    )


def _sources(
    store: TableStore, before: TableSchema, entries: ManifestEntries, field_id: int
) -> Iterator[tuple[DataFileSource, DataField]]:
    """Yield the files that have a column, with the column as stored in the file."""
    if not len(entries):
        return
    paths = data_file_paths(entries, before, TableOptions(before.options), store.paths)
    for path, row in zip(as_python(paths), entries.rows(), strict=True):
        schema_id, columns, size = row["schema_id"], row["write_cols"], row["file_size"]
        assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
        partition = row["partition"]
        source = DataFileSource(
            file_io=store.file_io,
            path=str(path),
            size=size if isinstance(size, int) else None,
            schema=store.schemas.load(schema_id),
            write_cols=tuple(map(str, columns)) if isinstance(columns, list) else None,
            partition=partition if isinstance(partition, bytes) else None,
        )
        for field in source.stored_fields:
            if field.id == field_id:
                yield source, field


def _must_read(store: TableStore, entries: ManifestEntries, change: _Change) -> list[bool]:
    """Return which files may contain a value that does not fit, according to statistics."""
    old, new, bits = change.old.type, change.new.type, _bits(change)
    found = value_stats(entries, store.schemas.load, [change.old]).columns
    if change.old.name not in found or (bits is None and not is_same(old, new)):
        return [True] * len(entries)
    stats = found[change.old.name]
    nulls = as_python(stats.null_count)
    may_have_nulls = [not new.nullable and count != 0 for count in nulls]
    if bits is None:
        return may_have_nulls
    rows = as_python(entries.column("row_count").combine_chunks())
    bounds = zip(as_python(stats.minimum), as_python(stats.maximum), strict=True)
    return [
        must_read or not (count == total or _is_within(low, high, bits))
        for must_read, count, total, (low, high) in zip(
            may_have_nulls, nulls, rows, bounds, strict=True
        )
    ]


def _bits(change: _Change) -> int | None:
    """Return the width of the new type if both types are integers."""
    old, new = change.old.type, change.new.type
    if not isinstance(old, AtomicType) or not isinstance(new, AtomicType):
        return None
    return INTEGER_BITS[new.root] if old.root in INTEGERS and new.root in INTEGERS else None


def _is_within(low: object, high: object, bits: int) -> bool:
    if not isinstance(low, int) or not isinstance(high, int):
        return False
    return bool(-(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1))
