"""Merge on read of tables with lookup compaction, where rows above level 0 are complete.

Lookup compaction of level 0 merges each new row with the existing row, on whatever level. So of a
key's rows above level 0 the one on the lowest level includes all others, and an aggregation must
not count the deeper ones again.

Spec: primary-key-table/changelog-producer, lookup.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import ints_of
from paimon_explore.merge.section_merge import Section, Task, functions_of, merge_kept_rows
from paimon_explore.merge.sort_merge import key_sections

LEVEL = "_LEVEL"
"""Column of int64: the level of a row's file."""
_NONE = -1


def merge_complete_runs(
    runs: Sequence[Iterator[pa.RecordBatch]],
    spec: MergeSpec,
    *,
    keep_retracts: bool = False,
    may_tie: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Merges sorted runs like `merge_runs`, without rows that are included in others.

    Args:
        runs: as for `merge_runs`, with `_SEQUENCE_NUMBER` and the column `LEVEL`.
        spec: the merge.
        keep_retracts: as for `merge_runs`.
        may_tie: as for `merge_runs`.

    Yields:
        Batches as from `merge_runs`, in key order.

    Raises:
        FormatError: retract records that the engine or a function does not accept.
    """
    task = Task(spec=spec, functions=functions_of(spec), keep_retracts=keep_retracts)
    for section in key_sections(runs, spec.keys, may_tie=may_tie):
        for batch in merge_kept_rows(section, _not_covered(section, spec), task):
            if batch.num_rows:
                yield batch


def _not_covered(section: Section, spec: MergeSpec) -> Bools:
    """Which rows are on level 0, or for their key on the lowest level above 0."""
    keys = ranks([section.column(name) for name in spec.keys], count=section.count)
    levels = ints_of(section.column(LEVEL))
    old = np.flatnonzero(levels > 0)
    old = old[np.argsort(-levels[old], kind="stable")]
    lowest = np.full(int(keys.max()) + 1, _NONE, np.int64)
    lowest[keys[old]] = old  # the last assignment wins
    kept: Bools = levels == 0
    kept[lowest[lowest != _NONE]] = True
    return kept
