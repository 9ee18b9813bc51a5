"""`HiveTables`: requests about the tables of a Hive metastore, shared by catalog and commits."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from paimon_explore.data_types.definitions import TypeRoot
from paimon_explore.data_types.traversal import is_root, parts
from paimon_explore.errors import AlreadyExistsError, InvalidInputError, NotFoundError, StorageError
from paimon_explore.fileio.local import without_file_scheme
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_client import (
    HiveClient,
    LostReplyError,
    UnknownMethodError,
    replies_lost,
)
from paimon_explore.metastore.hive.hive_lock import HiveLock, LockTiming
from paimon_explore.metastore.hive.hive_table import TableMapping
from paimon_explore.metastore.hive.hive_types import LOCAL_ZONED
from paimon_explore.metastore.hive.metastore_structs import (
    AlreadyExistsException,
    ClientCapabilities,
    EnvironmentContext,
    GetTableRequest,
    GetTablesRequest,
    NoSuchObjectException,
    StorageDescriptor,
    Table,
    UnknownDBException,
)
from paimon_explore.metastore.identifier import Identifier

_INSERT_ONLY_TABLES = 2
_CAPABILITIES = ClientCapabilities(values=[_INSERT_ONLY_TABLES])
"""Without it, Hive 3 refuses to list databases that contain such tables."""
_BATCH = 300
_LOCAL_ZONED_SINCE = (3, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveTables:
    """The tables of a Hive metastore; can be pickled.

    Attributes:
        client: the connection.
        mapping: what the metastore keeps of a table.
        has_locks: whether commits take the lock of the metastore (`lock.enabled`).
        lock_timing: how long a lock is waited for.
        cascade: whether schema changes apply to partitions (`alter-table-cascade`).
        skips_statistics: option `hive.skip-update-stats`.
        batch: how many tables are requested at once.
    """

    client: HiveClient
    mapping: TableMapping
    has_locks: bool = False
    lock_timing: LockTiming = LockTiming()
    cascade: bool = True
    skips_statistics: bool = False
    batch: int = _BATCH

    def find(self, database: str, name: str) -> Table | None:
        """Return a table or view; None if it or the database does not exist."""
        request = GetTableRequest(db_name=database, table_name=name, capabilities=_CAPABILITIES)
        with suppress(NoSuchObjectException):
            try:
                return self.client.call(methods.GET_TABLE_REQUEST, request).table
            except UnknownMethodError:  # Hive before 2.2
                return self.client.call(methods.GET_TABLE, database, name)
        return None

    def load(self, wanted: Identifier) -> Table:
        """Return a table or view.

        Raises:
            NotFoundError: it does not exist.
        """
        found = self.find(wanted.database, wanted.table)
        if found is None:
            raise NotFoundError("table", wanted.table, wanted.database)
        return found

    def names(self, database: str) -> list[str]:
        """Return the names of all tables and views of a database, sorted."""
        found = self.client.call(methods.GET_ALL_TABLES, database)
        return sorted(found)

    def load_all(self, database: str, names: Sequence[str]) -> Iterator[Table]:
        """Yield tables and views in the order of their names, a batch per request."""
        for start in range(0, len(names), self.batch):
            found = self._batch(database, list(names[start : start + self.batch]))
            yield from sorted(found, key=lambda table: table.table_name or "")

    def _batch(self, database: str, names: list[str]) -> list[Table]:
        request = GetTablesRequest(db_name=database, table_names=names, capabilities=_CAPABILITIES)
        with suppress(UnknownDBException):
            try:
                return self.client.call(methods.GET_TABLES_REQUEST, request).tables or []
            except UnknownMethodError:  # Hive before 2.2
                return self.client.call(methods.GET_TABLES, database, names)
        return []

    def create(self, table: Table) -> bool:
        """Create a table or view; False if it exists."""
        for earlier in self.client.attempts():
            try:
                self.client.call(methods.CREATE_TABLE, table)
            except AlreadyExistsException:
                if not earlier:
                    return False
                found = self.find(table.db_name or "", table.table_name or "")
                return found is not None and self._is_same(found, table)
            except LostReplyError:
                continue
            return True
        raise replies_lost("create", f"{table.db_name}.{table.table_name}")

    def _is_same(self, found: Table, table: Table) -> bool:
        """Return whether a table is the one whose creation was requested; the server adds facts."""
        given, stored = table.storage or StorageDescriptor(), found.storage or StorageDescriptor()
        place = self.mapping.location(table)
        return (
            found.table_type == table.table_type
            and found.owner == table.owner
            and stored.columns == given.columns
            and found.view_expanded_text == table.view_expanded_text
            and (table.parameters or {}).items() <= (found.parameters or {}).items()
            and (place is None or _is_same_place(place, self.mapping.location(found)))
        )

    def drop(self, wanted: Identifier, *, deletes_files: bool, purges: bool = True) -> bool:
        """Drop a table or view; False if it does not exist."""
        context = EnvironmentContext(properties={"ifPurge": "TRUE"} if purges else {})
        for earlier in self.client.attempts():
            try:
                self.client.call(
                    methods.DROP_TABLE, wanted.database, wanted.table, deletes_files, context
                )
            except NoSuchObjectException:
                return earlier > 0
            except LostReplyError:
                continue
            return True
        raise replies_lost("drop", wanted.full_name)

    def rename(self, source: Identifier, target: Identifier) -> Table:
        """Rename a table or view, or move it to another database; return it.

        Raises:
            NotFoundError: the table does not exist.
            AlreadyExistsError: the target exists.
        """
        table = self.load(source)
        if self.find(target.database, target.table) is not None:
            raise AlreadyExistsError("table", target.table, target.database)
        table.db_name, table.table_name = target.database, target.table
        context = EnvironmentContext(properties={})
        for _ in self.client.attempts():
            try:
                self.client.call(
                    methods.RENAME_TABLE, source.database, source.table, table, context
                )
            except LostReplyError:
                moved = self.find(target.database, target.table)
                if moved is not None and moved.create_time == table.create_time:
                    return moved
                continue
            except (InvalidInputError, StorageError):
                self.load(source)  # another client may have renamed or dropped it
                raise
            return self.load(target)
        raise replies_lost("rename", source.full_name)

    def alter(
        self, wanted: Identifier, table: Table, properties: dict[str, str] | None = None
    ) -> None:
        """Replace the definition of a table; `properties` say how the metastore does it."""
        context = EnvironmentContext(properties=properties or {})
        self.client.call(methods.ALTER_TABLE, wanted.database, wanted.table, table, context)

    def change_schema(
        self, wanted: Identifier, schema: TableSchema, removed: Collection[str]
    ) -> None:
        """Send the columns and properties of a new schema to the metastore.

        Args:
            wanted: the table.
            schema: the new schema.
            removed: options that the change removed.
        """
        table = self.load(wanted)
        skips = (table.parameters or {}).get("DO_NOT_UPDATE_STATS", "").lower() == "true"
        self.mapping_for(schema).change_schema(table, schema, removed)
        properties = {"DO_NOT_UPDATE_STATS": str(skips or self.skips_statistics).lower()}
        if self.cascade:
            properties["CASCADE"] = "true"
        self.alter(wanted, table, properties)

    def mapping_for(self, schema: TableSchema) -> TableMapping:
        """Return the mapping for a schema: Hive has a local-zoned timestamp since version 3.1."""
        zoned = any(
            is_root(inner, TypeRoot.TIMESTAMP_LTZ)
            for field in schema.fields
            for inner in parts(field.type)
        )
        if not zoned or self.mapping.local_zoned == LOCAL_ZONED:
            return self.mapping
        version = self.client.call(methods.GET_VERSION).split(".")
        numbers = tuple(int(part) for part in version[:2] if part.isdecimal())
        if numbers < _LOCAL_ZONED_SINCE:  # Hive 2 says 3.0
            return self.mapping
        return replace(self.mapping, local_zoned=LOCAL_ZONED)

    def lock(self, wanted: Identifier) -> HiveLock | None:
        """Return the lock of a table or branch; None if locks are not enabled."""
        if not self.has_locks:
            return None
        branch = "" if wanted.branch == MAIN_BRANCH else f"$branch_{wanted.branch}"
        return HiveLock(self.client, wanted.database, wanted.table + branch, self.lock_timing)


def _is_same_place(one: str, other: str | None) -> bool:
    """Return whether two locations are equal; the metastore adds `file:` to local paths."""
    return without_file_scheme(one) == without_file_scheme(other or "")
