"""The doors that explain a table: system tables, timeline, manifest tree and the explorer."""

from os import PathLike

import pyarrow as pa

from paimon_explore.arguments import integer, optional_integer, path, string
from paimon_explore.errors import (
    NotFoundError,
    PaimonError,
    UnsupportedFeatureError,
    choices,
    suggestion,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized
from paimon_explore.table import lazy_types as types
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table_explain import ExplainableTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ExplorableTable(ExplainableTable):
    """The doors that explain: each gives a value that is shown as text, picture or widget."""

    @property
    def inspect(self) -> "types.Inspection":
        """Paimon's system tables, a method for each: `t.inspect.files()`."""
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
        """A system table by its name: `files`, `audit_log`, and so on.

        Raises:
            NotFoundError: there is none of that name.
            InvalidInputError: it asks for a table with another setting.
        """
        string("name", name)
        from paimon_explore.inspection.system_tables.table_inspection import SYSTEM_TABLES
        from paimon_explore.table.row_system_tables import ROW_TABLES

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

    def explore(self, *, height: int = 560) -> "types.Explorer":
        """The explorer widget, at the pinned snapshot or the newest one.

        Args:
            height: pixels.

        Raises:
            UnsupportedFeatureError: the packages of the extra `notebook` are not installed.
        """
        integer("height", height, minimum=1)
        try:
            from paimon_explore.widgets.explorer import explore
        except ImportError as error:
            hint = f"pip install 'paimon-explore[notebook]' ({error.name} is missing)."
            raise UnsupportedFeatureError("the explorer", self.name, hint=hint) from error
        pinned = self.snapshot if self.travel.given else None
        return explore(self._view(), selected=None if pinned is None else pinned.id, height=height)

    def timeline(self) -> "types.Timeline":
        """All snapshots and what points at them: tags, consumers, hints."""
        return self._inspector().timeline()

    def files(self, where: str = "") -> "types.FilesView":
        """The live data files, with decoded bounds.

        Args:
            where: a condition on partition columns, bucket, level, rows, size, schema, created,
                added, removed and file, such as `dt = 'd1' and level = 0 and size < 1 MB`.

        Raises:
            InvalidInputError: a condition that cannot be understood.
        """
        return self._inspector().files(string("where", where))

    def partitions(self, where: str = "") -> "types.PartitionsView":
        """The partitions of the live files; see `files`."""
        return self._inspector().partitions_view(string("where", where))

    def heat(self) -> "types.PartitionHeat":
        """Which partitions each snapshot changed, and how much."""
        from paimon_explore.inspection.views.partition_heatmap import partition_heat

        return partition_heat(self._inspector())

    def tree(self, key: str = "") -> "types.Children":
        """What lies below a node of the manifest tree; the snapshot's lists by default."""
        return self._inspector().tree(string("key", key))

    def node(self, key: str = "") -> "types.Document":
        """One node of the manifest tree in full; the snapshot by default."""
        return self._inspector().node(string("key", key))

    def file(self, name: str) -> "types.Document":
        """One data file in full: its entry, decoded bounds, and why some are absent.

        Raises:
            NotFoundError: no file of that name is live.
        """
        return self._inspector().file(string("name", name))

    def bytes(self, what: "str | PathLike[str]" = "") -> "types.ByteMap":
        """The bytes of one file of the table as fields: `t.bytes("base/0").at(100)`.

        Args:
            what: name of any file of the table, its path, or a node of the manifest tree such as
                `base`, `delta/0` (a manifest), `delta/0/3` (the data file of an entry), `index`,
                `index/0`, `schema`, `statistics`; the snapshot's own file by default.

        Raises:
            NotFoundError: there is no such file or snapshot.
            UnsupportedFeatureError: the file is too large to be taken apart.
        """
        from paimon_explore.inspection.byte_inspector.file_of_node import table_bytes

        return table_bytes(self._inspector(), path("what", what))

    def replay(self, snapshot: int | None = None, *, scenario: str = "alone") -> "types.Replay":
        """A commit made once more, step by step, on a copy in memory; the table is not touched.

        The changes of the snapshot, whoever wrote it, go through this library's own commit.

        Args:
            snapshot: whose changes; the pinned or newest one by default. The snapshot before it
                must still be there.
            scenario: `alone`, `rival` (another commit is faster), `failure` (the storage fails
                half-way) or `lost-reply` (its answer gets lost).

        Raises:
            NotFoundError: there is no such snapshot, or the one before has expired.
            InvalidInputError: there is no such scenario.
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
    def screen(self) -> "types.Screen":
        """What draws this table's results in notebooks."""
        return self._view().screen

    def __repr__(self) -> str:
        """The table in a few lines: keys, snapshot, files, tags."""
        from paimon_explore.inspection.explorer.text_rendering import explorer_text

        try:
            return explorer_text(self._inspector())
        except PaimonError as error:
            return f"{sanitized(self.name)}   ({sanitized(self.path)})\n{error}"

    def _repr_html_(self) -> str:
        """The static picture of the explorer."""
        from paimon_explore.inspection.explorer.static_html import explorer_html
        from paimon_explore.inspection.rendering.escape import esc

        try:
            return explorer_html(self._inspector())
        except PaimonError as error:
            return f"<pre>{esc(self.name)}\n{esc(str(error))}</pre>"
