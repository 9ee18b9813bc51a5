"""`$manifests`, `$table_indexes`, `$aggregation_fields`."""

from collections.abc import Mapping

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.formatter import type_text
from paimon_explore.inspection.system_tables.arrow_tables import Values, table_of
from paimon_explore.inspection.system_tables.system_table_cells import row_texts
from paimon_explore.inspection.system_tables.table_state import TableState
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.sanitize import masked
from paimon_explore.scan.manifest_arrays import binary, column

MANIFESTS = pa.schema(
    (
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("num_added_files", pa.int64(), nullable=False),
        pa.field("num_deleted_files", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("min_partition_stats", pa.string()),
        pa.field("max_partition_stats", pa.string()),
        pa.field("min_row_id", pa.int64()),
        pa.field("max_row_id", pa.int64()),
    )
)

DV_RANGE = pa.struct(
    [
        pa.field("f0", pa.string(), nullable=False),
        pa.field("f1", pa.int32(), nullable=False),
        pa.field("f2", pa.int32(), nullable=False),
        pa.field("_CARDINALITY", pa.int64()),
    ]
)

TABLE_INDEXES = pa.schema(
    (
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("index_type", pa.string(), nullable=False),
        pa.field("file_name", pa.string(), nullable=False),
        pa.field("file_size", pa.int64(), nullable=False),
        pa.field("row_count", pa.int64(), nullable=False),
        pa.field("dv_ranges", pa.list_(DV_RANGE)),
        pa.field("row_range_start", pa.int64()),
        pa.field("row_range_end", pa.int64()),
        pa.field("index_field_id", pa.int32()),
        pa.field("index_field_name", pa.string()),
    )
)

AGGREGATION_FIELDS = pa.schema(
    (
        pa.field("field_name", pa.string(), nullable=False),
        pa.field("field_type", pa.string(), nullable=False),
        pa.field("function", pa.string()),
        pa.field("function_options", pa.string()),
        pa.field("comment", pa.string()),
    )
)


def manifests(state: TableState) -> pa.Table:
    """One row per manifest of base, delta and changelog list."""
    if state.snapshot is None:
        return MANIFESTS.empty_table()
    lists = state.store.manifests
    found = [lists.all(state.snapshot), lists.changelog(state.snapshot)]
    table = ManifestFiles.concat(found).table
    row_type = state.schema.partition_type
    ranges = {
        f"{end}_partition_stats": row_texts(
            binary(table, f"partition_{end}"), row_type, where="_PARTITION_STATS"
        )
        for end in ("min", "max")
    }
    same = {name: table.column(name) for name in MANIFESTS.names if name not in ranges}
    return table_of(MANIFESTS, {**same, **ranges})


def table_indexes(state: TableState) -> pa.Table:
    """One row per index file: hash indexes, deletion vectors, global indexes."""
    if state.snapshot is None or state.snapshot.index_manifest is None:
        return TABLE_INDEXES.empty_table()
    entries = state.store.manifests.index(state.snapshot.index_manifest)
    partitions = row_texts(
        binary(entries.table, "partition"), state.schema.partition_type, where="_PARTITION"
    )
    covered = [_members(value) for value in as_python(column(entries.table, "global_index"))]
    ids = [found.get("index_field_id") for found in covered]
    names: dict[object, str] = {field.id: field.name for field in state.schema.fields}
    columns: dict[str, Values] = {
        "partition": partitions,
        **{n: entries.column(n) for n in TABLE_INDEXES.names[1:6]},
        "dv_ranges": [_ranges(listed) for listed in as_python(column(entries.table, "dv_ranges"))],
        "row_range_start": [found.get("row_range_start") for found in covered],
        "row_range_end": [found.get("row_range_end") for found in covered],
        "index_field_id": ids,
        "index_field_name": [names.get(i) for i in ids],
    }
    return table_of(TABLE_INDEXES, columns)


def _members(value: object) -> Mapping[str, object]:
    """The fields of a struct; empty for null."""
    return value if isinstance(value, dict) else {}


def _ranges(listed: object) -> list[dict[str, object]] | None:
    if not isinstance(listed, list):
        return None
    return [
        {
            "f0": found["data_file"],
            "f1": found["offset"],
            "f2": found["length"],
            "_CARDINALITY": found["cardinality"],
        }
        for found in map(_members, listed)
    ]


def aggregation_fields(state: TableState) -> pa.Table:
    """One row per column with its aggregate function and the options that name one."""
    rows = []
    for field in state.schema.fields:
        prefix = f"fields.{field.name}."
        given = {k: v for k, v in state.options.items() if k.startswith(prefix)}
        rows.append(
            {
                "field_name": field.name,
                "field_type": type_text(field.type),
                "function": f"[{', '.join(given.values())}]",
                "function_options": f"[{', '.join(given)}]",
                "comment": None if field.description is None else masked(field.description),
            }
        )
    return pa.Table.from_pylist(rows, schema=AGGREGATION_FIELDS)
