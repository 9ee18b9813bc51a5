"""Files that a table's snapshots, tags and changelogs reference, which must not be removed.

A root is a file that readers open directly: a snapshot or tag references all files of a table
state; a snapshot or long-lived changelog references the changelog of one commit. The roots of all
branches count, because branches share manifests and data files.

Along a chain of snapshots that are based on each other, the live files of only the first one are
read completely; each following snapshot adds the files of its delta. Consecutive ids do not prove
that one snapshot is based on the other, because a branch may have been fast-forwarded.

Spec: maintenance/manage-snapshots, expire; concepts/spec.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from functools import cached_property

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.errors import MissingFileError, NotFoundError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, FileSource, ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Chunks
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH, TablePaths
from paimon_explore.scan.splits.file_locations import data_file_paths, index_file_paths
from paimon_explore.store.manifests import Manifests
from paimon_explore.store.table_store import TableStore

_COLUMNS = (
    *("kind", "partition", "bucket", "level", "file_name", "extra_files", "embedded_file_index"),
    *("external_path", "file_source"),
)
"""The columns of file identities and paths."""


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
    states: list[Snapshot] = []
    followers: list[tuple[Snapshot, Snapshot]] = []
    logs: list[Snapshot] = []
    long_lived: list[Snapshot] = []
    delta_logs: list[Snapshot] = []
    leftovers: list[Snapshot] = []
    for branch in [MAIN_BRANCH, *store.branches.names()]:
        other = store.for_branch(branch)
        if not other.schemas.ids():
            hint = "Another process may be creating the branch; if not, delete the branch."
            raise NotFoundError("schema of branch", branch, store.paths.root, hint=hint)
        here = branch == store.paths.branch
        expiring = frozenset(leaving if here else ())
        kept = [
            found
            for number in other.snapshots.history()
            if number not in expiring and (found := other.snapshots.find(number)) is not None
        ]
        leftovers += other.snapshots.outside_history()
        by_id = {found.id: found for found in kept}
        for found in kept:
            before = by_id.get(found.id - 1)
            if before is None:
                states.append(found)
            else:
                followers.append((before, found))
        states += [tag.snapshot for tag in other.tags.list()]
        logs += kept
        expiring_logs = frozenset(leaving_logs if here else ())
        kept_logs = [found for found in other.changelogs.list() if found.id not in expiring_logs]
        long_lived += kept_logs
        delta_logs += without_changelog_files(other, options, kept_logs)
    return Roots(
        states=_distinct(states),
        followers=tuple(followers),
        logs=_distinct([*logs, *long_lived]),
        leftovers=_distinct(leftovers),
        delta_logs=_distinct(delta_logs),
    )


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
        if not len(entries):
            return frozenset()
        files = data_file_paths(entries, self.schema, self.options, self._paths)
        extras = entries.column("extra_files")
        found: set[str] = set()
        for path, names in zip(files.to_pylist(), extras, strict=True):
            assert path is not None  # noqa: S101 - a name in a folder
            found.add(path)
            folder = path.rpartition("/")[0]
            more: list[str] = names.as_py() or []
            found.update(f"{folder}/{name}" for name in more)
        return frozenset(found)

    def live(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the live files of a snapshot."""
        manifests = self.store.manifests
        return live_entries(manifests.read_many(manifests.all(snapshot).names, _COLUMNS))

    def delta(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the delta of a snapshot."""
        manifests = self.store.manifests
        return manifests.read_many(manifests.delta(snapshot).names, _COLUMNS)

    def changelog(self, snapshot: Snapshot) -> ManifestEntries:
        """Return the changelog files of a snapshot."""
        manifests = self.store.manifests
        return manifests.read_many(manifests.changelog(snapshot).names, _COLUMNS)

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
        lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        names = [*lists, *self.store.manifests.all(snapshot).names]
        if snapshot.index_manifest is not None:
            names.append(snapshot.index_manifest)
        found = {self._paths.manifest(name) for name in names}
        if snapshot.statistics is not None:
            found.add(self._paths.statistics(snapshot.statistics))
        return frozenset(found)

    def changelog_metadata(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the manifest list and manifests of a snapshot's changelog."""
        if snapshot.changelog_manifest_list is None:
            return frozenset()
        below = self.store.manifests.changelog(snapshot).names
        return frozenset(map(self._paths.manifest, [snapshot.changelog_manifest_list, *below]))

    def delta_metadata(self, snapshot: Snapshot) -> frozenset[str]:
        """Return the manifest lists and delta manifests; Java keeps the base manifest list, too."""
        below = self.store.manifests.delta(snapshot).names
        lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        return frozenset(map(self._paths.manifest, [*lists, *below]))

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
        for state in roots.states:
            data |= self.paths(_named(self.live(state), names))
        for before, state in roots.followers:
            is_next = has_same_manifests(self.store.manifests, before, state)
            new = self.delta(state).of_kind(FileKind.ADD) if is_next else self.live(state)
            data |= self.paths(_named(new, names))
        for state in (*roots.states, *_distinct([state for _, state in roots.followers])):
            data |= self.index(state)
            metadata |= self.state_metadata(state)
        for log in roots.logs:
            data |= self.paths(_named(self.changelog(log), names))
            metadata |= self.changelog_metadata(log)
        for leftover in roots.leftovers:
            found = self._existing(leftover, names)
            data |= found.data
            metadata |= found.metadata
        for log in roots.delta_logs:
            with suppress(MissingFileError):  # the table had a changelog producer at that time
                data |= self.paths(_named(self.added_rows(log), names))
                metadata |= self.delta_metadata(log)
        return FileSet(data=frozenset(data), metadata=frozenset(metadata))

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


def _named(entries: ManifestEntries, names: frozenset[str] | None) -> ManifestEntries:
    if names is None:
        return entries
    value_set = pa.array(sorted(names), pa.string())
    mask: Chunks = pc.is_in(entries.column("file_name"), value_set=value_set)  # type: ignore[assignment]  # in stubs
    return entries.filter(mask)
