"""Charts as values: what bars and boxes there are, not how they are drawn.

One description is drawn as SVG for static pages, as a plotly figure, and by the browser. Texts are
as stored: whoever draws them escapes them.
"""

from enum import StrEnum

from paimon_explore.frozen_dataclass import dataclass


class Tone(StrEnum):
    """What a colour stands for; a word or a sign beside it says the same."""

    PLAIN = "plain"
    ADD = "add"
    REMOVE = "remove"
    MOVE = "move"
    WARN = "warn"
    MUTED = "muted"


class Unit(StrEnum):
    """What the numbers of a chart count."""

    COUNT = "count"
    BYTES = "bytes"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One number per category.

    Attributes:
        name: what they are.
        values: one per category; negative ones go to the left.
        tone: the colour.
    """

    name: str
    values: tuple[float, ...]
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class BarChart:
    """Lying bars, those of one category stacked.

    Attributes:
        title: what is shown.
        categories: labels from top to bottom.
        series: the parts of each bar.
        unit: of the numbers.
        selects: per category what choosing it selects; may be shorter.
    """

    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    unit: Unit = Unit.COUNT
    selects: tuple[str, ...] = ()

    def state(self) -> dict[str, object]:
        """The chart as JSON."""
        series = [
            {"name": s.name, "tone": s.tone.value, "values": list(s.values)} for s in self.series
        ]
        return {
            "type": "bars",
            "title": self.title,
            "categories": list(self.categories),
            "series": series,
            "unit": self.unit.value,
            "selects": list(self.selects),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Something that stretches along a lane.

    Attributes:
        lane: number of the lane.
        start: where it begins.
        end: where it ends; not before `start`.
        label: written into it if there is room.
        says: the same in full.
        tone: the colour.
        height: share of the lane's height, 0 to 1.
        hatched: share of its width that is hatched, 0 to 1.
        selects: what choosing it selects.
    """

    lane: int
    start: float
    end: float
    label: str
    says: str
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
            "says": self.says,
            "tone": self.tone.value,
            "height": round(self.height, 4),
            "hatched": round(self.hatched, 4),
            "selects": self.selects,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A line of steps below the lanes.

    Attributes:
        title: what it shows.
        steps: where each step begins, and its height; the last one ends the line.
    """

    title: str
    steps: tuple[tuple[float, float], ...]

    def state(self) -> dict[str, object]:
        """The line as JSON."""
        return {"title": self.title, "steps": [list(step) for step in self.steps]}


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneChart:
    """Boxes in lanes over a common axis.

    Attributes:
        title: what is shown.
        lanes: labels from top to bottom.
        boxes: in any order.
        start: left end of the axis.
        end: right end.
        ticks: marked places of the axis.
        profile: a line below.
    """

    title: str
    lanes: tuple[str, ...]
    boxes: tuple[Box, ...]
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()
    profile: Profile | None = None

    def state(self) -> dict[str, object]:
        """The chart as JSON."""
        return {
            "type": "lanes",
            "title": self.title,
            "lanes": list(self.lanes),
            "boxes": [box.state() for box in self.boxes],
            "start": self.start,
            "end": self.end,
            "ticks": [list(tick) for tick in self.ticks],
            "profile": None if self.profile is None else self.profile.state(),
        }


Chart = BarChart | LaneChart


def axis_ticks(
    start: float, end: float, labels: list[tuple[float, str]]
) -> tuple[tuple[float, str], ...]:
    """At most eight of the labelled places, evenly spread, the first and last among them."""
    inside = [(place, label) for place, label in labels if start <= place <= end]
    most = 8
    if len(inside) <= most:
        return tuple(inside)
    step = -(-(len(inside) - 1) // (most - 1))
    picked = inside[::step]
    return tuple(picked) if picked[-1] == inside[-1] else (*picked[:-1], inside[-1])
