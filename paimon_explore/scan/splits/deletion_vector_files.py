"""The deletion vectors of a snapshot: index file, offset and length by data file."""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    as_python,
    expand_ranges,
    int64_values,
    list_offsets,
    take_rows,
    valid_mask,
)
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import column, items_of, members
from paimon_explore.scan.splits.data_split import DeletionFile, DeletionFiles
from paimon_explore.scan.splits.file_locations import index_file_paths
from paimon_explore.store.table_store import TableStore


def deletion_files(
    store: TableStore, snapshot: Snapshot, schema: TableSchema, options: TableOptions
) -> DeletionFiles:
    """The deletion vector of each data file that has one.

    Raises:
        FormatError: the index manifest breaks the format.
        MissingFileError: the index manifest does not exist.
    """
    if snapshot.index_manifest is None:
        return {}
    entries = store.manifests.index(snapshot.index_manifest).of_type(DELETION_VECTORS_INDEX)
    return _by_data_file(entries, index_file_paths(entries, schema, options, store.paths))


def _by_data_file(entries: IndexEntries, paths: pa.StringArray) -> DeletionFiles:
    ranges = column(entries.table, "dv_ranges")
    offsets, valid = list_offsets(ranges), valid_mask(ranges)
    sizes = np.where(valid, np.diff(offsets), 0)
    positions = expand_ranges(offsets[:-1], sizes)
    rows = np.repeat(np.arange(len(ranges)), sizes)
    owners, partitions, buckets = (
        as_python(take_rows(values, rows))
        for values in (paths, column(entries.table, "partition"), column(entries.table, "bucket"))
    )
    names, starts, lengths, counts = (
        take_rows(member, positions)
        for member in members(items_of(ranges), ("data_file", "offset", "length", "cardinality"))
    )
    known = valid_mask(counts).tolist()
    described = zip(
        zip(partitions, buckets, strict=True),
        owners,
        as_python(names),
        int64_values(starts).tolist(),
        int64_values(lengths).tolist(),
        int64_values(counts).tolist(),
        known,
        strict=True,
    )
    found: dict[tuple[bytes, int], dict[str, DeletionFile]] = {}
    for bucket, path, name, start, length, count, stated in described:
        found.setdefault(bucket, {})[str(name)] = DeletionFile(
            path=str(path), offset=start, length=length, cardinality=count if stated else None
        )
    return found
