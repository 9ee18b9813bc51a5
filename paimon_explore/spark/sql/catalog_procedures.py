"""Procedures for views and functions of a catalog, and those that are refused by name."""

import json
from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import FormatError, UnsupportedFeatureError
from paimon_explore.metastore.view_values import FunctionInfo, ViewAction, ViewChange
from paimon_explore.spark.sql.call_arguments import Call, Procedure
from paimon_explore.spark.sql.tokenizer import Reader
from paimon_explore.spark.sql.view_statements import DIALECT

_ACTIONS = {
    "add": ViewAction.ADD_DIALECT,
    "update": ViewAction.UPDATE_DIALECT,
    "drop": ViewAction.DROP_DIALECT,
}


def _named(one: Call, argument: str) -> str:
    """Return the full name that an argument has, `database.name`."""
    return one.warehouse.named(Reader(one.needed(argument)).path(f"the {argument}")).table


def _alter_view_dialect(one: Call) -> DataFrame:
    action = _ACTIONS.get(one.needed("action"))
    if action is None:
        raise one.problem(f"action = {one.text('action')!r} is unknown", "Use add, update or drop.")
    query = None if action is ViewAction.DROP_DIALECT else one.needed("query")
    engine = one.text("engine")
    dialect = engine if engine and engine.strip() else DIALECT
    change = ViewChange(action=action, key=dialect, value=query)
    one.warehouse.warehouse().alter_view(_named(one, "view"), change)
    return one.ok()


def _create_function(one: Call) -> DataFrame:
    function = FunctionInfo(
        input_params=_fields(one, "inputParams"),
        return_params=_fields(one, "returnParams"),
        deterministic=one.flag("deterministic", default=True),
        comment=one.text("comment"),
        options=one.options(),
    )
    one.warehouse.warehouse().create_function(_named(one, "function"), function)
    return one.ok()


def _fields(one: Call, argument: str) -> tuple[DataField, ...]:
    """Return the fields of an argument, a JSON array of `id`, `name` and `type`."""
    text = one.needed(argument)
    try:
        return parse_fields(json.loads(text), f"argument {argument}")
    except (ValueError, FormatError) as error:
        example = '[{"id": 0, "name": "x", "type": "INT"}]'
        raise one.problem(f"{argument} = {text!r} is not a list of fields", example) from error


def _drop_function(one: Call) -> DataFrame:
    one.warehouse.warehouse().drop_function(_named(one, "function"))
    return one.ok()


def _refused(hint: str) -> Callable[[Call], DataFrame]:
    """Return a procedure that is refused, and says what is missing."""

    def refuse(one: Call) -> DataFrame:
        raise UnsupportedFeatureError(f"CALL sys.{one.procedure}", hint=hint)

    return refuse


_INDEX = "This package reads no global indexes (btree, bitmap, vector, full text) and builds none."
_MIGRATE = (
    "This package does not read tables of Hive. Create the table, and adopt its Parquet or ORC "
    "files by t.add_files(folder, partition=…, mode='move')."
)

_VECTORS = (
    "Deletion vectors of tables with data evolution are applied on read. Of other tables, compact "
    "applies them."
)
_REPAIR = (
    "Tables of a folder are found without it; a Hive metastore gets a table by CREATE TABLE with "
    "its location."
)

CATALOG_PROCEDURES: Mapping[str, Procedure] = {
    "alter_view_dialect": Procedure(
        arguments=("view", "action", "engine", "query"), run=_alter_view_dialect
    ),
    "create_function": Procedure(
        arguments=(
            *("function", "inputParams", "returnParams", "deterministic", "comment", "options"),
        ),
        run=_create_function,
    ),
    "drop_function": Procedure(arguments=("function",), run=_drop_function),
}
"""The procedures by name."""

REFUSED: Mapping[str, Procedure] = {
    name: Procedure(arguments=arguments, run=_refused(hint))
    for name, (arguments, hint) in {
        "alter_function": (
            ("function", "change"),
            "Drop the function, and create it again.",
        ),
        "create_global_index": (
            ("table", "index_column", "index_type", "partitions", "options"),
            _INDEX,
        ),
        "drop_global_index": (
            ("table", "index_column", "index_type", "partitions", "dry_run"),
            _INDEX,
        ),
        "compact_chain_table": (
            ("table", "partition", "overwrite"),
            "This package does not read chain tables ('chain-table.enabled').",
        ),
        "copy": (
            ("source_table", "target_table", "where"),
            "Write CREATE TABLE target LIKE source, then INSERT INTO target SELECT * FROM source.",
        ),
        "materialize_deletion_vectors": (
            ("table", "partitions", "options", "where"),
            _VECTORS,
        ),
        "migrate_table": (
            (
                *("source_type", "table", "options", "delete_origin", "target_table"),
                *("options_map", "parallelism"),
            ),
            _MIGRATE,
        ),
        "migrate_database": (
            ("source_type", "database", "options", "options_map", "parallelism"),
            _MIGRATE,
        ),
        "reassign_row_id": (
            ("table", "partitions"),
            "Row ids are assigned at the commit of new rows and remain.",
        ),
        "repair": (
            ("database_or_table",),
            _REPAIR,
        ),
    }.items()
}
"""Procedures of Java that are refused, with the reason."""
