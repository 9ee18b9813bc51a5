"""Check of new values of updates and merges: a failing cast or a division by zero is an error.

In conditions such values are null, so that a filter does not fail on a single row. An update would
overwrite the old value by null without a word.
"""

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Bools, shown_values, true_mask, valid_mask
from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.evaluator import value_of
from paimon_explore.scan.predicate.expression import Call, Cast, Expression, is_operand
from paimon_explore.scan.predicate.function_binder import DIVISIONS
from paimon_explore.scan.predicate.sql_formatter import to_sql


def refuse_lost_values(expr: Expression, batch: pa.RecordBatch, row_type: RowType) -> None:
    """Check the values of an expression and of its parts, where they are used.

    Args:
        expr: a bound expression.
        batch: n rows.
        row_type: their columns.

    Raises:
        InvalidInputError: a value cannot be cast, or is divided by zero.
    """
    _Check(batch, row_type).operand(expr, np.ones(batch.num_rows, np.bool_))


class _Check:
    def __init__(self, batch: pa.RecordBatch, row_type: RowType) -> None:
        self._batch = batch
        self._row_type = row_type

    def operand(self, expr: Expression, used: Bools) -> None:
        """Check an expression in the rows in which it is used; conditions are not checked."""
        match expr:
            case Cast(operand=Call(function="variant_get")):
                return
            case Cast(operand=inner, tries=tries):
                self.operand(inner, used)
                if not tries:
                    self._cast(expr, used)
            case Call(function="case", arguments=parts):
                self._case(parts, used)
            case Call(function="coalesce", arguments=parts):
                for part in parts:
                    self.operand(part, used)
                    used = used & ~self._valid(part)
            case Call(function=name, arguments=parts):
                for part in filter(is_operand, parts):
                    self.operand(part, used)
                if name in DIVISIONS:
                    self._division(expr, used)
            case _:
                pass

    def _case(self, parts: tuple[Expression, ...], used: Bools) -> None:
        for test, value in zip(parts[:-1:2], parts[1:-1:2], strict=True):
            holds = true_mask(value_of(test, self._batch, self._row_type))
            self.operand(value, used & holds)
            used = used & ~holds
        self.operand(parts[-1], used)

    def _valid(self, expr: Expression) -> Bools:
        return valid_mask(value_of(expr, self._batch, self._row_type))

    def _cast(self, cast: Cast, used: Bools) -> None:
        lost = used & self._valid(cast.operand) & ~self._valid(cast)
        if lost.any():
            values = value_of(cast.operand, self._batch, self._row_type)
            (value,) = shown_values(values.slice(int(lost.argmax()), 1))
            kind = type_text(cast.type)
            raise InvalidInputError(
                f"The value {value!r} of {to_sql(cast.operand)} cannot be cast to {kind}.",
                hint=f"TRY_CAST({to_sql(cast.operand)} AS {kind}) is NULL for such values.",
            )

    def _division(self, division: Call, used: Bools) -> None:
        values = value_of(division.arguments[1], self._batch, self._row_type)
        zero = true_mask(pc.call_function("equal", [values.cast(pa.float64()), 0.0]))
        if (used & zero & self._valid(division.arguments[0])).any():
            # without the casts to a common type
            parts = (one.operand if isinstance(one, Cast) else one for one in division.arguments)
            dividend, divisor = map(to_sql, parts)
            raise InvalidInputError(
                f"{dividend} {division.function} {divisor} divides by zero.",
                hint=f"nullif({divisor}, 0) as the divisor gives NULL.",
            )
