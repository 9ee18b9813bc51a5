"""Writes to all kinds of primary-key tables, including cross-partition upserts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from paimon_explore.maintenance.row_level.key_bootstrap import key_index
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.input.table_batches import Rows
from paimon_explore.write.primary_key_writer import needs_key_index, write_upsert
from paimon_explore.write.write_target import WriteTarget


def write_primary_key_rows(
    store: TableStore,
    schema: TableSchema,
    data: Rows,
    *,
    options: Mapping[str, str],
    replaces: bool = False,
    latest: LatestSnapshot | None = None,
) -> list[CommitMessage]:
    """Write rows to a table with a primary key, without committing them; see `write_upsert`."""
    effective = TableOptions({**schema.options, **options})
    if not needs_key_index(schema, effective):
        return write_upsert(store, schema, data, options=options, replaces=replaces, latest=latest)
    target = WriteTarget(store=store, schema=schema, options=effective, replaces=replaces)
    snapshot = None if replaces else store.snapshots.latest()
    index = key_index(target, snapshot)
    return write_upsert(store, schema, data, options=options, replaces=replaces, key_index=index)


def with_seen_snapshot(
    messages: Sequence[CommitMessage], snapshot: Snapshot | None
) -> list[CommitMessage]:
    """Set the snapshot on whose rows the records of messages are based."""
    seen = SeenSnapshot.of(snapshot, reads=True)
    return [replace(message, seen=seen) for message in messages]
