"""Functions of Spark as those of DuckDB."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal

from sqlglot import exp

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError

SPARK = "spark"
VALUE = "_value"
"""The parameter of lambdas that compute an argument once."""
ONE, _ZERO = exp.Literal.number(1), exp.Literal.number(0)
_OF_NO_ROWS = (
    *(exp.Window, exp.ArrayAgg, exp.ArrayUniqueAgg, exp.Corr, exp.RegrSlope, exp.RegrR2),
)
"""Aggregates, and what holds them, whose result differs where they have no rows."""


def call(name: str, *parts: exp.Expr) -> exp.Expr:
    """Return a call of a function of DuckDB."""
    return exp.Anonymous(this=name, expressions=list(parts))


def struct_of(names: Iterable[str], values: Iterable[exp.Expr]) -> exp.Expr:
    """Return a struct of values with names."""
    members = [
        exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=value)
        for name, value in zip(names, values, strict=True)
    ]
    return exp.Struct(expressions=members)


def unpacked(value: exp.Expr) -> exp.Expr:
    """Return an argument; `*` as the columns that it stands for."""
    return exp.Columns(this=value.copy(), unpack=True) if value.is_star else value.copy()


def each(items: exp.Expr, made: exp.Expr, *parameters: exp.Expr) -> exp.Expr:
    """Return the list of what an expression over parameters makes of the items of a list."""
    names = [one.copy() for one in parameters]
    return call("list_transform", items, exp.Lambda(this=made, expressions=names))


def applied(value: exp.Expr, function: exp.Expr) -> exp.Expr:
    """Return what a lambda makes of a value."""
    values = call("list_transform", exp.Array(expressions=[value.copy()]), function)
    return call("list_extract", values, ONE.copy())


def called_once(name: str, value: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """Return a call that computes its first argument once; others have it as the column `VALUE`."""
    made = call(name, exp.column(VALUE), *others)
    return applied(value, exp.Lambda(this=made, expressions=[exp.to_identifier(VALUE)]))


def is_nested(value: exp.Expr) -> bool:
    """Return whether an expression has calls of macros in each other.

    A macro repeats an argument as often as it uses it, five in each other some 100,000 times.
    """
    depths: dict[int, int] = {}
    for node in value.walk():
        is_macro = isinstance(node, exp.Anonymous) and node.name.startswith(("spark_", "spark."))
        depths[id(node)] = depths.get(id(node.parent), 0) + is_macro
    return max(depths.values()) > 1


def is_null(value: exp.Expr) -> exp.Expr:
    """Return whether a value is null."""
    return exp.Is(this=value.copy(), expression=exp.Null())


def null_if(test: exp.Expr, value: exp.Expr) -> exp.Expr:
    """Return a value, or null if a test is true."""
    return exp.Case(ifs=[exp.If(this=test, true=exp.Null())], default=value)


def constant(node: exp.Expr, what: str) -> str:
    """Return the text of an argument, which must be a constant."""
    if not isinstance(node, exp.Literal):
        raise InvalidInputError(f"{what} must be a constant, not {node.sql(SPARK)}.")
    return str(node.name)


def refused(what: str, hint: str = "") -> Callable[..., exp.Expr]:
    """Return a function that raises an error: there is no such translation."""

    def refuse(*_: exp.Expr) -> exp.Expr:
        raise UnsupportedFeatureError(f"{what} without Spark", hint=hint)

    return refuse


def _difference(node: exp.Expr) -> exp.Expr:
    """Return the whole units between two times, where DuckDB counts the bounds between them."""
    unit = node.args.get("unit")
    if unit is None:
        return node
    times = [
        exp.cast((one.this if isinstance(one, exp.TsOrDsToDate) else one).copy(), "timestamp")
        for one in (node.expression, node.this)
    ]
    for time in times:
        time.set("to", exp.DataType.build("timestamp", dialect="duckdb"))
    months = _MONTHS.get(unit.name.upper())
    if months is None:
        return call("date_sub", exp.Literal.string(unit.name), *times)
    whole = call("spark_whole_months", *times)
    return exp.cast(exp.IntDiv(this=whole, expression=exp.Literal.number(months)), "bigint")


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
"""The months of a unit, of which DuckDB counts one more between ends of months."""


def _days(node: exp.Expr) -> exp.Expr:
    found = _difference(node)
    return found if found is not node else exp.cast(node.copy(), "int")


def _field(unit: str, value: exp.Expr) -> exp.Expr:
    """Return a field of a time by its name in Spark."""
    value = call("spark_fields", value)
    if unit.upper() in {"DOW", "DAYOFWEEK"}:
        return exp.cast(exp.Add(this=call("dayofweek", value), expression=ONE.copy()), "int")
    if unit.upper() in {"DAYOFWEEKISO", "DAYOFWEEK_ISO", "DOW_ISO"}:
        unit = "isodow"
    if unit.upper() in {"SECOND", "SECONDS", "SEC", "SECS", "S"}:
        micros = exp.Div(this=call("microsecond", value), expression=exp.Literal.number(1000000))
        return exp.cast(micros, "decimal(8, 6)")
    return exp.cast(exp.Extract(this=exp.var(unit), expression=value), "int")


def _replacement(node: exp.Expr) -> exp.Expr:
    r"""Return `regexp_replace` with groups as `\1`, where Java writes `$1`."""
    value = node.args.get("replacement")
    if isinstance(value, exp.Literal):
        text = re.sub(
            r"\\(.)|\$(\d)|(\\)$",
            lambda found: f"\\{found[2]}" if found[2] else "\\\\" if found[1] == "\\" else found[1],
            value.name,
        )
        node.set("replacement", exp.Literal.string(text))
    return node


def _present(node: exp.Expr) -> exp.Expr:
    """Return `first` or `last` without nulls."""
    inner = node.this
    is_first, in_window = (
        isinstance(inner, exp.First | exp.FirstValue),
        isinstance(node.parent, exp.Window),
    )
    if not is_first and not isinstance(inner, exp.Last | exp.LastValue):
        return node
    if in_window:
        kind = exp.FirstValue if is_first else exp.LastValue
        return exp.IgnoreNulls(this=kind(this=inner.this.copy()))
    is_there = exp.Not(this=is_null(inner.this))
    function = call("first" if is_first else "last", inner.this.copy())
    return exp.Filter(this=function, expression=exp.Where(this=is_there))


def _first(node: exp.Expr) -> exp.Expr:
    """Return an aggregate, where DuckDB has `any_value` without nulls and windows only."""
    name = "last" if isinstance(node, exp.LastValue) else "first"
    is_present = isinstance(node.parent, exp.IgnoreNulls)
    is_plain = isinstance(node.parent, exp.Window) and not isinstance(node, exp.AnyValue)
    return node if is_present or is_plain else call(name, node.this.copy())


def _grouped(node: exp.Expr) -> exp.Expr:
    """Return `GROUP BY a WITH ROLLUP`, or `GROUP BY a GROUPING SETS (…)`, in the form of SQL.

    Spark has no total of no rows.
    """
    for key in ("rollup", "cube"):
        for one in node.args.get(key) or ():
            one.set("expressions", [part.copy() for part in node.expressions])
            node.set("expressions", None)
    if node.args.get("grouping_sets"):
        node.set("expressions", None)
    select = node.find_ancestor(exp.Select)
    if select is not None and node.args.get("all") is True and _is_constant(select.expressions):
        select.set("group", None)
        select.set("distinct", exp.Distinct())
        return node
    sets = list(node.find_all(exp.Rollup, exp.Cube, exp.GroupingSets))
    keys = [key for one in sets for key in one.expressions]
    for key in keys:
        for part in key.expressions if isinstance(key, exp.Tuple) else [key.unnest()]:
            _name_ordinal(part, [] if select is None else select.expressions)
    if select is not None and sets and keys != [exp.Tuple()]:
        select.having(exp.GT(this=exp.Count(this=exp.Star()), expression=_ZERO), copy=False)
    return node


def _is_constant(items: Sequence[exp.Expr]) -> bool:
    return not any(one.find(exp.Column, exp.Star, exp.Func, exp.Query) for one in items)


def _name_ordinal(key: exp.Expr, items: Sequence[exp.Expr]) -> None:
    """Replace the number of a selected column; DuckDB takes it for another key than its name."""
    at = int(key.name) if isinstance(key, exp.Literal) and key.is_int else 0
    if 0 < at <= len(items) and isinstance(items[at - 1].unalias(), exp.Column):
        key.replace(items[at - 1].unalias().copy())


def _counted(node: exp.Expr) -> exp.Expr:
    """Return the count of rows in which no argument is null."""
    more = node.expressions
    if not more or isinstance(node.this, exp.Distinct):
        return node
    return exp.Count(this=of_values(ONE.copy(), node.this, *more))


def _filtered(node: exp.Expr) -> exp.Expr:
    """Return an aggregate with one filter, which also has the condition of its function."""
    inner = node.this
    if isinstance(inner, exp.RegrCount):
        return exp.cast(node.copy(), "bigint")
    if isinstance(inner, exp.Filter):
        both = exp.and_(inner.expression.this.copy(), node.expression.this.copy())
        return exp.Filter(this=inner.this.copy(), expression=exp.Where(this=both))
    return node


def of_no_rows(node: exp.Expr) -> exp.Expr:
    """Return an aggregate, with its filter and window, with Spark's result where it has no rows."""
    inner = node
    while isinstance(inner, exp.Filter | exp.Window):
        inner = inner.this
    if isinstance(node.parent, exp.Filter | exp.Window) and node.arg_key == "this":
        return node
    if isinstance(inner, exp.WithinGroup) and isinstance(inner.this, exp.PercentileDisc):
        return exp.cast(node.copy(), "double")
    if isinstance(inner, exp.Anonymous) and inner.name in {"arg_max", "arg_min"}:
        return _held_values(node)
    if isinstance(inner, exp.ArrayAgg | exp.ArrayUniqueAgg):
        return exp.Coalesce(this=node.copy(), expressions=[exp.Array()])
    if not isinstance(inner, exp.Corr | exp.RegrSlope | exp.RegrR2):
        return node
    pair = exp.CovarPop(this=inner.this.copy(), expression=inner.expression.copy())
    return call("spark_fit", node.copy(), node.transform(lambda one: pair if one == inner else one))


def _any_of_rows(node: exp.Expr) -> exp.Expr:
    is_compared = isinstance(node.parent, exp.Binary)
    return (
        node if is_compared or not isinstance(node.this, exp.Paren) else call("bool_or", node.this)
    )


_UNITS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
_FIELDS = {
    "MONTH": r"-\d+",
    "HOUR": r"[ T]\d+",
    "MINUTE": r":\d+",
    "SECOND": r":\d+(\.\d*)?",
}
"""The pattern of a field of an interval after others."""
_SECONDS = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}


def _interval(node: exp.Expr) -> exp.Expr:
    """Return `INTERVAL '1 02:03' DAY TO MINUTE`, which has several units, with a single unit."""
    span, text = node.args.get("unit"), node.name
    if span is None and isinstance(node.this, exp.Literal) and not re.search("[A-Za-z]", text):
        raise InvalidInputError(f"The interval {text!r} has no unit.", hint="Write INTERVAL 1 DAY.")
    if not isinstance(span, exp.IntervalSpan):
        return node
    units = _UNITS[_UNITS.index(span.this.name.upper()) :]
    bounds = units[: units.index(span.expression.name.upper()) + 1]
    rest = "".join(map(_FIELDS.__getitem__, bounds[1:]))
    if not re.fullmatch(rf"[+-]?\d+{rest}", text.strip()):
        raise InvalidInputError(f"{text!r} is not an interval from {bounds[0]} to {bounds[-1]}.")
    numbers = dict(zip(units, map(Decimal, re.findall(r"[0-9.]+", text)), strict=False))
    sign = -1 if text.lstrip().startswith("-") else 1
    months = 12 * numbers.get("YEAR", 0) + numbers.get("MONTH", 0)
    seconds = sum(count * _SECONDS[unit] for unit, count in numbers.items() if unit in _SECONDS)
    count, unit = (seconds * 1000000, "MICROSECOND") if seconds else (months, "MONTH")
    value = exp.Literal.string(str(int(sign * count)))
    return exp.Interval(this=value, unit=exp.var(unit))


_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(]*[0-9]*(?:\.[0-9]+)?[a-zA-Z])")


def _formatted_text(form: exp.Expr, *values: exp.Expr) -> exp.Expr:
    """Return `printf`, whose values may be null and have any type for `%s`."""
    if not isinstance(form, exp.Literal) or "%%" in form.name:
        return call("printf", form, *values)
    pieces = _SPECIFIER.split(form.name)
    parts: list[exp.Expr] = [exp.Literal.string(pieces[0])]
    others = iter(values)
    for at, spec, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        value = next(others, None) if at is None else next(iter(values[int(at) - 1 :]), None)
        if value is None:
            raise InvalidInputError(f"format_string has no value for %{spec}.")
        shown = call("spark_written", value.copy()) if spec.endswith("s") else value.copy()
        null = call("printf", exp.Literal.string(f"%{spec[:-1]}s"), exp.Literal.string("null"))
        parts.append(
            exp.func("coalesce", call("printf", exp.Literal.string(f"%{spec}"), shown), null)
        )
        parts.append(exp.Literal.string(text))
    return call("concat", *parts)


def _quantile(node: exp.Expr, values: exp.Expr) -> exp.Expr:
    kind = "quantile_disc" if isinstance(node, exp.ApproxQuantile) else "quantile_cont"
    return call(kind, values.copy(), node.args["quantile"].copy())


def _is_struct(node: exp.Expr) -> bool:
    return isinstance(node, exp.Struct) and bool(node.expressions)


def _extreme(
    name: str, value: exp.Expr, order: exp.Expr | None = None, count: exp.Expr | None = None
) -> exp.Expr:
    """Return the value with the greatest or least order, in which nulls of structs are least.

    With a count it is an array of so many values.
    """
    key = value if order is None else order
    if _is_struct(key):
        values = [one.args.get("expression") or one.unalias() for one in key.expressions]
        parts = [part for one in values for part in (exp.Not(this=is_null(one)), one.copy())]
        key = call("row", *parts)
    if count is not None:  # structs, as DuckDB leaves out values that are null
        held = struct_of(["_one"], [value.copy()])
        return call(name.removesuffix("_null"), held, key.copy(), count.copy())
    return call(name, value.copy(), key.copy())


def _held_values(structs: exp.Expr) -> exp.Expr:
    one = exp.to_identifier("_one")
    return each(structs.copy(), call("struct_extract", one, exp.Literal.string("_one")), one)


def _argument(name: str) -> Callable[[exp.Expr], exp.Expr]:
    """Return `max_by` or `min_by`; with a filter or window that replaces its values."""

    def argument(node: exp.Expr) -> exp.Expr:
        count = node.args.get("count")
        made = _extreme(name, node.this, node.expression, count)
        is_held = count is None or isinstance(node.parent, exp.Filter | exp.Window)
        return made if is_held else _held_values(made)

    return argument


def _percentile(node: exp.Expr) -> exp.Expr:
    """Return a percentile as DOUBLE, computed as such if it lies between two values."""
    holder = node.parent.parent if isinstance(node.parent, exp.Filter) else node.parent
    if isinstance(holder, exp.Window) and any(
        one.args["desc"] for one in node.find_all(exp.Ordered)
    ):
        refused(
            "a percentile with OVER in descending order",
            "Order it in ascending order, by 1 minus the percentage.",
        )()
    if isinstance(node.this, exp.PercentileDisc):
        return of_no_rows(node)
    for one in node.expression.expressions if isinstance(node.this, exp.PercentileCont) else ():
        one.set("this", exp.cast(one.this, "double"))
    return node


def _unix_count(node: exp.Expr, micros: int) -> exp.Expr:
    return call("spark_quotient", call("epoch_us", node.this.copy()), exp.Literal.number(micros))


def of_values(made: exp.Expr, *values: exp.Expr) -> exp.Expr:
    """Return an expression that is null where one of some values is."""
    return null_if(exp.or_(*map(is_null, values)), made)


def _zipped(*arrays: exp.Expr) -> exp.Expr:
    """Return the structs of the elements of arrays, with the names of columns or the positions."""
    at = exp.to_identifier("_at")
    names = [one.name if isinstance(one, exp.Column) else str(n) for n, one in enumerate(arrays)]
    items = [call("list_extract", one.copy(), at.copy()) for one in arrays]
    length = call("greatest", *(call("len", one.copy()) for one in arrays))
    numbers = call("generate_series", ONE.copy(), length)
    return of_values(each(numbers, struct_of(names, items), at), *arrays)


def _digest(node: exp.Expr) -> exp.Expr:
    length = node.args.get("length")
    value = call("spark_bytes", node.this.copy())
    return call("spark_sha2", value, (length or exp.Literal.number(256)).copy())


def _utf8(node: exp.Expr) -> exp.Expr:
    """Return `encode` or `decode`, which DuckDB has for UTF-8."""
    charset = node.args["charset"]
    if charset is not None and constant(charset, "The character set").upper() not in _UTF8:
        refused(f"the character set {charset.name}")()
    return node


_UTF8 = ("UTF-8", "UTF8", "US-ASCII")


def _skewness(node: exp.Expr) -> exp.Expr:
    """Return the skewness of a population, where DuckDB has that of a sample."""
    count = exp.Count(this=node.this.copy())
    less = exp.Sub(this=count, expression=exp.Literal.number(2))
    pairs = exp.Sub(this=exp.Mul(this=count, expression=count), expression=count)
    scale = exp.Div(this=exp.Paren(this=less), expression=call("sqrt", exp.Paren(this=pairs)))
    found = exp.Paren(this=exp.Mul(this=node.copy(), expression=scale))
    spread = call("stddev_pop", node.this.copy())
    return exp.func(
        "coalesce",
        found,
        null_if(
            exp.EQ(this=spread, expression=_ZERO.copy()),
            exp.Mul(this=spread.copy(), expression=_ZERO.copy()),
        ),
    )


def _json_text(node: exp.Expr) -> exp.Expr:
    """Return a value in a text of JSON; null if it is none."""
    document = call("spark_valid_json", call("spark_document", node.this.copy()))
    wildcards = len(list(node.expression.find_all(exp.JSONPathWildcard)))
    if wildcards > 1:
        refused("several wildcards in the path of get_json_object")()
    if wildcards:
        return call("spark_json_matches", call("json_extract", document, node.expression.copy()))
    node.set("this", document)
    return node


def _user(_: exp.Expr | None = None) -> exp.Expr:
    from paimon_explore.metastore.hive.hive_settings import current_user  # noqa: PLC0415 - rare

    return exp.Literal.string(current_user())


_CATALOG = "spark_catalog"
"""Spark's name of the catalog of a session that has no other."""
BY_NAME: Mapping[str, Callable[..., exp.Expr]] = {
    "bround": lambda value, digits=None: call("round_even", value, digits or exp.Literal.number(0)),
    "isnull": lambda value: exp.Paren(this=is_null(value)),
    "isnotnull": lambda value: exp.Not(this=exp.Paren(this=is_null(value))),
    "crc32": lambda value: call("crc32", call("spark_bytes", value)),
    "map_concat": lambda *maps: of_values(call("map_concat", *maps), *maps),
    "arrays_zip": _zipped,
    "cardinality": lambda value: exp.cast(call("cardinality", value), "int"),
    "timestamp_seconds": lambda value: call("to_timestamp", value),
    "user": _user,
    "every": lambda value: call("bool_and", value),
    "some": lambda value: call("bool_or", value),
    "date_part": lambda unit, value: _field(constant(unit, "The field"), value),
    "datepart": lambda unit, value: _field(constant(unit, "The field"), value),
    "format_string": _formatted_text,
    "printf": _formatted_text,
    "timediff": lambda unit, start, end: _difference(
        exp.TimestampDiff(this=end, expression=start, unit=exp.var(unit.name))
    ),
    "make_ym_interval": lambda years=_ZERO, months=_ZERO: exp.Interval(
        this=exp.Paren(
            this=exp.Add(
                this=exp.Mul(this=exp.Paren(this=years), expression=exp.Literal.number(12)),
                expression=exp.Paren(this=months),
            )
        ),
        unit=exp.var("MONTH"),
    ),
    "std": lambda value: call("stddev", value),
    "try_sum": lambda value: call("sum", value),
    "try_avg": lambda value: call("avg", value),
    "monotonically_increasing_id": lambda: exp.Paren(
        this=exp.Sub(this=exp.Window(this=exp.RowNumber()), expression=ONE.copy())
    ),
    "time_bucket": lambda width, time: call("spark_time_bucket", width, time),
    "approx_top_k": refused("the function approx_top_k"),
    "hash": lambda *values: call("spark_hash", *map(unpacked, values)),
    "xxhash64": lambda *values: call("xxhash64", *map(unpacked, values)),
    "bitmap_construct_agg": refused("the function bitmap_construct_agg"),
}
"""Functions that sqlglot does not know, or translates otherwise, by name."""
BY_CLASS: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    **dict.fromkeys((exp.CurrentUser, exp.SessionUser), _user),
    exp.CurrentCatalog: lambda _: exp.Literal.string(_CATALOG),
    exp.CurrentTimezone: lambda _: call("current_setting", exp.Literal.string("TimeZone")),
    **dict.fromkeys(
        (exp.CurrentDatabase, exp.CurrentSchema), refused("the current database in this place")
    ),
    exp.DateDiff: _days,
    exp.TimestampDiff: _difference,
    exp.TimestampAdd: lambda node: call(
        "spark_moved_time",
        node.this.copy(),
        exp.Interval(this=node.expression.copy(), unit=node.args["unit"].copy()),
    ),
    exp.WithinGroup: _percentile,
    exp.Median: lambda node: exp.Median(this=exp.cast(node.this.copy(), "double")),
    exp.CountIf: lambda node: exp.Count(this=exp.Case(ifs=[exp.If(this=node.this, true=ONE)])),
    exp.ArgMax: _argument("arg_max_null"),
    exp.ArgMin: _argument("arg_min_null"),
    exp.Max: lambda node: _extreme("arg_max_null", node.this) if _is_struct(node.this) else node,
    exp.Min: lambda node: _extreme("arg_min_null", node.this) if _is_struct(node.this) else node,
    exp.Filter: lambda node: of_no_rows(_filtered(node)),
    **dict.fromkeys(_OF_NO_ROWS, of_no_rows),
    exp.FirstValue: _first,
    exp.LastValue: _first,
    exp.Interval: _interval,
    exp.Struct: lambda node: (
        call("struct_pack", unpacked(node.expressions[0]))
        if node.expressions and node.expressions[0].is_star
        else node
    ),
    exp.Elt: lambda node: call(
        "spark_elt",
        exp.Array(expressions=[one.copy() for one in node.expressions]),
        node.this.copy(),
    ),
    exp.Encode: _utf8,
    exp.Decode: _utf8,
    exp.UnixSeconds: lambda node: _unix_count(node, 1000000),
    exp.UnixMillis: lambda node: _unix_count(node, 1000),
    exp.RegrCount: lambda node: (
        node
        if isinstance(node.parent, exp.Filter | exp.Window)
        else exp.cast(node.copy(), "bigint")
    ),
    exp.Extract: lambda node: _field(node.name, node.expression.copy()),
    exp.ArraySize: lambda node: exp.cast(call("cardinality", node.this.copy()), "int"),
    exp.Chr: lambda node: call("spark.chr", *(one.copy() for one in node.expressions)),
    exp.Ln: lambda node: call("spark.ln", node.this.copy()),
    exp.RegexpReplace: _replacement,
    exp.StrPosition: lambda node: (
        refused("instr with an occurrence")()
        if node.args.get("occurrence")
        else call(
            "spark_locate",
            node.args["substr"].copy(),
            node.this.copy(),
            node.args["position"].copy(),
        )
        if node.args.get("position")
        else exp.cast(node.copy(), "int")
    ),
    exp.SHA2: _digest,
    exp.JSONExtractScalar: _json_text,
    exp.ApproxQuantile: lambda node: _quantile(node, node.this),
    exp.Quantile: lambda node: _quantile(node, exp.cast(node.this, "double")),
    exp.Kurtosis: lambda node: call("kurtosis_pop", node.this.copy()),
    exp.Skewness: _skewness,
    exp.AnyValue: _first,
    exp.IgnoreNulls: _present,
    exp.Any: _any_of_rows,
    exp.Count: _counted,
    exp.Group: _grouped,
}
"""Functions and clauses by the class of their expression."""
