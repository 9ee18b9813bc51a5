"""Procedures for views and functions of a catalog, and those that are refused by name."""

import json
from collections.abc import Mapping

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import FormatError, PaimonError, choices
from paimon_explore.metastore.view_values import (
    FunctionAction,
    FunctionChange,
    FunctionInfo,
    ViewAction,
    ViewChange,
)
from paimon_explore.sql_statements.clauses import check_options
from paimon_explore.sql_statements.engine import ForeignTable
from paimon_explore.sql_statements.outcome import Answer, answer, row_type_of
from paimon_explore.sql_statements.procedures.call_arguments import Call, Procedures
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.sql_statements.views import DIALECT

CATALOG_PROCEDURES = Procedures()
"""The procedures by name."""

_ACTIONS = {
    "add": ViewAction.ADD_DIALECT,
    "update": ViewAction.UPDATE_DIALECT,
    "drop": ViewAction.DROP_DIALECT,
}


@CATALOG_PROCEDURES.add("view", "action", "engine", "query")
def _alter_view_dialect(one: Call) -> None:
    action = _ACTIONS.get(one.needed("action"))
    if action is None:
        raise one.problem(f"action = {one.text('action')!r} is unknown", "Use add, update or drop.")
    query = None if action is ViewAction.DROP_DIALECT else one.needed("query")
    engine = one.text("engine")
    dialect = engine if engine and engine.strip() else DIALECT
    change = ViewChange(action=action, key=dialect, value=query)
    one.warehouse.warehouse().alter_view(one.named("view").table, change)


@CATALOG_PROCEDURES.add(
    "function", "inputParams", "returnParams", "deterministic", "comment", "options"
)
def _create_function(one: Call) -> None:
    function = FunctionInfo(
        input_params=_fields(one, "inputParams"),
        return_params=_fields(one, "returnParams"),
        deterministic=one.flag("deterministic", default=True),
        comment=one.text("comment"),
        options=one.options(),
    )
    one.warehouse.warehouse().create_function(one.named("function").table, function)


def _fields(one: Call, argument: str) -> tuple[DataField, ...]:
    """Return the fields of an argument, a JSON array of `id`, `name` and `type`."""
    text = one.needed(argument)
    try:
        return parse_fields(json.loads(text), f"argument {argument}")
    except (ValueError, FormatError) as error:
        example = '[{"id": 0, "name": "x", "type": "INT"}]'
        raise one.problem(f"{argument} = {text!r} is not a list of fields", example) from error


@CATALOG_PROCEDURES.add("function", "change")
def _alter_function(one: Call) -> None:
    text = one.needed("change")
    example = '{"action": "addDefinition", "name": "spark", "definition": {…}}'
    try:
        members = json.loads(text)
    except ValueError as error:
        raise one.problem(f"change = {text!r} is not JSON", example) from error
    actions = [action.value for action in FunctionAction]
    if not isinstance(members, dict) or members.get("action") not in actions:
        raise one.problem(f"change = {text!r} has no known action", f"Use {choices(actions)}.")
    value = members.get("value", members.get("comment"))
    change = FunctionChange(
        action=FunctionAction(members["action"]),
        key=str(members.get("key", members.get("name", ""))),
        value=None if value is None else str(value),
        definition=members.get("definition") or {},
    )
    one.warehouse.warehouse().alter_function(one.named("function").table, change)


@CATALOG_PROCEDURES.add("function")
def _drop_function(one: Call) -> None:
    one.warehouse.warehouse().drop_function(one.named("function").table)


MIGRATIONS = Procedures()
"""The procedures by name."""


def _check_type(one: Call) -> None:
    kind = one.needed("source_type")
    if kind.lower() != "hive":
        raise one.problem(f"source_type = {kind!r} is unknown", "Use 'hive'.")


def _options(one: Call) -> dict[str, str]:
    given = one.values.get("options_map")
    more = (
        {str(key): str(text) for key, text in given.items()} if isinstance(given, Mapping) else {}
    )
    options = {**one.options(), **more}
    check_options(list(options), "options")
    return options


def _migrate(one: Call, source: ForeignTable, target: str, *, drops: bool) -> None:
    """Create a table with the rows of a source, then drop the source."""
    catalog = one.warehouse.warehouse()
    made = catalog.create_table(
        target,
        row_type_of(source.rows.fields, "a table"),
        partition_by=source.partition_by,
        options=_options(one),
    )
    try:
        source.rows.insert_into(made)
    except BaseException:
        catalog.drop_table(target)
        raise
    if drops and source.name:
        one.warehouse.engine.drop_foreign_table(source)


@MIGRATIONS.add(
    "source_type", "table", "options", "delete_origin", "target_table", "options_map", "parallelism"
)
def _migrate_table(one: Call) -> None:
    _check_type(one)
    text = one.needed("table")
    given = one.text("target_table")
    if "/" in text and given is None:
        raise one.problem("the argument 'target_table' is missing, which a folder requires")
    source = one.warehouse.engine.foreign_table(
        Reader(text).path("the table") if "/" not in text else (text,)
    )
    path = Reader(text if given is None else given).path("the target table")
    target = one.warehouse.named(path).table
    _migrate(one, source, target, drops=one.flag("delete_origin", default=True))


@MIGRATIONS.add("source_type", "database", "options", "options_map", "parallelism")
def _migrate_database(one: Call) -> Answer:
    _check_type(one)
    database, engine = one.needed("database"), one.warehouse.engine
    done, failed = 0, list[str]()
    for name in engine.foreign_tables(database):
        try:
            target = one.warehouse.named((database, name)).table
            _migrate(one, engine.foreign_table((database, name)), target, drops=True)
            done += 1
        except PaimonError as error:
            failed.append(f"{name}: {str(error).partition(chr(10))[0]}")
    text = f"migrate database is finished, success cnt: {done} , failed cnt: {len(failed)}"
    problems = "".join(f"; {problem}" for problem in failed)
    return answer("result string", [(text + problems,)])
