"""The methods of a table for system tables, timeline, manifest tree, bytes and the explorer."""

from collections.abc import Iterable
from os import PathLike

import pyarrow as pa

from paimon_explore.arguments import (
    boolean,
    optional_integer,
    optional_names,
    optional_string,
    path,
    seconds,
    string,
)
from paimon_explore.errors import (
    NotFoundError,
    PaimonError,
    choices,
    suggestion,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized
from paimon_explore.table import lazy_types as types
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table_explain import ExplainableTable, Point, check_point


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExplorableTable(ExplainableTable):
    """A table with its system tables, views of its metadata, and the explorer."""

    @property
    def inspect(self) -> "types.Inspection":
        """Paimon's system tables as Arrow tables, one method each.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.snapshots()["commit_kind"].to_pylist()[:2]
        ['APPEND', 'APPEND']
        """
        from paimon_explore.inspection.system_tables.table_inspection import Inspection
        from paimon_explore.inspection.system_tables.table_state import TableState

        target = self._target()
        state = TableState(
            store=self.store,
            schema=target.schema,
            options=target.options,
            snapshot=target.snapshot,
            travel=target.travel,
        )
        return Inspection(state=state)

    def system_table(self, name: str) -> RowSource:
        """Open a system table by name: `files`, `audit_log` and so on.

        Args:
            name: the name after the `$`.

        Raises:
            NotFoundError: there is no system table of that name.
            InvalidInputError: the table lacks the option that the system table needs.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").system_table("audit_log").schema.names
        ['rowkind', 'id', 'city', 'amount', 'dt']
        """
        string("name", name)
        from paimon_explore.inspection.system_tables.table_inspection import SYSTEM_TABLES
        from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES

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
        known = [*ROW_TABLES, *SYSTEM_TABLES]
        hint = f"{suggestion(name, known)}System tables: {choices(sorted(known), limit=30)}."
        raise NotFoundError("system table", name, self.name, hint=hint)

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
        try:
            from paimon_explore.widgets.explorer import explore
        except ImportError as error:
            from paimon_explore.table.display import missing_package

            raise missing_package("opening the explorer", error) from error
        from paimon_explore.inspection.explorer.explorer_tabs import Opening

        pinned = self.snapshot if self.travel.given else None
        if snapshot is None and pinned is not None:
            snapshot = pinned.id
        opening = Opening(tab=tab, snapshot=snapshot, compare=compare, filter=filter, text=text)
        return explore(self._view(), opening, height=height, live=seconds("live", live))

    def overview(self) -> "types.Overview":
        """Describe the table in sentences: what it is, its size, its commits, and what is wrong.

        >>> import paimon_explore as pe
        >>> overview = pe.demo().table("demo.orders").overview()
        >>> overview.to_arrow()["sentence"][0].as_py()
        'orders is an append table: it has no primary key, and rows are not merged.'
        """
        from paimon_explore.commit.commit_timing import system_clock
        from paimon_explore.inspection.overview.overview_report import table_overview

        return table_overview(self._inspector(), system_clock())

    def timeline(self) -> "types.Timeline":
        """Return all snapshots and what refers to them: tags, consumers, hints.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").timeline()
        Timeline(1..5 AAAAA)
        """
        return self._inspector().timeline()

    def files(self, where: str = "") -> "types.FilesView":
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
        return self._inspector().files(string("where", where))

    def partitions(self, where: str = "") -> "types.PartitionsView":
        """List the partitions with their files, rows and bytes.

        Args:
            where: a condition, as for `files`.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").partitions().to_arrow().num_rows
        3
        """
        return self._inspector().partitions_view(string("where", where))

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

    def heat(self) -> "types.PartitionHeat":
        """Show which partitions each snapshot changed, and how much.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").heat().to_arrow().num_rows
        15
        """
        from paimon_explore.inspection.views.partition_heatmap import partition_heat

        return partition_heat(self._inspector())

    def tree(self, key: str = "") -> "types.Children":
        """List the children of a node of the manifest tree.

        Args:
            key: the node, such as `base` or `delta/0`; by default the snapshot, whose children are
                its manifest lists.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").tree("base").to_arrow().num_rows
        4
        """
        return self._inspector().tree(string("key", key))

    def node(self, key: str = "") -> "types.Document":
        """Show one node of the manifest tree in full.

        Args:
            key: as for `tree`; by default the snapshot.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").node("delta/0").kind
        'node'
        """
        return self._inspector().node(string("key", key))

    def file(self, name: str) -> "types.Document":
        """Show one data file in full: its manifest entry, its statistics, and why some are missing.

        Args:
            name: the file's name.

        Raises:
            NotFoundError: there is no live file of that name.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> name = t.files().to_arrow()["file_name"][0].as_py()
        >>> t.file(name).kind
        'node'
        """
        return self._inspector().file(string("name", name))

    def bytes(self, what: "str | PathLike[str]" = "") -> "types.ByteLayout":
        """Decode the bytes of one file of the table as fields.

        Args:
            what: name or path of any file of the table, or a node of the manifest tree such as
                `base`, `delta/0` (a manifest), `delta/0/3` (the data file of an entry), `index`,
                `index/0`, `schema`, `statistics`; by default the file of the snapshot.

        Raises:
            NotFoundError: there is no such file or snapshot.
            UnsupportedFeatureError: the file is too large to decode.

        >>> import paimon_explore as pe
        >>> layout = pe.demo().table("demo.orders").bytes("base/0")
        >>> layout.to_arrow().num_rows > 50
        True
        """
        from paimon_explore.inspection.byte_inspector.file_of_tree_node import table_bytes

        return table_bytes(self._inspector(), path("what", what))

    def replay(self, snapshot: int | None = None, *, scenario: str = "alone") -> "types.Replay":
        """Repeat a commit step by step on a copy in memory; the table is not changed.

        The changes of the snapshot, whoever wrote it, go through the commit of this library.

        Args:
            snapshot: the snapshot whose commit to repeat; by default the pinned or latest one. The
                snapshot before it must exist.
            scenario: `alone`, `rival` (another commit is faster), `failure` (the storage fails
                half-way) or `lost-reply` (its answer gets lost).

        Raises:
            NotFoundError: there is no such snapshot, or the one before has expired.
            InvalidInputError: there is no such scenario.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").replay(3, scenario="rival").kind
        'replay'
        """
        from paimon_explore.inspection.explain.commit_replay import replay_commit

        optional_integer("snapshot", snapshot)
        string("scenario", scenario)
        chosen = self.snapshot if snapshot is None else self.store.snapshots.load(snapshot)
        if chosen is None:
            message = f"The table {self.name} has no snapshot to replay."
            raise NotFoundError("snapshot", "to replay", message=message)
        return replay_commit(self._view(), chosen, scenario)

    @property
    def renderer(self) -> "types.Renderer":
        """The renderer of this table's results in notebooks."""
        return self._view().renderer

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
