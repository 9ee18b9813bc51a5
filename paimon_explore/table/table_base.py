"""The base of `Table`: its metadata files, its options and the point in time that reads see."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import UPSERT_KEY, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import TimeTravel, pinned_options, resolve, travel_of
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.latest_schema import latest_options, latest_schema, snapshot_and_schema

if TYPE_CHECKING:
    from paimon_explore.inspection.table_view import TableSql, TableView
    from paimon_explore.inspection.views.inspector import Inspector
    from paimon_explore.write.write_target import WriteTarget


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BaseTable:
    """A table at its latest snapshot or at a pinned one.

    Attributes:
        name: `database.table`, with `$branch_<name>` for another branch than main.
    """

    name: str
    _store: TableStore
    """The metadata files of the branch."""
    _dynamic_options: Mapping[str, str] = field(default_factory=dict)
    """Options of this object that override those of the schema."""
    _travel: TimeTravel = field(default_factory=TimeTravel)
    """The point in time that reads see; empty for the latest snapshot."""

    @property
    def path(self) -> str:
        """The table's folder."""
        return self._store.paths.root

    @property
    def schema(self) -> TableSchema:
        """The schema that reads use: that of the pinned snapshot, else the latest."""
        return self._target().schema if self._travel.given else latest_schema(self._store)

    @property
    def options(self) -> TableOptions:
        """The table's options, dynamic ones included."""
        return TableOptions({**self.schema.options, **self._dynamic_options})

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that reads see; None for an empty table."""
        return resolve(self._store, self._travel)

    def _target(self) -> ScanTarget:
        travelled = bool(self._travel.given)
        if travelled:
            snapshot, latest = self.snapshot, None
        else:
            snapshot, latest = snapshot_and_schema(self._store, self._travel)
        if latest is None and snapshot is not None:
            schema = self._store.schemas.load(snapshot.schema_id)
            options = pinned_options(self._store, schema)
        else:
            schema = latest_schema(self._store) if latest is None else latest
            options = dict(schema.options)
        return ScanTarget(
            store=self._store,
            schema=schema,
            options=TableOptions({**options, **self._dynamic_options}),
            snapshot=snapshot,
            travelled=travelled,
            travel=self._travel,
        )

    def _view(self) -> "TableView":
        from paimon_explore.inspection.table_view import TableView

        return TableView(
            store=self._store,
            schema=latest_schema(self._store),
            name=self.name,
            dynamic_options=self._dynamic_options,
            sql=self._sql,
        )

    def _sql(self) -> "TableSql":
        module = import_module("paimon_explore.sql_statements.table_statements")  # of a layer above
        statements: TableSql = module.TableStatements(self)
        return statements

    def _inspector(self) -> "Inspector":
        from paimon_explore.inspection.views.inspector import Inspector

        def selected() -> int | None:
            snapshot = self.snapshot
            return None if snapshot is None else snapshot.id

        reads: list[Callable[[], int | Inspector | None]] = [
            selected,
            lambda: Inspector(self._view()),
        ]
        snapshot_id, inspector = at_once(self._store.file_io, reads)
        assert isinstance(inspector, Inspector)  # noqa: S101 - the second read
        return inspector.at(snapshot_id) if isinstance(snapshot_id, int) else inspector


_Table = TypeVar("_Table", bound=BaseTable)


def store_of(table: BaseTable) -> TableStore:
    """Return the metadata files of the branch that a table reads and writes."""
    return table._store  # noqa: SLF001 - of this module


def dynamic_options_of(table: BaseTable) -> Mapping[str, str]:
    """Return the options of a table object that override those of its schema."""
    return table._dynamic_options  # noqa: SLF001 - of this module


def is_keyed(schema: TableSchema, options: TableOptions) -> bool:
    """Return whether rows are upserted: by the primary key, or by the option `upsert-key`."""
    return bool(schema.primary_keys or options.value(UPSERT_KEY))


def point_of(table: BaseTable) -> TimeTravel:
    """Return the point in time that reads of a table see; empty for the latest snapshot."""
    return table._travel  # noqa: SLF001 - of this module


_LATEST_HINT = "Open the table without time travel to change it."
TAG_HINT = f"{_LATEST_HINT} There, tags take the snapshot's id as snapshot=."


def check_writable(table: BaseTable, hint: str = _LATEST_HINT) -> None:
    """Check that a table is not a view of the past.

    Args:
        table: the table.
        hint: what to do instead.

    Raises:
        InvalidInputError: it is opened with time travel.
    """
    if point_of(table).given:
        raise InvalidInputError(
            f"Table {table.name} is opened with time travel and therefore read-only.",
            hint=hint,
        )


def changeable_store(table: BaseTable, hint: str = _LATEST_HINT) -> TableStore:
    """Return the metadata files of a table, to change its schema, its references or its files.

    A table whose stored options pin it to a point in time may be changed: else nobody could remove
    these options.

    Args:
        table: the table.
        hint: what to do instead if it is refused.

    Raises:
        InvalidInputError: the table is a view of the past.
    """
    store = store_of(table)
    if point_of(table).given and not travel_of(latest_options(store, {})).given:
        check_writable(table, hint)
    return store


def write_target(table: BaseTable, *, replaces: bool) -> "WriteTarget":
    """Return a table as the target of a job that writes files before one commit.

    The job id and the commit user are new.

    Raises:
        InvalidInputError: it is opened with time travel.
    """
    from paimon_explore.commit.committer import new_commit_user
    from paimon_explore.write.write_target import WriteTarget

    check_writable(table)
    schema = latest_schema(store_of(table))
    options = TableOptions({**schema.options, **dynamic_options_of(table)})
    return WriteTarget(
        store=store_of(table),
        schema=schema,
        options=options,
        commit_user=new_commit_user(options),
        replaces=replaces,
        job=uuid4().hex[:16],
    )


def target_of(table: BaseTable) -> ScanTarget:
    """Return what reads of a table see."""
    return table._target()  # noqa: SLF001 - of this module


def before_first(table: _Table) -> _Table:
    """Return a table as it was before its first snapshot, without rows."""
    return replace(table, _travel=TimeTravel(before_first=True))


def view_of(table: BaseTable) -> "TableView":
    """Return a table as reports see it."""
    return table._view()  # noqa: SLF001 - of this module


def inspector_of(table: BaseTable) -> "Inspector":
    """Return the reports on the snapshot that reads of a table see."""
    return table._inspector()  # noqa: SLF001 - of this module
