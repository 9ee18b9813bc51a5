"""`Table.maintenance`: rescale, purge, repair of damaged tables, partitions that are done."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from paimon_explore.arguments import boolean, integer, invalid_argument, optional_integer, string
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.expiry.snapshot_expiry import repair_earliest_snapshot
from paimon_explore.maintenance.partition_done import mark_partitions_done
from paimon_explore.maintenance.rewrites.branch_merge import merge_branch
from paimon_explore.maintenance.rewrites.chain_compaction import compact_chain_partition
from paimon_explore.maintenance.rewrites.deletion_vector_materialization import (
    MaterializationReport,
    materialize_deletion_vectors,
)
from paimon_explore.maintenance.rewrites.file_index_rewrite import (
    FileIndexReport,
    rewrite_file_indexes,
)
from paimon_explore.maintenance.rewrites.global_indexes import (
    GlobalIndexOf,
    GlobalIndexReport,
    create_global_index,
    drop_global_index,
)
from paimon_explore.maintenance.rewrites.missing_files import (
    MissingFilesReport,
    remove_unexisting_files,
)
from paimon_explore.maintenance.rewrites.purge import PurgeReport, purge_files
from paimon_explore.maintenance.rewrites.rescale import RescaleReport, rescale_table
from paimon_explore.maintenance.rewrites.row_id_reassignment import RowIdReport, reassign_row_ids
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.sanitize import sanitized
from paimon_explore.store.table_store import TableStore
from paimon_explore.table.latest_schema import latest_options, latest_schema, table_name
from paimon_explore.table.table_write import specs_of

PartitionSpec = Mapping[str, object]
"""Values of some partition columns."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RewriteOperations:
    """Operations on one branch of a table that rewrite or repair its files."""

    _readable: TableStore
    _changeable: Callable[..., TableStore]
    _dynamic_options: Mapping[str, str]

    def __repr__(self) -> str:
        """Return the name and folder of the table."""
        paths = self._readable.paths
        name = table_name(paths.root, paths.branch)
        return sanitized(f"maintenance of {name}   ({paths.root})")

    @property
    def _store(self) -> TableStore:
        """The table, to change it; a view of the past is refused."""
        return self._changeable()

    @property
    def _options(self) -> TableOptions:
        """The effective options."""
        return latest_options(self._readable, self._dynamic_options)

    def _table(self) -> tuple[TableStore, TableSchema, TableOptions]:
        schema = latest_schema(self._store)
        return self._store, schema, TableOptions({**schema.options, **self._dynamic_options})

    def rescale(
        self,
        buckets: int | None = None,
        *,
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
        dry_run: bool = False,
    ) -> RescaleReport:
        """Rewrite the table, or partitions of it, with another number of buckets, in one commit.

        Partitions that have this number of buckets are left as they are. If the whole table gets
        another number, the option `bucket` is changed in the same commit; partitions alone can be
        written again only after the option is changed, or with the option `bucket` of their number.

        Args:
            buckets: the number of buckets; None for that of the option `bucket`. Tables with
                dynamic buckets assign them again, and take no number.
            partitions: values of some partition columns, or several of these; None for the whole
                table.
            dry_run: only return which partitions would be rewritten.

        Raises:
            InvalidInputError: the table has no buckets, or their number is not given.
            CommitConflictError: others wrote to the partitions in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.parcels")
        >>> t.maintenance.rescale(3).partitions[0].buckets_after, t.options["bucket"]
        (3, '3')
        """
        return rescale_table(
            *self._table(),
            buckets=optional_integer("buckets", buckets, minimum=1),
            **_scope(partitions, dry_run=dry_run),
        )

    def rewrite_file_index(
        self,
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
        *,
        dry_run: bool = False,
    ) -> FileIndexReport:
        """Build the file indexes that the options ask for in files that lack them, in one commit.

        After a change of the options `file-index.…` only new files have the new indexes. Data files
        are read, but not rewritten. Indexes that the options do not ask for are removed; those of a
        file that had none before only after `CALL sys.compact_manifest`.

        Args:
            partitions: values of some partition columns, or several of these; None for the whole
                table.
            dry_run: only list the files.

        Raises:
            InvalidInputError: an option of an index is wrong, or a partition.
            CommitConflictError: others replaced the same files in each of several attempts.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.orders")
        >>> schema = t.set_options({"file-index.bloom-filter.columns": "city"})
        >>> len(t.maintenance.rewrite_file_index().files), t.maintenance.rewrite_file_index()
        (15, rewrote the indexes of 0 files in 0 partitions)
        """
        return rewrite_file_indexes(*self._table(), **_scope(partitions, dry_run=dry_run))

    def materialize_deletion_vectors(
        self,
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
        *,
        dry_run: bool = False,
    ) -> MaterializationReport:
        """Write the files with deleted rows anew without them, in one commit.

        For tables with data evolution, whose compactions keep deleted rows. The rows of the new
        files have new row ids; global indexes over rewritten rows are dropped.

        Args:
            partitions: values of some partition columns, or several of these; None for the whole
                table.
            dry_run: only return what would be rewritten.

        Raises:
            UnsupportedFeatureError: the table has no data evolution or no deletion vectors.
            InvalidInputError: a partition names a column that is not a partition column.
            CommitConflictError: others changed these rows in each of several attempts.

        >>> import paimon_explore as pe
        >>> keys = ("row-tracking.enabled", "data-evolution.enabled", "deletion-vectors.enabled")
        >>> options = dict.fromkeys(keys, "true")
        >>> t = pe.demo().create_table("demo.marked", {"k": "INT"}, options=options)
        >>> _ = t.append([{"k": 1}, {"k": 2}]), t.delete("k = 1")
        >>> t.maintenance.materialize_deletion_vectors()
        removed 1 deleted rows of 1 files, and 0 global index files
        >>> t.to_arrow()["k"].to_pylist()
        [2]
        """
        return materialize_deletion_vectors(*self._table(), **_scope(partitions, dry_run=dry_run))

    def reassign_row_ids(
        self,
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
        *,
        dry_run: bool = False,
    ) -> RowIdReport:
        """Give the rows of each partition consecutive row ids, in one commit.

        For partitioned tables with data evolution, after commits that wrote to several partitions.
        Partitions whose row ids are consecutive keep them. Only manifests are written; global
        indexes remain valid where they cover consecutive row ids.

        Args:
            partitions: values of some partition columns, or several of these; None for the whole
                table.
            dry_run: only return what would be reassigned.

        Raises:
            UnsupportedFeatureError: the table has no data evolution, or a file stores row ids.
            InvalidInputError: a partition names a column that is not a partition column.
            CommitConflictError: others committed in each of several attempts.

        >>> import paimon_explore as pe
        >>> options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
        >>> columns = {"k": "INT", "p": "INT"}
        >>> catalog = pe.demo()
        >>> t = catalog.create_table("demo.mixed", columns, partition_by="p", options=options)
        >>> for k in range(2):
        ...     _ = t.append([{"k": k, "p": 0}, {"k": k, "p": 1}])
        >>> t.maintenance.reassign_row_ids()
        reassigned 4 row ids of 2 partitions, from 4 to 7
        """
        return reassign_row_ids(*self._table(), **_scope(partitions, dry_run=dry_run))

    def create_global_index(
        self,
        column: str,
        index_type: str = "btree",
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
    ) -> GlobalIndexReport:
        """Build a global index over the rows of a column that have none, in one commit.

        For tables with data evolution. Scans with a condition on the column then read only the
        rows that the index finds, and those that were written after it was built.

        Args:
            column: the column to index.
            index_type: `btree` for columns with many different values, `bitmap` for few;
                `full-text`, or a vector index (`ivf-flat`, `ivf-pq`, `ivf-sq`, `ivf-rq`,
                `diskann`), for `Table.search`. Their options
                are `full-text.<option>`, `<type>.<option>` and `fields.<column>.<option>`.
            partitions: values of some partition columns, or several of these; None for the whole
                table.

        Raises:
            InvalidInputError: the column or a partition does not exist.
            UnsupportedFeatureError: the table has no data evolution, or the index or the type of
                the column is not supported.
            CommitConflictError: others updated these rows in each of several attempts.

        >>> import paimon_explore as pe
        >>> options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
        >>> t = pe.demo().create_table("demo.indexed", {"k": "INT"}, options=options)
        >>> _ = t.append([{"k": 1}, {"k": 2}])
        >>> t.maintenance.create_global_index("k")
        <1 global index files of 2 rows>
        >>> t.scan(where="k = 2").count()
        1
        """
        what = _index_of(column, index_type, partitions)
        return create_global_index(*self._table(), what)

    def drop_global_index(
        self,
        column: str,
        index_type: str = "btree",
        partitions: PartitionSpec | Sequence[PartitionSpec] | None = None,
        *,
        dry_run: bool = False,
    ) -> GlobalIndexReport:
        """Drop a global index of a column, in one commit.

        Args:
            column: the indexed column.
            index_type: `btree`, `bitmap` or another type.
            partitions: values of some partition columns, or several of these; None for the whole
                table.
            dry_run: only list the index files.

        Raises:
            InvalidInputError: the column or a partition does not exist.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").maintenance.drop_global_index("id", dry_run=True)
        <0 global index files of 0 rows>
        """
        what = _index_of(column, index_type, partitions)
        return drop_global_index(*self._table(), what, dry_run=boolean("dry_run", dry_run))

    def compact_chain_table(
        self, partition: PartitionSpec, *, overwrite: bool = False
    ) -> Snapshot | None:
        """Write a partition of a chain table to its snapshot branch, in one commit.

        The rows are those of the nearest earlier partition of the snapshot branch, with the changes
        of the delta branch since. Changes that are written to the partition later are read again
        only after another compaction with `overwrite`.

        Args:
            partition: the value of each partition column.
            overwrite: whether to replace a partition that the snapshot branch has.

        Returns:
            The new snapshot of the snapshot branch; None if it has the partition and `overwrite`
            is false, or if the delta branch does not have the partition.

        Raises:
            InvalidInputError: the table is no chain table or is opened on a branch, or the
                partition is invalid.
            CommitConflictError: others wrote to the partition in each of several attempts.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> options = {"bucket": "1", "sequence.field": "n"} | {
        ...     "partition.timestamp-pattern": "$dt", "partition.timestamp-formatter": "yyyyMMdd"}
        >>> t = catalog.create_table("demo.chain", {"dt": "STRING", "k": "INT", "n": "INT"},
        ...     partition_by="dt", primary_key=["dt", "k"], options=options)
        >>> for branch, rows in {"snapshot": ("0101", 1), "delta": ("0102", 2)}.items():
        ...     t.create_branch(branch)
        ...     dt, k = rows
        ...     own = catalog.table(f"demo.chain$branch_{branch}")
        ...     _ = own.upsert([{"dt": f"2026{dt}", "k": k, "n": 1}])
        >>> _ = t.set_options({"chain-table.enabled": "true"})
        >>> _ = t.maintenance.compact_chain_table({"dt": "20260102"})
        >>> catalog.table("demo.chain$branch_snapshot").count()
        3
        """
        return compact_chain_partition(
            *self._table(), partition, overwrite=boolean("overwrite", overwrite)
        )

    def merge_branch(self, source: str, target: str = MAIN_BRANCH) -> Snapshot | None:
        """Add the files of a branch that another branch does not have, in one commit.

        Both branches must have all their snapshots, which only added rows, and the same columns.

        Args:
            source: the branch whose files are added.
            target: the branch that gets them.

        Returns:
            The new snapshot of the target; None if it had all files.

        Raises:
            NotFoundError: a branch does not exist.
            InvalidInputError: the branches cannot be merged; the message says why.
            UnsupportedFeatureError: the table has a primary key or data evolution.

        >>> import paimon_explore as pe
        >>> catalog = pe.demo()
        >>> t = catalog.create_table("demo.log", {"id": "INT"})
        >>> snapshot = t.append([{"id": 1}])
        >>> tag = t.create_tag("v1")
        >>> t.create_branch("trial", "v1")
        >>> snapshot = catalog.table("demo.log$branch_trial").append([{"id": 2}])
        >>> t.maintenance.merge_branch("trial").id, t.to_arrow()["id"].to_pylist()
        (2, [1, 2])
        """
        return merge_branch(self._store, string("source", source), string("target", target))

    def remove_unexisting_files(self, *, dry_run: bool = True) -> MissingFilesReport:
        """Remove the data files from the latest snapshot that do not exist in the storage.

        A table whose data files were deleted by hand can be read again afterwards; the rows of
        these files are lost.

        Args:
            dry_run: only list the files; pass False to remove them in one commit.

        Raises:
            CommitConflictError: others replaced the same files in each of several attempts.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").maintenance.remove_unexisting_files()
        would remove 0 missing files, 0 records
        """
        return remove_unexisting_files(*self._table(), dry_run=boolean("dry_run", dry_run))

    def purge_files(self, *, dry_run: bool = True) -> PurgeReport:
        """Remove all rows, branches, tags, consumers and old snapshots, with all their files.

        The schema remains. Files of commits that are running are kept.

        Args:
            dry_run: only return what would be removed; pass False to remove it.

        Raises:
            InvalidInputError: the table is opened on a branch.

        >>> import paimon_explore as pe
        >>> t = pe.demo().table("demo.trips")
        >>> report = t.maintenance.purge_files(dry_run=False)
        >>> report.tags, report.branches, t.count(), len(t.snapshots)
        (('before',), ('draft',), 0, 1)
        """
        return purge_files(*self._table(), dry_run=boolean("dry_run", dry_run))

    def repair_earliest_snapshot(self, snapshot_id: int) -> int:
        """Set the hint EARLIEST to the first snapshot after a gap, and return the one before.

        Java fails on tables with a gap between snapshots; this package reads them without that.

        Args:
            snapshot_id: the first snapshot after the gap.

        Raises:
            NotFoundError: a snapshot between it and the latest is missing.
            InvalidInputError: it does not follow a gap.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").maintenance.repair_earliest_snapshot(1)
        1
        """
        number = integer("snapshot_id", snapshot_id, minimum=1)
        return repair_earliest_snapshot(self._store, number)

    def mark_partition_done(self, *partitions: PartitionSpec) -> list[str]:
        """Mark partitions as complete, by the actions of the option `partition.mark-done-action`.

        By default a file `_SUCCESS` is written to the folder of each partition.

        Args:
            partitions: the values of all partition columns of each.

        Returns:
            The paths of the partitions in the table's folder.

        Raises:
            InvalidInputError: no partition, a missing or unknown column, or a wrong value.
            UnsupportedFeatureError: the catalog does not support an action.

        >>> import paimon_explore as pe
        >>> upkeep = pe.demo().table("demo.orders").maintenance
        >>> upkeep.mark_partition_done({"dt": "2026-01-01"})
        ['dt=20454']
        """
        specs = [spec for given in partitions for spec in partition_list(given) or ()]
        if not specs:
            raise invalid_argument("A partition", None, "a dict of the partition's values")
        return mark_partitions_done(*self._table(), specs)


class _Scope(TypedDict):
    partitions: list[PartitionSpec] | None
    dry_run: bool


def _scope(partitions: object, *, dry_run: bool) -> _Scope:
    """Return the checked arguments of what most operations change."""
    return {"partitions": partition_list(partitions), "dry_run": boolean("dry_run", dry_run)}


def _index_of(column: str, index_type: str, partitions: object) -> GlobalIndexOf:
    return GlobalIndexOf(
        column=string("column", column),
        index_type=string("index_type", index_type),
        partitions=partition_list(partitions),
    )


def partition_list(given: object) -> list[PartitionSpec] | None:
    """Return the partitions of an argument; a single partition may stand alone.

    Raises:
        InvalidInputError: something else.
    """
    return None if given is None else specs_of(given)
