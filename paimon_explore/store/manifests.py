"""Reads manifest lists, manifests and index manifests of a table through an LRU cache.

These files are immutable, so decoded files are cached per process up to a number of bytes. Files
that are not cached are decoded in batches.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, count, groupby

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.avro.reader import REASONS
from paimon_explore.errors import MissingFileError
from paimon_explore.fileio.concurrent_requests import at_once, max_requests, read_each
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.fileio.versioned_reads import MAX_KEPT_BYTES, read_immutable
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
from paimon_explore.metadata.manifest.manifest_table import ManifestTable, Mask
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.threads import free_in_forks

CACHE_BYTES = 128 << 20
TABLE_OVERHEAD_BYTES = 24 << 10
"""Memory of thirty Arrow columns in addition to their values."""
_ROW_BYTES = 2 << 10
"""Memory of an entry that is stored as a row; bounds of wide tables may need more."""
_BATCH_BYTES = 8 << 20
_MAX_CACHED_BYTES = 4 << 20
_MAX_CACHED_SELECTIVE_BYTES = 256 << 10
"""Limit for filters that can skip blocks: decoding whole files for the cache pays off less."""


@dataclass(frozen=True, slots=True, eq=False)
class EntrySlice:
    """The entries of one file in a table of entries that were decoded in one batch."""

    records: ManifestEntries
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class _CachedRecords:
    """Cached records of one batch, with the slice of each key."""

    records: ManifestTable
    size: int
    parts: Mapping[object, tuple[int, int]]


class ManifestCache:
    """LRU cache of decoded files, limited by bytes; files of one batch are evicted together.

    Attributes:
        budget_bytes: maximum size of the cached records.
    """

    def __init__(self, budget_bytes: int = CACHE_BYTES) -> None:
        self.budget_bytes = budget_bytes
        self._kept: OrderedDict[int, _CachedRecords] = OrderedDict()
        self._positions: dict[object, int] = {}
        self._numbers = count()
        self._used_bytes = 0
        self._lock = free_in_forks(threading.Lock())

    def find(self, key: object) -> ManifestTable | None:
        """Return cached records and mark them as most recently used."""
        kept = self._find(key)
        return None if kept is None else kept.records

    def find_slice(self, key: object) -> EntrySlice | None:
        """Return the cached entries of one file."""
        kept = self._find(key)
        if kept is None or not isinstance(kept.records, ManifestEntries):
            return None
        return EntrySlice(kept.records, *kept.parts[key])

    def _find(self, key: object) -> _CachedRecords | None:
        with self._lock:
            number = self._positions.get(key)
            if number is None:
                return None
            self._kept.move_to_end(number)
            return self._kept[number]

    def keep(self, key: object, records: ManifestTable, sharing: int = 1) -> None:
        """Cache records, unless they are larger than a quarter of the budget.

        Args:
            key: the file.
            records: its records.
            sharing: number of files that were decoded in one batch, so that they share buffers.
        """
        self.put_slices({key: (0, len(records))}, records, sharing)

    def put_slices(
        self, parts: Mapping[object, tuple[int, int]], records: ManifestTable, sharing: int = 1
    ) -> None:
        """Cache records of several files; `parts` maps keys to (first row, number of rows)."""
        size = TABLE_OVERHEAD_BYTES + _buffer_bytes(records) // sharing
        if size > self.budget_bytes // 4:
            return
        with self._lock:
            for key in parts:
                self._drop(key)
            number = next(self._numbers)
            self._kept[number] = _CachedRecords(records, size, parts)
            self._positions.update(dict.fromkeys(parts, number))
            self._used_bytes += size
            while self._used_bytes > self.budget_bytes:
                self._forget(next(iter(self._kept)))

    def _drop(self, key: object) -> None:
        """Remove a key, and its records if no other key uses them."""
        number = self._positions.pop(key, None)
        if number is not None and all(
            self._positions.get(k) != number for k in self._kept[number].parts
        ):
            self._forget(number)

    def _forget(self, number: int) -> None:
        evicted = self._kept.pop(number)
        self._used_bytes -= evicted.size
        for key in evicted.parts:
            if self._positions.get(key) == number:
                del self._positions[key]

    def clear(self) -> None:
        """Remove all records."""
        with self._lock:
            self._kept.clear()
            self._positions.clear()
            self._used_bytes = 0

    @property
    def used_bytes(self) -> int:
        """Size of the cached records in bytes."""
        return self._used_bytes


def _buffer_bytes(records: ManifestTable) -> int:
    if records.cached_rows is not None:
        return _ROW_BYTES * len(records.cached_rows)
    return records.table.get_total_buffer_size()  # `nbytes` takes 20 times as long


_SHARED = ManifestCache()


def shared_cache() -> ManifestCache:
    """Return the cache of this process."""
    return _SHARED


@dataclass(frozen=True, slots=True)
class Manifests:
    """The manifest folder of a table."""

    file_io: FileIO
    paths: TablePaths

    def list(self, name: str) -> ManifestFiles:
        """Read a manifest list.

        Raises:
            MissingFileError: the file does not exist.
            CorruptFileError, UnsupportedVersionError: the file cannot be decoded.
        """
        return self.list_many([name])[0]

    def list_many(self, names: Sequence[str]) -> tuple[ManifestFiles, ...]:
        """Read many manifest lists in one batch.

        Raises:
            MissingFileError: a file does not exist.
            CorruptFileError, UnsupportedVersionError: a file, named in the error, cannot be
                decoded.
        """
        paths = [self.paths.manifest(name) for name in names]
        known = {path: _SHARED.find((self.file_io, path)) for path in paths}
        unknown = [path for path, records in known.items() if records is None]
        calls = [partial(read_immutable, self.file_io, path) for path in unknown]
        files = [*zip(unknown, at_once(self.file_io, calls), strict=True)]
        decoded = decode_manifest_lists(files) if files else ()
        for path, records in zip(unknown, decoded, strict=True):
            known[path] = records
            _SHARED.keep((self.file_io, path), records, len(unknown))
        found = [known[path] for path in paths]
        return tuple(records for records in found if isinstance(records, ManifestFiles))

    def read_ahead(self, names: Iterable[str]) -> None:
        """Read manifest lists into the cache, unless one of them is missing."""
        with suppress(MissingFileError):
            self.list_many(sorted({*names}))

    def read_small_ahead(self, manifests: Iterable[ManifestFiles]) -> None:
        """Read small manifests of a remote storage at the same time; their contents are kept."""
        if max_requests(self.file_io) < 2:  # noqa: PLR2004 - two at once
            return
        paths = [self.paths.manifest(name) for name in _small(manifests)]
        with suppress(MissingFileError):
            at_once(self.file_io, [partial(read_immutable, self.file_io, path) for path in paths])

    def decode_small_ahead(self, manifests: Iterable[ManifestFiles]) -> None:
        """Decode small manifests into the cache in one batch, unless one of them is missing."""
        with suppress(MissingFileError):
            self.read_many(_small(manifests))

    def base(self, snapshot: Snapshot) -> ManifestFiles:
        """Return the manifests up to the previous snapshot."""
        return self._list_of(snapshot, "baseManifestList", snapshot.base_manifest_list)

    def delta(self, snapshot: Snapshot) -> ManifestFiles:
        """Return the manifests of the snapshot's changes."""
        return self._list_of(snapshot, "deltaManifestList", snapshot.delta_manifest_list)

    def changelog(self, snapshot: Snapshot) -> ManifestFiles:
        """Return the manifests of the snapshot's changelog files; empty without a changelog."""
        name = snapshot.changelog_manifest_list
        if name is None:
            return ManifestFiles.empty()
        return self._list_of(snapshot, "changelogManifestList", name)

    def all(self, snapshot: Snapshot) -> ManifestFiles:
        """Return the manifests of base and delta, in this order."""
        names = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        try:
            return ManifestFiles.concat(self.list_many(names))
        except MissingFileError:
            self.base(snapshot)  # raises an error that names the missing list
            self.delta(snapshot)
            raise

    def read(self, name: str, columns: Collection[str] | None = None) -> ManifestEntries:
        """Return the entries of one manifest; see `read_many`."""
        return self.read_many([name], columns)

    def read_many(
        self, names: Sequence[str], columns: Collection[str] | None = None
    ) -> ManifestEntries:
        """Return the entries of manifests, in the order of the names.

        Args:
            names: file names.
            columns: columns of `ENTRY_SCHEMA` to read; None for all. Fewer columns are faster and
                need less memory.

        Raises:
            MissingFileError: a manifest does not exist.
            CorruptFileError, UnsupportedVersionError: a manifest, named in the error, cannot be
                decoded.
        """
        wanted = None if columns is None else tuple(sorted(columns))
        parts: list[EntrySlice] = []
        for known, some in groupby(names, key=lambda name: self._cached(name, wanted)):
            if known is not None:
                parts.append(known)
                continue
            for files in self._batches(some):
                records = self._decode(files, wanted)
                parts.append(EntrySlice(records, 0, len(records)))
        return _concat_slices(parts, wanted)

    def read_partitions(
        self,
        names: Sequence[str],
        wanted: Callable[[pa.BinaryArray], Mask],
        columns: Collection[str] | None = None,
    ) -> ManifestEntries:
        """Return the entries of selected partitions, in the order of the names.

        Caching is as for `read_filtered`.

        Args:
            names: file names.
            wanted: returns the mask of the selected partitions, for n binary rows with their arity.
            columns: columns of `ENTRY_SCHEMA` to read; None for all.

        Raises:
            MissingFileError: a manifest does not exist.
            CorruptFileError, UnsupportedVersionError: a manifest, named in the error, cannot be
                decoded.
        """
        return self.read_filtered(names, [partition_filter(wanted)], columns)[0]

    def read_filtered(
        self,
        names: Sequence[str],
        filters: Sequence[EntryFilter],
        columns: Collection[str] | None = None,
    ) -> tuple[ManifestEntries, Ints]:
        """Return the entries that pass all filters, in the order of the names.

        Small manifests are decoded completely and cached. Large ones that are not cached are
        decoded only for entries that pass, and the result is not cached.

        Args:
            names: file names.
            filters: applied in this order.
            columns: columns of `ENTRY_SCHEMA` to read; None for all.

        Returns:
            The entries, and an array of shape (filters, reasons) that counts the reasons of each
            filter.

        Raises:
            MissingFileError: a manifest does not exist.
            CorruptFileError, UnsupportedVersionError: a manifest, named in the error, cannot be
                decoded.
        """
        filter_columns = {name for entry_filter in filters for name in entry_filter.columns}
        needed = None if columns is None else tuple(sorted(filter_columns.union(columns)))
        wanted = None if columns is None else tuple(sorted(columns))
        found: list[ManifestEntries] = []
        tallies = np.zeros((len(filters), REASONS), np.int64)
        selective = bool(filters and filters[0].needles)
        max_cached_bytes = _MAX_CACHED_SELECTIVE_BYTES if selective else _MAX_CACHED_BYTES

        def add_filtered(whole: ManifestEntries) -> None:
            nonlocal tallies
            entries, seen = filter_entries(whole, filters)
            found.append(entries if columns is None else entries.select(columns))
            tallies += seen

        cached = [(name, self._cached(name, needed)) for name in names]
        for is_cached, some in groupby(cached, key=lambda pair: pair[1] is not None):
            if is_cached:
                slices = [part for _, part in some if part is not None]
                add_filtered(_concat_slices(slices, needed))
                continue
            for files in self._batches(name for name, _ in some):
                if sum(len(data) for _, data in files) > max_cached_bytes:
                    entries, seen = decode_filtered(files, filters, wanted)
                    found.append(entries)
                    tallies += seen
                else:
                    add_filtered(self._decode(files, needed))
        return ManifestEntries.concat(found) if found else _empty_entries(wanted), tallies

    def index(self, name: str | None) -> IndexEntries:
        """Return the index files of an index manifest; empty if the name is None."""
        if name is None:
            return IndexEntries.empty()
        path = self.paths.manifest(name)
        key = (self.file_io, path)
        found = _SHARED.find(key)
        if not isinstance(found, IndexEntries):
            found = decode_index_entries(read_immutable(self.file_io, path), path)
            _SHARED.keep(key, found)
        return found

    def index_of(self, snapshot: Snapshot) -> IndexEntries:
        """Return the index files of a snapshot."""
        try:
            return self.index(snapshot.index_manifest)
        except MissingFileError as error:
            raise _missing(error, snapshot, "indexManifest") from error

    def cache_written(self, name: str, records: ManifestTable) -> None:
        """Cache the records of a file that this process has just written."""
        path = self.paths.manifest(name)
        key: object = (self.file_io, path)
        if isinstance(records, ManifestEntries):
            key = (self.file_io, path, None)
        _SHARED.keep(key, records)

    def _batches(self, names: Iterable[str]) -> Iterator[Sequence[tuple[str, bytes]]]:
        """Read files in batches of limited size; yields paths and contents."""
        files: list[tuple[str, bytes]] = []
        size = 0
        paths = [self.paths.manifest(name) for name in names]
        read = partial(read_immutable, self.file_io)
        for path, data in zip(paths, read_each(self.file_io, paths, read), strict=True):
            files.append((path, data))
            size += len(data)
            if size > _BATCH_BYTES:
                yield files
                files, size = [], 0
        if files:
            yield files

    def _decode(
        self, files: Sequence[tuple[str, bytes]], wanted: tuple[str, ...] | None
    ) -> ManifestEntries:
        """Decode files in one batch and cache their entries."""
        records, counts = decode_concatenated(files, wanted)
        starts = accumulate(counts, initial=0)
        parts: dict[object, tuple[int, int]] = {
            (self.file_io, path, wanted): (start, count)
            for (path, _), start, count in zip(files, starts, counts, strict=False)
        }
        _SHARED.put_slices(parts, records)
        return records

    def _list_of(self, snapshot: Snapshot, field: str, name: str) -> ManifestFiles:
        try:
            return self.list(name)
        except MissingFileError as error:
            raise _missing(error, snapshot, field) from error

    def _cached(self, name: str, wanted: tuple[str, ...] | None) -> EntrySlice | None:
        """Return the cached entries of a manifest that have at least these columns."""
        path = self.paths.manifest(name)
        found = _SHARED.find_slice((self.file_io, path, wanted))
        if found is None and wanted is not None:
            return _SHARED.find_slice((self.file_io, path, None))
        return found


def _small(manifests: Iterable[ManifestFiles]) -> list[str]:
    """Return the names of the first small manifests, which fit into a batch."""
    sizes = {
        name: size
        for files in manifests
        for name, size in zip(files.names, files.numbers("file_size").tolist(), strict=True)
        if size <= MAX_KEPT_BYTES
    }
    ends = zip(sizes, accumulate(sizes.values()), strict=True)
    return [name for name, end in ends if end <= _BATCH_BYTES]


def _concat_slices(parts: Sequence[EntrySlice], wanted: tuple[str, ...] | None) -> ManifestEntries:
    """Concatenate slices; adjacent slices of one table are not split."""
    found: list[ManifestEntries] = []
    index = 0
    while index < len(parts):
        records, start, end = parts[index].records, parts[index].start, parts[index].start
        while index < len(parts) and parts[index].records is records and parts[index].start == end:
            end += parts[index].count
            index += 1
        found.append(
            records if (start, end) == (0, len(records)) else records.slice(start, end - start)
        )
    if wanted is not None:
        found = [*_select_columns(found, wanted)]
    return ManifestEntries.concat(found) if found else _empty_entries(wanted)


def _select_columns(
    parts: Sequence[ManifestEntries], wanted: Sequence[str]
) -> Iterator[ManifestEntries]:
    """Select columns; consecutive entries that are stored as rows are converted in one batch."""
    for are_rows, some in groupby(parts, key=lambda part: part.cached_rows is not None):
        if are_rows:
            yield ManifestEntries.concat([*some]).select(wanted)
        else:
            yield from (records.select(wanted) for records in some)


def _empty_entries(wanted: tuple[str, ...] | None) -> ManifestEntries:
    none = ManifestEntries.empty()
    if wanted is None:
        return none
    return ManifestEntries(
        none.table.select([name for name in none.table.schema.names if name in wanted])
    )


def _missing(error: MissingFileError, snapshot: Snapshot, field: str) -> MissingFileError:
    return MissingFileError(f"read the {field} of snapshot {snapshot.id},", error.path)
