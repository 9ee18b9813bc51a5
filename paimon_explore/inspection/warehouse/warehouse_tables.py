"""The tables, views and functions of a catalog with their figures, as a result.

The figures of one table in a list of tables; reads little of its metadata.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from functools import partial

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.fileio.concurrent_requests import at_once
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explorer.table_properties import table_chips
from paimon_explore.inspection.health.health_report import HealthBadge
from paimon_explore.inspection.history.file_history import live_slim
from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, time_text
from paimon_explore.inspection.rendering.report import Cell, Entry, Failed, Report, Section, grid
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.table_view import TableView
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import encodable
from paimon_explore.scan.manifest_arrays import numbers
from paimon_explore.store.table_store import TableStore

MAX_ENTRIES = 200_000
"""Maximum number of manifest entries that are read for the size of a table."""
RECENT_SNAPSHOTS = 20
"""Number of the latest snapshots whose commit users are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSummary:
    """The figures of a table at its latest snapshot.

    Attributes:
        snapshot: the latest snapshot; None for a table without snapshots.
        snapshots: number of snapshots.
        rows: rows of all data files before merging; None if the snapshot does not tell.
        files: number of data files.
        size: bytes of the data files; None if there are too many manifest entries to read.
        writers: commit users of the latest `RECENT_SNAPSHOTS` snapshots, most recent first.
        comment: the comment of the table.
        chips: main properties of the table as short labels.
    """

    snapshot: Snapshot | None
    snapshots: int
    rows: int | None
    files: int
    size: int | None
    writers: tuple[str, ...]
    comment: str
    chips: tuple[str, ...]


def table_summary(view: TableView) -> TableSummary:
    """Read the figures of a table.

    Raises:
        PaimonError: a metadata file is missing or cannot be read.
    """
    store = view.store
    ids = store.snapshots.ids()
    latest = store.snapshots.latest() if ids else None
    files, size = (0, 0) if latest is None else _files_and_size(view, latest)
    return TableSummary(
        snapshot=latest,
        snapshots=len(ids),
        rows=0 if latest is None else latest.total_record_count,
        files=files,
        size=size,
        writers=_writers(store, ids[-RECENT_SNAPSHOTS:]),
        comment="" if view.schema is None else view.schema.comment or "",
        chips=table_chips(view.schema),
    )


def _files_and_size(view: TableView, snapshot: Snapshot) -> tuple[int, int | None]:
    """The number of live files and their bytes; very many entries are counted, but not read."""
    manifests = view.store.manifests.all(snapshot)
    added, deleted = (manifests.total(f"num_{kind}_files") for kind in ("added", "deleted"))
    if added + deleted > MAX_ENTRIES:
        return added - deleted, None
    live = live_slim(view, snapshot)
    return len(live), int(numbers(live, "file_size").sum())


def _writers(store: TableStore, ids: Sequence[int]) -> tuple[str, ...]:
    """The commit users of snapshots, most recent first; snapshots that just expired are skipped."""
    calls = [partial(store.snapshots.find, number) for number in reversed(ids)]
    found = at_once(store.file_io, calls)
    return tuple(dict.fromkeys(one.commit_user for one in found if one is not None))


WAREHOUSE_TABLES = schema_from_text(
    "database string not null, name string not null, type string not null, rows int64, "
    "files int64, size int64, snapshots int64",
    pa.field("last_commit", pa.timestamp("ms", "UTC")),
    "commit_kind string, commit_user string, writers list<string>, health string, findings int64, "
    "comment string, problem string",
)
"""One row per table, view and function. `rows` counts rows before merging; `health` is the worst
severity, `none` without findings and null if the table was not checked; `problem` is the reason why
a table cannot be opened."""

_HEADS = (
    *("name", "type", "rows#", "size#", "files#", "snapshots#", "last commit"),
    *("kind", "commit user", "health", "comment"),
)
_TONES = {"error": Tone.REMOVE, "problem": Tone.REMOVE, "warning": Tone.WARN, "note": Tone.MUTED}


class ObjectType(StrEnum):
    """The types of objects in a database."""

    TABLE = "table"
    VIEW = "view"
    FUNCTION = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseRow:
    """A table, view or function.

    Attributes:
        database: its database.
        name: its name in the database.
        type: what it is.
        summary: the figures of a table; None for other objects, or if it cannot be opened.
        badge: the health of the table; None if it was not checked.
        comment: its comment.
        problem: why it cannot be opened; None if it can.
    """

    database: str
    name: str
    type: ObjectType = ObjectType.TABLE
    summary: TableSummary | None = None
    badge: HealthBadge | None = None
    comment: str = ""
    problem: Problem | None = None

    @property
    def snapshot(self) -> Snapshot | None:
        """The latest snapshot, if there is one."""
        return None if self.summary is None else self.summary.snapshot

    def state(self) -> dict[str, object]:
        """The row as JSON; absent members are unknown."""
        found: dict[str, object] = {
            "database": self.database,
            "name": self.name,
            "type": self.type.value,
        }
        if self.comment:
            found["comment"] = self.comment
        if self.problem is not None:
            found["problem"] = self.problem.state()
        if self.summary is not None:
            found |= _figures(self.summary)
        return found


def _figures(summary: TableSummary) -> dict[str, object]:
    latest = summary.snapshot
    found: dict[str, object] = {
        "rows": summary.rows,
        "files": summary.files,
        "size": summary.size,
        "snapshots": summary.snapshots,
        "writers": list(summary.writers),
        "chips": list(summary.chips),
    }
    if latest is not None:
        found |= {
            "time": latest.time_millis,
            "kind": latest.commit_kind.value,
            "user": latest.commit_user,
        }
    return found


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WarehouseTables(Result):
    """The tables, views and functions of a catalog.

    Attributes:
        place: the catalog, or one database of it.
        rows: sorted by database and name.
        problems: databases that cannot be listed completely, with the reason.
    """

    place: str
    rows: tuple[WarehouseRow, ...]
    problems: dict[str, Problem] = field(default_factory=dict)
    kind = "warehouse"

    def __len__(self) -> int:
        """The number of tables, views and functions."""
        return len(self.rows)

    def __iter__(self) -> Iterator[WarehouseRow]:
        """The tables, views and functions."""
        return iter(self.rows)

    def to_arrow(self) -> pa.Table:
        """The rows as `WAREHOUSE_TABLES`."""
        return pa.Table.from_pylist([_arrow_row(row) for row in self.rows], WAREHOUSE_TABLES)

    def figures(self) -> dict[str, object]:
        """The number of tables, and the sums of their figures."""
        summaries = [row.summary for row in self.rows if row.summary is not None]
        return {
            "tables": sum(row.type is ObjectType.TABLE for row in self.rows),
            "files": sum(one.files for one in summaries),
            "size": sum(one.size or 0 for one in summaries),
            "problems": sum(row.problem is not None for row in self.rows) + len(self.problems),
        }

    def to_report(self) -> Report:
        """A table of the tables."""
        counts = [
            plural(number, kind.value)
            for kind in ObjectType
            if (number := sum(row.type is kind for row in self.rows))
        ]
        sections: list[Section] = [Failed(problem=one) for one in self.problems.values()]
        if self.rows:
            sections.append(grid("Tables", _HEADS, [_cells(row) for row in self.rows]))
        return Report(
            title=f"{self.place}: {', '.join(counts) or 'no tables'}", sections=tuple(sections)
        )


_ARROW_NAMES = {"time": "last_commit", "kind": "commit_kind", "user": "commit_user"}


def _arrow_row(row: WarehouseRow) -> dict[str, object]:
    badge = row.badge
    found = {_ARROW_NAMES.get(name, name): value for name, value in row.state().items()}
    texts = {name: encodable(text) for name, text in found.items() if isinstance(text, str)}
    return {
        **found,
        **texts,
        "writers": None if row.summary is None else list(map(encodable, row.summary.writers)),
        "comment": encodable(row.comment),
        "problem": None if row.problem is None else encodable(row.problem.message),
        "health": None if badge is None else badge.worst or "none",
        "findings": None if badge is None else badge.total,
    }


def _cells(row: WarehouseRow) -> list[Entry]:
    name = f"{row.database}.{row.name}"
    summary, latest, badge = row.summary, row.snapshot, row.badge
    if summary is None:
        reason = row.comment if row.problem is None else row.problem.message
        tone = Tone.PLAIN if row.problem is None else Tone.REMOVE
        return [name, row.type.value, *[""] * 8, Cell(text=reason, tone=tone)]
    health = Cell(text="")
    if badge is not None:
        health = Cell(text=badge.words, tone=_TONES.get(badge.worst, Tone.PLAIN))
    return [
        name,
        row.type.value,
        summary.rows,
        "" if summary.size is None else bytes_text(summary.size),
        summary.files,
        summary.snapshots,
        "" if latest is None else time_text(latest.time_millis),
        "" if latest is None else latest.commit_kind.value,
        "" if latest is None else latest.commit_user,
        health,
        row.comment,
    ]
