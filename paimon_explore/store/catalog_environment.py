"""What the catalog of a table contributes to reads and commits.

A table in a folder has no environment: its files alone define it. A catalog may own the schema
(REST), or provide a lock for the creation of snapshot and schema files (JDBC, Hive). One that keeps
the latest snapshot and decides about commits (REST) is also a `VersionManagement`.

Spec: concepts/catalog; the counterpart in Java is `CatalogEnvironment`.

What a table knows of the other tables of its catalog.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol, runtime_checkable

from paimon_explore.encoding.blob.blob_view import BlobView
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema


class CatalogEnvironment(Protocol):
    """The connection of one table to its catalog; can be pickled."""

    @property
    def identifier(self) -> str:
        """The name of the table in the catalog: `database.table`."""

    @property
    def uuid(self) -> str | None:
        """The id of the table in the catalog, if the catalog has one."""

    def lock(self) -> AbstractContextManager[object] | None:
        """Return the lock to hold while a snapshot or schema file is created; None: no lock."""

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        """Change the schema through the catalog; None if the schema file is written by the caller.

        Args:
            branch: the branch.
            changes: the changes, which the caller has checked.
        """

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        """Tell the catalog about the new schema that the caller wrote."""


@runtime_checkable
class PartitionEnvironment(CatalogEnvironment, Protocol):
    """The connection to a catalog that keeps the partitions of tables, such as Hive.

    Tables ask for it by `metastore.partitioned-table` or `metastore.tag-to-partition`. A partition
    is the text of all its columns, in their order.
    """

    def add_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Add partitions to the catalog; existing ones remain."""

    def drop_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Remove partitions from the catalog; their files remain."""


@runtime_checkable
class PartitionDoneEnvironment(CatalogEnvironment, Protocol):
    """The connection to a catalog that can be told that partitions are complete."""

    def mark_partitions_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Mark partitions as complete."""


class SiblingTables(Protocol):
    """The tables of a catalog; can be pickled."""

    def blobs(self, views: Sequence[BlobView], *, as_descriptor: bool) -> Mapping[BlobView, object]:
        """Return the BLOBs that references refer to, or their descriptors.

        Raises:
            NotFoundError: there is no such table, column or row.
        """
