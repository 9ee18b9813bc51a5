"""Column alignment of MERGE: `*`, and assignments to the primary key, as in Paimon's connector."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

from sqlglot import exp

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.clauses import conjuncts
from paimon_explore.sql_statements.merge_clause import MergeRows, SqlClause
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.table_references import tree_of


def check_star(schema: TableSchema, source: Sequence[str]) -> None:
    """Check that the source of `UPDATE SET *` or `INSERT *` has all columns of the table."""
    given = {name.lower() for name in source}
    missing = [name for name in schema.row_type.names if name.lower() not in given]
    if missing:
        raise InvalidInputError(
            f"The source of MERGE has no column {missing[0]!r}, which * assigns.",
            hint="Name the columns in SET and INSERT, or write MERGE WITH SCHEMA EVOLUTION INTO.",
        )


def star_with_defaults(clause: SqlClause, schema: TableSchema, source: str) -> SqlClause:
    """Return `*` as assignments, if NULL becomes a default value."""
    if clause.values is not None or not any(one.default_value for one in schema.fields):
        return clause
    names = schema.row_type.names
    return replace(clause, values={name: f"{quoted(source)}.{quoted(name)}" for name in names})


def without_keys(clause: SqlClause, on: str, schema: TableSchema, target: str) -> SqlClause:
    """Return an update without `key = source.key`, where ON says that both are equal.

    Args:
        clause: the clause.
        on: the condition of the merge.
        schema: of the table.
        target: the alias of the table.
    """
    tree, values = tree_of(f"SELECT {on}"), clause.values or {}
    if clause.rows is not MergeRows.MATCHED or tree is None:
        return clause
    equal = [one for one in conjuncts(tree.expressions[0]) if isinstance(one, exp.EQ)]
    pairs = [
        (own, other)
        for one in equal
        for own, other in permutations((one.left, one.right))
        if isinstance(own, exp.Column) and own.table.lower() in {"", target.lower()}
    ]

    def is_equal(name: str, text: str) -> bool:
        new = tree_of(f"SELECT {text}")
        found = None if new is None else new.expressions[0].unnest()
        return any(a.name.lower() == name.lower() and _is_same_column(b, found) for a, b in pairs)

    kept = {
        name: text
        for name, text in values.items()
        if name not in schema.primary_keys or not is_equal(name, text)
    }
    return replace(clause, values=kept) if kept else clause


def _is_same_column(one: exp.Expr, other: exp.Expr | None) -> bool:
    """Return whether two expressions are the same column, which one may qualify."""
    if not isinstance(one, exp.Column) or not isinstance(other, exp.Column):
        return False
    return all(
        a.name.lower() == b.name.lower()
        for a, b in zip(one.parts[::-1], other.parts[::-1], strict=False)
    )
