"""Rescale: rewrite partitions with another number of buckets, in one commit.

The rows of all real buckets of the partitions are merged across all levels, assigned to buckets
again, and replace the old files as an overwrite does. If another commit adds rows to these
partitions meanwhile, the rescale is planned again, so that none is lost.

| option `bucket` | number of buckets |
| --- | --- |
| n > 0 | the argument, or else the option; of the whole table the option is changed with it |
| -2 (postpone) | the argument; rows that are still postponed remain, for the next compaction |
| -1, with a primary key | assigned again by `dynamic-bucket.target-row-num` |
| -1, without one | none: refused |

Spec: maintenance/rescale-bucket; spark procedures, rescale.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.overwrite import Overwrite, PartitionSpec
from paimon_explore.commit.overwrite_conflicts import OverwrittenPartitions
from paimon_explore.commit.planned_again import planned_again, snapshot_to_plan
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compact import check_supported
from paimon_explore.maintenance.rewrites.rewrite_commit import (
    commit_rewrite,
    live_files_of,
    partition_specs,
)
from paimon_explore.maintenance.row_level.primary_key_rows import write_primary_key_rows
from paimon_explore.maintenance.schema_commit import alter_schema
from paimon_explore.maintenance.schema_publication import SchemaPublication
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import (
    DYNAMIC_BUCKET,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.alter_schema import apply_changes
from paimon_explore.metadata.schema.schema_change import SetOption
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.manifest_arrays import byte_rows, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.split_generator import files_as_splits, whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.append_writer import write_append
from paimon_explore.write.primary_key_writer import needs_key_index
from paimon_explore.write.write_target import WriteTarget

_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaledPartition:
    """A partition that a rescale rewrites.

    Attributes:
        partition: its values by column; empty for a table without partitions.
        buckets_before: its number of buckets; None if each has been assigned dynamically.
        buckets_after: the new number; None for dynamic buckets.
        files: number of files that are replaced.
        records: number of records in these files.
        size: their size in bytes.
    """

    partition: Mapping[str, object]
    buckets_before: int | None
    buckets_after: int | None
    files: int
    records: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaleReport:
    """The result of a rescale.

    Attributes:
        partitions: the partitions that were rewritten, or would be.
        snapshot_id: the snapshot that was created; None if nothing was rewritten.
        dry_run: whether the rescale was only planned.
    """

    partitions: tuple[RescaledPartition, ...] = ()
    snapshot_id: int | None = None
    dry_run: bool = False

    def __repr__(self) -> str:
        """Return the numbers of partitions and files, and the first partitions."""
        act = "would rescale" if self.dry_run else "rescaled"
        files = sum(one.files for one in self.partitions)
        size = sum(one.size for one in self.partitions)
        shown = [
            f"  {dict(one.partition) or 'table'}: {one.buckets_before} -> {one.buckets_after}"
            for one in self.partitions[:_MAX_SHOWN]
        ]
        head = f"{act} {len(self.partitions):,} partitions, {files:,} files, {size:,} bytes"
        return "\n".join([head, *shown])


@planned_again
def rescale_table(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    buckets: int | None = None,
    partitions: Sequence[PartitionSpec] | None = None,
    dry_run: bool = False,
) -> RescaleReport:
    """Rewrite partitions with another number of buckets.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        buckets: the number of buckets; None for that of the option `bucket`.
        partitions: rewrite the partitions that match one of these; None for all.
        dry_run: only return what would be rewritten.

    Raises:
        InvalidInputError: the table has no buckets, or their number cannot be chosen.
        UnsupportedFeatureError: a chain table, or a feature that a rewrite does not support.
    """
    if options.value(opt.CHAIN_TABLE_ENABLED):
        raise UnsupportedFeatureError(
            "rescaling a chain table (its branches are merged bucket by bucket, so all of them "
            "must have the same number)",
            store.paths.root,
            hint="Create a chain table with another 'bucket', and write the rows of each branch "
            "to it.",
        )
    count = _bucket_count(schema, options, buckets, partitions)
    target = WriteTarget(store=store, schema=schema, options=options)
    snapshot = snapshot_to_plan(store, schema)
    files = ManifestEntries.empty()
    if snapshot is not None:
        files = _files_to_rewrite(live_files_of(target, snapshot, partitions), count)
    plan = _Rescale(target=target, files=files, count=count, whole=partitions is None)
    report = RescaleReport(partitions=plan.partitions(), dry_run=dry_run)
    if dry_run:
        return report
    if snapshot is None or not report.partitions:
        if plan.changes_option:
            alter_schema(store, [SetOption(key=opt.BUCKET.key, value=str(count))])
        return report
    made = plan.run(snapshot)
    return replace(report, snapshot_id=None if made is None else made.id)


def _files_to_rewrite(live: ManifestEntries, count: int) -> ManifestEntries:
    """Return the files of real buckets of the partitions that need another number."""
    found = live.filter(numbers(live.table, "bucket") >= 0)
    if count == DYNAMIC_BUCKET:
        return found
    rows = byte_rows(found.column("partition").combine_chunks())
    totals = numbers(found.table, "total_buckets").tolist()
    others = {p for p, total in zip(rows, totals, strict=True) if total != count}
    return found.filter(np.array([p in others for p in rows], np.bool_))


def _bucket_count(
    schema: TableSchema,
    options: TableOptions,
    buckets: int | None,
    partitions: Sequence[PartitionSpec] | None,
) -> int:
    """Return the value of the option `bucket` to write with."""
    own = options.value(opt.BUCKET)
    if own == DYNAMIC_BUCKET:
        if not schema.primary_keys:
            raise InvalidInputError(
                "The table has no buckets ('bucket' = '-1' without a primary key), so it cannot be "
                "rescaled.",
                hint="compact() changes the number of its files.",
            )
        if buckets is not None:
            raise InvalidInputError(
                f"The table has dynamic buckets ('bucket' = '-1'), so their number cannot be set "
                f"to {buckets}.",
                hint="Set 'dynamic-bucket.target-row-num', the rows of a bucket, and rescale "
                "without a number.",
            )
        if partitions is not None and needs_key_index(schema, options):
            raise InvalidInputError(
                "Partitions of this table cannot be rescaled alone, because its primary key does "
                "not contain the partition columns.",
                hint="Rescale the whole table.",
            )
        return own
    if own == POSTPONE_BUCKET and buckets is None:
        raise InvalidInputError(
            "A table with postpone buckets ('bucket' = '-2') has no default number of buckets.",
            hint="Pass the number of buckets.",
        )
    return own if buckets is None else buckets


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rescale:
    """A rescale of one snapshot.

    Attributes:
        target: the table.
        files: the files to rewrite.
        count: the value of the option `bucket` to write with.
        whole: whether all partitions were asked for.
    """

    target: WriteTarget
    files: ManifestEntries
    count: int
    whole: bool

    @property
    def is_postponed(self) -> bool:
        return self.target.options.value(opt.BUCKET) == POSTPONE_BUCKET

    @property
    def changes_option(self) -> bool:
        """Whether the whole table gets a number of buckets that its option does not have."""
        stored = TableOptions(self.target.schema.options).value(opt.BUCKET)
        return self.whole and not self.is_postponed and stored != self.count

    def partitions(self) -> tuple[RescaledPartition, ...]:
        rows = self.files.table.select(
            ["partition", "total_buckets", "row_count", "file_size"]
        ).to_pylist()
        groups: dict[bytes, list[dict[str, int]]] = {}
        for row in rows:
            groups.setdefault(row["partition"], []).append(row)
        return tuple(
            RescaledPartition(
                partition=partition_specs(self.target.schema, [partition])[0],
                buckets_before=max(
                    (row["total_buckets"] for row in own if row["total_buckets"] > 0), default=None
                ),
                buckets_after=self.count if self.count > 0 else None,
                files=len(own),
                records=sum(row["row_count"] for row in own),
                size=sum(row["file_size"] for row in own),
            )
            for partition, own in sorted(groups.items())
        )

    def run(self, snapshot: Snapshot) -> Snapshot | None:
        """Rewrite the rows and commit."""
        target, store = self.target, self.target.store
        with explain_missing_files(store, snapshot):
            check_supported(target.options, store.manifests.index_of(snapshot))
            messages = self._write(snapshot)
        schemas = self._new_schemas()
        publication = SchemaPublication(store, schemas)
        committer = Committer(
            store,
            target.schema,
            options=self._options(snapshot),
            before_publish=publication.publish,
        )
        replaced = frozenset(self.files.partitions)
        what = OverwrittenPartitions(
            since=SeenSnapshot.of(snapshot),
            partitions=replaced,
            only_real_buckets=self.is_postponed,
        )
        with publication.withdrawn_on_failure():
            made = commit_rewrite(
                target,
                messages,
                lambda own: own.overwrite(
                    messages,
                    Overwrite(partitions=replaced),
                    overwritten=what,
                    schema=schemas[-1] if schemas else None,
                ),
                committer,
            )
        if self.changes_option and not schemas:
            alter_schema(store, [SetOption(key=opt.BUCKET.key, value=str(self.count))])
        return made

    def _options(self, snapshot: Snapshot) -> TableOptions:
        """Return the options of the commit: no other user may rewrite the partitions meanwhile."""
        strict = opt.COMMIT_STRICT_MODE_LAST_SAFE_SNAPSHOT.key
        own = {opt.BUCKET.key: str(self.count), strict: str(snapshot.id)}
        return TableOptions({**self.target.options, **own})

    def _new_schemas(self) -> list[TableSchema]:
        """Return the schema with the new option, to be stored with the snapshot.

        A catalog that keeps the schema changes it after the commit.
        """
        if not self.changes_option or self.target.store.environment is not None:
            return []
        change = SetOption(key=opt.BUCKET.key, value=str(self.count))
        return [
            apply_changes(
                self.target.schema, [change], has_snapshots=True, time_millis=system_clock()
            )
        ]

    def _write(self, snapshot: Snapshot) -> list[CommitMessage]:
        """Write the rows of the partitions to new files."""
        target = self.target
        # stored rows have their row kinds already, so `rowkind.field` must not be applied again
        options = {k: v for k, v in target.options.items() if k != opt.ROWKIND_FIELD.key}
        options[opt.BUCKET.key] = str(self.count)
        schema = replace(
            target.schema, options={k: v for k, v in target.schema.options.items() if k in options}
        )
        rows = self._rows(snapshot)
        if target.schema.primary_keys:
            return write_primary_key_rows(
                target.store, schema, rows, options=options, replaces=True, stored_mark=b""
            )
        return write_append(target.store, schema, rows, options=options, replaces=True)

    def _rows(self, snapshot: Snapshot) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all levels, bucket by bucket in their order."""
        target = self.target
        scanned = ScanTarget(
            store=target.store, schema=target.schema, options=target.options, snapshot=snapshot
        )
        located = scanned.located(self.files, snapshot)
        keyed = bool(target.schema.primary_keys)
        splits = whole_buckets(located) if keyed else files_as_splits(located, scanned.rules)
        reader = SplitReader(
            unrestricted=True, as_stored=True, target=target, columns=target.schema.row_type.names
        )
        return reader.read_each(splits)
