"""Where the deletion vectors of a snapshot lie."""

import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.buffers import Column, taken_rows
from paimon_explore.metadata.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.options import TableOptions
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.file_paths import index_file_paths
from paimon_explore.scan.frames import column, numbers_of
from paimon_explore.scan.split import DeletionFile
from paimon_explore.store.table_store import TableStore


def deletion_files(
    store: TableStore, snapshot: Snapshot, schema: TableSchema, options: TableOptions
) -> dict[str, DeletionFile]:
    """The deletion vector of each data file that has one, by file name.

    Raises:
        FormatError: the index manifest breaks the format.
        MissingFileError: it is gone.
    """
    if snapshot.index_manifest is None:
        return {}
    entries = store.manifests.index(snapshot.index_manifest).of_type(DELETION_VECTORS_INDEX)
    return _by_data_file(entries, index_file_paths(entries, schema, options, store.paths))


def _by_data_file(entries: IndexEntries, paths: pa.StringArray) -> dict[str, DeletionFile]:
    ranges = column(entries.table, "dv_ranges")
    values: pa.StructArray = pc.list_flatten(ranges)  # type: ignore[assignment]  # in stubs
    parents: Column = pc.list_parent_indices(ranges)
    owners = taken_rows(paths, numbers_of(parents))
    columns = [
        owners.to_pylist(),
        *(values.field(n).to_pylist() for n in ("data_file", "offset", "length", "cardinality")),
    ]
    return {
        str(name): DeletionFile(path=path, offset=offset, length=length, cardinality=cardinality)
        for path, name, offset, length, cardinality in zip(*columns, strict=True)
    }
