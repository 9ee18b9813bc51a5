"""The names of columns that a query does not name: the text of their expressions in Spark."""

from collections.abc import Callable, Mapping

from sqlglot import exp
from sqlglot.dialects.spark import Spark

_Write = Callable[[exp.Expr], str]
_SIGNED = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv, exp.EQ, exp.LT, exp.LTE, exp.GT),
    *(exp.GTE, exp.NullSafeEQ, exp.And, exp.Or, exp.Is, exp.BitwiseAnd, exp.BitwiseOr),
    *(exp.BitwiseXor, exp.BitwiseLeftShift, exp.BitwiseRightShift),
)
_WRITTEN = (
    *("+", "-", "*", "/", "%", "div", "=", "<", "<=", ">", ">=", "<=>", "AND", "OR", "IS"),
    *("&", "|", "^", "<<", ">>"),
)
_SIGNS: Mapping[type[exp.Expr], str] = dict(zip(_SIGNED, _WRITTEN, strict=True))
_UPPER = frozenset(
    {
        *("ceil", "floor", "sqrt", "cbrt", "exp", "expm1", "log", "log2", "log10", "log1p", "pi"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
        *("atanh", "atan2", "cot", "csc", "sec", "degrees", "radians", "hypot", "e"),
    }
)
"""Functions that Spark writes in upper case."""
WRITTEN = "written"
"""Metadata of a function: how Spark writes the one of its names that the query has."""
ALIASES = {
    **dict.fromkeys(("power", "signum"), str.upper),
    **dict.fromkeys(("lcase", "ucase", "len", "char_length", "character_length"), str.lower),
    **dict.fromkeys(("ceiling", "pow", "mod", "nvl", "ifnull", "var_samp", "date_diff"), str.lower),
    "substr": str.lower,
}
"""Functions with several names, which Spark keeps, and the case in which it writes each."""
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
    text = write(holder.this).replace("(*)", "(1)").replace(" FILTER(", " FILTER (")
    if isinstance(item, exp.Func) and text.isidentifier():  # as current_date
        text = f"{text.lower()}()"
    return text


def _text(node: exp.Expr, write: _Write) -> str | None:
    """Return the text of an expression whose parts have theirs; None for that of sqlglot."""
    written = str(node.meta.get(WRITTEN, ""))
    if written and not isinstance(node, exp.Substring):
        return f"{written}({', '.join(map(write, node.iter_expressions()))})"
    if type(node) in _SIGNS:
        return f"({write(node.this)} {_SIGNS[type(node)]} {write(node.expression)})"
    if type(node) in _TEXTS:
        return _TEXTS[type(node)](node, write)
    if not isinstance(node, exp.Func):
        return None
    function = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
    name, _, rest = write(node).partition("(") if function.lower() in _UPPER else ("", "", "")
    return f"{name.upper()}({rest}" if name else None


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


def _substring(node: exp.Expr, write: _Write) -> str:
    parts = [write(one) for one in (node.this, node.args["start"])]
    length = node.args.get("length")
    parts.append(_REST if length is None else write(length))
    return f"{node.meta.get(WRITTEN, 'substring')}({', '.join(parts)})"


def _cast(node: exp.Expr, write: _Write) -> str:
    text, kind = write(node), node.args["to"]
    if not kind.is_type("decimal"):
        return text
    return f"{text.rpartition(' AS ')[0]} AS DECIMAL({','.join(map(write, kind.expressions))}))"


_TEXTS: Mapping[type[exp.Expr], Callable[[exp.Expr, _Write], str | None]] = {
    exp.Column: lambda node, _: node.name,
    exp.Literal: lambda node, _: None if isinstance(node.parent, exp.Interval) else node.name,
    exp.Interval: lambda node, write: write(node).replace("'", ""),
    exp.Subquery: lambda *_: "scalarsubquery()",
    exp.Exists: lambda *_: "exists()",
    exp.WithinGroup: lambda node, write: (
        None if isinstance(node.this, exp.GroupConcat) else _with_order(node, write)
    ),
    exp.ArgMax: _extreme,
    exp.ArgMin: _extreme,
    exp.ILike: lambda node, write: f"ilike({write(node.this)}, {write(node.expression)})",
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
