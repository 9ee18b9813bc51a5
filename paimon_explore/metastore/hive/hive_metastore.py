"""The Hive metastore as a catalog: databases, tables, views and partitions.

Paimon's tables have their files in folders, as in a warehouse; the metastore knows where, and what
engines need that read the tables through Hive. Tables of other tools are listed if they are format
tables. Names are case-insensitive. Functions are not kept, as in Java's catalog.
Spec: concepts/catalog, Hive catalog.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import islice

from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.paths import OBJECT_STORE_SCHEMES, join, scheme
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.schema.schema_change import SchemaChange
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.metastore.catalog_options import CatalogOptions
from paimon_explore.metastore.catalog_values import (
    TableInfo,
    check_movable,
    check_paimon_table,
    check_same_schema,
    is_soon_registered,
)
from paimon_explore.metastore.hive import hive_partitions
from paimon_explore.metastore.hive.hive_client import HiveClient
from paimon_explore.metastore.hive.hive_lock import HiveLock, LockTiming
from paimon_explore.metastore.hive.hive_partitions import (
    add_partitions,
    drop_partitions,
    mark_done,
)
from paimon_explore.metastore.hive.hive_settings import hive_configuration, hive_settings
from paimon_explore.metastore.hive.hive_table import (
    EXTERNAL_PROPERTY,
    FORMAT_TABLE,
    TableMapping,
    format_table_schema,
    is_external,
    is_paimon_table,
    is_view,
    keeps_partitions,
    tag_partition_key,
)
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.hive.hive_views import HiveViews
from paimon_explore.metastore.hive.metastore_structs import Table
from paimon_explore.metastore.identifier import Identifier, matches
from paimon_explore.metastore.lock_environment import with_locked_creation
from paimon_explore.metastore.view_values import PartitionInfo
from paimon_explore.store.catalog_environment import CatalogEnvironment
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
            InvalidInputError: the metastore refuses the change.
        """
        if branch != MAIN_BRANCH:
            return  # the metastore keeps the main branch only
        store = TableStore(self._file_io, TablePaths(self._path))
        before = store.schemas.load(schema.id - 1) if schema.id else None
        removed = set() if before is None else set(before.options) - set(schema.options)
        try:
            self._tables.change_schema(self._wanted, schema, removed)
        except InvalidInputError as error:
            hint = (
                "The metastore compares the types of columns by position. To permit the change, "
                "set hive.metastore.disallow.incompatible.col.type.changes = false there."
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


_WAREHOUSE = "hive.metastore.warehouse.dir"
_PATH = "path"
_TYPE = "type"
_DONE_ACTIONS = "partition.mark-done-action"
_DONE_EVENT = "mark-event"


def open_hive_metastore(options: CatalogOptions, storage: Mapping[str, object]) -> "HiveMetastore":
    """Open a Hive metastore; it is connected to on first use.

    Args:
        options: the options of the catalog.
        storage: settings and secrets of the storage, in addition to those in the options.

    Raises:
        InvalidInputError: a missing or wrong option.
        UnsupportedFeatureError: the metastore requires Kerberos, or another kind of lock.
    """
    configuration = hive_configuration(options.values)
    merged = CatalogOptions(configuration)
    warehouse = options.get("warehouse") or configuration.get(_WAREHOUSE)
    if not warehouse:
        options.required("warehouse")
        warehouse = ""
    lock_type = options.get("lock.type", "hive")
    if lock_type != "hive":
        raise UnsupportedFeatureError(f"lock.type={lock_type!r} in a catalog with metastore='hive'")
    settings = hive_settings(configuration)
    mapping = TableMapping(
        owner=settings.user,
        sync_all_properties=merged.flag("sync-all-properties", default=True),
        location_in_properties=merged.flag("location-in-properties", default=False),
    )
    is_object_store = scheme(warehouse) in OBJECT_STORE_SCHEMES
    tables = HiveTables(
        client=HiveClient(settings),
        mapping=mapping,
        has_locks=merged.flag("lock.enabled", default=is_object_store),
        lock_timing=LockTiming(
            max_wait_ms=merged.duration_ms("lock-check-max-sleep", 8_000),
            timeout_ms=merged.duration_ms("lock-acquire-timeout", 480_000),
        ),
        cascade=merged.flag("alter-table-cascade", default=True),
        skips_statistics=merged.flag("hive.skip-update-stats", default=False),
        batch=merged.integer("hive.metastore.batch.retrieve.max", 300),
    )
    return HiveMetastore(
        tables,
        warehouse,
        storage={**options.storage(), **storage},
        external=merged.get("table.type", "managed") == "external",
        format_tables=merged.flag("format-table.enabled", default=True),
    )


class HiveMetastore(HiveViews):
    """A Hive metastore; can be pickled.

    Args:
        tables: its tables.
        warehouse: the folder of new databases.
        storage: settings and secrets of the storage.
        external: whether new tables are external (`table.type`).
        format_tables: whether format tables are listed (`format-table.enabled`).
    """

    def __init__(
        self,
        tables: HiveTables,
        warehouse: str,
        *,
        storage: Mapping[str, object],
        external: bool = False,
        format_tables: bool = True,
    ) -> None:
        super().__init__(tables, warehouse)
        self._storage = dict(storage)
        self._external = external
        self._format_tables = format_tables

    def storage_of(self, location: str) -> tuple[FileIO, str]:
        """Return the storage of a location and its path there."""
        file_io, path = resolve(location, self._storage)
        return (with_locked_creation(file_io) if self._tables.has_locks else file_io), path

    def rename_database(self, name: str, new_name: str) -> None:
        """Refuse: a Hive metastore cannot rename databases."""
        del new_name
        self.database(name)
        raise self._refusal("renaming a database")

    def tables(self, database: str, pattern: str | None = None) -> Iterator[str]:
        """Yield the names of Paimon and format tables, sorted; raises NotFoundError.

        The metastore is asked for the names at once, and for what they are in batches.
        """
        names = self._tables.names(database)
        if not names:
            self.database(database)
        if pattern is not None:
            names = [name for name in names if matches(name, pattern)]
        return self._listed(database, names)

    def _listed(self, database: str, names: Sequence[str]) -> Iterator[str]:
        for table in self._tables.load_all(database, names):
            if self._is_listed(table):
                yield table.table_name or ""

    def _is_listed(self, table: Table) -> bool:
        if is_view(table):
            return False
        return is_paimon_table(table) or (
            self._format_tables and format_table_schema(table) is not None
        )

    def table_exists(self, wanted: Identifier) -> bool:
        """Return whether a Paimon or format table exists."""
        found = self._tables.find(wanted.database, wanted.table)
        return found is not None and self._is_listed(found)

    def table(self, wanted: Identifier) -> TableInfo:
        """Return where a table is; raises NotFoundError."""
        table = self._tables.load(wanted)
        location = self._tables.mapping.location(table)
        if is_paimon_table(table) and location:
            file_io, path = self.storage_of(location)
            uuid = f"{wanted.full_name}.{table.create_time}"
            return TableInfo(
                path=path,
                file_io=file_io,
                environment=self.environment(wanted, uuid, file_io, path),
                uuid=uuid,
                is_external=is_external(table),
            )
        schema = format_table_schema(table) if self._format_tables else None
        if schema is None or not location:
            kind = "a view" if is_view(table) else "not a Paimon table"
            msg = f"{wanted.full_name} in the Hive metastore is {kind}."
            raise NotFoundError("table", wanted.table, wanted.database, message=msg)
        file_io, path = self.storage_of(location)
        return TableInfo(
            path=path,
            file_io=file_io,
            schema=schema,
            is_external=is_external(table),
            type=FORMAT_TABLE,
        )

    def environment(
        self, wanted: Identifier, uuid: str | None, file_io: FileIO, path: str
    ) -> CatalogEnvironment:
        """Return the connection of a table to the metastore."""
        return HiveEnvironment(self._tables, wanted, uuid, file_io, path)

    def create_table(self, wanted: Identifier, schema: TableSchema) -> bool:
        """Create a table; False if it exists; raises NotFoundError for an unknown database.

        A format table has no schema files: the metastore has its columns and options.

        With the option `path`, or in an external catalog, the table is external: dropping it keeps
        its files. An external table takes over the schema that its folder already contains.
        """
        is_files = self._format_tables and schema.options.get(_TYPE) == FORMAT_TABLE
        if not is_files:
            check_paimon_table(wanted, schema, "in a Hive metastore")
        folder = self.folder_of(wanted.database)
        if self._tables.find(wanted.database, wanted.table) is not None:
            return False
        given = schema.options.get(_PATH)
        location = given or join(folder, wanted.table)
        external = given is not None or self._is_external(schema)
        if is_files:
            mapping = self._tables.mapping_for(schema)
            return self._tables.create(
                mapping.new_table(
                    wanted.database, wanted.table, schema, location, external=external
                )
            )
        return self._create_paimon_table(wanted, schema, location, external=external)

    def _create_paimon_table(
        self, wanted: Identifier, schema: TableSchema, location: str, *, external: bool
    ) -> bool:
        mapping = self._tables.mapping_for(schema)
        made = mapping.new_table(
            wanted.database, wanted.table, schema, location, external=external
        )  # refuses columns without a Hive type before a file is written
        file_io, path = self.storage_of(location)
        environment = self.environment(wanted, None, file_io, path)
        store = TableStore(file_io, TablePaths(path), environment=environment)
        before = store.schemas.latest()
        if before is None and not store.schemas.create(schema):
            before = store.schemas.latest()
        if before is not None:
            if not external:
                if is_soon_registered(partial(self.table_exists, wanted)):
                    return False
                raise AlreadyExistsError("table", path)
            check_same_schema(before, schema, path)
            made = mapping.new_table(
                wanted.database, wanted.table, before, location, external=external
            )
        try:
            created = self._tables.create(made)
        except PaimonError:
            if before is None:
                with suppress(PaimonError):  # whether the table was created is not known then
                    self._remove_unused_schema(wanted, store)
            raise
        if not created and before is None:
            self._remove_unused_schema(wanted, store)
        return created

    def _remove_unused_schema(self, wanted: Identifier, store: TableStore) -> None:
        """Remove the new schema file of a table that the metastore did not create."""
        found = self._tables.find(wanted.database, wanted.table)
        location = None if found is None else self._tables.mapping.location(found)
        path = store.paths.root
        if location is not None and self.storage_of(location)[1] == path:
            return
        if len(list(islice(store.file_io.walk(path), 2))) > 1:
            store.file_io.delete(store.paths.schema(0))
        else:
            store.file_io.delete_folder(path)

    def _is_external(self, schema: TableSchema) -> bool:
        options = schema.options
        given = options.get(EXTERNAL_PROPERTY.lower(), options.get(EXTERNAL_PROPERTY, ""))
        return self._external or given.lower() == "true"

    def drop_table(self, wanted: Identifier) -> bool:
        """Drop a table, with its files unless it is external; False if it does not exist."""
        table = self._tables.find(wanted.database, wanted.table)
        if table is None or not self._is_listed(table):
            return False
        external = is_external(table)
        location = self._tables.mapping.location(table)
        dropped = self._tables.drop(wanted, deletes_files=not external)
        if dropped and not external and location and is_paimon_table(table):
            file_io, path = self.storage_of(location)
            file_io.delete_folder(path)
        return dropped

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        """Rename a table, or move it to another database.

        The metastore moves the folder of a managed table; an external table keeps its folder.
        """
        with self._tables.lock(source) or nullcontext():
            self._rename(source, target)

    def _rename(self, source: Identifier, target: Identifier) -> None:
        table = self._tables.load(source)
        if not self._is_listed(table):
            raise NotFoundError("table", source.table, source.database)
        self.database(target.database)
        before = self._tables.mapping.location(table)
        if before is not None and not is_external(table):
            check_movable(*self.storage_of(before))
        renamed = self._tables.rename(source, target)
        after = self._tables.mapping.location(renamed)
        if before is None or after is None or before == after or is_external(table):
            return
        file_io, old = self.storage_of(before)
        if TableStore(file_io, TablePaths(old)).schemas.ids():  # the metastore did not move it
            file_io.rename_folder(old, self.storage_of(after)[1])
            self._tables.mapping.set_location(renamed, after)
            self._tables.alter(target, renamed)

    def partitions(
        self, wanted: Identifier, pattern: str | None = None
    ) -> Iterator[PartitionInfo] | None:
        """Yield the partitions, or the tags, that the metastore keeps of a table."""
        schema = self._schema(wanted)
        if schema is None or not keeps_partitions(schema):
            return None
        tag_key = tag_partition_key(schema)
        found = hive_partitions.list_partitions(
            self._tables,
            wanted,
            keys=schema.partition_keys if tag_key is None else [tag_key],
            shows_done=_DONE_EVENT in schema.options.get(_DONE_ACTIONS, ""),
        )
        if pattern is None:
            return found
        return (info for info in found if matches(_name(info), pattern))

    def drop_partitions(self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]) -> None:
        """Remove partitions from the metastore; their files remain."""
        schema = self._schema(wanted)
        if schema is not None and keeps_partitions(schema):
            hive_partitions.drop_partitions(self._tables, wanted, partitions)

    def mark_partitions_done(
        self, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
    ) -> None:
        """Mark partitions as complete."""
        schema = self._schema(wanted)
        if schema is None or not keeps_partitions(schema):
            raise self._refusal("marking partitions as done of a table without partitions")
        hive_partitions.mark_done(self._tables, wanted, partitions)

    def _schema(self, wanted: Identifier) -> TableSchema | None:
        """Return the schema of a Paimon table; None for a format table."""
        info = self.table(wanted)
        if info.environment is None:
            return None
        return TableStore(info.file_io, TablePaths(info.path)).schemas.latest()

    def close(self) -> None:
        """Close the connection; a later use opens it again."""
        self._tables.client.close()


def _name(info: PartitionInfo) -> str:
    return "/".join(f"{key}={text}" for key, text in info.statistics.spec.items())
