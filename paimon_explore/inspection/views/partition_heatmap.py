"""Heat map of changes by partition and snapshot."""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import FileLifetimes
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone, snapshot_chart
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import Cell, Entry, Note, Report, Section, grid
from paimon_explore.inspection.rendering.result import TableResult
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.scan.manifest_arrays import numbers

MAX_LANES = 30
MAX_SNAPSHOTS = 60
_MAX_UNKNOWN = 8

HEAT = schema_from_text(
    "partition string not null, snapshot_id int64 not null, files_added int64 not null, "
    "bytes_added int64 not null, files_removed int64 not null, bytes_removed int64 not null"
)
"""One row per partition and snapshot that changed it."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartitionHeat(TableResult):
    """The changes of each snapshot in each partition.

    Attributes:
        name: the table.
        table: as `HEAT`, by partition, then by snapshot.
        snapshots: ids of all snapshots, ascending.
        unknown: ids of the snapshots whose manifests cannot be read.
    """

    name: str
    snapshots: tuple[int, ...]
    unknown: tuple[int, ...] = ()
    kind = "heat"

    def figures(self) -> dict[str, object]:
        """The changes as JSON, one row each."""
        return {"changes": self.table.to_pylist()}

    def to_report(self) -> Report:
        """The heat map, and the partitions by their latest change."""
        rows = self.table.to_pylist()
        often: dict[str, list[dict[str, int]]] = {}
        for row in rows:
            often.setdefault(row["partition"], []).append(row)
        title = f"{self.name}: {plural(len(often), 'partition')} changed"
        if not rows:
            text = "No snapshot has changed a data file."
            notes = self._notes() or (Note(text=text),)
            return Report(title=title, sections=notes)
        touched = sorted(often, key=lambda name: (-often[name][-1]["snapshot_id"], name))
        shown = sorted(touched[:MAX_LANES])
        heads = ("partition", "changed in#", "last changed in#", "bytes added#", "bytes removed#")
        cells = [_cells(name, often[name]) for name in touched]
        sections: tuple[Section, ...] = (
            *self._notes(),
            self._map(shown, often),
            grid("Partitions by latest change", heads, cells),
        )
        return Report(title=title, sections=sections)

    def _left_out(self) -> str:
        """Which partitions and snapshots the heat map does not show."""
        partitions = len(set(self.table.column("partition").to_pylist()))
        parts = [
            f"the latest {most} of {plural(count, noun)}"
            for most, count, noun in (
                (MAX_LANES, partitions, "partition"),
                (MAX_SNAPSHOTS, len(self.snapshots), "snapshot"),
            )
            if count > most
        ]
        return "".join(f"; {part}" for part in parts)

    def _notes(self) -> tuple[Note, ...]:
        """Which snapshots are absent because their files are unknown."""
        if not self.unknown:
            return ()
        first = ", ".join(map(str, self.unknown[:_MAX_UNKNOWN]))
        more = len(self.unknown) - _MAX_UNKNOWN
        text = (
            f"The changes of {plural(len(self.unknown), 'snapshot')} ({first}"
            f"{f' and {more} more' if more > 0 else ''}) are absent because their manifests cannot "
            "be read."
        )
        return (Note(text=text, tone=Tone.WARN),)

    def _map(self, shown: list[str], often: dict[str, list[dict[str, int]]]) -> LaneChart:
        """A box per change; its height is the square root of the changed bytes."""
        newest = self.snapshots[-MAX_SNAPSHOTS:]
        places = {number: place for place, number in enumerate(newest)}
        peak = max(_moved(row) for name in shown for row in often[name]) or 1
        boxes = [
            Box(
                lane=lane,
                start=places[row["snapshot_id"]],
                end=places[row["snapshot_id"]] + 1,
                label="",
                tooltip=_tooltip(name, row),
                tone=Tone.REMOVE if _shrank(row) else Tone.ADD,
                hatched=1.0 if _shrank(row) else 0.0,
                height=max((_moved(row) / peak) ** 0.5, 0.15),
                selects=f"snapshot:{row['snapshot_id']}",
            )
            for lane, name in enumerate(shown)
            for row in often[name]
            if row["snapshot_id"] in places
        ]
        title = "Changes by partition and snapshot (green: size grew, hatched: size shrank"
        lanes = [name or "unpartitioned" for name in shown]
        return snapshot_chart(f"{title}{self._left_out()})", newest, lanes, boxes, MAX_LANES)


def _shrank(row: dict[str, int]) -> bool:
    return row["bytes_added"] < row["bytes_removed"]


def _moved(row: dict[str, int]) -> int:
    return row["bytes_added"] + row["bytes_removed"]


def _tooltip(name: str, row: dict[str, int]) -> str:
    return (
        f"{name or 'unpartitioned'} in snapshot {row['snapshot_id']}: "
        f"{plural(row['files_added'], 'file')} added, {bytes_text(row['bytes_added'])}; "
        f"{plural(row['files_removed'], 'file')} removed, {bytes_text(row['bytes_removed'])}"
    )


def _cells(name: str, rows: list[dict[str, int]]) -> list[Entry]:
    last = rows[-1]["snapshot_id"]
    return [
        name or "unpartitioned",
        plural(len(rows), "snapshot"),
        Cell(text=f"snapshot {last}", selects=f"snapshot:{last}"),
        bytes_text(sum(row["bytes_added"] for row in rows)),
        bytes_text(sum(row["bytes_removed"] for row in rows)),
    ]


def partition_heat(inspector: Inspector) -> PartitionHeat:
    """Collect the changes of each snapshot in each partition; reads the file history.

    Raises:
        PaimonError: the files of the latest snapshot cannot be read.
    """
    marks = inspector.timeline().marks
    ids = tuple(mark.snapshot_id for mark in marks)
    table = HEAT.empty_table()
    unknown: tuple[int, ...] = ()
    if ids:
        lifetimes = inspector.lifetimes()
        table = _changes(lifetimes, np.array(ids, np.int64))
        unknown = tuple(ids[position] for position in sorted(lifetimes.unknown))
    return PartitionHeat(
        name=inspector.view.name,
        table=table,
        snapshots=ids,
        unknown=unknown,
        code=Code(python=call_code(f"{inspector.view.expression}.inspect.heat")),
    )


def _changes(lifetimes: FileLifetimes, ids: Ints) -> pa.Table:
    sizes = numbers(lifetimes.files, "file_size")
    sums = []
    for positions, sign in ((lifetimes.added, "added"), (lifetimes.removed, "removed")):
        inside = (positions > 0) & (positions <= len(ids))
        one = {
            "code": lifetimes.partitions.codes[inside],
            "snapshot_id": ids[positions[inside] - 1],
            "size": sizes[inside],
        }
        found = pa.table({name: pa.array(values, pa.int64()) for name, values in one.items()})
        sums.append(
            found.group_by(["code", "snapshot_id"])
            .aggregate([([], "count_all"), ("size", "sum")])
            .rename_columns(["code", "snapshot_id", f"files_{sign}", f"bytes_{sign}"])
        )
    joined = sums[0].join(sums[1], ["code", "snapshot_id"], join_type="full outer")
    joined = joined.sort_by([("code", "ascending"), ("snapshot_id", "ascending")])
    texts = [lifetimes.partitions.texts[code] for code in numbers(joined, "code")]
    columns = {name: pa.array(numbers(joined, name), pa.int64()) for name in HEAT.names[1:]}
    return pa.table({"partition": pa.array(texts, pa.string()), **columns}).cast(HEAT)
