"""Manifest lists, manifests and index manifests of a table.

These files never change, so what was decoded in this process is kept up to a budget of bytes, the
least recently used going first. Manifests that are not known yet are decoded together.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count, groupby
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.avro.reader import REASONS
from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_codec import (
    decode_concatenated,
    decode_filtered,
    decode_index_entries,
    decode_manifest_lists,
)
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_filter import (
    EntryFilter,
    filter_entries,
    partition_filter,
)
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest.manifest_table import Mask
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths

Frame: TypeAlias = ManifestFiles | ManifestEntries | IndexEntries


CACHE_BYTES = 128 << 20
FRAME_BYTES = 24 << 10
"""What some thirty Arrow columns take beside their values."""
_ROW_BYTES = 2 << 10
"""What a row takes that is not a row of columns yet; the bounds of wide tables may take more."""
_READ_TOGETHER_BYTES = 8 << 20
_KEEP_WHOLE_BYTES = 4 << 20
_KEEP_WHOLE_PICKED_BYTES = 256 << 10
"""Where blocks can be passed over, few bytes are worth decoding for later."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some entries of a frame: those of one file among others that were decoded together."""

    frame: ManifestEntries
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class _Kept:
    """A frame in the cache, with the keys under which it or parts of it are known."""

    frame: Frame
    size: int
    parts: Mapping[object, tuple[int, int]]


class FrameCache:
    """Frames by file, bounded by bytes. What was decoded together is kept and goes together.

    Attributes:
        budget_bytes: what the kept frames may take together.
    """

    def __init__(self, budget_bytes: int = CACHE_BYTES) -> None:
        self.budget_bytes = budget_bytes
        self._kept: OrderedDict[int, _Kept] = OrderedDict()
        self._places: dict[object, int] = {}
        self._numbers = count()
        self._used_bytes = 0
        self._lock = threading.Lock()

    def find(self, key: object) -> Frame | None:
        """A kept frame, which becomes the most recently used one."""
        kept = self._find(key)
        return None if kept is None else kept.frame

    def find_part(self, key: object) -> Part | None:
        """A kept part of a frame of entries."""
        kept = self._find(key)
        if kept is None or not isinstance(kept.frame, ManifestEntries):
            return None
        return Part(kept.frame, *kept.parts[key])

    def _find(self, key: object) -> _Kept | None:
        with self._lock:
            number = self._places.get(key)
            if number is None:
                return None
            self._kept.move_to_end(number)
            return self._kept[number]

    def keep(self, key: object, frame: Frame) -> None:
        """Keep a frame; one that is large for the budget is not kept."""
        self.keep_parts({key: (0, len(frame))}, frame)

    def keep_parts(self, parts: Mapping[object, tuple[int, int]], frame: Frame) -> None:
        """Keep a frame of which each key's part is so many rows from a row on."""
        size = FRAME_BYTES + _buffer_bytes(frame)
        if size > self.budget_bytes // 4:
            return
        with self._lock:
            for key in parts:
                self._drop(key)
            number = next(self._numbers)
            self._kept[number] = _Kept(frame, size, parts)
            self._places.update(dict.fromkeys(parts, number))
            self._used_bytes += size
            while self._used_bytes > self.budget_bytes:
                self._forget(next(iter(self._kept)))

    def _drop(self, key: object) -> None:
        """Forget a key, and the frame with its last one."""
        number = self._places.pop(key, None)
        if number is not None and all(
            self._places.get(k) != number for k in self._kept[number].parts
        ):
            self._forget(number)

    def _forget(self, number: int) -> None:
        gone = self._kept.pop(number)
        self._used_bytes -= gone.size
        for key in gone.parts:
            if self._places.get(key) == number:
                del self._places[key]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._places.clear()
            self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """Bytes of the kept frames."""
        return self._used_bytes


def _buffer_bytes(frame: Frame) -> int:
    known = None if isinstance(frame, IndexEntries) else frame.records.cached_rows
    if known is not None:
        return _ROW_BYTES * len(known)
    return frame.table.get_total_buffer_size()  # `nbytes` takes 20 times as long


_SHARED = FrameCache()


def shared_cache() -> FrameCache:
    """The cache of this process."""
    return _SHARED


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifest folder of a table."""

    file_io: FileIO
    paths: TablePaths

    def list(self, name: str) -> ManifestFiles:
        """The manifests of a manifest list.

        Raises:
            MissingFileError: there is no such file.
            CorruptFileError, UnsupportedVersionError: it cannot be understood.
        """
        return self.list_many([name])[0]

    def list_many(self, names: Sequence[str]) -> tuple[ManifestFiles, ...]:
        """The manifests of many lists, decoded together.

        Raises:
            MissingFileError: a list is gone.
            CorruptFileError, UnsupportedVersionError: one cannot be understood; it is named.
        """
        paths = [self.paths.manifest(name) for name in names]
        known = {path: _SHARED.find((self.file_io, path)) for path in paths}
        unknown = [path for path, frame in known.items() if frame is None]
        files = [(path, self.file_io.read(path)) for path in unknown]
        decoded = decode_manifest_lists(files) if files else ()
        for path, frame in zip(unknown, decoded, strict=True):
            known[path] = frame
            _SHARED.keep((self.file_io, path), frame)
        found = [known[path] for path in paths]
        return tuple(frame for frame in found if isinstance(frame, ManifestFiles))

    def base(self, snapshot: Snapshot) -> ManifestFiles:
        """The manifests of everything before the snapshot."""
        return self._named_by(snapshot, "baseManifestList", snapshot.base_manifest_list)

    def delta(self, snapshot: Snapshot) -> ManifestFiles:
        """The manifests of the snapshot's own changes."""
        return self._named_by(snapshot, "deltaManifestList", snapshot.delta_manifest_list)

    def changelog(self, snapshot: Snapshot) -> ManifestFiles:
        """The manifests of the snapshot's changelog files; empty without a changelog."""
        name = snapshot.changelog_manifest_list
        if name is None:
            return ManifestFiles.empty()
        return self._named_by(snapshot, "changelogManifestList", name)

    def all(self, snapshot: Snapshot) -> ManifestFiles:
        """The manifests of base and delta, in the order in which their entries cancel."""
        names = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        try:
            return ManifestFiles.concat(self.list_many(names))
        except MissingFileError:
            self.base(snapshot)  # names the list that is gone
            self.delta(snapshot)
            raise

    def read(self, name: str, columns: Collection[str] | None = None) -> ManifestEntries:
        """The entries of one manifest; see `read_many`."""
        return self.read_many([name], columns)

    def read_many(
        self, names: Sequence[str], columns: Collection[str] | None = None
    ) -> ManifestEntries:
        """The entries of manifests, in the order of the names.

        Args:
            names: file names.
            columns: columns of `ENTRY_SCHEMA` that are needed; None for all. Fewer columns decode
                faster and take less memory.

        Raises:
            MissingFileError: a manifest is gone.
            CorruptFileError, UnsupportedVersionError: one cannot be understood; it is named.
        """
        wanted = None if columns is None else tuple(sorted(columns))
        parts: list[Part] = []
        for known, some in groupby(names, key=lambda name: self._known(name, wanted)):
            if known is not None:
                parts.append(known)
                continue
            for files in self._batches(some):
                frame = self._decode(files, wanted)
                parts.append(Part(frame, 0, len(frame)))
        return _together(parts, wanted)

    def read_partitions(
        self,
        names: Sequence[str],
        wanted: Callable[[pa.BinaryArray], Mask],
        columns: Collection[str] | None = None,
    ) -> ManifestEntries:
        """The entries of manifests whose partition is wanted, in the order of the names.

        Large manifests that are not known yet are decoded only where the partition is wanted, and
        the result is not kept; small ones are decoded whole and kept.

        Args:
            names: file names.
            wanted: tells of n partitions (binary rows with their arity) which ones are wanted.
            columns: columns of `ENTRY_SCHEMA` that are needed; None for all.

        Raises:
            MissingFileError: a manifest is gone.
            CorruptFileError, UnsupportedVersionError: one cannot be understood; it is named.
        """
        return self.read_filtered(names, [partition_filter(wanted)], columns)[0]

    def read_filtered(
        self,
        names: Sequence[str],
        filters: Sequence[EntryFilter],
        columns: Collection[str] | None = None,
    ) -> tuple[ManifestEntries, Ints]:
        """The entries of manifests that pass all filters, in the order of the names.

        Large manifests that are not known yet are decoded only where an entry passes, and the
        result is not kept; small ones are decoded whole and kept.

        Args:
            names: file names.
            filters: applied one after the other.
            columns: columns of `ENTRY_SCHEMA` that are needed; None for all.

        Returns:
            The entries, and a row for each entry_filter: how often it gave each number.

        Raises:
            MissingFileError: a manifest is gone.
            CorruptFileError, UnsupportedVersionError: one cannot be understood; it is named.
        """
        filter_columns = {name for entry_filter in filters for name in entry_filter.columns}
        needed = None if columns is None else tuple(sorted(filter_columns.union(columns)))
        wanted = None if columns is None else tuple(sorted(columns))
        found: list[ManifestEntries] = []
        tallies = np.zeros((len(filters), REASONS), np.int64)
        selective = bool(filters and filters[0].needles)
        keep_whole_bytes = _KEEP_WHOLE_PICKED_BYTES if selective else _KEEP_WHOLE_BYTES

        def sift(whole: ManifestEntries) -> None:
            nonlocal tallies
            entries, seen = filter_entries(whole, filters)
            found.append(entries if columns is None else entries.select(columns))
            tallies += seen

        places = [(name, self._known(name, needed)) for name in names]
        for is_known, some in groupby(places, key=lambda place: place[1] is not None):
            if is_known:
                sift(_together([part for _, part in some if part is not None], needed))
                continue
            for files in self._batches(name for name, _ in some):
                if sum(len(data) for _, data in files) > keep_whole_bytes:
                    entries, seen = decode_filtered(files, filters, wanted)
                    found.append(entries)
                    tallies += seen
                else:
                    sift(self._decode(files, needed))
        return ManifestEntries.concat(found) if found else _no_entries(wanted), tallies

    def index(self, name: str | None) -> IndexEntries:
        """The index files of an index manifest; none for a snapshot that names none."""
        if name is None:
            return IndexEntries.empty()
        path = self.paths.manifest(name)
        key = (self.file_io, path)
        found = _SHARED.find(key)
        if not isinstance(found, IndexEntries):
            found = decode_index_entries(self.file_io.read(path), path)
            _SHARED.keep(key, found)
        return found

    def index_of(self, snapshot: Snapshot) -> IndexEntries:
        """The index files of a snapshot."""
        try:
            return self.index(snapshot.index_manifest)
        except MissingFileError as error:
            raise _missing(error, snapshot, "indexManifest") from error

    def remember(self, name: str, frame: Frame) -> None:
        """Keep the frame of a file that this process has just written."""
        path = self.paths.manifest(name)
        key: object = (self.file_io, path)
        if isinstance(frame, ManifestEntries):
            key = (self.file_io, path, None)
        _SHARED.keep(key, frame)

    def _batches(self, names: Iterable[str]) -> Iterator[Sequence[tuple[str, bytes]]]:
        """Path and content of files, so many at a time as may be in memory together."""
        files: list[tuple[str, bytes]] = []
        size = 0
        for path in map(self.paths.manifest, names):
            data = self.file_io.read(path)
            files.append((path, data))
            size += len(data)
            if size > _READ_TOGETHER_BYTES:
                yield files
                files, size = [], 0
        if files:
            yield files

    def _decode(
        self, files: Sequence[tuple[str, bytes]], wanted: tuple[str, ...] | None
    ) -> ManifestEntries:
        """Decode files together and keep their frame."""
        frame, counts = decode_concatenated(files, wanted)
        starts = accumulate(counts, initial=0)
        parts: dict[object, tuple[int, int]] = {
            (self.file_io, path, wanted): (start, count)
            for (path, _), start, count in zip(files, starts, counts, strict=False)
        }
        _SHARED.keep_parts(parts, frame)
        return frame

    def _named_by(self, snapshot: Snapshot, field: str, name: str) -> ManifestFiles:
        try:
            return self.list(name)
        except MissingFileError as error:
            raise _missing(error, snapshot, field) from error

    def _known(self, name: str, wanted: tuple[str, ...] | None) -> Part | None:
        """The kept entries of a manifest, with these columns at least."""
        path = self.paths.manifest(name)
        found = _SHARED.find_part((self.file_io, path, wanted))
        if found is None and wanted is not None:
            return _SHARED.find_part((self.file_io, path, None))
        return found


def _together(parts: Sequence[Part], wanted: tuple[str, ...] | None) -> ManifestEntries:
    """Parts one after the other; neighbours in one frame are not taken apart."""
    found: list[ManifestEntries] = []
    place = 0
    while place < len(parts):
        frame, start, end = parts[place].frame, parts[place].start, parts[place].start
        while place < len(parts) and parts[place].frame is frame and parts[place].start == end:
            end += parts[place].count
            place += 1
        found.append(frame if (start, end) == (0, len(frame)) else frame.slice(start, end - start))
    if wanted is not None:
        found = [*_selected(found, wanted)]
    return ManifestEntries.concat(found) if found else _no_entries(wanted)


def _selected(
    frames: Sequence[ManifestEntries], wanted: Sequence[str]
) -> Iterator[ManifestEntries]:
    """Some columns of frames; neighbours that are rows yet become columns together."""
    for are_rows, some in groupby(frames, key=lambda frame: frame.records.cached_rows is not None):
        if are_rows:
            yield ManifestEntries.concat([*some]).select(wanted)
        else:
            yield from (frame.select(wanted) for frame in some)


def _no_entries(wanted: tuple[str, ...] | None) -> ManifestEntries:
    none = ManifestEntries.empty()
    if wanted is None:
        return none
    return ManifestEntries(
        none.table.select([name for name in none.table.schema.names if name in wanted])
    )


def _missing(error: MissingFileError, snapshot: Snapshot, field: str) -> MissingFileError:
    return MissingFileError(f"read the {field} of snapshot {snapshot.id},", error.path)
