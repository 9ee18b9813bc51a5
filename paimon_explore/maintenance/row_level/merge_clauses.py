"""MERGE: what happens to a row of the table, and to a row of the source, by the first clause.

| clause | of rows | may use |
| --- | --- | --- |
| when matched: update, delete | of the table that match a source row | both sides |
| when not matched by source: update, delete | of the table that match none | the table's side |
| when not matched: insert | of the source that match none | the source's side |

Of the clauses for a row the first one counts whose condition is true. A row that two source rows
would update is an error: which of them it would get is anybody's guess.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import (
    Assignments,
    NewValue,
    assignments,
)
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET, Sides
from paimon_explore.maintenance.row_level.merge_join import Matching, Pairs, table_names
from paimon_explore.maintenance.row_level.nested_values import path_of
from paimon_explore.maintenance.row_level.row_change import Outcome, in_order, stacked, taken
from paimon_explore.scan.manifest_arrays import true_rows
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Column, Expression, names_of
from paimon_explore.scan.predicate.sql_parser import Where, parse_value, predicate
from paimon_explore.write.input.table_batches import absent_column

_NONE = -1


class ClauseKind(Enum):
    """Which rows a clause is for."""

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
    """A clause as the caller gives it.

    Attributes:
        kind: which rows it is for.
        condition: which of them; None for all.
        values: new values by column; None to delete.
        all_columns: take the source's columns of the same names as values.
    """

    kind: ClauseKind
    condition: Where | None = None
    values: Mapping[str, NewValue] | None = None
    all_columns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundClause:
    """A clause bound to the row of both sides.

    Attributes:
        condition: TRUE for all.
        new: what it assigns; None to delete.
    """

    condition: Expression
    new: Assignments | None

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the row of both sides that it reads."""
        return names_of(self.condition).union(self.new.reads if self.new is not None else ())


@dataclass(frozen=True, slots=True)
class _Decision:
    """What happens to n rows of the table.

    Attributes:
        clause: the number of each row's clause, or -1.
        source: the source row that it is updated from, or -1.
    """

    clause: Ints
    source: Ints


class MergeChange:
    """A merge as a change of rows, and as a maker of rows to insert.

    Args:
        sides: the columns of both sides.
        source: the source's rows.
        matching: finds pairs.
        clauses: in the order in which they count.

    Raises:
        InvalidInputError: a clause that cannot be understood.
    """

    is_decided_by_where = False

    def __init__(
        self, sides: Sides, source: pa.RecordBatch, matching: Matching, clauses: Sequence[Clause]
    ) -> None:
        self._sides = sides
        self._source = source
        self._matching = matching
        self._row_type = sides.row_type
        self._seen = np.zeros(source.num_rows, np.bool_)
        by_kind: dict[ClauseKind, list[BoundClause]] = {kind: [] for kind in ClauseKind}
        for clause in clauses:
            by_kind[clause.kind].append(self._bound(clause))
        self._matched = by_kind[ClauseKind.MATCHED]
        self._by_source = by_kind[ClauseKind.NOT_MATCHED_BY_SOURCE]
        self._inserting = by_kind[ClauseKind.NOT_MATCHED]
        self._touching = [*self._matched, *self._by_source]

    # ------------------------------------------------------------ what it reads and changes

    @property
    def where(self) -> Expression:
        """What rows of the table may be touched."""
        return TRUE if self._by_source else self._matching.where

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns that decide."""
        read = [table_names(names_of(clause.condition)) for clause in self._touching]
        return in_order(self._sides.target, self._matching.columns.union(*read))

    @property
    def updated(self) -> tuple[str, ...]:
        """The table's columns that may get new values."""
        names = {name for clause in self._touching if clause.new for name in clause.new.names}
        return in_order(self._sides.target, frozenset(names))

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
        """The table's columns that new values are made of."""
        read = frozenset[str]().union(*(clause.reads for clause in self._touching))
        return in_order(self._sides.target, table_names(read))

    # ------------------------------------------------------------ clauses

    def _bound(self, clause: Clause) -> BoundClause:
        visible = _VISIBLE[clause.kind]
        condition: Expression = TRUE
        if clause.condition is not None:
            tree = self._sides.qualified(predicate(clause.condition), *visible)
            condition = bind(tree, self._row_type)
        values = self._all_columns(clause.kind) if clause.all_columns else clause.values
        if values is None:
            return BoundClause(condition=condition, new=None)
        tree_values = {name: self._value(value, visible) for name, value in values.items()}
        if clause.kind is ClauseKind.MATCHED:
            tree_values = {n: v for n, v in tree_values.items() if not self._is_same(n, v)}
            if values and not tree_values:
                raise InvalidInputError(
                    "The update only sets columns that the merge condition already makes equal."
                )
        new = assignments(tree_values, self._sides.target, self._row_type)
        return BoundClause(condition=condition, new=new)

    def _value(self, value: NewValue, visible: tuple[str, ...]) -> NewValue:
        if isinstance(value, str):
            return self._sides.qualified(parse_value(value), *visible)
        if isinstance(value, Term):
            return self._sides.qualified(value.expression, *visible)
        if isinstance(value, Expression):
            return self._sides.qualified(value, *visible)
        return value

    def _all_columns(self, kind: ClauseKind) -> Mapping[str, NewValue]:
        """The source's columns by the table's columns of the same names."""
        names = {name.lower(): name for name in self._sides.source.names}
        found: dict[str, NewValue] = {
            field.name: Column(path=(SOURCE, names[field.name.lower()]))
            for field in self._sides.target
            if field.name.lower() in names
        }
        if kind is ClauseKind.MATCHED:
            found = {
                n: v for n, v in found.items() if not self._is_same(n, self._value(v, (SOURCE,)))
            }
        if not found:
            raise InvalidInputError(
                "The source has no column to update or insert from.",
                hint="Pass the new values by column.",
            )
        return found

    def _is_same(self, name: str, value: NewValue) -> bool:
        """Whether a value is what the column equals by the condition of the merge."""
        column, *inner = path_of(name, self._sides.target)
        if inner:
            return False
        target = Column(path=(f"{TARGET}.{column.name}",))
        return self._matching.equates(target, value)

    # ------------------------------------------------------------ rows of the table

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """The rows for which a clause counts."""
        found: Bools = self._decide(batch).clause != _NONE
        return found

    def outcome(self, batch: pa.RecordBatch) -> Outcome:
        """New values by clause."""
        decision = self._decide(batch)
        rows: list[Ints] = []
        parts: list[pa.RecordBatch] = []
        known = in_order(self._sides.target, frozenset(batch.schema.names))
        for number, clause in enumerate(self._touching):
            found = np.flatnonzero(decision.clause == number)
            if clause.new is None or not len(found):
                continue
            before = taken(batch.select(list(known)), found)
            source = (
                taken(self._source, decision.source[found]) if number < len(self._matched) else None
            )
            parts.append(clause.new.applied(before, self._sides.joined(before, source)))
            rows.append(found)
        touched = decision.clause != _NONE
        if not parts:
            none = batch.slice(0, 0).select(list(known))
            return Outcome(touched=touched, rows=np.zeros(0, np.int64), after=none)
        places = np.concatenate(rows)
        order = np.argsort(places, kind="stable")
        return Outcome(touched=touched, rows=places[order], after=taken(stacked(parts), order))

    def _decide(self, batch: pa.RecordBatch) -> _Decision:
        count = batch.num_rows
        pairs = self._matching.find(batch)
        self._seen[pairs.source] = True
        clause = np.full(count, _NONE, np.int64)
        source = np.full(count, _NONE, np.int64)
        chosen = self._first(self._matched, self._matching.joined(batch, pairs))
        counting = pairs.where(chosen != _NONE)
        chosen = chosen[chosen != _NONE]
        self._refuse_two(counting, chosen)
        clause[counting.target] = chosen
        source[counting.target] = counting.source
        if self._by_source:
            alone = np.setdiff1d(np.arange(count), pairs.target)
            known = in_order(self._sides.target, frozenset(batch.schema.names))
            rows = self._sides.joined(taken(batch.select(list(known)), alone), None)
            found = self._first(self._by_source, rows)
            clause[alone] = np.where(found == _NONE, _NONE, found + len(self._matched))
        return _Decision(clause, source)

    def _first(self, clauses: Sequence[BoundClause], rows: pa.RecordBatch) -> Ints:
        """Of each row the first clause whose condition is true, or -1."""
        chosen = np.full(rows.num_rows, _NONE, np.int64)
        for number, clause in enumerate(clauses):
            free = chosen == _NONE
            if clause.condition != TRUE:
                free &= true_rows(evaluate(clause.condition, rows, self._row_type))
            chosen[free] = number
        return chosen

    def _refuse_two(self, pairs: Pairs, chosen: Ints) -> None:
        """Refuse rows that several source rows would change; deleting them twice is deleting."""
        _, inverse, counts = np.unique(pairs.target, return_inverse=True, return_counts=True)
        several = counts[inverse] > 1
        updates = np.array([clause.new is not None for clause in self._matched], np.bool_)
        if several.any() and bool(updates[chosen[several]].any()):
            first = int(np.flatnonzero(several)[0])
            rows = pairs.source[pairs.target == pairs.target[first]].tolist()
            raise InvalidInputError(
                f"A row of the table matches rows {rows[0]} and {rows[1]} of the source, "
                "and both would update it.",
                hint="Keep one source row per key, or narrow the condition of the merge.",
            )

    # ------------------------------------------------------------ rows of the source

    def new_rows(self) -> Iterator[pa.RecordBatch]:
        """The rows to insert, once all rows of the table have been looked at."""
        rest = np.flatnonzero(~self._seen)
        rows = self._sides.joined(None, taken(self._source, rest))
        chosen = self._first(self._inserting, rows)
        target = self._sides.target
        for number, clause in enumerate(self._inserting):
            found = np.flatnonzero(chosen == number)
            if not len(found) or clause.new is None:
                continue
            part = taken(rows, found)
            given = {
                item.field.name: item.values(part, self._row_type) for item in clause.new.items
            }
            columns = [
                given[field.name] if field.name in given else absent_column(field, len(found))
                for field in target
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=arrow_schema(target))
