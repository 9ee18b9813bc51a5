"""`Table.inspect`: the system tables of a table, and the structure of its files."""

from functools import partial
from os import PathLike, fspath

import pyarrow as pa

from paimon_explore.arguments import optional_integer, path, string
from paimon_explore.errors import NotFoundError, choices, suggestion
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.system_tables.history_tables import SYSTEM_TABLES
from paimon_explore.inspection.system_tables.table_state import TableState
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.requested_columns import EVERYTHING, Selection
from paimon_explore.table.operations import report_types as types
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table_base import BaseTable, inspector_of, store_of, target_of, view_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TableInspection:
    """The system tables of a table as Arrow tables, and reports on the structure of its files.

    Spec: concepts/system-tables.
    """

    _table: BaseTable

    def __repr__(self) -> str:
        """The name of the table, the system tables and the reports."""
        reports = [name for name in vars(type(self)) if name not in SYSTEM_TABLES]
        shown = ", ".join(name for name in reports if not name.startswith("_"))
        return (
            f"{sanitized(self._table.name)}\n"
            f"system tables: {', '.join(SYSTEM_TABLES)}\nreports: {shown}"
        )

    def snapshots(self) -> pa.Table:
        """One row per snapshot of the branch, by id."""
        return self._rows("snapshots")

    def schemas(self) -> pa.Table:
        """One row per schema, by id."""
        return self._rows("schemas")

    def options(self) -> pa.Table:
        """One row per option of the schema."""
        return self._rows("options")

    def tags(self) -> pa.Table:
        """One row per tag, by name."""
        return self._rows("tags")

    def branches(self) -> pa.Table:
        """One row per branch except main."""
        return self._rows("branches")

    def consumers(self) -> pa.Table:
        """One row per consumer, by id."""
        return self._rows("consumers")

    def statistics(self) -> pa.Table:
        """The statistics of the last ANALYZE; empty without any."""
        return self._rows("statistics")

    def manifests(self) -> pa.Table:
        """One row per manifest of the snapshot."""
        return self._rows("manifests")

    def files(self) -> pa.Table:
        """One row per live file of the snapshot, with decoded keys and statistics."""
        return self._rows("files")

    def file_key_ranges(self) -> pa.Table:
        """One row per live file with its key range."""
        return self._rows("file_key_ranges")

    def file_indexes(self) -> pa.Table:
        """One row per index of a column in the file indexes (bloom filter, bitmap …) of live files.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.file_indexes().num_rows
        0
        """
        return self._rows("file_indexes")

    def partitions(self) -> pa.Table:
        """One row per partition with live files."""
        return self._rows("partitions")

    def buckets(self) -> pa.Table:
        """One row per bucket with live files."""
        return self._rows("buckets")

    def table_indexes(self) -> pa.Table:
        """One row per index file."""
        return self._rows("table_indexes")

    def aggregation_fields(self) -> pa.Table:
        """One row per column with its aggregate function."""
        return self._rows("aggregation_fields")

    def system_table(self, name: str) -> RowSource:
        """Open a system table by name: `files`, `audit_log` and so on.

        Args:
            name: the name after the `$`, in any case.

        Raises:
            NotFoundError: there is no system table of that name.
            InvalidInputError: the table lacks the option that the system table needs.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.system_table("audit_log").schema.names
        ['rowkind', 'id', 'city', 'amount', 'dt']
        """
        from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES, row_type_of

        name = string("name", name).lower()
        full = f"{self._table.name}${name}"
        if name in ROW_TABLES:
            target = target_of(self._table)
            schema, _ = ROW_TABLES[name](target)
            read = partial(_read_row_table, target, name)
            return RowSource(
                name=full,
                schema=schema,
                load=read,
                read_selected=read,
                _row_type=row_type_of(schema, target),
            )
        if name in SYSTEM_TABLES:
            load = partial(self._read, name)
            schema = SYSTEM_TABLES[name].schema
            return RowSource(name=full, schema=schema, load=load, read_selected=load)
        known = [*ROW_TABLES, *SYSTEM_TABLES]
        hint = f"{suggestion(name, known)}System tables: {choices(sorted(known), limit=30)}."
        raise NotFoundError("system table", name, self._table.name, hint=hint)

    def overview(self) -> "types.Overview":
        """Describe the table in sentences: what it is, its size, its commits, and what is wrong.

        >>> import paimon_explore as pe
        >>> overview = pe.demo().table("demo.orders").inspect.overview()
        >>> overview.to_arrow()["sentence"][0].as_py()
        'orders is an append table: it has no primary key, and rows are not merged.'
        """
        from paimon_explore.data_types.local_time import system_clock
        from paimon_explore.inspection.overview.overview_report import table_overview

        return table_overview(inspector_of(self._table), system_clock())

    def timeline(self) -> "types.Timeline":
        """Return all snapshots and what refers to them: tags, consumers, hints.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.orders").inspect.timeline())
        5
        """
        return inspector_of(self._table).timeline()

    def heat(self) -> "types.PartitionHeat":
        """Show which partitions each snapshot changed, and how much.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.heat().to_arrow().num_rows
        15
        """
        from paimon_explore.inspection.views.partition_heatmap import partition_heat

        return partition_heat(inspector_of(self._table))

    def tree(self, key: str = "") -> "types.Children":
        """List the children of a node of the manifest tree.

        Args:
            key: the node, such as `base` or `delta/0`; by default the snapshot, whose children are
                its manifest lists.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.tree("base").to_arrow().num_rows
        4
        """
        return inspector_of(self._table).tree(string("key", key))

    def node(self, key: str = "") -> "types.Document":
        """Show one node of the manifest tree in full.

        Args:
            key: as for `tree`; by default the snapshot.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.node("delta/0").kind
        'node'
        """
        return inspector_of(self._table).node(string("key", key))

    def file(self, name: str) -> "types.Document":
        """Show one data file in full: its manifest entry, its statistics, and why some are missing.

        Args:
            name: the file's name.

        Raises:
            NotFoundError: there is no live file of that name.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> name = t.files().to_arrow()["file_name"][0].as_py()
        >>> t.inspect.file(name).kind
        'node'
        """
        return inspector_of(self._table).file(string("name", name))

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
        >>> layout = pe.demo().table("demo.orders").inspect.bytes("base/0")
        >>> layout.to_arrow().num_rows > 50
        True
        """
        from paimon_explore.inspection.byte_inspector.file_of_tree_node import table_bytes

        return table_bytes(inspector_of(self._table), path("what", what))

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
        >>> pe.demo().table("demo.orders").inspect.replay(3, scenario="rival").kind
        'replay'
        """
        from paimon_explore.inspection.explain.commit_replay import replay_commit

        optional_integer("snapshot", snapshot)
        string("scenario", scenario)
        chosen = (
            self._table.snapshot
            if snapshot is None
            else store_of(self._table).snapshots.load(snapshot)
        )
        if chosen is None:
            message = f"The table {self._table.name} has no snapshot to replay."
            raise NotFoundError("snapshot", "to replay", message=message)
        return replay_commit(view_of(self._table), chosen, scenario)

    def lsm(self, partition: "types.Given" = None, bucket: int | None = None) -> "types.LsmSection":
        """Show the LSM tree of a bucket: sorted runs by level, key ranges, read amplification.

        Args:
            partition: `dt=d1`, `{"dt": "d1"}`, or the value of the only partition column; None for
            any.
            bucket: the bucket number; None for the one with most sorted runs.

        Raises:
            NotFoundError: there is no such partition or bucket.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.customers").inspect.lsm(bucket=0).kind
        'lsm'
        """
        from paimon_explore.inspection.views.lsm_tree_view import lsm_section

        optional_integer("bucket", bucket)
        return lsm_section(inspector_of(self._table), partition, bucket)

    def why(self, file: str) -> "types.FileExplanation":
        """Explain why a file exists: who added and removed it, what keeps it, when it may go.

        Args:
            file: name or path of a data file, manifest, manifest list, index file or statistics
            file.

        Raises:
            NotFoundError: neither the metadata nor the table's folder has such a file.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> t.inspect.why(t.snapshot.base_manifest_list).kind
        'why'
        """
        from paimon_explore.data_types.local_time import system_clock
        from paimon_explore.inspection.explain.file_explanation import explain_file

        return explain_file(inspector_of(self._table), fspath(path("file", file)), system_clock())

    def schema_history(self) -> "types.SchemaHistory":
        """Show all versions of the schema: fields by id, options, and the live files that use them.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.trips").inspect.schema_history().kind
        'schema'
        """
        from paimon_explore.inspection.views.schema_history import schema_history

        return schema_history(inspector_of(self._table))

    def _read(self, name: str, selection: Selection = EVERYTHING) -> pa.RecordBatchReader:
        return self._rows(name, selection).to_reader()

    def _rows(self, name: str, selection: Selection = EVERYTHING) -> pa.Table:
        target = target_of(self._table)
        state = TableState(
            store=target.store,
            schema=target.schema,
            options=target.options,
            snapshot=target.snapshot,
            travel=target.travel,
            selection=selection,
        )
        return SYSTEM_TABLES[name].rows(state)


def _read_row_table(
    target: ScanTarget, name: str, selection: Selection = EVERYTHING
) -> pa.RecordBatchReader:
    from paimon_explore.table.audit_log_binlog_tables import ROW_TABLES

    schema, rows = ROW_TABLES[name](target)
    return pa.RecordBatchReader.from_batches(selection.narrowed(schema), rows(selection))
