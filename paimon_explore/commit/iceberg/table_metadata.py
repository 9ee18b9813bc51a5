"""The metadata file of an Iceberg table as a value, and its JSON.

Spec: the Iceberg table specification, table metadata. Members and their order are those of Java
Paimon 2.0, and in addition the snapshot log, and in format version 3 the row ids, which Iceberg
requires, and the names of columns in files without field ids.
"""

import json
from collections.abc import Mapping, Sequence

from paimon_explore.commit.iceberg.schema_json import (
    FIRST_PARTITION_ID,
    SPEC_ID,
    Json,
    name_mapping,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object
from paimon_explore.metadata.schema.table_schema import pretty_json
from paimon_explore.metadata.snapshot import Snapshot

IDENTITY = "paimon-commit-identity"
"""Key in the summary of an Iceberg snapshot: what identifies the Paimon snapshot."""
NAME_MAPPING = "schema.name-mapping.default"
"""Property of an Iceberg table: the names of columns in files without field ids."""
_FOREVER = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergSnapshot:
    """A snapshot in the metadata of an Iceberg table.

    Attributes:
        id: the id, that of the Paimon snapshot.
        timestamp_ms: the time at which it was added, epoch milliseconds.
        summary: the operation and its metrics.
        manifest_list: the path of its manifest list.
        schema_id: the id of its schema.
        row_ids: in format version 3, the first id that it gives to rows, and how many.
    """

    id: int
    timestamp_ms: int
    summary: Mapping[str, str]
    manifest_list: str
    schema_id: int
    row_ids: tuple[int, int] | None = None

    def is_of(self, snapshot: Snapshot) -> bool:
        """Return whether this is the Iceberg snapshot of a Paimon snapshot.

        After a rollback, another snapshot may have the id. Java Paimon 2.0 records no identity:
        its metadata is written after the Paimon snapshot.
        """
        known = self.summary.get(IDENTITY)
        if self.id != snapshot.id:
            return False
        if known is not None:
            return known == commit_identity(snapshot)
        return self.timestamp_ms >= snapshot.time_millis


def commit_identity(snapshot: Snapshot) -> str:
    """Return what identifies a Paimon snapshot in Iceberg metadata."""
    user, identifier = snapshot.commit_user, snapshot.commit_identifier
    return snapshot.uuid or f"{user}:{identifier}:{snapshot.time_millis}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergMetadata:
    """The metadata of an Iceberg table.

    Attributes:
        format_version: 2 or 3.
        uuid: identifies the table.
        location: the folder of the table.
        last_column_id: the highest field id ever used.
        schemas: the schemas.
        schema_id: the id of the current schema.
        partition_fields: the fields of the only partition spec.
        snapshots: the snapshots, oldest first; the last one is the current one.
        tags: the tags of snapshots: ids by name.
        next_row_id: in format version 3, the first id that is free.
    """

    format_version: int
    uuid: str
    location: str
    last_column_id: int
    schemas: Sequence[Json]
    schema_id: int
    partition_fields: Sequence[Json]
    snapshots: Sequence[IcebergSnapshot]
    tags: Mapping[str, int]
    next_row_id: int | None = None

    @property
    def current(self) -> IcebergSnapshot:
        """The current snapshot."""
        return self.snapshots[-1]


def encode_metadata(metadata: IcebergMetadata, now_ms: int) -> bytes:
    """Return the JSON of a metadata file.

    Args:
        metadata: the metadata.
        now_ms: the time of the change, epoch milliseconds.
    """
    current = metadata.current.id
    mapping = name_mapping(metadata.schemas, metadata.schema_id)
    spec: Json = {"spec-id": SPEC_ID, "fields": list(metadata.partition_fields)}
    members: dict[str, Json] = {
        "format-version": metadata.format_version,
        "table-uuid": metadata.uuid,
        "location": metadata.location,
        "last-sequence-number": current,
        "last-updated-ms": max([now_ms, *(one.timestamp_ms for one in metadata.snapshots)]),
        "last-column-id": metadata.last_column_id,
        "schemas": list(metadata.schemas),
        "current-schema-id": metadata.schema_id,
        "partition-specs": [spec],
        "default-spec-id": SPEC_ID,
        "last-partition-id": FIRST_PARTITION_ID - 1 + len(metadata.partition_fields),
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
        "snapshots": [snapshot_json(one) for one in metadata.snapshots],
        "current-snapshot-id": current,
        "properties": {NAME_MAPPING: json.dumps(mapping)},
        "refs": {
            name: {"snapshot-id": number, "type": "tag", "max-ref-age-ms": _FOREVER}
            for name, number in metadata.tags.items()
        },
        "snapshot-log": [
            {"timestamp-ms": one.timestamp_ms, "snapshot-id": one.id} for one in metadata.snapshots
        ],
    }
    if metadata.next_row_id is not None:
        members["next-row-id"] = metadata.next_row_id
    return pretty_json(members).encode()


def snapshot_json(snapshot: IcebergSnapshot) -> dict[str, Json]:
    """Return a snapshot as the member of a metadata file."""
    parent: dict[str, Json] = {"parent-snapshot-id": snapshot.id - 1} if snapshot.id > 1 else {}
    lineage: dict[str, Json] = {}
    if snapshot.row_ids is not None:
        lineage = {"first-row-id": snapshot.row_ids[0], "added-rows": snapshot.row_ids[1]}
    return {
        "sequence-number": snapshot.id,
        "snapshot-id": snapshot.id,
        **parent,
        "timestamp-ms": snapshot.timestamp_ms,
        "summary": dict(snapshot.summary),
        "manifest-list": snapshot.manifest_list,
        "schema-id": snapshot.schema_id,
        **lineage,
    }


def parse_metadata(data: bytes, path: str) -> IcebergMetadata:
    """Parse a metadata file that Paimon wrote.

    Raises:
        CorruptFileError: a member is missing or invalid.
    """
    source = parse_object(data, path)
    snapshots = [_snapshot_of(one) for one in source.objects("snapshots")]
    current = source.integer("current-snapshot-id")
    if not snapshots or snapshots[-1].id != current:
        raise CorruptFileError(path, "current-snapshot-id", "must be that of the last snapshot")
    specs = source.objects("partition-specs")
    refs = source.optional_object("refs")
    return IcebergMetadata(
        format_version=source.integer("format-version"),
        uuid=source.text("table-uuid"),
        location=source.text("location"),
        last_column_id=source.integer("last-column-id"),
        schemas=[_json(one.values) for one in source.objects("schemas")],
        schema_id=source.integer("current-schema-id"),
        partition_fields=[_json(one.values) for one in specs[0].objects("fields")] if specs else [],
        snapshots=snapshots,
        tags={} if refs is None else _tags(refs),
        next_row_id=source.optional_integer("next-row-id"),
    )


def _snapshot_of(source: JsonObject) -> IcebergSnapshot:
    first = source.optional_integer("first-row-id")
    added = source.optional_integer("added-rows")
    return IcebergSnapshot(
        id=source.integer("snapshot-id"),
        timestamp_ms=source.integer("timestamp-ms"),
        summary=source.optional_texts("summary") or {},
        manifest_list=source.text("manifest-list"),
        schema_id=source.integer("schema-id"),
        row_ids=None if first is None or added is None else (first, added),
    )


def _tags(refs: JsonObject) -> dict[str, int]:
    found = {name: refs.optional_object(name) for name in refs.values}
    return {name: ref.integer("snapshot-id") for name, ref in found.items() if ref is not None}


def _json(value: object) -> Json:
    """Return a value that was read from JSON, typed."""
    match value:
        case Mapping():
            return {str(key): _json(item) for key, item in value.items()}
        case list():
            return [_json(item) for item in value]
        case str() | int() | None:
            return value
        case _:
            return str(value)
