"""The snapshot ranges in which each data file is live.

A lifetime is an interval on the timeline, from the position that added the file to the position
that removed it. Positions are shifted by one, so that 0 means "before the first snapshot": a file
is live at position p if `added <= p + 1 < removed`. A file that is removed and added again has two
lifetimes. The browser computes live files from the same columns.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bools, Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.rendering.partition_text import Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A range of consecutive snapshots whose manifests can all be read.

    Attributes:
        first: position of the first snapshot.
        last: position of the last snapshot.
        codes: file identity of each entry of the delta lists.
        positions: position of the snapshot of each entry.
        deletes: whether the entry is a DELETE.
        live: file identities of the live files of the last snapshot; repetitions do not count.
    """

    first: int
    last: int
    codes: Ints
    positions: Ints
    deletes: Bools
    live: Ints


def lifetimes_of(segments: Sequence[Segment], count: int) -> tuple[Ints, Ints, Ints]:
    """Compute the lifetimes from the entries of the segments.

    Files that appear or disappear in unknown snapshots between two segments are counted right
    after the earlier segment.

    Args:
        segments: the segments in order.
        count: length of the timeline.

    Returns:
        Identity, `added` and `removed` of each lifetime, ordered by identity and time; `removed`
        is count + 1 for live files.
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
    """All events: identity, time, and whether a lifetime begins."""
    nothing = np.empty(0, np.int64)
    events = [(nothing, nothing, np.empty(0, np.bool_))]
    live_before = nothing
    border = 0
    for segment in segments:
        codes, positions, deletes = _net(segment)
        first = _first_events(codes, positions)
        untouched = _without(segment.live, codes)
        begun = np.concatenate([codes[first][deletes[first]], untouched])
        gone = _without(live_before, begun)
        events.append((begun, np.full(len(begun), border), np.ones(len(begun), np.bool_)))
        events.append((gone, np.full(len(gone), border), np.zeros(len(gone), np.bool_)))
        events.append((codes, positions + 1, ~deletes))
        live_before = segment.live
        border = segment.last + 2
    return events


def _without(codes: Ints, others: Ints) -> Ints:
    """The codes that are not among the others."""
    return codes[np.isin(codes, others, invert=True)]


def _net(segment: Segment) -> tuple[Ints, Ints, Bools]:
    """The entries of a segment, except files that one snapshot both adds and removes."""
    change = np.where(segment.deletes, -1, 1)
    keys = np.stack([segment.codes, segment.positions])
    distinct, groups = np.unique(keys, axis=1, return_inverse=True)
    sums = np.zeros(distinct.shape[1], np.int64)
    np.add.at(sums, groups.reshape(-1), change)
    changed = sums != 0
    return distinct[0][changed], distinct[1][changed], sums[changed] < 0


def _first_events(codes: Ints, positions: Ints) -> Ints:
    """The index of the earliest event of each identity."""
    order = np.lexsort((positions, codes))
    return order[np.unique(codes[order], return_index=True)[1]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLifetimes:
    """All data files of a range of the timeline with their lifetimes.

    Attributes:
        files: one row per lifetime with the columns of `SLIM_SCHEMA`.
        added: start of each lifetime, see the module.
        removed: end of each lifetime.
        partitions: the partition of each row.
        first: first position with known files.
        last: last position with known files.
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
        """The number of lifetimes."""
        return len(self.added)

    def knows(self, position: int) -> bool:
        """Whether the files of a position are known."""
        return self.first <= position <= self.last and position not in self.unknown

    def live_at(self, position: int) -> Ints:
        """Row numbers of the live files at a position."""
        at = position + 1
        return np.flatnonzero((self.added <= at) & (self.removed > at))
