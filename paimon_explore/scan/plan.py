"""Scan planning: the files of a snapshot that a batch read opens, grouped into splits.

Pruning has fixed stages, each counted: manifests by partition range; entries by partition (ADD and
DELETE alike), then cancelling; files by level, bucket, key statistics, value statistics. Value
statistics may drop single files only where no other file of the bucket can hold another version of
a row; elsewhere a bucket is kept or dropped as a whole.
Spec: primary-key-table, filter push-down; concepts/spec/manifest.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import EntryFilter, partition_filter
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.options.effective_options import merges_postponed
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.refused_options import check_not_postponed
from paimon_explore.metadata.options.table_options import (
    BUCKET,
    DATA_EVOLUTION_ENABLED,
    DELETION_VECTORS_ENABLED,
    DELETION_VECTORS_MERGE_ON_READ,
    MERGE_ENGINE,
    PK_BITMAP_INDEX_COLUMNS,
    PK_BTREE_INDEX_COLUMNS,
    POSTPONE_BUCKET,
    POSTPONE_MERGE_ON_READ,
    SCAN_BUCKET,
    SCAN_PLAN_SORT_PARTITION,
    SOURCE_SPLIT_OPEN_FILE_COST,
    SOURCE_SPLIT_TARGET_SIZE,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.live_entries import PartitionFilter, read_entries, sorted_by_partition
from paimon_explore.scan.manifest_arrays import FileStage, Mask, Rows, Stage, group_numbers, numbers
from paimon_explore.scan.predicate.expression import TRUE, Expression, names_of
from paimon_explore.scan.predicate.predicate_split import split
from paimon_explore.scan.splits.data_split import LocatedFiles, PlainSplit
from paimon_explore.scan.splits.deletion_vector_files import deletion_files
from paimon_explore.scan.splits.file_locations import DataFilePaths
from paimon_explore.scan.splits.row_id_ranges import row_ranges
from paimon_explore.scan.splits.split_generator import SplitRules, make_splits
from paimon_explore.scan.time_travel import NEWEST, TimeTravel, created_since
from paimon_explore.store.table_store import TableStore

if TYPE_CHECKING:
    from pyroaring import BitMap, BitMap64

    from paimon_explore.scan.index_lookups import IndexedRowIds, IndexSource
    from paimon_explore.scan.pruning.file_statistics import FileSchemas, SchemaOf

PARTITION_STAGE = "partitions"
LEVEL_STAGE = "visible levels"
BUCKET_STAGE = "bucket"
KEY_STAGE = "key statistics"
VALUE_STAGE = "value statistics"
GLOBAL_INDEX_STAGE = "global index"
PRIMARY_KEY_INDEX_STAGE = "primary-key index"

_KEY_STATS = frozenset({"key_min", "key_max", "key_null_counts"})
_VALUE_STATS = frozenset({"value_min", "value_max", "value_null_counts"})
_KEYS = frozenset({"min_key", "max_key"})
_STATS = _KEY_STATS | _VALUE_STATS
_FILTER_COLUMNS = _VALUE_STATS | {
    "kind",
    "row_count",
    "schema_id",
    "value_stats_cols",
    "write_cols",
}
"""Columns by which files of an append table are pruned."""
_BUCKETS = frozenset({"bucket", "total_buckets"})
_ALL_COLUMNS = frozenset(ENTRY_SCHEMA.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTarget:
    """The table, schema and snapshot to scan.

    Attributes:
        store: of the branch.
        schema: the reading schema: the snapshot's under time travel, else the latest.
        options: table options overlaid with dynamic options.
        snapshot: None if the table has no snapshot.
        travelled: whether the snapshot was requested by time travel, not just the latest one.
        travel: the requested point in time, at which other branches are read as well.
        only_level: read only files of this level; None for all.
        min_level: read only files of this level or a higher one.
        created_since: skip files created before this local wall-clock time in ms; None for all.
            Set for reads only, since writes need all files.
        only_bucket: read only this bucket; None for all. Set for reads only.
        whole: the snapshot branch of a chain table, to read the first rows of a stream; the target
            is the delta branch.
    """

    store: TableStore
    schema: TableSchema
    options: TableOptions
    snapshot: Snapshot | None
    travelled: bool = False
    travel: TimeTravel = NEWEST
    only_level: int | None = None
    min_level: int = 0
    created_since: int | None = None
    only_bucket: int | None = None
    whole: "ScanTarget | None" = None

    @property
    def branch(self) -> str:
        """The name of the branch."""
        return self.store.paths.branch

    def for_read(self) -> "ScanTarget":
        """Return the target with the scan options that restrict the files of reads.

        Raises:
            InvalidInputError: `scan.bucket` is set for a table without fixed buckets.
        """
        since = created_since(self.store, self.options)
        bucket = self.options.value(SCAN_BUCKET)
        if since is None and bucket is None:
            return self
        if bucket is not None and (self.keys is None or self.options.value(BUCKET) < 1):
            raise InvalidInputError(
                f"Option {SCAN_BUCKET.key!r} = {bucket} needs a table with a primary key and "
                "a fixed number of buckets."
            )
        if since is not None:
            use = "selecting files by their creation time"
            check_not_postponed(self.options, use, self.store.paths.root)
        created = None if since is None else local_millis(since)
        return replace(self, created_since=created, only_bucket=bucket)

    @property
    def keys(self) -> RowType | None:
        """The trimmed primary key; None for append tables."""
        names = self.schema.trimmed_primary_keys
        return self.schema.project(names) if names else None

    @property
    def levels_disjoint(self) -> bool:
        """Whether each key occurs at most once above level 0."""
        first_row = self.options.value(MERGE_ENGINE) is MergeEngine.FIRST_ROW
        return self.keys is not None and (first_row or self.options.value(DELETION_VECTORS_ENABLED))

    @property
    def hides_level_0(self) -> bool:
        """Whether rows become visible only by compaction."""
        return (
            self.levels_disjoint
            and not self.options.value(DELETION_VECTORS_MERGE_ON_READ)
            and not self.merges_postponed
        )

    @property
    def merges_postponed(self) -> bool:
        """Whether postponed records and level 0 are merged on read; never for some levels only."""
        return self.only_level is None and merges_postponed(self.options)

    def without_postponed(self) -> "ScanTarget":
        """Return the target for reads that leave postponed records out, whatever the options."""
        return replace(self, options=self.options.changed({POSTPONE_MERGE_ON_READ.key: "false"}))

    @property
    def has_primary_key_indexes(self) -> bool:
        """Whether primary-key indexes may be used: visible files need no merge."""
        return (
            self.hides_level_0
            and self.options.value(DELETION_VECTORS_ENABLED)
            and any(map(self.options.has, (PK_BTREE_INDEX_COLUMNS, PK_BITMAP_INDEX_COLUMNS)))
        )

    @property
    def rules(self) -> SplitRules:
        """The rules by which files are packed into splits."""
        return SplitRules(
            keys=self.keys,
            levels_disjoint=self.levels_disjoint,
            shares_rows=self.options.value(DATA_EVOLUTION_ENABLED),
            target_bytes=self.options.value(SOURCE_SPLIT_TARGET_SIZE),
            open_cost_bytes=self.options.value(SOURCE_SPLIT_OPEN_FILE_COST),
        )

    def located(
        self,
        entries: ManifestEntries,
        snapshot: Snapshot,
        indexed: "GlobalIndexStage | None" = None,
    ) -> LocatedFiles:
        """Adds paths and deletion vectors to files of a snapshot, and the rows to read."""
        return replace(
            self.located_changes(entries, snapshot),
            deletion_files=deletion_files(self.store, snapshot, self.schema, self.options),
            row_ids=None if indexed is None else indexed.row_ids,
            positions=None if indexed is None else indexed.positions,
        )

    def located_changes(self, entries: ManifestEntries, snapshot: Snapshot) -> LocatedFiles:
        """Adds paths to the changelog files of a commit, or to the files that an APPEND added.

        They have no deletion vectors: such a commit deletes no row of its own files. The vectors of
        the snapshot are not read, as a changelog that outlives its snapshot does not keep them.
        """
        return LocatedFiles(
            entries=entries,
            paths_of=DataFilePaths(self.schema, self.options, self.store.paths),
            deletion_files={},
            snapshot_id=snapshot.id,
            branch=self.branch,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanPlan:
    """A scan plan: the files to read, as splits.

    Attributes:
        snapshot: the planned snapshot; None if the table has none.
        splits: the splits; each one is created on access.
        stages: the pruning stages in order.
        rest: the part of the predicate that has to be evaluated on rows; TRUE if nothing.
    """

    snapshot: Snapshot | None
    splits: Sequence[PlainSplit]
    stages: tuple[Stage, ...]
    rest: Expression

    def __repr__(self) -> str:
        """Return the number of splits, and what each pruning stage kept."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        stages = [f"{s.name} {s.kept:,} of {s.total:,} {s.unit}" for s in self.stages]
        return f"plan of {at}: {self.splits!r}\n  kept: {', '.join(stages) or 'all files'}"


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
    partitions = PartitionFilter(row_type=target.schema.partition_type, predicate=parts.pushed)
    stages: list[Stage] = []
    entries = _planned_files(target, target.snapshot, partitions, parts.rest, stages)
    indexed = by_global_index(target, target.snapshot, entries, parts.rest)
    if indexed is not None:
        stages.append(_stage(indexed.stage.name, "files", indexed.stage.mask))
        entries = indexed.stage.kept
    if target.options.value(SCAN_PLAN_SORT_PARTITION) and target.schema.partition_keys:
        entries = sorted_by_partition(entries, partitions)
    return ScanPlan(
        snapshot=target.snapshot,
        splits=packed_splits(target, target.located(entries, target.snapshot, indexed)),
        stages=tuple(stages),
        rest=parts.rest,
    )


def packed_splits(target: ScanTarget, files: LocatedFiles) -> Sequence[PlainSplit]:
    """Pack the files that the pruning stages kept into splits."""
    if not target.merges_postponed:
        return make_splits(files, target.rules)
    from paimon_explore.scan.splits.postponed_splits import splits_with_postponed  # noqa: PLC0415 - may be there

    return splits_with_postponed(files, target.rules)


def _planned_files(
    target: ScanTarget,
    snapshot: Snapshot,
    partitions: PartitionFilter,
    rest: Expression,
    stages: list[Stage],
) -> ManifestEntries:
    """The files to read, without their statistics."""
    store = target.store
    manifests = store.manifests.all(snapshot)
    wanted = partitions.manifest_mask(manifests)
    stages.append(_stage("partition ranges", "manifests", wanted))
    kept = manifests.filter(wanted)
    columns = _ALL_COLUMNS - _STATS if target.keys is not None else _ALL_COLUMNS - _STATS - _KEYS
    if target.keys is None and rest != TRUE and not numbers(kept.table, "num_deleted_files").any():
        found = _filtered_files(target, kept, partitions, rest, columns)
        if found is not None:
            stages.extend(found[1])
            return found[0]
    statistics = frozenset[str]() if rest == TRUE else _VALUE_STATS
    if target.keys is not None and statistics:
        statistics |= _KEY_STATS
    entries = live_entries(read_entries(store, kept, partitions, columns | statistics))
    count = len(entries)
    stages.append(Stage(name=PARTITION_STAGE, unit="files", total=count, kept=count))
    return prune_files(target, entries, rest, stages).select(columns)


def _filtered_files(
    target: ScanTarget,
    manifests: ManifestFiles,
    partitions: PartitionFilter,
    rest: Expression,
    columns: Collection[str],
) -> tuple[ManifestEntries, list[Stage]] | None:
    """Prunes files while manifests are decoded; returns them and the stages.

    Only the filter columns of dropped files are decoded. Returns None if there are DELETE entries,
    which have to be cancelled first.
    """
    file_filter = _FileFilter(target, rest)
    filters = [EntryFilter(columns=_filter_columns(target), reasons=file_filter.reasons)]
    if partitions.predicate != TRUE:
        filters.insert(0, partition_filter(partitions.entry_mask, partitions.needles))
    entries, tallies = target.store.manifests.read_filtered(manifests.names, filters, columns)
    if file_filter.sees_deletes:
        return None
    left = int(tallies[-1].sum())
    stages = [Stage(name=PARTITION_STAGE, unit="files", total=left, kept=left)]
    if not file_filter.stages:  # no file was filtered
        file_filter.reasons(ManifestEntries.empty())
    for number, name in enumerate(file_filter.stages, start=1):
        dropped = int(tallies[-1][number])
        stages.append(Stage(name=name, unit="files", total=left, kept=left - dropped))
        left -= dropped
    return entries, stages


def _filter_columns(target: ScanTarget) -> frozenset[str]:
    """The columns that `file_stages` reads for an append table."""
    buckets = _BUCKETS if target.schema.bucket_keys else frozenset[str]()
    level = frozenset[str]() if target.only_level is None else frozenset({"level"})
    created = frozenset[str]() if target.created_since is None else frozenset({"creation_time"})
    return _FILTER_COLUMNS | buckets | level | created


class _FileFilter:
    """Prunes files of append tables, each file independently of the others.

    Attributes:
        sees_deletes: whether there were DELETE entries that the manifest list did not count.
        stages: names of the stages, in order; empty until files have been filtered.
    """

    def __init__(self, target: ScanTarget, rest: Expression) -> None:
        from paimon_explore.scan.pruning.file_statistics import FileSchemas  # noqa: PLC0415 - there is a predicate

        self.sees_deletes = False
        self.stages: tuple[str, ...] = ()
        self._target = target
        self._rest = rest
        self._schemas = FileSchemas(target.store, target.schema)

    def reasons(self, entries: ManifestEntries) -> Rows:
        """0 for files to keep, else the number of the stage that drops them."""
        self.sees_deletes |= bool((numbers(entries.table, "kind") != FileKind.ADD).any())
        found = np.zeros(len(entries), np.int64)
        rows: Rows | None = None
        names: list[str] = []
        stages = file_stages(self._target, entries, self._rest, self._schemas)
        for number, stage in enumerate(stages, start=1):
            names.append(stage.name)
            if stage.mask.all():
                continue
            if rows is None:
                found[~stage.mask] = number
                rows = np.flatnonzero(stage.mask)
            else:
                found[rows[~stage.mask]] = number
                rows = rows[stage.mask]
        self.stages = tuple(names)
        return found


def _stage(name: str, unit: str, mask: Mask) -> Stage:
    return Stage(name=name, unit=unit, total=len(mask), kept=int(mask.sum()))


def prune_files(
    target: ScanTarget, entries: ManifestEntries, rest: Expression, stages: list[Stage]
) -> ManifestEntries:
    """Drop files by level rule, bucket, key and value statistics; append a stage for each."""
    for stage in file_stages(target, entries, rest):
        stages.append(_stage(stage.name, "files", stage.mask))
        entries = stage.kept
    return entries


def file_stages(
    target: ScanTarget,
    entries: ManifestEntries,
    rest: Expression,
    schemas: "FileSchemas | None" = None,
) -> Iterator[FileStage]:
    """Applies the pruning stages to live files, in order; each stage gets what the last one kept.

    Args:
        target: table and schema.
        entries: the files, with at least the columns that are read.
        rest: the part of the predicate that partitions do not decide.
        schemas: the schemas of the files; None loads them from the store.
    """
    stage = FileStage(name=LEVEL_STAGE, before=entries, mask=visible_mask(target, entries))
    yield stage
    if rest == TRUE:
        return
    from paimon_explore.scan.pruning.bucket_pruning import bucket_mask  # noqa: PLC0415 - there is a predicate
    from paimon_explore.scan.pruning.file_statistics import FileSchemas  # noqa: PLC0415 - likewise
    from paimon_explore.scan.splits.key_range_sections import key_mask  # noqa: PLC0415 - likewise

    schemas = schemas or FileSchemas(target.store, target.schema)
    entries = stage.kept
    mask = bucket_mask(entries, target.schema, target.options, rest)
    if not mask.all() and schemas.have_old_keys:
        mask = np.ones(len(entries), dtype=np.bool_)
    stage = FileStage(name=BUCKET_STAGE, before=entries, mask=mask)
    yield stage
    entries = stage.kept
    keys = target.keys
    if target.options.value(DATA_EVOLUTION_ENABLED):
        return
    if keys is None:
        yield FileStage(
            name=VALUE_STAGE, before=entries, mask=_values(target, entries, rest, schemas)
        )
        return
    parts = split(rest, [field.name for field in keys])
    if parts.pushed != TRUE:
        stage = FileStage(
            name=KEY_STAGE, before=entries, mask=key_mask(entries, parts.pushed, keys)
        )
        yield stage
        entries = stage.kept
    if parts.rest == TRUE:  # the bounds of the keys are those of their columns
        mask = np.ones(len(entries), dtype=np.bool_)
    else:
        mask = _values_by_bucket(target, entries, rest, schemas)
    yield FileStage(name=VALUE_STAGE, before=entries, mask=mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalIndexStage:
    """Files after the lookup of a predicate in global indexes or primary-key indexes.

    Attributes:
        stage: the files before and after.
        rows: the rows that the indexes allow.
        positions: of these rows by file name, for tables with a primary key: files that are not
            listed are read as a whole. None for tables with row ids.
    """

    stage: FileStage
    rows: "IndexedRowIds"
    positions: "Mapping[str, BitMap] | None" = None

    @property
    def row_ids(self) -> "BitMap64 | None":
        """The row ids of these rows; None for tables with a primary key."""
        return self.rows.row_ids if self.positions is None else None


def by_global_index(
    target: ScanTarget, snapshot: Snapshot, entries: ManifestEntries, rest: Expression
) -> GlobalIndexStage | None:
    """Drop files without a row that indexes allow; None if no index applies.

    Args:
        target: table and schema.
        snapshot: of the index manifest.
        entries: the files that the other stages kept.
        rest: the part of the predicate that partitions do not decide.
    """
    if rest == TRUE or snapshot.index_manifest is None or not len(entries):
        return None
    has_row_ids = target.options.value(DATA_EVOLUTION_ENABLED)
    if not has_row_ids and not target.has_primary_key_indexes:
        return None
    from paimon_explore.scan import index_lookups  # noqa: PLC0415 - may be there

    source = index_lookups.IndexSource(
        store=target.store, schema=target.schema, options=target.options, snapshot=snapshot
    )
    if not has_row_ids:
        return _by_primary_key_index(source, entries, rest)
    from paimon_explore.scan.index_lookups import indexed_row_ids  # noqa: PLC0415 - may be there

    first, after = row_ranges(entries)
    if (first < 0).any():
        return None
    rows = indexed_row_ids(source, rest, first, after)
    if rows is None:
        return None
    ends = zip(first.tolist(), after.tolist(), strict=True)
    mask = np.array([rows.row_ids.range_cardinality(*part) > 0 for part in ends], np.bool_)
    stage = FileStage(name=GLOBAL_INDEX_STAGE, before=entries, mask=mask)
    return GlobalIndexStage(stage=stage, rows=rows)


def _by_primary_key_index(
    source: "IndexSource", entries: ManifestEntries, rest: Expression
) -> GlobalIndexStage | None:
    from paimon_explore.scan.primary_key_index import indexed_positions  # noqa: PLC0415 - may be there

    found = indexed_positions(source, rest, entries)
    if found is None:
        return None
    stage = FileStage(name=PRIMARY_KEY_INDEX_STAGE, before=entries, mask=found.kept)
    return GlobalIndexStage(stage=stage, rows=found.rows, positions=found.positions(entries))


def visible_mask(target: ScanTarget, entries: ManifestEntries) -> Mask:
    """Return which files the scan may read, whatever its filter: by level, bucket and time."""
    mask = np.ones(len(entries), dtype=np.bool_)
    if target.keys is not None and not target.merges_postponed:
        mask &= numbers(entries.table, "bucket") != POSTPONE_BUCKET
    if target.only_level is not None:
        mask &= numbers(entries.table, "level") == target.only_level
    if target.only_bucket is not None:
        mask &= numbers(entries.table, "bucket") == target.only_bucket
    min_level = max(target.min_level, int(target.hides_level_0))
    if min_level:
        mask &= numbers(entries.table, "level") >= min_level
    if target.created_since is not None:
        mask &= numbers(entries.table, "creation_time") >= target.created_since
    return mask


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
    """Value statistics: per file in buckets without a merge, else per bucket.

    Engines that combine records may return a row that matches where no record does.
    """
    matches = _values(target, entries, rest, schema_of)
    if target.merges_postponed:
        from paimon_explore.scan.splits.postponed_splits import in_merged_partitions  # noqa: PLC0415 - may be there

        matches |= in_merged_partitions(entries)
    if target.hides_level_0 or not len(entries):
        return matches
    engine = target.options.value(MERGE_ENGINE)
    _, bucket = np.unique(group_numbers(entries.table), return_inverse=True)
    whole = np.ones(len(entries), dtype=np.bool_)
    if engine in {MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW}:
        whole = np.bincount(bucket, weights=matches)[bucket] > 0
    if not target.levels_disjoint:
        return whole
    is_new = numbers(entries.table, "level") == 0
    return np.where(np.bincount(bucket, weights=is_new)[bucket] > 0, whole, matches)
