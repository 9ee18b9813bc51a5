"""What a catalog knows of its databases and tables, as values; which types of tables it creates.

Java's filesystem and JDBC catalogs refuse format tables and object tables; REST servers and Hive
metastores have format tables.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import TableKind
from paimon_explore.metadata.options.table_options import TYPE, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.identifier import Identifier

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment, SiblingTables

PAIMON_TABLES = frozenset({TableKind.TABLE, TableKind.MATERIALIZED_TABLE})
"""Types of tables that have snapshots."""


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
        raise UnsupportedFeatureError(
            f"creating a table of type {kind.value!r} {where}",
            wanted.full_name,
            hint="Create a format table by create_format_table of a REST or Hive catalog.",
        )
