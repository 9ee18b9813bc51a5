"""Global indexes in scans: the row ids that a predicate allows, by btree and bitmap index files.

Indexes are used for tables with data evolution, whose files have row ids that do not change. The
index manifest of the scanned snapshot names the files and the range of row ids that each covers.
Rows that no index covers are always read, whatever `scalar-index.search-mode` says. So are all rows
if an index cannot be trusted or would not pay off:

- its type, version or compression is not supported, or it has several columns;
- the type of the column has changed, so that keys are stored as the old type;
- `global-index.column-update-action` is `ignore`: updates leave indexes outdated;
- a range of keys is so large that it is faster to read the data.

Spec: concepts/spec/tableindex, global index. Seen in: `tests/support/global_indexes.py`.
"""

from collections.abc import Mapping

from pyroaring import BitMap64

from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    GLOBAL_INDEX_COLUMN_UPDATE_ACTION,
    GLOBAL_INDEX_ENABLED,
)
from paimon_explore.scan.index_lookups import IndexedRowIds, IndexSource, RowRange, looked_up
from paimon_explore.scan.manifest_arrays import Rows
from paimon_explore.scan.predicate.expression import Expression, names_of


def indexed_row_ids(
    source: IndexSource, predicate: Expression, first: Rows, after: Rows
) -> IndexedRowIds | None:
    """Evaluates a predicate with the global indexes.

    Args:
        source: where the indexes are.
        predicate: bound to the reading schema.
        first: first row id of each file that is read.
        after: last row id plus 1 of each.

    Returns:
        The rows that may match; None if no index applies.

    Raises:
        CorruptFileError: an index file is damaged.
        MissingFileError: an index file does not exist.
    """
    if not _is_used(source):
        return None
    names = names_of(predicate)
    files = source.files(source.entries(names, with_sources=False), names, _row_range)
    if not files:
        return None
    read = BitMap64()
    for start, end in zip(first.tolist(), after.tolist(), strict=True):
        read.add_range(start, end)
    return looked_up(predicate, files, read)


def _is_used(source: IndexSource) -> bool:
    """Whether the scan may use global indexes."""
    action = source.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    return (
        source.snapshot.index_manifest is not None
        and not source.store.paths.index_in_data_directory
        and source.options.value(DATA_EVOLUTION_ENABLED)
        and source.options.value(GLOBAL_INDEX_ENABLED)
        and action is not GlobalIndexColumnUpdateAction.IGNORE
    )


def _row_range(row: Mapping[str, object], path: str) -> tuple[int, tuple[RowRange, ...]]:
    """The row ids that an index file covers."""
    index = row["global_index"]
    if not isinstance(index, dict):
        raise CorruptFileError(path, "_GLOBAL_INDEX", "must be there")
    start, end = index["row_range_start"], index["row_range_end"] + 1
    if not 0 <= start < end:
        rule = f"must be a range of row ids, not {start} to {end - 1}"
        raise CorruptFileError(path, "_GLOBAL_INDEX of the index manifest", rule)
    return end - start, (RowRange(0, start, end - start),)
