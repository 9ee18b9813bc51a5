"""Conditions that rows of a table fulfil if a query needs them.

They are those of the WHERE and of the ON of inner joins, also of the SELECTs around a subquery, a
CTE that is read once, and a set operation: conditions on their columns hold for the columns that
these return. For the outer side of an outer join only its own ON counts.
"""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

_LIMITS = ("limit", "offset", "fetch", "sample", "match", "connect")
_GROUPS = ("grouping_sets", "cube", "rollup", "totals", "all")


def conditions_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the conditions on the rows of a table, in names of the SELECT that reads it.

    Args:
        node: a table or subquery in FROM or JOIN.
    """
    source = node.parent
    select = None if source is None else source.parent
    if not isinstance(select, exp.Select) or not isinstance(source, exp.From | exp.Join):
        return []
    if node.args.get("pivots"):
        return []
    joins = [join for join in select.args.get("joins") or [] if isinstance(join, exp.Join)]
    if any(str(join.side).upper() in {"RIGHT", "FULL"} for join in joins):
        return []
    where = select.args.get("where")
    found = [] if where is None else _parts(where.this)
    found += _after_groups(select) + _around(select)
    for join in joins:
        found += _parts(join.args.get("on")) if _is_inner(join) else []
    if isinstance(source, exp.From) or _is_inner(source):
        return found + _of_equal_columns(found)
    own, alias = _parts(source.args.get("on")), node.alias_or_name.lower()
    others = [one for one in found if alias not in {"", *_tables(one)}]
    return own + _of_equal_columns(own + others)


def _is_inner(join: exp.Join) -> bool:
    kinds = {str(join.args.get(key) or "").upper() for key in ("side", "kind", "method")}
    return kinds <= {"", "INNER", "CROSS"}


def _tables(condition: exp.Expr) -> set[str]:
    """Return by what a condition qualifies its columns; "" for a column that is not qualified."""
    return {column.table.lower() for column in condition.find_all(exp.Column)}


def _parts(condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that are combined by AND."""
    if isinstance(condition, exp.Paren):
        return _parts(condition.this)
    if isinstance(condition, exp.And):
        return _parts(condition.left) + _parts(condition.right)
    return [] if condition is None else [condition]


def _after_groups(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions of HAVING on columns by which a SELECT groups."""
    having = select.args.get("having")
    parts = [] if having is None else _parts(having.this)
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}

    def inside(column: exp.Column) -> exp.Expr | None:
        return None if column.name.lower() in aliases else column

    return [part for part in parts if _holds_before(select, part, inside) is not None]


def _around(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions of the query around a subquery or CTE, on what its SELECT returns."""
    top: exp.Expr = select
    while isinstance(top.parent, exp.SetOperation):
        top = top.parent
        if top.args.get("by_name") or any(top.args.get(key) for key in _LIMITS):
            return []
    outer = top.parent
    node = _only_use(outer) if isinstance(outer, exp.CTE) else outer
    if not isinstance(node, exp.Subquery | exp.Table) or any(
        node.args.get(key) for key in ("pivots", *_LIMITS)
    ):
        return []
    names = outer.args.get("alias") if outer is not None else None
    if names is not None and names.args.get("columns"):
        return []
    conditions = conditions_of(node)
    if not conditions:
        return []
    returned = _returned(select, top)
    alias, is_alone = node.alias_or_name.lower(), _is_alone(node)

    def inside(column: exp.Column) -> exp.Expr | None:
        parts = [part.name.lower() for part in column.parts]
        is_own = parts[0] == alias if len(parts) > 1 else is_alone
        return returned(parts[-1]) if is_own and len(parts) <= 2 else None  # noqa: PLR2004 - alias and column

    found = [_holds_before(select, one, inside) for one in conditions]
    return [one for one in found if one is not None]


def _only_use(cte: exp.CTE) -> exp.Table | None:
    """Return the table that stands for a CTE; None if there are several, or it reads itself."""
    clause, name = cte.parent, cte.alias.lower()
    if clause is None or clause.args.get("recursive"):
        return None
    root = cte.root()
    if sum(one.alias.lower() == name for one in root.find_all(exp.CTE)) > 1:
        return None
    own = {id(one) for one in cte.find_all(exp.Table)}
    uses = [one for one in root.find_all(exp.Table) if one.name.lower() == name and not one.db]
    uses = [one for one in uses if id(one) not in own]
    return uses[0] if len(uses) == 1 else None


def _is_alone(node: exp.Expr) -> bool:
    select = node.parent_select
    return select is not None and not (select.args.get("joins") or select.args.get("laterals"))


def _returned(select: exp.Select, top: exp.Expr) -> Callable[[str], exp.Expr | None]:
    """Return a function that gives the column of a SELECT by the name that the query has."""
    first = top
    while isinstance(first, exp.SetOperation):
        first = first.left
    items, named = select.expressions, getattr(first, "expressions", [])
    has_star = any(item.is_star for item in (*items, *named))
    source = select.args.get("from_")

    def found(name: str) -> exp.Expr | None:
        at = [n for n, item in enumerate(named) if item.alias_or_name.lower() == name]
        if len(at) == 1 and not (has_star and first is not select):
            inner = items[at[0]].unalias()
            return inner if isinstance(inner, exp.Column) else None
        stars = [one.this if isinstance(one, exp.Column) else one for one in items if one.is_star]
        is_whole = any(not any(one.args.values()) for one in stars)
        if (
            at
            or not is_whole
            or first is not select
            or source is None
            or not _is_alone(source.this)
        ):
            return None
        return exp.column(exp.to_identifier(name, quoted=True))

    return found


def _holds_before(
    select: exp.Select, condition: exp.Expr, inside: Callable[[exp.Column], exp.Expr | None]
) -> exp.Expr | None:
    """Return a condition on the result of a SELECT as one on its rows; None if it is none.

    Args:
        select: must not choose rows otherwise, so it has no LIMIT, and groups by the columns.
        condition: on columns of its result.
        inside: returns the column of the rows.
    """
    if any(select.args.get(key) for key in _LIMITS) or condition.find(exp.Query, exp.AggFunc):
        return None
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        return None
    keys = list(_keys(select))
    copy = exp.Paren(this=condition.copy())
    for column in list(copy.find_all(exp.Column)):
        found = inside(column)
        if found is None or not all(_names(found) in key for key in keys):
            return None
        column.replace(found.copy())
    held: exp.Expr = copy.this
    return held


def _keys(select: exp.Select) -> Iterator[set[object]]:
    """Yield the columns by which a SELECT groups, and by which each window is partitioned."""
    group = select.args.get("group")
    own = [one for one in select.find_all(exp.AggFunc) if one.parent_select is select]
    windows = [one for one in select.find_all(exp.Window) if one.parent_select is select]
    if group is not None:
        is_plain = not any(group.args.get(key) for key in _GROUPS)
        yield {_names(_item(select, one)) for one in group.expressions} if is_plain else set()
    elif any(one.find_ancestor(exp.Window, exp.Select) is select for one in own):
        yield set()
    for window in windows:
        yield {_names(one) for one in window.args.get("partition_by") or []}
    if select.args.get("windows"):
        yield set()


def _item(select: exp.Select, key: exp.Expr) -> exp.Expr:
    """Return what a key of GROUP BY stands for: its number or alias names an item."""
    items = select.expressions
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(items):
        key = items[int(key.name) - 1].unalias()
    return key


def _names(value: exp.Expr) -> object:
    """Return what is the same for the same column."""
    if isinstance(value, exp.Column):
        return tuple(part.name.lower() for part in value.parts)
    return value.sql()


def _of_equal_columns(conditions: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return conditions on a column also for the columns that are equal to it, of the same type."""
    equal: dict[object, list[exp.Column]] = {}
    for one in conditions:
        left, right = (one.left, one.right) if isinstance(one, exp.EQ) else (None, None)
        if not isinstance(left, exp.Column) or not isinstance(right, exp.Column):
            continue
        if left.type is not None and left.type == right.type:
            equal.setdefault(_names(left), []).append(right)
            equal.setdefault(_names(right), []).append(left)
    found: list[exp.Expr] = []
    for one in conditions if equal else ():
        seen = {_names(column) for column in one.find_all(exp.Column)}
        others = [other for name in seen for other in equal.get(name, ())] if len(seen) == 1 else []
        while others:
            other = others.pop()
            if _names(other) in seen:
                continue
            seen.add(_names(other))
            others += equal[_names(other)]
            copy = exp.Paren(this=one.copy())
            for column in list(copy.find_all(exp.Column)):
                column.replace(other.copy())
            found.append(copy.this)
    return found
