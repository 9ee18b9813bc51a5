"""The updates that bring a table of an Iceberg REST catalog to the state of a metadata file.

Schema 0 in the catalog is empty and the schemas of the table follow, as Java Paimon numbers them,
so that Java and this package can commit in turn: equal schemas are kept once. Ids of fields,
snapshots and partition fields are those of the metadata file.

Spec: Iceberg's OpenAPI document of the REST catalog, TableUpdate; iceberg/rest-catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from paimon_explore.commit.iceberg.file_paths import plain_path
from paimon_explore.commit.iceberg.schema_json import Json
from paimon_explore.commit.iceberg.table_metadata import (
    IDENTITY,
    IcebergMetadata,
    IcebergSnapshot,
    snapshot_json,
)
from paimon_explore.errors import CorruptFileError
from paimon_explore.fileio.paths import parent
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject

_MAIN = "main"
_TAG = "tag"
_FOREVER = 2**63 - 1
_LAST_ADDED = -1
_FIELD_KEYS = ("id", "name", "required", "doc")
_CLOCK_SKEW_MS = 59_000
"""Catalogs refuse snapshots that are more than a minute older than the last change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTable:
    """A table as the catalog has it.

    Attributes:
        uuid: its id.
        format_version: 1, 2 or 3.
        location: its folder in the catalog.
        schemas: fields of the schemas by id, in a form that can be compared.
        schema_id: the id of the current schema; None for none.
        spec: the fields of the current partition spec; None for none.
        last_sequence_number: that of the last snapshot ever added.
        snapshots: the manifest list and the commit identity of each snapshot, by id.
        current: the id of the current snapshot; None for none.
        tags: the tags: ids by name.
        properties: the properties.
    """

    uuid: str
    format_version: int
    location: str
    schemas: Mapping[int, Json]
    schema_id: int | None
    spec: Sequence[tuple[object, ...]] | None
    last_sequence_number: int
    snapshots: Mapping[int, tuple[str, str | None]]
    current: int | None
    tags: Mapping[str, int]
    properties: Mapping[str, str]


def parse_catalog_table(source: JsonObject) -> CatalogTable:
    """Parse the metadata in a response of the catalog.

    Raises:
        CorruptFileError: a member is missing or invalid.
    """
    current = source.optional_integer("current-snapshot-id")
    default = source.optional_integer("default-spec-id")
    spec = [one for one in source.objects("partition-specs") if one.integer("spec-id") == default]
    refs = source.optional_object("refs")
    named = {name: refs.optional_object(name) for name in refs.values} if refs is not None else {}
    return CatalogTable(
        uuid=source.text("table-uuid"),
        format_version=source.integer("format-version"),
        location=source.optional_text("location") or "",
        schemas={
            one.integer("schema-id"): _comparable(one.values.get("fields"))
            for one in source.objects("schemas")
        },
        schema_id=source.optional_integer("current-schema-id"),
        spec=_spec([one.values for one in spec[0].objects("fields")]) if spec else None,
        last_sequence_number=source.optional_integer("last-sequence-number") or 0,
        snapshots={
            one.integer("snapshot-id"): (
                one.optional_text("manifest-list") or "",
                (one.optional_texts("summary") or {}).get(IDENTITY),
            )
            for one in (source.objects("snapshots") if source.values.get("snapshots") else [])
        },
        current=None if current == _LAST_ADDED else current,
        tags={
            name: ref.integer("snapshot-id")
            for name, ref in named.items()
            if ref is not None and ref.text("type") == _TAG
        },
        properties=source.optional_texts("properties") or {},
    )


def is_of_another_table(known: CatalogTable, new: IcebergMetadata) -> bool:
    """Return whether none of the snapshots in the catalog is one of the table."""
    folder = plain_path(parent(new.current.manifest_list))
    lists = [manifests for manifests, _ in known.snapshots.values()]
    return bool(lists) and all(plain_path(parent(path)) != folder for path in lists)


def continues(known: CatalogTable, new: IcebergMetadata) -> bool:
    """Return whether the metadata continues the history in the catalog.

    It does not after a rollback, or if the table was dropped and created again.
    """
    if known.format_version > new.format_version:
        return False
    snapshots = {one.id: one.summary.get(IDENTITY) for one in new.snapshots}
    for number, (_, identity) in known.snapshots.items():
        both = (identity, snapshots.get(number))
        if None not in both and both[0] != both[1]:
            return False
    is_known = known.current is None or known.current in snapshots
    is_expired = known.current is not None and known.current < min(snapshots)
    added = [number for number in snapshots if number not in known.snapshots]
    in_order = not added or min(added) > known.last_sequence_number
    same_spec = not known.snapshots or known.spec == _spec(new.partition_fields)
    return (is_known or is_expired) and in_order and same_spec


def creation(known: CatalogTable, new: IcebergMetadata) -> Iterator[Json]:
    """Yield the updates that create a table, before those of `changes`.

    Args:
        known: the table that the catalog is ready to create.
        new: the metadata.
    """
    yield {"action": "assign-uuid", "uuid": known.uuid}
    yield {"action": "upgrade-format-version", "format-version": new.format_version}
    empty: Json = {"type": "struct", "schema-id": 0, "fields": []}
    yield {"action": "add-schema", "schema": empty, "last-column-id": 0}
    yield {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}}
    yield {"action": "set-default-sort-order", "sort-order-id": _LAST_ADDED}
    yield {"action": "set-location", "location": known.location}


def empty_table(known: CatalogTable, new: IcebergMetadata) -> CatalogTable:
    """Return the state of a table after the updates of `creation`."""
    return replace(
        known,
        format_version=new.format_version,
        schemas={0: []},
        schema_id=None,
        spec=None,
        snapshots={},
        current=None,
        tags={},
        properties={},
    )


def changes(
    known: CatalogTable, new: IcebergMetadata, properties: Mapping[str, str], now_ms: int
) -> list[Json]:
    """Return the updates from the state in the catalog to that of the metadata.

    Args:
        known: the table in the catalog.
        new: the metadata, which continues it.
        properties: properties that the table must have.
        now_ms: epoch milliseconds.

    Raises:
        CorruptFileError: the metadata lacks a schema that it refers to.
    """
    found: list[Json] = []
    if new.format_version > known.format_version:
        found.append({"action": "upgrade-format-version", "format-version": new.format_version})
    schema_ids = _add_schemas(known, new, found)
    if schema_ids[new.schema_id] != known.schema_id:
        found.append({"action": "set-current-schema", "schema-id": schema_ids[new.schema_id]})
    if known.spec != _spec(new.partition_fields):
        spec: Json = {"spec-id": 0, "fields": list(new.partition_fields)}
        found.append({"action": "add-spec", "spec": spec})
        found.append({"action": "set-default-spec", "spec-id": _LAST_ADDED})
    found += _snapshot_changes(known, new, schema_ids, now_ms)
    found += _tag_changes(known, new)
    if any(known.properties.get(key) != value for key, value in properties.items()):
        found.append({"action": "set-properties", "updates": dict(properties)})
    return found


def _add_schemas(known: CatalogTable, new: IcebergMetadata, found: list[Json]) -> dict[int, int]:
    """Add the updates for new schemas; return the ids in the catalog by the ids of the table."""
    ids: dict[int, int] = {}
    schemas = dict(known.schemas)
    for schema in new.schemas:
        own = schema.get("schema-id") if isinstance(schema, dict) else None
        if not isinstance(schema, dict) or not isinstance(own, int):
            continue
        fields = _comparable(schema.get("fields"))
        number = next((known_id for known_id, one in schemas.items() if one == fields), None)
        if number is None:
            number = max(schemas, default=-1) + 1
            schemas[number] = fields
            added: Json = {**schema, "schema-id": number}
            last = new.last_column_id
            found.append({"action": "add-schema", "schema": added, "last-column-id": last})
        ids[own] = number
    missing = {new.schema_id, *(one.schema_id for one in new.snapshots)} - {*ids}
    if missing:
        where = parent(new.current.manifest_list)
        raise CorruptFileError(where, "schemas", f"must contain schema {min(missing)}")
    return ids


def _snapshot_changes(
    known: CatalogTable, new: IcebergMetadata, schema_ids: Mapping[int, int], now_ms: int
) -> Iterator[Json]:
    for snapshot in new.snapshots:
        if snapshot.id not in known.snapshots:
            yield {"action": "add-snapshot", "snapshot": _added(snapshot, new, schema_ids, now_ms)}
    if known.current != new.current.id:
        yield {
            "action": "set-snapshot-ref",
            "ref-name": _MAIN,
            "type": "branch",
            "snapshot-id": new.current.id,
        }
    kept = {snapshot.id for snapshot in new.snapshots}
    removed: list[Json] = [number for number in known.snapshots if number not in kept]
    if removed:
        yield {"action": "remove-snapshots", "snapshot-ids": removed}


def _added(
    snapshot: IcebergSnapshot, new: IcebergMetadata, schema_ids: Mapping[int, int], now_ms: int
) -> dict[str, Json]:
    time_ms = snapshot.timestamp_ms
    if snapshot == new.current:
        time_ms = max(time_ms, now_ms - _CLOCK_SKEW_MS)
    schema_id = schema_ids[snapshot.schema_id]
    return snapshot_json(replace(snapshot, timestamp_ms=time_ms, schema_id=schema_id))


def _tag_changes(known: CatalogTable, new: IcebergMetadata) -> Iterator[Json]:
    for name, number in new.tags.items():
        if known.tags.get(name) != number:
            yield {
                "action": "set-snapshot-ref",
                "ref-name": name,
                "type": _TAG,
                "snapshot-id": number,
                "max-ref-age-ms": _FOREVER,
            }
    for name in known.tags:
        if name not in new.tags:
            yield {"action": "remove-snapshot-ref", "ref-name": name}


def _spec(fields: Sequence[object]) -> list[tuple[object, ...]]:
    """Return the fields of a partition spec in a form that can be compared."""
    keys = ("source-id", "field-id", "name", "transform")
    return [tuple(one.get(key) for key in keys) for one in fields if isinstance(one, Mapping)]


def _comparable(value: object) -> Json:
    """Return fields or a type without what servers write in different ways."""
    match value:
        case Mapping() if "name" in value:
            members = {key: value[key] for key in _FIELD_KEYS if value.get(key) is not None}
            return {**members, "type": _comparable(value.get("type"))}
        case Mapping():
            return {str(key): _comparable(one) for key, one in value.items()}
        case list():
            return [_comparable(one) for one in value]
        case str():
            return value.replace(" ", "")
        case _:
            return value if isinstance(value, int) else None
