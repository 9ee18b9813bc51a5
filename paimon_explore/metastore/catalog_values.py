"""What a catalog knows of its databases and tables, as values."""

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema

if TYPE_CHECKING:
    from paimon_explore.store.catalog_environment import CatalogEnvironment, SiblingTables


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
