"""Explains a scan: its pruning stages, and per manifest and file why it is read or skipped.

Each stage counts its input and what it kept. The stages are those of `scan.plan`, evaluated by the
same functions, so an explanation cannot differ from a read. Two more stages apply while reading:
the file index of files that need no merge, and the limit, after which no further files are opened.

Reasons are computed on demand, since there may be 100,000 files.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.pruning_decisions import Reason, Reasons, index_leaf
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone, Unit
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, short_text
from paimon_explore.inspection.rendering.report import (
    Cell,
    Columns,
    Entry,
    Note,
    Report,
    Section,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.inspection.views.files_view import file_cell
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.live_entries import PartitionFilter
from paimon_explore.scan.manifest_arrays import FileStage, column, numbers
from paimon_explore.scan.plan import (
    GlobalIndexStage,
    ScanTarget,
    by_global_index,
    file_stages,
    packed_splits,
)
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.splits.data_split import DataSplit, PlainSplit, Split

MANIFEST_STAGE = "partition ranges"
ENTRY_STAGE = "partitions"
CANCELLED_STAGE = "cancelled entries"
INDEX_STAGE = "file index"
LIMIT_STAGE = "limit"

ITEMS = schema_from_text(
    "unit string, name string, kept bool, stage string, condition string, bounds string, "
    "reason string, partition string, bucket int32, level int32, row_count int64, file_size int64"
)
"""One row per manifest and file: whether it is read, and if not, the pruning stage, condition and
bounds that excluded it. The row count of a manifest is its number of entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningStage:
    """One pruning stage of a scan, with its input and what it kept.

    Attributes:
        name: what the stage prunes by.
        unit: `manifests`, `entries` or `files`.
        total: number of input items.
        kept: number of kept items.
        total_rows: rows of all input items; for manifests their entries.
        kept_rows: rows of the kept items; for a limit an upper bound.
        total_bytes: size of all input items.
        kept_bytes: size of the kept items.
    """

    name: str
    unit: str
    total: int
    kept: int
    total_rows: int = 0
    kept_rows: int = 0
    total_bytes: int = 0
    kept_bytes: int = 0

    def state(self) -> dict[str, object]:
        """The stage as JSON."""
        return {
            "name": self.name,
            "unit": self.unit,
            "total": self.total,
            "kept": self.kept,
            "rows": [self.kept_rows, self.total_rows],
            "bytes": [self.kept_bytes, self.total_bytes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Manifests or files that one stage pruned, or that all stages kept.

    Attributes:
        unit: `manifest` or `file`.
        stage: the stage that pruned them; empty for kept ones.
        rows: their entries or manifests.
        reason: gives the reason for the item at a row number of `rows`.
    """

    unit: str
    stage: str = ""
    rows: pa.Table
    reason: Callable[[int], Reason]

    def __len__(self) -> int:
        """The number of items."""
        return self.rows.num_rows

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the reasons of all items in place of what gives them."""
        reasons = tuple(map(self.reason, range(len(self))))
        return _items, (self.unit, self.stage, self.rows, reasons)


def _items(unit: str, stage: str, rows: pa.Table, reasons: tuple[Reason, ...]) -> Items:
    return Items(unit=unit, stage=stage, rows=rows, reason=reasons.__getitem__)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanExplanation(Result):
    """Which manifests and files a scan reads and skips, and why.

    Attributes:
        name: the table.
        snapshot: the scanned snapshot; None for a table without snapshots.
        where: the predicate as SQL; empty for none.
        columns: the projected columns.
        limit: maximum number of rows.
        stages: the pruning stages in order.
        items: all manifests and files, grouped by the stage that pruned them.
        splits: the splits to read.
        partition_type: types of the partition columns.
        notes: remarks on the plan.
    """

    name: str
    snapshot: Snapshot | None
    where: str
    columns: tuple[str, ...]
    limit: int | None
    stages: tuple[PruningStage, ...]
    items: tuple[Items, ...]
    splits: Sequence[Split]
    partition_type: RowType
    notes: tuple[str, ...] = ()
    kind = "explain"

    @property
    def files(self) -> int:
        """The number of files to read; with a limit an upper bound."""
        last = [stage for stage in self.stages if stage.unit == "files"]
        return last[-1].kept if last else sum(len(split.files) for split in self.splits)

    def kept_files(self) -> tuple[str, ...]:
        """The names of the files to read."""
        return self._names(lambda items: not items.stage)

    def pruned_files(self) -> tuple[str, ...]:
        """The names of the pruned files, except those in pruned manifests, which are not read."""
        return self._names(lambda items: bool(items.stage))

    def _names(self, matches: Callable[[Items], bool]) -> tuple[str, ...]:
        selected = [items for items in self.items if items.unit == "file" and matches(items)]
        return tuple(str(n) for one in selected for n in as_python(column(one.rows, "file_name")))

    def to_arrow(self) -> pa.Table:
        """All manifests and files with the reason for each, as `ITEMS`."""
        return pa.Table.from_pylist(self._rows(), schema=ITEMS)

    def report(self) -> dict[str, object]:
        """The stages and all items with their reasons, as JSON."""
        return {**self.figures(), "items": self._rows()}

    def figures(self) -> dict[str, object]:
        """The stages, and the number of splits and files to read."""
        raw = sum(split.raw_convertible for split in self.splits)
        return {
            "snapshot": None if self.snapshot is None else self.snapshot.id,
            "where": self.where,
            "columns": list(self.columns),
            "limit": self.limit,
            "stages": [stage.state() for stage in self.stages],
            "splits": len(self.splits),
            "raw_splits": raw,
            "files": self.files,
            "notes": list(self.notes),
        }

    def _rows(self) -> list[dict[str, object]]:
        return _rows_of(self.items, self.partition_type, None)

    def to_report(self) -> Report:
        """The pruning stages, then the skipped and the read items with reasons."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        raw = sum(split.raw_convertible for split in self.splits)
        title = (
            f"{at}: {plural(len(self.splits), 'split')} ({raw} without merging), "
            f"{plural(self.files, 'file')}"
            f"{f' for the condition {self.where}' if self.where else ''}"
        )
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        if self.stages:
            yield self._stage_grid()
            shares = tuple(map(_share, self.stages))
            pruned = tuple(1 - share for share in shares)
            yield BarChart(
                title="Share of manifests or files that each stage keeps",
                categories=tuple(stage.name for stage in self.stages),
                series=(
                    Series(name="kept", values=shares, tone=Tone.ADD),
                    Series(name="pruned", values=pruned, tone=Tone.MUTED),
                ),
                unit=Unit.SHARE,
            )
        if self.snapshot is None:
            yield Note(text="The table has no snapshot yet.")
        for note in self.notes:
            yield Note(text=note)
        parts = (
            ("Pruned files", "file", False),
            ("Files to read", "file", True),
            ("Pruned manifests", "manifest", False),
            ("Manifests to read", "manifest", True),
        )
        for title, unit, kept in parts:
            yield from self._grid(title, unit, kept=kept)

    def _grid(self, title: str, unit: str, *, kept: bool) -> Iterator[Section]:
        selected = [i for i in self.items if i.unit == unit and bool(i.stage) is not kept]
        total = sum(len(items) for items in selected)
        if not total and (unit == "manifest" or not self.items):
            return
        rows = _rows_of(selected, self.partition_type, 200)
        if unit == "manifest":
            cells = [(str(r["reason"]), _size_text(r), str(r["name"])) for r in rows]
            yield grid(title, ("reason", "size#", "name"), cells, total=total)
            return
        stage = [] if kept else ["stage"]
        partition = ["partition"] if self.partition_type.fields else []
        heads = [*stage, "reason", *partition, "bucket#", "level#", "rows#"]
        files = [_file_cells(row, heads) for row in rows]
        yield grid(title, [*heads, "size#", "file"], files, total=total)

    def _stage_grid(self) -> Section:
        columns: Columns[PruningStage] = {
            "stage": lambda one: one.name,
            "unit": lambda one: one.unit,
            "kept#": lambda one: Cell(text=f"{one.kept:,}", share=_share(one)),
            "input#": lambda one: one.total,
            "rows kept#": lambda s: f"{short_text(s.kept_rows)} of {short_text(s.total_rows)}",
            "size kept#": lambda s: f"{bytes_text(s.kept_bytes)} of {bytes_text(s.total_bytes)}",
        }
        note = "The input of each stage is what the previous stage kept."
        return listing("Pruning stages", self.stages, columns, note=note)


def _share(stage: PruningStage) -> float:
    return stage.kept / stage.total if stage.total else 1.0


def _item(items: Items, row: dict[str, object], reason: Reason) -> dict[str, object]:
    return {
        "unit": items.unit,
        "name": row["file_name"],
        "kept": not items.stage,
        "stage": items.stage,
        "condition": reason.condition,
        "bounds": reason.bounds,
        "reason": f"The {items.unit} {reason.text}",
        "bucket": row.get("bucket"),
        "level": row.get("level"),
        "row_count": row.get("row_count"),
        "file_size": row["file_size"],
    }


def _rows_of(
    selected: Sequence[Items], partition_type: RowType, limit: int | None
) -> list[dict[str, object]]:
    """The items as rows of `ITEMS`, at most `limit` of them."""
    found: list[dict[str, object]] = []
    for items in selected:
        count = len(items) if limit is None else min(len(items), limit - len(found))
        texts = [""] * count
        if items.unit == "file" and count:
            texts = partition_texts(items.rows.slice(0, count), partition_type)
        fields = ("file_name", "bucket", "level", "row_count", "file_size")
        have = [name for name in fields if name in items.rows.column_names]
        for i, row in enumerate(items.rows.select(have).slice(0, count).to_pylist()):
            found.append({**_item(items, row, items.reason(i)), "partition": texts[i]})
    return found


def _file_cells(row: dict[str, object], heads: Sequence[str]) -> list[Entry]:
    name, count = str(row["name"]), row["row_count"]
    cells: dict[str, Entry] = {
        "stage": Cell(text=str(row["stage"]), tone=Tone.MUTED),
        "reason": str(row["reason"]),
        "partition": str(row["partition"]),
        "bucket#": str(row["bucket"]),
        "level#": str(row["level"]),
        "rows#": count if isinstance(count, int) else None,
    }
    return [*(cells[head] for head in heads), _size_text(row), file_cell(name)]


def _size_text(row: dict[str, object]) -> str:
    return bytes_text(float(str(row["file_size"])))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainRequest:
    """The scan to explain.

    Attributes:
        where: predicate bound to the read schema; TRUE for none.
        columns: the projected columns.
        limit: maximum number of rows.
        code: code that produces the explanation.

    """

    where: Expression = TRUE
    columns: tuple[str, ...] = ()
    limit: int | None = None
    code: Code = field(default_factory=Code)


def explain_code(
    expression: str, location: str, options: Mapping[str, object], **asked: object
) -> Code:
    """The code that gives an explanation.

    Args:
        expression: the table, at a snapshot if it is pinned.
        location: of the table.
        options: those of a PySpark read of the pinned snapshot; none for the latest.
        asked: the arguments of `Table.explain`; None for those that are omitted.
    """
    where = asked.get("where")
    then = f".where({where!r}).explain()" if where else ".explain()"
    return Code(
        python=call_code(f"{expression}.explain", **asked),
        spark=read_code(location, options, then),
    )


def explain_scan(target: ScanTarget, request: ExplainRequest, name: str) -> ScanExplanation:
    """Explain a batch scan.

    Args:
        target: table, schema and snapshot.
        request: predicate, columns and limit.
        name: the table name to show.

    Raises:
        PaimonError: a metadata file cannot be read.
    """
    plain = ScanExplanation(
        name=name,
        snapshot=target.snapshot,
        where="" if request.where == TRUE else to_sql(request.where),
        columns=request.columns,
        limit=request.limit,
        stages=(),
        items=(),
        splits=(),
        partition_type=target.schema.partition_type,
        code=request.code,
    )
    if len(branches_read(target)) > 1:
        return _of_branches(plain, target, request)
    if target.snapshot is None:
        return plain
    return _Explainer(target, target.snapshot, request).answer(plain)


def _of_branches(
    plain: ScanExplanation, target: ScanTarget, request: ExplainRequest
) -> ScanExplanation:
    plan = plan_table(target, request.where)
    stages = tuple(
        PruningStage(name=s.name, unit=s.unit, total=s.total, kept=s.kept) for s in plan.stages
    )
    note = "The scan reads several branches; files are explained only for scans of one branch."
    return replace(plain, snapshot=plan.snapshot, stages=stages, splits=plan.splits, notes=(note,))


class _Explainer:
    """Evaluates the pruning stages of one scan in order."""

    def __init__(self, target: ScanTarget, snapshot: Snapshot, request: ExplainRequest) -> None:
        self._target = target
        self._snapshot = snapshot
        self._request = request
        parts = split_predicate(request.where, target.schema.partition_keys)
        self._rest = parts.rest
        self._partition = PartitionFilter(
            row_type=target.schema.partition_type, predicate=parts.pushed
        )
        self._reasons = Reasons(target=target, partition=self._partition, rest=parts.rest)
        self._stages: list[PruningStage] = []
        self._pruned: list[Items] = []
        self._notes: list[str] = []

    def answer(self, plain: ScanExplanation) -> ScanExplanation:
        """The explanation with all stages and items."""
        manifests = self._manifests()
        entries = self._entries(manifests)
        for stage in file_stages(self._target, entries, self._rest):
            self._file_stage(stage)
            entries = stage.kept
        by_index = self._by_index(entries)
        entries = entries if by_index is None else by_index.stage.kept
        located = self._target.located(entries, self._snapshot, by_index)
        splits = packed_splits(self._target, located)
        entries = self._indexed(entries, splits)
        entries = self._limited(entries, splits)
        read = Items(unit="file", rows=entries.table, reason=self._reasons.of_kept(entries))
        reason = self._reasons.of_manifests(manifests, kept=True)
        listed = Items(unit="manifest", rows=manifests.table, reason=reason)
        return replace(
            plain,
            stages=tuple(self._stages),
            items=(*self._pruned, listed, read),
            splits=splits,
            notes=tuple(self._notes),
        )

    def _by_index(self, entries: ManifestEntries) -> GlobalIndexStage | None:
        """The files that global or primary-key indexes leave; None if no index applies."""
        found = by_global_index(self._target, self._snapshot, entries, self._rest)
        if found is None:
            return None
        self._file_stage(found.stage)
        rows = found.rows
        names = ", ".join(f"{kind} of {column!r}" for kind, column in rows.indexes)
        self._notes.append(
            f"{found.stage.name.capitalize()}{'es' if len(rows.indexes) > 1 else ''} ({names}): "
            f"{len(rows.row_ids):,} of {entries.total_rows:,} rows "
            f"are read; {rows.not_indexed:,} of them have no index."
        )
        return found

    def _manifests(self) -> ManifestFiles:
        manifests = self._target.store.manifests.all(self._snapshot)
        mask = self._partition.manifest_mask(manifests)
        kept, gone = manifests.filter(mask), manifests.filter(~mask)
        self._add_stage(MANIFEST_STAGE, "manifests", manifests, kept)
        reason = self._reasons.of_manifests(gone, kept=False)
        self._prune("manifest", MANIFEST_STAGE, gone.table, reason)
        return kept

    def _entries(self, manifests: ManifestFiles) -> ManifestEntries:
        """The live files of matching partitions."""
        entries = self._target.store.manifests.read_many(manifests.names)
        mask = self._partition.entry_mask(column(entries.table, "partition"))  # type: ignore[arg-type]  # of binary
        matching = entries.filter(mask)
        self._add_stage(ENTRY_STAGE, "entries", entries, matching)
        dropped = live_entries(entries.filter(~mask))
        self._prune("file", ENTRY_STAGE, dropped.table, self._reasons.of_partitions(dropped))
        live = live_entries(matching)
        self._add_stage(CANCELLED_STAGE, "entries", matching, live)
        return live

    def _file_stage(self, stage: FileStage) -> None:
        self._add_stage(stage.name, "files", stage.before, stage.kept)
        gone = stage.before.filter(~stage.mask)
        self._prune("file", stage.name, gone.table, self._reasons.of_pruned_files(stage, gone))

    def _indexed(self, entries: ManifestEntries, splits: Sequence[PlainSplit]) -> ManifestEntries:
        """The files whose file index does not exclude them; applies to raw splits only."""
        if self._rest == TRUE:
            return entries
        reader = SplitReader(target=self._target, columns=(), predicate=self._rest)
        leaves: dict[str, str] = {}
        for one in splits:
            if isinstance(one, DataSplit) and one.raw_convertible and not one.same_rows:
                leaves.update(_skipped(one, reader))
        if not leaves:
            return entries
        names = [str(name) for name in as_python(column(entries.table, "file_name"))]
        mask = np.array([name not in leaves for name in names], np.bool_)
        kept, gone = entries.filter(mask), entries.filter(~mask)
        self._add_stage(INDEX_STAGE, "files", entries, kept)
        found = [leaves[name] for name in names if name in leaves]

        def reason(place: int) -> Reason:
            text = f"contains no matching rows: the file index excludes {found[place]}."
            return Reason(condition=found[place], bounds="file index", text=text)

        self._prune("file", INDEX_STAGE, gone.table, reason)
        return kept

    def _limited(self, entries: ManifestEntries, splits: Sequence[PlainSplit]) -> ManifestEntries:
        """The files that a read may open before it reaches the limit."""
        limit = self._request.limit
        if limit is None:
            return entries
        to_open: set[str] = set()
        certain_rows = 0
        for one in splits:
            counts = numbers(one.files.table, "row_count").tolist()
            names = as_python(column(one.files.table, "file_name"))
            plain = (
                isinstance(one, DataSplit)
                and one.raw_convertible
                and self._rest == TRUE
                and not (one.deletion_files or one.same_rows)
            )
            for name, count in zip(names, counts, strict=True):
                if certain_rows >= limit:
                    break
                to_open.add(str(name))
                certain_rows += count if plain else 0
        names = as_python(column(entries.table, "file_name"))
        mask = np.array([str(name) in to_open for name in names], np.bool_)
        kept, gone = entries.filter(mask), entries.filter(~mask)
        self._add_stage(LIMIT_STAGE, "files", entries, kept)
        text = f"is not read: earlier files contain the {plural(limit, 'row')} of the limit."
        reason = Reason(condition=f"LIMIT {limit}", text=text)
        self._prune("file", LIMIT_STAGE, gone.table, lambda _: reason)
        if self._rest != TRUE and mask.all() and len(mask):
            self._notes.append(
                "The limit prunes no files, because the number of matching rows is known only "
                "after reading; reading stops once the limit is reached."
            )
        return kept

    def _add_stage(
        self,
        name: str,
        unit: str,
        before: ManifestFiles | ManifestEntries,
        kept: ManifestFiles | ManifestEntries,
    ) -> None:
        self._stages.append(
            PruningStage(
                name=name,
                unit=unit,
                total=len(before),
                kept=len(kept),
                total_rows=_total_rows(before),
                kept_rows=_total_rows(kept),
                total_bytes=before.total_size,
                kept_bytes=kept.total_size,
            )
        )

    def _prune(
        self, unit: str, stage: str, rows: pa.Table, reason: Callable[[int], Reason]
    ) -> None:
        if rows.num_rows:
            self._pruned.append(Items(unit=unit, stage=stage, rows=rows, reason=reason))


def _total_rows(items: ManifestFiles | ManifestEntries) -> int:
    """The rows of all files; for manifests their entries."""
    if isinstance(items, ManifestEntries):
        return items.total_rows
    return items.total("num_added_files") + items.total("num_deleted_files")


def _skipped(one: DataSplit, reader: SplitReader) -> Iterator[tuple[str, str]]:
    """Yields each file of a split that its file index excludes, with the excluding condition."""
    for row in range(len(one.files)):
        file = SplitFile(split=one, row=row, reader=reader)
        if file.is_skipped(reader.predicate):
            yield str(file.value("file_name")), index_leaf(reader.predicate, file.is_skipped)
