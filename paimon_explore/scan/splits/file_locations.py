"""Absolute paths of the data and index files of manifest entries.

Directories are computed once per distinct partition and bucket, then joined with the file names.
"""

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Column,
    as_python,
    string_array,
    string_scalar,
    take_rows,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.table_options import (
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import partition_paths
from paimon_explore.metadata.path_safety import check_names
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import Rows, column, distinct, numbers, text

_NOTHING = string_scalar("")


@dataclass(frozen=True, slots=True)
class DataFilePaths:
    """Computes the absolute paths of a table's data files."""

    schema: TableSchema
    options: TableOptions
    paths: TablePaths

    def __call__(self, entries: ManifestEntries) -> pa.StringArray:
        """Returns the absolute paths of files."""
        return data_file_paths(entries, self.schema, self.options, self.paths)


def data_file_paths(
    entries: ManifestEntries, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> pa.StringArray:
    """Absolute paths of n data or changelog files."""
    return _placed(entries.table, paths, *_bucket_folders(entries.table, schema, options, paths))


def index_file_paths(
    entries: IndexEntries, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> pa.StringArray:
    """Absolute paths of n index files; indexes over row ids are never beside data files."""
    table = entries.table
    central = _placed(table, paths, [paths.index_dir], None, is_index=True)
    if not paths.index_in_data_directory:
        return central
    beside = _placed(table, paths, *_bucket_folders(table, schema, options, paths), is_index=True)
    if schema.primary_keys:
        return beside
    over_row_ids = pc.call_function("is_valid", [column(table, "global_index")])
    return pc.call_function("if_else", [over_row_ids, central, beside])  # type: ignore[no-any-return]  # in stubs


def _bucket_folders(
    table: pa.Table, schema: TableSchema, options: TableOptions, paths: TablePaths
) -> tuple[list[str], Rows | None]:
    """The directory of each distinct partition and bucket, and its index per row.

    The indices are None if there is only one directory.
    """
    buckets = numbers(table, "bucket")
    below, partitions = [""], np.zeros(len(buckets), np.int64)
    if schema.partition_keys:
        different, partitions = distinct(column(table, "partition"))
        below = _partition_folders(different, schema, options)
    if len(below) == 1 and len(buckets) and bool((buckets == buckets[0]).all()):
        return [paths.bucket_dir(below[0], int(buckets[0]))], None
    _, first, inverse = np.unique(
        partitions * 2**32 + buckets, return_index=True, return_inverse=True
    )
    pairs = zip(partitions[first].tolist(), buckets[first].tolist(), strict=True)
    return [paths.bucket_dir(below[partition], bucket) for partition, bucket in pairs], inverse


def _partition_folders(partitions: Column, schema: TableSchema, options: TableOptions) -> list[str]:
    row_type = schema.partition_type
    rows = PartitionFilter(row_type=row_type).decode(partitions)
    return partition_paths(
        row_type.names,
        rows.columns,
        [field.type for field in row_type],
        legacy_names=options.value(PARTITION_LEGACY_NAME),
        default_name=options.value(PARTITION_DEFAULT_NAME),
    )


def _placed(
    table: pa.Table,
    paths: TablePaths,
    folders: list[str],
    which: Rows | None,
    *,
    is_index: bool = False,
) -> pa.StringArray:
    """The external path where one is recorded, else directory and file name."""
    names = text(table, "file_name")
    check_names(names, "manifest", "_FILE_NAME")
    begins = string_array([f"{folder}/" for folder in folders])
    before = begins[0] if which is None else take_rows(begins, which)
    inside = pc.call_function("binary_join_element_wise", [before, names, _NOTHING])
    outside = text(table, "external_path")
    if outside.null_count < len(outside):
        for path in as_python(outside):
            paths.checked_external(None if path is None else str(path), is_index=is_index)
        inside = pc.call_function("coalesce", [outside, inside])
    return inside  # type: ignore[no-any-return]  # in stubs
