"""`Table`: one Paimon table, read, written and explained; and its view at a point in time."""

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
from paimon_explore.fileio.resolve import resolve as resolve_location
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    BRANCH,
    DATA_FILE_PATH_DIRECTORY,
    INDEX_FILE_IN_DATA_FILE_DIR,
    TableOptions,
)
from paimon_explore.metadata.snapshot import Snapshot
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
from paimon_explore.table.latest_schema import latest_schema, table_name
from paimon_explore.table.table_definition import OptionValue, declared_options
from paimon_explore.table.table_maintenance import MaintainableTable

if TYPE_CHECKING:
    from paimon_explore.table.table_write import TableWriter


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table(MaintainableTable):
    """A table of any Paimon version, opened by `Catalog.table` or `open_table`.

    Reads see the newest snapshot at the time of the call, or the pinned one of a view made by `at`.
    Rows come through Arrow: `to_arrow`, `to_pandas`, `to_polars`, `to_duckdb`, or anything that
    takes the Arrow C stream.
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
        """The table as it was: an unchanging view with the same methods to read.

        Args:
            point: what it is says its type: a snapshot id, a `version`, or a time, also as ISO text
                (`"2026-11-22"`, local without a zone) unless a tag is called so.
            snapshot: a snapshot id.
            tag: a tag's name.
            timestamp: the newest snapshot not younger than that: ISO text, a datetime or date
                (without a zone: local), or epoch milliseconds.
            watermark: the first snapshot with at least this watermark, in milliseconds.
            version: a tag's name, `watermark-<n>` or a snapshot id, as text.

        Raises:
            InvalidInputError: none or more than one of the arguments is given.
            NotFoundError: there is no such snapshot or tag.
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
                msg = f"Exactly one point in time may be given, but {shown} were given."
                raise InvalidInputError(msg)
            asked = self._travel_to(point)
        return replace(self, travel=asked.asked().pinned(self.store))

    def append(self, data: "types.Rows") -> Snapshot | None:
        """Add rows in one commit.

        Columns are matched by name. In a primary-key table the rows are merged with those of the
        same key, as its merge engine says.

        Args:
            data: an Arrow table, batch or reader; a pandas or polars data frame; a dictionary of
                columns; a list of dictionaries; or a list or generator of any of these. Rows of a
                generator are written as they come.

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

    def upsert(self, data: "types.Rows") -> Snapshot | None:
        """Add or change rows of a primary-key table in one commit.

        Args:
            data: as for `append`; a column `_ROW_KIND` (`+I`, `-U`, `+U`, `-D`) may tell what each
                row does.

        Raises:
            InvalidInputError: the table has no primary key; else as for `append`.
        """
        self._keyed()
        return self._writer().insert(data)

    def delete(self, where: "types.Where") -> Snapshot | None:
        """Delete the rows that a predicate is true of, in one commit.

        In a table without primary key their files are written anew without them, or with
        `deletion-vectors.enabled` they are marked as deleted.

        Args:
            where: SQL text or `pe.col("a") > 3`. `"true"` deletes all rows, and so does
                `truncate`, which is faster.

        Returns:
            The snapshot; None if there is no such row.

        Raises:
            InvalidInputError: None, a predicate that cannot be understood, or a merge engine that
                takes no deletes.
            UnsupportedFeatureError: the table has something that is not deleted from here.
            CommitConflictError: others have changed the same files meanwhile.
        """
        if where is None:
            raise InvalidInputError(
                "delete needs a condition: where is None, which does not select all rows.",
                hint="truncate() removes all rows, and so does delete('true').",
            )
        return self._writer().delete(where)

    def update(
        self,
        set: "Mapping[str, types.NewValue]",  # noqa: A002  # as SQL calls it, and Delta and Iceberg
        where: "types.Where | NotGiven" = NOT_GIVEN,
    ) -> Snapshot | None:
        """Give rows new values, in one commit.

            table.update({"qty": "qty + 1", "note": "'sold'"}, where="id = 7")
            table.update({"price": pe.col("price") * 2, "seen": datetime.now()})

        Args:
            set: the new values by column, or by a field in one: `{"address.city": "'Rome'"}`. A
                text is an SQL expression over the row as it was, a term such as `pe.col("a") + 1`
                likewise; anything else is the value itself. A text as a value is written in
                quotes, or as `pe.lit("text")`.
            where: which rows; all if it is left out. None is refused, for a variable that was
                never set must not change every row.

        Returns:
            The snapshot; None if there is no such row.

        Raises:
            InvalidInputError: an unknown column, a column of the primary key, a value that does not
                fit its column, a predicate that cannot be understood, or a merge engine that takes
                no updates.
            UnsupportedFeatureError: the table has something that is not updated here.
            CommitConflictError: others have changed the same files meanwhile.
        """
        hint = "Leave where out, or pass where='true', to update all rows."
        refuse_none(where, "where", hint)
        mapping("set", set, hint='Pass the new values by column: {"qty": "qty + 1"}.')
        return self._writer().update(set, None if where is NOT_GIVEN else where)

    def merge(
        self,
        source: "types.Rows",
        on: "types.On",
        *,
        source_alias: str | None = None,
        target_alias: str | None = None,
    ) -> "types.Merge":
        """Describe a merge of other rows into the table: SQL's MERGE INTO.

            merge = table.merge(changes, on="id")
            merge = merge.when_matched_delete("source.gone")
            merge = merge.when_matched_update({"qty": "target.qty + source.qty"})
            merge.when_not_matched_insert().execute()

        Args:
            source: rows in any form that `append` takes, such as another table.
            on: columns that are equal on both sides (`"id"`, `["id", "dt"]`), the table's columns
                by the source's (`{"id": "key"}`), or a condition (`"target.id = source.key"`).
            source_alias: another word for `source` in expressions.
            target_alias: another word for `target`.

        Raises:
            InvalidInputError: this is a view of the past.
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
        """Replace rows by others in one commit.

        Args:
            data: the new rows; none remove what would be replaced.
            partition: values of some partition columns, also as texts: all rows that have them are
                replaced, and the new rows may leave these columns out; `{}` replaces all rows. If
                it is left out: the partitions of the new rows, or of an unpartitioned table all
                rows; with the option `dynamic-partition-overwrite=false` always all rows. None
                means the same, but is refused where that would be all rows of several partitions.

        Raises:
            InvalidInputError: new rows outside of the partition; else as for `append`.
            CommitConflictError: others have changed the same partitions meanwhile.
        """
        writer = self._writer()
        return writer.overwrite(data, writer.stated_partition(partition))

    def truncate(self) -> Snapshot | None:
        """Remove all rows in one commit."""
        return self._writer().drop([{}])

    def drop_partitions(
        self, *partitions: Mapping[str, object] | Sequence[Mapping[str, object]]
    ) -> Snapshot | None:
        """Remove all rows of partitions in one commit.

        Args:
            partitions: each the values of some partition columns, as `{"dt": "2026-01-01"}`.

        Raises:
            InvalidInputError: none is given, or a column is no partition column.
        """
        specs = [spec for given in partitions for spec in _specs(given)]
        if not specs or not all(specs):
            msg = "drop_partitions() needs at least one partition."
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
        """Make fewer and larger files of the same rows, in one commit.

            table.compact(strategy="zorder", columns=["lat", "lon"])

        On tables with deletion vectors and on first-row tables this is also what makes new rows
        visible; a changelog of the producers `lookup` and `full-compaction` is written here.

        Args:
            full: everything that can be made better; False: what the table's options ask for by
                the number and sizes of files.
            partitions: one, or several, each the values of some partition columns; None: the whole
                table.
            strategy: bring all rows of an append table in an order, so that filters skip more:
                `order`, `zorder`, `hilbert`, or `auto` by the number of columns.
            columns: by which columns; none: the option `clustering.columns`.

        Returns:
            The snapshot; None if there was nothing to do.

        Raises:
            UnsupportedFeatureError: the table has something that is not compacted here.
            InvalidInputError: an unknown strategy or column.
            CommitConflictError: another job has compacted or replaced the same files meanwhile.
        """
        specs = None if partitions is None else _specs(partitions)
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

    def _keyed(self) -> None:
        if not self.schema.primary_keys:
            raise InvalidInputError(
                f"upsert() needs a primary key, and table {self.name} has none.",
                hint="Add rows with append(), or update matching rows with merge().",
            )

    def _writer(self) -> "TableWriter":
        from paimon_explore.table.table_write import TableWriter

        if self.travel.given:
            raise InvalidInputError(
                f"{self.name} is opened at a point in the past and cannot be changed.",
                hint="Write to the table opened without time travel.",
            )
        schema = latest_schema(self.store)
        options = TableOptions({**schema.options, **self.dynamic_options})
        return TableWriter(store=self.store, schema=schema, options=options)


def _specs(given: object) -> list[Mapping[str, object]]:
    """Partitions; a single one may stand alone.

    Raises:
        InvalidInputError: something else.
    """
    specs: Iterable[object] = [given]
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        specs = given
    found: list[Mapping[str, object]] = []
    for spec in specs:
        if not isinstance(spec, Mapping):
            msg = f"{spec!r} is not a partition."
            raise InvalidInputError(
                msg, hint='Pass values by column, such as {"dt": "2026-01-01"}.'
            )
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
        path: the table's folder: a local path, `file:///…`, `s3://bucket/…` and the like.
        branch: the branch to read and write; None for main.
        storage_options: settings and secrets of the storage, in the names of Paimon, Hadoop, boto3,
            s3fs or object_store (`s3.endpoint`, `endpoint_url`, …), and `timeout`,
            `connect_timeout`, `retry_timeout`, `max_retries` of requests.
        options: dynamic table options, such as `scan.snapshot-id`.

    Raises:
        NotFoundError: there is no table, or it has no such branch, snapshot or tag.
        InvalidInputError: an option has a wrong value.
    """
    optional_string("branch", branch)
    file_io, root = resolve_location(path, storage_options)
    dynamic = declared_options(options)
    wanted = branch or dynamic.get(BRANCH.key, MAIN_BRANCH)
    store = TableStore(file_io, TablePaths(root, wanted))
    schema = latest_schema(store)
    if dynamic:
        from paimon_explore.metadata.schema.schema_validation import check_dynamic_options

        check_dynamic_options(schema, dynamic)
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
