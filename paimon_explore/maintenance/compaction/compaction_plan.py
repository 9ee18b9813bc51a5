"""Plan of a compaction unit: which files are rewritten, upgraded or left unchanged.

The files are split into sections of overlapping key ranges. Overlapping files are merged. Of the
other files, small ones are rewritten together with their neighbours, and large ones are upgraded:
only their level in the manifest changes.

Spec: primary-key-table, compaction.

The files that a compaction replaces together, known before anything is read or written.
"""

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.universal_compaction import CompactionUnit
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.manifest_arrays import Rows, numbers
from paimon_explore.scan.splits.key_range_sections import sections, sorted_runs

Section = tuple[tuple[int, ...], ...]
"""Sorted runs of overlapping files, in the order of Java; files are positions in the bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A file that only changes its level.

    Attributes:
        file: position in the bucket.
    """

    file: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Sections that are merged into new files.

    Attributes:
        sections: sections in key order.
    """

    sections: tuple[Section, ...]

    @property
    def files(self) -> tuple[int, ...]:
        """Return all files of the sections."""
        return tuple(file for section in self.sections for run in section for file in run)


Step = Upgrade | Rewrite


class CompactionUnitPlan:
    """Plans the steps of one compaction unit.

    Args:
        unit: the compaction unit.
        files: all files of the bucket.
        ranks: the ranks of their first and last keys, as of `key_ranks`.
        options: effective options.
        top: the highest level of the table.
        expired: files with expired rows, which are always rewritten.
    """

    def __init__(
        self,
        unit: CompactionUnit,
        files: ManifestEntries,
        ranks: tuple[Rows, Rows],
        *,
        options: TableOptions,
        top: int,
        expired: Collection[int] = (),
    ) -> None:
        self._unit = unit
        self._expired = frozenset(expired)
        self._ranks = ranks
        self._sizes = numbers(files.table, "file_size").tolist()
        self._levels = numbers(files.table, "level").tolist()
        self._retracts = files.table.column("delete_row_count").to_pylist()
        self._force = options.value(opt.COMPACTION_FORCE_REWRITE_ALL_FILES)
        self._to_top = unit.level == top
        target = target_file_bytes(options, has_primary_key=True)
        self._small = int(target * options.value(opt.COMPACTION_SMALL_FILE_RATIO))
        self._pending: list[Section] = []
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        """Return the steps in key order; files that do not change are in none of them."""
        if self._unit.rewrites_each:
            return [Rewrite(sections=(((file,),),)) for file in self._unit.files]
        for section in self._sections():
            if len(section) > 1:
                self._pending.append(section)
            else:
                self._add_run(section[0])
        self._rewrite_pending()
        return self._steps

    def _sections(self) -> list[Section]:
        files = np.array(self._unit.files, np.int64)
        lows, highs = (ranks[files] for ranks in self._ranks)
        return [
            tuple(
                tuple(int(files[index]) for index in run)
                for run in sorted_runs(section, lows, highs)
            )
            for section in sections(lows, highs)
        ]

    def _add_run(self, run: Sequence[int]) -> None:
        for file in run:
            if self._sizes[file] < self._small:
                self._pending.append(((file,),))
            else:
                self._rewrite_pending()
                self._upgrade(file)

    def _rewrite_pending(self) -> None:
        pending, self._pending = self._pending, []
        if len(pending) == 1 and len(pending[0]) == 1:
            for file in pending[0][0]:
                self._upgrade(file)
        elif pending:
            self._steps.append(Rewrite(sections=tuple(pending)))

    def _upgrade(self, file: int) -> None:
        retracts = self._to_top and self._retracts[file] != 0
        if self._force or retracts or file in self._expired:
            self._steps.append(Rewrite(sections=(((file,),),)))
        elif self._levels[file] != self._unit.level:
            self._steps.append(Upgrade(file=file))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Files of one bucket that become new files, or one file that changes its level.

    Attributes:
        sections: the files, as positions in the bucket, in sections whose rows are merged by key.
        level: level of the new files.
        rewritten: whether the rows are written again; otherwise only the level changes.
        drops_retracts: whether retract rows are dropped.
        one_file: whether the result is one file, whatever its size.
        same_rows: whether the files of a section contain different columns of the same rows.
    """

    sections: tuple[Section, ...]
    level: int
    rewritten: bool = True
    drops_retracts: bool = False
    one_file: bool = False
    same_rows: bool = False

    @property
    def files(self) -> tuple[int, ...]:
        """The positions of all files in the bucket."""
        return tuple(file for section in self.sections for run in section for file in run)


class BucketCompaction(Protocol):
    """The planned compaction of one bucket."""

    def groups(self) -> list[FileGroup]:
        """Return which files are replaced together; nothing is read or written."""

    def run(self) -> CommitMessage:
        """Write the new files and return the commit message."""
