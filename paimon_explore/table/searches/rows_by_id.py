"""Reads of rows of one snapshot by row id."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyroaring import BitMap64

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.scan.splits.split_generator import make_splits


def files_with_row_ids(target: ScanTarget) -> ManifestEntries:
    """Return the live files of the snapshot whose rows have ids."""
    if target.snapshot is None:
        return ManifestEntries.empty()
    every = PartitionFilter(row_type=target.schema.partition_type, predicate=None)
    entries = live_files(target.store, target.snapshot, every)
    return entries.filter(row_ranges(entries)[0] >= 0)


def rows_by_id(
    target: ScanTarget,
    files: ManifestEntries,
    columns: tuple[str, ...],
    row_ids: Sequence[int],
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
    if target.snapshot is None or not row_ids:
        return
    first, after = row_ranges(files)
    edges: Ints = np.array(sorted(row_ids), np.int64)
    kept = files.filter(np.searchsorted(edges, first) < np.searchsorted(edges, after))
    located = replace(target.located(kept, target.snapshot), row_ids=BitMap64(row_ids))
    reader = SplitReader(
        store=target.store,
        schema=target.schema,
        options=target.options,
        columns=columns,
        system_columns=(SystemColumn.ROW_ID,),
        unrestricted=unrestricted,
    )
    for split in make_splits(located, target.rules):
        yield from reader.read(split)
