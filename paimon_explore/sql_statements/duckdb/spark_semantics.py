"""Expressions whose result DuckDB would compute in another way than Spark with ANSI mode."""

from collections.abc import Callable, Mapping

from sqlglot import exp

from paimon_explore.sql_statements.data_type_names import column_type
from paimon_explore.sql_statements.duckdb.variant_functions import cast_function

SPARK = "spark"
MACROS = r"""
CREATE MACRO spark_whole(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_whole(x),
    (x DOUBLE) AS trunc(x), (x FLOAT) AS trunc(x),
    (x DECIMAL(38, 19)) AS trunc(x), (x TIMESTAMPTZ) AS epoch(x)::BIGINT,
    (x VARCHAR) AS CASE WHEN regexp_full_match(x, '\s*[+-]?[0-9]+\s*') THEN x
        ELSE '"' || x || '"' END,
    (x BIGINT) AS x, (x HUGEINT) AS x, (x BOOLEAN) AS x, (x DATE) AS x, (x TIMESTAMP) AS x;
CREATE MACRO spark_real(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_real(x),
    (x DOUBLE) AS x, (x BOOLEAN) AS x, (x DATE) AS x, (x TIMESTAMP) AS x,
    (x TIMESTAMPTZ) AS epoch(x),
    (x VARCHAR) AS CASE WHEN contains(x, '_') THEN '"' || x || '"'
        ELSE regexp_replace(x, '([0-9.])[dDfF](\s*)$', '\1\2') END;
CREATE MACRO spark_boolean(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_boolean(x),
    (x VARCHAR) AS trim(x), (x DOUBLE) AS x <> 0, (x BOOLEAN) AS x;
CREATE MACRO spark_date(x STRUCT("value" BLOB, metadata BLOB)) AS spark_variant_date(x),
    (x DATE) AS x, (x TIMESTAMP) AS x, (x TIMESTAMPTZ) AS x,
    (x VARCHAR) AS CASE WHEN regexp_full_match(x, '\s*[0-9]{4}\s*') THEN trim(x) || '-01-01'
        WHEN regexp_full_match(x, '\s*[0-9]{4}-[0-9]{1,2}\s*') THEN trim(x) || '-01'
        WHEN x LIKE '%-%-%' THEN regexp_replace(x, '([0-9]-[0-9]+-[0-9]+)[T ].*', '\1')
        ELSE '"' || x || '"' END;
CREATE MACRO positive(x) AS x;
CREATE MACRO negative(x) AS -x;
CREATE MACRO nanvl(x, y) AS CASE WHEN isnan(x) THEN y ELSE x END;
CREATE MACRO hypot(x, y) AS sqrt(x * x + y * y);
CREATE MACRO rint(x) AS round_even(x, 0);
CREATE MACRO btrim(x, y) AS trim(x, y);
CREATE MACRO elt(n, a, b) AS CASE n WHEN 1 THEN a WHEN 2 THEN b END;
CREATE MACRO "get"(a, n) AS list_extract(a, n + 1);
CREATE MACRO arrays_overlap(a, b) AS list_has_any(a, b);
CREATE MACRO array_repeat(x, n) AS list_transform(range(n), lambda i : x);
CREATE MACRO spark_distinct(a) AS list_filter(a, lambda x, i : list_position(a, x) = i);
CREATE MACRO array_union(a, b) AS spark_distinct(list_concat(a, b));
CREATE MACRO timestamp_millis(x) AS make_timestamptz(x * 1000);
CREATE MACRO timestamp_micros(x) AS make_timestamptz(x);
CREATE MACRO make_timestamp_ntz(y, m, d, h, n, s) AS make_timestamp(y, m, d, h, n, s);
CREATE MACRO to_timestamp_ntz(x) AS CAST(x AS TIMESTAMP);
CREATE MACRO find_in_set(x, list) AS coalesce(list_position(string_split(list, ','), x), 0);
CREATE MACRO substring_index(x, d, n) AS array_to_string(CASE WHEN n > 0
    THEN list_slice(string_split(x, d), 1, n) ELSE list_slice(string_split(x, d), n, -1) END, d);
CREATE MACRO spark_le4(n) AS
    printf('%02X%02X%02X%02X', n & 255, (n >> 8) & 255, (n >> 16) & 255, (n >> 24) & 255);
CREATE MACRO spark_int4(h, p) AS TRY_CAST('0x' || substr(h, p + 6, 2)
    || substr(h, p + 4, 2) || substr(h, p + 2, 2) || substr(h, p, 2) AS BIGINT);
CREATE MACRO spark_int8(h, p) AS spark_int4(h, p) + 4294967296 * (spark_int4(h, p + 8)
    - CASE WHEN spark_int4(h, p + 8) > 2147483647 THEN 4294967296 ELSE 0 END);
CREATE MACRO path_to_descriptor(path) AS unhex('0243534544424F4C42'
    || spark_le4(octet_length(encode(path))) || hex(path) || repeat('0', 16) || repeat('F', 16));
CREATE MACRO spark_descriptor(h, p, n) AS format(
    'BlobDescriptor{{version={}, uri=''{}'', offset={}, length={}}}', substr(h, 2, 1),
    decode(unhex(substr(h, p, n))), spark_int8(h, p + n), spark_int8(h, p + n + 16));
CREATE MACRO descriptor_to_string(d) AS CASE WHEN hex(d) LIKE '01%'
    THEN spark_descriptor(hex(d), 11, 2 * spark_int4(hex(d), 3))
    ELSE spark_descriptor(hex(d), 27, 2 * spark_int4(hex(d), 19)) END;
CREATE MACRO blob_view(name, field, row) AS unhex('0157454956424F4C42'
    || spark_le4(octet_length(encode(name))) || hex(name) || spark_le4(field)
    || spark_le4(row & 4294967295) || spark_le4(row >> 32));
"""
"""Functions of the database: those of Spark that DuckDB lacks, and what casts convert, by type.

Casts to integers drop the fraction, where DuckDB rounds. Texts that Spark refuses are quoted, so
that DuckDB refuses them too.
"""
_CASTS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT"), "spark_whole"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "spark_real"),
    "BOOLEAN": "spark_boolean",
    "DATE": "spark_date",
    "TEXT": "spark_text",
}
_DAYS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS"})
_UNITS = {"YYYY": "YEAR", "YY": "YEAR", "MON": "MONTH", "MM": "MONTH", "DD": "DAY"}
_ZERO = "Division by zero. Use try_divide to get NULL."


def spark_semantics(tree: exp.Expr) -> exp.Expr:
    """Return a tree in which such expressions are replaced."""
    holder = exp.Paren(this=tree.copy())
    for node in reversed(list(holder.walk())):  # parts before what holds them
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


def cast_argument(kind: str, value: str) -> str:
    """Return what is cast in place of a text, to a type of DuckDB.

    >>> cast_argument("DATE", "v")
    'spark_date(v)'
    """
    name = _CASTS.get(kind.replace("INTEGER", "INT"))
    return value if name is None else f"{name}({value})"


def _as_spark(node: exp.Expr) -> exp.Expr:
    """Return a cast of the value that DuckDB converts as Spark does."""
    assert isinstance(node, exp.Cast)  # noqa: S101 - by `_FIXES`
    if node.is_type("variant"):
        return _call("spark_variant", node.this.copy())
    if _is_variant(node.this):
        fails = not isinstance(node, exp.TryCast)
        return _got(node.this.copy(), exp.Literal.string("$"), node.to, fails=fails)
    name, value = _CASTS.get(node.to.this.value), node.this
    is_whole = isinstance(value, exp.Literal) and not value.is_string and "." not in value.name
    if name is not None and not is_whole:
        node.set("this", _by_type(name, value))
    return node


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
    return _call(cast_function(target, fails=fails), variant, path)


def _variant_get(variant: exp.Expr, path: exp.Expr, kind: exp.Expr | None = None) -> exp.Expr:
    return (
        _call("variant_get", variant, path)
        if kind is None
        else _got(variant, path, kind, fails=True)
    )


def _try_variant_get(variant: exp.Expr, path: exp.Expr, kind: exp.Expr | None = None) -> exp.Expr:
    return (
        _call("variant_get", variant, path)
        if kind is None
        else _got(variant, path, kind, fails=False)
    )


def _extracted(node: exp.Expr) -> exp.Expr:
    """Return `variant:key[0]` as `variant_get`."""
    if not node.args.get("variant_extract"):
        return node
    path = "$" + "".join(map(_segment, node.expression.expressions[1:]))
    return _call("variant_get", node.this.copy(), exp.Literal.string(path))


def _segment(part: exp.Expr) -> str:
    if isinstance(part, exp.JSONPathSubscript):
        return f"[{part.name or part.this}]"
    return f"['{part.name}']"


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


def _whole_quotient(node: exp.Expr) -> exp.Expr:
    """Return a quotient of any numbers as BIGINT."""
    quotient = exp.Paren(this=_checked_divisor(node).copy())
    return exp.Cast(this=_by_type("spark_whole", quotient), to=exp.DataType.build("bigint"))


def _from_one(node: exp.Expr) -> exp.Expr:
    start = node.args.get("start")
    if isinstance(start, exp.Literal) and start.name == "0":
        node.set("start", exp.Literal.number(1))
    return node


def _by_type(name: str, value: exp.Expr) -> exp.Expr:
    """Return a call of a macro with overloads.

    DuckDB does not know the type of an aggregate or a window when it chooses between overloads, but
    that of the parameter of a lambda.
    """
    parts = value.walk(prune=lambda part: isinstance(part, exp.Query))
    if not any(map(_is_over_rows, parts)):
        return _call(name, value.copy())
    variable = exp.to_identifier("_value")
    body = exp.Lambda(this=_call(name, exp.column("_value")), expressions=[variable])
    values = _call("list_transform", exp.Array(expressions=[value.copy()]), body)
    return _call("list_extract", values, exp.Literal.number(1))


def _is_over_rows(part: exp.Expr) -> bool:
    """Return whether an expression is an aggregate or a window, or may be one."""
    is_unknown = isinstance(part, exp.Anonymous) and not part.name.startswith("spark_")
    return is_unknown or isinstance(part, exp.AggFunc | exp.Window)


def _call(name: str, *parts: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(parts))


def _any(array: exp.Expr, test: exp.Expr) -> exp.Expr:
    found = _call("list_bool_or", _call("list_transform", array, test))
    return exp.func("coalesce", found, exp.false())


def _negated(test: exp.Expr) -> exp.Expr:
    return exp.Lambda(this=exp.Not(this=exp.Paren(this=test.this)), expressions=test.expressions)


def _exists(node: exp.Expr) -> exp.Expr:
    """Return whether an element of an array passes a test; EXISTS of a query stays."""
    test = node.args.get("expression")
    return node if test is None else _any(node.this.copy(), test.copy())


def _pmod(number: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    once = exp.Paren(this=exp.Mod(this=exp.Paren(this=number), expression=divisor))
    moved = exp.Paren(this=exp.Add(this=once, expression=divisor.copy()))
    return exp.Paren(this=exp.Mod(this=moved, expression=divisor.copy()))


_FUNCTIONS: Mapping[str, Callable[..., exp.Expr]] = {
    "variant_get": _variant_get,
    "try_variant_get": _try_variant_get,
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
    "forall": lambda array, test: exp.Not(this=_any(array, _negated(test))),
    "octet_length": lambda text: _call("strlen", text),
    "timestamp_seconds": lambda value: _call("to_timestamp", value),
    "every": lambda value: _call("bool_and", value),
    "some": lambda value: _call("bool_or", value),
}
"""Functions that sqlglot does not know, by Spark's name."""
_FIXES: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Cast: _as_spark,
    exp.TryCast: _as_spark,
    exp.TsOrDsAdd: _to_date,
    exp.Add: _as_date,
    exp.Sub: _as_date,
    exp.Div: _checked_divisor,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _checked_divisor,
    exp.DateTrunc: _truncated,
    exp.Like: _matched,
    exp.IsNan: _false_for_null,
    exp.DayOfWeek: lambda node: exp.Paren(
        this=exp.Add(this=node.copy(), expression=exp.Literal.number(1))
    ),
    exp.DateFromUnixDate: _to_date,
    exp.IsNan: lambda node: exp.func("coalesce", node.copy(), exp.false()),
    exp.JSONFormat: lambda node: _call("spark_to_json", node.this.copy()),
    exp.JSONExtract: _extracted,
    exp.Typeof: lambda node: _call("spark_typeof", node.this.copy()),
    exp.Substring: _from_one,
    exp.ArrayDistinct: lambda node: _call("spark_distinct", node.this.copy()),
    exp.Exists: _exists,
    exp.SafeAdd: lambda node: _call(
        "try", exp.Add(this=node.this.copy(), expression=node.expression.copy())
    ),
    exp.ArrayPosition: lambda node: exp.func("coalesce", node.copy(), exp.Literal.number(0)),
    exp.Anonymous: _named_function,
}
"""The replacement by the class of an expression."""
