"""Expressions whose result DuckDB would compute in another way than Spark with ANSI mode."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from sqlglot import exp

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.data_type_names import column_type
from paimon_explore.sql_statements.duckdb import (
    spark_functions,
    spark_generators,
    spark_lambdas,
    time_patterns,
)
from paimon_explore.sql_statements.duckdb.column_types import (
    is_text,
    negative_constant,
    number_constant,
    widen,
)
from paimon_explore.sql_statements.duckdb.functions.database_functions import SPARK_MACROS
from paimon_explore.sql_statements.duckdb.functions.json_functions import json_schema
from paimon_explore.sql_statements.duckdb.functions.variant_functions import typed_function
from paimon_explore.sql_statements.duckdb.spark_functions import (
    ONE,
    SPARK,
    VALUE,
    applied,
    call,
    called_once,
    constant,
    each,
    is_nested,
    is_null,
    null_if,
    of_values,
    refused,
    struct_of,
)

_CASTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "spark_whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "spark_real"),
    "BOOLEAN": "spark_boolean",
    "DATE": "spark_date",
    "TEXT": "spark_text",
    "JSON": "spark_document",
    "BINARY": "spark_bytes",
    "VARBINARY": "spark_bytes",
    "BLOB": "spark_bytes",
    "TIMESTAMPTZ": "spark_timestamp",
    "TIMESTAMPTZ_NS": "spark_timestamp",
    **dict.fromkeys(
        ("TIMESTAMP", "TIMESTAMPNTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "spark_moment"
    ),
}
_MONTHS = frozenset({"MONTH", "MONTHS", "YEAR", "YEARS"})
_DAYS = _MONTHS | {"DAY", "DAYS", "WEEK", "WEEKS"}
_ZERO = "Division by zero. Use try_divide to get NULL."


def spark_semantics(tree: exp.Expr) -> exp.Expr:
    """Return a tree in which such expressions are replaced."""
    holder = exp.Paren(this=tree.copy())
    for query in list(holder.find_all(exp.Select)):
        spark_generators.move_to_laterals(query)
    for node in reversed(list(holder.walk())):  # parts before what holds them
        found = _fixed(node)
        if found is not node:
            node.replace(found)
    fixed: exp.Expr = holder.this
    return fixed


def _fixed(node: exp.Expr) -> exp.Expr:
    widen(node, _beside)
    fix = _FIXES.get(type(node))
    return node if fix is None else fix(node)


def _with_text(node: exp.Expr) -> exp.Expr:
    """Return a function whose first argument may be no text, which DuckDB requires."""
    node.set("this", _by_type("spark_shown", node.this))
    return node


def _joined(node: exp.Expr) -> exp.Expr:
    """Return a text of parts, with those that DuckDB writes otherwise as in Spark."""
    for part in node.expressions or (node.this, node.expression):
        if not isinstance(part.unnest(), exp.DPipe) and not is_text(part):
            part.replace(_with_witness("spark_part", part))
    return node


def _listed(node: exp.Expr) -> exp.Expr:
    """Return `listagg`, whose delimiter is empty in Spark if it has none."""
    separator, value = node.args.get("separator"), node.this
    if separator is None or isinstance(separator, exp.Null):
        node.set("separator", exp.Literal.string(""))
    if not isinstance(value, exp.Distinct | exp.Order):
        value.replace(call("spark_listed", value.copy()))
    return node


def _matches(node: exp.Expr) -> exp.Expr:
    """Return all matches, where a group without a match is empty."""
    match = exp.to_identifier("_match")
    text = exp.func("coalesce", match.copy(), exp.Literal.string(""))
    return each(node.copy(), text, match)


def _substring(node: exp.Expr) -> exp.Expr:
    bounds = (node.args["start"], node.args.get("length"))
    return _by_type("spark_substring", node.this, *(one.copy() for one in bounds if one))


def _round(node: exp.Expr) -> exp.Expr:
    digits = node.args.get("decimals") or exp.Literal.number(0)
    return _with_witness("spark_round", node.this, digits.copy())


def _select(node: exp.Expr) -> exp.Expr:
    """Return a query whose `*` has the columns of USING before the others, as in Spark."""
    joins = reversed(node.args.get("joins") or ())
    names = dict.fromkeys(one.name for join in joins for one in join.args.get("using") or ())
    columns = [exp.column(name, quoted=True) for name in names]
    rest = exp.Star(except_=[exp.to_identifier(name, quoted=True) for name in names])
    if exp.Star() in node.expressions and names:
        at = node.expressions.index(exp.Star())
        others = node.expressions
        node.set("expressions", [*others[:at], *columns, rest, *others[at + 1 :]])
    return spark_generators.select(node)


def _to_date(node: exp.Expr) -> exp.Expr:
    return exp.cast(node.copy(), "date")


def _matched(node: exp.Expr) -> exp.Expr:
    r"""Return LIKE with the escape character of Spark, `\`, if the pattern may contain it."""
    pattern = node.expression
    is_plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.name
    if isinstance(node.parent, exp.Escape) or is_plain:
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _named_function(node: exp.Expr) -> exp.Expr:
    name, parts = node.name.lower(), [part.copy() for part in node.expressions]
    if name in SPARK_MACROS:
        return _by_type(f"spark.{name}", *parts)
    make, make_rows = _FUNCTIONS.get(name), spark_generators.BY_NODE.get(name)
    if make_rows is not None:
        return make_rows(node)
    try:
        return node if make is None else make(*parts)
    except TypeError:
        raise InvalidInputError(f"{name} has other arguments than {len(parts)}.") from None


def cast_argument(kind: str, value: str) -> str:
    """Return what is cast in place of a text, to a type of DuckDB.

    >>> cast_argument("DATE", "v")
    'spark_date(v)'
    >>> cast_argument("TIMESTAMP WITH TIME ZONE", "v")
    'spark_timestamp(v)'
    """
    if kind.startswith("DECIMAL"):
        return f"spark_decimal({value}, {value}, {kind.rpartition(',')[2].strip(' )')})"
    name = _CASTS.get(kind.replace("INTEGER", "INT").replace(" WITH TIME ZONE", "TZ"))
    return value if name is None else f"{name}({value})"


def _as_spark(node: exp.Expr) -> exp.Expr:
    """Return a cast of the value that DuckDB converts as Spark does."""
    assert isinstance(node, exp.Cast)  # noqa: S101 - by `_FIXES`
    if node.is_type("variant"):
        return call("spark_variant", node.this.copy())
    if _is_variant(node.this):
        fails = not isinstance(node, exp.TryCast)
        return _got(node.this.copy(), exp.Literal.string("$"), node.to, fails=fails)
    if node.is_type("array") and node.to.expressions:
        element = exp.to_identifier("_element")
        cast = _as_spark(type(node)(this=element, to=node.to.expressions[0].copy()))
        node.set("this", each(node.this.copy(), cast, element))
        return node
    if node.is_type("struct"):
        return _struct_cast(node)
    if node.is_type("time") and node.to.expressions:
        digits = exp.Literal.number(10 ** max(6 - int(node.to.expressions[0].name), 0))
        return call(
            "spark_truncated", type(node)(this=node.this, to=exp.DataType.build("time")), digits
        )
    name, value = _CASTS.get(node.to.this.value), node.this
    is_whole = isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit()
    if node.is_type("decimal") and not isinstance(value, exp.Literal):
        scale = (*node.to.expressions, exp.Literal.number(0))[1]
        node.set("this", _with_witness("spark_decimal", value, scale.copy()))
    if name == "spark_whole":
        value = _as_number(value)
    if name is not None and (not is_whole or name == "spark_timestamp"):
        made = _by_type(name, value)
        is_tried = isinstance(node, exp.TryCast) and not _has_rows(value)
        node.set("this", call("try", made) if is_tried else made)
    return node


def _struct_cast(node: exp.Cast) -> exp.Expr:
    """Return a cast of the members by position, where DuckDB casts them by name."""
    item, fields = exp.to_identifier("_item"), node.to.expressions
    members = [
        _as_spark(
            type(node)(this=call("struct_extract_at", item.copy(), at), to=one.args["kind"].copy())
        )
        for at, one in zip(map(exp.Literal.number, range(1, len(fields) + 1)), fields, strict=True)
    ]
    struct = struct_of([one.name for one in fields], members)
    body = exp.Lambda(this=of_values(struct, item), expressions=[item.copy()])
    return applied(node.this, body)


def _as_number(value: exp.Expr) -> exp.Expr:
    """Return a difference of dates as a number of days, which its cast is."""
    plain = value.unnest()
    if not isinstance(plain, exp.Anonymous) or plain.name != "spark_minus":
        return value
    left, right = plain.expressions[2:]
    return exp.Paren(this=exp.Sub(this=left.copy(), expression=right.copy()))


def _is_variant(node: exp.Expr) -> bool:
    """Return whether an expression is a call of a function that returns variants."""
    plain = node.unnest()
    return isinstance(plain, exp.Anonymous) and plain.name.lower() in _VARIANTS


_VARIANTS = frozenset(
    {
        *("variant_get", "variant_set", "try_variant_set", "variant_delete"),
        *("parse_json", "try_parse_json", "spark_variant", "to_variant_object"),
    }
)


def _got(variant: exp.Expr, path: exp.Expr, kind: exp.Expr, *, fails: bool) -> exp.Expr:
    """Return the value of a variant at a path, cast to a type."""
    target = column_type(
        kind.name if isinstance(kind, exp.Literal) else kind.sql(SPARK), "variant_get"
    )
    return call(typed_function("cast" if fails else "try_cast", target), variant, path)


def _variant_getter(*, fails: bool) -> Callable[..., exp.Expr]:
    """Return `variant_get` or `try_variant_get`."""

    def got(variant: exp.Expr, path: exp.Expr, kind: exp.Expr | None = None) -> exp.Expr:
        if kind is None:
            return call("variant_get", variant, path)
        return _got(variant, path, kind, fails=fails)

    return got


def _from_json(text: exp.Expr, schema: exp.Expr, options: exp.Expr | None = None) -> exp.Expr:
    """Return JSON as a value of a type, written as a type or as columns."""
    if options is not None:
        refused("options of the function from_json")()
    if isinstance(schema, exp.Anonymous) and schema.name.lower() == "schema_of_json":
        schema = _schema_of_json(*schema.expressions)
    given = constant(schema, "The schema of from_json")
    try:
        target = column_type(given, "from_json")
    except InvalidInputError:
        target = column_type(f"STRUCT<{given}>", "from_json")
    return call(typed_function("from_json", target), exp.cast(text, "text", dialect="duckdb"))


def _schema_of_json(document: exp.Expr) -> exp.Expr:
    return exp.Literal.string(json_schema(constant(document, "The document of schema_of_json")))


def _extracted(node: exp.Expr) -> exp.Expr:
    """Return `variant:key[0]` as `variant_get`; the operators of DuckDB read its JSON."""
    if not node.args.get("variant_extract"):
        node.set("this", call("spark_document", node.this.copy()))
        return node
    path = "$" + "".join(map(_segment, node.expression.expressions[1:]))
    return call("variant_get", node.this.copy(), exp.Literal.string(path))


def _segment(part: exp.Expr) -> str:
    if isinstance(part, exp.JSONPathSubscript):
        return f"[{part.name or part.this}]"
    return f"['{part.name}']"


def _moved(node: exp.Expr) -> exp.Expr:
    """Return a date plus or minus days or months as a date, which is a timestamp in DuckDB.

    Plus or minus other units it is a timestamp with the local time zone.
    """
    if isinstance(node, exp.Add) and _is_interval(node.this) and not _is_interval(node.expression):
        node = exp.Add(this=node.expression.copy(), expression=node.this.copy())
    parts = node.expression.walk(prune=lambda part: isinstance(part, exp.Func))
    intervals = [part for part in parts if isinstance(part, exp.Interval)]
    units = {one.args["unit"].name.upper() for one in intervals if one.args.get("unit") is not None}
    if not units or node.this.find(exp.Interval) is node.this:
        return node
    moved = exp.Paren(this=node.expression.copy())
    by = exp.Neg(this=moved) if isinstance(node, exp.Sub) else moved
    name = "spark_moved" if units <= _DAYS else "spark_moved_time"
    if units <= _MONTHS:
        name = "spark_moved_months"
    return _by_type(name, node.this.copy(), by)


def _is_interval(node: exp.Expr) -> bool:
    if isinstance(node, exp.Add | exp.Sub):
        return _is_interval(node.this) and _is_interval(node.expression)
    is_same = isinstance(node, exp.Neg | exp.Paren)
    return isinstance(node, exp.Interval) or (is_same and _is_interval(node.this))


def _witness(value: exp.Expr) -> exp.Expr:
    """Return an expression of the same type without aggregates and windows.

    DuckDB does not know their types when it chooses between overloads of a macro. A macro does not
    compute an argument that its body does not use.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, exp.ArrayAgg | exp.ArrayUniqueAgg):
            return exp.Array(expressions=[_witness(node.this)])
        if isinstance(node, _COUNTS):
            return exp.cast(exp.Null(), "bigint")
        if name in {"first", "last", "arg_max_null", "arg_min_null"}:
            return _witness(node.expressions[0])
        if isinstance(node, _OF_ARGUMENT):
            return _witness(node.this)
        is_real = isinstance(node, exp.AggFunc) or name.startswith("quantile_")
        return exp.cast(exp.Null(), "double") if is_real else node

    found: exp.Expr = exp.Paren(this=value.copy()).transform(replaced)
    return found


_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.RowNumber, exp.Rank, exp.DenseRank)
_OF_ARGUMENT = (
    *(exp.Window, exp.Filter, exp.IgnoreNulls, exp.Max, exp.Min, exp.Sum, exp.AnyValue, exp.First),
    *(exp.Last, exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead, exp.Mode),
)
"""Functions whose result has the type of their argument, or of its sum."""


def _beside(other: exp.Expr, text: exp.Expr) -> exp.Expr:
    """Return a text as a value of the type of another value, with which it is compared.

    DuckDB chooses by the types that it finds, as a name may stand for several columns.
    """
    return _by_type("spark_beside", text, _witness(other))


def _may_be_date(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Paren, exp.Coalesce, exp.Greatest, exp.Least, *_OF_ARGUMENT)):
        return not isinstance(node, exp.Sum) and _may_be_date(node.this)
    if isinstance(node, exp.Cast | exp.Column) and node.type is not None:
        return node.is_type("date")
    if isinstance(node, exp.Anonymous) and node.name == "spark_minus":
        return False
    return isinstance(node, exp.Column | exp.Anonymous | exp.Case | exp.If | _DATE_FUNCTIONS)


_DATE_FUNCTIONS = (
    exp.CurrentDate | exp.TsOrDsAdd | exp.LastDay | exp.NextDay | exp.TsOrDsToDate | exp.Subquery
)


def _minus(node: exp.Expr) -> exp.Expr:
    """Return a difference, which is an interval for dates."""
    sides = (node.this, node.expression)
    moved = _moved(node)
    if moved is not node or not all(map(_may_be_date, sides)):
        return moved
    return call("spark_minus", *map(_witness, sides), *(one.copy() for one in sides))


def _rounded(name: str) -> Callable[[exp.Expr], exp.Expr]:
    """Return `floor` or `ceil` as BIGINT, or DECIMAL of a DECIMAL."""

    def rounded(node: exp.Expr) -> exp.Expr:
        decimals = node.args.get("decimals")
        if decimals is None:
            return _with_witness(name, node.this)
        sign = -1 if isinstance(decimals, exp.Neg) else 1
        digits = sign * int(
            constant(decimals.this if sign < 0 else decimals, "The number of digits")
        )
        unit = exp.Literal.number(format(Decimal(1).scaleb(-digits), "f"))
        exact = _with_witness("spark_exact", node.this)
        return exp.cast(call(f"{name}_to", exact, unit), f"decimal(38, {max(digits, 0)})")

    return rounded


def _as_int(node: exp.Expr) -> exp.Expr:
    return exp.cast(node.copy(), "int")


_INTEGERS = (
    *(exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfYear, exp.WeekOfYear),
    *(exp.UnixDate, exp.RegexpCount, exp.RegexpInstr),
)
"""Functions whose result is INT."""


def _checked_divisor(node: exp.Expr) -> exp.Expr:
    """Return a division that fails for zero, where DuckDB returns NULL."""
    divisor = node.args["expression"]
    plain = divisor.unnest()
    if isinstance(plain, exp.Literal) and plain.name.strip("0."):
        return node
    is_zero = exp.EQ(this=exp.Paren(this=divisor.copy()), expression=exp.Literal.number(0))
    is_there = exp.Not(this=exp.Paren(this=is_null(node.this)))
    fails = call("spark_fail_if", exp.and_(is_zero, is_there), exp.Literal.string(_ZERO))
    node.set("expression", exp.Paren(this=null_if(fails, divisor.copy())))
    return node


def _whole_quotient(node: exp.Expr) -> exp.Expr:
    """Return a quotient of any numbers as BIGINT."""
    quotient = exp.Paren(this=_checked_divisor(node).copy())
    return exp.Cast(this=_by_type("spark_whole", quotient), to=exp.DataType.build("bigint"))


def _by_type(name: str, value: exp.Expr | None = None, *others: exp.Expr) -> exp.Expr:
    """Return a call of a macro with overloads.

    DuckDB does not know the type of an aggregate or a window when it chooses between overloads, but
    that of the parameter of a lambda.
    """
    if value is None:
        return call(name)
    if not _has_rows(value) and not is_nested(value):
        return call(name, value.copy(), *others)
    return called_once(name, value, *others)


def _with_witness(name: str, value: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """Return a call of a macro with overloads by its first argument, which only has a type."""
    if is_nested(value):
        return called_once(name, value, exp.column(VALUE), *others)
    return call(name, _witness(value), value.copy(), *others)


def _has_rows(value: exp.Expr) -> bool:
    """Return whether an expression has an aggregate or a window, or may have one."""
    return any(
        isinstance(part, exp.AggFunc | exp.Window)
        or (isinstance(part, exp.Anonymous) and not part.name.startswith(("spark_", "spark.")))
        for part in value.walk(prune=lambda part: isinstance(part, exp.Query))
    )


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return _as_spark(exp.cast(value, kind, dialect="duckdb"))


def _parsed(kind: str, *, fails: bool = True) -> Callable[..., exp.Expr]:
    """Return a function of text, and a pattern if it has no usual form, as a date or time."""

    def parsed(text: exp.Expr, pattern: exp.Expr | None = None) -> exp.Expr:
        if pattern is None and not fails:
            to = exp.DataType.build(kind, dialect="duckdb")
            return _as_spark(exp.TryCast(this=text, to=to))
        if pattern is None:
            return _cast(text, kind)
        form = time_patterns.parsing_pattern(constant(pattern, "A pattern of times"))
        name = "strptime" if fails else "try_strptime"
        value: exp.Expr = exp.cast(text, "text")
        if not form.has_year:
            value = exp.DPipe(this=exp.Literal.string("1970 "), expression=value)
        if "%z" in form.text:  # of which DuckDB reads no Z
            value = call("regexp_replace", value, *map(exp.Literal.string, ("Z$", "+00:00")))
        time = call(name, value, exp.Literal.string(form.text))
        return exp.cast(
            call("spark_century", time) if form.is_short else time, kind, dialect="duckdb"
        )

    return parsed


def _unix_time(time: exp.Expr | None = None, pattern: exp.Expr | None = None) -> exp.Expr:
    if time is None or pattern is not None:
        when = call("now") if time is None else _parsed("timestamptz")(time, pattern)
    else:
        when = _by_type("spark_instant", time)
    return exp.IntDiv(this=call("epoch_us", when), expression=exp.Literal.number(1000000))


def _tried(kind: type[exp.Binary]) -> Callable[[exp.Expr], exp.Expr]:
    """Return a function of an operation that is null where it fails."""
    return lambda node: call(
        "try", _fixed(kind(this=node.this.copy(), expression=node.expression.copy()))
    )


_FUNCTIONS: Mapping[str, Callable[..., exp.Expr]] = {
    **spark_functions.BY_NAME,
    **spark_lambdas.BY_NAME,
    **time_patterns.BY_NAME,
    "variant_get": _variant_getter(fails=True),
    "try_variant_get": _variant_getter(fails=False),
    "from_json": _from_json,
    "schema_of_json": _schema_of_json,
    "unix_timestamp": _unix_time,
    "to_unix_timestamp": _unix_time,
    "to_timestamp": _parsed("timestamptz"),
    "to_timestamp_ltz": _parsed("timestamptz"),
    "to_timestamp_ntz": _parsed("timestamp"),
    "timestamp": _parsed("timestamptz"),
    "try_to_timestamp": _parsed("timestamptz", fails=False),
    "to_date": _parsed("date"),
    "try_to_date": _parsed("date", fails=False),
    "bigint": lambda value: _cast(value, "bigint"),
    "smallint": lambda value: _cast(value, "smallint"),
    "tinyint": lambda value: _cast(value, "tinyint"),
    "binary": lambda value: _cast(value, "blob"),
    "decimal": lambda value: _cast(value, "decimal(10, 0)"),
}
"""Functions that sqlglot does not know, or translates otherwise, by Spark's name."""
GENERATORS = frozenset(spark_generators.BY_NODE)
"""Functions that return several rows or columns, which sqlglot does not know."""
OWN_FUNCTIONS = SPARK_MACROS | GENERATORS | frozenset(_FUNCTIONS)
"""Functions with a translation of their own in place of that of sqlglot."""
_FIXES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    **dict.fromkeys(_INTEGERS, _as_int),
    **spark_functions.BY_CLASS,
    **spark_lambdas.BY_CLASS,
    **spark_generators.BY_CLASS,
    exp.Cast: _as_spark,
    exp.TryCast: _as_spark,
    exp.TsOrDsAdd: _to_date,
    exp.Add: _moved,
    exp.Sub: _minus,
    exp.Floor: _rounded("spark_floor"),
    exp.Ceil: _rounded("spark_ceil"),
    exp.BitwiseCount: lambda node: _as_int(call("bit_count", exp.cast(node.this, "bigint"))),
    exp.Quarter: lambda node: _as_int(exp.Quarter(this=exp.cast(node.this, "date"))),
    exp.Sign: lambda node: call("spark_sign", exp.cast(node.this.copy(), "double")),
    exp.Round: _round,
    exp.Select: _select,
    exp.Concat: _joined,
    exp.DPipe: _joined,
    exp.ConcatWs: _joined,
    **dict.fromkeys((exp.Lower, exp.Initcap, exp.Trim), _with_text),
    exp.Upper: lambda node: exp.Upper(
        this=_by_type("spark.replace", node.this, *map(exp.Literal.string, ("ß", "SS")))
    ),
    exp.Div: _checked_divisor,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _checked_divisor,
    exp.Neg: negative_constant,
    exp.Literal: number_constant,
    exp.NextDay: lambda node: exp.NextDay(this=_to_date(node.this), expression=node.expression),
    exp.Like: _matched,
    exp.ILike: _matched,
    exp.IsNan: lambda node: exp.func("coalesce", node.copy(), exp.false()),
    exp.DayOfWeek: lambda node: exp.cast(exp.Add(this=node.copy(), expression=ONE.copy()), "int"),
    exp.DateFromUnixDate: _to_date,
    exp.JSONFormat: lambda node: (
        refused("options of the function to_json")()
        if node.args.get("options")
        else call("spark_json_text", node.this.copy())
    ),
    exp.JSONExtract: _extracted,
    exp.Typeof: lambda node: call("spark_type_name", node.this.copy()),
    exp.Substring: _substring,
    exp.Right: lambda node: call("spark_right", node.this.copy(), node.expression.copy()),
    exp.Left: lambda node: _by_type("spark_left", node.this, node.expression.copy()),
    exp.Length: lambda node: _by_type("spark.length", node.this.copy()),
    exp.BitwiseLeftShift: lambda node: _by_type(
        "spark_shift_left", node.this, node.expression.copy()
    ),
    exp.BitwiseRightShift: lambda node: _by_type(
        "spark_shift_right", node.this, node.expression.copy()
    ),
    exp.Grouping: lambda node: exp.cast(node.copy(), "tinyint"),
    exp.ToBinary: lambda node: node if node.args.get("format") else call("unhex", node.this.copy()),
    exp.RegexpExtractAll: _matches,
    exp.GroupConcat: _listed,
    exp.ArrayDistinct: lambda node: call("spark_distinct", node.this.copy()),
    exp.SafeAdd: _tried(exp.Add),
    exp.SafeSubtract: _tried(exp.Sub),
    exp.SafeMultiply: _tried(exp.Mul),
    exp.Anonymous: _named_function,
}
"""The replacement by the class of an expression."""
