"""The other tables of a table's catalog, to which its BLOB columns refer (`blob-view-field`)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.identifier import Identifier, parse_identifier
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.table import open_stored_table
from paimon_explore.table.table_base import store_of

if TYPE_CHECKING:
    from paimon_explore.encoding.blob.blob_view import BlobView
    from paimon_explore.metastore.catalog_values import TableInfo
    from paimon_explore.metastore.metastore import Metastore


@dataclass(frozen=True, slots=True)
class CatalogTables:
    """The tables of a catalog; implements `SiblingTables`.

    Attributes:
        metastore: the catalog.
    """

    metastore: "Metastore"

    def blobs(
        self, views: "Sequence[BlobView]", *, as_descriptor: bool
    ) -> "Mapping[BlobView, object]":
        """Return the BLOBs that references refer to; see `referenced_blobs`."""
        from paimon_explore.table.catalog.blob_views import referenced_blobs

        return referenced_blobs(views, self._store_of, as_descriptor=as_descriptor)

    def _store_of(self, name: str) -> TableStore:
        wanted = parse_identifier(name)
        info = table_info(self.metastore, wanted)
        return store_of(open_stored_table(info.file_io, info.path, wanted.branch, info=info))


READABLE = frozenset({"table", "materialized-table"})
"""Values of the option `type` of tables that have Paimon's layout."""


def table_info(metastore: "Metastore", wanted: Identifier) -> "TableInfo":
    """Return what a catalog knows of a table, with the other tables of the catalog."""
    return replace(metastore.table(wanted), siblings=CatalogTables(metastore))
