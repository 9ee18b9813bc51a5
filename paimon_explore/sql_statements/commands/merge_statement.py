"""MERGE INTO.

Syntax:

    MERGE [WITH SCHEMA EVOLUTION] INTO table [[AS] alias] USING {table | (query)} [[AS] alias]
        ON condition when ...
    when   = WHEN MATCHED [AND condition] THEN {UPDATE SET * | UPDATE SET values | DELETE}
           | WHEN NOT MATCHED [BY TARGET] [AND condition] THEN INSERT *
           | WHEN NOT MATCHED [BY TARGET] [AND condition] THEN INSERT [(name, ...)] VALUES (...)
           | WHEN NOT MATCHED BY SOURCE [AND condition] THEN {UPDATE SET values | DELETE}
    values = name = expression, ...
"""

from collections.abc import Sequence

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.commands.dml_statements import (
    Subject,
    alias_of,
    assignments_of,
    resolved,
    subject_of,
)
from paimon_explore.sql_statements.engine import Args, RowMerge
from paimon_explore.sql_statements.merge_clause import MergeAction, MergeClause, MergeRows
from paimon_explore.sql_statements.outcome import Answer, QueryRows, committed, row_type_of
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.quoted_names import quoted
from paimon_explore.sql_statements.schema_evolution import schema_with_source
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader, tokens_of
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of


def merge(warehouse: Warehouse, reader: Reader, args: Args) -> Answer | None:
    """Run MERGE INTO; return None if the table belongs to the engine."""
    evolves = reader.takes("WITH", "SCHEMA", "EVOLUTION")
    reader.expect("INTO", part="MERGE")
    subject = subject_of(warehouse, reader, "USING")
    if subject is None:
        return None
    reader.expect("USING", part="MERGE")
    source, alias = _source(warehouse, reader, args)
    reader.expect("ON", part="MERGE")
    on = subject.own(reader.until("WHEN"))
    schema = latest_schema(store_of(subject.table))
    if evolves:
        schema = schema_with_source(
            schema, row_type_of(source.fields, "MERGE WITH SCHEMA EVOLUTION")
        )
    clauses = []
    while not reader.is_done:
        clauses.append(_clause(reader, subject, schema))
    described = RowMerge(
        source=source,
        table=subject.table,
        on=f"({on})",
        clauses=tuple(clauses),
        target_alias=subject.alias,
        source_alias=alias,
        evolves=evolves,
    )
    _refuse_queries(reader.source, clauses, on)
    return committed(warehouse.engine.merge(described))


def _refuse_queries(source: str, clauses: Sequence[MergeClause], on: str) -> None:
    texts = [on, *(c.condition for c in clauses if c.condition is not None)]
    if any(token.word == "SELECT" for text in texts for token in tokens_of(text)):
        raise UnsupportedFeatureError(
            "a subquery in a MERGE condition",
            hint="Join the table of the subquery into the source: USING (SELECT …).",
        )
    if not source:
        raise InvalidInputError("The statement is empty.")


def _source(warehouse: Warehouse, reader: Reader, args: Args) -> tuple[QueryRows, str]:
    start = reader.here.start
    if reader.here.sign == "(":
        reader.group("the source")
        default = "source"
    else:
        default = reader.path("the source")[-1].partition("$")[0]
        _over_point(reader)
    text = reader.source[start : reader.previous_end]
    alias = alias_of(reader, "ON") or default
    columns = f"({', '.join(map(quoted, reader.names('columns')))})" if reader.comes("(") else ""
    called = f"SELECT * FROM {text} AS {quoted(alias)}{columns}"  # noqa: S608 - the user's own words
    return run_query(warehouse, called, args), alias


def _over_point(reader: Reader) -> None:
    """Skip a time travel clause such as VERSION AS OF."""
    shift = 1 if reader.here.word == "FOR" else 0
    if [reader.ahead(shift + i).word for i in (1, 2)] == ["AS", "OF"]:
        for _ in range(shift + 3):
            reader.next()
        if reader.next().kind is Kind.WORD and reader.here.kind is Kind.TEXT:
            reader.next()


def _clause(reader: Reader, subject: Subject, schema: TableSchema) -> MergeClause:
    reader.expect("WHEN", part="MERGE")
    rows = _rows(reader)
    condition = subject.own(reader.until("THEN")) if reader.takes("AND") else None
    reader.expect("THEN", part=rows.value)
    allowed = ("INSERT",) if rows is MergeRows.NOT_MATCHED else ("UPDATE", "DELETE")
    act = reader.expect_one(*allowed, part=rows.value)
    if act == "DELETE":
        return MergeClause(rows=rows, condition=condition, action=MergeAction.DELETE, values={})
    if act == "UPDATE":
        reader.expect("SET", part=rows.value)
        if rows is MergeRows.MATCHED and reader.takes("*"):
            return MergeClause(rows=rows, condition=condition, action=MergeAction.UPDATE)
        part = f"{rows.value} THEN UPDATE"
        values = assignments_of(reader, subject, schema, part, "WHEN")
        return MergeClause(rows=rows, condition=condition, action=MergeAction.UPDATE, values=values)
    if reader.takes("*"):
        return MergeClause(rows=rows, condition=condition, action=MergeAction.INSERT)
    return MergeClause(
        rows=rows, condition=condition, action=MergeAction.INSERT, values=_inserted(reader, schema)
    )


def _rows(reader: Reader) -> MergeRows:
    if reader.takes("MATCHED"):
        return MergeRows.MATCHED
    reader.expect("NOT", "MATCHED", part="MERGE")
    if reader.takes("BY", "SOURCE"):
        return MergeRows.NOT_MATCHED_BY_SOURCE
    reader.takes("BY", "TARGET")
    return MergeRows.NOT_MATCHED


def _inserted(reader: Reader, schema: TableSchema) -> dict[str, str]:
    names = reader.names("the columns") if reader.here.sign == "(" else schema.row_type.names
    reader.expect("VALUES", part="WHEN NOT MATCHED THEN INSERT")
    texts = reader.parts("the values")
    if len(texts) != len(names):
        raise InvalidInputError(
            f"WHEN NOT MATCHED THEN INSERT has {len(texts)} values, but must have {len(names)}.",
            hint=f"Write one value for each of the columns {', '.join(names)}.",
        )
    fields = resolved(names, schema)
    return {field.name: text for field, text in zip(fields, texts, strict=True)}
