"""UPDATE, DELETE and MERGE by DuckDB: the library finds the rows, DuckDB computes expressions."""

from collections.abc import Mapping

from sqlglot import exp

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import DataField, RowType, with_nullable
from paimon_explore.errors import InvalidInputError
from paimon_explore.maintenance.row_level.assignments import path_of
from paimon_explore.maintenance.row_level.update_delete import readable_row_type
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.builder import Term, col
from paimon_explore.scan.predicate.expression import Column, Expression, conjunction
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven
from paimon_explore.sql_statements.clauses import conjuncts
from paimon_explore.sql_statements.duckdb.column_types import type_beside
from paimon_explore.sql_statements.duckdb.dialect import parsed_expression
from paimon_explore.sql_statements.duckdb.expressions import computed
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows, stored_value
from paimon_explore.sql_statements.engine import RowMerge, RowUpdate
from paimon_explore.sql_statements.merge_clause import MergeAction, SqlClause, evolve
from paimon_explore.sql_statements.outcome import row_type_of
from paimon_explore.sql_statements.query_pushdown import usable_where, whole_where
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, store_of


def update(change: RowUpdate, tree: exp.Select, sources: Mapping[str, object]) -> Snapshot | None:
    """Update or delete rows.

    Args:
        change: the statement.
        tree: its query, with values for parameters.
        sources: the views that subqueries read.
    """
    row_type = _readable_type(change.table)
    columns = [(Column(path=(field.name,)), field.name) for field in row_type]

    def made(part: exp.Expr, name: str | None = None) -> Expression:
        target = path_of(name, row_type)[-1] if name is not None else None
        return computed(part, change.alias, columns, row_type, sources, target)

    where = tree.args.get("where")
    node, schema = tree.args["from_"].this, latest_schema(store_of(change.table))
    whole = whole_where(node, schema.row_type)
    simple = usable_where(node, schema.row_type) if whole is None else whole
    parts = [] if simple is None else [simple.expression]
    if where is not None and whole is None:
        parts.append(made(where.this))
    condition = conjunction(parts)
    if not change.values:
        return change.table.delete(condition)
    new = [one.unalias() for one in tree.expressions[1:]]
    values = dict(zip(change.values, map(made, new, change.values), strict=True))
    return change.table.update(values, condition if parts else NOT_GIVEN)


def merge(change: RowMerge, rows: DuckRows, sources: Mapping[str, object]) -> Snapshot | None:
    """Merge the rows of a source into a table.

    Args:
        change: the statement.
        rows: of the source.
        sources: the views that subqueries read.
    """
    typed = _typed(rows, _readable_type(change.table))
    source = row_type_of(typed.fields, "a merge")
    if change.evolves:
        assigned = [name for one in change.clauses for name in one.values or {}]
        takes_all = any(one.values is None for one in change.clauses)
        evolve(change.table, source, assigned, takes_all=takes_all)
    scope = _MergeScope(change, source, _readable_type(change.table), sources)
    on = scope.on()
    made = change.table.merge(typed.to_batches(), on, target_alias="target", source_alias="source")
    for clause in change.clauses:
        made = clause.added_to(made, *scope.expressions(clause))
    return made.execute()


def _readable_type(table: Table) -> RowType:
    schema = latest_schema(store_of(table))
    return readable_row_type(schema, TableOptions({**schema.options, **dynamic_options_of(table)}))


def _typed(rows: DuckRows, target: RowType) -> DuckRows:
    """Return rows whose untyped nulls have the types of the columns of the same names."""
    known = {field.name.lower(): field.type for field in target}
    types = [field.type or known.get(field.name.lower()) for field in rows.fields]
    if all(field.type for field in rows.fields) or not all(types):
        return rows
    names = [field.name for field in rows.fields]
    columns = [
        DataField(id=at, name=name, type=with_nullable(kind, nullable=True))
        for at, (name, kind) in enumerate(zip(names, types, strict=True))
        if kind is not None
    ]
    return rows.assigned(columns).renamed(names)


class _MergeScope:
    """The expressions of a merge: columns of both sides become columns of one row.

    Args:
        change: the merge.
        source: the columns of the source.
        target: the columns of the table.
        sources: the views that subqueries read.
    """

    def __init__(
        self, change: RowMerge, source: RowType, target: RowType, sources: Mapping[str, object]
    ) -> None:
        self._change = change
        self._sources = sources
        self._aliases = {
            change.target_alias.lower(): "target",
            change.source_alias.lower(): "source",
        }
        self._target = target
        schema = latest_schema(store_of(change.table))
        self._keys = frozenset(
            schema.primary_keys and (*schema.primary_keys, *schema.partition_keys)
        )
        sides = {"target": target, "source": source}
        self._fields = [(side, f) for side, row_type in sides.items() for f in row_type]
        self._row_type = RowType(fields=tuple(field for _, field in self._fields))

    def on(self) -> Expression:
        """Return the join condition; equalities of columns are found by the merge itself."""
        tree = parsed_expression(self._change.on)
        parts = [self._equality(part) or self._made(part) for part in conjuncts(tree)]
        return conjunction(parts)

    def _equality(self, part: exp.Expr) -> Expression | None:
        if not isinstance(part, exp.EQ | exp.NullSafeEQ):
            return None
        sides = [part.this, part.expression]
        found = [path for side in sides if (path := self._path(side)) is not None]
        if len(found) < len(sides):
            return None
        types = {(side, field.name): field.type for side, field in self._fields}
        left, right = (
            Term(self._made(exp.cast(side.copy(), kind))) if kind else col(*path)
            for side, path, other in zip(sides, found, found[::-1], strict=True)
            for kind in [type_beside(types[path], types[other])]
        )
        return (left == right if isinstance(part, exp.EQ) else left.same_as(right)).expression

    def _path(self, node: exp.Expr) -> tuple[str, str] | None:
        if not isinstance(node, exp.Column) or node.args.get("db") is not None:
            return None
        side = self._aliases.get(node.table.lower()) if node.table else None
        if node.table and side is None:
            return None  # a member of a struct column
        found = [
            (known, field.name)
            for known, field in self._fields
            if field.name.lower() == node.name.lower() and side in {None, known}
        ]
        return found[0] if len(found) == 1 else None

    def _made(self, tree: exp.Expr, name: str | None = None) -> Expression:
        """Return an expression whose columns are those of one row, `c0`, `c1`, ….

        Args:
            tree: the expression.
            name: the column that stores the value; None for a condition.
        """
        numbers = {(side, field.name): at for at, (side, field) in enumerate(self._fields)}

        def renamed(node: exp.Expr) -> exp.Expr:
            path = self._path(node)
            if path is not None:
                return exp.column(f"c{numbers[path]}")
            if isinstance(node, exp.Column):
                return self._member(node, numbers)
            return node

        columns = [
            (Column(path=(side, field.name)), f"c{at}")
            for at, (side, field) in enumerate(self._fields)
        ]
        tree = tree.copy().transform(renamed)
        target = path_of(name, self._target)[-1] if name is not None else None
        return computed(tree, "_rows", columns, self._row_type, self._sources, target)

    def _member(self, node: exp.Column, numbers: Mapping[tuple[str, str], int]) -> exp.Expr:
        """Return a member of a struct column, or raise an error for an unknown column."""
        parts = [part.name for part in node.parts]
        side = self._aliases.get(parts[0].lower()) if len(parts) > 1 else None
        rest = parts[1:] if side else parts
        known = [
            key for key in numbers if key[1].lower() == rest[0].lower() and side in {None, key[0]}
        ]
        if len(known) != 1:
            what = "is ambiguous" if known else "does not exist"
            raise InvalidInputError(
                f"Column {'.'.join(parts)!r} {what} in the merge.",
                hint=f"Qualify it with {self._change.target_alias} or {self._change.source_alias}.",
            )
        found: exp.Expr = exp.column(f"c{numbers[known[0]]}")
        for name in rest[1:]:
            found = exp.Dot(this=found, expression=exp.to_identifier(name))
        return found

    def expressions(
        self, clause: SqlClause
    ) -> tuple[Expression | NotGiven, dict[str, Expression] | None]:
        """Return the condition and the values of a clause."""
        condition: Expression | NotGiven = NOT_GIVEN
        if clause.condition is not None:
            condition = self._made(parsed_expression(clause.condition))
        if clause.values is None:
            return condition, self._all_values(clause)
        values = {
            name: self._made(parsed_expression(text), name) for name, text in clause.values.items()
        }
        return condition, values

    def _all_values(self, clause: SqlClause) -> dict[str, Expression] | None:
        """Return the values of `*`; None if the columns of the source are stored as they are."""
        if clause.action is MergeAction.DELETE:
            return None
        fixed = self._keys if clause.action is MergeAction.UPDATE else frozenset[str]()
        given = {field.name.lower(): field for side, field in self._fields if side == "source"}
        values: dict[str, Expression] = {}
        is_stored = True
        for field in self._target:
            one = given.get(field.name.lower())
            if one is None:
                continue
            values[field.name] = col("source", one.name).expression
            if field.name not in fixed and stored_value("v", "", to_arrow(one.type), field) != "v":
                is_stored = False
                tree = exp.column(one.name, table=self._change.source_alias, quoted=True)
                values[field.name] = self._made(tree, field.name)
        return None if is_stored else values
