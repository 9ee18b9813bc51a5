"""The environment of a table whose catalog provides a lock and copies of the schema's options."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.local import LocalFileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metastore.identifier import Identifier


class LockingMetastore(Protocol):
    """A metastore with locks; can be pickled."""

    def commit_lock(self, wanted: Identifier) -> AbstractContextManager[object] | None:
        """Return the lock of a table for commits; None if locks are not enabled."""

    def record_schema(self, wanted: Identifier, schema: TableSchema) -> None:
        """Record the new schema of a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockEnvironment:
    """The environment of one table.

    Attributes:
        metastore: the catalog.
        wanted: the table.
        uuid: the id of the table in the catalog, if it has one.
    """

    metastore: LockingMetastore
    wanted: Identifier
    uuid: str | None = None

    @property
    def identifier(self) -> str:
        """The name of the table."""
        return self.wanted.full_name

    def lock(self) -> AbstractContextManager[object] | None:
        """Return the lock of the table."""
        return self.metastore.commit_lock(self.wanted)

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        """Return None: the schema file is written by the caller."""
        del branch, changes
        return None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        """Record the new schema of branch main."""
        if branch == MAIN_BRANCH:
            self.metastore.record_schema(self.wanted, schema)


def with_locked_creation(file_io: FileIO) -> FileIO:
    """Return the storage for tables whose commits hold a lock; see `ObjectStoreFileIO.locked`."""
    if isinstance(file_io, LocalFileIO):
        return file_io
    from paimon_explore.fileio.object_store import ObjectStoreFileIO  # noqa: PLC0415 - slow import

    return replace(file_io, locked=True) if isinstance(file_io, ObjectStoreFileIO) else file_io
