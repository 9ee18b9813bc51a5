"""Compaction of a table: fewer and larger files with the same rows.

A compaction is planned per bucket on the latest snapshot. Its commit messages replace files; the
commit fails with a conflict if one of these files has been removed in the meantime, and the caller
plans it again (`commit/planned_again`).

Unsupported features raise before any file is written.

Spec: maintenance/dedicated-compaction.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.commit.overwrite import all_files, files_of_specs
from paimon_explore.commit.planned_again import snapshot_to_plan
from paimon_explore.data_types.arrow_buffers import Bools, bool_values
from paimon_explore.encoding.global_index.index_sources import primary_key_sources
from paimon_explore.errors import (
    CommitConflictError,
    CommitOutcomeUnknownError,
    InvalidInputError,
    PaimonError,
    UnsupportedFeatureError,
    undo_on_error,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.append_compaction import (
    AppendBucket,
    AppendCompaction,
    pick_append,
)
from paimon_explore.maintenance.compaction.bucket_compaction import (
    IndexBuild,
    PrimaryKeyBucket,
    UnitCompaction,
)
from paimon_explore.maintenance.compaction.clustered_compaction import (
    ClusteredCompaction,
    needs_clustered_compaction,
)
from paimon_explore.maintenance.compaction.compaction_plan import BucketCompaction, FileGroup
from paimon_explore.maintenance.compaction.data_evolution_compaction import (
    DataEvolutionCompaction,
    pick_data_evolution,
)
from paimon_explore.maintenance.compaction.postpone_compaction import compact_postpone_buckets
from paimon_explore.maintenance.compaction.primary_key_indexes import BucketIndexes
from paimon_explore.maintenance.compaction.sort_compaction import row_order
from paimon_explore.maintenance.compaction.universal_compaction import (
    CompactionUnit,
    levels_of,
    pick_full,
    pick_universal,
)
from paimon_explore.maintenance.expiry.partition_expiry import without_expired
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.index_manifest import (
    DELETION_VECTORS_INDEX,
    HASH_INDEX,
    IndexEntries,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import (
    lookup_compact_max_interval,
    needs_lookup,
)
from paimon_explore.metadata.options.option_enums import (
    LookupCompact,
    PartitionExpirationStrategy,
)
from paimon_explore.metadata.options.table_options import (
    DYNAMIC_BUCKET,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import byte_rows, numbers, true_rows
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit, KnownPaths
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.buckets.bucket_writers import BucketId
from paimon_explore.write.parallel import in_parallel, threads_for
from paimon_explore.write.write_target import WriteTarget, abort

_KNOWN_INDEXES = frozenset({HASH_INDEX, DELETION_VECTORS_INDEX})
PartitionSpec = Mapping[str, object]
"""Values of some partition columns."""


def compact_table(  # noqa: PLR0913 - the options of one compaction
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    full: bool = True,
    partitions: Sequence[PartitionSpec] | None = None,
    buckets: Collection[BucketId] | None = None,
    progress: Callable[[Sequence[DataSplit]], Iterable[DataSplit]] = iter,
) -> list[CommitMessage]:
    """Compact a table, without committing the result.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        full: whether to compact everything to the top level; otherwise the table's options decide
            by the number and sizes of files (minor compaction).
        partitions: compact the partitions that match one of these; None for all.
        buckets: compact only these buckets; None for all.
        progress: iterates over the buckets, for example with a progress bar.

    Returns:
        The commit messages; empty if there is nothing to compact. All files are deleted if this
        raises.

    Raises:
        UnsupportedFeatureError: the table uses a feature that compaction does not support.
        InvalidInputError: a partition names a column that is not a partition column.
        SnapshotExpiredError: the snapshot expired during the compaction; retry.
    """
    target = WriteTarget(store=store, schema=schema, options=options)
    plan = plan_compaction(target, full=full, partitions=partitions, buckets=buckets)
    messages: list[CommitMessage] = []
    rows = sum(split.row_count for split in plan.splits)
    results = in_parallel(
        lambda split: compact_split(plan, split),
        plan.splits,
        threads_for(len(plan.splits), rows, store.file_io),
        discard=lambda message: None if message is None else abort(target, [message]),
    )
    with undo_on_error(abort, target, messages), closing(results):
        for _, message in zip(progress(plan.splits), results, strict=True):
            if message is not None and not message.is_empty:
                messages.append(message)
    return messages


def commit_buckets(
    target: WriteTarget,
    messages: list[CommitMessage],
    commit: Callable[[list[CommitMessage]], list[Snapshot]],
    made: list[Snapshot],
) -> None:
    """Commit compacted buckets; if some conflict with another commit, the others.

    Args:
        target: the table.
        messages: one message per bucket; the files of those that are not committed are deleted.
        commit: commits messages.
        made: the new snapshots are added to it.

    Raises:
        CommitConflictError: a bucket conflicts.
    """
    parts = [messages] if messages else []
    conflict = None
    while parts:
        part = parts.pop()
        try:
            made += commit(part)
        except CommitConflictError as error:
            middle = len(part) // 2
            if middle:
                parts += part[:middle], part[middle:]
            else:
                abort(target, part)
                conflict = error
        except PaimonError as error:
            if not isinstance(error, CommitOutcomeUnknownError):
                parts.append(part)
            abort(target, [message for part in parts for message in part])
            raise
    if conflict is not None:
        raise conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """The buckets of a compaction, which can be compacted independently, also on other machines.

    Attributes:
        target: the table.
        snapshot: the snapshot that is compacted; None if the table has none.
        index: the index files of the snapshot.
        full: whether this is a full compaction.
        splits: the live files of each bucket.
    """

    target: WriteTarget
    snapshot: Snapshot | None
    index: IndexEntries
    full: bool
    splits: tuple[DataSplit, ...]

    def without_splits(self) -> "CompactionPlan":
        """Return the plan without buckets."""
        return replace(self, splits=())


def plan_compaction(
    target: WriteTarget,
    *,
    full: bool = True,
    partitions: Sequence[PartitionSpec] | None = None,
    buckets: Collection[BucketId] | None = None,
) -> CompactionPlan:
    """Plan a compaction; arguments as for `compact_table`.

    Raises:
        UnsupportedFeatureError: the table uses a feature that compaction does not support.
        InvalidInputError: a partition names a column that is not a partition column.
        SnapshotExpiredError: the snapshot expired during the planning; retry.
    """
    store = target.store
    snapshot = snapshot_to_plan(store, target.schema)
    index = IndexEntries.empty()
    splits: tuple[DataSplit, ...] = ()
    if snapshot is not None:
        with explain_missing_files(store, snapshot):
            index = store.manifests.index_of(snapshot)
            check_supported(target.options, index)
            found = _bucket_splits(target, snapshot, partitions, buckets)
            splits = tuple(split for split in found if split.bucket != POSTPONE_BUCKET)
    return CompactionPlan(target=target, snapshot=snapshot, index=index, full=full, splits=splits)


def drop_idle_buckets(plan: CompactionPlan) -> CompactionPlan:
    """Return the plan without buckets whose sorted runs need no compaction."""
    options = plan.target.options
    if not plan.target.schema.primary_keys or options.value(opt.PK_CLUSTERING_OVERRIDE):
        return plan
    target, index = plan.target, plan.index
    kept = [
        split
        for split in plan.splits
        if _is_due(_primary_key_bucket(target, split, index), full=plan.full)
    ]
    return replace(plan, splits=tuple(kept))


def compact_split(plan: CompactionPlan, split: DataSplit) -> CommitMessage | None:
    """Compact one bucket of a plan; None or an empty message if there is nothing to compact.

    All files are deleted if this raises.
    """
    with explain_missing_files(plan.target.store, plan.snapshot):
        work = _compaction_of(plan, split)
        return None if work is None else work.run()


def planned_groups(plan: CompactionPlan, split: DataSplit) -> list[FileGroup]:
    """Return which files of a bucket `compact_split` replaces together; writes nothing."""
    work = _compaction_of(plan, split)
    return [] if work is None else work.groups()


def sort_table(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    strategy: str | None = None,
    columns: Sequence[str] = (),
    partitions: Sequence[PartitionSpec] | None = None,
) -> list[CommitMessage]:
    """Sort the rows of an append table by some columns, without committing the result.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        strategy: order, zorder, hilbert or auto; None for the table's strategy.
        columns: the columns to sort by; empty for the table's clustering columns.
        partitions: as for `compact_table`.

    Returns:
        The commit messages of an overwrite.

    Raises:
        UnsupportedFeatureError: sorting does not support this kind of table.
        InvalidInputError: the strategy or a column is unknown.
    """
    order = row_order(schema, options, strategy, columns)
    kinds = {
        "with a primary key": bool(schema.primary_keys),
        "with buckets": options.value(opt.BUCKET) != DYNAMIC_BUCKET,
        "with data-evolution.enabled": options.value(opt.DATA_EVOLUTION_ENABLED),
        "with clustering.incremental": options.value(opt.CLUSTERING_INCREMENTAL),
    }
    for kind, applies in kinds.items():
        if applies:
            raise UnsupportedFeatureError(f"sorting the rows of a table {kind}")
    snapshot = snapshot_to_plan(store, schema)
    if snapshot is None:
        return []
    target = WriteTarget(store=store, schema=schema, options=options)
    messages: list[CommitMessage] = []
    with undo_on_error(abort, target, messages), explain_missing_files(store, snapshot):
        index = store.manifests.index_of(snapshot)
        check_supported(options, index)
        for split in _bucket_splits(target, snapshot, partitions):
            bucket = _append_bucket(target, split, _index_of(split, index))
            work = AppendCompaction(bucket, [range(split.count)], order=order, overwrites=True)
            messages.append(work.run())
    return messages


def compact_postponed(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    partitions: Sequence[PartitionSpec] | None = None,
) -> list[CommitMessage]:
    """Write the rows of postpone buckets to real buckets, without committing the result.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        partitions: as for `compact_table`.

    Returns:
        The commit messages, with all files on level 0; empty without postponed rows.

    Raises:
        UnsupportedFeatureError, InvalidInputError: as for `compact_table`.
    """
    if options.value(opt.BUCKET) != POSTPONE_BUCKET:
        return []
    snapshot = snapshot_to_plan(store, schema)
    if snapshot is None:
        return []
    target = WriteTarget(store=store, schema=schema, options=options)
    with explain_missing_files(store, snapshot):
        check_supported(options, store.manifests.index_of(snapshot))
        return compact_postpone_buckets(target, list(_bucket_splits(target, snapshot, partitions)))


def numbered_buckets(
    store: TableStore, schema: TableSchema, options: TableOptions, wanted: Collection[int]
) -> frozenset[BucketId]:
    """Return the buckets of all partitions that have one of some numbers.

    Raises:
        InvalidInputError: the table has no fixed buckets, or not so many.
    """
    count = options.value(opt.BUCKET)
    if count <= 0:
        raise InvalidInputError(
            f"Buckets can be chosen in tables with fixed buckets only, but 'bucket' is {count}.",
            hint="Choose partitions instead.",
        )
    others = [number for number in sorted(wanted) if not 0 <= number < count]
    if others:
        raise InvalidInputError(
            f"Bucket {others[0]} does not exist; the table has the buckets 0 to {count - 1}."
        )
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return frozenset()
    with explain_missing_files(store, snapshot):
        entries = all_files(store, schema, snapshot)
    rows = byte_rows(entries.column("partition").combine_chunks())
    found = zip(rows, numbers(entries.table, "bucket").tolist(), strict=True)
    return frozenset(bucket for bucket in found if bucket[1] in wanted)


def check_supported(options: TableOptions, index: IndexEntries) -> None:
    """Check that compaction supports the index files of a table.

    Raises:
        UnsupportedFeatureError: an index type is not supported.
    """
    if options.value(opt.DATA_EVOLUTION_ENABLED):  # row ids do not change, so indexes stay valid
        return
    for row in index.rows():
        if (
            row["index_type"] not in _KNOWN_INDEXES
            and primary_key_sources(row["global_index"]) is None
        ):
            kind = row["index_type"]
            raise UnsupportedFeatureError(f"compaction of a table with an index of type {kind}")


def _bucket_splits(
    target: WriteTarget,
    snapshot: Snapshot,
    partitions: Sequence[PartitionSpec] | None,
    buckets: Collection[BucketId] | None = None,
) -> Iterator[DataSplit]:
    """Yield the live files of each bucket."""
    store, schema = target.store, target.schema
    if buckets is None:
        entries = all_files(store, schema, snapshot)
        if _skips_expired(target.options):
            entries = without_expired(entries, schema, target.options)
    else:
        entries = _entries_of_buckets(store, snapshot, buckets)
    entries = files_of_specs(entries, schema, partitions)
    scanned = ScanTarget(store=store, schema=schema, options=target.options, snapshot=snapshot)
    if len(entries):
        files = scanned.located(entries, snapshot)
        files = replace(files, paths_of=KnownPaths(files.paths))  # in one batch for all buckets
        yield from whole_buckets(files)


def _skips_expired(options: TableOptions) -> bool:
    return (
        options.value(opt.COMPACTION_SKIP_EXPIRED_PARTITIONS)
        and options.value(opt.PARTITION_EXPIRATION_TIME) is not None
        and options.value(opt.PARTITION_EXPIRATION_STRATEGY)
        is PartitionExpirationStrategy.VALUES_TIME
    )


def _entries_of_buckets(
    store: TableStore, snapshot: Snapshot, buckets: Collection[BucketId]
) -> ManifestEntries:
    value_set = pa.array(sorted({partition for partition, _ in buckets}), pa.binary())

    def of_partitions(rows: pa.BinaryArray) -> Bools:
        return bool_values(pc.is_in(rows, value_set=value_set))

    names = store.manifests.all(snapshot).names
    entries = live_entries(store.manifests.read_partitions(names, of_partitions, None))
    rows = byte_rows(entries.column("partition").combine_chunks())
    bucket_numbers = numbers(entries.table, "bucket").tolist()
    kept = [bucket in buckets for bucket in zip(rows, bucket_numbers, strict=True)]
    return entries.filter(np.array(kept, dtype=np.bool_)) if kept else entries


def _compaction_of(plan: CompactionPlan, split: DataSplit) -> BucketCompaction | None:
    """Plan the compaction of one bucket; None if there is nothing to compact."""
    target, index, full = plan.target, plan.index, plan.full
    if target.options.value(opt.DATA_EVOLUTION_ENABLED):
        runs = pick_data_evolution(target, split, full=full)
        own = _index_of(split, index)
        return DataEvolutionCompaction(target, split, runs, own) if runs else None
    if not target.schema.primary_keys:
        bucket = _append_bucket(target, split, _index_of(split, index))
        return _append_compaction(bucket, full=full)
    keyed = _primary_key_bucket(target, split, index)
    if target.options.value(opt.PK_CLUSTERING_OVERRIDE):
        return ClusteredCompaction(keyed) if needs_clustered_compaction(keyed, full=full) else None
    if (unit := _pick(keyed, full=full)) is not None:
        return UnitCompaction(keyed, unit)
    return IndexBuild(keyed) if full and _indexes_of(keyed).are_outdated else None


def _is_due(bucket: PrimaryKeyBucket, *, full: bool) -> bool:
    """Whether sorted runs of a bucket need a compaction, or its files an index."""
    return _pick(bucket, full=full) is not None or (full and _indexes_of(bucket).are_outdated)


def _indexes_of(bucket: PrimaryKeyBucket) -> BucketIndexes:
    return BucketIndexes(bucket.target, bucket.split, bucket.index)


def _primary_key_bucket(
    target: WriteTarget, split: DataSplit, index: IndexEntries
) -> PrimaryKeyBucket:
    levels = levels_of(split.files, target.options)
    own = _index_of(split, index)
    return PrimaryKeyBucket(target=target, split=split, levels=levels, index=own)


def _index_of(split: DataSplit, index: IndexEntries) -> IndexEntries:
    """Return the index files of one bucket."""
    is_own = index.numbers("bucket") == split.bucket
    if is_own.any():
        is_own &= true_rows(pc.equal(index.column("partition"), pa.scalar(split.partition)))
    return index.filter(is_own)


def _append_bucket(target: WriteTarget, split: DataSplit, index: IndexEntries) -> AppendBucket:
    has_buckets = target.options.value(opt.BUCKET) > 0
    return AppendBucket(target=target, split=split, index=index, has_buckets=has_buckets)


def _append_compaction(bucket: AppendBucket, *, full: bool) -> AppendCompaction | None:
    options = bucket.target.options
    if not options.value(opt.CLUSTERING_INCREMENTAL):
        groups = pick_append(bucket, full=full)
        return AppendCompaction(bucket, groups) if groups else None
    levels = levels_of(bucket.split.files, options)
    unit = pick_full(levels) if full else pick_universal(levels, options)
    if unit is None:
        return None
    order = row_order(bucket.target.schema, options, None, ())
    return AppendCompaction(bucket, [unit.files], order=order, level=unit.level)


def _outdated_files(bucket: PrimaryKeyBucket) -> list[int]:
    """Return the files that contain deleted or expired rows."""
    expiry = bucket.expiry
    expired = [] if expiry is None else expiry.files(bucket.split.files)
    has_vectors = bucket.target.options.value(opt.DELETION_VECTORS_ENABLED)
    return [*(bucket.files_with_deletions if has_vectors else ()), *expired]


def _pick(bucket: PrimaryKeyBucket, *, full: bool) -> CompactionUnit | None:
    options = bucket.target.options
    if full:
        return pick_full(
            bucket.levels,
            outdated=_outdated_files(bucket),
            rewrite_all=options.value(opt.COMPACTION_FORCE_REWRITE_ALL_FILES),
        )
    force = options.value(opt.COMPACTION_FORCE_UP_LEVEL_0) or _is_lookup_due(bucket)
    return pick_universal(bucket.levels, options, force_level_0=force)


def _is_lookup_due(bucket: PrimaryKeyBucket) -> bool:
    """Whether to compact level 0 by lookup now: always, or in GENTLE mode after some commits."""
    options = bucket.target.options
    if not needs_lookup(options):
        return False
    if options.value(opt.LOOKUP_COMPACT) is LookupCompact.RADICAL:
        return True
    commits = sum(run.level == 0 for run in bucket.levels.runs)
    return commits >= lookup_compact_max_interval(options)
