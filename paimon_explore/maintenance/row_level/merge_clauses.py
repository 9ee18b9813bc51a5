"""The clauses of MERGE INTO, applied to rows of the table and of the source.

| clause | rows | columns it may use |
| --- | --- | --- |
| when matched: update, delete | table rows that match a source row | both sides |
| when not matched by source: update, delete | table rows without a match | the table's |
| when not matched: insert | source rows without a match | the source's |

The first clause whose condition is true applies to a row. If two source rows would update the same
table row, the merge fails, because its result would be ambiguous.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Bools, Ints, concat_batches
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import (
    Assignments,
    NewValue,
    assignments,
    path_of,
)
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET, Sides
from paimon_explore.maintenance.row_level.merge_join import MergeJoin, Pairs, table_names
from paimon_explore.maintenance.row_level.row_change import (
    RowChangeResult,
    in_order,
    take,
)
from paimon_explore.scan.manifest_arrays import true_rows
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Column, Expression, names_of
from paimon_explore.scan.predicate.sql_parser import Where, parse_value, predicate
from paimon_explore.write.input.table_batches import absent_column

_NONE = -1


class ClauseKind(Enum):
    """The rows that a clause applies to."""

    MATCHED = "when matched"
    NOT_MATCHED = "when not matched"
    NOT_MATCHED_BY_SOURCE = "when not matched by source"


_VISIBLE = {
    ClauseKind.MATCHED: (TARGET, SOURCE),
    ClauseKind.NOT_MATCHED: (SOURCE,),
    ClauseKind.NOT_MATCHED_BY_SOURCE: (TARGET,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause as passed by the caller.

    Attributes:
        kind: the rows it applies to.
        condition: restricts these rows; None for all.
        values: new values by column; None to delete.
        all_columns: whether the source's columns of the same names are the new values.
    """

    kind: ClauseKind
    condition: Where | None = None
    values: Mapping[str, NewValue] | None = None
    all_columns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundClause:
    """A clause bound to the joined row of both sides.

    Attributes:
        condition: the condition; TRUE for all rows.
        new: the assignments; None to delete.
    """

    condition: Expression
    new: Assignments | None

    @property
    def reads(self) -> frozenset[str]:
        """Return the columns of the joined row that the clause reads."""
        return names_of(self.condition).union(self.new.reads if self.new is not None else ())


@dataclass(frozen=True, slots=True)
class _Decision:
    """The clauses that apply to n rows of the table.

    Attributes:
        clause: number of the clause that applies to each row; -1 for none.
        source: number of the source row that matches each row; -1 for none.
    """

    clause: Ints
    source: Ints


class MergeChange:
    """The row change of a merge, and its rows to insert.

    Args:
        sides: the columns of both sides.
        source: the source's rows.
        join: finds matching rows.
        clauses: the clauses in order of precedence.

    Raises:
        InvalidInputError: a clause is invalid.
    """

    is_decided_by_where = False

    def __init__(
        self, sides: Sides, source: pa.RecordBatch, join: MergeJoin, clauses: Sequence[Clause]
    ) -> None:
        self._sides = sides
        self._source = source
        self._join = join
        self._row_type = sides.row_type
        self._has_match = np.zeros(source.num_rows, np.bool_)
        self.batch_rows = source.num_rows // 4  # the keys of the source are hashed for each batch
        by_kind: dict[ClauseKind, list[BoundClause]] = {kind: [] for kind in ClauseKind}
        for clause in clauses:
            by_kind[clause.kind].append(self._bind(clause))
        self._matched = by_kind[ClauseKind.MATCHED]
        self._by_source = by_kind[ClauseKind.NOT_MATCHED_BY_SOURCE]
        self._inserting = by_kind[ClauseKind.NOT_MATCHED]
        self._touching = [*self._matched, *self._by_source]

    # ------------------------------------------------------------ columns

    @property
    def where(self) -> Expression:
        """Return a predicate on the table's rows that may be touched."""
        return TRUE if self._by_source else self._join.where

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the table's columns that decide which rows are touched."""
        read = [table_names(names_of(clause.condition)) for clause in self._touching]
        found = in_order(self._sides.target, self._join.columns.union(*read))
        return found or self._sides.target.names[:1]  # which tell how many rows there are

    @property
    def updated(self) -> tuple[str, ...]:
        """Return the table's columns that may get new values."""
        names = {name for clause in self._touching if clause.new for name in clause.new.names}
        return in_order(self._sides.target, frozenset(names))

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the updated columns that a clause does not set, or only in part."""
        new = [clause.new for clause in self._touching if clause.new is not None]
        return tuple(
            name
            for name in self.updated
            if any(name not in item.names or name in item.kept for item in new)
        )

    @property
    def deletes(self) -> bool:
        """Whether a clause deletes."""
        return any(clause.new is None for clause in self._touching)

    @property
    def inserts(self) -> bool:
        """Whether a clause inserts."""
        return bool(self._inserting)

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the table's columns that new values are computed from."""
        read = frozenset[str]().union(*(clause.reads for clause in self._touching))
        return in_order(self._sides.target, table_names(read))

    # ------------------------------------------------------------ clauses

    def _bind(self, clause: Clause) -> BoundClause:
        visible = _VISIBLE[clause.kind]
        condition: Expression = TRUE
        if clause.condition is not None:
            tree = self._sides.qualify(predicate(clause.condition), *visible)
            condition = bind(tree, self._row_type)
        values = self._all_columns(clause.kind) if clause.all_columns else clause.values
        if values is None:
            return BoundClause(condition=condition, new=None)
        tree_values = {name: self._value(value, visible) for name, value in values.items()}
        if clause.kind is ClauseKind.MATCHED:
            tree_values = {n: v for n, v in tree_values.items() if not self._is_same(n, v)}
            if values and not tree_values:
                raise InvalidInputError(
                    "The update has no effect, because the merge condition requires each updated "
                    "column to be equal to its new value."
                )
        new = assignments(tree_values, self._sides.assigned, self._row_type)
        return BoundClause(condition=condition, new=new)

    def _value(self, value: NewValue, visible: tuple[str, ...]) -> NewValue:
        if isinstance(value, str):
            return self._sides.qualify(parse_value(value), *visible)
        if isinstance(value, Term):
            return self._sides.qualify(value.expression, *visible)
        if isinstance(value, Expression):
            return self._sides.qualify(value, *visible)
        return value

    def _all_columns(self, kind: ClauseKind) -> Mapping[str, NewValue]:
        """Map the table's columns to the source's columns of the same names."""
        names = {name.lower(): name for name in self._sides.source.names}
        found: dict[str, NewValue] = {
            field.name: Column(path=(SOURCE, names[field.name.lower()]))
            for field in self._sides.assigned
            if field.name.lower() in names
        }
        if kind is ClauseKind.MATCHED:
            found = {
                n: v for n, v in found.items() if not self._is_same(n, self._value(v, (SOURCE,)))
            }
        if not found:
            raise InvalidInputError(
                "The source has no column with the name of a table column that the clause can set.",
                hint="Map each column name to its new value, or rename the columns of the source.",
            )
        return found

    def _is_same(self, name: str, value: NewValue) -> bool:
        """Whether the merge condition already makes a column equal to a value."""
        column, *inner = path_of(name, self._sides.assigned)
        if inner:
            return False
        target = Column(path=(f"{TARGET}.{column.name}",))
        return self._join.equates(target, value)

    # ------------------------------------------------------------ rows of the table

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """Return the rows to which a clause applies."""
        found: Bools = self._decide(batch).clause != _NONE
        return found

    def apply(self, batch: pa.RecordBatch) -> RowChangeResult:
        """Apply the clauses to rows of the table."""
        decision = self._decide(batch)
        rows: list[Ints] = []
        parts: list[pa.RecordBatch] = []
        known = in_order(self._sides.target, frozenset(batch.schema.names))
        for number, clause in enumerate(self._touching):
            found = np.flatnonzero(decision.clause == number)
            if clause.new is None or not len(found):
                continue
            before = take(batch.select(list(known)), found)
            source = (
                take(self._source, decision.source[found]) if number < len(self._matched) else None
            )
            parts.append(clause.new.applied(before, self._sides.join(before, source)))
            rows.append(found)
        touched = decision.clause != _NONE
        if not parts:
            none = batch.slice(0, 0).select(list(in_order(self._sides.assigned, frozenset(known))))
            return RowChangeResult(touched=touched, rows=np.zeros(0, np.int64), after=none)
        updated = np.concatenate(rows)
        order = np.argsort(updated, kind="stable")
        after = take(concat_batches(parts), order)
        return RowChangeResult(touched=touched, rows=updated[order], after=after)

    def _decide(self, batch: pa.RecordBatch) -> _Decision:
        count = batch.num_rows
        pairs = self._join.find(batch)
        self._has_match[pairs.source] = True
        clause = np.full(count, _NONE, np.int64)
        source = np.full(count, _NONE, np.int64)
        applied = self._first_clause(self._matched, self._join.rows_of(batch, pairs))
        pairs_applied = pairs.where(applied != _NONE)
        applied = applied[applied != _NONE]
        self._check_single_update(pairs_applied, applied)
        clause[pairs_applied.target] = applied
        source[pairs_applied.target] = pairs_applied.source
        if self._by_source:
            unmatched = np.delete(np.arange(count), pairs.target)
            known = in_order(self._sides.target, frozenset(batch.schema.names))
            rows = self._sides.join(take(batch.select(list(known)), unmatched), None)
            found = self._first_clause(self._by_source, rows)
            clause[unmatched] = np.where(found == _NONE, _NONE, found + len(self._matched))
        return _Decision(clause, source)

    def _first_clause(self, clauses: Sequence[BoundClause], rows: pa.RecordBatch) -> Ints:
        """Return the first clause whose condition is true for each row; -1 for none."""
        found = np.full(rows.num_rows, _NONE, np.int64)
        for number, clause in enumerate(clauses):
            applies = found == _NONE
            if clause.condition != TRUE:
                applies &= true_rows(evaluate(clause.condition, rows, self._row_type))
            found[applies] = number
        return found

    def _check_single_update(self, pairs: Pairs, clauses: Ints) -> None:
        """Check that no two source rows update the same row; deleting it twice is allowed."""
        _, inverse, counts = np.unique(pairs.target, return_inverse=True, return_counts=True)
        several = counts[inverse] > 1
        updates = np.array([clause.new is not None for clause in self._matched], np.bool_)
        if several.any() and bool(updates[clauses[several]].any()):
            first = int(np.flatnonzero(several)[0])
            rows = pairs.source[pairs.target == pairs.target[first]].tolist()
            raise InvalidInputError(
                f"Rows {rows[0]} and {rows[1]} of the source match the same row of the table, "
                "and both would update the row.",
                hint="Keep one source row per key, or narrow the condition of the merge.",
            )

    # ------------------------------------------------------------ rows of the source

    def new_rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows to insert, after all rows of the table have been processed."""
        unmatched = np.flatnonzero(~self._has_match)
        rows = self._sides.join(None, take(self._source, unmatched))
        clauses = self._first_clause(self._inserting, rows)
        target = self._sides.assigned
        for number, clause in enumerate(self._inserting):
            found = np.flatnonzero(clauses == number)
            if not len(found) or clause.new is None:
                continue
            part = take(rows, found)
            given = {
                item.field.name: item.values(part, self._row_type) for item in clause.new.items
            }
            columns = [
                given[field.name] if field.name in given else absent_column(field, len(found))
                for field in target
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=arrow_schema(target))
