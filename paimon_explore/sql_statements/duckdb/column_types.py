"""Types of columns and operands for which DuckDB chooses another type of a result than Spark."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from sqlglot import exp

from paimon_explore.data_types.definitions import AtomicType, DataType, MapType, TypeRoot

_NARROW = ("tinyint", "smallint")
_ENDS = (("int", 2**31), ("bigint", 2**63))
"""The types of constants, and the first number beyond each; a larger constant is a DECIMAL."""
_ROOTS = {
    TypeRoot.FLOAT: "float",
    TypeRoot.TINYINT: "tinyint",
    TypeRoot.SMALLINT: "smallint",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "bigint",
    TypeRoot.DECIMAL: "decimal",
    TypeRoot.CHAR: "char",
    TypeRoot.VARCHAR: "text",
    TypeRoot.DATE: "date",
    TypeRoot.TIMESTAMP: "timestampntz",
    TypeRoot.TIMESTAMP_LTZ: "timestamptz",
}


def mark_types(tree: exp.Expr, columns: Iterable[tuple[str, DataType | None]]) -> None:
    """Mark the columns that are maps, of which `explode` returns two columns, or of plain types.

    Args:
        tree: the query; a column that a part of it names has the type of its value.
        columns: the names and types of the columns of its tables.
    """
    kinds: dict[str, str] = {}
    for given, column_type in columns:
        root = column_type.root if isinstance(column_type, AtomicType) else None
        kind = "map" if isinstance(column_type, MapType) else _ROOTS.get(root, "") if root else ""
        name = given.lower()
        kinds[name] = kind if kinds.get(name, kind) == kind else ""
    found: dict[str, list[exp.Expr]] = {}
    for column in tree.find_all(exp.Column):
        found.setdefault(column.name.lower(), []).append(column)
    for name in found.keys() & kinds.keys():
        _mark(found[name], kinds[name])
    for alias in reversed(list(tree.find_all(exp.Alias))):  # parts before what holds them
        name = alias.alias.lower()
        own = [one for one in found.get(name, ()) if name not in kinds or _may_be_alias(one)]
        _mark(own, alias.this)


def _mark(columns: Sequence[exp.Expr], value: exp.Expr | str) -> None:
    if columns:
        kind = value if isinstance(value, str) else _kind(value)
        for column in columns:
            column.type = exp.DataType.build(kind) if kind else None


def _may_be_alias(column: exp.Expr) -> bool:
    """Return whether a column may be that of a part of the query, before one of a table.

    So it is in HAVING and QUALIFY, and if the query of the column reads no table itself.
    """
    if not isinstance(column.find_ancestor(exp.Having, exp.Qualify, exp.Select), exp.Select):
        return True
    select = column.parent_select
    if select is None or select.args.get("joins") or not select.args.get("from_"):
        return False
    return isinstance(select.args["from_"].this, exp.Subquery)


def _kind(value: exp.Expr) -> str:
    if is_map_value(value):
        return "map"
    return next((kind for kind in _ROOTS.values() if _is_of(value, kind)), "")


def is_map_value(value: exp.Expr) -> bool:
    """Return whether an expression is known to be a map."""
    made = value.name.lower() if isinstance(value, exp.Anonymous) else ""
    is_function = isinstance(value, exp.Map | exp.VarMap | exp.StrToMap | exp.MapFromEntries)
    return is_function or bool(value.is_type("map")) or made in _MAPS


_MAPS = frozenset(
    {
        *("map_concat", "map_filter", "transform_values", "transform_keys", "str_to_map"),
        *("map_from_entries", "map_from_arrays"),
    }
)
_AS: Mapping[str, Sequence[str]] = {
    "timestamptz": ("timestamptz",),
    "timestampntz": ("timestampntz",),
    "date": ("date",),
    "double": ("float", "decimal"),
    "bigint": ("bigint", "int", *_NARROW),
}
"""The type as which a text is compared, by the types of the other values; wider ones first."""
_RESULTS = {
    **dict.fromkeys(("current_date", "curdate", "make_date"), "date"),
    **dict.fromkeys(("now", "current_timestamp", "to_timestamp"), "timestamptz"),
    "localtimestamp": "timestampntz",
}
"""Types of the results of functions."""
_WHOLE, _DAY = re.compile(r"\s*[+-]?[0-9]{1,18}\s*"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_QUOTIENTS = (exp.Div, exp.SafeDivide)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Mod, *_QUOTIENTS)
_OPERANDS: Mapping[type[exp.Expr], Sequence[str]] = {
    **dict.fromkeys(
        (*_ARITHMETIC, *COMPARISONS),
        ("this", "expression"),
    ),
    **dict.fromkeys((exp.In, exp.Coalesce, exp.Greatest, exp.Least), ("this", "expressions")),
    exp.Between: ("this", "low", "high"),
    exp.Array: ("expressions",),
    **dict.fromkeys((exp.If, exp.Nvl2), ("true", "false")),
    exp.Case: ("ifs", "default"),
}
"""The operands with a common type."""
_OF_OPERANDS = (*_ARITHMETIC, exp.Coalesce, exp.Greatest, exp.Least, exp.If, exp.Nvl2, exp.Case)
"""Expressions that have this type themselves."""


def widen(node: exp.Expr, as_beside: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> None:
    """Cast operands whose common type is wider in Spark.

    FLOAT and another number are DOUBLE, where DuckDB has FLOAT; TINYINT and a constant are INT. A
    text is compared with a value of another type as that type.

    Args:
        node: the expression; it is changed.
        as_beside: casts a text as Spark does for the type of another value, the first argument.
    """
    parts = _operands(node)
    is_comparison = isinstance(node, (*COMPARISONS, exp.In, exp.Between))
    texts = [one for one in parts if is_text(one)] if is_comparison else []
    other, kind = _widest(parts) if texts else (node, "")
    for one in texts:
        if kind and not _is_read_as(one, kind):
            one.replace(as_beside(other, one))
    floats = [one for one in parts if _is_of(one, "float")]
    for one in floats if len(floats) < len(parts) or isinstance(node, _QUOTIENTS) else ():
        one.replace(exp.cast(one.copy(), "double"))
    if any(_is_of(one, *_NARROW) for one in parts):
        for one in parts:
            plain = one.this if isinstance(one, exp.Neg) else one
            if isinstance(plain, exp.Literal) and plain.name.isdigit() and not plain.is_string:
                kind = next((kind for kind, end in _ENDS if int(plain.name) < end), "")
                if kind:
                    one.replace(exp.cast(one.copy(), kind))


def is_text(node: exp.Expr) -> bool:
    """Return whether an expression is known to be a text."""
    return bool(isinstance(node, exp.Literal) and node.is_string) or _is_of(node, "text", "char")


def _widest(values: Sequence[exp.Expr]) -> tuple[exp.Expr, str]:
    """Return the value whose type texts get, and this type; it is empty if all may be texts."""
    for kind, theirs in _AS.items():
        for one in values:
            if _is_of(one, *theirs) or _is_number(one, kind):
                return one, kind
    return values[0], ""


def _is_number(node: exp.Expr, kind: str) -> bool:
    """Return whether an expression is a constant number of a type."""
    plain = node.this if isinstance(node, exp.Neg) else node
    is_constant = isinstance(plain, exp.Literal) and not plain.is_string
    return is_constant and kind == ("bigint" if plain.name.isdigit() else "double")


def _is_read_as(text: exp.Expr, kind: str) -> bool:
    """Return whether DuckDB reads a constant text as Spark does."""
    pattern = _WHOLE if kind in {"bigint", "double"} else _DAY
    return isinstance(text, exp.Literal) and pattern.fullmatch(text.name) is not None


def _operands(node: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for key in _OPERANDS.get(type(node), ()):
        value = node.args.get(key)
        found += value if isinstance(value, list) else [value] if value else []
    if isinstance(node, exp.Case):
        found = [one.args["true"] if isinstance(one, exp.If) else one for one in found]
    return [one for one in found if not isinstance(one, exp.Null)]


@cache
def _parsed(kind: str) -> exp.DataType:
    return exp.DataType.build(kind)


def _is_of(node: exp.Expr, *kinds: str) -> bool:
    """Return whether an expression is known to be of one of some types."""
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Max | exp.Min):
        return _is_of(node.this, *kinds)
    if isinstance(node, exp.Column | exp.Cast):
        return bool(node.type is not None and node.is_type(*map(_parsed, kinds)))
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.Anonymous):
        name = str(node.this if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name == "spark_moved":
            return _is_of(node.expressions[0], *kinds)
        return _RESULTS.get(name.removeprefix("spark.")) in kinds
    parts = _operands(node) if isinstance(node, _OF_OPERANDS) else ()
    return bool(parts) and all(_is_of(one, *kinds) for one in parts)
