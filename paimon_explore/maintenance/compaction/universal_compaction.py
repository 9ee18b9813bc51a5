"""Universal compaction: pick the sorted runs of a bucket to compact, and the output level.

A compaction unit always consists of the newest runs without a gap, so that runs stay ordered by
age.

Spec: primary-key-table, compaction; maintenance/configurations, `num-sorted-run.*` and
`compaction.*`.

Levels and sorted runs of the LSM tree of one bucket.

On level 0 each flushed file is a sorted run, and files may overlap. On every other level all files
form one sorted run. Runs are ordered from new to old data.

Spec: primary-key-table, LSM trees.
"""

from collections.abc import Collection, Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import level_count
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.manifest_arrays import numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SortedRun:
    """One sorted run.

    Attributes:
        level: level of its files.
        files: positions of its files in the bucket.
        size: total size of its files in bytes.
    """

    level: int
    files: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """The LSM tree of one bucket.

    Attributes:
        runs: sorted runs, newest first: files of level 0 from new to old, then other levels.
        top: the highest level of the table.
    """

    runs: tuple[SortedRun, ...]
    top: int

    @property
    def highest(self) -> int:
        """Return the highest level with files; -1 without files."""
        return max((run.level for run in self.runs), default=-1)


def levels_of(files: ManifestEntries, options: TableOptions) -> Levels:
    """Build the LSM tree of the live files of a bucket."""
    levels = numbers(files.table, "level").tolist()
    sizes = numbers(files.table, "file_size").tolist()
    runs = [_run(0, [file], sizes) for file in _newest_first(files, levels)]
    runs += [
        _run(level, [i for i, own in enumerate(levels) if own == level], sizes)
        for level in sorted(set(levels) - {0})
    ]
    return Levels(runs=tuple(runs), top=max([level_count(options) - 1, *levels]))


def _newest_first(files: ManifestEntries, levels: Sequence[int]) -> list[int]:
    table = files.table
    newest = numbers(table, "max_sequence_number").tolist()
    oldest = numbers(table, "min_sequence_number").tolist()
    created = numbers(table, "creation_time").tolist()
    names = table.column("file_name").to_pylist()
    level_0 = [file for file, level in enumerate(levels) if level == 0]
    return sorted(level_0, key=lambda i: (-newest[i], oldest[i], created[i], str(names[i])))


def _run(level: int, files: Sequence[int], sizes: Sequence[int]) -> SortedRun:
    return SortedRun(level=level, files=tuple(files), size=sum(sizes[file] for file in files))


_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionUnit:
    """Files that are compacted together.

    Attributes:
        level: the output level.
        files: positions of the files in the bucket.
        rewrites_each: whether every file is rewritten separately.
    """

    level: int
    files: tuple[int, ...]
    rewrites_each: bool = False


def pick_full(
    levels: Levels, *, outdated: Collection[int] = (), rewrite_all: bool = False
) -> CompactionUnit | None:
    """Pick all runs for a full compaction to the top level; None if there is nothing to do.

    Args:
        levels: the bucket's runs.
        outdated: files on the top level to rewrite because they contain deleted or expired rows.
        rewrite_all: rewrite all files that are on the top level already.
    """
    if not levels.runs:
        return None
    if len(levels.runs) > 1 or levels.runs[0].level != levels.top:
        return _unit(levels.top, levels.runs)
    files = [file for file in levels.runs[0].files if rewrite_all or file in outdated]
    if not files:
        return None
    return CompactionUnit(level=levels.top, files=tuple(files), rewrites_each=True)


def pick_universal(
    levels: Levels, options: TableOptions, *, force_level_0: bool = False
) -> CompactionUnit | None:
    """Pick the runs of a minor compaction; None if there is nothing to do.

    Args:
        levels: the bucket's runs.
        options: effective options.
        force_level_0: pick all of level 0 if no other rule picks anything.
    """
    unit = _pick(levels, options)
    if unit is None and force_level_0:
        count = sum(run.level == 0 for run in levels.runs)
        unit = _by_size_ratio(levels, options, count, forced=True) if count else None
    return None if unit is None or _is_in_place(unit, levels) else unit


def _pick(levels: Levels, options: TableOptions) -> CompactionUnit | None:
    runs = levels.runs
    trigger = options.value(opt.NUM_SORTED_RUN_COMPACTION_TRIGGER)
    if _is_early_full(levels, options):
        return _unit(levels.top, runs)
    if len(runs) < trigger:
        return None
    newer = sum(run.size for run in runs[:-1])
    amplification = options.value(opt.COMPACTION_MAX_SIZE_AMPLIFICATION_PERCENT)
    if newer * _PERCENT > amplification * runs[-1].size:
        return _unit(levels.top, runs)
    unit = _by_size_ratio(levels, options, 1)
    if unit is None and len(runs) > trigger:
        unit = _by_size_ratio(levels, options, len(runs) - trigger + 1)
    return unit


def _is_early_full(levels: Levels, options: TableOptions) -> bool:
    """Whether a time or size threshold triggers a full compaction.

    An optimization interval always counts as elapsed, since the last full compaction is unknown.
    """
    if len(levels.runs) <= 1:
        return False
    total = options.value(opt.COMPACTION_TOTAL_SIZE_THRESHOLD)
    incremental = options.value(opt.COMPACTION_INCREMENTAL_SIZE_THRESHOLD)
    below_top = sum(run.size for run in levels.runs if run.level != levels.top)
    return (
        options.value(opt.COMPACTION_OPTIMIZATION_INTERVAL) is not None
        or (total is not None and sum(run.size for run in levels.runs) < total)
        or (incremental is not None and below_top > incremental)
    )


def _by_size_ratio(
    levels: Levels, options: TableOptions, count: int, *, forced: bool = False
) -> CompactionUnit | None:
    """Pick the first `count` runs and the following ones within the size ratio."""
    runs = levels.runs
    factor = _PERCENT + options.value(opt.COMPACTION_SIZE_RATIO)
    size = sum(run.size for run in runs[:count])
    for run in runs[count:]:
        if size * factor / _PERCENT < run.size:
            break
        size += run.size
        count += 1
    return _with_output_level(levels, count) if forced or count > 1 else None


def _with_output_level(levels: Levels, count: int) -> CompactionUnit:
    """Pick the first runs, and more of them until the output level is above level 0."""
    runs = levels.runs
    level = levels.top if count == len(runs) else max(0, runs[count].level - 1)
    while level == 0 and count < len(runs):
        level = runs[count].level
        count += 1
    return _unit(levels.top if count == len(runs) else level, runs[:count])


def _unit(level: int, runs: Sequence[SortedRun]) -> CompactionUnit:
    return CompactionUnit(level=level, files=tuple(file for run in runs for file in run.files))


def _is_in_place(unit: CompactionUnit, levels: Levels) -> bool:
    """Whether the unit is a single file that is already on the output level."""
    if len(unit.files) > 1:
        return False
    return any(run.files == unit.files and run.level == unit.level for run in levels.runs)
