"""COPY INTO a table or files; the syntax and results are those of Java's connector.

Syntax:

    COPY INTO table [(name, ...)] FROM 'folder' FILE_FORMAT = (format)
        [PATTERN = 'regular expression'] [FORCE = {TRUE | FALSE}]
        [ON_ERROR = {ABORT_STATEMENT | CONTINUE | SKIP_FILE}]
    COPY INTO 'folder' FROM {table | (query)} FILE_FORMAT = (format) [OVERWRITE = {TRUE | FALSE}]
    format = TYPE = {CSV | JSON | PARQUET}, option = value, ...
"""

import re

from paimon_explore.data_types.definitions import DataField
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sql_statements.clauses import option_value
from paimon_explore.sql_statements.commands.dml_statements import resolved
from paimon_explore.sql_statements.copy_into.file_format import file_format
from paimon_explore.sql_statements.copy_into.file_load import FileLoad, LoadResult, loaded
from paimon_explore.sql_statements.outcome import Answer, answer
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of

_IMPORTED = (
    "file_name string, status string, rows_loaded bigint, rows_parsed bigint, errors_seen bigint, "
    "first_error string"
)
_EXPORTED = "output_path string, file_count int, rows_written bigint"
_ON_ERROR = ("ABORT_STATEMENT", "CONTINUE", "SKIP_FILE")
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})


def copy_into(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a COPY statement; None if it is not COPY INTO."""
    if not reader.takes("INTO"):
        return None
    if reader.here.kind is Kind.TEXT:
        return _export(warehouse, reader)
    return _import(warehouse, reader)


def _clauses(reader: Reader, *known: str) -> dict[str, str]:
    """Read `NAME = value` until the end; FILE_FORMAT has the text in its parentheses."""
    found: dict[str, str] = {}
    while not reader.is_done:
        name = reader.expect_one("FILE_FORMAT", *known, part="COPY INTO")
        reader.expect("=", part=f"COPY INTO … {name}")
        if name in found:
            raise InvalidInputError(f"COPY INTO: {name} is given twice.")
        found[name] = reader.group("the format") if name == "FILE_FORMAT" else option_value(reader)
    if "FILE_FORMAT" not in found:
        msg = "COPY INTO requires a file format."
        raise InvalidInputError(msg, hint="Add FILE_FORMAT = (TYPE = CSV), JSON or PARQUET.")
    return found


def _flag(clauses: dict[str, str], name: str) -> bool:
    value = clauses.get(name, "FALSE").upper()
    if value not in {"TRUE", "FALSE"}:
        raise InvalidInputError(f"COPY INTO: {name} must be TRUE or FALSE, not {value}.")
    return value == "TRUE"


def _import(warehouse: Warehouse, reader: Reader) -> Answer:
    table = warehouse.base(warehouse.named(reader.path("the table")))
    schema = latest_schema(store_of(table))
    names = reader.names("the columns") if reader.here.sign == "(" else None
    columns = _columns(schema, names)
    reader.expect("FROM", part="COPY INTO")
    folder = reader.text("the folder of the files")
    clauses = _clauses(reader, "PATTERN", "FORCE", "ON_ERROR")
    on_error = clauses.get("ON_ERROR", _ON_ERROR[0]).upper()
    if on_error not in _ON_ERROR:
        msg = f"COPY INTO: ON_ERROR = {on_error} is unknown."
        raise InvalidInputError(msg, hint=f"Use {choices(_ON_ERROR)}.")
    load = FileLoad(
        table=table,
        columns=columns,
        format=file_format(clauses["FILE_FORMAT"], is_import=True),
        on_error=on_error,
    )
    pattern = _pattern(clauses.get("PATTERN", ""))
    files = [one for one in warehouse.engine.list_files(folder) if pattern.search(one.name)]
    known = set[str]() if _flag(clauses, "FORCE") else loaded(store_of(table), files)
    wanted = [one for one in files if one.path not in known]
    rows = warehouse.engine.load_files(load, wanted) if wanted else []
    skipped: list[LoadResult] = [
        (one.name, "SKIPPED", 0, 0, 0, None) for one in files if one.path in known
    ]
    return answer(_IMPORTED, [*rows, *skipped])


def _columns(schema: TableSchema, names: tuple[str, ...] | None) -> tuple[DataField, ...]:
    if names is None:
        return schema.fields
    columns = tuple(resolved(names, schema))
    for field in schema.fields:
        if field not in columns and not field.type.nullable and field.default_value is None:
            raise InvalidInputError(
                f"COPY INTO: column {field.name!r} is NOT NULL and has no default value.",
                hint="Add it to the list of columns.",
            )
    return columns


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        msg = f"COPY INTO: PATTERN = {text!r} is not a regular expression: {error}."
        raise InvalidInputError(msg) from error


def _export(warehouse: Warehouse, reader: Reader) -> Answer:
    folder = reader.text("the folder")
    reader.expect("FROM", part="COPY INTO")
    if reader.here.sign == "(":
        query = reader.group("the query")
        if Reader(query).here.word not in _QUERIES:
            msg = "COPY INTO: FROM (…) must contain a query."
            raise InvalidInputError(msg, hint="Write FROM (SELECT …) or the name of a table.")
    else:
        start = reader.here.start
        reader.path("the table")
        query = f"SELECT * FROM {reader.source[start : reader.previous_end]}"  # noqa: S608 - the user's own words
    clauses = _clauses(reader, "OVERWRITE")
    made = file_format(clauses["FILE_FORMAT"], is_import=False)
    rows = run_query(warehouse, query)
    overwrite = _flag(clauses, "OVERWRITE")
    count = warehouse.engine.export_files(rows, made, folder, overwrite=overwrite)
    files = [one for one in warehouse.engine.list_files(folder) if one.name.startswith("part-")]
    return answer(_EXPORTED, [(folder, len(files), count)])
