"""The schema versions of a table: fields by id, options, and live files by version."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.formatter import type_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import live_slim
from paimon_explore.inspection.history.schema_diff import (
    Difference,
    PositionedField,
    fields_by_id,
    schema_differences,
)
from paimon_explore.inspection.problem import Problem, attempt
from paimon_explore.inspection.rendering.chart import Box, LaneChart, Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import count_text, plural, time_text
from paimon_explore.inspection.rendering.report import (
    Cell,
    Columns,
    Failed,
    Report,
    Section,
    facts,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result, rows_table
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import masked_options
from paimon_explore.scan.manifest_arrays import numbers

_MAX_LANES = 120

SCHEMA_CHANGES = schema_from_text(
    "schema_id int64",
    pa.field("time", pa.timestamp("ms", "UTC")),
    "what string, name string, change string, before string, after string, live_files int64",
)
"""One row per change; the first version adds all elements."""

_ACT_TONES = {"added": Tone.ADD, "dropped": Tone.REMOVE, "set": Tone.ADD, "unset": Tone.REMOVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One schema version.

    Attributes:
        schema: the schema.
        changes: differences from the previous version; for the first, from an empty schema.
        live_files: number of live data files written with it; None if a manifest cannot be read.
        snapshots: number of snapshots with this schema.
    """

    schema: TableSchema
    changes: tuple[Difference, ...]
    live_files: int | None
    snapshots: int


def _link(version: Version) -> Cell:
    number = version.schema.id
    return Cell(text=f"schema {number}", selects=f"schema:{number}")


_CHANGES: Columns[tuple[Version, Difference]] = {
    "version": lambda one: _link(one[0]),
    "element": lambda one: one[1].what,
    "name": lambda one: one[1].name,
    "change": lambda one: Cell(text=one[1].act, tone=_ACT_TONES.get(one[1].act, Tone.MOVE)),
    "before": lambda one: one[1].before,
    "after": lambda one: one[1].after,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SchemaHistory(Result):
    """All schema versions of a table.

    Attributes:
        name: the table.
        snapshot: the snapshot whose live files are counted; None for a table without snapshots.
        versions: in ascending order.
        problems: errors of versions that cannot be read, and of the manifests.
    """

    name: str
    snapshot: Snapshot | None
    versions: tuple[Version, ...]
    problems: tuple[Problem, ...]
    kind = "schema"

    def to_arrow(self) -> pa.Table:
        """The changes as `SCHEMA_CHANGES`."""
        rows = []
        for version in self.versions:
            point = (version.schema.id, version.schema.time_millis or None)
            for one in version.changes:
                change = (one.what, one.name, one.act, one.before, one.after)
                rows.append((*point, *change, version.live_files))
        return rows_table(rows, SCHEMA_CHANGES)

    def lanes(self) -> dict[int, tuple[tuple[int, str, str], ...]]:
        """Version, path and type of each field, by field id."""
        found: dict[int, list[tuple[int, str, str]]] = {}
        for version in self.versions:
            for number, placed in fields_by_id(version.schema).items():
                text = type_text(placed.field.type)
                found.setdefault(number, []).append((version.schema.id, placed.path, text))
        return {number: tuple(steps) for number, steps in sorted(found.items())}

    def figures(self) -> dict[str, object]:
        """The number of changes, live files and snapshots by version, as JSON."""
        return {
            "versions": [version.schema.id for version in self.versions],
            "changes": {str(v.schema.id): len(v.changes) for v in self.versions},
            "live_files": {str(v.schema.id): v.live_files for v in self.versions},
            "snapshots": {str(v.schema.id): v.snapshots for v in self.versions},
            "fields": {str(n): [list(step) for step in s] for n, s in self.lanes().items()},
        }

    def to_report(self) -> Report:
        """A chart of the fields, the changes, the versions and the options."""
        title = f"{self.name}: {plural(len(self.versions), 'schema version')}"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        for problem in self.problems:
            yield Failed(problem=problem)
        if not self.versions:
            return
        newest = self.versions[-1]
        used = ", ".join(f"schema {v.schema.id}" for v in self.versions if v.live_files) or "none"
        if newest.live_files is None:
            used = "unknown"
        latest = f"schema {newest.schema.id}, {time_text(newest.schema.time_millis)}"
        yield self._chart()
        yield facts(
            ("latest version", latest),
            ("columns", len(newest.schema.fields)),
            ("versions used by live files", used),
        )
        if len(self.versions) > 1:
            changes = [(version, one) for version in self.versions[1:] for one in version.changes]
            yield listing("Schema changes", changes, _CHANGES)
        columns: Columns[Version] = {
            "version": _link,
            "created": lambda v: time_text(v.schema.time_millis or None),
            "columns#": lambda v: len(v.schema.fields),
            "changes#": lambda v: len(v.changes) if v is not self.versions[0] else "",
            "live files#": lambda v: count_text(v.live_files),
            "snapshots#": lambda v: v.snapshots,
        }
        yield listing("Schema versions", self.versions, columns)
        options = sorted(masked_options(newest.schema.options).items())
        yield grid("Current options", ("option", "value"), options)

    def _chart(self) -> LaneChart:
        lanes = self.lanes()
        left_out = f" (first {_MAX_LANES} of {len(lanes):,})" if len(lanes) > _MAX_LANES else ""
        positions = {version.schema.id: i for i, version in enumerate(self.versions)}
        boxes: list[Box] = []
        labels: list[str] = []
        for number, steps in list(lanes.items())[:_MAX_LANES]:
            for first, last, path, kind in _ranges(steps, positions):
                changed = first > positions[steps[0][0]]
                begin, end = (self.versions[place].schema.id for place in (first, last))
                boxes.append(
                    Box(
                        lane=len(labels),
                        start=first,
                        end=last + 1,
                        label=f"{path} {kind}",
                        tooltip=f"field {number}: {path} {kind}, schema {begin} to {end}",
                        tone=Tone.MOVE if changed else Tone.ADD if first else Tone.PLAIN,
                        selects=f"schema:{begin}",
                    )
                )
            labels.append(f"field {number}: {steps[-1][1]}")
        ticks = tuple((i + 0.5, f"schema {v.schema.id}") for i, v in enumerate(self.versions))
        return LaneChart(
            title=f"Fields by schema version{left_out}",
            lanes=tuple(labels),
            boxes=tuple(boxes),
            start=0,
            end=len(self.versions),
            ticks=ticks if len(ticks) <= 12 else (ticks[0], ticks[-1]),  # noqa: PLR2004 - room
        )


def _ranges(
    steps: tuple[tuple[int, str, str], ...], positions: dict[int, int]
) -> Iterator[tuple[int, int, str, str]]:
    """Ranges of versions in which a field keeps its name and type."""
    start = 0
    for i in range(1, len(steps) + 1):
        same = (
            i < len(steps)
            and steps[i][1:] == steps[i - 1][1:]
            and positions[steps[i][0]] == positions[steps[i - 1][0]] + 1
        )
        if not same:
            _, path, kind = steps[start]
            yield positions[steps[start][0]], positions[steps[i - 1][0]], path, kind
            start = i


def schema_history(inspector: Inspector) -> SchemaHistory:
    """Read the schema versions of a table, with the live files of the inspected snapshot.

    A version that does not exist or cannot be read is absent. If a manifest cannot be read, the
    numbers of live files are unknown. `problems` has the errors of both.
    """
    view, snapshot = inspector.view, inspector.snapshot
    problems: list[Problem] = []
    files = attempt(lambda: _live_files(view, snapshot), problems)
    used = Counter(m.snapshot.schema_id for m in inspector.timeline().marks if m.snapshot)
    versions: list[Version] = []
    for number in sorted({*view.store.schemas.ids(), *used, *(files or ())}):
        schema = attempt(partial(view.store.schemas.load, number), problems)
        if schema is None:
            continue
        changes = (
            schema_differences(versions[-1].schema, schema)
            if versions
            else tuple(_born(fields_by_id(schema), schema))
        )
        versions.append(
            Version(
                schema=schema,
                changes=changes,
                live_files=None if files is None else files[number],
                snapshots=used[number],
            )
        )
    return SchemaHistory(
        name=view.name,
        snapshot=snapshot,
        versions=tuple(versions),
        problems=tuple(problems),
        code=Code(
            python=call_code(f"{inspector.code}.inspect.schema_history"),
            spark=f"spark.read.format('paimon_explore').load({view.location!r}).printSchema()",
        ),
    )


def _live_files(view: TableView, snapshot: Snapshot | None) -> Counter[int]:
    """The number of live files by schema version."""
    if snapshot is None:
        return Counter()
    return Counter(numbers(live_slim(view, snapshot), "schema_id").tolist())


def _born(fields: dict[int, PositionedField], schema: TableSchema) -> Iterator[Difference]:
    for placed in fields.values():
        kind = type_text(placed.field.type)
        yield Difference(what="column", name=placed.path, act="added", after=kind)
    for key, value in sorted(masked_options(schema.options).items()):
        yield Difference(what="option", name=key, act="set", after=value)
