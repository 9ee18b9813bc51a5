"""The system tables of a whole catalog, in its database `sys`.

Columns that only a catalog server can fill (owner, who changed a table and when) are null.
Spec: concepts/system-tables, global system tables.
"""

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import PATH, TYPE
from paimon_explore.sanitize import encodable, masked_options
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table

DATABASE = "sys"

_WHERE = "database_name string, table_name string"

TABLES = schema_from_text(
    _WHERE,
    "table_type string, partitioned bool, primary_key bool, owner string, created_at int64, "
    "created_by string, updated_at int64, updated_by string, record_count int64, "
    "file_size_in_bytes int64, file_count int64, last_file_creation_time int64",
)

PARTITIONS = schema_from_text(
    _WHERE,
    "partition_name string, record_count int64, file_size_in_bytes int64, file_count int64, "
    "last_file_creation_time int64, done bool",
)

_KEY_VALUE = "key string, value string"
TABLE_OPTIONS = schema_from_text(_WHERE, _KEY_VALUE)
CATALOG_OPTIONS = schema_from_text(_KEY_VALUE)

Row = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """The part of a catalog that the global system tables use.

    Attributes:
        options: returns the catalog's own options, without secrets.
        opened: opens all tables, with their database and name.
    """

    options: Callable[[], Mapping[str, str]]
    opened: Callable[[], Iterable[tuple[str, str, Table]]]


def global_table(warehouse: Warehouse, name: str) -> RowSource:
    """Return a table of the database `sys`.

    Raises:
        NotFoundError: there is no such table.
    """
    if name not in GLOBAL_TABLES:
        hint = f"Existing tables: {choices(sorted(GLOBAL_TABLES))}."
        raise NotFoundError("table", name, DATABASE, hint=hint)
    schema, rows = GLOBAL_TABLES[name]
    return RowSource(
        name=f"{DATABASE}.{name}",
        schema=schema,
        load=lambda: pa.Table.from_pylist(rows(warehouse), schema=schema).to_reader(),
    )


def _tables(warehouse: Warehouse) -> list[Row]:
    return [
        {
            "database_name": encodable(database),
            "table_name": encodable(name),
            "table_type": table.options.value(TYPE).value,
            "partitioned": bool(table.schema.partition_keys),
            "primary_key": bool(table.schema.primary_keys),
        }
        for database, name, table in warehouse.opened()
    ]


def _partitions(warehouse: Warehouse) -> list[Row]:
    return [
        {
            "database_name": encodable(database),
            "table_name": encodable(name),
            "partition_name": row["partition"],
            "record_count": row["record_count"],
            "file_size_in_bytes": row["file_size_in_bytes"],
            "file_count": row["file_count"],
            "last_file_creation_time": row["last_update_time"],
            "done": row["done"],
        }
        for database, name, table in warehouse.opened()
        if table.schema.partition_keys
        for row in _with_millis(table.inspect.partitions()).to_pylist()
    ]


def _with_millis(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("last_update_time")
    millis = rows.column(at).cast(pa.int64())
    return rows.set_column(at, pa.field("last_update_time", pa.int64()), millis)


def _table_options(warehouse: Warehouse) -> list[Row]:
    return [
        {
            "database_name": encodable(database),
            "table_name": encodable(name),
            "key": key,
            "value": value,
        }
        for database, name, table in warehouse.opened()
        for key, value in _options(table)
    ]


def _options(table: Table) -> list[tuple[str, str]]:
    return sorted(masked_options({**table.schema.options, PATH.key: table.path}).items())


def _catalog_options(warehouse: Warehouse) -> list[Row]:
    return [
        {"key": key, "value": value}
        for key, value in sorted(masked_options(warehouse.options()).items())
    ]


GLOBAL_TABLES: Mapping[str, tuple[pa.Schema, Callable[[Warehouse], list[Row]]]] = {
    "tables": (TABLES, _tables),
    "all_tables": (TABLES, _tables),
    "partitions": (PARTITIONS, _partitions),
    "all_partitions": (PARTITIONS, _partitions),
    "all_table_options": (TABLE_OPTIONS, _table_options),
    "catalog_options": (CATALOG_OPTIONS, _catalog_options),
}
"""The tables of the database `sys`: columns and rows by name."""
