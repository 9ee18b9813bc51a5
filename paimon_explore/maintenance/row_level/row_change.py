"""What a row-level operation does to the rows of a batch."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Column, Ints, build_fixed
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import Assignments
from paimon_explore.scan.manifest_arrays import true_rows
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happens to the rows of a batch.

    Attributes:
        touched: of n rows, those that are updated or deleted.
        rows: places in the batch of the updated rows, ascending; the other touched ones go.
        after: the updated rows, in the table's columns.
    """

    touched: Bools
    rows: Ints
    after: pa.RecordBatch


class RowChange(Protocol):
    """Decides about rows. The same batch always gets the same answer."""

    @property
    def where(self) -> Expression:
        """Bound to the table's columns: no row of which it is not true is touched."""
        ...

    @property
    def is_decided_by_where(self) -> bool:
        """Whether every row is touched of which `where` is true."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns that decide which rows are touched."""
        ...

    @property
    def updated(self) -> tuple[str, ...]:
        """The table's columns that may get new values, in the table's order."""
        ...

    @property
    def deletes(self) -> bool:
        """Whether rows may go."""
        ...

    @property
    def reads(self) -> tuple[str, ...]:
        """The table's columns that the new values are made of."""
        ...

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """Which of n rows are touched; the batch has at least the deciding columns."""
        ...

    def outcome(self, batch: pa.RecordBatch) -> Outcome:
        """What happens to n rows; the batch has all columns that are needed for the result."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WhereChange:
    """Rows of which a predicate is true are deleted, or get new values.

    Attributes:
        row_type: the table's columns.
        where: the predicate, bound to them.
        assignments: the new values; None to delete.
    """

    row_type: RowType
    where: Expression
    assignments: Assignments | None

    @property
    def is_decided_by_where(self) -> bool:
        """Always."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """What the predicate reads."""
        return in_order(self.row_type, names_of(self.where))

    @property
    def updated(self) -> tuple[str, ...]:
        """What is assigned."""
        return () if self.assignments is None else self.assignments.names

    @property
    def deletes(self) -> bool:
        """Whether it deletes."""
        return self.assignments is None

    @property
    def reads(self) -> tuple[str, ...]:
        """What the assignments read."""
        return () if self.assignments is None else self.assignments.reads

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """Of which rows the predicate is true."""
        if self.where == TRUE:
            return np.ones(batch.num_rows, np.bool_)
        return true_rows(evaluate(self.where, batch, self.row_type))

    def outcome(self, batch: pa.RecordBatch) -> Outcome:
        """New values for these rows, or none."""
        touched = self.touched(batch)
        if self.assignments is None:
            return Outcome(touched=touched, rows=np.zeros(0, np.int64), after=batch.slice(0, 0))
        rows = np.flatnonzero(touched)
        after = self.assignments.applied(taken(batch, rows), taken(batch, rows))
        return Outcome(touched=touched, rows=rows, after=after)


def in_order(row_type: RowType, names: Sequence[str] | frozenset[str]) -> tuple[str, ...]:
    """Some column names in the table's order."""
    return tuple(name for name in row_type.names if name in names)


def taken(batch: pa.RecordBatch, rows: Ints) -> pa.RecordBatch:
    """The rows at these places."""
    return batch.take(places(rows))  # type: ignore[arg-type]  # int64


def places(rows: Ints) -> Column:
    """Row numbers as Arrow has them."""
    return build_fixed(pa.int64(), rows.astype(np.int64), np.ones(len(rows), np.bool_))


def stacked(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of the same columns one after the other, as one; at least one batch."""
    columns = [
        pa.concat_arrays([part.column(name) for part in parts]) for name in parts[0].schema.names
    ]
    return pa.RecordBatch.from_arrays(columns, schema=parts[0].schema)
