"""`HiveEnvironment`: what a Hive metastore contributes to the commits of one table.

Snapshot and schema files are created while the lock of the metastore is held (`lock.enabled`). A
new schema, new partitions (`metastore.partitioned-table`) and tags (`metastore.tag-to-partition`)
are sent to the metastore, for engines that read the table through Hive.
"""

from collections.abc import Mapping, Sequence

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.metastore.hive.hive_lock import HiveLock
from paimon_explore.metastore.hive.hive_partitions import (
    add_partitions,
    drop_partitions,
    mark_done,
)
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.store.table_store import TableStore

_MAX_KNOWN = 300


class HiveEnvironment:
    """The connection of a table to a Hive metastore; can be pickled.

    Args:
        tables: the tables of the metastore.
        wanted: the table and branch.
        uuid: the id of the table.
        file_io: its storage.
        path: its folder.
    """

    def __init__(
        self, tables: HiveTables, wanted: Identifier, uuid: str | None, file_io: FileIO, path: str
    ) -> None:
        self._tables = tables
        self._wanted = wanted
        self._uuid = uuid
        self._file_io = file_io
        self._path = path
        self._known: dict[tuple[str, ...], None] = {}

    def __eq__(self, other: object) -> bool:
        """Whether it is the same table of the same metastore."""
        return isinstance(other, HiveEnvironment) and self._identity == other._identity

    def __hash__(self) -> int:
        """Of what is compared."""
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return (self._tables.client.settings, self._wanted, self._uuid, self._path)

    @property
    def identifier(self) -> str:
        """The name of the table: `database.table`."""
        return f"{self._wanted.database}.{self._wanted.table}"

    @property
    def uuid(self) -> str | None:
        """The id of the table: its name and creation time."""
        return self._uuid

    def lock(self) -> HiveLock | None:
        """Return the lock of the table; None if locks are not enabled."""
        return self._tables.lock(self._wanted)

    def alter_schema(self, branch: str, changes: Sequence[SchemaChange]) -> TableSchema | None:
        """Return None: the schema is a file in the table's folder."""
        del branch, changes
        return None

    def schema_changed(self, branch: str, schema: TableSchema) -> None:
        """Send the columns and properties of a new schema to the metastore.

        Raises:
            InvalidInputError: the metastore refuses the change; the schema file is deleted, unless
                another process has committed with it meanwhile.
        """
        if branch != MAIN_BRANCH:
            return  # the metastore keeps the main branch only
        store = TableStore(self._file_io, TablePaths(self._path))
        try:
            before = store.schemas.load(schema.id - 1) if schema.id else None
            removed = set() if before is None else set(before.options) - set(schema.options)
            self._tables.change_schema(self._wanted, schema, removed)
        except PaimonError as error:
            if not _is_used(store, schema):
                store.file_io.delete(store.paths.schema(schema.id))
            if not isinstance(error, InvalidInputError):
                raise
            hint = (
                "The metastore compares the types of columns by position, unless its setting "
                "hive.metastore.disallow.incompatible.col.type.changes is false."
            )
            raise InvalidInputError(error.message, hint=error.hint or hint) from error

    def add_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Add the partitions of a commit to the metastore, unless they are known to be there."""
        new = [spec for spec in partitions if tuple(spec.values()) not in self._known]
        add_partitions(self._tables, self._wanted, new)
        if len(self._known) + len(new) > _MAX_KNOWN:
            self._known.clear()
        self._known.update(dict.fromkeys(tuple(spec.values()) for spec in new[:_MAX_KNOWN]))

    def drop_partitions(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Remove partitions from the metastore; their files remain."""
        for spec in partitions:
            self._known.pop(tuple(spec.values()), None)
        drop_partitions(self._tables, self._wanted, partitions)

    def mark_partitions_done(self, partitions: Sequence[Mapping[str, str]]) -> None:
        """Mark partitions as complete, for consumers that wait for it."""
        mark_done(self._tables, self._wanted, partitions)


def _is_used(store: TableStore, schema: TableSchema) -> bool:
    """Return whether a snapshot or a newer schema is based on a schema."""
    latest, newest = store.snapshots.latest(), store.schemas.latest()
    committed = latest is not None and latest.schema_id >= schema.id
    return committed or (newest is not None and newest.id > schema.id)
