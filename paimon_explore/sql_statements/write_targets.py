"""Tables as the targets of jobs that write files before one commit."""

from uuid import uuid4

from paimon_explore.commit.committer import new_commit_user
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, point_of, store_of
from paimon_explore.write.write_target import WriteTarget


def check_writable(table: Table) -> None:
    """Check that a table can be changed.

    Raises:
        InvalidInputError: it is opened with time travel.
    """
    if point_of(table).given:
        raise InvalidInputError(
            f"Table {table.name} is opened with time travel and therefore read-only.",
            hint="Open the table without time travel to change it.",
        )


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
