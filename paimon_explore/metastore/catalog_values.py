"""What a catalog knows of its databases and tables, as values; which types of tables it creates.

Java's filesystem and JDBC catalogs refuse format tables and object tables; REST servers and Hive
metastores have format tables.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import TableKind
from paimon_explore.metadata.options.table_options import PATH, TYPE, TableOptions
from paimon_explore.metadata.schema.storage_validation import managed_blobs
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment, SiblingTables

PAIMON_TABLES = frozenset({TableKind.TABLE, TableKind.MATERIALIZED_TABLE})
"""Types of tables that have snapshots."""
OWN_OPTIONS = frozenset({"path", "owner"})
"""Options that a table registered in a catalog has besides those of its folder."""

_CREATION_PAUSES_S = (0.05, 0.1, 0.2, 0.4)
"""Pauses while another client may register the table whose schema it has written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseInfo:
    """A database.

    Attributes:
        name: its name.
        location: the folder of its tables, if it has one.
        comment: its comment.
        properties: other properties.
    """

    name: str
    location: str | None = None
    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """Where a table is, and how it is read and committed to.

    Attributes:
        path: the folder of the table.
        file_io: the storage of the table, with its credentials.
        environment: the connection of the table to the catalog; None for a table in a folder.
        schema: the latest schema, if the catalog returned it; else it is read from the folder.
        uuid: the id of the table in the catalog, if it has one.
        is_external: whether dropping the table keeps its files.
        type: the kind of table: `table`, `format-table`, `object-table`, …
        options: options that the catalog adds to those of the schema.
        siblings: the other tables of the catalog.
    """

    path: str
    file_io: FileIO
    environment: "CatalogEnvironment | None" = None
    schema: TableSchema | None = None
    uuid: str | None = None
    is_external: bool = False
    type: str = "table"
    options: Mapping[str, str] = field(default_factory=dict)
    siblings: "SiblingTables | None" = field(default=None, repr=False, compare=False)


def check_paimon_table(wanted: Identifier, schema: TableSchema, where: str) -> None:
    """Check that a new table has snapshots.

    Args:
        wanted: its name.
        schema: its schema.
        where: who creates it, for the error.

    Raises:
        UnsupportedFeatureError: it is a format table, an object table or one of another type.
    """
    kind = TableOptions(schema.options).value(TYPE)
    if kind not in PAIMON_TABLES:
        is_format = kind is TableKind.FORMAT_TABLE
        raise UnsupportedFeatureError(
            f"creating a table of type {kind.value!r} {where}",
            wanted.full_name,
            hint="Use create_format_table of a REST or Hive catalog." if is_format else "",
        )


def check_placed(wanted: Identifier, schema: TableSchema, where: str) -> None:
    """Check that a new table asks for no folder: a catalog without external tables chooses it.

    Args:
        wanted: its name.
        schema: its schema.
        where: who creates it, for the error.

    Raises:
        UnsupportedFeatureError: it has the option `path`.
    """
    if PATH.key in schema.options:
        raise UnsupportedFeatureError(
            f"a table with the option {PATH.key!r} {where}",
            wanted.full_name,
            hint="Omit the option: the catalog chooses the folder. REST catalogs and Hive "
            "metastores have external tables; open_table() opens a folder.",
        )


def is_soon_registered(exists: Callable[[], bool]) -> bool:
    """Return whether a table whose folder exists is one that another client is creating.

    Args:
        exists: whether the catalog has the table.
    """
    for pause_s in _CREATION_PAUSES_S:
        if exists():
            return True
        time.sleep(pause_s)
    return exists()


def check_empty(database: str, tables: Sequence[str], way: str = "pass cascade=True") -> None:
    """Check that a database to drop has no tables.

    Args:
        database: its name.
        tables: the names of its tables.
        way: how it can be dropped with its tables, for the error.

    Raises:
        InvalidInputError: it has tables.
    """
    if tables:
        raise InvalidInputError(
            f"Database {database!r} is not empty; it contains the tables {choices(tables)}.",
            hint=f"Drop the tables first, or {way}.",
        )


def check_movable(file_io: FileIO, folder: str) -> None:
    """Check that a table can be moved: its rows name no files in its own folder.

    Args:
        file_io: the storage of the table.
        folder: the folder of the table; nothing is checked if there is no table.

    Raises:
        UnsupportedFeatureError: a primary-key table has BLOBs in managed files.
    """
    main = TableStore(file_io, TablePaths(folder))
    for store in (main, *map(main.for_branch, main.branches.names())):
        for schema in map(store.schemas.load, store.schemas.ids()):
            for name in managed_blobs(schema, TableOptions(schema.options)):
                raise UnsupportedFeatureError(
                    f"renaming a primary-key table with the BLOB column {name!r}, whose "
                    "descriptors refer to files in the table's folder,",
                    folder,
                    hint="Create a table of the new name, and write INSERT INTO target SELECT * "
                    "FROM source.",
                )


def check_same_schema(found: TableSchema, given: TableSchema, folder: str) -> None:
    """Check the schema of a new external table against that of the table in its folder.

    Raises:
        InvalidInputError: they differ.
    """
    same = (
        [(field.name, field.type) for field in found.fields]
        == [(field.name, field.type) for field in given.fields]
        and given.partition_keys in ((), found.partition_keys)
        and given.primary_keys in ((), found.primary_keys)
    )
    if not same:
        raise InvalidInputError(
            f"The folder {folder} contains a table with other columns or keys.",
            hint="Create the external table with the schema of the existing one.",
        )
    for key, value in given.options.items():
        if key not in OWN_OPTIONS and found.options.get(key) != value:
            raise InvalidInputError(
                f"Option {key!r} of the new table differs from that of the table in {folder}.",
                hint="Omit the option, and change it after the table is created.",
            )


def properties_of(schema: TableSchema) -> dict[str, str]:
    """Return the options of a schema, with its keys as options, as catalogs record them."""
    keys = {
        "primary-key": schema.primary_keys,
        "partition": schema.partition_keys,
        "bucket-key": schema.bucket_keys,
    }
    return {**schema.options, **{key: ",".join(names) for key, names in keys.items() if names}}
