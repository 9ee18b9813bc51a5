"""Row-level changes of tables with row tracking or data evolution, executed in the driver.

Row ids must be preserved, which only `Table.update`, `Table.delete` and `Table.merge` implement, so
the changes are delegated to them. Conditions and values must be SQL text or constants, because only
Spark can evaluate Spark columns; the source of a merge is collected into the driver.

The clauses of a merge.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.sql_statements.merge_clause import MergeClause
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, store_of

Clause = MergeClause[str | Column, object]


def has_row_ids(table: Table) -> bool:
    """Return whether the table has row tracking."""
    options = {**latest_schema(store_of(table)).options, **dynamic_options_of(table)}
    return TableOptions(options).value(opt.ROW_TRACKING_ENABLED)


def delete_here(table: Table, where: Where | Column) -> Snapshot | None:
    """Delete rows with `Table.delete`.

    Raises:
        UnsupportedFeatureError: a condition that only Spark can evaluate.
    """
    if isinstance(where, Column):
        raise _refused(table)
    return table.delete(where)


def update_here(
    table: Table, values: Mapping[str, object], where: Where | Column | None
) -> Snapshot | None:
    """Update rows with `Table.update`.

    Raises:
        UnsupportedFeatureError: a value or condition that only Spark can evaluate.
    """
    return table.update(_values(table, values), _condition(table, where))


def merge_here(
    table: Table,
    source: DataFrame,
    on: str | Column | Sequence[str],
    clauses: Sequence[Clause],
    aliases: tuple[str, str],
) -> Snapshot | None:
    """Merge rows with `Table.merge`, without another attempt after a conflict.

    Args:
        table: the table.
        source: the rows to merge.
        on: the join condition, or names of columns in both.
        clauses: in order.
        aliases: the aliases of the table and the source in conditions.

    Raises:
        UnsupportedFeatureError: a value or condition that only Spark can evaluate.
    """
    if isinstance(on, Column):
        raise _refused(table)
    made = table.merge(
        source.toArrow().to_reader(),
        on if isinstance(on, str) else list(on),
        target_alias=aliases[0],
        source_alias=aliases[1],
    )
    for clause in clauses:
        values = None if clause.values is None else _values(table, clause.values)
        made = clause.added_to(made, _condition(table, clause.condition), values)
    return made.execute()


def _condition(table: Table, where: Where | Column | None) -> Where | NotGiven:
    if isinstance(where, Column):
        raise _refused(table)
    return NOT_GIVEN if where is None else where


def _values(table: Table, values: Mapping[str, object]) -> Mapping[str, object]:
    if any(isinstance(value, Column) for value in values.values()):
        raise _refused(table)
    return values


def _refused(table: Table) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        "changing rows of a row-tracking table with Spark Column expressions",
        table.name,
        hint='Pass conditions and values as SQL text, such as "qty + 1" or "\'sold\'".',
    )
