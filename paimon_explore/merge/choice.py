"""The merge engines that choose one record of a key: `deduplicate` and `first-row`.

Theory of operation. Nothing has to be computed but which rows stay. Keys that are integers in a
narrow range are not even sorted: runs are gone through from the winning end with one flag per
possible key, and a row stays if its key's flag was still up. Keys ascend within a run, so memory is
walked in order. Any other keys are sorted by `group_rows`.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow.types as pat

from paimon_explore.encoding.buffers import Bools, Column, Ints
from paimon_explore.errors import FormatError
from paimon_explore.merge.columns import Int8s, ints_of
from paimon_explore.merge.order import Groups
from paimon_explore.merge.records import is_retract

_DENSE_FLAGS_PER_ROW = 16
_DENSE_FLAGS = 1 << 16


def newest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The last row of each key.

    Args:
        groups: rows by key, oldest first.
        kinds: of all rows.
        ignore_delete: -U and -D rows are passed over; a key with nothing else has no row, unless
            it has but one.
    """
    if ignore_delete:
        groups = _without_retracts(groups, kinds)
    return groups.order[groups.lasts]


def oldest_rows(groups: Groups, kinds: Int8s, *, ignore_delete: bool) -> Ints:
    """The first row of each key.

    Raises:
        FormatError: a key with several rows has -U or -D rows that are not passed over.
    """
    if ignore_delete:
        groups = _without_retracts(groups, kinds)
    elif is_retract(kinds[groups.order[np.repeat(groups.sizes > 1, groups.sizes)]]).any():
        raise FormatError(
            "First-row cannot merge -U and -D records.",
            hint="Set ignore-delete to pass over them.",
        )
    return groups.order[groups.starts]


def _without_retracts(groups: Groups, kinds: Int8s) -> Groups:
    """Drop retract rows of keys with several rows."""
    sizes = groups.sizes
    keep = ~is_retract(kinds[groups.order]) | np.repeat(sizes == 1, sizes)
    if keep.all():
        return groups
    kept = np.add.reduceat(keep, groups.starts, dtype=np.int64)
    some = kept > 0
    starts = (np.cumsum(kept) - kept)[some]
    return Groups(groups.order[keep], starts)


def dense_keys(
    keys: Sequence[Column], key_lists: Sequence[Sequence[Column]]
) -> Sequence[Ints] | None:
    """Keys that can serve as positions of flags: one column of integers of a narrow range.

    Args:
        keys: the key columns of the newest part, whose types are those of all parts.
        key_lists: the key columns of every part; none is empty, each ascends.

    Returns:
        Per part its keys, from 0 on; None if they are not of that kind.
    """
    if len(keys) != 1 or not (pat.is_integer(keys[0].type) or pat.is_date32(keys[0].type)):
        return None
    if any(part[0].null_count for part in key_lists):
        return None
    parts = [ints_of(part[0]) for part in key_lists]
    low = min(int(part.min()) for part in parts)
    high = max(int(part.max()) for part in parts)  # a damaged file need not ascend
    rows = sum(len(part) for part in parts)
    if high - low >= max(_DENSE_FLAGS_PER_ROW * rows, _DENSE_FLAGS):
        return None
    return [part.astype(np.int64, copy=False) - low for part in parts]


def first_come(parts: Sequence[Ints]) -> list[Bools]:
    """For each part which keys are in no part before it; keys from 0 on, unique in a part."""
    free = np.ones(max(int(part.max()) for part in parts) + 1, np.bool_)
    masks = []
    for part in parts:
        masks.append(free[part])
        free[part] = False
    return masks
