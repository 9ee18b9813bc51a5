"""The profile of a table: one `ColumnProfile` per column, from statistics or from rows."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.formatter import type_text
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.profile.column_profile import ColumnProfile
from paimon_explore.inspection.profile.row_profile import ProfiledRows, RowProfile
from paimon_explore.inspection.profile.statistics_profile import profile_statistics
from paimon_explore.inspection.rendering.chart import BarChart, Series
from paimon_explore.inspection.rendering.code_snippet import Code, call_code, read_code
from paimon_explore.inspection.rendering.escape import esc, truncate
from paimon_explore.inspection.rendering.number_format import plural, short_text
from paimon_explore.inspection.rendering.report import Entry, Note, Report, Section, cell_of, grid
from paimon_explore.inspection.rendering.report_html import svg_image
from paimon_explore.inspection.rendering.report_text import aligned_lines
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.sanitize import sanitized, visible
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.predicate.sql_formatter import to_sql

WIDTH = 100
"""Maximum number of characters of a line of text."""
_LINES = 22
_CHARTS = 8
_SHOWN_COLUMNS = 200
_BAR_WIDTH, _BAR_HEIGHT = 160, 28

COLUMNS = schema_from_text(
    "column string, type string, nulls int64, nans int64, distinct int64, distinct_error double, "
    "min string, max string, average_length double, max_length int64",
    pa.field(
        "histogram",
        pa.struct(schema_from_text("of string, edges list<string>, counts list<int64>")),
    ),
    pa.field("frequent", pa.list_(pa.struct(schema_from_text("value string, count int64")))),
    "frequent_error int64, exact bool, note string",
)
"""The columns of `Profile.to_arrow`: one row per column of the table."""


class Origin(StrEnum):
    """Where the figures of a profile come from."""

    STATISTICS = "statistics"
    ROWS = "rows"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Profile(Result):
    """The profile of the columns of a table.

    Attributes:
        name: the table.
        snapshot: the snapshot; None for a table without snapshots.
        where: the filter as SQL; empty for none.
        columns: one profile per column; fields of a ROW column follow it.
        origin: whether the figures come from statistics or from rows.
        rows: number of rows that the figures describe; None if unknown.
        is_exact: whether `rows` is exact; else it is an upper bound.
        is_complete: whether all rows were read; False for a limit or a profile that was stopped.
        stored: number of stored rows that were read.
        total: number of stored rows to read.
        notes: remarks on all figures.
    """

    name: str
    snapshot: Snapshot | None
    where: str
    columns: tuple[ColumnProfile, ...]
    origin: Origin
    rows: int | None
    is_exact: bool = True
    is_complete: bool = True
    stored: int = 0
    total: int = 0
    notes: tuple[str, ...] = ()
    kind = "profile"

    def column(self, name: str) -> ColumnProfile | None:
        """The profile of a column, or of a nested field as `a.b`; None if there is none."""
        return next((one for one in self.columns if one.name == name), None)

    def to_arrow(self) -> pa.Table:
        """One row per column, as `COLUMNS`; bounds and values as text."""
        rows = [_row(one) for one in self.columns]
        return pa.Table.from_pylist(rows, schema=COLUMNS)

    def figures(self) -> dict[str, object]:
        """The figures of all columns."""
        return {
            "snapshot": None if self.snapshot is None else self.snapshot.id,
            "where": self.where,
            "origin": self.origin.value,
            "rows": self.rows,
            "exact": self.is_exact,
            "complete": self.is_complete,
            "stored": self.stored,
            "total": self.total,
            "columns": [one.state() for one in self.columns],
            "notes": list(self.notes),
        }

    @property
    def title(self) -> str:
        """What the figures describe, in one line."""
        at = "no snapshot" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        filtered = f" where {self.where}" if self.where else ""
        return f"{at}: {self._rows_text()}{filtered}, {plural(len(self.columns), 'column')}"

    def _rows_text(self) -> str:
        if self.rows is None:
            return "unknown number of rows"
        count = plural(self.rows, "row")
        if not self.is_complete:
            return f"first {count}"
        return count if self.is_exact else f"at most {count}"

    def to_report(self) -> Report:
        """The columns as a grid, then charts of the first histograms and frequent values."""
        return Report(title=self.title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        origin = "from statistics" if self.origin is Origin.STATISTICS else "from rows"
        for note in self.notes:
            yield Note(text=note)
        rows = [_cells(one) for one in self.columns[:_SHOWN_COLUMNS]]
        heads = ("column", "type", "nulls#", "distinct#", "min", "max", "avg length#", "note")
        yield grid(f"Columns, {origin}", heads, rows, total=len(self.columns))
        charts = [chart for one in self.columns if (chart := _chart(one)) is not None]
        yield from charts[:_CHARTS]

    def __repr__(self) -> str:
        """The columns as text of at most 25 lines and 100 characters a line."""
        lines = [self.title, *self.notes, *_text_lines(self.columns, _LINES - len(self.notes))]
        return "\n".join(truncate(sanitized(line), WIDTH - 1) for line in lines)

    def _repr_html_(self) -> str:
        """The columns as an escaped HTML table with an image of each histogram."""
        heads = ("column", "type", "nulls", "distinct", "min", "max", "avg length", "", "note")
        head = "".join(f'<th style="text-align:left">{esc(name)}</th>' for name in heads)
        body = "".join(map(_html_row, self.columns[:_SHOWN_COLUMNS]))
        more = len(self.columns) - _SHOWN_COLUMNS
        rest = f"<p>… {plural(more, 'more column')}</p>" if more > 0 else ""
        notes = "".join(f"<p>{esc(note)}</p>" for note in self.notes)
        return (
            f"<p><b>{esc(self.title)}</b></p>{notes}<table><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{rest}"
        )


def _row(one: ColumnProfile) -> dict[str, object]:
    ends = {"min": one.minimum, "max": one.maximum}
    return {
        **one.state(),
        **{name: None if end is None else end.text for name, end in ends.items()},
        "column": one.name,
        "distinct_error": one.distinct_error,
        "frequent": [{"value": v.value.text, "count": v.count} for v in one.frequent],
        "note": _note(one),
    }


def _note(one: ColumnProfile) -> str:
    return "; ".join(filter(None, (one.reason, *one.notes)))


def _cells(one: ColumnProfile) -> list[Entry]:
    return [
        one.name,
        type_text(one.type),
        one.nulls,
        one.distinct_text,
        "" if one.minimum is None else one.minimum.text,
        "" if one.maximum is None else one.maximum.text,
        "" if one.average_length is None else f"{one.average_length:.1f}",
        _note(one),
    ]


def _chart(one: ColumnProfile) -> BarChart | None:
    """The frequent values of texts and booleans, else the histogram."""
    histogram = one.histogram
    if one.frequent and (histogram is None or histogram.of == "lengths"):
        return BarChart(
            title=f"{one.name}: most frequent values",
            categories=tuple(found.value.text for found in one.frequent),
            series=(Series(name="rows", values=tuple(found.count for found in one.frequent)),),
        )
    if histogram is None:
        return None
    of = "" if histogram.of == "values" else f" ({histogram.of})"
    return BarChart(
        title=f"{one.name}{of}",
        categories=tuple(f"from {edge.text}" for edge in histogram.edges[:-1]),
        series=(Series(name="rows", values=tuple(map(float, histogram.counts))),),
    )


_WIDTHS = (20, 14, 9, 10, 18, 18)


def _text_lines(columns: tuple[ColumnProfile, ...], room: int) -> Iterator[str]:
    """A table of the first columns."""
    heads = ["column", "type", "nulls", "distinct", "min", "max"]
    rows = [heads, *(_texts(one) for one in columns[:room])]
    cut = [[_fitted(*cell) for cell in zip(row, _WIDTHS, strict=True)] for row in rows]
    yield from aligned_lines(cut, [head in ("nulls", "distinct") for head in heads])
    if len(columns) > room:
        yield f"… {plural(len(columns) - room, 'more column')}"


def _texts(one: ColumnProfile) -> list[str]:
    nulls = "" if one.nulls is None else f"{one.nulls:,}"
    low, high = (
        "" if end is None else visible(truncate(end.text, 40)) for end in (one.minimum, one.maximum)
    )
    if one.reason and not low:
        low = one.reason.partition(":")[0]
    name = visible(truncate(one.name, 40))
    kind = visible(truncate(type_text(one.type).removesuffix(" NOT NULL"), 40))
    return [name, kind, nulls, one.distinct_text, low, high]


def _fitted(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _html_row(one: ColumnProfile) -> str:
    texts = (cell_of(cell).text for cell in _cells(one))
    parts = [f'<td style="text-align:left">{esc(text)}</td>' for text in texts]
    parts.insert(-1, f"<td>{_picture(one)}</td>")
    return f"<tr>{''.join(parts)}</tr>"


def _picture(one: ColumnProfile) -> str:
    """An image of the histogram or of the frequent values."""
    chart = _chart(one)
    if chart is None:
        return ""
    counts = chart.series[0].values
    peak = max(counts) or 1
    step = _BAR_WIDTH / len(counts)
    bars = "".join(
        f'<rect x="{i * step:.1f}" y="{_BAR_HEIGHT * (1 - count / peak):.1f}" '
        f'width="{max(step - 1, 0.5):.1f}" height="{_BAR_HEIGHT * count / peak:.1f}" '
        f'fill="#3b7ddd"><title>{esc(label)}: {short_text(count)}</title></rect>'
        for i, (label, count) in enumerate(zip(chart.categories, counts, strict=True))
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}">'
        f"{bars}</svg>"
    )
    return svg_image(svg, chart.title)


def statistics_result(rows: ProfiledRows, name: str) -> Profile:
    """The profile of columns from statistics.

    Raises:
        PaimonError: a metadata file cannot be read.
    """
    found = profile_statistics(rows.target, rows.row_type, rows.where)
    return Profile(
        name=name,
        snapshot=rows.target.snapshot,
        where=where_text(rows.where),
        columns=found.columns,
        origin=Origin.STATISTICS,
        rows=found.rows,
        is_exact=found.is_exact,
        notes=found.notes,
    )


def rows_result(rows: ProfiledRows, run: RowProfile, name: str) -> Profile:
    """The profile of the rows that were read so far."""
    columns = run.columns()
    return Profile(
        name=name,
        snapshot=rows.target.snapshot,
        where=where_text(rows.where),
        columns=columns,
        origin=Origin.ROWS,
        rows=run.rows,
        is_complete=run.is_complete and (rows.limit is None or run.rows < rows.limit),
        stored=run.stored,
        total=run.total,
    )


def where_text(where: Expression) -> str:
    """A filter as SQL; empty for none."""
    return "" if where == TRUE else to_sql(where)


def profile_code(
    expression: str, location: str, options: Mapping[str, object], **asked: object
) -> Code:
    """The code that gives a profile.

    Args:
        expression: the table, at a snapshot if it is pinned.
        location: of the table.
        options: those of a PySpark read of the pinned snapshot; none for the latest.
        asked: the arguments of `Table.profile`; None for those that are omitted.

    >>> profile_code("t", "/wh/t", {}, where="a > 3").python
    "t.profile(where='a > 3')"
    """
    where = asked.get("where")
    filtered = f".where({where!r})" if where else ""
    return Code(
        python=call_code(f"{expression}.profile", **asked),
        spark=read_code(location, options, f"{filtered}.summary().show()"),
    )
