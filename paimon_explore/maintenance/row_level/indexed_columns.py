"""Updates of columns that have a global index, which does not change with the rows.

`global-index.column-update-action` says what happens: the update fails, the indexes of the changed
partitions are dropped with it, or they stay and are outdated; scans here then do not use them.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.options.option_enums import GlobalIndexColumnUpdateAction
from paimon_explore.metadata.options.table_options import GLOBAL_INDEX_COLUMN_UPDATE_ACTION
from paimon_explore.scan.plan import ScanTarget


def outdated_indexes(scan: ScanTarget, columns: Sequence[str]) -> IndexEntries:
    """Return the global indexes that an update of some columns drops.

    Args:
        scan: of the table that is updated.
        columns: the updated columns.

    Raises:
        UnsupportedFeatureError: a column has a global index, and the option refuses its update.
    """
    if scan.snapshot is None or scan.schema.primary_keys:
        return IndexEntries.empty()
    names = {field.id: field.name for field in scan.schema.fields if field.name in columns}
    entries = scan.store.manifests.index_of(scan.snapshot)
    indexed = [_indexed_fields(row["global_index"]) & set(names) for row in entries.rows()]
    found = entries.filter(np.array([bool(fields) for fields in indexed], np.bool_))
    action = scan.options.value(GLOBAL_INDEX_COLUMN_UPDATE_ACTION)
    if not len(found) or action is GlobalIndexColumnUpdateAction.DROP_PARTITION_INDEX:
        return found
    if action is GlobalIndexColumnUpdateAction.IGNORE:
        return IndexEntries.empty()
    name = names[min(field for fields in indexed for field in fields)]
    raise UnsupportedFeatureError(
        f"updating column {name!r}, which has a global index,",
        hint=f"Drop the index first, or set {GLOBAL_INDEX_COLUMN_UPDATE_ACTION.key!r} = "
        "'drop-partition-index'.",
    )


def dropped_with(messages: Iterable[CommitMessage], outdated: IndexEntries) -> list[CommitMessage]:
    """Return messages that drop the outdated indexes of the partitions with new files.

    Args:
        messages: the update.
        outdated: the indexes that it makes outdated, of all partitions.
    """
    changed = {message.partition for message in messages if len(message.new_files)}
    groups: dict[tuple[bytes, int], list[dict[str, object]]] = {}
    for row in outdated.rows():
        partition, bucket = row["partition"], row["bucket"]
        if isinstance(partition, bytes) and isinstance(bucket, int) and partition in changed:
            groups.setdefault((partition, bucket), []).append(row)
    return [
        CommitMessage(
            partition=partition, bucket=bucket, deleted_index_files=IndexEntries.from_rows(rows)
        )
        for (partition, bucket), rows in groups.items()
    ]


def _indexed_fields(index: object) -> set[int]:
    """Return the ids of the columns of a global index; none for other index files."""
    if not isinstance(index, dict):
        return set()
    return {index["index_field_id"], *(index["extra_field_ids"] or ())}
