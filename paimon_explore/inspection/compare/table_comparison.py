"""The comparison of two tables, branches or snapshots as a result."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.compare.row_comparison import (
    DIFFERS,
    MAX_PLANNED,
    RowComparison,
    RowsToRead,
    compare_rows,
    rows_to_read,
    same_state,
)
from paimon_explore.inspection.compare.schema_comparison import (
    ColumnPair,
    ComparedColumns,
    SettingPair,
    column_pairs,
    compared_columns,
    setting_pairs,
)
from paimon_explore.inspection.compare.table_side import SideContents, TableSide
from paimon_explore.inspection.rendering.cell_texts import row_texts
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.code_snippet import Code
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import (
    bytes_text,
    count_text,
    plural,
    signed_text,
    time_text,
)
from paimon_explore.inspection.rendering.report import (
    Cell,
    Columns,
    Entry,
    Facts,
    Grid,
    Note,
    Report,
    Section,
    facts,
    grid,
    listing,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.row_diff import ROWKIND

MAX_READ = 256 * 1024 * 1024
"""Rows are compared by default if the data files to read are at most this large, in bytes."""
_KINDS = {
    "-D": ("only in a", Tone.REMOVE),
    "+I": ("only in b", Tone.ADD),
    "-U": ("changed: a", Tone.MUTED),
    "+U": ("changed: b", Tone.MOVE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadCost:
    """What comparing the rows reads.

    Attributes:
        files: number of data files.
        bytes: their size.
        limit: the largest size that is read; None for any.
        is_planned: whether they are the files to read; else all files, too many to plan.
    """

    files: int
    bytes: int
    limit: int | None
    is_planned: bool = True

    @property
    def too_large(self) -> bool:
        """Whether the rows are not compared because of their size."""
        return not self.is_planned or (self.limit is not None and self.bytes > self.limit)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableComparison(Result):
    """The differences between two tables; the first is called a, the second b.

    Attributes:
        a: the first table.
        b: the second table.
        contents_a: files and snapshots of the first table.
        contents_b: files and snapshots of the second table.
        column_pairs: the columns of both tables.
        settings: the keys, comment and options that differ.
        compared: the columns in which rows can be compared.
        cost: what comparing the rows reads.
        rows: the rows that differ; None if they were not compared.
    """

    a: TableSide
    b: TableSide
    contents_a: SideContents
    contents_b: SideContents
    column_pairs: tuple[ColumnPair, ...]
    settings: tuple[SettingPair, ...]
    compared: ComparedColumns
    cost: ReadCost
    rows: RowComparison | None
    kind = "compare"

    @property
    def schema_equal(self) -> bool:
        """Whether names, types and order of the columns, and the keys, are equal."""
        schemas = [side.schema for side in (self.a, self.b)]
        parts = [
            ([(one.name, one.type) for one in s.fields], s.primary_keys, s.partition_keys)
            for s in schemas
        ]
        return parts[0] == parts[1]

    @property
    def rows_equal(self) -> bool | None:
        """Whether all rows are equal in the compared columns; None if they were not compared."""
        return None if self.rows is None else self.rows.equal

    def to_arrow(self) -> pa.Table:
        """The sample of differing rows; no rows if they were not compared."""
        if self.rows is not None:
            return self.rows.sample
        fields = [pa.field(ROWKIND, pa.string()), pa.field(DIFFERS, pa.list_(pa.string()))]
        return pa.schema([*fields, *self.compared.schema]).empty_table()

    def figures(self) -> dict[str, object]:
        """The counts of both sides and of the differences."""
        rows = self.rows
        return {
            "a": _side_figures(self.a, self.contents_a),
            "b": _side_figures(self.b, self.contents_b),
            "shared_files": self._shared,
            "schema_equal": self.schema_equal,
            "columns": {one.name: one.note for one in self.column_pairs if one.note != "same"},
            "settings": [one.name for one in self.settings],
            "read": {"files": self.cost.files, "bytes": self.cost.bytes},
            "rows": None
            if rows is None
            else {
                "keys": list(rows.columns.keys),
                "only_a": rows.only_a,
                "only_b": rows.only_b,
                "changed": rows.changed,
                "changed_columns": dict(rows.changed_columns),
            },
        }

    @property
    def _shared(self) -> int:
        return len(self.contents_a.names & self.contents_b.names)

    def to_report(self) -> Report:
        """Totals of both sides, columns, options, and rows."""
        verdicts = ["equal schema" if self.schema_equal else "different schema"]
        if self.rows is None:
            verdicts.append("rows not compared")
        else:
            verdicts.append("equal rows" if self.rows.equal else "different rows")
        title = f"a: {self.a.label}; b: {self.b.label}: {', '.join(verdicts)}"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        yield self._totals()
        yield from self._row_sections()
        different = [one for one in self.column_pairs if one.note != "same"]
        if different:
            yield self._columns()
        else:
            yield Note(text="Both tables have the same columns.")
        if self.settings:
            columns: Columns[SettingPair] = {
                "setting": lambda one: one.name,
                "a": lambda one: "not set" if one.a is None else one.a,
                "b": lambda one: "not set" if one.b is None else one.b,
            }
            yield listing("Keys and options that differ", self.settings, columns)

    def _totals(self) -> Grid:
        a, b = self.contents_a, self.contents_b
        rows: list[list[Entry]] = [
            ["snapshots", *_counts(a.snapshots, b.snapshots)],
            ["partitions", *_counts(a.partitions, b.partitions)],
            ["data files", *_counts(a.count, b.count)],
            ["files on level 0", *_counts(a.level_0, b.level_0)],
            ["stored rows", *_counts(a.rows, b.rows)],
            ["size", *_counts(a.bytes, b.bytes, bytes_text)],
        ]
        times = [
            "none" if side.snapshot is None else time_text(side.snapshot.time_millis)
            for side in (self.a, self.b)
        ]
        rows.append(["committed", *times, ""])
        heads = ("figure", "a#", "b#", "difference#")
        note = "stored rows: rows of the data files, before merging by key."
        if self._shared:
            note = f"{plural(self._shared, 'data file')} of the same name in both; {note}"
        return grid("Totals", heads, rows, note=note)

    def _columns(self) -> Grid:
        columns: Columns[ColumnPair] = {
            "column": lambda one: one.name,
            "type a": lambda one: one.type_a,
            "type b": lambda one: one.type_b,
            "id a#": lambda one: "" if one.id_a is None else str(one.id_a),
            "id b#": lambda one: "" if one.id_b is None else str(one.id_b),
            "result": lambda one: Cell(text=one.note, tone=_tone(one.note != "same", Tone.WARN)),
        }
        return listing("Columns", self.column_pairs, columns)

    def _row_sections(self) -> Iterator[Section]:
        size = f"{bytes_text(self.cost.bytes)} in {plural(self.cost.files, 'data file')}"
        found = self.rows
        if found is None:
            yield Note(text=self._why_not(size), tone=Tone.WARN)
            return
        yield self._row_facts(found, size)
        if found.sample.num_rows:
            yield self._sample(found)

    def _why_not(self, size: str) -> str:
        if not len(self.compared.schema):
            return "Rows are not compared: the tables have no column in common."
        if not self.cost.is_planned:
            files = plural(self.cost.files, "data file")
            most = f"{MAX_PLANNED:,}"
            return f"Rows are not compared: {files}, more than {most}; pass max_read=None to do so."
        if self.cost.too_large:
            limit = bytes_text(self.cost.limit or 0)
            return f"Rows are not compared: this reads {size}; the limit max_read is {limit}."
        return f"Rows are not compared; comparing them reads {size}."

    def _row_facts(self, found: RowComparison, size: str) -> Facts:
        keys = found.columns.keys
        how = f"by primary key ({', '.join(keys)})" if keys else "as whole rows, with duplicates"
        noun = "key" if keys else "row"
        only = [plural(n, noun) for n in (found.only_a, found.only_b)]
        tone = _tone(found.changed, Tone.WARN)
        changed_keys = Cell(text=plural(found.changed, "key"), tone=tone)
        changed = ", ".join(f"{name} {n:,}" for name, n in found.changed_columns.items())
        omitted = ", ".join(f"{name} ({why})" for name, why in found.columns.omitted.items())
        return facts(
            ("rows compared", f"{how}; read {size}"),
            ("only in a", Cell(text=only[0], tone=_tone(found.only_a, Tone.REMOVE))),
            ("only in b", Cell(text=only[1], tone=_tone(found.only_b, Tone.ADD))),
            ("changed", changed_keys if keys else None),
            ("changed keys by column", changed or None),
            ("columns not compared", omitted or None),
            ("not read", "files that both sides have" if found.partly else None),
            title="Rows",
        )

    def _sample(self, found: RowComparison) -> Grid:
        names = found.columns.schema.names
        rows: list[list[Entry]] = []
        kinds, differing = (found.sample.column(name).to_pylist() for name in (ROWKIND, DIFFERS))
        values = row_texts(found.sample.select(names))
        for kind, differs, row in zip(kinds, differing, values, strict=True):
            text, tone = _KINDS[str(kind)]
            shown = zip(names, row, strict=True)
            cells = [_value_cell(value, name in (differs or [])) for name, value in shown]
            rows.append([Cell(text=text, tone=tone), *cells])
        total = found.only_a + found.only_b + 2 * found.changed
        return grid("Rows that differ", ("row", *names), rows, total=total)


def _value_cell(value: str, differs: bool) -> Cell:  # noqa: FBT001 - private
    return Cell(text=truncate(value), tone=Tone.WARN if differs else Tone.PLAIN)


def _tone(count: int, tone: Tone) -> Tone:
    return tone if count else Tone.PLAIN


def _counts(a: int, b: int, text: Callable[[int], str] = count_text) -> tuple[str, str, str]:
    return text(a), text(b), signed_text(b - a, text)


def _side_figures(side: TableSide, contents: SideContents) -> dict[str, object]:
    return {
        "name": side.view.name,
        "snapshot": None if side.snapshot is None else side.snapshot.id,
        "snapshots": contents.snapshots,
        "files": contents.count,
        "bytes": contents.bytes,
        "stored_rows": contents.rows,
    }


def table_comparison(
    a: TableSide,
    b: TableSide,
    *,
    sample: int = 20,
    max_read: int | None = MAX_READ,
    code: Code | None = None,
) -> TableComparison:
    """Compare two tables.

    Args:
        a: the first table.
        b: the second table.
        sample: maximum number of differing keys or rows to show; 0 to compare no rows.
        max_read: compare rows only if the data files to read are at most this large, in bytes; None
            for any size.
        code: code that gives the comparison.

    Raises:
        PaimonError: a file cannot be read.
    """
    schemas = a.schema, b.schema
    columns = compared_columns(*schemas)
    contents = a.contents(), b.contents()
    reads: RowsToRead | None = None
    if max_read is None or same_state(a, b) or sum(c.count for c in contents) <= MAX_PLANNED:
        reads = rows_to_read(a, b)
        cost = ReadCost(files=reads.files, bytes=reads.bytes, limit=max_read)
    else:
        files, size = sum(c.count for c in contents), sum(c.bytes for c in contents)
        cost = ReadCost(files=files, bytes=size, limit=max_read, is_planned=False)
    rows = None
    if sample and reads is not None and not cost.too_large and len(columns.schema):
        rows = compare_rows(a, b, columns, reads, sample=sample)
    return TableComparison(
        a=a,
        b=b,
        contents_a=contents[0],
        contents_b=contents[1],
        column_pairs=column_pairs(*schemas, related=a.view.location == b.view.location),
        settings=tuple(setting_pairs(*schemas)),
        compared=columns,
        cost=cost,
        rows=rows,
        code=code or Code(),
    )
