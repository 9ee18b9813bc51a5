"""Values of responses: tables, databases, views, functions, partitions, snapshots.

Responses are untrusted: a member of the wrong type raises an error, and nothing is guessed.
"""

from collections.abc import Mapping
from typing import TypeVar

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
from paimon_explore.metastore.view_values import FunctionInfo, PartitionInfo, ViewInfo
from paimon_explore.store.version_management import PartitionStatistics

T = TypeVar("T")

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


def names_of(source: JsonObject, key: str) -> list[str]:
    """Return a list of names; empty if the key is absent or null."""
    found = source.values.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise source.error(key, "must be a list of strings")
    return found


def boolean_of(source: JsonObject, key: str, *, default: bool | None = None) -> bool:
    """Return a bool; required if there is no default."""
    found = source.values.get(key)
    if found is None and default is not None:
        return default
    if not isinstance(found, bool):
        raise source.error(key, "must be true or false")
    return found


def texts_of(source: JsonObject, key: str) -> dict[str, str]:
    """Return an object of strings without those that are null; empty if the key is absent."""
    inner = source.optional_object(key)
    if inner is None:
        return {}
    return {name: inner.text(name) for name, value in inner.values.items() if value is not None}


def required_object(source: JsonObject, key: str) -> JsonObject:
    """Return a nested object that must be present."""
    inner = source.optional_object(key)
    if inner is None:
        raise source.error(key, "must be present")
    return inner


def database_of(source: JsonObject) -> DatabaseInfo:
    """Read a database."""
    properties = texts_of(source, "options")
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
    members = required_object(source, "schema").values
    fields = parse_fields(
        members.get("fields"), "schema.fields", path=source.path, keep_unknown=True
    )
    schema = schema_from_json(
        {
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
        is_external=boolean_of(source, "isExternal", default=False),
        schema=schema,
    )


def view_of(source: JsonObject) -> ViewInfo:
    """Read a view."""
    schema = required_object(source, "schema")
    fields = schema.values.get("fields")
    return ViewInfo(
        fields=parse_fields(fields, "schema.fields", path=source.path),
        query=schema.text("query"),
        dialects=texts_of(schema, "dialects"),
        comment=schema.optional_text(_COMMENT),
        options=texts_of(schema, "options"),
    )


def function_of(source: JsonObject) -> FunctionInfo:
    """Read a function."""
    source.text("name")  # all other members are optional
    definitions = source.optional_object("definitions")
    return FunctionInfo(
        input_params=_optional_fields(source, "inputParams"),
        return_params=_optional_fields(source, "returnParams"),
        deterministic=boolean_of(source, "deterministic", default=False),
        definitions=_definitions(definitions),
        comment=source.optional_text(_COMMENT),
        options=texts_of(source, "options"),
    )


def _definitions(source: JsonObject | None) -> Mapping[str, Mapping[str, object]]:
    if source is None:
        return {}
    return {name: required_object(source, name).values for name in source.values}


def _optional_fields(source: JsonObject, key: str) -> tuple[DataField, ...] | None:
    found = source.values.get(key)
    return None if found is None else parse_fields(found, key, path=source.path)


def partition_of(source: JsonObject) -> PartitionInfo:
    """Read a partition."""
    statistics = PartitionStatistics(
        spec=texts_of(source, "spec"),
        record_count=source.optional_integer("recordCount") or 0,
        file_size_in_bytes=source.optional_integer("fileSizeInBytes") or 0,
        file_count=source.optional_integer("fileCount") or 0,
        last_file_creation_time=source.optional_integer("lastFileCreationTime") or 0,
        total_buckets=source.optional_integer("totalBuckets") or 0,
    )
    return PartitionInfo(statistics=statistics, done=boolean_of(source, "done", default=False))


def latest_snapshot_of(source: JsonObject) -> Snapshot | None:
    """Read the snapshot of a table with its statistics, which are not used."""
    table_snapshot = source.optional_object("snapshot")
    return None if table_snapshot is None else snapshot_of(table_snapshot)


def snapshot_of(source: JsonObject) -> Snapshot:
    """Read a snapshot."""
    return snapshot_from_object(required_object(source, "snapshot"))
