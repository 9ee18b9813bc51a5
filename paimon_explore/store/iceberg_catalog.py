"""What a table knows of the catalog in which its Iceberg metadata is registered."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedTable:
    """A table with Iceberg metadata.

    Attributes:
        root: its folder.
        name: its name in its own catalog, `database.table`; None for a table in a folder.
        folder: the folder of the Iceberg metadata.
        schema: the latest schema.
        options: the effective options.
    """

    root: str
    name: str | None
    folder: str
    schema: TableSchema
    options: TableOptions


NewestMetadata: TypeAlias = Callable[[], tuple[str, bytes] | None]
"""Reads the path, with the prefix of paths in the metadata, and the contents of the newest file.

None: another commit or a rollback is at work, which registers."""


class IcebergCatalog(Protocol):
    """A catalog of Iceberg tables, as the commits of one table see it."""

    @property
    def place(self) -> str:
        """The table and the server, for messages."""

    def register(self, newest: NewestMetadata) -> None:
        """Make the newest metadata the current state of the table, which is created if missing.

        Another commit may register at the same time: the metadata is read after the state of the
        catalog, so that an older file never replaces a newer one.

        Args:
            newest: reads the newest metadata file.

        Raises:
            PaimonError: the catalog cannot be reached, or refuses the table.
        """


OpenIcebergCatalog: TypeAlias = Callable[[ExportedTable], IcebergCatalog]
"""Opens the catalog that the options of a table select, without a request.

Raises PaimonError: an option is missing or wrong, or asks for what is not supported.
"""
