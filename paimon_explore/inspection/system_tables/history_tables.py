"""`$snapshots`, `$schemas`, `$options`, `$tags`, `$branches`, `$consumers`, `$statistics`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeAlias, TypeVar

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.formatter import field_to_json
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.system_tables import file_tables
from paimon_explore.inspection.system_tables.system_table_cells import compact_json
from paimon_explore.inspection.system_tables.table_state import TableState
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.statistics_file import encode_statistics
from paimon_explore.sanitize import encodable, masked, masked_options
from paimon_explore.store.references import Consumers, Tags
from paimon_explore.store.table_store import TableStore

_File = TypeVar("_File")
_Row: TypeAlias = dict[str, object]

MILLIS = pa.timestamp("ms")

SNAPSHOTS = schema_from_text(
    "snapshot_id int64 not null, schema_id int64 not null, commit_user string not null, "
    "commit_identifier int64 not null, commit_kind string not null, "
    "commit_time timestamp[ms] not null, base_manifest_list string not null, "
    "delta_manifest_list string not null, changelog_manifest_list string, "
    "total_record_count int64, delta_record_count int64, changelog_record_count int64, "
    "watermark int64, next_row_id int64, operation string, writer_version string"
)

SCHEMAS = schema_from_text(
    "schema_id int64 not null, fields string not null, partition_keys string not null, "
    "primary_keys string not null, options string not null, comment string, "
    "update_time timestamp[ms] not null"
)

OPTIONS = schema_from_text("key string not null, value string not null")

TAGS = schema_from_text(
    "tag_name string not null, snapshot_id int64 not null, schema_id int64 not null, "
    "commit_time timestamp[ms] not null, record_count int64, create_time timestamp[ms], "
    "time_retained string"
)

BRANCHES = schema_from_text("branch_name string not null, create_time timestamp[ms] not null")

CONSUMERS = schema_from_text("consumer_id string not null, next_snapshot_id int64 not null")

STATISTICS = schema_from_text(
    "snapshot_id int64 not null, schema_id int64 not null, mergedRecordCount int64, "
    "mergedRecordSize int64, colstat string"
)


def _selected(
    state: TableState,
    schema: pa.Schema,
    files: Iterable[tuple[int | str, _File]],
    read: Callable[[Sequence[_File]], Iterable[_Row | None]],
) -> pa.Table:
    """The rows of small files, of which only those are read that may be selected.

    Args:
        state: with the selection.
        schema: of the table; its first column is the key.
        files: by key; none is read if only the keys are needed.
        read: returns the rows of some files; None for one that was deleted meanwhile.
    """
    found = list(files)
    wanted = state.selection.pushed([schema.names[0]])
    first = schema.field(0)
    keys = pa.table([pa.array([key for key, _ in found], first.type)], schema=pa.schema([first]))
    narrowed = state.selection.narrowed(schema)
    if narrowed == keys.schema:
        return wanted.rows(keys)
    chosen = [found[at][1] for at in replace(wanted, limit=None).positions(keys).tolist()]
    left = len(chosen) if wanted.limit is None else wanted.limit
    rows: list[_Row] = []
    while part := chosen[:left]:
        chosen = chosen[left:]
        known = [row for row in read(part) if row is not None]
        rows, left = rows + known, left - len(known)
    return pa.Table.from_pylist(rows, schema=narrowed)


def _selected_names(
    state: TableState,
    schema: pa.Schema,
    names: Iterable[str],
    load: Callable[[str], _Row | None],
) -> pa.Table:
    """The rows of files that are known by name."""

    def read(part: Sequence[str]) -> Iterable[_Row | None]:
        return at_once(state.store.file_io, [partial(load, name) for name in part])

    return _selected(state, schema, ((encodable(name), name) for name in names), read)


def snapshots(state: TableState) -> pa.Table:
    """One row per snapshot, by id."""
    store = state.store.snapshots
    files = ((one[0], one) for one in store.files().items())
    return _selected(state, SNAPSHOTS, files, lambda part: map(_snapshot, store.read_files(part)))


def _snapshot(snapshot: Snapshot) -> _Row:
    others = {
        "snapshot_id": snapshot.id,
        "commit_kind": snapshot.commit_kind.value,
        "commit_time": local_millis(snapshot.time_millis),
    }
    same = [name for name in SNAPSHOTS.names if name not in others]
    return {**others, **{name: getattr(snapshot, name) for name in same}}


def schemas(state: TableState) -> pa.Table:
    """One row per schema, by id."""
    store = state.store.schemas
    files = ((one[0], one) for one in store.files().items())
    return _selected(state, SCHEMAS, files, lambda part: map(_schema, store.read_files(part)))


def _schema(schema: TableSchema) -> _Row:
    return {
        "schema_id": schema.id,
        "fields": masked(compact_json([field_to_json(field) for field in schema.fields])),
        "partition_keys": compact_json(list(schema.partition_keys)),
        "primary_keys": compact_json(list(schema.primary_keys)),
        "options": compact_json(masked_options(schema.options)),
        "comment": None if schema.comment is None else masked(schema.comment),
        "update_time": local_millis(schema.time_millis),
    }


def options(state: TableState) -> pa.Table:
    """One row per option of the schema; secret values are masked."""
    given = masked_options(state.schema.options)
    rows = [{"key": key, "value": value} for key, value in sorted(given.items())]
    return pa.Table.from_pylist(rows, schema=OPTIONS)


def tags(state: TableState) -> pa.Table:
    """One row per tag, by name."""
    store = state.store.tags
    return _selected_names(state, TAGS, store.names(), partial(_tag, store))


def _tag(store: Tags, name: str) -> _Row | None:
    tag = store.find(name)
    if tag is None:
        return None
    retained = tag.time_retained
    return {
        "tag_name": encodable(name),
        "snapshot_id": tag.snapshot.id,
        "schema_id": tag.snapshot.schema_id,
        "commit_time": local_millis(tag.snapshot.time_millis),
        "record_count": tag.snapshot.total_record_count,
        "create_time": tag.create_time,
        "time_retained": None if retained is None else iso_duration(retained),
    }


def iso_duration(length: timedelta) -> str:
    """Format a duration as Java does: hours, minutes and seconds, without days.

    >>> iso_duration(timedelta(days=2, minutes=3)), iso_duration(timedelta(seconds=1.5))
    ('PT48H3M', 'PT1.5S')
    """
    hours, rest = divmod(length.days * 86_400 + length.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0") if length.microseconds else ""
    text = f"{hours}H" if hours else ""
    text += f"{minutes}M" if minutes else ""
    text += f"{seconds}{fraction}S" if seconds or fraction or not text else ""
    return f"PT{text}"


def branches(state: TableState) -> pa.Table:
    """One row per branch except main, with its creation time."""
    names = state.store.branches.names()
    return _selected_names(state, BRANCHES, names, partial(_branch, state.store))


def _branch(store: TableStore, name: str) -> _Row:
    """The branch with the time of its first schema; object stores have no folder times."""
    own = store.for_branch(name)
    modified = own.schemas.first_modified_ms()
    if modified is None:
        modified = own.file_io.status(own.paths.branch_root).modified_ms
    return {"branch_name": encodable(name), "create_time": local_millis(modified)}


def consumers(state: TableState) -> pa.Table:
    """One row per consumer, by id."""
    store = state.store.consumers
    return _selected_names(state, CONSUMERS, store.ids(), partial(_consumer, store))


def _consumer(store: Consumers, name: str) -> _Row | None:
    found = store.find(name)
    if found is None:
        return None
    return {"consumer_id": encodable(name), "next_snapshot_id": found.next_snapshot}


def statistics(state: TableState) -> pa.Table:
    """The statistics of the last ANALYZE that are still valid; empty without any."""
    snapshot = state.snapshot
    if snapshot is None or snapshot.statistics is None:
        return STATISTICS.empty_table()
    found = state.store.statistics.load(snapshot.statistics)
    columns = json.loads(encode_statistics(found)).get("colStats", {})
    row = {
        "snapshot_id": found.snapshot_id,
        "schema_id": found.schema_id,
        "mergedRecordCount": found.merged_record_count,
        "mergedRecordSize": found.merged_record_size,
        "colstat": json.dumps(columns, ensure_ascii=False, indent=2, separators=(",", " : ")),
    }
    return pa.Table.from_pylist([row], schema=STATISTICS)


@dataclass(frozen=True, slots=True)
class SystemTable:
    """A metadata system table.

    Attributes:
        schema: the columns.
        rows: computes the rows.
    """

    schema: pa.Schema
    rows: Callable[[TableState], pa.Table]


SYSTEM_TABLES: Mapping[str, SystemTable] = {
    "aggregation_fields": SystemTable(
        file_tables.AGGREGATION_FIELDS, file_tables.aggregation_fields
    ),
    "branches": SystemTable(BRANCHES, branches),
    "buckets": SystemTable(file_tables.BUCKETS, file_tables.buckets),
    "consumers": SystemTable(CONSUMERS, consumers),
    "file_indexes": SystemTable(file_tables.FILE_INDEXES, file_tables.file_indexes),
    "file_key_ranges": SystemTable(file_tables.FILE_KEY_RANGES, file_tables.file_key_ranges),
    "files": SystemTable(file_tables.FILES, file_tables.files),
    "manifests": SystemTable(file_tables.MANIFESTS, file_tables.manifests),
    "options": SystemTable(OPTIONS, options),
    "partitions": SystemTable(file_tables.PARTITIONS, file_tables.partitions),
    "schemas": SystemTable(SCHEMAS, schemas),
    "snapshots": SystemTable(SNAPSHOTS, snapshots),
    "statistics": SystemTable(STATISTICS, statistics),
    "table_indexes": SystemTable(file_tables.TABLE_INDEXES, file_tables.table_indexes),
    "tags": SystemTable(TAGS, tags),
}
"""The metadata system tables by name."""

KEYED = frozenset({"branches", "consumers", "schemas", "snapshots", "tags"})
"""Tables of which all values of the first column are known without reading a file."""
