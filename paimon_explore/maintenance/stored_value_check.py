"""Whether the stored values fit changed columns, asked before the change is made.

A changed type casts values when they are read. So the question is asked of every record of every
live data file, also of those that newer records of the same key have replaced: a merge reads them
all. Statistics answer for integers and for nulls where they can; other files are read, that column
alone.

Rows that others write while the question is asked are not seen.

Spec: concepts/schema evolution.
"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.casts.allowed_casts import INTEGERS, is_same
from paimon_explore.data_types.casts.lossy_values import Loss, losses, may_lose
from paimon_explore.data_types.definitions import AtomicType, DataField, TypeRoot
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import DataFileSource, ReadRequest, read_data_file
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.splits.file_locations import data_file_paths
from paimon_explore.store.table_store import TableStore

_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INT: 32, TypeRoot.BIGINT: 64}


@dataclass(frozen=True, slots=True)
class _Change:
    """A column before and after."""

    old: DataField
    new: DataField


def check_values_fit(store: TableStore, before: TableSchema, after: TableSchema) -> None:
    """Refuse new types of columns that stored values do not fit.

    Args:
        store: the table and branch.
        before: the schema in force.
        after: the schema that is to be.

    Raises:
        InvalidInputError: values do not fit; the message counts them and shows one.
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


def _check(
    store: TableStore, before: TableSchema, entries: ManifestEntries, change: _Change
) -> None:
    doubtful = entries.filter(pa.array(_doubtful(store, entries, change)))
    found: list[Loss] = []
    files = 0
    for source, field in _sources(store, before, doubtful, change.old.id):
        request = ReadRequest(fields=(field,))
        inside = [
            loss
            for batch in read_data_file(source, request)
            for loss in losses(batch.column(0), field.type, change.new.type)
        ]
        files += bool(inside)
        found += inside
    if found:
        raise _refused(change, found, files)


def _refused(change: _Change, found: Sequence[Loss], files: int) -> InvalidInputError:
    count = sum(loss.count for loss in found)
    first = found[0]
    values = "1 value does" if count == 1 else f"{count} values do"
    within = "1 data file" if files == 1 else f"{files} data files"
    below = f" in {change.old.name}{first.where}" if first.where else ""
    return InvalidInputError(
        f"Column {change.old.name!r} of type {type_text(change.old.type)} cannot be changed to "
        f"{type_text(change.new.type)}: {values} not fit, in {within}, such as "
        f"{first.example}{below}.",
        hint="Change or delete these rows first, and compact the table, for replaced rows count "
        "until then. With check=False the type is changed anyway: values that do not fit are cut, "
        "wrapped or null when they are read, or make the read fail.",
    )


def _sources(
    store: TableStore, before: TableSchema, entries: ManifestEntries, field_id: int
) -> Iterator[tuple[DataFileSource, DataField]]:
    """The files that hold a column, each with the column as the file has it."""
    if not len(entries):
        return
    paths = data_file_paths(entries, before, TableOptions(before.options), store.paths)
    for path, row in zip(as_python(paths), entries.rows(), strict=True):
        schema_id, columns, size = row["schema_id"], row["write_cols"], row["file_size"]
        assert isinstance(schema_id, int)  # noqa: S101 - of an integer column
        source = DataFileSource(
            file_io=store.file_io,
            path=str(path),
            size=size if isinstance(size, int) else None,
            schema=store.schemas.load(schema_id),
            write_cols=tuple(map(str, columns)) if isinstance(columns, list) else None,
        )
        for field in source.stored_fields:
            if field.id == field_id:
                yield source, field


def _doubtful(store: TableStore, entries: ManifestEntries, change: _Change) -> list[bool]:
    """Which files may hold a value that does not fit, as far as their statistics tell."""
    old, new, bits = change.old.type, change.new.type, _bits(change)
    found = value_stats(entries, store.schemas.load, [change.old]).columns
    if change.old.name not in found or (bits is None and not is_same(old, new)):
        return [True] * len(entries)
    stats = found[change.old.name]
    nulls = as_python(stats.null_count)
    doubts = [not new.nullable and count != 0 for count in nulls]
    if bits is None:
        return doubts
    rows = as_python(entries.column("row_count").combine_chunks())
    bounds = zip(as_python(stats.minimum), as_python(stats.maximum), strict=True)
    return [
        doubt or not (count == total or _is_within(low, high, bits))
        for doubt, count, total, (low, high) in zip(doubts, nulls, rows, bounds, strict=True)
    ]


def _bits(change: _Change) -> int | None:
    """The size of the new integer, if integers stay integers."""
    old, new = change.old.type, change.new.type
    if not isinstance(old, AtomicType) or not isinstance(new, AtomicType):
        return None
    return _BITS[new.root] if old.root in INTEGERS and new.root in INTEGERS else None


def _is_within(low: object, high: object, bits: int) -> bool:
    if not isinstance(low, int) or not isinstance(high, int):
        return False
    return bool(-(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1))
