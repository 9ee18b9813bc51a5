"""Tables as the targets of jobs that write files before one commit."""

from uuid import uuid4

from paimon_explore.commit.committer import new_commit_user
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import check_writable, dynamic_options_of, store_of
from paimon_explore.write.write_target import WriteTarget


def write_target(table: Table, *, replaces: bool) -> WriteTarget:
    """Return a table as the target of one job, with a new job id and commit user.

    Raises:
        InvalidInputError: it is opened with time travel.
    """
    check_writable(table)
    schema = latest_schema(store_of(table))
    options = TableOptions({**schema.options, **dynamic_options_of(table)})
    return WriteTarget(
        store=store_of(table),
        schema=schema,
        options=options,
        commit_user=new_commit_user(options),
        replaces=replaces,
        job=uuid4().hex[:16],
    )
