"""Why a scan reads what it reads: the cuts, and per item the condition and bound that decided.

Every cut tells what went in and what it kept. The cuts are those of `scan.plan`, taken by the same
functions, so the explanation cannot differ from what a read does. Two more follow that are only
known while reading: the file index of files that need no merge, and the limit, after which the
remaining files are not opened.

Reasons are worked out when they are asked for: there may be a hundred thousand files.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import RowType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.explain.pruning_decisions import Reason, Reasons, index_leaf
from paimon_explore.inspection.rendering.chart import BarChart, Series, Tone, Unit
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.number_format import bytes_text, plural, short_text
from paimon_explore.inspection.rendering.partition_text import partition_texts
from paimon_explore.inspection.rendering.report import Cell, Entry, Note, Section, Sheet, grid
from paimon_explore.inspection.rendering.result import NO_SCREEN, Result, Screen
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.read.split_reader import SplitFile, SplitReader
from paimon_explore.scan.branch_scan import branches_read, plan_table
from paimon_explore.scan.live_entries import PartitionCut
from paimon_explore.scan.manifest_arrays import Mask, column, numbers
from paimon_explore.scan.plan import FileCut, ScanTarget, file_cuts
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.predicate_split import split as split_predicate
from paimon_explore.scan.predicate.sql_formatter import to_sql
from paimon_explore.scan.splits.data_split import DataSplit, Split
from paimon_explore.scan.splits.split_generator import make_splits

MANIFEST_CUT = "partition ranges"
ENTRY_CUT = "partitions"
CANCELLED_CUT = "cancelled entries"
INDEX_CUT = "file index"
LIMIT_CUT = "limit"

ITEMS = pa.schema(
    (
        pa.field("unit", pa.string()),
        pa.field("name", pa.string()),
        pa.field("kept", pa.bool_()),
        pa.field("cut", pa.string()),
        pa.field("condition", pa.string()),
        pa.field("bounds", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32()),
        pa.field("level", pa.int32()),
        pa.field("row_count", pa.int64()),
        pa.field("file_size", pa.int64()),
    )
)
"""A row per manifest and file: whether it is read, and if not which cut, condition and bounds
excluded it. Rows of a manifest are entries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One stage of a scan: numerators and denominators.

    Attributes:
        name: what is cut by.
        unit: `manifests`, `entries` or `files`.
        total: items before.
        kept: items after.
        total_rows: rows of all items; of manifests their entries.
        kept_rows: rows of the kept ones; after a limit at most so many.
        total_bytes: size of all items.
        kept_bytes: size of the kept ones.
    """

    name: str
    unit: str
    total: int
    kept: int
    total_rows: int
    kept_rows: int
    total_bytes: int
    kept_bytes: int

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
    """Items of one unit that a cut has judged, or those that all cuts kept.

    Attributes:
        unit: `manifest` or `file`.
        cut: the cut that dropped them; empty for the kept ones.
        rows: their entries or manifests.
        reason: why, of one of them by its place in `rows`.
    """

    unit: str
    cut: str
    rows: pa.Table
    reason: Callable[[int], Reason]

    def __len__(self) -> int:
        """How many there are."""
        return self.rows.num_rows


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScanExplanation(Result):
    """What a scan reads and why.

    Attributes:
        name: the table.
        snapshot: what is read; None for a table without any.
        where: the predicate as SQL; empty for none.
        columns: the wanted columns.
        limit: most rows to give.
        cuts: the stages in order.
        items: all manifests and files, by what became of them.
        splits: what is read together.
        partition_type: types of the partition columns.
        notes: what else to know.
    """

    name: str
    snapshot: Snapshot | None
    where: str
    columns: tuple[str, ...]
    limit: int | None
    cuts: tuple[Cut, ...]
    items: tuple[Items, ...]
    splits: Sequence[Split]
    partition_type: RowType
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Its name in the explorer."""
        return "explain"

    @property
    def files(self) -> int:
        """How many files are read; with a limit at most so many."""
        last = [cut for cut in self.cuts if cut.unit == "files"]
        return last[-1].kept if last else sum(len(split.files) for split in self.splits)

    def kept_files(self) -> tuple[str, ...]:
        """Names of the files that are read."""
        return self._names(lambda items: not items.cut)

    def pruned_files(self) -> tuple[str, ...]:
        """Names of the files that are not read; those of dropped manifests are not known."""
        return self._names(lambda items: bool(items.cut))

    def _names(self, wanted: Callable[[Items], bool]) -> tuple[str, ...]:
        chosen = [items for items in self.items if items.unit == "file" and wanted(items)]
        return tuple(str(n) for one in chosen for n in as_python(column(one.rows, "file_name")))

    def to_arrow(self) -> pa.Table:
        """All manifests and files with the reason for each, as `ITEMS`."""
        return pa.Table.from_pylist(self._rows(), schema=ITEMS)

    def report(self) -> dict[str, object]:
        """Everything as JSON: the cuts, and all items with their reasons."""
        return {**self.figures(), "items": self._rows()}

    def figures(self) -> dict[str, object]:
        """The cuts, and how much is read."""
        raw = sum(split.raw_convertible for split in self.splits)
        return {
            "snapshot": None if self.snapshot is None else self.snapshot.id,
            "where": self.where,
            "columns": list(self.columns),
            "limit": self.limit,
            "cuts": [cut.state() for cut in self.cuts],
            "splits": len(self.splits),
            "raw_splits": raw,
            "files": self.files,
            "notes": list(self.notes),
        }

    def _rows(self) -> list[dict[str, object]]:
        return _rows_of(self.items, self.partition_type, None)

    def sheet(self) -> Sheet:
        """The cuts, then what was skipped and what is read, with reasons."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        raw = sum(split.raw_convertible for split in self.splits)
        title = (
            f"{at}: {plural(len(self.splits), 'split')} ({raw} raw), {plural(self.files, 'file')}"
            f"{f' where {self.where}' if self.where else ''}"
        )
        return Sheet(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        if self.cuts:
            yield self._cut_grid()
            yield BarChart(
                title="Kept share of what came to each cut",
                categories=tuple(cut.name for cut in self.cuts),
                series=(
                    Series(name="kept", values=tuple(map(_share, self.cuts)), tone=Tone.ADD),
                    Series(
                        name="skipped",
                        values=tuple(1 - _share(cut) for cut in self.cuts),
                        tone=Tone.MUTED,
                    ),
                ),
                unit=Unit.SHARE,
            )
        if self.snapshot is None:
            yield Note(text="The table has no snapshot, so there is nothing to read.")
        for note in self.notes:
            yield Note(text=note)
        parts = (
            ("Skipped files", "file", False),
            ("Read files", "file", True),
            ("Skipped manifests", "manifest", False),
            ("Read manifests", "manifest", True),
        )
        for title, unit, kept in parts:
            yield from self._grid(title, unit, kept=kept)

    def _grid(self, title: str, unit: str, *, kept: bool) -> Iterator[Section]:
        chosen = [i for i in self.items if i.unit == unit and bool(i.cut) is not kept]
        total = sum(len(items) for items in chosen)
        if not total and (unit == "manifest" or not self.items):
            return
        rows = _rows_of(chosen, self.partition_type, 200)
        if unit == "manifest":
            yield grid(
                title, ("why", "size#", "name"), list(map(_manifest_cells, rows)), total=total
            )
            return
        heads = [*([] if kept else ["cut"]), "why", "partition", "bucket#", "level#", "rows#"]
        if not self.partition_type.fields:
            heads.remove("partition")
        cells = [_file_cells(row, heads) for row in rows]
        yield grid(title, [*heads, "size#", "file"], cells, total=total)

    def _cut_grid(self) -> Section:
        rows: list[list[Entry]] = [
            [
                cut.name,
                cut.unit,
                Cell(text=f"{cut.kept:,}", share=_share(cut)),
                cut.total,
                f"{short_text(cut.kept_rows)} of {short_text(cut.total_rows)}",
                f"{bytes_text(cut.kept_bytes)} of {bytes_text(cut.total_bytes)}",
            ]
            for cut in self.cuts
        ]
        heads = ("cut", "unit", "kept#", "of#", "rows#", "size#")
        return grid("Cuts", heads, rows)


def _share(cut: Cut) -> float:
    return cut.kept / cut.total if cut.total else 1.0


def _item(items: Items, row: dict[str, object], reason: Reason) -> dict[str, object]:
    return {
        "unit": items.unit,
        "name": row["file_name"],
        "kept": not items.cut,
        "cut": items.cut,
        "condition": reason.condition,
        "bounds": reason.bounds,
        "reason": reason.text,
        "bucket": row.get("bucket"),
        "level": row.get("level"),
        "row_count": row.get("row_count"),
        "file_size": row["file_size"],
    }


def _rows_of(
    chosen: Sequence[Items], partition_type: RowType, most: int | None
) -> list[dict[str, object]]:
    """The items as `ITEMS`, as many as wanted."""
    found: list[dict[str, object]] = []
    for items in chosen:
        count = len(items) if most is None else min(len(items), most - len(found))
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
        "cut": Cell(text=str(row["cut"]), tone=Tone.MUTED),
        "why": str(row["reason"]),
        "partition": str(row["partition"]),
        "bucket#": str(row["bucket"]),
        "level#": str(row["level"]),
        "rows#": count if isinstance(count, int) else None,
    }
    size = bytes_text(float(str(row["file_size"])))
    return [*(cells[head] for head in heads), size, Cell(text=name, selects=f"file:{name}")]


def _manifest_cells(row: dict[str, object]) -> list[Entry]:
    return [str(row["reason"]), bytes_text(float(str(row["file_size"]))), str(row["name"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a table.

    Attributes:
        where: bound to the reading schema; TRUE keeps all.
        columns: the wanted ones.
        limit: most rows.
        code: the lines that ask it.
        screen: what draws the answer.
    """

    where: Expression = TRUE
    columns: tuple[str, ...] = ()
    limit: int | None = None
    code: Code = field(default_factory=Code)
    screen: Screen = NO_SCREEN


def explain_scan(target: ScanTarget, question: Question, name: str) -> ScanExplanation:
    """Explain a batch scan.

    Args:
        target: table, schema and snapshot.
        question: what is asked.
        name: of the table, for people.

    Raises:
        PaimonError: a metadata file cannot be read.
    """
    plain = ScanExplanation(
        name=name,
        snapshot=target.snapshot,
        where="" if question.where == TRUE else to_sql(question.where),
        columns=question.columns,
        limit=question.limit,
        cuts=(),
        items=(),
        splits=(),
        partition_type=target.schema.partition_type,
        code=question.code,
        screen=question.screen,
    )
    if len(branches_read(target)) > 1:
        return _of_branches(plain, target, question)
    if target.snapshot is None:
        return plain
    return _Explaining(target, target.snapshot, question).answer(plain)


def _of_branches(plain: ScanExplanation, target: ScanTarget, question: Question) -> ScanExplanation:
    plan = plan_table(target, question.where)
    cuts = [
        Cut(name=s.name, unit=s.unit, total=s.total, kept=s.kept, total_rows=0, kept_rows=0,
            total_bytes=0, kept_bytes=0)
        for s in plan.stages
    ]  # fmt: skip
    note = "Rows of this table lie in several branches; its files are not explained one by one."
    return replace(
        plain, snapshot=plan.snapshot, cuts=tuple(cuts), splits=plan.splits, notes=(note,)
    )


class _Explaining:
    """One scan being explained, cut by cut."""

    def __init__(self, target: ScanTarget, snapshot: Snapshot, question: Question) -> None:
        self._target = target
        self._snapshot = snapshot
        self._question = question
        parts = split_predicate(question.where, target.schema.partition_keys)
        self._rest = parts.rest
        self._partition = PartitionCut(
            row_type=target.schema.partition_type,
            predicate=None if parts.inside == TRUE else parts.inside,
        )
        self._reasons = Reasons(target=target, partition=self._partition, rest=parts.rest)
        self._cuts: list[Cut] = []
        self._dropped: list[Items] = []
        self._notes: list[str] = []

    def answer(self, plain: ScanExplanation) -> ScanExplanation:
        """All cuts in order, then the items they left."""
        manifests = self._manifests()
        entries = self._entries(manifests)
        for cut in file_cuts(self._target, entries, self._rest):
            self._file_cut(cut)
            entries = cut.kept
        splits = make_splits(self._target.placed(entries, self._snapshot), self._target.rules)
        entries = self._indexed(entries, splits)
        entries = self._limited(entries, splits)
        read = Items(unit="file", cut="", rows=entries.table, reason=self._reasons.of_kept(entries))
        listed = Items(
            unit="manifest",
            cut="",
            rows=manifests.table,
            reason=self._reasons.of_manifests(manifests, kept=True),
        )
        return replace(
            plain,
            cuts=tuple(self._cuts),
            items=(*self._dropped, listed, read),
            splits=splits,
            notes=tuple(self._notes),
        )

    def _manifests(self) -> ManifestFiles:
        manifests = self._target.store.manifests.all(self._snapshot)
        mask = self._partition.manifests(manifests)
        counts = numbers(manifests.table, "num_added_files")
        counts = counts + numbers(manifests.table, "num_deleted_files")
        sizes = numbers(manifests.table, "file_size")
        self._cut(MANIFEST_CUT, "manifests", mask, (counts, sizes))
        gone = manifests.filter(~mask)
        reason = self._reasons.of_manifests(gone, kept=False)
        self._drop("manifest", MANIFEST_CUT, gone.table, reason)
        return manifests.filter(mask)

    def _entries(self, manifests: ManifestFiles) -> ManifestEntries:
        """The live files of the wanted partitions."""
        entries = self._target.store.manifests.read_many(manifests.names)
        mask = self._partition.entries(column(entries.table, "partition"))  # type: ignore[arg-type]  # of binary
        self._entry_cut(ENTRY_CUT, entries, mask)
        dropped = live_entries(entries.filter(~mask))
        self._drop("file", ENTRY_CUT, dropped.table, self._reasons.of_partitions(dropped))
        wanted = entries.filter(mask)
        live = live_entries(wanted)
        self._cuts.append(
            Cut(
                name=CANCELLED_CUT,
                unit="entries",
                total=len(wanted),
                kept=len(live),
                total_rows=wanted.total_rows,
                kept_rows=live.total_rows,
                total_bytes=wanted.total_size,
                kept_bytes=live.total_size,
            )
        )
        return live

    def _file_cut(self, cut: FileCut) -> None:
        self._entry_cut(cut.name, cut.before, cut.mask, unit="files")
        gone = cut.before.filter(~cut.mask)
        self._drop("file", cut.name, gone.table, self._reasons.of_cut(cut, gone))

    def _indexed(self, entries: ManifestEntries, splits: Sequence[DataSplit]) -> ManifestEntries:
        """Without the files of which an index says that no row matches; read as they are only."""
        if self._rest == TRUE:
            return entries
        reader = SplitReader(
            store=self._target.store,
            schema=self._target.schema,
            options=self._target.options,
            columns=(),
            predicate=self._rest,
        )
        leaves: dict[str, str] = {}
        for one in splits:
            if one.raw_convertible and not one.same_rows:
                leaves.update(_skipped(one, reader))
        if not leaves:
            return entries
        names = [str(name) for name in as_python(column(entries.table, "file_name"))]
        mask = np.array([name not in leaves for name in names], np.bool_)
        self._entry_cut(INDEX_CUT, entries, mask, unit="files")
        gone = entries.filter(~mask)
        found = [leaves[name] for name in names if name in leaves]

        def reason(place: int) -> Reason:
            text = f"holds no matching row: the file index leaves none for {found[place]}."
            return Reason(condition=found[place], bounds="the file index", text=text)

        self._drop("file", INDEX_CUT, gone.table, reason)
        return entries.filter(mask)

    def _limited(self, entries: ManifestEntries, splits: Sequence[DataSplit]) -> ManifestEntries:
        """Without the files that a read does not come to, as far as that is sure."""
        limit = self._question.limit
        if limit is None:
            return entries
        opened: set[str] = set()
        sure = 0
        for one in splits:
            counts = numbers(one.files.table, "row_count").tolist()
            names = as_python(column(one.files.table, "file_name"))
            plain = one.raw_convertible and self._rest == TRUE and not one.deletion_files
            for name, count in zip(names, counts, strict=True):
                if sure >= limit:
                    break
                opened.add(str(name))
                sure += count if plain and not one.same_rows else 0
        names = as_python(column(entries.table, "file_name"))
        mask = np.array([str(name) in opened for name in names], np.bool_)
        self._entry_cut(LIMIT_CUT, entries, mask, unit="files")
        text = f"is not opened: the files before it give the {plural(limit, 'row')} of the limit."
        gone = entries.filter(~mask)
        self._drop(
            "file", LIMIT_CUT, gone.table, lambda _: Reason(condition=f"LIMIT {limit}", text=text)
        )
        if self._rest != TRUE and mask.all() and len(mask):
            self._notes.append(
                "How many rows match is not known before they are read, so the limit "
                "excludes no file beforehand; reading stops when it is reached."
            )
        return entries.filter(mask)

    def _entry_cut(
        self, name: str, entries: ManifestEntries, mask: Mask, unit: str = "entries"
    ) -> None:
        rows, sizes = (numbers(entries.table, n) for n in ("row_count", "file_size"))
        self._cut(name, unit, mask, (rows, sizes))

    def _cut(self, name: str, unit: str, mask: Mask, sums: Sequence[np.ndarray]) -> None:
        rows, sizes = sums
        self._cuts.append(
            Cut(
                name=name,
                unit=unit,
                total=len(mask),
                kept=int(mask.sum()),
                total_rows=int(rows.sum()),
                kept_rows=int(rows[mask].sum()),
                total_bytes=int(sizes.sum()),
                kept_bytes=int(sizes[mask].sum()),
            )
        )

    def _drop(self, unit: str, cut: str, rows: pa.Table, reason: Callable[[int], Reason]) -> None:
        if rows.num_rows:
            self._dropped.append(Items(unit=unit, cut=cut, rows=rows, reason=reason))


def _skipped(one: DataSplit, reader: SplitReader) -> Iterator[tuple[str, str]]:
    """The files of a split that their index excludes, with the condition it excludes them by."""
    for row in range(len(one.files)):
        file = SplitFile(split=one, row=row, reader=reader)
        if file.is_skipped(reader.predicate):
            yield str(file.value("file_name")), index_leaf(reader.predicate, file.is_skipped)
