"""Metadata of one table: its timeline, and the files and metadata of one snapshot.

Backs `Table.files`, `Table.inspect` and the explorer. Metadata is read on first use and cached;
`refreshed` returns an inspector with an empty cache.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import Bools
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import NotFoundError
from paimon_explore.inspection.history.file_history import (
    FileHistory,
    FileLifetimes,
    files_now,
    partition_type,
)
from paimon_explore.inspection.history.timeline import Timeline, read_timeline
from paimon_explore.inspection.rendering.code_snippet import (
    Code,
    call_code,
    point_code,
    point_options,
)
from paimon_explore.inspection.rendering.number_format import at_snapshot
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import FilesView, files_view, matching_files
from paimon_explore.inspection.views.manifest_tree import Children, ManifestTree
from paimon_explore.inspection.views.node_detail import Document, NodeDetails
from paimon_explore.inspection.views.partitions_view import PartitionsView
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.plan import ScanTarget

_FEW_SNAPSHOTS = 256
"""Maximum number of snapshots whose manifests are read to find which one added a file."""
MAX_FOUND = 20
"""Maximum number of files, and of columns, that a search returns."""


class Inspector:
    """Inspects the metadata of a table at one snapshot; reads no rows.

    Args:
        view: the table.
        snapshot_id: the snapshot; None for the latest.

    Attributes:
        history: the reader of the file history.
        keys: the trimmed primary key; no fields for append tables.
    """

    def __init__(self, view: TableView, snapshot_id: int | None = None) -> None:
        self.view = view
        self._timeline = read_timeline(view)
        newest = self._timeline.marks[-1].snapshot_id if len(self._timeline) else 0
        self.snapshot_id = newest if snapshot_id is None else snapshot_id
        self._tree = ManifestTree(view, self._timeline)
        self._details = NodeDetails(view, self._timeline, self._tree)
        self.history = FileHistory(view, self._timeline)
        self.keys = view.keys
        self._lifetimes: FileLifetimes | None = None
        self._current: dict[int, FileLifetimes] = {}

    def __repr__(self) -> str:
        """The table name and snapshot id."""
        return sanitized(f"Inspector({self.view.name!r}, snapshot {self.snapshot_id})")

    def at(self, snapshot_id: int) -> "Inspector":
        """An inspector of another snapshot of the same timeline; shares the cache."""
        other = object.__new__(Inspector)
        other.__dict__.update(self.__dict__)
        other.snapshot_id = snapshot_id
        return other

    def timeline(self) -> Timeline:
        """All snapshots, with the tags, branches, consumers and hints that reference them."""
        return self._timeline

    def lifetimes(self) -> FileLifetimes:
        """The files of all snapshots with their lifetimes; reads all delta manifests once."""
        if self._lifetimes is None:
            self._lifetimes = self.history.lifetimes()
        return self._lifetimes

    def current_files(self) -> FileLifetimes:
        """The live files of the snapshot without their history; the latest result is cached.

        Raises:
            NotFoundError: the snapshot does not exist.
            PaimonError: a manifest cannot be read.
        """
        found = self._current.get(self.snapshot_id)
        if found is None:
            found = files_now(self.view, self._timeline, self.snapshot_id)
            self._current.clear()
            self._current[self.snapshot_id] = found
        return found

    def known_files(self) -> FileLifetimes | None:
        """Files that have been read, if those of the snapshot are among them; reads nothing."""
        if not self.snapshot_id:
            return None
        position = self._timeline.position_of(self.snapshot_id)
        for known in (self._lifetimes, self._current.get(self.snapshot_id)):
            if known is not None and known.knows(position):
                return known
        return None

    def files(self, where: str = "") -> FilesView:
        """The live data files of the snapshot.

        Args:
            where: a condition on partition columns, bucket, level, rows, size, schema, created,
                added, removed and file, such as `dt = 'd1' and level = 0 and size < 1 MB`.

        Raises:
            InvalidInputError: the condition is invalid.
            NotFoundError: the snapshot does not exist.
            PaimonError: a manifest cannot be read.
        """
        position = self._timeline.position_of(self.snapshot_id) if self.snapshot_id else 0
        lifetimes = self.lifetimes() if len(self._timeline) <= _FEW_SNAPSHOTS else self._lifetimes
        if lifetimes is None or (self.snapshot_id and not lifetimes.knows(position)):
            lifetimes = files_now(self.view, self._timeline, self.snapshot_id)
        rows = lifetimes.live_at(position)
        passes = matching_files(lifetimes, self._timeline, partition_type(self.view), where)
        title = at_snapshot(self.view.name, self.snapshot_id)
        found = files_view(lifetimes, self._timeline, rows[passes[rows]], self.keys, title)
        code = Code(python=call_code(f"{self.code}.files", where=where or None))
        return replace(found, code=code)

    def partitions(self, where: str = "") -> pa.Table:
        """One row per partition of live files: partition, files, level_0, buckets, rows, bytes."""
        files = self.files(where).table
        level_0 = pc.equal(files.column("level"), pa.scalar(0, pa.int32())).cast(pa.int64())
        sums = (
            files.append_column("level_0", level_0)
            .group_by("partition", use_threads=False)
            .aggregate(
                [
                    ([], "count_all"),
                    ("level_0", "sum"),
                    ("bucket", "count_distinct"),
                    ("row_count", "sum"),
                    ("file_size", "sum"),
                ]
            )
        )
        return sums.rename_columns(["partition", "files", "level_0", "buckets", "rows", "bytes"])

    def partitions_view(self, where: str = "") -> PartitionsView:
        """`partitions` as a result that can be rendered."""
        return PartitionsView(
            name=at_snapshot(self.view.name, self.snapshot_id),
            table=self.partitions(where),
            code=Code(python=call_code(f"{self.code}.partitions", where=where or None)),
        )

    def tree(self, key: str = "", offset: int = 0) -> Children:
        """The children of a node of the manifest tree.

        Raises:
            InvalidInputError: the key is invalid.
            PaimonError: the node cannot be read.
        """
        found = self._tree.children(self.snapshot_id, key, offset)
        return replace(
            found,
            title=f"{self.view.name} at snapshot {self.snapshot_id}, {key or 'manifest lists'}",
            code=Code(python=call_code(f"{self.code}.inspect.tree", *([key] if key else []))),
        )

    def node(self, key: str = "") -> Document:
        """The details of a node of the manifest tree; of the snapshot for an empty key.

        Raises:
            InvalidInputError: the key is invalid.
            PaimonError: the node cannot be read.
        """
        found = self._details.of_node(self.snapshot_id, key)
        code = Code(python=call_code(f"{self.code}.inspect.node", *([key] if key else [])))
        return replace(found, code=code)

    def schema(self, schema_id: int) -> Document:
        """The details of one schema version.

        Raises:
            NotFoundError: the version does not exist.
            PaimonError: it cannot be read.
        """
        return self._details.of_schema(schema_id)

    def file(self, name: str) -> Document:
        """The details of a data file, live or not, with decoded statistics.

        A file that was moved to another level is described at its level in the snapshot.

        Raises:
            NotFoundError: no snapshot of the timeline contains the file.
        """
        lifetimes = self.lifetimes()
        same = pc.equal(lifetimes.files.column("file_name"), pa.scalar(name))
        rows = np.flatnonzero(same.to_numpy())
        if not len(rows):
            raise NotFoundError("data file", name, self.view.location)
        at = self._timeline.position_of(self.snapshot_id) + 1 if self.snapshot_id else 0
        live = rows[(lifetimes.added[rows] <= at) & (lifetimes.removed[rows] > at)]
        last = rows[np.argmax(lifetimes.removed[rows])]
        return self.file_of(lifetimes, int(live[0]) if len(live) else int(last))

    def file_of(self, lifetimes: FileLifetimes, row: int) -> Document:
        """The details of the file at one row of `lifetimes`."""
        manifest = lifetimes.files.column("manifest")[row].as_py()
        entry = lifetimes.files.column("entry")[row].as_py()
        marks = self._timeline.marks
        added, removed = int(lifetimes.added[row]), int(lifetimes.removed[row])
        found = self._details.of_file(
            str(manifest),
            int(entry),
            added=marks[added - 1].snapshot_id if added else None,
            removed=marks[removed - 1].snapshot_id if removed <= len(marks) else None,
        )
        code = Code(python=call_code(f"{self.code}.inspect.file", found.title))
        return replace(found, code=code)

    @property
    def snapshot(self) -> Snapshot | None:
        """The inspected snapshot; None for a table without snapshots.

        Raises:
            NotFoundError: its file cannot be read.
        """
        return self._timeline.snapshot(self.snapshot_id) if self.snapshot_id else None

    @property
    def target(self) -> ScanTarget:
        """What a read of the snapshot reads: the latest one with the latest schema.

        Raises:
            NotFoundError: the file of the snapshot cannot be read.
            PaimonError: the schema cannot be read.
        """
        return self.view.target(self.snapshot, travelled=not self.is_newest)

    def point(self, given: int | str | datetime | None) -> Snapshot | None:
        """Resolve a snapshot given by id, tag name or time.

        Args:
            given: None for the inspected snapshot, 0 for the state before the first one.

        Raises:
            NotFoundError: the snapshot does not exist.
            InvalidInputError: the text is not an id, a tag or a time.
        """
        match given:
            case None:
                return self.snapshot
            case datetime():
                return self._timeline.snapshot(self._timeline.resolve(given.isoformat()))
            case str() if given.strip() != "0":
                return self._timeline.snapshot(self._timeline.resolve(given))
            case _:
                number = int(given)
                return self._timeline.snapshot(number) if number else None

    def before(self, snapshot: Snapshot | None) -> Snapshot | None:
        """The previous snapshot in the timeline; None for the first."""
        if snapshot is None:
            return None
        earlier = self._timeline.marks[: self._timeline.position_of(snapshot.id)]
        return next((mark.snapshot for mark in reversed(earlier) if mark.snapshot), None)

    @property
    def code(self) -> str:
        """Python code of the table at the snapshot."""
        expression = self.view.expression
        if self.is_newest:
            return expression
        return point_code(expression, self.snapshot_id, self._timeline.only_tag(self.snapshot_id))

    @property
    def point_options(self) -> dict[str, object]:
        """The options of a PySpark read of the snapshot; none for the latest one."""
        if self.is_newest:
            return {}
        return point_options(self.snapshot_id, self._timeline.only_tag(self.snapshot_id))

    @property
    def is_newest(self) -> bool:
        """Whether the snapshot is the latest one, or the table has none."""
        marks = self._timeline.marks
        return not marks or marks[-1].snapshot_id == self.snapshot_id

    def mask(self, lifetimes: FileLifetimes, where: str) -> Bools:
        """The mask of the files that match a condition, n booleans.

        Raises:
            InvalidInputError: the condition is invalid.
        """
        return matching_files(lifetimes, self._timeline, partition_type(self.view), where)


def search_names(inspector: Inspector, text: str) -> dict[str, object]:
    """The live files and the columns of the snapshot whose names contain a text, as JSON.

    Case is ignored. Reads the manifests of the snapshot if they are not known.

    Raises:
        NotFoundError: the snapshot does not exist.
        PaimonError: a manifest or the schema cannot be read.
    """
    fields = inspector.target.schema.row_type.fields
    columns = [one for one in fields if text.casefold() in one.name.casefold()]
    files: list[object] = []
    if inspector.snapshot_id:
        names: Any = inspector.current_files().files.column("file_name")
        matches = pc.match_substring(names, text, ignore_case=True)
        files = names.filter(matches).slice(0, MAX_FOUND).to_pylist()
    return {
        "files": files,
        "columns": [[one.name, type_text(one.type)] for one in columns[:MAX_FOUND]],
    }
