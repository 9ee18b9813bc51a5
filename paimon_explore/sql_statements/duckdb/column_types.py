"""Types and relations of columns, and operands of which DuckDB makes another type than Spark."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from sqlglot import exp

from paimon_explore.data_types.definitions import (
    TIMESTAMPS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.duckdb.spark_functions import call, each
from paimon_explore.sql_statements.query_pushdown import SOURCE

_Columns = Callable[[str], Iterable[str] | None]
_MICROSECONDS = 6
"""The digits of a fraction of a second that DuckDB's functions know."""
_NANOSECONDS = "(9)"
"""The end of the names of types of timestamps with more digits."""
_NARROW = ("tinyint", "smallint")
_ENDS = (("int", 2**31), ("bigint", 2**63))
"""The types of constants, and the first number beyond each; a larger constant is a DECIMAL."""
_ROOTS = {
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
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

    Members of an array of structs become the array of these members.

    Args:
        tree: the query; a column that a part of it names has the type of its value.
        columns: the names and types of the columns of its tables.
    """
    columns = list(columns)
    _spread_members(tree, columns)
    kinds: dict[str, str] = {}
    for given, column_type in columns:
        kind, name = _type_name(column_type), given.lower()
        both = {kind, kinds.get(name, kind)}
        base = {one.removesuffix(_NANOSECONDS) for one in both}
        kinds[name] = kind if len(both) == 1 else base.pop() if len(base) == 1 else ""
    found: dict[str, list[exp.Expr]] = {}
    for column in tree.find_all(exp.Column):
        found.setdefault(column.name.lower(), []).append(column)
    for name in found.keys() & kinds.keys():
        _mark(found[name], kinds[name])
    for alias in reversed(list(tree.find_all(exp.Alias))):  # parts before what holds them
        name = alias.alias.lower()
        own = [one for one in found.get(name, ()) if name not in kinds or _may_be_alias(one)]
        _mark(own, alias.this)


def _spread_members(tree: exp.Expr, columns: Iterable[tuple[str, DataType | None]]) -> None:
    """Replace `array.member`, of an array of structs, by the array of the members."""
    arrays = {
        name.lower(): {field.name.lower() for field in kind.element.fields}
        for name, kind in columns
        if isinstance(kind, ArrayType) and isinstance(kind.element, RowType)
    }
    tables = {one.alias_or_name.lower() for one in tree.find_all(exp.Table, exp.Subquery)}
    for column in list(tree.find_all(exp.Column)) if arrays else ():
        before, array, member = column.parts[-3:-2], column.parts[-2:][0], column.parts[-1]
        members = arrays.get(array.name.lower(), ())
        if array is member or array.name.lower() in tables or member.name.lower() not in members:
            continue
        item = exp.to_identifier("_item")
        made = call("struct_extract", item, exp.Literal.string(member.name))
        value = exp.Column(this=array.copy(), table=before[0].copy() if before else None)
        found = each(value, made, item)
        is_item = column.arg_key == "expressions" and isinstance(column.parent, exp.Select)
        column.replace(exp.alias_(found, member.name, quoted=True) if is_item else found)


def mark_sources(tree: exp.Expr, columns: _Columns) -> None:
    """Mark columns without a qualifier by the alias of the relation of their SELECT that has them.

    Only conditions that are pushed down use that, so a SELECT stays as it is where the columns of
    one of its relations are not known.

    Args:
        tree: the query.
        columns: returns the columns of a table by its name; None for another name.
    """
    relations = _Relations(columns)
    for select in tree.find_all(exp.Select):
        owners = relations.owners(select) if select.args.get("joins") else {}
        for column in select.find_all(exp.Column) if owners else ():
            owner = owners.get(column.name.lower()) if len(column.parts) == 1 else None
            if owner is not None and column.parent_select is select:
                column.meta[SOURCE] = owner


class _Relations:
    """The names of the columns of tables, subqueries and CTEs, in lower case.

    Args:
        columns: returns the columns of a table by its name; None for another name.
    """

    def __init__(self, columns: _Columns) -> None:
        self._columns = columns
        self._known: dict[int, frozenset[str] | None] = {}

    def owners(self, select: exp.Select) -> dict[str, str | None]:
        """Return the alias of the relation that has a column; None if several have it."""
        relations = _relations(select)
        aliases = [one.alias_or_name.lower() for one in relations]
        names = [self._names(one) for one in relations]
        if len(set(aliases)) < len(aliases) or None in names or select.args.get("laterals"):
            return {}
        owners: dict[str, str | None] = {}
        for alias, found in zip(aliases, names, strict=True):
            owners |= {name: None if name in owners else alias for name in found or ()}
        return owners

    def _names(self, node: exp.Expr) -> frozenset[str] | None:
        """Return the names of a relation or query; None if they are not known."""
        if id(node) not in self._known:
            self._known[id(node)] = None  # while a CTE is asked for its own
            found = self._found(node)
            names = None if found is None else frozenset(map(str.lower, found))
            self._known[id(node)] = None if names is None or "" in names else names
        return self._known[id(node)]

    def _found(self, node: exp.Expr) -> Iterable[str] | None:
        if isinstance(node, exp.Select):
            return self._selected(node)
        alias = node.args.get("alias")
        if node.args.get("pivots") or node.args.get("joins"):
            return None
        if alias is not None and alias.args.get("columns"):
            return [one.name for one in alias.args["columns"]]
        if isinstance(node, exp.Subquery | exp.CTE | exp.SetOperation):
            return self._names(node.this)
        cte = _cte_of(node)
        return self._columns(node.name) if cte is None else self._names(cte)

    def _selected(self, select: exp.Select) -> list[str] | None:
        names: list[str] = []
        for item in select.expressions:
            if not item.is_star:
                names.append(item.alias_or_name)
                continue
            parts = [self._names(one) for one in _relations(select)]
            is_plain = isinstance(item, exp.Star) and not any(item.args.values())
            if None in parts or not is_plain or select.args.get("laterals"):
                return None
            names += [name for part in parts for name in part or ()]
        return names


def _relations(select: exp.Select) -> list[exp.Expr]:
    """Return the tables and subqueries that a SELECT reads."""
    source, joins = select.args.get("from_"), select.args.get("joins") or []
    return [one.this for one in ([] if source is None else [source]) + joins]


def _cte_of(table: exp.Expr) -> exp.Expr | None:
    """Return the CTE, of the queries around a table, for which it stands; None if there is none."""
    outer: exp.Expr | None = table
    while outer is not None:
        clause = outer.args.get("with_")
        for cte in [] if clause is None else clause.expressions:
            if isinstance(cte, exp.CTE) and cte.alias.lower() == table.name.lower():
                return cte
        outer = outer.parent
    return None


def _type_name(column_type: DataType | None) -> str:
    if isinstance(column_type, MapType):
        return "map"
    if not isinstance(column_type, AtomicType):
        return ""
    is_fine = column_type.root in TIMESTAMPS and (column_type.precision or 0) > _MICROSECONDS
    return _ROOTS.get(column_type.root, "") + _NANOSECONDS * is_fine


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
    found = next((kind for kind in _ROOTS.values() if _is_of(value, kind)), "")
    return found + _NANOSECONDS * _has_nanoseconds(value)


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
    "spark_substring": "text",
}
"""Types of the results of functions."""
_WHOLE, _DAY = re.compile(r"\s*[+-]?[0-9]{1,18}\s*"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_QUOTIENTS = (exp.Div, exp.SafeDivide)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Mod, *_QUOTIENTS)
_CALCULATIONS = (*_ARITHMETIC, exp.IntDiv, exp.SafeAdd, exp.SafeSubtract, exp.SafeMultiply)
_OPERANDS: Mapping[type[exp.Expr], Sequence[str]] = {
    **dict.fromkeys((*_CALCULATIONS, *COMPARISONS), ("this", "expression")),
    **dict.fromkeys((exp.In, exp.Coalesce, exp.Greatest, exp.Least), ("this", "expressions")),
    exp.Between: ("this", "low", "high"),
    exp.Array: ("expressions",),
    **dict.fromkeys((exp.If, exp.Nvl2), ("true", "false")),
    exp.Case: ("ifs", "default"),
}
"""The operands with a common type."""
_OF_OPERANDS = (*_ARITHMETIC, exp.Coalesce, exp.Greatest, exp.Least, exp.If, exp.Nvl2, exp.Case)
"""Expressions that have this type themselves."""
_AS_OTHERS = (*COMPARISONS, exp.In, exp.Between, exp.Coalesce, exp.If, exp.Nvl2, exp.Case)
"""Expressions that read a text as the type of the other operands, if this is known."""
_OF_REALS = (
    *(exp.Sum, exp.Avg, exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    *(exp.Skewness, exp.Kurtosis, exp.Median, exp.Quantile, exp.ApproxQuantile, exp.Corr),
    *(exp.CovarPop, exp.CovarSamp, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2, exp.Neg, exp.Abs),
    *(exp.Round, exp.Ceil, exp.Floor, exp.Sign, exp.Sqrt, exp.Cbrt, exp.Exp, exp.Pow, exp.Sin),
    *(exp.Cos, exp.Tan, exp.Asin, exp.Acos, exp.Atan, exp.Atan2, exp.Degrees, exp.Radians),
)
_LEAVES = (exp.Literal, exp.Identifier, exp.Column)
_REAL_NAMES = frozenset({"ln", "log", "log2", "log10", "log1p", "hypot", "bround"})
"""Functions that read a text as DOUBLE, and the names of others."""
_TEXTS = (
    *(exp.Concat, exp.ConcatWs, exp.Trim, exp.Lower, exp.Upper, exp.Substring, exp.Replace),
    *(exp.RegexpReplace, exp.RegexpExtract, exp.SplitPart, exp.JSONExtractScalar),
)
"""Functions that return texts."""


def widen(node: exp.Expr, as_beside: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> None:
    """Cast operands whose common type is wider in Spark.

    FLOAT and another number are DOUBLE, where DuckDB has FLOAT; TINYINT and a constant are INT. A
    text is compared and calculated with a value of another type as that type; functions of numbers
    read it as DOUBLE.

    Args:
        node: the expression; it is changed.
        as_beside: casts a text as Spark does for the type of another value, the first argument.
    """
    if isinstance(node, _LEAVES):
        return
    if isinstance(node, exp.SetOperation):
        for items in _set_columns(node):
            _widen_column(items, as_beside)
        return
    parts = _operands(node)
    for text, other in _texts(node, parts):
        text.replace(as_beside(other, text))
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


def _set_columns(node: exp.Expr) -> list[tuple[exp.Expr, ...]]:
    """Return the expressions of each column of a set operation, which is part of no other one."""
    if isinstance(node.parent, exp.SetOperation) or node.args.get("by_name"):
        return []
    queries: list[exp.Expr] = [node]
    while any(isinstance(one, exp.SetOperation) for one in queries):
        queries = [
            part.unnest()
            for one in queries
            for part in ((one.left, one.right) if isinstance(one, exp.SetOperation) else (one,))
        ]
    items = [one.expressions for one in queries if isinstance(one, exp.Select)]
    is_plain = len(items) == len(queries) and not any(one.is_star for row in items for one in row)
    return list(zip(*items, strict=True)) if is_plain and len({*map(len, items)}) == 1 else []


def _widen_column(
    items: Sequence[exp.Expr], as_beside: Callable[[exp.Expr, exp.Expr], exp.Expr]
) -> None:
    """Cast the texts and FLOATs of a column of a set operation as those of other expressions."""
    parts = [one.unalias() for one in items]
    present = [one for one in parts if not isinstance(one, exp.Null)]
    kind = _widest(present)[1] if any(map(is_text, present)) else ""
    kind = "double" if any(_is_of(one, "double") for one in present) else kind
    is_real = any(not _is_of(one, "float") for one in present)
    for item, one in zip(items, parts, strict=True):
        if kind and is_text(one):
            made = as_beside(exp.cast(exp.Null(), kind), one)
        elif is_real and _is_of(one, "float"):
            made = exp.cast(one.copy(), "double")
        else:
            continue
        item.replace(exp.alias_(made, item.alias_or_name, quoted=True))


def _texts(node: exp.Expr, parts: Sequence[exp.Expr]) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Yield the operands of an expression that are texts, and values of the types that they get."""
    is_named = isinstance(node, exp.Anonymous) and node.name.lower() in _REAL_NAMES
    if is_named or isinstance(node, _OF_REALS):
        for one in node.expressions if is_named else (node.this, node.args.get("expression")):
            value = one.expressions[0] if isinstance(one, exp.Distinct) else one
            if value is not None and is_text(value):
                yield value, exp.cast(exp.Null(), "double")
    elif isinstance(node, _CALCULATIONS):
        others = [one for one in parts if not is_text(one)]
        for one in parts if others else ():
            if is_text(one):
                yield one, others[0]
    elif isinstance(node, _AS_OTHERS) and any(map(is_text, parts)):
        other, kind = _widest(parts)
        is_comparison = not isinstance(node, _CHOICES)
        for one in parts if kind else ():
            if is_text(one) and not (is_comparison and _is_read_as(one, kind)):
                yield one, other


def is_text(node: exp.Expr) -> bool:
    """Return whether an expression is known to be a text."""
    return _is_of(node, "text", "char") or isinstance(node, _TEXTS)


def _widest(values: Sequence[exp.Expr]) -> tuple[exp.Expr, str]:
    """Return the value whose type texts get, and this type; it is empty if all may be texts."""
    for kind, theirs in _AS.items():
        for one in values:
            if _is_of(one, *theirs) or _is_number(one, kind):
                return one, kind
    return values[0], ""


def type_beside(one: DataType, other: DataType) -> str:
    """Return the type as which a text is compared with a value of another; "" if it stays."""
    name = _type_name(other).removesuffix(_NANOSECONDS)
    is_text = _type_name(one) in {"char", "text"}
    return next((kind for kind, of in _AS.items() if is_text and name in {kind, *of}), "")


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
    if isinstance(node, exp.Literal):
        return bool(node.is_string) and "text" in kinds
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Max | exp.Min):
        is_real = isinstance(node, exp.Neg | exp.Abs) and "text" in kinds
        return not is_real and _is_of(node.this, *kinds)
    if isinstance(node, exp.Column | exp.Cast):
        return bool(node.type is not None and node.is_type(*map(_parsed, kinds)))
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp | exp.Anonymous):
        name = str(node.this if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        if name in {"spark_moved", *_CUTS.values()}:
            return _is_of(node.expressions[0], *kinds)
        return _RESULTS.get(name.removeprefix("spark.")) in kinds
    parts = _operands(node) if isinstance(node, _OF_OPERANDS) else ()
    return bool(parts) and all(_is_of(one, *kinds) for one in parts)


_CUTS = {"timestampntz": "spark_micros", "timestamptz": "spark_zoned_micros"}
"""The macros that cut nanoseconds, by the type of the result."""
_EXACT = {"timestampntz": "spark_nanos", "timestamptz": "spark_zoned_nanos"}
"""The macros that read a text with them."""
_SAME = (
    *(
        exp.Paren,
        exp.Max,
        exp.Min,
        exp.AnyValue,
        exp.First,
        exp.Last,
        exp.Lag,
        exp.Lead,
        exp.Window,
    ),
    *(exp.FirstValue, exp.LastValue, exp.NthValue, exp.Mode, exp.IgnoreNulls, exp.Filter),
)
"""Expressions with the type of their first argument."""
_CHOICES = (exp.Coalesce, exp.Greatest, exp.Least, exp.If, exp.Nvl2, exp.Case)
_AS_STORED = (
    *(
        exp.Select,
        exp.Alias,
        exp.Star,
        exp.Group,
        exp.Cube,
        exp.Rollup,
        exp.GroupingSets,
        exp.Tuple,
    ),
    *(exp.Ordered, exp.Window, exp.Is, exp.Count, exp.Distinct, exp.ArrayAgg, exp.ArrayUniqueAgg),
    *(exp.Struct, exp.Array, exp.PropertyEQ, exp.ArgMax, exp.ArgMin, exp.Pivot),
)
"""Expressions for which values are neither converted nor compared with those of another type."""
_PLAIN_TIME = re.compile(
    r"(1[7-9]|2[01])[0-9]{2}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?"
)
"""A time without a zone that a number of nanoseconds can express."""


def cut_nanoseconds(tree: exp.Expr) -> None:
    """Cut TIMESTAMP(7) to (9) to microseconds where DuckDB would round them, or has no function.

    Values that are only selected, grouped, ordered or compared with each other keep their digits,
    and constants are compared with all of them.

    Args:
        tree: the query after `mark_types`; it is changed.
    """
    for column in list(tree.find_all(exp.Column)):
        node = _value_of(column)
        parent = node.parent
        is_cut = isinstance(parent, exp.Anonymous) and parent.name in _CUTS.values()
        is_stored = is_cut or isinstance(parent, _AS_STORED) or column.find_ancestor(exp.Pivot)
        if parent is None or is_stored or not _has_nanoseconds(column):
            continue
        kind = next(kind for kind in _CUTS if _is_of(column, kind))
        others = [one for one in _operands(parent) if one is not node]
        is_comparison = isinstance(parent, (*COMPARISONS, exp.In, exp.Between))
        fine = [node, *(one for one in others if not _time(one))]
        if not is_comparison or not _are_of_one_type(fine):
            node.replace(exp.Anonymous(this=_CUTS[kind], expressions=[node.copy()]))
            continue
        for one in others:
            if text := _time(one):
                exact = exp.Literal.string(text)
                one.replace(exp.Anonymous(this=_EXACT[kind], expressions=[exact]))


def _value_of(node: exp.Expr) -> exp.Expr:
    """Return the largest expression that has the value of a column, or of one like it."""
    parent = node.parent
    if isinstance(parent, exp.If) and isinstance(parent.parent, exp.Case):
        parent = parent.parent
    if parent is None or not _has_nanoseconds(parent):
        return node
    is_first = isinstance(parent, _SAME) and parent.this is node
    return _value_of(parent) if is_first or isinstance(parent, _CHOICES) else node


def _has_nanoseconds(node: exp.Expr) -> bool:
    if isinstance(node, exp.Column):
        return bool(node.type is not None and node.type.expressions)
    if isinstance(node, exp.Anonymous):
        return node.name in _EXACT.values()
    if isinstance(node, _SAME):
        return _has_nanoseconds(node.this)
    parts = _operands(node) if isinstance(node, _CHOICES) else ()
    return bool(parts) and _are_of_one_type(parts)


def _are_of_one_type(values: Sequence[exp.Expr]) -> bool:
    """Return whether all values have nanoseconds, and all or none of them a time zone."""
    kinds = {kind for kind in _CUTS for one in values if _is_of(one, kind)}
    return len(kinds) <= 1 and all(map(_has_nanoseconds, values))


def _time(node: exp.Expr) -> str:
    """Return the text of a constant time without a zone; empty if it is none."""
    plain = node.this if isinstance(node, exp.Cast) else node
    is_text = isinstance(plain, exp.Literal) and plain.is_string
    return plain.name if is_text and _PLAIN_TIME.fullmatch(plain.name) else ""


_FEW_DIGITS, _MOST_DIGITS = 19, 38
"""The digits from which on a number may be beyond BIGINT; those of a DECIMAL."""


def number_constant(node: exp.Expr) -> exp.Expr:
    """Return a constant beyond BIGINT as DECIMAL.

    Raises:
        InvalidInputError: no type has the number.
    """
    text = "" if node.args.get("is_string") else node.name
    if len(text) < _FEW_DIGITS and text.isdigit():
        return node
    whole, _, fraction = text.partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    if not text or "e" in text.lower():
        if text and math.isinf(float(text)):
            raise InvalidInputError(f"The number {text} is beyond the range of DOUBLE.")
        return node
    if digits > _MOST_DIGITS:
        raise InvalidInputError(
            f"The number {text} has {digits} digits; the maximum is {_MOST_DIGITS}."
        )
    is_plain = text.isdigit() and not isinstance(node.parent, exp.Neg | exp.Cast)
    return exp.cast(node.copy(), f"decimal({digits}, 0)") if is_plain and int(text) >> 63 else node


def negative_constant(node: exp.Expr) -> exp.Expr:
    """Return a negative constant with its own type, where DuckDB has that of the number."""
    value = node.this
    inner = value.this if isinstance(value, exp.Cast) else value
    if isinstance(value, exp.Cast) and isinstance(inner, exp.Literal) and not inner.is_string:
        return exp.Cast(this=exp.Neg(this=value.this.copy()), to=value.to.copy())
    if not isinstance(value, exp.Literal) or not value.name.isdigit() or not int(value.name) >> 31:
        return node
    number = int(value.name)
    kinds = {1 << 31: "int", 1 << 63: "bigint"}
    wide = f"decimal({len(value.name)}, 0)" if number >> 63 else "bigint"
    return exp.cast(node.copy(), kinds.get(number, wide))
