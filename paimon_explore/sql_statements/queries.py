"""Queries: replaces Paimon tables by temporary views, then runs them.

A view is dropped as soon as the engine has analysed the query, whose plan keeps the rows. So every
statement reads the latest snapshots, and existing rows stay at theirs.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime

from sqlglot import exp

from paimon_explore.data_types.local_time import utc_moment
from paimon_explore.errors import InvalidInputError, NotFoundError, UnsupportedFeatureError
from paimon_explore.sql_statements.catalog_functions import with_catalog_functions
from paimon_explore.sql_statements.engine import TARGET_VIEW, Args, TableRows
from paimon_explore.sql_statements.outcome import QueryRows
from paimon_explore.sql_statements.parameter_markers import bound
from paimon_explore.sql_statements.query_pushdown import usable_where, wanted_columns
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.table_references import (
    SCORE_COLUMN,
    Reference,
    references_of,
    spliced,
)
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import (
    Kind,
    Reader,
    Token,
    quoted_keywords,
    tokens_of,
)
from paimon_explore.sql_statements.views import find_view, named_columns, query_of
from paimon_explore.sql_statements.views import opened as opened_view
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import point_of

_BEFORE_QUERY = frozenset({"UNION", "ALL", "DISTINCT", "EXCEPT", "MINUS", "INTERSECT"})
_METADATA = ("_row_id", "_sequence_number", "__paimon_")
"""How the names of metadata columns begin."""
_CLAUSES = frozenset({"LIMIT", "ORDER", "OFFSET", "SORT", *_BEFORE_QUERY})


def run_query(warehouse: Warehouse, source: str, args: Args = None) -> QueryRows:
    """Run a query, or another statement of the engine that reads tables.

    Args:
        warehouse: resolves table names.
        source: the text.
        args: values of parameter markers.

    Raises:
        NotFoundError: a table, branch, snapshot or tag that does not exist.
        InvalidInputError: a point in time or option that cannot be used.
    """
    source, rest = bound(source, args)
    with replaced(warehouse, source) as text:
        return warehouse.engine.query(text, rest)


@contextmanager
def replaced(warehouse: Warehouse, source: str) -> Iterator[str]:
    """Replace Paimon tables in the text by temporary views, which exist inside the context."""
    source = with_catalog_functions(warehouse, as_selects(source))
    found = [
        (reference, name)
        for reference in references_of(source)
        if reference.parts != (TARGET_VIEW,)
        and (name := _name_of(warehouse, reference)) is not None
    ]
    if not found:
        yield source
        return
    replacements: list[tuple[int, int, str]] = []
    with ExitStack() as views:
        for reference, name in found:
            rows = rows_of(warehouse, reference, name, source)
            view = views.enter_context(warehouse.engine.viewed(rows))
            replacements += _replacements(reference, name, view)
            if isinstance(rows, TableRows) and rows.hidden:
                replacements += _shown_columns(reference, name.alias, rows.hidden, source)
        yield spliced(source, replacements)


def as_selects(source: str) -> str:
    """Write `TABLE t`, and VALUES with clauses in parentheses, as SELECT, which sqlglot reads.

    Columns that are named as a keyword get backticks.

    >>> as_selects("FROM (TABLE t) JOIN (VALUES 1, 2 LIMIT 1)")
    'FROM (SELECT * FROM t) JOIN (SELECT * FROM VALUES 1, 2 LIMIT 1)'
    >>> as_selects("SELECT DISTINCT table AS x, CAST(table AS STRING) FROM t")
    'SELECT DISTINCT table AS x, CAST(table AS STRING) FROM t'
    """
    tokens = tokens_of(source)
    edits = list(quoted_keywords(tokens))
    for at, one in enumerate(tokens):
        before = tokens[at - 1] if at else one
        begins = not at or before.sign == "(" or before.word in _BEFORE_QUERY
        if begins and one.word == "TABLE" and _is_one_name(tokens[at + 1 :]):
            edits.append((one.start, one.end, "SELECT * FROM"))
        elif one.word == "VALUES" and before.sign == "(" and _has_clause(tokens[at:]):
            edits.append((one.start, one.start, "SELECT * FROM "))
    return spliced(source, edits)


def _is_one_name(tokens: Sequence[Token]) -> bool:
    """Return whether a query ends after a name; else TABLE is the name of a column."""
    end = 1
    while end < len(tokens) - 1 and tokens[end].sign in {".", "$"}:
        end += 2
    if end >= len(tokens) or not tokens[0].is_name:
        return False
    after = tokens[end]
    return after.kind is Kind.END or after.sign == ")" or after.word in _CLAUSES


def _has_clause(tokens: Sequence[Token]) -> bool:
    """Return whether VALUES has a clause before the parenthesis that ends its query."""
    depth = 0
    for one in tokens:
        depth += (one.sign == "(") - (one.sign == ")")
        if depth < 0:
            return False
        if depth == 0 and one.word in _CLAUSES:
            return True
    return False


def _name_of(warehouse: Warehouse, reference: Reference) -> Name | None:
    """Return the Paimon table of a reference; None if the table belongs to the engine."""
    if reference.arguments is None:
        found = warehouse.find(reference.parts)
        if found is None and reference.node is not None:
            warehouse.refuse_missing(reference.parts)
        return found
    if not reference.arguments:
        function = reference.parts[-1]
        raise InvalidInputError(f"{function} requires the name of a table.")
    text = Reader(reference.arguments[0])
    given = text.text("the table") if text.here.kind is Kind.TEXT else reference.arguments[0]
    if "/" in given:
        return Name(table=given, is_folder=True)
    return warehouse.named(Reader(given).path("a table"))


def _replacements(reference: Reference, name: Name, view: str) -> list[tuple[int, int, str]]:
    alias = f" AS {quoted(name.alias)}"
    if reference.alias_at is None:
        return [(reference.start, reference.end, view)]
    columns = _qualified(reference)
    if reference.alias_at == reference.end:
        return [(reference.start, reference.end, view + alias), *columns]
    alias_edit = (reference.alias_at, reference.alias_at, alias)
    return [(reference.start, reference.end, view), alias_edit, *columns]


def _qualified(reference: Reference) -> list[tuple[int, int, str]]:
    """Remove the database from `db.t.column`, because the view has none."""
    node = reference.node
    if node is None or len(reference.parts) == 1 or not isinstance(node.parent, exp.Expr):
        return []
    select = node.find_ancestor(exp.Select)
    wanted = [part.lower() for part in reference.parts]
    cuts: dict[int, int] = {}
    for column in select.find_all(exp.Column) if select is not None else ():
        parts = column.parts
        if [part.name.lower() for part in parts[: len(wanted)]] == wanted:
            first, last = parts[0].meta.get("start"), parts[len(wanted) - 1].meta.get("start")
            if first is not None and last is not None:
                cuts[int(first)] = int(last)
    return [(start, end, "") for start, end in cuts.items()]


def _shown_columns(
    reference: Reference, alias: str, hidden: Sequence[str], source: str
) -> list[tuple[int, int, str]]:
    """Leave columns out of the `*` beside which the query names them."""
    node = reference.node
    select = None if node is None else node.parent_select
    if node is None or select is None:
        return []
    found = []
    names = ", ".join(hidden)
    for star in select.find_all(exp.Star):
        column = star.parent if isinstance(star.parent, exp.Column) else star
        own = (node.alias or alias).lower()
        is_own = not isinstance(column, exp.Column) or column.table.lower() == own
        if column.parent is select and is_own:
            end = int(star.meta["end"]) + 1
            reader = Reader(source, [one for one in tokens_of(source) if one.start >= end])
            if reader.takes("EXCEPT", "(") or reader.takes("EXCLUDE", "("):
                found.append((reader.here.start, reader.here.start, f"{names}, "))
            else:
                found.append((end, end, f" EXCEPT ({names})"))
    return found


def rows_of(
    warehouse: Warehouse, reference: Reference, name: Name, source: str
) -> TableRows | QueryRows:
    """Return the rows of a reference, with pushdown of columns and conditions.

    Args:
        warehouse: resolves table names.
        reference: the table.
        name: its resolved name.
        source: the whole query.
    """
    options = dict(reference.options)
    if reference.function:
        from paimon_explore.sql_statements.table_functions import increment_options  # noqa: PLC0415 - imports the searches

        options |= increment_options(warehouse.engine, reference)
    base, system = warehouse.split(name)
    try:
        is_free = reference.version is None and reference.timestamp is None and not options
        opened = warehouse.open(base, options or None, travels=is_free)
    except NotFoundError as error:
        view = find_view(warehouse, name) if error.kind == "table" else None
        if view is None:
            raise
        _check_function(reference, f"the view {name.table}")
        return named_columns(view, name, run_query(opened_view(warehouse, name), query_of(view)))
    if not isinstance(opened, Table):
        _check_function(reference, opened.name)
        return TableRows(table=opened)
    opened = _travelled(warehouse, reference, opened)
    is_search = reference.function.endswith("_search")
    if system is not None:
        if is_search:
            _check_function(reference, f"the system table {name.table}")
        return _system_rows(reference, name, opened, system, source)
    schema = opened.schema
    where = usable_where(reference.node, schema.row_type, name.alias if reference.function else "")
    tokens = tokens_of(source)
    columns = wanted_columns(reference, tokens, schema.row_type)
    words = {one.text.lower() for one in tokens if one.is_name}
    if is_search:
        from paimon_explore.sql_statements.table_functions import search  # noqa: PLC0415 - likewise

        hidden = [SCORE_COLUMN] if SCORE_COLUMN in words else []
        engine = warehouse.engine
        found = search(engine, reference, opened, columns, where, with_score=bool(hidden))
        return TableRows(table=found, hidden=hidden)
    if any(word.startswith(_METADATA) for word in words):
        from paimon_explore.sql_statements.metadata_columns import (  # noqa: PLC0415 - rarely named
            metadata_rows,
            offered_columns,
        )

        hidden = [one for one in offered_columns(opened) if one.lower() in words]
        if hidden:
            rows = metadata_rows(opened, columns, where, hidden)
            fields = schema.fields if columns is None else schema.project(columns).fields
            return TableRows(table=rows, hidden=hidden, fields=fields)
    return TableRows(table=opened, columns=columns, where=where)


def _system_rows(
    reference: Reference, name: Name, table: Table, system: str, source: str
) -> TableRows:
    """Return the rows of a system table, with pushdown of columns and conditions."""
    row_type = table.inspect.system_table(system).row_type
    where = usable_where(reference.node, row_type, name.alias if reference.function else "")
    columns = wanted_columns(reference, tokens_of(source), row_type, row_type.names[0])
    return TableRows(table=table, system=system, columns=columns, where=where)


def _check_function(reference: Reference, what: str) -> None:
    """Refuse a table function over rows that have neither snapshots nor indexes."""
    if reference.function:
        raise UnsupportedFeatureError(
            f"{reference.function} over {what}", hint="Pass the name of a table."
        )


def _travelled(warehouse: Warehouse, reference: Reference, opened: Table) -> Table:
    if reference.version is not None:
        return opened.at(version=_version(warehouse, reference.version))
    if reference.timestamp is not None:
        moment = _moment(warehouse, reference.timestamp)
        try:
            return opened.at(timestamp=moment)
        except NotFoundError as error:
            msg = f"Table {opened.name} has no snapshot at or before {reference.timestamp}."
            raise NotFoundError(
                error.kind, reference.timestamp, opened.name, message=msg, hint=error.hint
            ) from error
    if warehouse.travel is not None and not point_of(opened).given:
        return warehouse.travel(opened)
    return opened


def _version(warehouse: Warehouse, text: str) -> str:
    if len(tokens_of(text)) == 2 and tokens_of(text)[0].is_name:  # noqa: PLR2004 - and the end
        raise InvalidInputError(
            f"VERSION AS OF {text} is neither a snapshot id nor a string.",
            hint=f"Write the name of a tag in quotes: VERSION AS OF '{tokens_of(text)[0].text}'.",
        )
    value = _evaluated(warehouse, text, "VERSION AS OF")
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise InvalidInputError(
            f"The value {value!r} of VERSION AS OF {text} is neither an integer nor a string.",
            hint="Pass a snapshot id, or the name of a tag as a string.",
        )
    return str(value)


def _moment(warehouse: Warehouse, text: str) -> datetime:
    """Evaluate a timestamp expression in the session's time zone."""
    whole = f"unix_micros(CAST(({text}) AS TIMESTAMP))"
    value = _evaluated(warehouse, whole, "TIMESTAMP AS OF", text)
    if not isinstance(value, int):
        raise InvalidInputError(f"The timestamp in TIMESTAMP AS OF {text} is NULL.")
    try:
        moment = utc_moment(value // 1_000_000 * 1000)
    except (ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"The timestamp in TIMESTAMP AS OF {text} is not between the years 1 and 9999.",
            hint="A number counts the seconds since 1970-01-01 00:00:00 UTC, not milliseconds.",
        ) from error
    return moment.replace(microsecond=value % 1_000_000)


def _evaluated(warehouse: Warehouse, text: str, part: str, shown: str = "") -> object:
    try:
        return warehouse.engine.evaluate(text)
    except InvalidInputError as error:
        engine = warehouse.engine.name
        raise InvalidInputError(
            f"{part} {shown or text} is not a constant that {engine} can evaluate.",
            hint=error.message,
        ) from error
