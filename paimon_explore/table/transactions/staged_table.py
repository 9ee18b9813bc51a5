"""A table that only a transaction sees: the metadata files of its operations stay in memory.

The base is the latest snapshot and schema at the start. Snapshots and schemas that other commits
add later are hidden, so all operations of a transaction are based on the same rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TypeVar

from paimon_explore.commit.iceberg.settings import DISABLED
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.fileio import paths
from paimon_explore.fileio.overlay import StagedFileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.iceberg_options import ICEBERG_STORAGE
from paimon_explore.metadata.options.table_options import (
    DELETION_VECTORS_MERGE_ON_READ,
    WRITE_ONLY,
    TableOptions,
)
from paimon_explore.metadata.schema.schema_merge import merged_changes
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import LATEST, SCHEMA_PREFIX, SNAPSHOT_PREFIX, TablePaths
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.latest_schema import latest_schema, snapshot_and_schema
from paimon_explore.table.table_alter import AlterableTable
from paimon_explore.table.table_read import ReadableTable
from paimon_explore.table.table_write import TableWriter
from paimon_explore.write.input.cast_policy import CastPolicy
from paimon_explore.write.input.input_schema import typed_rows
from paimon_explore.write.input.table_batches import Rows

_Result = TypeVar("_Result")
_STAGED_OPTIONS = {WRITE_ONLY.key: "true", ICEBERG_STORAGE.key: DISABLED}
"""Options of the operations: compaction and expiry run after the commit of the transaction."""


@dataclass(slots=True, kw_only=True, eq=False)
class StagedTable:
    """The staged files of a transaction.

    Attributes:
        name: the name of the table.
        real: the table.
        given_options: the dynamic options of the table.
        base: the snapshot on which the operations are based; None for a table without snapshots.
        base_schema: the schema on which they are based.
        files: the storage with the staged files.
        store: the table with the staged files.
    """

    name: str
    real: TableStore
    given_options: Mapping[str, str]
    base: Snapshot | None = field(init=False)
    base_schema: TableSchema = field(init=False)
    files: StagedFileIO = field(init=False)
    store: TableStore = field(init=False)

    def __post_init__(self) -> None:
        where = self.real.paths
        self.base, self.base_schema = snapshot_and_schema(self.real)
        base_id = 0 if self.base is None else self.base.id
        self.files = StagedFileIO(
            below=self.real.file_io,
            folders=frozenset({where.snapshot_dir, where.schema_dir, where.manifest_dir}),
            hidden=_HiddenFiles(where, base_id, self.base_schema.id),
        )
        self.store = TableStore(self.files, where, self.real.read_retry)
        if self.base is not None:
            self.store.snapshots.write_latest_hint(base_id)

    @property
    def options(self) -> TableOptions:
        """The effective options, without those of staging."""
        return TableOptions({**latest_schema(self.store).options, **self.given_options})

    @property
    def writer(self) -> TableWriter:
        """The writer of the staged table."""
        return self.writer_with(CastPolicy.SAFE)

    def writer_with(self, cast: CastPolicy) -> TableWriter:
        """Return the writer of the staged table.

        Args:
            cast: how input values are converted.
        """
        schema = latest_schema(self.store)
        options = TableOptions({**schema.options, **self.given_options, **_STAGED_OPTIONS})
        return TableWriter(store=self.store, schema=schema, options=options, cast=cast)

    def apply(self, work: "Callable[[StagedTable], _Result]") -> _Result:
        """Apply an operation; without effect if it raises.

        Raises:
            SnapshotExpiredError: the snapshot of the transaction was removed meanwhile.
        """
        before = dict(self.files.written)
        try:
            with explain_missing_files(self.real, self.base):
                return work(self)
        except BaseException:
            self.files.written.clear()
            self.files.written.update(before)
            raise

    def evolve(self, data: Rows) -> Rows:
        """Add the new columns of rows to the schema, and widen types; see `schema_merge`.

        Returns:
            The rows.

        Raises:
            InvalidInputError: a new column contains only nulls, from which no type follows.
            UnsupportedFeatureError: the schema has to change, but the catalog does not allow it.
        """
        schema = latest_schema(self.store)
        typed = typed_rows(data, schema.row_type)
        for name in typed.untyped:
            if name not in schema.row_type.names:
                raise InvalidInputError(
                    f"The new column {name!r} contains no values that tell its type.",
                    hint=f"Leave it out of the rows, or call add_column({name!r}, type) first.",
                )
        changes = merged_changes(schema, typed.new, typed.known)
        if changes:
            self.check_alterable()
            self.schema.alter(*changes)
        return typed.rows

    def check_alterable(self) -> None:
        """Check that the schema can change together with the rows.

        Raises:
            UnsupportedFeatureError: a catalog server or lock manages the schema.
        """
        if self.real.environment is not None:
            raise UnsupportedFeatureError(
                "a schema change in a transaction in a table of a REST, JDBC or Hive catalog",
                hint="Change the schema first, in a call of its own.",
            )

    @property
    def schema(self) -> AlterableTable:
        """The schema changes of the staged table."""
        return AlterableTable(
            name=self.name, _store=self.store, _dynamic_options=self.given_options
        )

    @property
    def reader(self) -> ReadableTable:
        """The staged table, to be read; rows that are not compacted yet are visible."""
        options = {**self.given_options, DELETION_VECTORS_MERGE_ON_READ.key: "true"}
        return ReadableTable(name=self.name, _store=self.store, _dynamic_options=options)

    def new_schemas(self) -> list[TableSchema]:
        """Return the staged schemas, oldest first."""
        first = self.base_schema.id + 1
        known = [number for number in self.store.schemas.ids() if number >= first]
        return [self.store.schemas.load(number) for number in known]


@dataclass(frozen=True, slots=True)
class _HiddenFiles:
    """Hides snapshots and schemas that other commits add, and their hint."""

    where: TablePaths
    snapshot_id: int
    schema_id: int

    def __call__(self, path: str) -> bool:
        """Return whether a path of the table is hidden."""
        folder, name = paths.parent(path), paths.name(path)
        if folder == self.where.snapshot_dir:
            return name == LATEST or _is_newer(name, SNAPSHOT_PREFIX, self.snapshot_id)
        return folder == self.where.schema_dir and _is_newer(name, SCHEMA_PREFIX, self.schema_id)


def _is_newer(name: str, prefix: str, last: int) -> bool:
    number = name.removeprefix(prefix)
    return name.startswith(prefix) and number.isdigit() and int(number) > last
