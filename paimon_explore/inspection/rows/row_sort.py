"""The first rows of a view in the order of a column, found by one scan with a bounded number kept.

Units are read in the order of their best value by statistics. Once enough rows are found, units
and pages that cannot have a better value are skipped. Nulls are last in both directions; equal
values keep the order of the unsorted rows.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.definitions import BYTES, UNORDERED, AtomicType, DataField
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rows.row_units import RANGED_TYPES, RowUnit
from paimon_explore.scan.predicate.builder import col
from paimon_explore.scan.predicate.expression import TRUE, Expression

MAX_SORTED = 10_000
"""Number of rows that a sorted view has at most."""
_UNSORTABLE = UNORDERED | BYTES
_UNIT, _ROW = "_UNIT", "_ROW"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOrder:
    """The order of a view.

    Attributes:
        column: name of the column.
        descending: whether the greatest value is first.
    """

    column: str
    descending: bool = False

    @property
    def text(self) -> str:
        """The order for headings."""
        return f"{self.column} {self.direction}"

    @property
    def direction(self) -> str:
        """The direction as SQL."""
        return f"{'DESC' if self.descending else 'ASC'} NULLS LAST"


def check_sortable(field: DataField) -> None:
    """Check that the values of a column have an order.

    Raises:
        UnsupportedFeatureError: they have none.
    """
    if not isinstance(field.type, AtomicType) or field.type.root in _UNSORTABLE:
        raise UnsupportedFeatureError(f"sorting rows by column {field.name!r}, which has no order")


ReadUnit = Callable[[RowUnit, Expression], Iterator[pa.RecordBatch]]
"""Reads the rows of a unit that match a further condition."""


class RowSorter:
    """Sorts rows in steps, so that a caller can stop between them.

    Args:
        field: the column.
        order: the order.
        units: of the view.
        bounds: of each unit the best value of the column; None if it is unknown.
        read: reads a unit.
        schema: of the rows.
        limit: maximum number of sorted rows.
    """

    def __init__(  # noqa: PLR0913 - one constructor call
        self,
        *,
        field: DataField,
        order: RowOrder,
        units: Sequence[RowUnit],
        bounds: Sequence[object],
        read: ReadUnit,
        schema: pa.Schema,
        limit: int = MAX_SORTED,
    ) -> None:
        self._field, self._order, self._limit = field, order, limit
        self._units, self._bounds, self._read = units, bounds, read
        self._queue = _best_first(bounds, descending=order.descending)
        self._schema = schema.append(pa.field(_UNIT, pa.int64())).append(pa.field(_ROW, pa.int64()))
        self._table = self._schema.empty_table()
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._unit = self._row = 0
        self.rows_read = 0
        self.units_read = 0
        self.units_skipped = 0
        self.is_done = False

    @property
    def table(self) -> pa.Table:
        """The sorted rows found so far."""
        return self._table.drop_columns([_UNIT, _ROW])

    def step(self, rows: int) -> None:
        """Read about so many rows."""
        end = self.rows_read + rows
        while not self.is_done and self.rows_read < end:
            batch = next(self._batches, None)
            if batch is None:
                self._open_next()
            else:
                self._take(batch)

    def finish(self) -> pa.Table:
        """Read everything and return the sorted rows."""
        while not self.is_done:
            self.step(1 << 20)
        return self.table

    def _open_next(self) -> None:
        if not self._queue:
            self.is_done = True
            return
        unit = self._queue.pop(0)
        worst = self._worst()
        best = self._bounds[unit]
        if worst is not None and best is not None and self._is_after(best, worst):
            self.units_skipped += 1
            return
        self.units_read += 1
        self._unit, self._row = unit, 0
        self._batches = self._read(self._units[unit], self._condition(worst))

    def _worst(self) -> object:
        """The last value, once there are enough rows; None if any row may still be among them."""
        if self._table.num_rows < self._limit:
            return None
        return self._table.column(self._order.column)[-1].as_py()

    def _is_after(self, value: object, other: object) -> bool:
        if self._order.descending:
            return bool(value < other)  # type: ignore[operator]  # of one column
        return bool(value > other)  # type: ignore[operator]  # of one column

    def _condition(self, worst: object) -> Expression:
        if worst is None or not isinstance(self._field.type, AtomicType):
            return TRUE
        if self._field.type.root not in RANGED_TYPES:
            return TRUE
        term = col(self._order.column)
        return (term >= worst if self._order.descending else term <= worst).expression

    def _take(self, batch: pa.RecordBatch) -> None:
        count = batch.num_rows
        self.rows_read += count
        units = pa.array(np.full(count, self._unit, np.int64))
        rows = pa.array(np.arange(self._row, self._row + count, dtype=np.int64))
        self._row += count
        added = pa.Table.from_arrays([*batch.columns, units, rows], schema=self._schema)
        both = pa.concat_tables([self._table, added])
        keys = both.select([self._order.column, _UNIT, _ROW]).rename_columns(["0", "1", "2"])
        direction: Literal["ascending", "descending"] = (
            "descending" if self._order.descending else "ascending"
        )
        # nulls are last in both directions
        order = pc.sort_indices(
            keys, sort_keys=[("0", direction), ("1", "ascending"), ("2", "ascending")]
        )
        self._table = both.take(order.slice(0, self._limit))


def _best_first(bounds: Sequence[object], *, descending: bool) -> list[int]:
    """Unit numbers by their best value; units without bounds first."""
    unknown = [at for at, bound in enumerate(bounds) if bound is None]
    known = [at for at, bound in enumerate(bounds) if bound is not None]
    known.sort(key=lambda at: bounds[at], reverse=descending)  # type: ignore[arg-type,return-value]  # values of one column
    return [*unknown, *known]
