"""`Table`: one Paimon table, to read, write and explain; and `open_table`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from os import PathLike
from typing import TYPE_CHECKING

from paimon_explore.arguments import (
    boolean,
    integer,
    invalid_argument,
    mapping,
    names,
    optional_integer,
    optional_string,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.concurrent_requests import max_requests
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    BRANCH,
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import LatestSnapshot, Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.scan.predicate.unset_argument import NOT_GIVEN, NotGiven, refuse_none
from paimon_explore.scan.time_travel import (
    TimestampLike,
    TimeTravel,
    epoch_ms,
    parse_epoch_ms,
    travel_of,
)
from paimon_explore.store.table_store import TableStore
from paimon_explore.table import lazy_types as types
from paimon_explore.table.latest_schema import (
    latest_schema,
    schema_at_open,
    snapshot_and_schema,
    table_name,
)
from paimon_explore.table.table_definition import OptionValue, option_texts
from paimon_explore.table.table_maintenance import MaintainableTable

if TYPE_CHECKING:
    from paimon_explore.metastore.catalog_values import TableInfo
    from paimon_explore.store.catalog_environment import CatalogEnvironment
    from paimon_explore.table.table_write import TableWriter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(MaintainableTable):
    """A Paimon table, opened by `Catalog.table` or `open_table`.

    Reads see the latest snapshot at the time of the call; `at` returns a view of an earlier one.
    Rows are read as Arrow data: by `to_arrow`, `to_pandas`, `to_polars`, `to_duckdb`, or by any
    library that takes the Arrow C stream.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.orders")
    >>> t.scan(columns=["id", "city"], where="id = 1").to_arrow().to_pylist()
    [{'id': 1, 'city': 'Turin'}]
    """

    def at(
        self,
        point: int | str | date | None = None,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: TimestampLike | None = None,
        watermark: int | None = None,
        version: str | None = None,
    ) -> "Table":
        """Return a read-only view of the table at a point in time.

        Args:
            point: a snapshot id; or text: the name of a tag, else a time in ISO format
                (`"2026-11-22T05:04"`, local without a zone), else a `version`; or a date or
                datetime.
            snapshot: a snapshot id.
            tag: the name of a tag.
            timestamp: the latest snapshot at or before a time: ISO text, a date or datetime (local
                without a zone), or epoch milliseconds.
            watermark: the first snapshot with at least this watermark, in milliseconds.
            version: the name of a tag, `watermark-<n>` or a snapshot id, as text.

        Raises:
            InvalidInputError: not exactly one of the arguments is given.
            NotFoundError: there is no such snapshot or tag.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.at(2).count(), t.at(snapshot=3).count(), t.at("2100-01-01T00:00").count()
        (12, 18, 30)
        """
        asked = TimeTravel(
            snapshot=optional_integer("snapshot", snapshot),
            tag=optional_string("tag", tag),
            timestamp_ms=None if timestamp is None else epoch_ms(timestamp),
            watermark=optional_integer("watermark", watermark),
            version=optional_string("version", version),
        )
        if point is not None:
            if asked.given:
                shown = " and ".join([repr(point), *asked.shown])
                msg = f"at() accepts a single point in time, but {shown} were given."
                raise InvalidInputError(msg)
            asked = self._travel_to(point)
        return replace(self, travel=asked.checked().pinned(self.store))

    def append(self, data: "types.Rows") -> Snapshot | None:
        """Add rows in one commit.

        Columns are matched by name. In a table with a primary key the rows are merged with stored
        rows of the same key, as the table's merge engine defines.

        Args:
            data: an Arrow table, batch or reader; a pandas or polars data frame; a dictionary of
                columns; a list of dictionaries; or a list or generator of any of these. The rows of
                a generator are written as they arrive.

        Returns:
            The new snapshot; None if there were no rows.

        Raises:
            InvalidInputError: the table is a view of a point in time, or the data does not fit the
                table; the message names column, row and rule.
            UnsupportedFeatureError: the table uses a feature that cannot be written.
            CommitError: the commit failed; nothing is visible, and its files are removed.
            CommitOutcomeUnknownError: the storage did not answer; check the table before writing
            again.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> t.append([{"id": 9, "text": "new", "stars": 5}]).delta_record_count
        1
        """
        return self._writer().insert(data)

    def upsert(self, data: "types.Rows") -> Snapshot | None:
        """Insert or update rows of a table with a primary key, in one commit.

        Args:
            data: as for `append`. An optional column `_ROW_KIND` (`+I`, `-U`, `+U`, `-D`) marks
                each row as insert, update or delete.

        Raises:
            InvalidInputError: the table has no primary key; else as for `append`.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> snapshot = t.upsert({"id": [1], "name": ["Ada"], "city": ["Oslo"]})
        >>> t.scan(where="id = 1").to_arrow().to_pylist()
        [{'id': 1, 'name': 'Ada', 'city': 'Oslo'}]
        """
        return self._writer(keyed=True).insert(data)

    def delete(self, where: "types.Where") -> Snapshot | None:
        """Delete the rows that match a condition, in one commit.

        In a table without a primary key their files are rewritten, or with
        `deletion-vectors.enabled` the rows are marked in deletion vectors.

        Args:
            where: SQL text or `pe.col("a") > 3`. `"true"` deletes all rows; `truncate` is faster.

        Returns:
            The new snapshot; None if no row matches.

        Raises:
            InvalidInputError: None, a condition that cannot be parsed, or a merge engine that does
                not support deletes.
            UnsupportedFeatureError: the table uses a feature that prevents deletes.
            CommitConflictError: another commit changed the same files meanwhile.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.delete("id >= 100")
        >>> t.count()
        6
        """
        if where is None:
            raise InvalidInputError(
                "delete() requires a condition, but where is None.",
                hint="Call truncate() or delete('true') to delete all rows.",
            )
        return self._writer().delete(where)

    def update(
        self,
        set: "Mapping[str, types.NewValue]",  # noqa: A002  # as SQL calls it, and Delta and Iceberg
        where: "types.Where | NotGiven" = NOT_GIVEN,
    ) -> Snapshot | None:
        """Update columns of the rows that match a condition, in one commit.

            table.update({"price": pe.col("price") * 2, "seen": datetime.now()})

        Args:
            set: the new values by column, or by a field of a ROW column: `{"address.city":
                "'Rome'"}`. A str is an SQL expression over the old row, and so is a term such as
                `pe.col("a") + 1`; anything else is the value itself. To set a text write it in
                quotes, or as `pe.lit("text")`.
            where: which rows; all if it is left out. None is an error, so that a variable that was
                never set does not update every row.

        Returns:
            The new snapshot; None if no row matches.

        Raises:
            InvalidInputError: an unknown column, a column of the primary key, a value that does not
                fit its column, a condition that cannot be parsed, or a merge engine that does not
                support updates.
            UnsupportedFeatureError: the table uses a feature that prevents updates.
            CommitConflictError: another commit changed the same files meanwhile.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.notes")
        >>> snapshot = t.update({"stars": "stars + 1", "text": "'good'"}, where="id = 3")
        >>> t.scan(where="id = 3").to_arrow().to_pylist()
        [{'id': 3, 'text': 'good', 'stars': 2}]
        """
        hint = "Omit where, or pass where='true', to update all rows."
        refuse_none(where, "where", hint)
        mapping("set", set, hint="Map each column name to its new value.")
        return self._writer().update(set, None if where is NOT_GIVEN else where)

    def merge(
        self,
        source: "types.Rows",
        on: "types.On",
        *,
        source_alias: str | None = None,
        target_alias: str | None = None,
    ) -> "types.Merge":
        """Start a merge of source rows into the table: MERGE INTO of SQL.

        Args:
            source: rows in any form that `append` takes, including another table.
            on: columns that are equal on both sides (`"id"`, `["id", "dt"]`), the table's columns
                mapped to the source's (`{"id": "key"}`), or a condition (`"target.id =
                source.key"`).
            source_alias: another name for `source` in expressions.
            target_alias: another name for `target`.

        Returns:
            The merge, which gets its clauses and then `execute()`.

        Raises:
            InvalidInputError: the table is a view of a point in time.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> merge = t.merge([{"id": 1, "name": "Ada"}, {"id": 99, "name": "Bo"}], on="id")
        >>> merge = merge.when_matched_update({"name": "source.name"}).when_not_matched_insert()
        >>> snapshot = merge.execute()
        >>> t.scan(["id", "name"], "id IN (1, 99)").to_arrow().sort_by("id").to_pylist()
        [{'id': 1, 'name': 'Ada'}, {'id': 99, 'name': 'Bo'}]
        """
        from paimon_explore.maintenance.row_level.merge_into import MergeSpec
        from paimon_explore.table.merge_builder import Merge

        optional_string("source_alias", source_alias)
        optional_string("target_alias", target_alias)
        spec = MergeSpec(source=source, on=on, source_alias=source_alias, target_alias=target_alias)
        return Merge(spec=spec, run=self._writer().merge)

    def overwrite(
        self, data: "types.Rows", partition: Mapping[str, object] | NotGiven | None = NOT_GIVEN
    ) -> Snapshot | None:
        """Replace rows in one commit.

        Args:
            data: the new rows; without any, the replaced rows are only removed.
            partition: values of some partition columns: all rows with these values are replaced,
                and the new rows may leave out these columns. `{}` replaces all rows. If left out:
                the partitions of the new rows, or all rows of a table without partitions; with the
                option `dynamic-partition-overwrite=false` always all rows. None means the same, but
                is an error where that would be all rows of several partitions.

        Raises:
            InvalidInputError: a new row is outside of the partition; else as for `append`.
            CommitConflictError: another commit changed the same partitions meanwhile.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.overwrite([{"id": 7}], partition={"dt": "2026-01-01"})
        >>> t.scan(["id"], "dt = '2026-01-01'").to_arrow().to_pylist()
        [{'id': 7}]
        """
        writer = self._writer()
        return writer.overwrite(data, writer.partition_argument(partition))

    def truncate(self) -> Snapshot | None:
        """Remove all rows in one commit.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.truncate()
        >>> t.count()
        0
        """
        return self._writer().drop([{}])

    def drop_partitions(
        self, *partitions: Mapping[str, object] | Sequence[Mapping[str, object]]
    ) -> Snapshot | None:
        """Remove all rows of one or several partitions in one commit.

        Args:
            partitions: values of some partition columns each, such as `{"dt": "2026-01-01"}`.

        Raises:
            InvalidInputError: no partition is given, or a column is not a partition column.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> snapshot = t.drop_partitions({"dt": "2026-01-01"}, {"dt": "2026-01-02"})
        >>> t.count()
        10
        """
        specs = [spec for given in partitions for spec in _specs(given, self.schema.partition_keys)]
        if not specs or not all(specs):
            msg = "drop_partitions() requires at least one partition."
            raise InvalidInputError(msg, hint="To remove all rows, use truncate().")
        return self._writer().drop(specs)

    def compact(
        self,
        *,
        full: bool = True,
        partitions: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
        strategy: str | None = None,
        columns: Sequence[str] | str = (),
    ) -> Snapshot | None:
        """Rewrite the files into fewer and larger ones with the same rows, in one commit.

        On tables with deletion vectors and on first-row tables compaction makes new rows visible;
        the changelogs of the producers `lookup` and `full-compaction` are written by it.

        Args:
            full: compact everything that can be improved; False: only what the table's options ask
                for by number and size of files.
            partitions: values of some partition columns, or several of these; None for the whole
            table.
            strategy: also sort the rows of an append table, so that filters skip more files:
                `order`, `zorder`, `hilbert`, or `auto` by the number of columns.
            columns: the columns to sort by; by default those of the option `clustering.columns`.

        Returns:
            The new snapshot; None if there was nothing to compact.

        Raises:
            UnsupportedFeatureError: the table uses a feature that prevents compaction.
            InvalidInputError: an unknown strategy or column.
            CommitConflictError: another commit compacted or replaced the same files meanwhile.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.inspect.files().num_rows, t.compact().commit_kind.value, t.inspect.files().num_rows
        (15, 'COMPACT', 3)
        >>> t.compact(strategy="zorder", columns=["id", "amount"]).commit_kind.value
        'OVERWRITE'
        """
        specs = None if partitions is None else _specs(partitions, self.schema.partition_keys)
        optional_string("strategy", strategy)
        wanted = names("columns", columns)
        if strategy is not None or wanted:
            return self._writer().sort(strategy=strategy, columns=wanted, partitions=specs)
        boolean("full", full)
        return self._writer().compact(full=full, partitions=specs)

    def _travel_to(self, point: object) -> TimeTravel:
        if isinstance(point, date):
            return TimeTravel(timestamp_ms=epoch_ms(point))
        if isinstance(point, str):
            moment = None if point.strip().isdigit() else parse_epoch_ms(point)
            if moment is None or point in self.store.tags.names():
                return TimeTravel(version=point)
            return TimeTravel(timestamp_ms=moment)
        try:
            return TimeTravel(snapshot=integer("point", point))
        except InvalidInputError as error:
            allowed = "a snapshot id, the name of a tag or a time"
            raise invalid_argument("point", point, allowed) from error

    def _writer(self, *, keyed: bool = False) -> "TableWriter":
        """Return the writer of the table.

        Args:
            keyed: whether the table must have a primary key; the state of its buckets is then
                needed, so its latest snapshot is read together with the schema.
        """
        from paimon_explore.table.table_write import TableWriter

        if self.travel.given:
            if keyed:
                self._check_keyed(self.schema)
            raise InvalidInputError(
                f"Table {self.name} is opened with time travel and therefore read-only.",
                hint="Open the table without time travel to change it.",
            )
        latest: LatestSnapshot | None = None
        if keyed and max_requests(self.store.file_io) > 1:
            snapshot, schema = snapshot_and_schema(self.store)
            latest = LatestSnapshot(snapshot)
        else:
            schema = latest_schema(self.store)
        if keyed:
            self._check_keyed(schema)
        options = TableOptions({**schema.options, **self.dynamic_options})
        return TableWriter(store=self.store, schema=schema, options=options, latest=latest)

    def _check_keyed(self, schema: TableSchema) -> None:
        if not schema.primary_keys:
            raise InvalidInputError(
                f"upsert() requires a primary key, but table {self.name} has none.",
                hint="Add rows with append(), or update matching rows with merge().",
            )


def _specs(given: object, names: Sequence[str]) -> list[Mapping[str, object]]:
    """Return the partitions of an argument; a single partition may stand alone.

    Args:
        given: the argument.
        names: the partition columns, for the error.

    Raises:
        InvalidInputError: something else.
    """
    specs: Iterable[object] = [given]
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        specs = given
    found: list[Mapping[str, object]] = []
    for spec in specs:
        if not isinstance(spec, Mapping):
            from paimon_explore.table.table_write import partition_hint

            raise invalid_argument("A partition", spec, "a dict", hint=partition_hint(names))
        found.append(spec)
    return found


def open_table(
    path: str | PathLike[str],
    branch: str | None = None,
    storage_options: Mapping[str, object] | None = None,
    options: Mapping[str, OptionValue] | None = None,
) -> Table:
    """Open the table in a folder.

    Args:
        path: the table's folder: a local path, `file:///…`, `s3://bucket/…` and so on.
        branch: the branch to read and write; None for main.
        storage_options: settings and secrets of the storage, in the names of Paimon, Hadoop, boto3,
            s3fs or object_store (`s3.endpoint`, `endpoint_url`, …), and `timeout`,
            `connect_timeout`, `retry_timeout`, `max_retries` of requests.
        options: dynamic table options, such as `scan.snapshot-id`.

    Raises:
        NotFoundError: there is no table, or it has no such branch, snapshot or tag.
        InvalidInputError: an option has an invalid value.

    >>> import paimon_explore as pe
    >>> path = pe.demo().table("demo.trips").path
    >>> pe.open_table(path).count(), pe.open_table(path, branch="draft").count()
    (3, 3)
    """
    optional_string("branch", branch)
    file_io, root = resolve_location(path, storage_options)
    return open_stored_table(file_io, root, branch, option_texts(options))


def open_stored_table(
    file_io: FileIO,
    root: str,
    branch: str | None = None,
    options: Mapping[str, str] | None = None,
    info: "TableInfo | None" = None,
) -> Table:
    """Open the table in a folder of a storage.

    Args:
        file_io: the storage.
        root: the table's folder.
        branch: the branch to read and write; None for the option `branch`, else main.
        options: dynamic table options.
        info: what the table's catalog knows about it; None for a table in a folder.
    """
    dynamic = dict(options or {})
    wanted = branch or dynamic.get(BRANCH.key, MAIN_BRANCH)
    environment = None if info is None else info.environment
    store = TableStore(file_io, TablePaths(root, wanted), environment=environment)
    schema = info.schema if info is not None else None
    schema = schema or schema_at_open(store)
    if dynamic:
        from paimon_explore.metadata.schema.schema_validation import check_dynamic_options

        check_dynamic_options(schema, dynamic)
    if info is not None and info.options:
        dynamic = {**info.options, **dynamic}
    chosen = TableOptions({**schema.options, **dynamic})
    paths = TablePaths(
        root,
        wanted,
        data_directory=chosen.value(DATA_FILE_PATH_DIRECTORY) or "",
        index_in_data_directory=chosen.value(INDEX_FILE_IN_DATA_FILE_DIR),
    )
    store = TableStore(file_io, paths, environment=environment)
    return Table(
        name=table_name(root, wanted) if environment is None else _name_of(environment, wanted),
        store=store,
        dynamic_options=dynamic,
        travel=travel_of(chosen).pinned(store),
    )


def _name_of(environment: "CatalogEnvironment", branch: str) -> str:
    return environment.identifier + ("" if branch == MAIN_BRANCH else f"$branch_{branch}")
