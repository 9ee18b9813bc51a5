"""Binding of predicates: resolves column names and converts literals to column types."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, tzinfo

import pyarrow as pa

from paimon_explore.data_types.definitions import (
    BOOLEAN,
    TEXTS,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, choices, suggestion
from paimon_explore.scan.predicate.builder import cast_target
from paimon_explore.scan.predicate.cast_expression import can_cast, cast_values
from paimon_explore.scan.predicate.evaluator import evaluate, operand_type, value_of
from paimon_explore.scan.predicate.expression import (
    FALSE,
    NULL,
    TRUE,
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
    LiteralValue,
    Not,
    Operand,
    Or,
    columns_of,
    conjunction,
    disjunction,
    is_operand,
)
from paimon_explore.scan.predicate.function_binder import (
    COLLECTIONS,
    DIVISIONS,
    PEERS,
    cast_arguments,
    coerced,
    coerced_part,
    is_null,
)
from paimon_explore.scan.predicate.functions import (
    ALIASES,
    comparable,
    function_of,
    signature_of,
)
from paimon_explore.scan.predicate.like_pattern import Wildcard, pattern_parts
from paimon_explore.scan.predicate.literal_range import LiteralRange, literal_range
from paimon_explore.scan.predicate.literals import repeated, value_at
from paimon_explore.scan.predicate.sql_formatter import literal_text, to_sql

_ONE_ROW = pa.RecordBatch.from_arrays([repeated(TRUE, 1)], [""])
_LAST_YEAR = 9998
_MAX_INT64 = 2**63 - 1
_EPOCH = date(1970, 1, 1)
_LONGEST = {
    **dict.fromkeys(("year", "yyyy", "yy"), 366),
    "quarter": 92,
    **dict.fromkeys(("month", "mon", "mm"), 31),
    "week": 7,
}
"""The maximum number of days of a unit; others have at most one."""
_TRACKED = ("_ROW_ID", "_SEQUENCE_NUMBER")
_OF_FILES = "__paimon_"
"""Metadata columns of other readers, and what the names of those of files start with."""
_FROM = frozenset({CompareOp.EQ, CompareOp.GE, CompareOp.GT})
_UNTIL = frozenset({CompareOp.EQ, CompareOp.LE, CompareOp.LT})


def bind(expr: Expression, row_type: RowType, *, zone: tzinfo | None = None) -> Expression:
    """Binds a condition to columns: exact names, literals of the columns' types.

    Names match exactly, else case-insensitively if only one column matches. Comparisons that have
    the same result for all values of the column's type are folded to constants.

    Args:
        expr: the unbound tree.
        row_type: the table's columns.
        zone: the zone for comparing timestamps without a zone and WITH LOCAL TIME ZONE; None is the
            local zone.

    Returns:
        A BOOLEAN tree for `evaluate`, `may_match` and so on. Comparisons have a column, cast or
        call on the left, and on the right the same or a literal that is not null.

    Raises:
        InvalidInputError: unknown column, or types that cannot be compared.
    """
    return _Binder(row_type, zone).condition(expr)


def bind_value(expr: Expression, row_type: RowType) -> tuple[Expression, DataType]:
    """Binds an expression for a new value and determines its type.

    Args:
        expr: an operand, or a condition for a BOOLEAN value.
        row_type: the columns it may use.

    Returns:
        A tree for `value_of`, and its type; an untyped null has type BOOLEAN.

    Raises:
        InvalidInputError: unknown column or function, or invalid arguments of a function.
    """
    binder = _Binder(row_type, None)
    bound = binder.value(expr)
    return bound, binder.type_of(bound)


def resolve(path: tuple[str, ...], row_type: RowType) -> tuple[tuple[str, ...], DataType]:
    """Resolves a column name, ignoring case if needed, to its exact path and type.

    Raises:
        InvalidInputError: no column has that name, or several do if case is ignored.
    """
    exact: tuple[str, ...] = ()
    found: DataType = row_type
    if len(path) == 1 and "." in path[0] and row_type.field(path[0]) is None:
        path = _path(path[0], row_type) or tuple(path[0].split("."))  # as col("r.x") means it
    if len(path) > 1 and not _alike(path[0], row_type) and _alike(path[1], row_type):
        raise InvalidInputError(
            f"There is no column {path[0]!r}.",
            hint=f"Columns are written without the name of the table: {'.'.join(path[1:])}.",
        )
    for name in path:
        if exact and isinstance(found, RowType) and not _alike(name, found):
            raise InvalidInputError(
                f"Column {'.'.join(exact)!r} has no field {name!r}.",
                hint=f"{suggestion(name, found.names)}Fields: {choices(found.names)}.",
            )
        if not isinstance(found, RowType):
            raise InvalidInputError(
                f"Column {'.'.join(exact)!r} of type {_kind_text(found)} has no field {name!r}."
            )
        field = _field(name, found, ".".join((*exact, name)))
        exact, found = (*exact, field.name), field.type
    return exact, found


def _path(name: str, row_type: RowType) -> tuple[str, ...] | None:
    """The path to a field of a ROW written with dots, which names may contain as well."""
    if _alike(name, row_type):
        return (name,)
    for at in (at for at, char in enumerate(name) if char == "."):
        for field in _alike(name[:at], row_type):
            rest = _path(name[at + 1 :], field.type) if isinstance(field.type, RowType) else None
            if rest is not None:
                return (field.name, *rest)
    return None


def _alike(name: str, row_type: RowType) -> list[DataField]:
    """The fields with this name, ignoring case."""
    return [field for field in row_type if field.name.lower() == name.lower()]


def _field(name: str, row_type: RowType, shown: str) -> DataField:
    field = row_type.field(name)
    if field is not None:
        return field
    similar = _alike(name, row_type)
    if len(similar) == 1:
        return similar[0]
    if similar:
        raise InvalidInputError(
            f"Column name {shown!r} is ambiguous.",
            hint=f"Use one of the exact names {choices(field.name for field in similar)}.",
        )
    raise InvalidInputError(
        f"There is no column {shown!r}.",
        hint=f"{column_hint(shown, row_type)} Strings are written in single quotes.",
    )


def column_hint(name: str, row_type: RowType) -> str:
    """Return which columns there are, and where else a column of other readers is found."""
    if name.upper() in _TRACKED:
        return (
            "Row ids and sequence numbers are columns of inspect.system_table('row_tracking') and "
            "of SQL, if the table has 'row-tracking.enabled'."
        )
    if name.lower().startswith(_OF_FILES):
        return f"SQL has it: pe.sql('SELECT *, {name} FROM t', t=table)."  # noqa: S608 - a hint
    return f"{suggestion(name, row_type.names)}Columns: {choices(row_type.names)}."


class _Binder:
    """Binds a tree from the leaves up."""

    def __init__(self, row_type: RowType, zone: tzinfo | None) -> None:
        self._row_type = row_type
        self._zone = zone

    def condition(self, expr: Expression) -> Expression:
        match expr:
            case And(children=children):
                return _all_of(self.condition(child) for child in children)
            case Or(children=children):
                return _any_of(self.condition(child) for child in children)
            case Not(child=child):
                return _folded(Not(child=self.condition(child)))
            case IsTrue(child=child):
                return _folded(IsTrue(child=self.condition(child)))
            case Column() | Literal() | Cast() | Call() | Computed():
                return self._boolean(expr)
            case Compare() | In() | Like() | IsNull():
                return _folded(self._test(expr))

    def value(self, expr: Expression) -> Expression:
        """An operand, or a condition as a BOOLEAN value."""
        return self._operand(expr) if is_operand(expr) else self.condition(expr)

    def type_of(self, bound: Expression) -> DataType:
        """The type of a bound operand's or condition's values."""
        return self._type(bound) if is_operand(bound) else BOOLEAN

    def _test(self, expr: Compare | In | Like | IsNull) -> Expression:
        match expr:
            case Compare(op=op, left=left, right=right):
                return self._compare(op, self._operand(left), self._operand(right))
            case In(operand=operand, values=values):
                return self._in(self._operand(operand), values)
            case Like(operand=operand):
                return self._like(expr, self._operand(operand))
            case IsNull(operand=operand):
                return IsNull(operand=self._operand(operand))

    def _boolean(self, operand: Operand) -> Expression:
        bound = self._operand(operand)
        if isinstance(bound, Literal) and bound.value is None:
            return NULL
        kind = self._type(bound)
        if is_root(kind, TypeRoot.BOOLEAN):
            return bound
        raise InvalidInputError(
            f"{to_sql(operand)} has type {_kind_text(kind)} and is not a condition.",
            hint="Compare it with a value.",
        )

    def _type(self, operand: Operand) -> DataType:
        return operand_type(operand, self._row_type)

    def _operand(self, operand: Operand) -> Operand:
        match operand:
            case Column(path=path):
                return Column(path=resolve(path, self._row_type)[0])
            case Literal():
                return operand
            case Cast(operand=inner, type=target, tries=tries):
                return self._cast(self._operand(inner), target, tries=tries)
            case Call():
                return self._call(operand)
            case Computed(arguments=columns):
                paths = (resolve(column.path, self._row_type)[0] for column in columns)
                return replace(operand, arguments=tuple(Column(path=path) for path in paths))

    def _call(self, call: Call) -> Operand:
        name = ALIASES.get(call.function, call.function)
        if name == "variant_get" and len(call.arguments) == _WITH_TYPE:
            found = self._call(replace(call, arguments=call.arguments[:-1]))
            return self._cast(found, _type_of_text(call.arguments[-1]))
        function = function_of(name, len(call.arguments))
        bound = [self.value(argument) for argument in call.arguments]
        kinds = [self.type_of(argument) for argument in bound]
        if name in PEERS:
            bound, kinds = coerced(bound, kinds, self._zone, conditions=function.conditions)
        if name in COLLECTIONS:
            if any(map(is_null, bound)):
                return NULL
            bound, kinds = coerced_part(name, bound, kinds, self._zone)
        signature = signature_of(name, function, kinds)
        arguments = cast_arguments(bound, kinds, signature.arguments)
        result = Call(function=name, arguments=arguments, type=signature.result)
        is_constant = not any(True for _ in columns_of(result))
        kind = signature.result
        if not is_constant or not isinstance(kind, AtomicType) or kind.root is TypeRoot.VARIANT:
            return result
        one = value_of(result, _ONE_ROW, RowType(fields=()))
        value = value_at(one, 0, kind)
        is_division = name in DIVISIONS or any(isinstance(one, Call) for one in bound)
        if value is None and is_division and not any(map(is_null, bound)):
            return result  # by zero, which an update refuses
        return Literal(value=value, type=None if value is None else kind)

    def _cast(self, operand: Operand, target: DataType, *, tries: bool = False) -> Operand:
        if isinstance(operand, Literal):
            return self._cast_literal(operand, target, tries=tries)
        source = self._type(operand)
        if with_nullable(source, nullable=True) == with_nullable(target, nullable=True):
            return operand
        if not can_cast(source, target):
            raise InvalidInputError(
                f"A condition cannot cast {_kind_text(source)} to {type_text(target)}.",
                hint="Read the column and filter the rows afterwards.",
            )
        return Cast(operand=operand, type=target, tries=tries)

    def _cast_literal(self, constant: Literal, target: DataType, *, tries: bool) -> Literal:
        """Casts a constant; without `tries`, a text that is not valid for the type is an error."""
        if constant.value is None or constant.type is None:
            return NULL
        if not isinstance(target, AtomicType):
            raise InvalidInputError(f"A constant cannot be cast to {type_text(target)}.")
        if can_cast(constant.type, target):
            one = cast_values(repeated(constant, 1), constant.type, target)
            value = value_at(one, 0, target)
        else:
            value = literal_range(constant, target, self._zone).floor
        if value is None and not tries:
            raise InvalidInputError(f"{literal_text(constant)} is not a valid {type_text(target)}.")
        return NULL if value is None else _literal(value, target)

    def _compare(self, op: CompareOp, left: Operand, right: Operand) -> Expression:
        if isinstance(left, Literal) and not isinstance(right, Literal):
            op, left, right = op.flipped, right, left
        if not isinstance(right, Literal):
            self._check_comparable(left, right)
            return Compare(op=op, left=left, right=right)
        if right.value is None:
            return IsNull(operand=left) if op is CompareOp.SAME else NULL
        if isinstance(left, Literal) and left.value is None:
            return FALSE if op is CompareOp.SAME else NULL
        kind = self._type(left)
        found = _compare_in_range(op, left, literal_range(right, kind, self._zone), kind)
        column = function_column(found) if isinstance(found, Compare) else None
        if column is None or not isinstance(found, Compare):
            return found
        return conjunction((found, *implied_bounds(found, column, self._type(column))))

    def _check_comparable(self, left: Operand, right: Operand) -> None:
        first, second = self._type(left), self._type(right)
        if comparable(first, second):
            return
        raise InvalidInputError(
            f"{to_sql(left)} has type {_kind_text(first)} and {to_sql(right)} has type "
            f"{_kind_text(second)}: these types cannot be compared.",
            hint="Cast one of them.",
        )

    def _in(self, operand: Operand, values: tuple[Literal, ...]) -> Expression:
        if isinstance(operand, Literal) and operand.value is None:
            return NULL
        kind = self._type(operand)
        bound: dict[Literal, None] = {}
        for value in values:
            if value.value is not None:
                exact = literal_range(value, kind, self._zone).exact
                if exact is not None:
                    bound[_literal(exact, kind)] = None
        has_null = any(value.value is None for value in values)
        if not bound:
            return NULL if has_null else _false_of(operand)
        return In(operand=operand, values=(*bound, *((NULL,) if has_null else ())))

    def _like(self, test: Like, operand: Operand) -> Expression:
        if isinstance(operand, Literal) and operand.value is None:
            return NULL
        kind = self._type(operand)
        if not is_root(kind, *TEXTS):
            raise InvalidInputError(
                f"LIKE needs a STRING, but {to_sql(test.operand)} has type {_kind_text(kind)}.",
                hint="Cast it to STRING.",
            )
        parts = pattern_parts(test)
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            text = _literal("".join(texts), kind)
            return Compare(op=CompareOp.EQ, left=operand, right=text)
        if all(part is Wildcard.ANY for part in parts):
            return _true_of(operand)
        return Like(operand=operand, pattern=test.pattern, escape=test.escape)


def _kind_text(kind: DataType) -> str:
    """A type without its nullability, for messages."""
    return type_text(with_nullable(kind, nullable=True))


def _literal(value: LiteralValue, kind: DataType) -> Literal:
    plain = with_nullable(kind, nullable=True)
    return Literal(value=value, type=plain if isinstance(plain, AtomicType) else None)


def _compare_in_range(
    op: CompareOp, left: Operand, found: LiteralRange, kind: DataType
) -> Expression:
    """Builds a comparison with a constant that may be between two values of the column's type."""
    if found.exact is not None:
        return Compare(op=op, left=left, right=_literal(found.exact, kind))
    match op:
        case CompareOp.EQ:
            return _false_of(left)
        case CompareOp.NE:
            return _true_of(left)
        case CompareOp.SAME:
            return FALSE
        case CompareOp.LT | CompareOp.LE:
            return _bounded(CompareOp.LE, left, found.floor, kind)
        case CompareOp.GT | CompareOp.GE:
            return _bounded(CompareOp.GE, left, found.ceiling, kind)


def _bounded(op: CompareOp, left: Operand, bound: LiteralValue, kind: DataType) -> Expression:
    if bound is None:
        return _false_of(left)
    return Compare(op=op, left=left, right=_literal(bound, kind))


def _false_of(operand: Operand) -> Expression:
    """An expression that is false, and unknown for null."""
    return And(children=(IsNull(operand=operand), NULL))


def _true_of(operand: Operand) -> Expression:
    """An expression that is true, and unknown for null."""
    return Or(children=(Not(child=IsNull(operand=operand)), NULL))


def _all_of(children: Iterable[Expression]) -> Expression:
    parts = [child for child in children if child != TRUE]
    return FALSE if FALSE in parts else conjunction(parts)


def _any_of(children: Iterable[Expression]) -> Expression:
    parts = [child for child in children if child != FALSE]
    return TRUE if TRUE in parts else disjunction(parts)


def _folded(expr: Expression) -> Expression:
    """Folds a condition that reads no column to a constant."""
    if is_operand(expr) or any(True for _ in columns_of(expr)):
        return expr
    truth = evaluate(expr, _ONE_ROW, RowType(fields=()))
    if truth.null_count:
        return NULL
    return TRUE if truth[0].as_py() else FALSE


# `year(dt) = 2026` is true only for days of that year. The range is added to the comparison, whose
# result it does not change, so that files, row groups and pages are skipped by their statistics.
_WITH_TYPE = len(("variant", "path", "type"))


def _type_of_text(kind: Expression) -> DataType:
    """Return the type that a constant names."""
    if not isinstance(kind, Literal) or not isinstance(kind.value, str):
        raise InvalidInputError(
            "The type of variant_get must be a constant.",
            hint="Write variant_get(v, '$.a', 'INT').",
        )
    return cast_target(kind.value)


def function_column(compare: Compare) -> Column | None:
    """Returns the column whose `year`, `trunc` or `date_trunc` is compared with a constant."""
    call = compare.left
    if not isinstance(call, Call) or not isinstance(compare.right, Literal):
        return None
    place = {"year": 0, "trunc": 0, "date_trunc": 1}.get(call.function)
    found = None if place is None else call.arguments[place]
    return found if isinstance(found, Column) else None


def implied_bounds(compare: Compare, column: Column, kind: DataType) -> Iterator[Compare]:
    """Yields comparisons of a column that are true wherever a bound comparison is.

    Args:
        compare: compares a function of the column with a constant.
        column: the column.
        kind: its type.
    """
    call, value = compare.left, getattr(compare.right, "value", None)
    if not isinstance(call, Call) or not isinstance(kind, AtomicType) or type(value) is not int:
        return
    per_day = _units_of_day(kind)
    if call.function == "year":
        if not 1 <= value <= _LAST_YEAR:
            return
        begin, end = ((date(year, 1, 1) - _EPOCH).days * per_day for year in (value, value + 1))
        low = end if compare.op is CompareOp.GT else begin
        high = begin - 1 if compare.op is CompareOp.LT else end - 1
    else:
        unit = next(part for part in call.arguments if part is not column)
        days = _LONGEST.get(str(getattr(unit, "value", "")).lower(), 1)
        low, high = value, value + days * per_day
    if compare.op in _FROM and abs(low) <= _MAX_INT64:
        yield Compare(op=CompareOp.GE, left=column, right=Literal(value=low, type=kind))
    if compare.op in _UNTIL and abs(high) <= _MAX_INT64:
        yield Compare(op=CompareOp.LE, left=column, right=Literal(value=high, type=kind))


def _units_of_day(kind: AtomicType) -> int:
    """The number of units of a type in a day."""
    if kind.root is TypeRoot.DATE:
        return 1
    groups = -(-(kind.precision or 0) // 3)
    return int(86_400 * 1_000**groups)
