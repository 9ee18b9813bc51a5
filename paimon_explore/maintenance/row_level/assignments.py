"""The new values of an update: SET in SQL.

A text is an SQL expression, as in `where`; a term such as `pe.col("a") + 1` likewise; any other
value is the value itself. A result is stored as all input is (`write.input.safe_cast`): unchanged,
or not at all. What is to be rounded is rounded by the expression, with `round(price * 1.1, 2)` or a
CAST.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.arrow_buffers import Column, take_rows
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.nested_values import (
    Path,
    check_paths,
    path_of,
    with_field,
)
from paimon_explore.scan.predicate.binder import bind_value
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.datetime_literals import parse_timestamp
from paimon_explore.scan.predicate.evaluator import value_of
from paimon_explore.scan.predicate.expression import Expression, Literal, names_of
from paimon_explore.scan.predicate.literal_range import literal_range
from paimon_explore.scan.predicate.literals import repeated
from paimon_explore.scan.predicate.sql_formatter import literal_text
from paimon_explore.scan.predicate.sql_parser import parse_value
from paimon_explore.write.input.arrow_cast import conform
from paimon_explore.write.input.python_values import constant_column
from paimon_explore.write.input.safe_cast import ZONE_HINT

NewValue: TypeAlias = object
"""A new value: SQL text, a term, or the value itself."""

_TIMES = frozenset({TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_QUOTE_HINT = "A string is written with quotes inside, \"'text'\", or as pe.lit('text')."


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The new value of one column, or of a field in it.

    Attributes:
        column: the column.
        path: the names of the field inside the column's rows; empty for the column itself.
        field: what gets the value: the column, or the field under its whole name.
        source: a bound expression, or a constant as one value in the type of `field`.
    """

    column: DataField
    path: Path
    field: DataField
    source: "Expression | Column"

    def values(self, batch: pa.RecordBatch, row_type: RowType) -> Column:
        """The new values for n rows.

        Raises:
            InvalidInputError: one does not fit.
        """
        count = batch.num_rows
        if isinstance(self.source, pa.Array):
            return take_rows(self.source, np.zeros(count, np.int64))
        found = value_of(self.source, batch, row_type)
        return assigned(found, self.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """The new values of an update.

    Attributes:
        target: the table's columns.
        scope: the columns that expressions may use.
        items: in the table's order of columns.
    """

    target: RowType
    scope: RowType
    items: tuple[Assignment, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that get new values."""
        return tuple(dict.fromkeys(item.column.name for item in self.items))

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the scope that expressions read."""
        found = [names_of(i.source) for i in self.items if not isinstance(i.source, pa.Array)]
        names = frozenset[str]().union(*found)
        return tuple(name for name in self.scope.names if name in names)

    def applied(self, before: pa.RecordBatch, scope: pa.RecordBatch) -> pa.RecordBatch:
        """The rows with their new values.

        Args:
            before: n rows with columns of the table; those that it lacks and that are not assigned
                are left out.
            scope: the same rows as expressions see them.
        """
        known = before.schema.names
        new: dict[str, Column] = {}
        for item in self.items:
            name, values = item.column.name, item.values(scope, self.scope)
            if item.path:
                kind = item.column.type
                assert isinstance(kind, RowType)  # noqa: S101 - it has fields
                nulls: Column = pa.nulls(before.num_rows, to_arrow(kind))  # type: ignore[call-overload]  # stubs list types
                rows = before.column(name) if name in known else nulls
                values = with_field(new.get(name, rows), kind, item.path, values)
            new[name] = values
        fields = [f for f in self.target if f.name in new or f.name in known]
        columns = [
            new[field.name] if field.name in new else before.column(field.name) for field in fields
        ]
        return pa.RecordBatch.from_arrays(
            columns, schema=arrow_schema(RowType(fields=tuple(fields)))
        )


def assignments(
    values: Mapping[str, NewValue], target: RowType, scope: RowType | None = None
) -> Assignments:
    """New values bound to the columns that they are for and those that they use.

    Args:
        values: by column.
        target: the table's columns.
        scope: what expressions may use; the table's columns by default.

    Raises:
        InvalidInputError: no or unknown columns, or a value that cannot be understood.
    """
    given: object = values
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError(
            "update() needs new values.", hint='Pass them by column: {"qty": "qty + 1"}.'
        )
    seen = target if scope is None else scope
    items = [_assignment(name, value, target, seen) for name, value in values.items()]
    check_paths([(item.column.name, *item.path) for item in items])
    places = {name: place for place, name in enumerate(target.names)}
    ordered = sorted(items, key=lambda item: places[item.column.name])
    return Assignments(target=target, scope=seen, items=tuple(ordered))


def _assignment(name: object, value: NewValue, target: RowType, scope: RowType) -> Assignment:
    column, *inner = path_of(name, target)
    path = tuple(field.name for field in inner)
    field = replace(inner[-1], name=".".join((column.name, *path))) if inner else column
    return Assignment(column=column, path=path, field=field, source=_source(value, field, scope))


def _source(value: NewValue, field: DataField, scope: RowType) -> "Expression | Column":
    if isinstance(value, Term):
        return _bound(value.expression, field, scope)
    if isinstance(value, Expression):
        return _bound(value, field, scope)
    if isinstance(value, str):
        try:
            return _bound(parse_value(value), field, scope)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"The new value {value!r} of column {field.name!r}: {error.message}",
                hint=f"{error.hint} {_QUOTE_HINT}" if _is_name(value) else error.hint,
            ) from error
    return constant_column(value, field)


def _is_name(text: str) -> bool:
    """Whether a text may be meant as a value: one that SQL takes for words."""
    return not text.startswith("'") and "(" not in text and any(map(str.isalpha, text))


def _bound(expr: Expression, field: DataField, scope: RowType) -> "Expression | Column":
    bound, kind = bind_value(expr, scope)
    if isinstance(bound, Literal):
        return _constant(bound, field)
    empty = pa.RecordBatch.from_arrays(
        [pa.nulls(0, to_arrow(column.type)) for column in scope],  # type: ignore[call-overload]  # stubs list types
        schema=arrow_schema(scope),
    )
    if to_arrow(kind) != to_arrow(field.type):
        assigned(value_of(bound, empty, scope), field)  # refuses types that never fit
    return bound


def _constant(constant: Literal, field: DataField) -> Column:
    """A constant of SQL as one value of the column; a text may be a date or a time."""
    kind = field.type
    if constant.value is None or not isinstance(kind, AtomicType):
        if constant.value is not None:
            raise InvalidInputError(
                f"Column {field.name!r} ({type_text(kind)}) cannot be set to "
                f"{literal_text(constant)}.",
                hint="Pass the value itself instead of SQL text.",
            )
        nulls: Column = pa.nulls(1, to_arrow(kind))  # type: ignore[call-overload]  # stubs list types
        return conform(nulls, kind, where=field.name)
    plain = with_nullable(kind, nullable=True)
    assert isinstance(plain, AtomicType)  # noqa: S101 - as it was
    if isinstance(constant.value, str) and kind.root in _TIMES:
        _check_zone(constant, plain, field.name)
        exact = literal_range(constant, plain, None).exact
        if exact is None:
            raise InvalidInputError(
                f"Column {field.name!r} ({type_text(plain)}): {literal_text(constant)} does not "
                "fit.",
                hint="Use no more fraction digits than the type has.",
            )
        constant = Literal(value=exact, type=plain)
    return assigned(repeated(constant, 1), field)


def _check_zone(constant: Literal, kind: AtomicType, name: str) -> None:
    """Refuse texts with a time zone where the column has none, and the other way round."""
    if kind.root is TypeRoot.TIME or not isinstance(constant.value, str):
        return
    moment = parse_timestamp(constant.value)
    if moment is not None and moment.zoned != (kind.root is TypeRoot.TIMESTAMP_LTZ):
        shown = literal_text(constant)
        raise InvalidInputError(
            f"Column {name!r} ({type_text(kind)}): {shown} cannot be stored without a cast.",
            hint=ZONE_HINT,
        )


def assigned(values: Column, field: DataField) -> Column:
    """Values in a column's type.

    Raises:
        InvalidInputError: one does not fit.
    """
    if pa.types.is_boolean(values.type) and values.null_count == len(values):
        values = pa.nulls(len(values))  # an untyped NULL
    return conform(values, field.type, where=field.name, first_row=-1)


def names_read(items: Sequence[Assignments]) -> frozenset[str]:
    """The columns of their scopes that several updates read."""
    return frozenset(name for item in items for name in item.reads)
