"""The columns of a query's result by which its rows can be told apart."""

from collections.abc import Sequence

from sqlglot import exp

from paimon_explore.sql_statements.duckdb.dialect import SPARK
from paimon_explore.sql_statements.duckdb.engine import DuckDBEngine
from paimon_explore.table.table import Table


def same_text(node: exp.Expr, tree: exp.Expr | None) -> str:
    """Return an expression of a query as text that does not depend on how it is written.

    Names have lower case, and those of columns no qualifier that is the query's only table.
    """
    tables = [] if tree is None else list(tree.find_all(exp.Table))
    alias = tables[0].alias_or_name.lower() if len(tables) == 1 else ""
    plain = node.copy()
    for one in plain.find_all(exp.Identifier):
        one.replace(exp.to_identifier(one.name.lower(), quoted=True))
    for column in plain.find_all(exp.Column):
        first, *rest = column.parts
        if rest and first.name == alias:
            first.pop()
    return plain.sql(dialect=SPARK, normalize_functions="lower")


def group_expressions(tree: exp.Select, engine: DuckDBEngine) -> list[exp.Expr] | None:
    """Return the expressions of GROUP BY, its numbers and aliases resolved; None if it has more.

    An aggregation without GROUP BY has an empty list. A name is an alias only if no table has such
    a column.
    """
    group = tree.args.get("group")
    if group is None:
        return []
    if any(value for name, value in group.args.items() if name != "expressions"):
        return None
    items = tree.expressions
    tables = [one.table for one in engine.read.values() if isinstance(one.table, Table)]
    columns = {name.lower() for one in tables for name in one.schema.row_type.names}
    aliases = {item.alias.lower(): item.unalias() for item in items if item.alias}
    aliases = {name: item for name, item in aliases.items() if name not in columns}
    found: list[exp.Expr] = []
    for one in group.expressions:
        if isinstance(one, exp.Literal) and not one.is_string:
            found.append(items[int(one.name) - 1].unalias())
        elif isinstance(one, exp.Column) and not one.table and one.name.lower() in aliases:
            found.append(aliases[one.name.lower()])
        else:
            found.append(one)
    return found


def is_aggregation(tree: exp.Select) -> bool:
    """Return whether a SELECT has GROUP BY or aggregates."""
    return tree.args.get("group") is not None or any(
        item.find(exp.AggFunc) is not None and item.find(exp.Window) is None
        for item in tree.expressions
    )


def key_columns(engine: DuckDBEngine, columns: Sequence[str]) -> list[str] | None:
    """Return the grouping columns of a query, or the primary key of its only table.

    Args:
        engine: that ran the query.
        columns: of the result.

    Returns:
        Names of columns; empty if the result has one row; None if nothing identifies rows.
    """
    tree = engine.tree
    if not isinstance(tree, exp.Select) or tree.args.get("distinct"):
        return None
    names = {same_text(item.unalias(), tree): item.alias_or_name for item in tree.expressions}
    if is_aggregation(tree):
        groups = group_expressions(tree, engine)
        found = None if groups is None else [names.get(same_text(one, tree), "") for one in groups]
        return None if found is None or "" in found else found
    tables = list(tree.find_all(exp.Table))
    read = engine.read.get(tables[0].name) if len(tables) == 1 else None
    if read is None or not isinstance(read.table, Table) or read.system is not None:
        return None
    keys = list(read.table.schema.primary_keys)
    plain = {item.name for item in tree.expressions if isinstance(item, exp.Column)}
    is_whole = any(isinstance(item, exp.Star) for item in tree.expressions)
    known = {name for name in columns if is_whole or name in plain}
    return keys if keys and known.issuperset(keys) else None
