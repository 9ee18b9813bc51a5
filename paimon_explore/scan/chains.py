"""Branches that are read together, and their schemas; chains of partitions of chain tables.

Each branch assigns field ids of its own after it was created, so one id may be that of different
columns in two branches. As in Java, columns of other branches are found by their names.

The last partition columns order the partitions of a chain, those before tell chains apart. Without
`chain-table.chain-partition-keys` all columns order the partitions: they are one chain.

Spec: primary-key-table/chain-table, group partition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby, takewhile

from paimon_explore.data_types.field_ids import same_columns, with_ids
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


def schema_in_branch(schema: TableSchema, first: TableStore, branch: TableStore) -> TableSchema:
    """Return the reading schema of a branch for use in another branch: with the field ids there.

    Args:
        schema: the reading schema.
        first: its branch.
        branch: the other branch.

    Returns:
        A schema with the id -1, since no file has been written with it.
    """
    ids = _ids_in_branch(schema, first, branch)
    return replace(schema, id=-1, fields=with_ids(schema.fields, ids))


def file_schema(schema: TableSchema, first: TableStore, branch: str, schema_id: int) -> TableSchema:
    """Return the schema of a file, with the field ids of the reading schema.

    Args:
        schema: the reading schema.
        first: its branch.
        branch: the branch that the file was planned in.
        schema_id: the id in that branch.

    Raises:
        NotFoundError: the schema of the file does not exist.
    """
    if branch == first.paths.branch:
        return first.schemas.load(schema_id)
    store = first.for_branch(branch)
    found = store.schemas.load(schema_id)
    ids = {own: number for number, own in _ids_in_branch(schema, first, store).items()}
    return replace(found, fields=with_ids(found.fields, ids))


def _ids_in_branch(schema: TableSchema, first: TableStore, branch: TableStore) -> Mapping[int, int]:
    """The ids of the columns of a schema in another branch; columns that it lacks are left out."""
    latest = branch.schemas.latest()
    others = () if latest is None else latest.fields
    common = -1
    if not {field.name for field in schema.fields} <= {field.name for field in others}:
        pairs = zip(first.schemas.list(), branch.schemas.list(), strict=False)
        shared = takewhile(lambda pair: pair[0].fields == pair[1].fields, pairs)
        common = max((one.highest_field_id for one, _ in shared), default=-1)
    return same_columns(schema.fields, others, common)


def chains_of(
    partitions: Iterable[bytes], schema: TableSchema, options: TableOptions
) -> list[list[bytes]]:
    """Return partition rows by chain, each ascending by their values."""
    rows = sorted(partitions)
    every = PartitionFilter(row_type=schema.partition_type)
    columns = every.decode(byte_array(rows)).columns
    keys = options.value(CHAIN_TABLE_CHAIN_PARTITION_KEYS) or schema.partition_keys
    chain = ranks(columns[: -len(keys)], count=len(rows))
    order = group_rows(columns, count=len(rows)).order
    return [[rows[i] for i in found] for _, found in groupby(order.tolist(), chain.__getitem__)]
