"""CREATE OR REPLACE TABLE: a table gets another schema and other rows, and keeps its history.

One commit removes all live files and adds those of the new rows; its snapshot has the new schema.
Earlier snapshots keep their schemas, so that time travel reads them as before. The fields of the
new schema have new ids, so that no value of an old file appears in a new column.

Java removes the rows and changes the schema in two steps. So does this module where a lock of the
catalog (JDBC, Hive) must be held for each.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import WHOLE_TABLE
from paimon_explore.data_types.field_ids import assigned_ids, highest_field_id
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.maintenance.row_level.primary_key_rows import write_primary_key_rows
from paimon_explore.maintenance.schema_commit import create_schema
from paimon_explore.maintenance.schema_publication import SchemaPublication
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.store.version_management import VersionManagement
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.write_target import WriteTarget, abort


def replacing_schema(before: TableSchema, wanted: TableSchema, name: str) -> TableSchema:
    """Return the next schema of a table, with the columns, keys and options of another one.

    Raises:
        InvalidInputError: the partition columns differ, whose values older files have.
    """
    if before.partition_keys != wanted.partition_keys:
        raise InvalidInputError(
            f"Table {name} is partitioned by {_listed(before)}, and its replacement by "
            f"{_listed(wanted)}.",
            hint="Keep the partition columns, or drop the table and create it again.",
        )
    for field, other in zip(before.partition_type, wanted.partition_type, strict=True):
        if field.type != replace(other.type, nullable=field.type.nullable):
            raise InvalidInputError(
                f"The replacement of table {name} changes the type of partition column "
                f"{field.name!r}.",
                hint="Keep the type, or drop the table and create it again.",
            )
    fields = assigned_ids(wanted.fields, before.highest_field_id)
    return replace(
        wanted, id=before.id + 1, fields=fields, highest_field_id=highest_field_id(fields)
    )


def _listed(schema: TableSchema) -> str:
    return "no column" if not schema.partition_keys else ", ".join(schema.partition_keys)


def commit_replacement(target: WriteTarget, messages: Sequence[CommitMessage]) -> Snapshot | None:
    """Replace all rows and the schema of a table in one commit.

    Args:
        target: the table, with the new schema.
        messages: the files of the new rows.

    Returns:
        The snapshot; None if the table had no rows and gets none.

    Raises:
        CommitConflictError: another process changed the schema meanwhile.
        CommitError, StorageError: the commit failed; the table is unchanged.
    """
    publication = SchemaPublication(target.store, [target.schema])
    committer = Committer(
        target.store,
        target.schema,
        options=target.options,
        commit_user=target.commit_user,
        before_publish=publication.publish,
    )
    with publication.withdrawn_on_failure():
        made = committer.overwrite(messages, WHOLE_TABLE, schema=target.schema)
        if not made:
            publication.publish()
    return made[-1] if made else None


def replaces_at_once(target: WriteTarget, name: str) -> bool:
    """Return whether rows and schema are replaced in one commit; else `replace_in_steps` is used.

    Raises:
        UnsupportedFeatureError: a catalog server owns the schema.
    """
    environment = target.store.environment
    if isinstance(environment, VersionManagement):
        raise UnsupportedFeatureError(
            "replacing a table of a REST catalog",
            name,
            hint="Drop the table and create it again, or use INSERT OVERWRITE and ALTER TABLE.",
        )
    return environment is None


def replace_in_steps(target: WriteTarget, truncate: Callable[[], object]) -> None:
    """Remove the rows of a table, then change its schema.

    Args:
        target: the table, with the new schema.
        truncate: removes the rows.

    Raises:
        CommitConflictError: another process changed the schema meanwhile; the table is empty.
    """
    truncate()
    if not create_schema(target.store, target.schema):
        raise CommitConflictError(
            f"Another process changed the schema of the table: schema {target.schema.id} exists.",
            hint="The rows are removed. Run the statement again.",
        )


def replace_table(rows: pa.RecordBatchReader, target: WriteTarget) -> Snapshot | None:
    """Write rows that replace a table; without a commit, the written files are removed."""
    table = (target.store, target.schema, rows)
    if target.schema.primary_keys:
        messages = write_primary_key_rows(*table, options=target.options, replaces=True)
    else:
        messages = write_append(*table, options=target.options, replaces=True)
    try:
        return commit_replacement(target, messages)
    except CommitOutcomeUnknownError:
        raise
    except PaimonError:
        abort(target, messages)
        raise
