"""Row-level changes of tables with row tracking or data evolution, executed in the driver.

Row ids must be preserved, which only `Table.update`, `Table.delete` and `Table.merge` implement, so
the changes are delegated to them. Conditions and values must be SQL text or constants, because only
Spark can evaluate Spark columns; the source of a merge is collected into the driver.

The clauses of a merge.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as st

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.maintenance.row_level.joined_row import renamed
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.expression import (
    And,
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsTrue,
    Literal,
    Not,
    Or,
    literal,
)
from paimon_explore.scan.predicate.sql_parser import Where, parse_value, parse_where
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.spark.writes.store_assignment import assigned_column, char_lengths, fitted
from paimon_explore.sql_statements.merge_clause import MergeAction, MergeClause
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, store_of

Clause = MergeClause[str | SparkColumn, object]


def has_row_ids(table: Table) -> bool:
    """Return whether the table has row tracking."""
    options = {**latest_schema(store_of(table)).options, **dynamic_options_of(table)}
    return TableOptions(options).value(opt.ROW_TRACKING_ENABLED)


def delete_here(table: Table, where: Where | SparkColumn) -> Snapshot | None:
    """Delete rows with `Table.delete`.

    Raises:
        UnsupportedFeatureError: a condition that only Spark can evaluate.
    """
    if isinstance(where, SparkColumn):
        raise _refused(table)
    return table.delete(where)


def update_here(
    table: Table, values: Mapping[str, object], where: Where | SparkColumn | None
) -> Snapshot | None:
    """Update rows with `Table.update`.

    Raises:
        UnsupportedFeatureError: a value or condition that only Spark can evaluate.
    """
    return table.update(_values(table, values), _condition(table, where))


def merge_here(
    table: Table,
    source: DataFrame,
    on: str | SparkColumn | Sequence[str],
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
    if isinstance(on, SparkColumn):
        raise _refused(table)
    columns = [
        f.col(quoted(one.name)).cast(_nullable(one.dataType)).alias(one.name)
        for one in source.schema.fields
    ]
    made = table.merge(
        source.select(*columns).toArrow().to_reader(),
        on if isinstance(on, str) else list(on),
        target_alias=aliases[0],
        source_alias=aliases[1],
    )
    for clause in clauses:
        values = None if clause.values is None else _values(table, clause.values)
        made = clause.added_to(made, _condition(table, clause.condition), values)
    return made.execute()


def _nullable(kind: st.DataType) -> st.DataType:
    """Return a type without NOT NULL, which PySpark refuses below a null struct."""
    match kind:
        case st.StructType():
            return st.StructType([st.StructField(o.name, _nullable(o.dataType)) for o in kind])
        case st.ArrayType():
            return st.ArrayType(_nullable(kind.elementType))
        case st.MapType():
            return st.MapType(_nullable(kind.keyType), _nullable(kind.valueType))
        case _:
            return kind


def _has_void(kind: st.DataType) -> bool:
    match kind:
        case st.StructType():
            return any(_has_void(one.dataType) for one in kind)
        case st.ArrayType():
            return _has_void(kind.elementType)
        case st.MapType():
            return _has_void(kind.keyType) or _has_void(kind.valueType)
        case _:
            return isinstance(kind, st.NullType)


def stored_source(
    source: DataFrame, table: Table, clauses: Sequence[Clause], alias: str
) -> tuple[DataFrame, tuple[Clause, ...]]:
    """Return the source of a merge with the values that clauses of all columns store, as in SQL.

    Args:
        source: the rows to merge.
        table: the table.
        clauses: in order.
        alias: the alias of the source.
    """
    whole = [one for one in clauses if one.values is None and one.action is not MergeAction.DELETE]
    if not whole:
        return source, tuple(clauses)
    given = {one.name.lower(): one for one in source.schema.fields}
    values: dict[str, object] = {}
    made = {}
    for at, field in enumerate(latest_schema(store_of(table)).fields):
        one = given.get(field.name.lower())
        if one is not None:
            column = assigned_column(f.col(quoted(one.name)), one.dataType, field)
            made[f"_paimon_{at}"] = fitted(column, field.type)
            if _has_void(one.dataType):  # Paimon has no type for it
                made[one.name] = made[f"_paimon_{at}"]
            values[field.name] = f"{quoted(alias)}._paimon_{at}"
    found = (replace(one, values=values) if one in whole else one for one in clauses)
    return source.withColumns(made), tuple(found)


def _without_alias(expression: Expression, table: Table, alias: str) -> Expression:
    names = {name.lower() for name in latest_schema(store_of(table)).row_type.names}

    def path(given: tuple[str, ...]) -> tuple[str, ...]:
        is_alias = len(given) > 1 and given[0].lower() == alias.lower()
        return given[1:] if is_alias and given[1].lower() in names else given

    return renamed(expression, path)


def sql_values(values: Mapping[str, str], table: Table, alias: str) -> Mapping[str, object]:
    """Return the new values of an UPDATE without the alias of the table.

    Args:
        values: SQL text by column; what cannot be parsed stays, for the message of the update.
        table: the table.
        alias: its name in the statement.
    """
    found: dict[str, object] = dict(values)
    for name, text in values.items():
        with suppress(InvalidInputError):
            found[name] = _without_alias(parse_value(text), table, alias)
    return found


def sql_condition(where: str, table: Table, alias: str) -> Expression:
    """Return a condition of a statement without the alias of the table.

    It finds CHAR values with any number of spaces at their end.

    Args:
        where: SQL text.
        table: the table.
        alias: its name in the statement.
    """
    chars = char_lengths(latest_schema(store_of(table)).fields)
    lengths = {name.lower(): length for name, length in chars.items()}

    def widened(part: Expression) -> Expression:
        match part:
            case And(children=children) | Or(children=children):
                return replace(part, children=tuple(map(widened, children)))
            case Not(child=child) | IsTrue(child=child):
                return replace(part, child=widened(child))
            case Compare(op=CompareOp.EQ, left=Column() as column, right=Literal() as value):
                return any_of(column, (value,)) or part
            case Compare(op=CompareOp.EQ, left=Literal() as value, right=Column() as column):
                return any_of(column, (value,)) or part
            case In(operand=Column() as column, values=values):
                return any_of(column, values) or part
            case _:
                return part

    def any_of(column: Column, values: Sequence[Literal]) -> In | None:
        length = lengths.get(column.path[0].lower()) if len(column.path) == 1 else None
        if length is None:
            return None
        texts = [v.value.rstrip(" ") if isinstance(v.value, str) else v.value for v in values]
        found = (t.ljust(n) if isinstance(t, str) else t for t in texts for n in range(length + 1))
        return In(operand=column, values=tuple(map(literal, dict.fromkeys(found))))

    return widened(_without_alias(parse_where(where), table, alias))


def _condition(table: Table, where: Where | SparkColumn | None) -> Where | NotGiven:
    if isinstance(where, SparkColumn):
        raise _refused(table)
    return NOT_GIVEN if where is None else where


def _values(table: Table, values: Mapping[str, object]) -> Mapping[str, object]:
    if any(isinstance(value, SparkColumn) for value in values.values()):
        raise _refused(table)
    return values


def _refused(table: Table) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        "changing rows of a row-tracking table with Spark Column expressions",
        table.name,
        hint='Pass conditions and values as SQL text, such as "qty + 1" or "\'sold\'".',
    )
