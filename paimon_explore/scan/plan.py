"""A batch scan planned: which files of a snapshot a read opens, and how they are grouped.

The order of cuts is fixed, each stage counted: manifests by partition range; entries by partition
(both kinds), then cancelled; files by level, bucket, key statistics, value statistics. Statistics
of value columns may drop single files only where no other file of the bucket can hold an older or
newer version of a row; elsewhere a bucket goes as a whole or stays.
Spec: primary-key-table, filter push-down; concepts/spec/manifest.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import EntryFilter, partition_filter
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import (
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MERGE_ON_READ,
    MERGE_ENGINE,
    SOURCE_SPLIT_OPEN_FILE_COST,
    SOURCE_SPLIT_TARGET_SIZE,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.live_entries import PartitionCut, read_entries
from paimon_explore.scan.manifest_arrays import Mask, Rows, group_numbers, numbers
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.pruning.bucket_pruning import bucket_mask
from paimon_explore.scan.splits.data_split import PlacedFiles, PlainSplit
from paimon_explore.scan.splits.deletion_files import deletion_files
from paimon_explore.scan.splits.file_locations import DataFilePlaces
from paimon_explore.scan.splits.split_generator import SplitRules, make_splits
from paimon_explore.scan.time_travel import NEWEST, TimeTravel
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from paimon_explore.scan.pruning.file_statistics import SchemaOf

PARTITION_CUT = "partitions"
LEVEL_CUT = "visible levels"
BUCKET_CUT = "bucket"
KEY_CUT = "key statistics"
VALUE_CUT = "value statistics"

_POSTPONED = -2
_KEY_STATS = frozenset({"key_min", "key_max", "key_null_counts"})
_VALUE_STATS = frozenset({"value_min", "value_max", "value_null_counts"})
_KEYS = frozenset({"min_key", "max_key"})
_STATS = _KEY_STATS | _VALUE_STATS
_JUDGED = _VALUE_STATS | {"kind", "row_count", "schema_id", "value_stats_cols", "write_cols"}
"""What tells of a file of a table without keys whether it may hold a wanted row."""
_BUCKETS = frozenset({"bucket", "total_buckets"})
_ALL_COLUMNS = frozenset(ENTRY_SCHEMA.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTarget:
    """What is scanned.

    Attributes:
        store: of the branch.
        schema: the reading schema: the snapshot's under time travel, else the latest.
        options: of the table, with dynamic ones on top.
        snapshot: None for a table without any.
        travelled: whether the snapshot was asked for, not just the newest one.
        travel: the point in time that was asked for, which other branches are read at, too.
        branch: its name.
        only_level: read files of this level alone; None for all.
        created_since: read no file made before: a local wall clock in ms; None for all. Only what
            reads sets it, as what writes needs all files.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None
    travelled: bool = False
    travel: TimeTravel = NEWEST
    branch: str = MAIN_BRANCH
    only_level: int | None = None
    created_since: int | None = None

    @property
    def keys(self) -> RowType | None:
        """The trimmed primary key; None for append tables."""
        names = self.schema.trimmed_primary_keys
        return self.schema.project(names) if names else None

    @property
    def levels_disjoint(self) -> bool:
        """Whether a key is live at most once above level 0."""
        first_row = self.options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW
        return self.keys is not None and (first_row or self.options.value(DELETION_VECTORS_ENABLED))

    @property
    def hides_level_0(self) -> bool:
        """Whether rows become visible only by compaction."""
        return self.levels_disjoint and not self.options.value(DELETION_VECTORS_MERGE_ON_READ)

    @property
    def rules(self) -> SplitRules:
        """How the files of a bucket are packed."""
        return SplitRules(
            keys=self.keys,
            levels_disjoint=self.levels_disjoint,
            shares_rows=self.options.value(DATA_EVOLUTION_ENABLED),
            target_bytes=self.options.value(SOURCE_SPLIT_TARGET_SIZE),
            open_cost_bytes=self.options.value(SOURCE_SPLIT_OPEN_FILE_COST),
        )

    def placed(self, entries: ManifestEntries, snapshot: Snapshot) -> PlacedFiles:
        """Files of a snapshot with their paths and deletion vectors."""
        return PlacedFiles(
            entries=entries,
            place=DataFilePlaces(self.schema, self.options, self.store.paths),
            deletion_files=deletion_files(self.store, snapshot, self.schema, self.options),
            snapshot_id=snapshot.id,
            branch=self.branch,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One cut of the planning.

    Attributes:
        name: what is cut by.
        unit: `manifests` or `files`.
        total: items before.
        kept: items after.
    """

    name: str
    unit: str
    total: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """The files to read.

    Attributes:
        snapshot: planned at; None for a table without any.
        splits: what is read together; single ones are made when they are looked at.
        stages: the cuts in order.
        rest: what of the predicate still has to be checked on rows; TRUE if nothing.
    """

    snapshot: Snapshot | None
    splits: Sequence[PlainSplit]
    stages: tuple[Stage, ...]
    rest: Expression


def plan_scan(target: ScanTarget, predicate: Expression = TRUE) -> ScanPlan:
    """Plan a batch scan.

    Args:
        target: table, schema and snapshot.
        predicate: bound to the reading schema's row type.

    Raises:
        FormatError: a metadata file breaks the format.
        MissingFileError: a manifest or manifest list is gone.
    """
    parts = split(predicate, target.schema.partition_keys)
    if target.snapshot is None:
        return ScanPlan(snapshot=None, splits=(), stages=(), rest=parts.rest)
    cut = PartitionCut(
        row_type=target.schema.partition_type,
        predicate=None if parts.inside == TRUE else parts.inside,
    )
    stages: list[Stage] = []
    entries = _planned_files(target, target.snapshot, cut, parts.rest, stages)
    return ScanPlan(
        snapshot=target.snapshot,
        splits=make_splits(target.placed(entries, target.snapshot), target.rules),
        stages=tuple(stages),
        rest=parts.rest,
    )


def _planned_files(
    target: ScanTarget,
    snapshot: Snapshot,
    cut: PartitionCut,
    rest: Expression,
    stages: list[Stage],
) -> ManifestEntries:
    """The files to read, without their statistics."""
    store = target.store
    manifests = store.manifests.all(snapshot)
    wanted = cut.manifests(manifests)
    stages.append(_stage("partition ranges", "manifests", wanted))
    kept = manifests.filter(wanted)
    columns = _ALL_COLUMNS - _STATS if target.keys is not None else _ALL_COLUMNS - _STATS - _KEYS
    if target.keys is None and rest != TRUE and not numbers(kept.table, "num_deleted_files").any():
        found = _sifted_files(target, kept, cut, rest, columns)
        if found is not None:
            stages.extend(found[1])
            return found[0]
    statistics = frozenset[str]() if rest == TRUE else _VALUE_STATS
    if target.keys is not None and statistics:
        statistics |= _KEY_STATS
    entries = live_entries(read_entries(store, kept, cut, columns | statistics))
    count = len(entries)
    stages.append(Stage(name=PARTITION_CUT, unit="files", total=count, kept=count))
    return prune_files(target, entries, rest, stages).select(columns)


def _sifted_files(
    target: ScanTarget,
    manifests: ManifestFiles,
    cut: PartitionCut,
    rest: Expression,
    columns: Collection[str],
) -> tuple[ManifestEntries, list[Stage]] | None:
    """Files judged one by one while they are decoded, and the stages; None if some are deleted.

    Of the files that are dropped, no more is decoded than what tells that they are.
    """
    file_filter = _FileSieve(target, rest)
    filters = [EntryFilter(columns=_judged(target), reasons=file_filter.reasons)]
    if cut.predicate is not None:
        filters.insert(0, partition_filter(cut.entries, cut.needles))
    entries, tallies = target.store.manifests.read_filtered(manifests.names, filters, columns)
    if file_filter.sees_deletes:
        return None
    left = int(tallies[-1].sum())
    stages = [Stage(name=PARTITION_CUT, unit="files", total=left, kept=left)]
    if not file_filter.cuts:  # there was no file to judge
        file_filter.reasons(ManifestEntries.empty())
    for number, name in enumerate(file_filter.cuts, start=1):
        dropped = int(tallies[-1][number])
        stages.append(Stage(name=name, unit="files", total=left, kept=left - dropped))
        left -= dropped
    return entries, stages


def _judged(target: ScanTarget) -> frozenset[str]:
    """The columns that `file_cuts` looks at of a table without keys."""
    buckets = _BUCKETS if target.schema.bucket_keys else frozenset[str]()
    level = frozenset[str]() if target.only_level is None else frozenset({"level"})
    created = frozenset[str]() if target.created_since is None else frozenset({"creation_time"})
    return _JUDGED | buckets | level | created


class _FileSieve:
    """Judges files of tables without keys, each by itself.

    Attributes:
        sees_deletes: whether there were entries that delete files, which the list of manifests
            knew nothing of.
        cuts: the names of the cuts, in their order; known once files were judged.
    """

    def __init__(self, target: ScanTarget, rest: Expression) -> None:
        self.sees_deletes = False
        self.cuts: tuple[str, ...] = ()
        self._target = target
        self._rest = rest
        self._schemas: dict[int, TableSchema] = {target.schema.id: target.schema}

    def reasons(self, entries: ManifestEntries) -> Rows:
        """0 for the files to keep, else the number of the cut that drops them."""
        self.sees_deletes |= bool((numbers(entries.table, "kind") != FileKind.ADD).any())
        found = np.zeros(len(entries), np.int64)
        rows: Rows | None = None
        names: list[str] = []
        cuts = file_cuts(self._target, entries, self._rest, self._schema)
        for number, cut in enumerate(cuts, start=1):
            names.append(cut.name)
            if cut.mask.all():
                continue
            if rows is None:
                found[~cut.mask] = number
                rows = np.flatnonzero(cut.mask)
            else:
                found[rows[~cut.mask]] = number
                rows = rows[cut.mask]
        self.cuts = tuple(names)
        return found

    def _schema(self, schema_id: int) -> TableSchema:
        if schema_id not in self._schemas:
            self._schemas[schema_id] = self._target.store.schemas.load(schema_id)
        return self._schemas[schema_id]


def _stage(name: str, unit: str, mask: Mask) -> Stage:
    return Stage(name=name, unit=unit, total=len(mask), kept=int(mask.sum()))


def prune_files(
    target: ScanTarget, entries: ManifestEntries, rest: Expression, stages: list[Stage]
) -> ManifestEntries:
    """Drop files by level rule, bucket, key and value statistics; append a stage for each."""
    for cut in file_cuts(target, entries, rest):
        stages.append(_stage(cut.name, "files", cut.mask))
        entries = cut.kept
    return entries


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCut:
    """One cut of a scan's files.

    Attributes:
        name: what is cut by.
        before: the files that came to it.
        mask: which of them it keeps.
    """

    name: str
    before: ManifestEntries
    mask: Mask

    @property
    def kept(self) -> ManifestEntries:
        """The files that it keeps."""
        return self.before if self.mask.all() else self.before.filter(self.mask)


def file_cuts(
    target: ScanTarget,
    entries: ManifestEntries,
    rest: Expression,
    schema_of: "SchemaOf | None" = None,
) -> Iterator[FileCut]:
    """The cuts of live files, in their order; each goes on with what the one before has kept.

    Args:
        target: table and schema.
        entries: the files, with the columns that are looked at.
        rest: what of the predicate the partitions do not decide.
        schema_of: the schema of a schema id, if not from its file.
    """
    schema_of = schema_of or target.store.schemas.load
    cut = FileCut(name=LEVEL_CUT, before=entries, mask=_visible(target, entries))
    yield cut
    if rest == TRUE:
        return
    entries = cut.kept
    mask = bucket_mask(entries, target.schema, target.options, rest)
    cut = FileCut(name=BUCKET_CUT, before=entries, mask=mask)
    yield cut
    entries = cut.kept
    keys = target.keys
    if target.options.value(DATA_EVOLUTION_ENABLED):
        return
    if keys is None:
        yield FileCut(
            name=VALUE_CUT, before=entries, mask=_values(target, entries, rest, schema_of)
        )
        return
    on_keys = split(rest, [field.name for field in keys]).inside
    if on_keys != TRUE:
        cut = FileCut(name=KEY_CUT, before=entries, mask=_keys(entries, on_keys, keys))
        yield cut
        entries = cut.kept
    yield FileCut(
        name=VALUE_CUT, before=entries, mask=_values_by_bucket(target, entries, rest, schema_of)
    )


def _visible(target: ScanTarget, entries: ManifestEntries) -> Mask:
    mask = np.ones(len(entries), dtype=np.bool_)
    if target.keys is not None:
        mask &= numbers(entries.table, "bucket") != _POSTPONED
    if target.only_level is not None:
        mask &= numbers(entries.table, "level") == target.only_level
    if target.hides_level_0:
        mask &= numbers(entries.table, "level") != 0
    if target.created_since is not None:
        mask &= numbers(entries.table, "creation_time") >= target.created_since
    return mask


def _keys(entries: ManifestEntries, on_keys: Expression, keys: RowType) -> Mask:
    from paimon_explore.scan.pruning.file_statistics import key_stats  # noqa: PLC0415 - there is a predicate
    from paimon_explore.scan.pruning.statistics_pruning import may_match  # noqa: PLC0415 - likewise

    return may_match(on_keys, key_stats(entries, keys))


def _values(
    target: ScanTarget, entries: ManifestEntries, rest: Expression, schema_of: "SchemaOf"
) -> Mask:
    from paimon_explore.scan.pruning.file_statistics import value_stats  # noqa: PLC0415 - there is a predicate
    from paimon_explore.scan.pruning.statistics_pruning import may_match  # noqa: PLC0415 - likewise

    fields = target.schema.project(sorted(names_of(rest)))
    return may_match(rest, value_stats(entries, schema_of, fields))


def _values_by_bucket(
    target: ScanTarget, entries: ManifestEntries, rest: Expression, schema_of: "SchemaOf"
) -> Mask:
    """Whole buckets, or single files of tables whose keys are live once above level 0."""
    matches = _values(target, entries, rest, schema_of)
    if target.hides_level_0:
        return matches
    engine = target.options.value(MERGE_ENGINE)
    if engine not in {MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW} and not (
        target.options.value(DELETION_VECTORS_ENABLED)
    ):
        return np.ones(len(entries), dtype=np.bool_)
    group = group_numbers(entries.table)
    _, bucket = np.unique(group, return_inverse=True)
    return np.bincount(bucket, weights=matches)[bucket] > 0 if len(entries) else matches
