"""Differences between two snapshots of a table: files, schema, options, indexes and rows.

Either snapshot may be the older one. A file that only changed its level counts as moved, not as
removed and added.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_fixed,
    empty_table,
    string_array,
    string_scalar,
    take_rows,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import SLIM_SCHEMA, live_slim, partition_type
from paimon_explore.inspection.history.schema_diff import Difference, schema_differences
from paimon_explore.inspection.rendering.cell_texts import row_texts
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone, Unit
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    short_plural,
    time_text,
)
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Facts,
    Grid,
    Note,
    Report,
    Section,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partitions_of
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.files_view import column_sum, file_cell, key_texts
from paimon_explore.inspection.views.row_diff import row_difference
from paimon_explore.merge.keys.value_equality import codes, combined
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_table import Chunks
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.scan.manifest_arrays import column, numbers, row_array

CHANGES = ("added", "removed", "moved", "changed")
_TONES = {"added": Tone.ADD, "removed": Tone.REMOVE, "moved": Tone.MOVE, "changed": Tone.WARN}
_KIND_TONES = {"+I": Tone.ADD, "-D": Tone.REMOVE, "-U": Tone.MUTED, "+U": Tone.MOVE}
_NO_LEVEL = -1
_SIGNS = {"added": "+", "removed": "-", "moved": "↕", "changed": "~"}

FILE_CHANGES = schema_from_text(
    "change string, partition string, bucket int32, level_before int32, level int32, "
    "row_count int64, file_size int64, min_key string, max_key string, file_name string"
)
"""One row per file that differs; a level is null if the snapshot does not contain the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChange:
    """An index file that only one of the snapshots has.

    Attributes:
        change: `added` or `removed`.
        type: the index type.
        name: the file name.
        size: size in bytes.
        entries: number of entries; for deletion vectors the number of data files.
        deleted_rows: number of rows deleted by its deletion vectors, as far as known.
    """

    change: str
    type: str
    name: str
    size: int
    entries: int
    deleted_rows: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SnapshotDiff(Result):
    """The differences between two snapshots of a table.

    Attributes:
        view: the table.
        before: the first snapshot; None for the empty table before the first commit.
        after: the second snapshot.
        files: the differing files as `FILE_CHANGES`.
        schema: differences of the schemas.
        indexes: the differing index files.
        shown_rows: number of differing rows to show.
    """

    view: TableView
    before: Snapshot | None
    after: Snapshot | None
    files: pa.Table
    schema: tuple[Difference, ...]
    indexes: tuple[IndexChange, ...]
    shown_rows: int = 0
    kind = "diff"

    def to_arrow(self) -> pa.Table:
        """The files that differ, one row per file."""
        return self.files

    def rows(self, limit: int | None = None) -> pa.Table:
        """The rows that differ, with a leading column `rowkind`.

        Rows of tables with a primary key are compared by key: `+I` for added keys, `-D` for
        removed keys, `-U` and `+U` for the old and new row of changed keys. Other tables are
        compared by whole rows: `+I` and `-D`. Only buckets whose files differ are read.

        Args:
            limit: maximum number of rows; None for all.

        Raises:
            PaimonError: a file cannot be read.
        """
        states = [
            self.view.target(snapshot, travelled=False) for snapshot in (self.before, self.after)
        ]
        found = row_difference(states[0], states[1])
        return found if limit is None else found.slice(0, limit)

    def figures(self) -> dict[str, object]:
        """The number of files, rows and bytes by kind of change."""
        sums = {change: self._sums(change) for change in CHANGES}
        return {
            "before": _number(self.before),
            "after": _number(self.after),
            "files": {c: {"files": n, "rows": r, "bytes": b} for c, (n, r, b) in sums.items()},
            "schema": len(self.schema),
            "indexes": len(self.indexes),
        }

    def _sums(self, change: str) -> tuple[int, int, int]:
        table = self.files.filter(pc.equal(self.files.column("change"), pa.scalar(change)))
        return table.num_rows, column_sum(table, "row_count"), column_sum(table, "file_size")

    def to_report(self) -> Report:
        """Totals, bytes by partition, files, schema and index changes."""
        title = f"{self.view.name}: {_name(self.before)} → {_name(self.after)}"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        yield self._totals()
        if not self.files.num_rows:
            yield Note(text="Both snapshots have the same files.")
        else:
            yield self._chart()
            yield self._grid()
        if self.schema:
            changes = [(d.what, d.name, d.act, d.before, d.after) for d in self.schema]
            heads = ("element", "name", "change", "before", "after")
            yield grid("Schema and option changes", heads, changes)
        if self.indexes:
            listed = [
                (_mark(i.change), i.type, i.entries, i.deleted_rows, bytes_text(i.size), i.name)
                for i in self.indexes
            ]
            names = ("change", "index", "entries#", "deleted rows#", "size#", "file")
            yield grid("Changed index files", names, listed)
        if self.shown_rows:
            yield self._rows_grid()

    def _rows_grid(self) -> Grid:
        found = self.rows()
        _, *names = found.column_names
        rows: list[list[Entry]] = []
        for change, *texts in row_texts(found.slice(0, self.shown_rows)):
            rows.append([Cell(text=change, tone=_KIND_TONES[change]), *map(truncate, texts)])
        return grid("Changed rows", ("change", *names), rows, total=found.num_rows)

    def _totals(self) -> Facts:
        found: list[tuple[str, Entry]] = []
        for change in CHANGES:
            count, rows, size = self._sums(change)
            if count or change in ("added", "removed"):
                text = f"{plural(count, 'file')}, {short_plural(rows, 'row')}, {bytes_text(size)}"
                found.append((change, Cell(text=text, tone=_TONES[change])))
        totals = [s.total_record_count if s else 0 for s in (self.before, self.after)]
        shown = " → ".join(count_text(total) for total in totals)
        times = [time_text(s.time_millis) for s in (self.before, self.after) if s is not None]
        return facts(*found, ("stored rows", shown), ("committed", " → ".join(times) or None))

    def _chart(self) -> BarChart:
        sums: dict[str, dict[str, int]] = {}
        for row in self.files.select(["partition", "change", "file_size"]).to_pylist():
            name = row["partition"] or "unpartitioned"
            sums.setdefault(name, dict.fromkeys(CHANGES, 0))[row["change"]] += row["file_size"]
        largest = sorted(sums.items(), key=lambda item: -sum(item[1].values()))[:40]
        series = [
            Series(
                name=change,
                values=tuple((-1 if change == "removed" else 1) * s[change] for _, s in largest),
                tone=_TONES[change],
            )
            for change in CHANGES
        ]
        return BarChart(
            title="Changed bytes by partition",
            categories=tuple(name for name, _ in largest),
            series=tuple(s for s in series if any(s.values)),
            unit=Unit.BYTES,
        )

    def _grid(self) -> Grid:
        partitioned = bool(partition_type(self.view).fields)
        rows = [self._row(row, partitioned) for row in self.files.slice(0, 200).to_pylist()]
        which = ("partition", "bucket#") if partitioned else ("bucket#",)
        heads = ("change", *which, "level", "rows#", "size#", "min key", "max key", "file")
        return grid("Changed files", heads, rows, total=self.files.num_rows)

    def _row(self, row: dict[str, object], partitioned: bool) -> list[Entry]:  # noqa: FBT001 - private
        levels = [str(v) for v in (row["level_before"], row["level"]) if v is not None]
        name = str(row["file_name"])
        return [
            _mark(str(row["change"])),
            *([str(row["partition"])] if partitioned else []),
            str(row["bucket"]),
            " → ".join(dict.fromkeys(levels)),
            int(str(row["row_count"])),
            bytes_text(float(str(row["file_size"]))),
            str(row["min_key"]),
            str(row["max_key"]),
            file_cell(name),
        ]


def snapshot_diff(
    view: TableView, before: Snapshot | None, after: Snapshot | None, *, rows: int = 0
) -> SnapshotDiff:
    """Compare two snapshots.

    Args:
        view: the table.
        before: the first snapshot; None for an empty table.
        after: the second snapshot.
        rows: number of differing rows to show.

    Raises:
        PaimonError: a manifest or schema cannot be read.
    """
    old, new = (
        empty_table(SLIM_SCHEMA) if snapshot is None else live_slim(view, snapshot)
        for snapshot in (before, after)
    )
    points = [_number(before), _number(after)]
    options = {
        "incremental-between": f"{points[0]},{points[1]}",
        "incremental-between-scan-mode": "diff",
    }
    return SnapshotDiff(
        view=view,
        before=before,
        after=after,
        files=file_changes(old, new, view),
        schema=_schema(view, before, after),
        indexes=tuple(_indexes(view, before, after)),
        shown_rows=rows,
        code=Code(
            python=call_code(f"{view.expression}.diff", *points, rows=rows or None),
            spark=read_code(view.location, options),
        ),
    )


def file_changes(old: pa.Table, new: pa.Table, view: TableView) -> pa.Table:
    """The files that differ between two snapshots, as `FILE_CHANGES`."""
    if not old.num_rows:
        return _table(new, [new.num_rows, 0, 0, 0], np.full(new.num_rows, _NO_LEVEL), view)
    both = pa.concat_tables([old, new]).combine_chunks()
    split = old.num_rows
    files, states = _codes(both)
    before, after = np.arange(split), np.arange(split, both.num_rows)
    gone = before[~np.isin(files[:split], files[split:])]
    fresh = after[~np.isin(files[split:], files[:split])]
    kept, old_at, new_at = np.intersect1d(files[:split], files[split:], return_indices=True)
    del kept
    new_at = new_at + split
    differs = states[old_at] != states[new_at]
    levels = numbers(both, "level")
    moved = differs & (levels[old_at] != levels[new_at])
    other = differs & ~moved
    rows = np.concatenate([fresh, gone, new_at[moved], new_at[other]]).astype(np.int64)
    earlier = np.concatenate(
        [np.full(len(fresh), _NO_LEVEL), levels[gone], levels[old_at[moved]], levels[old_at[other]]]
    )
    counts = [len(fresh), len(gone), int(moved.sum()), int(other.sum())]
    return _table(both.take(row_array(rows)), counts, earlier.astype(np.int64), view)


def _table(files: pa.Table, counts: Sequence[int], earlier: Ints, view: TableView) -> pa.Table:
    """The files in the order of `CHANGES`, with the number of files of each change."""
    change = np.repeat(np.arange(len(CHANGES)), counts)
    partitions = partitions_of(files, partition_type(view))
    later = np.where(change == CHANGES.index("removed"), _NO_LEVEL, numbers(files, "level"))
    bounds = [pa.repeat(string_scalar(""), files.num_rows)] * 2  # type: ignore[call-overload]  # in stubs
    if len(view.keys):
        bounds = [string_array(texts) for texts in key_texts(files, view.keys)]
    columns: list[Column | Chunks] = [
        take_rows(string_array(CHANGES), change),
        take_rows(string_array(partitions.texts), partitions.codes),
        files.column("bucket"),
        *(build_fixed(pa.int32(), part.astype(np.int32), part >= 0) for part in (earlier, later)),
        files.column("row_count"),
        files.column("file_size"),
        *bounds,
        files.column("file_name"),
    ]
    table = pa.Table.from_arrays(columns, schema=FILE_CHANGES)
    order = ("partition", "bucket", "change", "file_name")
    return table.sort_by([(name, "ascending") for name in order])


def _codes(files: pa.Table) -> tuple[Ints, Ints]:
    """Two codes per file: of the file, and of the file with its level and extra files."""
    count = files.num_rows
    name = [codes(column(files, part)) for part in ("partition", "bucket", "file_name")]
    parts = ("level", "extra_files", "external_path", "embedded_file_index")
    state = [codes(column(files, part)) for part in parts]
    return combined(name, count=count), combined([*name, *state], count=count)


def _number(snapshot: Snapshot | None) -> int:
    return 0 if snapshot is None else snapshot.id


def _name(snapshot: Snapshot | None) -> str:
    return "empty table" if snapshot is None else f"snapshot {snapshot.id}"


def _mark(change: str) -> Cell:
    return Cell(text=f"{_SIGNS[change]} {change}", tone=_TONES[change])


def _schema(
    view: TableView, before: Snapshot | None, after: Snapshot | None
) -> tuple[Difference, ...]:
    if before is None or after is None or before.schema_id == after.schema_id:
        return ()
    schemas = view.store.schemas
    return schema_differences(schemas.load(before.schema_id), schemas.load(after.schema_id))


def _indexes(
    view: TableView, before: Snapshot | None, after: Snapshot | None
) -> Iterator[IndexChange]:
    old, new = (_index(view, snapshot) for snapshot in (before, after))
    for change, here, there in (("added", new, old), ("removed", old, new)):
        for key, row in here.items():
            if key not in there:
                yield _index_change(change, row)


def _index(
    view: TableView, snapshot: Snapshot | None
) -> dict[tuple[object, ...], dict[str, object]]:
    found = IndexEntries.empty()
    if snapshot is not None:
        found = view.store.manifests.index_of(snapshot)
    return {(r["file_name"], r["partition"], r["bucket"]): r for r in found.rows()}


def _index_change(change: str, row: dict[str, object]) -> IndexChange:
    vectors = row["dv_ranges"]
    deleted = 0
    if isinstance(vectors, list):
        deleted = sum(v["cardinality"] or 0 for v in vectors)
    return IndexChange(
        change=change,
        type=str(row["index_type"]),
        name=str(row["file_name"]),
        size=int(str(row["file_size"])),
        entries=int(str(row["row_count"])),
        deleted_rows=deleted,
    )
