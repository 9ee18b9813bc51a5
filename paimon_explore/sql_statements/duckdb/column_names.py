"""The names of columns that a query does not name: the text of their expressions in Spark."""

from collections.abc import Callable, Mapping

from sqlglot import exp

from paimon_explore.sql_statements.duckdb.spark_functions import SPARK

_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.EQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "AND",
    exp.Or: "OR",
    exp.Is: "IS",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_UPPER = frozenset(
    {
        *("ceil", "floor", "sqrt", "cbrt", "exp", "expm1", "log", "log2", "log10", "log1p", "pi"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
        *("atanh", "atan2", "cot", "csc", "sec", "degrees", "radians", "hypot", "e"),
    }
)
"""Functions that Spark writes in upper case."""


def column_name(item: exp.Expr) -> str:
    """Return the name of a column.

    >>> import sqlglot
    >>> column_name(sqlglot.parse_one("-a + 2 * (b - 1) <> 3", read="spark"))
    '(NOT (((- a) + (2 * (b - 1))) = 3))'
    """
    select = item.parent_select
    sources = [] if select is None else [*select.find_all(exp.Table, exp.Subquery)]
    tables = {source.alias_or_name.lower() for source in sources} | {""}
    column = item.this if isinstance(item, exp.Cast) else None
    if isinstance(column, exp.Column) and column.table.lower() in tables:
        return column.name
    holder = exp.Alias(this=item.copy())
    for node in reversed(list(holder.this.walk(prune=lambda node: isinstance(node, exp.Query)))):
        is_own = not isinstance(node, exp.Column) or node.table.lower() in tables
        text = _text(node) if is_own else None
        if text is not None:
            node.replace(exp.var(text))
    text = _sql(holder.this).replace("(*)", "(1)").replace(" FILTER(", " FILTER (")
    if isinstance(item, exp.Func) and text.isidentifier():  # as current_date
        text = f"{text.lower()}()"
    return text.replace("'", "")


def _sql(node: exp.Expr) -> str:
    return node.sql(dialect=SPARK, normalize_functions="lower")


def _text(node: exp.Expr) -> str | None:
    """Return the text of an expression whose parts have theirs; None for that of sqlglot."""
    if type(node) in _SIGNS:
        return f"({_sql(node.this)} {_SIGNS[type(node)]} {_sql(node.expression)})"
    if type(node) in _TEXTS:
        return _TEXTS[type(node)](node)
    name, _, rest = _sql(node).partition("(") if isinstance(node, exp.Func) else ("", "", "")
    return f"{name.upper()}({rest}" if name in _UPPER else None


def _negation(node: exp.Expr) -> str:
    text = _sql(node.this)
    return (
        f"{text.removesuffix('NULL)')}NOT NULL)" if text.endswith("IS NULL)") else f"(NOT {text})"
    )


def _negative(node: exp.Expr) -> str:
    text = _sql(node.this)
    return f"-{text}" if text[0].isdigit() else f"(- {text})"


def _between(node: exp.Expr) -> str:
    return f"between({', '.join(_sql(node.args[key]) for key in ('this', 'low', 'high'))})"


_TEXTS: Mapping[type[exp.Expr], Callable[[exp.Expr], str | None]] = {
    exp.Column: lambda node: node.name,
    exp.Subquery: lambda _: "scalarsubquery()",
    exp.Exists: lambda _: "exists()",
    exp.Paren: lambda node: _sql(node.this),
    exp.Boolean: lambda node: _sql(node).lower(),
    exp.NEQ: lambda node: f"(NOT ({_sql(node.this)} = {_sql(node.expression)}))",
    exp.Not: _negation,
    exp.Neg: _negative,
    exp.In: lambda node: f"({_sql(node)})",
    exp.Between: _between,
    exp.DPipe: lambda node: f"concat({_sql(node.this)}, {_sql(node.expression)})",
    exp.If: lambda node: (
        None if isinstance(node.parent, exp.Case) else f"(IF({_sql(node).partition('(')[2]})"
    ),
}
