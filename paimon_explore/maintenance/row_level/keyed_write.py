"""Rows written to any table with a primary key, those across partitions included."""

from collections.abc import Mapping

from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.input_rows import Rows
from paimon_explore.write.primary_key import write_upsert
from paimon_explore.write.row_kinds import INSERT


def write_keyed(  # the choices of one write
    store: TableStore,
    schema: TableSchema,
    data: Rows,
    *,
    options: Mapping[str, str],
    default_kind: int = INSERT,
    replaces: bool = False,
) -> list[CommitMessage]:
    """Write rows to a table with a primary key, without committing them; see `write_upsert`."""
    return write_upsert(
        store, schema, data, options=options, default_kind=default_kind, replaces=replaces
    )
