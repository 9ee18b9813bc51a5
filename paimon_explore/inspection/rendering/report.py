"""A report: facts, tables and charts that answer one question, independent of the rendering.

Every result that explains a table is laid out as a report, which is rendered as text, HTML, or by
the browser from JSON. Texts are not escaped.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.inspection.problem import Problem
from paimon_explore.inspection.rendering.chart import BarChart, Chart, LaneChart, Tone

MAX_ROWS = 200
"""Maximum number of rows of a grid; `to_arrow` has all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(JsonMembers):
    """A cell of a grid.

    Attributes:
        text: text of the cell.
        selects: selection on click: `snapshot:7`, `file:data-1.orc`, `filter:level = 0`, or
            `ask:dt=d1, bucket 0` for another input of the same view; empty for none.
        tone: meaning of the colour.
        share: length of the bar in the background, 0 to 1; None for no bar.
    """

    text: str
    selects: str = ""
    tone: Tone = Tone.PLAIN
    share: float | None = None

    def state(self) -> object:  # type: ignore[override]  # a text alone is no object
        """The cell as JSON; a string if it has only text."""
        share = None if self.share is None else round(self.share, 4)
        members = {"selects": self.selects, "tone": self.tone.value, "share": share}
        kept = {n: v for n, v in members.items() if v not in ("", Tone.PLAIN.value, None)}
        return {"text": self.text, **kept} if kept else self.text


Entry = Cell | str | int | None
"""The types of grid entries; numbers get separators, None is empty."""


def cell_of(entry: Entry) -> Cell:
    """The entry as a cell."""
    if isinstance(entry, Cell):
        return entry
    if entry is None:
        return Cell(text="")
    return Cell(text=f"{entry:,}" if isinstance(entry, int) else entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table of a report.

    Attributes:
        title: title of the table.
        columns: headings; one that ends with `#` is numeric and right-aligned.
        rows: the first rows.
        total: total number of rows.
        note: remark below the table.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    total: int
    note: str = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings without the `#` markers."""
        return tuple(name.removesuffix("#") for name in self.columns)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Whether each column is right-aligned."""
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
    """Build a grid of the first rows.

    >>> grid("files", ("name", "rows#"), [("a", 1000)]).state()["rows"]
    [['a', '1,000']]
    """
    shown = tuple(tuple(cell_of(entry) for entry in row) for row in rows[:MAX_ROWS])
    count = len(rows) if total is None else total
    return Grid(title=title, columns=tuple(columns), rows=shown, total=count, note=note)


_Item = TypeVar("_Item")
Columns: TypeAlias = Mapping[str, Callable[[_Item], Entry]]
"""The columns of a grid of items: what makes the cell of an item, by heading."""


def listing(title: str, items: Sequence[_Item], columns: Columns[_Item], *, note: str = "") -> Grid:
    """Build a grid with a row for each of the first items.

    >>> listing("files", ["a", "bc"], {"name": str, "size#": len}).state()["rows"]
    [['a', '1'], ['bc', '2']]
    """
    rows = [[cell(one) for cell in columns.values()] for one in items[:MAX_ROWS]]
    return grid(title, [*columns], rows, note=note, total=len(items))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts(JsonMembers):
    """A list of labels and values."""

    title: str = ""
    rows: tuple[tuple[str, Cell], ...]
    section = "facts"


def facts(*rows: tuple[str, Entry], title: str = "") -> Facts:
    """Build a list of facts; those with value None are omitted."""
    kept = [(label, cell_of(entry)) for label, entry in rows if entry is not None]
    return Facts(rows=tuple(kept), title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(JsonMembers):
    """A note in a report.

    Attributes:
        text: one sentence.
        tone: meaning of the colour.
    """

    text: str
    tone: Tone = Tone.MUTED
    section = "note"


Sentence = tuple[Cell, ...]
"""The parts of a sentence in order; parts that select something are links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences(JsonMembers):
    """A list of sentences in a report.

    Attributes:
        title: heading of the list.
        items: the sentences.
    """

    title: str
    items: tuple[Sentence, ...]
    section = "sentences"

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentences without links."""
        return tuple("".join(part.text for part in item) for item in self.items)


def sentence(*parts: Cell | str) -> Sentence:
    """Build a sentence from texts and links.

    >>> sentence("See ", Cell(text="level 0", selects="filter:level = 0"), ".")[1].text
    'level 0'
    """
    return tuple(Cell(text=part) if isinstance(part, str) else part for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A section that cannot be read; other sections are not affected."""

    problem: Problem

    def state(self) -> dict[str, object]:
        """The problem as JSON."""
        return {"type": "problem", "failure": self.problem.state()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card(JsonMembers):
    """A card of an animation.

    Attributes:
        column: index of its column.
        text: text of the card.
        note: additional text.
        since: index of the frame in which it appears.
        until: index of the frame in which it disappears; None if it stays.
    """

    column: int
    text: str
    note: str = ""
    since: int = 0
    until: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame(JsonMembers):
    """A frame of an animation.

    Attributes:
        title: title of the step.
        text: explanation of the step.
        tone: meaning of the colour.
    """

    title: str
    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Animation(JsonMembers):
    """An animation of cards by frames; static renderings omit it.

    Attributes:
        title: title of the animation.
        columns: headings from left to right.
        frames: the frames in order.
        cards: the cards in order of appearance.
    """

    title: str
    columns: tuple[str, ...]
    frames: tuple[Frame, ...]
    cards: tuple[Card, ...]
    section = "stage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands(JsonMembers):
    """Code that does what a report previews, by language.

    Attributes:
        title: what the code does.
        rows: language and code; code may have several lines.
    """

    title: str
    rows: tuple[tuple[str, str], ...]
    section = "commands"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField(JsonMembers):
    """An input field of a form.

    Attributes:
        name: name of the setting, such as the key of an option.
        label: label; the name if empty.
        current: text of the value that applies if the field is left empty.
        value: text that is filled in; empty for none.
        allowed: the allowed values; empty for any text.
        tooltip: what the setting means.
        example: an example of a value; empty for none.
    """

    name: str
    label: str = ""
    current: str = ""
    value: str = ""
    allowed: tuple[str, ...] = ()
    tooltip: str = ""
    example: str = ""

    def state(self) -> dict[str, object]:
        """The field as JSON."""
        return {**JsonMembers.state(self), "label": self.label or self.name}


@dataclass(frozen=True, slots=True, kw_only=True)
class Form(JsonMembers):
    """The inputs of a view of the explorer; static renderings omit it.

    The input of the view is the name of an action, followed by `name = 'value'` for each field that
    is filled in, separated by commas.

    Attributes:
        title: title of the form.
        actions: name and label of each action.
        action: name of the selected action.
        fields: the input fields of the selected action.
        submit: label of the button.
    """

    title: str
    actions: tuple[tuple[str, str], ...]
    action: str
    fields: tuple[FormField, ...]
    submit: str = "Preview"
    section = "form"


Section = (
    Facts | Grid | Note | Sentences | Failed | BarChart | LaneChart | Animation | Commands | Form
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of a result.

    Attributes:
        title: one line that answers the question.
        sections: sections in display order.
    """

    title: str
    sections: tuple[Section, ...] = ()

    @property
    def charts(self) -> tuple[Chart, ...]:
        """The charts of the report."""
        return tuple(part for part in self.sections if isinstance(part, BarChart | LaneChart))

    def state(self) -> dict[str, object]:
        """The report as JSON."""
        return {"title": self.title, "sections": [part.state() for part in self.sections]}
