"""Functions of Spark that call lambdas."""

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.duckdb.spark_functions import (
    SPARK,
    applied,
    call,
    each,
    of_values,
)

_NAMES = {
    *((exp.Column, "this"), (exp.Column, "table"), (exp.PropertyEQ, "this")),
    *((exp.Dot, "expression"), (exp.Alias, "alias"), (exp.Lambda, "expressions")),
}
"""Where an identifier in a lambda is no parameter, by its parent and role."""


def _body(function: exp.Expr, values: Mapping[int, exp.Expr]) -> exp.Expr:
    """Return the body of a lambda with expressions in place of some of its parameters."""
    if not isinstance(function, exp.Lambda):
        raise InvalidInputError(f"{function.sql(SPARK)} is not a lambda: x -> x + 1.")
    names = [one.name.lower() for one in function.expressions]
    found = {names[at]: value for at, value in values.items() if at < len(names)}

    def replaced(node: exp.Expr) -> exp.Expr:
        role = (type(node.parent), node.arg_key)
        if not isinstance(node, exp.Identifier) or role in _NAMES:
            return node
        value = found.get(node.name.lower())
        return node if value is None else value.copy()

    body: exp.Expr = exp.Paren(this=function.this.copy()).transform(replaced)
    return body


def _over_pairs(pairs: exp.Expr, function: exp.Expr, row: Sequence[int | None]) -> exp.Expr:
    """Return what a lambda of two parameters makes of a list of pairs.

    Args:
        pairs: structs of two values.
        function: the lambda.
        row: what each pair becomes, of 0 and 1, its values, and None, the result of the lambda.
    """
    pair = exp.to_identifier("_pair")
    values = {at: call("struct_extract_at", pair, exp.Literal.number(at + 1)) for at in range(2)}
    body = _body(function, values)
    made = [body if at is None else values[at].copy() for at in row]
    result = made[0] if len(made) == 1 else call("row", *made)
    return each(pairs, result, pair)


def _filtered_map(entries: exp.Expr, function: exp.Expr) -> exp.Expr:
    node = _over_pairs(call("map_entries", entries), function, [None])
    node.set("this", "list_filter")
    return call("map_from_entries", node)


def _mapped(row: Sequence[int | None]) -> Callable[[exp.Expr, exp.Expr], exp.Expr]:
    return lambda entries, function: call(
        "map_from_entries", _over_pairs(call("map_entries", entries), function, row)
    )


def _indexed(node: exp.Expr) -> exp.Expr:
    """Return a lambda whose second parameter, an index, counts from 0 as in Spark."""
    function = node.expression
    if isinstance(function, exp.Lambda) and len(function.expressions) > 1:
        name = function.expressions[1].copy()
        less = exp.Sub(this=name, expression=exp.Literal.number(1))
        index = exp.cast(exp.Paren(this=less), "int")
        function.set("this", _body(function, {1: index}))
    return node


def _finished(node: exp.Expr) -> exp.Expr:
    """Return `aggregate` with its last lambda, which DuckDB does not have."""
    finish = node.args.get("finish")
    if finish is None:
        return node
    node.set("finish", None)
    return applied(node, finish.copy())


def _sorted(node: exp.Expr) -> exp.Expr:
    """Return `array_sort` with a comparator as insertions into the sorted elements before."""
    function = node.args.get("expression")
    if function is None:
        return node
    kept, one, other = map(exp.to_identifier, ("_kept", "_one", "_other"))
    order = exp.func("coalesce", _body(function, {0: one, 1: other}), exp.Literal.number(0))

    def part(test: type[exp.Binary]) -> exp.Expr:
        chosen = test(this=order.copy(), expression=exp.Literal.number(0))
        return call("list_filter", kept.copy(), exp.Lambda(this=chosen, expressions=[one.copy()]))

    made = call("list_concat", call("list_append", part(exp.LTE), other.copy()), part(exp.GT))
    insert = exp.Lambda(this=made, expressions=[kept.copy(), other.copy()])
    none = call("list_slice", node.this.copy(), *map(exp.Literal.number, (1, 0)))
    return call("list_reduce", node.this.copy(), insert, none)


def _zipped_maps(first: exp.Expr, second: exp.Expr, function: exp.Expr) -> exp.Expr:
    """Return `map_zip_with`: the result of a lambda for each key of two maps."""
    key, maps = exp.to_identifier("_key"), (first, second)
    values = {at: call("map_extract_value", one.copy(), key) for at, one in enumerate(maps, 1)}
    keys = call(
        "spark_distinct", call("list_concat", *(call("map_keys", one.copy()) for one in maps))
    )
    pairs = each(keys, call("row", key.copy(), _body(function, {0: key, **values})), key)
    return of_values(call("map_from_entries", pairs), *maps)


def _all_or_any(array: exp.Expr, test: exp.Expr) -> exp.Expr:
    return call("spark_any", call("list_transform", array, test))


def _exists(node: exp.Expr) -> exp.Expr:
    """Return whether an element of an array passes a test; EXISTS of a query stays."""
    test = node.args.get("expression")
    return node if test is None else _all_or_any(node.this.copy(), test.copy())


def _forall(array: exp.Expr, test: exp.Expr) -> exp.Expr:
    fails = exp.Lambda(this=exp.Not(this=exp.Paren(this=test.this)), expressions=test.expressions)
    return exp.Not(this=_all_or_any(array, fails))


BY_NAME: Mapping[str, Callable[..., exp.Expr]] = {
    "forall": _forall,
    "zip_with": lambda a, b, function: of_values(
        _over_pairs(call("list_zip", a, b), function, [None]), a, b
    ),
    "map_filter": _filtered_map,
    "map_zip_with": _zipped_maps,
    "transform_values": _mapped([0, None]),
    "transform_keys": _mapped([None, 1]),
}
"""Functions by name."""
BY_CLASS: Mapping[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Exists: _exists,
    exp.Transform: _indexed,
    exp.ArrayFilter: _indexed,
    exp.Reduce: _finished,
    exp.ArraySort: _sorted,
}
"""Functions by the class of their expression."""
