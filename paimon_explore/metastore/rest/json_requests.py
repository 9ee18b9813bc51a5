"""The JSON objects of requests: schemas, schema changes, views, functions, commits."""

from collections.abc import Mapping, Sequence

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import field_to_json, type_to_json
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.metadata.schema import schema_change as change
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot, snapshot_members
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.metastore.view_values import (
    FunctionChange,
    FunctionInfo,
    ViewChange,
)
from paimon_explore.store.version_management import PartitionStatistics


def object_name(table: str, branch: str = MAIN_BRANCH) -> str:
    """Return the name of a table or of a branch of it on the server.

    >>> object_name("t", "b")
    't$branch_b'
    """
    return table if branch == MAIN_BRANCH else f"{table}$branch_{branch}"


def identifier_json(wanted: Identifier) -> dict[str, object]:
    """Return the JSON of an identifier."""
    return {"database": wanted.database, "object": object_name(wanted.table, wanted.branch)}


def schema_json(schema: TableSchema) -> dict[str, object]:
    """Return the JSON of a new table's schema."""
    return {
        "fields": [field_to_json(field) for field in schema.fields],
        "partitionKeys": list(schema.partition_keys),
        "primaryKeys": list(schema.primary_keys),
        "options": dict(schema.options),
        "comment": schema.comment,
    }


_MEMBERS: Mapping[str, Mapping[str, str]] = {
    "setOption": {"key": "key", "value": "value"},
    "removeOption": {"key": "key"},
    "updateComment": {"comment": "value"},
    "addDialect": {"dialect": "key", "query": "value"},
    "updateDialect": {"dialect": "key", "query": "value"},
    "dropDialect": {"dialect": "key"},
    "addDefinition": {"name": "key", "definition": "definition"},
    "updateDefinition": {"name": "key", "definition": "definition"},
    "dropDefinition": {"name": "key"},
}
"""The members of the JSON of a change by its action, each with the attribute that it has."""


def change_json(given: ViewChange | FunctionChange) -> dict[str, object]:
    """Return the JSON of a change of a view or function."""
    action = given.action.value
    members = {name: getattr(given, attribute) for name, attribute in _MEMBERS[action].items()}
    return {"action": action, **members}


def function_json(name: str, function: FunctionInfo) -> dict[str, object]:
    """Return the JSON of a function."""
    return {
        "name": name,
        "inputParams": _fields(function.input_params),
        "returnParams": _fields(function.return_params),
        "deterministic": function.deterministic,
        "definitions": {key: dict(value) for key, value in function.definitions.items()},
        "comment": function.comment,
        "options": dict(function.options),
    }


def _fields(fields: Sequence[DataField] | None) -> list[object] | None:
    return None if fields is None else [field_to_json(field) for field in fields]


def commit_json(
    table_id: str | None,
    base_uuid: str | None,
    snapshot: Snapshot,
    statistics: Sequence[PartitionStatistics],
) -> dict[str, object]:
    """Return the JSON of a commit."""
    members = snapshot_members(snapshot)
    return {
        "tableId": table_id,
        "baseSnapshotUuid": base_uuid,
        "snapshot": {key: value for key, value in members.items() if value is not None},
        "statistics": [_statistics_json(found) for found in statistics],
    }


def _statistics_json(found: PartitionStatistics) -> dict[str, object]:
    return {
        "spec": dict(found.spec),
        "recordCount": found.record_count,
        "fileSizeInBytes": found.file_size_in_bytes,
        "fileCount": found.file_count,
        "lastFileCreationTime": found.last_file_creation_time,
        "totalBuckets": found.total_buckets,
    }


def schema_change_json(given: change.SchemaChange) -> dict[str, object]:  # noqa: C901, PLR0911, PLR0912 - a case per kind
    """Return the JSON of a schema change, as Java's `SchemaChange`."""
    match given:
        case change.SetOption():
            return {"action": "setOption", "key": given.key, "value": given.value}
        case change.RemoveOption():
            return {"action": "removeOption", "key": given.key}
        case change.SetComment():
            return {"action": "updateComment", "comment": given.comment}
        case change.AddColumn():
            return {
                **_column("addColumn", given.column),
                "dataType": type_to_json(given.type),
                "comment": given.comment,
                "move": None if given.move is None else _move(given.column[-1], given.move),
            }
        case change.RenameColumn():
            return {**_column("renameColumn", given.column), "newName": given.name}
        case change.DropColumn():
            return _column("dropColumn", given.column)
        case change.ChangeType():
            return {
                **_column("updateColumnType", given.column),
                "newDataType": type_to_json(given.type),
                "keepNullability": given.keep_nullability,
            }
        case change.ChangeNullability():
            members = _column("updateColumnNullability", given.column)
            return {**members, "newNullability": given.nullable}
        case change.ChangeColumnComment():
            members = _column("updateColumnComment", given.column)
            return {**members, "newComment": given.comment}
        case change.ChangeDefault():
            members = _column("updateColumnDefaultValue", given.column)
            return {**members, "newDefaultValue": given.default_value}
        case change.MoveColumn():
            return {"action": "updateColumnPosition", "move": _move(given.column, given.move)}
        case change.DropPrimaryKey():
            return {"action": "dropPrimaryKey"}


def _column(action: str, path: change.ColumnPath) -> dict[str, object]:
    return {"action": action, "fieldNames": list(path)}


def _move(name: str, move: change.Move) -> dict[str, object]:
    return {"fieldName": name, "referenceFieldName": move.reference, "type": move.position.name}


def rename_json(source: Identifier, target: Identifier) -> Mapping[str, object]:
    """Return the JSON of a rename of a table or view.

    Raises:
        UnsupportedFeatureError: a branch.
    """
    if source.branch != MAIN_BRANCH or target.branch != MAIN_BRANCH:
        raise UnsupportedFeatureError("renaming a branch as a table", source.table)
    return {"source": identifier_json(source), "destination": identifier_json(target)}
