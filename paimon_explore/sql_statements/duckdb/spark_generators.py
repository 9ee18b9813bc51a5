"""Functions of Spark that return several rows or columns, and windows of time."""

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.sql_statements.duckdb.column_types import is_map_value
from paimon_explore.sql_statements.duckdb.spark_functions import (
    ONE,
    call,
    constant,
    each,
    refused,
    struct_of,
)

_WINDOW, _GENERATED = "window", "_generated"
_GENERATORS = (exp.Explode, exp.Posexplode, exp.Inline, exp.Stack)
_UNITS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1000,
    "microsecond": 1,
}
_LENGTH = re.compile(rf"\s*([0-9]+)\s*({'|'.join(_UNITS)})s?\b", re.IGNORECASE)


def _names(node: exp.Expr) -> list[str]:
    """Return the names that a query gives to the columns of a function."""
    parent = node.parent
    if isinstance(parent, exp.Aliases):
        return [one.name for one in parent.expressions]
    return list(parent.alias_column_names) if isinstance(parent, exp.Lateral | exp.Table) else []


def _argument(node: exp.Expr) -> exp.Expr:
    found: exp.Expr = node.expressions[0] if isinstance(node, exp.Anonymous) else node.this
    return found.copy()


def _structs(rows: exp.Expr) -> exp.Expr:
    """Return the rows of structs as columns."""
    depth = exp.PropertyEQ(this=exp.to_identifier("max_depth"), expression=exp.Literal.number(2))
    return call("unnest", rows, depth)


def _rows(node: exp.Expr, rows: exp.Expr, *, outer: bool) -> exp.Expr:
    """Return a list, with a null in place of an empty one if wanted."""
    lateral = node.parent
    is_outer = outer or (isinstance(lateral, exp.Lateral) and lateral.args.get("outer"))
    return call("spark_outer", rows) if is_outer else rows


def _exploded(*, numbered: bool = False, outer: bool = False) -> Callable[[exp.Expr], exp.Expr]:
    """Return the translation of `explode` and its like."""

    def exploded(node: exp.Expr) -> exp.Expr:
        value, names = _argument(node), _names(node)
        is_map = is_map_value(value) or len(names) > 1 + numbered
        if not is_map and not numbered:
            rows = call("unnest", _rows(node, value, outer=outer))
            return exp.alias_(rows, "col") if isinstance(node.parent, exp.Select) else rows
        item, at = exp.to_identifier("_item"), exp.to_identifier("_at")
        position = exp.cast(exp.Paren(this=exp.Sub(this=at, expression=ONE.copy())), "int")
        sides = [call("struct_extract", item, exp.Literal.string(one)) for one in ("key", "value")]
        found = {
            **({"pos": position} if numbered else {}),
            **(dict(zip(("key", "value"), sides, strict=True)) if is_map else {"col": item}),
        }
        if names and len(names) != len(found):
            raise InvalidInputError(
                f"{node.sql('spark')} returns {len(found)} columns, not {len(names)}."
            )
        struct = struct_of(names or list(found), list(found.values()))
        rows = each(call("map_entries", value) if is_map else value, struct, item, at)
        return _structs(_rows(node, rows, outer=outer))

    return exploded


def _inlined(node: exp.Expr) -> exp.Expr:
    rows, names = _argument(node), _names(node)
    if names and isinstance(node.parent, exp.Aliases):
        item = exp.to_identifier("_item")
        values = [
            call("struct_extract_at", item, exp.Literal.number(at + 1)) for at in range(len(names))
        ]
        rows = each(rows, struct_of(names, values), item)
    return _structs(_rows(node, rows, outer=isinstance(node, exp.Anonymous)))


def _stacked(node: exp.Expr) -> exp.Expr:
    values, count = node.expressions, int(constant(node.this, "The first argument of stack"))
    width = -(-len(values) // count)
    names = _names(node) or [f"col{at}" for at in range(width)]
    padded = [*(one.copy() for one in values), *[exp.Null()] * (width * count - len(values))]
    rows = [struct_of(names, padded[at : at + width]) for at in range(0, len(padded), width)]
    return _structs(exp.Paren(this=exp.Array(expressions=rows)))


def _json_members(node: exp.Expr) -> exp.Expr:
    """Return the members of a JSON object that `json_tuple` names."""
    document, *keys = node.expressions
    names = _names(node) or [f"c{at}" for at in range(len(keys))]
    values = [call("spark_json_member", document.copy(), key.copy()) for key in keys]
    return _structs(exp.Paren(this=exp.Array(expressions=[struct_of(names, values)])))


def _unaliased(node: exp.Expr) -> exp.Expr:
    """Return a function whose columns have their names, or its only column with its name."""
    if not isinstance(node.this, exp.Anonymous):
        return node
    is_single = len(node.this.expressions) == 1
    return exp.alias_(node.this, node.expressions[0].name) if is_single else node.this


def _query_of(function: exp.Expr) -> exp.Subquery:
    is_single = len(function.expressions) == 1
    item = exp.alias_(function.copy(), "col") if is_single else function.copy()
    return exp.Subquery(this=exp.Select(expressions=[item]))


def _is_unnested(function: object) -> bool:
    return isinstance(function, exp.Anonymous) and function.name == "unnest"


def _lateral(node: exp.Expr) -> exp.Expr:
    function, alias = node.this, node.args.get("alias")
    if not _is_unnested(function):
        return node
    return exp.Lateral(this=_query_of(function), alias=alias)


def _table(node: exp.Expr) -> exp.Expr:
    function = node.this
    if not _is_unnested(function):
        return node
    query = _query_of(function)
    query.set("alias", node.args.get("alias"))
    return query


def move_to_laterals(node: exp.Select) -> None:
    """Make lateral views of functions whose columns ORDER BY may name, or that others multiply.

    The rows of several functions are combined, and a window is over their rows.
    """
    items, functions = list(node.expressions), _functions(node)
    parts = [part for one in items for part in one.find_all(exp.Window, exp.AggFunc)]
    over_rows = all(isinstance(one, exp.Window) or one.parent in parts for one in parts)
    is_combined = len(functions) > 1 or (bool(parts) and over_rows)
    if not node.args.get("order") and not is_combined:
        return
    is_after_star = items[-2:-1] == [exp.Star()]
    for number, (item, function) in enumerate(functions):
        if exp.Star() in items and not (is_after_star and item is items[-1]):
            if len(functions) > 1:
                raise UnsupportedFeatureError(
                    "a second function that returns rows beside *", hint="Write LATERAL VIEW."
                )
            continue
        name = f"{_GENERATED}{number or ''}"
        alias = exp.TableAlias(this=exp.to_identifier(name))
        if isinstance(item, exp.Aliases | exp.Alias):
            names = item.expressions if isinstance(item, exp.Aliases) else [item.args["alias"]]
            alias.set("columns", [one.copy() for one in names])
        columns = exp.Column(this=exp.Star(), table=exp.to_identifier(name))
        item.replace(None if is_after_star else columns)  # which `*` has
        view = exp.Lateral(this=function.copy(), alias=alias)
        if node.args.get("from_"):
            node.append("laterals", view)
        else:
            node.set("from_", exp.From(this=view))


def _functions(node: exp.Select) -> list[tuple[exp.Expr, exp.Expr]]:
    """Return the items of a query that are functions which return rows, with these functions."""
    pairs: list[tuple[exp.Expr, exp.Expr]] = []
    for item in node.expressions:
        function = item.this if isinstance(item, exp.Aliases | exp.Alias) else item
        if isinstance(function, _GENERATORS) or (
            isinstance(function, exp.Anonymous) and function.name.lower() in BY_NODE
        ):
            pairs.append((item, function))
    return pairs


def _named_tuple(node: exp.Expr) -> exp.Expr:
    """Return `(a, b)` as a struct with Spark's names; one that is compared needs none."""
    holder = node.parent
    while isinstance(holder, exp.Tuple):
        holder = holder.parent
    is_alias = type(holder) is exp.Alias  # not that of a value of PIVOT
    if not is_alias and not isinstance(holder, exp.Select | exp.Dot | exp.Func):
        return node
    values = [one.copy() for one in node.expressions]
    names = [
        one.alias_or_name if isinstance(one, exp.Alias | exp.Column | exp.Dot) else f"col{at}"
        for at, one in enumerate(values, 1)
    ]
    return struct_of(names, [one.unalias() for one in values])


def select(node: exp.Expr) -> exp.Expr:
    """Return a query with its lateral views and windows of time as joins."""
    laterals = [*(node.args.get("laterals") or ()), *_time_windows(node)]
    if laterals:
        node.set("laterals", None)
        for lateral in laterals:
            node.append("joins", exp.Join(this=lateral.pop(), kind="CROSS"))
    return node


def _time_windows(node: exp.Expr) -> list[exp.Expr]:
    """Replace calls of `window` by a column of a lateral join, which is returned."""
    calls = [one for one in node.find_all(exp.Anonymous) if one.name.lower() == "time_window"]
    if not calls:
        return []
    first, others = calls[0], calls[1:]
    if any(one != first for one in others):
        raise UnsupportedFeatureError("two different windows of time in a query")
    for one in calls:
        one.replace(exp.column(_WINDOW, quoted=True))
    for column in list(node.find_all(exp.Column)):
        for part in column.parts:
            part.set("quoted", part.args.get("quoted") or part.name.lower() in {_WINDOW, "end"})
        if column.parent is node and column.arg_key == "expressions":
            column.replace(exp.alias_(column.copy(), column.name, quoted=True))
    time, size, *more = first.expressions
    lengths = [_micros(one) for one in (size, *more)]
    slide, start = (*lengths[1:], *(lengths[0], 0)[len(more) :])
    numbers = [exp.Literal.number(one) for one in (lengths[0], slide, start)]
    rows = call("unnest", call("spark_windows", call("spark_instant", time.copy()), *numbers))
    query = exp.Select(expressions=[exp.alias_(rows, _WINDOW, quoted=True)])
    return [exp.Lateral(this=exp.Subquery(this=query), alias=exp.TableAlias(this="_windows"))]


def _micros(node: exp.Expr) -> int:
    text = constant(node, "The length of a window")
    if not re.fullmatch(f"({_LENGTH.pattern})+\\s*", text.removeprefix("interval "), re.IGNORECASE):
        raise InvalidInputError(
            f"{text!r} is not a length of a window.", hint=f"Units: {', '.join(_UNITS)}."
        )
    return sum(int(count) * _UNITS[unit.lower()] for count, unit in _LENGTH.findall(text))


BY_CLASS: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Explode: _exploded(),
    exp.Posexplode: _exploded(numbered=True),
    exp.Inline: _inlined,
    exp.Stack: _stacked,
    exp.Aliases: _unaliased,
    exp.Tuple: _named_tuple,
    exp.Lateral: _lateral,
    exp.Table: _table,
    exp.Select: select,
}
"""Functions and clauses by the class of their expression."""
BY_NODE: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    "explode_outer": _exploded(outer=True),
    "posexplode_outer": _exploded(numbered=True, outer=True),
    "json_tuple": _json_members,
    "inline_outer": _inlined,
    "session_window": refused("the function session_window"),
}
"""Functions that sqlglot does not know, by name."""
