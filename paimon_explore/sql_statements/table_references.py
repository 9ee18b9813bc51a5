"""Table references of a query, with their offsets in the text, and their replacement.

sqlglot distinguishes tables from columns, aliases and CTEs. Syntax that it does not parse as Spark
does (`t$files`, time travel, table options) is first blanked out in the text, keeping its length,
so that all offsets remain valid. Only the names of tables are replaced in the text.

    reference = name [point] [WITH ('key' = 'value', ...)] | function
    name      = [database.]table[$branch_name][$system_table] | paimon.`folder`
    point     = [FOR] {VERSION | SYSTEM_VERSION} AS OF {id | 'tag'} | AT (VERSION => {id | 'tag'})
              | [FOR] {TIMESTAMP | SYSTEM_TIME} AS OF time | AT (TIMESTAMP => time)
    function  = paimon_incremental_query('table', start, end)
              | paimon_incremental_between_timestamp('table', start, end)
              | paimon_incremental_to_auto_tag('table', tag)
              | vector_search('table', 'column', array(1.0f, ...), limit [, options])
              | full_text_search('table', 'column', 'words', limit)
              | hybrid_search('table', array(vector_route, ...), array(text_route, ...), limit
                              [, {'rrf' | 'mrr' | 'weighted_score'}])
    vector_route = named_struct('field', 'column', 'query_vector', array(1.0f, ...)
                                [, 'limit', limit] [, 'weight', weight] [, 'options', options])
    text_route   = named_struct('column', 'column', 'query', 'words'
                                [, 'limit', limit] [, 'weight', weight])
    options      = {map('key', 'value', ...) | 'key=value;...'}
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.clauses import options_of, silent_sqlglot
from paimon_explore.sql_statements.tokenizer import Kind, Reader, tokens_of

SparkWithPaths = type("SparkWithPaths", (Spark,), {"Parser": Databricks.Parser})
"""Spark's dialect with paths into variants: `v:key[0]`, which Databricks has.

Parsers are not derived: the compiled ones of `sqlglot[c]` do not allow it.
"""
_POINTS = {
    "VERSION": "version",
    "SYSTEM_VERSION": "version",
    "TIMESTAMP": "timestamp",
    "SYSTEM_TIME": "timestamp",
}
_BEFORE_TABLE = frozenset({"FROM", "JOIN", "TABLE", "USING", "INTO"})
_AFTER_TABLE = frozenset(
    [
        *("WHERE", "GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "HAVING", "LIMIT"),
        *("OFFSET", "WINDOW", "UNION", "EXCEPT", "MINUS", "INTERSECT", "JOIN", "INNER", "LEFT"),
        *("RIGHT", "FULL", "CROSS", "OUTER", "SEMI", "ANTI", "NATURAL", "LATERAL", "PIVOT"),
        *("UNPIVOT", "ON", "USING", "TABLESAMPLE", "SELECT", "SET", "WHEN", "QUALIFY"),
    ]
)
_OPERATORS = frozenset({"+", "-", "*", "/", "||", "::", "."})
_UNITS = frozenset({"INTERVAL", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"})
FUNCTIONS = {
    "paimon_incremental_query": ("start", "end"),
    "paimon_incremental_between_timestamp": ("start", "end"),
    "paimon_incremental_to_auto_tag": ("tag",),
    "vector_search": ("column", "vector", "limit", "[options]"),
    "full_text_search": ("column", "query", "limit"),
    "hybrid_search": ("vector_routes", "text_routes", "limit", "[ranker]"),
}
"""Parameters of the table functions, after the table; those in brackets are optional."""
SCORE_COLUMN = "__paimon_search_score"
"""Name of the column with the scores of a search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A table that a query reads.

    Attributes:
        parts: its name.
        start: offset of the name.
        end: offset after the name and the time travel and option clauses that follow it.
        alias_at: where to insert an alias, if it has none.
        version: text after VERSION AS OF.
        timestamp: text after TIMESTAMP AS OF.
        options: options after WITH.
        arguments: texts of the arguments of a table function.
        node: sqlglot's node; None where sqlglot could not parse the query.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    alias_at: int | None = None
    version: str | None = None
    timestamp: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] | None = None
    node: exp.Expr | None = None

    @property
    def function(self) -> str:
        """The name of the table function; "" for a table."""
        return "" if self.arguments is None else self.parts[-1].lower()


@lru_cache(maxsize=8)
def references_of(source: str) -> tuple[Reference, ...]:
    """Return the tables that a query reads, without CTEs and Spark's table functions.

    Raises:
        InvalidInputError: a quote that is not closed, or an invalid time travel clause.
    """
    names, text = _names(source)
    tree = None if Reader(source).here.word == "TABLE" else tree_of(text)
    if tree is None:
        return tuple(_by_words(source, names))
    found: list[Reference] = []
    for node in tree.find_all(exp.Table):
        start = _start(node)
        name = None if start is None else names.get(start)
        if name is None or _is_cte(node) or _is_function(node, name) or _is_new(node):
            continue
        found.append(_reference(source, name, node, has_alias=bool(node.alias)))
    return tuple(sorted(found, key=lambda one: one.start))


def cleaned(source: str) -> str:
    """Return a text with what sqlglot does not parse blanked out; offsets stay the same."""
    return _names(source)[1]


def tree_of(text: str) -> exp.Expr | None:
    """Return the tree of a query or expression; None if sqlglot cannot parse it."""
    try:
        with silent_sqlglot():
            tree = sqlglot.parse_one(text, read=SparkWithPaths)
    except (SqlglotError, RecursionError):
        return None
    return None if isinstance(tree, exp.Command) else tree


def _start(node: exp.Table) -> int | None:
    places = [part.meta.get("start") for part in node.parts]
    known = [int(place) for place in places if place is not None]
    return min(known) if known else None


def _is_function(node: exp.Table, name: Reference) -> bool:
    return isinstance(node.this, exp.Func) and name.arguments is None


def _is_new(node: exp.Table) -> bool:
    """Return whether it names what the statement creates, or a function."""
    above = node.parent
    while isinstance(above, exp.Schema | exp.UserDefinedFunction):
        above = above.parent
    is_other = str(above.args.get("kind")).upper() == "FUNCTION" if above is not None else False
    return isinstance(above, exp.Create) or is_other


def _is_cte(node: exp.Table) -> bool:
    """Return whether the name refers to a CTE in scope."""
    if node.args.get("db") is not None:
        return False
    name = node.name.lower()
    child: exp.Expr = node
    above = node.parent
    while above is not None:
        scope = above.args.get("with_") or above.args.get("with")
        if isinstance(scope, exp.With):
            visible = list(scope.expressions)
            if child in visible and not scope.recursive:
                visible = visible[: visible.index(child)]
            if any(one.alias.lower() == name for one in visible):
                return True
        child = above if not isinstance(above, exp.With) else child
        above = above.parent
    return False


def _reference(
    source: str, name: Reference, node: exp.Expr | None, *, has_alias: bool
) -> Reference:
    return replace(name, node=node, alias_at=None if has_alias else _alias_place(source, name.end))


def _alias_place(source: str, at: int) -> int:
    """Return the offset for an alias: after TABLESAMPLE, if there is one."""
    reader = Reader(source, [t for t in tokens_of(source) if t.start >= at])
    if not reader.takes("TABLESAMPLE"):
        return at
    end = _group_end(reader)
    if reader.takes("REPEATABLE"):
        end = _group_end(reader)
    return end


def _group_end(reader: Reader) -> int:
    reader.group("the sample")
    return reader.previous_end


def _names(source: str) -> tuple[dict[int, Reference], str]:
    """Return all dotted names by offset, and the text with unsupported syntax blanked out."""
    tokens = tokens_of(source)
    reader = Reader(source, tokens)
    blanked = list(source)
    for token in tokens:
        if token.sign == "$":  # of t$files; names in backticks keep theirs
            blanked[token.start] = "_"
    names: dict[int, Reference] = {}
    while not reader.is_done:
        token = reader.here
        if not token.is_name:
            reader.next()
            continue
        parts = reader.path("a table")
        end = reader.previous_end
        found = _with_clauses(reader, Reference(parts=parts, start=token.start, end=end))
        names[token.start] = found
        blanked[end : found.end] = " " * (found.end - end)
    return names, "".join(blanked)


def _with_clauses(reader: Reader, name: Reference) -> Reference:
    """Return a table with the clauses after its name that sqlglot does not parse."""
    if name.parts[-1].lower() in FUNCTIONS and reader.here.sign == "(":
        arguments = tuple(reader.parts("its arguments"))
        return replace(name, arguments=arguments, end=reader.previous_end)
    kind, point = _point(reader)
    options = {}
    if reader.comes("WITH", "(") and _is_option(reader):
        reader.next()
        options = options_of(reader, "WITH")
    if reader.previous_end == name.end:
        return name
    return replace(
        name,
        version=point if kind == "version" else None,
        timestamp=point if kind == "timestamp" else None,
        options=options,
        end=reader.previous_end,
    )


def _point(reader: Reader) -> tuple[str, str | None]:
    """Read `FOR VERSION AS OF 3` or `AT (TIMESTAMP => …)`, if one comes: its kind and the value."""
    if reader.comes("AT", "("):
        reader.next()
        inner = Reader(reader.group("a point in time"))
        kind = inner.expect_one("VERSION", "TIMESTAMP", part="AT")
        inner.expect("=>", part="AT")
        return kind.lower(), inner.rest()
    if not _comes_point(reader):
        return "", None
    reader.takes("FOR")
    kind = _POINTS[reader.next().word]
    reader.expect("AS", "OF")
    return kind, _value(reader)


def _comes_point(reader: Reader) -> bool:
    shift = 1 if reader.here.word == "FOR" else 0
    words = [reader.ahead(shift + i).word for i in range(3)]
    return words[0] in _POINTS and words[1:] == ["AS", "OF"]


def _is_option(reader: Reader) -> bool:
    """Return whether the parentheses contain options rather than a query."""
    return reader.ahead(2).kind is Kind.TEXT or reader.ahead(3).sign in {"=", ".", "-"}


def _value(reader: Reader) -> str:
    """Read a value: constants, calls and parentheses, combined by operators."""
    start = reader.here.start
    while True:
        reader.takes_one("-", "+")
        if reader.is_done:
            raise reader.problem("expected a snapshot id, the name of a tag or a time")
        _operand(reader)
        if not reader.takes_one(*_OPERATORS):
            return reader.source[start : reader.previous_end]


def _operand(reader: Reader) -> None:
    """Read a constant, a name, a call or a parenthesis."""
    if reader.here.sign == "(":
        reader.group("a value")
        return
    first = reader.next()
    if first.sign == ":":
        reader.next()  # the name of a parameter
    elif first.kind is Kind.TEXT:
        reader.skip_texts()
    elif reader.here.sign == "(":
        reader.group("the arguments")
    elif first.word in _UNITS:
        reader.next()  # the text
        if first.word == "INTERVAL":
            reader.next()  # the unit


def _by_words(source: str, names: Mapping[int, Reference]) -> list[Reference]:
    """Return the names in table positions of a query that sqlglot cannot parse."""
    tokens = tokens_of(source)
    ctes = {
        tokens[i].text.lower()
        for i in range(len(tokens) - 2)
        if tokens[i + 1].word == "AS" and tokens[i + 2].sign == "("
    }
    found = []
    for before, token in pairwise(tokens):
        name = names.get(token.start)
        if before.word not in _BEFORE_TABLE or name is None:
            continue
        following = next(token for token in tokens if token.start >= name.end)
        if following.sign == "(" or (len(name.parts) == 1 and name.parts[0].lower() in ctes):
            continue
        has_alias = following.kind is Kind.NAME or following.word not in {"", *_AFTER_TABLE}
        has_alias = has_alias or before.word == "TABLE"  # which takes none
        found.append(_reference(source, name, None, has_alias=has_alias))
    return found


def spliced(source: str, replacements: Sequence[tuple[int, int, str]]) -> str:
    """Return the text with some non-overlapping ranges replaced.

    >>> spliced("SELECT * FROM t", [(14, 15, "view")])
    'SELECT * FROM view'
    """
    made: list[str] = []
    at = 0
    for start, end, text in sorted(replacements):
        made += [source[at:start], text]
        at = end
    return "".join([*made, source[at:]])
