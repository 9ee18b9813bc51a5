"""The methods of a table that answer questions about it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, TypeAlias

from paimon_explore.arguments import (
    boolean,
    integer,
    invalid_argument,
    optional_integer,
    optional_names,
    optional_string,
    seconds,
    string,
)
from paimon_explore.errors import InvalidInputError, PaimonError, needs_extra
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized
from paimon_explore.table import lazy_types as types
from paimon_explore.table.scan import make_scan
from paimon_explore.table.table_read import ReadableTable

if TYPE_CHECKING:
    import pyarrow as pa


Point: TypeAlias = int | str | datetime
"""A snapshot id, a tag's name, or a time: the newest snapshot that is not younger."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExplainableTable(ReadableTable):
    """A table with methods that explain it; their results can be printed, plotted or displayed."""

    def diff(
        self, before: Point | None = None, after: Point | None = None, *, rows: int = 0
    ) -> "types.SnapshotDiff":
        """Compare two snapshots: files, schema, options and indexes.

        Args:
            before: the first snapshot: its id, a tag or a time; None for the one before `after`, 0
                for the empty state before the first snapshot.
            after: the second snapshot; None for the pinned or latest one.
            rows: also show so many of the rows that differ, which reads files.

        Raises:
            NotFoundError: there is no such snapshot.
            InvalidInputError: a point is neither an id, a tag nor a time.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").diff(4, 5).to_arrow().num_rows
        3
        """
        from paimon_explore.inspection.views.snapshot_diff_view import snapshot_diff

        integer("rows", rows, minimum=0)
        check_point("before", before)
        check_point("after", after)
        inspector = self._inspector()
        second = inspector.point(after)
        first = inspector.before(second) if before is None else inspector.point(before)
        return snapshot_diff(inspector.view, first, second, rows=rows)

    def explain(
        self,
        where: "types.Where | None" = None,
        *,
        columns: Iterable[str] | None = None,
        limit: int | None = None,
    ) -> "types.ScanExplanation":
        """Explain a read: which files it opens, and for each file why or why not.

        Args:
            where: a filter, as for `scan`.
            columns: as for `scan`.
            limit: as for `scan`.

        Raises:
            InvalidInputError: unknown columns, or a filter that cannot be parsed.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").explain("dt = '2026-01-01'").kind
        'explain'
        """
        from paimon_explore.inspection.explain.scan_explanation import explain_code
        from paimon_explore.inspection.rendering.code_snippet import point_code, point_options
        from paimon_explore.scan.predicate.sql_formatter import to_sql
        from paimon_explore.scan.predicate.sql_parser import predicate

        found = self.scan(columns, where, limit).explain()
        text = None if where is None else to_sql(predicate(where))
        names = None if columns is None else list(found.columns)
        at = 0 if not self._travel.given or found.snapshot is None else found.snapshot.id
        asked = {"where": text, "columns": names, "limit": limit}
        code = explain_code(point_code("t", at), self.path, point_options(at), **asked)
        return replace(found, name=self.name, code=code)

    def profile(
        self,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
        *,
        exact: bool = False,
        limit: int | None = None,
    ) -> "types.Profile":
        """Profile columns: nulls, distinct values, minimum and maximum, histogram and so on.

        By default the figures come from statistics, without reading rows. They are bounds where the
        table has deleted or replaced rows; the result says so.

        Args:
            columns: as for `scan`; None for all.
            where: a filter, as for `scan`. Statistics are those of the files that may match.
            exact: read the rows. More than 16,384 distinct values are estimated, with a standard
                error of 0.8 %; all other figures are exact.
            limit: read only the first so many rows.

        Raises:
            InvalidInputError: unknown columns, a filter that cannot be parsed, or options that ask
                for the changes between two points.

        >>> import paimon_explore as pe
        >>> found = pe.demo().table("demo.orders").profile(["id"], exact=True)
        >>> found
        snapshot 5: 30 rows, 1 column
        column  type    nulls  distinct  min  max
        id      BIGINT      0        30  0    405
        >>> [edge.text for edge in found.columns[0].histogram.edges[:4]]
        ['0', '20', '40', '60']
        """
        from paimon_explore.inspection.profile.row_profile import ProfiledRows, profile_rows
        from paimon_explore.inspection.profile.table_profile import (
            profile_code,
            rows_result,
            statistics_result,
        )
        from paimon_explore.inspection.rendering.code_snippet import point_code, point_options

        boolean("exact", exact)
        wanted = optional_names("columns", columns)
        scan = self.scan(wanted, where, limit)
        if scan.increment is not None:
            raise InvalidInputError(
                "A profile describes the rows of a snapshot, not the changes between two points.",
                hint="Profile a snapshot, such as t.at(snapshot=2).profile(), without the options "
                "incremental-between….",
            )
        rows = ProfiledRows(
            target=scan.target, row_type=scan.row_type, where=scan.where, limit=scan.row_limit
        )
        if exact or limit is not None:
            found = rows_result(rows, profile_rows(rows), self.name)
        else:
            found = statistics_result(rows, self.name)
        at = 0 if not self._travel.given or found.snapshot is None else found.snapshot.id
        code = profile_code(
            point_code("t", at),
            self.path,
            point_options(at),
            columns=None if wanted is None else list(wanted),
            where=found.where or None,
            exact=exact or None,
            limit=limit,
        )
        return replace(found, code=code)

    def health(self) -> "types.Health":
        """Check the condition of the table: small files, unmerged runs, old snapshots and so on.

        Each warning has its figure, its threshold and the option that changes it.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").health().kind
        'health'
        """
        from paimon_explore.data_types.local_time import system_clock
        from paimon_explore.inspection.health.health_report import table_health

        return table_health(self._inspector(), system_clock())

    def first_change(self, where: "types.Where", condition: "types.Where") -> "types.FirstChange":
        """Find the first snapshot at which a row fulfils a condition, such as a wrong value.

        The snapshots are bisected, so about log2(n) of them are read, in the columns of the latest
        schema. If the condition held several times, one of the snapshots at which it began to hold
        is found.

        Args:
            where: which rows, such as `id = 7`.
            condition: what became true of one of them, such as `amount < 0`.

        Raises:
            NotFoundError: no row fulfils both at the latest snapshot.
            InvalidInputError: a condition that cannot be parsed, or an unknown column.

        >>> import paimon_explore as pe
        >>> found = pe.demo().table("demo.events").first_change("id = 1", "state = 'paid'")
        >>> found.snapshot.id, found.before
        (2, 1)
        """
        from paimon_explore.inspection.history.first_change import first_change
        from paimon_explore.scan.predicate.sql_formatter import to_sql
        from paimon_explore.scan.predicate.sql_parser import predicate

        text = f"{to_sql(predicate(where))} AND {to_sql(predicate(condition))}"

        newest = self._target()

        def matching(number: int) -> "pa.Table":
            snapshot = self._store.snapshots.load(number)
            target = replace(newest, snapshot=snapshot, travelled=True)
            return make_scan(target, None, where, None).filter(condition).to_arrow()

        return first_change(self._store, self.name, text, matching)

    def history(self, key: object, *, snapshots: int | None = None) -> "types.KeyHistory":
        """Show a key in each snapshot: its stored versions in every sorted run, and the merged row.

        Args:
            key: a value, the values in key order, a mapping by column, SQL text such as
                `id = 3, dt = 'd1'`, or `pe.col("id") == 3`; partition columns may be left out.
            snapshots: how many of the newest snapshots to read; None for 50.

        Raises:
            UnsupportedFeatureError: the table has no primary key.
            InvalidInputError: the key is incomplete, or a value does not fit its column.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.customers").history("id = 6").kind
        'key'
        """
        from paimon_explore.inspection.explain.key_history import key_history

        optional_integer("snapshots", snapshots, minimum=1)
        return key_history(self._inspector(), key, snapshots)

    @property
    def what_if(self) -> "types.WhatIf":
        """Previews of compaction, expiry and changed options; nothing is written.

        Raises:
            InvalidInputError: the table is a view of a point in time.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.customers").what_if.compact(full=False).kind
        'what_if'
        """
        from paimon_explore.table.previews.what_if import WhatIf

        if self._travel.given:
            raise InvalidInputError(
                f"Table {self.name} is opened with time travel, but maintenance acts on the latest "
                "snapshot.",
                hint="Open the table without time travel to preview its maintenance.",
            )
        return WhatIf(_view=self._view())

    @property
    def inspect(self) -> "types.TableInspection":
        """Paimon's system tables as Arrow tables, and reports on the structure of the files.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.inspect.snapshots()["commit_kind"].to_pylist()[:2], len(t.inspect.timeline())
        (['APPEND', 'APPEND'], 5)
        """
        from paimon_explore.table.table_inspection import TableInspection

        return TableInspection(_table=self)

    def explore(  # noqa: PLR0913 - the parts of a deep link
        self,
        *,
        tab: str | None = None,
        snapshot: "Point | None" = None,
        compare: "Point | None" = None,
        filter: str | None = None,  # noqa: A002 - the name of the widget's trait
        text: str | None = None,
        height: int | None = None,
        live: float = 0,
    ) -> "types.Explorer":
        """Open the explorer, a notebook widget, at the pinned or the latest snapshot.

        Args:
            tab: the view to open: overview, files, partitions, lsm, diff, explain and so on; by
                default the overview, or the list of files if `filter` is given.
            snapshot: the snapshot to select: its id, a tag or a time.
            compare: the snapshot to compare with, which opens the view diff.
            filter: a condition on the files to list, as for `files`.
            text: the input of the view, such as a condition for `explain`.
            height: pixels; by default the explorer follows the height of the window.
            live: follow the table: look for new snapshots every so many seconds, at least 0.5; 0
                switches it off. The timeline of the explorer has a switch for it, too.

        Raises:
            InvalidInputError: there is no such tab, or it has no input for `text`.
            NotFoundError: there is no such snapshot.
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.

        >>> import paimon_explore as pe
        >>> explorer = pe.demo().table("demo.orders").explore(tab="explain", text="id > 3")
        >>> explorer.result().kind
        'explain'
        """
        optional_integer("height", height)
        check_point("snapshot", snapshot)
        check_point("compare", compare)
        for name, value in (("tab", tab), ("filter", filter), ("text", text)):
            if value is not None:
                string(name, value)
        with needs_extra("notebook", "opening the explorer"):
            from paimon_explore.widgets.explorer import explore
        from paimon_explore.inspection.explorer.explorer_tabs import Opening

        pinned = self.snapshot if self._travel.given else None
        if snapshot is None and pinned is not None:
            snapshot = pinned.id
        opening = Opening(tab=tab, snapshot=snapshot, compare=compare, filter=filter, text=text)
        return explore(self._view(), opening, height=height, live=seconds("live", live))

    def files(self, where: str | None = None) -> "types.FilesView":
        """List the live data files, with their minimum and maximum values.

        Args:
            where: a condition on partition columns, bucket, level, rows, size, schema, created,
                added, removed and file, such as `dt = 'd1' and level = 0 and size < 1 MB`.

        Raises:
            InvalidInputError: a condition that cannot be parsed.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").files("dt = '2026-01-01'").to_arrow().num_rows
        5
        """
        return self._inspector().files(optional_string("where", where) or "")

    def partitions(self, where: str | None = None) -> "types.PartitionsView":
        """List the partitions with their files, rows and bytes.

        Args:
            where: a condition, as for `files`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").partitions().to_arrow().num_rows
        3
        """
        return self._inspector().partitions_view(optional_string("where", where) or "")

    def rows(
        self,
        where: "types.Where | None" = None,
        *,
        columns: Iterable[str] | None = None,
        partition: "types.Given" = None,
        bucket: int | None = None,
        file: str | None = None,
        merged: bool | None = None,
    ) -> "types.RowsView":
        """Show rows, of which only those that are looked at are read.

        Without merging, each stored record is shown, with its sequence number, row kind, level,
        file and position, and why a read does not return it: hidden by a deletion vector, or
        replaced by a newer record.

        Args:
            where: a filter, as for `scan`.
            columns: as for `scan`.
            partition: `dt=d1`, `{"dt": "d1"}`, or the value of the only partition column.
            bucket: a bucket number.
            file: the name of a live data file.
            merged: True for the rows that reads return, False for stored records; by default
                merged rows, except for a file of a table with a primary key.

        Raises:
            InvalidInputError: unknown columns, a filter that cannot be parsed, or merged rows of a
                single file of a table with a primary key.
            NotFoundError: there is no such partition, bucket or live file.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").rows("id > 404").to_arrow()["id"].to_pylist()
        [405]
        """
        from paimon_explore.inspection.rows.table_rows import RowsArguments, table_rows

        optional_integer("bucket", bucket)
        optional_string("file", file)
        given = RowsArguments(
            where=where,
            columns=optional_names("columns", columns),
            partition=partition,
            bucket=bucket,
            file=file,
            merged=None if merged is None else boolean("merged", merged),
        )
        return table_rows(self._inspector(), given, self._target())

    def __repr__(self) -> str:
        """Describe the table in a few lines: keys, snapshot, files, tags."""
        from paimon_explore.inspection.explorer.text_rendering import explorer_text

        try:
            return explorer_text(self._inspector())
        except PaimonError as error:
            return f"{sanitized(self.name)}   ({sanitized(self.path)})\n{error}"

    def _repr_html_(self) -> str:
        """Return the static picture of the explorer."""
        from paimon_explore.inspection.explorer.static_html import explorer_html
        from paimon_explore.inspection.rendering.escape import esc

        try:
            return explorer_html(self._inspector())
        except PaimonError as error:
            return f"<pre>{esc(self.name)}\n{esc(str(error))}</pre>"


def check_point(name: str, point: object) -> None:
    """Reject what is neither an id, a tag nor a time."""
    if point is None or isinstance(point, str | date):
        return
    if isinstance(point, bool | float):
        raise invalid_argument(name, point, "a snapshot id, the name of a tag or a time")
    integer(name, point, minimum=0)
