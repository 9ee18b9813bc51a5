"""The system tables of a whole catalog, in its database `sys`.

Columns that only a catalog server can fill (owner, who changed a table and when) are null.
Spec: concepts/system-tables, global system tables.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import NotFoundError, choices
from paimon_explore.fileio.concurrent_requests import each_at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import PATH, TYPE
from paimon_explore.metastore.catalog_values import TableInfo
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.sanitize import encodable, masked_options
from paimon_explore.table.catalog.catalog_tables import READABLE, table_info
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table, open_stored_table

if TYPE_CHECKING:
    from paimon_explore.metastore.metastore import Metastore

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

Row: TypeAlias = dict[str, object]
RowsOf: TypeAlias = Callable[[Table], list[Row]]
"""Returns the rows of one table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """The part of a catalog that the global system tables use.

    Attributes:
        options: returns the catalog's own options, without secrets.
        metastore: its databases and tables.
    """

    options: Callable[[], Mapping[str, str]]
    metastore: "Metastore"

    def read_tables(self, rows_of: RowsOf) -> Iterator[tuple[str, str, list[Row]]]:
        """Read rows of all tables, those of a database at the same time if they are remote.

        Tables without Paimon's layout, such as format tables, are left out, and so are tables that
        are dropped in the meantime.

        Yields:
            Database, name and rows of each table, in the order of the names.
        """
        for database in self.metastore.databases():
            infos: dict[str, TableInfo] = {}
            for name in sorted(self.metastore.tables(database)):
                with _unless_dropped():
                    info = table_info(self.metastore, Identifier(database=database, table=name))
                    if info.type in READABLE:
                        infos[name] = info
            calls = [partial(_read, info, rows_of) for info in infos.values()]
            storage = next((info.file_io for info in infos.values()), None)
            found = () if storage is None else each_at_once(storage, calls)
            for name, rows in zip(infos, found, strict=True):
                yield database, name, rows


@contextmanager
def _unless_dropped() -> Iterator[None]:
    """Ignore that a table does not exist, because it was dropped after it was listed."""
    try:
        yield
    except NotFoundError as error:
        if error.kind != "table":
            raise


def _read(info: TableInfo, rows_of: RowsOf) -> list[Row]:
    """Open a table and read rows of it."""
    rows: list[Row] = []
    with _unless_dropped():
        rows += rows_of(open_stored_table(info.file_io, info.path, info=info))
    return rows


def global_table(warehouse: Warehouse, name: str) -> RowSource:
    """Return a table of the database `sys`.

    Raises:
        NotFoundError: there is no such table.
    """
    if name not in GLOBAL_TABLES:
        hint = f"Existing tables: {choices(sorted(GLOBAL_TABLES))}."
        raise NotFoundError("table", name, DATABASE, hint=hint)
    schema, _ = GLOBAL_TABLES[name]
    load = partial(_read_global_table, warehouse, name)
    return RowSource(name=f"{DATABASE}.{name}", schema=schema, load=load)


def _read_global_table(warehouse: Warehouse, name: str) -> pa.RecordBatchReader:
    schema, rows = GLOBAL_TABLES[name]
    return pa.Table.from_pylist(rows(warehouse), schema=schema).to_reader()


def _of_tables(rows_of: RowsOf) -> Callable[[Warehouse], list[Row]]:
    """Return a function of the rows of all tables, with the names of the tables."""

    def rows(warehouse: Warehouse) -> list[Row]:
        return [
            {"database_name": encodable(database), "table_name": encodable(name), **row}
            for database, name, found in warehouse.read_tables(rows_of)
            for row in found
        ]

    return rows


def _table(table: Table) -> list[Row]:
    return [
        {
            "table_type": table.options.value(TYPE).value,
            "partitioned": bool(table.schema.partition_keys),
            "primary_key": bool(table.schema.primary_keys),
        }
    ]


def _partitions(table: Table) -> list[Row]:
    if not table.schema.partition_keys:
        return []
    return [
        {
            "partition_name": row["partition"],
            "record_count": row["record_count"],
            "file_size_in_bytes": row["file_size_in_bytes"],
            "file_count": row["file_count"],
            "last_file_creation_time": row["last_update_time"],
            "done": row["done"],
        }
        for row in _with_millis(table.inspect.partitions()).to_pylist()
    ]


def _with_millis(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("last_update_time")
    millis = rows.column(at).cast(pa.int64())
    return rows.set_column(at, pa.field("last_update_time", pa.int64()), millis)


def _table_options(table: Table) -> list[Row]:
    found = masked_options({**table.schema.options, PATH.key: table.path})
    return [{"key": key, "value": value} for key, value in sorted(found.items())]


def _catalog_options(warehouse: Warehouse) -> list[Row]:
    return [
        {"key": key, "value": value}
        for key, value in sorted(masked_options(warehouse.options()).items())
    ]


GLOBAL_TABLES: Mapping[str, tuple[pa.Schema, Callable[[Warehouse], list[Row]]]] = {
    "tables": (TABLES, _of_tables(_table)),
    "all_tables": (TABLES, _of_tables(_table)),
    "partitions": (PARTITIONS, _of_tables(_partitions)),
    "all_partitions": (PARTITIONS, _of_tables(_partitions)),
    "all_table_options": (TABLE_OPTIONS, _of_tables(_table_options)),
    "catalog_options": (CATALOG_OPTIONS, _catalog_options),
}
"""The tables of the database `sys`: columns and rows by name."""
