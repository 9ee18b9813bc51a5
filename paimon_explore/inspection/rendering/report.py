"""A sheet: facts, tables and charts about one question, free of any way to draw them.

All results that explain a table are laid out as a sheet, and each way of showing one — text, HTML,
JSON for the browser — draws any sheet. Texts are as stored, not escaped.
"""

from collections.abc import Sequence

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.chart import BarChart, Chart, LaneChart, Tone

MOST_ROWS = 200
"""Rows of a grid that are shown; the Arrow face has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One place of a grid.

    Attributes:
        text: what it says.
        selects: what choosing it selects: `snapshot:7`, `file:data-1.orc`, `filter:level = 0`, or
            `ask:dt=d1, bucket 0` for the same view of something else; empty for nothing.
        tone: the colour.
        share: length of a bar behind it, 0 to 1; None for no bar.
    """

    text: str
    selects: str = ""
    tone: Tone = Tone.PLAIN
    share: float | None = None

    def state(self) -> object:
        """The cell as JSON: its text alone where there is nothing else."""
        members: dict[str, object] = {}
        if self.selects:
            members["selects"] = self.selects
        if self.tone is not Tone.PLAIN:
            members["tone"] = self.tone.value
        if self.share is not None:
            members["share"] = round(self.share, 4)
        return {"text": self.text, **members} if members else self.text


Entry = Cell | str | int | None
"""What a row of a grid may hold; numbers get separators, None is empty."""


def cell_of(entry: Entry) -> Cell:
    """The entry as a cell."""
    if isinstance(entry, Cell):
        return entry
    if entry is None:
        return Cell(text="")
    return Cell(text=f"{entry:,}" if isinstance(entry, int) else entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table.

    Attributes:
        title: what the rows are.
        columns: headings; one that ends with `#` is of numbers, which stand right.
        rows: the first ones.
        total: how many there are.
        note: what to know of them.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    note: str = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings as they are shown."""
        return tuple(name.removesuffix("#") for name in self.columns)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Per column whether its cells stand right."""
        return tuple(name.endswith("#") for name in self.columns)

    def state(self) -> dict[str, object]:
        """The grid as JSON."""
        return {
            "type": "grid",
            "title": self.title,
            "columns": list(self.headings),
            "numeric": list(self.numeric),
            "rows": [[cell.state() for cell in row] for row in self.rows],
            "total": self.total,
            "note": self.note,
        }


def grid(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Entry]],
    *,
    note: str = "",
    total: int | None = None,
) -> Grid:
    """A table of the first rows.

    >>> grid("files", ("name", "rows#"), [("a", 1000)]).state()["rows"]
    [['a', '1,000']]
    """
    shown = tuple(tuple(cell_of(entry) for entry in row) for row in rows[:MOST_ROWS])
    count = len(rows) if total is None else total
    return Grid(title=title, columns=tuple(columns), rows=shown, total=count, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Labels and values."""

    rows: tuple[tuple[str, Cell], ...]
    title: str = ""

    def state(self) -> dict[str, object]:
        """The facts as JSON."""
        rows = [[label, cell.state()] for label, cell in self.rows]
        return {"type": "facts", "title": self.title, "rows": rows}


def facts(*rows: tuple[str, Entry], title: str = "") -> Facts:
    """Labels and values, those of None left out."""
    kept = [(label, cell_of(entry)) for label, entry in rows if entry is not None]
    return Facts(rows=tuple(kept), title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence.

    Attributes:
        text: the sentence.
        tone: how much it matters.
    """

    text: str
    tone: Tone = Tone.MUTED

    def state(self) -> dict[str, object]:
        """The sentence as JSON."""
        return {"type": "note", "text": self.text, "tone": self.tone.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A part that cannot be read; the others stand."""

    problem: Problem

    def state(self) -> dict[str, object]:
        """The problem as JSON."""
        return {"type": "problem", "failure": self.problem.state()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Something on a stage.

    Attributes:
        column: number of its column.
        text: what it is.
        note: more of it.
        since: the frame that brings it.
        until: the frame that takes it away; None if none does.
    """

    column: int
    text: str
    note: str = ""
    since: int = 0
    until: int | None = None

    def state(self) -> dict[str, object]:
        """The card as JSON."""
        return {
            "column": self.column,
            "text": self.text,
            "note": self.note,
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One moment of a stage.

    Attributes:
        title: what happens.
        text: why.
        tone: how it goes.
    """

    title: str
    text: str
    tone: Tone = Tone.PLAIN

    def state(self) -> dict[str, object]:
        """The moment as JSON."""
        return {"title": self.title, "text": self.text, "tone": self.tone.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Cards that come and go frame by frame; pages that cannot move leave it out.

    Attributes:
        title: what is played.
        columns: headings from left to right.
        frames: one after the other.
        cards: in the order in which they come.
    """

    title: str
    columns: tuple[str, ...]
    frames: tuple[Frame, ...]
    cards: tuple[Card, ...]

    def state(self) -> dict[str, object]:
        """The stage as JSON."""
        return {
            "type": "stage",
            "title": self.title,
            "columns": list(self.columns),
            "frames": [frame.state() for frame in self.frames],
            "cards": [card.state() for card in self.cards],
        }


Section = Facts | Grid | Note | Failed | BarChart | LaneChart | Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Everything that is shown of a result.

    Attributes:
        title: one line that answers the question.
        sections: from top to bottom.
    """

    title: str
    sections: tuple[Section, ...] = ()

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts among the sections."""
        return tuple(part for part in self.sections if isinstance(part, BarChart | LaneChart))

    def state(self) -> dict[str, object]:
        """The sheet as JSON."""
        return {"title": self.title, "sections": [part.state() for part in self.sections]}
