"""Metadata as Arrow tables for the listings of the command line; secrets are masked."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import build_fixed, string_array
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
    texts = [
        (
            field.name,
            type_text(field.type),
            keys.get(field.name),
            field.default_value,
            None if field.description is None else masked(field.description),
        )
        for field in schema.fields
    ]
    ids = build_fixed(pa.int32(), np.array([field.id for field in schema.fields], np.int32))
    columns = [string_array([row[at] for row in texts]) for at in range(len(_COLUMNS) - 1)]
    return pa.Table.from_arrays([ids, *columns], schema=_COLUMNS)


def option_rows(schema: TableSchema) -> pa.Table:
    """Return one row for each stored option of a schema."""
    options = masked_options(schema.options)
    keys = sorted(options)
    columns = [string_array(keys), string_array([options[key] for key in keys])]
    return pa.Table.from_arrays(columns, schema=_OPTIONS)
