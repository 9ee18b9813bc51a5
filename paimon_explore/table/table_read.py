"""The methods of a table that read rows and the changes of commits."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.arguments import (
    boolean,
    integer,
    optional_integer,
    optional_names,
    optional_string,
    seconds,
)
from paimon_explore.data_types import data_frames
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_enums import StartupMode
from paimon_explore.metadata.options.table_options import (
    INCREMENTAL_BETWEEN,
    INCREMENTAL_BETWEEN_TIMESTAMP,
    INCREMENTAL_TO_AUTO_TAG,
    SCAN_MODE,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.time_travel import travel_of
from paimon_explore.table import lazy_types as types
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan, make_scan
from paimon_explore.table.table_base import BaseTable, dynamic_options_of, store_of

if TYPE_CHECKING:
    from paimon_explore.scan.plan import ScanTarget
    from paimon_explore.table.incremental_range import Increment
    from paimon_explore.table.row_changes import ChangeReader
    from paimon_explore.table.streams.stream_reader import StreamRequest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadableTable(BaseTable):
    """A table with its reads, which return Arrow data."""

    @property
    def snapshots(self) -> "types.Listing[int, Snapshot]":
        """The snapshots, by id."""
        from paimon_explore.table import references

        return references.snapshots(self._store)

    @property
    def schemas(self) -> "types.Listing[int, TableSchema]":
        """The schemas, by id."""
        from paimon_explore.table import references

        return references.schemas(self._store)

    @property
    def tags(self) -> "types.Listing[str, types.Tag]":
        """The tags, by name."""
        from paimon_explore.table import references

        return references.tags(self._store)

    @property
    def branches(self) -> "types.Listing[str, str]":
        """The names of the branches other than main."""
        from paimon_explore.table import references

        return references.branches(self._store)

    def scan(
        self,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        limit: int | None = None,
    ) -> Scan:
        """Describe a read of the table.

        Names of columns match exactly, or without regard to case if only one column does. `"r.x"`
        selects a field of a ROW column; the result then has the column `r`, a struct of only the
        selected fields.

        Args:
            columns: the columns in result order; None for all.
            where: a filter: SQL text (`"dt = '2026-01-01' AND a > 3"`) or `pe.col("a") > 3`.
            limit: maximum number of rows.

        Returns:
            A scan; `select`, `filter` and `limit` of it restrict it further.

        Raises:
            InvalidInputError: unknown columns, or a filter that cannot be parsed.
            NotFoundError: a snapshot or tag of the option `incremental-between` does not exist.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.scan(["id", "city"], "id > 403").to_arrow().sort_by("id").to_pylist()
        [{'id': 404, 'city': None}, {'id': 405, 'city': 'Oslo'}]
        """
        scan = make_scan(self._target(), columns, where, limit)
        pinned = bool(self._travel.given)
        if pinned or not _is_incremental(scan.target.options):
            return scan
        from paimon_explore.table.incremental_range import increment_of

        return replace(scan, increment=increment_of(scan.target))

    def changes(
        self,
        from_snapshot: int | None = None,
        to_snapshot: int | None = None,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        consumer_id: str | None = None,
        mode: str = "auto",
    ) -> "Iterator[types.Change]":
        """Iterate over the changes of each commit, oldest first.

        Replayed in order onto the rows before the first commit, the changes give the rows after the
        last one. With a primary key, +I and +U set the row of a key, -U and -D remove it; without
        one, +I and +U add a row, -U and -D remove one. The changes of a commit are its changelog or
        its added rows where these are complete, else the difference of the states before and after
        it.

        Args:
            from_snapshot: the first commit; None for the earliest one from which on all changes are
            known.
            to_snapshot: the last commit; None for the latest at the time of the call.
            columns: as for `scan`.
            where: a filter, as for `scan`.
            consumer_id: a name under which the progress is stored with the table: the next call
                starts after the last commit that was followed by a request for another one.
                Snapshots that a consumer still has to read do not expire.
            mode: `auto` as above. `delta` and `changelog` are the streams of Java Paimon, which
                skip some
                commits: `delta` returns the rows of the files that APPEND commits added,
                `changelog` those of changelog files.

        Raises:
            NotFoundError: a commit of the range expired and left no changelog, or there is no such
                snapshot yet. The one after the latest is allowed and gives nothing.
            SnapshotExpiredError: the changes of a commit are unknown, because a state that is
                needed has expired.
            UnsupportedFeatureError: the rows of the table are in several branches.
            InvalidInputError: an end before the start, unknown columns or mode, or a filter that
                cannot be parsed.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> for change in t.changes(from_snapshot=2):
        ...     change.snapshot.id, change.rows.to_pylist()
        (2, [{'rowkind': '+U', 'id': 1, 'state': 'paid'}])
        (3, [{'rowkind': '-D', 'id': 2, 'state': 'new'}])
        """
        from paimon_explore.scan.incremental import SnapshotRange
        from paimon_explore.table.incremental_range import commit_mode
        from paimon_explore.table.row_changes import next_change

        optional_integer("from_snapshot", from_snapshot, minimum=1)
        optional_integer("to_snapshot", to_snapshot, minimum=0)
        optional_string("consumer_id", consumer_id)
        reader = replace(self._change_reader(columns, where), mode=commit_mode(mode))
        latest = self._store.snapshots.latest_id() or 0
        last = latest if to_snapshot is None else to_snapshot
        _check_range(from_snapshot, to_snapshot, latest)
        first = from_snapshot
        if first is None:
            first = next_change(self._store, consumer_id) or reader.first_until(last)
        span = SnapshotRange(start=first - 1, end=last)
        return reader.commits(span) if consumer_id is None else reader.consumed(span, consumer_id)

    def follow(  # noqa: PLR0913 - keyword arguments
        self,
        from_: "types.StreamPoint | None" = None,
        *,
        full: bool = False,
        until: int | str | None = None,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        poll: float | None = None,
        timeout: float | None = None,
        consumer: str | None = None,
        auto_ack: bool = True,
        max_rows: int = 1_000_000,
        max_bytes: int = 64 << 20,
        mode: str = "auto",
    ) -> "types.ChangeStream":
        """Follow the commits of the table: iterate over their changes as they are made.

        The changes of a commit are those of `changes`: replayed in order they give the rows of the
        table. They come in batches: large commits in several, commits without rows in none. The
        stream is also an asynchronous iterator: `async for batch in t.follow()`.

        If the next commit has expired, or commits that the stream has read are rolled back or
        replaced, it fails with an error. A consumer stores only the id of the next snapshot: after
        a rollback, `t.maintenance.consumers.reset` those that were ahead before they start again.
        The rows have the columns of the schema at the start.

        Of a chain table the commits of the delta branch are followed, with its ids; the rows at the
        start are those of both branches, as the option `chain-table.streaming.merge-snapshot` says.

        Args:
            from_: the start: `latest`: only commits from now on. `full` (`latest-full`): the rows
                of the table now, then changes; `compacted-full`: the same from the latest
                compaction. `earliest`: the changes of all commits that are known. A snapshot id or
                the name of a tag: its changes and later ones. A time: the first commit at or after
                it. A dict of `scan.*` options. None: as the table's `scan.*` options say, in Java's
                meaning; by default `full`.
            full: read the rows at the start position first, then the changes after it.
            until: the last snapshot: an id, the name of a tag, or `now`; None for no end.
            columns: as for `scan`; None for those of the table at the start.
            where: a filter, as for `scan`.
            poll: seconds between looks at the table; None for the option
                `continuous.discovery-interval`, or 1.
            timeout: seconds after which a request without a new batch ends the loop; 0 reads what
                is there. None waits for ever, until `close`.
            consumer: a name under which the position is stored with the table, as Java stores it:
                the stream goes on there, whatever `from_` is, and snapshots that it has not read
                yet do not expire. `t.maintenance.consumers` deletes and resets it.
            auto_ack: store the position when the batch after a commit is asked for; False: when a
                batch is acknowledged by `batch.ack()` or `stream.ack()`.
            max_rows: maximum number of rows of a batch.
            max_bytes: maximum size of a batch in memory.
            mode: `auto` as above. `delta` and `changelog` are the streams of Java Paimon, which
                skip some commits; see `changes`.

        Raises:
            NotFoundError: there is no such snapshot or tag.
            InvalidInputError: no start position, unknown columns, or an invalid filter.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.events")
        >>> for batch in t.follow(2, until="now"):
        ...     batch.snapshot_id, batch.rows.to_pylist()
        (2, [{'rowkind': '+U', 'id': 1, 'state': 'paid'}])
        (3, [{'rowkind': '-D', 'id': 2, 'state': 'new'}])
        """
        from paimon_explore.table.incremental_range import commit_mode
        from paimon_explore.table.streams.change_batch import BatchLimits
        from paimon_explore.table.streams.change_stream import Pace
        from paimon_explore.table.streams.follow import Following, follow, pinned_error
        from paimon_explore.table.streams.stream_position import position_options

        if from_ is None and self._travel.given and not travel_of(self.options).given:
            raise pinned_error()
        rows = integer("max_rows", max_rows, minimum=1)
        request = replace(
            stream_request(self, columns, where),
            start_options=position_options(from_),
            mode=commit_mode(mode),
            limits=BatchLimits(rows=rows, size=integer("max_bytes", max_bytes, minimum=1)),
        )
        following = Following(
            name=self.name,
            from_=from_,
            full=boolean("full", full),
            until=until,
            consumer=optional_string("consumer", consumer),
            auto_ack=boolean("auto_ack", auto_ack),
            poll_s=None if poll is None else seconds("poll", poll),
        )
        wait_s = None if timeout is None else seconds("timeout", timeout)
        return follow(request, following, Pace(timeout_s=wait_s))

    def between(
        self,
        start: int | str | datetime,
        end: int | str | datetime,
        *,
        mode: str = "auto",
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        row_kinds: bool = False,
    ) -> RowSource:
        """Read what changed after one point up to another.

        Args:
            start: a snapshot id, the name of a tag, or a time: an ISO text or a datetime, local
                without a zone, which means the last commit at or before it. Its own changes are not
                included.
            end: as `start`; included.
            mode: `auto` and `diff` compare the two states, by key, or by whole rows without a key:
                the result turns the first state into the second, whatever happened in between.
                Where a state has expired, `auto` returns the changes of the commits, as `changes`
                does. `delta` and `changelog` are those of Java Paimon: the rows of files that
                APPEND commits added, or of changelog files, as often as they were written; changes
                of other commits and records of postponed buckets are left out. With data evolution,
                columns that were written to the same row are one row.
            columns: as for `scan`.
            where: a filter, as for `scan`.
            row_kinds: include removed rows, and add the column `rowkind` in front.

        Raises:
            NotFoundError: there is no such tag or snapshot.
            InvalidInputError: unknown columns, mode or filter; an end before the start.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.customers")
        >>> t.between(4, 5, columns=["id"], row_kinds=True).to_arrow().sort_by("id").to_pylist()
        [{'rowkind': '-D', 'id': 3}, {'rowkind': '-D', 'id': 4}]
        """
        from paimon_explore.table.incremental_range import increment_between

        boolean("row_kinds", row_kinds)
        target = self._target()
        reader = self._change_reader(columns, where)
        chosen = increment_between(target, start, end, mode)

        schema = reader.schema if row_kinds else pa.schema(list(reader.schema)[1:])
        name = f"{self.name}, {chosen.mode.value} of ({chosen.span.start}, {chosen.span.end}]"
        load = partial(_rows_between, reader, chosen, row_kinds=row_kinds)
        return RowSource(name=name, schema=schema, load=load)

    def count(self, where: "types.Where | None" = None) -> int:
        """Return the number of rows, from metadata where that is exact.

        Args:
            where: a filter, as for `scan`; None counts all rows.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.count(), t.count("id >= 400")
        (30, 6)
        """
        return self.scan(where=where).count()

    def head(self, rows: int = 5) -> "data_frames.DataFrame":
        """Read the first rows of a scan into a pandas DataFrame.

        Args:
            rows: maximum number of rows.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").head(3).shape
        (3, 4)
        """
        return self.scan(limit=integer("rows", rows, minimum=0)).to_pandas()

    def to_arrow(self) -> pa.Table:
        """Read all rows into an Arrow table.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").to_arrow().column_names
        ['id', 'city', 'amount', 'dt']
        """
        return self.scan().to_arrow()

    def to_pandas(self, *, dtype_backend: str | None = None) -> "data_frames.DataFrame":
        """Read all rows into a pandas DataFrame.

        Args:
            dtype_backend: `pyarrow`, `numpy_nullable`, or None for NumPy types; see
                `Scan.to_pandas`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").to_pandas().shape
        (30, 4)
        """
        return self.scan().to_pandas(dtype_backend=dtype_backend)

    def search(  # noqa: PLR0913 - keyword arguments
        self,
        column: "str | Mapping[str, types.SearchQuery]",
        query: "types.SearchQuery | None" = None,
        limit: int = 10,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        weights: Mapping[str, float] | None = None,
        ranker: str = "rrf",
        candidates: int | None = None,
        options: Mapping[str, object] | None = None,
    ) -> pa.Table:
        """Find the rows that match a query best, by full-text and vector indexes.

        Rows that were written after the index was built are not found until it is built again,
        unless the option `vector-index.search-mode`, `full-text-index.search-mode` or
        `global-index.search-mode` of the table is `full`: then they are compared one by one.
        A search for words needs the extra `full-text`, one in a vector index the extra `vindex`;
        this one is approximate, as the type of the index determines.

        Args:
            column: the searched column; or queries by column: each column is searched, and the
                results are combined.
            query: words, or a query of the full-text library such as
                `{"match": {"query": "some words"}}`; or a vector: as many numbers as the vectors of
                the column have; or several vectors: a list of them, a matrix or an Arrow array.
            limit: maximum number of rows; of each vector, if there are several.
            columns: the columns of the result; None for all.
            where: a filter, as for `scan`; it is applied before rows are ranked.
            weights: of the queries of several columns, by column; 1 for others.
            ranker: how these are combined: `rrf` adds weight / (60 + rank), `mrr` weight / rank,
                `weighted_score` the weighted scores, from 0 for the last to 1 for the first row
                that a query finds.
            candidates: maximum number of rows that each of these queries finds; None for `limit`.
            options: of a search in one vector index: `{"ivf.nprobe": 32}` or
                `{"diskann.l_search": 200}`; more is slower and more exact.

        Returns:
            The rows, the best first, with the column `_SCORE`: higher is better. For a vector it is
            1 / (1 + distance) with the metric `l2`, the cosine with `cosine`, the product with
            `inner_product`. If several vectors are given, the column `_QUERY` has the number of the
            vector from 0 on, and the rows are in its order.

        Raises:
            NotFoundError: the column has no such index.
            InvalidInputError: unknown columns, a query that cannot be evaluated, or a vector with
                another number of dimensions.
            UnsupportedFeatureError: the extra is not installed, the catalog restricts rows or
                columns, or updates leave the index outdated.
            CorruptFileError: an index file is damaged.

        >>> import paimon_explore as pe
        >>> points = pe.demo().create_table(
        ...     "demo.points",
        ...     {"id": "INT", "v": "VECTOR<FLOAT, 2>"},
        ...     options={
        ...         "row-tracking.enabled": "true",
        ...         "data-evolution.enabled": "true",
        ...         "vector-index.search-mode": "full",
        ...         "fields.v.distance.metric": "l2",
        ...     },
        ... )
        >>> made = points.append([{"id": 1, "v": [0.0, 1.0]}, {"id": 2, "v": [3.0, 4.0]}])
        >>> points.search("v", [[3.0, 4.0], [0.0, 2.0]], 1, columns=["id"]).to_pylist()
        [{'id': 2, '_QUERY': 0, '_SCORE': 1.0}, {'id': 1, '_QUERY': 1, '_SCORE': 0.5}]
        """
        from paimon_explore.table.searches import index_search

        if isinstance(column, Mapping):
            if query is not None:
                raise InvalidInputError(
                    "The dict in the first argument contains the queries of all columns; omit the "
                    "second argument.",
                    hint="Pass other arguments by name, such as limit=10.",
                )
            if options is not None:
                raise InvalidInputError("A search in several columns takes no options.")
            asked = index_search.hybrid_search_of(column, limit, weights, ranker, candidates)
        elif weights is not None or ranker != "rrf" or candidates is not None:
            raise InvalidInputError(
                "weights, ranker and candidates are for searches in several columns.",
                hint="Pass a mapping of columns to queries.",
            )
        else:
            asked = index_search.search_of(column, query, limit, options)
        return index_search.searched_rows(self._target(), asked, columns, where)

    def __dataframe__(
        self,
        nan_as_null: bool = False,  # noqa: FBT001, FBT002 - as the protocol defines
        allow_copy: bool = True,  # noqa: FBT001, FBT002 - as the protocol defines
    ) -> object:
        """All rows through the data frame interchange protocol."""
        return self.scan().__dataframe__(nan_as_null, allow_copy)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def _change_reader(
        self, columns: Iterable[str] | None, where: "types.Where | None"
    ) -> "ChangeReader":
        from paimon_explore.table.row_changes import ChangeReader

        scan = make_scan(self._target(), columns, where, None)
        return ChangeReader(
            target=scan.target, columns=scan.columns, narrowed=scan.narrowed, where=scan.where
        )


def stream_request(
    table: ReadableTable, columns: Iterable[str] | None, where: "types.Where | None"
) -> "StreamRequest":
    """What a stream of a table reads; see `Table.follow` for the arguments."""
    from paimon_explore.table.streams.stream_reader import StreamRequest

    def scan_of(target: "ScanTarget", selected: tuple[str, ...] | None) -> Scan:
        return make_scan(target, selected, where, None)

    return StreamRequest(
        store=store_of(table),
        options=dict(dynamic_options_of(table)),
        columns=optional_names("columns", columns),
        scan_of=scan_of,
    )


def _rows_between(
    reader: "ChangeReader", chosen: "Increment", *, row_kinds: bool
) -> pa.RecordBatchReader:
    from paimon_explore.table.row_changes import without_retracts

    rows = reader.between(chosen)
    return (rows if row_kinds else without_retracts(rows)).to_reader()


def _is_incremental(options: TableOptions) -> bool:
    """Whether options ask for the changes between two points."""
    return (
        options.value(SCAN_MODE) in (StartupMode.INCREMENTAL, StartupMode.LATEST_DELTA)
        or options.value(INCREMENTAL_TO_AUTO_TAG) is not None
        or bool(options.value(INCREMENTAL_BETWEEN))
        or bool(options.value(INCREMENTAL_BETWEEN_TIMESTAMP))
    )


def _check_range(first: int | None, last: int | None, latest: int) -> None:
    """Reject snapshots that do not exist yet; the one after the latest is allowed."""
    hint = f"The latest snapshot is {latest}." if latest else "The table has no snapshot yet."
    if first is not None and first > latest + 1:
        raise NotFoundError("snapshot", first, hint=hint)
    if last is not None and last > latest:
        raise NotFoundError("snapshot", last, hint=hint)
    if first is not None and last is not None and first > last + 1:
        raise InvalidInputError(f"to_snapshot {last} is before from_snapshot {first}.")
