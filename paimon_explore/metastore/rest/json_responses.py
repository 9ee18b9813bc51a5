"""Values of responses: tables, databases, views, functions, partitions, snapshots.

Responses are untrusted: a member of the wrong type raises an error, and nothing is guessed.
"""

from collections.abc import Mapping

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.field_ids import highest_field_id
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.metadata.schema.table_schema import (
    CURRENT_VERSION,
    TableSchema,
    schema_from_json,
)
from paimon_explore.metadata.snapshot import Snapshot, snapshot_from_object
from paimon_explore.metastore.catalog_values import DatabaseInfo
from paimon_explore.metastore.view_values import (
    FunctionInfo,
    PartitionInfo,
    ViewInfo,
    view_from_json,
)
from paimon_explore.store.version_management import PartitionStatistics

_COMMENT = "comment"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestTable:
    """A table of a response.

    Attributes:
        uuid: its id on the server.
        path: its folder.
        is_external: whether its files are not managed by the server.
        schema: its latest schema.
    """

    uuid: str | None
    path: str
    is_external: bool
    schema: TableSchema


def database_of(source: JsonObject) -> DatabaseInfo:
    """Read a database."""
    properties = source.texts("options")
    comment = properties.pop(_COMMENT, None)
    return DatabaseInfo(
        name=source.text("name"),
        location=source.optional_text("location"),
        comment=comment,
        properties=properties,
    )


def table_of(source: JsonObject) -> RestTable:
    """Read a table."""
    schema_id = source.integer("schemaId")
    members = source.required_object("schema").values
    fields = parse_fields(
        members.get("fields"), "schema.fields", path=source.path, keep_unknown=True
    )
    schema = schema_from_json(
        {
            **dict.fromkeys(("partitionKeys", "primaryKeys", "options")),
            **members,
            "version": CURRENT_VERSION,
            "id": schema_id,
            "highestFieldId": highest_field_id(fields),
        },
        source.path,
    )
    return RestTable(
        uuid=source.optional_text("id"),
        path=source.text("path"),
        is_external=source.boolean("isExternal", default=False),
        schema=schema,
    )


def view_of(source: JsonObject) -> ViewInfo:
    """Read a view."""
    return view_from_json(source.required_object("schema"))


def function_of(source: JsonObject) -> FunctionInfo:
    """Read a function."""
    source.text("name")  # all other members are optional
    definitions = source.optional_object("definitions")
    return FunctionInfo(
        input_params=_optional_fields(source, "inputParams"),
        return_params=_optional_fields(source, "returnParams"),
        deterministic=source.boolean("deterministic", default=False),
        definitions=_definitions(definitions),
        comment=source.optional_text(_COMMENT),
        options=source.texts("options"),
    )


def _definitions(source: JsonObject | None) -> Mapping[str, Mapping[str, object]]:
    if source is None:
        return {}
    return {name: source.required_object(name).values for name in source.values}


def _optional_fields(source: JsonObject, key: str) -> tuple[DataField, ...] | None:
    found = source.values.get(key)
    return None if found is None else parse_fields(found, key, path=source.path)


def partition_of(source: JsonObject) -> PartitionInfo:
    """Read a partition."""
    statistics = PartitionStatistics(
        spec=source.texts("spec"),
        record_count=source.integer("recordCount", default=0),
        file_size_in_bytes=source.integer("fileSizeInBytes", default=0),
        file_count=source.integer("fileCount", default=0),
        last_file_creation_time=source.integer("lastFileCreationTime", default=0),
        total_buckets=source.integer("totalBuckets", default=0),
    )
    return PartitionInfo(statistics=statistics, done=source.boolean("done", default=False))


def latest_snapshot_of(source: JsonObject) -> Snapshot | None:
    """Read the snapshot of a table with its statistics, which are not used."""
    table_snapshot = source.optional_object("snapshot")
    return None if table_snapshot is None else snapshot_of(table_snapshot)


def snapshot_of(source: JsonObject) -> Snapshot:
    """Read a snapshot."""
    return snapshot_from_object(source.required_object("snapshot"))
