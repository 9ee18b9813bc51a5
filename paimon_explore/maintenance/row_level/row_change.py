"""The changes that a row-level operation makes to the rows of a batch."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Ints, build_fixed
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import Assignments
from paimon_explore.scan.manifest_arrays import true_rows
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChangeResult:
    """The changed rows of a batch.

    Attributes:
        touched: which of n rows are updated or deleted.
        rows: row numbers of the updated rows, ascending; other touched rows are deleted.
        after: the updated rows with their new values, in the table's columns.
    """

    touched: Bools
    rows: Ints
    after: pa.RecordBatch


class RowChange(Protocol):
    """A change of rows. The result for the same batch is always the same."""

    @property
    def where(self) -> Expression:
        """A predicate, bound to the table's columns, that is true for all touched rows."""

    @property
    def is_decided_by_where(self) -> bool:
        """Whether all rows for which `where` is true are touched."""

    @property
    def batch_rows(self) -> int:
        """How many rows a batch should have, as each has a cost of its own."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's columns that decide which rows are touched."""

    @property
    def updated(self) -> tuple[str, ...]:
        """The table's columns that may get new values, in the table's order."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns of `updated` whose old values some updated rows keep, at least in part."""

    @property
    def deletes(self) -> bool:
        """Whether rows may be deleted."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The table's columns that the new values are computed from."""

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """Return which of n rows are touched; the batch has at least `columns`."""

    def apply(self, batch: pa.RecordBatch) -> RowChangeResult:
        """Apply the change to n rows; the batch has all columns that the change reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WhereChange:
    """An update or delete of the rows for which a predicate is true.

    Attributes:
        row_type: the table's columns.
        where: the predicate, bound to the table's columns.
        assignments: the new values; None to delete.
    """

    row_type: RowType
    where: Expression
    assignments: Assignments | None
    is_decided_by_where = True
    batch_rows = 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that the predicate reads."""
        return in_order(self.row_type, names_of(self.where))

    @property
    def updated(self) -> tuple[str, ...]:
        """Return the assigned columns."""
        return () if self.assignments is None else self.assignments.names

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the columns of which nested fields are assigned."""
        return () if self.assignments is None else self.assignments.kept

    @property
    def deletes(self) -> bool:
        """Whether it is a delete."""
        return self.assignments is None

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns that the assignments read."""
        return () if self.assignments is None else self.assignments.reads

    def touched(self, batch: pa.RecordBatch) -> Bools:
        """Return the rows for which the predicate is true."""
        if self.where == TRUE:
            return np.ones(batch.num_rows, np.bool_)
        return true_rows(evaluate(self.where, batch, self.row_type))

    def apply(self, batch: pa.RecordBatch) -> RowChangeResult:
        """Update or delete the rows for which the predicate is true."""
        touched = self.touched(batch)
        if self.assignments is None:
            return RowChangeResult(
                touched=touched, rows=np.zeros(0, np.int64), after=batch.slice(0, 0)
            )
        rows = np.flatnonzero(touched)
        after = self.assignments.applied(take(batch, rows), take(batch, rows))
        return RowChangeResult(touched=touched, rows=rows, after=after)


def in_order(row_type: RowType, names: Sequence[str] | frozenset[str]) -> tuple[str, ...]:
    """Sort column names in the table's order."""
    return tuple(name for name in row_type.names if name in names)


def take(batch: pa.RecordBatch, rows: Ints) -> pa.RecordBatch:
    """Take rows by number."""
    return batch.take(build_fixed(pa.int64(), rows))  # type: ignore[arg-type]  # int64
