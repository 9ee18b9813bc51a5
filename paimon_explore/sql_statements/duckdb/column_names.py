"""The names of columns that a query does not name: the text of their expressions in Spark."""

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.dialects.spark import Spark

from paimon_explore.data_types.casts.java_formatting import double_text

_Write = Callable[[exp.Expr], str]
_SIGNED = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.EQ, exp.LT, exp.LTE, exp.GT),
    *(exp.GTE, exp.NullSafeEQ, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr),
    *(exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift),
)
_WRITTEN = (
    *("+", "-", "*", "/", "%", "div", "=", "<", "<=", ">", ">=", "<=>", "AND", "OR"),
    *("&", "|", "^", "<<", ">>"),
)
_SIGNS: Mapping[type[exp.Expr], str] = dict(zip(_SIGNED, _WRITTEN, strict=True))
_UPPER = frozenset(
    {
        *("ceil", "floor", "sqrt", "cbrt", "exp", "expm1", "log", "log2", "log10", "log1p", "pi"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
        *("atanh", "atan2", "cot", "csc", "sec", "degrees", "radians", "hypot", "e", "regexp"),
    }
)
"""Functions that Spark writes in upper case."""
WRITTEN = "written"
"""Metadata of a function: how Spark writes the one of its names that the query has."""
_CONSTANT, _TYPED = "constant", "typed"
"""What it is for casts that are constants, `1L` and `DATE '2026-01-31'`, and for `int(x)`."""


def mark_constants(tree: exp.Expr) -> None:
    """Mark the casts that Spark writes without CAST; those of constants have parentheses."""
    for node in tree.find_all(exp.Cast):
        value = node.this
        if isinstance(value, exp.Paren) and isinstance(value.this, exp.Literal):
            value.replace(value.this)
        elif "start" in node.meta or (isinstance(value, exp.Literal) and not value.is_string):
            node.meta[WRITTEN] = _CONSTANT
        elif isinstance(value, exp.Literal) and node.is_type("date", "timestamptz", "timestampntz"):
            node.meta[WRITTEN] = _TYPED


ALIASES = {
    **dict.fromkeys(("power", "signum", "regexp_like"), str.upper),
    **dict.fromkeys(("approx_percentile", "array_size", "char", "sha1", "shiftleft"), str.lower),
    **dict.fromkeys(("shiftright", "named_struct", "instr"), str.lower),
    **dict.fromkeys(("lcase", "ucase", "len", "char_length", "character_length"), str.lower),
    **dict.fromkeys(("ceiling", "pow", "mod", "nvl", "ifnull", "var_samp", "date_diff"), str.lower),
    "substr": str.lower,
}
"""Functions with several names, which Spark keeps, and the case in which it writes each."""
_TIME = "yyyy-MM-dd HH:mm:ss"
_FORMS = {
    "isnull": "({} IS NULL)",
    "isnotnull": "({} IS NOT NULL)",
    "time_window": "window",
    "curdate": "current_date()",
    **dict.fromkeys(("bigint", "smallint", "tinyint", "binary", "decimal", "timestamp"), "{}"),
}
"""How Spark writes functions that it replaces."""
_DEFAULTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("round", "bround"), ("", "0")),
    **dict.fromkeys(("from_unixtime", "unix_timestamp", "to_unix_timestamp"), ("", _TIME)),
    **dict.fromkeys(("lpad", "rpad"), ("", "", " ")),
    **dict.fromkeys(("regexp_extract", "regexp_extract_all"), ("", "", "1")),
    **dict.fromkeys(("percentile_approx", "approx_percentile"), ("", "", "10000")),
    "percentile": ("", "", "1"),
    "regexp_instr": ("", "", "0"),
    "regexp_replace": ("", "", "", "1"),
    "months_between": ("", "", "true"),
    "sort_array": ("", "true"),
    "split": ("", "", "-1"),
    "str_to_map": ("", ",", ":"),
    "mask": ("", "X", "x", "n", "NULL"),
}
"""What Spark writes for arguments that are left out, by the name of a function."""
_REST = "2147483647"
"""The length of `substring` without one."""


def column_namer() -> _Write:
    """Return a function that returns the name of a column.

    >>> import sqlglot
    >>> column_namer()(sqlglot.parse_one("-a + 2 * (b - 1) <> 3", read="spark"))
    '(NOT (((- a) + (2 * (b - 1))) = 3))'
    """
    generator = Spark().generator(normalize_functions="lower")
    return lambda item: _name(item, lambda node: generator.generate(node, copy=False))


def _name(item: exp.Expr, write: _Write) -> str:
    select = item.parent_select
    sources = [] if select is None else [*select.find_all(exp.Table, exp.Subquery)]
    tables = {source.alias_or_name.lower() for source in sources} | {""}
    column = item.this if isinstance(item, exp.Cast) else None
    if isinstance(column, exp.Column) and column.table.lower() in tables:
        return column.name
    holder = exp.Alias(this=item.copy())
    for node in reversed(list(holder.this.walk(prune=lambda node: isinstance(node, exp.Query)))):
        is_own = not isinstance(node, exp.Column) or node.table.lower() in tables
        text = _text(node, write) if is_own else None
        if text is not None:
            node.replace(exp.Var(this=text))
    text = write(holder.this).replace("count(*)", "count(1)").replace(" FILTER(", " FILTER (")
    if isinstance(item, exp.Func) and text.isidentifier() and text != "window":  # as current_date
        text = f"{text.lower()}()"
    return text


def _text(node: exp.Expr, write: _Write) -> str | None:
    """Return the text of an expression whose parts have theirs; None for that of sqlglot."""
    written = str(node.meta.get(WRITTEN, ""))
    if written and (type(node) in _SIGNS or type(node) not in _TEXTS):
        return f"{written}({', '.join(_arguments(node, written, write))})"
    if type(node) in _TEXTS:
        return _TEXTS[type(node)](node, write)
    if not isinstance(node, exp.Func):
        return None
    function = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
    name, _, rest = write(node).partition("(")
    arguments = ", ".join(_arguments(node, name, write))
    if function in _FORMS:
        return _FORMS[function].format(arguments)
    if function in _UPPER:
        return f"{name.upper()}({rest}"
    return f"{name}({arguments})" if name in _DEFAULTS else None


def _arguments(node: exp.Expr, name: str, write: _Write) -> list[str]:
    """Return the texts of the arguments, with the defaults of those that are left out."""
    parts = [one for one in node.iter_expressions() if one.arg_key != "nulls_first"]
    found = [write(one) for one in parts]
    return [*found, *_DEFAULTS.get(name, ())[len(found) :]]


def _signed(node: exp.Expr, write: _Write) -> str:
    return f"({write(node.this)} {_SIGNS[type(node)]} {write(node.expression)})"


def _negation(node: exp.Expr, write: _Write) -> str:
    text = write(node.this)
    return (
        f"{text.removesuffix('NULL)')}NOT NULL)" if text.endswith("IS NULL)") else f"(NOT {text})"
    )


def _with_order(node: exp.Expr, write: _Write) -> str:
    function = node.this
    name = "mode" if isinstance(function, exp.Mode) else function.sql_name().lower()
    argument = write(function.this) if function.this else ""
    return f"{name}({argument}) WITHIN GROUP ({write(node.expression).strip()})"


def _extreme(node: exp.Expr, write: _Write) -> str:
    name = "max_by" if isinstance(node, exp.ArgMax) else "min_by"
    parts = [write(one) for one in (node.this, node.expression, node.args.get("count")) if one]
    return f"{name}({', '.join(parts)})"


def _negative(node: exp.Expr, write: _Write) -> str:
    text = write(node.this)
    return f"-{text}" if text[0].isdigit() else f"(- {text})"


def _position(node: exp.Expr, write: _Write) -> str:
    parts, name = [write(node.args["substr"]), write(node.this)], node.meta.get(WRITTEN, "locate")
    if name == "instr":
        return f"instr({', '.join(reversed(parts))})"
    position = node.args.get("position")
    return f"{name}({', '.join(parts)}, {'1' if position is None else write(position)})"


def _struct(node: exp.Expr, write: _Write) -> str | None:
    pairs = [(one.name, one.args.get("expression")) for one in node.expressions]
    if any(value is None for _, value in pairs):
        return None
    if node.meta.get(WRITTEN):
        return f"named_struct({', '.join(f'{name}, {write(value)}' for name, value in pairs)})"
    parts = [
        write(value) if name in {write(value), f"col{at}"} else f"{write(value)} AS {name}"
        for at, (name, value) in enumerate(pairs, 1)
    ]
    return f"struct({', '.join(parts)})"


def _liked(node: exp.Expr, write: _Write) -> str:
    parts = [write(node.this), write(node.expression)]
    text = " LIKE ".join(parts) if isinstance(node, exp.Like) else f"ilike({', '.join(parts)})"
    return f"(NOT {text})" if node.args.get("negate") else text


def _literal(node: exp.Expr, _: _Write) -> str | None:
    if isinstance(node.parent, exp.Interval):
        return None
    is_real = not node.args.get("is_string") and "e" in node.name.lower()
    return double_text(float(node.name)) if is_real else node.name


def _substring(node: exp.Expr, write: _Write) -> str:
    parts = [write(one) for one in (node.this, node.args["start"])]
    length = node.args.get("length")
    parts.append(_REST if length is None else write(length))
    return f"{node.meta.get(WRITTEN, 'substring')}({', '.join(parts)})"


def _cast(node: exp.Expr, write: _Write) -> str:
    text, kind = write(node), node.args["to"]
    if kind.is_type("array", "map", "struct") or node.meta.get(WRITTEN) == _CONSTANT:
        inner = write(node.this)
        return f"{inner}.0" if inner.isdigit() and kind.is_type("float", "double") else inner
    if node.meta.get(WRITTEN) == _TYPED:
        return f"{kind.sql('spark')} '{write(node.this)}'"
    if not kind.is_type("decimal"):
        return text
    return f"{text.rpartition(' AS ')[0]} AS DECIMAL({','.join(map(write, kind.expressions))}))"


_TEXTS: Mapping[type[exp.Expr], Callable[[exp.Expr, _Write], str | None]] = {
    **dict.fromkeys(_SIGNS, _signed),
    exp.Column: lambda node, _: node.name,
    exp.Literal: _literal,
    exp.HexString: lambda node, _: f"X'{node.name.upper()}'",
    exp.RawString: lambda node, _: node.name,
    exp.UnixDate: lambda node, write: f"unix_date({write(node.this)})",
    exp.StrPosition: _position,
    exp.Struct: _struct,
    exp.Like: _liked,
    exp.ILike: _liked,
    exp.JSONExtractScalar: lambda node, write: (
        f"get_json_object({write(node.this)}, {write(node.expression)[1:-1]})"
    ),
    exp.IgnoreNulls: lambda node, write: (
        None if isinstance(node.parent, exp.Window) else write(node.this)
    ),
    exp.RegexpLike: lambda node, write: (
        f"{node.meta.get(WRITTEN, 'RLIKE')}({write(node.this)}, {write(node.expression)})"
    ),
    exp.NullSafeNEQ: lambda node, write: f"(NOT ({write(node.this)} <=> {write(node.expression)}))",
    exp.Is: lambda node, write: (
        f"({write(node.this)} {'IS' if write(node.expression) == 'NULL' else '<=>'} "
        f"{write(node.expression)})"
    ),
    exp.Interval: lambda node, write: write(node).replace("'", ""),
    exp.Subquery: lambda *_: "scalarsubquery()",
    exp.Exists: lambda *_: "exists()",
    exp.WithinGroup: lambda node, write: (
        None if isinstance(node.this, exp.GroupConcat) else _with_order(node, write)
    ),
    exp.ArgMax: _extreme,
    exp.ArgMin: _extreme,
    exp.Extract: lambda node, write: f"extract({node.name} FROM {write(node.expression)})",
    exp.Any: lambda node, write: f"any({write(node.this)})",
    exp.Substring: _substring,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Paren: lambda node, write: write(node.this),
    exp.Boolean: lambda node, write: write(node).lower(),
    exp.NEQ: lambda node, write: f"(NOT ({write(node.this)} = {write(node.expression)}))",
    exp.Not: _negation,
    exp.Neg: _negative,
    exp.In: lambda node, write: f"({write(node)})",
    exp.Between: lambda node, write: (
        f"between({', '.join(write(node.args[key]) for key in ('this', 'low', 'high'))})"
    ),
    exp.DPipe: lambda node, write: f"concat({write(node.this)}, {write(node.expression)})",
    exp.If: lambda node, write: (
        None if isinstance(node.parent, exp.Case) else f"(IF({write(node).partition('(')[2]})"
    ),
}
