"""Levels and sorted runs of the LSM tree of one bucket.

On level 0 each flushed file is a sorted run, and files may overlap. On every other level all files
form one sorted run. Runs are ordered from new to old data.

Spec: primary-key-table, LSM trees.
"""

from collections.abc import Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
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
