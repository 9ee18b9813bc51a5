"""Reads the data files of all snapshots incrementally.

Delta lists are read for each snapshot; the full list of live files is read once per segment of
consecutive snapshots, at its end. A manifest that cannot be read makes its snapshot unknown and
splits the segment; other snapshots are not affected.

The snapshot ranges in which each data file is live.

A lifetime is an interval on the timeline, from the position that added the file to the position
that removed it. Positions are shifted by one, so that 0 means "before the first snapshot": a file
is live at position p if `added <= p + 1 < removed`. A file that is removed and added again has two
lifetimes. The browser computes live files from the same columns.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    Scalar,
    binary_scalar,
    build_fixed,
    fixed_values,
    string_scalar,
)
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.inspection.problem import Problem, attempt
from paimon_explore.inspection.rendering.value_text import Partitions, partitions_of
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_SCHEMA, FileKind
from paimon_explore.metadata.manifest.manifest_table import Chunks, take_rows
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import numbers


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


SLIM_COLUMNS = (
    *("kind", "partition", "bucket", "level", "file_name", "file_size", "row_count", "min_key"),
    *("max_key", "schema_id", "creation_time", "extra_files", "embedded_file_index"),
    *("external_path",),
)
"""The entry columns that are kept for every file, in addition to the location of the entry:
`manifest`, the name of the manifest, and `entry`, the index in it."""

SLIM_SCHEMA = schema_from_text(
    *(ENTRY_SCHEMA.field(name) for name in SLIM_COLUMNS), "entry int32, manifest string"
)
"""The schema of the kept columns."""

STEP = 64
"""Number of snapshots that one call of `FileHistory.step` reads."""


class FileHistory:
    """Reads the files of a timeline incrementally.

    >>> # while not history.step(): draw(history.covered)
    >>> # lifetimes = history.lifetimes()
    """

    def __init__(self, view: TableView, timeline: Timeline) -> None:
        self._view = view
        self._timeline = timeline
        self._deltas: list[pa.Table | None] = []
        self._problems: list[Problem] = []

    @property
    def covered(self) -> int:
        """The number of snapshots read so far."""
        return len(self._deltas)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The errors so far."""
        return tuple(self._problems)

    def reuse(self, other: "FileHistory") -> None:
        """Take over what another history of the table has read, if nothing has been read here."""
        if self._deltas:
            return
        read = zip(other._timeline.marks, other._deltas, strict=False)  # noqa: SLF001 - of this class
        known = {mark.snapshot_id: (mark.snapshot, delta) for mark, delta in read}
        for mark in self._timeline.marks:
            snapshot, delta = known.get(mark.snapshot_id, (None, None))
            if delta is None or snapshot != mark.snapshot:
                return
            self._deltas.append(delta)

    def step(self, count: int = STEP) -> bool:
        """Read the changes of further snapshots; returns whether all have been read."""
        marks = self._timeline.marks[self.covered : self.covered + count]
        self._warm([mark.snapshot for mark in marks if mark.snapshot is not None])
        for mark in marks:
            self._deltas.append(self._delta(mark.snapshot))
        return self.covered >= len(self._timeline)

    def lifetimes(self) -> FileLifetimes:
        """All files with their lifetimes; reads the remaining snapshots."""
        while not self.step():
            pass
        unknown = {p for p, delta in enumerate(self._deltas) if delta is None}
        known: list[tuple[range, pa.Table]] = []
        for stretch in self._ranges():
            end = self._whole(stretch[-1])
            if end is None:
                unknown |= {*stretch}
            else:
                known.append((stretch, end))
        tables = [self._deltas[p] for stretch, _ in known for p in stretch]
        rows = _concat([*[t for t in tables if t is not None], *[end for _, end in known]])
        codes = identity_codes(rows)
        segments = self._segments(known, codes)
        found, added, removed = lifetimes_of(segments, len(self._timeline))
        files = take_rows(rows, _representatives(rows, codes)[found])
        return FileLifetimes(
            files=files,
            added=added,
            removed=removed,
            partitions=partitions_of(files, partition_type(self._view)),
            first=0,
            last=len(self._timeline) - 1,
            unknown=frozenset(unknown),
            count=len(self._timeline),
        )

    def _warm(self, snapshots: Sequence[Snapshot]) -> None:
        """Decode many small manifests at once, which is faster; the store caches them."""
        manifests = self._view.store.manifests
        try:
            lists = manifests.list_many([one.delta_manifest_list for one in snapshots])
            manifests.read_many([name for files in lists for name in files.names], SLIM_COLUMNS)
        except PaimonError:
            return  # reading them one by one shows which snapshot has the problem

    def _ranges(self) -> list[range]:
        """The positions of each range of consecutive snapshots that were read."""
        runs: list[range] = []
        marks = self._timeline.marks
        for position, delta in enumerate(self._deltas):
            if delta is None:
                continue
            follows = (
                bool(runs)
                and runs[-1].stop == position
                and marks[position].snapshot_id == marks[position - 1].snapshot_id + 1
            )
            start = runs.pop().start if follows else position
            runs.append(range(start, position + 1))
        return runs

    def _segments(self, known: Sequence[tuple[range, pa.Table]], codes: Ints) -> list[Segment]:
        segments = []
        at = 0
        live_at = len(codes) - sum(len(end) for _, end in known)
        for stretch, end in known:
            deltas = [d for d in self._deltas[stretch.start : stretch.stop] if d is not None]
            sizes = [len(delta) for delta in deltas]
            total = sum(sizes)
            kinds = np.concatenate([numbers(delta, "kind") for delta in deltas])
            segments.append(
                Segment(
                    first=stretch[0],
                    last=stretch[-1],
                    codes=codes[at : at + total],
                    positions=np.repeat(np.array(stretch), sizes),
                    deletes=kinds == FileKind.DELETE,
                    live=codes[live_at : live_at + len(end)],
                )
            )
            at += total
            live_at += len(end)
        return segments

    def _delta(self, snapshot: Snapshot | None) -> pa.Table | None:
        if snapshot is None:
            return None
        lists = [snapshot.delta_manifest_list]
        return attempt(lambda: slim_entries(self._view, lists), self._problems)

    def _whole(self, position: int) -> pa.Table | None:
        snapshot = self._timeline.marks[position].snapshot
        if snapshot is None:
            return None
        return attempt(lambda: live_slim(self._view, snapshot), self._problems)


def files_now(view: TableView, timeline: Timeline, snapshot_id: int) -> FileLifetimes:
    """The live files of one snapshot without their history, as added earlier and not removed.

    Raises:
        NotFoundError: the snapshot does not exist.
        PaimonError: a manifest cannot be read.
    """
    position = timeline.position_of(snapshot_id)
    snapshot = timeline.snapshot(snapshot_id)
    rows = live_slim(view, snapshot)
    return FileLifetimes(
        files=rows,
        added=np.zeros(len(rows), np.int64),
        removed=np.full(len(rows), len(timeline) + 1, np.int64),
        partitions=partitions_of(rows, partition_type(view)),
        first=position,
        last=position,
        unknown=frozenset(),
        count=len(timeline),
    )


def slim_entries(view: TableView, lists: Iterable[str]) -> pa.Table:
    """The kept columns of all entries of some manifest lists, in list order."""
    manifests = view.store.manifests
    parts = []
    for list_name in lists:
        for name in manifests.list(list_name).names:
            entries = manifests.read(name, SLIM_COLUMNS).table
            indexes = build_fixed(pa.int32(), np.arange(len(entries), dtype=np.int32))
            slim = entries.select(SLIM_COLUMNS).append_column("entry", indexes)
            names = pa.repeat(string_scalar(name), len(entries))  # type: ignore[call-overload]  # in stubs
            parts.append(slim.append_column("manifest", names))
    return _concat(parts)


def live_slim(view: TableView, snapshot: Snapshot) -> pa.Table:
    """The kept columns of a snapshot's live files."""
    rows = slim_entries(view, [snapshot.base_manifest_list, snapshot.delta_manifest_list])
    deletes = numbers(rows, "kind") == FileKind.DELETE
    if not deletes.any():
        return rows
    codes = identity_codes(rows)
    gone = np.isin(codes, codes[deletes])
    return take_rows(rows, np.flatnonzero(~gone & ~deletes))


def partition_type(view: TableView) -> RowType:
    """The types of the partition columns; empty if no schema can be read."""
    return RowType(fields=()) if view.schema is None else view.schema.partition_type


def identity_codes(rows: pa.Table) -> Ints:
    """A code per entry; entries of the same file identity have the same code.

    The identity is partition, bucket, level, name, extra files, embedded index and external path.
    File names do not contain "/"; parts that may contain any byte are prefixed with their length.
    """
    partition, external = rows.column("partition"), rows.column("external_path")
    names: Chunks = pc.binary_join(rows.column("extra_files"), string_scalar("/"))  # type: ignore[assignment]  # stubs
    parts: list[Chunks] = [
        rows.column("level").cast(pa.string()),
        rows.column("bucket").cast(pa.string()),
        pc.binary_length(partition).cast(pa.string()),
        _or_empty(pc.binary_length(external).cast(pa.string()), string_scalar("-1")),
        _or_empty(external, string_scalar("")),
        _or_empty(names, string_scalar("")),
        rows.column("file_name"),
    ]
    tail = _or_empty(rows.column("embedded_file_index"), binary_scalar(b""))
    texts = [part.cast(pa.binary()) for part in parts]
    keys: Chunks = pc.binary_join_element_wise(*texts, partition, tail, binary_scalar(b"/"))  # type: ignore[call-overload]  # in stubs
    whole: Column = keys.combine_chunks()
    return fixed_values(whole.dictionary_encode().indices, np.int32).astype(np.int64)


def _representatives(rows: pa.Table, codes: Ints) -> Ints:
    """The row that describes each identity: its first ADD, since DELETEs may lack statistics."""
    count = int(codes.max()) + 1 if len(codes) else 0
    first_rows = np.zeros(count, np.int64)
    adds = numbers(rows, "kind") == FileKind.ADD
    for mask in (~adds, adds):
        indexes = np.flatnonzero(mask)[::-1]
        first_rows[codes[indexes]] = indexes
    return first_rows


def _or_empty(column: Chunks, empty: Scalar) -> Chunks:
    filled: Chunks = pc.fill_null(column, empty)  # type: ignore[arg-type]  # a scalar, in stubs
    return filled


def _concat(parts: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(parts) if parts else SLIM_SCHEMA.empty_table()
