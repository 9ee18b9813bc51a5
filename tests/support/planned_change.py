"""Updates and deletes of rows that are planned now and committed later."""

from collections.abc import Callable

from paimon_explore import Table
from paimon_explore.commit.committer import Committer
from paimon_explore.maintenance.row_level.update_delete import RowLevelResult
from paimon_explore.metadata.options.table_options import TableOptions


def planned(
    table: Table, work: Callable[..., RowLevelResult], *args: object
) -> Callable[[], object]:
    """An operation on the table as it is now; the result commits it."""
    options = TableOptions(table.schema.options)
    result = work(table._store, table.schema, options, *args)
    return lambda: Committer(table._store, table.schema).commit(
        result.messages,
        check_appends=result.checks_columns,
        planned_on=result.planned_on if result.checks_columns else None,
    )
