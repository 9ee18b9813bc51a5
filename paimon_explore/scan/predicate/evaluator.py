"""Evaluation of bound predicates on Arrow batches and tables."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Column as Values
from paimon_explore.data_types.arrow_buffers import bool_values, build_bool, valid_mask
from paimon_explore.data_types.definitions import BOOLEAN, DataType, RowType
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.scan.predicate.cast_expression import cast_values
from paimon_explore.scan.predicate.expression import (
    NULL,
    And,
    Call,
    Cast,
    Column,
    Compare,
    CompareOp,
    Computed,
    Expression,
    In,
    IsNull,
    IsTrue,
    Like,
    Literal,
    Not,
    Operand,
    Or,
    conjuncts,
    is_operand,
)
from paimon_explore.scan.predicate.functions import function_of
from paimon_explore.scan.predicate.kernels import (
    aligned,
    call,
    compared,
    contained,
    matched,
    true_only,
)
from paimon_explore.scan.predicate.literals import repeated, scalar_of, values_array
from paimon_explore.scan.predicate.variants.casts import cast_trees
from paimon_explore.scan.predicate.variants.kernels import trees_at

_FEW_SHARE = 0.25
"""Share of open rows of a batch up to which further conditions are tested on these alone."""
_MANY_CHOICES = 8
"""Number of choices of an OR from which a list of values that they imply is tested first."""


def evaluate(
    expr: Expression, batch: pa.RecordBatch | pa.Table, row_type: RowType
) -> "pa.BooleanArray | pa.ChunkedArray[pa.BooleanScalar]":
    """Evaluates a bound predicate for each row.

    Args:
        expr: bound to `row_type`.
        batch: n rows with at least the columns that `expr` reads, in their Arrow types.
        row_type: the columns' types; may contain further columns.

    Returns:
        n booleans, null where the predicate is unknown, for `batch.filter`. An array for a
        RecordBatch, a chunked array for a Table.
    """
    if isinstance(batch, pa.RecordBatch):
        return _truth(expr, batch, row_type)
    parts = [_truth(expr, part, row_type) for part in batch.to_batches()]
    return pa.chunked_array(parts, pa.bool_())


def _truth(expr: Expression, batch: pa.RecordBatch, row_type: RowType) -> pa.BooleanArray:
    truth: pa.BooleanArray = _Rows(batch, row_type).truth(expr)  # type: ignore[assignment]  # stubs
    return truth


def value_of(expr: Expression, batch: pa.RecordBatch, row_type: RowType) -> Values:
    """Computes a bound operand or condition for each row; see `evaluate`.

    Raises:
        InvalidInputError: the result of a function does not fit its type.
    """
    return _Rows(batch, row_type).value(expr)


def operand_type(operand: Operand, row_type: RowType) -> DataType:
    """The type of a bound operand.

    Raises:
        InvalidInputError: `row_type` does not contain a column of the operand.
    """
    match operand:
        case Cast(type=target):
            return target
        case Call(type=kind):
            return kind or BOOLEAN
        case Computed(type=target):
            return target
        case Literal(type=kind):
            return kind or BOOLEAN
        case Column(path=path):
            return _member_type(path, row_type)


def _member_type(path: tuple[str, ...], row_type: RowType) -> DataType:
    found: DataType = row_type
    for name in path:
        field = found.field(name) if isinstance(found, RowType) else None
        if field is None:
            raise InvalidInputError(
                f"There is no column {'.'.join(path)!r}. Columns: {choices(row_type.names)}."
            )
        found = field.type
    return found


def listed_values(choices: Sequence[Expression]) -> In | None:
    """The longest list of a column's values that any of several bound choices implies, if any.

    `k = 1 AND v = 2 OR k = 3 AND v = 4` implies `k IN (1, 3)`. Where the list is false, so are all
    choices; where it is unknown, none of them is true.
    """
    each = [dict(_equalities(choice)) for choice in choices]
    shared = set(each[0]).intersection(*each)
    lists = {column: {found[column] for found in each} for column in shared}
    operand = max(lists, key=lambda column: len(lists[column]), default=None)
    return None if operand is None else In(operand=operand, values=tuple(lists[operand]))


def _equalities(choice: Expression) -> Iterator[tuple[Column, Literal]]:
    for part in conjuncts(choice):
        if not isinstance(part, Compare) or part.op is not CompareOp.EQ:
            continue
        column, value = part.left, part.right
        if isinstance(column, Column) and isinstance(value, Literal) and value != NULL:
            yield column, value


class _Rows:
    """Evaluates expressions on the rows of one batch."""

    def __init__(self, batch: pa.RecordBatch, row_type: RowType) -> None:
        self._batch = batch
        self._row_type = row_type

    def truth(self, expr: Expression) -> Values:
        match expr:
            case And(children=children):
                return self._all(children)
            case Or(children=children):
                listed = listed_values(children) if len(children) >= _MANY_CHOICES else None
                return self._also(self.truth(listed), children) if listed else self._any(children)
            case Not(child=child):
                return call("invert", self.truth(child))
            case IsTrue(child=child):
                return true_only(self.truth(child))
            case Column() | Literal() | Cast() | Call() | Computed():
                return self._values(expr)
            case Compare() | In() | Like() | IsNull():
                return self._test(expr)

    def value(self, expr: Expression) -> Values:
        return self._values(expr) if is_operand(expr) else self.truth(expr)

    def _all(self, children: tuple[Expression, ...]) -> Values:
        result = self.truth(children[0])
        for child in children[1:]:
            result = self._also(result, (child,))
        return result

    def _any(self, children: tuple[Expression, ...]) -> Values:
        result = self.truth(children[0])
        for child in children[1:]:
            result = call("or_kleene", result, self.truth(child))
        return result

    def _also(self, known: Values, children: tuple[Expression, ...]) -> Values:
        """`known` AND (any of `children`), tested only on the rows that are open, if few."""
        is_open = bool_values(known) | ~valid_mask(known)
        count = int(np.count_nonzero(is_open))
        if count > len(is_open) * _FEW_SHARE:
            return call("and_kleene", known, self._any(children))
        if not count:
            return known
        mask: pa.BooleanArray = build_bool(is_open)  # type: ignore[assignment]  # its type
        rows = _Rows(self._batch.filter(mask), self._row_type)
        found = call("and_kleene", known.filter(mask), rows._any(children))
        return call("replace_with_mask", known, mask, found)

    def _test(self, expr: Compare | In | Like | IsNull) -> Values:
        match expr:
            case Compare(op=op, left=left, right=right):
                return self._compared(op, left, right)
            case In(operand=operand, values=values):
                kinds = [value.type for value in values if value.type is not None]
                listed = values_array([value.value for value in values], kinds[0])
                return contained(self._values(operand), listed)
            case Like(operand=operand):
                return matched(self._values(operand), expr)
            case IsNull(operand=operand):
                return call("is_null", self._values(operand))

    def _compared(self, op: CompareOp, left: Operand, right: Operand) -> Values:
        first = self._values(left)
        if isinstance(right, Literal):
            return compared(op, first, scalar_of(right))
        return compared(op, *aligned(first, self._values(right)))

    def _values(self, operand: Operand) -> Values:
        match operand:
            case Literal():
                return repeated(operand, self._batch.num_rows)
            case Cast(operand=Call(function="variant_get", arguments=parts), type=target):
                trees = trees_at(*map(self.value, parts))
                return cast_trees(trees, target, None, fails=False)
            case Cast(operand=inner, type=target):
                source = operand_type(inner, self._row_type)
                return cast_values(self._values(inner), source, target)
            case Call(function=name, arguments=arguments, type=kind):
                kernel = function_of(name, len(arguments)).kernel
                return kernel([self.value(part) for part in arguments], kind or BOOLEAN)
            case Computed(arguments=columns, compute=compute):
                found = [self._values(column) for column in columns]
                return compute(found, self._batch.num_rows)
            case Column(path=path):
                return self._column(path)

    def _column(self, path: tuple[str, ...]) -> Values:
        values: Values = self._batch.column(path[0])
        for name in path[1:]:  # by position, as Arrow takes a name such as '.x' for a path
            kind = values.type
            assert isinstance(kind, pa.StructType)  # noqa: S101 - of a ROW column
            options = pc.StructFieldOptions([kind.get_field_index(name)])
            values = call("struct_field", values, options=options)
        return values
