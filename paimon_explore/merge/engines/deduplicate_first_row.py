"""The merge engines that select one record per key: `deduplicate` and `first-row`.

The rows are selected from rows sorted by key and age. If whole runs are newer than others,
`merge.keys.key_index` selects them without sorting rows.
"""

import numpy as np

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.errors import FormatError
from paimon_explore.merge.key_records import is_retract
from paimon_explore.merge.keys.key_groups import Groups
from paimon_explore.merge.numpy_columns import Int8s


def newest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The last row of each key.

    Args:
        groups: rows by key, oldest first.
        kinds: of all rows.
        ignore_delete: ignore -U and -D rows; a key with only such rows has no row, unless it has
            exactly one.
    """
    if ignore_delete:
        groups = _without_retracts(groups, kinds)
    return groups.order[groups.lasts]


def oldest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The first row of each key.

    Raises:
        FormatError: a key with several rows has -U or -D rows that are not ignored.
    """
    if ignore_delete:
        groups = _without_retracts(groups, kinds)
    elif is_retract(kinds[groups.order[np.repeat(groups.sizes > 1, groups.sizes)]]).any():
        raise FormatError(
            "Merge engine 'first-row' cannot merge -U and -D records.",
            hint="Set 'ignore-delete' = 'true' to skip them.",
        )
    return groups.order[groups.starts]


def _without_retracts(groups: Groups, kinds: Int8s) -> Groups:
    """Drops retract rows of keys with several rows."""
    sizes = groups.sizes
    keep = ~is_retract(kinds[groups.order]) | np.repeat(sizes == 1, sizes)
    if keep.all():
        return groups
    kept = np.add.reduceat(keep, groups.starts, dtype=np.int64)
    some = kept > 0
    starts = (np.cumsum(kept) - kept)[some]
    return Groups(groups.order[keep], starts)
