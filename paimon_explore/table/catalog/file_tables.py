"""Opens tables that consist of plain files: format tables and object tables."""

from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_explore.errors import InvalidInputError
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.row_reader import RowSource

if TYPE_CHECKING:
    from paimon_explore.table.file_tables.format_table import FormatTable


def open_file_table(catalog: Catalog, name: str) -> "FormatTable | RowSource | None":
    """Open a format table, or an object table as rows; None if the table is neither."""
    for opener in (catalog.format_table, catalog.object_table):
        with suppress(InvalidInputError):
            return opener(name)
    return None
