"""Files that a table's snapshots, tags and changelogs reference, which must not be removed.

A root is a file that readers open directly: a snapshot or tag references all files of a table
state; a snapshot or long-lived changelog references the changelog of one commit. The roots of all
branches count, because branches share manifests and data files.

Along a chain of snapshots that are based on each other, the live files of only the first one are
read completely; each following snapshot adds the files of its delta. Consecutive ids do not prove
that one snapshot is based on the other, because a branch may have been fast-forwarded.

Spec: maintenance/manage-snapshots, expire; concepts/spec.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import partial
from itertools import chain, islice
from typing import TypeVar

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import MissingFileError, NotFoundError
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import cached_property, dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.manifest.manifest_table import Chunks
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import (
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.scan.manifest_arrays import column
from paimon_explore.scan.splits.file_locations import data_file_paths, index_file_paths
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.table_store import TableStore

_COLUMNS = (
    *("kind", "partition", "bucket", "level", "file_name", "extra_files", "embedded_file_index"),
    *("external_path", "file_source"),
)
"""The columns of file identities and paths."""
_BATCH = 256
"""Number of snapshots whose manifests are read together."""
_MAX_KNOWN, _MAX_KNOWN_FILES = 8_192, 32
"""Number of commits whose added files are kept, and of these files."""
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """The snapshots, tags and changelogs that must stay readable.

    Attributes:
        states: snapshots and tags that reference all files of their state.
        followers: pairs of a snapshot in `states` or `followers` and the snapshot with the next
            id; if the second is based on the first, only its delta adds data files.
        logs: snapshots and changelogs that reference their changelog files.
        leftovers: snapshots outside of the history, which may have lost some files; they reference
            the existing files of their state and changelog.
        delta_logs: changelogs of commits without changelog files, which reference added data files.
    """

    states: tuple[Snapshot, ...] = ()
    followers: tuple[tuple[Snapshot, Snapshot], ...] = ()
    logs: tuple[Snapshot, ...] = ()
    leftovers: tuple[Snapshot, ...] = ()
    delta_logs: tuple[Snapshot, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSet:
    """Paths of data files and metadata files.

    Attributes:
        data: data and changelog files with their extra files, and index files.
        metadata: manifests, manifest lists, index manifests, statistics.
    """

    data: frozenset[str] = field(default_factory=frozenset)
    metadata: frozenset[str] = field(default_factory=frozenset)

    def __sub__(self, other: "FileSet") -> "FileSet":
        """Return the difference."""
        return FileSet(data=self.data - other.data, metadata=self.metadata - other.metadata)

    @property
    def all(self) -> frozenset[str]:
        """Return all paths."""
        return self.data | self.metadata


_KNOWN: dict[object, FileSet] = {}
"""The files of commits by location and manifest lists, which are immutable."""


def has_changelogs(options: TableOptions) -> bool:
    """Whether commits of the table write changelog files."""
    return options.value(opt.CHANGELOG_PRODUCER) is not of.ChangelogProducer.NONE


def roots_of(
    store: TableStore,
    options: TableOptions,
    *,
    leaving: Iterable[int] = (),
    leaving_logs: Iterable[int] = (),
) -> Roots:
    """Return all roots of a table without expiring snapshots and changelogs of one branch.

    Args:
        store: the table and the branch.
        options: effective options.
        leaving: ids of expiring snapshots of the branch.
        leaving_logs: ids of expiring long-lived changelogs of the branch.

    Raises:
        NotFoundError: a branch has no schema: it is being created, or damaged.
        CorruptFileError, UnsupportedVersionError, StorageError: a root cannot be read.
    """
    here = frozenset(leaving), frozenset(leaving_logs)
    others: tuple[frozenset[int], frozenset[int]] = frozenset(), frozenset()
    branches = [MAIN_BRANCH, *store.branches.names()]
    calls = [
        partial(_branch_roots, store.for_branch(one), options, *left)
        for one in branches
        for left in [here if one == store.paths.branch else others]
    ]
    found = at_once(store.file_io, calls)
    return Roots(
        states=_distinct([state for one in found for state in one.states]),
        followers=tuple(pair for one in found for pair in one.followers),
        logs=_distinct([log for one in found for log in one.logs]),
        leftovers=_distinct([leftover for one in found for leftover in one.leftovers]),
        delta_logs=_distinct([log for one in found for log in one.delta_logs]),
    )


def with_current_roots(files: "TableFiles", act: Callable[[Roots], _Item]) -> _Item:
    """Read the files of all roots; repeat if snapshots expire or are rolled back meanwhile.

    Args:
        files: the files of the table.
        act: reads them.

    Raises:
        MissingFileError: a file of a root does not exist.
    """
    before = roots_of(files.store, files.options)
    while True:
        try:
            return act(before)
        except MissingFileError:
            now = roots_of(files.store, files.options)
            if now == before:
                raise
            before = now


def _branch_roots(
    store: TableStore,
    options: TableOptions,
    leaving: frozenset[int],
    leaving_logs: frozenset[int],
) -> Roots:
    """Return the roots of a branch; snapshots are read before the changelogs that replace them.

    Its schemas are listed before and after, in case the branch is created or renamed meanwhile.
    """
    _check_complete(store)
    kept, leftovers = store.snapshots.read_all(without=leaving)
    by_id = {found.id: found for found in kept}
    based = [(by_id.get(found.id - 1), found) for found in kept]
    tagged = [tag.snapshot for tag in store.tags.list()]
    logs = [found for found in store.changelogs.list() if found.id not in leaving_logs]
    if store.paths.branch != MAIN_BRANCH:
        _check_complete(store)
    return Roots(
        states=(*(found for before, found in based if before is None), *tagged),
        followers=tuple((before, found) for before, found in based if before is not None),
        logs=(*kept, *logs),
        leftovers=tuple(leftovers),
        delta_logs=tuple(without_changelog_files(store, options, logs)),
    )


def _check_complete(store: TableStore) -> None:
    if not store.schemas.ids():
        hint = "Another process may be creating the branch; if not, delete the branch."
        raise NotFoundError("schema of branch", store.paths.branch, store.paths.root, hint=hint)


def without_changelog_files(
    store: TableStore, options: TableOptions, snapshots: Sequence[Snapshot]
) -> list[Snapshot]:
    """Return the snapshots of a branch whose changes are read from the added data files.

    The changelog producer at the time of the commit decides, which is in the schema of the
    snapshot: it can be changed later, and branches can have different ones.

    Args:
        store: the branch.
        options: effective options of the table.
        snapshots: snapshots or changelogs of the branch.
    """
    if not has_changelogs(options):
        return list(snapshots)
    ids = frozenset(one.schema_id for one in snapshots)
    schemas = {number: store.schemas.load(number) for number in ids}
    return [
        one for one in snapshots if not has_changelogs(TableOptions(schemas[one.schema_id].options))
    ]


def _distinct(snapshots: Sequence[Snapshot]) -> tuple[Snapshot, ...]:
    """Keep one of the snapshots that reference the same files: tags and branches repeat them."""
    return tuple({one.referenced_files: one for one in snapshots}.values())


@dataclass(frozen=True, kw_only=True)
class TableFiles:
    """The paths of the files that snapshots reference.

    Attributes:
        store: the table and branch.
        options: effective options.
    """

    store: TableStore
    options: TableOptions

    @cached_property
    def schema(self) -> TableSchema:
        """The latest schema, read once; all schemas have the same partition columns."""
        found = self.store.schemas.latest()
        if found is None:
            raise NotFoundError("table", self.store.paths.branch_root)
        return found

    @property
    def _paths(self) -> TablePaths:
        return self.store.paths

    def paths(self, entries: ManifestEntries) -> frozenset[str]:
        """Return the paths of data files and their extra files."""
        return frozenset(chain.from_iterable(self._paths_of_each(entries)))

    def _paths_of_each(self, entries: ManifestEntries) -> Iterator[list[str]]:
        """Yield the paths of each data file and its extra files."""
        if not len(entries):
            return
        files = data_file_paths(entries, self.schema, self.options, self._paths).to_pylist()
        extras: list[list[str] | None] = as_python(column(entries.table, "extra_files"))  # type: ignore[assignment]  # of their type
        for path, names in zip(files, extras, strict=True):
            assert path is not None  # noqa: S101 - a name in a folder
            folder = path.rpartition("/")[0]
            yield [path, *(f"{folder}/{name}" for name in names or ())]

    def _entries(
        self, manifests_of: Callable[[Snapshot], ManifestFiles], snapshots: Sequence[Snapshot]
    ) -> ManifestEntries:
        names = [name for one in snapshots for name in manifests_of(one).names]
        return self.store.manifests.read_many(names, _COLUMNS)

    def read_ahead(self, commits: Sequence[Snapshot]) -> None:
        """Read the manifests of the changes of a batch into the cache, unless one is missing."""
        manifests = self.store.manifests
        logs = [one.changelog_manifest_list for one in commits]
        states = chain.from_iterable(map(lists_of_state, commits))
        manifests.read_ahead([*states, *(name for name in logs if name is not None)])
        with suppress(MissingFileError):
            self._entries(manifests.delta, commits)
            self._entries(manifests.changelog, commits)

    def _indexes(self, snapshots: Sequence[Snapshot]) -> frozenset[str]:
        """Return the index files of snapshots, many of which have the same index manifest."""
        distinct = {one.index_manifest: one for one in snapshots}.values()
        calls = [partial(self.index, one) for one in distinct]
        return frozenset[str]().union(*at_once(self.store.file_io, calls))

    def live(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the live files of a snapshot."""
        return live_entries(self._entries(self.store.manifests.all, [snapshot]))

    def delta(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the delta of a snapshot."""
        return self._entries(self.store.manifests.delta, [snapshot])

    def changelog(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the changelog files of a snapshot."""
        return self._entries(self.store.manifests.changelog, [snapshot])

    def added_rows(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the files with new rows, which streaming reads without a changelog use."""
        added = self.delta(snapshot).of_kind(FileKind.ADD)
        return of_appends(added)

    def index(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the index files of a snapshot."""
        entries: IndexEntries = self.store.manifests.index_of(snapshot)
        if not len(entries):
            return frozenset()
        found = index_file_paths(entries, self.schema, self.options, self._paths)
        return frozenset(str(path) for path in found.to_pylist())

    def state_metadata(self, snapshot: Snapshot) -> frozenset[str]:
        """Return manifest lists, manifests, index manifest and statistics, except the changelog."""
        names = [*lists_of_state(snapshot), *self.store.manifests.all(snapshot).names]
        return self._attached(snapshot).union(map(self._paths.manifest, names))

    def _attached(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the index manifest and the statistics."""
        index, statistics = snapshot.index_manifest, snapshot.statistics
        found = [] if index is None else [self._paths.manifest(index)]
        return frozenset(
            found if statistics is None else [*found, self._paths.statistics(statistics)]
        )

    def changelog_metadata(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the manifest list and manifests of a snapshot's changelog."""
        if snapshot.changelog_manifest_list is None:
            return frozenset()
        below = self.store.manifests.changelog(snapshot).names
        return frozenset(map(self._paths.manifest, [snapshot.changelog_manifest_list, *below]))

    def delta_metadata(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the manifest lists and delta manifests; Java keeps the base manifest list, too."""
        below = self.store.manifests.delta(snapshot).names
        return frozenset(map(self._paths.manifest, [*lists_of_state(snapshot), *below]))

    def of_state(self, snapshot: Snapshot) -> FileSet:
        """Return all files of a snapshot's state."""
        return FileSet(
            data=self.paths(self.live(snapshot)) | self.index(snapshot),
            metadata=self.state_metadata(snapshot),
        )

    def referenced_by(self, roots: Roots, names: frozenset[str] | None = None) -> FileSet:
        """Return the files that roots reference.

        Args:
            roots: the roots.
            names: return only data files of these names; None for all.

        Raises:
            MissingFileError: a manifest of a root does not exist.
            CorruptFileError, UnsupportedVersionError, StorageError: a manifest cannot be read.
        """
        data: set[str] = set()
        metadata: set[str] = set()
        manifests = self.store.manifests
        for some in in_batches(roots.states):
            manifests.read_ahead(name for one in some for name in lists_of_state(one))
            manifests.read_small_ahead(map(manifests.all, some))
            for state in some:
                data |= self.paths(_named(self.live(state), names))
            data |= self._indexes(some)
            metadata.update(*map(self.state_metadata, some))
        for pairs in in_batches(roots.followers):
            for found in self._of_followers(pairs, names):
                data |= found.data
                metadata |= found.metadata
            data |= self._indexes([after for _, after in pairs])
        for logs in in_batches(roots.logs):
            for found in self._of_logs(logs, names):
                data |= found.data
                metadata |= found.metadata
        for leftover in roots.leftovers:
            found = self._existing(leftover, names)
            data |= found.data
            metadata |= found.metadata
        for log in roots.delta_logs:
            with suppress(MissingFileError):  # the table had a changelog producer at that time
                data |= self.paths(_named(self.added_rows(log), names))
                metadata |= self.delta_metadata(log)
        return FileSet(data=frozenset(data), metadata=frozenset(metadata))

    def _of_followers(
        self, pairs: Sequence[tuple[Snapshot, Snapshot]], names: frozenset[str] | None
    ) -> Iterator[FileSet]:
        """Yield the files of snapshots without those of the snapshots that they are based on."""
        manifests = self.store.manifests
        commits: dict[tuple[str, ...], tuple[Snapshot, Snapshot]] = {
            (*lists_of_state(before), *lists_of_state(after)): (before, after)
            for before, after in pairs
        }
        new = {key: pair for key, pair in commits.items() if self._key(key) not in _KNOWN}
        manifests.read_ahead(chain.from_iterable(new))
        for _, after in pairs:
            yield FileSet(metadata=self._attached(after))
        others = {
            key: after
            for key, (before, after) in new.items()
            if not has_same_manifests(manifests, before, after)
        }
        for after in others.values():
            data = self.paths(_named(self.live(after), names))
            yield FileSet(data=data, metadata=self.state_metadata(after))
        based = {key: after for key, (_, after) in commits.items() if key not in others}
        yield from self._known(based, manifests.delta, self.delta_metadata, names)

    def _of_logs(self, logs: Sequence[Snapshot], names: frozenset[str] | None) -> Iterator[FileSet]:
        """Yield the changelog files of snapshots or changelogs."""
        commits: dict[tuple[str, ...], Snapshot] = {
            (one.changelog_manifest_list,): one
            for one in logs
            if one.changelog_manifest_list is not None
        }
        manifests = self.store.manifests
        unknown = [lists for lists in commits if self._key(lists) not in _KNOWN]
        manifests.read_ahead(chain.from_iterable(unknown))
        yield from self._known(commits, manifests.changelog, self.changelog_metadata, names)

    def _known(
        self,
        commits: Mapping[tuple[str, ...], Snapshot],
        manifests_of: Callable[[Snapshot], ManifestFiles],
        metadata_of: Callable[[Snapshot], frozenset[str]],
        names: frozenset[str] | None,
    ) -> Iterator[FileSet]:
        """Yield the files that commits added; small sets are kept for the next call.

        Args:
            commits: commits by the names of the manifest lists that decide the files.
            manifests_of: returns the manifests with the files.
            metadata_of: returns the metadata files.
            names: return only data files of these names; None for all.
        """
        known = {lists: _KNOWN.get(self._key(lists)) for lists in commits}
        yield from (found for found in known.values() if found is not None)
        new = [lists for lists, found in known.items() if found is None]
        self._entries(manifests_of, [commits[lists] for lists in new])  # decodes and caches them
        small: dict[tuple[str, ...], ManifestEntries] = {}
        for lists in new:
            added = self._entries(manifests_of, [commits[lists]]).of_kind(FileKind.ADD)
            if len(added) <= _MAX_KNOWN_FILES:
                small[lists] = added
            else:
                data = self.paths(_named(added, names))
                yield FileSet(data=data, metadata=metadata_of(commits[lists]))
        if len(_KNOWN) + len(small) > _MAX_KNOWN:
            _KNOWN.clear()
        paths = self._paths_of_each(ManifestEntries.concat([*filter(len, small.values())]))
        for lists, added in small.items():
            data = frozenset(chain.from_iterable(islice(paths, len(added))))
            found = FileSet(data=data, metadata=metadata_of(commits[lists]))
            _KNOWN[self._key(lists)] = found
            yield found

    def _key(self, lists: tuple[str, ...]) -> object:
        return (*self._place, *lists)

    @cached_property
    def _place(self) -> tuple[object, ...]:
        """What decides the paths of a commit's files beside its manifests."""
        names = [self.options.value(one) for one in (PARTITION_DEFAULT_NAME, PARTITION_LEGACY_NAME)]
        return (self.store.file_io, self._paths, *names)

    def _existing(self, snapshot: Snapshot, names: frozenset[str] | None) -> FileSet:
        """Return the files of an incomplete snapshot that can still be determined."""
        data: set[str] = set()
        metadata: set[str] = set()
        for entries in (self.live, self.changelog):
            with suppress(MissingFileError):
                data |= self.paths(_named(entries(snapshot), names))
        for found in (self.state_metadata, self.changelog_metadata):
            with suppress(MissingFileError):
                metadata |= found(snapshot)
        with suppress(MissingFileError):
            data |= self.index(snapshot)
        return FileSet(data=frozenset(data), metadata=frozenset(metadata))


def lists_of_state(snapshot: Snapshot) -> tuple[str, str]:
    """Return the names of the manifest lists of a snapshot's live files."""
    return snapshot.base_manifest_list, snapshot.delta_manifest_list


def continues(manifests: Manifests, before: Snapshot, after: Snapshot) -> bool:
    """Whether a snapshot is based on another one: its base has the other's live files."""
    if has_same_manifests(manifests, before, after):
        return True
    old, new = manifests.all(before).names, manifests.base(after).names
    return _identities(manifests, old) == _identities(manifests, new)


def has_same_manifests(manifests: Manifests, before: Snapshot, after: Snapshot) -> bool:
    """Whether the base of a snapshot has the same manifests as another one, none merged."""
    return sorted(manifests.all(before).names) == sorted(manifests.base(after).names)


def _identities(manifests: Manifests, names: Sequence[str]) -> frozenset[tuple[object, ...]]:
    live = live_entries(manifests.read_many(names, _COLUMNS))
    columns = [live.column(name) for name in ("file_name", "level", "bucket")]
    return frozenset(tuple(cell.as_py() for cell in row) for row in zip(*columns, strict=True))


def newest_schema_id(manifests: Manifests, snapshot: Snapshot) -> int:
    """Return the highest id of a schema that a snapshot, tag or changelog may need.

    Other writers may commit files of a newer schema than that of their snapshot.
    """
    ids = [snapshot.schema_id]
    for manifests_of in (manifests.all, manifests.changelog):
        with suppress(MissingFileError):  # tags and changelogs do not keep all manifest lists
            ids += manifests_of(snapshot).numbers("schema_id").tolist()
    return max(ids)


def of_appends(entries: ManifestEntries) -> ManifestEntries:
    """Return the files of writers; files of old releases without a source count as such."""
    source = pc.fill_null(entries.column("file_source"), pa.scalar(int(FileSource.APPEND)))
    mask: Chunks = pc.equal(source, pa.scalar(int(FileSource.APPEND), pa.int8()))  # type: ignore[assignment]  # in stubs
    return entries.filter(mask)


def in_batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    """Split what is read together into batches, whose manifests fit into the cache."""
    return (items[first : first + _BATCH] for first in range(0, len(items), _BATCH))


def _named(entries: ManifestEntries, names: frozenset[str] | None) -> ManifestEntries:
    if names is None:
        return entries
    value_set = pa.array(sorted(names), pa.string())
    mask: Chunks = pc.is_in(entries.column("file_name"), value_set=value_set)  # type: ignore[assignment]  # in stubs
    return entries.filter(mask)
