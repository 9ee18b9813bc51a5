"""Finds the metadata that references a file, in all branches."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.errors import PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import SLIM_COLUMNS, STEP
from paimon_explore.inspection.history.timeline import FlagKind, Timeline
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.metadata.table_paths import MAIN_BRANCH
from paimon_explore.scan.manifest_arrays import column
from paimon_explore.scan.splits.file_locations import data_file_paths, index_file_paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A range of snapshots of one branch that references a file.

    Attributes:
        type: kind of file.
        label: the kind, with the level of a data file.
        branch: the branch.
        holder: `snapshots` or `changelog`, the kind of metadata that references it.
        added: the snapshot that added it; None if it has expired.
        removed: the snapshot that removed it; None if the latest contains it.
        snapshots: ranges of existing snapshots that need it, first and last id.
        tags: tags that need it, with their snapshot ids.
        path: its path; empty if unknown.
    """

    type: str
    label: str
    branch: str
    holder: str = "snapshots"
    added: int | None
    removed: int | None
    snapshots: tuple[tuple[int, int], ...]
    tags: tuple[tuple[str, int], ...]
    path: str


def references(inspector: Inspector, name: str) -> list[Reference]:
    """All references to a file, those of the current branch first.

    Raises:
        PaimonError: a metadata file of the current branch cannot be read.
    """
    found = list(_in_branch(inspector, name))
    view = inspector.view
    for branch in [MAIN_BRANCH, *view.store.branches.names()]:
        if branch != view.branch:
            found += _of_other_branch(view, branch, name)
    return found


def _of_other_branch(view: TableView, branch: str, name: str) -> list[Reference]:
    store = view.store.for_branch(branch)
    try:
        other = Inspector(TableView(store=store, schema=store.schemas.latest(), name=view.name))
        return list(_in_branch(other, name))
    except PaimonError:
        return []  # a branch being created, or damaged; the health report shows damaged ones


def _in_branch(inspector: Inspector, name: str) -> Iterator[Reference]:
    found = list(_data_files(inspector, name))
    if not found:
        found = list(_metadata_files(inspector, name))
    yield from found
    yield from _changelogs(inspector, name)


def _data_files(inspector: Inspector, name: str) -> Iterator[Reference]:
    lifetimes, timeline, view = inspector.lifetimes(), inspector.timeline(), inspector.view
    names = lifetimes.files.column("file_name")
    rows = np.flatnonzero([one == name for one in names.to_pylist()])
    is_extra = not len(rows)
    if is_extra:  # indexes and references to BLOBs beside a data file
        extras = lifetimes.files.column("extra_files")
        rows = np.flatnonzero([name in (some or ()) for some in extras.to_pylist()])
    for row in sorted(rows.tolist(), key=lambda r: int(lifetimes.added[r])):
        added, removed = int(lifetimes.added[row]), int(lifetimes.removed[row])
        positions = range(max(added - 1, 0), min(removed - 1, len(timeline)))
        entries = view.store.manifests.read(str(lifetimes.files.column("manifest")[row].as_py()))
        entry = entries.slice(int(lifetimes.files.column("entry")[row].as_py()), 1)
        path = _data_path(view, entry)
        yield _reference(
            view,
            timeline,
            [p for p in positions if p not in lifetimes.unknown],
            type="extra file" if is_extra else "data file",
            label=f"level {lifetimes.files.column('level')[row].as_py()}",
            added=timeline.marks[added - 1].snapshot_id if added else None,
            removed=timeline.marks[removed - 1].snapshot_id if removed <= len(timeline) else None,
            path=f"{path.rpartition('/')[0]}/{name}" if is_extra else path,
        )


def _reference(
    view: TableView, timeline: Timeline, positions: Sequence[int], **members: str | int | None
) -> Reference:
    kept = [timeline.marks[p].snapshot_id for p in positions if not timeline.marks[p].expired]
    ids = {timeline.marks[p].snapshot_id for p in positions}
    tags = tuple(
        (flag.name, flag.snapshot_id)
        for flag in timeline.flags
        if flag.kind is FlagKind.TAG and flag.snapshot_id in ids
    )
    return Reference(
        branch=view.branch,
        snapshots=tuple(ranges(kept)),
        tags=tags,
        **members,  # type: ignore[arg-type]  # the other fields of Reference
    )


def ranges(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of consecutive ids.

    >>> list(ranges([1, 2, 3, 7]))
    [(1, 3), (7, 7)]
    """
    start = 0
    for i in range(1, len(ids) + 1):
        if i == len(ids) or ids[i] != ids[i - 1] + 1:
            yield ids[start], ids[i - 1]
            start = i


def _data_path(view: TableView, entry: ManifestEntries) -> str:
    if view.schema is None or not len(entry):
        return ""
    paths = as_python(data_file_paths(entry, view.schema, view.options, view.store.paths))
    return str(paths[0])


def _metadata_files(inspector: Inspector, name: str) -> Iterator[Reference]:
    """References to manifest lists, manifests, index manifests, index files and statistics."""
    view, timeline = inspector.view, inspector.timeline()
    kinds: dict[str, list[int]] = {}
    path = ""
    for position, mark in enumerate(timeline.marks):
        if mark.snapshot is None:
            continue
        kind = _kind_in(view, mark.snapshot, name)
        if kind:
            kinds.setdefault(kind, []).append(position)
            path = path or _metadata_path(view, mark.snapshot, kind, name)
    for kind, positions in kinds.items():
        first, last = positions[0], positions[-1]
        is_removed = last + 1 < len(timeline)
        own = kind.endswith("list")  # manifest lists are not shared between snapshots
        first_ever = timeline.marks[first].snapshot_id == 1
        yield _reference(
            view,
            timeline,
            positions,
            type=kind,
            label=kind,
            added=timeline.marks[first].snapshot_id if first or own or first_ever else None,
            removed=timeline.marks[last + 1].snapshot_id if is_removed else None,
            path=path,
        )


def _kind_in(view: TableView, snapshot: Snapshot, name: str) -> str:
    """The kind of file by its role in a snapshot; empty if the snapshot does not reference it."""
    own = {
        snapshot.base_manifest_list: "base manifest list",
        snapshot.delta_manifest_list: "delta manifest list",
        snapshot.changelog_manifest_list: "changelog manifest list",
        snapshot.index_manifest: "index manifest",
        snapshot.statistics: "statistics",
    }
    if name in own:
        return own[name]
    manifests = view.store.manifests
    try:
        if name in manifests.all(snapshot).names or name in manifests.changelog(snapshot).names:
            return "manifest"
        if snapshot.index_manifest is not None:
            files = as_python(column(manifests.index_of(snapshot).table, "file_name"))
            return "index file" if name in files else ""
    except PaimonError:
        return ""  # unreadable metadata of one snapshot must not hide references from others
    return ""


def _metadata_path(view: TableView, snapshot: Snapshot, kind: str, name: str) -> str:
    paths = view.store.paths
    if kind == "statistics":
        return paths.statistics(name)
    if kind != "index file":
        return paths.manifest(name)
    files = view.store.manifests.index_of(snapshot)
    if view.schema is None:
        return paths.index(name)
    places = as_python(index_file_paths(files, view.schema, view.options, paths))
    names = as_python(column(files.table, "file_name"))
    return str(dict(zip(names, places, strict=True))[name])


def _changelogs(inspector: Inspector, name: str) -> Iterator[Reference]:
    """References to changelog files by snapshots and long-lived changelogs."""
    view, timeline = inspector.view, inspector.timeline()
    snapshots = [m.snapshot for m in timeline.marks if m.snapshot is not None and not m.expired]
    for holder, roots in (("snapshots", snapshots), ("changelog", _long_lived(view))):
        ids: list[int] = []
        path = ""
        for number, root in enumerate(roots):
            if number % STEP == 0:
                _read_ahead(view, roots[number : number + STEP])
            entry = _changelog_entry(view, root, name)
            if entry is not None:
                ids.append(root.id)
                path = path or _data_path(view, entry)
        if ids:
            newest = timeline.marks[-1].snapshot_id if len(timeline) else ids[-1]
            yield Reference(
                type="changelog file",
                label="changelog file",
                branch=view.branch,
                holder=holder,
                added=ids[0],
                removed=ids[-1] + 1 if ids[-1] < newest else None,
                snapshots=tuple(ranges(ids)),
                tags=(),
                path=path,
            )


def _long_lived(view: TableView) -> list[Snapshot]:
    try:
        return view.store.changelogs.list()
    except PaimonError:
        return []


def _read_ahead(view: TableView, roots: Sequence[Snapshot]) -> None:
    """Read the changelogs of several commits together into the cache."""
    manifests = view.store.manifests
    names = [root.changelog_manifest_list for root in roots]
    with suppress(PaimonError):  # one that is unreadable is skipped where it is read
        lists = manifests.list_many([name for name in names if name is not None])
        manifests.read_many([name for files in lists for name in files.names], SLIM_COLUMNS)


def _changelog_entry(view: TableView, root: Snapshot, name: str) -> ManifestEntries | None:
    if root.changelog_manifest_list is None:
        return None
    manifests = view.store.manifests
    try:
        entries = manifests.read_many(manifests.changelog(root).names, SLIM_COLUMNS)
    except PaimonError:
        return None
    names = as_python(column(entries.table, "file_name"))
    places = [i for i, one in enumerate(names) if one == name]
    return entries.take(pa.array(places[:1], pa.int64())) if places else None
