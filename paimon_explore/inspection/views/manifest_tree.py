"""The metadata files of a snapshot as a tree: manifest lists, manifests, entries, index files.

The key of a node is `base`, `delta`, `changelog`, `index`, `statistics` or `schema`, followed by
the index of the manifest in its list and of the entry in its manifest, such as `delta/0/12`.
Children are read on demand. A file that cannot be read becomes a node with a problem; its siblings
are not affected.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from enum import Enum

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.column_bounds import partition_bounds
from paimon_explore.inspection.history.file_history import (
    SLIM_COLUMNS,
    identity_codes,
    partition_type,
)
from paimon_explore.inspection.history.timeline import Timeline
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import Cell, Entry, Report, Section, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot

PAGE = 100
"""Maximum number of children per page."""

_KEY = re.compile(
    r"|(?P<list>base|delta|changelog)(?:/(?P<manifest>\d{1,9})(?:/(?P<entry>\d{1,9}))?)?"
    r"|index(?:/(?P<file>\d{1,9}))?|statistics|schema"
)


class ListKind(Enum):
    """The manifest lists of a snapshot."""

    BASE = "base"
    DELTA = "delta"
    CHANGELOG = "changelog"

    def file_of(self, snapshot: Snapshot) -> str | None:
        """The name of the manifest list in a snapshot; None if it has none."""
        names = {
            ListKind.BASE: snapshot.base_manifest_list,
            ListKind.DELTA: snapshot.delta_manifest_list,
            ListKind.CHANGELOG: snapshot.changelog_manifest_list,
        }
        return names[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKey:
    """The parsed key of a tree node.

    Attributes:
        text: the key.
        list: the manifest list that is or contains the node.
        manifest: index of the manifest in its list.
        entry: index of the entry in its manifest.
        file: index of the index file in the index manifest.
    """

    text: str
    list: ListKind | None = None
    manifest: int | None = None
    entry: int | None = None
    file: int | None = None


def parse_key(text: str) -> NodeKey:
    """Parse the key of a tree node.

    Raises:
        InvalidInputError: the key is invalid.

    >>> parse_key("delta/0/12").entry
    12
    """
    found = _KEY.fullmatch(text)
    if found is None:
        raise InvalidInputError(
            f"{text[:60]!r} is not the key of a tree node.",
            hint="Keys are, for example, base (a manifest list), delta/0 (a manifest), "
            "delta/0/12 (an entry).",
        )
    kind = found.group("list")
    numbers = {n: found.group(n) for n in ("manifest", "entry", "file")}
    return NodeKey(
        text=text,
        list=None if kind is None else ListKind(kind),
        **{name: None if digits is None else int(digits) for name, digits in numbers.items()},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeNode:
    """A node of the manifest tree; texts are not escaped.

    Attributes:
        key: the node key.
        type: list, manifest, entry, index, index-file, statistics or schema.
        label: file name or kind of node.
        range: partitions, buckets and levels it covers.
        count: number of children.
        size: size in bytes.
        added: number of ADD entries.
        deleted: number of DELETE entries.
        kind: ADD or DELETE, for entries.
        cancelled: whether an ADD and a DELETE entry of the snapshot cancel each other.
        shared: the adjacent snapshots that use the same file.
        expandable: whether it has children.
        problem: the error message if it cannot be read.
    """

    key: str
    type: str
    label: str
    range: str = ""
    count: int | None = None
    size: int | None = None
    added: int | None = None
    deleted: int | None = None
    kind: str = ""
    cancelled: bool = False
    shared: str = ""
    expandable: bool = False
    problem: str = ""

    def state(self) -> dict[str, object]:
        """The node as JSON without empty members."""
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        return {n: v for n, v in members.items() if v is not None and v != "" and v is not False}


_NODES = schema_from_text(
    "key string, type string, label string, range string, count int64, size int64, added int64, "
    "deleted int64, kind string, cancelled bool, shared string, problem string"
)
_MAX_BARS = 60


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Children(Result):
    """A page of the children of a node.

    Attributes:
        nodes: in file order.
        total: number of children on all pages.
        title: description of the parent node.
    """

    nodes: tuple[TreeNode, ...]
    total: int
    title: str = "manifest tree"
    kind = "tree"

    def __len__(self) -> int:
        """The number of nodes of the page."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[TreeNode]:
        """The nodes of the page."""
        return iter(self.nodes)

    def page(self) -> dict[str, object]:
        """The page as JSON for the explorer."""
        return {"nodes": [node.state() for node in self.nodes], "total": self.total}

    def figures(self) -> dict[str, object]:
        """The nodes as JSON."""
        return self.page()

    def to_arrow(self) -> pa.Table:
        """The nodes, one row per node."""
        rows = [{name: getattr(node, name) for name in _NODES.names} for node in self.nodes]
        return pa.Table.from_pylist(rows, schema=_NODES)

    def to_report(self) -> Report:
        """A chart of ADD and DELETE entries, and a table of the nodes."""
        sections: list[Section] = []
        counted = [node for node in self.nodes if node.added is not None][:_MAX_BARS]
        if counted:
            added = tuple(node.added or 0 for node in counted)
            deleted = tuple(-(node.deleted or 0) for node in counted)
            chart = BarChart(
                title="ADD and DELETE entries",
                categories=tuple(node.label for node in counted),
                series=(
                    Series(name="ADD", values=added, tone=Tone.ADD),
                    Series(name="DELETE", values=deleted, tone=Tone.REMOVE),
                ),
            )
            sections.append(chart)
        heads = ("node", "type", "name", "range", "entries", "size#", "note")
        rows = [_node_cells(node) for node in self.nodes]
        sections.append(grid("Metadata files and entries", heads, rows, total=self.total))
        return Report(title=self.title, sections=tuple(sections))


def _node_cells(node: TreeNode) -> list[Entry]:
    entries = "" if node.added is None else f"{node.added:,} ADD, {node.deleted or 0:,} DELETE"
    note = node.problem or (
        "cancelled by another manifest entry" if node.cancelled else node.shared
    )
    return [
        node.key,
        f"{node.kind} {node.type}".strip(),
        node.label,
        node.range,
        entries or node.count,
        None if node.size is None else bytes_text(node.size),
        Cell(text=note, tone=Tone.REMOVE if node.problem else Tone.MUTED),
    ]


class ManifestTree:
    """The manifest trees of all snapshots of a timeline."""

    def __init__(self, view: TableView, timeline: Timeline) -> None:
        self._view = view
        self._timeline = timeline

    def children(self, snapshot_id: int, key: str = "", offset: int = 0) -> Children:
        """A page of at most `PAGE` children of a node.

        Raises:
            InvalidInputError: the key does not exist.
            NotFoundError: the snapshot does not exist.
            PaimonError: the file of the node cannot be read.
        """
        node = parse_key(key)
        snapshot = self._timeline.snapshot(snapshot_id)
        if not key:
            nodes = tuple(self._roots(snapshot))
            return Children(nodes=nodes, total=len(nodes))
        if node.manifest is not None and node.entry is None:
            return self._entries(snapshot, node, offset)
        if node.list is not None and node.manifest is None:
            return self._manifests(snapshot, node.list, offset)
        if key == "index":
            return self._index_files(snapshot, offset)
        return Children(nodes=(), total=0)

    def manifests(self, snapshot: Snapshot, kind: ListKind) -> ManifestFiles:
        """The manifests of one manifest list of a snapshot.

        Raises:
            PaimonError: the list cannot be read.
        """
        manifests = self._view.store.manifests
        match kind:
            case ListKind.BASE:
                return manifests.base(snapshot)
            case ListKind.DELTA:
                return manifests.delta(snapshot)
            case ListKind.CHANGELOG:
                return manifests.changelog(snapshot)

    def manifest_row(self, snapshot: Snapshot, node: NodeKey) -> dict[str, object]:
        """The row of a manifest in its manifest list.

        Raises:
            InvalidInputError: the manifest does not exist.
            PaimonError: the list cannot be read.
        """
        kind = node.list or ListKind.BASE
        files = self.manifests(snapshot, kind)
        if node.manifest is None or node.manifest >= len(files):
            message = (
                f"Manifest {node.text!r} does not exist; the {kind.value} manifest list has "
                f"{plural(len(files), 'manifest')}."
            )
            first = f"{ListKind.DELTA.value}/0"
            hint = f"The manifests of a first commit are in the delta list: {first}."
            raise InvalidInputError(message, hint="" if len(files) else hint)
        return dict(next(iter(files.slice(node.manifest, 1).rows())))

    def entries(self, snapshot: Snapshot, node: NodeKey) -> ManifestEntries:
        """The entries of a manifest.

        Raises:
            InvalidInputError: the manifest does not exist.
            PaimonError: the manifest or its list cannot be read.
        """
        return self._view.store.manifests.read(str(self.manifest_row(snapshot, node)["file_name"]))

    def holders(self, snapshot_id: int, name: str) -> tuple[int, int]:
        """The first and last snapshot that use a manifest of a given snapshot.

        A manifest is used from the snapshot that wrote it until it is merged, so its snapshots are
        consecutive; the ends are found by exponential search.
        """
        at = self._timeline.position_of(snapshot_id)
        first = self._last_use(at, -1, name)
        last = self._last_use(at, 1, name)
        return self._timeline.marks[first].snapshot_id, self._timeline.marks[last].snapshot_id

    def _last_use(self, at: int, sign: int, name: str) -> int:
        inside, step = at, 1
        outside = -1 if sign < 0 else len(self._timeline)
        while 0 <= (probe := at + sign * step) < len(self._timeline):
            if name not in self._names_at(probe):
                outside = probe
                break
            inside, step = probe, step * 2
        while abs(outside - inside) > 1:
            middle = (outside + inside) // 2
            if name in self._names_at(middle):
                inside = middle
            else:
                outside = middle
        return inside

    def _names_at(self, position: int) -> set[str]:
        """The manifest names of the base and delta list; empty if they cannot be read."""
        snapshot = self._timeline.marks[position].snapshot
        if snapshot is None:
            return set()
        try:
            return set(self._view.store.manifests.all(snapshot).names)
        except PaimonError:
            return set()

    def _roots(self, snapshot: Snapshot) -> Iterator[TreeNode]:
        yield self._list_node(snapshot, ListKind.BASE, snapshot.base_manifest_list_size)
        yield self._list_node(snapshot, ListKind.DELTA, snapshot.delta_manifest_list_size)
        if snapshot.changelog_manifest_list is not None:
            size = snapshot.changelog_manifest_list_size
            yield self._list_node(snapshot, ListKind.CHANGELOG, size)
        if snapshot.index_manifest is not None:
            shared = self._same(snapshot, lambda other: other.index_manifest)
            yield self._index_node(snapshot, shared)
        if snapshot.statistics is not None:
            shared = self._same(snapshot, lambda other: other.statistics)
            yield TreeNode(key="statistics", type="statistics", label="statistics", shared=shared)
        yield TreeNode(key="schema", type="schema", label=f"schema {snapshot.schema_id}")

    def _list_node(self, snapshot: Snapshot, kind: ListKind, size: int | None) -> TreeNode:
        node = TreeNode(key=kind.value, type="list", label=f"{kind.value} manifest list")
        try:
            files = self.manifests(snapshot, kind)
        except PaimonError as error:
            return replace(node, problem=error.message)
        added, deleted = (files.total(f"num_{what}_files") for what in ("added", "deleted"))
        return replace(
            node, count=len(files), size=size, added=added, deleted=deleted, expandable=True
        )

    def _index_node(self, snapshot: Snapshot, shared: str) -> TreeNode:
        node = TreeNode(key="index", type="index", label="index manifest")
        try:
            files = self._view.store.manifests.index_of(snapshot)
        except PaimonError as error:
            return replace(node, problem=error.message)
        return replace(node, count=len(files), shared=shared, expandable=True)

    def _same(self, snapshot: Snapshot, name_of: Callable[[Snapshot], str | None]) -> str:
        """The adjacent snapshots that reference the same file."""
        at = self._timeline.position_of(snapshot.id)
        marks = self._timeline.marks
        near = [m.snapshot for m in marks[max(at - 1, 0) : at + 2] if m.snapshot is not None]
        same = [s.id for s in near if s.id != snapshot.id and name_of(s) == name_of(snapshot)]
        return _also_in(same)

    def _manifests(self, snapshot: Snapshot, kind: ListKind, offset: int) -> Children:
        files = self.manifests(snapshot, kind)
        at = self._timeline.position_of(snapshot.id)
        marks = self._timeline.marks
        near = {
            marks[p].snapshot_id: self._names_at(p) for p in (at - 1, at + 1) if 0 <= p < len(marks)
        }
        nodes = tuple(
            self._manifest_node(f"{kind.value}/{offset + i}", row, near)
            for i, row in enumerate(files.slice(offset, PAGE).rows())
        )
        return Children(nodes=nodes, total=len(files))

    def _manifest_node(
        self, key: str, row: dict[str, object], near: dict[int, set[str]]
    ) -> TreeNode:
        name = str(row["file_name"])
        return TreeNode(
            key=key,
            type="manifest",
            label=name,
            range=range_text(row, self._view.schema),
            size=whole_number(row["file_size"]),
            added=whole_number(row["num_added_files"]),
            deleted=whole_number(row["num_deleted_files"]),
            shared=_also_in([i for i, names in near.items() if name in names]),
            expandable=True,
        )

    def _entries(self, snapshot: Snapshot, node: NodeKey, offset: int) -> Children:
        entries = self.entries(snapshot, node)
        page = entries.slice(offset, PAGE)
        partitions = partition_texts(page.table, partition_type(self._view))
        cancelled = self._cancelled(snapshot, node, page)
        nodes = tuple(
            TreeNode(
                key=f"{node.text}/{offset + i}",
                type="entry",
                label=str(row["file_name"]),
                range=f"{partitions[i]} bucket {row['bucket']} level {row['level']}".lstrip(),
                count=whole_number(row["row_count"]),
                size=whole_number(row["file_size"]),
                kind=FileKind(whole_number(row["kind"])).name,
                cancelled=bool(cancelled[i]),
            )
            for i, row in enumerate(page.rows())
        )
        return Children(nodes=nodes, total=len(entries))

    def _cancelled(
        self, snapshot: Snapshot, node: NodeKey, page: ManifestEntries
    ) -> Sequence[bool]:
        """Whether each entry of a page is cancelled by, or cancels, another entry of the snapshot.

        Assumes that each DELETE entry has a matching ADD entry, as in every valid table.
        """
        adds = [row["kind"] == FileKind.ADD for row in page.rows()]
        if node.list is ListKind.CHANGELOG:
            return [False] * len(adds)
        manifests = self._view.store.manifests
        try:
            files = manifests.all(snapshot)
            names = [str(row["file_name"]) for row in files.rows() if row["num_deleted_files"]]
            deleted = manifests.read_many(names, SLIM_COLUMNS).of_kind(FileKind.DELETE).table
        except PaimonError:
            return [not add for add in adds]
        mine = page.table.select(SLIM_COLUMNS)
        codes = identity_codes(pa.concat_tables([mine, deleted.select(SLIM_COLUMNS)]))
        gone = np.isin(codes[: len(mine)], codes[len(mine) :])
        return [bool(gone[i]) or not add for i, add in enumerate(adds)]

    def _index_files(self, snapshot: Snapshot, offset: int) -> Children:
        files = self._view.store.manifests.index_of(snapshot)
        page = files.slice(offset, PAGE)
        texts = partition_texts(page.table, partition_type(self._view))
        nodes = tuple(
            TreeNode(
                key=f"index/{offset + i}",
                type="index-file",
                label=str(row["file_name"]),
                range=" ".join(
                    filter(None, (str(row["index_type"]), texts[i], f"bucket {row['bucket']}"))
                ),
                count=whole_number(row["row_count"]),
                size=whole_number(row["file_size"]),
            )
            for i, row in enumerate(page.rows())
        )
        return Children(nodes=nodes, total=len(files))

    def index_row(self, snapshot: Snapshot, node: NodeKey) -> dict[str, object]:
        """The row of an index file in the index manifest.

        Raises:
            InvalidInputError: the index file does not exist.
            PaimonError: the index manifest cannot be read.
        """
        files: IndexEntries = self._view.store.manifests.index_of(snapshot)
        if node.file is None or node.file >= len(files):
            raise InvalidInputError(
                f"The index manifest has no entry {node.text!r}; it has "
                f"{'1 entry' if len(files) == 1 else f'{len(files):,} entries'}."
            )
        return files.slice(node.file, 1).rows()[0]


def range_text(manifest: dict[str, object], schema: TableSchema | None) -> str:
    """The range of a manifest from its manifest list: partitions, else buckets and levels."""
    if schema is not None and schema.partition_keys:
        return " ".join(
            f"{b.column}={_span(b.minimum, b.maximum)}" for b in partition_bounds(manifest, schema)
        )
    parts = [
        f"{mark} {_span(manifest[low], manifest[high])}"
        for mark, low, high in (
            ("bucket", "min_bucket", "max_bucket"),
            ("level", "min_level", "max_level"),
        )
        if manifest[low] is not None
    ]
    return " ".join(parts)


def _span(low: object, high: object) -> str:
    if low is None:
        return "null"
    return str(low) if low == high else f"{low}…{high}"


def _also_in(ids: Sequence[int]) -> str:
    return f"also used by {' and '.join(f'snapshot {i}' for i in ids)}" if ids else ""


def whole_number(value: object) -> int:
    """The value of an integer column of a manifest table."""
    if not isinstance(value, int):
        raise TypeError(value)  # manifest tables have integers in this column
    return value
