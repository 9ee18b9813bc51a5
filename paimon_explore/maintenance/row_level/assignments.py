"""Assignments of an update: the SET clause in SQL.

A string is an SQL expression, as in `where`, and so is a term such as `pe.col("a") + 1`; any other
value is a constant. Results are cast by the same rules as other input (`write.input.safe_cast`): a
lossy cast is an error, and the expression itself must round, such as `round(price * 1.1, 2)`.

Assignments to nested fields: `SET address.city = 'Rome'`.

Other fields do not change. A null row becomes a row with the new value and nulls in its other
fields, as in Spark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema, to_arrow
from paimon_explore.data_types.arrow_buffers import Column, build_struct, take_rows, valid_mask
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.lost_values import refuse_lost_values
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

Path = tuple[str, ...]
"""Path of a nested field: the names from the column down."""


def path_of(name: object, target: RowType) -> tuple[DataField, ...]:
    """Resolve a column name, or a dotted path of a nested field.

    Names are case-insensitive if they are unambiguous.

    Raises:
        InvalidInputError: there is no such column or field.
    """
    if isinstance(name, str):
        found = _find(name, target)
        if found is not None:
            return (found,)
        first, _, rest = name.partition(".")
        column = _find(first, target)
        if column is not None and rest:
            return (column, *_nested_path(column.type, rest, first))
    msg = f"The table has no column {name!r}."
    raise InvalidInputError(msg, hint=f"Columns: {choices(target.names)}.")


def _nested_path(row: DataType, path: str, where: str) -> tuple[DataField, ...]:
    if not isinstance(row, RowType):
        msg = f"Column {where!r} is not a ROW, so it has no field {path!r}."
        raise InvalidInputError(msg)
    found = _find(path, row)
    if found is not None:
        return (found,)
    first, _, rest = path.partition(".")
    field = _find(first, row)
    if field is None or not rest:
        msg = f"ROW {where!r} has no field {first!r}."
        raise InvalidInputError(msg, hint=f"Fields: {choices(row.names)}.")
    return (field, *_nested_path(field.type, rest, f"{where}.{first}"))


def _find(name: str, fields: RowType) -> DataField | None:
    found = fields.field(name)
    alike = [field for field in fields if field.name.lower() == name.lower()]
    return alike[0] if found is None and len(alike) == 1 else found


def check_paths(paths: Sequence[Path]) -> None:
    """Check that no column or field is assigned twice.

    Raises:
        InvalidInputError: a path equals another or is a prefix of it.
    """
    for number, path in enumerate(paths):
        for other in paths[:number]:
            shorter, longer = sorted((path, other), key=len)
            if longer[: len(shorter)] == shorter:
                column = ".".join(shorter)
                raise InvalidInputError(f"Column {column!r} is set twice.")


def with_field(rows: Column, row_type: RowType, path: Path, new: Column) -> Column:
    """Replace one field of rows.

    Args:
        rows: n rows in `to_arrow(row_type)`.
        row_type: type of the rows.
        path: path of the field inside the rows.
        new: n new values in the type of the field.
    """
    valid = valid_mask(rows)
    children: list[Column] = []
    for field in row_type:
        child: Column = rows.field(field.name)  # type: ignore[attr-defined]  # a struct array
        child = _null_where(child, ~valid, field)
        if field.name == path[0]:
            inner = field.type
            child = (
                with_field(child, inner, path[1:], new)
                if len(path) > 1 and isinstance(inner, RowType)
                else new
            )
        children.append(child)
    return build_struct(to_arrow(row_type), children, np.ones(len(rows), np.bool_))


def _null_where(
    values: Column, absent: "np.ndarray[tuple[int], np.dtype[np.bool_]]", field: DataField
) -> Column:
    """Set the values below null rows to null."""
    if not absent.any():
        return values
    if not field.type.nullable:
        raise InvalidInputError(
            f"One field of a ROW cannot be set where the ROW is null: its field {field.name!r} is "
            "NOT NULL and would have no value.",
            hint="Set the whole ROW, or leave out the rows where it IS NULL.",
        )
    indices = pa.array(np.arange(len(values)), pa.int64(), mask=absent)
    found: Column = values.take(indices)
    return found


NewValue: TypeAlias = object
"""A new value: an SQL expression as a string, a term, or a constant."""

_TIMES = frozenset({TypeRoot.DATE, TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
QUOTE_HINT = "Write a string constant as \"'text'\" (with quotes) or pe.lit('text')."


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The new value of one column, or of a nested field.

    Attributes:
        column: the column.
        path: path of the nested field inside the column; empty for the column itself.
        field: the assigned column, or the nested field with its full name.
        source: a bound expression, or an array of one constant in the type of `field`.
    """

    column: DataField
    path: Path
    field: DataField
    source: "Expression | Column"

    def values(self, batch: pa.RecordBatch, row_type: RowType) -> Column:
        """Compute the new values of n rows.

        Raises:
            InvalidInputError: a value does not fit.
        """
        count = batch.num_rows
        if isinstance(self.source, pa.Array):
            return take_rows(self.source, np.zeros(count, np.int64))
        refuse_lost_values(self.source, batch, row_type)
        found = value_of(self.source, batch, row_type)
        return assigned(found, self.field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """The new values of an update.

    Attributes:
        target: the table's columns.
        scope: the columns that expressions may use.
        items: the assignments in the table's column order.
    """

    target: RowType
    scope: RowType
    items: tuple[Assignment, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the assigned columns."""
        return tuple(dict.fromkeys(item.column.name for item in self.items))

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the columns of which only nested fields are assigned."""
        return tuple(dict.fromkeys(item.column.name for item in self.items if item.path))

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns of the scope that expressions read."""
        found = [names_of(i.source) for i in self.items if not isinstance(i.source, pa.Array)]
        names = frozenset[str]().union(*found)
        return tuple(name for name in self.scope.names if name in names)

    def applied(self, before: pa.RecordBatch, scope: pa.RecordBatch) -> pa.RecordBatch:
        """Apply the assignments to rows.

        Args:
            before: n rows with columns of the table; the result has these and the assigned columns.
            scope: the same rows with the columns that expressions use.
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
    """Bind new values to the assigned columns and to the columns that they use.

    Args:
        values: new values by column.
        target: the table's columns.
        scope: the columns that expressions may use; by default the table's columns.

    Raises:
        InvalidInputError: a column is unknown, there is none, or a value is invalid.
    """
    given: object = values
    if not isinstance(given, Mapping) or not given:
        raise InvalidInputError(
            "update() requires at least one column to set.",
            hint="Map each column name to its new value.",
        )
    scope = target if scope is None else scope
    items = [_assignment(name, value, target, scope) for name, value in values.items()]
    check_paths([(item.column.name, *item.path) for item in items])
    order = {name: index for index, name in enumerate(target.names)}
    items.sort(key=lambda item: order[item.column.name])
    return Assignments(target=target, scope=scope, items=tuple(items))


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
                f"The new value {value!r} of column {field.name!r} is invalid: {error.message}",
                hint=f"{error.hint} {QUOTE_HINT}" if _is_name(value) else error.hint,
            ) from error
    return constant_column(value, field)


def _is_name(text: str) -> bool:
    """Whether a text may be meant as a string, but SQL parses it as names."""
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
        assigned(value_of(bound, empty, scope), field)  # raises for types that never fit
    return bound


def _constant(constant: Literal, field: DataField) -> Column:
    """Convert an SQL constant to one value of the column; a string may be a date or time."""
    kind = field.type
    if constant.value is None or not isinstance(kind, AtomicType):
        if constant.value is not None:
            raise InvalidInputError(
                f"Column {field.name!r} ({type_text(kind)}) cannot be set to "
                f"{literal_text(constant)}.",
                hint="Pass a Python value instead of SQL text.",
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
                f"The value {literal_text(constant)} has more fractional digits than column "
                f"{field.name!r} of type {type_text(plain)} stores.",
                hint="Round the value first.",
            )
        constant = Literal(value=exact, type=plain)
    return assigned(repeated(constant, 1), field)


def _check_zone(constant: Literal, kind: AtomicType, name: str) -> None:
    """Check that a timestamp string has a time zone if and only if the column has one."""
    if kind.root is TypeRoot.TIME or not isinstance(constant.value, str):
        return
    moment = parse_timestamp(constant.value)
    if moment is not None and moment.zoned != (kind.root is TypeRoot.TIMESTAMP_LTZ):
        shown = literal_text(constant)
        raise InvalidInputError(
            f"Column {name!r} of type {type_text(kind)} cannot store {shown} without a cast.",
            hint=ZONE_HINT,
        )


def assigned(values: Column, field: DataField) -> Column:
    """Cast values to a column's type.

    Raises:
        InvalidInputError: a value does not fit.
    """
    if pa.types.is_boolean(values.type) and values.null_count == len(values):
        values = pa.nulls(len(values))  # an untyped NULL
    return conform(values, field.type, where=field.name, first_row=-1)
