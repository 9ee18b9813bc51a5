"""INSERT, UPDATE, DELETE and TRUNCATE.

Syntax:

    [WITH ...] INSERT INTO [TABLE] table [options] [BY NAME | (name, ...)] query
    [WITH ...] INSERT OVERWRITE [TABLE] table [options] [PARTITION (name [= constant], ...)]
        [BY NAME | (name, ...)] query
    [WITH ...] INSERT INTO [TABLE] table [options] [BY NAME] REPLACE WHERE condition query
    UPDATE table [[AS] alias] SET name = expression, ... [WHERE condition]
    DELETE FROM table [[AS] alias] [WHERE condition]
    TRUNCATE TABLE table [PARTITION (name = constant, ...)]
    options = WITH ('key' = 'value', ...)

MERGE INTO.

Syntax:

    MERGE [WITH SCHEMA EVOLUTION] INTO table [[AS] alias] USING {table | (query)} [[AS] alias]
        ON condition when ...
    when   = WHEN MATCHED [AND condition] THEN {UPDATE SET * | UPDATE SET values | DELETE}
           | WHEN NOT MATCHED [BY TARGET] [AND condition] THEN INSERT *
           | WHEN NOT MATCHED [BY TARGET] [AND condition] THEN INSERT [(name, ...)] VALUES (...)
           | WHEN NOT MATCHED BY SOURCE [AND condition] THEN {UPDATE SET values | DELETE}
    values = name = expression, ...
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.assignments import path_of
from paimon_explore.metadata.options.table_options import DYNAMIC_PARTITION_OVERWRITE
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN
from paimon_explore.sql_statements.clauses import (
    FROM_QUERY,
    check_options,
    options_of,
    partition_spec,
    partition_values,
    replaced_partition,
)
from paimon_explore.sql_statements.commands.merge_alignment import (
    check_star,
    star_with_defaults,
    without_keys,
)
from paimon_explore.sql_statements.engine import OVERWRITE_MODE, TARGET_VIEW, RowMerge, RowUpdate
from paimon_explore.sql_statements.merge_clause import (
    MergeAction,
    MergeRows,
    SqlClause,
    evolve,
    schema_with_source,
)
from paimon_explore.sql_statements.outcome import Answer, QueryRows, committed, row_type_of
from paimon_explore.sql_statements.parameter_markers import default_text
from paimon_explore.sql_statements.queries import replaced, run_query
from paimon_explore.sql_statements.query_pushdown import usable_where
from paimon_explore.sql_statements.quoted_names import CATALOG, quoted
from paimon_explore.sql_statements.session_settings import MERGE_SCHEMA
from paimon_explore.sql_statements.table_references import references_of, spliced, tree_of
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader, quoted_keywords, tokens_of
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import dynamic_options_of, store_of

_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE"})
_STATIC = {DYNAMIC_PARTITION_OVERWRITE.key: "false"}


def insert(warehouse: Warehouse, reader: Reader, before: str = "") -> Answer | None:
    """Run INSERT INTO or INSERT OVERWRITE; return None if the table belongs to the engine.

    Args:
        warehouse: resolves table names.
        reader: positioned after INSERT.
        before: the WITH clause before INSERT.
    """
    overwrites = reader.expect_one("INTO", "OVERWRITE", part="INSERT") == "OVERWRITE"
    reader.takes("TABLE")
    name = warehouse.find_or_refuse(reader.path("the table"))
    if name is None:
        return None
    options = None
    if reader.comes("WITH", "("):
        reader.next()
        options = options_of(reader, "INSERT")
        check_options(list(options), "INSERT")
    table = warehouse.base(name, options)
    schema = latest_schema(store_of(table))
    by_name = reader.takes("BY", "NAME")
    if not overwrites and reader.takes("REPLACE", "WHERE"):
        given = replaced_partition(warehouse, reader.until(*_QUERY), schema, table.name)
        rows = run_query(warehouse, f"{before} {reader.rest()}".strip())
        df = _named(rows, schema, {}) if by_name else _placed(rows, schema, {}, None)
        fixed = replace(table, _dynamic_options={**dynamic_options_of(table), **_STATIC})
        return committed(df.overwrite(fixed, given or NOT_GIVEN))
    given = partition_values(warehouse, reader, schema) if reader.takes("PARTITION") else {}
    if reader.takes("IF", "NOT", "EXISTS"):
        raise UnsupportedFeatureError("INSERT … PARTITION … IF NOT EXISTS", table.name)
    static = {key: value for key, value in given.items() if value is not FROM_QUERY}
    by_name = by_name or reader.takes("BY", "NAME")
    columns = None if by_name else _columns(reader)
    query = reader.rest()
    if query.upper().startswith(("VALUES", "SELECT")):
        query = _with_defaults(query, _targets(schema, static, columns))
    rows = run_query(warehouse, f"{before} {query}".strip())
    if by_name and _merges_schema(warehouse):
        evolve(table, row_type_of(rows.fields, "INSERT … BY NAME"), (), takes_all=True)
        table = warehouse.base(name, options)
        schema = latest_schema(store_of(table))
    df = _named(rows, schema, static) if by_name else _placed(rows, schema, static, columns)
    if not overwrites:
        return committed(df.insert_into(table))
    mode = _mode(warehouse)
    whole = replace(table, _dynamic_options={**dynamic_options_of(table), **mode})
    return committed(df.overwrite(whole, static if static and mode == _STATIC else NOT_GIVEN))


def _merges_schema(warehouse: Warehouse) -> bool:
    return warehouse.engine.settings().get(MERGE_SCHEMA, "").lower() == "true"


def _mode(warehouse: Warehouse) -> dict[str, str]:
    dynamic = warehouse.engine.settings().get(OVERWRITE_MODE, "").upper() == "DYNAMIC"
    return {DYNAMIC_PARTITION_OVERWRITE.key: str(dynamic).lower()}


def _columns(reader: Reader) -> tuple[str, ...] | None:
    if reader.here.sign != "(" or reader.ahead(1).word in _QUERY or reader.ahead(1).sign == "(":
        return None
    return reader.names("the columns")


def resolved(names: Sequence[str], schema: TableSchema) -> list[DataField]:
    """Return the table's columns for names, ignoring case.

    Raises:
        InvalidInputError: a name is unknown or given twice.
    """
    known = {field.name.lower(): field for field in schema.fields}
    for name in names:
        if name.lower() not in known:
            msg = f"The table has no column {name!r}."
            raise InvalidInputError(
                msg, hint=f"Available columns: {choices(schema.row_type.names)}."
            )
    fields = [known[name.lower()] for name in names]
    twice = [field.name for field in fields if fields.count(field) > 1]
    if twice:
        raise InvalidInputError(f"Column {twice[0]!r} occurs twice in the column list.")
    return fields


def _placed(
    rows: QueryRows,
    schema: TableSchema,
    static: Mapping[str, object],
    columns: tuple[str, ...] | None,
) -> QueryRows:
    """Assign the query's columns by position."""
    return rows.assigned(_targets(schema, static, columns), _constants(schema, static))


def _targets(
    schema: TableSchema, static: Mapping[str, object], columns: tuple[str, ...] | None
) -> list[DataField]:
    """Return the table's columns for those of a query, by position."""
    if columns is None:
        return [field for field in schema.fields if field.name not in static]
    fields = resolved(columns, schema)
    both = [field.name for field in fields if field.name in static]
    if both:
        raise InvalidInputError(
            f"Column {both[0]!r} occurs both in PARTITION and in the column list."
        )
    return fields


def _with_defaults(values: str, fields: Sequence[DataField]) -> str:
    """Return `VALUES (…), …` or `SELECT …` with constants for DEFAULT."""
    found: list[tuple[int, int, str]] = []
    depth = at = 0
    tokens = tokens_of(values)
    row_depth = int(tokens[0].word == "VALUES")
    for before, one, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        depth += (one.sign == "(") - (one.sign == ")")
        if row_depth == 0 and depth == 0 and one.word in {"FROM", "SELECT"}:
            at = len(fields) if one.word == "FROM" else 0  # of the next query of a UNION
        at = 0 if depth < row_depth else at + (depth == row_depth and one.sign == ",")
        is_first = before.word == "SELECT" or before.sign in {"(", ","}
        is_whole = is_first and (
            after.sign in {")", ","} or after.word == "FROM" or after.kind is Kind.END
        )
        if one.word == "DEFAULT" and depth == row_depth and is_whole and at < len(fields):
            found.append((one.start, one.end, _or_default("DEFAULT", fields[at])))
    return spliced(values, found)


def _or_default(text: str, field: DataField | None) -> str:
    """Return an expression; for DEFAULT, the default value of its column or of a struct member."""
    if text.upper() != "DEFAULT":
        return text
    return "NULL" if field is None else default_text(field)


def _named(rows: QueryRows, schema: TableSchema, static: Mapping[str, object]) -> QueryRows:
    names = [field.name for field in rows.fields]
    return rows.assigned(resolved(names, schema), _constants(schema, static))


def _constants(schema: TableSchema, static: Mapping[str, object]) -> list[tuple[DataField, object]]:
    return [(field, static[field.name]) for field in schema.fields if field.name in static]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The target table of UPDATE, DELETE or MERGE.

    Attributes:
        names: its names that may qualify a column, the longest first; empty if it has an alias.
        table: the table.
        alias: its alias in the statement.
        source_names: the same names of the source of MERGE.
        source_alias: the alias of the source.
    """

    names: tuple[tuple[str, ...], ...]
    table: Table
    alias: str
    source_names: tuple[tuple[str, ...], ...] = ()
    source_alias: str = ""

    def own(self, text: str) -> str:
        """Return an expression with `db.t.a` replaced by `alias.a`, also of the source."""
        for parts in self.names:
            text = requalified(text, parts, self.alias)
        for parts in self.source_names:
            text = requalified(text, parts, self.source_alias)
        return text

    def path(self, path: tuple[str, ...], schema: TableSchema) -> str:
        """Return the column or member of a struct that an assignment sets."""
        for prefix in (*self.names, (self.alias,)):
            if len(path) > len(prefix) and _same(path[: len(prefix)], prefix):
                path = path[len(prefix) :]
                break
        return ".".join(field.name for field in path_of(".".join(path), schema.row_type))


def _same(one: Sequence[str], other: Sequence[str]) -> bool:
    return [part.lower() for part in one] == [part.lower() for part in other]


def requalified(text: str, parts: tuple[str, ...], alias: str) -> str:
    """Return an expression with a table's full name replaced by its alias.

    >>> requalified("db.t.a > t.b", ("db", "t"), "t")
    '`t`.a > t.b'
    """
    if len(parts) == 1 and parts[0] == alias:
        return text
    tokens = tokens_of(text)
    replacements = []
    width = 2 * len(parts)
    for at in range(len(tokens) - width):
        found = tokens[at : at + width]
        names = [token.text for token in found[::2]]
        dots = {token.sign for token in found[1::2]}
        is_begin = at == 0 or tokens[at - 1].sign != "."
        if is_begin and dots == {"."} and _same(names, parts):
            replacements.append((found[0].start, found[-2].end, quoted(alias)))
    return spliced(text, replacements)


def subject_of(warehouse: Warehouse, reader: Reader, *stops: str) -> Subject | None:
    """Read the target table and its alias; return None if the table belongs to the engine."""
    parts = reader.path("the table")
    name = warehouse.find_or_refuse(parts)
    if name is None:
        return None
    table = warehouse.base(name)
    alias = alias_of(reader, *stops)
    if alias:
        return Subject(names=(), table=table, alias=alias)
    return Subject(names=_qualifiers(name, parts), table=table, alias=name.alias)


def _qualifiers(name: Name | None, parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the names of several parts that may qualify a column of a table without an alias."""
    is_known = name is not None and not name.is_folder
    full = (CATALOG, *name.table.split(".", 1)) if name is not None and is_known else parts
    names = dict.fromkeys((full, full[1:], parts))
    return tuple(one for one in names if len(one) > 1)


def alias_of(reader: Reader, *stops: str) -> str:
    """Read a table's alias, which ends before one of these words; "" if there is none."""
    if reader.takes("AS"):
        return reader.identifier("the alias")
    if reader.here.kind is Kind.NAME or reader.here.word not in {"", *stops}:
        return reader.identifier("the alias")
    return ""


def _pruned(subject: Subject, condition: str, schema: TableSchema) -> Term | None:
    """Return the part of a condition that can prune files."""
    text = f"SELECT * FROM t AS {quoted(subject.alias)} WHERE {condition}"  # noqa: S608 - of the user's own statement
    found = references_of(text)
    return usable_where(found[0].node, schema.row_type) if found else None


def update(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run UPDATE; return None if the table belongs to the engine."""
    subject = subject_of(warehouse, reader, "SET")
    if subject is None:
        return None
    reader.expect("SET", part="UPDATE")
    schema = latest_schema(store_of(subject.table))
    values = assignments_of(reader, subject, schema, "UPDATE", "WHERE")
    condition = _condition(reader, subject)
    return committed(_changed(warehouse, subject, values, condition))


def _condition(reader: Reader, subject: Subject) -> str | None:
    if reader.is_done:
        return None
    reader.expect("WHERE")
    text = subject.own(reader.until())
    reader.end()
    return text


def _changed(
    warehouse: Warehouse,
    subject: Subject,
    values: Mapping[str, str],
    condition: str | None,
) -> Snapshot | None:
    """Update the rows that match a condition, or delete them if there are no new values."""
    alias = quoted(subject.alias)
    new = [f"({text}) AS _new_{at}" for at, text in enumerate(values.values())]
    columns = ", ".join([f"{alias}.*", *new])
    where = "" if condition is None else f" WHERE ({condition})"  # and no LIMIT after it
    query = f"SELECT {columns} FROM {TARGET_VIEW} AS {alias}{where}"  # noqa: S608 - the user's own words
    schema = latest_schema(store_of(subject.table))
    pruned = None if condition is None else _pruned(subject, condition, schema)
    with replaced(warehouse, query) as text:
        change = RowUpdate(
            table=subject.table,
            alias=subject.alias,
            values=values,
            condition=condition,
            query=text,
            pruned=pruned,
        )
        return warehouse.engine.update(change)


def assignments_of(
    reader: Reader, subject: Subject, schema: TableSchema, part: str, *stops: str
) -> dict[str, str]:
    """Read assignments: `a = …, t.b = …`."""
    found: dict[str, str] = {}
    while True:
        name = subject.path(reader.path("a column"), schema)
        reader.expect("=", part=part)
        if any(_overlap(name, other) for other in found):
            raise InvalidInputError(f"{part} sets column {name!r} twice.")
        found[name] = _or_default(subject.own(reader.until(",", *stops)), schema.field(name))
        if not reader.takes(","):
            return found


def _overlap(name: str, other: str) -> bool:
    """Return whether two assignments set the same column or member."""
    shorter, longer = sorted((name, other), key=len)
    return longer == shorter or longer.startswith(f"{shorter}.")


def delete(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run DELETE FROM; return None if the table belongs to the engine."""
    reader.expect("FROM", part="DELETE")
    subject = subject_of(warehouse, reader, "WHERE")
    if subject is None:
        return None
    condition = _condition(reader, subject)
    if condition is None:
        return committed(subject.table.truncate())
    return committed(_changed(warehouse, subject, {}, condition))


def truncate(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run TRUNCATE TABLE; return None if the table belongs to the engine."""
    reader.expect("TABLE", part="TRUNCATE")
    name = warehouse.find_or_refuse(reader.path("the table"))
    if name is None:
        return None
    table = warehouse.base(name)
    if not reader.takes("PARTITION"):
        reader.end()
        return committed(table.truncate())
    spec = partition_spec(warehouse, reader, latest_schema(store_of(table)))
    reader.end()
    return committed(table.drop_partitions(spec))


def merge(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run MERGE INTO; return None if the table belongs to the engine."""
    evolves = reader.takes("WITH", "SCHEMA", "EVOLUTION") or _merges_schema(warehouse)
    reader.expect("INTO", part="MERGE")
    subject = subject_of(warehouse, reader, "USING")
    if subject is None:
        return None
    reader.expect("USING", part="MERGE")
    source, alias, names = _source(warehouse, reader)
    if alias.lower() == subject.alias.lower():
        raise InvalidInputError(
            f"The table and the source of MERGE are both named {alias!r}.",
            hint="Give the source an alias: USING … AS source.",
        )
    subject = replace(subject, source_names=names, source_alias=alias)
    reader.expect("ON", part="MERGE")
    on = subject.own(reader.until("WHEN"))
    schema = latest_schema(store_of(subject.table))
    if evolves:
        schema = schema_with_source(
            schema, row_type_of(source.fields, "MERGE WITH SCHEMA EVOLUTION")
        )
    clauses = [_clause(reader, subject, schema)]
    while not reader.is_done:
        clauses.append(_clause(reader, subject, schema))
    sides = {subject.alias: schema.row_type.names, alias: [one.name for one in source.fields]}
    if not evolves and any(clause.values is None for clause in clauses):
        check_star(schema, sides[alias])
        clauses = [star_with_defaults(clause, schema, alias) for clause in clauses]
    clauses = [without_keys(clause, on, schema, subject.alias) for clause in clauses]
    described = RowMerge(
        source=source,
        table=subject.table,
        on=f"({on})",
        clauses=tuple(_qualified(clause, sides) for clause in clauses),
        target_alias=subject.alias,
        source_alias=alias,
        evolves=evolves,
    )
    _refuse_queries(reader.source, clauses, on)
    return committed(warehouse.engine.merge(described))


def _qualified(clause: SqlClause, sides: Mapping[str, Sequence[str]]) -> SqlClause:
    """Return a clause with qualified columns, if its rows have only one side.

    Args:
        clause: the clause.
        sides: the columns by alias, of the target and of the source.
    """
    if clause.rows is MergeRows.MATCHED:
        return clause
    alias = list(sides)[clause.rows is MergeRows.NOT_MATCHED]
    names = {name.lower() for name in sides[alias]}

    def qualified(text: str) -> str:
        whole = f"SELECT {text}"
        whole = spliced(whole, [*quoted_keywords(tokens_of(whole))])
        tree = tree_of(whole)
        places = set()
        for column in tree.find_all(exp.Column) if tree is not None else ():
            first = column.parts[0]
            is_alias = len(column.parts) > 1 and first.name in sides
            if first.name.lower() in names and not is_alias:
                places.add(int(first.meta["start"]))
        return spliced(whole, [(at, at, f"{quoted(alias)}.") for at in places])[len("SELECT ") :]

    return replace(
        clause,
        condition=clause.condition and qualified(clause.condition),
        values=clause.values and {key: qualified(text) for key, text in clause.values.items()},
    )


def _refuse_queries(source: str, clauses: Sequence[SqlClause], on: str) -> None:
    texts = [on, *(c.condition for c in clauses if c.condition is not None)]
    texts += [text for clause in clauses for text in (clause.values or {}).values()]
    if any(token.word == "SELECT" for text in texts for token in tokens_of(text)):
        raise UnsupportedFeatureError(
            "a subquery in a condition or value of MERGE",
            hint="Join the table of the subquery into the source: USING (SELECT …).",
        )
    if not source:
        raise InvalidInputError("The statement is empty.")


def _source(
    warehouse: Warehouse, reader: Reader
) -> tuple[QueryRows, str, tuple[tuple[str, ...], ...]]:
    """Read the source: its rows, its alias, and the longer names that may qualify its columns."""
    start = reader.here.start
    names: tuple[tuple[str, ...], ...] = ()
    if reader.here.sign == "(":
        reader.group("the source")
        default = "source"
    else:
        if reader.here.word in _QUERY:
            raise reader.problem("a query as the source must be in parentheses", part="MERGE")
        path = reader.path("the source")
        default = path[-1].partition("$")[0]
        names = _qualifiers(warehouse.find(path), path)
        _over_point(reader)
    text = reader.source[start : reader.previous_end]
    given = alias_of(reader, "ON")
    alias = given or default
    columns = f"({', '.join(map(quoted, reader.names('columns')))})" if reader.comes("(") else ""
    called = f"SELECT * FROM {text} AS {quoted(alias)}{columns}"  # noqa: S608 - the user's own words
    return run_query(warehouse, called), alias, () if given else names


def _over_point(reader: Reader) -> None:
    """Skip a time travel clause such as VERSION AS OF."""
    shift = 1 if reader.here.word == "FOR" else 0
    if [reader.ahead(shift + i).word for i in (1, 2)] == ["AS", "OF"]:
        for _ in range(shift + 3):
            reader.next()
        reader.next()  # an id, a text, or the type of one
        reader.skip_texts()


def _clause(reader: Reader, subject: Subject, schema: TableSchema) -> SqlClause:
    reader.expect("WHEN", part="MERGE")
    rows = _rows(reader)
    condition = subject.own(reader.until("THEN")) if reader.takes("AND") else None
    reader.expect("THEN", part=rows.value)
    allowed = ("INSERT",) if rows is MergeRows.NOT_MATCHED else ("UPDATE", "DELETE")
    act = reader.expect_one(*allowed, part=rows.value)
    if act == "DELETE":
        return SqlClause(rows=rows, condition=condition, action=MergeAction.DELETE, values={})
    if act == "UPDATE":
        reader.expect("SET", part=rows.value)
        if rows is MergeRows.MATCHED and reader.takes("*"):
            return SqlClause(rows=rows, condition=condition, action=MergeAction.UPDATE)
        part = f"{rows.value} THEN UPDATE"
        values = assignments_of(reader, subject, schema, part, "WHEN")
        return SqlClause(rows=rows, condition=condition, action=MergeAction.UPDATE, values=values)
    if reader.takes("*"):
        return SqlClause(rows=rows, condition=condition, action=MergeAction.INSERT)
    return SqlClause(
        rows=rows,
        condition=condition,
        action=MergeAction.INSERT,
        values=_inserted(reader, subject, schema),
    )


def _rows(reader: Reader) -> MergeRows:
    if reader.takes("MATCHED"):
        return MergeRows.MATCHED
    reader.expect("NOT", "MATCHED", part="MERGE")
    if reader.takes("BY", "SOURCE"):
        return MergeRows.NOT_MATCHED_BY_SOURCE
    reader.takes("BY", "TARGET")
    return MergeRows.NOT_MATCHED


def _inserted(reader: Reader, subject: Subject, schema: TableSchema) -> dict[str, str]:
    names = schema.row_type.names
    if reader.here.sign == "(":
        names = tuple(subject.path(path, schema) for path in reader.paths("the columns"))
    reader.expect("VALUES", part="WHEN NOT MATCHED THEN INSERT")
    texts = reader.parts("the values")
    if len(texts) != len(names):
        raise InvalidInputError(
            f"WHEN NOT MATCHED THEN INSERT has {len(texts)} values, but must have {len(names)}.",
            hint=f"Write one value for each of the columns {', '.join(names)}.",
        )
    fields = resolved(names, schema)
    return {
        one.name: _or_default(subject.own(text), one)
        for one, text in zip(fields, texts, strict=True)
    }
