"""What happens to each file of a compaction unit: rewritten with others, moved up, or left alone.

The files are cut into sections of overlapping keys. Overlapping files are merged. Of the others the
small ones are rewritten together with their neighbours, and the large ones are upgraded: they stay
as they are, and only their level changes in the manifest.

Spec: primary-key-table, compaction.
"""

from collections.abc import Collection, Sequence

import numpy as np

from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.compaction.compaction_strategy import CompactUnit
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import target_file_bytes
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.scan.splits.key_range_sections import by_age, key_ranks, sections, sorted_runs

Section = tuple[tuple[int, ...], ...]
"""Overlapping files as sorted runs, oldest first; files by position in the bucket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A file that goes to another level as it is.

    Attributes:
        file: its position in the bucket.
    """

    file: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Sections that are merged, one after the other, into new files.

    Attributes:
        sections: ascending by key.
    """

    sections: tuple[Section, ...]

    @property
    def files(self) -> tuple[int, ...]:
        """All files of the sections."""
        return tuple(file for section in self.sections for run in section for file in run)


Step = Upgrade | Rewrite


class UnitPlan:
    """Plans the steps of one unit.

    Args:
        unit: what is compacted.
        files: all files of the bucket.
        keys: the trimmed primary key.
        options: the options in force.
        top: the highest level of the table.
        expired: files with rows that are too old: they are rewritten.
    """

    def __init__(
        self,
        unit: CompactUnit,
        files: ManifestEntries,
        keys: RowType,
        *,
        options: TableOptions,
        top: int,
        expired: Collection[int] = (),
    ) -> None:
        self._unit = unit
        self._expired = frozenset(expired)
        self._files = files
        self._keys = keys
        self._sizes = numbers(files.table, "file_size").tolist()
        self._levels = numbers(files.table, "level").tolist()
        self._retracts = files.table.column("delete_row_count").to_pylist()
        self._force = options.value(opt.COMPACTION_FORCE_REWRITE_ALL_FILES)
        self._to_top = unit.level == top
        target = target_file_bytes(options, has_primary_key=True)
        self._small = int(target * options.value(opt.COMPACTION_SMALL_FILE_RATIO))
        self._waiting: list[Section] = []
        self._steps: list[Step] = []

    def steps(self) -> list[Step]:
        """The steps, ascending by key; files that are in place are in none of them."""
        if self._unit.each_alone:
            return [Rewrite(sections=(((file,),),)) for file in self._unit.files]
        for section in self._sections():
            if len(section) > 1:
                self._waiting.append(section)
            else:
                self._add_run(section[0])
        self._rewrite_waiting()
        return self._steps

    def _sections(self) -> list[Section]:
        chosen = np.array(self._unit.files, np.int64)
        lows, highs = key_ranks(self._files.take(chosen), self._keys)
        newest = numbers(self._files.table, "max_sequence_number")[chosen]
        found: list[Section] = []
        for section in sections(lows, highs):
            runs = by_age(sorted_runs(section, lows, highs), newest)
            found.append(tuple(tuple(int(chosen[file]) for file in run) for run in runs))
        return found

    def _add_run(self, run: Sequence[int]) -> None:
        for file in run:
            if self._sizes[file] < self._small:
                self._waiting.append(((file,),))
            else:
                self._rewrite_waiting()
                self._upgrade(file)

    def _rewrite_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        if len(waiting) == 1 and len(waiting[0]) == 1:
            for file in waiting[0][0]:
                self._upgrade(file)
        elif waiting:
            self._steps.append(Rewrite(sections=tuple(waiting)))

    def _upgrade(self, file: int) -> None:
        retracts = self._to_top and self._retracts[file] != 0
        if self._force or retracts or file in self._expired:
            self._steps.append(Rewrite(sections=(((file,),),)))
        elif self._levels[file] != self._unit.level:
            self._steps.append(Upgrade(file=file))
