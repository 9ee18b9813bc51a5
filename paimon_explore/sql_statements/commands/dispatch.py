"""The commands by their first word, and those on views.

Syntax:

    CREATE [OR REPLACE] [[GLOBAL] {TEMPORARY | TEMP}] VIEW [IF NOT EXISTS] view [(name, ...)]
        [COMMENT 'text'] AS query
    ALTER VIEW view {RENAME TO view | AS query}
    DROP VIEW [IF EXISTS] view
    EXPLAIN [EXTENDED | FORMATTED | COST | CODEGEN | LOGICAL] query   on Spark
    EXPLAIN [ANALYZE] query                                           without Spark
    CALL sys.procedure(name => value, ...)
    REFRESH [TABLE] table
    SET {spark.sql.sources.partitionOverwriteMode = {STATIC | DYNAMIC} | setting = value}
    SET [setting]
    RESET [setting]
    setting = spark.paimon.[catalog.database.table.]option       * for any name
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.sql_statements.commands.alter_table import alter_table, comment_on
from paimon_explore.sql_statements.commands.copy_into import copy_into
from paimon_explore.sql_statements.commands.ddl_statements import (
    alter_database,
    create_database,
    create_table,
    drop_database,
    drop_table,
)
from paimon_explore.sql_statements.commands.dml_statements import (
    delete,
    insert,
    merge,
    truncate,
    update,
)
from paimon_explore.sql_statements.commands.show_statements import analyze, describe, show, use
from paimon_explore.sql_statements.outcome import Answer, Outcome, answer, done
from paimon_explore.sql_statements.procedures.call_statement import call
from paimon_explore.sql_statements.queries import replaced, run_query
from paimon_explore.sql_statements.session_settings import check_setting, is_setting
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.sql_statements.views import NewView, create_view, find_view

_EXECUTION = ("spark.sql.shuffle.", "spark.sql.adaptive.", "spark.sql.sources.v2.bucketing.")
"""Settings of Spark that change how it runs a query, but not its result: they have no effect."""
_TIME_ZONE = re.compile(
    r"\s*SET\s+(TIME\s*ZONE(\s+TO\b|\s*=)?|spark\.sql\.session\.timeZone\s*=)\s*"
    r"['\"]?(?P<name>[^'\"]*?)['\"]?\s*",
    re.IGNORECASE,
)
_TIME_ZONE_HINT = (
    "Queries use the time zone of the process: set the environment variable TZ before Python "
    "starts, or convert times by from_utc_timestamp(time, zone)."
)
_Handler = Callable[[Warehouse, Reader], Outcome | None]


def _with(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    """Run WITH … INSERT INTO, or a query that begins with WITH."""
    inner = Reader(reader.source)
    before = inner.until("INSERT", "SELECT", "FROM", "VALUES", "TABLE", "UPDATE", "DELETE", "MERGE")
    if inner.takes("INSERT"):
        return insert(warehouse, inner, before=before)
    if inner.here.word in {"UPDATE", "DELETE", "MERGE"}:
        raise UnsupportedFeatureError(
            f"WITH … {inner.here.word}", hint=f"Write the query as a subquery in {inner.here.word}."
        )
    return None


def _create(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    replaces = reader.takes("OR", "REPLACE")
    if not replaces and reader.takes("TABLE"):
        return create_table(warehouse, reader)
    if not replaces and reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE"):
        return create_database(warehouse, reader) if warehouse.catalog is not None else None
    if replaces and reader.takes("TABLE"):
        return create_table(warehouse, reader, replaces=True)
    return _create_view(warehouse, reader, replaces=replaces)


def _replace(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    if not reader.takes("TABLE"):
        return None
    return create_table(warehouse, reader, replaces=True, creates=False)


def _create_view(warehouse: Warehouse, reader: Reader, *, replaces: bool) -> Outcome | None:
    """Create a view over Paimon tables; a temporary one stays at the current snapshots."""
    is_global = reader.takes("GLOBAL")
    temporary = bool(reader.takes_one("TEMPORARY", "TEMP"))
    if not reader.takes("VIEW"):
        return None
    ignore = reader.takes("IF", "NOT", "EXISTS")
    parts = reader.path("the view")
    names = reader.names("the columns") if reader.here.sign == "(" else ()
    comment = reader.text("the comment") if reader.takes("COMMENT") else None
    if not reader.takes("AS"):
        return None
    query = reader.rest()
    own = warehouse.find(parts) if replaces and not temporary else None
    with replaced(_inside(warehouse, own), query) as text:
        is_own = temporary or warehouse.catalog is None or not warehouse.find(parts)
        if text == query and is_own and warehouse.engine.has_own_tables:
            return None
        rows = warehouse.engine.query(text)
    if not temporary:
        view = NewView(
            name=warehouse.named(parts).table,
            query=query,
            columns=names,
            comment=comment,
            if_not_exists=ignore,
            replaces=replaces,
        )
        create_view(warehouse, view, rows)
        return done()
    rows = rows.renamed(names) if names else rows
    name = parts[-1]
    if not (ignore and warehouse.is_view(name)):
        engine = warehouse.engine
        engine.create_temporary_view(name, rows, replaces=replaces, is_global=is_global)
    return done()


def _inside(warehouse: Warehouse, view: Name | None) -> Warehouse:
    """Return the warehouse for the query of a view, which must not read the view itself."""
    return warehouse if view is None else replace(warehouse, open_views=(view.table,))


def _drop_view(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Drop a temporary view or one of the catalog; None if the view belongs to the engine."""
    ignore = reader.takes("IF", "EXISTS")
    parts = reader.path("the view")
    reader.end()
    if len(parts) == 1 and warehouse.is_view(parts[0]):
        warehouse.engine.drop_temporary_view(parts[0])
        return done()
    if warehouse.catalog is None:
        return None
    name = warehouse.find(parts)
    if name is None:
        return done() if ignore and warehouse.is_missing(parts) else None
    warehouse.catalog.drop_view(name.table, if_exists=ignore)
    return done()


def _alter_view(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    """Rename a view of the catalog, or replace its query; None for a view of the engine."""
    name = None if warehouse.catalog is None else warehouse.find(reader.path("the view"))
    view = None if name is None else find_view(warehouse, name)
    if name is None or view is None:
        return None
    if reader.takes("RENAME", "TO"):
        target = warehouse.new_name(name, reader.path("the new name"))
        reader.end()
        warehouse.warehouse().rename_view(name.table, target.table)
        return done()
    reader.expect("AS", part="ALTER VIEW")
    query = reader.rest()
    rows = run_query(_inside(warehouse, name), query)
    given = NewView(
        name=name.table,
        query=query,
        comment=view.comment,
        replaces=True,
        options=view.options,
        dialects=view.dialects,
    )
    create_view(warehouse, given, rows)
    return done()


def _drop(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    if reader.takes("TABLE"):
        return drop_table(warehouse, reader)
    if reader.takes("VIEW"):
        return _drop_view(warehouse, reader)
    if reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE") and warehouse.catalog is not None:
        return drop_database(warehouse, reader)
    return None


def _alter(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    if reader.takes("VIEW"):
        return _alter_view(warehouse, reader)
    if reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE") and warehouse.catalog is not None:
        return alter_database(warehouse, reader)
    return alter_table(warehouse, reader) if reader.takes("TABLE") else None


def _explain(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    mode = reader.takes_one("ANALYZE", "EXTENDED", "FORMATTED", "COST", "CODEGEN", "LOGICAL")
    word = reader.here.word
    if word in COMMANDS and word != "WITH" and not warehouse.engine.has_own_tables:
        raise UnsupportedFeatureError(
            f"EXPLAIN {word}", hint="EXPLAIN shows which files a query reads, such as SELECT."
        )
    with replaced(warehouse, reader.rest()) as text:
        return warehouse.engine.explain(mode, text)


def _refresh(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    reader.takes("TABLE")
    return None if warehouse.find(reader.path("the table")) is None else done()


def _setting(warehouse: Warehouse, reader: Reader, *, removes: bool = False) -> Outcome | None:
    """Run SET or RESET of a setting that concerns Paimon tables."""
    engine = warehouse.engine
    key, equals, value = (part.strip().strip("`'\"") for part in reader.rest().partition("="))
    columns = "key string, value string"
    if not is_setting(key) and engine.has_own_tables and not (removes and not key):
        return None
    zone = _TIME_ZONE.fullmatch(reader.source)
    if zone is not None:
        if zone["name"].upper() in {"LOCAL", str(engine.evaluate("current_timezone()")).upper()}:
            return done()
        raise UnsupportedFeatureError("a time zone of a session", hint=_TIME_ZONE_HINT)
    if removes:
        engine.change_setting(key, None)
        return done()
    if not equals and " " not in key:
        settings = engine.settings().items()
        return answer(columns, [pair for pair in settings if key in {pair[0], "", "-v"}])
    if is_setting(key):
        check_setting(key, value)
        engine.change_setting(key, value)
    elif not key.startswith(_EXECUTION):
        return None
    return answer(columns, [(key, value)])


COMMANDS: Mapping[str, _Handler] = {
    "INSERT": insert,
    "UPDATE": update,
    "DELETE": delete,
    "MERGE": merge,
    "TRUNCATE": truncate,
    "WITH": _with,
    "CREATE": _create,
    "REPLACE": _replace,
    "DROP": _drop,
    "ALTER": _alter,
    "COMMENT": comment_on,
    "SHOW": show,
    "DESCRIBE": describe,
    "DESC": describe,
    "USE": lambda w, r: use(w, r) if w.catalog is not None else None,
    "ANALYZE": analyze,
    "CALL": call,
    "COPY": copy_into,
    "EXPLAIN": _explain,
    "REFRESH": _refresh,
    "SET": _setting,
    "RESET": partial(_setting, removes=True),
}
"""Commands; None from one means that the engine has to run the statement."""
