"""Between which snapshots each data file was live.

A *life* is an interval on the timeline: it begins with the position that added the file and ends
with the one that removed it. Positions are shifted by one so that 0 can stand for "before the
history": a file is live at position p when `added <= p + 1 < removed`. A file that is removed and
comes back has two lives. The browser computes the same from the same columns.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.partition_text import Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Neighbouring snapshots whose manifests can all be read.

    Attributes:
        first: position of the first one.
        last: position of the last one.
        codes: identity of each entry of their delta lists.
        positions: the snapshot of each entry, as a position.
        deletes: whether the entry removes the file.
        live: identities of the live files of the last snapshot.
    """

    first: int
    last: int
    codes: Ints
    positions: Ints
    deletes: Bools
    live: Ints


def lives_of(segments: Sequence[Segment], count: int) -> tuple[Ints, Ints, Ints]:
    """The lives that follow from what the segments add and remove.

    Where snapshots between two segments are unknown, files that appeared or vanished meanwhile do
    so right behind the earlier segment.

    Args:
        segments: in order.
        count: length of the timeline.

    Returns:
        Identity, `added` and `removed` of each life, by identity and then by time; `removed` is
        count + 1 where the file is still live.
    """
    codes, times, opens = (
        np.concatenate(parts) for parts in zip(*_all_events(segments), strict=True)
    )
    order = np.lexsort((times, codes))
    codes, times, opens = codes[order], times[order], opens[order]
    same = np.zeros(len(codes), np.bool_)
    same[1:] = codes[1:] == codes[:-1]
    before = np.zeros(len(codes), np.bool_)
    before[1:] = opens[:-1]
    kept = opens != (before & same)
    codes, times, opens = codes[kept], times[kept], opens[kept]
    starts = np.flatnonzero(opens)
    ends = np.full(len(starts), count + 1, np.int64)
    nexts = starts + 1
    inside = nexts < len(codes)
    closed = np.zeros(len(starts), np.bool_)
    closed[inside] = codes[nexts[inside]] == codes[starts[inside]]
    ends[closed] = times[nexts[closed]]
    lasting = ends > times[starts]
    return codes[starts][lasting], times[starts][lasting], ends[lasting]


def _all_events(segments: Sequence[Segment]) -> list[tuple[Ints, Ints, Bools]]:
    """Identity, time and whether a life opens, of everything that happens."""
    nothing = np.empty(0, np.int64)
    events = [(nothing, nothing, np.empty(0, np.bool_))]
    live_before = nothing
    border = 0
    for segment in segments:
        codes, positions, deletes = _net(segment)
        first = _first_events(codes, positions)
        untouched = np.setdiff1d(segment.live, codes)
        begun = np.union1d(codes[first][deletes[first]], untouched)
        gone = np.setdiff1d(live_before, begun)
        events.append((begun, np.full(len(begun), border), np.ones(len(begun), np.bool_)))
        events.append((gone, np.full(len(gone), border), np.zeros(len(gone), np.bool_)))
        events.append((codes, positions + 1, ~deletes))
        live_before = segment.live
        border = segment.last + 2
    return events


def _net(segment: Segment) -> tuple[Ints, Ints, Bools]:
    """Entries of the segment without those that one snapshot both adds and removes."""
    change = np.where(segment.deletes, -1, 1)
    keys = np.stack([segment.codes, segment.positions])
    distinct, groups = np.unique(keys, axis=1, return_inverse=True)
    sums = np.zeros(distinct.shape[1], np.int64)
    np.add.at(sums, groups.reshape(-1), change)
    changed = sums != 0
    return distinct[0][changed], distinct[1][changed], sums[changed] < 0


def _first_events(codes: Ints, positions: Ints) -> Ints:
    """Index of the earliest event of each identity."""
    order = np.lexsort((positions, codes))
    return order[np.unique(codes[order], return_index=True)[1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLives:
    """All data files of a stretch of the timeline with their lives.

    Attributes:
        files: a row per life: the columns of `entry_columns.SLIM_SCHEMA`.
        added: per row when its life begins, see the module.
        removed: per row when it ends.
        partitions: the rows' partitions.
        first: first position whose files are known.
        last: last position whose files are known.
        unknown: positions in between whose manifests cannot be read.
        count: length of the timeline.
    """

    files: pa.Table
    added: Ints
    removed: Ints
    partitions: Partitions
    first: int
    last: int
    unknown: frozenset[int]
    count: int

    def __len__(self) -> int:
        """The number of lives."""
        return len(self.added)

    def knows(self, position: int) -> bool:
        """Whether the files of a position are known."""
        return self.first <= position <= self.last and position not in self.unknown

    def live_at(self, position: int) -> Ints:
        """Row numbers of the files that a reader of the snapshot at a position sees."""
        at = position + 1
        return np.flatnonzero((self.added <= at) & (self.removed > at))
