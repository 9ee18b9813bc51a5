"""Queries in Spark's dialect as queries of DuckDB."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.dialects.databricks import Databricks
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.sql_statements.clauses import silent_sqlglot
from paimon_explore.sql_statements.duckdb.column_names import (
    ALIASES,
    WRITTEN,
    column_namer,
    mark_constants,
)
from paimon_explore.sql_statements.duckdb.spark_functions import call
from paimon_explore.sql_statements.duckdb.spark_semantics import (
    GENERATORS,
    OWN_FUNCTIONS,
    spark_semantics,
)
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.parameter_markers import (
    check_used,
    constant,
    value_of,
)
from paimon_explore.sql_statements.query_problems import QueryProblemError, nothing_after
from paimon_explore.sql_statements.table_references import SparkWithPaths, spliced
from paimon_explore.sql_statements.tokenizer import (
    CLOSERS,
    OPENERS,
    Kind,
    Reader,
    Token,
    quoted_keywords,
    tokens_of,
)

SPARK, DUCKDB = "spark", "duckdb"
_ROW_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "explode", "posexplode", "inline"}
)
"""Functions that a query may read rows from."""
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_STATEMENTS = (
    *("SELECT", "WITH", "VALUES", "INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "CREATE"),
    *("REPLACE", "DROP", "ALTER", "COMMENT", "SHOW", "DESCRIBE", "USE", "ANALYZE", "CALL"),
    *("EXPLAIN", "REFRESH"),
)


_FUNCTIONS = "Functions are those of Spark; the guide of SQL lists the few that are missing."
_CATALOGS = "A session has one catalog: pe.Catalog(warehouse), or pe.Catalog(metastore='rest', …)."
_PIVOT = (
    "Write SELECT * FROM t PIVOT (sum(v) FOR k IN (…)), or UNPIVOT, or in the dialect of DuckDB "
    "FROM (PIVOT t ON …)."
)
_WAYS = {
    "ATTACH": "Pass other rows by name: pe.sql(text, catalog, rows=data).",
    "BEGIN": "Each statement is one commit; t.transaction() makes one commit of several writes.",
    "CACHE": "to_arrow() keeps the rows of a result in memory.",
    "COPY": "Write COPY INTO 'folder' FROM t FILE_FORMAT = (TYPE = PARQUET).",
    "CREATE CATALOG": _CATALOGS,
    "CREATE EXTERNAL": "pe.open_table(path) opens a table outside of the warehouse.",
    "CREATE FUNCTION": "CALL sys.create_function(…) stores one in a catalog with functions: REST.",
    "CREATE TEMPORARY": "Pass rows by name: pe.sql(text, catalog, rows=data), or write CREATE "
    "TEMPORARY VIEW.",
    "DROP CATALOG": _CATALOGS,
    "DROP FUNCTION": "Write CALL sys.drop_function(…).",
    "MSCK": "A partition exists as soon as it contains a row; nothing is to be repaired.",
    "DESCRIBE HISTORY": "Write SHOW SNAPSHOTS t, or read the system table t$snapshots.",
    "OPTIMIZE": "Write CALL sys.compact(table => 'database.table').",
    "PIVOT": _PIVOT,
    "UNPIVOT": _PIVOT,
    "RESTORE": "Write CALL sys.rollback(table => 'database.table', version => '3').",
    "SET": "Settings are spark.sql.sources.partitionOverwriteMode and spark.paimon.<option>; "
    "leave out those of Spark and Flink.",
    "DESCRIBE FUNCTION": _FUNCTIONS,
    "DESCRIBE QUERY": "Run the query; schema of its result has the columns.",
    "SUMMARIZE": "t.profile() summarizes the columns.",
    "UPSERT": "INSERT INTO a primary-key table replaces the rows with the same keys.",
    "VACUUM": "Write CALL sys.expire_snapshots(…) and CALL sys.remove_orphan_files(…).",
}
"""What other systems have statements for, and how it is done here."""
_WAYS["SHOW HISTORY"] = _WAYS["DESCRIBE HISTORY"]
_WAYS |= dict.fromkeys(("START", "COMMIT", "ROLLBACK"), _WAYS["BEGIN"])
_WAYS |= dict.fromkeys(("DETACH", "INSTALL", "LOAD", "PRAGMA"), _WAYS["ATTACH"])
_INCOMPLETE = re.compile(r"Required keyword: '\w+' missing for <class '.*\.(\w+)'>")
_QUOTES = type("Tokenizer", (Spark.Tokenizer,), {"STRING_ESCAPES": ["\\", "'", '"']})
_AnsiSpark = type("_AnsiSpark", (SparkWithPaths,), {"Tokenizer": _QUOTES})
"""Spark's dialect with ANSI mode: CAST may fail, and a doubled quote is one in a text."""
_USED_ARGUMENTS = {
    1: "array_agg array_distinct array_size boolean char_length character_length collect_list "
    "count_if date double explode explode_outer float hex int len posexplode posexplode_outer "
    "rand random size string timestamp_ltz timestamp_ntz",
    2: "approx_count_distinct array_append array_prepend array_sort ceil ceiling corr date_sub div "
    "element_at first floor get_json_object initcap last left listagg ltrim mod percentile "
    "regexp_count regexp_like regr_avgx regr_avgy regr_sxx regr_sxy regr_syy right rlike round "
    "rtrim shiftleft shiftright sort_array string_agg transform try_element_at",
    3: "approx_percentile array_join charindex date_diff datediff ilike like locate max_by min_by "
    "percentile_approx position regexp_extract regexp_extract_all slice substr substring",
}
"""Functions of which sqlglot would drop further arguments, by how many it uses."""
_MOST_ARGUMENTS = {
    name.upper(): most for most, names in _USED_ARGUMENTS.items() for name in names.split()
}
_HARMLESS = (
    *("Hints", "RANDOM with seed", "EXTRACT from TIMESTAMPTZ", "SOUNDEX", "Argument 'accuracy'"),
)
"""Starts of what sqlglot says of hints, and of functions that `spark_semantics` translates."""
_UNKNOWN = "_paimon_unknown_"
"""Prefix of functions that sqlglot must not know."""
_SPARK, _DATABRICKS = Spark.Parser, Databricks.Parser
_WITHOUT_PARENTHESES = (
    _DATABRICKS.NO_PAREN_FUNCTION_PARSERS.keys() - _SPARK.NO_PAREN_FUNCTION_PARSERS.keys()
)
_DIFFERENT = (
    {name for name, make in _DATABRICKS.FUNCTIONS.items() if make is not _SPARK.FUNCTIONS.get(name)}
    | (_DATABRICKS.FUNCTION_PARSERS.keys() - _SPARK.FUNCTION_PARSERS.keys())
    | _WITHOUT_PARENTHESES
)
"""Functions that Databricks has, or reads otherwise than Spark."""
_OWN = _SPARK.FUNCTIONS.keys() & {name.upper() for name in (*OWN_FUNCTIONS, "parse_json")}
_RENAMED = _OWN | _DIFFERENT


def parsed_query(text: str, dialect: str = SPARK) -> exp.Query:
    """Parse a query.

    Raises:
        InvalidInputError: the text cannot be parsed.
        UnsupportedFeatureError: it is another statement, or reads rows by a function that reads
            files.
    """
    first = Reader(text).here
    if first.word not in _QUERY_WORDS and first.sign != "(":
        raise _unknown_statement(text)
    missing = nothing_after(text) if dialect == SPARK else None
    if missing is not None:
        raise QueryProblemError(f"The query cannot be parsed: nothing follows {missing.text!r}.")
    with _parsing():
        read = _AnsiSpark if dialect == SPARK else dialect
        numbered = _numbered(text, dialect)
        tree = sqlglot.parse_one(numbered, read=read)
    if isinstance(tree, exp.Values):
        rest = {name: tree.args[name] for name in tree.args.keys() - {"expressions", "alias"}}
        rows = exp.Values(expressions=tree.expressions, alias=tree.args.get("alias"))
        tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows), **rest)
    if not isinstance(tree, exp.Query):
        raise _unknown_statement(text)
    if dialect == SPARK:
        _name_as_spark(tree, numbered)
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Func):
            _check_function(table, dialect)
    return tree


def _name_as_spark(tree: exp.Query, text: str) -> None:
    mark_constants(tree)
    for function in tree.find_all(exp.Func, exp.Mod):
        given = text[function.meta.get("start", 0) : function.meta.get("end", -1) + 1].lower()
        if given in ALIASES:
            function.meta[WRITTEN] = ALIASES[given](given)
    if not tree.args.get("from_"):
        _replace_constants(tree)
    for node in reversed(list(tree.find_all(*_LEVELS))):  # inner ones first: outer ones are copied
        if not isinstance(node.parent, tuple(_LEVELS)):
            _by_precedence(node)
    nodes = list(tree.walk())
    for kind, arrange in _ARRANGED.items():
        for node in nodes:
            if isinstance(node, kind):
                arrange(node)
    for node in nodes:
        _forget_positions(node)


def _forget_positions(node: exp.Expr) -> None:
    """Remove the positions in the text, for which copies of a tree would take ten times as long."""
    if WRITTEN not in node.meta:
        node._meta = None  # noqa: SLF001 - there is no other way


_LEVELS: Mapping[type[exp.Expr], int] = {
    **dict.fromkeys((exp.Add, exp.Sub, exp.DPipe), 5),
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), 4),
    exp.BitwiseAnd: 3,
    exp.BitwiseXor: 2,
    exp.BitwiseOr: 1,
}
"""How strongly operators bind in Spark; sqlglot and DuckDB give one level to all but + and -."""


def _by_precedence(node: exp.Expr) -> None:
    """Arrange operators without parentheses as Spark reads them, with parentheses for DuckDB."""
    parts = _operands(node)
    kinds = set(map(type, parts[1::2]))
    if len({_LEVELS[one] for one in kinds}) == 1 and (len(kinds) == 1 or exp.DPipe not in kinds):
        return
    values, waiting = [parts[0].copy()], list[exp.Expr]()
    for operator, value in [*zip(parts[1::2], parts[2::2], strict=True), (None, None)]:
        level = 0 if operator is None else _LEVELS[type(operator)]
        while waiting and _LEVELS[type(waiting[-1])] >= level:
            right, left = values.pop(), values.pop()
            values.append(_joined(waiting.pop(), left, right))
        if operator is not None and value is not None:
            waiting.append(operator)
            values.append(value.copy())
    node.replace(values[0])


def _joined(operator: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    sides = [
        exp.Paren(this=side) if type(side) in _LEVELS and type(side) is not type(operator) else side
        for side in (left, right)
    ]
    return type(operator)(**{**operator.args, "this": sides[0], "expression": sides[1]})


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands with the operators between them, in the order of the text."""
    found, waiting = list[exp.Expr](), list[exp.Expr]()
    here: exp.Expr | None = node
    while here is not None or waiting:
        while here is not None and type(here) in _LEVELS:
            waiting.append(here)
            here = here.this
        if here is not None:
            found.append(here)
        operator = waiting.pop() if waiting else None
        here = None if operator is None else operator.expression
        if operator is not None:
            found.append(operator)
    return found


_OF_STARS = frozenset({"struct", "hash", "xxhash64"})
"""Functions whose arguments may be `*`."""


def _check_star(star: exp.Expr) -> None:
    """Refuse `*` as an argument, but in `count(*)`, `struct(*)` and hashes of rows."""
    value = star.parent if isinstance(star.parent, exp.Column) else star
    holder = value.parent
    while isinstance(holder, exp.Distinct):
        holder = holder.parent
    if not isinstance(holder, exp.Func) or (
        isinstance(holder, exp.Count) and star.parent is holder
    ):
        return
    name = holder.name if isinstance(holder, exp.Anonymous) else holder.sql_name()
    name = name.removeprefix(_UNKNOWN).lower()
    if name not in _OF_STARS or (name == "struct" and len(holder.expressions) > 1):
        raise UnsupportedFeatureError(
            f"* as an argument of {name}", hint="Write the names of the columns."
        )


def _complete_decimal(kind: exp.Expr) -> None:
    """Give a DECIMAL the digits that Spark has by default."""
    if kind.this is exp.DType.DECIMAL:
        default = map(exp.Literal.number, (10, 0)[len(kind.expressions) :])
        kind.set("expressions", [*kind.expressions, *default])


def _with_condition(join: exp.Expr) -> None:
    if join.args.get("kind") == "CROSS" and join.args.get("on") is not None:
        join.set("kind", None)  # which DuckDB does not allow


def _sample_rows(sample: exp.Expr) -> None:
    """Choose a percentage row by row, as Spark does; DuckDB would choose blocks of 2,048 rows."""
    if sample.args.get("percent") and not sample.args.get("method"):
        sample.set("method", exp.var("BERNOULLI"))


def _name_aggregates(pivot: exp.Expr) -> None:
    """Name the aggregates of PIVOT, with which its columns begin if there are several."""
    items = pivot.expressions
    is_wide = pivot.args.get("unpivot") and isinstance(items[0], exp.Tuple)
    if is_wide and not pivot.args.get("include_nulls"):  # DuckDB excludes rows with any null
        raise UnsupportedFeatureError(
            "UNPIVOT of several columns EXCLUDE NULLS without Spark",
            hint="Write UNPIVOT INCLUDE NULLS, and a WHERE for the rows with nulls only.",
        )
    if len(items) > 1 and pivot.args.get("fields") and not pivot.args.get("unpivot"):
        name_of = column_namer()
        for item in items:
            if not isinstance(item, exp.Alias):
                item.replace(exp.alias_(item.copy(), name_of(item), quoted=True))


def _replace_constants(tree: exp.Query) -> None:
    """Replace `user` without parentheses; the others of DuckDB are columns in Spark."""
    for column in list(tree.find_all(exp.Column)):
        name = column.name.lower() if column.parent_select is tree else ""
        if name == "user":
            column.replace(exp.CurrentUser())
        elif name in {"current_catalog", "current_schema"}:
            raise InvalidInputError(f"There is no column {name!r}.", hint=f"Write {name}().")


def _name_again(function: exp.Expr) -> None:
    """Take back the prefix of an unknown function; Spark's meaning replaces that of Databricks."""
    name = str(function.this)
    if name.startswith(_UNKNOWN):
        name = name.removeprefix(_UNKNOWN)
        function.set("this", name)
        make = None if name.upper() in _OWN else _SPARK.FUNCTIONS.get(name.upper())
        if make is not None:
            made = make(function.expressions)
            if name.lower() in ALIASES:
                made.meta[WRITTEN] = ALIASES[name.lower()](name)
            function.replace(made)


def _without_parentheses(inner: exp.Expr) -> None:
    """Take the parentheses off a single relation, which DuckDB 2.0.1 does not allow."""
    relation = inner.this
    if not isinstance(inner.parent, exp.From | exp.Join) or relation.args.get("joins"):
        return
    others = [name for name, value in inner.args.items() if value and name not in {"this", "alias"}]
    if isinstance(relation, exp.Table | exp.Subquery | exp.Values) and not others:
        alias, own = inner.args.get("alias"), relation.args.get("alias")
        if alias:
            names = alias.args.get("columns") or (own and own.args.get("columns"))
            relation.set("alias", exp.TableAlias(this=alias.this, columns=names))
        inner.replace(relation)


def _name_columns(values: exp.Expr) -> None:
    """Name the columns of VALUES without names as Spark does, from `col1`."""
    first, last = values.expressions[0], values.expressions[-1].expressions[-1:]
    for one in last if isinstance(last[0], exp.Alias) else ():  # of `VALUES 1, 2 t`
        names = values.args.get("alias") or exp.TableAlias()
        values.set(
            "alias", exp.TableAlias(this=one.args["alias"], columns=names.args.get("columns"))
        )
        one.replace(one.this)
    is_table = isinstance(values.parent, exp.From | exp.Join | exp.CTE)
    if is_table and not values.alias_column_names:
        width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
        columns = [exp.to_identifier(f"col{at + 1}") for at in range(width)]
        alias = exp.to_identifier(values.alias or "_values")
        values.set("alias", exp.TableAlias(this=alias, columns=columns))


def _numbered(text: str, dialect: str) -> str:
    """Number the markers `?`, whose order in the text a tree does not keep.

    The function `window`, a keyword of sqlglot, becomes `time_window`, and a function that sqlglot
    must not know gets a prefix.
    """
    tokens = list(tokens_of(text))
    signs = [one for one in tokens if one.sign == "?"]
    prefix = ":_" if dialect == SPARK else "$_"
    cuts = [(one.start, one.end, f"{prefix}{at}") for at, one in enumerate(signs)]
    if dialect == SPARK:
        _check_arguments(tokens)
        cuts += (*_new_names(tokens), *quoted_keywords(tokens))
    return spliced(text, sorted(cuts))


def _new_names(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield the functions that get another name, and columns named as functions without ()."""
    for at, (one, after) in enumerate(pairwise(tokens)):
        if after.word == "AS" and one.kind in {Kind.NUMBER, Kind.TEXT}:  # see `mark_constants`
            if _before(tokens, at) in (["CAST", "("], ["TRY_CAST", "("]):
                yield one.start, one.start, "("
                yield one.end, one.end, ")"
        elif after.sign != "(":
            if one.word in _WITHOUT_PARENTHESES and _before(tokens, at)[-1:] != ["."]:
                yield one.start, one.end, f"`{one.text}`"
        elif one.word == "WINDOW":
            yield one.start, one.end, "time_window"
        elif (one.word == "SUBSTR" and not _has_from(tokens[at + 1 :])) or (
            one.word in _RENAMED
            and _before(tokens, at)[-1:] != [")"]
            and not (one.word == "REPLACE" and _is_after_star(_before(tokens, at)))
            and not (one.word == "TIMESTAMP" and tokens[at + 2].kind is Kind.NUMBER)
        ):
            yield one.start, one.end, _UNKNOWN + one.text


def _before(tokens: Sequence[Token], at: int) -> list[str]:
    """Return the texts of the two tokens before one, in upper case."""
    return [token.text.upper() for token in tokens[max(at - 2, 0) : at]]


def _is_after_star(before: Sequence[str]) -> bool:
    return before[-1:] == ["*"] and before[0] in {"SELECT", "DISTINCT", ",", "."}


def _has_from(tokens: Sequence[Token]) -> bool:
    """Return whether the parentheses with which tokens begin contain FROM, as of `substr`."""
    depth = 0
    for one in tokens:
        depth += (one.sign in OPENERS) - (one.sign in CLOSERS)
        if depth == 0 or (depth == 1 and one.word == "FROM"):
            return depth == 1
    return False


def _without_prefix(name: exp.Expr) -> None:
    if name.name.startswith(_UNKNOWN):  # an alias with columns
        name.set("this", name.name.removeprefix(_UNKNOWN))


_ARRANGED: Mapping[type[exp.Expr], Callable[[exp.Expr], None]] = {
    exp.Star: _check_star,
    exp.DataType: _complete_decimal,
    exp.Pivot: _name_aggregates,
    exp.Join: _with_condition,
    exp.TableSample: _sample_rows,
    exp.Subquery: _without_parentheses,
    exp.Values: _name_columns,
    exp.Anonymous: _name_again,
    exp.Identifier: _without_prefix,
}
"""What changes a tree before its columns are named, in this order."""


def _check_arguments(tokens: Sequence[Token]) -> None:
    """Refuse arguments that sqlglot would drop."""
    for at, one in enumerate(tokens):
        most = _MOST_ARGUMENTS.get(one.word)
        if most is None:
            continue
        before, after = tokens[max(at - 1, 0)], tokens[min(at + 1, len(tokens) - 1)]
        if after.sign != "(" or before.sign in {".", ")"} or before.word == "AS":
            continue
        depth = given = 1
        for inner in tokens[at + 2 :]:
            depth += (inner.sign in OPENERS) - (inner.sign in CLOSERS)
            given += depth == 1 and inner.sign == ","
            if depth == 0 or (depth == 1 and inner.word == "ORDER"):
                break
        if given > most:
            raise InvalidInputError(f"{one.text} has {given} arguments; the maximum is {most}.")


def _check_function(table: exp.Table, dialect: str) -> None:
    """Refuse a function that reads files; name the column of `range` as Spark does."""
    function = table.this
    given = function.name if isinstance(function, exp.Anonymous) else function.sql_name()
    name = str(given).lower()
    if name not in _ROW_FUNCTIONS:
        raise UnsupportedFeatureError(
            f"reading rows by the function {name}",
            hint="catalog.sql reads tables of the catalog; pass other rows by name: "
            "pe.sql(text, catalog, rows=data).",
        )
    if name == "range" and dialect == SPARK and not table.alias_column_names:
        alias = exp.to_identifier(table.alias or name)
        table.set("alias", exp.TableAlias(this=alias, columns=[exp.to_identifier("id")]))


def _unknown_statement(text: str) -> UnsupportedFeatureError:
    """Return the error for a statement that is no query, and that nothing else has run."""
    words = [one.text.upper() for one in tokens_of(text)[:5]]
    pairs = [f"{words[0]} {word}" for word in words[1:]]
    both = next((pair for pair in pairs if pair in _WAYS), pairs[0])
    name = both if words[0] in _STATEMENTS else words[0]
    way = _WAYS.get(both) or _WAYS.get(words[0])
    if way is None and words[0] in _STATEMENTS:
        way = "The reference of SQL lists those that are."
    if way is None:
        near = difflib.get_close_matches(words[0], _STATEMENTS, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        way = f"{meant}Statements: {', '.join((*_STATEMENTS, 'TABLE', 'SET', 'COPY INTO'))}."
    return UnsupportedFeatureError(f"the statement {name}", hint=way)


def parsed_expression(text: str) -> exp.Expr:
    """Parse an expression in Spark's dialect.

    Raises:
        InvalidInputError: the text cannot be parsed.
    """
    tree = parsed_query(f"SELECT {text} FROM rows")  # noqa: S608 - is not run; any name is a column
    found: list[exp.Expr] = tree.expressions
    return found[0]


def in_database(tree: exp.Query, database: str) -> exp.Query:
    """Replace the functions that return the current database.

    Args:
        tree: the query; it is changed.
        database: the current database.
    """
    for node in tree.find_all(exp.CurrentDatabase, exp.CurrentSchema):
        node.replace(exp.Literal.string(database))
    return tree


_WITH_NAMES = exp.Column | exp.Alias | exp.Aliases | exp.Star | exp.Dot | exp.UDTF
"""Expressions whose columns have names of their own."""


def named(tree: exp.Query) -> exp.Query:
    """Name the columns of a query and its parts as Spark does, by the text of their expressions."""
    items = [item for select in tree.find_all(exp.Select) for item in select.expressions]
    name_of = column_namer()
    for item in reversed(items):  # parts before what holds them
        function, name = item.this, item.alias.lower()
        if isinstance(function, exp.Func) and function.sql_name().lower() == name in OWN_FUNCTIONS:
            function.replace(call(name))  # for which DuckDB would take the alias
        if not isinstance(item, _WITH_NAMES) and item.name.lower() not in GENERATORS:
            with _parsing():
                text = name_of(item)
            if text:  # that of '' is empty, which is no name in DuckDB
                item.replace(exp.alias_(item.copy(), text, quoted=True))
    return tree


def duckdb_tree(tree: exp.Expr, dialect: str = SPARK) -> exp.Expr:
    """Return a tree with functions of DuckDB that have the results that its dialect defines."""
    with _parsing():
        return spark_semantics(tree) if dialect == SPARK else tree


def duckdb_text(tree: exp.Expr, dialect: str = SPARK) -> str:
    """Return a tree as text of DuckDB, with the results that its dialect defines.

    Raises:
        InvalidInputError: a function has missing or wrong arguments.
        UnsupportedFeatureError: the text would leave out a part of the tree.
    """
    writer = DuckDB().generator(unsupported_level=sqlglot.ErrorLevel.IGNORE)
    with _parsing():
        text: str = writer.generate(duckdb_tree(tree, dialect), copy=dialect != SPARK)
    lost = [one for one in writer.unsupported_messages if not one.startswith(_HARMLESS)]
    if lost and dialect == SPARK:
        raise UnsupportedFeatureError("this form of a function without Spark", hint=f"{lost[0]}.")
    return text


def with_values(tree: exp.Query, args: Args) -> exp.Query:
    """Replace the parameter markers of a query by values.

    Args:
        tree: the query, with `?` or `:name`.
        args: a sequence of values, or a mapping by name.

    Raises:
        InvalidInputError: a marker has no value, a value has no marker, or a value has a type that
            SQL lacks.
    """
    markers = list(tree.find_all(exp.Placeholder, exp.Parameter))
    if not markers and not args:
        return tree
    value = value_of(args, len(markers))
    for node in markers:
        node.replace(constant(value(node.name)))
    check_used(args, [node.name for node in markers])
    return tree


@contextmanager
def _parsing() -> Iterator[None]:
    """Raise errors of sqlglot as those of the query."""
    try:
        with silent_sqlglot():
            yield
    except SqlglotError as error:
        raise _parse_problem(error) from error


def _parse_problem(error: Exception) -> QueryProblemError:
    near = ""
    if not isinstance(error, sqlglot.errors.ParseError) or not error.errors:
        what = str(error).partition("\n")[0]
    elif "SENTINEL" in (what := str(error.errors[0]["description"])):
        what = "it ends too early"
    else:
        near = str(error.errors[0]["highlight"] or "")
        what = _INCOMPLETE.sub(lambda found: f"{found[1].upper()} is incomplete", what.rstrip("."))
    return QueryProblemError(f"The query cannot be parsed: {what}.", near=near)
