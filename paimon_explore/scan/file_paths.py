"""Where data and index files of manifest entries lie.

A folder is made once per distinct partition and bucket, then joined with the file names.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.metadata.index_manifest import IndexEntries
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import (
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import partition_paths
from paimon_explore.metadata.paths import TablePaths
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.scan.entries import PartitionCut, partition_row_type


def data_file_paths(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> pa.StringArray:
    """Absolute paths of n data or changelog files."""
    folders = _bucket_folders(entries.table, schema, options, paths)
    names = _text(entries.table, "file_name")
    inside = pc.binary_join_element_wise(folders, names, "/")
    return pc.coalesce(_text(entries.table, "external_path"), inside)


def index_file_paths(
    entries: IndexEntries, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> pa.StringArray:
    """Absolute paths of n index files."""
    names = _text(entries.table, "file_name")
    if paths.index_in_data_directory:
        folders = _bucket_folders(entries.table, schema, options, paths)
    else:
        folders = pa.repeat(paths.index_dir, len(entries))
    inside = pc.binary_join_element_wise(folders, names, "/")
    return pc.coalesce(_text(entries.table, "external_path"), inside)


def _bucket_folders(
    table: pa.Table, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> pa.StringArray:
    """The bucket's folder of each row, made once per distinct partition and bucket."""
    partitions = table.column("partition").combine_chunks().dictionary_encode()
    below = _partition_folders(partitions.dictionary, schema, options)
    group = np.asarray(partitions.indices).astype(np.int64) * 2**32
    group += np.asarray(table.column("bucket").combine_chunks())
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    buckets = table.column("bucket").take(pa.array(first)).to_pylist()
    owners = np.asarray(partitions.indices)[first].tolist()
    folders = [
        paths.bucket_dir(below[owner], bucket)
        for owner, bucket in zip(owners, buckets, strict=True)
    ]
    return pa.array(folders, pa.string()).take(pa.array(inverse))


def _partition_folders(
    partitions: pa.BinaryArray, schema: TableSchema, options: TableOptions
) -> list[str]:
    row_type = partition_row_type(schema)
    if not len(row_type):
        return [""] * len(partitions)
    rows = PartitionCut(row_type=row_type, predicate=None).decode(partitions)
    return partition_paths(
        row_type.names,
        rows.columns,
        [field.type for field in row_type],
        legacy_names=options.value(PARTITION_LEGACY_NAME),
        default_name=options.value(PARTITION_DEFAULT_NAME),
    )


def _text(table: pa.Table, name: str) -> pa.StringArray:
    return table.column(name).combine_chunks()
