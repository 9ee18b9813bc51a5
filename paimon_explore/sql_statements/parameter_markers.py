"""Parameter markers: `?`, or `:name`; their values, and default values, as constants of SQL.

An engine gets the values of the markers of a query, except for those in what a query says of its
tables, whose views replace it. Those, and the markers of other statements, become constants.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
from sqlglot import exp

from paimon_explore.arguments import instance, python_value
from paimon_explore.data_types.definitions import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    VectorType,
)
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.table_references import references_of, spliced
from paimon_explore.sql_statements.tokenizer import Kind, Token, tokens_of
from paimon_explore.write.input.python_values import default_of

_ENDS = frozenset({":", ")", "]"})
"""Signs after which a colon leads into a VARIANT, or casts."""


def with_constants(source: str, args: Args) -> str:
    """Replace all markers of a statement by constants.

    Raises:
        InvalidInputError: as for `value_of` and `check_used`, or SQL has no constant for a value.
    """
    if not args:
        return source
    markers = _markers(source, args)
    text = _spliced(source, markers, value_of(args, len(markers)))
    check_used(args, [key for *_, key in markers])
    return text


def bound(source: str, args: Args) -> tuple[str, Args]:
    """Replace the markers of table references by constants.

    Returns:
        The text, and the values of the markers that are left.

    Raises:
        InvalidInputError: as for `value_of`, or SQL has no constant for a value.
    """
    if not args:
        return source, args
    markers = _markers(source, args)
    ranges = [(one.start, one.end) for one in references_of(source)]
    inside = [one for one in markers if any(start <= one[0] < end for start, end in ranges)]
    if not inside:
        return source, args
    value = value_of(args, len(markers))
    text = _spliced(source, inside, value)
    left = [one[-1] for one in markers if one not in inside]
    if not isinstance(args, Mapping):
        return text, [value(key) for key in left]
    used = {key for *_, key in inside}.difference(left)
    return text, {key: one for key, one in args.items() if key not in used}


_Marker = tuple[int, int, str]
"""Start, end and key: the name, or `_` and the number."""


def named_markers(source: str) -> list[_Marker]:
    """The markers `:name` of a statement; not the colons of structs, VARIANT paths and casts."""
    tokens = tokens_of(source)
    return [
        (colon.start, name.end, name.text)
        for before, colon, name in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if colon.sign == ":"
        and name.kind is Kind.WORD
        and name.start == colon.end
        and before.sign not in _ENDS
        and (before.sign or before.end < colon.start)
    ]


def _markers(source: str, args: Args) -> list[_Marker]:
    if isinstance(args, Mapping):
        return named_markers(source)
    signs: list[Token] = [one for one in tokens_of(source) if one.sign == "?"]
    return [(one.start, one.end, f"_{at}") for at, one in enumerate(signs)]


def _spliced(source: str, markers: Sequence[_Marker], value: Callable[[str], object]) -> str:
    return spliced(source, [(start, end, constant_text(value(key))) for start, end, key in markers])


def value_of(args: Args, count: int) -> Callable[[str], object]:
    """Return a function that gives the value of a marker by its key.

    Args:
        args: a sequence of values, or a mapping by name.
        count: the number of markers.

    Raises:
        InvalidInputError: the number of values is wrong; from the function: a name has no value.
    """
    if isinstance(args, Mapping):

        def named(name: str) -> object:
            if name not in args:
                raise InvalidInputError(
                    f"Parameter :{name} has no value.",
                    hint=f"There are values for {choices(sorted(args))}.",
                )
            return args[name]

        return named
    given: object = () if args is None else args
    values = instance("parameters", given, Sequence, "a list, or a dict for :name")  # type: ignore[type-abstract]  # of the standard library
    if len(values) != count:
        raise InvalidInputError(
            f"The statement has {count} parameters, but {len(values)} values are given.",
            hint="Pass parameters=[…] with a value for each ?, or parameters={…} for :name.",
        )

    def placed(key: str) -> object:
        if not key.removeprefix("_").isdigit() or key.isdigit():
            raise InvalidInputError(
                f"A list has no value for the marker {key!r}.",
                hint="Write ? for the values of a list; :name has its value from a dict.",
            )
        return values[int(key[1:])]

    return placed


def check_used(args: Args, used: Collection[str]) -> None:
    """Check that the statement has a marker for each name.

    Raises:
        InvalidInputError: it has not.
    """
    unknown = set(args).difference(used) if isinstance(args, Mapping) else None
    if unknown:
        raise InvalidInputError(
            f"The statement has no parameter {choices(sorted(map(str, unknown)))}.",
            hint=f"Parameters: {choices(sorted(used))}.",
        )


_MICROSECONDS = 6
"""The digits of a fraction of a second in `datetime`; times of pandas may have more."""


def constant(given: object) -> exp.Expr:  # noqa: PLR0911 - one for each type
    """Return a value of Python as a constant.

    Raises:
        InvalidInputError: SQL has no constant of that type.
    """
    value = python_value(given)
    match value:
        case None | bool() | str():
            return exp.convert(value)
        case float():
            return exp.cast(exp.Literal.string(repr(value)), "double")
        case int() | Decimal() if Decimal(value).is_finite():
            digits = f"{Decimal(value).copy_abs():f}"  # abs() rounds, and 1E-3 is a DOUBLE
            number = exp.Literal.number(digits)
            return exp.Neg(this=number) if value < 0 else number
        case datetime():
            is_fine = isinstance(given, np.datetime64) and given.dtype == np.dtype("datetime64[ns]")
            text = str(given).replace("T", " ") if is_fine else value.isoformat(" ")
            fine = "timestamp_ns" if len(text.partition(".")[2]) > _MICROSECONDS else "timestamp"
            kind = fine if value.tzinfo is None else "timestamptz"
            return exp.cast(exp.Literal.string(text), kind, dialect="duckdb")
        case date():
            return exp.cast(exp.Literal.string(value.isoformat()), "date")
        case time():
            return exp.cast(exp.Literal.string(value.isoformat()), "time")
        case bytes():
            return exp.func("from_hex", exp.Literal.string(value.hex()), dialect="duckdb")
        case np.ndarray():
            return constant(value.tolist())
        case list() | tuple():
            return exp.Array(expressions=[constant(one) for one in value])
        case _:
            raise InvalidInputError(
                f"A parameter cannot have a value of type {type(value).__name__}: {value!r}."
            )


def constant_text(value: object) -> str:
    """Return a value as a constant of Spark's dialect.

    Raises:
        InvalidInputError: SQL has no constant for it.
    """
    return constant(value).sql(dialect="spark")


def default_text(field: DataField) -> str:
    """Return the default value of a column as a constant of Spark's dialect; NULL for none."""
    if field.default_value is None:
        return "NULL"
    return _nested_text(default_of(field)[0].as_py(), field.type)


def _nested_text(value: Any, kind: DataType) -> str:  # noqa: ANN401 - of any type
    if value is None:
        return "NULL"
    match kind:
        case ArrayType() | VectorType():
            return f"array({', '.join(_nested_text(one, kind.element) for one in value)})"
        case MapType():
            types = (kind.key, kind.value)
            parts = [_nested_text(*one) for pair in value for one in zip(pair, types, strict=True)]
            return f"map({', '.join(parts)})"
        case RowType():
            parts = [
                f"{constant_text(one.name)}, {_nested_text(value[one.name], one.type)}"
                for one in kind
            ]
            return f"named_struct({', '.join(parts)})"
        case _:
            return constant_text(value)
