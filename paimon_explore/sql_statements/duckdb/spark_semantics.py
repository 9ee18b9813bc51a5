"""Expressions whose result DuckDB would compute in another way than Spark with ANSI mode."""

from collections.abc import Callable, Mapping

from sqlglot import exp

MACRO = (
    "CREATE MACRO spark_whole(x DOUBLE) AS trunc(x), (x FLOAT) AS trunc(x), "
    "(x DECIMAL(38, 19)) AS trunc(x), (x VARCHAR) AS x, (x BIGINT) AS x, (x HUGEINT) AS x, "
    "(x BOOLEAN) AS x, (x DATE) AS x, (x TIMESTAMP) AS x, (x TIMESTAMPTZ) AS epoch(x)::BIGINT"
)
"""A function of the database: casts to integers drop the fraction, where DuckDB rounds."""
_WHOLE = ("tinyint", "smallint", "int", "bigint")
_DAYS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS"})
_UNITS = {"YYYY": "YEAR", "YY": "YEAR", "MON": "MONTH", "MM": "MONTH", "DD": "DAY"}
_ZERO = "Division by zero. Use try_divide to get NULL."


def spark_semantics(tree: exp.Expr) -> exp.Expr:
    """Return a tree in which such expressions are replaced."""
    holder = exp.Paren(this=tree.copy())
    for node in list(holder.walk()):
        found = _fixed(node)
        if found is not node:
            node.replace(found)
    fixed: exp.Expr = holder.this
    return fixed


def _fixed(node: exp.Expr) -> exp.Expr:
    fix = _FIXES.get(type(node))
    return node if fix is None else fix(node)


def _truncated(node: exp.Expr) -> exp.Expr:
    """Return a date that `trunc` truncates, which is a timestamp in DuckDB."""
    unit = node.args.get("unit")
    text = "" if unit is None else unit.name.upper()
    if text in _UNITS:
        node.set("unit", exp.Literal.string(_UNITS[text]))
    return _to_date(node)


def _to_date(node: exp.Expr) -> exp.Expr:
    return exp.Cast(this=node.copy(), to=exp.DataType.build("date"))


def _matched(node: exp.Expr) -> exp.Expr:
    r"""Return LIKE with the escape character of Spark, `\`, if the pattern may contain it."""
    pattern = node.expression
    is_plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.name
    if isinstance(node.parent, exp.Escape) or is_plain:
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _false_for_null(node: exp.Expr) -> exp.Expr:
    """Return `isnan` that is false for null, where DuckDB returns null."""
    number = exp.Coalesce(this=node.this, expressions=[exp.Literal.number(0)])
    node.set("this", number)
    return node


def _named_function(node: exp.Expr) -> exp.Expr:
    make = _FUNCTIONS.get(node.name.lower())
    return node if make is None else make(*[part.copy() for part in node.expressions])


def _whole(node: exp.Expr) -> exp.Expr:
    value = node.this
    if (
        isinstance(node, exp.Cast)
        and node.is_type(*_WHOLE)
        and not (isinstance(value, exp.Literal) and "." not in value.name)
    ):
        node.set("this", exp.Anonymous(this="spark_whole", expressions=[value.copy()]))
    return node


def _as_date(node: exp.Expr) -> exp.Expr:
    """Return the sum of a date and days as a date, which is a timestamp in DuckDB."""
    unit = node.expression.args.get("unit") if isinstance(node.expression, exp.Interval) else None
    is_date = isinstance(node.this, exp.Cast) and node.this.is_type("date")
    if not is_date or unit is None or unit.name.upper() not in _DAYS:
        return node
    return exp.Cast(this=exp.Paren(this=node.copy()), to=exp.DataType.build("date"))


def _checked_divisor(node: exp.Expr) -> exp.Expr:
    """Return a division that fails for zero, where DuckDB returns NULL."""
    divisor = node.args["expression"]
    plain = divisor.unnest()
    if isinstance(plain, exp.Literal) and plain.name.strip("0."):
        return node
    error = exp.Anonymous(this="error", expressions=[exp.Literal.string(_ZERO)])
    is_zero = exp.EQ(this=exp.Paren(this=divisor.copy()), expression=exp.Literal.number(0))
    checked = exp.Case(ifs=[exp.If(this=is_zero, true=error)], default=divisor.copy())
    node.set("expression", exp.Paren(this=checked))
    return node


def _call(name: str, *parts: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(parts))


def _pmod(number: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    once = exp.Paren(this=exp.Mod(this=exp.Paren(this=number), expression=divisor))
    moved = exp.Paren(this=exp.Add(this=once, expression=divisor.copy()))
    return exp.Paren(this=exp.Mod(this=moved, expression=divisor.copy()))


_FUNCTIONS: Mapping[str, Callable[..., exp.Expr]] = {
    "weekday": lambda day: exp.Paren(
        this=exp.Sub(this=_call("isodow", day), expression=exp.Literal.number(1))
    ),
    "bround": lambda value, digits=None: _call(
        "round_even", value, digits or exp.Literal.number(0)
    ),
    "pmod": _pmod,
    "isnull": lambda value: exp.Paren(this=exp.Is(this=value, expression=exp.Null())),
    "isnotnull": lambda value: exp.Not(
        this=exp.Paren(this=exp.Is(this=value, expression=exp.Null()))
    ),
    "timestamp_seconds": lambda value: _call("to_timestamp", value),
    "every": lambda value: _call("bool_and", value),
    "some": lambda value: _call("bool_or", value),
}
"""Functions that sqlglot does not know, by Spark's name."""
_FIXES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Cast: _whole,
    exp.TryCast: _whole,
    exp.TsOrDsAdd: _to_date,
    exp.Add: _as_date,
    exp.Sub: _as_date,
    exp.Div: _checked_divisor,
    exp.IntDiv: _checked_divisor,
    exp.Mod: _checked_divisor,
    exp.DateTrunc: _truncated,
    exp.Like: _matched,
    exp.IsNan: _false_for_null,
    exp.DayOfWeek: lambda node: exp.Paren(
        this=exp.Add(this=node.copy(), expression=exp.Literal.number(1))
    ),
    exp.Anonymous: _named_function,
}
"""The replacement by the class of an expression."""
