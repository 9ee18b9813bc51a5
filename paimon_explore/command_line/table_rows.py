"""Metadata as Arrow tables for the listings of the command line; secrets are masked."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import PaimonError
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sanitize import masked, masked_options
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.table import Table

_TABLES = schema_from_text(
    "database string, table string, snapshot int64, stored_rows int64, primary_key string, "
    "partition_by string, comment string, error string"
)
_COLUMNS = schema_from_text(
    "id int32, name string, type string, key string, default string, comment string"
)
_OPTIONS = pa.schema((pa.field("option", pa.string()), pa.field("value", pa.string())))


def table_rows(catalog: Catalog, names: Sequence[tuple[str, str]]) -> pa.RecordBatchReader:
    """Return one row for each table, as they are opened; one that cannot be read has an error."""

    def batches() -> Iterator[pa.RecordBatch]:
        for database, name in names:
            row: dict[str, object] = {"database": database, "table": name}
            try:
                row |= _facts(catalog.table(f"{database}.{name}"))
            except PaimonError as error:
                row["error"] = str(error)
            yield pa.RecordBatch.from_pylist([row], schema=_TABLES)

    return pa.RecordBatchReader.from_batches(_TABLES, batches())


def _facts(table: Table) -> dict[str, object]:
    schema, snapshot = table.schema, table.snapshot
    return {
        "snapshot": None if snapshot is None else snapshot.id,
        "stored_rows": None if snapshot is None else snapshot.total_record_count,
        "primary_key": ", ".join(schema.primary_keys) or None,
        "partition_by": ", ".join(schema.partition_keys) or None,
        "comment": None if schema.comment is None else masked(schema.comment),
    }


def column_rows(schema: TableSchema) -> pa.Table:
    """Return one row for each column of a schema."""
    keys = dict.fromkeys(schema.partition_keys, "partition")
    for name in schema.primary_keys:
        keys[name] = "primary, partition" if name in keys else "primary"
    rows = [
        {
            "id": field.id,
            "name": field.name,
            "type": type_text(field.type),
            "key": keys.get(field.name),
            "default": field.default_value,
            "comment": None if field.description is None else masked(field.description),
        }
        for field in schema.fields
    ]
    return pa.Table.from_pylist(rows, schema=_COLUMNS)


def option_rows(schema: TableSchema) -> pa.Table:
    """Return one row for each stored option of a schema."""
    rows = [{"option": k, "value": v} for k, v in sorted(masked_options(schema.options).items())]
    return pa.Table.from_pylist(rows, schema=_OPTIONS)
