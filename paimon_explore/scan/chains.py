"""Chains of partitions: what a partition of a chain table is merged with.

The last partition columns order the partitions of a chain, those before tell chains apart. Without
`chain-table.chain-partition-keys` all columns order the partitions: they are one chain.

Spec: primary-key-table/chain-table, group partition.
"""

from collections.abc import Iterable
from itertools import groupby

from paimon_explore.errors import NotFoundError, choices
from paimon_explore.merge.keys.key_groups import group_rows, ranks
from paimon_explore.metadata.options.table_options import (
    CHAIN_TABLE_CHAIN_PARTITION_KEYS,
    SCAN_FALLBACK_DELTA_BRANCH,
    SCAN_FALLBACK_SNAPSHOT_BRANCH,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import byte_array
from paimon_explore.store.table_store import TableStore


def chain_branches(options: TableOptions) -> tuple[str, str]:
    """Return the snapshot branch of a chain table, with whole partitions, and the delta branch."""
    return (
        options.value(SCAN_FALLBACK_SNAPSHOT_BRANCH) or "snapshot",
        options.value(SCAN_FALLBACK_DELTA_BRANCH) or "delta",
    )


def existing_branch(store: TableStore, branch: str) -> TableStore:
    """Return the store of a branch that the options of a table name.

    Raises:
        NotFoundError: it does not exist.
    """
    found = store.for_branch(branch)
    if not found.schemas.ids():
        known = choices(store.branches.names())
        hint = f"Check the branch in the table options. Branches: {known}."
        raise NotFoundError("branch", branch, found.paths.root, hint=hint)
    return found


def chains_of(
    partitions: Iterable[bytes], schema: TableSchema, options: TableOptions
) -> list[list[bytes]]:
    """Return partition rows by chain, each ascending by their values."""
    rows = sorted(partitions)
    every = PartitionFilter(row_type=schema.partition_type, predicate=None)
    columns = every.decode(byte_array(rows)).columns
    keys = options.value(CHAIN_TABLE_CHAIN_PARTITION_KEYS) or schema.partition_keys
    chain = ranks(columns[: -len(keys)], count=len(rows))
    order = group_rows(columns, count=len(rows)).order
    return [[rows[i] for i in found] for _, found in groupby(order.tolist(), chain.__getitem__)]
