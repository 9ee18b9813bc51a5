"""Checks of a snapshot or tag with its manifests, data files and index files.

Checks of primary-key indexes: that they name their data files, and find the rows of these.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from paimon_explore.commit.index_conflicts import marked_files
from paimon_explore.data_types.arrow_buffers import as_python, valid_mask
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.blob.blob_references import REFERENCES_SUFFIX, decode_references
from paimon_explore.encoding.global_index.column_keys import IndexedRows, indexed_rows
from paimon_explore.encoding.global_index.index_sources import (
    IndexSources,
    decode_sources,
    primary_key_sources,
)
from paimon_explore.encoding.global_index.key_ranges import KeyRange, KeySet
from paimon_explore.errors import (
    CorruptFileError,
    FormatError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.avro_cross_checks import AvroCrossChecks
from paimon_explore.maintenance.checks.data_file_checks import DataFiles
from paimon_explore.maintenance.checks.findings import Finding, Severity
from paimon_explore.maintenance.compaction.primary_key_indexes import column_values
from paimon_explore.metadata.manifest.entry_cancellation import entry_identities, merge_entries
from paimon_explore.metadata.manifest.index_manifest import DELETION_VECTORS_INDEX, IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import as_array
from paimon_explore.metadata.options.table_options import PK_CLUSTERING_OVERRIDE, TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.index_lookups import IndexFile, IndexSource, RowRange
from paimon_explore.scan.manifest_arrays import Mask, column, numbers
from paimon_explore.scan.splits.file_locations import index_file_paths
from paimon_explore.scan.splits.key_range_sections import key_ranks
from paimon_explore.scan.splits.row_id_ranges import column_numbers, partly_covered
from paimon_explore.store.blob_contents import contents_path
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.table_store import TableStore

EXISTS = "every referenced file exists"
SIZE = "a file has the recorded size"
COUNTS = "a manifest list has the correct entry counts of its manifests"
ONCE = "a file is added once, and deleted only if it exists"
TOTAL = "totalRecordCount is the row count of the live files"
SCHEMA = "every referenced schema exists"
DISJOINT = "files of a level above 0 have disjoint key ranges"
REFERENCES = "the managed files of BLOBs that a data file refers to are known"
VECTORS = "a deletion vector belongs to one live file"
CHANGELOG_COUNT = "changelogRecordCount is the row count of the changelog files"
COLUMN_FILES = "files of a BLOB or VECTOR column have all rows of a data file, or none"
NEXT_ROW = "nextRowId is greater than every row id"

_RECORDED = ("file_name", "file_size", "num_added_files", "num_deleted_files")
"""Columns of a manifest list."""

Run: TypeAlias = tuple[bytes, int, int]
"""Partition, bucket and level."""
Identity: TypeAlias = tuple[bytes, int, int, str]
"""A run, and the name of a file."""


def identities(entries: ManifestEntries) -> frozenset[Identity]:
    """Return partition, bucket, level and name of each file."""
    return frozenset(_identities(entries))


_ENTRY = np.dtype(
    [
        ("number", np.int64),
        ("file", np.int64),
        ("run", np.int64),
        ("level", np.int64),
        ("row_count", np.int64),
        ("row_id_end", np.int64),
        ("column", np.int64),
        ("is_add", np.bool_),
        ("is_suspect", np.bool_),
    ]
)
"""What the checks of a state use of a manifest entry.

number: of the entry, among all entries that were read.
file: number of the identity by which entries cancel.
run: number of partition, bucket and level above 0; -1 at level 0.
row_id_end: the row id after those of the file; the lowest number without row ids.
column: number of the BLOB or VECTOR column that the file has; -1 for other files.
is_suspect: whether a file that the entry adds may be missing, or its schema is.
"""
_NO_ROW_ID = np.iinfo(np.int64).min
Entries: TypeAlias = npt.NDArray[np.void]
"""An array of `_ENTRY`."""


def _no_entries() -> Entries:
    return np.zeros(0, _ENTRY)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The entries of the manifests of a state.

    Attributes:
        manifests: reads manifests.
        names: the manifests, in their order.
        entries: their n entries.
        counts: the number of entries of each manifest.
        is_live: which of the n entries add a live file.
        is_consistent: whether each file is added once, and deleted at most once, and later.
    """

    manifests: Manifests
    names: Sequence[str]
    entries: Entries
    counts: Sequence[int]
    is_live: Mask
    is_consistent: bool

    @property
    def live(self) -> Entries:
        """The entries of the live files."""
        return self.entries[self.is_live]

    @property
    def files(self) -> frozenset[int]:
        """The numbers of the live files."""
        return frozenset(self.live["file"].tolist())

    def take(self, mask: Mask) -> ManifestEntries:
        """Read the entries where a mask of n entries is true."""
        parts = np.split(mask, np.cumsum(self.counts)[:-1])
        used = [number for number, part in enumerate(parts) if part.any()]
        if not used:
            return ManifestEntries.empty()
        found = self.manifests.read_many([self.names[number] for number in used])
        return found.filter(np.concatenate([parts[number] for number in used]))


@dataclass(slots=True, kw_only=True)
class StateChecks:
    """The checks of snapshots and tags of one branch.

    Attributes:
        store: the branch.
        options: the table's options.
        schemas: all schemas by id.
        data: the checks of data files.
        read_rows: whether data files are read.
        avro: collects the metadata files to compare later.
        correct: manifests that have been read, with the recorded size and entry counts.
    """

    store: TableStore
    options: TableOptions
    schemas: Mapping[int, TableSchema]
    data: DataFiles
    read_rows: bool
    avro: AvroCrossChecks
    correct: set[tuple[object, ...]] = field(default_factory=set)
    _known: dict[str, Entries] = field(default_factory=dict)
    _before: Sequence[str] = ()
    _files: dict[object, int] = field(default_factory=dict)
    _runs: dict[Run, int] = field(default_factory=dict)
    _columns: dict[str, int] = field(default_factory=dict)
    _count: int = 0
    _above: Entries = field(default_factory=_no_entries)
    _overlaps: dict[Run, list[str]] = field(default_factory=dict)
    _read: Entries = field(default_factory=_no_entries)

    def state(self, names: Sequence[str]) -> State:
        """Return the merged entries of manifests, which are read once while states have them.

        Args:
            names: the manifests of a base list, then of a delta list.

        Raises:
            FormatError, StorageError: a manifest cannot be read.
        """
        manifests = self.store.manifests
        manifests.read_many([name for name in names if name not in self._known])
        parts = [self._entries(name) for name in names]
        entries = np.concatenate([_no_entries(), *parts])
        is_live, is_consistent = self._merged(entries)
        return State(
            manifests=manifests,
            names=names,
            entries=entries,
            counts=[len(part) for part in parts],
            is_live=is_live,
            is_consistent=is_consistent,
        )

    def _entries(self, name: str) -> Entries:
        if name not in self._known:
            self._known[name] = self._numbered(self.store.manifests.read(name))
        return self._known[name]

    def _merged(self, entries: Entries) -> tuple[Mask, bool]:
        """Return which entries are live, as `live_entries`, and whether they merge, in O(n)."""
        files, is_add = entries["file"], entries["is_add"]
        adds, deletes = np.flatnonzero(is_add), np.flatnonzero(~is_add)
        added, deleted = files[adds], files[deletes]
        added_at = np.empty(len(self._files), np.int64)
        added_at[deleted] = len(entries)
        added_at[added] = adds
        is_consistent = (
            bool((added_at[added] == adds).all())
            and bool((added_at[deleted] < deletes).all())
            and len(np.unique(deleted)) == len(deleted)
        )
        added_at[deleted] = -1
        return is_add & (added_at[files] >= 0), is_consistent

    def _numbered(self, entries: ManifestEntries) -> Entries:
        """Return the entries of a manifest as an array."""
        found = np.zeros(len(entries), _ENTRY)
        if not len(entries):
            return found
        found["number"] = np.arange(self._count, self._count + len(entries))
        self._count += len(entries)
        known = self._files
        identities = as_python(as_array(entry_identities(entries)))
        found["file"] = [known.setdefault(one, len(known)) for one in identities]
        found["is_add"] = entries.numbers("kind") == FileKind.ADD
        found["level"] = entries.numbers("level")
        is_above = found["level"] > 0
        runs = [identity[:3] for identity in _identities(entries.filter(is_above))]
        found["run"][is_above] = [self._runs.setdefault(run, len(self._runs)) for run in runs]
        found["row_count"] = entries.numbers("row_count")
        ends = numbers(entries.table, "first_row_id") + found["row_count"]
        has_ids = valid_mask(column(entries.table, "first_row_id"))
        found["row_id_end"] = np.where(has_ids, ends, _NO_ROW_ID)
        found["column"] = column_numbers(entries, self._columns) if has_ids.any() else -1
        added = np.flatnonzero(found["is_add"])
        try:
            suspects = [number for number, *_ in self.data.suspects(entries.take(added))]
        except (FormatError, StorageError):  # for states in which the files are live
            suspects = [*range(len(added))]
        found["is_suspect"][added[suspects]] = True
        found["is_suspect"] |= ~np.isin(entries.numbers("schema_id"), [*self.schemas])
        return found

    def metadata(self, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        """Check existence and size of manifest lists, manifests, statistics and schema."""
        paths = self.store.paths
        if snapshot.schema_id not in self.schemas:
            yield Finding(rule=SCHEMA, path=path, what=f"schema {snapshot.schema_id} is missing")
        lists = (
            (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
            (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
        )
        for name, size in lists:
            yield from self._check_file(paths.manifest(name), size, path)
        if snapshot.index_manifest is not None:
            yield from self._check_file(paths.manifest(snapshot.index_manifest), None, path)
        if snapshot.statistics is not None:
            yield from self._check_file(paths.statistics(snapshot.statistics), None, path)
        for name, _ in lists:
            yield from self._check_list(name)

    def _check_list(self, name: str) -> Iterator[Finding]:
        """Check existence, size and entry counts of the manifests of a list."""
        path = self.store.paths.manifest(name)
        if path not in self.data.present:
            return
        listed = self.store.manifests.list(name)
        self.avro.add(self.store, name, self.store.manifests.list, len(listed))
        columns = (as_python(column(listed.table, one)) for one in _RECORDED)
        for row in zip(*columns, strict=True):
            if row in self.correct:
                continue
            name, size, *recorded = row
            manifest = self.store.paths.manifest(str(name))
            yield from self._check_file(manifest, size, path)
            if manifest not in self.data.present:
                continue
            entries = self._entries(str(name))
            self.avro.add(self.store, str(name), self.store.manifests.read, len(entries))
            added = int(np.count_nonzero(entries["is_add"]))
            found = [added, len(entries) - added]
            if found == recorded and self.data.present[manifest].size == size:
                self.correct.add(row)
            elif found != recorded:
                what = (
                    f"{manifest} has {found[0]} ADD and {found[1]} DELETE entries, but the "
                    f"manifest list records {recorded[0]} and {recorded[1]}"
                )
                yield Finding(rule=COUNTS, path=path, what=what)

    def files(self, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        """Check that the entries merge without conflict, and that live files exist and add up."""
        manifests = self.store.manifests
        names = manifests.all(snapshot).names
        state = self.state(names)
        self._known = {name: self._known[name] for name in {*names, *self._before} & {*self._known}}
        self._before = names
        if not state.is_consistent:
            yield from _conflicts(manifests.read_many(names), path)
        live = state.live
        total, rows = snapshot.total_record_count, int(live["row_count"].sum())
        if total is not None and total != rows:
            what = f"totalRecordCount is {total}, but the live files have {rows} rows"
            yield Finding(rule=TOTAL, path=path, what=what)
        suspects = state.take(state.is_live & state.entries["is_suspect"])
        yield from self._check_ids(suspects, live, snapshot, path)
        yield from self._check_levels(state, path)
        yield from self._check_columns(live, path)
        try:
            yield from self._check_data(suspects, path)
        except FormatError:  # the error names a partition by its number among all
            yield from self._check_data(state.take(state.is_live), path)
        if self.read_rows:
            is_read = np.isin(state.entries["number"], self._read["number"])
            yield from self.data.check_rows(state.take(state.is_live & ~is_read))
            self._read = live

    def _check_ids(
        self, suspects: ManifestEntries, live: Entries, snapshot: Snapshot, path: str
    ) -> Iterator[Finding]:
        for schema_id in suspects.column("schema_id").unique():
            if schema_id.as_py() not in self.schemas:
                what = f"schema {schema_id} is missing, but a live file was written with it"
                yield Finding(rule=SCHEMA, path=path, what=what)
        end = int(live["row_id_end"].max(initial=_NO_ROW_ID))
        if end > (snapshot.next_row_id or 0):
            what = f"nextRowId is {snapshot.next_row_id}, but a file has row id {end - 1}"
            yield Finding(rule=NEXT_ROW, path=path, what=what)

    def _check_levels(self, state: State, path: str) -> Iterator[Finding]:
        """Check that files of the same partition, bucket and level have disjoint key ranges.

        Only sorted runs with other files than in the state before are compared again.
        """
        schema = max(self.schemas.values(), key=lambda one: one.id)
        if not schema.primary_keys or self.options.value(PK_CLUSTERING_OVERRIDE):
            return
        is_above = state.is_live & (state.entries["level"] > 0)
        above = state.entries[is_above]
        numbers, before = above["number"], self._above["number"]
        runs = {
            *above["run"][~np.isin(numbers, before)].tolist(),
            *self._above["run"][~np.isin(before, numbers)].tolist(),
        }
        if runs:
            keys = schema.project(schema.trimmed_primary_keys)
            is_changed = is_above & np.isin(state.entries["run"], [*runs])
            try:
                found = _overlaps(state.take(is_changed), keys)
            except FormatError:  # the error names a key by its number among all
                found = _overlaps(state.take(is_above), keys)
            same = {
                run: what for run, what in self._overlaps.items() if self._runs[run] not in runs
            }
            self._overlaps, self._above = same | found, above
        for run in sorted(self._overlaps):
            for what in self._overlaps[run]:
                yield Finding(rule=DISJOINT, path=path, what=what)

    def _check_columns(self, live: Entries, path: str) -> Iterator[Finding]:
        """Check that files of a column have all rows of a range of row ids, or none."""
        ends = live["row_id_end"]
        first = np.where(ends == _NO_ROW_ID, -1, ends - live["row_count"])
        for (start, end), number in partly_covered(first, ends, live["column"]):
            rows = f"some of the rows with ids {start} to {end - 1}"
            what = f"files of {[*self._columns][number]} have only {rows}"
            yield Finding(rule=COLUMN_FILES, path=path, what=what)

    def _check_data(self, entries: ManifestEntries, path: str) -> Iterator[Finding]:
        """Check existence and size of data files and their extra files."""
        for _, file, size in self.data.suspects(entries):
            severity = Severity.WARNING if size is None else Severity.ERROR
            yield from self._check_file(file, size, path, severity=severity)
            if size is None and file.endswith(REFERENCES_SUFFIX):
                yield from self._check_managed(file)

    def _check_managed(self, path: str) -> Iterator[Finding]:
        """Check existence of the managed files of BLOBs that a data file refers to."""
        if path in self.data.seen or self.data.status(path) is None:
            return
        self.data.seen.add(path)
        try:
            uris = decode_references(self.store.file_io.read(path), path)
            files = [contents_path(self.store.paths.root, uri) for uri in uris]
        except (FormatError, UnsupportedFeatureError) as error:
            yield Finding(rule=REFERENCES, path=path, what=str(error))
            return
        for file in files:
            yield from self._check_file(file, None, path)

    def index(self, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        """Check existence and size of index files, and the files of deletion vectors."""
        manifests = self.store.manifests
        entries = manifests.index_of(snapshot)
        if snapshot.index_manifest is not None:
            name = snapshot.index_manifest
            self.avro.add(self.store, name, manifests.index, len(entries))
        if not len(entries):
            return
        schema = next(iter(self.schemas.values()))
        paths = index_file_paths(entries, schema, self.options, self.store.paths)
        for file, size in zip(paths, entries.column("file_size"), strict=True):
            yield from self._check_file(str(file.as_py()), size.as_py(), path)
        state = self.state(manifests.all(snapshot).names)
        live = state.take(state.is_live).table
        known = {
            *zip(*(as_python(column(live, n)) for n in ("partition", "file_name")), strict=True)
        }
        rows = entries.of_type(DELETION_VECTORS_INDEX).rows()
        vectors = Counter((row["partition"], name) for row in rows for name in marked_files(row))
        for place, count in sorted(vectors.items(), key=str):
            many = "has several deletion vectors" if count > 1 else ""
            what = many if place in known else "has a deletion vector, but is not a live file"
            yield from [Finding(rule=VECTORS, path=path, what=f"{place[1]} {what}")] if what else ()

    def primary_key_indexes(self, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        """Check that primary-key indexes name their data files and find the rows of these."""
        del path
        schema = self.schemas.get(snapshot.schema_id)
        manifests = self.store.manifests
        indexes = manifests.index_of(snapshot).column("global_index")
        if schema is None or not schema.primary_keys or indexes.null_count == len(indexes):
            return
        source = IndexSource(
            store=self.store, schema=schema, options=self.options, snapshot=snapshot
        )
        state = self.state(manifests.all(snapshot).names)
        live = state.take(state.is_live)
        yield from check_primary_key_indexes(source, live, self.data.seen, read_rows=self.read_rows)

    def changelog(self, snapshot: Snapshot, path: str) -> Iterator[Finding]:
        """Check existence, size and row count of changelog files."""
        name = snapshot.changelog_manifest_list
        if name is None:
            return
        size = snapshot.changelog_manifest_list_size
        yield from self._check_file(self.store.paths.manifest(name), size, path)
        yield from self._check_list(name)
        entries = self.store.manifests.read_many(self.store.manifests.list(name).names)
        yield from self._check_data(entries, path)
        recorded = snapshot.changelog_record_count
        if recorded is not None and recorded != entries.total_rows:
            what = (
                f"changelogRecordCount is {recorded}, but the changelog files have "
                f"{entries.total_rows} rows"
            )
            yield Finding(rule=CHANGELOG_COUNT, path=path, what=what)

    def _check_file(
        self, file: str, size: object, path: str, *, severity: Severity = Severity.ERROR
    ) -> Iterator[Finding]:
        found = self.data.status(file)
        if found is None:
            yield Finding(rule=EXISTS, path=path, what=f"{file} is missing", severity=severity)
        elif size is not None and found.size != size:
            yield Finding(
                rule=SIZE,
                path=file,
                what=f"the file has {found.size} bytes, but the metadata records {size}",
            )


def _identities(entries: ManifestEntries) -> list[Identity]:
    names = ("partition", "bucket", "level", "file_name")
    columns = (as_python(column(entries.table, name)) for name in names)
    return [*zip(*columns, strict=True)]


def _conflicts(entries: ManifestEntries, path: str) -> Iterator[Finding]:
    """Check that entries merge without conflict."""
    try:
        merged = merge_entries(entries, path=path)
    except CorruptFileError as error:
        yield Finding(rule=ONCE, path=path, what=str(error))
        return
    dangling = merged.of_kind(FileKind.DELETE)
    if len(dangling):
        name = dangling.column("file_name")[0].as_py()
        what = f"a DELETE entry removes {name}, which no entry adds"
        yield Finding(rule=ONCE, path=path, what=what)


def _overlaps(above: ManifestEntries, keys: RowType) -> dict[Run, list[str]]:
    """Return which files of each partition, bucket and level have overlapping key ranges."""
    found: dict[Run, list[str]] = {}
    if not len(above):
        return found
    lows, highs = key_ranks(above, keys)
    identities = _identities(above)
    order = sorted(range(len(above)), key=lambda i: (*identities[i][:3], int(lows[i])))
    for earlier, later in pairwise(order):
        (*run, first), (*other, second) = identities[earlier], identities[later]
        if run == other and highs[earlier] >= lows[later]:
            what = f"the key ranges of {first} and {second} overlap"
            found.setdefault(identities[earlier][:3], []).append(what)
    return found


SOURCES = "a primary-key index has the rows of the data files that it names"
LOOKUPS = "a primary-key index finds the rows of its data files by their values"
_RANGES = 64
"""Maximum number of ranges of keys that are looked up in one index file."""


def check_primary_key_indexes(
    source: IndexSource, live: ManifestEntries, checked: set[str], *, read_rows: bool
) -> Iterator[Finding]:
    """Check the btree and bitmap indexes of a snapshot that name their data files.

    Args:
        source: where the indexes are.
        live: the live files.
        checked: paths of index files that have been read; those that are read now are added.
        read_rows: whether to read the indexed columns and compare them with the index files.

    Raises:
        FormatError: a data file or an index file is damaged.
        StorageError: a file cannot be read.
    """
    columns = [field.name for field in source.schema.fields]
    entries = source.entries(columns, with_sources=True)
    paths = index_file_paths(entries, source.schema, source.options, source.store.paths)
    for row, path in zip(entries.rows(), map(str, as_python(paths)), strict=True):
        index = row["global_index"]
        last = index["row_range_end"] if isinstance(index, dict) else None
        try:
            sources = decode_sources(primary_key_sources(index) or b"", path=path)
        except FormatError as error:
            yield Finding(rule=SOURCES, path=path, what=str(error))
            continue
        if row["row_count"] != sources.row_count or last != sources.row_count - 1:
            what = (
                f"its data files have {sources.row_count} rows, but the index manifest records "
                f"{row['row_count']} rows, the last one with number {last}"
            )
            yield Finding(rule=SOURCES, path=path, what=what)
        elif read_rows and path not in checked:
            checked.add(path)
            yield from _check_lookups(source, row, sources, live)


def _check_lookups(
    source: IndexSource, row: Mapping[str, object], sources: IndexSources, live: ManifestEntries
) -> Iterator[Finding]:
    """Look up the values of the data files in ranges of keys; skips files that are not live."""
    files = _files(sources, live)
    if files is None:
        return
    ranges = [RowRange(0, 0, sources.row_count)]
    columns = [field.name for field in source.schema.fields]
    found = source.files(
        IndexEntries.from_rows([row]), columns, lambda _row, _path: (sources.row_count, ranges)
    )
    for (_, name), indexes in found.items():
        values = column_values(source.store, source.schema, source.options, name, files)
        for index in indexes:
            count = _wrong_rows(index, *indexed_rows(values, index.keys))
            if count:
                what = f"{count} of {sources.row_count} rows are not found, or by other values"
                yield Finding(rule=LOOKUPS, path=index.bytes.path, what=what)


def _files(sources: IndexSources, live: ManifestEntries) -> ManifestEntries | None:
    """The entries of the data files of an index; None if some are not live."""
    names = map(str, as_python(column(live.table, "file_name")))
    places = {name: at for at, name in enumerate(names)}
    counts = numbers(live.table, "row_count")
    found = [places.get(file.name, -1) for file in sources.files]
    if any(
        at < 0 or counts[at] != file.row_count
        for at, file in zip(found, sources.files, strict=True)
    ):
        return None
    return live.take(np.array(found, np.int64))


def _wrong_rows(index: IndexFile, rows: IndexedRows, nulls: BitMap64) -> int:
    """Number of rows that an index finds and should not, or the other way around."""
    opened = index.open()
    wrong = opened.null_rows() ^ nulls
    groups = [(index.keys.decode(key), own) for key, own in rows.groups()]
    step = max(-(-len(groups) // _RANGES), 1)
    for start in range(0, len(groups), step):
        part = groups[start : start + step]
        keys = KeyRange(part[0][0], index.keys.after(part[-1][0]))
        expected = BitMap64(np.concatenate([own for _, own in part]).astype(np.uint64))
        wrong |= opened.rows(KeySet.of(keys)) ^ expected
    return len(wrong)
