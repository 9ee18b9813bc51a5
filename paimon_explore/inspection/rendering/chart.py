"""Chart descriptions: bars, lanes and lines, independent of how they are drawn.

A chart is drawn as SVG for static pages, as a plotly figure, and by the browser. Texts are not
escaped; renderers escape them.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.json_members import JsonMembers


class Tone(StrEnum):
    """Meaning of a colour; it is always accompanied by a text or sign with the same meaning."""

    PLAIN = "plain"
    ADD = "add"
    REMOVE = "remove"
    MOVE = "move"
    WARN = "warn"
    MUTED = "muted"


class Unit(StrEnum):
    """Unit of the numbers of a chart."""

    COUNT = "count"
    BYTES = "bytes"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series(JsonMembers):
    """A series with one number per category.

    Attributes:
        name: name of the series.
        values: one number per category; negative bars extend to the left.
        tone: the colour.
    """

    name: str
    values: tuple[float, ...]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart(JsonMembers):
    """A horizontal stacked bar chart.

    Attributes:
        title: title of the chart.
        categories: labels from top to bottom.
        series: the stacked series.
        unit: unit of the numbers.
        selects: selection on click by category, as in `Cell.selects`; may be shorter.
    """

    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    unit: Unit = Unit.COUNT
    selects: tuple[str, ...] = ()
    section = "bars"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box(JsonMembers):
    """A box in a lane.

    Attributes:
        lane: index of the lane.
        start: start on the axis.
        end: end on the axis; at least `start`.
        label: text inside the box, if there is room.
        tooltip: full description.
        tone: the colour.
        height: share of the lane's height, 0 to 1.
        hatched: share of its width that is hatched, 0 to 1.
        selects: selection on click, as in `Cell.selects`.
    """

    lane: int
    start: float
    end: float
    label: str
    tooltip: str
    tone: Tone = Tone.PLAIN
    height: float = 1.0
    hatched: float = 0.0
    selects: str = ""

    def state(self) -> dict[str, object]:
        """The box as JSON."""
        return {
            "lane": self.lane,
            "start": self.start,
            "end": self.end,
            "label": self.label,
            "says": self.tooltip,
            "tone": self.tone.value,
            "height": round(self.height, 4),
            "hatched": round(self.hatched, 4),
            "selects": self.selects,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(JsonMembers):
    """A step line below the lanes.

    Attributes:
        title: title of the line.
        steps: start and height of each step; the last one ends the line.
    """

    title: str
    steps: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneChart(JsonMembers):
    """A chart of boxes in lanes with a common axis.

    Attributes:
        title: title of the chart.
        lanes: labels from top to bottom.
        boxes: in any order.
        start: left end of the axis.
        end: right end.
        ticks: axis positions and their labels.
        profile: a step line below the lanes; None for none.
    """

    title: str
    lanes: tuple[str, ...]
    boxes: tuple[Box, ...]
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()
    profile: Profile | None = None
    section = "lanes"


Chart = BarChart | LaneChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """A line of a chart.

    Attributes:
        name: its name.
        points: the place on the axis, a number or time, and the value; None for a gap.
    """

    name: str
    points: tuple[tuple[object, float | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """A chart of step lines, which only plotly draws.

    Attributes:
        title: title of the chart.
        lines: the lines.
    """

    title: str
    lines: tuple[Points, ...]


def axis_ticks(
    start: float, end: float, labels: list[tuple[float, str]]
) -> tuple[tuple[float, str], ...]:
    """At max_ticks eight evenly spaced ticks, including the first and the last."""
    inside = [(place, label) for place, label in labels if start <= place <= end]
    max_ticks = 8
    if len(inside) <= max_ticks:
        return tuple(inside)
    step = -(-(len(inside) - 1) // (max_ticks - 1))
    picked = inside[::step]
    return tuple(picked) if picked[-1] == inside[-1] else (*picked[:-1], inside[-1])


def snapshot_chart(
    title: str, ids: Sequence[int], lanes: Sequence[str], boxes: Iterable[Box], max_lanes: int
) -> LaneChart:
    """A chart whose axis has a unit for each snapshot; the first lanes with their boxes."""
    places = [(place + 0.5, str(number)) for place, number in enumerate(ids)]
    return LaneChart(
        title=title,
        lanes=tuple(lanes[:max_lanes]),
        boxes=tuple(box for box in boxes if box.lane < max_lanes),
        start=0,
        end=len(ids),
        ticks=axis_ticks(0, len(ids), places),
    )
