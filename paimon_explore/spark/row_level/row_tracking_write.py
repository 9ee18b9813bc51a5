"""Row-level changes of tables with row tracking or data evolution, executed in the driver.

Row ids must be preserved, which only `Table.update`, `Table.delete` and `Table.merge` implement, so
the changes are delegated to them. Conditions and values must be SQL text or constants, because only
Spark can evaluate Spark columns; the source of a merge is collected into the driver.

The clauses of a merge.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN
from paimon_explore.spark.row_level.row_change_job import DELETE, INSERT
from paimon_explore.sql_statements.merge_clause import MergeRows
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.merge_builder import Merge as LocalMerge
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, store_of

Condition = str | Column | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One WHEN clause of a merge.

    Attributes:
        rows: the rows to which it applies.
        condition: restricts these rows; None for all.
        act: `INSERT`, `UPDATE` or `DELETE`.
        values: the value of each changed column; None for all columns as the source has them.
    """

    rows: MergeRows
    condition: Condition
    act: str
    values: Mapping[str, object] | None = None


def has_row_ids(table: Table) -> bool:
    """Return whether the table has row tracking."""
    options = {**latest_schema(store_of(table)).options, **dynamic_options_of(table)}
    return TableOptions(options).value(opt.ROW_TRACKING_ENABLED)


def delete_here(table: Table, where: Where | Column) -> Snapshot | None:
    """Delete rows with `Table.delete`.

    Raises:
        UnsupportedFeatureError: a condition that only Spark can evaluate.
    """
    return table.delete(_condition(table, where))


def update_here(
    table: Table, values: Mapping[str, object], where: Where | Column | None
) -> Snapshot | None:
    """Update rows with `Table.update`.

    Raises:
        UnsupportedFeatureError: a value or condition that only Spark can evaluate.
    """
    condition = NOT_GIVEN if where is None else _condition(table, where)
    return table.update(_values(table, values), condition)


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
        made = _with_clause(made, table, clause)
    return made.execute()


def _with_clause(made: LocalMerge, table: Table, clause: Clause) -> LocalMerge:
    condition = NOT_GIVEN if clause.condition is None else _condition(table, clause.condition)
    values = None if clause.values is None else _values(table, clause.values)
    if clause.act == INSERT:
        return made.when_not_matched_insert(values, condition)
    if clause.rows is MergeRows.NOT_MATCHED_BY_SOURCE:
        if clause.act == DELETE:
            return made.when_not_matched_by_source_delete(condition)
        return made.when_not_matched_by_source_update(values or {}, condition)
    if clause.act == DELETE:
        return made.when_matched_delete(condition)
    if values is None:
        return made.when_matched_update_all(condition)
    return made.when_matched_update(values, condition)


def _condition(table: Table, where: Where | Column) -> Where:
    if isinstance(where, Column):
        raise _refused(table)
    return where


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
