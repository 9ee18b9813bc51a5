"""Manifest lists, manifests and index manifests of a table.

These files never change, so what was decoded in this process is kept up to a budget of bytes, the
least recently used going first. Manifests that are not known yet are decoded together.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import pyarrow as pa

from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.entry_frame import Mask
from paimon_explore.metadata.index_manifest import IndexEntries
from paimon_explore.metadata.manifest_codec import (
    decode_entries,
    decode_index_entries,
    decode_manifest_lists,
    decode_partitions,
)
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest_list import ManifestFiles
from paimon_explore.metadata.paths import TablePaths
from paimon_explore.metadata.snapshot import Snapshot

Frame: TypeAlias = ManifestFiles | ManifestEntries | IndexEntries


CACHE_BYTES = 128 << 20
_READ_TOGETHER_BYTES = 32 << 20
_KEEP_WHOLE_BYTES = 4 << 20


class FrameCache:
    """Frames by file, bounded by bytes.

    Attributes:
        budget_bytes: what the kept frames may take together.
    """

    def __init__(self, budget_bytes: int = CACHE_BYTES) -> None:
        self.budget_bytes = budget_bytes
        self._frames: OrderedDict[object, Frame] = OrderedDict()
        self._used_bytes = 0
        self._lock = threading.Lock()

    def find(self, key: object) -> Frame | None:
        """A kept frame, which becomes the most recently used one."""
        with self._lock:
            found = self._frames.get(key)
            if found is not None:
                self._frames.move_to_end(key)
            return found

    def keep(self, key: object, frame: Frame) -> None:
        """Keep a frame; one that is large for the budget is not kept."""
        size = frame.table.nbytes
        if size > self.budget_bytes // 4:
            return
        with self._lock:
            before = self._frames.pop(key, None)
            self._used_bytes += size - (before.table.nbytes if before is not None else 0)
            self._frames[key] = frame
            while self._used_bytes > self.budget_bytes:
                _, gone = self._frames.popitem(last=False)
                self._used_bytes -= gone.table.nbytes

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._frames.clear()
            self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """Bytes of the kept frames."""
        return self._used_bytes


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
        return ManifestFiles.concat([self.base(snapshot), self.delta(snapshot)])

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
        known = {name: self._known(name, wanted) for name in names}
        unknown = [name for name, frame in known.items() if frame is None]
        first = 0
        for files in self._batches(unknown):
            known.update(zip(unknown[first:], self._decode(files, wanted), strict=False))
            first += len(files)
        found = [known[name] for name in names]
        parts = [frame for frame in found if frame is not None]
        return ManifestEntries.concat(parts) if parts else _no_entries(wanted)

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
            columns: columns of `ENTRY_SCHEMA` that are needed, the partition among them.

        Raises:
            MissingFileError: a manifest is gone.
            CorruptFileError, UnsupportedVersionError: one cannot be understood; it is named.
        """
        needed = None if columns is None else tuple(sorted({*columns, "partition"}))
        parts = [_no_entries(needed)]
        for known, some in groupby(names, key=lambda name: self._known(name, needed) is not None):
            if known:
                parts.append(_where(self.read_many(list(some), needed), wanted))
                continue
            for files in self._batches(some):
                if sum(len(data) for _, data in files) > _KEEP_WHOLE_BYTES:
                    parts.append(decode_partitions(files, wanted, needed))
                else:
                    parts += [_where(frame, wanted) for frame in self._decode(files, needed)]
        return ManifestEntries.concat(parts)

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
    ) -> Sequence[ManifestEntries]:
        """Decode files together and keep their frames."""
        frames = decode_entries(files, wanted)
        for (path, _), frame in zip(files, frames, strict=True):
            _SHARED.keep((self.file_io, path, wanted), frame)
        return frames

    def _named_by(self, snapshot: Snapshot, field: str, name: str) -> ManifestFiles:
        try:
            return self.list(name)
        except MissingFileError as error:
            raise _missing(error, snapshot, field) from error

    def _known(self, name: str, wanted: tuple[str, ...] | None) -> ManifestEntries | None:
        path = self.paths.manifest(name)
        found = _SHARED.find((self.file_io, path, wanted))
        if found is None and wanted is not None:
            whole = _SHARED.find((self.file_io, path, None))
            if isinstance(whole, ManifestEntries):
                columns = [c for c in whole.table.schema.names if c in wanted]
                return ManifestEntries(whole.table.select(columns))
        return found if isinstance(found, ManifestEntries) else None


def _where(entries: ManifestEntries, wanted: Callable[[pa.BinaryArray], Mask]) -> ManifestEntries:
    partitions = entries.column("partition").combine_chunks()
    assert isinstance(partitions, pa.BinaryArray)  # noqa: S101 - the frame's type
    return entries.filter(wanted(partitions))


def _no_entries(wanted: tuple[str, ...] | None) -> ManifestEntries:
    none = ManifestEntries.empty()
    if wanted is None:
        return none
    return ManifestEntries(
        none.table.select([name for name in none.table.schema.names if name in wanted])
    )


def _missing(error: MissingFileError, snapshot: Snapshot, field: str) -> MissingFileError:
    return MissingFileError(f"read the {field} of snapshot {snapshot.id},", error.path)
