"""Reads of rows of one snapshot by row id, or by numbers that stand for row ids."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.numpy_columns import ints_of, mask_array
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import byte_rows, column, numbers, row_array
from paimon_explore.scan.plan import ScanTarget, by_global_index, prune_files
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.splits.data_split import LocatedFiles, Splits
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.scan.splits.split_generator import make_splits, without_retracts


def files_with_row_ids(target: ScanTarget, where: Expression = TRUE) -> ManifestEntries:
    """Return the visible files of the snapshot whose rows have ids, or get numbers instead.

    Files of a primary-key table that need no merge get numbers: their rows are numbered through
    the files, in the order of partitions, buckets and names.

    Args:
        target: the table and snapshot.
        where: a predicate, whose part on the partition columns selects partitions.
    """
    if target.snapshot is None:
        return ManifestEntries.empty()
    pushed = split(where, target.schema.partition_keys).pushed
    partitions = PartitionFilter(row_type=target.schema.partition_type, predicate=pushed)
    entries = live_files(target.store, target.snapshot, partitions)
    visible = prune_files(target, entries, TRUE, [])
    if target.hides_level_0 and not target.options.value(DATA_EVOLUTION_ENABLED):
        return _numbered(visible)
    return visible.filter(row_ranges(visible)[0] >= 0)


def _numbered(entries: ManifestEntries) -> ManifestEntries:
    table = entries.table
    names = map(str, as_python(column(table, "file_name")))
    buckets = numbers(table, "bucket").tolist()
    places = list(zip(byte_rows(column(table, "partition")), buckets, names, strict=True))
    entries = entries.take(np.array(sorted(range(len(places)), key=places.__getitem__), np.int64))
    table = entries.table
    counts = numbers(table, "row_count")
    at = table.schema.get_field_index("first_row_id")
    first = row_array(np.cumsum(counts) - counts)
    return ManifestEntries(table.set_column(at, table.schema.field(at), first))


def matching_row_ids(
    target: ScanTarget, files: ManifestEntries, where: Expression = TRUE
) -> BitMap64:
    """Return the ids of the rows that are not deleted and match a predicate.

    Args:
        target: the table and snapshot.
        files: of `files_with_row_ids` with the predicate.
        where: the predicate.
    """
    found = BitMap64()
    if target.snapshot is None:
        return found
    rest = split(where, target.schema.partition_keys).rest
    located = target.located(files, target.snapshot)
    if rest == TRUE and not located.deletion_files and _has_no_retracts(target, files):
        for start, end in zip(*(part.tolist() for part in row_ranges(files)), strict=True):
            found.add_range(start, end)
        return found
    kept = prune_files(target, files, rest, [])
    indexed = by_global_index(target, target.snapshot, kept, rest)
    if indexed is not None:
        kept = indexed.stage.kept
    located = target.located(kept, target.snapshot, indexed)
    for batch in _read(target, located, (), rest, unrestricted=True):
        found.update(batch.column(0).to_numpy().astype(np.uint64))
    return found


def rows_by_id(
    target: ScanTarget,
    files: ManifestEntries,
    columns: tuple[str, ...],
    row_ids: Iterable[int],
    *,
    unrestricted: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Read rows by their ids, in any order; ids of no row are left out.

    Args:
        target: the table and snapshot.
        files: of `files_with_row_ids`.
        columns: the columns to read; `_ROW_ID` follows them.
        row_ids: the ids.
        unrestricted: the caller has applied the rules of the catalog.
    """
    wanted = BitMap64(row_ids)
    if target.snapshot is None or not wanted:
        return iter(())
    ranges = zip(*(part.tolist() for part in row_ranges(files)), strict=True)
    kept = files.filter(np.array([wanted.range_cardinality(*one) > 0 for one in ranges], np.bool_))
    located = replace(target.located(kept, target.snapshot), row_ids=wanted)
    return _read(target, located, columns, TRUE, unrestricted=unrestricted)


def _read(
    target: ScanTarget,
    files: LocatedFiles,
    columns: tuple[str, ...],
    where: Expression,
    *,
    unrestricted: bool,
) -> Iterator[pa.RecordBatch]:
    """Read rows with their ids; records of primary-key tables are not merged."""
    system: tuple[SystemColumn, ...] = (SystemColumn.ROW_ID,)
    drops_retracts = not _has_no_retracts(target, files.entries)
    if drops_retracts:
        system = (*system, SystemColumn.VALUE_KIND)
    reader = SplitReader(
        target=target,
        columns=columns,
        predicate=where,
        system_columns=system,
        unrestricted=unrestricted,
    )
    if not len(files.entries):
        return
    splits = make_splits(files, target.rules) if target.keys is None else (Splits.one(files),)
    for batch in reader.read_each(splits):
        if not drops_retracts:
            yield batch
            continue
        kinds = ints_of(batch.column(len(columns) + 1)).astype(np.int8, copy=False)
        rows = batch.filter(mask_array(~is_retract(kinds)))
        yield rows.select(range(len(columns) + 1))


def _has_no_retracts(target: ScanTarget, files: ManifestEntries) -> bool:
    return target.keys is None or bool(without_retracts(files).all())
