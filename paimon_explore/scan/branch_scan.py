"""Scan plans of tables that read several branches: fallback branches and chain tables.

With `scan.fallback-branch` a partition that the branch lacks is read from the fallback branch;
with `scan.primary-branch` it is the other way round. Under time travel the other branch is read at
its newest snapshot committed at or before the commit time of the pinned one; see
`time_travel.resolve_other`. The branches are those of the table's current options, not of the
pinned snapshot's schema.

A chain table has a snapshot branch (whole partitions) and a delta branch (changes). A partition of
the snapshot branch is read as it is. A partition that is only in the delta branch is the nearest
earlier whole partition of its chain, merged by key with the changes of all partitions from there up
to itself.

A stream of a chain table reads the delta branch. Before that come the newest whole partition of
each chain and the later partitions with changes, each by itself, or with
`chain-table.streaming.merge-snapshot` merged: the rows are in the last partition.
Spec: maintenance/manage-branches; chain tables. Seen in: golden java200 `fallback_branch`,
`chain_table`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress

from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.refused_options import Use, check_supported_options
from paimon_explore.metadata.options.table_options import (
    CHAIN_TABLE_ENABLED,
    CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT,
    MERGE_ENGINE,
    SCAN_FALLBACK_BRANCH,
    SCAN_PRIMARY_BRANCH,
    TableOptions,
)
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.chains import (
    chain_branches,
    chains_of,
    existing_branch,
    schema_in_branch,
)
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.manifest_arrays import (
    Stage,
    byte_array,
    byte_rows,
    column,
    distinct,
    numbers,
)
from paimon_explore.scan.plan import ScanPlan, ScanTarget, plan_scan, visible_mask
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.splits.data_split import DataSplit, LayeredSplit, PlainSplit
from paimon_explore.scan.splits.split_generator import whole_buckets
from paimon_explore.scan.time_travel import newest_until, resolve_other


def plan_table(target: ScanTarget, predicate: Expression = TRUE) -> ScanPlan:
    """Plan a batch scan over all branches that the table's options name; see `plan_scan`."""
    check_supported_options(target.options, Use.READ, target.store.paths.root)
    if target.whole is not None:
        whole = _before_next_commit(target.whole, target)
        return _plan_chain(whole, target, predicate)
    first, *more = branches_read(target)
    if not more:
        return plan_scan(first, predicate)
    return (_plan_chain if is_chain(target) else _plan_both)(first, more[0], predicate)


def stream_target(target: ScanTarget) -> ScanTarget:
    """Return what a stream reads after the first rows: of a chain table its delta branch.

    Raises:
        UnsupportedFeatureError: records of a chain table are not whole rows.
    """
    if not is_chain(target):
        return target
    engine = target.options.value(MERGE_ENGINE)
    if engine is not MergeEngine.DEDUPLICATE:
        raise UnsupportedFeatureError(
            f"streaming from a chain table with 'merge-engine' = {engine.value!r} (its changes are "
            "no whole rows)",
            target.store.paths.root,
            hint="Stream from its delta branch.",
        )
    changes = branches_read(target)[1]
    schema = changes.store.schemas.latest() or target.schema
    return replace(changes, schema=schema, snapshot=None)


def stream_state(table: ScanTarget, changes: ScanTarget) -> ScanTarget:
    """Return the target of the first rows of a stream.

    Args:
        table: the table.
        changes: what `stream_target` returns for it, at a snapshot.
    """
    return replace(changes, whole=branches_read(table)[0]) if is_chain(table) else changes


def _before_next_commit(whole: ScanTarget, changes: ScanTarget) -> ScanTarget:
    """The snapshot branch before the commit that follows the given one of the delta branch."""
    number = 0 if changes.snapshot is None else changes.snapshot.id
    following = changes.store.snapshots.find(number + 1)
    if following is None:
        return replace(whole, snapshot=whole.store.snapshots.latest())
    return replace(whole, snapshot=newest_until(whole.store, following.time_millis))


def branches_read(target: ScanTarget) -> tuple[ScanTarget, ...]:
    """The one or two branches that a scan reads; partitions of the first take precedence.

    Raises:
        NotFoundError: a branch named in the options does not exist.
    """
    options = target.options
    if is_chain(target):
        whole, changes = chain_branches(options)
        return _other(target, whole), _other(target, changes)
    fallback = options.value(SCAN_FALLBACK_BRANCH)
    primary = options.value(SCAN_PRIMARY_BRANCH)
    if fallback is not None and fallback != target.branch:
        return target, _other(target, fallback)
    if primary is not None and primary != target.branch:
        return _other(target, primary), target
    return (target,)


def is_chain(target: ScanTarget) -> bool:
    """Returns whether the scan merges the two branches of a chain table."""
    return target.branch == MAIN_BRANCH and target.options.value(CHAIN_TABLE_ENABLED)


def _other(target: ScanTarget, branch: str) -> ScanTarget:
    store = existing_branch(target.store, branch)
    schema = schema_in_branch(target.schema, target.store, store)
    if not target.travelled or target.snapshot is None:
        return replace(target, store=store, schema=schema, snapshot=store.snapshots.latest())
    snapshot = resolve_other(store, target.travel, target.snapshot)
    return replace(target, store=store, schema=schema, snapshot=snapshot)


def _plan_both(first: ScanTarget, second: ScanTarget, predicate: Expression) -> ScanPlan:
    """All partitions of the first branch, and those of the second that the first lacks.

    As in Java, the first branch lacks a partition whose files are not visible yet.
    """
    plan = plan_scan(first, predicate)
    below = plan_scan(second, predicate)
    files = _all(first)
    files = files.filter(visible_mask(first, files))
    present = frozenset(byte_rows(distinct(column(files.table, "partition"))[0]))
    added = tuple(split for split in below.splits if split.partition not in present)
    named = (replace(s, name=f"{second.branch}: {s.name}") for s in below.stages)
    return replace(
        plan,
        snapshot=plan.snapshot or below.snapshot,
        splits=(*plan.splits, *added),
        stages=(*plan.stages, *named),
    )


def _all(target: ScanTarget) -> ManifestEntries:
    if target.snapshot is None:
        return ManifestEntries.empty()
    partition_filter = PartitionFilter(row_type=target.schema.partition_type)
    return live_files(target.store, target.snapshot, partition_filter)


def _plan_chain(whole: ScanTarget, changes: ScanTarget, predicate: Expression) -> ScanPlan:
    states, deltas = _by_partition(whole), _by_partition(changes)
    parts = split_predicate(predicate, whole.schema.partition_keys)
    partition_filter = PartitionFilter(row_type=whole.schema.partition_type, predicate=parts.pushed)
    every = [*(states.keys() | deltas.keys())]
    wanted = frozenset(compress(every, partition_filter.entry_mask(byte_array(every)).tolist()))
    splits: list[PlainSplit] = []
    options = _both_options(whole)
    for chain in chains_of(every, whole.schema, options):
        if changes.whole is None:
            merged = [chain[: place + 1] for place in range(len(chain))]
        else:
            last = max((place for place, one in enumerate(chain) if one in states), default=0)
            is_one = options.value(CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT)
            merged = [chain[last:]] if is_one else [[one] for one in chain[last:]]
        for part in merged:
            if part[-1] in wanted:
                splits.extend(_chain_partition(part, states, deltas))
    stage = Stage(name="partitions", unit="partitions", total=len(every), kept=len(wanted))
    return ScanPlan(
        snapshot=whole.snapshot or changes.snapshot,
        splits=tuple(splits),
        stages=(stage,),
        rest=parts.rest,
    )


def _both_options(whole: ScanTarget) -> TableOptions:
    """The options of a chain table, and where they are not set those of its snapshot branch."""
    branch = whole.store.schemas.latest() or whole.schema
    return TableOptions({**branch.options, **whole.options.texts})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPartition:
    """A partition of a chain table, as the changes up to it make it.

    Attributes:
        whole: the snapshot branch.
        partition: its binary row.
        is_whole: whether the snapshot branch has it.
        splits: the nearest earlier whole partition with the changes since; empty if the delta
            branch does not have the partition.
    """

    whole: ScanTarget
    partition: bytes
    is_whole: bool
    splits: tuple[PlainSplit, ...]


def chain_partition(
    target: ScanTarget, matches: Callable[[Sequence[bytes]], Bools]
) -> ChainPartition | None:
    """Plan one partition of a chain table from the changes, whether or not it is whole.

    Args:
        target: the chain table.
        matches: returns which of n partitions it is, at most one.

    Returns:
        The partition; None if no branch has it.
    """
    check_supported_options(target.options, Use.READ, target.store.paths.root)
    whole, changes = branches_read(target)
    states, deltas = _by_partition(whole), _by_partition(changes)
    every = [*(states.keys() | deltas.keys())]
    found = next(compress(every, matches(every).tolist()), None) if every else None
    if found is None:
        return None
    chains = chains_of(every, whole.schema, _both_options(whole))
    chain = next(chain for chain in chains if found in chain)
    own = states.pop(found, None)
    upto = chain[: chain.index(found) + 1]
    splits = _chain_partition(upto, states, deltas) if found in deltas else []
    return ChainPartition(
        whole=whole, partition=found, is_whole=own is not None, splits=tuple(splits)
    )


def _by_partition(target: ScanTarget) -> dict[bytes, list[DataSplit]]:
    found: dict[bytes, list[DataSplit]] = {}
    if target.snapshot is not None:
        entries = _all(target)
        if target.only_level is not None:
            entries = entries.filter(numbers(entries.table, "level") == target.only_level)
        files = target.located(entries, target.snapshot)
        for split in whole_buckets(files):
            found.setdefault(split.partition, []).append(split)
    return found


def _chain_partition(
    upto: list[bytes], states: dict[bytes, list[DataSplit]], deltas: dict[bytes, list[DataSplit]]
) -> list[PlainSplit]:
    """The splits of the last of the given partitions of a chain, which are ascending."""
    partition = upto[-1]
    base = next(
        (position for position in reversed(range(len(upto))) if upto[position] in states), None
    )
    layers = [] if base is None else list(states[upto[base]])
    if base != len(upto) - 1:
        first = 0 if base is None else base + 1
        layers += [split for earlier in upto[first:] for split in deltas.get(earlier, [])]
    buckets: dict[int, list[DataSplit]] = {}
    for layer in layers:
        buckets.setdefault(layer.bucket, []).append(layer)
    return [LayeredSplit(layers=tuple(b), partition=partition) for b in buckets.values()]
