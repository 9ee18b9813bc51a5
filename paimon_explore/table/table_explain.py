"""The methods of a table that answer questions about it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from importlib import import_module
from os import fspath
from typing import TYPE_CHECKING, TypeAlias

from paimon_explore.arguments import (
    boolean,
    instance,
    integer,
    invalid_argument,
    optional_integer,
    optional_names,
    path,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.time_travel import TimeTravel
from paimon_explore.table import lazy_types as types
from paimon_explore.table.latest_schema import latest_schema

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.inspection.compare.table_side import TableSide
    from paimon_explore.inspection.table_view import TableSql, TableView
    from paimon_explore.inspection.views.inspector import Inspector
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.arguments import string
from paimon_explore.table.table_read import ReadableTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SearchableTable(ReadableTable):
    """A table with searches in its global indexes."""

    def full_text_search(
        self,
        column: str,
        query: str | Mapping[str, object],
        limit: int = 10,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
    ) -> pa.Table:
        """Find the rows whose text matches best, by a full-text index.

        Rows that were written after the index was built are not found until it is built again.
        Needs the extra `full-text`.

        Args:
            column: the indexed column.
            query: words, or a query of the library such as `{"match": {"query": "some words"}}`.
            limit: maximum number of rows.
            columns: the columns of the result; None for all.
            where: a filter, as for `scan`; it is applied before rows are ranked.

        Returns:
            The rows, the best first, with the column `_SCORE`: higher is better.

        Raises:
            NotFoundError: the column has no full-text index.
            InvalidInputError: unknown columns, or a query that cannot be evaluated.
            UnsupportedFeatureError: the extra is not installed, the catalog restricts rows or
                columns, or updates leave the index outdated.
            CorruptFileError: an index file is damaged.

        >>> import paimon_explore as pe
        >>> try:
        ...     pe.demo().table("demo.orders").full_text_search("city", "Oslo")
        ... except pe.errors.NotFoundError as error:
        ...     print(error.kind, error.name)
        index city
        """
        from paimon_explore.scan.search_indexes import IndexQuery
        from paimon_explore.table.searches.index_search import searched_rows

        asked = IndexQuery(
            column=string("column", column),
            limit=integer("limit", limit, minimum=1),
            words=query if isinstance(query, Mapping) else string("query", query),
        )
        return searched_rows(self._target(), asked, columns, where)

    def vector_search(
        self,
        column: str,
        vector: Sequence[float],
        limit: int = 10,
        *,
        columns: Iterable[str] | None = None,
        where: "types.Where | None" = None,
    ) -> pa.Table:
        """Find the rows with the nearest vectors, by a vector index.

        The search is approximate, as the type of the index determines. Rows that were written after
        the index was built are not found until it is built again. Needs the extra `vindex`.

        Args:
            column: the indexed column.
            vector: as many numbers as the vectors of the column have.
            limit: maximum number of rows.
            columns: the columns of the result; None for all.
            where: a filter, as for `scan`; it is applied before rows are ranked.

        Returns:
            The rows, the nearest first, with the column `_SCORE`: 1 / (1 + distance) for the metric
            `l2`, the cosine for `cosine`, the product for `inner_product`.

        Raises:
            NotFoundError: the column has no vector index.
            InvalidInputError: unknown columns, or a vector with another number of dimensions.
            UnsupportedFeatureError: as for `full_text_search`.
            CorruptFileError: an index file is damaged.

        >>> import paimon_explore as pe
        >>> try:
        ...     pe.demo().table("demo.orders").vector_search("amount", [0.5, 1.5])
        ... except pe.errors.NotFoundError as error:
        ...     print(error.kind, error.name)
        index amount
        """
        from paimon_explore.scan.search_indexes import IndexQuery
        from paimon_explore.table.searches.index_search import searched_rows

        try:
            numbers = np.asarray(vector, np.float32)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"The vector must be numbers: {error}.") from error
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise InvalidInputError("The vector must be a list of finite numbers.")
        asked = IndexQuery(
            column=string("column", column),
            limit=integer("limit", limit, minimum=1),
            vector=numbers,
        )
        return searched_rows(self._target(), asked, columns, where)


Point: TypeAlias = int | str | datetime
"""A snapshot id, a tag's name, or a time: the newest snapshot that is not younger."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExplainableTable(SearchableTable):
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
        from paimon_explore.inspection.rendering.code_snippet import (
            Code,
            call_code,
            point_code,
            read_code,
        )
        from paimon_explore.scan.predicate.sql_formatter import to_sql
        from paimon_explore.scan.predicate.sql_parser import predicate

        found = self.scan(columns, where, limit).explain()
        text = None if where is None else to_sql(predicate(where))
        names = None if columns is None else list(found.columns)
        at = 0 if not self.travel.given or found.snapshot is None else found.snapshot.id
        call = f"{point_code('t', at)}.explain"
        call = call_code(call, where=text, columns=names, limit=limit)
        options = {"scan.snapshot-id": at} if at else None
        then = f".where({text!r}).explain()" if text else ".explain()"
        return replace(
            found, name=self.name, code=Code(python=call, spark=read_code(self.path, options, then))
        )

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
        from paimon_explore.inspection.rendering.code_snippet import point_code
        from paimon_explore.table.display import RENDERER

        boolean("exact", exact)
        wanted = optional_names("columns", columns)
        scan = self.scan(wanted, where, limit)
        if scan.increment is not None:
            raise InvalidInputError(
                "A profile describes the rows of a snapshot, not the changes between two points.",
                hint="Remove the options incremental-between….",
            )
        rows = ProfiledRows(
            target=scan.target, row_type=scan.row_type, where=scan.where, limit=scan.row_limit
        )
        if exact or limit is not None:
            found = rows_result(rows, profile_rows(rows), self.name)
        else:
            found = statistics_result(rows, self.name)
        at = 0 if not self.travel.given or found.snapshot is None else found.snapshot.id
        code = profile_code(
            point_code("t", at),
            self.path,
            columns=None if wanted is None else list(wanted),
            where=found.where or None,
            exact=exact or None,
            limit=limit,
        )
        return replace(found, code=code, renderer=RENDERER)

    def lsm(self, partition: "types.Given" = None, bucket: int | None = None) -> "types.LsmSection":
        """Show the LSM tree of a bucket: sorted runs by level, key ranges, read amplification.

        Args:
            partition: `dt=d1`, `{"dt": "d1"}`, or the value of the only partition column; None for
            any.
            bucket: the bucket number; None for the one with most sorted runs.

        Raises:
            NotFoundError: there is no such partition or bucket.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.customers").lsm(bucket=0).kind
        'lsm'
        """
        from paimon_explore.inspection.views.lsm_tree_view import lsm_section

        optional_integer("bucket", bucket)
        inspector = self._inspector()
        return lsm_section(inspector.view, inspector.snapshot, partition, bucket, at=inspector.code)

    def why(self, file: str) -> "types.FileExplanation":
        """Explain why a file exists: who added and removed it, what keeps it, when it may go.

        Args:
            file: name or path of a data file, manifest, manifest list, index file or statistics
            file.

        Raises:
            NotFoundError: neither the metadata nor the table's folder has such a file.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.why(t.snapshot.base_manifest_list).kind
        'why'
        """
        from paimon_explore.commit.commit_timing import system_clock
        from paimon_explore.inspection.explain.file_explanation import explain_file

        return explain_file(self._inspector(), fspath(path("file", file)), system_clock())

    def health(self) -> "types.Health":
        """Check the condition of the table: small files, unmerged runs, old snapshots and so on.

        Each warning has its figure, its threshold and the option that changes it.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.parcels").health().kind
        'health'
        """
        from paimon_explore.commit.commit_timing import system_clock
        from paimon_explore.inspection.health.health_report import table_health

        return table_health(self._inspector(), system_clock())

    def schema_history(self) -> "types.SchemaHistory":
        """Show all versions of the schema: fields by id, options, and the live files that use them.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").schema_history().kind
        'schema'
        """
        from paimon_explore.inspection.history.schema_history import schema_history

        inspector = self._inspector()
        marks = inspector.timeline().marks
        known = tuple(mark.snapshot for mark in marks if mark.snapshot is not None)
        return schema_history(inspector.view, inspector.snapshot, known, at=inspector.code)

    def first_change(self, where: "types.Where", condition: "types.Where") -> "types.FirstChange":
        """Find the first snapshot at which a row fulfils a condition, such as a wrong value.

        The snapshots are bisected, so about log2(n) of them are read. If the condition held several
        times, one of the snapshots at which it began to hold is found.

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

        def matching(number: int) -> "pa.Table":
            scan = replace(self, travel=TimeTravel(snapshot=number)).scan()
            return scan.filter(where).filter(condition).to_arrow()

        return first_change(self.store, self.name, text, matching)

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

    def preview_expiry(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: "types.Age | None" = None,
        limit: int | None = None,
    ) -> "types.ExpiryPreview":
        """Preview `expire_snapshots` with the same arguments: what it would remove and free.

        Args:
            retain_min: keep at least so many of the newest snapshots.
            retain_max: keep at most so many.
            older_than: between these numbers, remove the snapshots older than this age or time.
            limit: remove at most so many at once.

        Raises:
            InvalidInputError: the arguments contradict each other.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").preview_expiry(retain_max=2).kind
        'expiry'
        """
        from paimon_explore.inspection.explain.expiry_preview import expiry_preview
        from paimon_explore.inspection.rendering.code_snippet import Code, call_code
        from paimon_explore.table.maintenance import Maintenance

        upkeep = Maintenance(store=self.store, dynamic_options=self.dynamic_options)
        retention = upkeep.snapshot_retention(
            retain_min=retain_min, retain_max=retain_max, older_than=older_than, limit=limit
        )
        given = {"retain_min": retain_min, "retain_max": retain_max, "limit": limit}
        age = older_than if older_than is None or isinstance(older_than, str) else str(older_than)
        code = Code(python=call_code("t.preview_expiry", **given, older_than=age))
        return expiry_preview(self._inspector(), retention, code)

    def compare(
        self,
        other: "ExplainableTable | None" = None,
        *,
        at: Point | None = None,
        rows: int = 20,
        max_read: int | None = 256 * 1024 * 1024,
    ) -> "types.TableComparison":
        """Compare with another table, branch or snapshot: schema, options, files and rows.

        Columns are matched by name. Rows are compared by primary key if both tables have the same
        one, else as whole rows with duplicates; columns that only one table has are left out.

        Args:
            other: another table or branch, possibly of another catalog; None for this table.
            at: a snapshot of it: its id, a tag or a time; None for the one that `other` reads, or
                the snapshot before for this table.
            rows: show so many of the keys or rows that differ; 0 to compare no rows.
            max_read: compare rows only if the data files to read are at most this large, in bytes;
                None for any size. The result says how much it is.

        Raises:
            NotFoundError: there is no such snapshot.
            InvalidInputError: a point is neither an id, a tag nor a time.

        >>> import paimon_explore as pe
        >>> found = pe.demo().table("demo.orders").compare(at=4)
        >>> found.schema_equal, found.rows_equal, found.rows.only_a, found.rows.only_b
        (True, False, 6, 0)
        """
        from paimon_explore.inspection.compare.table_comparison import table_comparison
        from paimon_explore.inspection.compare.table_side import TableSide
        from paimon_explore.inspection.rendering.code_snippet import Code, call_code, point_code

        check_point("at", at)
        integer("rows", rows, minimum=0)
        optional_integer("max_read", max_read, minimum=0)
        if other is not None:
            instance("other", other, ExplainableTable, "a Table or None")
        first = self._side()
        if other is None or at is not None:
            inspector = (other or self)._inspector()  # noqa: SLF001 - of this class
            before = inspector.before(first.snapshot) if at is None else inspector.point(at)
            second = TableSide(view=inspector.view, snapshot=before, travelled=True)
        else:
            second = other._side()  # noqa: SLF001 - of this class
        number = 0 if first.snapshot is None or not self.travel.given else first.snapshot.id
        given = call_code(
            f"{point_code('t', number)}.compare",
            at=at if at is None or isinstance(at, int | str) else str(at),
            rows=None if rows == 20 else rows,  # noqa: PLR2004 - the default
        )
        if other is not None:
            given = given.replace("(", "(other, " if at is not None else "(other", 1)
        return table_comparison(
            first, second, sample=rows, max_read=max_read, code=Code(python=given)
        )

    def _side(self) -> "TableSide":
        from paimon_explore.inspection.compare.table_side import TableSide

        return TableSide(
            view=self._view(), snapshot=self.snapshot, travelled=bool(self.travel.given)
        )

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

        if self.travel.given:
            raise InvalidInputError(
                f"Table {self.name} is opened with time travel, but maintenance acts on the latest "
                "snapshot.",
                hint="Open the table without time travel to preview its maintenance.",
            )
        return WhatIf(view=self._view())

    def _view(self) -> "TableView":
        from paimon_explore.inspection.table_view import TableView
        from paimon_explore.table.display import RENDERER

        return TableView(
            store=self.store,
            schema=latest_schema(self.store),
            name=self.name,
            dynamic_options=self.dynamic_options,
            renderer=RENDERER,
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
        snapshot_id, inspector = at_once(self.store.file_io, reads)
        assert isinstance(inspector, Inspector)  # noqa: S101 - the second read
        return inspector.at(snapshot_id) if isinstance(snapshot_id, int) else inspector


def check_point(name: str, point: object) -> None:
    """Reject what is neither an id, a tag nor a time."""
    if point is None or isinstance(point, str | date):
        return
    if isinstance(point, bool | float):
        raise invalid_argument(name, point, "a snapshot id, the name of a tag or a time")
    integer(name, point, minimum=0)
