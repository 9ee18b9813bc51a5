"""A snapshot's metadata files as a tree: lists, manifests, entries, index files.

Nodes have keys below their snapshot: `base`, `delta`, `changelog`, `index`, `statistics`, `schema`,
then the number of the manifest in its list and the number of the entry in its manifest, such as
`delta/0/12`. Children are read when they are asked for; a file that cannot be read is a node with a
problem, and its siblings are not affected.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from enum import Enum

import numpy as np
import pyarrow as pa

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
from paimon_explore.inspection.rendering.partition_text import partition_texts
from paimon_explore.inspection.rendering.report import Cell, Entry, Section, Sheet, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import FileKind, ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot

PAGE = 100
"""Children that one answer holds at most."""

_KEY = re.compile(
    r"|(?P<list>base|delta|changelog)(?:/(?P<manifest>\d{1,9})(?:/(?P<entry>\d{1,9}))?)?"
    r"|index(?:/(?P<file>\d{1,9}))?|statistics|schema"
)


class ListKind(Enum):
    """Which manifest list of a snapshot."""

    BASE = "base"
    DELTA = "delta"
    CHANGELOG = "changelog"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKey:
    """The parsed key of a node.

    Attributes:
        text: the key.
        list: the manifest list, if the node is one or lies below one.
        manifest: number of the manifest in its list.
        entry: number of the entry in its manifest.
        file: number of the index file in its manifest.
    """

    text: str
    list: ListKind | None = None
    manifest: int | None = None
    entry: int | None = None
    file: int | None = None


def parse_key(text: str) -> NodeKey:
    """The parts of a key.

    Raises:
        InvalidInputError: no node can have that key.

    >>> parse_key("delta/0/12").entry
    12
    """
    found = _KEY.fullmatch(text)
    if found is None:
        raise InvalidInputError(
            f"{text[:60]!r} is not the key of a tree node.", hint="Try delta/0."
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
    """One line of the tree; texts are as stored, not escaped.

    Attributes:
        key: its key.
        type: list, manifest, entry, index, index-file, statistics or schema.
        label: file name or what it is.
        range: partitions, bucket and level inside.
        count: how many things are inside.
        size: bytes.
        added: ADD entries inside.
        deleted: DELETE entries inside.
        kind: of an entry, ADD or DELETE.
        cancelled: whether another entry of the snapshot takes this one back.
        shared: which neighbouring snapshots use the same file.
        expandable: whether it has children.
        problem: why it cannot be read.
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
        """The node as JSON; what is empty has no key."""
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        return {n: v for n, v in members.items() if v is not None and v != "" and v is not False}


_NODES = pa.schema(
    (
        pa.field("key", pa.string()),
        pa.field("type", pa.string()),
        pa.field("label", pa.string()),
        pa.field("range", pa.string()),
        pa.field("count", pa.int64()),
        pa.field("size", pa.int64()),
        pa.field("added", pa.int64()),
        pa.field("deleted", pa.int64()),
        pa.field("kind", pa.string()),
        pa.field("cancelled", pa.bool_()),
        pa.field("shared", pa.string()),
        pa.field("problem", pa.string()),
    )
)
_MOST_BARS = 60


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Children(Result):
    """A page of a node's children.

    Attributes:
        nodes: in the order of the file.
        total: how many there are.
        title: whose they are.
    """

    nodes: tuple[TreeNode, ...]
    total: int
    title: str = "manifest tree"

    @property
    def kind(self) -> str:
        """Its name."""
        return "tree"

    def __len__(self) -> int:
        """The number of nodes of the page."""
        return len(self.nodes)

    def __iter__(self) -> Iterator[TreeNode]:
        """The nodes of the page."""
        return iter(self.nodes)

    def page(self) -> dict[str, object]:
        """The page as the explorer's tree gets it."""
        return {"nodes": [node.state() for node in self.nodes], "total": self.total}

    def figures(self) -> dict[str, object]:
        """The nodes."""
        return self.page()

    def to_arrow(self) -> pa.Table:
        """The nodes, a row each."""
        rows = [{name: getattr(node, name) for name in _NODES.names} for node in self.nodes]
        return pa.Table.from_pylist(rows, schema=_NODES)

    def sheet(self) -> Sheet:
        """Entries added and deleted by node, and a row for each."""
        sections: list[Section] = []
        counted = [node for node in self.nodes if node.added is not None][:_MOST_BARS]
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
        heads = ("key", "what", "name", "holds", "entries", "size#", "")
        rows = [_node_cells(node) for node in self.nodes]
        sections.append(grid("Nodes", heads, rows, total=self.total))
        return Sheet(title=self.title, sections=tuple(sections))


def _node_cells(node: TreeNode) -> list[Entry]:
    entries = "" if node.added is None else f"+{node.added:,} -{node.deleted or 0:,}"
    said = node.problem or ("cancelled" if node.cancelled else node.shared)
    return [
        node.key,
        f"{node.kind} {node.type}".strip(),
        node.label,
        node.range,
        entries or node.count,
        None if node.size is None else bytes_text(node.size),
        Cell(text=said, tone=Tone.REMOVE if node.problem else Tone.MUTED),
    ]


class ManifestTree:
    """The trees of all snapshots of a timeline."""

    def __init__(self, view: TableView, timeline: Timeline) -> None:
        self._view = view
        self._timeline = timeline

    def children(self, snapshot_id: int, key: str = "", offset: int = 0) -> Children:
        """A page of children of a node, at most `PAGE`.

        Raises:
            InvalidInputError: no such key.
            NotFoundError: no such snapshot.
            PaimonError: the node's file cannot be read.
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
        """The manifests of one list of a snapshot.

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
        """What the list says of the manifest of a node.

        Raises:
            InvalidInputError: the list has no such manifest.
            PaimonError: the list cannot be read.
        """
        kind = node.list or ListKind.BASE
        files = self.manifests(snapshot, kind)
        if node.manifest is None or node.manifest >= len(files):
            message = (
                f"There is no manifest {node.text!r}: the {kind.value} list has "
                f"{plural(len(files), 'manifest')}."
            )
            raise InvalidInputError(message)
        return dict(next(iter(files.slice(node.manifest, 1).rows())))

    def entries(self, snapshot: Snapshot, node: NodeKey) -> ManifestEntries:
        """All entries of the manifest of a node.

        Raises:
            InvalidInputError: there is no such manifest.
            PaimonError: the manifest or its list cannot be read.
        """
        return self._view.store.manifests.read(str(self.manifest_row(snapshot, node)["file_name"]))

    def holders(self, snapshot_id: int, name: str) -> tuple[int, int]:
        """First and last snapshot around one that use a manifest.

        A manifest enters with the snapshot that wrote it and leaves with a merge, so its snapshots
        follow each other; the ends are found by looking further and further away.
        """
        at = self._timeline.position_of(snapshot_id)
        first = self._furthest(at, -1, name)
        last = self._furthest(at, 1, name)
        return self._timeline.marks[first].snapshot_id, self._timeline.marks[last].snapshot_id

    def _furthest(self, at: int, sign: int, name: str) -> int:
        inside, step = at, 1
        outside = None
        while outside is None:
            probe = at + sign * step
            if not 0 <= probe < len(self._timeline):
                outside = -1 if sign < 0 else len(self._timeline)
            elif self._uses(probe, name):
                inside, step = probe, step * 2
            else:
                outside = probe
        while abs(outside - inside) > 1:
            middle = (outside + inside) // 2
            if self._uses(middle, name):
                inside = middle
            else:
                outside = middle
        return inside

    def _uses(self, position: int, name: str) -> bool:
        return name in self._names_at(position)

    def _names_at(self, position: int) -> set[str]:
        """Manifests of base and delta list of a mark; none where they cannot be read."""
        if not 0 <= position < len(self._timeline):
            return set()
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
        label = f"{kind.value} list"
        try:
            files = self.manifests(snapshot, kind)
        except PaimonError as error:
            return TreeNode(key=kind.value, type="list", label=label, problem=error.message)
        return TreeNode(
            key=kind.value,
            type="list",
            label=label,
            count=len(files),
            size=size,
            added=_sum(files, "num_added_files"),
            deleted=_sum(files, "num_deleted_files"),
            expandable=True,
        )

    def _index_node(self, snapshot: Snapshot, shared: str) -> TreeNode:
        try:
            files = self._view.store.manifests.index_of(snapshot)
        except PaimonError as error:
            return TreeNode(
                key="index", type="index", label="index manifest", problem=error.message
            )
        return TreeNode(
            key="index",
            type="index",
            label="index manifest",
            count=len(files),
            shared=shared,
            expandable=True,
        )

    def _same(self, snapshot: Snapshot, name_of: Callable[[Snapshot], str | None]) -> str:
        """Which neighbouring snapshots name the same file."""
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
            size=_whole(row["file_size"]),
            added=_whole(row["num_added_files"]),
            deleted=_whole(row["num_deleted_files"]),
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
                range=" ".join(
                    t for t in (partitions[i], f"b{row['bucket']}", f"L{row['level']}") if t
                ),
                count=_whole(row["row_count"]),
                size=_whole(row["file_size"]),
                kind=FileKind(_whole(row["kind"])).name,
                cancelled=bool(cancelled[i]),
            )
            for i, row in enumerate(page.rows())
        )
        return Children(nodes=nodes, total=len(entries))

    def _cancelled(
        self, snapshot: Snapshot, node: NodeKey, page: ManifestEntries
    ) -> Sequence[bool]:
        """Whether each entry of a page is taken back within the snapshot, or takes one back.

        A DELETE is taken for the counterpart of an ADD, as it always is in a sound table.
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
                    t for t in (str(row["index_type"]), texts[i], f"b{row['bucket']}") if t
                ),
                count=_whole(row["row_count"]),
                size=_whole(row["file_size"]),
            )
            for i, row in enumerate(page.rows())
        )
        return Children(nodes=nodes, total=len(files))

    def index_row(self, snapshot: Snapshot, node: NodeKey) -> dict[str, object]:
        """What the index manifest says of one index file.

        Raises:
            InvalidInputError: it has no such file.
            PaimonError: it cannot be read.
        """
        files: IndexEntries = self._view.store.manifests.index_of(snapshot)
        if node.file is None or node.file >= len(files):
            raise InvalidInputError(
                f"There is no index file {node.text!r}: the index manifest has "
                f"{plural(len(files), 'file')}."
            )
        return files.slice(node.file, 1).rows()[0]


def range_text(manifest: dict[str, object], schema: TableSchema | None) -> str:
    """What a manifest covers, as its list says: partitions, else buckets and levels."""
    if schema is not None and schema.partition_keys:
        return " ".join(
            f"{b.column}={_span(b.minimum, b.maximum)}" for b in partition_bounds(manifest, schema)
        )
    parts = [
        f"{mark}{_span(manifest[low], manifest[high])}"
        for mark, low, high in (
            ("b", "min_bucket", "max_bucket"),
            ("L", "min_level", "max_level"),
        )
        if manifest[low] is not None
    ]
    return " ".join(parts)


def _span(low: object, high: object) -> str:
    if low is None:
        return "null"
    return str(low) if low == high else f"{low}…{high}"


def _also_in(ids: Sequence[int]) -> str:
    return f"also in snapshot {' and '.join(map(str, ids))}" if ids else ""


def _sum(files: ManifestFiles, column: str) -> int:
    return sum(_whole(row[column]) for row in files.rows())


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(value)  # our own frames hold whole numbers there
    return value
