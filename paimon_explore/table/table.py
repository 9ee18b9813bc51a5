"""`Table`: one Paimon table, read, written and explained; and its view at a point in time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.inspect.escape import esc
from paimon_explore.inspect.files_view import FilesView
from paimon_explore.inspect.inspector import Inspector
from paimon_explore.inspect.manifest_tree import Children
from paimon_explore.inspect.node_detail import Document
from paimon_explore.inspect.static_html import explorer_html
from paimon_explore.inspect.system.context import TableState
from paimon_explore.inspect.system.inspection import SYSTEM_TABLES, Inspection
from paimon_explore.inspect.table_view import TableView
from paimon_explore.inspect.text_face import explorer_text
from paimon_explore.inspect.timeline import Timeline
from paimon_explore.maintenance.expire import ExpiryReport
from paimon_explore.maintenance.findings import Finding
from paimon_explore.metadata.consumer import Consumer
from paimon_explore.metadata.options import (
    BRANCH,
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.paths import MAIN_BRANCH, TablePaths
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.metadata.schema_change import SchemaChange
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.tag import Tag
from paimon_explore.scan.incremental import SnapshotRange
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.time_travel import TimeTravel, epoch_ms, resolve, travel_of
from paimon_explore.store.table_store import TableStore
from paimon_explore.table import listings
from paimon_explore.table.changes import (
    Change,
    ChangeReader,
    Increment,
    default_mode,
    first_change,
    increment_of,
    span_of,
    without_retracts,
)
from paimon_explore.table.latest_schema import latest_schema, table_name
from paimon_explore.table.listing import Listing
from paimon_explore.table.maintenance import Maintenance
from paimon_explore.table.row_source import RowSource
from paimon_explore.table.row_tables import ROW_TABLES
from paimon_explore.table.scan import Scan, Where, make_scan
from paimon_explore.table.writing import TableWriter
from paimon_explore.write.input_rows import Rows

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

    from paimon_explore.widgets.explorer import Explorer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """A table of any Paimon version, opened by `Catalog.table` or `open_table`.

    Reads see the newest snapshot at the time of the call, or the pinned one of a view made by `at`.
    Rows come through Arrow: `to_arrow`, `to_pandas`, `to_polars`, `to_duckdb`, or anything that
    takes the Arrow C stream.

    Attributes:
        name: `database.table`, with `$branch_<name>` for another branch than main.
        store: the table's metadata files, of its branch.
        dynamic_options: options of this object alone, over those of the schema.
        travel: the point in time that reads see; empty for the newest.
    """

    name: str
    store: TableStore
    dynamic_options: Mapping[str, str] = field(default_factory=dict)
    travel: TimeTravel = field(default_factory=TimeTravel)

    @property
    def path(self) -> str:
        """The table's folder."""
        return self.store.paths.root

    @property
    def branch(self) -> str:
        """The branch that is read and written."""
        return self.store.paths.branch

    @property
    def schema(self) -> TableSchema:
        """The schema that reads use: of the pinned snapshot, else the newest."""
        return self._target().schema

    @property
    def options(self) -> TableOptions:
        """The table's options, dynamic ones included."""
        return TableOptions({**self.schema.options, **self.dynamic_options})

    @property
    def snapshot(self) -> Snapshot | None:
        """The snapshot that reads see; None for a table that has none."""
        return resolve(self.store, self.travel)

    @property
    def snapshots(self) -> Listing[int, Snapshot]:
        """The snapshots by id."""
        return listings.snapshots(self.store)

    @property
    def schemas(self) -> Listing[int, TableSchema]:
        """The schemas by id."""
        return listings.schemas(self.store)

    @property
    def tags(self) -> Listing[str, Tag]:
        """The tags by name."""
        return listings.tags(self.store)

    @property
    def branches(self) -> Listing[str, str]:
        """The branches but main, by name."""
        return listings.branches(self.store)

    @property
    def consumers(self) -> Listing[str, Consumer]:
        """The consumers by id."""
        return listings.consumers(self.store)

    @property
    def inspect(self) -> Inspection:
        """Paimon's system tables, a method for each: `t.inspect.files()`."""
        target = self._target()
        state = TableState(
            store=self.store,
            schema=target.schema,
            options=target.options,
            snapshot=target.snapshot,
        )
        return Inspection(state=state)

    def explore(self, *, height: int = 560) -> "Explorer":
        """The explorer widget, at the pinned snapshot or the newest one.

        Args:
            height: pixels.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        try:
            from paimon_explore.widgets.explorer import explore  # noqa: PLC0415 - the lazy door
        except ImportError as error:
            hint = f"pip install 'paimon-explore[notebook]' ({error.name} is missing)."
            raise UnsupportedFeatureError("the explorer", self.name, hint=hint) from error
        pinned = self.snapshot if self.travel.given else None
        return explore(self._view(), selected=None if pinned is None else pinned.id, height=height)

    def timeline(self) -> Timeline:
        """All snapshots and what points at them: tags, consumers, hints."""
        return self._inspector().timeline()

    def files(self, where: str = "") -> FilesView:
        """The live data files, with decoded bounds.

        Args:
            where: a condition on partition columns, bucket, level, rows, size, schema, created,
                added, removed and file, such as `dt = 'd1' and level = 0 and size < 1 MB`.

        Raises:
            InvalidInputError: a condition that cannot be understood.
        """
        return self._inspector().files(where)

    def partitions(self, where: str = "") -> pa.Table:
        """The partitions of the live files; see `files`."""
        return self._inspector().partitions(where)

    def tree(self, key: str = "") -> Children:
        """What lies below a node of the manifest tree; the snapshot's lists by default."""
        return self._inspector().tree(key)

    def node(self, key: str = "") -> Document:
        """One node of the manifest tree in full; the snapshot by default."""
        return self._inspector().node(key)

    def file(self, name: str) -> Document:
        """One data file in full: its entry, decoded bounds, and why some are absent.

        Raises:
            NotFoundError: no file of that name is live.
        """
        return self._inspector().file(name)

    def _view(self) -> TableView:
        return TableView(store=self.store, schema=latest_schema(self.store), name=self.name)

    def _inspector(self) -> Inspector:
        snapshot = self.snapshot
        return Inspector(self._view(), None if snapshot is None else snapshot.id)

    def __repr__(self) -> str:
        """The table in a few lines: keys, snapshot, files, tags."""
        try:
            return explorer_text(self._inspector())
        except PaimonError as error:
            return f"{self.name}   ({self.path})\n{error}"

    def _repr_html_(self) -> str:
        """The static picture of the explorer."""
        try:
            return explorer_html(self._inspector())
        except PaimonError as error:
            return f"<pre>{esc(self.name)}\n{esc(str(error))}</pre>"

    def system_table(self, name: str) -> RowSource:
        """A system table by its name: `files`, `audit_log`, and so on.

        Raises:
            NotFoundError: there is none of that name.
            InvalidInputError: it asks for a table with another setting.
        """
        full = f"{self.name}${name}"
        if name in ROW_TABLES:
            schema, rows = ROW_TABLES[name](self._target())
            return RowSource(
                name=full,
                schema=schema,
                load=lambda: pa.RecordBatchReader.from_batches(schema, rows()),
            )
        if name in SYSTEM_TABLES:
            make = SYSTEM_TABLES[name]
            rows_now = make(self.inspect.state)
            return RowSource(
                name=full,
                schema=rows_now.schema,
                load=lambda: make(self.inspect.state).to_reader(),
            )
        hint = f"There are {choices(sorted([*ROW_TABLES, *SYSTEM_TABLES]), limit=30)}."
        raise NotFoundError("system table", name, self.name, hint=hint)

    def at(
        self,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: datetime | str | None = None,
        watermark: int | None = None,
        version: str | None = None,
    ) -> "Table":
        """The table as it was: an unchanging view with the same methods to read.

        Args:
            snapshot: a snapshot id.
            tag: a tag's name.
            timestamp: the newest snapshot not younger than that; text is ISO, without a zone local.
            watermark: the first snapshot with at least this watermark, in milliseconds.
            version: a tag's name, `watermark-<n>` or a snapshot id, as text.

        Raises:
            InvalidInputError: none or more than one of the arguments is given.
            NotFoundError: there is no such snapshot or tag.
        """
        travel = TimeTravel(
            snapshot=snapshot,
            tag=tag,
            timestamp_ms=None if timestamp is None else epoch_ms(timestamp),
            watermark=watermark,
            version=version,
        )
        return replace(self, travel=travel.asked().pinned(self.store))

    def scan(
        self,
        columns: Iterable[str] | None = None,
        where: Where | None = None,
        limit: int | None = None,
    ) -> Scan:
        """Describe a read.

        Args:
            columns: wanted columns in result order; None for all.
            where: rows to keep: SQL text (`"dt = '2026-01-01' AND a > 3"`) or `pe.col("a") > 3`.
            limit: most rows to give.

        Raises:
            InvalidInputError: unknown columns or a predicate that cannot be understood.
            NotFoundError: `incremental-between` names points that are not there.
        """
        scan = make_scan(self._target(), columns, where, limit)
        pinned = bool(self.travel.given)
        return scan if pinned else replace(scan, increment=increment_of(scan.target))

    def changes(
        self,
        from_snapshot: int | None = None,
        to_snapshot: int | None = None,
        *,
        columns: Iterable[str] | None = None,
        where: Where | None = None,
        consumer_id: str | None = None,
    ) -> Iterator[Change]:
        """What each commit changed, oldest first.

        These are the rows of the changelog where the table has one, else those that were added.

        Args:
            from_snapshot: the first commit; None for the earliest that is kept.
            to_snapshot: the last commit; None for the latest now.
            columns: wanted columns; None for all.
            where: rows to keep.
            consumer_id: a name under which the progress is kept with the table: the next call
                begins behind the last commit after which another one was asked for. Snapshots that
                it still has to read do not expire.

        Raises:
            NotFoundError: a commit of the range expired and left no changelog.
            InvalidInputError: unknown columns or a predicate that cannot be understood.
        """
        reader = self._change_reader(columns, where)
        first = first_change(self.store, consumer_id) if from_snapshot is None else from_snapshot
        last = (self.store.snapshots.latest_id() or 0) if to_snapshot is None else to_snapshot
        span = SnapshotRange(start=first - 1, end=last)
        return reader.commits(span) if consumer_id is None else reader.consumed(span, consumer_id)

    def between(
        self,
        start: int | str,
        end: int | str,
        *,
        mode: str = "auto",
        columns: Iterable[str] | None = None,
        where: Where | None = None,
        row_kinds: bool = False,
    ) -> RowSource:
        """What changed after one point up to another.

        Args:
            start: a snapshot id or a tag's name; its own changes are not included.
            end: a snapshot id or a tag's name; included.
            mode: `delta` for added rows, `changelog` for the changelog, `diff` to compare both
                states by key, `auto` for what fits: diff between tags, else changelog or delta.
            columns: wanted columns; None for all.
            where: rows to keep.
            row_kinds: give also retracted rows, and the column `rowkind` in front.

        Raises:
            NotFoundError: no such tag or snapshot.
            InvalidInputError: unknown columns, mode or predicate; an end before the start.
        """
        target = self._target()
        reader = self._change_reader(columns, where)
        span = span_of(target, start, end)
        chosen = Increment(span=span, mode=default_mode(target, start, mode))

        def load() -> pa.RecordBatchReader:
            rows = reader.between(chosen)
            return (rows if row_kinds else without_retracts(rows)).to_reader()

        schema = reader.schema if row_kinds else pa.schema(list(reader.schema)[1:])
        name = f"{self.name}, {chosen.mode.value} of ({span.start}, {span.end}]"
        return RowSource(name=name, schema=schema, load=load)

    def _change_reader(self, columns: Iterable[str] | None, where: Where | None) -> ChangeReader:
        scan = make_scan(self._target(), columns, where, None)
        return ChangeReader(target=scan.target, columns=scan.columns, where=scan.where)

    def append(self, data: Rows) -> Snapshot | None:
        """Add rows in one commit.

        Columns are matched by name. In a primary-key table the rows are merged with those of the
        same key, as its merge engine says.

        Args:
            data: an Arrow table, batch or reader, a pandas or polars data frame, or dictionaries.

        Returns:
            The snapshot that holds the rows; None if there were none.

        Raises:
            InvalidInputError: this is a view of the past, or the data does not fit the table; the
                message names column, row and rule.
            UnsupportedFeatureError: the table has something that is not written here.
            CommitError: nothing is visible, and all files are removed again.
            CommitOutcomeUnknownError: the storage gave no answer; look before writing again.
        """
        return self._writer().insert(data)

    def upsert(self, data: Rows) -> Snapshot | None:
        """Add or change rows of a primary-key table in one commit.

        Args:
            data: as for `append`; a column `_ROW_KIND` (`+I`, `-U`, `+U`, `-D`) may tell what each
                row does.

        Raises:
            InvalidInputError: the table has no primary key; else as for `append`.
        """
        self._keyed("upsert")
        return self._writer().insert(data)

    def delete(self, where: Where) -> Snapshot | None:
        """Delete the rows of a primary-key table that a predicate is true of, in one commit.

        Args:
            where: SQL text or `pe.col("a") > 3`.

        Raises:
            UnsupportedFeatureError: the table has no primary key.
            InvalidInputError: a predicate that cannot be understood.
        """
        self._keyed("delete")
        return self._writer().delete_keys(self.scan(where=where).to_arrow())

    def overwrite(
        self, data: Rows, partition: Mapping[str, object] | None = None
    ) -> Snapshot | None:
        """Replace rows by others in one commit.

        Args:
            data: the new rows.
            partition: values of some partition columns: all rows that have them are replaced. None:
                the partitions of the new rows, or of an unpartitioned table all rows; with the
                option `dynamic-partition-overwrite=false` always all rows.

        Raises:
            InvalidInputError: new rows outside of the partition; else as for `append`.
            CommitConflictError: others have changed the same partitions meanwhile.
        """
        return self._writer().overwrite(data, partition)

    def truncate(self) -> Snapshot | None:
        """Remove all rows in one commit."""
        return self._writer().drop([{}])

    def drop_partitions(self, *partitions: Mapping[str, object]) -> Snapshot | None:
        """Remove all rows of partitions in one commit.

        Args:
            partitions: each the values of some partition columns, as `{"dt": "2026-01-01"}`.

        Raises:
            InvalidInputError: none is given, or a column is no partition column.
        """
        if not partitions or not all(partitions):
            msg = "No partition is given."
            raise InvalidInputError(msg, hint="truncate() removes all rows.")
        return self._writer().drop(partitions)

    def compact(
        self, *, full: bool = True, partitions: Sequence[Mapping[str, object]] | None = None
    ) -> Snapshot | None:
        """Make fewer and larger files of the same rows, in one commit.

        On tables with deletion vectors and on first-row tables this is also what makes new rows
        visible; a changelog of the producers `lookup` and `full-compaction` is written here.

        Args:
            full: everything that can be made better; False: what the table's options ask for by
                the number and sizes of files.
            partitions: each the values of some partition columns; None: the whole table.

        Returns:
            The snapshot; None if there was nothing to do.

        Raises:
            UnsupportedFeatureError: the table has something that is not compacted here.
            CommitConflictError: another job has compacted or replaced the same files meanwhile.
        """
        return self._writer().compact(full=full, partitions=partitions)

    @property
    def maintenance(self) -> Maintenance:
        """Schema changes, tags, branches, rollback, expiry and checks."""
        return Maintenance(store=self.store, dynamic_options=self.dynamic_options)

    def alter(self, *changes: SchemaChange) -> TableSchema:
        """Change the schema, by all changes or none; see `Maintenance.alter`."""
        return self.maintenance.alter(*changes)

    def create_tag(self, name: str, snapshot: int | None = None) -> Tag:
        """Give a snapshot, or the newest, a name; see `Maintenance.create_tag`."""
        return self.maintenance.create_tag(name, snapshot)

    def expire_snapshots(self, *, dry_run: bool = False) -> ExpiryReport:
        """Remove snapshots as the options say; see `Maintenance.expire_snapshots` for more."""
        return self.maintenance.expire_snapshots(dry_run=dry_run)

    def fsck(self) -> list[Finding]:
        """Check that all files fit together; see `Maintenance.fsck`."""
        return self.maintenance.fsck()

    def _keyed(self, act: str) -> None:
        if not self.schema.primary_keys:
            raise UnsupportedFeatureError(f"{act} on a table without primary key", self.name)

    def _writer(self) -> TableWriter:
        if self.travel.given:
            raise InvalidInputError(
                f"{self.name} is opened at a point in the past, which does not change.",
                hint="Write to the table itself.",
            )
        schema = latest_schema(self.store)
        options = TableOptions({**schema.options, **self.dynamic_options})
        return TableWriter(store=self.store, schema=schema, options=options)

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""
        return self.scan().to_arrow()

    def to_batches(self) -> pa.RecordBatchReader:
        """All rows as a stream of record batches."""
        return self.scan().to_batches()

    def to_pandas(self) -> "pd.DataFrame":
        """All rows as a pandas DataFrame."""
        return self.scan().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """All rows as a polars DataFrame."""
        return self.scan().to_polars()

    def to_duckdb(self, name: str = "t") -> "duckdb.DuckDBPyConnection":
        """A DuckDB connection in which the rows are a view of that name."""
        return self.scan().to_duckdb(name)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def _target(self) -> ScanTarget:
        snapshot = self.snapshot
        travelled = bool(self.travel.given)
        if travelled and snapshot is not None:
            schema = self.store.schemas.load(snapshot.schema_id)
        else:
            schema = latest_schema(self.store)
        return ScanTarget(
            store=self.store,
            schema=schema,
            options=TableOptions({**schema.options, **self.dynamic_options}),
            snapshot=snapshot,
            travelled=travelled,
            branch=self.branch,
        )


def open_table(
    path: str | PathLike[str],
    branch: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> Table:
    """Open the table in a folder.

    Args:
        path: the table's folder: a local path, `file:///…`, `s3://bucket/…` and the like.
        branch: the branch to read and write; None for main.
        storage_options: settings and secrets of the storage.
        options: dynamic table options, such as `scan.snapshot-id`.

    Raises:
        NotFoundError: there is no table, or it has no such branch, snapshot or tag.
        InvalidInputError: an option has a wrong value.
    """
    file_io, root = resolve_location(path, storage_options)
    dynamic = dict(options or {})
    wanted = branch or dynamic.get(BRANCH.key, MAIN_BRANCH)
    store = TableStore(file_io, TablePaths(root, wanted))
    schema = latest_schema(store)
    chosen = TableOptions({**schema.options, **dynamic})
    paths = TablePaths(
        root,
        wanted,
        data_directory=chosen.value(DATA_FILE_PATH_DIRECTORY) or "",
        index_in_data_directory=chosen.value(INDEX_FILE_IN_DATA_FILE_DIR),
    )
    store = TableStore(file_io, paths)
    return Table(
        name=table_name(root, wanted),
        store=store,
        dynamic_options=dynamic,
        travel=travel_of(chosen).pinned(store),
    )
