"""Compaction of a table: fewer and larger files with the same rows.

The table is planned at its latest snapshot, bucket by bucket. The messages replace files; whoever
commits them learns of a conflict if one of these files is gone by then, and nothing changes.

What is not compacted here is refused before anything is written.

Spec: maintenance/dedicated-compaction.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.commit.overwrite import Overwrite, PartitionMatcher
from paimon_explore.data_types.arrow_buffers import Bools, bool_values
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.append_compaction import (
    AppendBucket,
    AppendCompaction,
    pick_append,
)
from paimon_explore.maintenance.compaction.bucket_compaction import (
    CompactBucket,
    UnitCompaction,
    indexed_file,
)
from paimon_explore.maintenance.compaction.clustered_compaction import compact_clustered
from paimon_explore.maintenance.compaction.compaction_strategy import (
    CompactUnit,
    pick_full,
    pick_universal,
)
from paimon_explore.maintenance.compaction.data_evolution_compaction import (
    EvolvedCompaction,
    pick_evolved,
)
from paimon_explore.maintenance.compaction.levels import levels_of
from paimon_explore.maintenance.compaction.postpone_compaction import spread_postponed
from paimon_explore.maintenance.compaction.sort_compaction import row_order
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
from paimon_explore.metadata.options.option_enums import LookupCompact
from paimon_explore.metadata.options.table_options import (
    DYNAMIC_BUCKET,
    POSTPONE_BUCKET,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import byte_rows, numbers
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.store.table_store import TableStore
from paimon_explore.write.write_target import WriteTarget, abort

_KNOWN_INDEXES = frozenset({HASH_INDEX, DELETION_VECTORS_INDEX})
PartitionSpec = Mapping[str, object]
"""Values of some partition columns."""

Place = tuple[bytes, int]
"""A partition row and a bucket."""


def compact_table(  # noqa: PLR0913 - the choices of one compaction
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    full: bool = True,
    partitions: Sequence[PartitionSpec] | None = None,
    places: Collection[Place] | None = None,
    walk: Callable[[Sequence[DataSplit]], Iterable[DataSplit]] = iter,
) -> list[CommitMessage]:
    """Compact a table, without committing the result.

    Args:
        store: the table.
        schema: its latest schema.
        options: the options in force.
        full: everything that can be made better, to the top level; False: what the table's options
            ask for by the number and sizes of files.
        partitions: partitions that match one of these; None: all.
        places: only these buckets; None: all.
        walk: goes over the buckets, one by one.

    Returns:
        What a commit makes visible; none if nothing has to be done. All files are removed again if
        this raises.

    Raises:
        UnsupportedFeatureError: the table has something that is not compacted here.
        InvalidInputError: a partition names a column that is no partition column.
        SnapshotExpiredError: others have committed and expired what is compacted; do it again.
    """
    target = WriteTarget(store=store, schema=schema, options=options)
    plan = plan_compaction(target, full=full, partitions=partitions, places=places)
    messages: list[CommitMessage] = []
    try:
        for split in walk(plan.splits):
            message = compact_split(plan, split)
            if message is not None and not message.is_empty:
                messages.append(message)
    except BaseException:
        abort(target, messages)
        raise
    return messages


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """The buckets of a compaction, which may be compacted in any place and order.

    Attributes:
        target: the table.
        snapshot: the state that is compacted; None without any.
        index: its index files.
        full: whether everything is made better that can be.
        splits: the live files of each bucket.
    """

    target: WriteTarget
    snapshot: Snapshot | None
    index: IndexEntries
    full: bool
    splits: tuple[DataSplit, ...]

    def without_splits(self) -> "CompactionPlan":
        """What all buckets have in common."""
        return replace(self, splits=())


def plan_compaction(
    target: WriteTarget,
    *,
    full: bool = True,
    partitions: Sequence[PartitionSpec] | None = None,
    places: Collection[Place] | None = None,
) -> CompactionPlan:
    """The buckets that a compaction looks at; see `compact_table`.

    Raises:
        UnsupportedFeatureError: the table has something that is not compacted here.
        InvalidInputError: a partition names a column that is no partition column.
        SnapshotExpiredError: others have committed and expired what is compacted; do it again.
    """
    store = target.store
    snapshot = store.snapshots.latest()
    index = IndexEntries.empty()
    splits: tuple[DataSplit, ...] = ()
    if snapshot is not None:
        with explain_missing_files(store, snapshot):
            index = store.manifests.index_of(snapshot)
            refuse_unsupported(target.options, index)
            found = _buckets(target, snapshot, partitions, places)
            splits = tuple(split for split in found if split.bucket != POSTPONE_BUCKET)
    return CompactionPlan(target=target, snapshot=snapshot, index=index, full=full, splits=splits)


def due_splits(plan: CompactionPlan) -> CompactionPlan:
    """The plan without the buckets of sorted runs that stay as they are."""
    options = plan.target.options
    if not plan.target.schema.primary_keys or options.value(opt.PK_CLUSTERING_OVERRIDE):
        return plan
    target, index = plan.target, plan.index
    due = [s for s in plan.splits if _pick(_keyed(target, s, index), full=plan.full) is not None]
    return replace(plan, splits=tuple(due))


def compact_split(plan: CompactionPlan, split: DataSplit) -> CommitMessage | None:
    """Compact one bucket of a plan; None or an empty message if nothing has to be done.

    All files are removed again if this raises.
    """
    with explain_missing_files(plan.target.store, plan.snapshot):
        return _compact_bucket(plan.target, split, plan.index, full=plan.full)


def sort_table(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    strategy: str | None = None,
    columns: Sequence[str] = (),
    partitions: Sequence[PartitionSpec] | None = None,
) -> list[CommitMessage]:
    """Bring the rows of an append table in the order of some columns, without committing them.

    Args:
        store: the table.
        schema: its latest schema.
        options: the options in force.
        strategy: order, zorder, hilbert or auto; None: the table's.
        columns: by which columns; none: the table's.
        partitions: as for `compact_table`.

    Returns:
        What a commit makes visible, as an overwrite.

    Raises:
        UnsupportedFeatureError: the table is of a kind that is not sorted.
        InvalidInputError: an unknown strategy or column.
    """
    order = row_order(schema, options, strategy, columns)
    kinds = {
        "with a primary key": bool(schema.primary_keys),
        "with buckets": options.value(opt.BUCKET) != DYNAMIC_BUCKET,
        "with data-evolution.enabled": options.value(opt.DATA_EVOLUTION_ENABLED),
        "with clustering.incremental, which sorts by itself": options.value(
            opt.CLUSTERING_INCREMENTAL
        ),
    }
    for kind, is_so in kinds.items():
        if is_so:
            raise UnsupportedFeatureError(f"sorting the rows of a table {kind}")
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return []
    index = store.manifests.index_of(snapshot)
    refuse_unsupported(options, index)
    target = WriteTarget(store=store, schema=schema, options=options)
    messages: list[CommitMessage] = []
    try:
        for split in _buckets(target, snapshot, partitions, None):
            bucket = _append_bucket(target, split, _index_of(split, index))
            groups = [list(range(split.count))]
            messages.append(AppendCompaction(bucket, groups, order=order, overwrites=True).run())
    except BaseException:
        abort(target, messages)
        raise
    return messages


def spread_table(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    *,
    partitions: Sequence[PartitionSpec] | None = None,
) -> list[CommitMessage]:
    """Write the postponed rows of a table into real buckets, without committing the result.

    Args:
        store: the table.
        schema: its latest schema.
        options: the options in force.
        partitions: as for `compact_table`.

    Returns:
        What a commit makes visible, all on level 0; none if no rows wait.

    Raises:
        UnsupportedFeatureError, InvalidInputError: as for `compact_table`.
    """
    snapshot = store.snapshots.latest()
    if snapshot is None or options.value(opt.BUCKET) != POSTPONE_BUCKET:
        return []
    target = WriteTarget(store=store, schema=schema, options=options)
    with explain_missing_files(store, snapshot):
        refuse_unsupported(options, store.manifests.index_of(snapshot))
        return spread_postponed(target, list(_buckets(target, snapshot, partitions)))


def refuse_unsupported(options: TableOptions, index: IndexEntries) -> None:
    """Refuse tables that are not compacted here.

    Raises:
        UnsupportedFeatureError: names the feature.
    """
    if options.value(opt.DATA_EVOLUTION_ENABLED):  # compaction keeps what indexes point at
        return
    for row in index.rows():
        if row["index_type"] not in _KNOWN_INDEXES and indexed_file(row) is None:
            kind = row["index_type"]
            raise UnsupportedFeatureError(f"compaction of a table with an index of type {kind}")


def _buckets(
    target: WriteTarget,
    snapshot: Snapshot,
    partitions: Sequence[PartitionSpec] | None,
    places: Collection[Place] | None = None,
) -> Iterator[DataSplit]:
    """The live files of each bucket."""
    store, schema = target.store, target.schema
    if places is None:
        cut = PartitionFilter(row_type=schema.partition_type, predicate=None)
        entries = live_files(store, snapshot, cut)
    else:
        entries = _live_at(store, snapshot, places)
    if partitions is not None:
        entries = _matching(entries, schema, partitions)
    scanned = ScanTarget(
        store=store,
        schema=schema,
        options=target.options,
        snapshot=snapshot,
        branch=store.paths.branch,
    )
    if len(entries):
        yield from whole_buckets(scanned.located(entries, snapshot))


def _live_at(store: TableStore, snapshot: Snapshot, places: Collection[Place]) -> ManifestEntries:
    wanted = pa.array(sorted({partition for partition, _ in places}), pa.binary())

    def of_partitions(rows: pa.BinaryArray) -> Bools:
        return bool_values(pc.is_in(rows, value_set=wanted))

    names = store.manifests.all(snapshot).names
    entries = live_entries(store.manifests.read_partitions(names, of_partitions, None))
    rows = byte_rows(entries.column("partition").combine_chunks())
    buckets = numbers(entries.table, "bucket").tolist()
    kept = [place in places for place in zip(rows, buckets, strict=True)]
    return entries.filter(np.array(kept, dtype=np.bool_)) if kept else entries


def _matching(
    entries: ManifestEntries, schema: TableSchema, partitions: Sequence[PartitionSpec]
) -> ManifestEntries:
    matcher = PartitionMatcher(
        schema.partition_type, Overwrite(specs=tuple(partitions)), frozenset()
    )
    rows = byte_rows(entries.column("partition").combine_chunks())
    return entries.filter(matcher.matches(rows)) if rows else entries


def _compact_bucket(
    target: WriteTarget, split: DataSplit, index: IndexEntries, *, full: bool
) -> CommitMessage | None:
    if target.options.value(opt.DATA_EVOLUTION_ENABLED):
        runs = pick_evolved(target, split, full=full)
        return EvolvedCompaction(target, split, runs).run() if runs else None
    if not target.schema.primary_keys:
        bucket = _append_bucket(target, split, _index_of(split, index))
        return _compact_append(bucket, full=full)
    keyed = _keyed(target, split, index)
    if target.options.value(opt.PK_CLUSTERING_OVERRIDE):
        return compact_clustered(keyed, full=full)
    unit = _pick(keyed, full=full)
    return None if unit is None else UnitCompaction(keyed, unit).run()


def _keyed(target: WriteTarget, split: DataSplit, index: IndexEntries) -> CompactBucket:
    levels = levels_of(split.files, target.options)
    own = _index_of(split, index)
    return CompactBucket(target=target, split=split, levels=levels, index=own)


def _index_of(split: DataSplit, index: IndexEntries) -> IndexEntries:
    """The index files of one bucket."""
    place = (split.partition, split.bucket)
    own = [(row["partition"], row["bucket"]) == place for row in index.rows()]
    return index.filter(np.array(own, np.bool_))


def _append_bucket(target: WriteTarget, split: DataSplit, index: IndexEntries) -> AppendBucket:
    has_buckets = target.options.value(opt.BUCKET) > 0
    return AppendBucket(target=target, split=split, index=index, has_buckets=has_buckets)


def _compact_append(bucket: AppendBucket, *, full: bool) -> CommitMessage | None:
    options = bucket.target.options
    if not options.value(opt.CLUSTERING_INCREMENTAL):
        groups = pick_append(bucket, full=full)
        return AppendCompaction(bucket, groups).run() if groups else None
    levels = levels_of(bucket.split.files, options)
    unit = pick_full(levels) if full else pick_universal(levels, options)
    if unit is None:
        return None
    order = row_order(bucket.target.schema, options, None, ())
    return AppendCompaction(bucket, [unit.files], order=order, level=unit.level).run()


def _to_rewrite(bucket: CompactBucket) -> list[int]:
    """Files of the top level that have rows which do not belong there any more."""
    expiry = bucket.expiry
    expired = [] if expiry is None else expiry.files(bucket.split.files)
    has_vectors = bucket.target.options.value(opt.DELETION_VECTORS_ENABLED)
    return [*(bucket.marked if has_vectors else ()), *expired]


def _pick(bucket: CompactBucket, *, full: bool) -> CompactUnit | None:
    options = bucket.target.options
    if full:
        return pick_full(
            bucket.levels,
            marked=_to_rewrite(bucket),
            rewrite_all=options.value(opt.COMPACTION_FORCE_REWRITE_ALL_FILES),
        )
    force = options.value(opt.COMPACTION_FORCE_UP_LEVEL_0) or _is_lookup_due(bucket)
    return pick_universal(bucket.levels, options, force_level_0=force)


def _is_lookup_due(bucket: CompactBucket) -> bool:
    """Whether level 0 is to be looked up now: always, or when "gentle" after some commits."""
    options = bucket.target.options
    if not needs_lookup(options):
        return False
    if options.value(opt.LOOKUP_COMPACT) is LookupCompact.RADICAL:
        return True
    commits = sum(run.level == 0 for run in bucket.levels.runs)
    return commits >= lookup_compact_max_interval(options)
