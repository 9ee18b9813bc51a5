"""The rows of a table, and what each commit changed."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.arguments import boolean, integer, optional_integer, optional_string
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.incremental import SnapshotRange
from paimon_explore.table import lazy_types as types
from paimon_explore.table.incremental_range import increment_between, increment_of
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.scan import Scan, make_scan
from paimon_explore.table.table_base import OpenedTable

if TYPE_CHECKING:
    from paimon_explore.table.row_changes import ChangeReader


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReadableTable(OpenedTable):
    """The doors that give rows; they come through Arrow."""

    def scan(
        self,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
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
        where: "types.Where | None" = None,
        consumer_id: str | None = None,
        mode: str = "auto",
    ) -> "Iterator[types.Change]":
        """What each commit changed, oldest first.

        Replayed in order onto the rows before the first commit, the changes give the rows after the
        last one. With a primary key +I and +U set the row of a key, -U and -D remove it; without
        one +I and +U add a row, -U and -D take one away. Commits are told by the changelog or the
        added rows where these suffice, else by comparing the states before and after; see
        `read.commit_changes`.

        Args:
            from_snapshot: the first commit; None for the earliest one from which on everything can
                be told.
            to_snapshot: the last commit; None for the latest now.
            columns: wanted columns; None for all.
            where: rows to keep.
            consumer_id: a name under which the progress is kept with the table: the next call
                begins behind the last commit after which another one was asked for. Snapshots that
                it still has to read do not expire.
            mode: `auto` as above. `delta` and `changelog` are Java's streams, which leave out what
                other commits changed: `delta` gives the rows of the files that APPEND commits
                added, `changelog` those of changelog files.

        Raises:
            NotFoundError: a commit of the range expired and left no changelog, or there is no such
                snapshot yet; the one after the latest may be asked for, and gives nothing.
            SnapshotExpiredError: what a commit changed cannot be told, because a state that is
                needed has expired.
            UnsupportedFeatureError: the rows of the table lie in several branches.
            InvalidInputError: an end before the start, unknown columns or mode, or a predicate that
                cannot be understood.
        """
        from paimon_explore.table.incremental_range import commit_mode
        from paimon_explore.table.row_changes import next_change

        optional_integer("from_snapshot", from_snapshot, minimum=1)
        optional_integer("to_snapshot", to_snapshot, minimum=0)
        optional_string("consumer_id", consumer_id)
        reader = replace(self._change_reader(columns, where), mode=commit_mode(mode))
        latest = self.store.snapshots.latest_id() or 0
        last = latest if to_snapshot is None else to_snapshot
        _check_range(from_snapshot, to_snapshot, latest)
        first = from_snapshot
        if first is None:
            first = next_change(self.store, consumer_id) or reader.first_until(last)
        span = SnapshotRange(start=first - 1, end=last)
        return reader.commits(span) if consumer_id is None else reader.consumed(span, consumer_id)

    def between(
        self,
        start: int | str,
        end: int | str,
        *,
        mode: str = "auto",
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        row_kinds: bool = False,
    ) -> RowSource:
        """What changed after one point up to another.

        Args:
            start: a snapshot id or a tag's name; its own changes are not included.
            end: a snapshot id or a tag's name; included.
            mode: `auto` and `diff` compare both states, by key, or whole rows where there is none:
                the result is what has to be done to the first to get the second, whatever happened
                between. Where a state has expired, `auto` gives the changes of the commits, as
                `changes` does. `delta` and `changelog` are Java's: the rows of files that APPEND
                commits added, or of changelog files, as often as they were written; what other
                commits changed is left out.
            columns: wanted columns; None for all.
            where: rows to keep.
            row_kinds: give also retracted rows, and the column `rowkind` in front.

        Raises:
            NotFoundError: no such tag or snapshot.
            InvalidInputError: unknown columns, mode or predicate; an end before the start.
        """
        from paimon_explore.table.row_changes import without_retracts

        boolean("row_kinds", row_kinds)
        target = self._target()
        reader = self._change_reader(columns, where)
        chosen = increment_between(target, start, end, mode)

        def load() -> pa.RecordBatchReader:
            rows = reader.between(chosen)
            return (rows if row_kinds else without_retracts(rows)).to_reader()

        schema = reader.schema if row_kinds else pa.schema(list(reader.schema)[1:])
        name = f"{self.name}, {chosen.mode.value} of ({chosen.span.start}, {chosen.span.end}]"
        return RowSource(name=name, schema=schema, load=load)

    def count(self, where: "types.Where | None" = None) -> int:
        """The number of rows, from metadata where that tells.

        Args:
            where: rows to count; None for all.
        """
        return self.scan(where=where).count()

    def head(self, rows: int = 5) -> "types.DataFrame":
        """Some rows as a pandas DataFrame, the first ones of the scan."""
        return self.scan(limit=integer("rows", rows, minimum=0)).to_pandas()

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table."""
        return self.scan().to_arrow()

    def to_batches(self) -> pa.RecordBatchReader:
        """All rows as a stream of record batches."""
        return self.scan().to_batches()

    def to_pandas(self) -> "types.DataFrame":
        """All rows as a pandas DataFrame."""
        return self.scan().to_pandas()

    def to_polars(self) -> "types.PolarsDataFrame":
        """All rows as a polars DataFrame."""
        return self.scan().to_polars()

    def to_duckdb(self, name: str = "t") -> "types.DuckDBPyConnection":
        """A DuckDB connection in which the rows are a view of that name."""
        return self.scan().to_duckdb(name)

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


def _check_range(first: int | None, last: int | None, latest: int) -> None:
    """Refuse snapshots that are not there yet; the next one may be asked for."""
    hint = f"The latest snapshot is {latest}." if latest else "The table has no snapshot yet."
    if first is not None and first > latest + 1:
        raise NotFoundError("snapshot", first, hint=hint)
    if last is not None and last > latest:
        raise NotFoundError("snapshot", last, hint=hint)
    if first is not None and last is not None and first > last + 1:
        raise InvalidInputError(f"to_snapshot {last} is before from_snapshot {first}.")
