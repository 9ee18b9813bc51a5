"""SQL functions and arithmetic operators: their signatures and kernels.

Results are those of Spark SQL, with two rules: a result that does not fit its type is an error
instead of silently wrapping around, and a division by zero is null.

| numbers | result |
| --- | --- |
| integer `+ - * %` integer | the wider of both types |
| integer `/` integer | DOUBLE |
| with a DECIMAL | DECIMAL, with Spark's digits, rounded half up |
| with a FLOAT or DOUBLE | DOUBLE; FLOAT if both are |
| DATE `+ -` days | DATE |

A constant takes the type of the other operand if that type can represent it: `qty + 1` is an INT
if `qty` is one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    BOOLEAN,
    BYTES,
    FLOATS,
    INTEGER_BITS,
    INTEGERS,
    MAX_LENGTH,
    NUMBERS,
    STRING,
    TEXTS,
    TIMESTAMPS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate import datetime_kernels as times
from paimon_explore.scan.predicate import function_kernels as kernels
from paimon_explore.scan.predicate.variants.kernels import VARIANT_KERNELS

Types: TypeAlias = Sequence[DataType]

_INT = AtomicType(root=TypeRoot.INT)
_BIGINT = AtomicType(root=TypeRoot.BIGINT)
_FLOAT = AtomicType(root=TypeRoot.FLOAT)
_DOUBLE = AtomicType(root=TypeRoot.DOUBLE)
_DATE = AtomicType(root=TypeRoot.DATE)
_TIMESTAMP = AtomicType(root=TypeRoot.TIMESTAMP, precision=6)
_SECONDS = AtomicType(root=TypeRoot.DECIMAL, precision=8, scale=6)
_DIGITS = {TypeRoot.TINYINT: 3, TypeRoot.SMALLINT: 5, TypeRoot.INT: 10, TypeRoot.BIGINT: 20}
_COMPARABLE = (
    NUMBERS,
    TEXTS,
    BYTES,
    frozenset({TypeRoot.DATE, TypeRoot.TIMESTAMP}),
    frozenset({TypeRoot.TIMESTAMP_LTZ}),
    frozenset({TypeRoot.TIME}),
    frozenset({TypeRoot.BOOLEAN}),
)
"""Groups of types whose values can be compared with each other."""
_MAX_DIGITS = 38
_MIN_FRACTION = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The argument and result types of a call.

    Attributes:
        arguments: the types that the arguments are cast to.
        result: the type of the result.
    """

    arguments: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """The definition of a function.

    Attributes:
        min_arguments, max_arguments: bounds of the number of arguments; None for no maximum.
        signature: returns the signature for argument types; None if they are not supported.
        kernel: computes the result column from columns in the signature's types.
        conditions: whether every second argument except the last is a condition.
        hint: what to do about arguments of other types.
    """

    min_arguments: int
    max_arguments: int | None
    signature: Callable[[Types], Signature | None]
    kernel: Callable[[Sequence[Column], DataType], Column]
    conditions: bool = False
    hint: str = "Cast the arguments."


def function_of(name: str, count: int) -> Function:
    """Looks up a function by name and checks the number of arguments.

    Raises:
        InvalidInputError: it does not exist, or takes another number of arguments.
    """
    found = FUNCTIONS.get(name)
    if found is None:
        raise InvalidInputError(
            f"There is no function {name}.",
            hint=f"Functions: {choices(key for key in FUNCTIONS if key.isalpha() or '_' in key)}.",
        )
    if count < found.min_arguments or (
        found.max_arguments is not None and count > found.max_arguments
    ):
        maximum = "any number" if found.max_arguments is None else str(found.max_arguments)
        wanted = (
            str(found.min_arguments)
            if maximum == str(found.min_arguments)
            else f"{found.min_arguments} to {maximum}"
        )
        verb = "was" if count == 1 else "were"
        raise InvalidInputError(
            f"Function {name} takes {wanted} argument{'' if wanted == '1' else 's'}, but {count} "
            f"{verb} given."
        )
    return found


def signature_of(name: str, function: Function, types: Types) -> Signature:
    """The signature of a call with arguments of these types.

    Raises:
        InvalidInputError: the function does not take arguments of these types.
    """
    found = function.signature(types)
    if found is None:
        shown = ", ".join(type_text(with_nullable(kind, nullable=True)) for kind in types)
        raise InvalidInputError(
            f"{'Function' if name.isidentifier() else 'Operator'} {name} does not accept arguments "
            f"of type {shown}.",
            hint=function.hint,
        )
    return found


def comparable(first: DataType, second: DataType) -> bool:
    """Whether values of two types can be compared with each other."""
    roots = {kind.root if isinstance(kind, AtomicType) else None for kind in (first, second)}
    return any(roots <= group for group in _COMPARABLE)


def common_type(types: Types) -> DataType | None:
    """The common type of several types; None if there is none.

    It represents all values without loss, except BIGINT and DECIMAL as DOUBLE.
    """
    plain = [with_nullable(kind, nullable=True) for kind in types]
    if all(kind == plain[0] for kind in plain):
        return plain[0]
    atoms = [kind for kind in plain if isinstance(kind, AtomicType)]
    return _common_atom(atoms) if len(atoms) == len(plain) else None


def _common_atom(atoms: Sequence[AtomicType]) -> AtomicType | None:
    roots = {kind.root for kind in atoms}
    found: AtomicType | None = None
    if roots <= TEXTS:
        found = STRING
    elif roots <= BYTES:
        found = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
    elif roots <= INTEGERS:
        found = max(atoms, key=lambda kind: INTEGER_BITS[kind.root])
    elif roots <= NUMBERS:
        found = _DOUBLE if roots & FLOATS else _wide_decimal(atoms)
    elif len(roots) == 1 and roots <= TIMESTAMPS:
        found = max(atoms, key=lambda kind: kind.precision or 0)
    return found


def _wide_decimal(kinds: Sequence[AtomicType]) -> AtomicType:
    parts = [_as_decimal(kind) for kind in kinds]
    scale = max(part[1] for part in parts)
    whole = max(part[0] - part[1] for part in parts)
    return _decimal(whole + scale, scale)


def _as_decimal(kind: AtomicType) -> tuple[int, int]:
    """Precision and scale of an integer or DECIMAL type."""
    return _DIGITS.get(kind.root, kind.precision or 0), kind.scale or 0


def _decimal(precision: int, scale: int) -> AtomicType:
    """A DECIMAL limited to 38 digits as in Spark: the scale is reduced before integer digits."""
    if precision > _MAX_DIGITS:
        kept = min(scale, _MIN_FRACTION)
        scale = max(_MAX_DIGITS - (precision - scale), kept)
        precision = _MAX_DIGITS
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def _numbers(types: Types) -> list[AtomicType] | None:
    atoms = [kind for kind in types if isinstance(kind, AtomicType) and kind.root in NUMBERS]
    return atoms if len(atoms) == len(types) else None


def _same(kind: DataType, count: int) -> Signature:
    return Signature(arguments=(kind,) * count, result=kind)


def _arithmetic(digits: Callable[[tuple[int, int], tuple[int, int]], AtomicType]) -> "_Rule":
    """The rule of `+`, `-` and `*`; `digits` returns the result type of decimals."""

    def rule(types: Types) -> Signature | None:
        atoms = _numbers(types)
        if atoms is None:
            return None
        common = common_type(atoms)
        if common is None or not isinstance(common, AtomicType):
            return None
        if common.root is not TypeRoot.DECIMAL:
            return _same(common, 2)
        first, second = (_as_decimal(kind) for kind in atoms)
        return Signature(
            arguments=(_decimal(*first), _decimal(*second)), result=digits(first, second)
        )

    return rule


_Rule: TypeAlias = Callable[[Types], Signature | None]


def _sum_digits(a: tuple[int, int], b: tuple[int, int]) -> AtomicType:
    scale = max(a[1], b[1])
    return _decimal(max(a[0] - a[1], b[0] - b[1]) + scale + 1, scale)


def _product_digits(a: tuple[int, int], b: tuple[int, int]) -> AtomicType:
    return _decimal(a[0] + b[0] + 1, a[1] + b[1])


def _quotient_digits(a: tuple[int, int], b: tuple[int, int]) -> AtomicType:
    scale = max(_MIN_FRACTION, a[1] + b[0] + 1)
    return _decimal(a[0] - a[1] + b[1] + scale, scale)


def _date_or(rule: _Rule, *, differs: bool) -> _Rule:
    """The rule of `+` or `-` extended by DATE and days; with `differs`, also DATE - DATE."""

    def dated(types: Types) -> Signature | None:
        roots = [kind.root if isinstance(kind, AtomicType) else None for kind in types]
        if roots[0] is TypeRoot.DATE and roots[1] in INTEGER_BITS:
            return Signature(arguments=(_DATE, _INT), result=_DATE)
        if differs and roots == [TypeRoot.DATE, TypeRoot.DATE]:
            return Signature(arguments=(_DATE, _DATE), result=_INT)
        return rule(types)

    return dated


def _division(types: Types) -> Signature | None:
    atoms = _numbers(types)
    if atoms is None:
        return None
    roots = {kind.root for kind in atoms}
    if roots & FLOATS or TypeRoot.DECIMAL not in roots:
        return _same(_DOUBLE, 2)
    first, second = (_as_decimal(kind) for kind in atoms)
    return Signature(
        arguments=(_decimal(*first), _decimal(*second)), result=_quotient_digits(first, second)
    )


def _remainder(types: Types) -> Signature | None:
    atoms = _numbers(types)
    common = None if atoms is None else common_type(atoms)
    is_decimal = common is not None and is_root(common, TypeRoot.DECIMAL)
    return None if common is None or is_decimal else _same(common, 2)


def _number(types: Types) -> Signature | None:
    atoms = _numbers(types)
    return None if atoms is None else _same(with_nullable(atoms[0], nullable=True), 1)


def _whole(types: Types) -> Signature | None:
    """The rule of `floor` and `ceil`: a number to an integer."""
    atoms = _numbers(types)
    if atoms is None:
        return None
    kind = atoms[0]
    if kind.root is TypeRoot.DECIMAL:
        digits = (kind.precision or 0) - (kind.scale or 0) + 1
        return Signature(arguments=(kind,), result=_decimal(digits, 0))
    return Signature(arguments=(kind,), result=kind if kind.root in INTEGER_BITS else _BIGINT)


def _rounded(types: Types) -> Signature | None:
    atoms = _numbers(types[:1])
    if atoms is None:
        return None
    kind = with_nullable(atoms[0], nullable=True)
    return Signature(arguments=(kind, *((_INT,) * (len(types) - 1))), result=kind)


def _texts(result: DataType, *rest: DataType) -> _Rule:
    """The rule of functions of a text and optional further arguments."""

    def rule(types: Types) -> Signature | None:
        wanted = (STRING, *rest)[: len(types)]
        return Signature(arguments=wanted, result=result) if _fit(types, wanted) else None

    return rule


def _fit(types: Types, wanted: Types) -> bool:
    for kind, target in zip(types, wanted, strict=True):
        if not isinstance(kind, AtomicType):
            return False
        family = TEXTS if target == STRING else INTEGERS
        if kind.root not in family:
            return False
    return True


def _joined(types: Types) -> Signature | None:
    """The rule of `concat`: texts, or types with a unique text form."""
    castable = TEXTS | INTEGERS | {TypeRoot.BOOLEAN, TypeRoot.DATE}
    fits = all(is_root(kind, *castable) for kind in types)
    return _same(STRING, len(types)) if fits else None


def _any(types: Types) -> Signature | None:
    common = common_type(types)
    return None if common is None else _same(common, len(types))


def _comparable(types: Types) -> Signature | None:
    common = common_type(types)
    is_atomic = isinstance(common, AtomicType) and common.root is not TypeRoot.VARIANT
    return _same(common, len(types)) if common is not None and is_atomic else None


def _case(types: Types) -> Signature | None:
    """The rule of CASE: conditions and values alternate, then the ELSE value."""
    tests, values = types[0:-1:2], (*types[1:-1:2], types[-1])
    common = common_type(values)
    are_tests = all(with_nullable(kind, nullable=True) == BOOLEAN for kind in tests)
    if common is None or not are_tests:
        return None
    pairs = (BOOLEAN, common) * len(tests)
    return Signature(arguments=(*pairs, common), result=common)


def _part_of(*roots: TypeRoot, result: DataType = _INT) -> _Rule:
    """The rule of functions of one date or time."""

    def rule(types: Types) -> Signature | None:
        fits = is_root(types[0], *roots)
        return Signature(arguments=(types[0],), result=result) if fits else None

    return rule


_part_of_date = _part_of(TypeRoot.DATE, TypeRoot.TIMESTAMP)
_part_of_time = _part_of(TypeRoot.TIMESTAMP)


def _truncated(types: Types) -> Signature | None:
    """The rule of `date_trunc`: a unit, and a date or a time without a zone."""
    unit, kind = types
    if not isinstance(unit, AtomicType) or unit.root not in TEXTS:
        return None
    if not isinstance(kind, AtomicType) or kind.root not in {TypeRoot.DATE, TypeRoot.TIMESTAMP}:
        return None
    time = kind if kind.root is TypeRoot.TIMESTAMP else _TIMESTAMP
    return Signature(arguments=(STRING, time), result=with_nullable(time, nullable=True))


def _truncated_date(types: Types) -> Signature | None:
    kind, unit = types
    fits = is_root(kind, TypeRoot.DATE)
    is_text = is_root(unit, *TEXTS)
    return Signature(arguments=(_DATE, STRING), result=_DATE) if fits and is_text else None


def _shifted(*, by_days: bool) -> _Rule:
    """The rule of a time plus an interval; dates remain dates if the interval has whole days.

    Days of TIMESTAMP_LTZ have different lengths by zone: only hours and less are added to them.
    """

    def rule(types: Types) -> Signature | None:
        kind = types[0]
        if not isinstance(kind, AtomicType):
            return None
        fits = {TypeRoot.DATE, TypeRoot.TIMESTAMP}
        if kind.root not in (fits if by_days else fits | {TypeRoot.TIMESTAMP_LTZ}):
            return None
        result = kind if by_days or kind.root is not TypeRoot.DATE else _TIMESTAMP
        plain = with_nullable(result, nullable=True)
        return Signature(arguments=(plain, _BIGINT, _BIGINT), result=plain)

    return rule


def _nan(types: Types) -> Signature | None:
    atoms = _numbers(types)
    if atoms is None:
        return None
    kind = _FLOAT if atoms[0].root is TypeRoot.FLOAT else _DOUBLE
    return Signature(arguments=(kind,), result=BOOLEAN)


def _sized(types: Types) -> Signature | None:
    fits = isinstance(types[0], ArrayType | MapType)
    return Signature(arguments=tuple(types), result=_INT) if fits else None


def _searched(types: Types) -> Signature | None:
    """The rule of `array_contains`: an array, and a value that is comparable with its elements."""
    kind, value = types
    fits = isinstance(kind, ArrayType) and comparable(kind.element, value)
    return Signature(arguments=tuple(types), result=BOOLEAN) if fits else None


def _item(types: Types) -> Signature | None:
    """The rule of `element_at` and `[]`: an array and an integer, or a map and a key."""
    kind, index = types
    found: DataType | None = None
    if isinstance(kind, MapType) and comparable(kind.key, index):
        found = kind.value
    if isinstance(kind, ArrayType) and is_root(index, *INTEGER_BITS):
        found = kind.element
    if found is None:
        return None
    return Signature(arguments=tuple(types), result=with_nullable(found, nullable=True))


def _one_to(maximum: int | None, rule: _Rule, kernel: kernels.Kernel, minimum: int = 1) -> Function:
    return Function(min_arguments=minimum, max_arguments=maximum, signature=rule, kernel=kernel)


def _two(rule: _Rule, kernel: kernels.Kernel) -> Function:
    return Function(min_arguments=2, max_arguments=2, signature=rule, kernel=kernel)


def _trim(kernel: str) -> Function:
    return _one_to(1, _texts(STRING), kernels.text(kernel))


def _variant_function(name: str, result: DataType, *wanted: DataType | None) -> Function:
    """Return a function of a VARIANT; None among the wanted types is any type."""

    def rule(types: Types) -> Signature | None:
        pairs = list(zip(types, wanted, strict=True))
        fits = all(
            target is None or is_root(kind, *(TEXTS if target == STRING else {TypeRoot.VARIANT}))
            for kind, target in pairs
        )
        arguments = tuple(kind if target is None else target for kind, target in pairs)
        return Signature(arguments=arguments, result=result) if fits else None

    kernel = VARIANT_KERNELS[name]
    return Function(
        min_arguments=len(wanted),
        max_arguments=len(wanted),
        signature=rule,
        kernel=lambda columns, _: kernel(columns),
    )


_VARIANT = AtomicType(root=TypeRoot.VARIANT)
_ITEM_HINT = "{} takes an ARRAY and an integer, or a MAP and a key."

FUNCTIONS: Mapping[str, Function] = {
    "+": _two(_date_or(_arithmetic(_sum_digits), differs=False), kernels.added),
    "-": _two(_date_or(_arithmetic(_sum_digits), differs=True), kernels.subtracted),
    "*": _two(_arithmetic(_product_digits), kernels.multiplied),
    "/": _two(_division, kernels.divided),
    "%": _two(_remainder, kernels.remainder),
    "negative": _one_to(1, _number, kernels.negated),
    "abs": _one_to(1, _number, kernels.absolute),
    "round": _one_to(2, _rounded, kernels.rounded),
    "floor": _one_to(1, _whole, kernels.whole("floor")),
    "ceil": _one_to(1, _whole, kernels.whole("ceil")),
    "greatest": _one_to(None, _comparable, kernels.extreme("max_element_wise"), minimum=2),
    "least": _one_to(None, _comparable, kernels.extreme("min_element_wise"), minimum=2),
    "coalesce": _one_to(None, _any, kernels.coalesced),
    "nullif": _two(_comparable, kernels.null_if),
    "case": Function(
        min_arguments=3,
        max_arguments=None,
        signature=_case,
        kernel=kernels.case_when,
        conditions=True,
    ),
    "concat": _one_to(None, _joined, kernels.joined),
    "upper": _one_to(1, _texts(STRING), kernels.cased("utf8_upper", str.upper)),
    "lower": _one_to(1, _texts(STRING), kernels.cased("utf8_lower", str.lower)),
    "trim": _trim("utf8_trim_whitespace"),
    "ltrim": _trim("utf8_ltrim_whitespace"),
    "rtrim": _trim("utf8_rtrim_whitespace"),
    "length": _one_to(1, _texts(_INT), kernels.text("utf8_length")),
    "substring": _one_to(3, _texts(STRING, _INT, _INT), kernels.substring, minimum=2),
    "replace": _one_to(3, _texts(STRING, STRING, STRING), kernels.replaced, minimum=3),
    "year": _one_to(1, _part_of_date, times.numbered("year")),
    "month": _one_to(1, _part_of_date, times.numbered("month")),
    "day": _one_to(1, _part_of_date, times.numbered("day")),
    "quarter": _one_to(1, _part_of_date, times.numbered("quarter")),
    "weekofyear": _one_to(1, _part_of_date, times.numbered("iso_week")),
    "yearofweek": _one_to(1, _part_of_date, times.numbered("iso_year")),
    "dayofyear": _one_to(1, _part_of_date, times.numbered("day_of_year")),
    "dayofweek": _one_to(1, _part_of_date, times.day_of_week),
    "weekday": _one_to(1, _part_of_date, times.numbered("day_of_week")),
    "dayofweek_iso": _one_to(1, _part_of_date, times.numbered("day_of_week", 1)),
    "hour": _one_to(1, _part_of_time, times.numbered("hour")),
    "minute": _one_to(1, _part_of_time, times.numbered("minute")),
    "second": _one_to(1, _part_of_time, times.numbered("second")),
    "seconds": _one_to(1, _part_of(TypeRoot.TIMESTAMP, result=_SECONDS), times.seconds),
    "date_trunc": _two(_truncated, times.truncated),
    "trunc": _two(_truncated_date, times.truncated_date),
    "add_days": _one_to(3, _shifted(by_days=True), times.shifted, minimum=3),
    "add_time": _one_to(3, _shifted(by_days=False), times.shifted, minimum=3),
    "isnan": _one_to(1, _nan, kernels.not_a_number),
    "regexp_like": _two(_texts(BOOLEAN, STRING), kernels.matches_regex),
    "size": replace(_one_to(1, _sized, kernels.size), hint="size takes an ARRAY or a MAP."),
    "array_contains": replace(
        _two(_searched, kernels.array_contains),
        hint="array_contains takes an ARRAY, and a value to compare with its elements.",
    ),
    "element_at": replace(_two(_item, kernels.item(1)), hint=_ITEM_HINT.format("element_at")),
    "[]": replace(_two(_item, kernels.item(0)), hint=_ITEM_HINT.format("[ ]")),
    "variant_get": _variant_function("variant_get", _VARIANT, _VARIANT, STRING),
    "variant_set": _variant_function("variant_set", _VARIANT, _VARIANT, STRING, None),
    "try_variant_set": _variant_function("try_variant_set", _VARIANT, _VARIANT, STRING, None),
    "variant_delete": _variant_function("variant_delete", _VARIANT, _VARIANT, STRING),
    "parse_json": _variant_function("parse_json", _VARIANT, STRING),
    "try_parse_json": _variant_function("try_parse_json", _VARIANT, STRING),
    "to_json": _variant_function("to_json", STRING, _VARIANT),
    "is_variant_null": _variant_function("is_variant_null", BOOLEAN, _VARIANT),
}
"""Functions by name in lower case, and operators."""

ALIASES: Mapping[str, str] = {
    **dict.fromkeys(("ifnull", "nvl"), "coalesce"),
    **dict.fromkeys(("if", "iff"), "case"),
    **dict.fromkeys(("rlike", "regexp"), "regexp_like"),
    "ucase": "upper",
    "lcase": "lower",
    "char_length": "length",
    "substr": "substring",
    "ceiling": "ceil",
    "mod": "%",
    "dayofmonth": "day",
    "cardinality": "size",
    "try_variant_get": "variant_get",
}
"""Other names of functions."""
