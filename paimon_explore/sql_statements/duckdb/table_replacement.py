"""CREATE OR REPLACE TABLE AS: the schema and all rows of a table in one commit."""

import pyarrow as pa

from paimon_explore.errors import CommitOutcomeUnknownError, PaimonError
from paimon_explore.maintenance.row_level.primary_key_rows import write_primary_key_rows
from paimon_explore.maintenance.schema_replacement import commit_replacement
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.write_target import WriteTarget, abort


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
